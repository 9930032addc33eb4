"""The mitigations by name, and what each file of one declares about itself.

A mitigation is one file with a :class:`MitigationKind` called ``MITIGATION``, and one line of
:data:`MITIGATIONS`. :func:`~evenhand.decide.mitigate.compare`, plans, the command line, reports and the
documentation ask here what there is, what it is for and what it needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evenhand._registry import PluginRules, Registry
from evenhand.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.decide.mitigate.mitigation import Mitigation

MITIGATIONS: Registry[MitigationKind] = Registry(
    {
        "shrink": "evenhand.decide.mitigate.shrink:MITIGATION",
        "sum-constraint": "evenhand.decide.mitigate.sum_constraint:MITIGATION",
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
        What a report warns of where it is tried.
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

    def check_names(self, given: Mapping[str, Any], *, parameter: str, owner: str) -> None:
        """Refuse parameters that it has not, and numbers that are not finite.

        Parameters
        ----------
        given : mapping of str to value
            The parameters by name.
        parameter, owner : str
            What a refusal calls them, and whose they are.
        """
        known = [own.name for own in self.parameters]
        for name, value in given.items():
            if name not in known:
                must_be = f"with parameters that '{self.name}' has ({', '.join(known) or 'none'})"
                raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=name)
            if isinstance(value, float) and not math.isfinite(value):
                must_be = f"with numbers that are finite: '{name}' of '{self.name}' is not"
                raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=value)

    def check_parameters(self, given: Mapping[str, Any], *, parameter: str, owner: str) -> None:
        """Refuse parameters if one that is needed is missing, or if they do not go together."""
        missing = self.missing(given)
        if missing is not None:
            how = f"{self.name}={missing.example}, or '{missing.name}' in a plan"
            must_be = f"given with {missing.meaning} for '{self.name}'{missing.more}: {how}"
            raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got="none")
        if self.check is None:
            return
        try:
            self.check(given)
        except InvalidParameterError as error:
            must_be = f"right for '{self.name}': '{error.parameter}' must be {error.must_be}"
            raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got="another") from None


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
