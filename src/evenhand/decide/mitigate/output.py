"""Output perturbation: noise on the shares themselves, for which a public least total is needed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.mitigate.mitigation import (
    Mitigation,
    build_mitigation,
    law_of,
    require_problem,
    restate_guarantee,
    start_release,
)
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter
from evenhand.decide.result.payments import Payments
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteLaplace, Laplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

_MOST_PAIRED = 3_000


def output_perturbation(
    problem: Allotment,
    data: Any,
    noise: Any,
    *,
    least_total: float | None = None,
    least_part: float | None = None,
    declared_public: bool = False,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    r"""Add Laplace noise to the shares, scaled to what one person can change of all shares together.

    .. math:: \tilde P_i = P_i + \mathrm{Lap}(\Delta / \varepsilon), \quad
              \Delta = \frac{2 a_{max}}{L + a_{max}} \text{ (add or remove one)}, \quad
              \Delta = \min\Big(2, \frac{2 a_{max}}{L}\Big) \text{ (replace one)}

    where :math:`L` is ``least_total``, below which the weighted total cannot fall. The bias is 0 for every
    entity and every entity has the same error, :math:`\Delta / \varepsilon`, however small its share is.

    **Guarantee.** Pure differential privacy with the epsilon of the plain release, for every table whose
    total is at least :math:`L`. Assumes that :math:`L` is public. Numerics: idealized, simulation only.

    Parameters
    ----------
    problem : Allotment
        The weights.
    data : Entities, mapping or array
        The true counts.
    noise : Law or mechanism
        Laplace noise; only its epsilon is used.
    least_total : float, optional
        The public least total: a number from a law, a plan or an older publication, known without the table.
    least_part : float, optional
        The least total as a part of the true total, such as the 0.9 of [1]_. It comes from the private
        table, so there is no guarantee: refused unless `declared_public`.
    declared_public : bool
        Declares that the true total is public anyway.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws, rng, progress
        Not needed: everything is exact.

    Notes
    -----
    [1]_ prints :math:`2 a_{max} / L`, which :func:`share_sensitivity` proves for a person who is replaced. It
    takes :math:`L = 0.9 Z` from the table.

    References
    ----------
    .. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a fairness
           lens. IJCAI. Theorem 11.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> noisy = output_perturbation(
    ...     Allotment([1, 2, 1.5]),
    ...     {"x": [30, 50, 80]},
    ...     Laplace(2),
    ...     least_total=200,
    ...     unit="add or remove one",
    ... )
    >>> noisy.alpha, f"{noisy.mean_absolute_error:.4f}"
    (0.0, '0.0396')
    """
    owner = "output_perturbation"
    allotment, law = require_problem(problem, Allotment, owner=owner), law_of(problem, noise)
    if not isinstance(law, Laplace | DiscreteLaplace):
        raise InvalidParameterError("noise", owner=owner, must_be="Laplace noise", got=noise)
    check_public(least_total, least_part, declared_public)
    how: dict[str, Any] = {"draws": draws, "rng": rng, "progress": progress}
    _, guarantee, plain = start_release(problem, data, noise, unit, owner=owner, **how)
    total = float(allotment.total(plain.counts[allotment.count]))
    least = total * least_part if least_part is not None else float(least_total or 0)
    if least > total:
        hint = "a total below it voids the guarantee."
        must_be = "at most the total of the table"
        raise InvalidParameterError(
            "least_total", owner=owner, must_be=must_be, got="a larger one", hint=hint
        )
    cells = 2 if guarantee.unit is Unit.REPLACE_ONE else 1
    sensitivity = share_sensitivity(float(allotment.weights.max()), least, guarantee.unit)
    scale = sensitivity * float(law.scale) / cells
    zeros = np.zeros(len(plain))
    return build_mitigation(
        "output perturbation",
        _words(scale, least_part),
        restate_guarantee(
            guarantee, law=law, proof="Laplace noise on the shares", assumptions=_assumed(least_part)
        ),
        plain,
        (scale, 0.0),
        bias=zeros,
        variance=np.full(len(plain), 2 * scale**2),
        error_bound=zeros,
        method="symmetric noise on the shares",
        payments=_noisy_payments(plain.truth, Laplace(scale)),
        standard_error=None,
        draws=None,
        notes=(),
    )


def _noisy_payments(truth: NDArray[np.float64], law: Laplace) -> Payments:
    return Payments(
        lambda rows, source: truth + law.draw(size=(rows, truth.size), source=source), lambda: law.sf(truth)
    )


def share_sensitivity(largest_weight: float, least_total: float, unit: Unit | str) -> float:
    r"""Return by how much one person can change all shares together, whatever the table.

    Let a table have the total :math:`Y` without one person, who adds a weight :math:`a` at one entity, or
    :math:`b` at another, so that the totals are :math:`Z = Y + a \le Z' = Y + b`. All other weighted counts
    add up to :math:`Y`, so the shares differ in all by at most

    .. math:: Y \Big(\frac1Z - \frac1{Z'}\Big) + \frac aZ + \frac b{Z'}
              = \Big(1 - \frac aZ\Big) - \Big(1 - \frac b{Z'}\Big) + \frac aZ + \frac b{Z'} = \frac{2 b}{Z'}.

    With :math:`a = 0` that is a person who is added: at most :math:`2 a_{max} / (L + a_{max})`. With a person
    who is replaced it is at most :math:`2 a_{max} / L`, and at most 2, since :math:`Z' \ge b`. Both are met,
    the second by two entities of the largest weight.

    Parameters
    ----------
    largest_weight : float
        The largest weight.
    least_total : float
        The public least weighted total.
    unit : {"replace one", "add or remove one"}
        What may change.

    Examples
    --------
    >>> share_sensitivity(3, 19, "replace one") > share_sensitivity_here([1, 2, 3], [5, 1, 4], "replace one")
    True
    """
    if Unit(unit) is Unit.REPLACE_ONE:
        return min(2.0, 2 * largest_weight / least_total)
    return 2 * largest_weight / (least_total + largest_weight)


def share_sensitivity_here(weights: ArrayLike, counts: ArrayLike, unit: Unit | str) -> float:
    """Return by how much one person changes all shares of this table together. It is private, and a check.

    Parameters
    ----------
    weights, counts : array
        The table, with counts of people.
    unit : {"replace one", "add or remove one"}
        What changes; with ``"add or remove one"`` a person is removed, which is more than adding one.

    Examples
    --------
    >>> f"{share_sensitivity_here([1, 2, 3], [5, 1, 4], 'add or remove one'):.14f}"
    '0.21052631578947'
    >>> f"{share_sensitivity_here([1, 2, 3], [5, 1, 4], 'replace one'):.14f}"
    '0.26315789473684'
    """
    a, x = np.asarray(weights, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if a.shape != x.shape or a.ndim != 1 or a.size > _MOST_PAIRED or not float(a @ x) > 0:
        must_be = f"one count for each of at most {_MOST_PAIRED:,} weights, with a total above 0"
        raise InvalidParameterError("counts", owner="share_sensitivity_here", must_be=must_be, got="others")
    total, here = float(a @ x), x >= 1
    if Unit(unit) is Unit.ADD_OR_REMOVE_ONE:
        some = here & (total > a)
        return float(
            (2 * a * (total - a * x) / (total * np.where(some, total - a, 1)))[some].max(initial=0.0)
        )
    leaves, enters = a[here, np.newaxis], a[np.newaxis, :]
    after = total - leaves + enters
    part_left, part_entered = a[here] * x[here], a * x
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (total - part_left[:, np.newaxis] - part_entered) * np.abs(1 / after - 1 / total)
        left = np.abs((part_left[:, np.newaxis] - leaves) / after - part_left[:, np.newaxis] / total)
        entered = np.abs((part_entered + enters) / after - part_entered / total)
    change = np.where(after > 0, rest + left + entered, 0.0)
    change[np.arange(here.sum()), np.flatnonzero(here)] = 0.0  # who stays where they are changes no share
    return float(change.max(initial=0.0))


def check_public(least_total: Any, least_part: Any, declared_public: object) -> None:
    """Refuse a least total that is not public, or none at all."""
    owner = "output_perturbation"
    if (least_total is None) == (least_part is None):
        must_be = "given, and 'least_part' left out, or the other way round"
        hint = "it is a number that is known without the table, such as one from an older publication."
        raise InvalidParameterError("least_total", owner=owner, must_be=must_be, got=least_total, hint=hint)
    for name, value, most in (("least_total", least_total, math.inf), ("least_part", least_part, 1.0)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 < value <= most and math.isfinite(value)):
            limit = "" if most == math.inf else " and at most 1"
            must_be = f"a finite number > 0{limit}"
            raise InvalidParameterError(name, owner=owner, must_be=must_be, got=value)
    if least_part is not None and declared_public is not True:
        must_be = "left out, or the total declared public with declared_public=True"
        hint = "a least total taken from the table is private, and noise scaled by it gives no guarantee."
        raise InvalidParameterError("least_part", owner=owner, must_be=must_be, got=least_part, hint=hint)


def _assumed(least_part: float | None) -> tuple[str, ...]:
    assumed = "the weighted total is at least the least total, which is public"
    printed = (f"the least total, {least_part:g} of the true one, was declared public",) if least_part else ()
    return (
        assumed,
        *printed,
        "the noise is drawn from real numbers, which no computer does: simulation only",
    )


def _words(scale: float, least_part: float | None) -> str:
    source = (
        "a least total taken from the table and declared public" if least_part else "a public least total"
    )
    return (
        f"Noise of scale {scale:.3g} on every share, from {source}. No share is off on average; a share "
        "smaller than the scale is lost in the noise, and shares need not add up to 1."
    )


MITIGATION = MitigationKind(
    name="output-perturbation",
    title="Noise on the shares",
    decide=output_perturbation,
    problems=("allotment",),
    does="puts noise on the shares",
    guarantee="the same epsilon, if the least total is public",
    cost="small shares drown",
    parameters=(
        MitigationParameter(
            "least_total",
            "a public least total",
            is_needed=True,
            instead="least_part",
            more=", below which the weighted total cannot fall, and which is known without the table",
        ),
        MitigationParameter("least_part", "the least total as a part of the true total"),
        MitigationParameter("declared_public", "that the true total is public", value="yes or no"),
    ),
    needs_laplace=True,
    check=lambda given: check_public(
        *(given.get(name) for name in ("least_total", "least_part", "declared_public"))
    ),
)
