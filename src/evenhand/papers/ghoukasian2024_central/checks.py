"""Checks of what ghoukasian2024 states in section 3.5: its accounting, tables 3.1 to 3.4 and findings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import METHOD_UNKNOWN, UNCHECKED, Checked, agree_if, cannot_check
from evenhand.papers.ghoukasian2024_central import accounting, readings
from evenhand.papers.ghoukasian2024_central.accounting import ACCOUNTING, AS_PRINTED, CLEAN, TWICE
from evenhand.papers.ghoukasian2024_central.settings import CLIP, LIPSCHITZ, TABLES
from evenhand.papers.ghoukasian2024_central.training import training_name
from evenhand.papers.rules import MARGIN, alike, fact, mostly
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.papers.claims import Evidence
    from evenhand.papers.ghoukasian2024_central.readings import Reading
    from evenhand.study.results.estimates import Estimated

_DATA = {"adult": "Adult", "credit": "Credit Card"}


def _title(name: str) -> str:
    return name.capitalize().replace("-", " ")


def _named(dataset: str) -> tuple[str, ...]:
    return tuple(name for name, table in TABLES.items() if table.dataset == dataset)


def _accounts(evidence: Evidence, name: str) -> dict[str, Any] | None:
    records = evidence.trials[ACCOUNTING].values()
    return next((dict(record) for record in records if record["table"] == name), None)


def accounted(evidence: Evidence, name: str) -> Checked:
    record = _accounts(evidence, name)
    if not record:
        return cannot_check(case="open")
    table = TABLES[name]
    found, most = record["readings"][AS_PRINTED]["epsilon"], table.training_epsilon
    least = record["needed"][AS_PRINTED] * CLIP
    checked = agree_if(found <= most, paper=f"{most:.1f}", found=found, table=table, least=least)
    return replace(checked, paper_value=most)


def private(evidence: Evidence, name: str) -> Checked:
    record = _accounts(evidence, name)
    if not record:
        return cannot_check(case="open")
    table, found = TABLES[name], record["readings"]
    whole = 2 * float(table.rate_epsilon)

    told = {
        reading: f"q = {each['sampling']:.4f}, {each['steps']:,} steps: {each['epsilon']:.2f}, in all "
        f"{each['epsilon'] + whole:.2f}"
        for reading, each in found.items()
    }
    if table.dataset == "credit":
        holds = found[accounting.REAL]["epsilon"] <= table.training_epsilon
        return agree_if(holds, paper=table.epsilon, case="credit", real=told[accounting.REAL])
    person = found[TWICE]["person"]
    values = {
        "undecided": readings.UNDECIDED,
        "clean": told[CLEAN],
        "loader": found[f"{CLEAN}, {accounting.LOADER}"]["epsilon"],
        "noise": record["needed"][CLEAN] * CLIP,
        "twice": told[TWICE],
        "copies": "more than double precision can tell" if person is None else f"at most {person:.2f}",
        "thirds": told[accounting.THIRDS],
    }
    within = [found[each]["epsilon"] <= table.training_epsilon for each in (CLEAN, TWICE, accounting.THIRDS)]
    checked = agree_if(all(within), paper=table.epsilon, **values)
    return checked if len(set(within)) == 1 else replace(checked, verdict=METHOD_UNKNOWN)


def one_record(evidence: Evidence) -> Checked:
    found = {
        _title(record["table"]): (record["readings"][AS_PRINTED]["replaced"], record["target"])
        for record in evidence.trials[ACCOUNTING].values()
    }
    wrong = any(replaced > target for replaced, target in found.values())
    return agree_if(not wrong, told=[f"{title} {replaced:.2f}" for title, (replaced, _) in found.items()])


def fermi_private(evidence: Evidence) -> Checked:
    told, beyond = [], False
    for dataset, title in _DATA.items():
        every = [
            line
            for record in evidence.trials[training_name(dataset)].values()
            for name in _named(dataset)
            for first in record["tables"][name].values()
            for line in first["fermi"]["lambdas"].values()
        ]
        longest = max(line["longest"] for line in every)
        shares = [line["beyond"] for line in every]
        beyond = beyond or longest > LIPSCHITZ
        told.append(f"{title} up to {longest:.1f}, {min(shares):.2%} to {max(shares):.2%} of the rows beyond")
    found = agree_if(not beyond, most=LIPSCHITZ, told="; ".join(told).replace("%", " %"))
    return replace(found, verdict=UNCHECKED) if beyond else found


def _inputs(evidence: Evidence, dataset: str) -> int:
    record = next(iter(evidence.trials[training_name(dataset)].values()))
    return int(record["inputs"])


def inputs(evidence: Evidence, dataset: str, paper: int) -> Checked:
    return fact(_inputs(evidence, dataset), paper)


def two_models(evidence: Evidence) -> dict[str, Any]:
    """Return how many inputs the one classifier of the published code has."""
    return {"inputs": _inputs(evidence, "adult")}


def _in_readings(evidence: Evidence, name: str, check: Callable[[Reading], Checked]) -> Checked:
    every = readings.list_readings(evidence, TABLES[name])
    return readings.combine_readings({reading: check(reading) for reading in every})


def comparable(evidence: Evidence, name: str) -> Checked:
    def check(reading: Reading) -> Checked:
        own, other = _runs(evidence, name, reading, "acc", "", TABLES[name].matched)
        return alike([estimate_mean(own - other)])

    return _in_readings(evidence, name, check)


def _runs(evidence: Evidence, name: str, reading: Reading, measure: str, *strengths: str) -> list[Any]:
    return [readings.runs_of(evidence, name, reading, strength, measure) for strength in strengths]


def smaller(evidence: Evidence, name: str, own_times: float = 1.0, other_times: float = 1.0) -> Checked:
    """Check that the gap of Algorithm 2, so many times, is below DP-FERMI's, so many times."""

    def check(reading: Reading) -> Checked:
        own, other = _runs(evidence, name, reading, "gap", "", TABLES[name].matched)
        found = mostly([estimate_mean(other_times * other - own_times * own)])
        chance = readings.by_chance(evidence, name, reading)
        gaps = f"Gaps {own.mean():.4f} and {other.mean():.4f}; with none at all, {chance:.4f} by chance."
        return replace(found, why=f"{found.why} {gaps}")

    return _in_readings(evidence, name, check)


