"""Linear proxy: the weighted total is released too, so that shares are linear in the noisy counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.principal_values import Reciprocal, reciprocal_mean
from evenhand.decide.exact.noise import with_terms
from evenhand.decide.mitigate.mitigation import (
    Mitigation,
    build_mitigation,
    draw_error,
    law_of,
    require_problem,
    restate_guarantee,
    scaled_law,
    start_release,
)
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter
from evenhand.decide.result.bias import total_notes
from evenhand.decide.result.payments import NEVER, Payments
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteLaplace, Laplace, Law

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import SeededSource


def linear_proxy(
    problem: Allotment,
    data: Any,
    noise: Any,
    *,
    total: float | None = None,
    part: float = 0.5,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    r"""Divide noisy weighted counts by a total that is released on its own.

    .. math:: \bar P_i = a_i \tilde x_i / \tilde Z, \quad
              E[\bar P_i] - P_i = P_i \left( Z\, E[1 / \tilde Z] - 1 \right)

    since the noise in :math:`\tilde Z` is independent of that in :math:`\tilde x_i`. All shares are too large
    by the same factor: small places lose nothing to large ones, but larger shares have larger biases. The
    shares no longer add up to 1.

    **Guarantee.** That of the plain release: a `part` of the budget goes to the total, the rest to the
    counts. One person who is added or removed moves the total by at most the largest weight; one who is
    replaced, by the largest minus the smallest, assuming that everybody is counted in exactly one entity.

    Parameters
    ----------
    problem : Allotment
        The weights.
    data : Entities, mapping or array
        The true counts.
    noise : Law or mechanism
        The noise that would spend the whole budget on the counts.
    total : float, optional
        A public total, > 0: then the budget goes to the counts alone, and shares are off by the same factor
        as the public total is.
    part : float
        The part of the budget that the total takes, between 0 and 1.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws, rng, progress
        Draws serve the mean absolute error alone.

    Notes
    -----
    [1]_ calls the proxy perfectly fair, which holds for an exact or public total only: with noise in it the
    bias is about :math:`P_i \operatorname{Var}(\tilde Z) / Z^2`.

    References
    ----------
    .. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a fairness
           lens. IJCAI. Section 7.2.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> proxy = linear_proxy(
    ...     Allotment([1, 2, 1.5]), {"x": [30, 50, 80]}, Laplace(2), unit="add or remove one"
    ... )
    >>> [f"{value:.2e}" for value in proxy.bias]
    ['2.49e-04', '8.30e-04', '9.96e-04']
    """
    owner = "linear_proxy"
    allotment = require_problem(problem, Allotment, owner=owner)
    _check(total, part)
    how: dict[str, Any] = {"draws": draws, "rng": rng, "progress": progress}
    source, guarantee, plain = start_release(problem, data, noise, unit, owner=owner, **how)
    counts = plain.counts[allotment.count].astype(np.float64)
    true_total = float(allotment.total(counts))
    spent = law_of(problem, noise)
    law, total_law = _laws(allotment, spent, guarantee.unit, total, part)
    reciprocal = (
        _known_total(true_total, total) if total_law is None else reciprocal_mean(true_total, total_law)
    )
    spread = (allotment.weights / true_total) ** 2 * law.variance
    truth = plain.truth.astype(np.float64)

    def shares(rows: int, source: SeededSource) -> Any:
        noisy = (counts + law.draw(size=(rows, counts.size), source=source)) * allotment.weights
        if total_law is None:
            return noisy / (true_total if total is None else total)
        with np.errstate(divide="ignore", invalid="ignore"):  # a total of 0 has no shares, and is left out
            return noisy / (true_total + total_law.draw(size=(rows, 1), source=source))

    def below_zero() -> Any:
        known = total_law is None or float(total_law.cdf(-true_total)) <= NEVER
        return np.where(allotment.weights > 0, law.sf(counts), 0.0) if known else None

    return build_mitigation(
        "linear proxy",
        _words(total_law, total, part, reciprocal),
        _joint_guarantee(guarantee, spent, total_law, total),
        plain,
        draw_error(shares, truth, source=source),
        bias=truth * reciprocal.excess,
        variance=(truth**2 + spread) * reciprocal.square - (truth * (1 + reciprocal.excess)) ** 2,
        error_bound=truth * reciprocal.error,
        method=f"one over the noisy total: {reciprocal.method}",
        standard_error=None,
        draws=None,
        payments=Payments(shares, below_zero),
        notes=() if total_law is None else total_notes(float(total_law.cdf(-true_total)), "", total_law),
    )


def total_sensitivity(problem: Allotment, unit: Unit) -> float:
    """Return by how much one person can change the weighted total.

    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> total_sensitivity(Allotment([1, 2, 3]), Unit.REPLACE_ONE)
    2.0
    """
    largest = float(problem.weights.max())
    return largest - float(problem.weights.min()) if unit is Unit.REPLACE_ONE else largest


def _check(total: float | None, part: float) -> None:
    number = isinstance(part, int | float) and not isinstance(part, bool)
    if not number or not 0 < part < 1:
        raise InvalidParameterError(
            "part", owner="linear_proxy", must_be="a number between 0 and 1", got=part
        )
    if total is not None and not (isinstance(total, int | float) and 0 < total < math.inf):
        must_be = "a finite number > 0, and public"
        raise InvalidParameterError("total", owner="linear_proxy", must_be=must_be, got=total)


def _laws(
    problem: Allotment, law: Law, unit: Unit, total: float | None, part: float
) -> tuple[Law, Law | None]:
    """Return the noise on the counts and that on the total; none where the total is known."""
    moved = total_sensitivity(problem, unit)
    if total is not None or not moved:
        return law, None
    cells = 2 if unit is Unit.REPLACE_ONE else 1
    base = cells if isinstance(law, Laplace | DiscreteLaplace) else math.sqrt(cells)
    whole = law.support == "integers" and bool((problem.weights % 1 == 0).all())
    try:
        return scaled_law(law, part=1 - part), scaled_law(law, part=part, factor=moved / base, whole=whole)
    except InvalidParameterError:  # of the scale, which nobody typed
        must_be = (
            "a part that leaves the counts and the total noise that can be drawn, with a scale below 2**31"
        )
        raise InvalidParameterError("part", owner="linear_proxy", must_be=must_be, got=part) from None


def _joint_guarantee(
    guarantee: Guarantee, spent: Law, total_law: Law | None, total: float | None
) -> Guarantee:
    """Return what both releases promise, with all that is assumed about the total."""
    assumed = []
    if total is not None:
        assumed.append("the total is public")
    elif guarantee.unit is Unit.REPLACE_ONE:
        assumed.append("each person is counted in exactly one entity, before and after being replaced")
    if total_law is None:
        return with_terms(guarantee, assumptions=(*guarantee.assumptions, *assumed))
    assumed.append("the total and the counts are released with independent noise")
    if total_law.idealized and not spent.idealized:
        assumed.append("the noise on the total is drawn from real numbers: simulation only")
    return restate_guarantee(
        guarantee, law=spent, proof="noise on the counts and on the total", assumptions=assumed
    )


def _known_total(true_total: float, total: float | None) -> Reciprocal:
    ratio = 1.0 if total is None else true_total / total
    return Reciprocal(ratio - 1, ratio**2, 0.0, "the total is known")


def _words(total_law: Law | None, total: float | None, part: float, reciprocal: Reciprocal) -> str:
    if total_law is None:
        known = (
            "public"
            if total is not None
            else "the same for all replacements of a person, as all weights are equal"
        )
        return f"Noisy weighted counts over a total that is {known}. Shares need not add up to 1."
    ideal = (
        "" if total_law.support == "integers" else " The noise on the total is real-valued: simulation only."
    )
    return (
        f"Noisy weighted counts over a noisy total, which takes {part:.0%} of the privacy budget. All shares "
        f"are {100 * reciprocal.excess:.2g} % too large on average, and need not add up to 1.{ideal}"
    )


MITIGATION = MitigationKind(
    name="linear-proxy",
    title="Linear proxy",
    decide=linear_proxy,
    problems=("allotment",),
    does="divides by a total released on its own",
    guarantee="the same, split in two",
    cost="noisier counts; shares do not add up to 1",
    parameters=(
        MitigationParameter("total", "a public weighted total"),
        MitigationParameter("part", "the part of the budget that the total takes"),
    ),
)
