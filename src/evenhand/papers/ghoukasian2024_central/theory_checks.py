"""Checks of what ghoukasian2024 proves or states in sections 3.2 to 3.4."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import Checked, agree_if, cannot_check
from evenhand.papers.ghoukasian2024_central import bounds
from evenhand.papers.ghoukasian2024_central.bounds import BOUNDS, ETA, OWN, Case, bound
from evenhand.papers.ghoukasian2024_central.settings import TABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

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
        gap, changed = bounds.flip_decisions(
            Case(1, 1, 1.0, alpha, beta), np.array([alpha]), np.array([beta])
        )
        gaps.append(float(gap[0]))
        extra.append(float(changed[0]) - abs(alpha - beta))
    off = max(map(abs, extra))
    return agree_if(max(gaps) < _CLOSE and off < _CLOSE, number=len(gaps), gap=max(gaps), off=off)


# --- privacy --------------------------------------------------------------------------------------


def _coordinate(size: int, other: int, ones: NDArray[np.float64], more: int, epsilon: float) -> float:
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

    Examples
    --------
    >>> round(secret_sizes(30, 70, 0.5), 5)
    1.01723
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

    def log_chances(centre: int) -> NDArray[np.float64]:
        chances: NDArray[np.float64] = -each * np.abs(counts - centre)
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


def delta_needed(_: Evidence) -> dict[str, Any]:
    """Return Theorem 8's bounds of the tables, in which no delta occurs."""
    return {"told": [f"{name} {bound(*sizes):.4f}" for name, sizes in OWN.items()], "eta": ETA}


# --- fairness and utility -------------------------------------------------------------------------


def _times(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]:.1f} to {ordered[-1]:.1f} times (median {ordered[len(ordered) // 2]:.1f})"


def theorem_8(evidence: Evidence, share: str, beside: str, times: float = 1.0) -> Checked:
    """Check that a bound fails in at most a share eta of the runs, and tell how loose it is."""
    found = every_case(evidence)
    worst = max(each[share] for each in found)
    loose = [times * each["bound"] / each[beside] for each in found if each[beside] > 0]
    values = {"cases": len(found), "runs": bounds.SIMULATIONS, "eta": ETA, "worst": worst}
    return agree_if(worst <= ETA, case=share, loose=_times(loose), least=min(loose), **values)


def theorem_8_printed(evidence: Evidence) -> Checked:
    found = every_case(evidence)
    worst = max(found, key=lambda each: each["above printed"])
    wrong = sum(each["above printed"] > ETA for each in found)
    return agree_if(not wrong, eta=ETA, wrong=wrong, cases=len(found), worst=worst)


def utility_printed(evidence: Evidence) -> Checked:
    found = every_case(evidence)
    wrong = sum(each["extra above printed"] > ETA for each in found)
    worst = max(found, key=lambda each: (each["extra above printed"], each["first"] + each["second"]))
    return agree_if(not wrong, eta=ETA, wrong=wrong, cases=len(found), worst=worst)


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
    told = [f"{name} {bound(*sizes):.4f}" for name, sizes in OWN.items()]
    found = max(bound(*sizes) for sizes in OWN.values())
    one, many = bound(50, 50, 0.5), bound(50, 9_950, 0.5)
    return agree_if(found < _WIDE, eta=ETA, told=" and ".join(told), one=one, many=many)


def guaranteed(_: Evidence, paper: float) -> Checked:
    found, (men, women, epsilon) = bound(*OWN["Adult"]), OWN["Adult"]
    table = TABLES["table-3.1"]
    values = {"sure": 1 - ETA, "men": men, "women": women, "found": found}
    values["printed"] = bounds.printed_bound(men, epsilon)
    holds = 2 * found < table.line(table.matched).gap
    return replace(agree_if(holds, paper=f"{paper:g}", **values), paper_value=paper)
