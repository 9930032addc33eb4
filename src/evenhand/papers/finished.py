"""Finished cells of a paper in a small file for each study, to be kept with its pages and gone on from.

A folder of a reproduction has one store for each study, which is large and belongs to the machine. Beside the
stores are files in the folder :data:`FOLDER`: the results of every finished cell, exact to the last bit, and
what they depend on. Whoever has these files alone can judge the claims, or run what is missing: the cells are
adopted into new stores, if the data, the schema, the task and the seed are the same.
"""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand._formats import version_fault
from evenhand.errors import StudyStoreError
from evenhand.study.plan.cells import Cell, canonical
from evenhand.study.plan.spec import Spec
from evenhand.study.run.prepare import prepare
from evenhand.study.store.canonical import facts_from, facts_text, outcome_from, result_of
from evenhand.study.store.file import FILE
from evenhand.study.store.store import Store
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.plan import Plan
    from evenhand.study.store.outcome import Outcome

FOLDER = "cells"  # the name of the folder of these files in that of a reproduction

_FORMAT = 1
_KEY = b"evenhand"
_BETWEEN = "|"


@dataclass(frozen=True)
class FinishedPart:
    """The finished cells of one plan by name: outcomes, and the versions of the packages that computed them.

    `spec` is what the cells depend on besides themselves.
    """

    spec: Spec
    facts: Facts
    cells: dict[str, tuple[Outcome, Mapping[str, str]]] = field(repr=False)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes, without what they were computed with."""
        return tuple(outcome for outcome, _ in self.cells.values())


def refuse_other_version(number: object, what: str, *, newest: int) -> None:
    """Refuse a file of another format; what has no whole number there is damaged, as a ValueError says."""
    if type(number) is not int:
        raise ValueError("no format")
    fault = version_fault(number, newest=newest)
    if fault:
        raise StudyStoreError(f"{what}: the file {fault}")


def cells_path(folder: Path, study: str) -> Path:
    """Return the file of a study in the folder of a reproduction."""
    return folder / FOLDER / f"{study}.parquet"


def load_cells(path: Path) -> dict[int, FinishedPart]:
    """Return the finished cells in a file by the number of their part; nothing if there is no such file.

    A file that is damaged, or of something else, is a StudyStoreError.
    """
    if not path.is_file():
        return {}
    try:
        table = pq.read_table(path)
        known = json.loads(table.schema.metadata[_KEY])
        refuse_other_version(known["format"], f"The finished cells in '{path.name}'", newest=_FORMAT)
        parts = {
            int(number): FinishedPart(Spec(part["spec"]), facts_from(part["facts"]), {})
            for number, part in known["parts"].items()
        }
        for row in table.to_pylist():
            part = parts[row["part"]]
            part.cells[row["cell"]] = (
                _outcome_of(row, part.facts.groups),
                known["versions"][row["versions"]],
            )
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError):
        message = f"The finished cells in '{path.name}' are damaged, or of something else."
        raise StudyStoreError(f"{message} Hint: put a copy of the file back, or remove it.") from None
    return parts


def adopt_cells(finished: FinishedPart, plan: Plan, frame: Any, folder: Path) -> None:
    """Write into the store of a folder the finished cells that it does not have.

    Cells of other data, or of another schema, task or seed, are a StudyStoreError.
    """
    stored = set()
    if Store.count_results(folder):
        with Store.open(folder) as store:
            stored = {each.outcome.cell.id for each in store.records() if each.outcome.failure is None}
    missing = [pair for name, pair in finished.cells.items() if name not in stored]
    if not missing:
        return
    facts = prepare(plan, frame=frame).facts
    names = finished.spec.differences(Spec.of(plan, facts))
    if names:
        message = f"The finished cells for '{folder.name}' are of another study: {', '.join(names)} differ."
        raise StudyStoreError(f"{message} Hint: name another folder, or one without a folder '{FOLDER}'.")
    with Store.reserve(folder, resume=True) as store:
        store.start(plan, facts)
        for versions in {canonical(versions): versions for _, versions in missing}.values():
            outcomes = [outcome for outcome, computed_with in missing if computed_with == versions]
            store.write(*outcomes, computed_with=versions)


def pack_cells(path: Path, folders: Mapping[int, Path]) -> None:
    """Write what the stores of the parts have finished to a file, with what that file has already."""
    parts = load_cells(path)
    for number, folder in folders.items():
        if not (folder / FILE).is_file():
            continue
        with Store.open(folder) as store:
            records, spec, facts = store.records(), store.spec, store.facts
        done = {
            record.outcome.cell.id: (record.outcome, record.versions)
            for record in records
            if record.outcome.failure is None
        }
        kept = parts[number].cells if number in parts and not parts[number].spec.differences(spec) else {}
        parts[number] = FinishedPart(spec, facts, {**kept, **done})
    if any(part.cells for part in parts.values()):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            pq.write_table(_table_of(parts), file, compression="zstd", compression_level=19)


# --- rows -----------------------------------------------------------------------------------------


def _table_of(parts: Mapping[int, FinishedPart]) -> pa.Table:
    """Return one row for each cell, ordered by part, setting and repeat; columns of numbers are exact."""
    tables: list[Mapping[str, str]] = []
    rows = []
    for number in sorted(parts):
        cells = parts[number].cells
        settings = {
            name: canonical({**json.loads(pair[0].cell.id), "repeat": 0}) for name, pair in cells.items()
        }
        for name in sorted(cells, key=lambda name: (settings[name], cells[name][0].cell.repeat)):
            outcome, versions = cells[name]
            if versions not in tables:
                tables.append(versions)
            numbers = dict(_flatten(result_of(outcome)))
            rows.append({"part": number, "cell": name, "versions": tables.index(versions), **numbers})
    names = sorted({name for row in rows for name in row if _BETWEEN in name})
    columns: dict[str, Any] = {
        "part": pa.array([row["part"] for row in rows], pa.int16()),
        "cell": pa.array([row["cell"] for row in rows]).dictionary_encode(),
        "versions": pa.array([row["versions"] for row in rows], pa.int16()),
        "notes": pa.array([row["notes"] for row in rows]).dictionary_encode(),
    }
    columns |= {name: pa.array([row.get(name) for row in rows], pa.float64()) for name in names}
    known = {
        "format": _FORMAT,
        "parts": {
            str(number): {"spec": part.spec.parts, "facts": facts_text(part.facts)}
            for number, part in sorted(parts.items())
        },
        "versions": tables,
    }
    return pa.table(columns).replace_schema_metadata({_KEY: canonical(known).encode("ascii")})


def _flatten(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a result by the path to them, and its notes as text."""
    numbers: dict[tuple[str, ...], Any] = {
        (part, name): value for part in ("measures", "data") for name, value in result[part].items()
    }
    for label, rates in result["groups"]:
        numbers |= {("groups", name, label): value for name, value in rates.items()}
    for path, value in numbers.items():
        yield _BETWEEN.join(path), math.nan if value is None else float(value)
    yield "notes", json.dumps(result.get("notes", []))


