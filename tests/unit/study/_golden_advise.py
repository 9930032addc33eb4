"""Made-up studies, one for each thing that advice can have to say."""

from fractions import Fraction

import numpy as np

from evenhand.report.page import Answer
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.tasks.shared.report_settings import report_setting
from unit.study._advice_cases import GROUPS, grid, results, setting, with_runs

BEFORE = {"sp_gap": 0.3, "acc": 0.8, "eo_gap": 0.2}
GRR, OUE, WIDE, WIDE_OUE = setting("grr", 1), setting("oue", 1), setting("grr", 4), setting("oue", 4)
OPTIMAL = report_setting("optimal", Fraction(1), "uniform", "independent")
ALL = (GRR, OUE, WIDE, WIDE_OUE)
MANY = grid(["grr", "oue", "optimal"], ["1/2", 1, 2, 4], splits=["uniform", "optimal"])
REMEDY = grid(["grr", "oue", "optimal"], [1, 4])
SERIES = grid(["grr"], ["1/2", 1, 2, 4])


def base(share):
    """Return how many have the outcome in both groups."""
    return {f"{group} base_rate": share for group in GROUPS}


def by_group(before, after):
    """Return the accuracy of women and men without protection and with it."""
    rates = {
        at: {f"{group} accuracy": value for group, value in zip(GROUPS, values, strict=True)}
        for at, values in (("all", after), (Setting(), before))
    }
    return {"all": {**BEFORE, **rates["all"]}, Setting(): rates[Setting()]}


def advice(values, *, limits=(), people=None, gap=None, **given):
    """Return the answer on made-up results, with the reasons below it."""
    made = results({"all": BEFORE, **values}, **{"repeats": 10, **given})
    for outcome in made.outcomes:
        half = outcome.measures["sp_gap"] / 2
        outcome.groups["women"] |= {"people": people or 100.0, "selection": 0.5 - half}
        outcome.groups["men"] |= {"people": 100.0, "selection": 0.5 + half}
    made = Results(made.plan.with_(data=DataSource(path="people.csv")), made.facts, made.outcomes)
    if gap is not None:
        accuracy = made.arrays.of_measures[:, :, made.arrays.measures.index("acc")]
        made = with_runs(made, gap(accuracy.shape), accuracy)
    found = made.advise(**dict(limits), folder="advice")
    reasons = "".join(f"\n   - {reason}" for reason in found.reasons)
    return (Answer(found.answer.finding, f"{found.answer.evidence}{reasons}", found.answer.action),)


def wild(shape):
    """Return gaps between which no mean can be told."""
    return np.resize([0.1, 0.9, 0.4], shape)


def _kept():
    """Yield studies in which a setting keeps the limits."""
    gap, both = {"max_gap": 0.4}, {"max_gap": 0.4, "max_accuracy_loss": 0.05}
    yield "Two settings tie within one limit", advice({}, limits=gap)
    yield "Two settings tie within both limits", advice({}, limits=both)
    yield "Many settings tie within the limits", advice({}, limits=both, collect=MANY)
    yield "One column, so no split to name", advice({}, limits=both, columns=1)
    yield "One has a clearly smaller gap", advice({OUE: {"sp_gap": 0.2}}, limits=gap)
    yield "One is better than several", advice({OPTIMAL: {"sp_gap": 0.2}}, limits=gap, collect=REMEDY)
    yield "One is more accurate", advice({GRR: {"acc": 0.75}}, limits=gap)
    yield "One alone keeps the limits", advice({GRR: {"sp_gap": 0.1}}, limits={"max_gap": 0.2})
    alone = {GRR: {"sp_gap": 0.1}, OUE: {"sp_gap": 0.1012}}
    yield "Another may keep the limit too", advice(alone, limits={"max_gap": 0.1035}, repeats=8)
    yield (
        "The smaller epsilon loses too much",
        advice({GRR: {"acc": 0.7}, OUE: {"acc": 0.6}}, limits={"max_accuracy_loss": 0.05}),
    )
    yield (
        "A smaller gap costs too much",
        advice({OUE: {"sp_gap": 0.1, "acc": 0.7}}, limits={"max_accuracy_loss": 0.05}),
    )
    yield "No gap to begin with", advice({"all": {**BEFORE, "sp_gap": 0.01}}, limits=gap)
    dead = {**base(0.6), "sp_gap": 0.0, "acc": 0.6}
    some = {"all": {**BEFORE, **base(0.6)}, GRR: dead, OUE: dead}
    yield "The smaller epsilon has a dead model", advice(some, limits=both)
    yield "Women lose, men do not", advice(by_group((0.8, 0.8), (0.76, 0.8)), limits=both)


