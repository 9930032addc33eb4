"""How private training goes through its rows: random batches, the number of steps, the mean of the last half.

Everything here follows from public numbers and fresh randomness. Which rows are in a batch is secret; how
many steps there are, and what the sums are divided by, is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import integer, refuse
from evenhand.learn.training import descent_kernels as kernels
from evenhand.privacy.accounting import sampling_rate
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Draw = Callable[[tuple[int, ...]], Integers]

USUAL_BATCH = 1024
FEWEST_BATCHES = 4
MOST_STEPS = 10_000_000
_LANES = 64  # rows that a word decides about
_DECIDED_AT_ONCE = 1 << 20  # rows times steps: the decisions stay in the cache
_DRAWN_AT_ONCE = 1 << 15  # numbers of noise


@dataclass(frozen=True)
class Schedule:
    """How many steps there are and how the batch of each is drawn; all of it is public.

    Parameters
    ----------
    rows : int
        The public number of rows.
    batch : int
        The expected size of a batch, which every sum is divided by. The size itself is secret.
    steps : int
        How many batches are drawn.

    Examples
    --------
    >>> schedule = Schedule(rows=32_768, batch=1024, steps=1600)
    >>> schedule.sampling, schedule.first_averaged
    (Fraction(1, 32), 800)
    """

    rows: int
    batch: int
    steps: int

    @property
    def sampling(self) -> Fraction:
        """The chance that a row is in a batch: a multiple of 2**-53, at most `batch` out of `rows`."""
        return sampling_rate(self.batch, self.rows)

    @property
    def first_averaged(self) -> int:
        """The first step, counted from 0, whose result is in the mean of the last half."""
        return self.steps // 2


def plan(rows: int, *, batch: int | None, epochs: int, owner: str) -> Schedule:
    """Return the schedule for a public number of rows.

    Parameters
    ----------
    rows : int
        At least 1.
    batch : int, optional
        At most `rows`. By default 1024, or a quarter of the rows where there are fewer than 4,096.
    epochs : int
        How often a row takes part, about: there are `epochs` times the number of batches that hold all rows.
    owner : str
        Whose parameters these are, for messages.

    Examples
    --------
    >>> plan(33_916, batch=None, epochs=50, owner="example")
    Schedule(rows=33916, batch=1024, steps=1700)
    """
    epochs = integer("epochs", epochs, owner=owner, low=1, high=MOST_STEPS)
    if batch is None:
        size = max(1, min(USUAL_BATCH, rows // FEWEST_BATCHES))
    else:
        size = integer("batch", batch, owner=owner, low=1)
        if size > rows:
            refuse(
                "batch",
                owner,
                "at most the number of rows",
                size,
                hint="leave it out for a quarter of the rows, or 1024 where there are 4,096 or more.",
            )
    steps = epochs * math.ceil(rows / size)
    if steps > MOST_STEPS:
        refuse("epochs", owner, f"such that there are at most {MOST_STEPS:,} steps", epochs)
    return Schedule(rows, size, steps)


def plan_for(model: Any, rows: int, *, owner: str) -> Schedule:
    """Return the schedule of a model's parameters, for the declared number of rows if there is one."""
    if model.rows is not None:
        rows = integer("rows", model.rows, owner=owner, low=1)
    return plan(rows, batch=model.batch, epochs=model.epochs, owner=owner)


