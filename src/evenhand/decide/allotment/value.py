r"""The bias of shares where the noise is too large for the series: by the characteristic function.

With :math:`\varphi` the characteristic function of :math:`t`, the noise in the total over the total, and
:math:`r_i(\tau) = -g_i (\ln \varphi_i)'(g_i \tau)`, :math:`R = \sum_j r_j`,

.. math:: \mathrm{PV}\, E\Big[\frac{u_i}{1 + t}\Big]
          = \mathrm{Re} \int_0^\infty e^{i \tau} \varphi(\tau) (r_i(\tau) - P_i R(\tau))\, d\tau.

For Laplace and Gaussian noise the path is turned by 45 degrees into the complex plane, or by 22.5 where the
noise is large. There the integrand falls exponentially and has no pole: a smooth integral without
cancellation. For whole-numbered noise and weights the sum over all totals but 0 is taken with the discrete
Fourier transform.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._notes import Note
from evenhand.decide.allotment.inputs import whole_weights
from evenhand.decide.allotment.series import Found, Series
from evenhand.decide.allotment.tails import chernoff
from evenhand.privacy.laws import DiscreteLaplace, Gaussian, Laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.allotment.inputs import Noisy
    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]
    Complex = NDArray[np.complex128]

__all__ = ["chance_not_positive", "lattice_bias", "lattice_variance", "principal_value", "value_bias"]

_PRINCIPAL_VALUE = Note("estimated error", "principal value by the characteristic function, error estimated")
_FOURIER_SUM = Note("estimated error", "Fourier sum over all totals, 0 counting as no error, error estimated")
_FALL = 42.0  # exp(-42) is 6e-19
_NODES = 16
_BLOCK = 1 << 20
_MOST_POINTS, _MOST_WORK = 1 << 20, 1 << 27
_NEVER = 1e-16
_LARGE = 0.3  # noise over the total from which, turned by 45 degrees, the integrand swings too long
_IMAGES = np.arange(-3, 4)[:, np.newaxis]


def value_bias(noisy: Noisy, series: Series) -> Found:
    """Return the bias by whichever integral applies; else the series with its bound, however wide."""
    kinds = {type(law) for law in noisy.laws}
    if kinds <= {Laplace, Gaussian}:
        values, error = principal_value(noisy)
        return Found(values, error, _PRINCIPAL_VALUE)
    on_lattice = lattice_bias(noisy)
    if on_lattice is not None:
        values, error = on_lattice
        return Found(values, error, _FOURIER_SUM)
    orders = f"{series.orders} even order{'s'[: series.orders != 1]}"
    words = f"series of {orders}, not certified: the bound is above 1e-9"
    return Found(series.values, series.error_bound, words)


def principal_value(noisy: Noisy) -> tuple[Values, Values]:
    """Return the principal value for Laplace and Gaussian noise, and an estimate of its error."""
    fine, sizes = _on_ray(noisy, 1.0)
    coarse, _ = _on_ray(noisy, 2.0)
    return fine, np.abs(fine - coarse) + 64 * np.finfo(np.float64).eps * sizes


def lattice_bias(noisy: Noisy) -> tuple[Values, Values] | None:
    """Return the mean, a total of 0 counting as no error, and its error; None where that is too long."""
    grid = _grid(noisy)
    if grid is None:
        return None
    totals = grid.totals
    with np.errstate(divide="ignore"):
        kernel = grid.transformed(np.where(totals == 0, 0.0, 1.0 / totals)).imag
    kernel = -kernel * np.exp(grid.log_phi) / totals.size  # the real part of i times the transform
    pulled = [float(kernel @ (own * _discrete(law, own * grid.angles)[1])) for own, law in grid.each]
    values = np.array(pulled) - noisy.shares * math.fsum(pulled)
    spread = float(np.abs(kernel).sum() * np.abs(grid.pull).max())
    error = np.full(values.shape, 64 * np.finfo(np.float64).eps * spread + _NEVER * totals.size)
    return values, error


def lattice_variance(noisy: Noisy) -> Values | None:
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
    alone = grid.transformed(inverse).real * phi
    crossed = -grid.transformed(moved * inverse).imag * phi
    both = float(grid.transformed(moved**2 * inverse).real @ phi)
    found = np.empty_like(noisy.shares)
    for place, (own, law) in enumerate(grid.each):
        share, angles = noisy.shares[place], own * grid.angles
        square = own**2 * float(alone @ _discrete_square(law, angles))
        product = own * float(crossed @ _discrete(law, angles)[1])
        found[place] = square - 2 * share * product + share**2 * both
    return np.maximum(found - mean[0] ** 2, 0.0)


def chance_not_positive(noisy: Noisy) -> tuple[float, str]:
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
    kernel = grid.transformed((grid.totals <= 0).astype(np.float64)).real
    found = float(kernel @ np.exp(grid.log_phi)) / grid.totals.size
    return min(max(found, 0.0), bound), "by a Fourier sum"


@dataclass(frozen=True, eq=False)
class _Grid:
    """Whole-numbered totals, and the characteristic function of their noise at the matching angles."""

    totals: NDArray[np.int64]
    angles: Values
    log_phi: Values
    pull: Values
    each: list[tuple[int, Law]]

    def transformed(self, function: Values) -> Complex:
        """Return the transform of a function of the total, so that its product with phi adds up to a mean."""
        found = np.fft.rfft(np.fft.ifftshift(function)).astype(np.complex128)
        found[1:-1] *= 2
        return found


def _grid(noisy: Noisy) -> _Grid | None:
    scaled = whole_weights(noisy)
    if scaled is None:
        return None
    weights, total = scaled
    far = _far(noisy) * total
    points = 1 << max(4, math.ceil(math.log2(2 * far + 2)))
    if points > _MOST_POINTS or points * weights.size > _MOST_WORK:
        return None
    angles = 2 * math.pi * np.arange(points // 2 + 1) / points
    each = list(zip(weights.tolist(), (noisy.laws[place] for place in noisy.which), strict=True))
    log_phi, pull = np.zeros_like(angles), np.zeros_like(angles)
    for own, law in each:
        log_each, derivative = _discrete(law, own * angles)
        log_phi += log_each
        pull += own * np.abs(derivative)
    return _Grid(np.arange(points) - points // 2 + total, angles, log_phi, pull, each)


def _on_ray(noisy: Noisy, coarse: float) -> tuple[Values, Values]:
    """Integrate along the turned path by Gauss and Legendre's rule on panels that grow."""
    steps, weights = _panels(noisy, coarse)
    turn = cmath.exp(1j * _angle(noisy))
    path: Complex = (steps * turn).astype(np.complex128)
    squares = noisy.reach**2
    log_phi, pull = np.zeros(path.size, dtype=np.complex128), np.zeros(path.size, dtype=np.complex128)
    for own, law in _blocks(noisy, path.size):
        log_each, each = _continuous(law, squares[own], path)
        log_phi += log_each.sum(axis=0)
        pull += each.sum(axis=0)
    kernel = turn * weights * np.exp(1j * path + log_phi)
    common = kernel @ pull
    values, sizes = np.empty_like(squares), np.empty_like(squares)
    spread = float(np.abs(kernel) @ np.abs(pull))
    for own, law in _blocks(noisy, path.size):
        _, each = _continuous(law, squares[own], path)
        values[own] = (each @ kernel - noisy.shares[own] * common).real
        sizes[own] = np.abs(each) @ np.abs(kernel) + noisy.shares[own] * spread
    return values, sizes


