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
from evenhand.papers.zhu2023 import exact
from evenhand.papers.zhu2023.data import DATA, EPSILONS, GAUSSIAN, PRINTED, SWAPPING
from evenhand.papers.zhu2023.exact import keep_probability, laplace_alpha, theorem_7, theorem_8, theorem_9
from evenhand.papers.zhu2023.experiments import EXACT, SMALLER_NOISE
from evenhand.privacy.laws import Laplace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evenhand.papers.claims import Evidence

    Cells = tuple[int, ...]
    Outputs = Mapping[Any, float]

_CLOSE = 1e-9
_QUASI = 9
_SHOWN = "1"
_DELTAS = (0.1, 1e-2, 1e-4, 1e-6)


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
        exact.gaussian_delta(exact.variance(Fraction(text), printed=True), _promised(float(text), delta))
        / delta
        for text, delta in product(EPSILONS, _DELTAS)
    )
    return agree_if(worst <= 1, worst=worst, at_one=exact.gaussian_delta(Fraction(4), Fraction(1)))


def gaussian_deviation(_: Evidence) -> Checked:
    epsilon, delta = 4.0, 1e-4
    level = _promised(epsilon, delta)
    found = exact.gaussian_delta(Fraction(1, 16), level)
    return agree_if(found <= delta, level=level, found=found)


def gaussian_tables(evidence: Evidence) -> Checked:
    """Check by which variance the printed delta and bias of Table 1 are nearer."""
    numbers = evidence.trials[EXACT][0]["numbers"]
    printed = [float(PRINTED["ma"][GAUSSIAN, text].l1) for text in EPSILONS]
    biases, deltas = (
        [[numbers[mechanism][text][key] for text in EPSILONS] for mechanism in (GAUSSIAN, SMALLER_NOISE)]
        for key in ("l1", "exact delta")
    )
    away = [
        max(abs(math.log(ours / paper)) for ours, paper in zip(found, printed, strict=True))
        for found in biases
    ]
    formula = [exact.printed_gaussian(Fraction(text)) for text in EPSILONS]
    values = {"formula": formula, "printed": printed, "biases": biases, "deltas": deltas}
    return agree_if(away[0] >= away[1], paper="4 / epsilon^2", **values)


# --- suppression ----------------------------------------------------------------------------------


def lemma_1(_: Evidence) -> Checked:
    epsilon, threshold, most = Fraction(1), 3, 6
    short = pairs = 0
    for one, other in _neighbours(most):
        pairs += 1
        first = suppression_law(one, epsilon, threshold)
        second = suppression_law(other, epsilon, threshold)
        outside = math.fsum(
            mass
            for out, mass in first.items()
            if mass > math.exp(epsilon) * second.get(out, 0.0) * (1 + _CLOSE)
        )
        short += hockey_stick(first, second, float(epsilon)) > outside + _CLOSE
    return agree_if(not short, most=most, short=short, pairs=pairs)


def theorem_1(_: Evidence) -> Checked:
    epsilon, threshold, bound = Fraction(1), 5, 8
    law = partial(suppression_law, epsilon=epsilon, threshold=threshold)
    found = worst_delta(law, _neighbours(bound), float(epsilon))
    formula = exact.suppression_delta(epsilon, threshold, bound)
    theirs = exact.suppression_theorem(epsilon, threshold, bound)
    holds = found <= theirs + _CLOSE and abs(found - formula) < _CLOSE
    return agree_if(holds, found=found, formula=formula, theirs=theirs)


def suppression_not_private(_: Evidence) -> Checked:
    threshold, level = 3, 10.0
    law = partial(hidden_law, threshold=threshold)
    found = worst_delta(law, _neighbours(threshold + 2), level)
    return agree_if(found > 1 - _CLOSE, found=found)


