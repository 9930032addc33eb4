"""What ghoukasian2024 proves or states about mechanisms in sections 5.2 to 5.6, and what is so."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.fairest.optimum import fairest_channel
from evenhand.collect.protocols.registry import protocol_named
from evenhand.papers.claims import AGREES, DIFFERS, Checked, Claim, cannot_check
from evenhand.papers.ghoukasian2024_local.data import DATA
from evenhand.papers.ghoukasian2024_local.mechanisms import MECHANISMS, support, unfairness
from evenhand.papers.ghoukasian2024_local.plans import EPSILONS, GRR, OPT, SS
from evenhand.papers.rules import fact, mostly
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

    Numbers = NDArray[np.float64]

__all__ = ["THEORY", "binary_mechanism", "printed_mechanism"]

_CLOSE = 1e-9
_EXAMPLE = ((0.7, 0.3), (0.2, 0.6), 1.0)
_THREE = ((0.5, 0.3, 0.2), (0.7, 0.4, 0.2), 1.0)
_LATTICE_EPSILONS = ("0.05", "0.5", "1", "4", "20")
_GRID = 201
_SAME_FROM = 8
_PARTS = 6
_RATIOS = (1.5, 2.0, 3.0, 4.0)  # of e^epsilon, that probabilities of the lattice can have
_NOTABLE, _EQUAL = 0.01, 1e-6


def binary_mechanism(p: float, q: float) -> Numbers:
    """Return the mechanism (5.4.1) as a matrix."""
    return np.array([[p, 1 - p], [1 - q, q]])


def printed_mechanism(weights: tuple[float, ...], epsilon: float) -> Numbers:
    """Return Theorem 14 as printed: the larger group reports a coin.

    >>> np.diag(printed_mechanism((0.7, 0.3), 1.0)).round(4).tolist()
    [0.5, 0.8161]
    """
    smaller = 1 - math.exp(-epsilon) / 2
    return binary_mechanism(smaller, 0.5) if weights[0] <= weights[1] else binary_mechanism(0.5, smaller)


def _populations() -> Iterator[tuple[Numbers, Numbers]]:
    """Yield weights and rates of two and three groups on a lattice."""
    for k in (2, 3):
        for parts in product(range(1, 9), repeat=k - 1):
            if sum(parts) < 10:
                weights = np.array([*parts, 10 - sum(parts)]) / 10
                for rates in product((0.0, 0.2, 0.5, 0.9, 1.0), repeat=k):
                    if len(set(rates)) > 1:
                        yield weights, np.array(rates)


# --- data unfairness ------------------------------------------------------------------------------


def _lemma_13(_: Evidence) -> Checked:
    matrices = {(k, each): support(GRR, k, each)[0] for k in (2, 3) for each in _LATTICE_EPSILONS}
    number = worse = 0
    for weights, rates in _populations():
        before = unfairness(np.eye(len(weights)), weights, rates).difference
        for epsilon in _LATTICE_EPSILONS:
            after = unfairness(matrices[len(weights), epsilon], weights, rates).difference
            worse += after > before + _CLOSE
            number += 1
    why = (
        f"In {number:,} combinations of two or three groups, rates and epsilons it is larger in {worse}. It "
        "holds for every mechanism that sees the attribute alone: each reported rate is a mean of true ones."
    )
    return Checked(DIFFERS if worse else AGREES, why)


def _lemma_16(_: Evidence) -> Checked:
    number = wrong = 0
    for weights, rates in _populations():
        ratio, difference = unfairness(np.eye(len(weights)), weights, rates)
        overall = float(weights @ rates)
        wrong += ratio > difference / overall + _CLOSE or difference > 2 * overall * ratio + _CLOSE
        number += 1
    why = f"With 1 / P(Y = 1) and 2 P(Y = 1) as the constants it fails in {wrong} of {number:,} populations."
    return Checked(DIFFERS if wrong else AGREES, why)


def _coin(_: Evidence) -> Checked:
    found = unfairness(binary_mechanism(0.5, 0.5), *_EXAMPLE[:2]).difference
    why = (
        f"A fair coin for both groups leaves a data unfairness of {found:.3f} and is private at any epsilon."
    )
    return Checked(AGREES if found < _CLOSE else DIFFERS, why)


# --- two groups -----------------------------------------------------------------------------------


def _level(p: Numbers, q: Numbers) -> Numbers:
    """Return the epsilon of (5.4.1), for arrays of its parameters."""
    pairs = (np.log(p / (1 - q)), np.log(q / (1 - p)))
    found: Numbers = np.maximum(np.abs(pairs[0]), np.abs(pairs[1]))
    return found


def _ratio(p: Any, q: Any, weights: tuple[float, ...]) -> Any:
    """Return how much of the data unfairness a mechanism leaves, whatever the rates are."""
    first, second = weights
    named = first * p + second * (1 - q)
    return first * second * np.abs(p * q - (1 - p) * (1 - q)) / (named * (1 - named))


def _left_by_theorem(weights: tuple[float, ...], epsilon: float) -> float:
    p, q = np.diag(printed_mechanism(weights, epsilon))
    return float(_ratio(p, q, weights))


def _truthful(_: Evidence) -> Checked:
    grid = np.linspace(0.5, 1 - 1e-6, _GRID)
    p, q = (each.ravel() for each in np.meshgrid(grid, grid))
    level = _level(p, q)
    worst = math.inf
    for first, epsilon in product((0.1, 0.3, 0.45, 0.6, 0.9), (0.05, 0.5, 1.0, 4.0)):
        weights = (first, 1 - first)
        best = _ratio(p, q, weights)[level >= epsilon].min()
        worst = min(worst, best - _left_by_theorem(weights, epsilon))
    why = (
        f"With p and q of at least a half, which only the proof asks for, no mechanism of a grid of "
        f"{_GRID}\N{MULTIPLICATION SIGN}{_GRID} that is no more private has less (20 cases; nearest: "
        f"{max(worst, 0.0):.4f} more). It does not matter which group has the higher rate."
    )
    return Checked(AGREES if worst >= -_CLOSE else DIFFERS, why)


def _stated(_: Evidence) -> Checked:
    weights, epsilon, q = (0.3, 0.7), 1.0, 0.01
    p = 1 - q * math.exp(epsilon)
    others = {each: float(_ratio(each, q, weights)) for each in (p, 1 - q * math.exp(-epsilon))}
    other = min(others, key=lambda each: others[each])
    theirs = _left_by_theorem(weights, epsilon)
    level = float(_level(np.array([other]), np.array([q]))[0])
    why = (
        f"Without p and q of at least a half it is not the optimum: with 30 % in group 0 and epsilon 1 it "
        f"leaves {theirs:.4f} of the unfairness, (p, q) = ({other:.4f}, {q}) leaves {others[other]:.4f} at "
        f"the same epsilon of {level:.4f}."
    )
    return Checked(DIFFERS if others[other] < theirs else AGREES, why)


def _frontier(_: Evidence) -> Checked:
    weights, rates, epsilon = _EXAMPLE
    theirs = printed_mechanism(weights, epsilon)
    error = float(1 - np.asarray(weights) @ np.diag(theirs))
    before = unfairness(theirs, weights, rates).ratio
    found = fairest_channel(weights, rates, epsilon, error=error)
    after = unfairness(found.matrix, weights, rates).ratio
    why = (
        f"Groups of 70 and 30 % with rates 0.2 and 0.6, epsilon 1: it misreports {error:.4f} of the people "
        f"and has a data unfairness of {before:.4f}; another mechanism within epsilon 1 misreports no more"
        f" ({found.error:.4f}) and has {after:.4f}."
    )
    return Checked(DIFFERS if after < before - _CLOSE else AGREES, why)


def _boundary(_: Evidence) -> Checked:
    matrix = printed_mechanism(_EXAMPLE[0], 20.0)
    why = f"At epsilon 20 the larger group still says the truth with probability {matrix[0, 0]:g}."
    return Checked(AGREES if matrix[0, 0] == 0.5 else DIFFERS, why)


# --- more groups ----------------------------------------------------------------------------------


def _extends(_: Evidence) -> Checked:
    weights, rates, epsilon = _EXAMPLE
    binary_one, general = (
        printed_mechanism(weights, epsilon),
        fairest_channel(weights, rates, epsilon, error="minimum"),
    )
    off = float(np.abs(binary_one - general.matrix).max())
    words = [
        f"{unfairness(each, weights, rates).ratio:.4f}" for each in (binary_one, np.asarray(general.matrix))
    ]
    why = (
        f"For two groups of 70 and 30 % at epsilon 1 the two optima are different mechanisms: Theorem 14 "
        f"leaves {words[0]}, problem (5.5.9) with the smallest error is randomized response and leaves "
        f"{words[1]}; entries differ by up to {off:.3f}."
    )
    return Checked(DIFFERS if off > 1e-6 else AGREES, why)


def _lattice() -> Numbers:
    """Return every mechanism of three groups whose probabilities are whole sixths."""
    parts = [(i, j, _PARTS - i - j) for i in range(_PARTS + 1) for j in range(_PARTS + 1 - i)]
    return np.array([*product(parts, repeat=3)]) / _PARTS


def keeps_condition(q: Numbers, ratio: float) -> NDArray[np.bool_]:
    """Return which mechanisms keep (5.5.7), with `ratio` for e^epsilon."""
    diagonal = np.diagonal(q, axis1=1, axis2=2)
    found: NDArray[np.bool_] = (diagonal <= ratio * q.min(axis=1) + _CLOSE).all(axis=1)
    return found


def _reduction(_: Evidence) -> Checked:
    every = _lattice()
    truthful = every[(np.diagonal(every, axis1=1, axis2=2) >= every.max(axis=1)).all(axis=1)]
    number = wrong = 0
    for ratio in _RATIOS:
        private = (truthful.max(axis=1) <= ratio * truthful.min(axis=1) + _CLOSE).all(axis=1)
        wrong += int((keeps_condition(truthful, ratio) != private).sum())
        number += len(truthful)
    why = (
        "If q_ij <= q_jj <= e^epsilon q_i'j for all i and i', then q_ij <= e^epsilon q_i'j. Of "
        f"{number:,} cases of three groups on a lattice that keep (5.5.5), {wrong} keep one of the two alone."
    )
    return Checked(DIFFERS if wrong else AGREES, why)


def _programs(_: Evidence) -> Checked:
    found = fairest_channel(*_THREE, error=0.45)
    why = (
        f"The set of mechanisms with a data unfairness of at most t is a polytope for every t, so a few "
        f"linear programs give the optimum with a certificate: {found.solves} for three groups, "
        f"{found.unfairness:.8f} with a lower bound of {found.bound:.8f}."
    )
    tight = found.unfairness - found.bound < 1e-6
    return Checked(DIFFERS if tight else AGREES, why, paper="branch and bound")


def _records(evidence: Evidence) -> dict[str, Mapping[str, Any]]:
    return {record["name"]: record for record in evidence.trials[MECHANISMS].values()}


def _fairer(evidence: Evidence) -> Checked:
    shares = {
        f"{DATA[name].title} at {epsilon}": record["ways"][OPT][epsilon]["ratio"]
        / record["ways"][GRR][epsilon]["ratio"]
        for name, record in _records(evidence).items()
        if not DATA[name].is_binary
        for epsilon in EPSILONS
    }
    worst = max(shares, key=lambda each: shares[each])
    less = sum(share < 1 - _NOTABLE for share in shares.values())
    more = sum(share > 1 + _EQUAL for share in shares.values())
    off = max(_off(record["ways"]) for name, record in _records(evidence).items() if not DATA[name].is_binary)
    why = (
        f"Of {len(shares)} cases, {less} have more than 1 % less and {more} have more; the worst is {worst}, "
        f"with {shares[worst]:.4f} times GRR's. The smallest error nearly determines the mechanism: from "
        f"epsilon 8 on it is GRR (no probability differs by more than {off:.0e})."
    )
    return Checked(AGREES if 2 * less > len(shares) and not more else DIFFERS, why)


def _off(ways: Mapping[str, Any]) -> float:
    """Return how far OPT is from GRR, entry by entry, at epsilons from 8 on."""
    return max(
        float(np.abs(np.subtract(ways[OPT][epsilon]["matrix"], ways[GRR][epsilon]["matrix"])).max())
        for epsilon in EPSILONS
        if float(epsilon) >= _SAME_FROM
    )


def _slower(evidence: Evidence) -> Checked:
    records = _records(evidence)
    times = [
        np.array([records[name]["ways"][OPT][epsilon]["seconds"] for epsilon in EPSILONS])
        for name in ("adult-race", "adult-race-gender")
    ]
    found = mostly([estimate_mean(times[1] - times[0])], what="comparison of CPU times over the epsilons")
    words = " and ".join(f"{each.mean():.2f} s" for each in times)
    why = f"{found.why} Solving takes {words} with 5 and with 10 groups, on average."
    return Checked(found.verdict, why, found.ours)


def _theorem_15(evidence: Evidence) -> Checked:
    record = _records(evidence)["lsac-gender"]
    marginal = record["ways"][OPT]["1"]["marginal"][1]
    return cannot_check(
        "It does not apply after local privacy: it asks that the groups have the same sizes before and after,"
        f" and the reports of a mechanism change them (LSAC, gender, epsilon 1: {record['weights'][1]:.3f} "
        f"men become {marginal:.3f}). It also asks for classifiers that are optimal in accuracy and "
        "disparity and equally accurate, and speaks of the reported groups."
    )


# --- subset selection -----------------------------------------------------------------------------


def _like_grr(_: Evidence) -> Checked:
    off = max(
        float(np.abs(support(SS, 2, epsilon)[0] - support(GRR, 2, epsilon)[0]).max()) for epsilon in EPSILONS
    )
    why = f"Probabilities differ by at most {off:.1e} at the nine epsilons."
    return Checked(AGREES if off < _CLOSE else DIFFERS, why)


def _size(_: Evidence) -> Checked:
    make: Any = protocol_named("ss")
    off = []
    for k, epsilon in product((2, 5, 10), EPSILONS):
        sizes = [make(k, epsilon, as_printed=printed_way).size for printed_way in (True, False)]
        if sizes[0] != sizes[1]:
            off.append(f"k = {k}, epsilon {epsilon}: {sizes[0]} instead of {sizes[1]}")
    why = f"It is the size of least variance everywhere but at {'; '.join(off)}." if off else "It is."
    return fact(len(off), 0, why=why, printed="")


def _known_best(_: Evidence) -> Checked:
    return cannot_check("It is a statement of arcolezi2023, and judged in the reproduction of that paper.")


THEORY: tuple[Claim, ...] = (
    Claim(
        "omega", "The subset size k / (e^epsilon + 1), rounded to the nearest positive integer, has the "
        "least variance.", "5.2.3", _size, "fact",
    ),
    Claim("ss-binary", "For two groups SS and RR are the same mechanism.", "5.7.2", _like_grr, "fact"),
    Claim(
        "lemma-16", "The two measures of data unfairness bound each other up to constants.",
        "5.2.1, Lemma 16", _lemma_16, "fact",
    ),
    Claim("lemma-13", "GRR does not raise data unfairness.", "Lemma 13", _lemma_13, "fact"),
    Claim(
        "coin", "Without a condition on utility, the optimum is a completely random mechanism.",
        "5.4", _coin, "fact",
    ),
    Claim(
        "theorem-14-truthful",
        "Theorem 14 gives the least data unfairness of mechanisms that are no more private (for p and q of at"
        " least a half).",
        "Theorem 14, its proof", _truthful, "fact",
    ),
    Claim(
        "theorem-14",
        "Theorem 14 gives the least data unfairness of all mechanisms that are no more private.",
        "Theorem 14", _stated, "fact",
    ),
    Claim(
        "theorem-14-utility",
        "Objective (5.4.2) keeps utility: at what it costs in truth, its mechanism is the fairest.",
        "5.4", _frontier, "fact",
    ),
    Claim(
        "coin-remains",
        "For two groups OPT does not become the identity: one value is perturbed with probability 1/2.",
        "5.7.2", _boundary, "fact",
    ),
    Claim("extends", "Problem (5.5.9) extends Theorem 14 to more groups.", "5.5", _extends, "fact"),
    Claim("reduction", "With (5.5.5), condition (5.5.1) reduces to (5.5.7).", "5.5", _reduction, "fact"),
    Claim(
        "branch-and-bound",
        "Problem (5.5.9) is not convex and needs branch and bound; a better form is an open question.",
        "5.5, 6.2.2", _programs, "fact",
    ),
    Claim(
        "smallest-error",
        "OPT with the smallest feasible error has less data unfairness than GRR (race, race and gender, "
        "family income).",
        "5.7.3", _fairer, "fact", (MECHANISMS,),
    ),
    Claim(
        "slower", "Solving (5.5.9) takes longer with more groups.",
        "5.7.3", _slower, "mostly", (MECHANISMS,),
    ),
    Claim(
        "theorem-15", "Less data unfairness leads to less unfairness of the classifier.",
        "Theorem 15", _theorem_15, "fact", (MECHANISMS,),
    ),
    Claim(
        "grr-ss-best", "GRR and SS generally have the best trade-off of the known protocols.",
        "5.7, after arcolezi2023", _known_best, "",
    ),
)  # fmt: skip
"""The claims of sections 5.2 to 5.6, and those of 5.7 that need no classifier."""
