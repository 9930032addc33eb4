"""One method, trained on the training rows: a classifier, what it promises, and what bounds its gap.

Training and parity afterwards see different people: a coin for each person, with the share of the task, says
which of the two they go to, whatever is in their rows. One person then touches one of the two, so that each
has the whole epsilon.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Rows(NamedTuple):
    """Rows to learn from or to decide on, each with its group as a place among `groups` of them.

    `people` tells whose row each is, where several of one person may count, at most `rows_per_person`.
    """

    features: NDArray[np.float64]
    target: Labels
    group: NDArray[Any]
    groups: int
    people: NDArray[np.intp] | None = None
    rows_per_person: int = 1


class Learnt(NamedTuple):
    """A classifier that was trained by one method: what it decides about rows, and what is promised.

    `before` and `score` are labels and probabilities before post-processing. `bound` limits the expected gap,
    `bound_95` the gap with 95 %, `noise` is the multiplier of training: NaN where there is none. `trained_on`
    is the number of rows that training goes through, as the accounting counts them.
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

    Local reports come as `rows` that were reported already. `epsilon` is promised in all, None for a method
    without privacy; `source` is of this cell alone.
    """
    model = _classifier(method, rows, task=task, epsilon=epsilon, source=source)
    if method.then == "parity":
        return _with_parity(model, method, rows, task=task, epsilon=epsilon, source=source)
    extra: dict[str, Any] = {"group": rows.group} if method.base == "fermi" else {}
    extra |= {"person": rows.people} if method.needs_accounting else {}
    model.fit(rows.features, rows.target, **extra)
    learnt = _describe(model, task, trained_on=len(rows.target))
    return _with_projection(model, learnt, rows, task=task) if method.then == "projection" else learnt


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


def _describe(model: Any, task: LearnTask, *, trained_on: int) -> Learnt:
    """Return what a trained model decides and promises, with nothing after it."""

    def score(rows: Rows) -> NDArray[np.float64]:
        return np.asarray(model.predict_proba(rows.features))[:, 1]

    noise = float(getattr(model, "noise_", math.nan))
    promised = _guarantee(model, task)
    return Learnt(_labels_of(model), promised, score=score, noise=noise, trained_on=trained_on)


def _labels_of(model: Any, *, by_group: bool = False) -> Callable[[Rows], Labels]:
    def decide(rows: Rows) -> Labels:
        asked = {"group": rows.group} if by_group else {}
        return np.asarray(model.predict(rows.features, **asked)).astype(np.uint8)

    return decide


def _guarantee(model: Any, task: LearnTask) -> Guarantee:
    found = getattr(model, "guarantee_", None)
    return found if isinstance(found, Guarantee) else Guarantee.no_guarantee(unit=task.unit)


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
    learnt = _describe(post.estimator_, task, trained_on=_public_rows(method, rows, task))
    learnt = learnt._replace(
        decide=_labels_of(post, by_group=True), before=learnt.decide, guarantee=_guarantee(post, task)
    )
    if post.bounds_ is None:
        return learnt
    expected, likely = (min(float(each), 1.0) for each in (post.bounds_.expected, post.bounds_.likely))
    return learnt._replace(bound=expected, bound_95=likely)


def _with_projection(model: Any, learnt: Learnt, rows: Rows, *, task: LearnTask) -> Learnt:
    """Project the scores of a private classifier on its own training rows; nothing is promised then."""
    projected = FairProjection(model, tolerance=0.0, prefit=True, public_rows=True)
    projected.fit(rows.features, rows.target, group=rows.group)
    if task.gap:
        with suppress(InvalidParameterError):  # equal mean scores are as near as it comes
            projected = projected.choose(task.gap)
    return learnt._replace(
        decide=_labels_of(projected, by_group=True),
        before=learnt.decide,
        guarantee=Guarantee.no_guarantee(unit=task.unit),
    )
