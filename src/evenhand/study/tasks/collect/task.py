"""The task of a collection: people randomise their answers, a model is trained on what they report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand._validate import boolean, integer, one_of
from evenhand.collect import PROTOCOLS
from evenhand.collect.joint.build import STRATEGIES
from evenhand.collect.protocols.homes import CLASSES
from evenhand.collect.protocols.registry import AUTO, protocol_named
from evenhand.errors import InvalidParameterError
from evenhand.learn.models import MODELS
from evenhand.privacy.rational import as_text
from evenhand.schema.values import plain_mapping
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.plan.spec import plain_value
from evenhand.study.tasks.base import Task
from evenhand.study.tasks.effects.classifiers import SPREADS
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES, CLASSIFIER_RATES
from evenhand.study.tasks.shared.fields import distinct, epsilons_of, participle, several, share, typed_list
from evenhand.study.tasks.shared.parts import overlap_of
from evenhand.study.tasks.shared.report_settings import (
    NAME,
    OptimalWay,
    check_error,
    has_parity,
    protocol_names,
    protocol_parameters,
    report_setting,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from evenhand.schema import Schema
    from evenhand.study.tasks.measure import Measure

SPLITS = ("uniform", "k-based", "optimal", "sample")
"""The ways to split a budget, by name."""

ENCODERS = ("narrow", "one-hot", "codes")
"""The ways to make features of columns, by name."""

OWN = "own:"
"""Begins what a plan file says of a classifier that was given from Python."""

_OWNER = "CollectTask"
_COMBINED = ("grr", AUTO, NAME)
_OWN_CLASSIFIER = "from Python, the classifier itself can be given, with any parameters."
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Mechanism:
    """A protocol by name, with parameters besides k and epsilon.

    Parameters
    ----------
    name : str
        One of :data:`evenhand.collect.PROTOCOLS`, or ``"auto"``: for each column the one of least variance at
        its size and epsilon.
    parameters : mapping, default {}
        Such as ``{"as_printed": True}``. Those of ``"optimal"`` are in
        :class:`evenhand.study.tasks.shared.report_settings.OptimalWay`; defaults are left out.

    Examples
    --------
    >>> Mechanism.of({"name": "olh", "as_printed": True})
    Mechanism(name='olh', parameters={'as_printed': True})
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.name, str) and self.name.lower() == AUTO and not self.parameters:
            object.__setattr__(self, "name", AUTO)
            return
        protocol = protocol_named(self.name)
        object.__setattr__(self, "name", protocol.name)
        parameters = plain_mapping("parameters", self.parameters, owner="Mechanism")
        if self.name == NAME:
            object.__setattr__(self, "parameters", OptimalWay.read(parameters).parameters)
            return
        object.__setattr__(self, "parameters", parameters)
        try:
            protocol.of_size(3, 1, **self.parameters)
        except TypeError:
            must_be = f"parameters that {protocol.__name__} has"
            got = ", ".join(map(str, self.parameters))
            raise InvalidParameterError("parameters", owner="Mechanism", must_be=must_be, got=got) from None
        if not all(
            isinstance(value, bool) for value in parameters.values()
        ):  # "no" and 0.5 would pass for true
            must_be = "true or false each, as every parameter of a protocol is"
            raise InvalidParameterError("parameters", owner="Mechanism", must_be=must_be, got=parameters)

    @classmethod
    def of(cls, given: object) -> Mechanism:
        """Return the mechanism that a name, or a mapping with ``name`` and parameters, stands for."""
        if isinstance(given, Mechanism):
            return given
        if isinstance(given, Mapping) and "name" in given:
            return cls(given["name"], {key: value for key, value in given.items() if key != "name"})
        if isinstance(given, str):
            return cls(given)
        must_be = (
            f"names of protocols ({', '.join((AUTO, *PROTOCOLS))}), or mappings with 'name' and parameters"
        )
        raise InvalidParameterError("protocols", owner=_OWNER, must_be=must_be, got=given)

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a plan file holds it."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


