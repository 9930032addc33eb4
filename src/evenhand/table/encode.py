"""Tables of integer codes over a schema, made from frames and turned back into them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from evenhand._notebook import figures_html
from evenhand._validate import kind_of, refuse, require_true_values
from evenhand.errors import ColumnNotFoundError, OutsideDomainError
from evenhand.schema import Schema
from evenhand.table.column_codes import ColumnCodes, count_rows, pieces
from evenhand.table.frames import Origin, eager_frame, native_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.schema import Column
    from evenhand.table.column_codes import Misfits
    from evenhand.table.frames import Backend

_PIECE_ROWS = 1 << 18
_LARGEST_WEIGHT = 1e100
_TYPE_WORDS = {str: "text", bool: "truth values", int: "whole numbers", float: "numbers", date: "dates"}


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of integer codes over a schema.

    Code ``c`` of a column stands for the value ``c`` of its domain; the code after the last is
    "other". Codes have the smallest unsigned type that holds them all, and cannot be written to.

    Parameters
    ----------
    schema : Schema
        The columns of the table.
    codes : mapping of str to array
        One array of codes for each column of the schema, all of one length.
    kept : array of int, optional
        Which rows of the frame are in the table, where a rule left some out.
    origin : Origin, optional
        The library of the frame and the types of its columns, for the way back.
    weights : array of float, optional
        The weight of each row, where the schema has the role.

    Raises
    ------
    InvalidParameterError
        If the codes do not fit the schema.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([
    ...     Column("sex", Domain.categorical(["f", "m"]), outside="other", nulls="other"),
    ...     Column("age", Domain.integers(17, 90), nulls="drop"),
    ... ])
    >>> frame = pa.table({"age": [17, 90, None], "sex": ["m", "x", "f"], "note": [1, 2, 3]})
    >>> table = Table.encode(frame, schema)
    >>> table["sex"], table["age"], table.kept
    (array([1, 2], dtype=uint8), array([ 0, 73], dtype=uint8), array([0, 1]))
    >>> table.to_frame().to_pydict()
    {'sex': ['m', None], 'age': [17, 90]}
    """

    schema: Schema
    codes: Mapping[str, NDArray[np.unsignedinteger]]
    kept: NDArray[np.int64] | None = field(default=None, kw_only=True)
    origin: Origin | None = field(default=None, kw_only=True)
    weights: NDArray[np.float64] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if set(self.codes) != set(self.schema.names):
            refuse(
                "codes",
                "Table",
                f"codes of the columns {', '.join(self.schema.names)}",
                f"codes of {', '.join(map(str, self.codes)) or 'no column'}",
            )
        checked = {column.name: _checked_codes(self.codes[column.name], column) for column in self.schema}
        if len({len(codes) for codes in checked.values()}) > 1:
            refuse("codes", "Table", "arrays of one length", "arrays of several lengths")
        object.__setattr__(self, "codes", TableCodes(checked, self.schema))
        if self.kept is not None:
            object.__setattr__(self, "kept", read_only(np.asarray(self.kept, np.int64)))
        if self.weights is not None:
            object.__setattr__(self, "weights", read_only(np.asarray(self.weights, np.float64)))

    @classmethod
    def encode(cls, frame: Any, schema: Schema, *, columns: Sequence[str] | None = None) -> Table:
        """Turn a frame into codes.

        Parameters
        ----------
        frame : pandas, Polars or Arrow frame
            The data; columns that are not in the schema are ignored. A lazy frame is refused, since
            collecting it may be costly: collect it first.
        schema : Schema
            The columns with their domains and rules.
        columns : sequence of str, optional
            Encode only these columns of the schema, in this order.

        Returns
        -------
        Table

        Raises
        ------
        ColumnNotFoundError
            If the frame lacks a column.
        OutsideDomainError
            If a value is outside its domain, or missing, and the rule says ``"error"``; or if a weight is
            missing or negative.

        Notes
        -----
        Types count: text matches text, a truth value matches a truth value, a number matches the
        number it equals, so ``1`` and ``1.0`` are the same and ``"1"`` and ``True`` are not.
        Where a floating-point number may have been another whole number before, from
        :math:`2^{53}` on, it is outside. NaN is missing. A row is left out if any encoded column
        says so. If no rule is ``"error"``, no content of a column makes this fail.
        """
        given: object = schema
        if not isinstance(given, Schema):
            refuse("schema", "Table.encode", "a Schema", kind_of(schema))
        chosen = schema if columns is None else schema.select(columns)
        eager = eager_frame(frame, owner="Table.encode", parameter="frame")
        for name in chosen.names:
            if name not in eager.columns:
                known = [name for name in eager.columns if isinstance(name, str)]
                raise ColumnNotFoundError(name, known, place="in the frame")
        weights = None if chosen.weight is None else read_weights(eager, chosen.weight)
        codes: dict[str, NDArray[np.unsignedinteger]] = {}
        kept = stays = None
        for column in chosen:
            codes[column.name], stays = _encode_column(eager.get_column(column.name), column, stays)
        if stays is not None:
            kept = np.flatnonzero(stays)
            for name in chosen.names:  # one column at a time, so that only one is there twice
                codes[name] = codes[name][stays]
            weights = None if weights is None else weights[stays]
        return cls(chosen, codes, kept=kept, origin=Origin.of(eager, chosen.names), weights=weights)

    def __len__(self) -> int:
        return len(self.codes[self.schema.names[0]])

    def __getitem__(self, name: str) -> NDArray[np.unsignedinteger]:
        return self.codes[self.schema[name].name]

    def __repr__(self) -> str:
        return f"Table of {', '.join(self.schema.names)}"

    def _repr_html_(self) -> str:
        return figures_html("Table", [(column.name, column.domain.describe()) for column in self.schema])

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild = partial(Table, kept=self.kept, origin=self.origin, weights=self.weights)
        return rebuild, (self.schema, dict(self.codes))

    def decode(self, name: str) -> pa.Array:
        """Return the values of one column as an Arrow array; "other" comes back as null.

        Text, whole numbers, truth values and numbers come back as they were declared, bins as
        their labels.
        """
        return decoded(self[name], self.schema[name])

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the values as a frame, by default of the library that came in.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Another library. A table that was not made from a frame is an Arrow one.

        Notes
        -----
        "Other" comes back as null, bins as labels. In the library that came in, a column also gets
        the type it had there if that type can hold its values; a pandas column of ``int64`` in
        which "other" occurs comes back as ``Int64``. The rows are numbered anew.
        """
        arrays = {name: self.decode(name) for name in self.schema.names}
        return native_frame(arrays, backend=backend, origin=self._origin_of_values())

    def _origin_of_values(self) -> Origin | None:
        """Bins come back as labels, so they have no type to go back to."""
        if self.origin is None:
            return None
        types = self.origin.types
        exact = {name: types[name] for name in types if self.schema[name].domain.kind != "binned"}
        return Origin(self.origin.backend, exact)


def _encode_column(
    series: nw.Series[Any], column: Column, stays: NDArray[np.bool_] | None
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.bool_] | None]:
    """Return the codes of a column, and which rows stay after it and those before; None if all do."""
    codes = np.empty(len(series), column.dtype)
    encoder = ColumnCodes(column.domain)
    start = 0
    for piece in pieces(series, max(_PIECE_ROWS, min(column.domain.size, 4 * _PIECE_ROWS))):
        out = codes[start : start + count_rows(piece)]
        gone = follow_rules(column, encoder.encode(piece, out), out)
        if gone is not None:
            stays = np.ones(len(series), np.bool_) if stays is None else stays
            stays[start : start + len(gone)] &= ~gone
        start += len(out)
    return codes, stays


def follow_rules(column: Column, misfits: Misfits, codes: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Write "other" into codes where a rule says so, and return which rows go; None if all stay.

    Raises
    ------
    OutsideDomainError
        If the rule for what does not fit says ``"error"``.
    """
    gone: NDArray[np.bool_] | None = None
    for rule, rows in ((column.outside, misfits.outside), (column.nulls, misfits.missing)):
        if rows is None:
            continue
        if rule == "error":
            raise _rule_error(column, misfits)
        if rule == "other":
            codes[rows] = column.other_code
        else:
            gone = rows if gone is None else gone | rows
    return gone