def _nearest(evidence: Evidence, name: str, reading: Reading) -> tuple[str, Estimated] | None:
    """Return the lambda of the accuracy nearest to Algorithm 2's, and how much larger its gap is."""
    strengths = TABLES[name].strengths
    own, *others = (runs.mean() for runs in _runs(evidence, name, reading, "acc", "", *strengths))
    apart, place = min((abs(float(each - own)), place) for place, each in enumerate(others))
    if apart > MARGIN:
        return None
    other, gap = _runs(evidence, name, reading, "gap", strengths[place], "")
    return strengths[place], estimate_mean(other - gap)


def fairer(evidence: Evidence, dataset: str) -> Checked:
    names = _named(dataset)

    def check(reading: Reading) -> Checked:
        found = {name: _nearest(evidence, name, reading) for name in names}
        known = {name: each for name, each in found.items() if each is not None}
        told = ", ".join(f"{_title(name)} lambda {each[0]}" for name, each in known.items())
        checked = mostly([each for _, each in known.values()])
        return replace(checked, why=f"{checked.why} Compared: {told or 'none'}.")

    return _in_readings(evidence, names[0], check)


def trend(evidence: Evidence, dataset: str, measure: str) -> Checked:
    names = _named(dataset)

    def check(reading: Reading) -> Checked:
        falls = [
            estimate_mean(one - two)
            for name in names
            for one, two in pairwise(_runs(evidence, name, reading, measure, *TABLES[name].strengths))
        ]
        return mostly(falls, what="steps to a larger lambda")

    return _in_readings(evidence, names[0], check)
