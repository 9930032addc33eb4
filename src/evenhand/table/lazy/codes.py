"""Codes of a lazy frame: what the engine sends for each column, and what becomes of it.

What a value means is decided here, by the same encoder that eager frames go through. The engine only makes
its answer small: it tells which values are missing and which cannot belong to the domain, puts numbers into
bins and dates into months, and sends every other value as it stands. It may send a value that the encoder
then calls outside. It never holds back one that the encoder would take: where that is not sure, the column is
sent as it is.
"""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa

from evenhand.errors import InvalidParameterError
from evenhand.schema.values import INT_HIGH, INT_LOW
from evenhand.table.column_codes import ColumnCodes, count_rows, make_misfits, pieces
from evenhand.table.encode import Table, follow_rules
from evenhand.table.lazy.combinations import (
    count_combinations,
    find_types,
    holds_objects,
    moves_time_zones,
    refuse_objects,
)
from evenhand.table.match import FALSE_WORDS, TRUE_WORDS, largest_exact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evenhand.schema import Column, Schema

_MISSING, _OUTSIDE = 1, 2
_STATES_AT_ONCE = 30  # 3**30 fits 64 bits
_MOST_VALUES = 10_000  # a longer list of values makes a slow query
_MOST_BINS = 256
_PIECE_ROWS = 1 << 18
_DATES = (nw.Date, nw.Datetime)
_NEVER = (nw.Binary, nw.Time, nw.Duration, nw.List, nw.Array, nw.Struct)
"""Types that no domain holds."""


class _Key(NamedTuple):
    """What the engine sends of one column.

    `missing` and `fits` tell what a row holds; without `missing` the encoder finds it out. `value` is what is
    sent of a row that fits, and anything else of the others; without it no value of the type fits. There are
    at most `most` values that fit. `restore` turns them into what the encoder takes, if they are not that.
    """

    column: Column
    value: nw.Expr | None = None
    missing: nw.Expr | None = None
    fits: nw.Expr | None = None
    most: float = math.inf
    restore: Callable[[NDArray[np.int64]], Any] | None = None
    wrong_type: bool = False


def count_codes(frame: nw.LazyFrame[Any], schema: Schema, *, owner: str) -> tuple[Table, NDArray[np.int64]]:
    """Return the combinations of codes that occur in a lazy frame, and how many rows have each.

    Rows that a rule leaves out are in none of them. A combination may be there more than once.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        The rows; they stay in their engine, which goes through them once.
    schema : Schema
        The columns to count.
    owner : str
        The public function that counts, for messages.

    Raises
    ------
    ColumnNotFoundError, OutsideDomainError
        As :meth:`Table.encode` does.
    InvalidParameterError
        If the schema has the role `person` or `weight`, or the engine cannot tell the values of a column
        apart.
    LimitExceededError
        If more combinations occur than can be fetched.
    EngineError
        If the engine fails.

    Examples
    --------
    >>> import polars as pl
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("age", Domain.binned([0, 30, 120]), outside="drop")])
    >>> people = nw.from_native(pl.LazyFrame({"age": [17, 29, 45, 999]}))
    >>> table, counts = count_codes(people, schema, owner="Histogram.count")
    >>> sorted(zip(table["age"].tolist(), counts.tolist()))
    [(0, 2), (1, 1)]
    """
    _refuse_roles(schema, owner=owner)
    types = find_types(frame, schema.names, owner=owner)
    for column in schema:
        if column.domain.value_type is not str and holds_objects(frame, column.name):
            refuse_objects(column.name, owner=owner)
    keys = [_choose_key(column, types[column.name], zones=not moves_time_zones(frame)) for column in schema]
    sent = {f"v{place}": key.value for place, key in enumerate(keys) if key.value is not None}
    for start in range(0, len(keys), _STATES_AT_ONCE):
        sent |= _join_states(keys[start : start + _STATES_AT_ONCE], f"s{start}")
    most = math.prod(key.most + 3 for key in keys)  # missing, outside, minus zero beside zero
    answer = count_combinations(frame, sent, schema.names, most=most)
    stays = np.ones(len(answer.counts), np.bool_)
    codes: dict[str, NDArray[Any]] = {}
    for place, key in enumerate(keys):
        values = answer.values.get_column(f"v{place}") if f"v{place}" in sent else None
        states = np.zeros(len(stays), np.int64)
        if key.missing is not None:
            joined = answer.values.get_column(f"s{place - place % _STATES_AT_ONCE}").to_numpy()
            states = joined.astype(np.int64) // 3 ** (place % _STATES_AT_ONCE) % 3
        codes[key.column.name], gone = _encode_key(key, states, values)
        if gone is not None:
            stays &= ~gone
    return Table(schema, {name: column[stays] for name, column in codes.items()}), answer.counts[stays]


