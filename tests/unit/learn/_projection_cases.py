"""Small projections for the tests, and the slow, obvious version with a matrix for each row."""

import numpy as np

from evenhand.learn.projection.problem import Problem, ScoredRows, marginals_of

POSITIVE = np.array([0.10, 0.30, 0.45, 0.60, 0.80, 0.55, 0.70, 0.85, 0.90, 0.40])
SCORES = np.column_stack([1 - POSITIVE, POSITIVE])
GROUPS = np.repeat([0, 1], 5)
LABELS = np.array([0, 0, 1, 1, 1, 0, 1, 1, 1, 0])


def shares_of(scores, groups, labels, kind, k, *, calibrated=False):
    classes = scores if calibrated else np.eye(scores.shape[1])[labels]
    shares = marginals_of(classes, groups, k)
    return np.tile(shares.sum(axis=0), (scores.shape[1], 1)) if kind == "parity" else shares


def problem_of(kind, divergence, *, scores=SCORES, groups=GROUPS, labels=LABELS, k=2, calibrated=False):
    shares = shares_of(scores, groups, labels, kind, k, calibrated=calibrated)
    return Problem.of(ScoredRows(scores, groups, k, kind), divergence, marginals=shares)


def random_case(seed, *, n=60, n_classes=3, k=3, shared=False):
    """Return scores, groups (or probabilities of them) and labels."""
    generator = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(k), generator.integers(0, k, n - k)])
    scores = generator.dirichlet(np.ones(n_classes), n)
    scores[:, 0] *= 1 + groups
    scores = scores / scores.sum(axis=1, keepdims=True) + 1e-4
    scores /= scores.sum(axis=1, keepdims=True)
    labels = (scores.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    return scores, generator.dirichlet(np.ones(k), n) if shared else groups, labels


def slow_matrix(scores, groups, shares, kind, tolerance):
    """Return G_i for each row, written out from the constraints: (rows, classes, constraints)."""
    n, n_classes = scores.shape
    k = shares.shape[1]
    member = groups if groups.ndim == 2 else np.eye(k)[groups]
    columns = []
    for sign in (1, -1):
        for c in range(n_classes):
            for s in range(k):
                column = np.zeros((n, n_classes))
                for i in range(n):
                    if kind == "parity":
                        column[i, c] = sign * (member[i, s] / shares[c, s] - 1) - tolerance
                    else:
                        every = shares[c].sum()
                        part = sign * (member[i, s] / shares[c, s] - 1 / every) - tolerance / every
                        column[i, c] = scores[i, c] * part
                columns.append(column)
    return np.stack(columns, axis=2)
