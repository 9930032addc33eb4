"""A small study of classifiers that is really run, and studies with any numbers one likes."""

import math
from functools import cache

from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.tasks.learn.measures import GROUP_SHARES
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.task import LearnTask

DATA = DataSource(dataset="causal", options={"n": 1_200})


def small_plan(methods=tuple(METHODS), epsilons=(3,), *, repeats=2, data=DATA, **parts):
    """Return a plan of a study that takes a moment."""
    return Plan(data=data, task=LearnTask(methods, epsilons, **{"epochs": 2, **parts}), repeats=repeats)


@cache
def small_study():
    """Run every way once on made-up rows, two repeats."""
    plan = small_plan()
    return run(plan, workers=1, progress=False)


@cache
def small_rows():
    """Return the rows of that study with their features."""
    return prepare(small_plan())


# --- made up ----------------------------------------------------------------------------------------


def measures(acc=0.8, gap=0.2, *, epsilon=None, delta=None, bound=math.nan, **more):
    """Return the measures of a cell; with an epsilon it is private."""
    found = dict.fromkeys(("eod", "eo_gap", "meo_gap", "spd"), gap)
    found |= {"acc": acc, "sp_gap": gap, "fair_gap": 0.01, "bound": bound, "bound_95": 2 * bound}
    found |= {"claimed_epsilon": math.nan if epsilon is None else epsilon, "changed": 0.1, "noise": 1.5}
    found |= {"delta": (1.0 if epsilon is None else 1e-5) if delta is None else delta, "trained_on": 900.0}
    return found | {"flipped": math.nan if math.isnan(bound) else 0.05} | more


def of_group(selection=0.4, people=20_000.0, **more):
    """Return the numbers of a group."""
    shares = dict.fromkeys(GROUP_SHARES, 0.1)
    rates = {"selection": selection, "tpr": 0.7, "fpr": 0.2, "accuracy": 0.8, "base_rate": 0.5}
    return rates | {"people": people} | shares | more


def made(given, *, methods=("dp", "dp+parity", "fermi+parity"), epsilons=(1, 3), repeats=9, groups=("f", "m"),
         failures=(), sizes=None, notes=(), facts_notes=(), **parts):  # fmt: skip
    """Return results in which `given` says what the cells of a setting came to.

    It is called with a setting and a repeat and returns measures, or measures and the numbers of groups; None
    stands for a cell that was not run.
    """
    remedies = parts.pop("remedies", ())
    task = LearnTask(methods, epsilons, **parts)
    plan = Plan(data=DataSource(path="people.csv"), task=task, repeats=repeats, remedies=remedies)
    outcomes = []
    for cell in plan.cells():
        found = given(cell.setting, cell.repeat)
        if found is None:
            continue
        if str(cell.setting) in failures:
            outcomes.append(Outcome(cell, failure=Failure("ValueError", "no")))
            continue
        numbers, people = found if isinstance(found, tuple) else (found, None)
        told = people or {group: of_group() for group in groups}
        outcomes.append(Outcome(cell, numbers, told, {}, {"train": 1.0}, notes=notes))
    return Results(plan, _facts(groups, sizes, facts_notes), outcomes)


def _facts(groups, sizes, notes):
    schema = Schema(
        [
            Column("sex", Domain.categorical(list(groups))),
            Column("age", Domain.integers(18, 90)),
            Column("hired", Domain.categorical(["no", "yes"])),
        ],
        target="hired",
        positive="yes",
        protected="sex",
        privileged=groups[-1],
    )
    sizes = sizes or (400,) * len(groups)
    return Facts(
        label="people.csv",
        schema=schema,
        rows=sum(sizes),
        dropped=0,
        groups=tuple(groups),
        privileged=len(groups) - 1,
        sizes=tuple(sizes),
        fingerprint="ab" * 32,
        versions={"python": "3.11"},
        notes=tuple(notes),
    )


JITTER = (-0.001, 0.0, 0.001)


def usual(setting, repeat, **changes):
    """Return DP that costs a point, and parity that costs five and leaves a gap of one; Fermi costs two.

    No two settings differ by the same in most repeats, for what does has no interval.
    """
    if not setting.is_protected:
        own = 1e-5 * repeat
        return measures(0.85 + own, 0.2 - own), {"f": of_group(0.2 + own), "m": of_group(0.4 + 2 * own)}
    epsilon = None if setting.epsilon is None else float(setting.epsilon)
    wiggle = JITTER[repeat % 3] * (1 + len(setting.mechanism) / 100 + (epsilon or 0) / 1000)
    found = {
        "dp": measures(0.84 + wiggle, 0.21 + wiggle, epsilon=epsilon),
        "dp+parity": measures(0.80 + wiggle, 0.012 + wiggle, epsilon=epsilon, bound=0.02),
        "fermi": measures(0.82 + wiggle, 0.05 + wiggle, epsilon=epsilon),
        "fermi+parity": measures(0.83 + wiggle, 0.012 - wiggle, epsilon=epsilon, bound=0.02),
        "dp+projection": measures(0.82 + wiggle, 0.03, bound=math.nan),
        "plain+parity": measures(0.81 + wiggle, 0.012, bound=0.018),
        "local": measures(0.845 + wiggle, 0.2, epsilon=epsilon, delta=0.0),
    }[setting.mechanism]
    return {**found, **changes}, {"f": of_group(0.3 + wiggle), "m": of_group(0.31 + wiggle)}


def sections(page):
    return {section.anchor: section for section in page.sections}


def approvals(parity, approved, *, dp=(0.793, 0.935), methods=("dp", "dp+parity"), repeats=10):
    """Return loans that are right to approve for 87.7 %: the accuracy of each group under each method.

    Without privacy 83.3 % of decisions on black and 94.3 % on white people are right, and 77.8 % and 93.2 %
    are approved. Parity has the accuracies given first, and approves the shares given next.
    """
    people = {"black": 83.0, "white": 417.0}

    def loans(setting, repeat):
        wiggle = JITTER[repeat % 3] / 4 * (len(setting.mechanism) / 9 if setting.is_protected else -1)
        correct, selected = {
            "none": ((0.833, 0.943), (0.778, 0.932)),
            "dp": (dp, (0.83, 0.95)),
            "dp+parity": (parity, approved),
            "dp+projection": (parity, approved),
        }[setting.mechanism if setting.is_protected else "none"]
        groups = {
            group: of_group(
                share + wiggle, people[group], accuracy=right + wiggle * (1 + base), base_rate=base
            )
            for group, share, right, base in zip(people, selected, correct, (0.705, 0.9112), strict=True)
        }
        overall = sum(size * groups[group]["accuracy"] for group, size in people.items()) / 500
        private = setting.is_protected and setting.mechanism != "dp+projection"
        found = measures(
            overall,
            selected[1] - selected[0] + wiggle,
            epsilon=float(setting.epsilon) if private else None,
            bound=0.1 if setting.mechanism == "dp+parity" else math.nan,
        )
        return found | {"balanced_accuracy": 0.6 + wiggle}, groups

    return made(loans, methods=methods, groups=tuple(people), repeats=repeats)
