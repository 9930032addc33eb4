r"""Scores pulled away from the ones a model gave, as little as a divergence allows.

For scores :math:`h` of one row and prices :math:`a`, one for each class, the tilted scores are the
:math:`q` of the simplex with the least :math:`D(q, h) + \sum_c a_c q_c`, and

.. math:: \varphi(a) = -\min_q \Bigl[ D(q, h) + \sum_c a_c q_c \Bigr], \qquad
          \frac{\partial \varphi}{\partial a_c} = -q_c, \qquad
          \nabla^2 \varphi = \operatorname{diag}(w) - w w^\top / \textstyle\sum_c w_c .

* ``"kl"``: :math:`D = \sum_c q_c \ln (q_c / h_c)`, so :math:`q \propto h e^{-a}` and :math:`w = q`.
* ``"ce"``: :math:`D = \sum_c h_c \ln (h_c / q_c)`, so :math:`q_c = h_c / (u + a_c)` with the one :math:`u`
  that makes them add up to one, and :math:`w = q^2 / h`.

Scores are held as (classes, rows), so that a class is one stretch of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    _Parts = tuple[
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64] | None,
        Callable[[], NDArray[np.float64]],
    ]

__all__ = ["DIVERGENCES", "Divergence", "Tilted", "divergence_sum", "tilt"]

Divergence = Literal["kl", "ce"]
DIVERGENCES: tuple[Divergence, ...] = ("kl", "ce")

_MOST_STEPS = 100  # of a search for u; monotone and fast, so this is never reached in practice
_SMALL_STEP = 1e-14


@dataclass(frozen=True, slots=True)
class Tilted:
    """Tilted scores of some rows, and what the derivatives are made of."""

    q: NDArray[np.float64]
    w: NDArray[np.float64]
    total: NDArray[np.float64] | None
    """The sum of `w` over classes; nothing where it is one."""
    phi: float
    """The sum over the rows, by their weights; NaN if it was not asked for."""


def tilt(
    h: NDArray[np.float64],
    a: NDArray[np.float64],
    divergence: Divergence,
    *,
    with_phi: bool = True,
    weights: NDArray[np.float64] | None = None,
) -> Tilted:
    """Tilt scores by prices, which are (classes, rows) or, if all rows have the same, (classes, 1).

    >>> h, a = np.array([[0.3], [0.7]]), np.array([[0.2], [-0.1]])
    >>> tilt(h, a, "ce").q.ravel().round(6)
    array([0.244573, 0.755427])
    """
    q, w, total, phi = _tilt_kl(h, a) if divergence == "kl" else _tilt_ce(h, a)
    return Tilted(q, w, total, _sum(phi(), weights) if with_phi else np.nan)


def divergence_sum(
    q: NDArray[np.float64],
    h: NDArray[np.float64],
    divergence: Divergence,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the divergence of `q` from `h`, summed over the rows by their weights."""
    first, second = (q, h) if divergence == "kl" else (h, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(first > 0, first * np.log(first / second), 0.0)
    return _sum(terms, weights)


def _sum(terms: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    return float(terms.sum() if weights is None else (terms * weights).sum())


def _tilt_kl(h: NDArray[np.float64], a: NDArray[np.float64]) -> _Parts:
    lowest = a.min(axis=0)  # taken out, so that nothing overflows
    q = h * np.exp(lowest - a)
    total = q.sum(axis=0)
    q /= total
    return q, q, None, lambda: np.log(total) - lowest


def _tilt_ce(h: NDArray[np.float64], a: NDArray[np.float64]) -> _Parts:
    reach = _reach_of_two(h, a) if len(h) == 2 else _reach(h, a)
    q = h / reach
    q /= q.sum(axis=0)
    w = q / reach
    return q, w, w.sum(axis=0), lambda: reach[0] - a[0] - 1 - (h * np.log(reach)).sum(axis=0)


def _reach_of_two(h: NDArray[np.float64], a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return u + a for two classes: the roots of two quadratics with the same discriminant."""
    apart = a[1] - a[0]
    both = np.empty_like(h)
    root = np.sqrt((apart - 1) ** 2 + 4 * h[0] * apart)  # (1 + |d|)^2 - 4 h |d| >= (1 - |d|)^2 where d < 0
    for place, distance in ((0, apart), (1, -apart)):
        lead = distance - 1
        stable = 2 * h[place] * distance / np.where(lead > 0, lead + root, 1.0)
        both[place] = np.where(lead > 0, stable, (root - lead) / 2)
    return both


def _reach(h: NDArray[np.float64], a: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return u + a for any number of classes.

    Newton's steps on :math:`1 - 1/F(u)`, :math:`F(u) = \sum_c h_c / (u + a_c)`. :math:`1/F` is concave and
    rises, and the start lies left of the root, so every step goes right and none goes too far.
    """
    u: NDArray[np.float64] = (h - a).max(axis=0)
    for _ in range(_MOST_STEPS):
        reach = u + a
        parts = h / reach
        sums = parts.sum(axis=0)
        step = (sums * sums - sums) / (parts / reach).sum(axis=0)
        u = u + step
        if (np.abs(step) <= _SMALL_STEP * (1 + np.abs(u))).all():
            break
    return u + a
