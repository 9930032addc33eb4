"""Means of shares of a noisy total, the slow and obvious way."""

import math

import mpmath as mp
import numpy as np


def by_enumeration(weights, counts, law, reach, *, step=None, inside=None):
    """Return mean and variance of shares less the true ones, adding up all noises of up to `reach`.

    Totals of 0 pay nobody: they are left out, or, with a step, count as shares of 0. `inside` leaves out
    totals that are farther than this part of the true total from it.
    """
    noise = np.arange(-reach, reach + 1)
    total = float(np.dot(weights, counts))
    truth = np.multiply(weights, counts) / total
    axes = np.ix_(*[law.pmf(noise)] * len(weights))
    masses = math.prod(axes[1:], start=axes[0])
    values = [np.asarray(step(count + noise) if step else count + noise, dtype=float) for count in counts]
    parts = np.ix_(*(w * v for w, v in zip(weights, values, strict=True)))
    noisy = sum(parts[1:], start=parts[0])
    used = np.ones(noisy.shape, dtype=bool) if step else noisy != 0
    if inside is not None:
        used &= np.abs(noisy - total) <= inside * total
    divisor = np.where(noisy == 0, 1.0, noisy)
    mean, square = [], []
    for part, true in zip(parts, truth, strict=True):
        off = np.where(noisy == 0, 0.0, part / divisor) - true
        mean.append(math.fsum((masses * off)[used]))
        square.append(math.fsum((masses * off**2)[used]))
    return np.array(mean), np.array(square) - np.array(mean) ** 2


def principal_value(weights, counts, scale):
    """Return the principal value of the bias under Laplace noise, to 30 digits, on a turned path."""
    with mp.workdps(30):
        a, b = [mp.mpf(w) for w in weights], mp.mpf(scale)
        total = mp.fsum(w * x for w, x in zip(a, counts, strict=True))
        turn = mp.exp(1j * mp.pi / 4)

        def pull(w, tau):
            return 2 * b**2 * w**2 * tau / (1 + b**2 * w**2 * tau**2)

        def phi(tau):
            return mp.fprod(1 / (1 + b**2 * w**2 * tau**2) for w in a)

        def one(place):
            share = a[place] * counts[place] / total

            def integrand(s):
                tau = s * turn / total
                both = pull(a[place], tau) - share * mp.fsum(pull(w, tau) for w in a)
                return mp.re(turn / total * mp.exp(1j * s * turn) * phi(tau) * both)

            return float(mp.quad(integrand, [0, 1, 3, 8, 20, 50, 110]))

        return np.array([one(place) for place in range(len(a))])