def read_weights(frame: nw.DataFrame[Any], name: str) -> NDArray[np.float64]:
    """Return survey weights as they stand in a column; refuse those that are no weights, without a value."""
    if name not in frame.columns:
        raise ColumnNotFoundError(name, [str(known) for known in frame.columns], place="in the frame")
    series = frame.get_column(name)
    if series.dtype.is_numeric() and not series.null_count():
        weights: NDArray[np.float64] = series.cast(nw.Float64).to_numpy()
        if ((weights >= 0) & (weights <= _LARGEST_WEIGHT)).all() and (weights.any() or not len(weights)):
            return weights
    hint = "give every row a number of at least 0, and 0 to a row that is not to count."
    what = "weights, of which one is negative, missing or no number, or all are 0"
    raise OutsideDomainError(name, what=what, hint=hint)


def _rule_error(column: Column, misfits: Misfits) -> OutsideDomainError:
    """Return the error of the rule that says "error": that for values outside, else that for missing ones."""
    rules = 'declare outside="other"'
    if misfits.outside is None or column.outside != "error":
        what, hint = "a missing value", 'declare nulls="other" for this column.'
    elif misfits.wrong_type:
        held = _TYPE_WORDS[column.domain.value_type]
        what = "values of a type its domain does not hold"
        hint = f"the domain holds {held}: convert the column, read the file with its schema, or {rules}."
    else:
        what = "a value outside its declared domain"
        hint = f"{rules}, or add the value to the domain from a public code list."
    return OutsideDomainError(column.name, what=what, hint=hint)


