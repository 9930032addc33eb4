"""Random groups for the fairest channel, ordinary and awkward, and slow, obvious versions of everything."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from contract._protocol_claims import exp_below

GRID = 2**53


@dataclass(frozen=True)
class Groups:
    weights: np.ndarray
    rates: np.ndarray
    epsilon: float
    share: float  # of the way from the least error to the fair one
    name: str  # of the error budget, or empty for the share


def groups(seed, *, most=10, least=2):
    """Return the groups of a seed: few or many, alike or not, some empty, some with rates of 0 or 1."""
    draw = np.random.default_rng(seed)
    k = int(draw.integers(least, most + 1))
    weights = draw.dirichlet(np.full(k, 10 ** draw.uniform(-1, 1)))
    kind = draw.random()
    if kind < 0.2:
        weights = np.round(weights, 2)
    elif kind < 0.35:
        weights[draw.integers(k)] = 0
    elif kind < 0.45:
        weights = np.ones(k)
    if weights.sum() == 0:
        weights[0] = 1
    rates = draw.random(k)
    kind = draw.random()
    if kind < 0.1:
        rates = draw.integers(0, 2, k).astype(float)
    elif kind < 0.15:
        rates = np.full(k, rates[0])
    elif kind < 0.25:
        rates = 0.5 + 1e-4 * rates
    elif kind < 0.3:
        rates = rates**20
    weights = weights / weights.sum()
    if weights @ rates == 0:
        rates[weights.argmax()] = 1.0
    epsilon = float(10 ** draw.uniform(-3, np.log10(20)))
    return Groups(weights, rates, epsilon, draw.random(), draw.choice(["grr", "minimum", "", ""]))


def grr_matrix(people):
    """Randomized response, entry by entry."""
    false = 1 / (np.exp(people.epsilon) + people.k - 1)
    return np.full((people.k, people.k), false) + (1 - people.k * false) * np.eye(people.k)


def slow_unfairness(matrix, weights, rates, kind="ratio"):
    """The definition, report by report."""
    k, mean = len(weights), sum(p * r for p, r in zip(weights, rates, strict=True))
    seen = []
    for report in range(k):
        made = sum(weights[i] * matrix[i][report] for i in range(k))
        if made > 0:
            seen.append(sum(weights[i] * rates[i] * matrix[i][report] for i in range(k)) / made)
    return max(abs(each / mean - 1) for each in seen) if kind == "ratio" else max(seen) - min(seen)


def slow_error(matrix, weights):
    return sum(p * (1 - matrix[i][i]) for i, p in enumerate(weights))


def keeps_privacy(rows, epsilon):
    """Whether whole numbers are a channel that keeps epsilon: every two entries of every column."""
    above, below = exp_below(Fraction(repr(epsilon))).as_integer_ratio()
    sums = all(len(row) == len(rows) and sum(row) == GRID and min(row) > 0 for row in rows)
    columns = zip(*rows, strict=True)
    return sums and all(
        one * below <= other * above for column in columns for one in column for other in column
    )


def is_channel(matrix, epsilon, tolerance=0.0):
    """Whether floats are a channel that keeps epsilon and says nothing more often than the truth."""
    top = np.diagonal(matrix)
    ratios = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    truthful = (matrix <= top[None, :] + 1e-8).all() and (matrix <= top[:, None] + 1e-8).all()
    sums = np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    return bool(sums and truthful and ratios <= np.exp(epsilon) * (1 + 1e-14 + tolerance))


def random_channel(draw, k, epsilon):
    """Return a random channel with all constraints: mixed with the uniform one until it has them."""
    matrix = draw.dirichlet(np.full(k, 10 ** draw.uniform(-1, 1)), size=k)
    if draw.random() < 0.5:
        matrix += np.eye(k) * draw.uniform(0, 2 * np.exp(min(epsilon, 3)))
        matrix /= matrix.sum(axis=1, keepdims=True)
    uniform = np.full((k, k), 1 / k)
    truth = matrix + np.diag(np.max([matrix.max(axis=0), matrix.max(axis=1)], axis=0))
    matrix = truth / truth.sum(axis=1, keepdims=True)
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        mixed = (1 - share) * matrix + share * uniform
        top = np.diagonal(mixed)
        good = (mixed <= top[None, :]).all() and (mixed <= top[:, None]).all()
        good = good and (mixed.max(axis=0) <= np.exp(epsilon) * mixed.min(axis=0)).all()
        low, high = (low, share) if good else (share, high)
    return (1 - high) * matrix + high * uniform
