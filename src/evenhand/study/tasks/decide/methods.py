"""From a setting to its methods: the noise on each count, steps of post-processing, and a mitigation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.decide.exact.noise import share_noise
from evenhand.decide.mitigate.registry import NamedMitigation
from evenhand.privacy.rational import float_above
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.release.postprocess.registry import steps_of
from evenhand.study.tasks.shared.table_mechanisms import JOIN
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.task import DecideTask

DELTA = "1e-9"
"""At which a promise in rho is told where a setting has no delta."""


def method_of(setting: Setting) -> tuple[tuple[str, ...], NamedMitigation | None]:
    """Return the steps of post-processing of a setting, and its mitigation.

    >>> from evenhand.study.plan.cells import Setting
    >>> method_of(Setting("laplace", options={"post": "nonnegative+integral"}))
    (('nonnegative', 'integral'), None)
    """
    if "mitigation" in setting.options:
        return (), NamedMitigation(setting.option("mitigation"), setting.option("mitigation_parameters", {}))
    return tuple(setting.option("post").split(JOIN)) if "post" in setting.options else (), None


def method_title(setting: Setting) -> str:
    """Return what is done besides adding noise, in a few words."""
    steps, mitigation = method_of(setting)
    if mitigation is not None:
        return mitigation.kind.title
    said = ", ".join(step.label for step in steps_of(steps)) or "plain release"
    return said[:1].upper() + said[1:]


def setting_words(setting: Setting) -> str:
    """Return a setting as a list of them says it.

    >>> from fractions import Fraction
    >>> from evenhand.study.plan.cells import Setting
    >>> setting_words(Setting("laplace", Fraction(1, 10), options={"post": "nonnegative"}))
    'Laplace noise (negatives set to 0), ε = 0.1'
    """
    method = method_title(setting)
    noise = mechanism_name(replace(setting, options=_noise_parameters(setting)))
    beside = "" if method_of(setting) == ((), None) else f" ({method[:1].lower()}{method[1:]})"
    return str(replace(setting, label=f"{noise}{beside}"))


# --- noise ----------------------------------------------------------------------------------------


def noise_of_a_count(task: DecideTask, setting: Setting) -> Any:
    """Return the mechanism by which one count is published; counts that a person is in share the promise."""
    mechanism = TableMechanism(setting.mechanism, _noise_parameters(setting))
    return share_noise(mechanism, epsilon=setting.epsilon, inputs=task.counts_touched, unit=task.unit)


def _noise_parameters(setting: Setting) -> dict[str, Any]:
    besides = ("post", "mitigation", "mitigation_parameters")
    return {name: value for name, value in setting.options.items() if name not in besides}


def claim_of(guarantee: Guarantee | None, *, delta: Any = DELTA) -> tuple[float, float]:
    """Return epsilon and delta of a claim, delta never below what it is; one in rho is read at a delta."""
    if guarantee is None or str(guarantee.trust) == "none":
        return math.nan, 1.0
    if guarantee.rho is not None:
        guarantee = guarantee.to_approximate(delta=delta)
    return float(guarantee.epsilon or 0), float_above(guarantee.delta)