def _refuse_roles(schema: Schema, *, owner: str) -> None:
    reason = ""
    if schema.person is not None:
        reason = "which rows of a person count is drawn at random, row by row"
    elif schema.weight is not None:
        reason = "a sum of weights depends on the order of the rows, of which an engine keeps none"
    if reason:
        must_be = "one without the roles person and weight where the frame is lazy"
        hint = f"{reason}: collect its columns first, and count the collected frame."
        raise InvalidParameterError("schema", owner=owner, must_be=must_be, got="one with them", hint=hint)


# --- what is sent ---------------------------------------------------------------------------------


def _choose_key(column: Column, dtype: Any, *, zones: bool) -> _Key:
    """Return what is sent of a column of this type; see ``ColumnCodes.encode`` for what fits what.

    Without `zones` the engine does not know the date of a time stamp in a time zone.
    """
    here, domain = nw.col(column.name), column.domain
    kind = domain.value_type
    in_numbers, in_words = kind in (int, float), kind in (str, bool)
    wrong = isinstance(dtype, _NEVER)
    wrong |= isinstance(dtype, _DATES) and kind is not date
    wrong |= dtype.is_numeric() and not in_numbers
    wrong |= dtype == nw.Boolean and kind is not bool
    wrong |= dtype == nw.String and in_numbers
    if wrong:
        return _Key(column, missing=_is_missing(here, dtype), most=0, wrong_type=True)
    if isinstance(dtype, _DATES) and (zones or getattr(dtype, "time_zone", None) is None):
        return _send_months(column)
    if dtype == nw.String and in_words and domain.size <= _MOST_VALUES:
        words = [*map(str, domain.values)] if kind is str else [*TRUE_WORDS, *FALSE_WORDS]
        fits = here.is_in(words)
        return _Key(column, _when(fits, here, words[0]), here.is_null(), fits, len(words))
    if dtype.is_integer() or dtype.is_float():
        return _send_numbers(column, dtype)
    return _Key(column, here, most=2 if dtype == nw.Boolean else math.inf)


def _is_missing(here: nw.Expr, dtype: Any) -> nw.Expr:
    return here.is_null() | here.is_nan() if dtype.is_float() else here.is_null()


def _send_months(column: Column) -> _Key:
    """Send the month of a date: bands begin and end with a month."""
    here, domain = nw.col(column.name), column.domain
    first, last = (12 * day.year + day.month - 1 for day in (domain.first, domain.last))
    months = here.dt.year() * 12 + here.dt.month() - 1
    fits = (months >= first) & (months <= last)
    return _Key(column, _when(fits, months, first), here.is_null(), fits, last - first + 1, _first_days)


def _first_days(months: NDArray[np.int64]) -> Any:
    return pa.array((months - 12 * 1970).astype("datetime64[M]").astype("datetime64[D]"))


class _Numbers(NamedTuple):
    """A column of numbers in the engine, and the range in which each number is sure to be itself.

    Literals that it is compared with have its type and lie in its range, so that no engine converts either.
    """

    column: Column
    here: nw.Expr
    missing: nw.Expr
    low: float
    high: float
    is_whole: bool


def _send_numbers(column: Column, dtype: Any) -> _Key:
    """Send numbers that may be in the domain as they are, or their bins."""
    domain, here = column.domain, nw.col(column.name)
    if dtype.is_float():
        high = math.inf if domain.value_type is float else largest_exact(np.dtype(str(dtype).lower())) - 1
        missing = _is_missing(here, dtype)
        here = here.cast(nw.Float64) + 0.0  # so that minus zero is zero
        numbers = _Numbers(column, here, missing, -high, high, is_whole=False)
    else:
        numbers = _Numbers(column, here, here.is_null(), *_range_of(dtype), is_whole=True)
    if domain.kind == "binned":
        return _send_bins(numbers)
    if domain.kind == "integers":
        return _send_range(numbers, domain.low, domain.high)
    declared: tuple[Any, ...] = domain.values
    listed = [value for value in declared if numbers.low <= value <= numbers.high]
    if numbers.is_whole:
        listed = [int(value) for value in listed if value == int(value)]
    if not listed:
        return _Key(column, missing=numbers.missing, most=0)
    if len(listed) > _MOST_VALUES or max(map(abs, listed)) > INT_HIGH:
        return _send_range(numbers, min(listed), max(listed))
    return _send_as_is(
        numbers, here.is_in(listed if numbers.is_whole else [*map(float, listed)]), len(listed)
    )