def _panels(noisy: Noisy, coarse: float) -> tuple[Values, Values]:
    """Return nodes and weights: panels double in length from where the noise begins to matter."""
    widest = max(1.0, math.sqrt(float((noisy.reach**2).sum())))
    ends = [0.0]
    length = 0.25 * coarse / widest
    last = _FALL / math.sin(_angle(noisy))
    while ends[-1] < last:
        ends.append(min(last, ends[-1] + length))
        length = min(2.0 * coarse, max(length, 0.25 * coarse * ends[-1]))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    low, width = np.array(ends[:-1]), np.diff(ends)
    steps = (low[:, np.newaxis] + width[:, np.newaxis] * (nodes + 1) / 2).ravel()
    return steps, (width[:, np.newaxis] * weights / 2).ravel()


def _angle(noisy: Noisy) -> float:
    """Return by how much the path is turned."""
    return math.pi / 8 if float((noisy.reach**2).sum()) > _LARGE**2 else math.pi / 4


def _blocks(noisy: Noisy, points: int) -> list[tuple[NDArray[np.int64], Law]]:
    size = max(1, _BLOCK // points)
    found = []
    for place, law in enumerate(noisy.laws):
        here = np.flatnonzero(noisy.which == place)
        found += [(here[start : start + size], law) for start in range(0, here.size, size)]
    return found


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
    squared = float(law.squared_scale)  # type: ignore[attr-defined]
    near = np.remainder(angles + math.pi, 2 * math.pi) - math.pi
    images = near + 2 * math.pi * _IMAGES
    sizes = -squared * images**2 / 2
    top = sizes.max(axis=0)
    masses = np.exp(sizes - top)
    total = masses.sum(axis=0)
    at_zero = np.log(np.exp(-squared * (2 * math.pi * _IMAGES) ** 2 / 2).sum())
    return top + np.log(total) - at_zero, squared * (masses * images).sum(axis=0) / total


def _discrete_square(law: Law, angles: Values) -> Values:
    """Return minus the second derivative of the characteristic function, over the function itself."""
    if isinstance(law, DiscreteLaplace):
        rate = math.exp(-1 / float(law.scale))
        below = math.expm1(-1 / float(law.scale)) ** 2 + 4 * rate * np.sin(angles / 2) ** 2
        slope: Values = 2 * rate * np.sin(angles) / below
        return 2 * rate * np.cos(angles) / below - 2 * slope**2
    squared = float(law.squared_scale)  # type: ignore[attr-defined]
    near = np.remainder(angles + math.pi, 2 * math.pi) - math.pi
    images = near + 2 * math.pi * _IMAGES
    sizes = -squared * images**2 / 2
    masses = np.exp(sizes - sizes.max(axis=0))
    mean: Values = (masses * images**2).sum(axis=0) / masses.sum(axis=0)
    return squared - squared**2 * mean


def _far(noisy: Noisy) -> float:
    """Return how far the total moves, over itself, but for a probability of 1e-16."""
    low, high = 0.0, 1.0
    while chernoff(noisy, high)[0] > _NEVER / 2:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if chernoff(noisy, middle)[0] > _NEVER / 2 else (low, middle)
    return high
