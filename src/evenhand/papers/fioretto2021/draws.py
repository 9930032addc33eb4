"""What the experiments of fioretto2021 drew, many repetitions at once.

Continuous noise is drawn here as the paper does it, for a simulation; nothing of this is fit for release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.privacy.laws import Laplace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Areas, Districts
    from evenhand.privacy.randomness import SeededSource

    Values = NDArray[np.float64]

__all__ = ["CLAMP", "PLAIN", "PROXY", "draw_allotments", "draw_counties", "draw_rule_errors", "shrink_counts"]

PLAIN, CLAMP, PROXY = "plain", "clamp", "proxy"
"""Ways to allot: noisy counts as they are, clamped at 0, and the linear proxy."""

_CHUNK = 100


def shrink_counts(counts: Values, temperature: float) -> Values:
    """Return counts after the three steps of section 7.3.

    >>> shrink_counts(np.array([-2.0, 0.5, 9.0]), 1.0).tolist()
    [0.0, 0.0, 8.9]
    """
    clamped = np.maximum(counts, 0.0)
    return np.maximum(clamped - temperature / (clamped + 1.0), 0.0)


def draw_allotments(
    table: Districts,
    epsilon: Fraction,
    temperatures: Mapping[str, float],
    repetitions: int,
    source: SeededSource,
) -> dict[str, tuple[Values, Values]]:
    """Return, for each way to allot, the mean error of each share and its mean absolute error.

    Parameters
    ----------
    table : Districts
    epsilon : Fraction
        Counts have Laplace noise of scale 1 / epsilon; for the proxy of 2 / epsilon, its sum has the rest.
    temperatures : mapping of str to float
        Further ways: shrinking at these temperatures.
    repetitions : int
    source : SeededSource
    """
    weights, true = table.weights.astype(float), table.shares
    sums: dict[str, Any] = {}
    scale = 1 / epsilon
    for start in range(0, repetitions, _CHUNK):
        size = min(_CHUNK, repetitions - start)
        noise = Laplace(scale).draw(size=(size, len(true)), source=source)
        about = Laplace(2 * int(weights.max()) * scale).draw(size=(size, 1), source=source)
        noisy = table.counts + noise
        clamped = np.maximum(noisy, 0.0)
        counts = {PLAIN: noisy, CLAMP: clamped}
        counts |= {name: shrink_counts(clamped, value) for name, value in temperatures.items()}
        for name, each in counts.items():
            weighed = each * weights
            _add(sums, name, weighed / weighed.sum(axis=1, keepdims=True) - true)
        _add(sums, PROXY, (table.counts + 2 * noise) * weights / (table.total + about) - true)
    return {name: (off / repetitions, size / repetitions) for name, (off, size) in sums.items()}


def _add(sums: dict[str, Any], name: str, errors: Values) -> None:
    off, size = sums.get(name, (0.0, 0.0))
    sums[name] = off + errors.sum(axis=0), size + np.abs(errors).sum(axis=0)


def draw_rule_errors(table: Areas, epsilon: Fraction, repetitions: int, source: SeededSource) -> Any:
    """Return how often noise turned the language rule's answer round, for each area.

    Ratios are computed as they stand, so that two negative counts have a positive ratio.
    """
    wrong = np.zeros(len(table.s), dtype=np.int64)
    for start in range(0, repetitions, _CHUNK):
        size = min(_CHUNK, repetitions - start)
        s, sp, spe = (
            each + Laplace(1 / epsilon).draw(size=(size, len(each)), source=source)
            for each in (table.s, table.sp, table.spe)
        )
        holds = ((sp / s > 0.05) | (sp > 10_000)) & (spe / sp > 0.0131)
        wrong += (holds != table.covered).sum(axis=0)
    return wrong


def draw_counties(
    counts: Any, epsilon: Fraction, repetitions: int, source: SeededSource
) -> tuple[Values, Values]:
    """Return mean and variance of noisy ratios x / y, for rows of x and y."""
    pairs = np.asarray(counts, dtype=float)
    noise = Laplace(1 / epsilon).draw(size=(repetitions, *pairs.shape), source=source)
    noisy = pairs + noise
    ratios = noisy[:, :, 0] / noisy[:, :, 1]
    return ratios.mean(axis=0), ratios.var(axis=0, ddof=1)
