"""Tell what single releases pay: shares of draws, and the exact chance of a share below zero if known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.clamped_counts import floor_step
from evenhand.decide.allotment.moments import total_not_positive
from evenhand.decide.exact.sampled import apply_steps, shares_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.decide.allotment.allotment import Allotment
    from evenhand.privacy.laws import Law
    from evenhand.privacy.randomness import SeededSource

    Values = NDArray[np.float64]

NEVER = 1e-9
"""A chance of a total of 0 or less that does not count."""


@dataclass(frozen=True, eq=False)
class Payments:
    """The law of what entities are paid in one release, as far as it is known.

    Parameters
    ----------
    draw : callable
        Returns the shares of so many releases, in rows, from a source; NaN in a release without shares.
    below_zero : callable, optional
        Returns the exact chance that the share of each entity is below zero, where they are independent of
        each other; None where that is not known.
    """

    draw: Callable[[int, SeededSource], Values]
    below_zero: Callable[[], Values | None] = lambda: None

    def raise_by(self, extra: Values) -> Payments:
        """Return what releases pay with an amount of 0 or more on top, the same in every release."""

        def below_zero() -> Values | None:
            known = self.below_zero()
            return None if known is None or known.any() else known

        return Payments(lambda rows, source: self.draw(rows, source) + extra, below_zero)


def payments_of(problem: Allotment, counts: NDArray[Any], law: Law, steps: tuple[Any, ...]) -> Payments:
    """Return what releases of noisy counts pay, after steps of post-processing.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> paid = payments_of(Allotment([1, 1]), np.array([2, 90]), DiscreteLaplace(2), ())
    >>> paid.below_zero().round(6)
    array([0.138889, 0.      ])
    """
    return Payments(
        partial(_draw_shares, problem, counts, law, steps),
        partial(_chances_below_zero, problem, counts, law, steps),
    )


def _draw_shares(
    problem: Allotment,
    counts: NDArray[Any],
    law: Law,
    steps: tuple[Any, ...],
    rows: int,
    source: SeededSource,
) -> Values:
    noisy = apply_steps(counts + law.draw(size=(rows, counts.size), source=source), steps, source)
    return shares_of_rows(problem, noisy, 0.0 if steps else problem.shares(counts))[0]


def _chances_below_zero(
    problem: Allotment, counts: NDArray[Any], law: Law, steps: tuple[Any, ...]
) -> Values | None:
    if steps:
        return np.zeros(counts.size) if floor_step(steps, [law]) is not None else None
    if total_not_positive(problem, counts, law)[0] > NEVER:
        return None
    return np.where(problem.weights > 0, law.sf(counts), 0.0)  # noise is as likely below -x as above x
