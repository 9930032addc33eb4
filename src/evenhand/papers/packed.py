"""Finished cells of several plans in one small file: results exact to the last bit, and what they depend on.

A store is large and belongs to the machine. Such a file can be kept with a page, and read without a store.
"""

from __future__ import annotations

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
from evenhand.study.store.canonical import facts_from, facts_text, outcome_from, result_of
from evenhand.study.store.file import FILE
from evenhand.study.store.store import Store
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evenhand.study.plan.facts import Facts
    from evenhand.study.store.outcome import Outcome

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
    write_cells(path, parts)


def write_cells(path: Path, parts: Mapping[int, FinishedPart]) -> None:
    """Write the finished cells of parts to a file, if there are any."""
    if any(part.cells for part in parts.values()):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            pq.write_table(_table_of(parts), file, compression="zstd", compression_level=19)


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
