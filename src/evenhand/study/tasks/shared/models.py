"""Classifiers by name: made afresh for every cell, with its seed and on one thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evenhand._registry import PluginRules, Registry
from evenhand.errors import InvalidParameterError, MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HERE = "evenhand.study.tasks.shared.models"
MODELS: Registry[Any] = Registry(
    {
        "gradient-boosting": f"{_HERE}:_gradient_boosting",
        "lightgbm": f"{_HERE}:_lightgbm",
        "random-forest": f"{_HERE}:_random_forest",
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
"""The models by name, each with what makes one: a function here, or a class that another package adds by the
entry points ``evenhand.models``."""

OWN = "own:"
"""Begins what a plan file says of a classifier that was given from Python."""

_OWNER = "CollectTask"
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
_TRIAL_ROWS = 40


class ModelChoice(Protocol):
    """Which classifier is trained: a task, or a model by name."""

    @property
    def model(self) -> Any:
        """One of :data:`MODELS`, or a classifier."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Of a model by name."""


@dataclass(frozen=True)
class NamedModel:
    """A model by name, with its parameters.

    Parameters
    ----------
    model : str
        One of :data:`MODELS`.
    parameters : mapping, default {}
    """

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def classifier(task: ModelChoice, *, seed: int) -> Any:
    """Return a classifier that is not fitted, with the seed wherever it takes one.

    Parameters
    ----------
    task : ModelChoice
    seed : int
        Becomes its ``random_state``, also inside a pipeline.

    Raises
    ------
    InvalidParameterError
        If a parameter is unknown or has a value it cannot have, or if the classifier was given from Python
        and only its name is left.
    MissingExtraError
        If the model needs a package that is not there.

    Examples
    --------
    >>> classifier(NamedModel("random-forest", {"n_estimators": 50}), seed=3)
    RandomForestClassifier(n_estimators=50, random_state=3)
    """
    if not isinstance(task.model, str):
        return _own(task.model, seed)
    if task.model.startswith(OWN):
        raise InvalidParameterError(
            "model",
            owner=_OWNER,
            must_be="the classifier itself, for this study was made with one from Python",
            got=task.model,
            hint=f"run it from Python, with CollectTask(model={task.model.removeprefix(OWN)}(...)).",
        )
    maker = MODELS[task.model]
    make, known = _class_maker(maker) if isinstance(maker, type) else maker()
    _check_names(task, known)
    made = make(seed, dict(task.parameters))
    _check_values(task, made)
    return made


def check_model(task: ModelChoice) -> None:
    """Refuse a model that could not be made or would not take its parameters, before any row is read.

    LightGBM looks at parameters only when it trains, so it trains for a moment on made-up rows.
    """
    made = classifier(task, seed=0)
    if task.model == "lightgbm" and task.parameters:
        from lightgbm.basic import LightGBMError  # noqa: PLC0415 - an extra

        rows = [[float(place % 2), float(place)] for place in range(_TRIAL_ROWS)]
        try:
            made.set_params(n_estimators=min(1, made.n_estimators)).fit(rows, [0, 1] * (_TRIAL_ROWS // 2))
        except (LightGBMError, TypeError, ValueError) as error:
            must_be = f"what LightGBM takes ({error})"
            raise InvalidParameterError(
                "parameters", owner=_OWNER, must_be=must_be, got=dict(task.parameters)
            ) from None


def number_type(task: ModelChoice) -> type[np.floating[Any]]:
    """Return the type of numbers that the model reads without making a copy of them."""
    return np.float32 if task.model in ("lightgbm", "random-forest") else np.float64


def _own(model: Any, seed: int) -> Any:
    """Return a copy of a classifier that is not fitted, with the seed wherever it has a random state."""
    from sklearn.base import clone  # noqa: PLC0415 - slow to import

    made = clone(model, safe=False)
    if hasattr(made, "get_params"):
        names = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
        made.set_params(**dict.fromkeys(names, seed))
    return made


def _check_names(task: ModelChoice, known: set[str]) -> None:
    for name in task.parameters:
        if name in _SET_HERE:
            must_be = f"without '{name}': {_SET_HERE[name]}"
            raise InvalidParameterError(
                "parameters", owner=_OWNER, must_be=must_be, got=dict(task.parameters)
            )
        if name not in known:
            wrong = UnknownNameError(
                "Parameter", name, sorted(known - set(_SET_HERE)), place=f"one of {task.model}"
            )
            must_be = f"parameters of {task.model}. {str(wrong).removesuffix('.')}"
            raise InvalidParameterError(
                "parameters", owner=_OWNER, must_be=must_be, got=dict(task.parameters)
            )


def _check_values(task: ModelChoice, made: Any) -> None:
    """Refuse values that scikit-learn would refuse when fitting, with its own sentence."""
    estimator = made[-1] if hasattr(made, "steps") else made
    validate = getattr(estimator, "_validate_params", None)
    if validate is None or task.model == "lightgbm":
        return
    try:
        validate()
    except ValueError as error:
        must_be = f"what {type(estimator).__name__} takes ({error})"
        raise InvalidParameterError(
            "parameters", owner=_OWNER, must_be=must_be, got=dict(task.parameters)
        ) from None


# --- one maker for each name ----------------------------------------------------------------------


def _class_maker(kind: Any) -> tuple[Callable[[int, dict[str, Any]], Any], set[str]]:
    """Return what makes a classifier of another package."""

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        return _own(kind(**parameters), seed)

    return make, set(kind().get_params())


def _gradient_boosting() -> tuple[Callable[[int, dict[str, Any]], Any], set[str]]:
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - slow to import

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        return HistGradientBoostingClassifier(random_state=seed, **parameters)

    return make, set(HistGradientBoostingClassifier().get_params())


def _random_forest() -> tuple[Callable[[int, dict[str, Any]], Any], set[str]]:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - slow to import

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        return RandomForestClassifier(random_state=seed, **parameters)

    return make, set(RandomForestClassifier().get_params())


def _logistic() -> tuple[Callable[[int, dict[str, Any]], Any], set[str]]:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import MaxAbsScaler  # noqa: PLC0415

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        settings = {"max_iter": 5000, **parameters}
        return make_pipeline(MaxAbsScaler(), LogisticRegression(random_state=seed, **settings))

    return make, set(LogisticRegression().get_params())


def _lightgbm() -> tuple[Callable[[int, dict[str, Any]], Any], set[str]]:
    feature = "The model 'lightgbm'"
    try:
        from lightgbm import LGBMClassifier  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("lightgbm", feature=feature, extra="learn") from None
    except OSError as error:  # the package is there, the system library that it loads is not
        if "gomp" not in str(error):
            raise
        message = f"{feature} needs the system library libgomp, which is not installed."
        raise _missing_library(f"{message} Hint: install the system package libgomp1.") from None

    def make(seed: int, parameters: dict[str, Any]) -> Any:
        settings = {"objective": "binary", **parameters}
        return LGBMClassifier(random_state=seed % _LIGHTGBM_SEEDS, n_jobs=1, verbosity=-1, **settings)

    return make, set(LGBMClassifier().get_params()) | set(_LIGHTGBM_MORE)


def _missing_library(message: str) -> MissingExtraError:
    missing = MissingExtraError("libgomp1", feature="The model 'lightgbm'")
    missing.args = (message,)
    return missing
