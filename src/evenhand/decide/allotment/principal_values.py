r"""The bias of shares where the noise is too large for the series: by the characteristic function.

With :math:`\varphi` the characteristic function of :math:`t`, the noise in the total over the total, and
:math:`r_i(\tau) = -g_i (\ln \varphi_i)'(g_i \tau)`, :math:`R = \sum_j r_j`,

.. math:: \mathrm{PV}\, E\Big[\frac{u_i}{1 + t}\Big]
          = \mathrm{Re} \int_0^\infty e^{i \tau} \varphi(\tau) (r_i(\tau) - P_i R(\tau))\, d\tau.

For Laplace and Gaussian noise the path is turned by 45 degrees into the complex plane, or by 22.5 where the
noise is large. There the integrand falls exponentially and has no pole: a smooth integral without
cancellation. For whole-numbered noise and weights the sum over all totals but 0 is taken with the discrete
Fourier transform.

A share is off by the mean of one over the noisy total. For Laplace noise of scale :math:`b`, with
:math:`z = Z / b`, the principal value of that is

.. math:: Z\, E[1 / \tilde Z] = \tfrac z2 \left( e^z E_1(z) + e^{-z} \mathrm{Ei}(z) \right);

for Gaussian noise it is :math:`2 y D(y)` with Dawson's function and :math:`y = Z / (\sqrt 2 \sigma)`; for
whole-numbered noise it is the sum over all totals but 0. Where the noise is small, :math:`1 + \sum_k
\mu_{2k}`, with the moments of the noise over the total, is more accurate than any of them.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.noisy_total import (
    EVENT,
    NoisyShares,
    build_noisy_shares,
    chernoff,
    outside_event,
    whole_weights,
)
from evenhand.decide.exact.noise_laws import density_reach, even_moments, most_orders
from evenhand.decide.exact.points import unit_rule
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteLaplace, Gaussian, Laplace, Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Complex = NDArray[np.complex128]

_FALL = 42.0  # exp(-42) is 6e-19
_NODES = 16
_BLOCK = 1 << 20
_MOST_POINTS, _MOST_WORK = 1 << 20, 1 << 27
_NEVER = 1e-16
_LARGE = 0.3  # noise over the total from which, turned by 45 degrees, the integrand swings too long
_RECIPROCAL_ORDERS = 12
_CERTIFIED = 1e-9
_UNSURE = 0.1  # part of the excess that its bound may be, for the square to come from the same series
_REACH = 46.0
_SUMMED_AT_ONCE, _MOST_SUMMED = 1 << 20, 1 << 27
_ASYMPTOTIC = 50.0
_IMAGES = np.arange(-3, 4)[:, np.newaxis]


def principal_value(noisy: NoisyShares) -> tuple[Values, Values]:
    """Return the principal value for Laplace and Gaussian noise, and an estimate of its error."""
    fine, sizes = _on_ray(noisy, 1.0)
    coarse, _ = _on_ray(noisy, 2.0)
    return fine, np.abs(fine - coarse) + 64 * np.finfo(np.float64).eps * sizes


def lattice_bias(noisy: NoisyShares) -> tuple[Values, Values] | None:
    """Return the mean, a total of 0 counting as no error, and its error; None where that is too long."""
    grid = _grid(noisy)
    if grid is None:
        return None
    totals = grid.totals
    with np.errstate(divide="ignore"):
        kernel = grid.transform(np.where(totals == 0, 0.0, 1.0 / totals)).imag
    kernel = -kernel * np.exp(grid.log_phi) / totals.size  # the real part of i times the transform
    pulled = [float(kernel @ (own * _discrete(law, own * grid.angles)[1])) for own, law in grid.weighted_laws]
    values = np.array(pulled) - noisy.shares * math.fsum(pulled)
    spread = float(np.abs(kernel).sum() * np.abs(grid.pull).max())
    error = np.full(values.shape, 64 * np.finfo(np.float64).eps * spread + _NEVER * totals.size)
    return values, error


def lattice_variance(noisy: NoisyShares) -> Values | None:
    r"""Return the variance, a total of 0 counting as no error; None where that is too long.

    With :math:`n_i` the noise in an entity's own part, :math:`N` that in the total :math:`Z`,

    .. math:: E[(\tilde P_i - P_i)^2] = E\Big[\frac{n_i^2 - 2 P_i n_i N + P_i^2 N^2}{Z^2}; Z \ne 0\Big],

    each part of which is a Fourier sum. A total of 0 counts as no error, as in the bias.
    """
    grid, mean = _grid(noisy), lattice_bias(noisy)
    if grid is None or mean is None:
        return None
    totals = grid.totals
    moved = (totals - totals[totals.size // 2]).astype(np.float64)
    with np.errstate(divide="ignore"):
        inverse = np.where(totals == 0, 0.0, 1.0 / totals.astype(np.float64) ** 2)
    phi = np.exp(grid.log_phi) / totals.size
    alone = grid.transform(inverse).real * phi
    crossed = -grid.transform(moved * inverse).imag * phi
    both = float(grid.transform(moved**2 * inverse).real @ phi)
    squares = np.empty_like(noisy.shares)
    for place, (own, law) in enumerate(grid.weighted_laws):
        share, angles = noisy.shares[place], own * grid.angles
        square = own**2 * float(alone @ _discrete_square(law, angles))
        product = own * float(crossed @ _discrete(law, angles)[1])
        squares[place] = square - 2 * share * product + share**2 * both
    return np.maximum(squares - mean[0] ** 2, 0.0)


def chance_not_positive(noisy: NoisyShares) -> tuple[float, str]:
    """Return the probability that the noisy total is 0 or less, and how it was found."""
    bound, _ = chernoff(noisy, 1.0)
    if bound < _NEVER:
        return bound, "at most, by Chernoff's bound"
    if {type(law) for law in noisy.laws} <= {Laplace, Gaussian}:
        steps, weights = _panels(noisy, 1.0)
        angle = _angle(noisy)
        path: Complex = (steps * cmath.exp(1j * angle)).astype(np.complex128)
        log_phi = sum(
            _continuous(law, noisy.reach[own] ** 2, path)[0].sum(axis=0)
            for own, law in _blocks(noisy, path.size)
        )
        inside = float(np.imag(np.exp(1j * path + log_phi)) / steps @ weights)
        return min(max(0.5 - (angle + inside) / math.pi, 0.0), bound), "by the characteristic function"
    grid = _grid(noisy)
    if grid is None:
        return bound, "at most, by Chernoff's bound"
    kernel = grid.transform((grid.totals <= 0).astype(np.float64)).real
    chance = float(kernel @ np.exp(grid.log_phi)) / grid.totals.size
    return min(max(chance, 0.0), bound), "by a Fourier sum"


@dataclass(frozen=True, eq=False)
class _Grid:
    """Whole-numbered totals, and the characteristic function of their noise at the matching angles."""

    totals: NDArray[np.int64]
    angles: Values
    log_phi: Values
    pull: Values
    weighted_laws: list[tuple[int, Law]]

    def transform(self, function: Values) -> Complex:
        """Return the transform of a function of the total, so that its product with phi adds up to a mean."""
        transform = np.fft.rfft(np.fft.ifftshift(function)).astype(np.complex128)
        transform[1:-1] *= 2
        return transform


def _grid(noisy: NoisyShares) -> _Grid | None:
    scaled = whole_weights(noisy)
    if scaled is None:
        return None
    weights, total = scaled
    far = _far(noisy) * total
    points = 1 << max(4, math.ceil(math.log2(2 * far + 2)))
    if points > _MOST_POINTS or points * weights.size > _MOST_WORK:
        return None
    angles = 2 * math.pi * np.arange(points // 2 + 1) / points
    weighted_laws = list(zip(weights.tolist(), (noisy.laws[place] for place in noisy.which), strict=True))
    log_phi, pull = np.zeros_like(angles), np.zeros_like(angles)
    for own, law in weighted_laws:
        log_own, derivative = _discrete(law, own * angles)
        log_phi += log_own
        pull += own * np.abs(derivative)
    return _Grid(np.arange(points) - points // 2 + total, angles, log_phi, pull, weighted_laws)


def _on_ray(noisy: NoisyShares, coarse: float) -> tuple[Values, Values]:
    """Integrate along the turned path by Gauss and Legendre's rule on panels that grow."""
    steps, weights = _panels(noisy, coarse)
    turn = cmath.exp(1j * _angle(noisy))
    path: Complex = (steps * turn).astype(np.complex128)
    squares = noisy.reach**2
    log_phi, pull = np.zeros(path.size, dtype=np.complex128), np.zeros(path.size, dtype=np.complex128)
    for own, law in _blocks(noisy, path.size):
        log_own, slope = _continuous(law, squares[own], path)
        log_phi += log_own.sum(axis=0)
        pull += slope.sum(axis=0)
    kernel = turn * weights * np.exp(1j * path + log_phi)
    common = kernel @ pull
    values, sizes = np.empty_like(squares), np.empty_like(squares)
    spread = float(np.abs(kernel) @ np.abs(pull))
    for own, law in _blocks(noisy, path.size):
        _, slope = _continuous(law, squares[own], path)
        values[own] = (slope @ kernel - noisy.shares[own] * common).real
        sizes[own] = np.abs(slope) @ np.abs(kernel) + noisy.shares[own] * spread
    return values, sizes


