"""Sums of reports in JSON and Parquet files, each with its form, its protocols and a hash of all of it."""

from __future__ import annotations

import hashlib
import json
import math
import os
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand._formats import parse_json
from evenhand._validate import refuse as refuse_parameter
from evenhand.collect.estimates.crossed_reports import count_no_reports
from evenhand.collect.estimates.outcome_counts import (
    MOST_GROUPS,
    ColumnCounts,
    CountedBy,
    CrossedCounts,
    OutcomeCounts,
)
from evenhand.collect.joint.combined import Combined, ProductStrategy
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.joint.records import describe_strategy, strategy_from
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.registry import protocol_from
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.errors import EvenhandError, UnwritableFileError
from evenhand.schema import Schema
from evenhand.table.limits import Limits
from evenhand.table.parquet.read import read_parquet
from evenhand.table.source import blocks, open_source, own_name, refuse
from evenhand.table.write import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collect.joint.strategy import Strategy

FORMAT_NAME = "evenhand aggregate"
FORMAT = f"{FORMAT_NAME} 2"
"""The form of the file; another number means another form."""

_READ = (f"{FORMAT_NAME} 1", FORMAT)  # the first counts no combinations by outcome

ENDINGS = (".json", ".parquet", ".pq")
"""How names of files of sums end."""

MOST_REPORTS = 1 << 53
"""From so many reports on they are refused: floats would round their number."""

_LIMITS = Limits(bytes=400_000_000)
_MOST_PARTS = 1_000_000
_KEY = b"aggregate"
_FIELDS = {
    "format", "evenhand", "rng", "maker", "schema", "inferred", "people", "parts", "outcome", "tables",
}  # fmt: skip
_CROSSED = "crossed outcome"
_BY_OUTCOME = ("outcome", _CROSSED)
_RNG = {False: "secure", True: "seeded"}


def describe_maker(maker: Protocol | Strategy) -> dict[str, Any]:
    """Return plain values of a protocol or a strategy; two that are equal draw by the same law."""
    return maker.to_dict() if isinstance(maker, Protocol) else describe_strategy(maker)


