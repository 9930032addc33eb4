"""Fairness payment: whoever loses on average is paid the difference, on top of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notes import Note
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.mitigate.mitigation import (
    Mitigation,
    build_mitigation,
    plain_release,
    require_problem,
    withdraw_guarantee,
)
from evenhand.decide.mitigate.registry import MitigationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.privacy.guarantees.units import Unit


def fairness_payment(
    problem: Allotment,
    data: Any,
    noise: Any,
    *,
    post: Sequence[Any] | None = None,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    r"""Pay every entity that loses on average what it loses.

    .. math:: B^+ = B \sum_{i: B_i < 0} |B_i|

    is the cost of privacy: what it takes, beyond the budget :math:`B`, for nobody to lose on average. Nobody
    gives anything back, so those who gain still do.

    **Guarantee.** None. Who is paid, and how much, is computed from the true counts, which no noise covers:
    shares and payments together tell about people whatever the noise on the counts is. The shares alone have
    the guarantee of the plain release.

    Parameters
    ----------
    problem : Allotment
        The weights, and the budget if there is one.
    data : Entities, mapping or array
        The true counts.
    noise : Law or mechanism
        The noise on every count.
    post : sequence of Step, optional
        What is done to the noisy counts.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws, rng, progress
        For what has to be sampled.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import Laplace
    >>> shares = Allotment([1, 2, 1.5], budget=1_000_000)
    >>> paid = fairness_payment(shares, {"x": [30, 50, 80]}, Laplace(2), unit="add or remove one")
    >>> [f"{value:.3e}" for value in paid.bias]
    ['0.000e+00', '0.000e+00', '1.582e-04']
    >>> print(paid.words)
    Whoever loses on average is paid their loss, from the true counts: 158.16 beyond the budget of 1000000.
    There is no guarantee.
    >>> str(paid.guarantee.trust)
    'none'
    """
    require_problem(problem, Allotment, owner="fairness_payment")
    plain = plain_release(problem, data, noise, unit=unit, post=post, draws=draws, rng=rng, progress=progress)
    extra = cost_of_privacy(plain.bias)
    money = f"{extra:.3g} of the budget beyond it"
    if problem.budget is not None:
        money = f"{extra * float(problem.budget):.2f} beyond the budget of {problem.budget}"
    words = (
        f"Whoever loses on average is paid their loss, from the true counts: {money}. There is no guarantee."
    )
    paid = None
    if plain.decided.payments is not None:
        paid = plain.decided.payments.raise_by(np.maximum(-plain.bias, 0.0))
    plain_method = Note.of(plain.decided.method, "method")
    note = "The payments come from the true counts, which no guarantee covers."
    return build_mitigation(
        "fairness payment",
        words,
        withdraw_guarantee(plain.guarantee),
        plain.decided,
        (plain.mean_absolute_error, plain.standard_error),
        bias=np.maximum(plain.bias, 0.0),
        notes=(*plain.decided.notes, note),
        payments=paid,
        method=Note(plain_method.kind, f"{plain_method}; losses paid"),
    )


def cost_of_privacy(bias: Any) -> float:
    """Return the sum of what entities lose on average, as a part of the budget.

    >>> cost_of_privacy([-0.25, 0.5, -0.25])
    0.5
    """
    values = np.asarray(bias, dtype=np.float64)
    return float(-values[values < 0].sum())


MITIGATION = MitigationKind(
    name="fairness-payment",
    title="Payment to those who lose",
    decide=fairness_payment,
    problems=("allotment",),
    does="pays whoever loses what they lose",
    guarantee="none: the payments follow from the true counts",
    cost="money beyond the budget",
    takes_post=True,
)
