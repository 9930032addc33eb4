"""Mechanisms that publish a table, by name and with their parameters, as a plan names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError, InvalidParameterError, UnknownNameError
from evenhand.release.mechanisms.registry import mechanism_named
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plain import plain_mapping

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.release.mechanisms.mechanism import ReleaseMechanism

__all__ = [
    "KINDS",
    "NO_GUARANTEE",
    "UNITS",
    "Kind",
    "TableMechanism",
    "build_mechanism",
    "parameter_words",
    "table_setting",
    "title_of",
]

UNITS = ("replace one", "add or remove one")
"""What may change between two tables that nobody can tell apart."""

_OWNER = "ReleaseTask"

NO_GUARANTEE = 0.01
"""From this delta on a release has no meaningful guarantee, whatever its epsilon."""


@dataclass(frozen=True)
class Kind:
    """How a study speaks of a mechanism, and what it is given unless a plan says otherwise.

    Parameters
    ----------
    title : str
        In a table or a sentence.
    defaults : mapping
        Parameters besides epsilon and unit that a plan may leave out.
    without_epsilon : tuple of str
        Parameters that take the place of epsilon; ``("",)`` where there is no epsilon at all.
    by_columns : bool
        Whether it treats quasi-identifiers apart from other columns, so that a schema must name them.
    may_be_negative : bool
        Whether it publishes counts below nought. Where it does not, to set them to nought changes nothing.
    """

    title: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    without_epsilon: tuple[str, ...] = ()
    by_columns: bool = False
    may_be_negative: bool = False

    def takes_epsilon(self, parameters: Mapping[str, Any]) -> bool:
        """Whether a mechanism with these parameters is run once for each epsilon, or once in all."""
        return "" not in self.without_epsilon and not any(name in parameters for name in self.without_epsilon)


_NONE = ("",)

KINDS: dict[str, Kind] = {
    "laplace": Kind("Laplace noise", may_be_negative=True),
    "discrete-gaussian": Kind("Gaussian noise", {"delta": 1e-6}, ("rho",), may_be_negative=True),
    "suppression": Kind("Suppression", {"threshold": 6}, _NONE),
    "swapping": Kind("Swapping", {"fraction": 0.1}, _NONE, by_columns=True),
    "k-anonymity": Kind("k-anonymity", {"k": 5}, _NONE, by_columns=True),
    "noisy-suppression": Kind("Noisy suppression", {"threshold": 6, "noise": "count"}),
    "random-swapping": Kind("Random swapping of cells", by_columns=True),
    "sampled-k-anonymity": Kind("Sampled k-anonymity", {"k": 5}, ("beta",), by_columns=True),
    "thresholded-laplace": Kind("Threshold after noise", {"threshold": 6}),
    "record-swapping": Kind("Random swapping of records", by_columns=True),
    "generalized-sampling": Kind("Sampling, fixed groups", {"k": 10, "delta": 1e-6}),
}
"""Every mechanism of :data:`evenhand.release.MECHANISMS` by name."""


def title_of(name: str) -> str:
    """Return how a mechanism is called in a sentence.

    >>> title_of("k-anonymity"), title_of("grr")
    ('k-anonymity', 'GRR')
    """
    return KINDS[name].title if name in KINDS else name.upper()


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
        if not isinstance(name, str) or name not in KINDS:
            raise UnknownNameError("Mechanism", str(name), KINDS, place="one of a release")
        given = plain_mapping("mechanisms", self.parameters, owner=_OWNER)
        for fixed in ("epsilon", "unit"):
            if fixed in given:
                must_be = f"without '{fixed}', which is a field of the task and holds for every mechanism"
                raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=name)
        if "generalization" in given:
            must_be = "without 'generalization', for coarser cells cannot be compared with those of the table"
            hint = "declare coarser columns in the schema."
            raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=name, hint=hint)
        kind = KINDS[name]
        defaults = dict(kind.defaults)
        if not kind.takes_epsilon(given):
            defaults = {each: value for each, value in defaults.items() if each != "delta"}
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
        must_be = f"names of mechanisms ({', '.join(KINDS)}), or mappings with 'name' and parameters"
        raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=given)

    @property
    def takes_epsilon(self) -> bool:
        """Whether it is run for each epsilon, or once."""
        return KINDS[self.name].takes_epsilon(self.parameters)

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a plan file holds it: the name alone where the parameters are those that it has by default."""
        usual = TableMechanism(self.name).parameters == self.parameters
        return self.name if usual and not self.parameters else {"name": self.name, **self.parameters}

    def build(self, *, epsilon: Fraction | None, unit: str) -> ReleaseMechanism:
        """Return the mechanism itself.

        Raises
        ------
        InvalidParameterError
            If a parameter is not one of the mechanism, or has a value that it cannot have.
        """
        maker: Any = mechanism_named(self.name)
        given = {name: _value(value) for name, value in self.parameters.items()}
        given |= {"epsilon": epsilon} if epsilon is not None else {}
        given |= {"unit": unit} if any(each.name == "unit" for each in fields(maker)) else {}
        try:
            made: ReleaseMechanism = maker(**given)
        except TypeError:
            must_be = f"with parameters that {title_of(self.name)} has"
            got = ", ".join(map(str, self.parameters)) or "none"
            raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=got) from None
        return made

    def check(self, *, epsilon: Fraction, unit: str) -> None:
        """Refuse parameters of which no mechanism can be made, before any row is read."""
        try:
            self.build(epsilon=epsilon if self.takes_epsilon else None, unit=unit)
        except InvalidParameterError as error:
            if error.owner == _OWNER:
                raise
            must_be = f"valid: '{error.parameter}' of {title_of(self.name)} must be {error.must_be}"
            raise InvalidParameterError(
                "mechanisms", owner=_OWNER, must_be=must_be, got=self.parameters.get(error.parameter)
            ) from None
        except EvenhandError as error:
            must_be = f"ones that can be made: {str(error).removesuffix('.')}"
            raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=self.name) from None

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


def table_setting(mechanism: TableMechanism, epsilon: Fraction | None = None) -> Setting:
    """Return the setting of a mechanism.

    >>> str(table_setting(TableMechanism("suppression")))
    'Suppression, threshold=6'
    """
    words = [title_of(mechanism.name), *parameter_words(mechanism.parameters)]
    return Setting(mechanism.name, epsilon, mechanism.parameters, label=", ".join(words))


def parameter_words(parameters: Mapping[str, Any]) -> list[str]:
    """Return parameters in words, so that settings which differ never read the same."""
    return [name if value is True else f"{name}={value}" for name, value in sorted(parameters.items())]


def build_mechanism(setting: Setting, *, unit: str) -> ReleaseMechanism:
    """Return the mechanism of a setting."""
    return TableMechanism(setting.mechanism, setting.options).build(epsilon=setting.epsilon, unit=unit)


def _value(value: Any) -> Any:
    """Return a parameter with lists as tuples, so that a frozen mechanism can be hashed."""
    return tuple(_value(each) for each in value) if isinstance(value, list) else value
