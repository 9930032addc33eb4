"""Sorting outputs into few categories, and choosing the event that tells two inputs apart best.

The categories are learnt from a first batch of draws; how well the event does is bounded.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evenhand._lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]

special = lazy("scipy.special")

MOST_VALUES = 256  # told apart in one column; the rest is one category
BINS = 64
SHOWN = 4  # values written out in the words for an event
ALWAYS, ALONE, SCORED = 3, 8, 32  # columns looked at always, alone if they tell, in the score if they tell
TELLING = 4.0  # standard deviations
POWER = 2.33  # standard deviations: an overrun is seen 99 times in 100
OVERRUN = 0.1
SPARE = 1.2  # the probability of the event is itself estimated
FEWEST, MOST = 1_000_000, 1 << 25  # draws of one input for one half of an audit
CLOSE = 0.01
TINY = 1e-100  # a smaller epsilon asks for as many draws: too many
ROUNDING = 1e-9  # more than what floats lose in a bound


class View(Protocol):
    """A way to sort outputs into categories 0 to ``size - 1``."""

    @property
    def size(self) -> int:
        """Number of categories."""

    def encode(self, chunk: OutputChunk) -> Array:
        """Return the category of each output."""

    def words(self, codes: Sequence[int]) -> str:
        """Say that an output is in one of the categories."""


class OutputChunk:
    """The columns of some outputs, and their categories under the views that were asked for."""

    def __init__(self, columns: dict[str, Array]) -> None:
        self.columns = columns
        self._codes: dict[int, Array] = {}

    def codes(self, view: View) -> Array:
        """Return the category of each output under a view, worked out once."""
        if id(view) not in self._codes:
            self._codes[id(view)] = view.encode(self)
        return self._codes[id(view)]

    def counts(self, view: View) -> Array:
        """Return how many outputs are in each category."""
        return np.bincount(self.codes(view), minlength=view.size)


@dataclass(frozen=True, eq=False)
class Values:
    """The values themselves, and one category for every other value."""

    column: str
    known: Array

    @property
    def size(self) -> int:
        """Number of categories."""
        return len(self.known) + 1

    def encode(self, chunk: OutputChunk) -> Array:
        """Return the category of each output."""
        return self.of(chunk.columns[self.column])

    def of(self, values: Array) -> Array:
        """Return the place of each value among the known ones."""
        if not _ordered_alike(self.known.dtype, values.dtype):
            codes = {value: code for code, value in enumerate(_objects(self.known))}
            looked_up = (codes.get(value, len(codes)) for value in _objects(values))
            return np.fromiter(looked_up, dtype=np.int64, count=len(values))
        if values.dtype.kind in "bu" and values.dtype.itemsize == 1 and self.known.dtype == values.dtype:
            table = np.full(256, len(self.known), dtype=np.int64)
            table[self.known.astype(np.uint8)] = np.arange(len(self.known))
            return table[values.view(np.uint8)]
        places = np.minimum(np.searchsorted(self.known, values), len(self.known) - 1)
        nearest = self.known[places]
        same = nearest == values
        if values.dtype.kind == "f":
            same |= np.isnan(nearest) & np.isnan(values)
        return np.where(same, places, len(self.known))

    def words(self, codes: Sequence[int]) -> str:
        """Say that an output is in one of the categories."""
        named = [f"{self.known[code]!s}" for code in sorted(codes) if code < len(self.known)]
        if len(named) < len(codes) and len(self.known) - len(named) <= SHOWN:  # fewer are left out
            left = [str(value) for code, value in enumerate(self.known) if code not in codes]
            return f"{self.column} is not {_join_names(left)}"
        others = ["some other value"] if len(named) < len(codes) else []
        return f"{self.column} is {_join_names(named + others)}"


@dataclass(frozen=True, eq=False)
class Bins:
    """Intervals between quantiles; a value that is frequent has one of its own, and so has 'not a number'."""

    column: str
    edges: Array

    @property
    def size(self) -> int:
        """Number of categories."""
        return len(self.edges) + 2

    def encode(self, chunk: OutputChunk) -> Array:
        """Return the category of each output."""
        return self.of(chunk.columns[self.column])

    def of(self, values: Array) -> Array:
        """Return which interval each value is in."""
        numbers = _numbers(values)
        return np.where(np.isnan(numbers), self.size - 1, np.searchsorted(self.edges, numbers, side="right"))

    def words(self, codes: Sequence[int]) -> str:
        """Say that an output is in one of the categories."""
        runs, last = [], self.size - 2  # the last interval; what follows is not a number
        finite = (code for code in sorted(codes) if code <= last)
        for _, run in itertools.groupby(enumerate(finite), lambda pair: pair[1] - pair[0]):
            inside = [code for _, code in run]
            runs.append(self._interval(inside[0], inside[-1]))
        runs += ["not a number"] * (last + 1 in codes)
        return f"{self.column} is {_join_names(runs)}"

    def _interval(self, first: int, last: int) -> str:
        low = f"at least {self.edges[first - 1]:.6g}" if first else ""
        high = f"below {self.edges[last]:.6g}" if last < len(self.edges) else ""
        return f"{low} and {high}" if low and high else low or high or "any number"


@dataclass(frozen=True, eq=False)
class Derived:
    """The categories of one value that is computed from several columns."""

    compute: Callable[[OutputChunk], Array]
    inner: Values | Bins

    @property
    def size(self) -> int:
        """Number of categories."""
        return self.inner.size

    def encode(self, chunk: OutputChunk) -> Array:
        """Return the category of each output."""
        return self.inner.of(self.compute(chunk))

    def words(self, codes: Sequence[int]) -> str:
        """Say that an output is in one of the categories."""
        return self.inner.words(codes)


@dataclass(frozen=True, eq=False)
class Together(Derived):
    """The categories of several columns at once."""

    inner: Values
    parts: tuple[Values | Bins, ...]

    @classmethod
    def of(cls, parts: tuple[Values | Bins, ...], first: OutputChunk, second: OutputChunk) -> Together:
        """Learn which combinations there are."""

        def combine(chunk: OutputChunk) -> Array:
            total = np.zeros((), dtype=np.int64)
            for part in parts:
                total = total * part.size + chunk.codes(part)
            return total

        return cls(combine, _values("", combine(first), combine(second)), parts)

    def words(self, codes: Sequence[int]) -> str:
        """Say that an output is in one of the categories."""
        named = [self._combination_words(code) for code in codes if code < len(self.inner.known)]
        others = ["another combination"] if len(named) < len(codes) else []
        return _join_names(named + others, gap="; or ", last="; or ")

    def _combination_words(self, code: int) -> str:
        words, combination = [], int(self.inner.known[code])
        for part in reversed(self.parts):
            combination, place = divmod(combination, part.size)
            words.append(part.words([place]))
        return " and ".join(reversed(words))


def _learn_score(parts: tuple[Values | Bins, ...], first: OutputChunk, second: OutputChunk) -> Derived:
    """Return the view of the sum of the columns' log likelihood ratios, as if they were independent.

    What may well be chance gets no weight.
    """
    weights = []
    for part in parts:
        ours, theirs = first.counts(part), second.counts(part)
        ratio = np.log((ours + 0.5) / (theirs + 0.5))
        weights.append(np.where(np.abs(ours - theirs) > 2 * np.sqrt(ours + theirs), ratio, 0.0).round(9))

    def score(chunk: OutputChunk) -> Array:
        total: Array = np.zeros((), dtype=np.float64)
        for part, weight in zip(parts, weights, strict=True):
            total = total + weight[chunk.codes(part)]
        return np.round(total, 6)

    return Derived(score, _encoders("the score of all columns", score(first), score(second))[-1])


def views_of(first: OutputChunk, second: OutputChunk, *, together: Sequence[str] = ()) -> list[View]:
    """Return the views that a first batch of draws under both inputs suggests.

    Columns that differ between the inputs are looked at alone, in pairs, all together, and through their
    score; the simplest come first.

    Parameters
    ----------
    together : sequence of str
        Columns to be looked at together in any case.
    """
    encoders = {name: _encoders(name, values, second.columns[name]) for name, values in first.columns.items()}
    differences = {
        name: max(_difference(view, first, second) for view in views) for name, views in encoders.items()
    }
    ranked = sorted(differences, key=lambda name: -differences[name])
    kept = [name for place, name in enumerate(ranked) if place < ALWAYS or differences[name] > TELLING][
        :SCORED
    ]
    groups = [tuple(together), *itertools.combinations(kept[:ALWAYS], 2), tuple(kept)]
    combined: list[View] = []
    for group in dict.fromkeys(tuple(sorted(group)) for group in groups if len(group) > 1):
        parts = tuple(encoders[name][0] for name in group)
        if math.prod(part.size for part in parts) < 1 << 62:
            combined.append(Together.of(parts, first, second))
    if len(kept) > 1:
        combined.append(_learn_score(tuple(encoders[name][-1] for name in kept), first, second))
    alone = [view for name in kept[:ALONE] for view in encoders[name]]
    return [*sorted(alone, key=lambda view: view.size), *combined]


def _difference(view: View, first: OutputChunk, second: OutputChunk) -> float:
    """Return by how many standard deviations the categories differ between the inputs."""
    ours, theirs = first.counts(view), second.counts(view)
    seen = ours + theirs > 0
    free = max(1, int(seen.sum()) - 1)
    distance = ((ours - theirs)[seen] ** 2 / (ours + theirs)[seen]).sum()
    return float((distance - free) / math.sqrt(2 * free))


def _encoders(name: str, ours: Array, theirs: Array) -> list[Values | Bins]:
    """Return one view of the values and, for many different numbers, one of intervals."""
    exact = _values(name, ours, theirs)
    if len(exact.known) < MOST_VALUES - 1 or ours.dtype.itemsize == 1 or ours.dtype.kind not in "iuf":
        return [exact]
    numbers = np.concatenate((ours, theirs)).astype(np.float64)
    numbers = np.sort(numbers[~np.isnan(numbers)])
    places = np.linspace(0, numbers.size - 1, BINS + 1).astype(np.int64)[1:]
    cuts, times = np.unique(numbers[places], return_counts=True)
    frequent = np.nextafter(cuts[times > 1], np.inf)
    return [exact, Bins(name, np.union1d(cuts, frequent))]


def _values(name: str, ours: Array, theirs: Array) -> Values:
    """Return a view of the values, of those that differ most in frequency if there are many."""
    both = np.concatenate((ours, theirs))
    if both.dtype == object:
        places: dict[Any, int] = {}
        inverse = np.array(
            [places.setdefault(value, len(places)) for value in _objects(both)], dtype=np.int64
        )
        known = np.empty(len(places), dtype=object)
        known[:] = list(places)
    else:
        known, inverse = np.unique(both, return_inverse=True)
    if len(known) > MOST_VALUES:
        counts = [
            np.bincount(part, minlength=len(known)) for part in (inverse[: len(ours)], inverse[len(ours) :])
        ]
        differ = np.abs(counts[0] - counts[1]) / np.sqrt(counts[0] + counts[1])
        known = known[np.sort(np.argsort(-differ, kind="stable")[: MOST_VALUES - 1])]
    return Values(name, known)


def _ordered_alike(known: np.dtype[Any], given: np.dtype[Any]) -> bool:
    """Return whether values of both types can be compared in an array without loss."""
    if "O" in (known.kind, given.kind):
        return False
    both = np.result_type(known, given)
    return both.kind != "f" or "f" in (known.kind, given.kind)


def _objects(values: Array) -> list[Any]:
    """Return single values; all that are not a number are one."""
    return [
        math.nan if isinstance(value, float) and math.isnan(value) else value for value in values.tolist()
    ]


def _numbers(values: Array) -> Array:
    """Return floats; what is no number among objects becomes 'not a number'."""
    if values.dtype != object:
        return values.astype(np.float64)
    return np.array([_number(value) for value in values.tolist()], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1)


def _join_names(names: Sequence[str], *, gap: str = ", ", last: str = " or ") -> str:
    if len(names) > SHOWN:
        return gap.join(names[:SHOWN]) + f"{last}one of {len(names) - SHOWN} more"
    return last.join([gap.join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


# --- events -----------------------------------------------------------------------------------------


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
        As in :func:`views_of`.
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
