r"""What suppression with noise promises: the exact delta for the noise that is drawn, and the printed one.

A count :math:`x` is suppressed when it looks smaller than :math:`k`. Whoever sees a true count that differs
between two tables knows which table it is, so the two agree only where every changed cell is suppressed.
With :math:`B` a public bound on counts, the worst pair of tables has counts :math:`B, B - 1` in one and
:math:`B - 1, B` in the other, and there the chance of that is the same on both sides. So delta does not
depend on epsilon: it holds for every epsilon from 0 on, and is attained for every one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.errors import GuaranteeError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import Number, exact, exp_bounds, round_up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Noise = Literal["count", "threshold"]
NOISES: tuple[Noise, ...] = ("count", "threshold")
"""Where the noise is: fresh on every count, or once on the threshold."""

_DIGITS = 30
_WORKING = 60


def count_noise_delta(
    threshold: int, bound: int, *, scale: Number, unit: Unit | str, idealized: bool = False
) -> Fraction:
    r"""Return the exact delta of suppression with fresh noise on every count, for every epsilon >= 0.

    .. math:: \delta = 1 - G(B)\,G(B - 1) \text{ (replace one)}, \qquad
              \delta = 1 - G(B) \text{ (add or remove one)}, \qquad G(x) = \Pr[x + \eta < k]

    where :math:`k` is `threshold`, :math:`B` is `bound` and :math:`\eta` is discrete Laplace noise of scale
    `scale`.

    Parameters
    ----------
    threshold : int
        A count is suppressed if its noisy value is below it.
    bound : int
        A public bound on every count.
    scale : number
        The scale of the noise, which is 2 / epsilon where the literature has epsilon.
    unit : Unit or str
        ``"replace one"`` or ``"add or remove one"``.
    idealized : bool
        Take continuous Laplace noise, which the literature writes and no computer draws.

    Returns
    -------
    Fraction
        Rounded up to 30 digits.

    Examples
    --------
    >>> f"{float(count_noise_delta(5, 8, scale=2, unit='replace one', idealized=True)):.14f}"
    '0.97947875034403'
    >>> f"{float(count_noise_delta(5, 8, scale=2, unit='replace one')):.6f}"
    '0.988300'
    """
    owner = "count_noise_delta"
    k, most, b = _check_parameters(threshold, bound, scale, owner)
    both = one_of("unit", unit, (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE), owner=owner) is Unit.REPLACE_ONE
    stays = _below(k - most, b, idealized=idealized)
    if both:
        stays *= _below(k - most + 1, b, idealized=idealized)
    return round_up(1 - stays, digits=_DIGITS)


def threshold_noise_delta(threshold: int, bound: int, *, scale: Number, idealized: bool = False) -> Fraction:
    r"""Return the exact delta of suppression with one noisy threshold, for every epsilon >= 0.

    .. math:: \delta = \Pr[k + \eta \le B]

    the same for both units: a changed count is hidden only if the noisy threshold is above it. Parameters as
    in :func:`count_noise_delta`.

    Examples
    --------
    >>> f"{float(threshold_noise_delta(5, 8, scale=2, idealized=True)):.14f}"
    '0.88843491992579'
    >>> f"{float(threshold_noise_delta(5, 8, scale=2)):.6f}"
    '0.915759'
    """
    k, most, b = _check_parameters(threshold, bound, scale, "threshold_noise_delta")
    hidden = _below(k - most, b, idealized=idealized)  # the noise is symmetric: Pr[k + noise > B]
    return round_up(1 - hidden, digits=_DIGITS)


def printed_delta(threshold: int, bound: int, *, epsilon: Number) -> Fraction:
    r"""Return :math:`1 - e^{-\varepsilon(B - k)} / 4`, as Theorem 1 of Zhu et al. (2023) prints it.

    It is valid for continuous noise on every count and not tight: see :func:`count_noise_delta`.

    Raises
    ------
    GuaranteeError
        If the bound is not above the threshold, where the theorem says nothing.

    Examples
    --------
    >>> f"{float(printed_delta(5, 8, epsilon=1)):.14f}"
    '0.98755323290803'
    """
    asked = exact(epsilon, name="epsilon", owner="printed_delta", above=0)
    k, most, _ = _check_parameters(threshold, bound, 1, "printed_delta")
    if most <= k:
        raise GuaranteeError(
            "Theorem 1 of the suppression paper needs a bound above the threshold. "
            "Hint: the exact delta has no such condition."
        )
    return round_up(1 - exp_bounds(-asked * (most - k), digits=_WORKING)[0] / 4, digits=_DIGITS)


def diagnostic_delta(counts: ArrayLike, *, threshold: int, scale: Number, noise: Noise) -> float:
    """Return what delta would be if the two largest counts of this table were the bound.

    A diagnostic, not a guarantee: it is computed from the counts and is as private as they are.

    Examples
    --------
    >>> f"{diagnostic_delta([2, 8, 7], threshold=5, scale=2, noise='count'):.6f}"
    '0.988300'
    """
    owner = "diagnostic_delta"
    kind = one_of("noise", noise, NOISES, owner=owner)
    k, _, b = _check_parameters(threshold, 0, scale, owner)
    largest = [int(count) for count in np.sort(np.asarray(counts).reshape(-1))[:-3:-1]]
    taken = largest if kind == "count" else largest[:1]
    stays = Fraction(1)
    for count in taken:
        stays *= _below(k - count, b, idealized=False)
    return float(1 - stays)


def _check_parameters(threshold: int, bound: int, scale: Number, owner: str) -> tuple[int, int, Fraction]:
    return (
        integer("threshold", threshold, owner=owner, low=0),
        integer("bound", bound, owner=owner, low=0),
        exact(scale, name="scale", owner=owner, above=0),
    )


def _below(place: int, scale: Fraction, *, idealized: bool) -> Fraction:
    """Return a lower bound of the probability of noise below `place`, to 50 digits and more."""
    if idealized:
        low, high = exp_bounds(-abs(place) / scale, digits=_WORKING)
        return 1 - high / 2 if place > 0 else low / 2
    steps = place if place > 0 else 1 - place  # noise of at least `place`, or at most `place` - 1
    low, high = exp_bounds(-steps / scale, digits=_WORKING)
    least, most = exp_bounds(-1 / scale, digits=_WORKING)
    return 1 - high / (1 + least) if place > 0 else low / (1 + most)
