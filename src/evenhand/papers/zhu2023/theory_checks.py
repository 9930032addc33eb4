r"""Checks of what zhu2023 proves: Lemma 1 and Theorems 1, 3 and 5 on privacy, the others on bias and alpha.

Formulas for privacy are checked on tables so small that every output can be listed. The exact delta of a
mechanism is the largest :math:`\sum_o (\Pr[o \mid D] - e^\varepsilon \Pr[o \mid D'])_+` over tables :math:`D`
and :math:`D'` in which one person differs. Here it is computed by nothing but listing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import Checked, agree_if, cannot_check
from evenhand.papers.zhu2023 import data
from evenhand.papers.zhu2023.data import DATA, EPSILONS, EXACT, GAUSSIAN, PRINTED, SMALLER_NOISE, SWAPPING
from evenhand.privacy.laws import Laplace
from evenhand.release import alpha_bounds
from evenhand.release.delta.theorem5 import theorem_5_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evenhand.papers.claims import Evidence

    Cells = tuple[int, ...]
    Outputs = Mapping[Any, float]

_CLOSE = 1e-9
_QUASI = 9
_SHOWN = "1"
_DELTAS = (0.1, 1e-2, 1e-4, 1e-6)
_SUPPRESSED = (1, 5, 8)  # an epsilon, the threshold and the bound of counts


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


def laplace_private(_: Evidence) -> Checked:
    places, epsilons = (-3, 0, 0.5, 4), list(map(float, EPSILONS))
    losses = [2 * max(abs(abs(x - 1) - abs(x)) * epsilon / 2 for x in places) for epsilon in epsilons]
    worst = max(loss - epsilon for loss, epsilon in zip(losses, epsilons, strict=True))
    return agree_if(worst <= _CLOSE, losses=losses, epsilons=epsilons)


def _promised(epsilon: float, delta: float) -> float:
    return epsilon**2 / 2 + epsilon * math.sqrt(2 * math.log(1 / delta))


def gaussian_private(_: Evidence) -> Checked:
    worst = max(
        data.gaussian_delta(data.variance(Fraction(text), printed=True), _promised(float(text), delta))
        / delta
        for text, delta in product(EPSILONS, _DELTAS)
    )
    return agree_if(worst <= 1, worst=worst, at_one=data.gaussian_delta(Fraction(4), Fraction(1)))


def gaussian_deviation(_: Evidence) -> Checked:
    epsilon, delta = 4.0, 1e-4
    level = _promised(epsilon, delta)
    found = data.gaussian_delta(Fraction(1, 16), level)
    return agree_if(found <= delta, level=level, found=found)


def gaussian_tables(evidence: Evidence) -> Checked:
    """Check by which variance the printed delta and bias of Table 1 are nearer."""
    numbers = evidence.trials[EXACT][0]["numbers"]
    printed = [float(PRINTED["ma"][GAUSSIAN, text].l1) for text in EPSILONS]
    biases, deltas = (
        [[numbers[mechanism][text][key] for text in EPSILONS] for mechanism in (GAUSSIAN, SMALLER_NOISE)]
        for key in ("l1", "exact delta")
    )
    away = [float(np.abs(np.log(np.divide(found, printed))).max()) for found in biases]
    formula = [data.printed_gaussian(Fraction(text)) for text in EPSILONS]
    values = {"formula": formula, "printed": printed, "biases": biases, "deltas": deltas}
    return agree_if(away[0] >= away[1], paper="4 / epsilon^2", **values)


# --- suppression ----------------------------------------------------------------------------------


def lemma_1(_: Evidence) -> Checked:
    epsilon, most = 1.0, 6
    laws: Any = partial(suppression_law, epsilon=Fraction(1), threshold=3), partial(sampling_law, share=0.5)
    cases, short, loose = list(product(laws, _neighbours(most))), 0, 0
    for law, tables in cases:
        first, second = map(law, tables)
        ratio = math.exp(epsilon) * (1 + _CLOSE)
        outside = math.fsum(mass for out, mass in first.items() if mass > ratio * second.get(out, 0.0))
        delta = hockey_stick(first, second, epsilon)
        short, loose = short + (delta > outside + _CLOSE), loose + (delta < outside - _CLOSE)
    return agree_if(not short, most=most, short=short, loose=loose, pairs=len(cases))


def theorem_1(_: Evidence) -> Checked:
    cases = {}
    for epsilon, k in product(map(Fraction, EPSILONS), (3, 5)):
        law = partial(suppression_law, epsilon=epsilon, threshold=k)
        formulas = [each(epsilon, k, k + 3) for each in (data.suppression_theorem, data.suppression_delta)]
        cases[epsilon, k] = (worst_delta(law, _neighbours(k + 3), float(epsilon)), *formulas)
    above = sum(found > theirs + _CLOSE for found, theirs, _formula in cases.values())
    found, theirs, formula = cases[Fraction(1), 5]
    return agree_if(not above, above=above, number=len(cases), found=found, theirs=theirs, formula=formula)


def suppression_not_private(_: Evidence) -> Checked:
    threshold = 3
    found = worst_delta(partial(hidden_law, threshold=threshold), _neighbours(threshold + 2), 10.0)
    return agree_if(found > 1 - _CLOSE, found=found)


def definition_3(_: Evidence) -> Checked:
    k = 6
    counts = np.arange(k)
    apart = counts[np.maximum(counts, k / 2) != np.where(counts < k, k // 2, counts)]
    return agree_if(not apart.size, apart=apart if apart.size else "no count", k=k)


def algorithm_2(_: Evidence) -> Checked:
    epsilon, threshold, bound = _SUPPRESSED
    once = 1 - math.exp(-epsilon * (bound - threshold) / 2) / 2
    each = data.suppression_delta(Fraction(epsilon), threshold, bound)
    return agree_if(abs(each - once) <= _CLOSE, each=each, once=once)


# --- swapping and k-anonymity ---------------------------------------------------------------------


def theorem_3(_: Evidence) -> Checked:
    found, theirs, formula = [], [], []
    for size, epsilon in product((2, 3), (Fraction(1, 2), Fraction(1))):
        pairs: Any = [tuple((cells,) for cells in tables) for tables in _neighbours(2, size=size)]
        law = partial(swapping_law, epsilon=epsilon)
        found.append(max(worst_delta(law, pairs, level) for level in (0.0, float(epsilon))))
        theirs.append(data.swapping_theorem(epsilon, size))
        formula.append(data.swapping_delta(epsilon, size))
    off = float(np.abs(np.subtract(found, formula)).max())
    holds = bool((np.array(found) <= np.array(theirs) + _CLOSE).all())
    right = [data.swapping_delta(Fraction(text), _QUASI) for text in EPSILONS]
    return agree_if(holds, found=found[0], theirs=theirs[0], off=off, right=right)


def other_columns(_: Evidence) -> Checked:
    one, other = ((1, 0), (0, 0)), ((0, 0), (1, 0))
    law = partial(swapping_law, epsilon=Fraction(1))
    found = hockey_stick(law(one), law(other), 10.0)
    return agree_if(found < 1 - _CLOSE, found=found)


def quasi_identifiers(_: Evidence) -> Checked:
    printed = [float(PRINTED["ma"][SWAPPING, text].delta) for text in EPSILONS]
    fit = []
    for size in range(2, 200):
        deltas = [data.swapping_theorem(Fraction(text), size) for text in EPSILONS]
        offs = np.subtract(deltas, printed)  # some are rounded and some are cut
        if (((offs >= 0) & (offs < 1e-3)) | (np.abs(offs) <= 5e-4)).all():
            fit.append(size)
    return agree_if(fit == [_QUASI], paper="one quasi-identifier of 9 values", fit=fit)


def theorem_5(_: Evidence) -> Checked:
    betas = [data.anonymity_delta(Fraction(text)) for text in EPSILONS]
    laws = [partial(sampling_law, share=beta) for beta in betas]
    found = [worst_delta(law, _neighbours(4), float(text)) for law, text in zip(laws, EPSILONS, strict=True)]
    theirs = [theorem_5_delta(text) for text in EPSILONS]
    holds = all(mine <= most + _CLOSE for mine, most in zip(found, theirs, strict=True))
    return agree_if(holds, betas=betas, found=found, theirs=theirs)


def theorem_6(_: Evidence) -> Checked:
    off = []
    for count, k, share in product(range(1, 15), (2, 6), (0.1, 0.6, 0.9)):
        kept = sampling_law((count,), share)
        true = math.fsum(mass for (left,), mass in kept.items() if left < k) - (count < k)
        lost = range(count - k + 1, count + 1)
        terms = (math.comb(count, j) * share ** (count - j) * (1 - share) ** j for j in lost)
        off.append(abs(true - (math.fsum(terms) if count >= k else 0.0)))
    return agree_if(max(off) < _CLOSE, worst=max(off), cases=len(off))


# --- bias and alpha -------------------------------------------------------------------------------


def bound(evidence: Evidence, theorem: str, what: str, *, equal: bool = False) -> Checked:
    wrong, number, told = 0, 0, []
    for record in evidence.trials[EXACT].values():
        for text, known in record["bounds"].items():
            true, most = known[theorem]
            off = true / most - 1
            wrong += (abs(off) if equal else off) > _CLOSE
            number += 1
            if text == _SHOWN:
                told.append(f"{DATA[record['name']].title} {true:,.2f} against {most:,.2f}")
    return agree_if(not wrong, wrong=wrong, number=number, told="; ".join(told), what=what)


def proposition_1(_: Evidence) -> Checked:
    off = []
    for row, text in product(product(range(4), repeat=3), ("0.5", "1", "4")):
        law = swapping_law((row,), Fraction(text))
        mean = sum(np.array(out[0]) * mass for out, mass in law.items())
        formula = alpha_bounds.swapping_bias([row], epsilon=float(text))[0]
        off.append(float(np.abs(mean - np.array(row) - formula).max()))
    return agree_if(max(off) < _CLOSE, worst=max(off), number=len(off))


def tight(_: Evidence) -> Checked:
    """Check both inequalities that may be meant: that of the theorem, and that of line (16) of its proof."""
    counts, k, epsilon = np.array([0, 3]), 6, Fraction(1)
    true = float(np.ptp(data.suppression_bias(counts, epsilon, k)))
    most = alpha_bounds.suppression_alpha_bound(counts, threshold=k, epsilon=float(epsilon))
    first, last = (float(Laplace(2 / epsilon).cdf(k - count)) for count in counts.tolist())
    line = float(np.ptp(counts)) * first + abs(k / 2 - counts[-1]) * (first - last)
    met = [abs(true - each) < _CLOSE for each in (most, line)]
    values = {"true": true, "most": most, "line": line}
    return agree_if(met[0], **values) if met[0] == met[1] else cannot_check(**values)


def norms(_: Evidence) -> Checked:
    """Check that both forms are equal with the symbol of Definition 1: the largest minus the smallest."""
    least, most, epsilon = 2, 50, 0.5
    factor = math.exp(-epsilon * least / 2) / 2
    defined, largest = factor * (most - least), factor * most
    form = alpha_bounds.laplace_alpha_bound([least, most], epsilon=epsilon)
    return agree_if(abs(defined - form) < _CLOSE, defined=defined, form=form, largest=largest)


def _tables() -> Iterator[tuple[Any, int, Fraction]]:
    """Yield tables whose smallest count is between 2 and the threshold."""
    for k, text in product((3, 6, 10), ("0.1", "0.5", "1", "4")):
        for least, most in product((2, 3, 5, 9), (10, 59, 500)):
            if least <= k:
                yield np.array([least, most]), k, Fraction(text)


def bounds_of_theorem_10(_: Evidence) -> Checked:
    number = wrong = 0
    for counts, k, epsilon in _tables():
        level = float(epsilon)
        matrices = [np.resize(counts, (1, size)) for size in (2, 9, 50)]
        rivals = [alpha_bounds.swapping_alpha_bound(matrix, epsilon=level) for matrix in matrices]
        rivals.append(alpha_bounds.suppression_alpha_bound(counts, threshold=k, epsilon=level))
        wrong += alpha_bounds.laplace_alpha_bound(counts, epsilon=level) > min(rivals) + _CLOSE
        number += 1
    return agree_if(not wrong, right=number - wrong, number=number)


def _two_alphas(counts: Any, k: int, epsilon: Fraction) -> tuple[float, float]:
    """Return alpha of Laplace noise and of suppression."""
    suppressed = data.suppression_bias(counts, epsilon, k, fill=k / 2)
    return alpha_bounds.laplace_alpha(counts, epsilon=float(epsilon)), float(np.ptp(suppressed))


def alphas_of_theorem_10(_: Evidence) -> Checked:
    noisy, suppressed = _two_alphas(np.array([3, 59]), 3, Fraction(1, 10))
    others = [_two_alphas(*table) for table in _tables()]
    against = sum(one > other + _CLOSE for one, other in others)
    values = {"noisy": noisy, "suppressed": suppressed, "number": len(others), "against": against}
    return agree_if(noisy <= suppressed, **values)


def swapping_of_theorem_10(_: Evidence) -> Checked:
    matrix, epsilon = np.array([[3, 3], [59, 59]]), 0.1
    noisy = alpha_bounds.laplace_alpha(matrix, epsilon=epsilon)
    swapped = alpha_bounds.swapping_alpha(matrix, epsilon=epsilon)
    return agree_if(noisy <= swapped, noisy=noisy, swapped=swapped)


# --- every output of a small table ----------------------------------------------------------------


def hockey_stick(first: Outputs, second: Outputs, epsilon: float) -> float:
    """Return how much of the first law e^epsilon times the second does not cover.

    >>> hockey_stick({"a": 0.5, "b": 0.5}, {"a": 1.0}, 0.0)
    0.5
    """
    factor = math.exp(epsilon)
    return math.fsum(max(mass - factor * second.get(output, 0.0), 0.0) for output, mass in first.items())


def worst_delta(
    law: Callable[[Cells], Outputs], pairs: Iterable[tuple[Cells, Cells]], epsilon: float
) -> float:
    """Return the delta of a mechanism over these pairs of tables, in both directions."""
    found = 0.0
    for one, other in pairs:
        first, second = law(one), law(other)
        found = max(found, hockey_stick(first, second, epsilon), hockey_stick(second, first, epsilon))
    return found


def hidden_law(cells: Cells, threshold: int) -> Outputs:
    """Return the one output of cell suppression without noise, Algorithm 1.

    >>> hidden_law((2, 7), 6)
    {(3, 7): 1.0}
    """
    return {tuple(count if count >= threshold else threshold // 2 for count in cells): 1.0}


def suppression_law(cells: Cells, epsilon: Fraction, threshold: int) -> dict[Any, float]:
    """Return the outputs of equation (2): each count as it is, or nothing."""
    noise = Laplace(2 / epsilon)
    laws = [
        {count: float(noise.sf(threshold - count)), None: float(noise.cdf(threshold - count))}
        for count in cells
    ]
    return _joint_law(laws)


def swapping_law(rows: tuple[Cells, ...], epsilon: Fraction) -> dict[Any, float]:
    """Return the outputs of swapping whole cells: a row for each combination of the other columns.

    >>> {table: round(mass, 3) for table, mass in swapping_law(((2, 0),), 0).items()}
    {((2, 0),): 0.5, ((0, 2),): 0.5}
    """
    size = len(rows[0])
    stay = data.keep_probability(epsilon, size)
    move = (1 - stay) / (size - 1)
    laws = []
    for row in rows:
        row_law: dict[Any, float] = {}
        for places in product(range(size), repeat=size):
            out, mass = [0] * size, 1.0
            for origin, place in enumerate(places):
                out[place] += row[origin]
                mass *= stay if place == origin else move
            row_law[tuple(out)] = row_law.get(tuple(out), 0.0) + mass
        laws.append(row_law)
    return _joint_law(laws)


def sampling_law(cells: Cells, share: float) -> dict[Any, float]:
    """Return the tables of a sample that everybody is in with the same probability."""

    def law(count: int) -> dict[int, float]:
        kept = range(count + 1)
        return {k: math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in kept}

    return _joint_law(map(law, cells))


def _joint_law(laws: Iterable[Outputs]) -> dict[Any, float]:
    """Return the law of independent outputs together."""
    found: dict[Any, float] = {(): 1.0}
    for law in laws:
        found = {(*done, out): mass * more for done, mass in found.items() for out, more in law.items()}
    return found
