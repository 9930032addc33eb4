"""What ghoukasian2024 states in section 3.5: its accounting, numbers of tables 3.1 to 3.4 and findings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import AGREES, DIFFERS, UNCHECKED, Checked, Claim, cannot_check
from evenhand.papers.ghoukasian2024_central import checks
from evenhand.papers.ghoukasian2024_central.accounting import (
    ACCOUNTING,
    AS_PRINTED,
    CLEAN,
    LOADER,
    REAL,
    THIRDS,
    TWICE,
)
from evenhand.papers.ghoukasian2024_central.printed import CLIP, LIPSCHITZ, TABLES
from evenhand.papers.ghoukasian2024_central.training import training_name
from evenhand.papers.rules import MARGIN, alike, fact, mostly
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.papers.claims import Evidence
    from evenhand.papers.ghoukasian2024_central.checks import Reading
    from evenhand.study.results.estimates import Estimated

__all__ = ["HALF", "SECTION"]

HALF = 0.6
""""Nearly half" is taken to be at most this share, as in the reproduction of chapter 5."""

_DATA = {"adult": "Adult", "credit": "Credit Card"}
_TITLES = {name: f"Table {name.removeprefix('table-')}" for name in TABLES}
_WORDS = {"acc": "accuracy", "gap": "statistical parity gap"}
_INPUTS = {"adult": 102, "credit": 85}


def _named(dataset: str) -> tuple[str, ...]:
    return tuple(name for name, table in TABLES.items() if table.dataset == dataset)


# --- privacy --------------------------------------------------------------------------------------


def _accounts(evidence: Evidence, name: str) -> dict[str, Any]:
    for record in evidence.trials[ACCOUNTING].values():
        if record["table"] == name:
            return dict(record)
    return {}


def _claimed(name: str, evidence: Evidence) -> Checked:
    record = _accounts(evidence, name)
    if not record:
        return cannot_check("Not run.")
    table = TABLES[name]
    found = record["readings"][AS_PRINTED]["epsilon"]
    least = record["needed"][AS_PRINTED] * CLIP
    why = (
        f"Epsilon {found:.4f} for q = {table.sampling} and {table.steps:,} steps, adding or removing a row; "
        f"a noise of {least:.3f} would do."
    )
    holds = found <= table.training_epsilon
    return Checked(
        AGREES if holds else DIFFERS, why, paper=f"{table.training_epsilon:.1f}",
        paper_value=table.training_epsilon,
    )  # fmt: skip


def _real(name: str, evidence: Evidence) -> Checked:
    record = _accounts(evidence, name)
    if not record:
        return cannot_check("Not run.")
    table, found = TABLES[name], record["readings"]
    whole = 2 * float(table.rate_epsilon)

    def told(reading: str) -> str:
        each = found[reading]
        return (
            f"q = {each['sampling']:.4f}, {each['steps']:,} steps: {each['epsilon']:.2f}, in all "
            f"{each['epsilon'] + whole:.2f}"
        )

    if table.dataset == "credit":
        holds = found[REAL]["epsilon"] <= table.training_epsilon
        why = f"30,000 rows, 15,000 of them for DP-SGD ({told(REAL)})."
        return Checked(AGREES if holds else DIFFERS, why, paper=table.epsilon)
    person = found[TWICE]["person"]
    copies = "more than double precision can tell" if person is None else f"at most {person:.2f}"
    why = (
        f"{checks.UNDECIDED} 45,222 rows, 22,611 of them for DP-SGD: above ({told(CLEAN)}; with one batch in "
        f"23, as the published library draws them, {found[f'{CLEAN}, {LOADER}']['epsilon']:.2f}); the noise "
        f"would have to be {record['needed'][CLEAN] * CLIP:.2f}. A file of 60,324 rows: within "
        f"({told(TWICE)}), but it has people twice, for whom the training costs {copies}. Two thirds of "
        f"45,222 rows for DP-SGD: within ({told(THIRDS)}), but the published code splits otherwise."
    )
    return Checked(UNCHECKED, why, paper=table.epsilon)


def _replaced(evidence: Evidence) -> Checked:
    records = list(evidence.trials[ACCOUNTING].values())
    told = ", ".join(
        f"{_TITLES[each['table']]} {each['readings'][AS_PRINTED]['replaced']:.2f}" for each in records
    )
    wrong = sum(each["readings"][AS_PRINTED]["replaced"] > each["target"] for each in records)
    why = (
        "The accountant is for adding or removing a row. If two data sets of the same size differ in one "
        f"record, as Definition 1 and Algorithm 2 have it, training costs: {told}."
    )
    return Checked(DIFFERS if wrong else AGREES, why)


def _assumed(evidence: Evidence) -> Checked:
    told, beyond = [], False
    for dataset, title in _DATA.items():
        records = evidence.trials[training_name(dataset)].values()
        every = [
            line
            for record in records
            for name in _named(dataset)
            for first in record["tables"][name].values()
            for line in first["fermi"]["lambdas"].values()
        ]
        longest = max(line["longest"] for line in every)
        shares = [line["beyond"] for line in every]
        beyond = beyond or longest > LIPSCHITZ
        told.append(f"{title} up to {longest:.1f}, {min(shares):.2%} to {max(shares):.2%} of the rows beyond")
    why = (
        f"Its noise assumes that no row's gradient is longer than {LIPSCHITZ:g}; what is clipped is the mean "
        f"of a batch. At the end of training: {'; '.join(told)}. Nor are its batches random samples. So the "
        "formula proves nothing for these runs, and whether the privacy is that of Algorithm 2 is open."
    )
    return cannot_check(why.replace("%", " %")) if beyond else Checked(AGREES, why)


def _models(_: Evidence) -> Checked:
    return cannot_check(
        "The published code trains one classifier that has the group among its inputs, and Algorithm 2 uses "
        "its two restrictions; so do we. Nothing in the bounds depends on it."
    )


def _inputs(dataset: str, evidence: Evidence) -> Checked:
    record = next(iter(evidence.trials[training_name(dataset)].values()))
    return fact(record["inputs"], _INPUTS[dataset])


def _privacy_claims() -> Iterator[Claim]:
    for name, table in TABLES.items():
        text = (
            f"{_TITLES[name]}: a noise of {table.noise:g} keeps DP-SGD within epsilon "
            f"{table.training_epsilon:.1f} with the published accounting."
        )
        yield Claim(f"{name}-accounted", text, "3.5", partial(_claimed, name), "fact", (ACCOUNTING,))
    for name, table in TABLES.items():
        text = f"{_TITLES[name]}: the classifier is ({table.epsilon}, 1e-5)-private for the rows of the file."
        yield Claim(f"{name}-private", text, "3.5", partial(_real, name), "fact", (ACCOUNTING,))
    text = "The epsilons are those of Definition 1: data sets that differ in exactly one record."
    yield Claim("one-record", text, "Definition 1, 3.5", _replaced, "fact", (ACCOUNTING,))
    text = "DP-FERMI's noise gives it the same (epsilon, delta) for all features."
    runs = tuple(training_name(each) for each in _DATA)
    yield Claim("fermi-private", text, "3.5", _assumed, "fact", runs)
    text = "Algorithm 2 is given decoupled classifiers."
    yield Claim("two-models", text, "3.5", _models, "argument")
    for dataset, title in _DATA.items():
        text = f"{title} has {_INPUTS[dataset]} inputs besides the sensitive attribute."
        check = partial(_inputs, dataset)
        yield Claim(f"{dataset}-inputs", text, "published code", check, "fact", (training_name(dataset),))


# --- numbers --------------------------------------------------------------------------------------


def _number(name: str, measure: str, evidence: Evidence) -> Checked:
    return checks.number_of(evidence, name, "", measure)


def _column(name: str, measure: str, evidence: Evidence) -> Checked:
    return checks.table_of(evidence, name, measure)


def _number_claims(name: str) -> Iterator[Claim]:
    table, title = TABLES[name], _TITLES[name]
    needs = checks.needed_trials(table)
    for measure, words in _WORDS.items():
        text = f"{title}: the {words} of Algorithm 2."
        yield Claim(f"{name}-{measure}", text, title, partial(_number, name, measure), "quoted", needs)
    for measure, words in _WORDS.items():
        text = f"{title}: the {words} of DP-FERMI at lambda {', '.join(table.strengths)}."
        yield Claim(f"{name}-fermi-{measure}", text, title, partial(_column, name, measure), "share", needs)


# --- findings -------------------------------------------------------------------------------------

_FINDINGS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "table-3.1": ("more than twice", lambda own, other: other - 2 * own),
    "table-3.2": ("larger than", lambda own, other: other - own),
    "table-3.3": ("more than twice", lambda own, other: other - 2 * own),
    "table-3.4": ("nearly twice", lambda own, other: HALF * other - own),
}


def _in_readings(name: str, evidence: Evidence, check: Callable[[Reading], Checked]) -> Checked:
    return checks.combine_readings({each: check(each) for each in checks.readings(evidence, TABLES[name])})


def _own(evidence: Evidence, name: str, reading: Reading, measure: str) -> Any:
    return checks.runs_of(evidence, name, reading, "", measure)


def _comparable(name: str, evidence: Evidence) -> Checked:
    strength = TABLES[name].matched

    def check(reading: Reading) -> Checked:
        other = checks.runs_of(evidence, name, reading, strength, "acc")
        return alike([estimate_mean(_own(evidence, name, reading, "acc") - other)])

    return _in_readings(name, evidence, check)


def _smaller(name: str, evidence: Evidence) -> Checked:
    strength, difference = TABLES[name].matched, _FINDINGS[name][1]

    def check(reading: Reading) -> Checked:
        own = _own(evidence, name, reading, "gap")
        other = checks.runs_of(evidence, name, reading, strength, "gap")
        found = mostly([estimate_mean(difference(own, other))])
        chance = checks.by_chance(evidence, name, reading)
        gaps = f"Gaps {own.mean():.4f} and {other.mean():.4f}; with none at all, {chance:.4f} by chance."
        return replace(found, why=f"{found.why} {gaps}")

    return _in_readings(name, evidence, check)


def _nearest(evidence: Evidence, name: str, reading: Reading) -> tuple[str, Estimated] | None:
    """Return the lambda of the accuracy nearest to Algorithm 2's, and how much larger its gap is."""
    own = _own(evidence, name, reading, "acc").mean()
    apart = {
        each: abs(float(checks.runs_of(evidence, name, reading, each, "acc").mean() - own))
        for each in TABLES[name].strengths
    }
    strength = min(apart, key=lambda each: apart[each])
    if apart[strength] > MARGIN:
        return None
    other = checks.runs_of(evidence, name, reading, strength, "gap")
    return strength, estimate_mean(other - _own(evidence, name, reading, "gap"))


