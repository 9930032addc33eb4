"""The noise of a setting on every count of a decision, and what it promises to one person."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from evenhand.decide.exact.noise import guarantee_of
from evenhand.errors import PrivacyWarning
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import exact, float_above
from evenhand.release.mechanisms.noise import DiscreteGaussian
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.study.tasks.decide.methods import noise_parameters

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.task import DecideTask

_GAUSSIAN, _DELTA = "discrete-gaussian", "1e-9"
_ROUNDS = 20


@dataclass(frozen=True)
class Promised:
    """A mechanism for each count, and what the release of all counts promises to one person.

    Parameters
    ----------
    mechanism : Laplace or DiscreteGaussian
        Of one count.
    epsilon, delta : float
        Of all of them; epsilon is NaN where nothing is promised.
    """

    mechanism: Any
    epsilon: float
    delta: float


def noise_for(task: DecideTask, setting: Setting, problem: Any) -> Promised:
    """Return the mechanism by which each count is published.

    Counts that one person is in share epsilon: Laplace noise has the same part of it on each, and Gaussian
    noise the same part of its rho.

    Parameters
    ----------
    task : DecideTask
    setting : Setting
    problem : Rule or Allotment
    """
    mechanism = noise_of_a_count(task, setting)
    promised = guarantee_of(problem, mechanism, touches=task.counts_touched)
    if _shares_rho(task, setting):
        promised = promised.to_approximate(delta=_delta(noise_parameters(setting)))
    return Promised(mechanism, *claim_of(promised))


def noise_of_a_count(task: DecideTask, setting: Setting) -> Any:
    """Return the mechanism by which one count is published, with its part of what a person is promised.

    Losses of rho add up, so Gaussian noise on each count has its part of the rho that gives epsilon at delta.
    """
    touched, parameters = task.counts_touched, noise_parameters(setting)
    if not _shares_rho(task, setting):
        share = None if setting.epsilon is None else setting.epsilon / touched
        return TableMechanism(setting.mechanism, parameters).build(epsilon=share, unit=task.unit)
    if setting.epsilon is None:
        whole = exact(parameters["rho"], name="rho", owner="DecideTask", above=0)
    else:
        whole = _rho(setting.epsilon, _delta(parameters), task.unit)
    return DiscreteGaussian(rho=whole / touched, unit=task.unit)


def _shares_rho(task: DecideTask, setting: Setting) -> bool:
    return setting.mechanism == _GAUSSIAN and task.counts_touched > 1


def _delta(parameters: dict[str, Any]) -> Fraction:
    return exact(parameters.get("delta", _DELTA), name="delta", owner="DecideTask", above=0, most=1)


def claim_of(guarantee: Guarantee | None) -> tuple[float, float]:
    """Return epsilon and delta of a claim, delta never below what it is; of one in rho, at a delta of 1e-9.

    >>> claim_of(None)
    (nan, 1.0)
    """
    if guarantee is None or str(guarantee.trust) == "none":
        return math.nan, 1.0
    if guarantee.rho is not None:
        guarantee = guarantee.to_approximate(delta=_DELTA)
    return float(guarantee.epsilon or 0), float_above(guarantee.delta)


@cache
def _rho(epsilon: Fraction, delta: Fraction, unit: str) -> Fraction:
    """Return about the largest rho that promises epsilon at delta, and never more."""

    def holds(rho: float) -> bool:
        promised = Guarantee.zcdp(Fraction(rho), unit=unit, trust="central")
        found = promised.to_approximate(delta=delta).epsilon
        return found is not None and found <= epsilon

    log = -math.log(delta)
    low = (float(epsilon) / (math.sqrt(log + float(epsilon)) + math.sqrt(log))) ** 2 * (1 - 1e-9)
    high = 4 * low
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of a trial that is not used
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
    return Fraction(low).limit_denominator(10**12)
