"""Files that are written batch by batch: CSV that spreadsheets can open, and Parquet; reports in both."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenhand.collect.privatizer.bare_columns import write_out_views
from evenhand.collect.reports.layouts import IntegerLayout
from evenhand.engine.text_forms import TextForm, join_bytes, may_be_formula
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.table.limits import DEFAULT_LIMITS
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.collect.joint.strategy import JointReports, Strategy
    from evenhand.collect.reports.layouts import Layout
    from evenhand.schema import Schema

_GZIP = 31  # zlib's word for its largest window in the form of a gzip file; it notes no time
_QUOTED = '[",\r\n]|^$|^[ \t]|[ \t]$'
_PLAIN_TYPES = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_null,
)


class _Out(ABC):
    """A file that is written; left with an error, it lets go of its writer while the file is still open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.abandon()

    @abstractmethod
    def abandon(self) -> None: ...


class CsvOut(_Out):
    """A CSV file: UTF-8, commas, LF, quotation marks where needed, an empty cell for a missing value.

    Parameters
    ----------
    file : binary file
        Where to.
    names : sequence of str
        The columns.
    packed : bool
        Whether to write it gzipped.
    """

    def __init__(self, file: Any, names: Sequence[str], *, packed: bool = False) -> None:
        self._file = file
        self._packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP) if packed else None
        heads = [pa.array([inert_text(name)]) for name in names]
        self.write(heads)

    def write(self, cells: Sequence[Any]) -> None:
        """Append rows, given as one array of text for each column."""
        self.write_lines(self.lines_of(cells))

    @staticmethod
    def lines_of(cells: Sequence[Any]) -> Any:
        """Return rows, given as one array of text for each column, as an array of lines with their ends."""
        ready = [_quote_cells(pc.cast(cell, pa.large_string())) for cell in cells]
        if len(ready) == 1:  # a lone empty cell would be a blank line
            ready = [ready[0].fill_null('""')]
        how = {"null_handling": "replace", "null_replacement": ""}
        lines = pc.binary_join_element_wise(*ready, pa.scalar(",", pa.large_string()), **how)
        empty, end = (pa.scalar(text, pa.large_string()) for text in ("", "\n"))
        return pc.binary_join_element_wise(lines, empty, end)

    def write_lines(self, lines: Any) -> None:
        """Append lines that :meth:`lines_of` made."""
        text = join_bytes(lines)
        self._file.write(text if self._packer is None else self._packer.compress(text))

    def close(self, metadata: Mapping[str, str] | None = None) -> None:  # noqa: ARG002 - it has no place for it
        """Finish the file, which stays open."""
        if self._packer is not None:
            self._file.write(self._packer.flush())

    def abandon(self) -> None:
        """Let go of a file that will not be kept: there is nothing to let go of."""


class ParquetOut(_Out):
    """A Parquet file; each batch is a group of rows.

    Parameters
    ----------
    file : binary file
        Where to.
    schema : pyarrow.Schema
        The columns.
    listed : sequence of str
        The columns that are written as a list of values and places in it.
    """

    def __init__(self, file: Any, schema: pa.Schema, *, listed: Sequence[str]) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=list(listed),
            write_page_checksum=True,
            write_statistics=False,
            store_schema=False,
        )

    def write(self, columns: Sequence[Any]) -> None:
        """Append rows, given as one array for each column."""
        batch = pa.RecordBatch.from_arrays(list(columns), schema=self._schema)
        if batch.num_rows:
            self._writer.write_table(pa.Table.from_batches([batch]), row_group_size=batch.num_rows)

    def close(self, metadata: Mapping[str, str] | None = None) -> None:
        """Finish the file, which stays open."""
        if metadata:
            self._writer.add_key_value_metadata(dict(metadata))
        self._writer.close()

    def abandon(self) -> None:
        """Let go of a file that will not be kept, or the writer would finish it when it is long closed."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        self._writer.is_open = False


def plain_values(array: Any) -> Any:
    """Return a column that is places in a list of values, or views of text, as the values themselves.

    The list may hold values that no row has, in the order in which rows elsewhere had them first; views may
    look at text of other rows.
    """
    if pa.types.is_dictionary(array.type):
        return write_out_views(array.dictionary).take(array.indices)
    return write_out_views(array)


def has_length(kind: pa.DataType) -> bool:
    """Whether values of this type may be long: text or bytes in any form."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return bool(is_text or is_bytes or pa.types.is_fixed_size_binary(kind))


def as_text(array: Any, name: str) -> Any:
    """Return a column in the clear as text; null and NaN are missing, formulas get an apostrophe."""
    array = plain_values(array)
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = array.cast(pa.large_string())
        before, between = (pa.scalar(text, pa.large_string()) for text in ("'", ""))
        risky = may_be_formula(cells)
        if not pc.any(risky).as_py():
            return cells
        return pc.if_else(risky, pc.binary_join_element_wise(before, cells, between), cells)
    if pa.types.is_floating(kind):
        array = array.cast(pa.float32()) if pa.types.is_float16(kind) else array
        array = pc.if_else(pc.is_nan(array), None, array)
    if any(is_one(kind) for is_one in _PLAIN_TYPES):
        return array.cast(pa.large_string())
    raise InvalidParameterError(
        "keep",
        owner="a CSV file",
        must_be="columns of text, numbers, truth values, dates and times",
        got=f"column '{name}' of another type",
        hint="leave it out, or write a Parquet file.",
    )