def _range_of(dtype: Any) -> tuple[int, int]:
    """Return the smallest and the largest whole number of a type.

    >>> _range_of(nw.Int8()), _range_of(nw.UInt16())
    ((-128, 127), (0, 65535))
    """
    name = str(dtype)
    span = 1 << int(name.lstrip("UInt"))
    return (0, span - 1) if name.startswith("U") else (-span // 2, span // 2 - 1)


def _send_range(numbers: _Numbers, low: float, high: float) -> _Key:
    """Send the numbers from `low` to `high`."""
    low, high = max(low, numbers.low), min(high, numbers.high)
    if low > high:
        return _Key(numbers.column, missing=numbers.missing, most=0)
    if numbers.is_whole and not INT_LOW <= low <= high <= INT_HIGH:  # wider than literals of some engines
        return _Key(numbers.column, numbers.here)
    if not numbers.is_whole:
        low, high = float(low), float(high)
    fits = (numbers.here >= low) & (numbers.here <= high)
    only_whole = numbers.is_whole or numbers.column.domain.value_type is int
    if only_whole and not numbers.is_whole:
        small = _when(fits, numbers.here, 0.0)  # Ibis fails at whole parts beyond 64 bits
        fits &= small.floor() == numbers.here
    return _send_as_is(numbers, fits, high - low + 1 if only_whole else math.inf)


def _send_as_is(numbers: _Numbers, fits: nw.Expr, most: float) -> _Key:
    value = _when(fits, numbers.here, 0 if numbers.is_whole else 0.0)
    return _Key(
        numbers.column,
        value.cast(nw.Int64) if numbers.is_whole else value,
        numbers.missing,
        fits,
        most,
    )


def _send_bins(numbers: _Numbers) -> _Key:
    """Send the bins of numbers, unless they are very many."""
    edges = numbers.column.domain.edges
    ends, inner = (edges[0], edges[-1]), list(edges[1:-1])
    if numbers.is_whole:  # at or above an edge is at or above the next whole number
        ends, inner = (math.ceil(ends[0]), math.floor(ends[1])), [math.ceil(edge) for edge in inner]
    ranged = _send_range(numbers, *ends)
    if ranged.fits is None or len(inner) >= _MOST_BINS:
        return ranged
    below = sum(edge <= numbers.low for edge in inner)
    reached = [edge for edge in inner[below:] if edge <= numbers.high]
    value = _when(ranged.fits, _count_reached(numbers.here, reached, below), 0)
    left = np.array(edges[:-1])
    return ranged._replace(value=value, most=len(inner) + 1, restore=lambda bins: pa.array(left[bins]))


def _count_reached(here: nw.Expr, edges: Sequence[float], below: int) -> nw.Expr:
    """Return how many edges are at or below each number, with `below` more, by halves."""
    if not edges:
        return nw.lit(below)
    middle = len(edges) // 2
    above = _count_reached(here, edges[middle + 1 :], below + middle + 1)
    return nw.when(here >= edges[middle]).then(above).otherwise(_count_reached(here, edges[:middle], below))


def _when(fits: nw.Expr, value: nw.Expr, otherwise: Any) -> nw.Expr:
    return nw.when(fits).then(value).otherwise(nw.lit(otherwise))


def _join_states(keys: Sequence[_Key], name: str) -> dict[str, nw.Expr]:
    """Return a number with a digit, to the base of 3, for each column: it fits, is missing or outside."""
    joined = None
    for place, key in enumerate(keys):
        if key.missing is None:
            continue
        state: Any = nw.lit(_OUTSIDE)
        if key.fits is not None:
            state = nw.when(key.fits).then(nw.lit(0)).otherwise(state)
        state = nw.when(key.missing).then(nw.lit(_MISSING)).otherwise(state).cast(nw.Int64) * 3**place
        joined = state if joined is None else joined + state
    return {} if joined is None else {name: joined}


# --- what becomes of it ---------------------------------------------------------------------------


def _encode_key(
    key: _Key, states: NDArray[np.int64], values: nw.Series[Any] | None
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the codes of what was sent of a column, and which rows its rules leave out."""
    codes = np.zeros(len(states), key.column.dtype)
    outside, missing, wrong_type = states == _OUTSIDE, states == _MISSING, key.wrong_type
    sent: Any = []
    if values is not None:
        sent = pieces(values, _PIECE_ROWS)
        if key.restore is not None:
            sent = [key.restore(values.to_numpy().astype(np.int64))]
    encoder, start = ColumnCodes(key.column.domain), 0
    for piece in sent:
        rows = slice(start, start + count_rows(piece))
        misfits = encoder.encode(piece, codes[rows])
        fitted = states[rows] == 0
        if misfits.outside is not None:
            outside[rows] |= misfits.outside & fitted
        if misfits.missing is not None:
            missing[rows] |= misfits.missing & fitted
        wrong_type |= misfits.wrong_type
        start = rows.stop
    misfits = make_misfits(outside, missing, wrong_type=wrong_type)
    return codes, follow_rules(key.column, misfits, codes)
