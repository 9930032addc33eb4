"""Codes of one column, piece by piece, so that no column of any frame library is ever copied whole.

Whole arrays of numbers get the same codes as one value at a time, see ``match``. Such a function takes a
NumPy array and returns the codes and a mask of the values outside the domain. Where the mask is True the code
is arbitrary. Missing values are left to the caller.
"""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._lazy import lazy
from evenhand.table.match import FALSE_WORDS, TRUE_WORDS, find_code, is_missing, largest_exact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.schema import Domain

    Mask = NDArray[np.bool_] | None
    Codes = tuple[NDArray[Any], NDArray[np.bool_]]
    from collections.abc import Iterator

    import narwhals as nw

pd = lazy("pandas")

_BLOCK_ROWS = 1 << 14  # temporary arrays this small stay in the cache and in the allocator
_NUMBER_TYPES = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_PARTS_OF_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class Misfits(NamedTuple):
    """Which values of a piece are outside the domain and which are missing; None where none is.

    `wrong_type` says that the piece has a type of which the domain holds no value.
    """

    outside: Mask = None
    missing: Mask = None
    wrong_type: bool = False


class ColumnCodes:
    """Turns pieces of a column into codes of a domain, see ``match`` for what matches what."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        words: dict[str, int | None] = {}
        if domain.value_type is bool:
            words = {word: domain.find(word in TRUE_WORDS) for word in TRUE_WORDS + FALSE_WORDS}
        elif domain.kind == "categorical" and domain.value_type is str:
            words = {str(value): code for code, value in enumerate(domain.values)}
        known = {word: code for word, code in words.items() if code is not None}
        self._words = pa.array(known, pa.large_string())
        self._word_codes = np.array(list(known.values()), np.uint32)
        self._words_in_order = bool(known) and domain.value_type is str

    def encode(self, piece: Any, out: NDArray[Any]) -> Misfits:  # noqa: PLR0911 - one for each kind of piece
        """Write the codes of `piece` into `out`, any code where a value does not fit; tell which do not."""
        if isinstance(piece, Labelled):
            return self._encode_labelled(piece.places, piece.categories, out)
        if isinstance(piece, np.ndarray):
            return self._one_by_one(piece, out)
        if pa.types.is_dictionary(piece.type):
            return self._encode_labelled(piece.indices, piece.dictionary, out)
        if pa.types.is_run_end_encoded(piece.type):
            piece = pc.run_end_decode(piece)
        missing = _missing(piece)
        if self.domain.value_type is date and (dates := _as_dates(piece)) is not None:
            return self._numbers(dates, missing, out)
        if self.domain.value_type is date and any(is_one(piece.type) for is_one in TEXT_TYPES):
            encoded = piece.dictionary_encode()
            return self._encode_labelled(
                encoded.indices, np.array(encoded.dictionary.to_pylist(), object), out
            )
        if any(is_one(piece.type) for is_one in TEXT_TYPES) and len(self._words):
            return self._text(piece, missing, out)
        if pa.types.is_boolean(piece.type) and self.domain.value_type is bool:
            return self._encode_labelled(
                piece.cast(pa.uint8()), pa.array(FALSE_WORDS[:1] + TRUE_WORDS[:1]), out
            )
        if self.domain.value_type in (int, float) and any(is_one(piece.type) for is_one in _NUMBER_TYPES):
            return self._numbers(piece, missing, out)
        out[:] = 0
        outside = np.ones(len(piece), np.bool_) if missing is None else ~missing
        return make_misfits(outside, missing, wrong_type=True)

    def _text(self, piece: Any, missing: Mask, out: NDArray[Any]) -> Misfits:
        if pa.types.is_string_view(piece.type):
            piece = piece.cast(pa.large_string())
        places = pc.index_in(piece, value_set=self._words.cast(piece.type))
        outside = None
        if places.null_count:
            outside = _mask(places.is_null())
            places = places.fill_null(0)
        out[:] = places if self._words_in_order else self._word_codes.take(places)
        return make_misfits(outside, missing)

    def _numbers(self, piece: Any, missing: Mask, out: NDArray[Any]) -> Misfits:
        outside: Mask = None
        for start in range(0, len(piece), _BLOCK_ROWS):
            block = piece.slice(start, _BLOCK_ROWS)
            here = slice(start, start + len(block))
            out[here], wrong = self._number_block(block)
            if wrong.any():
                outside = np.zeros(len(piece), np.bool_) if outside is None else outside
                outside[here] = wrong
        return make_misfits(outside, missing)

    def _number_block(self, block: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Encode numbers by arithmetic where that is exact, else by their distinct values."""
        if not pa.types.is_decimal(block.type):
            values = (block.fill_null(0) if block.null_count else block).to_numpy(zero_copy_only=False)
            if pa.types.is_floating(block.type):
                return float_codes(values, self.domain)
            computed = integer_codes(values, self.domain)
            if computed is not None:
                return computed
        if pa.types.is_decimal(block.type) and block.type.bit_width < 128:  # which Arrow cannot sort out
            block = block.cast(pa.decimal128(38, block.type.scale))
        encoded = block.dictionary_encode()
        distinct = np.array(encoded.dictionary.to_pylist(), dtype=object)
        codes = np.zeros(len(block), np.uint64)
        misfits = self._encode_labelled(encoded.indices, distinct, codes)
        return codes, np.zeros(len(block), np.bool_) if misfits.outside is None else misfits.outside

    def _encode_labelled(self, places: Any, categories: Any, out: NDArray[Any]) -> Misfits:
        """Encode the categories once, then look every place up."""
        table = np.zeros(len(categories) + 1, out.dtype)  # one more, so that an empty list can be looked up
        misfits = self.encode(categories, table[:-1])
        missing: Mask = None
        if isinstance(places, np.ndarray):
            missing = places < 0
        else:
            if places.null_count:
                missing, places = _mask(places.is_null()), places.fill_null(0)
            places = places.to_numpy()
        out[:] = table.take(places, mode="clip")
        outside = None
        if misfits.outside is not None:
            outside = misfits.outside.take(places, mode="clip")
        if misfits.missing is not None:
            unlisted = misfits.missing.take(places, mode="clip")
            missing = unlisted if missing is None else missing | unlisted
        return make_misfits(outside, missing, wrong_type=misfits.wrong_type)

    def _one_by_one(self, values: Iterable[object], out: NDArray[Any]) -> Misfits:
        seen: dict[object, int | None] = {}
        outside, missing = np.zeros(len(out), np.bool_), np.zeros(len(out), np.bool_)
        for place, value in enumerate(values):
            out[place] = 0
            if is_missing(value):
                missing[place] = True
                continue
            try:
                key = (type(value), value)
                if key not in seen:
                    seen[key] = find_code(value, self.domain)
                code = seen[key]
            except TypeError:  # a list or another thing without a hash
                code = None
            if code is None:
                outside[place] = True
            else:
                out[place] = code
        return make_misfits(outside, missing)


