"""Classifiers by name: made with a seed and for one thread, and what they predict of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand._registry import PluginRules, Registry
from evenhand.errors import InvalidParameterError, MissingExtraError, UnknownNameError
from evenhand.learn.encoding.reports import distinct_rows, feature_matrix, layout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Schema

    Maker = Callable[[int, dict[str, Any]], Any]
    Predictions = tuple[NDArray[Any], NDArray[np.float64] | None]

_HERE = "evenhand.learn.models"
MODELS: Registry[Any] = Registry(
    {
        "quick-boosting": f"{_HERE}:_quick_boosting",
        "gradient-boosting": "sklearn.ensemble:HistGradientBoostingClassifier",
        "lightgbm": f"{_HERE}:_lightgbm",
        "random-forest": "sklearn.ensemble:RandomForestClassifier",
        "logistic": f"{_HERE}:_logistic",
    },
    PluginRules(
        "evenhand.models",
        "model",
        "the class of a scikit-learn classifier",
        named_by="",
        needs=("fit", "predict", "get_params", "set_params"),
    ),
)
"""The models by name: the class of each, or a function here that returns what makes one and the names of its
parameters. Other packages add classes by the entry points ``evenhand.models``."""

_OWNER = "classifier"
_SET_HERE = {
    "random_state": "the plan's seed and the repeat set it",
    "n_jobs": "a cell runs on one thread; cells run side by side",
}
_LIGHTGBM_MORE = (
    "max_bin",
    "min_data_in_bin",
    "path_smooth",
    "extra_trees",
    "is_unbalance",
    "scale_pos_weight",
    "enable_bundle",
    "force_col_wise",
    "force_row_wise",
    "use_quantized_grad",
)
_LIGHTGBM_SEEDS = 2**31
_QUICK = {
    "max_iter": 25,
    "learning_rate": 0.35,  # so that 0.65 ** 25 is 0.9 ** 100, what is left to learn with scikit-learn's own
    "n_iter_no_change": 3,
    "l2_regularization": 5,  # without it such large steps overfit where one outcome is rare
    "max_bins": 127,
}
_TRIAL_ROWS = 40
_BY_PROBABILITY = ("quick-boosting", "gradient-boosting", "lightgbm", "random-forest")
_TREES_AT_A_TIME = 25  # so many stay in the cache of the processor while the rows go by


def classifier(model: Any, parameters: Mapping[str, Any] | None = None, *, seed: int) -> Any:
    """Return a classifier that is not fitted, with the seed wherever it takes one, also inside a pipeline.

    `model` is one of :data:`MODELS`, which takes `parameters`, or a classifier, which is copied.

    >>> classifier("random-forest", {"n_estimators": 50}, seed=3)
    RandomForestClassifier(n_estimators=50, random_state=3)
    """
    if not isinstance(model, str):
        return _own(model, seed)
    maker, asked = MODELS[model], dict(parameters or {})
    make, known = _class_maker(maker) if isinstance(maker, type) else maker()
    _check_names(model, asked, known)
    made = make(seed, asked)
    _check_values(model, asked, made)
    return made


def check_model(model: Any, parameters: Mapping[str, Any]) -> None:
    """Refuse a model that could not be made or would not take its parameters, before any row is read.

    LightGBM looks at parameters only when it trains, so it trains for a moment on made-up rows.
    """
    made = classifier(model, parameters, seed=0)
    if model == "lightgbm" and parameters:
        from lightgbm.basic import LightGBMError  # noqa: PLC0415 - an extra

        rows = [[float(place % 2), float(place)] for place in range(_TRIAL_ROWS)]
        try:
            made.set_params(n_estimators=min(1, made.n_estimators)).fit(rows, [0, 1] * (_TRIAL_ROWS // 2))
        except (LightGBMError, TypeError, ValueError) as error:
            _refuse(parameters, f"what LightGBM takes ({error})")


def number_type(model: Any) -> type[np.floating[Any]]:
    """Return the type of numbers that a model reads without making a copy of them."""
    return np.float32 if model in ("lightgbm", "random-forest") else np.float64


def _own(model: Any, seed: int) -> Any:
    """Return a copy of a classifier that is not fitted, with the seed wherever it has a random state."""
    from sklearn.base import clone  # noqa: PLC0415 - slow to import

    made = clone(model, safe=False)
    if hasattr(made, "get_params"):
        names = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
        made.set_params(**dict.fromkeys(names, seed))
    return made


def _check_names(model: str, parameters: Mapping[str, Any], known: set[str]) -> None:
    for name in parameters:
        if name in _SET_HERE:
            _refuse(parameters, f"without '{name}': {_SET_HERE[name]}")
        if name not in known:
            wrong = UnknownNameError(
                "Parameter", name, sorted(known - set(_SET_HERE)), place=f"one of {model}"
            )
            _refuse(parameters, f"parameters of {model}. {str(wrong).removesuffix('.')}")


def _check_values(model: str, parameters: Mapping[str, Any], made: Any) -> None:
    """Refuse values that scikit-learn would refuse when fitting, with its own sentence."""
    estimator = made[-1] if hasattr(made, "steps") else made
    validate = getattr(estimator, "_validate_params", None)
    if validate is None or model == "lightgbm":
        return
    try:
        validate()
    except ValueError as error:
        _refuse(parameters, f"what {type(estimator).__name__} takes ({error})")


def _refuse(parameters: Mapping[str, Any], must_be: str) -> NoReturn:
    raise InvalidParameterError("parameters", owner=_OWNER, must_be=must_be, got=dict(parameters)) from None


# --- what makes them --------------------------------------------------------------------------------


def _class_maker(kind: Any) -> tuple[Maker, set[str]]:
    def make(seed: int, parameters: dict[str, Any]) -> Any:
        return _own(kind(**parameters), seed)

    return make, set(kind().get_params())


def _quick_boosting() -> tuple[Maker, set[str]]:
    """Boost a quarter of the trees of ``gradient-boosting``, in steps that are larger.

    NumPy orders a column up to ten times as fast where the greatest value is the usual one, so an indicator,
    which is mostly 0, is learnt with its sign turned.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - slow to import
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import FunctionTransformer  # noqa: PLC0415

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        settings = {**_QUICK, **parameters}
        boosting = HistGradientBoostingClassifier(random_state=seed, **settings)
        return make_pipeline(FunctionTransformer(np.negative), boosting)

    return make, set(HistGradientBoostingClassifier().get_params())


