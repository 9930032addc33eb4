"""What zhu2023 proves about bias and alpha, Theorems 2, 4 and 7 to 10, and what is so."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import AGREES, DIFFERS, Checked, Claim
from evenhand.papers.zhu2023 import enumerated as listed
from evenhand.papers.zhu2023 import exact
from evenhand.papers.zhu2023.data import DATA
from evenhand.papers.zhu2023.exact import laplace_alpha, theorem_7, theorem_8, theorem_9
from evenhand.papers.zhu2023.experiments import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.papers.claims import Evidence

__all__ = ["FAIRNESS"]

_CLOSE = 1e-9
_SHOWN = "1"


def _bound(theorem: str, what: str, *, equal: bool = False, more: str = "") -> Callable[[Evidence], Checked]:
    """Return the check that a bound holds on the paper's tables at all its epsilons."""

    def check(evidence: Evidence) -> Checked:
        wrong, number, said = 0, 0, []
        for record in evidence.trials[EXACT].values():
            for text, pairs in record["bounds"].items():
                true, most = pairs[theorem]
                off = true / most - 1
                wrong += (abs(off) if equal else off) > _CLOSE
                number += 1
                if text == _SHOWN:
                    said.append(f"{DATA[record['name']].title} {true:,.2f} against {most:,.2f}")
        holds = f"It {'is met' if equal else 'holds'} in all {number} tables and epsilons"
        if wrong:
            holds = f"It fails in {wrong} of {number} tables and epsilons"
        return Checked(
            DIFFERS if wrong else AGREES,
            f"{holds}; {what} at epsilon = {_SHOWN}: {'; '.join(said)}.{more}",
        )

    return check


def _proposition_1(_: Evidence) -> Checked:
    worst, number = 0.0, 0
    for row, text in product(product(range(4), repeat=3), ("0.5", "1", "4")):
        mean = np.array(listed.swapping_mean(row, Fraction(text)))
        formula = exact.swapping_bias(np.array([row]), Fraction(text))[0]
        worst = max(worst, float(np.abs(mean - np.array(row) - formula).max()))
        number += 1
    why = f"Within {worst:.0e} of the mean over all outputs in {number} small tables."
    return Checked(AGREES if worst < _CLOSE else DIFFERS, why)


def _tight(_: Evidence) -> Checked:
    counts, k, epsilon = np.array([0, 3]), 6, Fraction(1)
    true = float(np.ptp(exact.suppression_bias(counts, epsilon, k)))
    bound = theorem_7(counts, epsilon, k)
    why = (
        f"Not with x = (0, 3), k = 6 and epsilon = 1: alpha is {true:.4f} and the bound {bound:.4f}. What is "
        "met with equality is a line of the proof, before its last two steps."
    )
    return Checked(AGREES if abs(true - bound) < _CLOSE else DIFFERS, why)


def _norms(_: Evidence) -> Checked:
    counts, epsilon = np.array([2, 50]), Fraction(1, 2)
    with_norm = math.exp(-float(epsilon) * 2 / 2) / 2 * 50
    with_range = theorem_9(counts, epsilon)
    why = (
        "The largest count is the range only if the smallest is 0: for x = (2, 50) and epsilon = 0.5 "
        f"the two forms of Theorem 9 are {with_norm:.3f} and {with_range:.3f}."
    )
    return Checked(AGREES if abs(with_norm - with_range) < _CLOSE else DIFFERS, why)


# --- Theorem 10 -----------------------------------------------------------------------------------


def _tables() -> Iterator[tuple[Any, int, Fraction]]:
    """Yield tables whose smallest count is between 2 and the threshold."""
    for k, text in product((3, 6, 10), ("0.1", "0.5", "1", "4")):
        for least, most in product((2, 3, 5, 9), (10, 59, 500)):
            if least <= k:
                yield np.array([least, most]), k, Fraction(text)


def _of_bounds(_: Evidence) -> Checked:
    number = wrong = 0
    for counts, k, epsilon in _tables():
        bound = theorem_9(counts, epsilon)
        wrong += bound > theorem_7(counts, epsilon, k) + _CLOSE
        wrong += int(any(bound > theorem_8(counts, epsilon, size) + _CLOSE for size in (2, 9, 50)))
        number += 1
    why = f"The bound of Theorem 9 is the smallest in {number - wrong} of {number} tables."
    return Checked(DIFFERS if wrong else AGREES, why)


