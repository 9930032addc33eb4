"""The grid of a local collection: protocols x epsilons x splits x strategies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.collect import PROTOCOLS
from evenhand.collect.joint.build import STRATEGIES
from evenhand.collect.protocols.registry import protocol_named
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact
from evenhand.schema.plain import plain_mapping
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.collect.optimal_setting import NAME, OptimalWay, check_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

__all__ = ["SPLITS", "Collect", "Mechanism"]

SPLITS = ("uniform", "k-based", "optimal", "sample")
"""The ways to split a budget, by name."""

_OWNER = "Collect"
_COMBINED = ("grr", NAME)


@dataclass(frozen=True)
class Mechanism:
    """A protocol by name, with parameters besides k and epsilon.

    Parameters
    ----------
    name : str
        One of :data:`evenhand.collect.PROTOCOLS`.
    parameters : mapping, default {}
        Such as ``{"as_printed": True}``. Those of ``"optimal"`` are in
        :class:`evenhand.study.tasks.collect.optimal_setting.OptimalWay`; defaults are left out.

    Examples
    --------
    >>> Mechanism.of({"name": "olh", "as_printed": True})
    Mechanism(name='olh', parameters={'as_printed': True})
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
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
            isinstance(each, bool) for each in parameters.values()
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
        must_be = f"names of protocols ({', '.join(PROTOCOLS)}), or mappings with 'name' and parameters"
        raise InvalidParameterError("protocols", owner=_OWNER, must_be=must_be, got=given)

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


@dataclass(frozen=True, init=False)
class Collect:
    """What is tried: each protocol with each epsilon, split and strategy, where they go together.

    Splits go with the strategy ``"independent"`` only, and ``"combined"`` with GRR and optimal only. Under
    ``"independent"`` the protocol ``"optimal"`` reports the protected column by the optimal channel and the
    others by GRR; ``"single"`` reports the protected column, and ``"combined"`` all as one value.

    Parameters
    ----------
    protocols : name, Mechanism, mapping, or list of them
    epsilons : number or list of numbers
        Each the epsilon of a person's whole report.
    splits : name or list of names, default "uniform"
        Of :data:`SPLITS`.
    strategies : name or list of names, default "independent"
        ``"independent"``, ``"combined"`` or ``"single"``.

    Examples
    --------
    >>> grid = Collect(["grr", "oue"], [1, 2], strategies=["independent", "combined"])
    >>> for setting in grid.settings():
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

    def __init__(
        self,
        protocols: Any = ("grr",),
        epsilons: Any = (1,),
        *,
        splits: Any = ("uniform",),
        strategies: Any = ("independent",),
    ) -> None:
        wanted = [Mechanism.of(each) for each in _several(protocols, "protocols")]
        amounts = [
            exact(each, name="epsilons", owner=_OWNER, above=0, most=1_000_000)
            for each in _several(epsilons, "epsilons")
        ]
        parts = [one_of("splits", each, SPLITS, owner=_OWNER) for each in _several(splits, "splits")]
        ways = [
            one_of("strategies", each, STRATEGIES, owner=_OWNER)
            for each in _several(strategies, "strategies")
        ]
        object.__setattr__(self, "protocols", _distinct("protocols", wanted))
        object.__setattr__(self, "epsilons", _distinct("epsilons", amounts))
        object.__setattr__(self, "splits", _distinct("splits", parts))
        object.__setattr__(self, "strategies", _distinct("strategies", ways))
        if "combined" in ways and not any(each.name in _COMBINED for each in wanted):
            must_be = "a list with 'grr' or 'optimal', by which the strategy 'combined' reports"
            got = protocols
            raise InvalidParameterError("protocols", owner=_OWNER, must_be=must_be, got=got)
        for each in wanted:
            if each.name == NAME:
                check_error(each.parameters, min(amounts))

    def settings(self) -> Iterator[Setting]:
        """Yield every setting once, by strategy, split, protocol and epsilon."""
        for strategy in self.strategies:
            for split in self.splits if strategy == "independent" else (UNPROTECTED,):
                for mechanism in self.protocols:
                    if strategy == "combined" and mechanism.name not in _COMBINED:
                        continue
                    for epsilon in self.epsilons:
                        yield Setting(mechanism.name, epsilon, split, strategy, mechanism.parameters)


def _several(given: Any, name: str) -> list[Any]:
    if isinstance(given, str | Mapping | Mechanism) or not isinstance(given, Iterable):
        return [given]
    listed = list(given)
    if not listed:
        raise InvalidParameterError(name, owner=_OWNER, must_be="at least one", got="an empty list")
    return listed


def _distinct(name: str, values: list[Any]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise InvalidParameterError(name, owner=_OWNER, must_be="distinct", got="one of them twice")
    return tuple(values)
