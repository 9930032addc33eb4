r"""What each protocol would do with probabilities of unlimited precision, for many epsilons at once.

The protocols themselves draw with multiples of :math:`2^{-53}` and know their exact variance. Comparing
protocols and splitting a budget needs the variance of thousands of epsilons, in floats; here it is written
in terms of :math:`e^{-\varepsilon}`, so that nothing overflows and nothing cancels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._validate import one_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["BEST_OF", "FORMULAS", "Ideal", "best_name", "ideal"]

_MOST_BUCKETS = float(1 << 24)


class Ideal(NamedTuple):
    """What a protocol would do with probabilities of unlimited precision.

    Attributes
    ----------
    p, q : array of float
        Probability that a report supports the true value, and a given other value.
    variance : array of float
        Variance of the estimated share of a value that nobody has, times the number of people.
    """

    p: Any
    q: Any
    variance: Any


def ideal(protocol: str, k: npt.ArrayLike, epsilon: npt.ArrayLike) -> Ideal:
    r"""Return p, q and the variance at share nought of a protocol, for one or many epsilons.

    ==========  ================================================================================
    protocol    variance times the number of people, with :math:`E = e^\varepsilon`
    ==========  ================================================================================
    ``grr``     :math:`(k - 2 + E) / (E - 1)^2`
    ``blh``     :math:`(E + 1)^2 / (E - 1)^2`
    ``olh``     :math:`(E - 1 + g)^2 / ((E - 1)^2 (g - 1))`, the better whole number near :math:`E + 1`
    ``rappor``  :math:`e^{\varepsilon/2} / (e^{\varepsilon/2} - 1)^2`
    ``oue``     :math:`4E / (E - 1)^2`
    ``ss``      :math:`q (1 - q) / (p - q)^2`, the better whole number near :math:`k / (E + 1)`
    ``the``     :math:`q (1 - q) / (p - q)^2` at the threshold of least variance
    ``best``    the least of ``grr``, ``oue`` and ``ss`` at each epsilon
    ==========  ================================================================================

    Parameters
    ----------
    protocol : str
        One of the names above.
    k : int or array of int
        How many values there are, at least 2.
    epsilon : float or array of float
        Privacy parameter, from 1e-6 to 700 without loss of precision. `k` and `epsilon` are broadcast.

    Returns
    -------
    Ideal
        Floats where both are single numbers, else arrays.

    Examples
    --------
    >>> f"{ideal('grr', 10, 1.0).variance:.4f}"
    '3.6302'
    >>> ideal("best", [2, 100], 1.0).variance.round(4)
    array([0.9207, 3.5896])
    """
    name = one_of("protocol", protocol, tuple(FORMULAS), owner="ideal")
    sizes, amounts = np.broadcast_arrays(np.asarray(k, dtype=float), np.asarray(epsilon, dtype=float))
    found = FORMULAS[name](sizes, amounts)
    return Ideal(*map(float, found)) if sizes.ndim == 0 else found


def best_name(k: int, epsilon: float) -> str:
    """Return which of the protocols of ``best`` has the least variance; the first in a tie.

    >>> best_name(2, 1.0), best_name(100, 1.0)
    ('grr', 'ss')
    """
    least = ideal("best", k, epsilon).variance
    return next(name for name in BEST_OF if ideal(name, k, epsilon).variance <= least * (1 + 1e-12))


def _grr(k: Floats, epsilon: Floats) -> Ideal:
    shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
    p = 1 / (1 + (k - 1) * shrunk)
    return Ideal(p, shrunk * p, shrunk * (1 + (k - 2) * shrunk) / gap**2)


def _blh(k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG001 - every formula has the same signature
    return _hashed(np.full_like(epsilon, 2.0), epsilon)


def _olh(k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG001 - every formula has the same signature
    raised = np.exp(np.minimum(epsilon, 50.0))
    low, high = (
        _hashed(np.clip(near(raised + 1), 2.0, _MOST_BUCKETS), epsilon) for near in (np.floor, np.ceil)
    )
    return _least(low, high)


def _hashed(buckets: Floats, epsilon: Floats) -> Ideal:
    shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
    others = 1 + (buckets - 1) * shrunk
    return Ideal(1 / others, 1 / buckets, (others / gap) ** 2 / (buckets - 1))


def _rappor(k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG001 - every formula has the same signature
    shrunk, gap = np.exp(-epsilon / 2), -np.expm1(-epsilon / 2)
    return Ideal(1 / (1 + shrunk), shrunk / (1 + shrunk), shrunk / gap**2)


def _oue(k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG001 - every formula has the same signature
    shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
    return Ideal(np.full_like(epsilon, 0.5), shrunk / (1 + shrunk), 4 * shrunk / gap**2)


def _ss(k: Floats, epsilon: Floats) -> Ideal:
    shrunk = np.exp(-epsilon)
    near = k * shrunk / (1 + shrunk)
    return _least(*(_subset(k, np.maximum(1.0, size), epsilon) for size in (np.floor(near), np.ceil(near))))


def _subset(k: Floats, size: Floats, epsilon: Floats) -> Ideal:
    shrunk, gap = np.exp(-epsilon), -np.expm1(-epsilon)
    whole = size + (k - size) * shrunk
    q = ((size - 1) + (k - size) * shrunk / whole) / (k - 1)
    apart = size * (k - size) * gap / (whole * (k - 1))  # p - q
    return Ideal(size / whole, q, q * (1 - q) / apart**2)


def _the(k: Floats, epsilon: Floats) -> Ideal:  # noqa: ARG001 - every formula has the same signature
    r"""Return the thresholded histogram at its best threshold, in closed form.

    With :math:`c = e^{-\varepsilon/2}` and :math:`x = e^{\varepsilon\theta/2}`, :math:`p = 1 - c x / 2` and
    :math:`q = 1 / (2 x)`; the variance is least at the larger root of :math:`3 c x^2 - 2 (1 + c) x + 1`.
    """
    shrunk, gap = np.exp(-epsilon / 2), -np.expm1(-epsilon / 2)
    part = shrunk / (1 + np.sqrt(1 - gap + gap**2))
    above = gap * (2 - part) / (3 * shrunk)  # x - 1
    told = gap * (1 + part) / 3  # 1 - c x, which is 2 p - 1
    q = 0.5 / (1 + above)
    apart = 0.5 * (told + above / (1 + above))
    return Ideal(0.5 + 0.5 * told, q, q * (1 - q) / apart**2)


def _best(k: Floats, epsilon: Floats) -> Ideal:
    return _least(*(FORMULAS[name](k, epsilon) for name in BEST_OF))


def _least(*candidates: Ideal) -> Ideal:
    """Return, entry by entry, the candidate of least variance; the first in a tie."""
    best = candidates[0]
    for other in candidates[1:]:
        less = other.variance < best.variance
        best = Ideal(*(np.where(less, new, old) for new, old in zip(other, best, strict=True)))
    return best


BEST_OF = ("grr", "oue", "ss")
"""The protocols among which ``best`` chooses."""

FORMULAS: dict[str, Callable[[Floats, Floats], Ideal]] = {
    "grr": _grr,
    "blh": _blh,
    "olh": _olh,
    "rappor": _rappor,
    "oue": _oue,
    "ss": _ss,
    "the": _the,
    "best": _best,
}
"""The formulas by the name of the protocol."""
