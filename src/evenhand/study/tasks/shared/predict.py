"""Labels and scores of rows: what a trained model says, each different row asked once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.study.tasks.shared.models import ModelChoice

_BY_PROBABILITY = ("gradient-boosting", "lightgbm", "random-forest")
_LARGEST_KEY = 2**63 - 1
_TREES_AT_A_TIME = 25  # so many stay in the cache of the processor while the rows go by


def distinct_rows(
    codes: Mapping[str, NDArray[Any]], *, sizes: Mapping[str, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the places of rows that are all different, and for each row which of them it equals.

    Parameters
    ----------
    codes : mapping of str to array
    sizes : mapping of str to int
        How many codes each column has.

    Returns
    -------
    pair of arrays, or None
        Nothing where there are more combinations of codes than 64 bits can number.

    Examples
    --------
    >>> distinct_rows({"a": np.array([1, 0, 1]), "b": np.array([2, 2, 2])}, sizes={"a": 2, "b": 3})
    (array([1, 0]), array([1, 0, 1]))
    """
    if math.prod(sizes[name] for name in codes) > _LARGEST_KEY:
        return None
    key: Any = np.int64(0)
    for name, column in codes.items():
        key = key * sizes[name] + column.astype(np.int64)
    _, places, same = np.unique(key, return_index=True, return_inverse=True)
    return places, same


def predicted(
    model: Any, features: NDArray[Any], *, task: ModelChoice
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return a label for each row, and a score where the model gives probabilities.

    The label of boosted trees and of forests is the more probable class, as their own ``predict`` has it, so
    the trees are gone through once.
    """
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(features)), None
    if task.model == "lightgbm" and _is_plain_boosting(model):
        scores = _boosted_scores(model, features)
        return (scores > 1 / 2).astype(np.uint8), scores
    shares = np.asarray(model.predict_proba(features))
    classes = np.asarray(model.classes_)
    scores = shares[:, int(np.flatnonzero(classes == 1)[0])]
    if isinstance(task.model, str) and task.model in _BY_PROBABILITY:
        return classes[shares.argmax(axis=1)], scores
    return np.asarray(model.predict(features)), scores


def _is_plain_boosting(model: Any) -> bool:
    """Whether the score of a row is the logistic function of a sum over many trees."""
    many = model.n_estimators > _TREES_AT_A_TIME
    return bool(many and model.boosting_type == "gbdt" and model.objective_ == "binary")


def _boosted_scores(model: Any, features: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probabilities of LightGBM's trees, some trees at a time; the last digit may differ."""
    rows = csr_matrix(features)
    total = np.zeros(rows.shape[0])
    for start in range(0, model.n_estimators, _TREES_AT_A_TIME):
        total += model.booster_.predict(
            rows, start_iteration=start, num_iteration=_TREES_AT_A_TIME, raw_score=True, num_threads=1
        )
    return 1 / (1 + np.exp(-total))