def definition_3(_: Evidence) -> Checked:
    k = 6
    apart = [count for count in range(k) if max(count, k / 2) != k // 2]
    return agree_if(not apart, apart=apart or "no count", k=k)


def algorithm_2(_: Evidence) -> Checked:
    epsilon, threshold, bound = 1.0, 5, 8
    once = 1 - math.exp(-epsilon * (bound - threshold) / 2) / 2
    each = exact.suppression_delta(Fraction(1), threshold, bound)
    return agree_if(abs(each - once) <= _CLOSE, each=each, once=once)


# --- swapping -------------------------------------------------------------------------------------


def theorem_3(_: Evidence) -> Checked:
    cases = {}
    for size, text in product((2, 3), ("0.5", "1")):
        law = lambda cells, at=Fraction(text): swapping_law((cells,), at)  # noqa: E731 - one line, used once
        found = max(worst_delta(law, _neighbours(2, size=size), level) for level in (0.0, float(text)))
        cases[size, text] = (found, exact.swapping_delta(Fraction(text), size))
    off = max(abs(found - formula) for found, formula in cases.values())
    agrees = all(
        found <= exact.swapping_theorem(Fraction(at), n) + _CLOSE for (n, at), (found, _) in cases.items()
    )
    theirs = exact.swapping_theorem(Fraction(1, 2), 2)
    right = [exact.swapping_delta(Fraction(text), _QUASI) for text in EPSILONS]
    return agree_if(agrees and off < _CLOSE, found=cases[2, "0.5"][0], theirs=theirs, off=off, right=right)


def other_columns(_: Evidence) -> Checked:
    one, other = ((1, 0), (0, 0)), ((0, 0), (1, 0))
    law = partial(swapping_law, epsilon=Fraction(1))
    found = hockey_stick(law(one), law(other), 10.0)
    return agree_if(found < 1 - _CLOSE, found=found)


def quasi_identifiers(_: Evidence) -> Checked:
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
    return agree_if(fit == [_QUASI], paper="one quasi-identifier of 9 values", fit=fit)


# --- k-anonymity ----------------------------------------------------------------------------------


def theorem_5(_: Evidence) -> Checked:
    share = exact.anonymity_delta(Fraction(1))
    law = partial(sampling_law, share=share)
    found = [worst_delta(law, _neighbours(4), level) for level in (0.0, 1.0, 3.0)]
    theirs = [exact.anonymity_theorem(Fraction(text))[0] for text in EPSILONS]
    right = [exact.anonymity_delta(Fraction(text)) for text in EPSILONS]
    holds = all(mine <= other + _CLOSE for mine, other in zip(right, theirs, strict=True))
    holds = holds and max(abs(each - share) for each in found) < _CLOSE
    return agree_if(holds, share=share, found=found, right=right, theirs=theirs)


def theorem_6(_: Evidence) -> Checked:
    worst, cases = 0.0, 0
    for count, k, share in product(range(1, 15), (2, 6), (0.1, 0.6, 0.9)):
        kept = sampling_law((count,), share)
        true = math.fsum(mass for (left,), mass in kept.items() if left < k) - (count < k)
        lost = range(count - k + 1, count + 1)
        terms = (math.comb(count, j) * share ** (count - j) * (1 - share) ** j for j in lost)
        worst = max(worst, abs(true - (math.fsum(terms) if count >= k else 0.0)))
        cases += 1
    return agree_if(worst < _CLOSE, worst=worst, cases=cases)


# --- bias and alpha -------------------------------------------------------------------------------


def bound(evidence: Evidence, theorem: str, what: str, *, equal: bool = False) -> Checked:
    """Check that a bound holds, or is met, on the paper's tables at all its epsilons."""
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
    worst, number = 0.0, 0
    for row, text in product(product(range(4), repeat=3), ("0.5", "1", "4")):
        mean = np.array(swapping_mean(row, Fraction(text)))
        formula = exact.swapping_bias(np.array([row]), Fraction(text))[0]
        worst = max(worst, float(np.abs(mean - np.array(row) - formula).max()))
        number += 1
    return agree_if(worst < _CLOSE, worst=worst, number=number)


def tight(_: Evidence) -> Checked:
    """Check both inequalities that may be meant: that of the theorem, and that of line (16) of its proof."""
    counts, k, epsilon = np.array([0, 3]), 6, Fraction(1)
    true = float(np.ptp(exact.suppression_bias(counts, epsilon, k)))
    most = theorem_7(counts, epsilon, k)
    first, last = (float(each) for each in exact.hidden_probability(counts, epsilon, k))
    line = float(np.ptp(counts)) * first + abs(k / 2 - counts[-1]) * (first - last)
    met = [abs(true - each) < _CLOSE for each in (most, line)]
    values = {"true": true, "most": most, "line": line}
    return agree_if(met[0], **values) if met[0] == met[1] else cannot_check(**values)


def norms(_: Evidence) -> Checked:
    """Check that both forms are equal with the symbol of Definition 1: the largest minus the smallest."""
    counts, epsilon = np.array([2, 50]), Fraction(1, 2)
    factor = math.exp(-float(epsilon) * 2 / 2) / 2
    defined, largest = factor * (counts.max() - counts.min()), factor * counts.max()
    form = theorem_9(counts, epsilon)
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
        most = theorem_9(counts, epsilon)
        wrong += most > theorem_7(counts, epsilon, k) + _CLOSE
        wrong += int(any(most > theorem_8(counts, epsilon, size) + _CLOSE for size in (2, 9, 50)))
        number += 1
    return agree_if(not wrong, right=number - wrong, number=number)


def alphas_of_theorem_10(_: Evidence) -> Checked:
    counts, k, epsilon = np.array([3, 59]), 3, Fraction(1, 10)
    noisy = laplace_alpha(counts, epsilon)
    suppressed = float(np.ptp(exact.suppression_bias(counts, epsilon, k, fill=k / 2)))
    number = against = 0
    for table, threshold, level in _tables():
        number += 1
        hidden = np.ptp(exact.suppression_bias(table, level, threshold, fill=threshold / 2))
        against += int(laplace_alpha(table, level) > hidden + _CLOSE)
    return agree_if(noisy <= suppressed, noisy=noisy, suppressed=suppressed, number=number, against=against)


def swapping_of_theorem_10(_: Evidence) -> Checked:
    matrix, epsilon = np.array([[3, 3], [59, 59]]), Fraction(1, 10)
    noisy = laplace_alpha(matrix, epsilon)
    swapped = float(np.ptp(exact.swapping_bias(matrix, epsilon)))
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
    found: dict[Any, float] = {}
    for hidden in product((False, True), repeat=len(cells)):
        mass = 1.0
        for each, count in zip(hidden, cells, strict=True):
            mass *= float(noise.cdf(threshold - count) if each else noise.sf(threshold - count))
        found[tuple(None if each else count for each, count in zip(hidden, cells, strict=True))] = mass
    return found


def swapping_law(rows: tuple[Cells, ...], epsilon: Fraction) -> dict[Any, float]:
    """Return the outputs of swapping whole cells: a row for each combination of the other columns.

    >>> from fractions import Fraction
    >>> {table: round(mass, 3) for table, mass in swapping_law(((2, 0),), Fraction(0)).items()}
    {((2, 0),): 0.5, ((0, 2),): 0.5}
    """
    size = len(rows[0])
    stay = keep_probability(epsilon, size)
    move = (1 - stay) / (size - 1)
    found: dict[Any, float] = {(): 1.0}
    for row in rows:
        row_law: dict[Any, float] = {}
        for places in product(range(size), repeat=size):
            out, mass = [0] * size, 1.0
            for origin, place in enumerate(places):
                out[place] += row[origin]
                mass *= stay if place == origin else move
            row_law[tuple(out)] = row_law.get(tuple(out), 0.0) + mass
        found = {(*done, out): mass * more for done, mass in found.items() for out, more in row_law.items()}
    return found


def swapping_mean(row: Cells, epsilon: Fraction) -> list[float]:
    """Return the mean count of every cell after swapping one row."""
    law = swapping_law((row,), epsilon)
    return [math.fsum(out[0][place] * mass for out, mass in law.items()) for place in range(len(row))]


def sampling_law(cells: Cells, share: float) -> dict[Any, float]:
    """Return the tables of a sample that everybody is in with the same probability."""
    found: dict[Any, float] = {(): 1.0}
    for count in cells:
        one = {
            kept: math.comb(count, kept) * share**kept * (1 - share) ** (count - kept)
            for kept in range(count + 1)
        }
        found = {(*done, kept): mass * more for done, mass in found.items() for kept, more in one.items()}
    return found
