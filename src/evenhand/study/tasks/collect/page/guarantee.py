"""The section on the guarantee: what is promised, by what, and what stays in the clear."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from evenhand.collect.protocols.grr import Naming
from evenhand.collect.protocols.registry import AUTO
from evenhand.errors import PrivacyWarning
from evenhand.privacy.rational import text_above
from evenhand.report.language import LANGUAGES, in_language
from evenhand.report.page import Fact, Note, Section, Table
from evenhand.report.words import epsilon_words, number, plain
from evenhand.study.page.wording import odds_factor, percent
from evenhand.study.tasks.shared.claims import state_rows
from evenhand.study.tasks.shared.optimal_setting import NAME, OptimalWay
from evenhand.study.tasks.shared.protection import promise_of, strategy_of

if TYPE_CHECKING:
    from evenhand.collect.joint.strategy import Strategy
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.study.tasks.collect.reading import CollectReading

COIN_TOSS = 0.1
"""An epsilon up to which a column's report is called close to chance: odds change by at most 11 %."""


def guarantee_section(reading: CollectReading) -> Section:
    """Return what is protected and how strongly."""
    strategy, guarantee = _promise(reading)
    epsilon = float(strategy.guarantee.epsilon or 0) if _counts(reading) else float(guarantee.epsilon or 0)
    say, columns = reading.sentences.say, [plain(name) for name in strategy.columns]
    return Section(
        heading=say("guarantee.heading", factor=odds_factor(epsilon)),
        lead=say(f"guarantee.lead_{'one' if len(columns) == 1 else 'many'}", at=reading.at, columns=columns),
        tables=(_table(reading, strategy),),
        notes=(*_notes(reading, strategy, guarantee), *_optimal_notes(reading, guarantee)),
        facts=tuple(_facts(reading, strategy, guarantee)),
        anchor="guarantee",
    )


def protected_columns(reading: CollectReading) -> tuple[str, ...]:
    """Return the columns that the chosen setting randomises."""
    return strategy_of(reading.chosen, reading.results.facts.schema).columns


def _promise(reading: CollectReading) -> tuple[Strategy, Guarantee]:
    strategy = strategy_of(reading.chosen, reading.results.facts.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the page says it, see _notes
        promise = promise_of(reading.chosen, reading.results.facts.schema)
        return strategy, state_rows(promise, reading.results.facts.notes)


def _counts(reading: CollectReading) -> bool:
    """Return whether rows were counted with noise besides what people report."""
    return reading.chosen.mechanism == NAME and OptimalWay.of(reading.chosen).budget is not None


def _facts(reading: CollectReading, strategy: Strategy, guarantee: Guarantee) -> list[Fact]:
    results = reading.results
    schema, say = results.facts.schema, reading.sentences.under("guarantee.fact")
    hidden = {*strategy.columns, schema.target}
    clear = [plain(name) for name in (*schema.names, schema.weight) if name and name not in hidden]
    exact = say("pure") if guarantee.delta == 0 else ""
    delta = exact or say("delta", delta=in_language(text_above(guarantee.delta, digits=2)))
    open_columns = [say("in_clear", count=len(clear), columns=clear)] if clear else []
    not_protected = [say("label", target=plain(schema.target)), *open_columns, say("scored_later")]
    promise = say(
        "attained" if guarantee.tight else "bound", at=epsilon_words(guarantee.epsilon), delta=delta
    )
    counted = str(guarantee.unit) == "replace one"
    proof = plain(guarantee.proof, longest=200)
    facts = {
        "guarantee": promise,
        "unit": say("unit_counted" if counted else "unit", unit=guarantee.unit),
        "trust": say(f"trust_{guarantee.trust}"),
        "proof": say("proof", proof=proof, added_up=say(strategy.name)),
        "assumes": plain("; ".join(guarantee.assumptions), longest=1_000),
        "randomness": say("randomness", seed=results.plan.seed),
        "not_protected": say("not_protected", what=not_protected),
    }
    if clear:
        facts["may_reveal"] = say("may_reveal")
    if reading.language != LANGUAGES[0]:
        facts["in_english"] = say("in_english")
    return [Fact(reading.sentences.say(f"guarantee.term.{term}"), text) for term, text in facts.items()]


def _table(reading: CollectReading, strategy: Strategy) -> Table:
    """Return a row for each reported column: how much of epsilon it has, and how often its report is true."""
    exact = all(isinstance(protocol, Naming) for protocol in strategy.protocols.values())
    auto = reading.chosen.mechanism == AUTO
    say = reading.sentences.say
    words = ("true", "other") if exact else ("supports_true", "supports_other")
    rows, shares, chances = [], [], []
    for column, protocol in strategy.protocols.items():
        share = float(strategy.epsilon_within_report(column))
        shares.append(share)
        law = _law(reading, strategy, column)
        told = [percent(share) if math.isfinite(share) else say("guarantee.depends") for share in law]
        chances.append(law)
        named = [protocol.name.upper()] if auto else []
        rows.append([plain(column), *named, number(protocol.k, 0), _short(share), *told])
    probabilities = list(strategy.protocols.values())
    columns = ("name", *(["protocol"] if auto else []), "values", "epsilon", *words)
    return Table(
        header=[say(f"guarantee.column_{word}") for word in columns],
        rows=rows,
        numeric=[False, *([False] if auto else []), True, True, True, True],
        caption=say(
            "guarantee.caption", at=reading.at, setting=reading.setting_name(reading.chosen, epsilon=False)
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
    if optimal and (strategy.name == "combined" or column in reading.results.facts.schema.protected_columns):
        return math.nan, math.nan
    protocol = strategy.protocols[column]
    return protocol.p, protocol.q


def _optimal_notes(reading: CollectReading, guarantee: Guarantee) -> list[Note]:
    """Return what the optimal channel does, and what making it cost."""
    if reading.chosen.mechanism != NAME:
        return []
    way, say = OptimalWay.of(reading.chosen), reading.sentences.under("guarantee.note")
    notes = [Note("plain", say("optimal"))]
    if way.outcomes == "exact":
        notes.append(Note("warn", say("optimal_exact")))
    elif way.outcomes == "pilot":
        notes.append(Note("plain", say("optimal_pilot", share=way.pilot)))
    elif way.budget is not None:
        more, total = epsilon_words(way.budget), epsilon_words(guarantee.epsilon)
        notes.append(Note("warn", say("optimal_counted", more=more, at=reading.at, total=total)))
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
    notes, say = [], reading.sentences.under("guarantee.note")
    alone = {name: _alone(reading, strategy, name) for name in strategy.columns}
    faint = [name for name, epsilon in alone.items() if epsilon <= COIN_TOSS]
    if faint:
        factors = [say("faint_column", column=plain(name), factor=odds_factor(alone[name])) for name in faint]
        chance = say("coin_toss" if all(strategy.sizes[name] == 2 for name in faint) else "chance")
        columns = [plain(name) for name in faint]
        notes.append(Note("warn", say("faint", columns=columns, chance=chance, factors=factors)))
    if strategy.rarely_true and reading.chosen.mechanism != NAME:
        shares = [
            say("rarely_true_column", column=plain(name), share=share)
            for name, share in strategy.rarely_true.items()
        ]
        notes.append(Note("warn", say("rarely_true", columns=shares)))
    notes += [Note("warn", plain(caution, longest=400)) for caution in guarantee.cautions]
    if strategy.name == "combined":
        notes.append(Note("plain", say("combined")))
    return notes


def _short(share: float) -> str:
    return in_language(f"{share:.3f}".rstrip("0").rstrip(".") if share >= 0.001 else f"{share:.2g}")
