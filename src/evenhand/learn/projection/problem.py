r"""What a projection must meet, and the dual function of it with its derivatives.

With scores :math:`h_i`, shares :math:`p_{is}` of row :math:`i` in group :math:`s` (an indicator where the
group is known) and a factor :math:`r`, constraint :math:`(c, \pm, s)` says

.. math:: \frac1n \sum_i r_{ic} \Bigl[ \pm \Bigl( \frac{p_{is}}{P_{cs}} - \frac1{P_c} \Bigr)
          - \frac{\alpha}{P_c} \Bigr] q_{ic} \le 0 .

* ``"parity"``: :math:`r = 1`, :math:`P_{cs} = P_s`, :math:`P_c = 1`: the mean score of class :math:`c` in
  a group is at most :math:`\alpha` times the overall mean away from the overall mean.
* ``"odds"``: :math:`r = h`, and :math:`P_{cs}`, :math:`P_c` are the shares of class and group: the same for
  the people of each true class.

The shares of a row add up to one, so its prices are :math:`a_{ic} = r_{ic} \sum_s p_{is} A_{sc}` with
:math:`A = M \lambda`, whatever the number of constraints: everything about the rows passes through one table
of groups and classes, `prices`, and the rest is algebra of that size. Where rows have weights, every sum over
rows is weighted, and the weights add up to :math:`n`.

**One row.** For its scores :math:`h` and prices :math:`a`, one for each class, the tilted scores are the
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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    _Parts = tuple[Floats, Floats, Floats | None, Callable[[], Floats]]

Divergence = Literal["kl", "ce"]
DIVERGENCES: tuple[Divergence, ...] = ("kl", "ce")

_MOST_STEPS = 100  # of a search for u; monotone and fast, so this is never reached in practice
_SMALL_STEP = 1e-14


@dataclass(frozen=True, slots=True)
class Tilted:
    """Tilted scores of some rows, and what the derivatives are made of."""

    q: Floats
    w: Floats
    total: Floats | None
    """The sum of `w` over classes; None where it is one."""
    phi: float
    """The sum over the rows, by their weights; NaN if it was not asked for."""


def tilt(
    h: Floats, a: Floats, divergence: Divergence, *, with_phi: bool = True, weights: Floats | None = None
) -> Tilted:
    """Tilt scores by prices, which are (classes, rows) or, if all rows have the same, (classes, 1).

    >>> h, a = np.array([[0.3], [0.7]]), np.array([[0.2], [-0.1]])
    >>> tilt(h, a, "ce").q.ravel().round(6)
    array([0.244573, 0.755427])
    """
    q, w, total, phi = _tilt_kl(h, a) if divergence == "kl" else _tilt_ce(h, a)
    return Tilted(q, w, total, _sum(phi(), weights) if with_phi else np.nan)


def divergence_sum(q: Floats, h: Floats, divergence: Divergence, weights: Floats | None = None) -> float:
    """Return the divergence of `q` from `h`, summed over the rows by their weights."""
    first, second = (q, h) if divergence == "kl" else (h, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(first > 0, first * np.log(first / second), 0.0)
    return _sum(terms, weights)


def _sum(terms: Floats, weights: Floats | None) -> float:
    return float(terms.sum() if weights is None else (terms * weights).sum())


def _tilt_kl(h: Floats, a: Floats) -> _Parts:
    lowest = a.min(axis=0)  # taken out, so that nothing overflows
    q = h * np.exp(lowest - a)
    total = q.sum(axis=0)
    q /= total
    return q, q, None, lambda: np.log(total) - lowest


def _tilt_ce(h: Floats, a: Floats) -> _Parts:
    reach = _reach_of_two(h, a) if len(h) == 2 else _reach(h, a)
    q = h / reach
    q /= q.sum(axis=0)
    w = q / reach
    return q, w, w.sum(axis=0), lambda: reach[0] - a[0] - 1 - (h * np.log(reach)).sum(axis=0)


def _reach_of_two(h: Floats, a: Floats) -> Floats:
    """Return u + a for two classes: the roots of two quadratics with the same discriminant."""
    apart = a[1] - a[0]
    both = np.empty_like(h)
    root = np.sqrt((apart - 1) ** 2 + 4 * h[0] * apart)  # (1 + |d|)^2 - 4 h |d| >= (1 - |d|)^2 where d < 0
    for place, distance in ((0, apart), (1, -apart)):
        lead = distance - 1
        stable = 2 * h[place] * distance / np.where(lead > 0, lead + root, 1.0)
        both[place] = np.where(lead > 0, stable, (root - lead) / 2)
    return both


def _reach(h: Floats, a: Floats) -> Floats:
    r"""Return u + a for any number of classes.

    Newton's steps on :math:`1 - 1/F(u)`, :math:`F(u) = \sum_c h_c / (u + a_c)`. :math:`1/F` is concave and
    rises, and the start lies left of the root, so every step goes right and none goes too far.
    """
    u: Floats = (h - a).max(axis=0)
    for _ in range(_MOST_STEPS):
        reach = u + a
        parts = h / reach
        sums = parts.sum(axis=0)
        step = (sums * sums - sums) / (parts / reach).sum(axis=0)
        u = u + step
        if (np.abs(step) <= _SMALL_STEP * (1 + np.abs(u))).all():
            break
    return u + a


Kind = Literal["parity", "odds"]
KINDS: tuple[Kind, ...] = ("parity", "odds")

_AT_ONCE = 1 << 13  # rows, so that what is made of them stays in the cache


class Terms(NamedTuple):
    """The dual function at some prices, and its derivatives with respect to them."""

    value: float
    gradient: Floats
    hessian: Floats


class ScoredRows:
    """Scores and groups of some rows, cut into blocks.

    Parameters
    ----------
    scores : array of (rows, classes)
        Positive, each row adding up to one.
    groups : array of (rows,) whole numbers, or of (rows, groups) or (classes, rows, groups)
        Which group each row is in, or with which probability it is in each.
    n_groups : int
        How many groups there are.
    kind : {"parity", "odds"}
        Whether the factor is one or the score.
    weights : array of (rows,), optional
        For how many rows each counts; their mean is one.
    """

    def __init__(
        self, scores: Floats, groups: NDArray[Any], n_groups: int, kind: Kind, weights: Floats | None = None
    ) -> None:
        self.n: int = scores.shape[0]
        self.n_classes: int = scores.shape[1]
        self.n_groups = n_groups
        self.scaled = kind == "odds"
        self.known = groups.ndim == 1
        if self.known:
            self.order = np.argsort(groups, kind="stable")
            ends = np.cumsum(np.bincount(groups.astype(np.intp), minlength=n_groups))
            starts = np.concatenate([[0], ends[:-1]])
            spans = [(s, int(starts[s]), int(ends[s])) for s in range(n_groups)]
        else:
            self.order = np.arange(self.n)
            spans = [(0, 0, self.n)]
        turned = np.ascontiguousarray(scores[self.order].T) if self.known else np.ascontiguousarray(scores.T)
        heavy = None if weights is None else weights[self.order]
        self._blocks: list[tuple[int, Floats, NDArray[Any], Floats | None]] = []
        for s, start, end in spans:
            for first in range(start, end, _AT_ONCE):
                part = slice(first, min(first + _AT_ONCE, end))
                shares = groups if self.known else groups[..., part, :]
                own_weights = None if heavy is None else heavy[part]
                self._blocks.append((s, np.ascontiguousarray(turned[:, part]), shares, own_weights))

    # --- what a block contributes ---------------------------------------------------------------

    def _prices(self, s: int, h: Floats, shares: NDArray[Any], prices: Floats) -> Floats:
        if self.known:
            a: Floats = prices[s][:, None]
        elif shares.ndim == 2:
            a = (shares @ prices).T
        else:
            a = np.einsum("cis,sc->ci", shares, prices)
        return h * a if self.scaled else a

    def tilted(self, prices: Floats, divergence: Divergence) -> Floats:
        """Return the tilted scores in the order of the rows, as (rows, classes)."""
        scores = np.empty((self.n, self.n_classes))
        start = 0
        for s, h, shares, _ in self._blocks:
            q = tilt(h, self._prices(s, h, shares, prices), divergence, with_phi=False).q
            scores[self.order[start : start + h.shape[1]]] = q.T
            start += h.shape[1]
        return scores

    def divergence(self, prices: Floats, divergence: Divergence) -> float:
        """Return the mean divergence of the tilted scores from the ones given."""
        total: float = 0.0
        for s, h, shares, weights in self._blocks:
            q = tilt(h, self._prices(s, h, shares, prices), divergence, with_phi=False).q
            total += divergence_sum(q, h, divergence, weights)
        return total / self.n

    def terms(self, prices: Floats, divergence: Divergence, *, with_value: bool) -> Terms:
        """Return the dual function, with respect to the prices as one vector, group by group."""
        k, C = self.n_groups, self.n_classes  # noqa: N806 - as in the formulas
        value, gradient, hessian = 0.0, np.zeros((k, C)), np.zeros((k, C, k, C))
        for s, h, shares, weights in self._blocks:
            a = self._prices(s, h, shares, prices)
            tilted = tilt(h, a, divergence, with_phi=with_value, weights=weights)
            value += tilted.phi
            pull = _Pull.of(tilted, h if self.scaled else None, weights)
            if self.known:
                _add_known(gradient[s], hessian[s, :, s], pull)
            else:
                _add_shared(gradient, hessian, pull, shares)
        size = k * C
        return Terms(value / self.n, gradient.ravel() / self.n, hessian.reshape(size, size) / self.n)

    def ridge(self) -> tuple[Floats, Floats]:
        """Return the mean of a a' and of <ln h, a> as functions of the prices: a table and a vector."""
        k, C = self.n_groups, self.n_classes  # noqa: N806 - as in the formulas
        square, line = np.zeros((k, C, k, C)), np.zeros((k, C))
        for s, h, shares, weights in self._blocks:
            r = h if self.scaled else np.ones_like(h)
            v = 1.0 if weights is None else weights
            squares, lines = v * r**2, v * r * np.log(h)
            for c in range(C):
                if self.known:
                    square[s, c, s, c] += squares[c].sum()
                    line[s, c] += lines[c].sum()
                else:
                    p = shares[c] if shares.ndim == 3 else shares
                    square[:, c, :, c] += (p.T * squares[c]) @ p
                    line[:, c] += lines[c] @ p
        return square.reshape(k * C, k * C) / self.n, line.ravel() / self.n