def save(aggregate: Mapping[str, Any], path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a sum to a file, whole or not at all."""
    name = own_name(path).lower()
    if not name.endswith(ENDINGS):
        refuse_parameter(
            "path", "Aggregate.save", f"a path that ends with {', '.join(ENDINGS)}", own_name(path)
        )
    if os.path.lexists(path) and not overwrite:
        hint = "Hint: choose another name, or allow it with overwrite=True."
        raise UnwritableFileError(f"{own_name(path)} was not written: there is a file of that name. {hint}")
    fields = _describe(aggregate)
    fields["sha256"] = _digest(fields)
    with replacing(path) as file:
        if name.endswith(".json"):
            file.write((json.dumps(fields, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
        else:
            _write_parquet(fields, file)


def _describe(aggregate: Mapping[str, Any]) -> dict[str, Any]:
    outcome, schema = aggregate["outcome"], aggregate["schema"]
    return {
        "format": FORMAT,
        "evenhand": import_module("evenhand").__version__,  # it stands above all layers
        "rng": _RNG[aggregate["simulated"]],
        "maker": describe_maker(aggregate["maker"]),
        "schema": None if schema is None else schema.to_toml(),
        "inferred": list(aggregate["inferred"]),
        "people": aggregate["people"],
        "parts": sorted(aggregate["parts"]),
        "outcome": None if outcome is None else {"column": outcome.column, "positive": outcome.positive},
        "tables": _tables_of(aggregate),
    }


def _tables_of(aggregate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all counts, each array as its cells that are not zero."""
    tables = []
    for name, own in aggregate["columns"].items():
        tables.append({"kind": "counts", "column": name, "reports": own.reports, **_sparse(own.counts)})
        if own.by_outcome is not None:
            tables.append({"kind": "outcome", "column": name, **_describe_outcome(own.by_outcome)})
    if aggregate["crossed"] is not None:
        tables.append({"kind": "crossed", "column": None, **_sparse(aggregate["crossed"])})
    if (groups := aggregate["crossed_outcome"]) is not None:
        table = _describe_outcome(groups.counts)
        tables.append({"kind": _CROSSED, "column": list(groups.columns), **table})
    return tables


def _describe_outcome(counts: OutcomeCounts) -> dict[str, Any]:
    people = [int(count) for count in counts.people]
    return {"people": people, **_sparse(np.triu(counts.together))}  # it is symmetric


def _sparse(array: Any) -> dict[str, list[int]]:
    flat = np.asarray(array).reshape(-1)
    cells = np.flatnonzero(flat)
    return {"cells": cells.tolist(), "numbers": flat[cells].tolist()}


def _digest(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _write_parquet(fields: Mapping[str, Any], file: Any) -> None:
    """Write the counts as rows, and all else as metadata."""
    tables = fields["tables"]
    heads = [{name: value for name, value in table.items() if name not in _ROWS} for table in tables]
    lengths = [len(table["cells"]) for table in tables]
    rows = {
        "table": pa.array(np.repeat(np.arange(len(tables), dtype=np.int32), lengths)),
        "cell": pa.array([cell for table in tables for cell in table["cells"]], pa.int64()),
        "number": pa.array([number for table in tables for number in table["numbers"]], pa.int64()),
    }
    note = json.dumps({**fields, "tables": heads})
    schema = pa.schema([(name, array.type) for name, array in rows.items()], {_KEY: note.encode()})
    pq.write_table(pa.table(rows, schema=schema), file, compression="zstd", write_page_checksum=True)


_ROWS = ("cells", "numbers")


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of the sum that a file holds, or refuse it."""
    name = own_name(path)
    with open_source(path, limits=_LIMITS, owner="Aggregate.load") as source:
        is_parquet = source.stream.read(4) == b"PAR1"
        source.stream.seek(0)
        if is_parquet:
            fields = _read_parquet(path, name)
        else:
            try:
                fields = parse_json(b"".join(blocks(source, _LIMITS)).decode("utf-8"))
            except ValueError:
                refuse(name, "it is not JSON, or says something twice.")
    form = fields.get("format") if isinstance(fields, dict) else None
    if not isinstance(form, str) or not form.startswith(f"{FORMAT_NAME} "):
        refuse(name, "it holds no sum of reports.")
    if form not in _READ:
        refuse(name, "its sum of reports is in a form of another version. Hint: update evenhand.")
    digest = fields.pop("sha256", None)
    if digest != _digest(fields):
        refuse(name, "it is damaged: its hash is that of another content.")
    try:
        return _read_fields(fields, name)
    except (EvenhandError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, ValueError):
        _refuse_damaged(name)


def holds_aggregate(path: str | os.PathLike[str]) -> bool:
    """Whether a file is called like a sum of reports in JSON, or says in Parquet that it is one."""
    name = own_name(path).lower()
    if name.endswith(".json"):
        return True
    if not name.endswith(ENDINGS):
        return False
    try:
        return _KEY in (pq.read_metadata(path).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def _read_parquet(path: str | os.PathLike[str], name: str) -> Any:
    rows = read_parquet(path, limits=_LIMITS)
    note = (pq.read_metadata(path).metadata or {}).get(_KEY)
    if note is None or rows.column_names != ["table", "cell", "number"]:
        refuse(name, "it holds no sum of reports.")
    try:
        fields = parse_json(note)
        tables = fields["tables"]
        place = rows["table"].to_numpy()
        starts = np.searchsorted(place, np.arange(len(tables) + 1))
        for which, table in enumerate(tables):
            part = slice(int(starts[which]), int(starts[which + 1]))
            table["cells"] = rows["cell"].to_numpy()[part].tolist()
            table["numbers"] = rows["number"].to_numpy()[part].tolist()
    except (ValueError, KeyError, TypeError):
        _refuse_damaged(name)
    return fields


def _read_fields(fields: dict[str, Any], name: str) -> dict[str, Any]:
    if fields.keys() != _FIELDS or fields["rng"] not in _RNG.values():
        _refuse_damaged(name)
    record = fields["maker"]
    maker = strategy_from(record) if "strategy" in record else protocol_from(record)
    people, parts = fields["people"], fields["parts"]
    schema = None if fields["schema"] is None else Schema.from_toml(fields["schema"])
    if not _is_count(people) or not 0 < len(parts) <= _MOST_PARTS or len(set(parts)) < len(parts):
        _refuse_damaged(name)
    _require(_are_texts(parts) and _are_texts(fields["inferred"]))
    outcome = fields["outcome"]
    if outcome is not None:
        outcome = CountedBy(**outcome)
        _require(_are_texts([outcome.column, outcome.positive or ""]))
    _require(outcome is not None or all(table["kind"] not in _BY_OUTCOME for table in fields["tables"]))
    own = [table for table in fields["tables"] if table["kind"] != _CROSSED]
    columns, crossed = _read_tables(own, maker, people)
    return {
        "maker": maker,
        "people": people,
        "columns": columns,
        "simulated": fields["rng"] == _RNG[True],
        "parts": frozenset(parts),
        "crossed": crossed,
        "outcome": outcome,
        "schema": schema,
        "inferred": tuple(fields["inferred"]),
        "crossed_outcome": _read_crossed_outcome(fields["tables"], maker, columns),
    }


def _read_tables(tables: Any, maker: Protocol | Strategy, people: int) -> tuple[dict[str, Any], Any]:
    """Return the counts of each column and of combinations; ValueError where they contradict each other."""
    laws = {"": maker} if isinstance(maker, Protocol) else maker.protocols
    columns: dict[str, Any] = {}
    crossed = None
    for table in tables:
        kind, name = table["kind"], table["column"]
        if kind == "crossed" and crossed is None and isinstance(maker, Independent | ProductStrategy):
            crossed = _dense(table, tuple(maker.sizes.values()))
            _require(int(crossed.sum()) == people)
        elif kind == "counts" and name not in columns:
            k, reports = laws[name].k, table["reports"]
            counts = _dense(table, (k,))
            _require(_is_count(reports) and reports <= people and int(counts.max(initial=0)) <= reports)
            _require(isinstance(maker, Sampled) or reports == people)
            is_one = isinstance(laws[name].layout, IntegerLayout)
            _require(not is_one or int(counts.sum()) == reports)
            columns[name] = ColumnCounts(reports, counts)
        elif kind == "outcome" and columns[name].by_outcome is None:
            _require(laws[name].k <= MOST_GROUPS)
            by_outcome = _read_outcome(table, laws[name].k)
            _require(by_outcome.n == columns[name].reports)
            _require(np.array_equal(by_outcome.support.sum(axis=0), columns[name].counts))
            columns[name] = columns[name]._replace(by_outcome=by_outcome)
        else:
            raise ValueError
    _require(bool(columns))
    if crossed is not None:
        for axis, name in enumerate(laws):
            others = tuple(other for other in range(crossed.ndim) if other != axis)
            _require(np.array_equal(crossed.sum(axis=others), columns[name].counts))
    return columns, crossed


def _read_crossed_outcome(
    tables: Any, maker: Protocol | Strategy, columns: Mapping[str, ColumnCounts]
) -> CrossedCounts | None:
    """Return the counts of combinations by outcome, if there are any; ValueError where they cannot be."""
    found = [table for table in tables if table["kind"] == _CROSSED]
    if not found:
        return None
    (table,) = found
    names = tuple(map(str, table["column"]))
    _require(len(names) == len(set(names)) > 1 and isinstance(maker, Independent | Combined))
    _require(all(columns[name].by_outcome is not None for name in names))
    features = len(count_no_reports(maker, names).counts.together[0])  # type: ignore[arg-type]
    counts = _read_outcome(table, features)
    _require(all(np.array_equal(columns[name].by_outcome.people, counts.people) for name in names))  # type: ignore[union-attr]
    return CrossedCounts(names, counts)


def _read_outcome(table: Mapping[str, Any], k: int) -> OutcomeCounts:
    upper = _dense(table, (2, k, k))
    counts = OutcomeCounts(np.array(table["people"], np.int64), upper + np.triu(upper, 1).transpose(0, 2, 1))
    own = np.diagonal(counts.together, axis1=1, axis2=2)
    _require(counts.people.shape == (2,) and bool((counts.people >= 0).all()))
    _require(bool((own <= counts.people[:, None]).all()))
    _require(bool((counts.together <= np.minimum(own[:, :, None], own[:, None, :])).all()))
    return counts


def _dense(table: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    array = np.zeros(math.prod(shape), np.int64)
    cells, numbers = table["cells"], table["numbers"]
    _require(len(cells) == len(numbers) and all(_is_count(number) for number in (*cells, *numbers)))
    _require(all(low < high for low, high in pairwise(cells)))
    array[cells] = numbers
    return array.reshape(shape)


def _is_count(number: Any) -> bool:
    return type(number) is int and 0 <= number < MOST_REPORTS


def _are_texts(values: Any) -> bool:
    return type(values) is list and all(type(value) is str for value in values)


def _require(holds: bool) -> None:  # noqa: FBT001 - what was found to hold
    if not holds:
        raise ValueError


def _refuse_damaged(name: str) -> NoReturn:
    refuse(name, "it is damaged: a field has a value that it cannot have.")
