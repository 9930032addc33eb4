"""The section on the guarantee: what is promised, by what, and what stays in the clear."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from evenhand.collect.protocols.grr import Naming
from evenhand.collect.protocols.registry import AUTO
from evenhand.errors import PrivacyWarning
from evenhand.privacy.rational import text_above
from evenhand.report.page import Fact, Note, Section, Table
from evenhand.report.words import epsilon_of, epsilon_words
from evenhand.study.page.wording import counted, listed, percent, plain
from evenhand.study.tasks.collect.wording import setting_name
from evenhand.study.tasks.shared.optimal_setting import NAME, OptimalWay
from evenhand.study.tasks.shared.protection import promise_of, strategy_of

if TYPE_CHECKING:
    from evenhand.collect.joint.strategy import Strategy
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.study.tasks.collect.reading import CollectReading

__all__ = ["guarantee_section", "odds_factor", "protected_columns"]

COIN_TOSS = 0.1
"""An epsilon up to which a column's report is called close to chance: odds change by at most 11 %."""

_TRUST = {
    "local": "nobody: the noise is added before anything is sent",
    "central": "whoever counts the groups by their outcomes, who sees those rows",
}
_DEPENDS = "depends on the group"
_SENT = "everything that a person sends at once"
_UNITS = {"replace one": "what a person sends, and the counts in which they are"}
_ADDED_UP = {
    "independent": "each column is reported on its own, and their ε add up",
    "combined": "all columns are reported as one combination, by one draw",
    "single": "one column is reported",
    "sampled": "each person is asked one column, with the whole ε",
}


def guarantee_section(reading: CollectReading) -> Section:
    """Return what is protected and how strongly."""
    strategy, guarantee = _promise(reading)
    epsilon = float(strategy.guarantee.epsilon or 0) if _counts(reading) else float(guarantee.epsilon or 0)
    several = "any two sets of their answers" if len(strategy.columns) > 1 else "any two answers"
    names = listed([plain(name) for name in strategy.columns])
    return Section(
        heading=f"Seeing somebody's report changes the odds by a factor of {odds_factor(epsilon)} at most",
        lead=(
            f"That is {reading.at}: between {several} to {names}, whatever else is "
            "known about them. What is sent beside the report is not covered."
        ),
        tables=(_table(reading, strategy),),
        notes=(*_notes(reading, strategy, guarantee), *_optimal_notes(reading, guarantee)),
        facts=tuple(_facts(reading, strategy, guarantee)),
        anchor="guarantee",
    )


def protected_columns(reading: CollectReading) -> tuple[str, ...]:
    """Return the columns that the chosen setting randomises."""
    return strategy_of(reading.chosen, reading.results.facts.schema).columns


def odds_factor(epsilon: float) -> str:
    """Return e to the epsilon, rounded up.

    >>> odds_factor(1), odds_factor(10), odds_factor(50)
    ('2.72', '22,027', 'e^50')
    """
    if epsilon > 20:
        return f"e^{epsilon_of(epsilon)}"
    factor = math.exp(epsilon)
    return f"{math.ceil(factor):,}" if factor >= 100 else f"{math.ceil(100 * factor) / 100:g}"