def _quote_cells(cells: Any) -> Any:
    """Put quotation marks around the cells that need them; a missing cell stays missing."""
    needs = pc.match_substring_regex(cells, _QUOTED)
    if not pc.any(needs).as_py():
        return cells
    mark, between = (pa.scalar(text, pa.large_string()) for text in ('"', ""))
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, between), cells)


_PIECE_BYTES = 32 << 20
_MOST_LISTED = 1 << 14


def part_names(column: str, layout: Layout) -> dict[str, str]:
    """Return the columns of a Parquet file that hold the reports of a column, by the layout's names.

    >>> part_names("race", IntegerLayout(k=5))
    {'report': 'race'}
    """
    parts = layout.dtype.names
    return {"report": column} if parts is None else {part: f"{column}.{part}" for part in parts}


class CsvOutput(CsvOut):
    """A CSV file of reports and columns in the clear."""

    def __init__(
        self, file: Any, given: pa.Schema, schema: Schema, strategy: Strategy, *, packed: bool
    ) -> None:
        self._names = given.names
        self._forms = {name: TextForm(schema[name], law.layout) for name, law in strategy.protocols.items()}
        _refuse_long({name: form.longest for name, form in self._forms.items()})
        size = sum(form.bytes_per_report for form in self._forms.values())
        self.most_rows = max(1, _PIECE_BYTES // size)
        super().__init__(file, self._names, packed=packed)

    def prepare(self, rows: pa.RecordBatch, reports: JointReports) -> pa.RecordBatch:
        """Return the rows with their reports as lines of the file."""
        cells_of = {
            name: _fill_unasked(form.write(reports[name].values), reports, name)
            for name, form in self._forms.items()
        }
        cells = [
            cells_of[name] if name in cells_of else as_text(rows.column(name), name) for name in self._names
        ]
        return pa.RecordBatch.from_arrays([self.lines_of(cells)], ["line"])

    def append(self, lines: pa.RecordBatch) -> None:
        """Append what :meth:`prepare` made."""
        self.write_lines(lines.column(0))


class ReportColumns:
    """The columns of a Parquet file of reports: their types, and rows with their reports as such columns.

    Parameters
    ----------
    given : pyarrow.Schema
        The columns that are reported or in the clear, as they come in.
    strategy : Strategy
        What makes the reports.
    """

    def __init__(self, given: pa.Schema, strategy: Strategy) -> None:
        self._given = given
        self._layouts = {name: law.layout for name, law in strategy.protocols.items()}
        self.most_rows = max(
            1, _PIECE_BYTES // sum(layout.bytes_per_report for layout in self._layouts.values())
        )
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
        _refuse_duplicate_names([field.name for field in fields])
        self.schema = pa.schema(fields)

    @property
    def listed(self) -> list[str]:
        """The columns that are written as a list of values and places in it."""
        plain = {name for column in self._layouts for name in self._unlisted(column)}
        return [name for name in self.schema.names if name not in plain]

    def prepare(self, rows: pa.RecordBatch, reports: JointReports) -> pa.RecordBatch:
        """Return the rows with their reports as rows of the file."""
        columns: list[Any] = []
        for name in self._given.names:
            if name in self._layouts:
                columns += [part for _, part in self._parts(name, reports)]
            else:
                columns.append(plain_values(rows.column(name)))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _parts(self, name: str, reports: JointReports) -> list[tuple[str, Any]]:
        layout = self._layouts[name]
        names = part_names(name, layout)
        parts = layout.to_columns(reports[name].values)
        return [(names[part], _fill_unasked(array, reports, name)) for part, array in parts.items()]

    def _unlisted(self, name: str) -> list[str]:
        """Return the columns that hardly repeat a value: bits, sets and hash functions."""
        layout = self._layouts[name]
        if isinstance(layout, IntegerLayout) and layout.k <= _MOST_LISTED:
            return []
        return [part for key, part in part_names(name, layout).items() if key != "value"]


class ParquetOutput(ParquetOut):
    """A Parquet file of reports and columns in the clear."""

    def __init__(
        self, file: Any, given: pa.Schema, schema: Schema, strategy: Strategy, *, packed: bool = False
    ) -> None:
        del schema, packed  # which only a CSV file needs
        columns = ReportColumns(given, strategy)
        self.most_rows, self.prepare = columns.most_rows, columns.prepare
        super().__init__(file, columns.schema, listed=columns.listed)

    def append(self, rows: pa.RecordBatch) -> None:
        """Append what :meth:`ReportColumns.prepare` made."""
        self.write(rows.columns)


def _fill_unasked(cells_of: Any, reports: JointReports, name: str) -> Any:
    """Return one cell for each person: null for those who were not asked this column."""
    if reports.asked is None:
        return cells_of
    asked = reports.asked == reports.columns.index(name)
    places = np.cumsum(asked) - 1
    return cells_of.take(pa.array(places, pa.int64(), mask=~asked))


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


def _refuse_duplicate_names(names: list[str]) -> None:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        must_be = "columns whose names differ from those of the parts of a hashed report"
        hint = f"leave the column '{twice}' out, or rename it."
        raise InvalidParameterError("keep", owner="privatize_file", must_be=must_be, got=twice, hint=hint)
