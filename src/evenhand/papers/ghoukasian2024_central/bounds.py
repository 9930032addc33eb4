r"""Theorem 8 and Proposition 9 of ghoukasian2024 beside simulations of Algorithm 2.

A classifier predicts 1 for a share :math:`\alpha` of group 0 and :math:`\beta` of group 1. Algorithm 2 sees
:math:`n_0` and :math:`n_1` people who took no part in training, counts their ones, adds noise and flips
decisions. What it then does to everybody follows from the two noisy rates without further draws, and so do
the gap that is left and the share of decisions that are changed.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.papers.trials import Trials
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

BOUNDS = "bounds"  # the name of the trials, and of their table
ETA = 0.05  # the probability with which a bound may fail
SIMULATIONS = 10_000  # runs of Algorithm 2 in each case
# How many people the rates are counted on, a trial for each; a last one has the sizes of the tables
PEOPLE = (100, 1_000, 10_000)
# The people and the epsilon of each rate in tables 3.1 to 3.4, men first; sizes of our split
OWN = {"Adult": (7_639, 3_666, 0.05), "Credit Card": (2_958, 4_542, 0.1)}

_SHARES = (0.05, 0.3, 0.5, 0.95)
_EPSILONS = (0.05, 0.5)
_RATES = ((0.3, 0.1), (0.1, 0.3), (0.5, 0.5), (0.9, 0.2), (0.02, 0.01))
_SEED = 2024


class Case(NamedTuple):
    """People in both groups, the epsilon of each rate, and the true rates."""

    first: int
    second: int
    epsilon: float
    alpha: float
    beta: float


def bound(first: int, second: int, epsilon: float, *, eta: float = ETA) -> float:
    """Return Theorem 8's bound on the gap with every group divided by its own size.

    >>> round(bound(300, 700, 0.5), 12)
    0.193913363592
    """
    noise = math.log(4 / eta) * (1 / (first * epsilon) + 1 / (second * epsilon))
    return noise + sum(math.sqrt(math.log(8 / eta) / (2 * each)) for each in (first, second))


def printed_bound(first: int, epsilon: float, *, eta: float = ETA) -> float:
    """Return the bound as it is printed, with the size of group 0 everywhere.

    >>> printed_bound(950, 0.5) < bound(950, 50, 0.5)
    True
    """
    return bound(first, first, epsilon, eta=eta)


def expected_bound(first: int, second: int, epsilon: float) -> float:
    """Return Proposition 9's bound on the expected gap.

    >>> round(expected_bound(300, 700, 0.5), 12)
    0.057289546634
    """
    noise = 1 / (first * epsilon) + 1 / (second * epsilon)
    return noise + sum(math.sqrt(1 / (4 * each)) for each in (first, second))


def noisy_rates(
    case: Case, number: int, source: SeededSource, *, as_printed: bool = False, noise: float = 1.0
) -> tuple[Numbers, Numbers]:
    """Return draws of both noisy rates.

    With `as_printed` the ones of each group are divided by the size of the other, and both noises scaled by
    that of group 0, as Algorithm 2 is printed. `noise` is how many times the noise of Algorithm 2 there is.
    """
    draw = source.generator()
    sizes = np.array([case.first, case.second])
    divisors, scales = (sizes[::-1], sizes[[0, 0]]) if as_printed else (sizes, sizes)
    found = []
    for size, rate, divisor, scale in zip(sizes, (case.alpha, case.beta), divisors, scales, strict=True):
        counted = draw.binomial(size, rate, number) / divisor
        found.append(np.clip(counted + draw.laplace(0, noise / (scale * case.epsilon), number), 0, 1))
    return found[0], found[1]


def flip_decisions(case: Case, first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """Return the gap and the share of changed decisions, summed over groups, after Algorithm 2.

    With the true rates the gap is gone and as many decisions change as they were apart:

    >>> gap, changed = flip_decisions(Case(1, 1, 1.0, 0.6, 0.3), np.array([0.6]), np.array([0.3]))
    >>> bool(gap[0] < 1e-12), round(float(changed[0]), 12)
    (True, 0.3)
    """
    down, up = first >= second, first < second
    alpha, lost = _flip_group(case.alpha, first, second, down=down)
    beta, won = _flip_group(case.beta, second, first, down=up)
    return np.abs(alpha - beta), lost + won


def _flip_group(
    rate: float, own: Numbers, other: Numbers, *, down: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Return the rate of a group after its flips, and what share of it is flipped."""
    with np.errstate(divide="ignore", invalid="ignore"):
        keep = np.where(own > 0, (own + other) / (2 * own), 1.0)
        promote = np.where(own < 1, (other - own) / (2 * (1 - own)), 0.0)
    change = np.where(down, rate * (1 - keep), (1 - rate) * promote)
    return np.where(down, rate - change, rate + change), change


def cases(number: int) -> list[Case]:
    """Return the cases of a trial; those of the last one have the sizes of the tables."""
    if number == len(PEOPLE):
        return [Case(*sizes, *rates) for sizes in OWN.values() for rates in _RATES]
    people = PEOPLE[number]
    return [
        Case(round(share * people), people - round(share * people), epsilon, *rates)
        for share, epsilon, rates in product(_SHARES, _EPSILONS, _RATES)
    ]


def simulate_bounds(case: Case, source: SeededSource, *, noise: float = 1.0) -> dict[str, Any]:
    """Return what came of many runs of Algorithm 2 in one case, beside the bounds.

    The shares are of runs in which a bound failed. `extra` is by how much more decisions were changed than
    the best classifier with the same gap would have to change.
    """
    limit, printed = bound(*case[:3]), printed_bound(case.first, case.epsilon)
    gap, changed = flip_decisions(case, *noisy_rates(case, SIMULATIONS, source, noise=noise))
    least = np.maximum(abs(case.alpha - case.beta) - gap, 0)
    wrong, _ = flip_decisions(case, *noisy_rates(case, SIMULATIONS, source, as_printed=True))
    return {
        **case._asdict(),
        "bound": limit,
        "printed bound": printed,
        "expected bound": expected_bound(*case[:3]),
        "mean gap": float(gap.mean()),
        "error": float(gap.std() / math.sqrt(SIMULATIONS)),
        "high gap": float(np.quantile(gap, 1 - ETA)),
        "above": float((gap > limit).mean()),
        "above printed": float((gap > printed).mean()),
        "mean extra": float((changed - least).mean()),
        "extra above": float((changed > least + 2.5 * limit).mean()),
        "extra above printed": float((changed > ETA * least + 2.5 * limit).mean()),
        "mean least": float(least.mean()),
        "mean gap, other size": float(wrong.mean()),
        "above, other size": float((wrong > limit).mean()),
    }


def _trial(number: int) -> dict[str, Any]:
    return {"cases": [simulate_bounds(case, SeededSource(_SEED, cell=repr(case))) for case in cases(number)]}


def bound_trials() -> Trials:
    """Return the simulations: a trial for each number of people, and one for the sizes of the tables."""
    return Trials(BOUNDS, len(PEOPLE) + 1, _trial, label="size")
