"""A classifier's scores moved as little as possible until groups are treated alike, exactly."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from evenhand._validate import one_of, refuse
from evenhand.learn.columns import copy_feature_names
from evenhand.learn.projection import inputs
from evenhand.learn.projection.curve import POINTS, Curve, Judge, tolerance_that_meets
from evenhand.learn.projection.problem import DIVERGENCES, KINDS, Problem, ScoredRows, marginals_of
from evenhand.learn.projection.solver import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.learn.projection.problem import Divergence, Kind
    from evenhand.learn.projection.solver import Solution

_OWNER = "FairProjection"
_NOT_KEPT = "_kept"


@dataclass(frozen=True, eq=False)
class _Kept:
    """What fit looked at, so that other tolerances need no new fit. It is left out of a pickle."""

    problem: Problem
    judge: Judge


@dataclass(frozen=True)
class _Made:
    """What the prices were made for. The parameters may be set to something else afterwards."""

    kind: Kind
    divergence: Divergence
    as_printed: bool


class FairProjection(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier whose scores are moved as little as possible until groups are treated alike.

    Given scores :math:`h_i` of the estimator for :math:`n` rows, find the scores :math:`q_i` with

    .. math:: \min_q \frac1n \sum_i D(q_i, h_i) \quad \text{such that for every class } c
              \text{ and group } s \quad
              \Bigl| \frac{\text{mean of } q_c \text{ in group } s}{\text{mean of } q_c} - 1 \Bigr| \le \alpha

    where :math:`\alpha` is `tolerance`; for ``kind="odds"`` the means are over the people of true class
    :math:`c`, as far as the scores tell who they are. The problem is solved exactly, in its dual, and what
    comes out is a price for each group and class: new rows are projected with the same prices, so their
    group must be known, or its probabilities.

    **Guarantee.** None. The prices depend on the rows themselves, with their labels and groups. An estimator
    trained under differential privacy loses its guarantee if it is projected on private rows.

    Parameters
    ----------
    estimator : scikit-learn classifier
        One with ``predict_proba``. A clone of it, `estimator_`, is trained, or it itself
        is used, with `prefit`.
    kind : {"parity", "odds"}, default "parity"
        Statistical parity, or mean equalised odds.
    divergence : {"kl", "ce"}, default "kl"
        What is kept small: :math:`\sum q \ln (q/h)`, or the cross-entropy's :math:`\sum h \ln (h/q)`.
    tolerance : float, default 0
        How far apart means may be, relative to the overall mean. It bounds mean scores, not decisions.
        From `largest_tolerance_` on nothing is changed.
    prefit : bool, default False
        Whether the estimator is fitted already; :meth:`fit` then only projects, on rows of your choice.
    marginals : {"labels", "calibrated"}, default "labels"
        For ``"odds"``: whether the shares of class and group are counted from the labels or summed from the
        scores. With ``"calibrated"`` every tolerance can be met.
    as_printed : bool, default False
        Reproduce the program released with [1]_, with its ridge of :math:`n^{-1/2}` and, for ``"kl"``, a
        linear term that its authors do not mention. The constraints are then not met exactly.
    public_rows : bool, default False
        Say that the rows given to :meth:`fit` are public, so that an estimator keeps the guarantee it has.

    Attributes
    ----------
    estimator_ : estimator
        The trained classifier.
    classes_ : array
        Its classes.
    groups_ : list
        The labels of the groups; of crossed columns, tuples.
    group_columns_ : tuple of str
        The columns that were crossed; none of them if the group was one column.
    prices_ : array of (groups, classes)
        What tilts the scores.
    objective_ : float
        The mean divergence between the projected and the original scores of the rows of :meth:`fit`.
    largest_tolerance_ : float
        The tolerance from which on the scores of those rows stay as they are.

    Notes
    -----
    Scores are first moved to :math:`(h + 10^{-4}) / \sum (h + 10^{-4})`, as in [1]_, so that none is 0.
    The dual has :math:`2 C k` variables for :math:`C` classes and :math:`k` groups, whatever the number of
    rows. [1]_ minimises it by ADMM; here an interior-point method does in some fifteen steps, and a solution
    whose constraints or duality gap are off by :math:`10^{-8}` is refused.

    References
    ----------
    .. [1] Alghamdi, Hsu, Jeong, Wang, Michalak, Asoodeh, Calmon (2022). Beyond Adult and COMPAS: fair
           multi-class prediction via information projection. NeurIPS.

    Examples
    --------
    >>> import evenhand as eh
    >>> from evenhand.learn import FairProjection
    >>> from sklearn.linear_model import LogisticRegression
    >>> people = eh.datasets.load("causal", n=5_000, backend="pandas").frame
    >>> X, y, group = people[["C", "A", "M"]], people["Y"], people["A"]
    >>> model = FairProjection(LogisticRegression(), tolerance=0.05).fit(X, y, group=group)
    >>> scores = model.predict_proba(X, group=group)[:, 1]
    >>> [round(float(scores[group == a].mean() / scores.mean()), 3) for a in (0, 1)]
    [0.95, 1.032]
    """

    private: ClassVar[bool] = False
    """A projection promises nothing about the rows it was made from."""

    def __init__(
        self,
        estimator: Any,
        kind: Kind = "parity",
        divergence: Divergence = "kl",
        tolerance: float = 0.0,
        *,
        prefit: bool = False,
        marginals: str = "labels",
        as_printed: bool = False,
        public_rows: bool = False,
    ) -> None:
        self.estimator = estimator
        self.kind = kind
        self.divergence = divergence
        self.tolerance = tolerance
        self.prefit = prefit
        self.marginals = marginals
        self.as_printed = as_printed
        self.public_rows = public_rows

    # --- fitting ---------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any = None, *, group: Any = None, group_proba: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train the estimator, unless it is fitted already, and project its scores of these rows.

        Parameters
        ----------
        X : whatever the estimator takes
            The features.
        y : array
            The labels. With `prefit` and ``kind="parity"`` they may be left out.
        group : array, or mapping or frame of columns
            The group of each row; labels of any kind. Several columns are crossed: a group is a combination.
        group_proba : array of (rows, groups), or of (rows, classes, groups)
            Instead of `group`, its probabilities given the features, and for ``"odds"`` given the class too.
        sample_weight : array, optional
            For how many rows each counts, at least 0: when training, in the means and in what is counted.
        """
        self.__dict__.pop("prices_", None)  # those of earlier rows are no use with another estimator
        kind = one_of("kind", self.kind, KINDS, owner=_OWNER)
        divergence = one_of("divergence", self.divergence, DIVERGENCES, owner=_OWNER)
        source = one_of("marginals", self.marginals, ("labels", "calibrated"), owner=_OWNER)
        tolerance = inputs.check_tolerance(self.tolerance, owner=_OWNER)
        self._check_given(y, kind, group, group_proba)
        y = column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 else y
        self.estimator_ = self._train_estimator(X, y, sample_weight)
        scores = self._scores(X, place="fit")
        n, n_classes = scores.shape
        owner = f"{_OWNER}.fit"
        weights = inputs.read_weights(sample_weight, n, owner=owner)
        groups: NDArray[Any]
        if group is not None:
            groups, self.groups_, self.group_columns_ = inputs.read_groups(
                group, n, n_classes=n_classes, owner=owner
            )
        else:
            groups = inputs.read_shares(group_proba, n, n_classes=n_classes, n_groups=None, owner=owner)
            self.groups_, self.group_columns_ = list(range(groups.shape[-1])), ()
        labels = None if y is None else inputs.read_labels(y, n, self.classes_.tolist(), owner=owner)
        k = len(self.groups_)
        calibrated = kind == "odds" and source == "calibrated"
        classes = scores if calibrated or labels is None else np.eye(n_classes)[labels]
        counted = classes if weights is None else classes * weights[:, None]
        rows = ScoredRows(scores, groups, k, kind, weights)
        problem = Problem.of(rows, divergence, marginals=_shares(marginals_of(counted, groups, k), kind))
        self._kept = _Kept(problem, Judge(rows, labels, groups, kind, weights))
        self._made = _Made(kind, divergence, bool(self.as_printed))
        self.largest_tolerance_ = problem.largest_tolerance()
        return self._take(self._solve(tolerance))

    def _check_given(self, y: Any, kind: str, group: Any, group_proba: Any) -> None:
        inputs.check_classifier(self.estimator, owner=_OWNER)
        if y is None and not (self.prefit and kind == "parity"):
            refuse(
                "y",
                f"{_OWNER}.fit",
                "an array of labels",
                None,
                hint="this FairProjection requires y to be passed, but the target y is None.",
            )
        _one_of_two(group, group_proba, owner=f"{_OWNER}.fit")

    def _train_estimator(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if y is not None:
            check_classification_targets(y)
        if self.prefit:
            check_is_fitted(self.estimator)
            trained = copy.deepcopy(self.estimator)  # whoever fits it again does not change this one
        elif sample_weight is None:
            trained = clone(self.estimator).fit(X, y)
        else:
            inputs.check_weighable(self.estimator, owner=_OWNER)
            inputs.read_weights(sample_weight, len(np.asarray(y)), owner=f"{_OWNER}.fit")
            trained = clone(self.estimator).fit(X, y, sample_weight=sample_weight)
        if not self.public_rows:
            inputs.warn_of_guarantee(trained, owner=_OWNER)
        copy_feature_names(trained, self)
        self.classes_ = np.asarray(trained.classes_)
        return trained

    def _solve(self, tolerance: float) -> Solution:
        kept = self._rows_of_fit()
        printed = {"ridge": kept.problem.rows.n**-0.5, "stray": self._made.divergence == "kl"}
        return solve(kept.problem, tolerance, **(printed if self._made.as_printed else {}))

    def _take(self, solution: Solution) -> Self:
        self.prices_, self.objective_ = solution.prices, solution.objective
        return self

    # --- projecting ------------------------------------------------------------------------------

    def predict_proba(self, X: Any, *, group: Any = None, group_proba: Any = None) -> NDArray[np.float64]:
        """Return the projected probabilities of the classes."""
        rows, _ = self._rows(X, group, group_proba, place="predict_proba")
        return rows.tilted(self.prices_, self._made.divergence)

    def predict(self, X: Any, *, group: Any = None, group_proba: Any = None) -> NDArray[Any]:
        """Return the class with the largest projected probability; of two equal ones, the first."""
        rows, _ = self._rows(X, group, group_proba, place="predict")
        places = rows.tilted(self.prices_, self._made.divergence).argmax(axis=1)
        return np.asarray(self.classes_[places])

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None, group_proba: Any = None
    ) -> float:
        """Return the accuracy of the decisions."""
        decided = self.predict(X, group=group, group_proba=group_proba)
        return float(accuracy_score(y, decided, sample_weight=sample_weight))

    def _rows(self, X: Any, group: Any, group_proba: Any, *, place: str) -> tuple[ScoredRows, NDArray[Any]]:
        check_is_fitted(self)
        owner = f"{_OWNER}.{place}"
        _one_of_two(group, group_proba, owner=owner)
        scores = self._scores(X, place=place)
        n, n_classes = scores.shape
        k = len(self.groups_)
        groups: NDArray[Any]
        if group is not None:
            groups = inputs.new_groups(group, n, self.groups_, self.group_columns_, owner=owner)
        else:
            groups = inputs.read_shares(group_proba, n, n_classes=n_classes, n_groups=k, owner=owner)
        return ScoredRows(scores, groups, k, self._made.kind), groups

    def _scores(self, X: Any, *, place: str) -> NDArray[np.float64]:
        scores = self.estimator_.predict_proba(X)
        return inputs.read_scores(scores, len(self.classes_), owner=f"{_OWNER}.{place}")

    # --- other tolerances ------------------------------------------------------------------------

    def at(self, tolerance: float) -> FairProjection:
        """Return a copy with another tolerance; nothing is trained again."""
        check_is_fitted(self)
        number = inputs.check_tolerance(tolerance, owner=f"{_OWNER}.at")
        other = copy.copy(self)
        other._kept = self._rows_of_fit()  # noqa: SLF001 - a copy leaves them out, as a pickle does
        other.tolerance = tolerance
        return other._take(self._solve(number))  # noqa: SLF001 - of its own kind

    def curve(
        self,
        X: Any = None,
        y: Any = None,
        *,
        group: Any = None,
        group_proba: Any = None,
        sample_weight: Any = None,
        tolerances: Sequence[float] | None = None,
    ) -> Curve:
        """Return the whole trade-off: divergence, gap and accuracy for tolerances from strict to loose.

        Parameters
        ----------
        X, y, group, group_proba, sample_weight : optional
            The rows whose decisions are counted; by default those of :meth:`fit`. The projection itself is
            always made from the rows of :meth:`fit`.
        tolerances : sequence of float, optional
            By default 33 from 0 to `largest_tolerance_`, where nothing is changed any more.
        """
        check_is_fitted(self)
        judge = self._judge(X, y, group, group_proba, sample_weight, place="curve")
        if tolerances is None:
            chosen = np.linspace(0.0, self.largest_tolerance_, POINTS)
        else:
            checked = [
                inputs.check_tolerance(t, owner=f"{_OWNER}.curve", name="tolerances") for t in tolerances
            ]
            chosen = np.array(sorted(checked), dtype=np.float64)
        objective, gap, accuracy = np.empty((3, len(chosen)))
        for place, tolerance in enumerate(chosen):
            solution = self._solve(float(tolerance))
            decided = judge.judge(solution.prices, self._made.divergence)
            objective[place], gap[place], accuracy[place] = solution.objective, decided.gap, decided.accuracy
        return Curve(self._made.kind, self._made.divergence, chosen, objective, gap, accuracy)

    def tolerance_for(
        self,
        gap: float,
        X: Any = None,
        y: Any = None,
        *,
        group: Any = None,
        group_proba: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Return the largest tolerance found whose decisions are at most `gap` apart on these rows.

        Parameters
        ----------
        gap : float
            What the gap of :meth:`curve` may be.
        X, y, group, group_proba, sample_weight : optional
            The rows that are counted: those of :meth:`fit` by default, or others kept for choosing. Rows that
            will be used to judge the result are not for choosing.

        Raises
        ------
        InvalidParameterError
            If no tolerance reaches the gap. Mean scores that are equal do not make decisions equal.
        """
        check_is_fitted(self)
        target = inputs.check_tolerance(gap, owner=f"{_OWNER}.tolerance_for", name="gap")
        judge = self._judge(X, y, group, group_proba, sample_weight, place="tolerance_for")
        two = len(self.groups_) == 2 and len(self.classes_) == 2
        return tolerance_that_meets(
            target,
            lambda tolerance: judge.judge(self._solve(tolerance).prices, self._made.divergence),
            self.largest_tolerance_,
            monotone=two and self._made.kind == "parity",
            owner=f"{_OWNER}.tolerance_for",
        )

    def choose(
        self,
        gap: float,
        X: Any = None,
        y: Any = None,
        *,
        group: Any = None,
        group_proba: Any = None,
        sample_weight: Any = None,
    ) -> FairProjection:
        """Return a copy with the tolerance of :meth:`tolerance_for`; nothing is trained again."""
        rows = {"group": group, "group_proba": group_proba, "sample_weight": sample_weight}
        return self.at(self.tolerance_for(gap, X, y, **rows))

    def _judge(
        self, X: Any, y: Any, group: Any, group_proba: Any, sample_weight: Any, *, place: str
    ) -> Judge:
        kept = self._rows_of_fit()
        owner = f"{_OWNER}.{place}"
        if X is None:
            if any(column is not None for column in (y, group, group_proba, sample_weight)):
                _refuse_half("X", owner)
            judge = kept.judge
        else:
            rows, groups = self._rows(X, group, group_proba, place=place)
            labels = None if y is None else inputs.read_labels(y, rows.n, self.classes_.tolist(), owner=owner)
            weights = inputs.read_weights(sample_weight, rows.n, owner=owner)
            judge = Judge(rows, labels, groups, self._made.kind, weights)
        if judge.labels is None and self._made.kind == "odds":
            _refuse_half("y", owner)
        return judge

    def _rows_of_fit(self) -> _Kept:
        if _NOT_KEPT not in self.__dict__:
            refuse(
                "tolerance",
                _OWNER,
                "that of fit in a model that was stored",
                "another one",
                hint="the rows of fit are not stored with the model: fit again, with prefit=True.",
            )
        return self._kept

    def __sklearn_is_fitted__(self) -> bool:
        return "prices_" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != _NOT_KEPT}

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = own.input_tags, own.classifier_tags
        return tags


def _shares(counted: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return the shares that stand in the constraints, all above 0."""
    shares = np.broadcast_to(counted.sum(axis=0), counted.shape) if kind == "parity" else counted
    if (shares <= 0).any():
        refuse(
            "group",
            f"{_OWNER}.fit",
            "such that every group has rows of every class, for kind='odds', and weights above 0",
            "one without",
            hint="marginals='calibrated' takes the shares from the scores, which are never 0.",
        )
    return shares


def _one_of_two(group: Any, group_proba: Any, *, owner: str) -> None:
    if (group is None) == (group_proba is None):
        refuse(
            "group",
            owner,
            "given, or 'group_proba' in its place",
            "neither of the two" if group is None else "both of them",
        )


def _refuse_half(name: str, owner: str) -> None:
    refuse(name, owner, "given with the other columns of the rows", "nothing for it")