def _free():
    """Yield studies without limits."""
    yield "No limits, and epsilon does not matter", advice({})
    yield "No limits, many settings", advice({}, collect=MANY)
    yield "No limits, a smaller epsilon costs much", advice({GRR: {"acc": 0.7}, OUE: {"acc": 0.6}})
    series = {setting("grr", e): {"acc": acc} for e, acc in (("1/2", 0.7), (1, 0.79), (2, 0.8), (4, 0.8))}
    yield "No limits, from some epsilon on nothing is lost", advice(series, collect=SERIES)
    noisy = np.array([-0.02, 0.015, 0.0, 0.02, -0.015])
    yield "No limits, the runs vary", advice({}, collect=SERIES, spread=noisy, repeats=8)
    dead = {**base(0.6), "sp_gap": 0.0, "acc": 0.6}
    some = {"all": {**BEFORE, **base(0.6)}, GRR: dead, OUE: dead}
    yield "No limits, and the smaller epsilon has a dead model", advice(some)
    yield "No limits, one epsilon", advice({}, collect=grid(["grr", "oue"], [1]))
    yield "No limits, one setting", advice({}, collect=grid(["grr"], [1]))
    yield "No limits, one is better", advice({OUE: {"sp_gap": 0.2}})
    yield "Optimal narrows the gap", advice({OPTIMAL: {"sp_gap": 0.2}}, collect=REMEDY)
    yield "Epsilon alone is limited", advice({}, limits={"epsilon": 1})


def _none():
    """Yield studies in which nothing can be recommended."""
    lost = {each: {"acc": 0.7} for each in ALL}
    both = {"max_gap": 0.1, "max_accuracy_loss": 0.01}
    yield "No setting keeps the gap", advice({}, limits={"max_gap": 0.2})
    yield "No setting keeps the loss", advice(lost, limits={"max_accuracy_loss": 0.01})
    yield "No setting keeps either", advice(lost, limits=both)
    mixed = {GRR: {"acc": 0.7, "sp_gap": 0.1}}
    yield "One limit or the other", advice(mixed, limits={"max_gap": 0.2, "max_accuracy_loss": 0.05})
    closed = {each: {"sp_gap": 0.05, "acc": 0.75} for each in ALL}
    yield "The gap is kept and the loss is not", advice(closed, limits=both)
    dear = {GRR: {"acc": 0.7}, OUE: {"acc": 0.6}}
    yield "A larger epsilon would", advice(dear, limits={"max_accuracy_loss": 0.05, "epsilon": 2})
    yield "Only the far end is beyond the limit", advice({}, limits={"max_gap": 0.3015}, repeats=8)
    yield "The mean lies on the limit", advice({}, limits={"max_gap": 0.3}, repeats=8)
    yield "Nothing so small was tried", advice({}, limits={"epsilon": 0.5})
    yield "One column alone", advice({}, collect=grid(["grr"], [1, 4], strategies=["single"]))
    yield "A single repeat", advice({}, limits={"max_gap": 0.2}, repeats=1)
    yield "All protected runs failed", advice({}, leave_out=ALL)
    yield "Five repeats", advice({}, limits={"max_gap": 0.4}, repeats=5)
    yield "Repeats that vary much", advice({}, limits={"max_accuracy_loss": 0.5}, gap=wild, repeats=8)
    yield "Women are too few", advice({}, limits={"max_gap": 0.2}, people=6.0)
    every = {"all": {**BEFORE, **base(0.6), "sp_gap": 0.0, "acc": 0.6}, Setting(): BEFORE}
    yield "Every setting has a dead model", advice(every, limits={"max_gap": 0.4})
    dead = {**base(0.6), "sp_gap": 0.0, "acc": 0.6}
    some = {"all": {**BEFORE, **base(0.6)}, GRR: dead, OUE: dead}
    yield "A dead model up to the accepted epsilon", advice(some, limits={"epsilon": 2})
    yield "Not even the unprotected model works", advice({"all": {**BEFORE, **base(0.8)}})
    near = np.array([-0.06, 0.05, 0.0, 0.06, -0.05])
    yield "It is not clear that it works", advice({"all": {**BEFORE, **base(0.23)}}, spread=near, repeats=8)


def situations():
    """Yield what is the case, and what is said of it."""
    yield from _kept()
    yield from _free()
    yield from _none()
