"""Training on private reports, predicting from clean values; the wrong way round is refused, with a hint."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from evenhand._validate import kind_of, refuse, require_true_values
from evenhand.collect.privatizer.output import is_privatized
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import InvalidParameterError
from evenhand.learn.columns import copy_feature_names, require_length
from evenhand.privacy.guarantees.in_clear import SCORED_LATER

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from evenhand.privacy.guarantees.guarantee import Guarantee

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
            refuse(
                "sample_weight",
                f"{_OWNER}.fit",
                f"left out with {type(self.estimator).__name__}, which takes no weights",
                "weights",
            )
        privatizer = clone(self.privatizer)
        before = getattr(self, "privatizer_", None)
        if before is not None:  # fitting again does not undo what was collected, nor begins its streams again
            privatizer._spending = before._spending.continued_in(privatizer._spending)  # noqa: SLF001 - our own
        refuse_label(X, privatizer.fit(X))
        _check_columns(X, {"y": y, **weights})
        reports = privatizer.transform(X)
        self.estimator_ = clone(self.estimator).fit(reports, y, **weights)
        self.privatizer_ = privatizer
        schema = self.privatizer.schema
        self._label = "the label" if schema is None or schema.target is None else schema.target
        copy_feature_names(privatizer, self)
        return self

    # --- clean values in ---------------------------------------------------------------------------

    def _clean(self, X: Any) -> Any:
        check_is_fitted(self)
        refuse_reports(X, self.privatizer_, place="predict")
        return self.privatizer_.encode(X)

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict from clean values."""
        clean = self._clean(X)
        return self.estimator_.predict(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Predict probabilities from clean values."""
        clean = self._clean(X)
        return self.estimator_.predict_proba(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> npt.NDArray[Any]:
        """Predict logarithms of probabilities from clean values."""
        clean = self._clean(X)
        return self.estimator_.predict_log_proba(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the estimator's scores of clean values."""
        clean = self._clean(X)
        return self.estimator_.decision_function(clean)  # type: ignore[no-any-return]

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
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
        promise: Guarantee = self.privatizer_.guarantee_with(self._label, SCORED_LATER)
        return promise

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags = own.target_tags
        tags.input_tags = get_tags(LocalPrivatizer()).input_tags
        tags.non_deterministic = True  # each fit draws anew
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{_OWNER}(estimator={self.estimator!r}, privatizer={self.privatizer!r})"[:N_CHAR_MAX]


_HINTS = {
    "fit": "give the rows as they are: fit collects them itself, once. "
    "In a Pipeline, take the LocalPrivatizer in front out.",
    "predict": "give the rows as they are: predict encodes them itself, without any noise.",
}


def check_parts(estimator: Any, privatizer: Any) -> None:
    """Refuse swapped parts, parts that are something else, and a second privatizer inside the first part."""
    swapped = isinstance(estimator, LocalPrivatizer)
    if swapped or not isinstance(privatizer, LocalPrivatizer):
        first = "the estimator comes first, the privatizer second."
        inside = (
            "other steps, such as scaling, go into the estimator: make_pipeline(StandardScaler(), model)."
        )
        refuse(
            "privatizer",
            _OWNER,
            "a LocalPrivatizer",
            kind_of(privatizer),
            hint=first if swapped else inside,
        )
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params") or isinstance(estimator, type):
        refuse(
            "estimator",
            _OWNER,
            "a scikit-learn classifier or regressor",
            kind_of(estimator),
        )
    if any(isinstance(part, LocalPrivatizer) for part in estimator.get_params(deep=True).values()):
        refuse(
            "estimator",
            _OWNER,
            "one without a LocalPrivatizer of its own",
            "a LocalPrivatizer inside",
            hint="that one would draw again at every prediction; leave it out of the estimator.",
        )


def refuse_label(X: Any, privatizer: LocalPrivatizer) -> None:
    """Refuse features that hold the target; an array as wide as the schema does. Nothing is collected yet."""
    schema = privatizer.schema
    if schema is None or schema.target is None:
        return
    target, named = schema.target, hasattr(privatizer, "feature_names_in_")
    if target in _names(X) or (not named and privatizer.n_features_in_ == len(schema)):
        refuse(
            "X",
            f"{_OWNER}.fit",
            "features without the target",
            f"the target '{target}' among them",
            hint="leave the column out of X and give it as y: a model that sees it learns nothing else.",
        )


def _check_columns(X: Any, columns: dict[str, Any]) -> None:
    """Refuse labels and weights that no estimator takes for these rows. Nothing is collected yet."""
    for name, column in columns.items():
        if column is None:
            hint = f"{_OWNER} requires y to be passed, but the target y is None."
            refuse(name, f"{_OWNER}.fit", "as long as 'X'", None, hint=hint)
        require_true_values(column, name=name, owner=f"{_OWNER}.fit")
        if name == "y" or not isinstance(column, Real):  # one weight may stand for all rows
            require_length(name, _num_samples(column), _num_samples(X), owner=f"{_OWNER}.fit")
        assert_all_finite(column, input_name=name)


def refuse_reports(X: Any, privatizer: LocalPrivatizer, *, place: str) -> None:
    """Refuse what a privatizer made, and columns such as gender_Female where gender is expected."""
    if is_privatized(X):
        raise _refusal(place, "what a LocalPrivatizer made")
    given = _names(X)
    fitted = place == "predict"
    width = (*getattr(X, "shape", ()), 0, 0)[1]
    if not given and fitted and privatizer.n_features_in_ != width == len(privatizer.get_feature_names_out()):
        raise _refusal(place, "an array with as many columns as come out of the privatizer")
    schema = privatizer.schema_ if fitted else privatizer.schema
    for column in schema or ():
        indicators = [f"{column.name}_{label}" for label in column.labels] if column.name not in given else []
        shown = next((indicator for indicator in indicators if indicator in given), None)
        if shown is not None:
            raise _refusal(place, f"no column '{column.name}' but its indicator '{shown}'")


def _refusal(place: str, got: str) -> InvalidParameterError:
    must_be = "features with their true values"
    return InvalidParameterError("X", owner=f"{_OWNER}.{place}", must_be=must_be, got=got, hint=_HINTS[place])


def _names(X: Any) -> set[str]:
    return set(nw.from_native(X).columns) if nw.dependencies.is_into_dataframe(X) else set()
