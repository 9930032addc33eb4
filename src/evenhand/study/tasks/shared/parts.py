"""Draw which rows train and which test, alike for every setting of a repeat, and how long a step takes."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Rows = NDArray[np.intp]


def parts(
    target: NDArray[Any],
    *,
    test: float,
    seed: int,
    folds: int | None = None,
    people: NDArray[np.intp] | None = None,
) -> list[tuple[Rows, Rows]]:
    """Return pairs of training and test rows, stratified by the target: one, or one for each fold.

    Where it is told whose row each is, nobody whose rows train is tested; for folds that is not built.

    >>> target = np.array([0, 1] * 10)
    >>> [(train, test)] = parts(target, test=0.2, seed=0)
    >>> len(train), len(test), int(target[test].sum())
    (16, 4, 2)
    >>> [len(test) for train, test in parts(target, test=0.2, folds=5, seed=0)]
    [4, 4, 4, 4, 4]
    """
    from sklearn.model_selection import StratifiedKFold, train_test_split  # noqa: PLC0415 - slow to import

    if people is not None:
        persons, person = np.unique(people, return_inverse=True)
        [(_, tested)] = parts(hopeful_people(target, people), test=test, seed=seed)
        is_tested = np.isin(np.arange(len(persons)), tested)[person]
        return [(np.flatnonzero(~is_tested), np.flatnonzero(is_tested))]
    rows = np.arange(len(target))
    if folds is not None:
        split = StratifiedKFold(folds, shuffle=True, random_state=seed).split(rows, target)
        return [(train, tested) for train, tested in split]
    train, tested = train_test_split(rows, test_size=test, stratify=target, random_state=seed)
    return [(train, tested)]


def hopeful_people(target: NDArray[Any], people: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return for each person whether a row of theirs has the positive outcome.

    >>> hopeful_people(np.array([0, 1, 0, 0]), np.array([4, 4, 9, 9]))
    array([1, 0], dtype=uint8)
    """
    _, person = np.unique(people, return_inverse=True)
    return (np.bincount(person, weights=target) > 0).astype(np.uint8)


def overlap_of(test: float, folds: int | None = None) -> float:
    r"""Return test rows per training row of one repeat.

    With :math:`k` folds a repeat is the mean of :math:`k` tests. The correction for overlap holds for single
    tests, whose variance is :math:`k` times that of a repeat, so that it is :math:`k / (k - 1)`.

    >>> overlap_of(0.2), overlap_of(0.2, folds=5)
    (0.25, 1.25)
    """
    return test / (1 - test) if folds is None else folds / (folds - 1)


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the CPU time of a block to that of a step."""
    start = time.process_time()
    try:
        yield
    finally:
        seconds[step] += time.process_time() - start
