"""What zhu2023 proves about privacy, Lemma 1 and Theorems 1, 3 and 5, and what is so."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import AGREES, DIFFERS, Checked, Claim
from evenhand.papers.zhu2023 import enumerated as listed
from evenhand.papers.zhu2023 import exact
from evenhand.papers.zhu2023.experiments import EXACT, SMALLER_NOISE
from evenhand.papers.zhu2023.printed import EPSILONS, GAUSSIAN, PRINTED, SWAPPING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence

__all__ = ["PRIVACY"]

_CLOSE = 1e-9
_QUASI = 9


def _neighbours(most: int, *, size: int = 2) -> Iterator[tuple[Any, Any]]:
    """Yield tables of at most so many people in a cell, and the same with one person in another cell."""
    for cells in product(range(most + 1), repeat=size):
        for origin, place in product(range(size), repeat=2):
            if origin != place and cells[origin] and cells[place] < most:
                changed = list(cells)
                changed[origin] -= 1
                changed[place] += 1
                yield cells, tuple(changed)


# --- noise ----------------------------------------------------------------------------------------


def _laplace(_: Evidence) -> Checked:
    worst = 0.0
    for text in EPSILONS:
        scale = 2 / float(text)
        moved = [abs(abs(place - 1) - abs(place)) / scale for place in (-3, 0, 0.5, 4)]
        worst = max(worst, 2 * max(moved) - float(text))
    why = (
        "Replacing one person moves two counts by one, so the two log-ratios of 1 / scale add up to epsilon. "
        "It holds for real numbers; noise in floating point needs integers, as evenhand draws it."
    )
    return Checked(AGREES if worst <= _CLOSE else DIFFERS, why)


def _promised(epsilon: float, delta: float) -> float:
    return epsilon**2 / 2 + epsilon * math.sqrt(2 * math.log(1 / delta))


_DELTAS = (0.1, 1e-2, 1e-4, 1e-6)


def _gaussian(_: Evidence) -> Checked:
    worst = max(
        exact.gaussian_delta(exact.variance(Fraction(text), printed=True), _promised(float(text), delta))
        / delta
        for text, delta in product(EPSILONS, _DELTAS)
    )
    at_one = exact.gaussian_delta(Fraction(4), Fraction(1))
    why = (
        f"With 4 / epsilon^2 as the variance, the exact delta at that epsilon is at most {worst:.2g} "
        "times the stated one (16 cases). It is the formula of a sensitivity of 2; replacing one person "
        "moves a table by the square root of 2 only. At the tables' own level, epsilon = 1, delta is "
        f"{at_one:.4f}."
    )
    return Checked(AGREES if worst <= 1 else DIFFERS, why)


def _gaussian_deviation(_: Evidence) -> Checked:
    epsilon, delta = 4.0, 1e-4
    level = _promised(epsilon, delta)
    found = exact.gaussian_delta(Fraction(1, 16), level)
    why = (
        f"The text calls 4 / epsilon^2 a standard deviation. At epsilon = 4 that is 1/4, and delta at "
        f"{level:.1f} is {found:.1e}, where 1e-04 is stated: the statement holds for the variance only."
    )
    return Checked(DIFFERS if found > delta else AGREES, why)


def _gaussian_tables(evidence: Evidence) -> Checked:
    """Check by which variance the printed delta and bias of Table 1 are nearer."""
    numbers = evidence.trials[EXACT][0]["numbers"]
    larger, smaller = (
        {text: numbers[mechanism][text] for text in EPSILONS} for mechanism in (GAUSSIAN, SMALLER_NOISE)
    )
    printed = {text: float(PRINTED["ma"][GAUSSIAN, text].l1) for text in EPSILONS}
    away = [
        max(abs(math.log(each[text]["l1"] / printed[text])) for text in EPSILONS)
        for each in (larger, smaller)
    ]
    formula = ", ".join(f"{exact.printed_gaussian(Fraction(text)):.3g}" for text in EPSILONS)
    deltas, biases = (
        [", ".join(f"{each[text][key]:.{digits}}" for text in EPSILONS) for each in (larger, smaller)]
        for key, digits in (("exact delta", "2g"), ("l1", "0f"))
    )
    why = (
        f"The printed delta is that of rho = epsilon / 10 ({formula}), which at a sensitivity of 2 is a "
        "variance of 20 / epsilon. The printed bias "
        f"{', '.join(f'{each:.0f}' for each in printed.values())} fits that too: exactly it would be "
        f"{biases[0]}, and {biases[1]} with the variance 4 / epsilon^2 of the text. Exactly, delta is "
        f"{deltas[0]}; with the text's variance it would be {deltas[1]}."
    )
    return Checked(DIFFERS if away[0] < away[1] else AGREES, why, paper="4 / epsilon^2")


# --- suppression ----------------------------------------------------------------------------------


def _lemma(_: Evidence) -> Checked:
    epsilon, threshold, most = Fraction(1), 3, 6
    short = 0
    for one, other in _neighbours(most):
        first = listed.suppression_law(one, epsilon, threshold)
        second = listed.suppression_law(other, epsilon, threshold)
        outside = math.fsum(
            mass
            for out, mass in first.items()
            if mass > math.exp(epsilon) * second.get(out, 0.0) * (1 + _CLOSE)
        )
        short += listed.hockey_stick(first, second, float(epsilon)) > outside + _CLOSE
    why = (
        f"In all pairs of tables of two cells with up to {most} people the probability of outputs beyond the "
        f"ratio covers the exact delta ({short} exceptions). It is sufficient and not necessary; the "
        "last line of its proof lacks a factor e^epsilon."
    )
    return Checked(DIFFERS if short else AGREES, why)


def _theorem_1(_: Evidence) -> Checked:
    epsilon, threshold, bound = Fraction(1), 5, 8
    law = partial(listed.suppression_law, epsilon=epsilon, threshold=threshold)
    found = listed.worst(law, _neighbours(bound), float(epsilon))
    formula = exact.suppression_delta(epsilon, threshold, bound)
    theirs = exact.suppression_theorem(epsilon, threshold, bound)
    why = (
        f"Valid, not tight: with k = 5, B = 8 and epsilon = 1, listing every output gives {found:.6f} "
        f"(formula 1 - e^(-epsilon (B - k) + epsilon / 2) / 4: {formula:.6f}), the theorem {theirs:.6f}. "
        "Nearly every person in a large cell is let out: a delta near 1 is no guarantee."
    )
    holds = found <= theirs + _CLOSE and abs(found - formula) < _CLOSE
    return Checked(AGREES if holds else DIFFERS, why)


def _not_private(_: Evidence) -> Checked:
    threshold, level = 3, 10.0
    law = partial(listed.hidden_law, threshold=threshold)
    found = listed.worst(law, _neighbours(threshold + 2), level)
    why = (
        f"Two tables that differ in cells above the threshold are published as they are: delta is {found:g}."
    )
    return Checked(AGREES if found > 1 - _CLOSE else DIFFERS, why)


def _definition_3(_: Evidence) -> Checked:
    k = 6
    by_definition = [max(count, k / 2) for count in range(k)]
    by_algorithm = [k // 2 for _ in range(k)]
    apart = [x for x in range(k) if by_definition[x] != by_algorithm[x]]
    why = (
        f"max(x, k/2) leaves {', '.join(map(str, apart))} as they are for k = 6, Algorithm 1 makes them 3. "
        "The tables are of Algorithm 1: their alpha tends to 5 = 3 + 2, that of the definition would be 3."
    )
    return Checked(DIFFERS if apart else AGREES, why)


def _algorithm_2(_: Evidence) -> Checked:
    epsilon, threshold, bound = 1.0, 5, 8
    once = 1 - math.exp(-epsilon * (bound - threshold) / 2) / 2
    each = exact.suppression_delta(Fraction(1), threshold, bound)
    why = (
        "Equation (2) has noise on each count and fills k/2, Algorithm 2 has noise on the threshold, "
        f"once, and fills half of that. With k = 5, B = 8, epsilon = 1 their exact deltas are {each:.4f} "
        f"and {once:.4f}."
    )
    return Checked(DIFFERS if abs(each - once) > _CLOSE else AGREES, why)


# --- swapping -------------------------------------------------------------------------------------


def _theorem_3(_: Evidence) -> Checked:
    cases = {}
    for size, text in product((2, 3), ("0.5", "1")):
        law = lambda cells, at=Fraction(text): listed.swapping_law((cells,), at)  # noqa: E731 - one line, used once
        found = max(listed.worst(law, _neighbours(2, size=size), level) for level in (0.0, float(text)))
        cases[size, text] = (found, exact.swapping_delta(Fraction(text), size))
    off = max(abs(found - formula) for found, formula in cases.values())
    found = cases[2, "0.5"][0]
    theirs = exact.swapping_theorem(Fraction(1, 2), 2)
    right = [f"{exact.swapping_delta(Fraction(text), _QUASI):.4f}" for text in EPSILONS]
    why = (
        "The last sign must be a plus. With n_Q = 2 and epsilon = 0.5, listing every output gives "
        f"{found:.4f}, the theorem {theirs:.4f}: it claims more privacy than there is. Put right, the "
        f"formula is that of the listing (to {off:.0e}) at every epsilon from 0 on, so a larger epsilon "
        f"buys nothing but cells that stay; for n_Q = 9 it gives {', '.join(right)}."
    )
    agrees = all(
        found <= exact.swapping_theorem(Fraction(at), n) + _CLOSE for (n, at), (found, _) in cases.items()
    )
    return Checked(AGREES if agrees and off < _CLOSE else DIFFERS, why)


def _other_columns(_: Evidence) -> Checked:
    one, other = ((1, 0), (0, 0)), ((0, 0), (1, 0))
    law = partial(listed.swapping_law, epsilon=Fraction(1))
    found = listed.hockey_stick(law(one), law(other), 10.0)
    why = (
        "It is a loss of generality: the other columns are published as they are, and if one of those "
        f"changes, delta is {found:g} at any epsilon."
    )
    return Checked(AGREES if found < 1 - _CLOSE else DIFFERS, why)


def _quasi_identifiers(_: Evidence) -> Checked:
    printed = [float(PRINTED["ma"][SWAPPING, text].delta) for text in EPSILONS]
    fit = [
        size
        for size in range(2, 200)
        if all(
            0 <= exact.swapping_theorem(Fraction(text), size) - value < 1e-3
            or abs(exact.swapping_theorem(Fraction(text), size) - value) <= 5e-4
            for text, value in zip(EPSILONS, printed, strict=True)
        )
    ]
    why = f"Of 2 to 199 values, only {', '.join(map(str, fit))} gives the printed deltas: race has nine."
    return Checked(AGREES if fit == [_QUASI] else DIFFERS, why, paper="one quasi-identifier of 9 values")


# --- k-anonymity ----------------------------------------------------------------------------------


def _theorem_5(_: Evidence) -> Checked:
    epsilon = Fraction(1)
    share = exact.anonymity_delta(epsilon)
    law = partial(listed.sampling_law, share=share)
    found = [listed.worst(law, _neighbours(4), level) for level in (0.0, 1.0, 3.0)]
    theirs = [exact.anonymity_theorem(Fraction(text))[0] for text in EPSILONS]
    right = [exact.anonymity_delta(Fraction(text)) for text in EPSILONS]
    why = (
        f"Valid, far from tight, and without k: publishing the sample has a delta of beta exactly, at every "
        f"epsilon (listed at epsilon = 0, 1 and 3 for beta = {share:.4f}: "
        f"{', '.join(f'{each:.4f}' for each in found)}). With beta = 1 - e^-epsilon that is "
        f"{', '.join(f'{each:.4f}' for each in right)}, the theorem says "
        f"{', '.join(f'{each:.4f}' for each in theirs)}."
    )
    holds = all(mine <= other + _CLOSE for mine, other in zip(right, theirs, strict=True))
    holds = holds and max(abs(each - share) for each in found) < _CLOSE
    return Checked(AGREES if holds else DIFFERS, why)


def _theorem_6(_: Evidence) -> Checked:
    worst = 0.0
    for count, k, share in product(range(1, 15), (2, 6), (0.1, 0.6, 0.9)):
        kept = listed.sampling_law((count,), share)
        true = math.fsum(mass for (left,), mass in kept.items() if left < k) - (count < k)
        lost = range(count - k + 1, count + 1)
        terms = (math.comb(count, j) * share ** (count - j) * (1 - share) ** j for j in lost)
        worst = max(worst, abs(true - (math.fsum(terms) if count >= k else 0.0)))
    why = f"Within {worst:.0e} of the binomial law in 84 cases; x = 8, k = 6, beta = 0.6 gives 0.684605."
    return Checked(AGREES if worst < _CLOSE else DIFFERS, why)


PRIVACY = (
    Claim(
        "laplace-private",
        "Laplace noise of scale 2 / epsilon gives (epsilon, 0)-differential privacy.",
        "section 3",
        _laplace,
        "fact",
    ),
    Claim(
        "gaussian-private",
        (
            "Discrete Gaussian noise of variance 4 / epsilon^2 gives (epsilon^2 / 2 + epsilon sqrt(2 "
            "log(1/delta)), delta)-differential privacy."
        ),
        "section 3",
        _gaussian,
        "fact",
    ),
    Claim(
        "gaussian-deviation",
        "4 / epsilon^2 is the standard deviation of that noise.",
        "section 3",
        _gaussian_deviation,
        "fact",
    ),
    Claim(
        "gaussian-tables",
        "The discrete Gaussian mechanism of the tables has noise of 4 / epsilon^2.",
        "section 3, tables 1 to 3",
        _gaussian_tables,
        "fact",
        (EXACT,),
    ),
    Claim(
        "lemma-1",
        (
            "If outputs beyond the ratio e^epsilon have a probability of at most delta, the mechanism is "
            "(epsilon, delta)-differentially private."
        ),
        "Lemma 1",
        _lemma,
        "fact",
    ),
    Claim(
        "suppression-not-private",
        "Cell suppression is not differentially private.",
        "section 5.1, appendix B",
        _not_private,
        "fact",
    ),
    Claim(
        "definition-3",
        "Suppression as defined, max(x, k/2), is what Algorithm 1 does.",
        "Definition 3, Algorithm 1",
        _definition_3,
        "fact",
    ),
    Claim(
        "algorithm-2",
        "Algorithm 2 is the mechanism of equation (2).",
        "equation (2), Algorithm 2",
        _algorithm_2,
        "fact",
    ),
    Claim(
        "theorem-1",
        "DP suppression is (epsilon, 1 - exp(-epsilon (B - k)) / 4)-differentially private.",
        "Theorem 1",
        _theorem_1,
        "fact",
    ),
    Claim(
        "theorem-3",
        (
            "DP swapping is (epsilon, delta)-differentially private with delta = 1 - (1 - gamma^2) / (n_Q - "
            "1) - ((1 - gamma) / (n_Q - 1))^2."
        ),
        "Theorem 3",
        _theorem_3,
        "fact",
    ),
    Claim(
        "theorem-3-generality",
        "It is no loss of generality that the changed person keeps the other columns.",
        "proof of Theorem 3",
        _other_columns,
        "fact",
    ),
    Claim(
        "quasi-identifiers",
        "The delta of DP swapping in the tables follows from Theorem 3.",
        "tables 1 to 3",
        _quasi_identifiers,
        "fact",
    ),
    Claim(
        "theorem-5",
        "DP k-anonymity is (epsilon, d(k, beta, epsilon))-differentially private.",
        "Theorem 5",
        _theorem_5,
        "fact",
    ),
    Claim(
        "theorem-6",
        "The bias of whether a cell is merged is a binomial probability.",
        "Theorem 6",
        _theorem_6,
        "fact",
    ),
)
"""Statements about privacy, each checked against a listing of all outputs of small tables if there is one."""
