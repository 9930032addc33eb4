"""What the optimal protocol is made for: shares, rates, an error budget, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any, Literal, NoReturn

import numpy as np

from evenhand.collect.protocols.probabilities import GRID, require_private
from evenhand.errors import GuaranteeError, InvalidParameterError

Law = tuple[tuple[int, ...], ...]

_OWNER = "Optimal"
_ONE = 1e-12  # so near to one that the weights stay as they were given

ORIGINS = {
    "public": "the weights and rates it was made for are public",
    "pilot": "the weights and rates it was made for come from reports, which have their own guarantee",
    "noisy": "the weights and rates it was made for were counted with noise, which has its own guarantee",
    "exact": "the exact weights and rates of these people, which it was made for, are public: "
    "the guarantee holds only then",
}
"""Where weights and rates may come from, and what a guarantee then assumes."""


def as_weights(weights: object) -> tuple[float, ...]:
    """Return the shares of at least two groups, scaled to sum to one.

    >>> as_weights([3, 1])
    (0.75, 0.25)
    """
    must_be = "one number of at least 0 for each of two or more groups, not all of them 0"
    numbers = _read_numbers("weights", weights, must_be)
    if len(numbers) < 2 or min(numbers) < 0 or not any(numbers):
        _refuse("weights", must_be, "fewer" if len(numbers) < 2 else "other numbers")
    largest = max(numbers)
    total = math.fsum(weight / largest for weight in numbers)
    if abs(total * largest - 1) <= _ONE:
        return numbers
    return tuple(weight / largest / total for weight in numbers)


def as_rates(rates: object, k: int) -> tuple[float, ...]:
    """Return the rates of `k` groups, each from 0 to 1."""
    must_be = f"one number from 0 to 1 for each of the {k} groups"
    numbers = _read_numbers("rates", rates, must_be)
    if len(numbers) != k or min(numbers) < 0 or max(numbers) > 1:
        _refuse("rates", must_be, f"{len(numbers)} numbers" if len(numbers) != k else "other numbers")
    return numbers


def as_error(error: object) -> Literal["grr", "minimum"] | float:
    """Return an error budget: 'grr', 'minimum' or a number from 0 to 1."""
    if error is None or error == "grr":
        return "grr"
    if error == "minimum":
        return "minimum"
    number = isinstance(error, int | float | np.integer | np.floating | Fraction)
    if not number or isinstance(error, bool) or not 0 <= (amount := float(error)) <= 1:  # type: ignore[arg-type]
        _refuse("error", "'grr', 'minimum' or a number from 0 to 1", error)
    return amount


def check_law(law: object, k: int, epsilon: Fraction) -> Law:
    """Return a law that was written down, if it is one and keeps `epsilon` exactly; else refuse it."""
    must_be = f"{k} rows of {k} whole numbers above 0 that sum to 2**53"
    rows = law if isinstance(law, list | tuple) and len(law) == k else ()
    cells = tuple(tuple(row) if isinstance(row, list | tuple) and len(row) == k else () for row in rows)
    whole = all(type(cell) is int and 0 < cell < GRID for row in cells for cell in row)
    if not cells or not all(cells) or not whole or any(sum(row) != GRID for row in cells):
        _refuse("law", must_be, "something else")
    try:
        require_private(column_ratio(cells), epsilon, owner=_OWNER)
    except GuaranteeError:
        _refuse("law", f"{must_be} and keep the epsilon that is stated", "numbers that tell more")
    return cells


def column_ratio(law: Law) -> Fraction:
    """Return the largest ratio of two entries of a column."""
    return max(Fraction(max(column), min(column)) for column in zip(*law, strict=True))


def _read_numbers(name: str, given: object, must_be: str) -> tuple[float, ...]:
    """Return numbers as floats; text, mappings and sets are none, and neither are truth values."""
    if isinstance(given, str | bytes | Mapping | AbstractSet):
        _refuse(name, must_be, f"a {type(given).__name__}")
    try:
        array = np.asarray(given)
        numbers = array.astype(float) if array.dtype.kind in "iufO" else np.empty((0, 0))
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        _refuse(name, must_be, "something else")
    return tuple(numbers.tolist())


def _refuse(parameter: str, must_be: str, got: Any) -> NoReturn:
    raise InvalidParameterError(parameter, owner=_OWNER, must_be=must_be, got=got)