def _promise(reading: CollectReading) -> tuple[Strategy, Guarantee]:
    strategy = strategy_of(reading.chosen, reading.results.facts.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the page says it, see _notes
        return strategy, promise_of(reading.chosen, reading.results.facts.schema)


def _counts(reading: CollectReading) -> bool:
    """Return whether rows were counted with noise besides what people report."""
    return reading.chosen.mechanism == NAME and OptimalWay.of(reading.chosen).budget is not None


def _facts(reading: CollectReading, strategy: Strategy, guarantee: Guarantee) -> list[Fact]:
    results = reading.results
    schema = results.facts.schema
    clear = [name for name in schema.names if name not in strategy.columns and name != schema.target]
    delta = "δ = 0 (pure)" if guarantee.delta == 0 else f"δ = {text_above(guarantee.delta, digits=2)}"
    not_protected = [f"the label, {plain(schema.target)}"]
    if clear:
        not_protected.append(
            f"{counted(len(clear), 'other column')} ({listed([plain(name) for name in clear])})"
        )
    not_protected.append("people scored later, whose answers the model gets as they are")
    facts = [
        Fact("Guarantee", f"{epsilon_words(guarantee.epsilon)}, {delta}, "
             f"{'attained' if guarantee.tight else 'a bound'}"),
        Fact("Unit", f"{guarantee.unit}: {_UNITS.get(str(guarantee.unit), _SENT)}"),
        Fact("Trust", _TRUST.get(str(guarantee.trust), str(guarantee.trust))),
        Fact("Proof", f"{plain(guarantee.proof, longest=200)}; {_ADDED_UP[strategy.name]}"),
        Fact("Assumes", plain("; ".join(guarantee.assumptions), longest=1_000)),
        Fact("Randomness", f"simulated with seed {results.plan.seed}: for study only, not a release"),
        Fact("Not protected", f"{listed(not_protected)}"),
    ]  # fmt: skip
    if clear:
        facts.append(
            Fact(
                "May reveal it",
                "columns in the clear that go together with a protected one; those from which it was guessed "
                "clearly better on rows held out stand in the warnings",
            )
        )
    return facts


def _table(reading: CollectReading, strategy: Strategy) -> Table:
    """Return a row for each reported column: how much of epsilon it has, and how often its report is true."""
    exact = all(isinstance(protocol, Naming) for protocol in strategy.protocols.values())
    auto = reading.chosen.mechanism == AUTO
    words = ("Report is true", "Report is a given other value") if exact else (
        "Report supports the true value", "Report supports a given other value")  # fmt: skip
    rows, shares, chances = [], [], []
    for column, protocol in strategy.protocols.items():
        share = float(strategy.epsilon_within_report(column))
        shares.append(share)
        law = _law(reading, strategy, column)
        told = [percent(share) if math.isfinite(share) else _DEPENDS for share in law]
        chances.append(law)
        named = [protocol.name.upper()] if auto else []
        rows.append([plain(column), *named, f"{protocol.k:,}", _short(share), *told])
    probabilities = list(strategy.protocols.values())
    return Table(
        header=["Column", *(["Protocol"] if auto else []), "Values", "ε within the report", *words],
        rows=rows,
        numeric=[False, *([False] if auto else []), True, True, True, True],
        caption=(
            f"**Exact values, no sampling.** How {reading.at} is spent by "
            f"{setting_name(reading.chosen, epsilon=False)}, and how often a report is "
            "right."
        ),
        name="guarantee",
        data={
            "column": list(strategy.columns),
            "protocol": [protocol.name for protocol in probabilities],
            "values": [protocol.k for protocol in probabilities],
            "epsilon_within_report": shares,
            "epsilon_if_seen_alone": [_alone(reading, strategy, name) for name in strategy.columns],
            "supports_true_value": [true for true, _ in chances],
            "supports_other_value": [other for _, other in chances],
        },
    )


def _law(reading: CollectReading, strategy: Strategy, column: str) -> tuple[float, float]:
    """Return how often a report supports the true value and any other; NaN where groups differ in that."""
    optimal = reading.chosen.mechanism == NAME
    if optimal and (strategy.name == "combined" or column == reading.results.facts.schema.protected):
        return math.nan, math.nan
    protocol = strategy.protocols[column]
    return protocol.p, protocol.q


def _optimal_notes(reading: CollectReading, guarantee: Guarantee) -> list[Note]:
    """Return what the optimal channel does, and what making it cost."""
    if reading.chosen.mechanism != NAME:
        return []
    way = OptimalWay.of(reading.chosen)
    notes = [
        Note(
            "plain",
            "**The reports are made to tell little about the outcome; the true groups are as they were.** A "
            "smaller difference between reported groups says nothing about what the true groups get. Every "
            "gap of predictions on this page is one between true groups.",
        )
    ]
    if way.outcomes == "exact":
        notes.append(
            Note(
                "warn",
                "**The guarantee holds only if the exact counts of groups by outcomes are public.** They "
                "were counted in all rows, test rows included; that is for reproducing a paper.",
            )
        )
    elif way.outcomes == "pilot":
        notes.append(
            Note(
                "plain",
                f"{percent(way.pilot)} of the training rows, at least 100, are a pilot that reports by GRR "
                "with the same ε. Groups and outcomes are estimated from their reports; everybody reports "
                "once.",
            )
        )
    elif way.budget is not None:
        notes.append(
            Note(
                "warn",
                f"**Counting groups by outcomes costs {epsilon_words(way.budget)} more.** The report "
                f"has {reading.at}; with the counts it is "
                f"{epsilon_words(guarantee.epsilon)}, and whoever counts sees the rows.",
            )
        )
    return notes


def _alone(reading: CollectReading, strategy: Strategy, column: str) -> float:
    """Return the epsilon of a column if it is seen alone, or a bound of it.

    The strategy stands for that of "optimal" in all but this: a column of a combination that GRR reports
    tells less than the whole, and one of the optimal channel may tell as much.
    """
    if reading.chosen.mechanism == NAME:
        return float(strategy.epsilon_within_report(column))
    return strategy.epsilon_if_seen_alone(column)


def _notes(reading: CollectReading, strategy: Strategy, guarantee: Guarantee) -> list[Note]:
    notes = []
    alone = {name: _alone(reading, strategy, name) for name in strategy.columns}
    faint = [name for name, epsilon in alone.items() if epsilon <= COIN_TOSS]
    if faint:
        shares = [f"{plain(name)} a factor of {odds_factor(alone[name])}" for name in faint]
        chance = "a coin toss" if all(strategy.sizes[name] == 2 for name in faint) else "chance"
        notes.append(
            Note(
                "warn",
                f"**What is reported of {listed([plain(name) for name in faint])} is close to {chance}.** "
                f"By itself it changes the odds by little: {listed(shares)}. A model can learn little from "
                "it, and a result that does not follow ε may be due to that.",
            )
        )
    if strategy.rarely_true and reading.chosen.mechanism != NAME:
        shares = [f"{plain(name)} {percent(share)}" for name, share in strategy.rarely_true.items()]
        notes.append(
            Note(
                "warn",
                f"**Less than 5% of the reports are true:** {listed(shares)}. Shares of many people can be "
                "estimated from them, and a model learns little.",
            )
        )
    notes += [Note("warn", plain(caution, longest=400)) for caution in guarantee.cautions]
    if strategy.name == "combined":
        notes.append(
            Note(
                "plain",
                "Every column is told apart with the whole ε, since one draw decides about all of them.",
            )
        )
    return notes


def _short(share: float) -> str:
    return f"{share:.3f}".rstrip("0").rstrip(".") if share >= 0.001 else f"{share:.2g}"