def _checked_codes(codes: Any, column: Column) -> NDArray[np.unsignedinteger]:
    require_true_values(codes, name="codes", owner="Table")
    given = np.asarray(codes)
    whole = given.ndim == 1 and given.dtype.kind in "iu"
    if not whole or (len(given) and not 0 <= int(given.min()) <= int(given.max()) < column.size):
        must_be = f"for column '{column.name}' an array of whole numbers from 0 to {column.size - 1}"
        refuse("codes", "Table", must_be, "something else")
    return read_only(np.ascontiguousarray(given, column.dtype))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


_ARROW_TYPES = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def decoded(codes: NDArray[np.unsignedinteger], column: Column) -> Any:
    """Return the values that `codes` stand for as an Arrow array; "other" is null, bins are their labels."""
    domain = column.domain
    if domain.kind == "integers":
        other = None if column.other_code is None else codes == column.other_code
        return pa.array(codes.astype(np.int64) + domain.low, mask=other)
    if domain.kind == "binned":
        values = pa.array(domain.labels, pa.string())
    else:
        values = pa.array(domain.values, _ARROW_TYPES[domain.value_type])
    with_other = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return with_other.take(pa.array(codes))


class TableCodes(Mapping[str, "NDArray[np.unsignedinteger]"]):
    """A mapping of columns to codes that cannot be changed.

    Parameters
    ----------
    arrays : mapping of str to array
        The codes of each column.
    schema : Schema
        By whose rules they were made. Whoever reports the codes sees there whether a rule may have left
        people out.
    """

    __slots__ = ("_arrays", "schema")

    def __init__(self, arrays: Mapping[str, NDArray[np.unsignedinteger]], schema: Schema) -> None:
        self._arrays = dict(arrays)
        self.schema = schema

    def __getitem__(self, name: str) -> NDArray[np.unsignedinteger]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"TableCodes of {', '.join(self._arrays)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return TableCodes, (self._arrays, self.schema)
