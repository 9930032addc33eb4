"""Checks of what ghoukasian2024 proves or states about mechanisms in sections 5.2 to 5.6."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.fairest.optimum import fairest_channel
from evenhand.collect.fairest.population import printed_channel
from evenhand.collect.protocols.registry import protocol_named
from evenhand.papers.claims import Checked, agree_if, cannot_check
from evenhand.papers.ghoukasian2024_local.plans import (
    DATA,
    EPSILONS,
    GRR,
    MECHANISMS,
    OPT,
    SS,
    support,
    unfairness,
)
from evenhand.papers.rules import fact, mostly
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

_CLOSE = 1e-9
_EXAMPLE = ((0.7, 0.3), (0.2, 0.6), 1.0)
_THREE = ((0.5, 0.3, 0.2), (0.7, 0.4, 0.2), 1.0)
_LATTICE_EPSILONS = ("0.05", "0.5", "1", "4", "20")
_GRID = 201
_SAME_FROM = 8
_PARTS = 6
_RATIOS = (1.5, 2.0, 3.0, 4.0)  # of e^epsilon, that probabilities of the lattice can have
_NOTABLE, _EQUAL = 0.01, 1e-6


def binary_mechanism(p: float, q: float) -> Values:
    """Return the mechanism (5.4.1) as a matrix."""
    return np.array([[p, 1 - p], [1 - q, q]])


def _populations() -> Iterator[tuple[Values, Values]]:
    """Yield weights and rates of two and three groups on a lattice."""
    for k in (2, 3):
        for parts in product(range(1, 9), repeat=k - 1):
            if sum(parts) < 10:
                weights = np.array([*parts, 10 - sum(parts)]) / 10
                for rates in product((0.0, 0.2, 0.5, 0.9, 1.0), repeat=k):
                    if len(set(rates)) > 1:
                        yield weights, np.array(rates)


# --- data unfairness ------------------------------------------------------------------------------


def lemma_13(_: Evidence) -> Checked:
    matrices = {(k, each): support(GRR, k, each)[0] for k in (2, 3) for each in _LATTICE_EPSILONS}
    number = worse = 0
    for weights, rates in _populations():
        before = unfairness(np.eye(len(weights)), weights, rates).difference
        for epsilon in _LATTICE_EPSILONS:
            after = unfairness(matrices[len(weights), epsilon], weights, rates).difference
            worse += after > before + _CLOSE
            number += 1
    return agree_if(not worse, number=number, worse=worse)


def lemma_16(_: Evidence) -> Checked:
    number = wrong = 0
    for weights, rates in _populations():
        ratio, difference = unfairness(np.eye(len(weights)), weights, rates)
        overall = float(weights @ rates)
        wrong += ratio > difference / overall + _CLOSE or difference > 2 * overall * ratio + _CLOSE
        number += 1
    return agree_if(not wrong, wrong=wrong, number=number)


def coin(_: Evidence) -> Checked:
    found = unfairness(binary_mechanism(0.5, 0.5), *_EXAMPLE[:2]).difference
    return agree_if(found < _CLOSE, found=found)


# --- two groups -----------------------------------------------------------------------------------


def _level(p: Values, q: Values) -> Values:
    """Return the epsilon of (5.4.1), for arrays of its parameters."""
    pairs = (np.log(p / (1 - q)), np.log(q / (1 - p)))
    found: Values = np.maximum(np.abs(pairs[0]), np.abs(pairs[1]))
    return found


def _ratio(p: Any, q: Any, weights: tuple[float, ...]) -> Any:
    """Return how much of the data unfairness a mechanism leaves, whatever the rates are."""
    first, second = weights
    named = first * p + second * (1 - q)
    return first * second * np.abs(p * q - (1 - p) * (1 - q)) / (named * (1 - named))


def _left_by_theorem(weights: tuple[float, ...], epsilon: float) -> float:
    p, q = np.diag(printed_channel(weights, epsilon))
    return float(_ratio(p, q, weights))


def truthful(_: Evidence) -> Checked:
    grid = np.linspace(0.5, 1 - 1e-6, _GRID)
    p, q = (each.ravel() for each in np.meshgrid(grid, grid))
    level = _level(p, q)
    worst = math.inf
    for first, epsilon in product((0.1, 0.3, 0.45, 0.6, 0.9), (0.05, 0.5, 1.0, 4.0)):
        weights = (first, 1 - first)
        best = _ratio(p, q, weights)[level >= epsilon].min()
        worst = min(worst, best - _left_by_theorem(weights, epsilon))
    return agree_if(worst >= -_CLOSE, grid=_GRID, worst=worst)


def stated(_: Evidence) -> Checked:
    weights, epsilon, q = (0.3, 0.7), 1.0, 0.01
    p = 1 - q * math.exp(epsilon)
    others = {each: float(_ratio(each, q, weights)) for each in (p, 1 - q * math.exp(-epsilon))}
    other = min(others, key=lambda each: others[each])
    theirs = _left_by_theorem(weights, epsilon)
    level = float(_level(np.array([other]), np.array([q]))[0])
    values = {"theirs": theirs, "p": other, "q": q, "left": others[other], "level": level}
    return agree_if(others[other] >= theirs, **values)


def non_trivial(_: Evidence) -> Checked:
    """Ask how much a mechanism that objective (5.4.2) admits tells about the attribute."""
    weights, epsilon, q = (0.3, 0.7), 1.0, 0.01
    p = 1 - q * math.exp(-epsilon)
    response = 1 / (1 + math.exp(-epsilon))
    told, plain = (_information(binary_mechanism(*each), weights) for each in ((p, q), (response, response)))
    level = float(_level(np.array([p]), np.array([q]))[0])
    values = {"p": p, "q": q, "level": level, "told": told, "plain": plain}
    return agree_if(level < epsilon - _CLOSE or told >= _NOTABLE * plain, **values)


def _information(matrix: Values, weights: tuple[float, ...]) -> float:
    """Return how many bits a report tells about the attribute."""
    joint = np.asarray(weights)[:, None] * matrix
    apart = np.asarray(weights)[:, None] * joint.sum(axis=0)
    return float((joint * np.log2(joint / apart)).sum())


def coin_remains(_: Evidence) -> Checked:
    matrix = printed_channel(_EXAMPLE[0], 20.0)
    return agree_if(matrix[0, 0] == 0.5, truth=matrix[0, 0])


# --- more groups ----------------------------------------------------------------------------------


def extends(_: Evidence) -> Checked:
    """Check that some error makes the program's optimum that of the theorem.

    With less error than the theorem's the program has no room for it; with as much, or more, it is the
    optimum only if nothing else does better there.
    """
    weights, rates, epsilon = _EXAMPLE
    theirs = printed_channel(weights, epsilon)
    error = 1 - float(np.diag(theirs) @ weights)
    optima = [fairest_channel(weights, rates, epsilon, error=each).matrix for each in ("minimum", error)]
    offs = [float(np.abs(theirs - optimum).max()) for optimum in optima]
    printed, *left = (unfairness(each, weights, rates).ratio for each in (theirs, *optima))
    return agree_if(min(offs) <= 1e-6, printed=printed, error=error, left=left, offs=offs)


def keeps_condition(q: Values, ratio: float) -> NDArray[np.bool_]:
    """Return which mechanisms keep (5.5.7), with `ratio` for e^epsilon."""
    diagonal = np.diagonal(q, axis1=1, axis2=2)
    found: NDArray[np.bool_] = (diagonal <= ratio * q.min(axis=1) + _CLOSE).all(axis=1)
    return found


def reduction(_: Evidence) -> Checked:
    parts = [(i, j, _PARTS - i - j) for i in range(_PARTS + 1) for j in range(_PARTS + 1 - i)]
    every = np.array([*product(parts, repeat=3)]) / _PARTS  # probabilities are whole sixths
    truthful = every[(np.diagonal(every, axis1=1, axis2=2) >= every.max(axis=1)).all(axis=1)]
    number = wrong = 0
    for ratio in _RATIOS:
        private = (truthful.max(axis=1) <= ratio * truthful.min(axis=1) + _CLOSE).all(axis=1)
        wrong += int((keeps_condition(truthful, ratio) != private).sum())
        number += len(truthful)
    return agree_if(not wrong, number=number, wrong=wrong)


def programs(_: Evidence) -> Checked:
    found = fairest_channel(*_THREE, error=0.45)
    tight = found.unfairness - found.bound < 1e-6
    return agree_if(tight, found=found)


def _records(evidence: Evidence) -> dict[str, Mapping[str, Any]]:
    return {record["name"]: record for record in evidence.trials[MECHANISMS].values()}


def fairer(evidence: Evidence) -> Checked:
    """Check that OPT leaves less from some epsilon on: so at the last two epsilons at least."""
    pairs = {
        (DATA[name].title, epsilon): [record["ways"][way][epsilon] for way in (OPT, GRR)]
        for name, record in _records(evidence).items()
        if not DATA[name].is_binary
        for epsilon in EPSILONS
    }
    shares = {at: opt["ratio"] / grr["ratio"] for at, (opt, grr) in pairs.items()}
    worst = max(shares, key=shares.__getitem__)
    last = [share for at, share in shares.items() if at[1] in EPSILONS[-2:]]
    less = sum(share < 1 - _NOTABLE for share in shares.values())
    more = sum(share > 1 + _EQUAL for share in shares.values())
    off = max(
        float(np.abs(np.subtract(opt["matrix"], grr["matrix"])).max())
        for at, (opt, grr) in pairs.items()
        if float(at[1]) >= _SAME_FROM
    )
    values = {"number": len(shares), "less": less, "more": more, "share": shares[worst], "off": off}
    holds = max(last) < 1 - _NOTABLE
    return agree_if(holds, worst=" at ".join(worst), last=EPSILONS[-2:], most=max(last), **values)


def slower(evidence: Evidence) -> Checked:
    records = _records(evidence)
    times = [
        np.array([records[name]["ways"][OPT][epsilon]["seconds"] for epsilon in EPSILONS])
        for name in ("adult-race", "adult-race-gender")
    ]
    found = mostly([estimate_mean(times[1] - times[0])], what="comparison of CPU times over the epsilons")
    return replace(found, values={"few": times[0].mean(), "many": times[1].mean()})


def theorem_15(evidence: Evidence) -> Checked:
    record = _records(evidence)["lsac-gender"]
    marginal = record["ways"][OPT]["1"]["marginal"][1]
    return cannot_check(before=record["weights"][1], after=marginal)


# --- subset selection -----------------------------------------------------------------------------


def like_grr(_: Evidence) -> Checked:
    off = max(
        float(np.abs(support(SS, 2, epsilon)[0] - support(GRR, 2, epsilon)[0]).max()) for epsilon in EPSILONS
    )
    return agree_if(off < _CLOSE, off=off)


def subset_size(_: Evidence) -> Checked:
    make: Any = protocol_named("ss")
    off = []
    for k, epsilon in product((2, 5, 10), EPSILONS):
        printed, best = max(1, math.floor(k / (math.exp(float(epsilon)) + 1))), make(k, epsilon).size
        if printed != best:
            off.append(f"k = {k}, epsilon {epsilon}: {printed} instead of {best}")
    why = f"It is the size of least variance everywhere but at {'; '.join(off)}." if off else "It is."
    return fact(len(off), 0, why=why, printed="")