def make_misfits(outside: Mask, missing: Mask, *, wrong_type: bool = False) -> Misfits:
    """Make a mask None if it is empty; a missing value is not outside as well."""
    missing = missing if missing is not None and missing.any() else None
    if outside is not None and missing is not None:
        outside = outside & ~missing
    outside = outside if outside is not None and outside.any() else None
    return Misfits(outside, missing, wrong_type=wrong_type and outside is not None)


def _missing(piece: Any) -> Mask:
    """Find what is null or NaN, in an array of any type."""
    if pa.types.is_floating(piece.type):
        values = (piece.fill_null(np.nan) if piece.null_count else piece).to_numpy()
        return np.asarray(np.isnan(values))
    return _mask(piece.is_null()) if piece.null_count else None


def _as_dates(piece: Any) -> Any:
    """Return dates and time stamps, those of a time zone in it, as days since 1970; None if it has others."""
    kind = piece.type
    if pa.types.is_date32(kind):
        return piece.cast(pa.int32())
    if not pa.types.is_timestamp(kind) and not pa.types.is_date64(kind):
        return None
    local = pc.local_timestamp(piece) if getattr(kind, "tz", None) else piece
    numbers = local.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return pa.array(numbers // (86_400 * _PARTS_OF_A_SECOND[getattr(kind, "unit", "ms")]))


def _mask(flags: Any) -> NDArray[np.bool_]:
    return np.asarray(flags.to_numpy(zero_copy_only=False))


_WIDEST_TABLE = 1 << 16
_FEW_EDGES = 48
_NO_BOUND = 2**64


def integer_codes(values: NDArray[np.integer], domain: Domain) -> Codes | None:
    """Return the codes of whole numbers; None where only one value at a time is exact."""
    if domain.kind == "integers":
        return _range_codes(values, domain.low, domain.high)
    if domain.kind == "binned":
        return _integer_bins(values, domain.edges)
    if domain.value_type is int:
        return _listed_codes(values, domain)
    if len(values) and max(abs(int(values.min())), abs(int(values.max()))) > 2**53:
        return None
    return _sorted_codes(values.astype(np.float64), np.array(domain.values, np.float64))


def float_codes(values: NDArray[np.floating], domain: Domain) -> Codes:
    """Return the codes of floating-point numbers; NaN is outside here."""
    if domain.kind == "binned":
        numbers, edges = values.astype(np.float64, copy=False), domain.edges
        outside = ~((numbers >= edges[0]) & (numbers <= edges[-1]))
        return _bins(numbers, np.array(edges[1:-1], np.float64)), outside
    if domain.value_type is float:
        return _sorted_codes(values.astype(np.float64, copy=False), np.array(domain.values, np.float64))
    with np.errstate(invalid="ignore", over="ignore"):  # what is no 64-bit integer fails the comparison
        whole = values.astype(np.int64)
        changed = whole.astype(values.dtype) != values
    most = int(largest_exact(values.dtype)) - 1
    if domain.kind == "integers":
        codes, outside = _range_codes(whole, domain.low, domain.high, most=most)
    else:
        codes, outside = _listed_codes(whole, domain, most=most)
    return codes, outside | changed


def _range_codes(values: NDArray[np.integer], low: int, high: int, *, most: int = _NO_BOUND) -> Codes:
    """Return ``value - low``, by arithmetic that wraps around in the unsigned type of the same width.

    The range is first cut to what the type of the values can hold, and to numbers of at most `most`
    in size, so that no difference is ambiguous.
    """
    places, outside, start = _places(values, low, high, most=most)
    if start != low:
        return places.astype(np.uint64) + np.uint64(start - low), outside
    return places, outside


def _places(
    values: NDArray[np.integer], low: int, high: int, *, most: int = _NO_BOUND
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.bool_], int]:
    """Return the distance of each value from the start of the cut range, what is outside, and the start."""
    bounds = np.iinfo(values.dtype)
    start, end = max(low, int(bounds.min), -most), min(high, int(bounds.max), most)
    if start > end:
        return np.zeros(len(values), np.uint8), np.ones(len(values), np.bool_), low
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    wrap = 1 << (8 * unsigned.itemsize)
    places = values.view(unsigned) - unsigned.type(start % wrap)
    return places, places > unsigned.type(end - start), start


