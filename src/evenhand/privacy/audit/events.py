"""Choosing the event that tells two inputs apart best, and bounding how well it does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand.privacy.audit.views import OutputChunk, View, views_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["Event", "Search", "enough_draws", "least_draws", "smallest_overrun", "surely_at_least"]

special = lazy("scipy.special")

POWER = 2.33  # standard deviations: an overrun is seen 99 times in 100
OVERRUN = 0.1
SPARE = 1.2  # the probability of the event is itself estimated
FEWEST, MOST = 1_000_000, 1 << 25  # draws of one input for one half of an audit
CLOSE = 0.01
TINY = 1e-100  # a smaller epsilon asks for as many draws: too many
ROUNDING = 1e-9  # more than what floats lose in a bound


def surely_at_least(hits: Any, misses: Any, draws: int, *, error: float, delta: float = 0.0) -> Array:
    r"""Return a lower bound of :math:`\ln((p_1 - \delta) / p_0)`, wrong with probability `error` at most.

    Each probability has its one-sided Clopper-Pearson bound at half the error, from how often the event
    happened in so many draws of the input that makes it likely (`hits`) and of the other (`misses`).
    """
    hits, misses = np.asarray(hits, dtype=np.float64), np.asarray(misses, dtype=np.float64)
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), draws - hits + 1, error / 2), 0.0)
    high = np.where(
        misses < draws, special.betainccinv(misses + 1, np.maximum(draws - misses, 1), error / 2), 1.0
    )
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(low - delta, 0.0)) - np.log(high) - ROUNDING


@dataclass(frozen=True)
class Event:
    """A set of categories of a view, and which input of the pair makes it more likely."""

    view: View
    codes: tuple[int, ...]
    likely: int
    rare: float
    """How often it happened under the other input when it was chosen."""
    log_ratio: float
    """Logarithm of the ratio of the frequencies when it was chosen."""

    def count(self, chunk: OutputChunk) -> int:
        """Return how many outputs are in it."""
        inside = np.zeros(self.view.size, dtype=bool)
        inside[list(self.codes)] = True
        return int(np.count_nonzero(inside[chunk.codes(self.view)]))

    def words(self) -> str:
        """Say what an output in it is like."""
        return self.view.words(self.codes)


class Search:
    """The first half of an audit: categories are learnt, put into order, and the best event is chosen.

    A first batch of draws suggests the views. A quarter of all draws, that batch included, puts the
    categories of each view in the order of their likelihood ratio; the next quarter says which categories
    from the front of that order make the best event, so that an order found by luck is not mistaken for one.

    Parameters
    ----------
    draw : callable
        ``draw(which, size)`` yields the draws of an input of the pair in chunks.
    batch : int
        How many draws the first batch has.
    error, delta : float
        As in :func:`surely_at_least`.
    together : sequence of str
        As in :func:`~evenhand.privacy.audit.views.views_of`.
    """

    def __init__(
        self,
        draw: Callable[[int, int], Iterator[OutputChunk]],
        batch: int,
        *,
        error: float,
        delta: float,
        together: Sequence[str] = (),
    ) -> None:
        self._draw, self._error, self._delta = draw, error, delta
        first, second = (next(draw(which, batch)) for which in (0, 1))
        self.views = views_of(first, second, together=together)
        self._order = self._count_categories(first, second)
        self._judge = [np.zeros_like(counts) for counts in self._order]
        self._ordered, self._judged = batch, 0

    def extend(self, draws: int) -> None:
        """Go on until there are so many draws of each input."""
        for counts, more in (
            (self._order, draws // 2 - self._ordered),
            (self._judge, draws - draws // 2 - self._judged),
        ):
            for which in (0, 1):
                for chunk in self._draw(which, more):
                    for count, view in zip(counts, self.views, strict=True):
                        count[which] += chunk.counts(view)
        self._ordered, self._judged = draws // 2, draws - draws // 2

    def best(self) -> Event:
        """Return the event with the best bound, or one of a simpler view that is as good to within 1 %."""
        candidates = [
            max(
                (self._best_of(view, order, judge, likely) for likely in (0, 1)),
                key=lambda candidate: candidate[0],
            )
            for view, order, judge in zip(self.views, self._order, self._judge, strict=True)
        ]
        best = max(bound for bound, _ in candidates)
        return next(event for bound, event in candidates if bound >= best - CLOSE * abs(best))

    def _best_of(self, view: View, order: Array, judge: Array, likely: int) -> tuple[float, Event]:
        ratio = (order[likely] + 0.5) / (order[1 - likely] + 0.5)
        codes = np.argsort(-ratio, kind="stable")[:-1]
        hits, misses = (np.cumsum(judge[which][codes]) for which in (likely, 1 - likely))
        bounds = surely_at_least(hits, misses, self._judged, error=self._error, delta=self._delta)
        place = int(np.argmax(bounds))
        rare, often = (
            (int(misses[place]) + 1) / (self._judged + 1),
            (int(hits[place]) + 1) / (self._judged + 1),
        )
        chosen = tuple(codes[: place + 1].tolist())
        return float(bounds[place]), Event(view, chosen, likely, rare, math.log(often / rare))

    def _count_categories(self, *chunks: OutputChunk) -> list[Array]:
        return [np.stack([chunk.counts(view) for chunk in chunks]) for view in self.views]


def enough_draws(epsilon: float, rare: float, error: float) -> int:
    r"""Return how many draws of each input show an overrun of 10 % 99 times in 100.

    .. math:: n q \ge \left( \frac{z (1 + e^{-\varepsilon/2}) + 2.33 \sqrt{1 + e^{-\varepsilon}}}
              {0.1\,\varepsilon} \right)^2

    where :math:`q` is the probability of the event under the input that makes it `rare` and :math:`z` the
    quantile of half the `error`; a fifth more, since :math:`q` is estimated.
    """
    shown = OVERRUN * max(epsilon, TINY)
    return math.ceil(SPARE * (_margin(epsilon, error) / shown) ** 2 / rare)


def smallest_overrun(epsilon: float, rare: float, draws: int, error: float) -> float:
    """Return the share by which a tight mechanism must overrun `epsilon` to be seen 99 times in 100."""
    return _margin(epsilon, error) / (epsilon * math.sqrt(draws * rare))


def least_draws(epsilon: float, error: float, delta: float) -> float:
    """Return how many draws of each input can show more than `epsilon` at all, when every one is a hit."""
    shrunk = math.exp(-epsilon)
    short = (1 - delta) * shrunk / (1 + shrunk)
    return math.log(error / 2) / math.log1p(-short) if short > 0 else math.inf


def _margin(epsilon: float, error: float) -> float:
    z = -float(special.ndtri(error / 2))
    return z * (1 + math.exp(-epsilon / 2)) + POWER * math.sqrt(1 + math.exp(-epsilon))
