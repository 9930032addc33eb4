"""Mechanisms that publish a table, by name and with their parameters, as a plan names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError, InvalidParameterError, UnknownNameError
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.schema.values import plain_mapping

if TYPE_CHECKING:
    from fractions import Fraction

    from evenhand.release.mechanisms.mechanism import ReleaseMechanism

__all__ = ["TableMechanism"]

_OWNER = "ReleaseTask"


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
        must_be = f"names of mechanisms ({', '.join(MECHANISMS)}), or mappings with 'name' and parameters"
        raise InvalidParameterError("mechanisms", owner=_OWNER, must_be=must_be, got=given)

    @property
    def takes_epsilon(self) -> bool:
        """Whether it is run for each epsilon, or once."""
        return MECHANISMS[self.name].takes_epsilon(self.parameters)

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
        mechanism: Any = MECHANISMS[self.name]
        given = {name: _as_tuples(value) for name, value in self.parameters.items()}
        given |= {"epsilon": epsilon} if epsilon is not None else {}
        given |= {"unit": unit} if "unit" in mechanism.parameter_names() else {}
        try:
            made: ReleaseMechanism = mechanism(**given)
        except TypeError:
            must_be = f"with parameters that {MECHANISMS[self.name].label} has"
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
    return tuple(_as_tuples(each) for each in value) if isinstance(value, list) else value