def _listed_codes(values: NDArray[np.integer], domain: Domain, *, most: int = _NO_BOUND) -> Codes:
    """Look whole numbers up in a list: by a table over its span, or by bisection if that is wide."""
    listed = [int(value) for value in domain.values]
    low, high = min(listed), max(listed)
    places, outside, start = _places(values, low, high, most=most)
    if high - low < _WIDEST_TABLE:
        table = np.full(high - low + 1, len(listed), np.uint32)
        table[[value - low for value in listed]] = np.arange(len(listed))
        signed = places.view(np.int64) if places.dtype.itemsize == 8 else places  # as NumPy wants them;
        codes = table[start - low :].take(signed, mode="clip")  # what does not fit is outside anyway
        return codes, outside | (codes == len(listed))
    offsets = np.array([value - low for value in listed], np.uint64)
    codes, unknown = _sorted_codes(places.astype(np.uint64) + np.uint64(start - low), offsets)
    return codes, outside | unknown


def _sorted_codes(values: NDArray[Any], listed: NDArray[Any]) -> Codes:
    order = np.argsort(listed)
    ranked = listed[order]
    ranks = np.minimum(np.searchsorted(ranked, values), len(ranked) - 1)
    return order[ranks], ranked[ranks] != values


def _integer_bins(values: NDArray[np.integer], edges: tuple[float, ...]) -> Codes:
    """Compare whole numbers with whole numbers: at or above an edge is at or above the next whole number."""
    bounds = np.iinfo(values.dtype)
    low, high = math.ceil(edges[0]), math.floor(edges[-1])
    _, outside, _ = _places(values, low, high)
    inner = [max(math.ceil(edge), int(bounds.min)) for edge in edges[1:-1]]
    reached = [edge for edge in inner if edge <= int(bounds.max)]
    return _bins(values, np.array(reached, values.dtype)), outside