def _outcome_of(row: Mapping[str, Any], groups: Sequence[str]) -> Outcome:
    """Return the outcome of a row; numbers that the cell does not have are null there."""
    rates: dict[str, dict[str, Any]] = {label: {} for label in groups}
    result: dict[str, Any] = {"measures": {}, "data": {}, "failure": None}
    for name, value in row.items():
        part, _, rest = name.partition(_BETWEEN)
        if not rest or value is None:
            continue
        plain = value if math.isfinite(value) else None if math.isnan(value) else str(value)
        if part == "groups":
            rate, _, label = rest.partition(_BETWEEN)
            rates[label][rate] = plain
        else:
            result[part][rest] = plain
    result["groups"] = [pair for pair in rates.items() if pair[1]]
    result["notes"] = json.loads(row["notes"])
    return outcome_from(Cell.from_id(row["cell"]), result=json.dumps(result), seconds="{}")


# --- trials ---------------------------------------------------------------------------------------


def records_path(folder: Path, trials: str) -> Path:
    """Return the file of the records of trials in the folder of a reproduction."""
    return folder / FOLDER / f"{trials}.json.gz"


def load_records(path: Path, name: str) -> dict[int, dict[str, Any]]:
    """Return the finished records of trials by number; nothing if there is no such file."""
    if not path.is_file():
        return {}
    try:
        whole = json.loads(gzip.decompress(path.read_bytes()))
        refuse_other_version(whole["format"], f"The finished records in '{path.name}'", newest=_FORMAT)
        records = {name: whole["records"]}[whole["name"]]
        return {int(number): dict(record) for number, record in records.items()}
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        message = f"The finished records in '{path.name}' are damaged, or of something else."
        raise StudyStoreError(f"{message} Hint: put a copy of the file back, or remove it.") from None


def pack_records(path: Path, name: str, records: Mapping[int, Mapping[str, Any]]) -> None:
    """Write records of trials to a file, with those that it has already."""
    whole = {**load_records(path, name), **records}
    if whole:
        ordered = {str(number): whole[number] for number in sorted(whole)}
        text = json.dumps({"format": _FORMAT, "name": name, "records": ordered}, separators=(",", ":"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(gzip.compress(text.encode(), mtime=0))