def _logistic() -> tuple[Maker, set[str]]:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import MaxAbsScaler  # noqa: PLC0415

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        settings = {"max_iter": 5000, **parameters}
        return make_pipeline(MaxAbsScaler(), LogisticRegression(random_state=seed, **settings))

    return make, set(LogisticRegression().get_params())


def _lightgbm() -> tuple[Maker, set[str]]:
    feature = "The model 'lightgbm'"
    try:
        from lightgbm import LGBMClassifier  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("lightgbm", feature=feature, extra="learn") from None
    except OSError as error:  # the package is there, the system library that it loads is not
        if "gomp" not in str(error):
            raise
        missing = MissingExtraError("libgomp1", feature=feature)
        needs = f"{feature} needs the system library libgomp, which is not installed."
        missing.args = (f"{needs} Hint: install the system package libgomp1.",)
        raise missing from None

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        settings = {"objective": "binary", **parameters}
        return LGBMClassifier(random_state=seed % _LIGHTGBM_SEEDS, n_jobs=1, verbosity=-1, **settings)

    return make, set(LGBMClassifier().get_params()) | set(_LIGHTGBM_MORE)


# --- what they predict ------------------------------------------------------------------------------


def predict_codes(
    fitted: Any, codes: Mapping[str, NDArray[Any]], *, model: Any, schema: Schema, encoder: str
) -> Predictions:
    """Return a label for each row of true codes, and a score where the model gives probabilities.

    A model by name is asked once about rows that are alike.
    """
    distinct = distinct_rows(codes, sizes=schema.sizes) if isinstance(model, str) else None
    if distinct is not None:
        codes = {name: column[distinct[0]] for name, column in codes.items()}
    features = feature_matrix(codes, blocks=layout(schema, encoder), dtype=number_type(model))
    labels, scores = predicted(fitted, features, model=model)
    if distinct is None:
        return labels, scores
    return labels[distinct[1]], None if scores is None else scores[distinct[1]]


def predicted(fitted: Any, features: NDArray[Any], *, model: Any) -> Predictions:
    """Return a label for each row of features, and a score where the model gives probabilities.

    The label of boosted trees and of forests is the more probable class, as their own ``predict`` has it, so
    the trees are gone through once.
    """
    if not hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict(features)), None
    if model == "lightgbm" and _is_plain_boosting(fitted):
        scores = _boosted_scores(fitted, features)
        return (scores > 1 / 2).astype(np.uint8), scores
    shares = np.asarray(fitted.predict_proba(features))
    classes = np.asarray(fitted.classes_)
    scores = shares[:, int(np.flatnonzero(classes == 1)[0])]
    if isinstance(model, str) and model in _BY_PROBABILITY:
        return classes[shares.argmax(axis=1)], scores
    return np.asarray(fitted.predict(features)), scores


def _is_plain_boosting(fitted: Any) -> bool:
    """Whether the score of a row is the logistic function of a sum over many trees."""
    many = fitted.n_estimators > _TREES_AT_A_TIME
    return bool(many and fitted.boosting_type == "gbdt" and fitted.objective_ == "binary")


def _boosted_scores(fitted: Any, features: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probabilities of LightGBM's trees, some trees at a time; the last digit may differ."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

    rows = csr_matrix(features)
    total = np.zeros(rows.shape[0])
    for start in range(0, fitted.n_estimators, _TREES_AT_A_TIME):
        total += fitted.booster_.predict(
            rows, start_iteration=start, num_iteration=_TREES_AT_A_TIME, raw_score=True, num_threads=1
        )
    return 1 / (1 + np.exp(-total))
