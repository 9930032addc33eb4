"""The mechanisms of release by name, and with their parameters as a plan names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand._registry import PluginRules, Registry
from evenhand.errors import EvenhandError, InvalidParameterError, UnknownNameError
from evenhand.privacy.records import build_from_record, find_class
from evenhand.schema.values import plain_mapping

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.release.mechanisms.mechanism import ReleaseMechanism

_OWNER = "ReleaseTask"

MECHANISMS: Registry[type[ReleaseMechanism]] = Registry(
    {
        "laplace": "evenhand.release.mechanisms.noise:Laplace",
        "discrete-gaussian": "evenhand.release.mechanisms.noise:DiscreteGaussian",
        "suppression": "evenhand.release.mechanisms.suppression:Suppression",
        "swapping": "evenhand.release.mechanisms.swapping:Swapping",
        "k-anonymity": "evenhand.release.kanonymity.mechanisms:KAnonymity",
        "noisy-suppression": "evenhand.release.mechanisms.suppression:NoisySuppression",
        "random-swapping": "evenhand.release.mechanisms.random_swapping:RandomSwapping",
        "sampled-k-anonymity": "evenhand.release.kanonymity.mechanisms:SampledKAnonymity",
        "thresholded-laplace": "evenhand.release.mechanisms.thresholded:ThresholdedLaplace",
        "record-swapping": "evenhand.release.mechanisms.random_swapping:RecordSwapping",
        "generalized-sampling": "evenhand.release.mechanisms.generalized_sampling:GeneralizedSampling",
        "laplace-totals": "evenhand.release.mechanisms.totals:LaplaceTotals",
    },
    PluginRules(
        "evenhand.mechanisms",
        "mechanism",
        "a class derived from evenhand.release.ReleaseMechanism, with all of its abstract methods",
        base="evenhand.release.mechanisms.mechanism:ReleaseMechanism",
        needs=("title", "label"),
        taken=("none",),
    ),
)
"""Every mechanism class by its name. Names cost nothing to list; a class is loaded when it is taken.

Other packages add mechanisms by the entry points ``evenhand.mechanisms``."""


def mechanism_named(name: str) -> type[ReleaseMechanism]:
    """Return the mechanism class of a name, in small or capital letters.

    >>> mechanism_named("Laplace").__name__
    'Laplace'
    """
    return find_class(name, MECHANISMS, kind="Mechanism")


def takes_parameter(name: str, parameter: str) -> bool:
    """Return whether the mechanism of a name takes a parameter; no other mechanism is loaded for that."""
    return name in MECHANISMS and parameter in MECHANISMS[name].parameter_names()


def mechanisms_with(parameter: str) -> tuple[str, ...]:
    """Return the names of the mechanisms that take a parameter.

    >>> mechanisms_with("threshold")
    ('suppression', 'noisy-suppression', 'thresholded-laplace')
    """
    return tuple(name for name in MECHANISMS if takes_parameter(name, parameter))


def mechanism_from(record: Mapping[str, Any]) -> ReleaseMechanism:
    """Return the mechanism that :meth:`ReleaseMechanism.to_dict` wrote down.

    Nothing in the record is passed over: it must have the fields of its mechanism and no others. What may be
    left out is what has a default.

    Raises
    ------
    UnknownNameError
        If there is no mechanism of that name.
    InvalidParameterError
        If a field is missing, unknown, or has a value it cannot have.

    Examples
    --------
    >>> from evenhand.release import Laplace
    >>> mechanism_from(Laplace(epsilon=0.1, unit="replace one").to_dict())
    Laplace(epsilon=0.1, unit='replace one')
    """
    return build_from_record(record, MECHANISMS, kind="Mechanism", owner="mechanism_from")


@dataclass(frozen=True)
class TableMechanism:
    """A mechanism of :data:`evenhand.release.MECHANISMS` by name, with parameters besides epsilon and unit.

    Parameters
    ----------
    name : str
    parameters : mapping, default {}
        Such as ``{"threshold": 6}``. What a mechanism cannot do without and is left out has a default, which
        is written down with the others.

    Examples
    --------
    >>> TableMechanism.of("suppression")
    TableMechanism(name='suppression', parameters={'threshold': 6})
    >>> TableMechanism.of({"name": "k-anonymity", "k": 10}).takes_epsilon
    False
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or name not in MECHANISMS:
            raise UnknownNameError("Mechanism", str(name), MECHANISMS, place="one of a release")
        given = plain_mapping("mechanisms", self.parameters, owner=_OWNER)
        for fixed in ("epsilon", "unit"):
            if fixed in given:
                must_be = f"without '{fixed}', which is a field of the task and holds for every mechanism"
                raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=name)
        if "generalization" in given:
            must_be = "without 'generalization', for coarser cells cannot be compared with those of the table"
            hint = "declare coarser columns in the schema."
            raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=name, hint=hint)
        mechanism = MECHANISMS[name]
        defaults = dict(mechanism.defaults)
        if not mechanism.takes_epsilon(given):
            defaults = {key: value for key, value in defaults.items() if key != "delta"}
        object.__setattr__(self, "parameters", {**defaults, **given})

    @classmethod
    def of(cls, given: object) -> TableMechanism:
        """Return the mechanism that a name, or a mapping with ``name`` and parameters, stands for."""
        if isinstance(given, TableMechanism):
            return given
        if isinstance(given, Mapping) and "name" in given:
            return cls(given["name"], {key: value for key, value in given.items() if key != "name"})
        if isinstance(given, str):
            return cls(given)
        must_be = f"names of mechanisms ({', '.join(MECHANISMS)}), or mappings with 'name' and parameters"
        raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=given)

    @property
    def takes_epsilon(self) -> bool:
        """Whether it is run for each epsilon, or once."""
        return MECHANISMS[self.name].takes_epsilon(self.parameters)

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a plan file holds it: the name alone where it has no parameters, not even by default."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name

    def build(self, *, epsilon: Fraction | None, unit: str) -> ReleaseMechanism:
        """Return the mechanism itself.

        Raises
        ------
        InvalidParameterError
            If a parameter is not one of the mechanism, or has a value that it cannot have.
        """
        mechanism: Any = MECHANISMS[self.name]
        given = {name: _as_tuples(value) for name, value in self.parameters.items()}
        given |= {"epsilon": epsilon} if epsilon is not None else {}
        given |= {"unit": unit} if "unit" in mechanism.parameter_names() else {}
        try:
            built: ReleaseMechanism = mechanism(**given)
        except TypeError:
            must_be = f"with parameters that {mechanism.label} has"
            got = ", ".join(map(str, self.parameters)) or "none"
            raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=got) from None
        return built

    def check(self, *, epsilon: Fraction, unit: str) -> None:
        """Refuse parameters of which no mechanism can be made, before any row is read."""
        try:
            self.build(epsilon=epsilon if self.takes_epsilon else None, unit=unit)
        except InvalidParameterError as error:
            if error.owner == _OWNER:
                raise
            must_be = f"valid: '{error.parameter}' of {MECHANISMS[self.name].label} must be {error.must_be}"
            raise InvalidParameterError(
                "mechanisms", owner=_OWNER, must_be=must_be, got=self.parameters.get(error.parameter)
            ) from None
        except EvenhandError as error:
            must_be = f"ones that can be made: {str(error).removesuffix('.')}"
            raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=self.name) from None

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


def _as_tuples(value: Any) -> Any:
    """Return a parameter with lists as tuples, so that a frozen mechanism can be hashed."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
