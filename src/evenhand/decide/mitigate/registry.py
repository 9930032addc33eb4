"""The mitigations by name, and what each file of one declares about itself.

A mitigation is one file with a :class:`MitigationKind` called ``MITIGATION``, and one line of
:data:`MITIGATIONS`. :func:`~evenhand.decide.mitigate.compare`, plans, the command line, reports and the
documentation ask here what there is, what it is for and what it needs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from evenhand._registry import PluginRules, Registry
from evenhand._validate import one_of
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.schema.values import plain_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evenhand.decide.mitigate.mitigation import Mitigation

MITIGATIONS: Registry[MitigationKind] = Registry(
    {
        "shrink": "evenhand.decide.mitigate.shrink:MITIGATION",
        "sum-constraint": "evenhand.decide.mitigate.sum_constraint:MITIGATION",
        "margin": "evenhand.decide.mitigate.margin:MITIGATION",
        "piecewise-proxy": "evenhand.decide.mitigate.piecewise:MITIGATION",
        "linear-proxy": "evenhand.decide.mitigate.linear:MITIGATION",
        "output-perturbation": "evenhand.decide.mitigate.output:MITIGATION",
        "fairness-payment": "evenhand.decide.mitigate.payment:MITIGATION",
    },
    PluginRules(
        "evenhand.mitigations",
        "mitigation",
        "a MitigationKind of evenhand.decide.mitigate.registry",
        base="evenhand.decide.mitigate.registry:MitigationKind",
        is_class=False,
        taken=("plain", "clamp", "none"),
    ),
)
"""Each mitigation by the name that plans and the command line have for it, in the order in which they are
compared. Other packages add mitigations by the entry points ``evenhand.mitigations``."""

Problem = Literal["rule", "allotment"]

_OWNER = "DecideTask"


@dataclass(frozen=True)
class MitigationParameter:
    """Something that a mitigation is given beside the counts and the noise.

    Parameters
    ----------
    name : str
        The keyword of the function, and the key in a plan.
    meaning : str
        What it is, for a message: "the public total of the counts".
    value : {"number", "whole number", "column", "word", "yes or no"}
        What it holds. A plan names a column of the data, and the function gets its numbers, one for each
        entity; they must be public.
    is_needed : bool
        Whether the mitigation cannot decide without it.
    instead : str
        Another parameter that may be given in its place.
    example : str
        A value, for a message.
    more : str
        What else must be known about it, for a message that asks for it.
    """

    name: str
    meaning: str = ""
    value: Literal["number", "whole number", "column", "word", "yes or no"] = "number"
    is_needed: bool = False
    instead: str = ""
    example: str = "5000"
    more: str = ""

    def parse(self, text: str) -> str | float | int:
        """Return the value that a text stands for.

        Raises
        ------
        ValueError
            If it must be a number and the text is none.

        Examples
        --------
        >>> MitigationParameter("groups", value="whole number").parse("9")
        9
        """
        if self.value in {"column", "word"}:
            return text
        number = float(text)
        whole = self.value == "whole number"
        if not math.isfinite(number) or (whole and not number.is_integer()):
            raise ValueError(text)
        return int(number) if whole else number


@dataclass(frozen=True, kw_only=True)
class MitigationKind:
    """What a mitigation is called, what it is for, what it needs and how it decides.

    Parameters
    ----------
    name : str
        As plans and the command line write it, such as ``"linear-proxy"``.
    title : str
        In a table or a sentence of a report.
    decide : callable
        Takes the problem, the true data and the noise, with the parameters and `unit`, `draws`, `rng` and
        `progress` as keywords, and returns a :class:`~evenhand.decide.mitigate.Mitigation`.
    problems : tuple of {"rule", "allotment"}
        What it is for.
    does, guarantee, cost : str
        What it does, what one person is promised and what it costs, in a few words for a table.
    parameters : tuple of MitigationParameter
        What it takes, the most important first: that one follows ``=`` on the command line.
    needs_laplace : bool
        Whether the noise must be that of Laplace.
    fewest_entities : int
        How many entities it takes with its own parameters left out.
    takes_post : bool
        Whether it takes steps of post-processing, as `post`.
    variants : tuple of mapping
        The parameters with which :func:`~evenhand.decide.mitigate.compare` lists it.
    cautions : mapping of {"rule", "allotment"} to str
        What a report warns of where it is tried: a few words in bold, then a sentence. Those of evenhand's
        own mitigations stand with the other words of reports, in every language.
    check : callable, optional
        Refuses parameters that do not go together, by an InvalidParameterError.
    """

    name: str
    title: str
    decide: Callable[..., Mitigation]
    problems: tuple[Problem, ...]
    does: str
    guarantee: str
    cost: str
    parameters: tuple[MitigationParameter, ...] = ()
    needs_laplace: bool = False
    fewest_entities: int = 1
    takes_post: bool = False
    variants: tuple[Mapping[str, Any], ...] = ({},)
    cautions: Mapping[Problem, str] = field(default_factory=dict)
    check: Callable[[Mapping[str, Any]], None] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The parameters that hold a public column of the data."""
        return tuple(parameter.name for parameter in self.parameters if parameter.value == "column")

    def missing(self, given: Mapping[str, Any]) -> MitigationParameter | None:
        """Return the first parameter that is needed and not given; None if there is none."""
        for parameter in self.parameters:
            names = (parameter.name, parameter.instead)
            if parameter.is_needed and all(given.get(name) is None for name in names):
                return parameter
        return None


