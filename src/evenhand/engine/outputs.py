"""From a batch of rows and its reports to the columns of a file, in either form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.engine.text_forms import TextForm
from evenhand.engine.writers import CsvOut, ParquetOut, as_text, plain_values
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.table.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collect.joint.strategy import JointReports, Strategy
    from evenhand.collect.reports.layouts import Layout
    from evenhand.schema import Schema

__all__ = ["CsvOutput", "ParquetOutput", "part_names"]

_PIECE_BYTES = 32 << 20
_MOST_LISTED = 1 << 14


def part_names(column: str, layout: Layout) -> dict[str, str]:
    """Return the columns of a Parquet file that hold the reports of a column, by the layout's names.

    >>> part_names("race", IntegerLayout(k=5))
    {'report': 'race'}
    """
    parts = layout.dtype.names
    return {"report": column} if parts is None else {part: f"{column}.{part}" for part in parts}


class _Output:
    """A file of reports; left with an error, it lets go of its writer while the file is still open."""

    _out: CsvOut | ParquetOut

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._out.abandon()


class CsvOutput(_Output):
    """A CSV file of reports and columns in the clear."""

    _out: CsvOut

    def __init__(
        self, file: Any, given: pa.Schema, schema: Schema, strategy: Strategy, *, packed: bool
    ) -> None:
        self._names = given.names
        self._forms = {name: TextForm(schema[name], law.layout) for name, law in strategy.protocols.items()}
        _refuse_long({name: form.longest for name, form in self._forms.items()})
        size = sum(form.bytes_per_report for form in self._forms.values())
        self.most_rows = max(1, _PIECE_BYTES // size)
        self._out = CsvOut(file, self._names, packed=packed)

    def prepare(self, rows: pa.RecordBatch, reports: JointReports) -> pa.RecordBatch:
        """Return the rows with their reports as lines of the file."""
        said = {
            name: _spread(form.write(reports[name].values), reports, name)
            for name, form in self._forms.items()
        }
        cells = [said[name] if name in said else as_text(rows.column(name), name) for name in self._names]
        return pa.RecordBatch.from_arrays([self._out.lines_of(cells)], ["line"])

    def append(self, lines: pa.RecordBatch) -> None:
        """Append what :meth:`prepare` made."""
        self._out.write_lines(lines.column(0))

    def close(self, metadata: Mapping[str, str]) -> None:  # noqa: ARG002 - a CSV file has no place for it
        """Finish the file."""
        self._out.close()


class ParquetOutput(_Output):
    """A Parquet file of reports and columns in the clear."""

    _out: ParquetOut

    def __init__(
        self, file: Any, given: pa.Schema, schema: Schema, strategy: Strategy, *, packed: bool = False
    ) -> None:
        del schema, packed  # which only a CSV file needs
        self._given = given
        self._layouts = {name: law.layout for name, law in strategy.protocols.items()}
        self.most_rows = max(1, _PIECE_BYTES // sum(each.bytes_per_report for each in self._layouts.values()))
        nobody = {name: np.empty(0, np.uint8) for name in strategy.columns}
        empty = strategy.privatize(nobody, rng=0)
        fields: list[pa.Field] = []
        for field in given:
            if field.name in self._layouts:
                fields += [pa.field(name, part.type) for name, part in self._parts(field.name, empty)]
            else:
                is_list = pa.types.is_dictionary(field.type)
                kind = field.type.value_type if is_list else field.type
                fields.append(pa.field(field.name, plain_values(pa.array([], kind)).type))
        _refuse_twins([field.name for field in fields])
        plain = {name for each in self._layouts for name in self._unlisted(each)}
        listed = [field.name for field in fields if field.name not in plain]
        self._schema = pa.schema(fields)
        self._out = ParquetOut(file, self._schema, listed=listed)

    def prepare(self, rows: pa.RecordBatch, reports: JointReports) -> pa.RecordBatch:
        """Return the rows with their reports as rows of the file."""
        columns: list[Any] = []
        for name in self._given.names:
            if name in self._layouts:
                columns += [part for _, part in self._parts(name, reports)]
            else:
                columns.append(plain_values(rows.column(name)))
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def append(self, rows: pa.RecordBatch) -> None:
        """Append what :meth:`prepare` made."""
        self._out.write(rows.columns)

    def close(self, metadata: Mapping[str, str]) -> None:
        """Finish the file."""
        self._out.close(metadata)

    def _parts(self, name: str, reports: JointReports) -> list[tuple[str, Any]]:
        layout = self._layouts[name]
        names = part_names(name, layout)
        parts = layout.to_columns(reports[name].values)
        return [(names[part], _spread(array, reports, name)) for part, array in parts.items()]

    def _unlisted(self, name: str) -> list[str]:
        """Return the columns that hardly repeat a value: bits, sets and hash functions."""
        layout = self._layouts[name]
        if isinstance(layout, IntegerLayout) and layout.k <= _MOST_LISTED:
            return []
        return [part for key, part in part_names(name, layout).items() if key != "value"]


def _spread(said: Any, reports: JointReports, name: str) -> Any:
    """Return one cell for each person: nothing for those who were not asked this column."""
    if reports.asked is None:
        return said
    asked = reports.asked == reports.columns.index(name)
    places = np.cumsum(asked) - 1
    return said.take(pa.array(places, pa.int64(), mask=~asked))


def _refuse_long(lengths: Mapping[str, int]) -> None:
    """Refuse reports so long that no reader of CSV files would take them back."""
    longest = max(lengths, key=lambda name: lengths[name])
    if lengths[longest] > DEFAULT_LIMITS.field_bytes or sum(lengths.values()) > DEFAULT_LIMITS.row_bytes // 2:
        raise LimitExceededError(
            f"Reports of column '{longest}' take up to {lengths[longest]:,} bytes of text each, more than a "
            "CSV file should hold. Hint: write a Parquet file, or use the protocols grr or olh, whose "
            "reports are short.",
            limit="field_bytes",
        )


def _refuse_twins(names: list[str]) -> None:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        must_be = "columns whose names differ from those of the parts of a hashed report"
        hint = f"leave the column '{twice}' out, or rename it."
        raise InvalidParameterError("keep", owner="privatize_file", must_be=must_be, got=twice, hint=hint)
