"""What a projection is given, read and checked. No message holds a label, a score or a number of rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from evenhand._validate import kind_of, refuse
from evenhand.errors import PrivacyWarning
from evenhand.learn.columns import (
    RowGroups,
    encode_row_groups,
    places_among,
    places_among_groups,
    require_length,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SMOOTHING = 1e-4
"""Added to every score before it is projected, as in alghamdi2022: no score is then 0."""

_MOST_CELLS = 2_000


def check_tolerance(value: object, *, owner: str, name: str = "tolerance") -> float:
    """Return a number of at least 0."""
    plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    number = float(value) if plain else -1.0  # type: ignore[arg-type]
    if not 0 <= number < np.inf:
        refuse(name, owner, "a number of at least 0", value)
    return number


def check_classifier(estimator: Any, *, owner: str) -> None:
    """Refuse what gives no probabilities."""
    if isinstance(estimator, type) or not hasattr(estimator, "predict_proba"):
        refuse(
            "estimator",
            owner,
            "a scikit-learn classifier with predict_proba",
            kind_of(estimator),
            hint="CalibratedClassifierCV gives probabilities to a classifier that has none.",
        )


def warn_of_guarantee(estimator: Any, *, owner: str) -> None:
    """Warn if the estimator, or a part of it, promises privacy: what is projected promises none."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    own = [{*dir(type(part)), *getattr(part, "__dict__", ())} for part in parts]
    if any(names & {"guarantee", "guarantee_"} for names in own):
        message = (
            f"{owner} looks at the rows themselves, labels and groups included, so the guarantee of "
            f"{type(estimator).__name__} does not hold for the projected model. Hint: project on public "
            "rows, of an estimator that is fitted already (prefit=True), and say so with public_rows=True."
        )
        warnings.warn(message, PrivacyWarning, stacklevel=3)


def read_scores(scores: Any, n_classes: int, *, owner: str) -> NDArray[np.float64]:
    """Return probabilities as (rows, classes), smoothed so that none is 0."""
    table = np.asarray(scores, dtype=np.float64)
    good = table.ndim == 2 and table.shape[1] == n_classes and bool(np.isfinite(table).all())
    if not good or (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > 1e-3).any():
        refuse(
            "estimator",
            owner,
            "a classifier whose predict_proba gives one probability for each of its classes",
            "something else from its predict_proba",
        )
    table = table + SMOOTHING
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def read_weights(weights: Any, n: int, *, owner: str) -> NDArray[np.float64] | None:
    """Return the weights of `n` rows with a mean of one; None if there are none."""
    if weights is None:
        return None
    try:
        column = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        column = np.empty((0, 0))
    good = column.shape == (n,) and bool(np.isfinite(column).all())
    if not good or (column < 0).any() or not 0 < column.sum() < np.inf:
        refuse("sample_weight", owner, "a number of at least 0 for each row, not zero for all", "others")
    return np.asarray(column * (n / column.sum()))


def check_weighable(estimator: Any, *, owner: str) -> None:
    """Refuse to train an estimator with weights that it would not look at."""
    if not has_fit_parameter(estimator, "sample_weight"):
        refuse(
            "estimator",
            owner,
            "one whose fit takes weights, where 'sample_weight' is given",
            f"a {type(estimator).__name__}",
            hint="fit it yourself, with or without weights, and give it with prefit=True.",
        )


def read_labels(y: Any, n: int, classes: Sequence[Any], *, owner: str) -> NDArray[np.intp]:
    """Return the place of each label among the classes of the estimator."""
    must_be = "labels that are classes of the estimator"
    return places_among(y, classes, name="y", owner=owner, must_be=must_be, rows=n)


def read_groups(group: Any, n: int, *, n_classes: int, owner: str) -> RowGroups:
    """Return the groups of the rows, of which there are at least two."""
    groups = encode_row_groups(group, owner=owner)
    require_length("group", len(groups.codes), n, owner=owner)
    if not 2 <= len(groups.labels) <= _MOST_CELLS // n_classes:
        refuse(
            "group",
            owner,
            f"labels of at least two groups, and of at most {_MOST_CELLS // n_classes:,}",
            "others",
            hint="a column of numbers such as age is not a group: cut it into classes first.",
        )
    return groups


def new_groups(
    group: Any, n: int, known: Sequence[Any], columns: tuple[str, ...] = (), *, owner: str
) -> NDArray[np.intp]:
    """Return the place of each label among the groups that fit has seen; `columns` are those it crossed."""
    return places_among_groups(
        group,
        known,
        owner=owner,
        columns=columns,
        must_be="labels of groups that fit has seen",
        hint="a group without rows when fitting has no price; see groups_ for those that have one.",
        rows=n,
    )


def read_shares(
    shares: Any, n: int, *, n_classes: int, n_groups: int | None, owner: str
) -> NDArray[np.float64]:
    """Return probabilities of the groups, as (rows, groups) or (classes, rows, groups)."""
    table = np.asarray(shares, dtype=np.float64)
    per_class = table.ndim == 3 and table.shape[1] == n_classes
    wide = table.ndim in {2, 3} and (n_groups is None or table.shape[-1] == n_groups)
    if not wide or not (table.ndim == 2 or per_class) or table.shape[-1] < 2:
        refuse(
            "group_proba",
            owner,
            "an array of (rows, groups), or of (rows, classes, groups), with two groups or more",
            "another shape",
        )
    require_length("group_proba", len(table), n, owner=owner)
    good = np.isfinite(table).all() and (table >= 0).all()
    if not good or (np.abs(table.sum(axis=-1) - 1) > 1e-3).any():
        refuse("group_proba", owner, "probabilities that add up to one in each row", "others")
    table = table / table.sum(axis=-1, keepdims=True)
    return np.ascontiguousarray(table if table.ndim == 2 else table.transpose(1, 0, 2))
