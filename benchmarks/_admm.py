"""Fair Projection by ADMM, as its authors solve it: the peer that the interior point is measured against.

Written anew after the steps of the program released with alghamdi2022 (repository HsiangHsu/Fair-Projection,
file fair-projection/adult-compas/coreMP.py, the part in numpy): the dual is split into v_i = -G_i lambda, and
each round

1. finds v row by row: for "kl" from the fixed point x = -(softmax(x) + c - rho ln h) / rho, at most 50
   times or until it moves by less than 1e-13; for "cross-entropy" by as many of Newton's steps on one number
   for each row,
2. finds lambda >= 0 from a quadratic program as large as there are constraints,
3. moves the row prices mu by rho (v + G lambda);

all start from one, rho is 2 and there are at most 500 rounds. Departures, all in its favour: the quadratic
program goes to non-negative least squares and not through cvxpy, products with G are one flat product and
not one for each row, no random noise is added to G, and it may stop before the last round, which the release
never does.
"""

import numpy as np
from scipy.optimize import nnls
from scipy.special import softmax

RHO = 2.0
ROUNDS = 500
_INNER = 50
_INNER_STEP = 1e-13


def constraint_matrix(scores, groups, columns, *, weighted):
    """Return G as (rows, classes, constraints) from the small table that makes prices of multipliers."""
    n_classes = scores.shape[1]
    table = columns.reshape(-1, n_classes, columns.shape[1])[groups]
    return table * scores[:, :, None] if weighted else table


def rounds(G, scores, divergence):  # noqa: N803 - as in the formulas
    """Yield the multipliers after each round, for ever."""
    n, n_classes, count = G.shape
    flat = G.reshape(n * n_classes, count)
    square = RHO * flat.T @ flat / n
    values, vectors = np.linalg.eigh(square)
    used = values > 1e-12 * values.max()
    root = np.sqrt(values[used])[:, None] * vectors[:, used].T
    inverse = vectors[:, used].T / np.sqrt(values[used])[:, None]
    multipliers = np.ones(count)
    mu = np.ones((n, n_classes))
    move = (flat @ multipliers).reshape(n, n_classes)
    log_scores = np.log(scores)
    while True:
        pull = mu + RHO * move
        v = _rows_kl(pull, log_scores) if divergence == "kl" else _rows_ce(pull, scores)
        line = (mu + RHO * v).ravel() @ flat / n
        multipliers = nnls(root, -inverse @ line)[0]
        move = (flat @ multipliers).reshape(n, n_classes)
        mu += RHO * (v + move)
        yield multipliers


def _rows_kl(pull, log_scores):
    a = pull - RHO * log_scores
    x = np.zeros_like(a)
    for _ in range(_INNER):
        old, x = x, -(softmax(x, axis=1) + a) / RHO
        if np.abs(x - old).max() < _INNER_STEP:
            break
    return x - log_scores


def _rows_ce(pull, scores):
    z = np.zeros((len(pull), 1))
    a = 4 * RHO * scores
    for _ in range(_INNER):
        shifted = pull + z
        root = np.sqrt(a + shifted * shifted)
        positive = root - shifted
        value = positive.sum(axis=1, keepdims=True) / 2 - 1
        slope = -(positive / root).sum(axis=1, keepdims=True) / 2
        step = value / slope
        z -= step
        if np.abs(step).max() < _INNER_STEP:
            break
    shifted = pull + z
    x = (np.sqrt(a + shifted * shifted) - shifted) / 2
    return -(x + pull) / RHO