def _panels(noisy: NoisyShares, coarse: float) -> tuple[Values, Values]:
    """Return nodes and weights: panels double in length from where the noise begins to matter."""
    widest = max(1.0, math.sqrt(float((noisy.reach**2).sum())))
    ends = [0.0]
    length = 0.25 * coarse / widest
    last = _FALL / math.sin(_angle(noisy))
    while ends[-1] < last:
        ends.append(min(last, ends[-1] + length))
        length = min(2.0 * coarse, max(length, 0.25 * coarse * ends[-1]))
    nodes, weights = unit_rule(_NODES)
    low, width = np.array(ends[:-1])[:, np.newaxis], np.diff(ends)[:, np.newaxis]
    return (low + width * nodes).ravel(), (width * weights).ravel()


def _angle(noisy: NoisyShares) -> float:
    """Return by how much the path is turned."""
    return math.pi / 8 if float((noisy.reach**2).sum()) > _LARGE**2 else math.pi / 4


def _blocks(noisy: NoisyShares, points: int) -> list[tuple[NDArray[np.int64], Law]]:
    size = max(1, _BLOCK // points)
    blocks = []
    for place, law in enumerate(noisy.laws):
        here = np.flatnonzero(noisy.which == place)
        blocks += [(here[start : start + size], law) for start in range(0, here.size, size)]
    return blocks


def _continuous(law: Law, squares: Values, path: Complex) -> tuple[Complex, Complex]:
    """Return the logarithm of each characteristic function on the path, and minus its derivative."""
    product = squares[:, np.newaxis] * path
    if isinstance(law, Laplace):
        inner = 1 + product * path / 2
        return -np.log(inner), product / inner
    return -product * path / 2, product


def _discrete(law: Law, angles: Values) -> tuple[Values, Values]:
    """Return the logarithm of the characteristic function at real angles, and minus its derivative."""
    if isinstance(law, DiscreteLaplace):
        rate = math.exp(-1 / float(law.scale))
        gap = math.expm1(-1 / float(law.scale)) ** 2
        below = gap + 4 * rate * np.sin(angles / 2) ** 2
        return np.log(gap / below), 2 * rate * np.sin(angles) / below
    squared, images, sizes = _images(law, angles)
    top = sizes.max(axis=0)
    masses = np.exp(sizes - top)
    total = masses.sum(axis=0)
    at_zero = np.log(np.exp(-squared * (2 * math.pi * _IMAGES) ** 2 / 2).sum())
    return top + np.log(total) - at_zero, squared * (masses * images).sum(axis=0) / total


def _images(law: Law, angles: Values) -> tuple[float, Values, Values]:
    """Return the squared scale of a discrete Gaussian, the angles on every turn, and the exponents there."""
    squared = float(law.squared_scale)  # type: ignore[attr-defined]
    near = np.remainder(angles + math.pi, 2 * math.pi) - math.pi
    images = near + 2 * math.pi * _IMAGES
    return squared, images, -squared * images**2 / 2


def _discrete_square(law: Law, angles: Values) -> Values:
    """Return minus the second derivative of the characteristic function, over the function itself."""
    if isinstance(law, DiscreteLaplace):
        rate = math.exp(-1 / float(law.scale))
        below = math.expm1(-1 / float(law.scale)) ** 2 + 4 * rate * np.sin(angles / 2) ** 2
        slope: Values = 2 * rate * np.sin(angles) / below
        return 2 * rate * np.cos(angles) / below - 2 * slope**2
    squared, images, sizes = _images(law, angles)
    masses = np.exp(sizes - sizes.max(axis=0))
    mean: Values = (masses * images**2).sum(axis=0) / masses.sum(axis=0)
    return squared - squared**2 * mean


def _far(noisy: NoisyShares) -> float:
    """Return how far the total moves, over itself, but for a probability of 1e-16."""
    low, high = 0.0, 1.0
    while chernoff(noisy, high)[0] > _NEVER / 2:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if chernoff(noisy, middle)[0] > _NEVER / 2 else (low, middle)
    return high


# --- one over a noisy total --------------------------------------------------------------------------


class Reciprocal(NamedTuple):
    r"""One over a noisy total, times the true total.

    Attributes
    ----------
    excess : float
        :math:`Z\, E[1 / \tilde Z] - 1`: how much too large shares are on average, as a part of themselves.
    square : float
        :math:`Z^2 E[1 / \tilde Z^2]` over the releases whose total is within nine tenths of the true one;
        where all totals but 0 are summed, over these. NaN where noise is so wide that neither is known.
    error : float
        How far `excess` may be off.
    method : str
        How it was found.
    """

    excess: float
    square: float
    error: float
    method: str


def reciprocal_mean(total: float, law: Law) -> Reciprocal:
    """Return how much one over a noisy total exceeds one over the total.

    Parameters
    ----------
    total : float
        The true total, > 0. The result is as private as it is.
    law : Law
        The noise on it.

    Examples
    --------
    >>> mean = reciprocal_mean(100, Laplace(10))
    >>> f"{(1 + mean.excess) / 100:.14f}", mean.method
    ('0.01023551772066', 'closed form')
    """
    if not (isinstance(total, int | float | np.integer | np.floating) and 0 < total < math.inf):
        must_be = "a finite number > 0"
        raise InvalidParameterError("total", owner="reciprocal_mean", must_be=must_be, got="something else")
    noisy = build_noisy_shares(Allotment([1]), [total], law, owner="reciprocal_mean")
    excess, square, error = _reciprocal_series(noisy)
    if error <= _CERTIFIED * excess:
        return Reciprocal(excess, square, error, "series, certified")
    if isinstance(law, Laplace | Gaussian):
        value = _closed_form(float(total), law)
        size = abs(value) if isinstance(law, Laplace) else 1.0
        return Reciprocal(value - 1, square, 1e-14 * max(1.0, size), "closed form")
    summed = _sum_over_totals(float(total), law)
    if summed is None:
        return Reciprocal(excess, square, error, "series, not certified")
    return Reciprocal(*summed, 1e-12, "sum over all totals but 0")


def _reciprocal_series(noisy: NoisyShares) -> tuple[float, float, float]:
    most = min(_RECIPROCAL_ORDERS, *(most_orders(law) - 1 for law in noisy.laws))
    if most < 1:
        return 0.0, 1.0, math.inf
    moments = even_moments(noisy.of_total(noisy.cumulants(most + 1)))
    tail = outside_event(noisy)
    best, error = 1, math.inf
    for orders in range(1, most + 1):
        beyond = math.fsum(EVENT ** (-2 * j) for j in range(1, orders + 2))
        bound = max(1 / (1 - EVENT**2), beyond) * float(moments[orders + 1])
        if bound < error:
            best, error = orders, bound
    excess = math.fsum(moments[1 : best + 1])
    square = math.fsum((2 * k + 1) * moments[k] for k in range(best + 1))
    if error > _UNSURE * excess:
        square = math.nan
    return excess, square, error + 2 * tail.slack + tail.probability + 1e-14 * excess


def _closed_form(total: float, law: Laplace | Gaussian) -> float:
    """Return the principal value of the total over the noisy total."""
    from scipy.special import dawsn, exp1, expi  # noqa: PLC0415 - slow to import

    if isinstance(law, Gaussian):
        place = total / law.standard_deviation
        return math.sqrt(2) * place * float(dawsn(place / math.sqrt(2)))
    place = total / float(law.scale)
    if place > _ASYMPTOTIC:
        return place * (_asymptotic(place, -1.0) + _asymptotic(place, 1.0)) / 2
    return place * (math.exp(place) * float(exp1(place)) + math.exp(-place) * float(expi(place))) / 2


def _asymptotic(place: float, sign: float) -> float:
    total, term = 0.0, 1 / place
    for order in range(1, 30):
        total += term
        term *= sign * order / place
    return total


def _sum_over_totals(total: float, law: Law) -> tuple[float, float] | None:
    """Add up Z / (Z + noise) - 1, and the square of the quotient, over whole noise; totals of 0 left out."""
    far = density_reach(law, _REACH)
    if far > _MOST_SUMMED or total % 1:
        return None
    parts, squares = [], [float(law.pmf(0))]  # type: ignore[attr-defined]
    for first in range(1, math.ceil(far) + 2, _SUMMED_AT_ONCE):
        noise = np.arange(first, min(first + _SUMMED_AT_ONCE, math.ceil(far) + 2), dtype=np.float64)
        with np.errstate(divide="ignore"):
            # a pair of opposite noises: Z / (Z + n) + Z / (Z - n) - 2, without the part whose total is 0
            below = np.where(noise == total, -1.0, noise / (total - noise))
        masses = law.pmf(noise)  # type: ignore[attr-defined]
        parts.append(float(masses @ (below - noise / (total + noise))))
        squares.append(float(masses @ ((1 + below) ** 2 + (total / (total + noise)) ** 2)))
    return math.fsum(parts), math.fsum(squares)