def _fairer(dataset: str, evidence: Evidence) -> Checked:
    names = _named(dataset)

    def check(reading: Reading) -> Checked:
        found = {name: _nearest(evidence, name, reading) for name in names}
        known = {name: each for name, each in found.items() if each is not None}
        told = ", ".join(f"{_TITLES[name]} lambda {each[0]}" for name, each in known.items())
        checked = mostly([each for _, each in known.values()])
        return replace(checked, why=f"{checked.why} Compared: {told or 'none'}.")

    return _in_readings(names[0], evidence, check)


def _trend(dataset: str, measure: str, evidence: Evidence) -> Checked:
    names = _named(dataset)

    def check(reading: Reading) -> Checked:
        falls = [
            estimate_mean(
                checks.runs_of(evidence, name, reading, one, measure)
                - checks.runs_of(evidence, name, reading, two, measure)
            )
            for name in names
            for one, two in pairwise(TABLES[name].strengths)
        ]
        return mostly(falls, what="steps to a larger lambda")

    return _in_readings(names[0], evidence, check)


def _finding_claims() -> Iterator[Claim]:
    for name, (words, _) in _FINDINGS.items():
        table, title = TABLES[name], _TITLES[name]
        needs = checks.needed_trials(table)
        text = f"{title}: DP-FERMI at lambda {table.matched} is as accurate as Algorithm 2."
        yield Claim(f"{name}-alike", text, f"3.5, {title}", partial(_comparable, name), "alike", needs)
        text = f"{title}: its gap is {words} that of Algorithm 2."
        yield Claim(f"{name}-smaller", text, f"3.5, {title}", partial(_smaller, name), "mostly", needs)
    for dataset, title in _DATA.items():
        needs = (training_name(dataset),)
        text = f"{title}: at the accuracy of Algorithm 2, DP-FERMI has a larger gap."
        yield Claim(f"{dataset}-fairer", text, "1.2.1, 3.5", partial(_fairer, dataset), "mostly", needs)
        for measure, words in _WORDS.items():
            text = f"{title}: a larger lambda lowers DP-FERMI's {words}."
            check = partial(_trend, dataset, measure)
            yield Claim(f"{dataset}-lambda-{measure}", text, "3.5", check, "mostly", needs)


SECTION: tuple[Claim, ...] = (
    *_privacy_claims(),
    *(claim for name in TABLES for claim in _number_claims(name)),
    *_finding_claims(),
)
"""The claims of section 3.5."""
