"""From the codes of a declared number to features between -1 and 1, by its declared bounds alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.schema import Domain

__all__ = ["FEW", "NUMBERS", "WIDE", "Numbers", "Scale", "bin_cuts", "is_number", "places_of", "scale_of"]

Numbers = Literal["auto", "linear", "log", "bins"]
"""How declared numbers become features."""

NUMBERS: tuple[Numbers, ...] = get_args(Numbers)

FEW = 20
"""Under ``"auto"`` a number of at most so many declared values has one feature for each of them."""

WIDE = 1_000
"""A declared range is wide if its largest magnitude is more than so many times its smallest: three orders."""

_BINS = 10
_MOST_STEPS = 40
_LARGEST = 1e300


@dataclass(frozen=True)
class Scale:
    """The public constants of one declared number.

    Parameters
    ----------
    low, high : int or float
        The declared bounds; whole ones are kept as such, so that their distance is exact.
    unit : float
        The step of the declaration: 1 for whole numbers, else the narrowest distance between two values.
    """

    low: float
    high: float
    unit: float = 1

    @property
    def is_wide(self) -> bool:
        """Whether the declared range spans more than three orders of magnitude."""
        smallest = 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))
        return max(abs(self.low), abs(self.high)) > WIDE * max(smallest, self.unit)

    def linear(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return -1 at the low bound and 1 at the high one; `places` are distances from the low bound."""
        span = self.high - self.low
        if not span:
            return np.zeros_like(places)
        return np.clip(2.0 * (places / span) - 1.0, -1.0, 1.0)

    def proportional(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value over the largest declared magnitude, so that nought stays nought."""
        return np.clip((self.low + places) / max(abs(self.low), abs(self.high)), -1.0, 1.0)

    def logarithmic(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the same for the signed logarithm, ``sign(v) ln(1 + |v| / unit)``."""
        low, high = (
            float(_signed_log(np.asarray(end, np.float64), self.unit)) for end in (self.low, self.high)
        )
        if not high > low:  # too narrow for its distance from nought
            return self.linear(places)
        values = _signed_log(self.low + places, self.unit)
        return np.clip(2.0 * (values - low) / (high - low) - 1.0, -1.0, 1.0)


def is_number(domain: Domain) -> bool:
    """Say whether the values are numbers with an order: a range, bins or an ordered list of numbers."""
    return domain.ordered and (domain.kind != "categorical" or domain.value_type in (int, float))


def scale_of(domain: Domain) -> Scale:
    """Return the constants of a number, from its declaration alone.

    Examples
    --------
    >>> from evenhand.schema import Domain
    >>> scale_of(Domain.integers(17, 90))
    Scale(low=17, high=90, unit=1)
    >>> scale_of(Domain.integers(0, 99_999)).is_wide, scale_of(Domain.integers(1_900, 2_100)).is_wide
    (True, False)
    """
    if domain.kind == "integers":
        return Scale(domain.low, domain.high)
    ends = np.sort(np.asarray(domain.edges if domain.kind == "binned" else domain.values, np.float64))
    unit = float(np.diff(ends).min()) if len(ends) > 1 else 1.0
    made = Scale(float(ends[0]), float(ends[-1]), unit)
    largest = max(abs(made.low), abs(made.high))
    if largest > _LARGEST or largest > _LARGEST * unit:
        raise InvalidParameterError(
            "schema",
            owner="PublicEncoder",
            must_be="one whose numbers, and whose numbers over their narrowest step, are at most 1e300",
            got=f"a domain of {domain.describe()}",
        )
    return made


def places_of(domain: Domain, codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far above the low bound the value of each code is; that of a bin is its middle."""
    if domain.kind == "integers":
        return codes.astype(np.float64)
    if domain.kind == "binned":
        edges = np.asarray(domain.edges)
        table = edges[:-1] / 2 + edges[1:] / 2 - edges[0]
    else:
        values = np.asarray(cast("tuple[float, ...]", domain.values), np.float64)
        table = values - values.min()
    return cast("NDArray[np.float64]", table[codes])


def bin_cuts(scale: Scale) -> NDArray[np.float64]:
    r"""Return the inner edges of the bins of ``numbers="bins"``, as distances from the low bound.

    A wide range is cut at :math:`\pm u 10^{j/2}` where :math:`u` is the unit, another one into ten
    equal parts.

    Examples
    --------
    >>> [int(cut) for cut in bin_cuts(Scale(0.0, 20_000.0, 1.0))]
    [1, 3, 10, 31, 100, 316, 1000, 3162, 10000]
    """
    if not scale.is_wide:
        return np.linspace(0, scale.high - scale.low, _BINS + 1)[1:-1]
    largest = max(abs(scale.low), abs(scale.high))
    count = min(_MOST_STEPS, 2 * math.ceil(math.log10(largest / scale.unit)))
    steps = scale.unit * 10.0 ** (np.arange(count) / 2)
    cuts = np.concatenate([-steps[::-1], steps])
    return cuts[(cuts > scale.low) & (cuts < scale.high)] - scale.low


def _signed_log(values: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    return np.copysign(np.log1p(np.abs(values) / unit), values)
