"""Which rows train and which test: the same for every setting of a repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.tasks.collect.task import Classify
    from evenhand.study.tasks.learn.task import LearnTask
    from evenhand.study.tasks.release.task import ReleaseTask

    Rows = NDArray[np.intp]

__all__ = ["parts"]


def parts(
    task: Classify | ReleaseTask | LearnTask, target: NDArray[Any], *, seed: int
) -> list[tuple[Rows, Rows]]:
    """Return pairs of training and test rows, stratified by the target: one, or one for each fold.

    Examples
    --------
    >>> from evenhand.study import Classify
    >>> target = np.array([0, 1] * 10)
    >>> [(train, test)] = parts(Classify(test=0.2), target, seed=0)
    >>> len(train), len(test), int(target[test].sum())
    (16, 4, 2)
    >>> [len(test) for train, test in parts(Classify(folds=5), target, seed=0)]
    [4, 4, 4, 4, 4]
    """
    from sklearn.model_selection import StratifiedKFold, train_test_split  # noqa: PLC0415 - slow to import

    rows = np.arange(len(target))
    if task.folds is not None:
        folds = StratifiedKFold(task.folds, shuffle=True, random_state=seed)
        return [(train, test) for train, test in folds.split(rows, target)]
    train, test = train_test_split(rows, test_size=task.test, stratify=target, random_state=seed)
    return [(train, test)]
