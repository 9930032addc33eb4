r"""Checks of what ghoukasian2024 proves or states in sections 3.2 to 3.4, and simulations of Algorithm 2.

A classifier predicts 1 for a share :math:`\alpha` of group 0 and :math:`\beta` of group 1. Algorithm 2 sees
:math:`n_0` and :math:`n_1` people who took no part in training, counts their ones, adds noise and flips
decisions. What it then does to everybody follows from the two noisy rates without further draws.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.learn.parity.bounds import printed_bounds
from evenhand.papers.claims import Checked, agree_if, cannot_check
from evenhand.papers.ghoukasian2024_central.accounting import TABLES
from evenhand.papers.trials import Trials
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

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


def bound(first: int, second: int, epsilon: float) -> float:
    """Return Theorem 8's bound on the gap with every group divided by its own size."""
    return printed_bounds((first, second), (epsilon, epsilon), confidence=1 - ETA).likely


def printed_bound(first: int, epsilon: float) -> float:
    """Return the bound as it is printed, with the size of group 0 everywhere."""
    return bound(first, first, epsilon)


def expected_bound(first: int, second: int, epsilon: float) -> float:
    """Return Proposition 9's bound on the expected gap."""
    return printed_bounds((first, second), (epsilon, epsilon)).expected


def noisy_rates(
    case: Case, number: int, source: SeededSource, *, as_printed: bool = False, noise: float = 1.0
) -> tuple[Values, Values]:
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


def flip_decisions(case: Case, first: Values, second: Values) -> tuple[Values, Values]:
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


def _flip_group(rate: float, own: Values, other: Values, *, down: NDArray[np.bool_]) -> tuple[Values, Values]:
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
    return Trials(BOUNDS, len(PEOPLE) + 1, _trial)


_CLOSE = 1e-9
_TENTHS = tuple(each / 10 for each in range(11))
_WIDE = 0.1


