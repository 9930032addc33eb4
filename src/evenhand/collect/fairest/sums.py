r"""Sums of products in which no digit is lost, so that a certificate need not allow for its own arithmetic.

A tiny group and a small error budget make duals of several millions whose products cancel down to 1e-10.
Summed in floating point, the worst that rounding could have done is then larger than the gap that is to be
proved.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.fairest.population import Vector

__all__ = ["exact_products", "sums_by_place"]

_SPLITTER = 2.0**27 + 1


def exact_products(left: Vector, right: Vector) -> tuple[Vector, Vector]:
    """Return the rounded products and what rounding took from them; both together are exact.

    Dekker's product, for finite factors below 1e290. Where a product is below 1e-290, up to 1e-320 is lost.

    >>> product, rest = exact_products(np.array([1 + 2.0**-30]), np.array([1 - 2.0**-30]))
    >>> product.item(), rest.item() == -(2.0**-60)
    (1.0, True)
    """
    product = left * right
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    over = ((product - left_high * right_high) - left_low * right_high) - left_high * right_low
    return product, left_low * right_low - over


def sums_by_place(places: npt.NDArray[np.intp], parts: Vector, many: int) -> Vector:
    """Return for each of `many` places the sum of its parts, rounded once.

    >>> sums_by_place(np.array([1, 0, 1, 1]), np.array([1e16, 5.0, 1.0, -1e16]), 3)
    array([5., 1., 0.])
    """
    there = parts != 0
    places, parts = places[there], parts[there]
    ends = np.cumsum(np.bincount(places, minlength=many)).tolist()
    ordered = parts[np.argsort(places, kind="stable")].tolist()
    starts = [0, *ends[:-1]]
    return np.array([math.fsum(ordered[start:end]) for start, end in zip(starts, ends, strict=True)])


def _halves(values: Vector) -> tuple[Vector, Vector]:
    """Return two parts of each number, of half its digits each."""
    wide = _SPLITTER * values
    high = wide - (wide - values)
    return high, values - high
