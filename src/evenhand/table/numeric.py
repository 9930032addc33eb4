"""Codes of whole arrays of numbers, with the same outcome as one value at a time, see ``match``.

Every function takes a NumPy array and returns the codes and a mask of the values outside the
domain. Where the mask is True the code is arbitrary. Missing values are the caller's business.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.table.match import largest_exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.schema import Domain

    Codes = tuple[NDArray[Any], NDArray[np.bool_]]

__all__ = ["float_codes", "integer_codes"]

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
        return _float_bins(values.astype(np.float64, copy=False), domain.edges)
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
        codes = table[start - low :].take(_signed(places), mode="clip")
        return codes, outside | (codes == len(listed))
    offsets = np.array([value - low for value in listed], np.uint64)
    codes, unknown = _sorted_codes(places.astype(np.uint64) + np.uint64(start - low), offsets)
    return codes, outside | unknown


def _sorted_codes(values: NDArray[Any], listed: NDArray[Any]) -> Codes:
    order = np.argsort(listed)
    ranked = listed[order]
    ranks = np.minimum(np.searchsorted(ranked, values), len(ranked) - 1)
    return order[ranks], ranked[ranks] != values


def _float_bins(values: NDArray[np.float64], edges: tuple[float, ...]) -> Codes:
    outside = ~((values >= edges[0]) & (values <= edges[-1]))
    return _bins(values, np.array(edges[1:-1], np.float64)), outside


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


def _signed(places: NDArray[np.unsignedinteger]) -> NDArray[Any]:
    """Return places as NumPy wants them; what does not fit is outside anyway."""
    return places.view(np.int64) if places.dtype.itemsize == 8 else places