class _Pull(NamedTuple):
    """What the derivatives of some rows are made of, times the factor r; `q` and `heavy` are weighted too."""

    q: Floats
    w: Floats
    heavy: Floats
    total: Floats | None
    r: Floats | None

    @classmethod
    def of(cls, tilted: Tilted, r: Floats | None, weights: Floats | None) -> _Pull:
        q, w = (tilted.q, tilted.w) if r is None else (tilted.q * r, tilted.w * r)
        if weights is None:
            return cls(q, w, w, tilted.total, r)
        return cls(q * weights, w, w * weights, tilted.total, r)


def _add_known(gradient: Floats, hessian: Floats, pull: _Pull) -> None:
    """Add a block of rows that are all in one group; both arguments are views of that group's part."""
    _, w, heavy, total, r = pull
    gradient -= pull.q.sum(axis=1)
    diagonal = heavy.sum(axis=1) if r is None else np.einsum("ci,ci->c", heavy, r)
    hessian += np.diag(diagonal) - heavy @ (w if total is None else w / total).T


def _add_shared(gradient: Floats, hessian: Floats, pull: _Pull, shares: NDArray[Any]) -> None:
    """Add a block of rows that are in every group with some probability."""
    q, w, heavy, total, r = pull
    count = len(q)
    p = np.broadcast_to(shares, (count, *shares.shape[-2:])).astype(np.float64, copy=False)
    outer = p * heavy[:, :, None]  # (classes, rows, groups)
    scaled = p * (w if total is None else w / total)[:, :, None]
    cross = np.tensordot(outer, scaled, axes=(1, 1))  # (class, group, class, group)
    hessian -= cross.transpose(1, 0, 3, 2)
    for c in range(count):
        gradient[:, c] -= q[c] @ p[c]
        weight = heavy[c] if r is None else heavy[c] * r[c]
        hessian[:, c, :, c] += (p[c].T * weight) @ p[c]


