"""Ways of a decision beside the plain release: steps of post-processing, and mitigations."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.errors import InvalidParameterError
from evenhand.release.postprocess.registry import checked_step, steps_of
from evenhand.schema.plain import plain_mapping
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.decide.names import MITIGATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["JOIN", "Way", "check_needs", "checked_post", "way_of", "way_title"]

JOIN = "+"
"""Stands between the steps of post-processing in the name of a setting."""

_OWNER = "DecideTask"


@dataclass(frozen=True)
class Way:
    """A mitigation by name, with its parameters.

    Examples
    --------
    >>> Way.of({"name": "output-perturbation", "least_total": 1e6})
    Way(name='output-perturbation', parameters={'least_total': 1000000.0})
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = one_of("mitigations", self.name, MITIGATIONS, owner=_OWNER)
        given = plain_mapping("mitigations", self.parameters, owner=_OWNER)
        known = MITIGATIONS[name].parameters
        for each in given:
            if each not in known:
                must_be = f"with parameters that '{name}' has ({', '.join(known) or 'none'})"
                raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=each)
            if isinstance(given[each], float) and not math.isfinite(given[each]):
                must_be = f"with numbers that are finite: '{each}' of '{name}' is not"
                raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=given[each])
        object.__setattr__(self, "parameters", given)

    @classmethod
    def of(cls, given: object) -> Way:
        """Return the mitigation that a name, or a mapping with ``name`` and parameters, stands for."""
        if isinstance(given, Way):
            return given
        if isinstance(given, Mapping) and "name" in given:
            return cls(given["name"], {key: value for key, value in given.items() if key != "name"})
        if isinstance(given, str):
            return cls(given.strip().replace("_", "-"))
        must_be = f"names of mitigations ({', '.join(MITIGATIONS)}), or mappings with 'name' and parameters"
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=given)

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a plan file holds it."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


def check_needs(way: Way, mechanisms: Sequence[str]) -> None:
    """Refuse a mitigation without what it cannot do without, before anything runs."""
    given = way.parameters
    if way.name == "sum-constraint" and given.get("total") is None:
        how = f"{way.name}=5000, or 'total' in a plan"
        must_be = f"given with the public total of the counts for '{way.name}': {how}"
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got="none")
    if way.name != "output-perturbation":
        return
    if given.get("least_total") is None and given.get("least_part") is None:
        must_be = (
            f"given with a public least total for '{way.name}', below which the weighted total cannot fall, "
            f"and which is known without the table: {way.name}=5000, or 'least_total' in a plan"
        )
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got="none")
    from evenhand.decide.mitigate.output import check_public  # noqa: PLC0415 - starts numpy

    try:
        check_public(*(given.get(name) for name in ("least_total", "least_part", "declared_public")))
    except InvalidParameterError as error:
        must_be = f"right for '{way.name}': '{error.parameter}' must be {error.must_be}"
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got="another") from None
    if any(each != "laplace" for each in mechanisms):
        must_be = f"without '{way.name}' unless all noise is of 'laplace'"
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=way.name)


def checked_post(given: object) -> tuple[str, ...]:
    """Return steps of post-processing as a plan writes them, or refuse one."""
    steps = tuple(given) if isinstance(given, list | tuple) else (given,)
    try:
        return tuple(checked_step(each) for each in steps)
    except InvalidParameterError as error:
        shown = next((each for each in steps if not _is_step(each)), steps)
        raise InvalidParameterError("post", owner=_OWNER, must_be=error.must_be, got=shown) from None


def _is_step(step: object) -> bool:
    try:
        checked_step(step)
    except InvalidParameterError:
        return False
    return True


def way_of(setting: Setting) -> tuple[tuple[str, ...], Way | None]:
    """Return the steps of post-processing of a setting, and its mitigation.

    >>> way_of(Setting("laplace", strategy="nonnegative+integral"))
    (('nonnegative', 'integral'), None)
    """
    if setting.strategy == UNPROTECTED:
        return (), None
    if setting.strategy in MITIGATIONS:
        return (), Way(setting.strategy, setting.parameters.get("mitigation", {}))
    return tuple(setting.strategy.split(JOIN)), None


def way_title(setting: Setting) -> str:
    """Return what is done besides adding noise, in a few words.

    >>> way_title(Setting("laplace")), way_title(Setting("laplace", strategy="nonnegative"))
    ('Plain release', 'Negatives set to 0')
    """
    steps, mitigation = way_of(setting)
    if mitigation is not None:
        return MITIGATIONS[mitigation.name].title
    if not steps:
        return "Plain release"
    said = ", ".join(step.label for step in steps_of(steps))
    return said[:1].upper() + said[1:]