@dataclass(frozen=True)
class NamedMitigation:
    """A mitigation of :data:`MITIGATIONS` by name, with its parameters, as a plan has it.

    Examples
    --------
    >>> NamedMitigation.of({"name": "output-perturbation", "least_total": 1e6})
    NamedMitigation(name='output-perturbation', parameters={'least_total': 1000000.0})
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of("mitigations", self.name, MITIGATIONS, owner=_OWNER)
        given = plain_mapping("mitigations", self.parameters, owner=_OWNER)
        known = [own.name for own in self.kind.parameters]
        for name, value in given.items():
            if name not in known:
                _refuse(f"with parameters that '{self.name}' has ({', '.join(known) or 'none'})", name)
            if isinstance(value, float) and not math.isfinite(value):
                _refuse(f"with numbers that are finite: '{name}' of '{self.name}' is not", value)
        object.__setattr__(self, "parameters", given)

    @classmethod
    def of(cls, given: object) -> NamedMitigation:
        """Return the mitigation that a name, or a mapping with ``name`` and parameters, stands for."""
        if isinstance(given, NamedMitigation):
            return given
        if isinstance(given, Mapping) and "name" in given:
            return cls(given["name"], {key: value for key, value in given.items() if key != "name"})
        if isinstance(given, str):
            return cls(given.strip().replace("_", "-"))
        must_be = f"names of mitigations ({', '.join(MITIGATIONS)}), or mappings with 'name' and parameters"
        return _refuse(must_be, given)

    @property
    def kind(self) -> MitigationKind:
        """What the mitigation declares: what it is for, and what it needs."""
        return MITIGATIONS[self.name]

    @property
    def columns(self) -> dict[str, Any]:
        """The public columns of the data that it needs, by the name of their parameter."""
        return {name: self.parameters[name] for name in self.kind.columns if name in self.parameters}

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a plan file holds it."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name

    def check(self, problem: Problem, mechanisms: Iterable[str]) -> None:
        """Refuse it for what it is not for, without what it needs, and beside other noise than its own."""
        kind = self.kind
        if problem not in kind.problems:
            what = " and ".join(f"{each}s" for each in kind.problems)
            _refuse(f"ones that fit: '{self.name}' is for {what}", self.name)
        missing = kind.missing(self.parameters)
        if missing is not None:
            how = f"{self.name}={missing.example}, or '{missing.name}' in a plan"
            _refuse(f"given with {missing.meaning} for '{self.name}'{missing.more}: {how}", "none")
        try:
            if kind.check is not None:
                kind.check(self.parameters)
        except InvalidParameterError as error:
            _refuse(f"right for '{self.name}': '{error.parameter}' must be {error.must_be}", "another")
        for name, column in self.columns.items():
            if not isinstance(column, str):
                _refuse(f"with the name of a column as '{name}' of '{self.name}'", column)
        if kind.needs_laplace and any(mechanism != "laplace" for mechanism in mechanisms):
            _refuse(f"without '{self.name}' unless all noise is of 'laplace'", self.name)

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


def _refuse(must_be: str, got: object) -> NoReturn:
    raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=got) from None


def mitigation_kind(name: str) -> MitigationKind:
    """Return what a mitigation declares.

    >>> mitigation_kind("linear-proxy").problems
    ('allotment',)
    """
    if name not in MITIGATIONS:
        raise UnknownNameError("Mitigation", name, MITIGATIONS)
    return MITIGATIONS[name]


def mitigation_kinds(problem: Problem | None = None) -> tuple[MitigationKind, ...]:
    """Return every mitigation of evenhand, or those for a rule or an allotment, in the order of comparisons.

    Those of other packages are tried where they are named, and never because they are installed.
    """
    kinds = (MITIGATIONS[name] for name in MITIGATIONS.own)
    return tuple(kind for kind in kinds if problem is None or problem in kind.problems)


def free_mitigations(entities: int, *, is_rule: bool) -> tuple[str, ...]:
    """Return the mitigations that can be tried with nothing but the counts of so many entities.

    >>> free_mitigations(100, is_rule=True), free_mitigations(5, is_rule=True)
    (('shrink', 'margin', 'piecewise-proxy'), ('shrink', 'margin'))
    >>> free_mitigations(100, is_rule=False)
    ('shrink', 'linear-proxy', 'fairness-payment')
    """
    kinds = mitigation_kinds("rule" if is_rule else "allotment")
    return tuple(kind.name for kind in kinds if kind.missing({}) is None and entities >= kind.fewest_entities)