def marginals_of(classes: Floats, groups: NDArray[Any], n_groups: int) -> Floats:
    """Return the shares of (class, group) in some rows: the P_cs of the formulas.

    `classes` is (rows, classes): an indicator of the label, or scores.
    """
    if groups.ndim == 1:
        shares = np.zeros((n_groups, classes.shape[1]))
        np.add.at(shares, groups, classes)
        return np.asarray(shares.T / len(classes))
    p = np.broadcast_to(groups, (classes.shape[1], *groups.shape[-2:]))
    return np.asarray(np.einsum("ic,cis->cs", classes, p) / len(classes))


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows with what the projection must meet; the tolerance is given when it is solved.

    Parameters
    ----------
    rows : ScoredRows
        The rows that are projected.
    divergence : {"kl", "ce"}
        What is kept small.
    signed, scale : array of (groups * classes, classes * groups)
        The two parts of the constraints: their columns are what is multiplied by the sign, and by the
        tolerance.
    """

    rows: ScoredRows
    divergence: Divergence
    signed: Floats
    scale: Floats

    @classmethod
    def of(cls, rows: ScoredRows, divergence: Divergence, *, marginals: Floats) -> Problem:
        """Build the constraints from the shares of (class, group): all alike in class for parity."""
        C, k = marginals.shape  # noqa: N806 - as in the formulas
        signed, scale = np.zeros((k, C, C, k)), np.zeros((k, C, C, k))
        for c in range(C):
            every = 1 / marginals[c].sum()
            signed[:, c, c, :] = np.diag(1 / marginals[c]) - every
            scale[:, c, c, :] = every
        return cls(rows, divergence, signed.reshape(k * C, C * k), scale.reshape(k * C, C * k))

    def table(self, prices: Floats) -> Floats:
        """Return a vector of prices as a table of groups and classes."""
        return prices.reshape(self.rows.n_groups, self.rows.n_classes)

    def terms(self, prices: Floats, *, with_value: bool = False) -> Terms:
        """Return the dual function at these prices."""
        return self.rows.terms(self.table(prices), self.divergence, with_value=with_value)

    def objective(self, prices: Floats) -> float:
        """Return the mean divergence of the tilted scores."""
        return self.rows.divergence(self.table(prices), self.divergence)

    def columns(self, tolerance: float) -> Floats:
        """Return the table that makes prices of multipliers, for both signs."""
        return np.hstack([self.signed - tolerance * self.scale, -self.signed - tolerance * self.scale])

    def largest_tolerance(self) -> float:
        """Return the tolerance from which on the scores are left as they are."""
        means = self.terms(np.zeros(len(self.signed))).gradient
        return float(np.max(np.abs(means @ self.signed) / -(means @ self.scale)))