def batches(
    schedule: Schedule, rows: int, *, source: Source, progress: Callable[[int, int], object] | None = None
) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each step's batch, in order; a batch may be empty.

    Each row joins each batch with probability exactly ``schedule.sampling``, whatever the others do (Poisson
    sampling). Rows that are shuffled and cut into pieces would not be covered by the accounting.

    Parameters
    ----------
    schedule : Schedule
        The public numbers.
    rows : int
        How many rows there really are, which is private where ``schedule.rows`` was declared.
    source : Source
        Where the randomness comes from.
    progress : callable, optional
        Called with the number of steps done and of all steps, from time to time and at the end.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> drawn = list(batches(Schedule(rows=8, batch=2, steps=3), 8, source=SeededSource(7)))
    >>> len(drawn)
    3
    """
    halvings, below = _split_halvings(schedule.sampling)
    width = -(-rows // _LANES)
    room = np.empty(rows, dtype=np.int64)
    at_once = max(1, _DECIDED_AT_ONCE // max(1, rows))
    told_every = max(1, _DECIDED_AT_ONCE // schedule.rows)  # `at_once` would tell the private number
    for first in range(0, schedule.steps, at_once):
        words = np.empty((min(at_once, schedule.steps - first), width), dtype=np.uint64)
        cost = halvings + (_LANES * 0.5**halvings if below else 0)
        feed(kernels.sampled_words, words.reshape(-1), (halvings, below), source, units=np.uint64, words=cost)
        for done, joined in enumerate(words, first + 1):
            yield room[: kernels.members(joined, rows, room)].copy()
            if progress is not None and (done % told_every == 0 or done == schedule.steps):
                progress(done, schedule.steps)


def _split_halvings(sampling: Fraction) -> tuple[int, np.uint64]:
    """Return how often one half goes into the probability, and what is left in units of 2**-64.

    What is left is above one half and at most 1; 1 is written as 0.
    """
    halvings = 0
    while sampling <= Fraction(1, 2):
        sampling, halvings = 2 * sampling, halvings + 1
    left = sampling * 2**64  # a whole number: the probability is a multiple of 2**-53
    return halvings, np.uint64(int(left) % 2**64)


def noises(draw: Draw, shape: tuple[int, ...], steps: int) -> Iterator[Integers]:
    """Yield the noise of each step, drawn for many steps at once, which is quicker.

    Parameters
    ----------
    draw : callable
        Returns whole numbers of noise in the shape that it is given.
    shape : tuple of int
        The shape of one step's noise.
    steps : int
        How many there are.
    """
    at_once = max(1, _DRAWN_AT_ONCE // math.prod(shape))
    for first in range(0, steps, at_once):
        yield from draw((min(at_once, steps - first), *shape))


class TailMean:
    """The mean of what the last half of the steps came to, which is less noisy than the last of them.

    Parameters
    ----------
    schedule : Schedule
        Says which steps count.
    start : array
        What stands before the first step.

    Examples
    --------
    >>> mean = TailMean(Schedule(rows=4, batch=1, steps=4), np.zeros(1))
    >>> for value in (9.0, 9.0, 1.0, 2.0):
    ...     mean.add(np.array([value]))
    >>> mean.value
    array([1.5])
    """

    def __init__(self, schedule: Schedule, start: Floats) -> None:
        self._first = schedule.first_averaged
        self._seen = 0
        self._total = np.zeros_like(start)

    def add(self, value: Floats) -> None:
        """Take in the result of the next step."""
        if self._seen >= self._first:
            self._total += value
        self._seen += 1

    @property
    def value(self) -> Floats:
        """The mean so far."""
        return np.asarray(self._total / max(1, self._seen - self._first))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Private rows, as the kernel takes them.

    Parameters
    ----------
    features : array of (rows, columns)
        Finite floats, row by row.
    labels : array of int
        The place of each row's class.
    lengths : array
        The Euclidean length of each row, with the constant.
    """

    features: Floats
    labels: Integers
    lengths: Floats

    @classmethod
    def of(cls, features: Floats, labels: Integers, *, constant: bool) -> TrainingRows:
        """Compute the lengths, of rows with a constant 1 or without."""
        squares = np.einsum("ij,ij->i", features, features)
        return cls(features, labels, np.sqrt(squares + 1.0 if constant else squares))


@dataclass(frozen=True)
class Steps:
    """The public settings of the steps.

    Parameters
    ----------
    clip : float
        The largest length of a row's gradient.
    reach : int
        How many steps of the grid that is.
    rate : float
        How far a step goes.
    average : bool
        Whether the mean of the last half is returned, or where the last step ends.
    """

    clip: float
    reach: int
    rate: float
    average: bool = True


def descend(
    rows: TrainingRows,
    start: Floats,
    drawn: Iterable[Integers],
    noise: Iterable[Integers],
    settings: Steps,
    *,
    schedule: Schedule,
) -> Floats:
    """Return the weights after all steps: clipped sums plus noise, divided by a constant.

    Sum and noise are whole numbers, added as such; floats come after. A step on an empty batch is made of
    noise alone.

    Parameters
    ----------
    rows : TrainingRows
        The private rows.
    start : array of (answers, columns) or (answers, columns + 1)
        The weights before the first step.
    drawn : iterable of arrays of int
        The rows of each step's batch, from :func:`batches`.
    noise : iterable of arrays of int
        The noise of each step in steps of the grid, from :func:`noises`.
    settings : Steps
        Public settings.
    schedule : Schedule
        Public numbers.
    """
    weights, mean = start.astype(np.float64), TailMean(schedule, start)
    errors, room = np.empty(len(start)), np.empty(start.shape, dtype=np.int32)
    move = settings.rate * settings.clip / settings.reach / schedule.batch
    for batch, total in zip(drawn, noise, strict=True):
        kernels.add_gradients(
            rows.features, rows.lengths, rows.labels, batch, weights,
            settings.clip, settings.reach, errors, room, total,
        )  # fmt: skip
        weights -= move * total
        mean.add(weights)
    return mean.value if settings.average else weights
