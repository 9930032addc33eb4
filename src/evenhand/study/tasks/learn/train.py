"""One method, trained on the training rows: a classifier, what it promises, and what bounds its gap.

Training and parity afterwards see different people: a coin for each person, with the share of the task, says
which of the two they go to, whatever is in their rows. One person then touches one of the two, so that each
has the whole epsilon.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from evenhand.errors import InvalidParameterError, PlanError
from evenhand.learn.fermi.classifier import DPFermi
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.learn.projection.classifier import FairProjection
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy.guarantees.guarantee import Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import SeededSource
    from evenhand.study.tasks.learn.methods import Method
    from evenhand.study.tasks.learn.task import LearnTask

    Labels = NDArray[np.uint8]

_MOST_ROUNDS = 1_000
_SMALL_EPSILON = 0.5  # below which the usual part for the shares of groups would be a large part of it
_FEW_ROWS = (
    "The plan field 'schema.roles.protected' names a column of which a group has too few rows for parity: "
    "none is among those that rates are counted in. Hint: join small groups by 'pool_below', use more rows, "
    "or leave 'plain+parity' out of the methods."
)
_FEW_FEATURES = 400  # up to which a step that inverts a matrix is quicker than many without


@dataclass(frozen=True)
class Rows:
    """Rows to learn from or to decide on.

    Parameters
    ----------
    features : array of (rows, features)
    target : array of 0 and 1
    group : array
        Each row's group, as a place among `groups`.
    groups : int
        How many there are, which is public.
    people : array, optional
        Whose row each is, where several rows of one person may count.
    rows_per_person : int
        How many of them.
    """

    features: NDArray[np.float64]
    target: Labels
    group: NDArray[Any]
    groups: int
    people: NDArray[np.intp] | None = None
    rows_per_person: int = 1


@dataclass(frozen=True)
class Learnt:
    """A classifier that was trained by one method.

    Parameters
    ----------
    decide : callable
        From rows to decisions.
    before : callable, optional
        From rows to what the classifier says before post-processing.
    score : callable, optional
        From rows to the probabilities of the classifier, before post-processing.
    guarantee : Guarantee
        What is promised to one person.
    bound, bound_95 : float
        On the expected gap and on the gap with 95 %; NaN where there is none.
    noise : float
        The noise multiplier of training; NaN where none is added.
    trained_on : int
        Rows that training goes through, as the accounting counts them.
    """

    decide: Callable[[Rows], Labels]
    guarantee: Guarantee
    before: Callable[[Rows], Labels] | None = None
    score: Callable[[Rows], NDArray[np.float64]] | None = None
    bound: float = math.nan
    bound_95: float = math.nan
    noise: float = math.nan
    trained_on: int = 0


def plain_classifier(width: int) -> Any:
    """Return logistic regression for so many features, not trained yet, with nothing private about it."""
    solver = "newton-cholesky" if width <= _FEW_FEATURES else "lbfgs"
    return LogisticRegression(solver=solver, max_iter=_MOST_ROUNDS)


def train(
    method: Method, rows: Rows, *, task: LearnTask, epsilon: Fraction | None, source: SeededSource
) -> Learnt:
    """Train a classifier by one method. The same arguments give the same classifier.

    Parameters
    ----------
    method : Method
        Of those whose rows are as they are; local reports come as `rows` that were reported already.
    rows : Rows
        The training rows.
    task : LearnTask
    epsilon : Fraction, optional
        What is promised in all; None for a method without privacy.
    source : SeededSource
        Of this cell alone.
    """
    model = _classifier(method, rows, task=task, epsilon=epsilon, source=source)
    if method.then == "parity":
        return _with_parity(model, method, rows, task=task, epsilon=epsilon, source=source)
    _fit(model, method, rows)
    if method.then == "projection":
        return _with_projection(model, rows, task=task)
    return Learnt(
        _labels_of(model),
        _guarantee(model, task),
        score=_scores_of(model),
        noise=_noise(model),
        trained_on=len(rows.target),
    )


# --- what is trained ------------------------------------------------------------------------------


def _classifier(
    method: Method, rows: Rows, *, task: LearnTask, epsilon: Fraction | None, source: SeededSource
) -> Any:
    """Return the classifier of a method, not trained yet."""
    if not method.needs_accounting or epsilon is None:
        return plain_classifier(rows.features.shape[1])
    settings: dict[str, Any] = {
        "epsilon": float(epsilon),
        "delta": float(task.delta),
        "unit": task.unit,
        "rows_per_person": rows.rows_per_person,
        "rows": _public_rows(method, rows, task),
        "classes": [0, 1],
        "rng": source.for_cell("train"),
    }
    settings |= {} if task.epochs is None else {"epochs": task.epochs}
    if method.base == "dp":
        return DPLogisticRegression(**settings)
    settings |= {} if task.strength is None else {"strength": task.strength}
    settings |= {"group_epsilon": epsilon / 10} if epsilon < _SMALL_EPSILON else {}
    return DPFermi(groups=list(range(rows.groups)), **settings)


def _public_rows(method: Method, rows: Rows, task: LearnTask) -> int:
    """Return how many rows the accounting counts, which is public: those that are expected to train."""
    everybody = len(rows.target)
    return max(1, round(everybody * (1 - task.holdout))) if method.then == "parity" else everybody


def _fit(model: Any, method: Method, rows: Rows) -> None:
    extra: dict[str, Any] = {"group": rows.group} if method.base == "fermi" else {}
    extra |= {"person": rows.people} if method.needs_accounting else {}
    model.fit(rows.features, rows.target, **extra)


def _labels_of(model: Any) -> Callable[[Rows], Labels]:
    def decide(rows: Rows) -> Labels:
        return np.asarray(model.predict(rows.features)).astype(np.uint8)

    return decide


def _scores_of(model: Any) -> Callable[[Rows], NDArray[np.float64]]:
    def score(rows: Rows) -> NDArray[np.float64]:
        return np.asarray(model.predict_proba(rows.features))[:, 1]

    return score


# --- what follows ---------------------------------------------------------------------------------


def _with_parity(
    model: Any, method: Method, rows: Rows, *, task: LearnTask, epsilon: Fraction | None, source: SeededSource
) -> Learnt:
    post = ParityPostProcessor(
        model,
        gap=task.gap,
        epsilon=None if epsilon is None else float(epsilon),
        prefit=False,
        holdout=task.holdout,
        unit=task.unit,
        rows_per_person=rows.rows_per_person,
        groups=list(range(rows.groups)),
        rng=source.for_cell("parity"),
    )
    try:
        post.fit(rows.features, rows.target, group=rows.group, person=rows.people)
    except InvalidParameterError as error:
        if method.takes_epsilon or error.parameter != "group":
            raise
        raise PlanError(_FEW_ROWS, field="schema.roles.protected") from None

    def decide(asked: Rows) -> Labels:
        return np.asarray(post.predict(asked.features, group=asked.group)).astype(np.uint8)

    return Learnt(
        decide,
        _guarantee(post, task),
        before=_labels_of(post.estimator_),
        score=_scores_of(post.estimator_),
        bound=_bound(post, "expected"),
        bound_95=_bound(post, "likely"),
        noise=_noise(post.estimator_),
        trained_on=_public_rows(method, rows, task),
    )


def _with_projection(model: Any, rows: Rows, *, task: LearnTask) -> Learnt:
    """Project the scores of a private classifier on its own training rows; nothing is promised then."""
    projected = FairProjection(model, tolerance=0.0, prefit=True, public_rows=True)
    projected.fit(rows.features, rows.target, group=rows.group)
    if task.gap:
        with suppress(InvalidParameterError):  # equal mean scores are as near as it comes
            projected = projected.choose(task.gap)

    def decide(asked: Rows) -> Labels:
        return np.asarray(projected.predict(asked.features, group=asked.group)).astype(np.uint8)

    return Learnt(
        decide,
        Guarantee.no_guarantee(unit=task.unit),
        before=_labels_of(model),
        score=_scores_of(model),
        noise=_noise(model),
        trained_on=len(rows.target),
    )


# --- what is promised -----------------------------------------------------------------------------


def _guarantee(model: Any, task: LearnTask) -> Guarantee:
    found = getattr(model, "guarantee_", None)
    return found if isinstance(found, Guarantee) else Guarantee.no_guarantee(unit=task.unit)


def _bound(post: Any, name: str) -> float:
    return math.nan if post.bounds_ is None else min(float(getattr(post.bounds_, name)), 1.0)


def _noise(model: Any) -> float:
    return float(getattr(model, "noise_", math.nan))
