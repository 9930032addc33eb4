"""Methods of a decision beside the plain release: steps of post-processing, and mitigations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.decide.mitigate.registry import MITIGATIONS, MitigationKind, mitigation_kind, mitigation_kinds
from evenhand.errors import InvalidParameterError
from evenhand.release.postprocess.registry import checked_step, steps_of
from evenhand.schema.values import plain_mapping
from evenhand.study.tasks.shared.table_mechanisms import JOIN
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting

_OWNER = "DecideTask"


@dataclass(frozen=True)
class Method:
    """A mitigation by name, with its parameters.

    Examples
    --------
    >>> Method.of({"name": "output-perturbation", "least_total": 1e6})
    Method(name='output-perturbation', parameters={'least_total': 1000000.0})
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = one_of("mitigations", self.name, MITIGATIONS, owner=_OWNER)
        given = plain_mapping("mitigations", self.parameters, owner=_OWNER)
        mitigation_kind(name).check_names(given, parameter="mitigations", owner=_OWNER)
        object.__setattr__(self, "parameters", given)

    @classmethod
    def of(cls, given: object) -> Method:
        """Return the mitigation that a name, or a mapping with ``name`` and parameters, stands for."""
        if isinstance(given, Method):
            return given
        if isinstance(given, Mapping) and "name" in given:
            return cls(given["name"], {key: value for key, value in given.items() if key != "name"})
        if isinstance(given, str):
            return cls(given.strip().replace("_", "-"))
        must_be = f"names of mitigations ({', '.join(MITIGATIONS)}), or mappings with 'name' and parameters"
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=given)

    @property
    def kind(self) -> MitigationKind:
        """What the mitigation declares: what it is for, and what it needs."""
        return mitigation_kind(self.name)

    @property
    def columns(self) -> dict[str, Any]:
        """The public columns of the data that it needs, by the name of their parameter."""
        return {name: self.parameters[name] for name in self.kind.columns if name in self.parameters}

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a plan file holds it."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name

    def __hash__(self) -> int:
        return hash((self.name, json.dumps(self.parameters, sort_keys=True)))


def check_needs(method: Method, mechanisms: Sequence[str]) -> None:
    """Refuse a mitigation without what it cannot do without, before anything runs."""
    method.kind.check_parameters(method.parameters, parameter="mitigations", owner=_OWNER)
    for name, column in method.columns.items():
        if not isinstance(column, str):
            must_be = f"with the name of a column as '{name}' of '{method.name}'"
            raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=column)
    if method.kind.needs_laplace and any(mechanism != "laplace" for mechanism in mechanisms):
        must_be = f"without '{method.name}' unless all noise is of 'laplace'"
        raise InvalidParameterError("mitigations", owner=_OWNER, must_be=must_be, got=method.name)


def free_mitigations(entities: int, *, is_rule: bool) -> tuple[str, ...]:
    """Return the mitigations that can be tried with nothing but the counts of so many entities.

    >>> free_mitigations(100, is_rule=True), free_mitigations(5, is_rule=True)
    (('shrink', 'piecewise-proxy'), ('shrink',))
    >>> free_mitigations(100, is_rule=False)
    ('shrink', 'linear-proxy', 'fairness-payment')
    """
    kinds = mitigation_kinds("rule" if is_rule else "allotment")
    return tuple(kind.name for kind in kinds if kind.missing({}) is None and entities >= kind.fewest_entities)


def public_columns(methods: Sequence[Method]) -> tuple[str, ...]:
    """Return the public columns of the data that mitigations need, each once."""
    return tuple(dict.fromkeys(column for method in methods for column in method.columns.values()))


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


def method_of(setting: Setting) -> tuple[tuple[str, ...], Method | None]:
    """Return the steps of post-processing of a setting, and its mitigation.

    >>> from evenhand.study.plan.cells import Setting
    >>> method_of(Setting("laplace", options={"post": "nonnegative+integral"}))
    (('nonnegative', 'integral'), None)
    """
    if "mitigation" in setting.options:
        return (), Method(setting.option("mitigation"), setting.option("mitigation_parameters", {}))
    return tuple(setting.option("post").split(JOIN)) if "post" in setting.options else (), None


def noise_parameters(setting: Setting) -> dict[str, Any]:
    """Return the parameters of the mechanism that adds the noise."""
    besides = ("post", "mitigation", "mitigation_parameters")
    return {name: value for name, value in setting.options.items() if name not in besides}


def method_title(setting: Setting) -> str:
    """Return what is done besides adding noise, in a few words.

    >>> from evenhand.study.plan.cells import Setting
    >>> method_title(Setting("laplace")), method_title(Setting("laplace", options={"post": "nonnegative"}))
    ('Plain release', 'Negatives set to 0')
    """
    steps, mitigation = method_of(setting)
    if mitigation is not None:
        return mitigation.kind.title
    if not steps:
        return "Plain release"
    said = ", ".join(step.label for step in steps_of(steps))
    return said[:1].upper() + said[1:]


def setting_words(setting: Setting) -> str:
    """Return a setting as a list of them says it.

    >>> from fractions import Fraction
    >>> from evenhand.study.plan.cells import Setting
    >>> setting_words(Setting("laplace", Fraction(1, 10), options={"post": "nonnegative"}))
    'Laplace noise (negatives set to 0), ε = 0.1'
    """
    method = method_title(setting)
    noise = mechanism_name(replace(setting, options=noise_parameters(setting)))
    beside = "" if method_of(setting) == ((), None) else f" ({method[:1].lower()}{method[1:]})"
    return str(replace(setting, label=f"{noise}{beside}"))