def _of_alphas(_: Evidence) -> Checked:
    counts, k, epsilon = np.array([3, 59]), 3, Fraction(1, 10)
    noisy = laplace_alpha(counts, epsilon)
    suppressed = float(np.ptp(exact.suppression_bias(counts, epsilon, k, fill=k / 2)))
    number = against = 0
    for table, threshold, level in _tables():
        number += 1
        hidden = np.ptp(exact.suppression_bias(table, level, threshold, fill=threshold / 2))
        against += int(laplace_alpha(table, level) > hidden + _CLOSE)
    why = (
        f"It compares bounds, not alphas. With x = (3, 59), k = 3 and epsilon = 0.1 alpha is {noisy:.3f} for "
        f"Laplace and {suppressed:.4f} for suppression; of {number} tables of two cells that meet its "
        f"condition {against} are counter-examples."
    )
    return Checked(DIFFERS if noisy > suppressed else AGREES, why)


def _of_swapping(_: Evidence) -> Checked:
    matrix, epsilon = np.array([[3, 3], [59, 59]]), Fraction(1, 10)
    noisy = laplace_alpha(matrix, epsilon)
    swapped = float(np.ptp(exact.swapping_bias(matrix, epsilon)))
    why = (
        f"Where counts are equal among people who differ in the quasi-identifier only, swapping has no bias: "
        f"with (3, 3) and (59, 59) and epsilon = 0.1 alpha is {noisy:.3f} for Laplace and {swapped:g} "
        "for swapping."
    )
    return Checked(DIFFERS if noisy > swapped else AGREES, why)


def _condition(evidence: Evidence) -> Checked:
    found = {DATA[each["name"]].title: each["smallest"] for each in evidence.trials[EXACT].values()}
    told = ", ".join(f"{name} {least}" for name, least in found.items())
    why = f"The theorem asks for a smallest count of at least 2; in the tables it is: {told}."
    return Checked(AGREES if all(least >= 2 for least in found.values()) else DIFFERS, why)


FAIRNESS = (
    Claim(
        "theorem-2",
        "The l1 norm of the bias of DP suppression is at most a product of two l2 norms.",
        "Theorem 2",
        _bound("theorem 2", "bias and bound"),
        "fact",
        (EXACT,),
    ),
    Claim(
        "proposition-1",
        (
            "The bias of DP swapping is (sum of the counts that differ in quasi-identifiers only, minus n_Q "
            "times the own) over (e^epsilon + n_Q - 1)."
        ),
        "Proposition 1",
        _proposition_1,
        "fact",
    ),
    Claim(
        "theorem-4",
        "The l1 norm of the bias of DP swapping is a sum of mean absolute deviations.",
        "Theorem 4",
        _bound("theorem 4", "bias and formula", equal=True),
        "fact",
        (EXACT,),
    ),
    Claim(
        "theorem-7",
        "DP suppression is alpha_CS-fair.",
        "Theorem 7",
        _bound("theorem 7", "alpha and bound"),
        "fact",
        (EXACT,),
    ),
    Claim(
        "theorem-7-tight",
        "The bound is met where the largest count is k/2.",
        "proof of Theorem 7",
        _tight,
        "fact",
    ),
    Claim(
        "theorem-8",
        "DP swapping is alpha_SW-fair.",
        "Theorem 8",
        _bound("theorem 8", "alpha and bound"),
        "fact",
        (EXACT,),
    ),
    Claim(
        "theorem-9",
        "The Laplace mechanism is alpha_Lap-fair.",
        "Theorem 9",
        _bound(
            "theorem 9",
            "alpha and bound",
            more=" The exact alpha is (e^(-epsilon x_1 / 2) - e^(-epsilon x_n / 2)) / epsilon.",
        ),
        "fact",
        (EXACT,),
    ),
    Claim(
        "theorems-8-9-norm",
        "The largest count is the difference of the largest and the smallest.",
        "Theorems 8 and 9",
        _norms,
        "fact",
    ),
    Claim(
        "theorem-10-bounds",
        "The bound of the Laplace mechanism is at most that of DP suppression and of DP swapping.",
        "Theorem 10",
        _of_bounds,
        "fact",
    ),
    Claim(
        "theorem-10-suppression",
        "The Laplace mechanism has a smaller alpha than DP suppression.",
        "Theorem 10",
        _of_alphas,
        "fact",
    ),
    Claim(
        "theorem-10-swapping",
        "The Laplace mechanism has a smaller alpha than DP swapping.",
        "Theorem 10",
        _of_swapping,
        "fact",
    ),
    Claim(
        "theorem-10-condition",
        "Theorem 10 applies to the tables that are released.",
        "Theorem 10, section 7",
        _condition,
        "fact",
        (EXACT,),
    ),
)
"""Statements about bias and alpha."""
