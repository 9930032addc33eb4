"""A schema file drafted from rows, with reasons as comments, and a check of a schema against a file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from evenhand._notes import Note
from evenhand.errors import EvenhandError
from evenhand.schema import Schema
from evenhand.schema.infer import open_frame
from evenhand.study.intake.draft import say
from evenhand.study.intake.guess import dummy_labels
from evenhand.study.intake.setup import ROLES
from evenhand.table.encode import Table, read_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evenhand.schema import Column
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.setup import Setup

_COLUMN = "\n[[columns]]\n"
_NUMBERS = (int, float)


# --- drafts ---------------------------------------------------------------------------------------


def draft_text(setup: Setup, *, data: str, reasons: Sequence[str] = ()) -> str:
    """Return a schema file that says in comments what it rests on and what a person should replace.

    The rows are called `data`, and `reasons` say why roles were guessed.
    """
    head, *columns = setup.schema.to_toml().split(_COLUMN)
    lines = [say("draft.head", data=data)]
    lines += [say("draft.inferred")] if setup.schema.inferred else []
    missing = [role for role in ROLES if getattr(setup.schema, role) in (None, ())]
    noticed = [note for note in setup.notes if Note.of(note).kind == "unit"]
    notes = [*noticed, *reasons, *(say("draft.missing", role=role, what=ROLES[role]) for role in missing)]
    parts = ["".join(_comments(lines)), _with_comments(head, notes)]
    for column, text in zip(setup.schema, columns, strict=True):
        parts.append(_COLUMN + "".join(_comments(_column_notes(column))) + text)
    left = [say("draft.left_out", name=name, why=why) for name, why in setup.left_out.items()]
    return "".join([*parts, *(["\n", *_comments(left)] if left else [])])


def _with_comments(head: str, notes: Sequence[str]) -> str:
    """Return the head of a file with notes above its roles, or at its end if it has none."""
    before, mark, after = head.partition("\n[roles]\n")
    return f"{before}\n{''.join(_comments(notes))}{mark.lstrip()}{after}" if notes else head


def _column_notes(column: Column) -> Iterator[str]:
    if column.inferred:
        key = {"categorical": "values", "integers": "range"}.get(column.domain.kind, "bins")
        yield say(f"draft.read_{key}")
    labels = dummy_labels(column)
    if labels and not column.value_labels:
        pairs = ", ".join(f'"{value}" = "{label}"' for value, label in labels.items())
        yield say("draft.labels", pairs=pairs)


def _comments(lines: Iterable[str]) -> Iterator[str]:
    """Return lines as comments; TOML allows no control character in one."""
    for line in lines:
        yield "# " + "".join(letter if letter.isprintable() else "?" for letter in line) + "\n"


# --- checks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misfit:
    """Hold what does not fit between a schema and a file, of one column. It holds no value.

    It is of the kind "missing", "type", "weights", "outside", "nulls" or "undeclared", is about so many rows,
    or with 0 about the column, and has the column's rule for values outside the domain or missing ones.
    """

    column: str
    kind: str
    rows: int = 0
    rule: str = "error"

    @property
    def is_problem(self) -> bool:
        """Return whether the file is refused for it; a rule that lets values pass makes it a note."""
        return self.kind in {"missing", "type", "weights"} or (
            self.kind != "undeclared" and self.rule == "error"
        )

    @property
    def sentence(self) -> str:
        """Return what does not fit, and what to do."""
        key = self.kind if self.is_problem or self.kind == "undeclared" else f"{self.kind}_{self.rule}"
        return say(f"check.{key}", rows=self.rows)


def check_schema(schema: Schema, opened: Opened, read: Any) -> tuple[Misfit, ...]:
    """Return what does not fit between a schema and a file, column by column, without a value.

    The file is `opened` without a schema; `read` reads it with the schema of some of its columns.
    """
    misfits: list[Misfit] = []
    there, frame = [column for column in schema if column.name in opened.names], None
    with suppress(EvenhandError):  # if one cannot be read, they are read one by one
        frame = read(Schema(there)) if there else None
    for column in schema:
        if column.name not in opened.names:
            misfits.append(Misfit(column.name, "missing"))
            continue
        own = open_frame(opened.frame).get_column(column.name)
        if column.domain.value_type in _NUMBERS and own.dtype in {nw.String, nw.Categorical}:
            misfits.append(Misfit(column.name, "type"))
            continue
        try:
            rows = read(Schema([column])) if frame is None else frame.select([column.name])
            misfits += _of_rows(column, rows)
        except EvenhandError:
            misfits.append(Misfit(column.name, "type"))
    misfits += _beside(schema, opened)
    used = {*schema.names, *schema.beside}
    misfits += [Misfit(name, "undeclared") for name in opened.names if name not in used]
    return tuple(misfits)


def _beside(schema: Schema, opened: Opened) -> Iterator[Misfit]:
    """Yield what is wrong with the columns that have no domain: weights, and the person."""
    for name in schema.beside:
        if name not in opened.names:
            yield Misfit(name, "missing")
    if schema.weight in opened.names:
        try:
            read_weights(open_frame(opened.frame), str(schema.weight))
        except EvenhandError:
            yield Misfit(str(schema.weight), "weights")


def _of_rows(column: Column, rows: Any) -> Iterator[Misfit]:
    """Yield how many values of a column are missing, and how many lie outside its domain."""
    lenient = replace(column, outside="other", nulls="other")
    codes = Table.encode(rows, Schema([lenient]))[column.name]
    series = open_frame(rows).get_column(column.name)
    nulls = int(series.null_count())
    if series.dtype.is_float():
        nulls += int(series.is_nan().sum() or 0)
    outside = int(np.count_nonzero(codes == lenient.other_code)) - nulls
    if outside > 0:
        yield Misfit(column.name, "outside", outside, column.outside)
    if nulls:
        yield Misfit(column.name, "nulls", nulls, column.nulls)