def every_case(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the simulated cases of all sizes."""
    return [case for record in evidence.trials[BOUNDS].values() for case in record["cases"]]


# --- without privacy ------------------------------------------------------------------------------


def proposition_6(_: Evidence) -> Checked:
    """Try every post-processing on a lattice: keep a share of the ones, promote a share of the zeros."""
    keep, promote = (each.ravel() for each in np.meshgrid(_TENTHS, _TENTHS))
    number = wrong = 0
    for alpha, beta in product(_TENTHS, repeat=2):
        rates = [rate * keep + (1 - rate) * promote for rate in (alpha, beta)]
        moved = [rate * (1 - keep) + (1 - rate) * promote for rate in (alpha, beta)]
        gap = np.abs(rates[0][:, None] - rates[1])
        changed = moved[0][:, None] + moved[1]
        wrong += int((changed < abs(alpha - beta) - gap - _CLOSE).sum())
        number += gap.size
    return agree_if(not wrong, number=number, wrong=wrong)


def theorem_7(_: Evidence) -> Checked:
    gaps, extra = [], []
    for alpha, beta in product(_TENTHS, repeat=2):
        gap, changed = flip_decisions(Case(1, 1, 1.0, alpha, beta), np.array([alpha]), np.array([beta]))
        gaps.append(float(gap[0]))
        extra.append(float(changed[0]) - abs(alpha - beta))
    off = max(map(abs, extra))
    return agree_if(max(gaps) < _CLOSE and off < _CLOSE, number=len(gaps), gap=max(gaps), off=off)


# --- privacy --------------------------------------------------------------------------------------


def _coordinate(size: int, other: int, ones: Values, more: int, epsilon: float) -> float:
    """Return the largest log-ratio of one clamped noisy rate when its group goes from one size to another."""
    there = (ones + more >= 0) & (ones + more <= other)
    before, after = ones[there] / size, (ones[there] + more) / other
    found = []
    for at in (np.zeros_like(before), np.ones_like(before), before, after):
        first = np.log(size) - epsilon * size * np.abs(at - before)
        second = np.log(other) - epsilon * other * np.abs(at - after)
        found.append((first - second).max())
    low = epsilon * (other * after - size * before).max()
    high = epsilon * (other * (1 - after) - size * (1 - before)).max()
    return float(max(*found, low, high))


def secret_sizes(first: int, second: int, epsilon: float) -> float:
    """Return the exact epsilon of both noisy rates when a record may change its group and sizes are secret.

    The record leaves one group and joins the other, with any prediction in either.
    """
    return max(_leaving(first, second, epsilon), _leaving(second, first, epsilon))


def _leaving(left: int, joined: int, epsilon: float) -> float:
    """Return the largest log-ratio, in either direction, when somebody leaves a group and joins another."""
    steps = ((left, left - 1), (joined, joined + 1))
    forward = sum(_largest(size, other, epsilon) for size, other in steps)
    backward = sum(_largest(other, size, epsilon) for size, other in steps)
    return max(forward, backward)


def _largest(size: int, other: int, epsilon: float) -> float:
    ones = np.arange(size + 1.0)
    return max(_coordinate(size, other, ones, more, epsilon) for more in (0, other - size))


def any_record(_: Evidence) -> Checked:
    small, large = secret_sizes(30, 70, 0.5), secret_sizes(300, 700, 0.5)
    return agree_if(max(small, large) <= 1 + _CLOSE, small=small, large=large)


def printed_noise(_: Evidence) -> Checked:
    told, worst = [], 0.0
    for name, (men, women, epsilon) in OWN.items():
        real = epsilon * max(men / women, women / men)
        worst = max(worst, real / epsilon)
        told.append(f"{name} {real:.3f} instead of {epsilon:g}")
    return agree_if(worst <= 1, told=told)


def decoupled(_: Evidence, each: float) -> Checked:
    """Add geometric noise to the count of either group, as two private trainings, and move one record."""
    size = 40
    counts = np.arange(-size, size + 1)

    def log_chances(centre: int) -> Values:
        chances: Values = -each * np.abs(counts - centre)
        return chances

    left, joined = log_chances(0) - log_chances(-1), log_chances(0) - log_chances(1)
    within = max(np.abs(left).max(), np.abs(joined).max())
    across = np.abs(left[:, None] + joined).max()
    return agree_if(not np.isfinite(across), each=each, within=within, across=across)


def rates_cost(_: Evidence) -> Checked:
    """Compute what two noisy rates cost with public sizes: a record is in one of them."""
    told, holds = [], True
    for name, (men, women, epsilon) in OWN.items():
        costs = [
            _coordinate(size, size, np.arange(size + 1.0), more, epsilon)
            for size in (men, women)
            for more in (-1, 1)
        ]
        holds = holds and max(costs) <= 2 * epsilon + _CLOSE
        told.append(f"{name} {max(costs):.3f} instead of {2 * epsilon:g}")
    return agree_if(holds, told=told)


def _own_bounds() -> list[str]:
    return [f"{name} {bound(*sizes):.4f}" for name, sizes in OWN.items()]


def delta_needed(_: Evidence) -> dict[str, Any]:
    """Return Theorem 8's bounds of the tables, in which no delta occurs."""
    return {"told": _own_bounds(), "eta": ETA}


# --- fairness and utility -------------------------------------------------------------------------


def _times(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]:.1f} to {ordered[-1]:.1f} times (median {ordered[len(ordered) // 2]:.1f})"


def theorem_8(evidence: Evidence, share: str, beside: str, times: float = 1.0) -> Checked:
    found = every_case(evidence)
    worst = max(each[share] for each in found)
    loose = [times * each["bound"] / each[beside] for each in found if each[beside] > 0]
    values = {"cases": len(found), "runs": SIMULATIONS, "eta": ETA, "worst": worst}
    return agree_if(worst <= ETA, case=share, loose=_times(loose), least=min(loose), **values)


def theorem_8_as_printed(evidence: Evidence, share: str) -> Checked:
    found = every_case(evidence)
    wrong = sum(each[share] > ETA for each in found)
    worst = max(found, key=lambda each: (each[share], each["first"] + each["second"]))
    return agree_if(not wrong, case=share, eta=ETA, wrong=wrong, cases=len(found), worst=worst)


def proposition_9(evidence: Evidence, mean: str, times: float = 1.0, errors: float = 0.0) -> Checked:
    """Check that a mean, less some standard errors of the simulation, is within a bound in every case."""
    found = every_case(evidence)
    wrong = sum(each[mean] - errors * each["error"] > times * each["expected bound"] for each in found)
    loose = _times([times * each["expected bound"] / max(each[mean], _CLOSE) for each in found])
    return agree_if(not wrong, case=mean, wrong=wrong, cases=len(found), loose=loose)


def normalised(evidence: Evidence) -> Checked:
    every = every_case(evidence)
    own = [case for case in every if case["first"] == OWN["Adult"][0]]
    if not own:
        return cannot_check(case="open")
    wrong = sum(case["mean gap, other size"] > case["bound"] for case in every)
    return agree_if(not wrong, first=own[0], wrong=wrong, cases=len(every))


def small_gap(_: Evidence) -> Checked:
    found = max(bound(*sizes) for sizes in OWN.values())
    one, many = bound(50, 50, 0.5), bound(50, 9_950, 0.5)
    return agree_if(found < _WIDE, eta=ETA, told=" and ".join(_own_bounds()), one=one, many=many)


def guaranteed(_: Evidence, paper: float) -> Checked:
    found, (men, women, epsilon) = bound(*OWN["Adult"]), OWN["Adult"]
    table = TABLES["table-3.1"]
    theirs = table.line(table.matched).gap
    values = {"sure": 1 - ETA, "men": men, "women": women, "found": found, "theirs": theirs}
    values["printed"] = printed_bound(men, epsilon)
    return replace(agree_if(2 * found < theirs, paper=f"{paper:g}", **values), paper_value=paper)