@dataclass(frozen=True, init=False)
class CollectTask(Task):
    """Train on what people report, predict for clean rows, and compare the groups.

    Each protocol is tried with each epsilon, split and strategy, where they go together. Splits go with the
    strategy ``"independent"`` only, and ``"combined"`` with GRR, which ``"auto"`` is there, and optimal.
    Under ``"independent"`` the protocol ``"optimal"`` reports the protected column by the optimal channel and
    the others by GRR; ``"single"`` reports the protected column, and ``"combined"`` all as one value.

    Parameters
    ----------
    protocols : name, Mechanism, mapping, or list of them, default "auto"
        As in :func:`evenhand.collect.strategy_for`, whose defaults are the same.
    epsilons : number or list of numbers
        Each the epsilon of a person's whole report.
    splits : name or list of names, default "optimal"
        Of ``"uniform"``, ``"k-based"``, ``"optimal"`` and ``"sample"``.
    strategies : name or list of names, default "independent"
        ``"independent"``, ``"combined"`` or ``"single"``.
    model : str or scikit-learn classifier
        ``"quick-boosting"``, ``"gradient-boosting"``, ``"lightgbm"``, ``"random-forest"`` or ``"logistic"``,
        or from Python any classifier. ``"gradient-boosting"`` is scikit-learn's histogram boosting,
        ``"quick-boosting"`` the same with fewer trees and larger steps; ``"lightgbm"`` needs the extra
        ``learn``.
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
    unwanted : bool, default False
        Whether the positive decision hurts who gets it, as a flag or a denial does. It changes how results
        are read, not what is run.
    called : str, default ""
        The participle by which the positive decision is called on pages, such as ``"hired"``.

    Examples
    --------
    >>> task = CollectTask(
    ...     ["grr", "oue"], [1, 2], splits="uniform", strategies=["independent", "combined"]
    ... )
    >>> for setting in task.settings():
    ...     print(setting)
    GRR, uniform split, ε = 1
    GRR, uniform split, ε = 2
    OUE, uniform split, ε = 1
    OUE, uniform split, ε = 2
    GRR, combined, ε = 1
    GRR, combined, ε = 2
    """

    protocols: tuple[Mechanism, ...]
    epsilons: tuple[Fraction, ...]
    splits: tuple[str, ...]
    strategies: tuple[str, ...]
    model: Any
    parameters: Mapping[str, Any]
    encoder: str
    test: float
    folds: int | None
    unwanted: bool
    called: str

    kind: ClassVar[str] = "collect"
    audit_epsilons: ClassVar[tuple[str, ...]] = ("0.5", "1", "2", "4")
    audit_mechanisms: ClassVar[tuple[str, ...]] = (AUTO, "grr", "oue")
    effect_names: ClassVar[tuple[str, ...]] = tuple(SPREADS)
    checks: ClassVar[tuple[str, ...]] = ("people", "groups", "outcomes", "secrets")
    key_measures: ClassVar[tuple[str, ...]] = ("acc", "sp_gap", "eo_gap")
    unweighted: ClassVar[str] = "disparities of the labels, true, reported and tested"

    def __init__(  # noqa: PLR0913 - one keyword for each field
        self,
        protocols: Any = (AUTO,),
        epsilons: Any = (1,),
        *,
        splits: Any = ("optimal",),
        strategies: Any = ("independent",),
        model: Any = "quick-boosting",
        parameters: Mapping[str, Any] = _NONE,
        encoder: str = "narrow",
        test: float = 0.2,
        folds: int | None = None,
        unwanted: bool = False,
        called: str = "",
    ) -> None:
        mechanisms = [Mechanism.of(each) for each in several(protocols, "protocols", owner=_OWNER)]
        amounts = epsilons_of(epsilons, owner=_OWNER)
        checked = {
            "protocols": distinct("protocols", mechanisms, owner=_OWNER),
            "epsilons": amounts,
            "splits": _names("splits", splits, SPLITS),
            "strategies": _names("strategies", strategies, STRATEGIES),
            "model": _checked_model(model, parameters),
            "parameters": plain_mapping("parameters", parameters, owner=_OWNER, hint=_OWN_CLASSIFIER),
            "encoder": one_of("encoder", encoder, ENCODERS, owner=_OWNER),
            "test": share("test", test, owner=_OWNER),
            "folds": None if folds is None else integer("folds", folds, owner=_OWNER, low=2, high=1000),
            "unwanted": boolean("unwanted", unwanted, owner=_OWNER),
            "called": participle(called, owner=_OWNER),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if "combined" in self.strategies and not any(each.name in _COMBINED for each in mechanisms):
            must_be = "a list with 'grr', 'auto' or 'optimal', by which the strategy 'combined' reports"
            raise InvalidParameterError("protocols", owner=_OWNER, must_be=must_be, got=protocols)
        for mechanism in mechanisms:
            if mechanism.name == NAME:
                check_error(mechanism.parameters, min(amounts))

    # --- what is compared -------------------------------------------------------------------------

    def settings(self) -> Iterator[Setting]:
        """Yield every setting once, by strategy, split, protocol and epsilon."""
        for strategy in self.strategies:
            for split in self.splits if strategy == "independent" else (UNPROTECTED,):
                for mechanism in self.protocols:
                    if strategy == "combined" and mechanism.name not in _COMBINED:
                        continue
                    name = "grr" if strategy == "combined" and mechanism.name == AUTO else mechanism.name
                    if name != mechanism.name and Mechanism(name) in self.protocols:
                        continue
                    for epsilon in self.epsilons:
                        yield report_setting(name, epsilon, split, strategy, mechanism.parameters)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Return what every cell measures."""
        return CLASSIFIER_MEASURES

    @property
    def group_numbers(self) -> Mapping[str, Measure]:
        """Return what every cell tells of each group."""
        return CLASSIFIER_RATES

    @property
    def data_numbers(self) -> tuple[str, ...]:
        """Disparities of the training labels, by true and by reported group, and of the tested labels."""
        return ("true", "reported", "tested")

    @property
    def overlap(self) -> float:
        """Test rows per training row of one repeat."""
        return overlap_of(self.test, self.folds)

    @property
    def used_packages(self) -> tuple[str, ...]:
        """LightGBM, where it is the model, and other packages whose protocols or model are used."""
        model = [self.model] if isinstance(self.model, str) else []
        protocols = CLASSES.packages(protocol.name for protocol in self.protocols if protocol.name != AUTO)
        return (*(name for name in model if name == "lightgbm"), *protocols, *MODELS.packages(model))

    @property
    def model_name(self) -> str:
        """The name of the model, or of the classifier's class."""
        return self.model.removeprefix(OWN) if isinstance(self.model, str) else type(self.model).__name__

    def __hash__(self) -> int:
        return hash((self.protocols, self.epsilons, self.model_name, self.encoder, self.test, self.folds))

    # --- running and reading ----------------------------------------------------------------------

    def advised(self, *, owner: str, parameter: str) -> CollectTask:  # noqa: ARG002 - refused by other tasks
        """Return the task itself: its protocols can be recommended, see :mod:`evenhand.study.advise`."""
        return self

    def next_command(self, setting: Setting, schema: Schema, *, data: str, file: str) -> str:
        """Return ``evenhand privatize`` as the setting tested it."""
        return privatize_command(setting, schema, data=data, file=file)

    # --- files ------------------------------------------------------------------------------------

    @property
    def fixed(self) -> dict[str, Any]:
        """Return what all cells share, in JSON's types: everything but the grid and how results are read."""
        rows = {"test": self.test} if self.folds is None else {"folds": self.folds}
        is_named = isinstance(self.model, str)
        return {
            "kind": self.kind,
            "model": plain_value(self.model),
            "parameters": plain_value(dict(self.parameters)) if is_named else {},
            "encoder": self.encoder,
            **rows,
        }

    def to_toml(self) -> dict[str, Any]:
        """Return the task as the ``[task]`` table of a plan file."""
        model = self.model if isinstance(self.model, str) else f"{OWN}{self.model_name}"
        rows = {"test": self.test} if self.folds is None else {"folds": self.folds}
        chosen = {"unwanted": self.unwanted, "called": self.called, "parameters": dict(self.parameters)}
        return {
            "kind": self.kind,
            "protocols": [mechanism.plain for mechanism in self.protocols],
            "epsilons": [as_text(epsilon) for epsilon in self.epsilons],
            "splits": list(self.splits),
            "strategies": list(self.strategies),
            "model": model,
            "encoder": self.encoder,
            **rows,
            **{name: value for name, value in chosen.items() if value},
        }

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> Task:
        """Return the task of a table without its kind; without a model it means what it always did."""
        return cls(**{"model": "gradient-boosting", **table})

    @classmethod
    def field_of(cls, error: Exception) -> str:
        """Return the field that an error of the constructor is about."""
        return getattr(error, "parameter", "protocols")


def _names(parameter: str, given: Any, known: Iterable[str]) -> tuple[str, ...]:
    listed = [
        one_of(parameter, name, tuple(known), owner=_OWNER)
        for name in several(given, parameter, owner=_OWNER)
    ]
    return distinct(parameter, listed, owner=_OWNER)


def _checked_model(model: Any, parameters: object) -> Any:
    if isinstance(model, str):
        return model if model.startswith(OWN) else one_of("model", model, MODELS, owner=_OWNER)
    if not all(callable(getattr(model, method, None)) for method in ("fit", "predict")):
        must_be = f"one of {', '.join(MODELS)}, or a classifier with 'fit' and 'predict'"
        got = f"a value of type {type(model).__name__}"
        raise InvalidParameterError("model", owner=_OWNER, must_be=must_be, got=got)
    if parameters:
        must_be = "empty for a classifier that is made already"
        raise InvalidParameterError("parameters", owner=_OWNER, must_be=must_be, got=parameters)
    return model


def privatize_command(setting: Setting, schema: Schema, *, data: str, file: str, outcomes: str = "") -> str:
    """Return ``evenhand privatize`` with the protocol, split, columns and domains of a setting.

    `data` and `file`, the schema of the study, are as they are typed; so is `outcomes`, for the optimal
    protocol the file of public shares and outcome rates of the groups. Empty for what the command cannot do:
    the optimal protocol without such a file, protocols as they were printed, and parity afterwards.

    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> setting = report_setting("auto", Fraction(1, 2), "optimal", "independent")
    >>> print(privatize_command(setting, schema, data="people.csv", file="schema.toml"))
    evenhand privatize people.csv reports.csv --schema schema.toml ... --protocol auto --split optimal
    """
    is_optimal = setting.mechanism == NAME
    unknown = not outcomes if is_optimal else protocol_parameters(setting)
    if setting.epsilon is None or unknown or has_parity(setting):
        return ""
    strategy, split = str(setting.option("strategy")), str(setting.option("split"))
    names = typed_list((str(schema.protected),) if strategy == "single" else schema.sensitive)
    out = "reports.csv" if PurePath(data).name != "reports.csv" else "private-reports.csv"
    words = ["evenhand", "privatize", data, out, "--schema", file]
    own = protocol_names(setting, schema)
    is_mixed = strategy == "independent" and set(own.values()) != {setting.mechanism} and not is_optimal
    protocol = typed_list(f"{name}={own[name]}" for name in own) if is_mixed else setting.mechanism
    words += ["--columns", names, "--epsilon", as_text(setting.epsilon), "--protocol", protocol]
    words += ["--outcomes", outcomes] if is_optimal else []
    words += ["--split", split] if split != UNPROTECTED else []
    words += ["--strategy", strategy] if strategy != "independent" else []
    return shlex.join(words)
