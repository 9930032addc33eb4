"""Ways to use private training the wrong way round, each refused with what to do instead."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from evenhand.collect.privatizer.output import is_privatized
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import InvalidParameterError

__all__ = ["check_parts", "refuse_label", "refuse_reports"]

_OWNER = "PrivateTraining"
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
        raise InvalidParameterError(
            "privatizer",
            owner=_OWNER,
            must_be="a LocalPrivatizer",
            got=f"a value of type {type(privatizer).__name__}",
            hint=first if swapped else inside,
        )
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise InvalidParameterError(
            "estimator",
            owner=_OWNER,
            must_be="a scikit-learn classifier or regressor",
            got=f"a value of type {type(estimator).__name__}",
        )
    if any(isinstance(each, LocalPrivatizer) for each in estimator.get_params(deep=True).values()):
        raise InvalidParameterError(
            "estimator",
            owner=_OWNER,
            must_be="one without a LocalPrivatizer of its own",
            got="a LocalPrivatizer inside",
            hint="that one would draw again at every prediction; leave it out of the estimator.",
        )


def refuse_label(X: Any, privatizer: LocalPrivatizer) -> None:  # noqa: N803 - scikit-learn's name
    """Refuse features that hold the target; an array as wide as the schema does. Nothing is collected yet."""
    schema = privatizer.schema
    if schema is None or schema.target is None:
        return
    target, named = schema.target, hasattr(privatizer, "feature_names_in_")
    if target in _names(X) or (not named and privatizer.n_features_in_ == len(schema)):
        raise InvalidParameterError(
            "X",
            owner=f"{_OWNER}.fit",
            must_be="features without the target",
            got=f"the target '{target}' among them",
            hint="leave the column out of X and give it as y: a model that sees it learns nothing else.",
        )


def refuse_reports(X: Any, privatizer: LocalPrivatizer, *, place: str) -> None:  # noqa: N803 - as above
    """Refuse what a privatizer made, and columns such as gender_Female where gender is expected."""
    if is_privatized(X):
        raise _refused(place, "what a LocalPrivatizer made")
    given = _names(X)
    fitted = place == "predict"
    if not given and fitted and _as_wide_as_output(X, privatizer):
        raise _refused(place, "an array with as many columns as come out of the privatizer")
    schema = privatizer.schema_ if fitted else privatizer.schema
    for column in schema or ():
        made = [f"{column.name}_{label}" for label in column.labels] if column.name not in given else []
        shown = next((each for each in made if each in given), None)
        if shown is not None:
            raise _refused(place, f"no column '{column.name}' but its indicator '{shown}'")


def _as_wide_as_output(X: Any, privatizer: LocalPrivatizer) -> bool:  # noqa: N803 - as above
    width = (*getattr(X, "shape", ()), 0, 0)[1]
    return bool(width != privatizer.n_features_in_ and width == len(privatizer.get_feature_names_out()))


def _refused(place: str, got: str) -> InvalidParameterError:
    must_be = "features with their true values"
    return InvalidParameterError("X", owner=f"{_OWNER}.{place}", must_be=must_be, got=got, hint=_HINTS[place])


def _names(X: Any) -> set[str]:  # noqa: N803 - as above
    return set(nw.from_native(X).columns) if nw.dependencies.is_into_dataframe(X) else set()
