"""The tables of the reproduction of ghoukasian2024, chapter 3: printed numbers, accounting and bounds."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import AGREES, CONTRADICTED
from evenhand.papers.ghoukasian2024_central import readings
from evenhand.papers.ghoukasian2024_central.accounting import ACCOUNTING
from evenhand.papers.ghoukasian2024_central.bounds import BOUNDS, ETA
from evenhand.papers.ghoukasian2024_central.settings import CLIP, TABLES
from evenhand.papers.ghoukasian2024_central.training import RANDOM, ZERO, training_name
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.papers.claims import Evidence

    Row = dict[str, Any]

_NAMES = {"acc": "acc", "gap": "sp_gap"}
_ALONE = "no printed number"
_FERMI = "published formula, relies on an assumed bound"
_STAGES = (
    (RANDOM, ("DP-SGD, before Algorithm 2", "before")),
    (ZERO, ("DP-SGD from 0, before Algorithm 2", "before")),
    (ZERO, ("Algorithm 2, DP-SGD from 0", "after")),
)


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return tables 3.1 to 3.4 in every reading, the accounting, and the bounds beside simulations."""
    found: dict[str, list[Row]] = {}
    for name, table in TABLES.items():
        if any(training_name(file) in evidence.trials for file in readings.files_of(table)):
            found[name] = list(_table(evidence, name))
    found[ACCOUNTING] = [
        row for record in evidence.trials.get(ACCOUNTING, {}).values() for row in _accounting(record)
    ]
    found[BOUNDS] = [
        row
        for record in evidence.trials.get(BOUNDS, {}).values()
        for case in record["cases"]
        for row in _bounds(case)
    ]
    return {name: columns_of(rows) for name, rows in found.items() if rows}


def _table(evidence: Evidence, name: str) -> Iterator[Row]:
    table = TABLES[name]
    for line in table.lines:
        for reading in readings.list_readings(evidence, table):
            place: Row = {
                "mechanism": line.method, "strategy": reading.words, "epsilon": float(table.epsilon),
            }  # fmt: skip
            for measure, word in _NAMES.items():
                found = readings.of_reading(evidence, name, reading, line, measure)
                why = f"{found.why} Epsilon: {_FERMI}." if line.strength else found.why
                yield table_row(
                    name, table.dataset, word, found.ours, **place,
                    paper=found.paper_value, verdict=found.verdict, note=why,
                )  # fmt: skip
            for measure in ("men", "women"):
                runs = readings.runs_of(evidence, name, reading, line.strength, measure)
                measured = f"positive rate, {measure}"
                yield table_row(name, table.dataset, measured, estimate_mean(runs), **place, note=_ALONE)
    yield from _beside(evidence, name)


def _beside(evidence: Evidence, name: str) -> Iterator[Row]:
    """Yield DP-SGD before its post-processing, and the accuracy of refusing everybody."""
    table = TABLES[name]
    for reading in readings.list_readings(evidence, table):
        place: Row = {"strategy": reading.words, "epsilon": float(table.epsilon)}
        for (start, (mechanism, stage)), (measure, word) in product(_STAGES, _NAMES.items()):
            runs = readings.runs_of(evidence, name, reading, "", measure, stage=stage, start=start)
            yield table_row(
                name, table.dataset, word, estimate_mean(runs), mechanism=mechanism, **place,
                note=f"DP-SGD {start}; {_ALONE}",
            )  # fmt: skip
        records = evidence.trials[training_name(reading.file)].values()
        refused = float(np.mean([record["majority"] for record in records]))
        yield table_row(
            name, table.dataset, "acc", refused, mechanism="refuse everybody", **place, note=_ALONE
        )
        chance = readings.by_chance(evidence, name, reading)
        yield table_row(
            name, table.dataset, "sp_gap", chance, mechanism="no gap", **place,
            note="expected by chance on the test rows at the positive rate of Algorithm 2",
        )  # fmt: skip


def _accounting(record: Mapping[str, Any]) -> Iterator[Row]:
    table = TABLES[record["table"]]
    place: Row = {"mechanism": "DP-SGD", "epsilon": float(table.epsilon)}
    for reading, found in record["readings"].items():
        inputs = f"q = {found['sampling']:.5f}, {found['steps']:,} steps, noise {record['noise']:.4f}"
        units = {
            "epsilon": ("epsilon", "adding or removing a row"),
            "replaced": ("epsilon, replacing", "replacing a row"),
            "person": ("epsilon, two rows", "adding or removing two rows, by group privacy"),
        }
        for key, (measure, words) in units.items():
            if found.get(key) is not None:
                yield table_row(
                    ACCOUNTING, table.dataset, measure, float(found[key]), strategy=reading, **place,
                    paper=record["target"],
                    verdict=AGREES if found[key] <= record["target"] else CONTRADICTED,
                    note=f"{words}; {inputs}; agrees if at most what is claimed for training",
                )  # fmt: skip
    for reading, needed in record["needed"].items():
        enough = needed * CLIP <= table.noise
        yield table_row(
            ACCOUNTING, table.dataset, "noise needed", float(needed * CLIP), strategy=reading, **place,
            paper=table.noise, verdict=AGREES if enough else CONTRADICTED,
            note=f"standard deviation for epsilon {record['target']:g}; agrees if at most the printed one",
        )  # fmt: skip


def _bounds(case: Mapping[str, Any]) -> Iterator[Row]:
    people = f"{case['first']:,} and {case['second']:,} people"
    rates = f"rates {case['alpha']:g} and {case['beta']:g}"
    place: Row = {"mechanism": "Algorithm 2", "strategy": rates, "epsilon": case["epsilon"]}
    numbers = (
        ("sp_gap, mean", "mean gap", case["expected bound"], "Proposition 9"),
        (f"sp_gap, {1 - ETA:.0%} quantile", "high gap", case["bound"], "Theorem 8, corrected"),
        (f"sp_gap, {1 - ETA:.0%} quantile", "high gap", case["printed bound"], "Theorem 8, as printed"),
        ("changes beyond the fewest, mean", "mean extra", 2.5 * case["expected bound"], "Proposition 9"),
        ("sp_gap, mean, other size", "mean gap, other size", case["expected bound"], "rates as printed"),
    )
    for measure, key, limit, words in numbers:
        holds = case[key] <= limit
        yield table_row(
            BOUNDS, people, measure.replace("%", " %"), float(case[key]), **place,
            paper=round(limit, 6), verdict=AGREES if holds else CONTRADICTED, note=f"bound: {words}",
        )  # fmt: skip
