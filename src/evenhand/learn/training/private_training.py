"""Training on private reports, predicting from clean values: the right way round, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import InvalidParameterError
from evenhand.learn.training.wrong_way import check_parts, refuse_label, refuse_reports
from evenhand.privacy.guarantees.in_clear import SCORED_LATER

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from evenhand.privacy.guarantees.guarantee import Guarantee

__all__ = ["PrivateTraining"]

_OWNER = "PrivateTraining"


def _estimator_has(name: str) -> Callable[[Any], bool]:
    def has(model: Any) -> bool:
        return hasattr(getattr(model, "estimator_", model.estimator), name)

    return has


class PrivateTraining(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A model trained on private reports and used on clean values.

    :meth:`fit` collects the sensitive columns of the training rows once, under local differential privacy,
    and trains the estimator on the reports. Predicting encodes the rows as they are: nothing is drawn, and
    the same row gives the same prediction.

    **Guarantee.** That of the privatizer, for the people in the training rows; what the estimator makes of
    the reports costs nothing more. Each call of :meth:`fit` is a new collection and adds to it, in a
    copy or clone too: all that share the privatizer count together. Their labels
    and other features are in the clear, and so is everything about people scored later.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor
        What is trained; a clone of it, `estimator_`, is.
    privatizer : LocalPrivatizer
        What collects; a clone of it, `privatizer_`, does.

    Attributes
    ----------
    estimator_ : estimator
        The trained model.
    privatizer_ : LocalPrivatizer
        What collected the training rows, with its `guarantee_`.

    Examples
    --------
    >>> import evenhand as eh
    >>> from evenhand.collect.privatizer.transformer import LocalPrivatizer
    >>> from evenhand.learn import PrivateTraining
    >>> from sklearn.linear_model import LogisticRegression
    >>> people = eh.datasets.load("causal", n=5_000, backend="pandas")
    >>> features, label = people.frame.drop(columns="Y"), people.frame["Y"]
    >>> privatizer = LocalPrivatizer(epsilon=3, split="uniform", schema=people.schema, rng=7)
    >>> model = PrivateTraining(LogisticRegression(), privatizer).fit(features, label)
    >>> bool((model.predict(features) == model.predict(features)).all())
    True
    >>> model.guarantee_.epsilon, model.guarantee_.in_clear
    (Fraction(3, 1), ('Y', 'row order', 'people scored later'))
    """

    def __init__(self, estimator: Any, privatizer: LocalPrivatizer) -> None:
        self.estimator = estimator
        self.privatizer = privatizer

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Collect the training rows, once, and train on the reports.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array
            The features as they are: true values, not reports.
        y : array
            The labels, which are in the clear.
        sample_weight : array, optional
            Passed on to the estimator.
        """
        check_parts(self.estimator, self.privatizer)
        refuse_reports(X, self.privatizer, place="fit")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if weights and not has_fit_parameter(self.estimator, "sample_weight"):
            raise InvalidParameterError(
                "sample_weight",
                owner=f"{_OWNER}.fit",
                must_be=f"left out with {type(self.estimator).__name__}, which takes no weights",
                got="weights",
            )
        privatizer = clone(self.privatizer)
        before = getattr(self, "privatizer_", None)
        if before is not None:  # fitting again does not undo what was collected, nor begins its streams again
            privatizer._spending = before._spending.continued_in(privatizer._spending)  # noqa: SLF001 - our own
        refuse_label(X, privatizer.fit(X))
        reports = privatizer.transform(X)
        self.estimator_ = clone(self.estimator).fit(reports, y, **weights)
        self.privatizer_ = privatizer
        self._label = _name_of_label(self.privatizer)
        self.n_features_in_ = privatizer.n_features_in_
        if hasattr(privatizer, "feature_names_in_"):
            self.feature_names_in_ = privatizer.feature_names_in_
        return self

    # --- clean values in ---------------------------------------------------------------------------

    def _clean(self, X: Any) -> Any:  # noqa: N803 - as above
        check_is_fitted(self)
        refuse_reports(X, self.privatizer_, place="predict")
        return self.privatizer_.encode(X)

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 - as above
        """Predict from clean values."""
        clean = self._clean(X)
        return self.estimator_.predict(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 - as above
        """Predict probabilities from clean values."""
        clean = self._clean(X)
        return self.estimator_.predict_proba(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 - as above
        """Predict logarithms of probabilities from clean values."""
        clean = self._clean(X)
        return self.estimator_.predict_log_proba(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 - as above
        """Return the estimator's scores of clean values."""
        clean = self._clean(X)
        return self.estimator_.decision_function(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803 - as above
        """Return the estimator's own score on clean values."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        clean = self._clean(X)
        return self.estimator_.score(clean, y, **weights)  # type: ignore[no-any-return]

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes of the trained classifier."""
        check_is_fitted(self)
        return self.estimator_.classes_  # type: ignore[no-any-return]

    @property
    def guarantee_(self) -> Guarantee:
        """What the people in the training rows are promised, and what is in the clear."""
        check_is_fitted(self)
        made: Guarantee = self.privatizer_.guarantee_with(self._label, SCORED_LATER)
        return made

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags = own.target_tags
        tags.input_tags = get_tags(LocalPrivatizer()).input_tags
        tags.non_deterministic = True  # each fit draws anew
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 - scikit-learn's name
        return f"{_OWNER}(estimator={self.estimator!r}, privatizer={self.privatizer!r})"[:N_CHAR_MAX]


def _name_of_label(privatizer: LocalPrivatizer) -> str:
    schema = privatizer.schema
    return "the label" if schema is None or schema.target is None else schema.target
