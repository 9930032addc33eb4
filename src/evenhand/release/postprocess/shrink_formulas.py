r"""The bias of shrinking: exponential integrals, quadrature and recursion, as the law of the noise needs.

With :math:`\ell = 0` and :math:`u^* = (\sqrt{1 + 4 T} - 1) / 2`, shrinking gives 0 up to :math:`u^*` and
:math:`z - T / (z + 1)` beyond. So the bias is that of setting to 0 what is below :math:`u^*`, less
:math:`T J` with :math:`J = \int_{u^*}^\infty p(z - x) / (z + 1)\, dz`.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfc, exp1, expi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["shrunk_discrete_laplace", "shrunk_gaussian", "shrunk_laplace"]

_LARGE = 50.0
_TERMS = 30
_PANELS, _NODES = 48, 16
_WIDE = 9.5


def shrunk_laplace(places: Values, scale: float, temperature: float) -> Values:
    """Return the bias at these places above the least value, for Laplace noise of this scale."""
    start = _start(temperature)
    below = start > places
    fall = np.exp(-np.abs(start - places) / scale) / 2
    linear = np.where(below, fall * (start + scale) - places, fall * (scale - start))
    if not temperature:
        return linear
    centre, first = (places + 1) / scale, (start + 1) / scale
    right = _scaled_e1(np.maximum(first, centre))  # what lies beyond both the start and the count
    right *= np.exp(-np.maximum(first - centre, 0.0))
    high = np.maximum(first, centre)
    left = _scaled_ei(high) - _scaled_ei(np.full_like(high, first)) * np.exp(-(high - first))
    return linear - temperature * (right + np.where(first < centre, left, 0.0)) / (2 * scale)


def shrunk_gaussian(places: Values, deviation: float, temperature: float) -> Values:
    """Return the same for Gaussian noise of this standard deviation."""
    start = _start(temperature)
    place = (start - places) / deviation
    density = np.exp(-np.minimum(place**2, 1500.0) / 2) / math.sqrt(2 * math.pi)
    passed = erfc(place / math.sqrt(2)) / 2  # the noise lets the count beyond the start
    stopped = erfc(-place / math.sqrt(2)) / 2
    linear = deviation * density - places * np.where(stopped < passed, stopped, 1 - passed)
    if not temperature:
        return linear
    return linear - temperature * _gaussian_part(places, deviation, start)


def shrunk_discrete_laplace(places: Values, scale: float, temperature: float, far: int) -> Values:
    """Return the same for discrete Laplace noise, at whole places from 0 on.

    What the noise sees to the left of a place is what it sees from the place before, times ``exp(-1/scale)``,
    and the place itself; likewise to the right. So two passes over the whole numbers find all places.
    """
    rate = math.exp(-1 / scale)
    start = math.ceil(_start(temperature))
    top = max(int(places.max()), start) + 1
    terms = 1 / np.arange(start + 1.0, top + far + 2)  # 1 / (z + 1) for z = start, ..., top + far
    left = np.zeros(top + 1)  # by place: the sum of rate**(x - z) / (z + 1) over start <= z <= x
    left[start:] = list(
        itertools.accumulate(terms[: top + 1 - start], lambda total, term: total * rate + term)
    )
    backward = list(itertools.accumulate(terms[::-1], lambda total, term: total * rate + term))[::-1]
    beyond = np.array(backward)  # by z - start: the sum of rate**(w - z) / (w + 1) over w >= z
    right = np.empty(top + 1)  # the sum of rate**(z - x) / (z + 1) over z > x, z >= start
    right[:start] = rate ** np.arange(start, 0, -1.0) * beyond[0]
    right[start:] = rate * beyond[1 : top + 2 - start]
    here = places.astype(np.int64)
    masses = math.tanh(1 / (2 * scale))
    return _stopped(places, scale, start) - temperature * masses * (left[here] + right[here])


def _stopped(places: Values, scale: float, start: int) -> Values:
    """Return the expectation of what counts below `start` lose or gain by becoming 0."""
    last = start - 1 - places  # the largest noise that is stopped
    rate = math.exp(-1 / scale)
    beyond = np.where(last < 0, -last, last + 1)  # at least 1: whole sums over the other side, by symmetry
    falling = np.exp(-beyond / scale)
    tail = falling / (1 + rate)
    moment = falling * (beyond + rate / (1 - rate)) / (1 + rate)
    return moment - places * np.where(last < 0, tail, 1 - tail)


def _gaussian_part(places: Values, deviation: float, start: float) -> Values:
    """Integrate density / (z + 1) from the start on, in the logarithm of z + 1, where it is smooth."""
    low = np.log1p(np.maximum(start, places - _WIDE * deviation))[..., np.newaxis]
    high = np.log1p(np.maximum(start, places + _WIDE * deviation))[..., np.newaxis]
    nodes, weights = _rule()
    width = high - low
    beyond = np.expm1(low + width * nodes) - places[..., np.newaxis]
    density = np.exp(-((beyond / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
    found: Values = (density * width) @ weights
    return found


@functools.lru_cache(maxsize=1)
def _rule() -> tuple[Values, Values]:
    """Return nodes and weights of Gauss and Legendre's rule in each of many equal parts of [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    inside = (np.arange(_PANELS)[:, np.newaxis] + (nodes + 1) / 2) / _PANELS
    return inside.ravel(), np.tile(weights / (2 * _PANELS), _PANELS)


def _start(temperature: float) -> float:
    """Return the value up to which shrinking gives the least value."""
    return 2 * temperature / (1 + math.sqrt(1 + 4 * temperature))


def _scaled_e1(x: Values) -> Values:
    r"""Return :math:`e^x E_1(x)` for x > 0, also where its factors overflow."""
    near = np.minimum(x, _LARGE)
    return np.where(x > _LARGE, _asymptotic(x, sign=-1.0), np.exp(near) * exp1(near))


def _scaled_ei(x: Values) -> Values:
    r"""Return :math:`e^{-x} Ei(x)` for x > 0, also where its factors overflow."""
    near = np.minimum(x, _LARGE)
    return np.where(x > _LARGE, _asymptotic(x, sign=1.0), np.exp(-near) * expi(near))


def _asymptotic(x: Values, *, sign: float) -> Values:
    """Sum k! (sign / x)**k / x, whose terms fall below 1e-16 long before they grow for x >= 50."""
    large = np.maximum(x, _LARGE)
    term, total = 1 / large, np.zeros(large.shape)
    for order in range(1, _TERMS):
        total += term
        term = term * sign * order / large
    return total
