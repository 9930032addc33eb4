"""The task of a classification: which model, how columns become features, how rows are split."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.schema.plain import plain_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ENCODERS", "MODELS", "OWN", "Classify"]

MODELS = ("gradient-boosting", "lightgbm", "random-forest", "logistic")
"""The models by name."""

ENCODERS = ("narrow", "one-hot", "codes")
"""The ways to make features of columns, by name."""

OWN = "own:"
"""Begins what a plan file says of a classifier that was given from Python."""

_OWNER = "Classify"


@dataclass(frozen=True, kw_only=True)
class Classify:
    """Train on protected rows, predict for clean ones, and compare the groups.

    Parameters
    ----------
    model : str or scikit-learn classifier
        One of :data:`MODELS`, or from Python any classifier. ``"gradient-boosting"`` is scikit-learn's
        histogram boosting; ``"lightgbm"`` needs the extra ``learn``.
    parameters : mapping, default {}
        Of the model.
    encoder : {"narrow", "one-hot", "codes"}
        ``"narrow"``: sensitive columns as indicators, ordered columns in the clear as their code, the other
        columns one-hot. ``"one-hot"``: every column with one feature per value. ``"codes"``: every column as
        its code, which only GRR's reports have.
    test : float, default 0.2
        The share of rows that are held out, stratified by the target. Not used with `folds`.
    folds : int, optional
        Cross-validate with so many stratified folds instead.

    Examples
    --------
    >>> Classify(model="random-forest", encoder="codes", folds=10).validation
    '10 stratified folds'
    >>> Classify().validation
    '80 % for training, 20 % for the test, stratified'
    """

    model: Any = "gradient-boosting"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = "narrow"
    test: float = 0.2
    folds: int | None = None

    kind = "classify"

    def __post_init__(self) -> None:
        if isinstance(self.model, str) and self.model.startswith(OWN):
            pass
        elif isinstance(self.model, str):
            one_of("model", self.model, MODELS, owner=_OWNER)
        elif not callable(getattr(self.model, "fit", None)) or not callable(
            getattr(self.model, "predict", None)
        ):
            must_be = f"one of {', '.join(MODELS)}, or a classifier with 'fit' and 'predict'"
            got = f"a value of type {type(self.model).__name__}"
            raise InvalidParameterError("model", owner=_OWNER, must_be=must_be, got=got)
        elif self.parameters:
            must_be = "empty for a classifier that is made already"
            raise InvalidParameterError("parameters", owner=_OWNER, must_be=must_be, got=self.parameters)
        hint = "from Python, the classifier itself can be given, with any parameters."
        parameters = plain_mapping("parameters", self.parameters, owner=_OWNER, hint=hint)
        object.__setattr__(self, "parameters", parameters)
        one_of("encoder", self.encoder, ENCODERS, owner=_OWNER)
        share: object = self.test
        if isinstance(share, Integral) or not isinstance(share, Real) or not 0 < float(share) < 1:
            raise InvalidParameterError("test", owner=_OWNER, must_be="between 0 and 1", got=share)
        object.__setattr__(self, "test", float(share))
        if self.folds is not None:
            object.__setattr__(self, "folds", integer("folds", self.folds, owner=_OWNER, low=2, high=1000))

    @property
    def validation(self) -> str:
        """How rows are split, in words."""
        if self.folds is not None:
            return f"{self.folds} stratified folds"
        return f"{1 - self.test:.0%} for training, {self.test:.0%} for the test, stratified".replace(
            "%", " %"
        )

    @property
    def model_name(self) -> str:
        """The name of the model, or of the classifier's class."""
        return self.model.removeprefix(OWN) if isinstance(self.model, str) else type(self.model).__name__

    def __hash__(self) -> int:
        return hash((self.model_name, self.encoder, self.test, self.folds))