def _bins(values: NDArray[Any], inner: NDArray[Any]) -> NDArray[Any]:
    """Count the inner edges at or below each value."""
    if len(inner) > _FEW_EDGES:
        return np.searchsorted(inner, values, side="right")
    codes = np.zeros(len(values), np.uint8)
    for edge in inner:
        codes += values >= edge
    return codes


def write_out(array: Any) -> Any:
    """Return an Arrow array without a list of values and without views of text, which Arrow cannot take from.

    >>> write_out(pa.array(["a", "b", "a"]).dictionary_encode()).to_pylist()
    ['a', 'b', 'a']
    """
    if pa.types.is_dictionary(array.type):
        return write_out(array.dictionary).take(array.indices)
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


class Labelled(NamedTuple):
    """Places in a list of categories, -1 where there is none; the list is itself a piece."""

    places: Any
    categories: Any


def pieces(series: nw.Series[Any], rows: int) -> Iterator[Any]:
    """Yield `series` in pieces of at most `rows` rows.

    A piece is an Arrow array, a :class:`Labelled` of a pandas categorical, or, for columns that
    have no other type than "Python objects", a NumPy array of objects.
    """
    native = series.to_native()
    if series.implementation.is_pyarrow():
        for chunk in native.chunks:
            # A long list of categories is gone through once for a piece, so the piece is long too.
            categories = len(chunk.dictionary) if pa.types.is_dictionary(chunk.type) else 0
            step = max(rows, 4 * categories)
            for start in range(0, len(chunk), step):
                yield chunk.slice(start, step)
        return
    cut = _pandas_piece if series.implementation.is_pandas() else _other_piece
    for start in range(0, len(native), rows):
        yield cut(series[start : start + rows].to_native())


def count_rows(piece: Any) -> int:
    """Return how many rows a piece has."""
    return len(piece.places) if isinstance(piece, Labelled) else len(piece)


def _pandas_piece(series: Any) -> Any:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return Labelled(series.array.codes, _pandas_piece(series.array.categories.to_series()))
    if series.dtype != np.dtype(object):
        try:
            return _flat(pa.Array.from_pandas(series))
        except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
            return np.asarray(series, dtype=object)
    if pd.api.types.infer_dtype(series, skipna=True) == "string":
        try:
            return _flat(pa.array(series, pa.large_string(), from_pandas=True))
        except (pa.ArrowException, UnicodeError):  # text that UTF-8 cannot write
            pass
    return np.asarray(series, dtype=object)


def _other_piece(series: Any) -> Any:
    """Cut from Polars, and from whatever else can turn itself into Arrow."""
    try:
        if str(series.dtype) != "Object":
            return _flat(series.to_arrow())
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):  # wider than Arrow's types
        pass
    objects = np.empty(len(series), dtype=object)
    objects[:] = series.to_list()
    return objects


def _flat(array: Any) -> Any:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
