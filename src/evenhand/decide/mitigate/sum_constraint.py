r"""Sum constraint: noisy counts are moved, all by the same, to add up to a public total.

After the step the noise on a count is :math:`\eta_i - \bar\eta`, so the noise in the weighted total is
:math:`\sum_j (a_j - \bar a) \eta_j`: still a sum of independent noises, but with weights of both signs that
add up to 0. The series of :mod:`~evenhand.decide.allotment.series` goes through with
:math:`u_i = a_i (\eta_i - \bar\eta) / Z' - P'_i t`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.noisy_total import EVENT
from evenhand.decide.allotment.series import RELATIVE
from evenhand.decide.exact.noise_laws import even_moments, most_orders, standard_cumulants
from evenhand.decide.mitigate.mitigation import (
    Mitigation,
    add_assumption,
    build_mitigation,
    law_of,
    plain_release,
    release_error,
    start_release,
)
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter
from evenhand.decide.result.payments import payments_of
from evenhand.release.postprocess.steps import SumTo

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.privacy.guarantees.units import Unit
    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]

_ASSUMED = "the total that counts are moved to add up to is public"
_MOST_ORDERS = 10
_AIM = 1e-12
_ROUNDING = 1024 * np.finfo(np.float64).eps


def sum_constraint(
    problem: Any,
    data: Any,
    noise: Any,
    *,
    total: float,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    r"""Move noisy counts, all by the same, so that they add up to a total that is public.

    .. math:: \hat x_i = \tilde x_i + \tfrac1n \big( S - \sum_j \tilde x_j \big)

    The biases of the counts move by the same, so the alpha of the counts stays as it is; that of shares does
    not.

    **Guarantee.** That of the plain release, which it assumes :math:`S` to be public for: post-processing.

    Parameters
    ----------
    problem : Allotment or Rule
        What is decided.
    data : Entities, mapping or array
        The true counts.
    noise : Law or mechanism
        The noise on every count.
    total : float
        The public total :math:`S` of the counts. It must not be taken from the private table.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws, rng, progress
        For what has to be sampled; for a rule everything is.

    Examples
    --------
    >>> from evenhand.privacy.laws import Laplace
    >>> shares, counts = Allotment([1, 2, 1.5]), {"x": [30, 50, 80]}
    >>> constrained = sum_constraint(shares, counts, Laplace(2), total=160, unit="add or remove one")
    >>> [f"{value:.3e}" for value in constrained.bias]
    ['7.170e-05', '-1.024e-04', '3.073e-05']
    """
    step = SumTo(total)
    words = (
        f"Noisy counts moved, all by the same, to add up to {step.total:,.15g}, which must be public. "
        "Differences between counts stay as they are."
    )
    if isinstance(problem, Allotment):
        law, how = law_of(problem, noise), {"draws": draws, "rng": rng, "progress": progress}
        source, guarantee, plain = start_release(problem, data, noise, unit, owner="sum_constraint", **how)
        figures = constrained_bias(problem, plain.counts[problem.count], law, total=step.total)
        if figures is not None:
            values, error, variance = figures
            return build_mitigation(
                "sum constraint",
                words,
                add_assumption(guarantee, _ASSUMED),
                plain,
                release_error(problem, plain, noise, [step], source),
                bias=values,
                variance=variance,
                error_bound=error,
                payments=payments_of(problem, plain.counts[problem.count], law, (step,)),
                method="series, certified where the total is within nine tenths of the expected one",
                standard_error=None,
                draws=None,
                notes=(),
            )
    named: dict[str, Any] = {"name": "sum constraint", "words": words, "post": [step]}
    release = plain_release(problem, data, noise, unit=unit, draws=draws, rng=rng, progress=progress, **named)
    return replace(release, guarantee=add_assumption(release.guarantee, _ASSUMED))


def constrained_bias(
    problem: Allotment, counts: Any, law: Law, *, total: float
) -> tuple[Values, Values, Values] | None:
    """Return bias, its bound and the variance to the second order, or None where the bound is not small.

    Parameters
    ----------
    problem : Allotment
        The weights.
    counts : array
        The true counts.
    law : Law
        The noise on every count.
    total : float
        What the counts add up to after the step.
    """
    x, a = np.asarray(counts, dtype=np.float64), problem.weights
    moved = x + (total - x.sum()) / x.size
    whole = float(a @ moved)
    most = min(_MOST_ORDERS, most_orders(law) - 1)
    if not whole > 0 or most < 1:
        return None
    shares, reach = a * moved / whole, law.standard_deviation / whole
    own, in_total = a * reach, (a - a.mean()) * reach
    standard = np.array(standard_cumulants(law, most + 1))
    powers = np.array([float((in_total ** (2 * m)).sum()) for m in range(1, most + 2)])
    moments, alone = even_moments(standard * powers), even_moments(standard)
    shift = (a * (total - x.sum()) / x.size + problem.shares(x) * (float(a @ x) - whole)) / whole
    value, size = shift.copy(), np.abs(shift)
    effects = np.abs(shares) * moments[1] + 2 * own * np.abs(in_total).max()
    for orders in range(1, most + 1):
        mixed = _mixed(in_total, standard, moments, 2 * orders - 1)
        value += shares * moments[orders] - own * (mixed - mixed.mean())
        size += np.abs(shares) * moments[orders] + own * (np.abs(mixed) + np.abs(mixed).mean())
        power = 2 * orders + 2
        norm = float(moments[orders + 1]) ** (1 / power)
        apart = 2 * own * float(alone[orders + 1]) ** (1 / power) + np.abs(shares) * norm
        beyond = math.fsum(EVENT ** (-2 * j) for j in range(1, orders + 1))
        left = max(1 / (1 - EVENT**2), beyond) * apart * norm ** (power - 1)
        if (left <= _AIM * effects).all():
            break
    error = left + _ROUNDING * size
    if not (error <= RELATIVE * np.maximum(effects, np.abs(value))).all():
        return None
    alike = 1 - 1 / x.size
    spread = own**2 * alike - 2 * shares * own * in_total + shares**2 * moments[1]
    return value, error, np.maximum(spread, 0.0)


def _mixed(in_total: Values, standard: Values, moments: Values, power: int) -> Values:
    r"""Return :math:`E[\hat\eta_i t^m]` for odd m."""
    moment = np.zeros_like(in_total)
    for j in range(1, power + 1, 2):
        factor = math.comb(power, j) * standard[(j - 1) // 2] * moments[(power - j) // 2]
        moment += factor * in_total**j
    return moment


MITIGATION = MitigationKind(
    name="sum-constraint",
    title="Counts that add up",
    decide=sum_constraint,
    problems=("rule", "allotment"),
    does="moves counts to add up to a public total",
    guarantee="the same, if the total is public",
    cost="the total must be known",
    parameters=(MitigationParameter("total", "the public total of the counts", is_needed=True),),
)
