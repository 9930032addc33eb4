"""The combination of several attributes reported as one value, by the fairest channel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from evenhand._validate import integer
from evenhand.collect.joint.product import ProductStrategy
from evenhand.collect.joint.strategy import checked_names
from evenhand.collect.protocols.optimal import Optimal
from evenhand.errors import InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.collect.joint.reports import JointReports

__all__ = ["MOST_PRODUCT_CELLS", "CombinedOptimal", "check_product"]

MOST_PRODUCT_CELLS = 64
"""Most combinations for which an optimal channel is made: it has as many unknowns as their square."""

_OWNER = "CombinedOptimal"
_TOGETHER = "estimate_joint(reports).values summed over the other columns gives the shares of one."


def check_product(sizes: Mapping[str, int]) -> int:
    """Return how many combinations there are, if an optimal channel of them can be made in little time."""
    cells = math.prod(sizes.values())
    if cells > MOST_PRODUCT_CELLS:
        shown = " x ".join(f"{column} ({k:,})" for column, k in list(sizes.items())[:20])
        many = f"{cells:,}" if cells < 10**15 else "too many"
        raise LimitExceededError(
            f"An optimal report of {shown} together has {many} combinations, more than {MOST_PRODUCT_CELLS}. "
            "Hint: the strategy 'independent' reports the protected column by the optimal channel and the "
            "others on their own; 'single' reports the protected column alone.",
            limit="combinations",
        )
    return cells


class _Part(Optimal):
    """What a column's part of the report says on average; how it is mixed up depends on the others."""

    @property
    def channel(self) -> NoReturn:
        """Refuse: a law that holds on average undoes nothing."""
        raise InvalidParameterError(
            "reports",
            owner=_OWNER,
            must_be="undone together, since what a column's part says depends on the other columns",
            got="one column by itself",
            hint=_TOGETHER,
        )


@dataclass(frozen=True, init=False, repr=False)
class CombinedOptimal(ProductStrategy):
    r"""Report the combination of all attributes as one value, by the channel that tells least of an outcome.

    Combinations are numbered in row-major order: the last column changes fastest, as in a C array of shape
    ``(k_1, ..., k_d)``. There may be 64 of them.

    **Guarantee.** That of the channel: pure local differential privacy with its ``epsilon``; unit: one report
    of all columns, also for two people who differ in one attribute alone. Numerics: exact. May be used for
    release.

    Parameters
    ----------
    sizes : mapping of str to int
        How many values each column has.
    product : Optimal
        The channel of the combinations, with a weight and a rate for each of them in row-major order.
    in_clear : sequence of str
        Columns that are sent as they are, for the guarantee.

    Notes
    -----
    What a column's part of the report says depends on the other columns too, so there is no estimate of a
    column by itself: sum :meth:`estimate_joint` over the others. :attr:`protocols` has the law of each part
    on average over people of the channel's weights.

    Examples
    --------
    >>> weights, rates = [0.3, 0.2, 0.3, 0.2], [0.2, 0.3, 0.4, 0.6]
    >>> both = CombinedOptimal({"gender": 2, "union": 2}, Optimal(weights, rates, epsilon=1))
    >>> both.epsilon, both.privatize({"gender": [0, 1], "union": [1, 1]}, rng=7)
    (Fraction(1, 1), <2 joint reports of gender, union, simulated>)
    """

    product: Optimal

    def __init__(self, sizes: Mapping[str, int], product: Optimal, *, in_clear: Sequence[str] = ()) -> None:
        columns = checked_names(sizes, parameter="sizes", owner=_OWNER)
        checked = {each: integer("sizes", sizes[each], owner=_OWNER, low=2) for each in columns}
        cells = check_product(checked)
        if not isinstance(product, Optimal) or product.k != cells or not columns:
            must_be = f"an Optimal of {cells:,} groups, one for each combination"
            got = f"one of {product.k:,}" if isinstance(product, Optimal) else f"a {type(product).__name__}"
            raise InvalidParameterError("product", owner=_OWNER, must_be=must_be, got=got)
        self._set(
            pairs=tuple(checked.items()),
            product=product,
            in_clear=checked_names(in_clear, parameter="in_clear", owner=_OWNER),
        )

    @cached_property
    def _laws(self) -> tuple[Optimal, ...]:
        return tuple(self._law(place) for place in range(len(self.pairs)))

    def _law(self, place: int) -> Optimal:
        """Return what a part of the report says, given the value of its column, on average over the others.

        A mean of rows keeps the ratio of a column's entries, so the law keeps epsilon as the whole does.
        """
        from evenhand.collect.fairest.rounding import dyadic_channel  # noqa: PLC0415 (with the solver)

        k = self.shape[place]
        weights, rates = (self._by_value(each, place) for each in (self.product.weights, self.product.rates))
        totals = weights.sum(axis=1)
        within = np.where(totals[:, None] > 0, weights, 1.0)
        within /= within.sum(axis=1, keepdims=True)
        rows = np.moveaxis(self._parts(place).reshape(*self.shape, k), place, 0).reshape(k, -1, k)
        law = np.einsum("ac,acz->az", within, rows)
        record = {
            "k": k,
            "epsilon": self.epsilon,
            "weights": totals.tolist(),
            "rates": np.clip((within * rates).sum(axis=1), 0, 1).tolist(),
            "kind": "difference",  # under which every rate is possible; the law is given, not solved
            "origin": self.product.origin,
            "law": dyadic_channel(law, self.epsilon),
        }
        return _Part.from_record(record)

    def _by_value(self, numbers: Sequence[float], place: int) -> npt.NDArray[np.float64]:
        """Return one row for each value of a column, one entry for each combination of the others."""
        return np.moveaxis(np.reshape(numbers, self.shape), place, 0).reshape(self.shape[place], -1)

    def _parts(self, place: int) -> npt.NDArray[np.float64]:
        """Return the probability of each value of a part of the report (column) under each combination."""
        whole = self.product.matrix().reshape(-1, *self.shape)
        others = tuple(axis for axis in range(1, len(self.shape) + 1) if axis != place + 1)
        return np.asarray(whole.sum(axis=others))

    def epsilon_within_report(self, column: str) -> Fraction:
        """Return the epsilon of one column when the whole report is seen: all of it, as one draw decides."""
        self._protocol(column)
        return self.epsilon

    def epsilon_if_seen_alone(self, column: str) -> float:
        """Return the epsilon of one column if only this column is seen, whatever the others are.

        This is never a guarantee: whoever gets the report sees the other columns too.
        """
        self._protocol(column)
        parts = self._parts(self.columns.index(column))
        return min(float(self.epsilon), math.log(float((parts.max(axis=0) / parts.min(axis=0)).max())))

    def estimate(self, reports: JointReports) -> NoReturn:
        """Refuse: how a column is mixed up depends on the others, so only all of them can be undone."""
        self.own(reports)
        raise InvalidParameterError(
            "reports",
            owner=f"{_OWNER}.estimate",
            must_be="undone together, since what a column's part says depends on the other columns",
            got="columns one by one",
            hint=_TOGETHER,
        )

    def _row(self, column: str) -> dict[str, str]:
        return super()._row(column) | {"protocol": "Optimal, combined"}

    def __repr__(self) -> str:
        return f"{_OWNER}({dict(self.pairs)!r}, {self.product!r})"
