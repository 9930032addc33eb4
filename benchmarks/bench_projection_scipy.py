"""Fair Projection: evenhand's solver of the dual against the methods of scipy.optimize, time and exactness.

    python benchmarks/bench_projection_scipy.py

560 random problems of 2 to 4 classes and 2 to 8 groups, scores near the middle and near 0 and 1, at tolerance
0 and at four shares of the largest one. Every method is given the same function, gradient and, if it takes
one, Hessian, each computed once at a place, and the strictest tolerances of its own. A solution is exact if
the conditions of optimality and the two bounds are within 1e-8, which `solve` promises of all it returns; the
printed vectors of the tests need 1e-11. CPU seconds of one thread.
"""

import os
import time
import warnings
from itertools import product

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is there

import numpy as np
from scipy.optimize import minimize

from evenhand.learn.projection.problem import Problem, ScoredRows, marginals_of
from evenhand.learn.projection.solver import _Dual, solve

SHAPES = (
    (9, 2, 2, False), (60, 2, 4, False), (120, 3, 3, True), (120, 3, 3, False), (200, 4, 6, False),
    (1_000, 2, 8, False), (1_000, 3, 5, True),
)  # fmt: skip
"""Rows, classes and groups, and whether rows are in every group with some probability."""

SHARES = (0.0, 1e-5, 0.01, 0.5, 0.999)
METHODS = {
    "BFGS": {"gtol": 1e-12, "maxiter": 2_000},
    "Newton-CG": {"xtol": 1e-14, "maxiter": 500},
    "trust-exact": {"gtol": 1e-12, "maxiter": 1_000},
    "L-BFGS-B": {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5_000, "maxfun": 20_000},
    "SLSQP": {"ftol": 1e-16, "maxiter": 1_000},
    "TNC": {"ftol": 1e-16, "gtol": 1e-12, "maxfun": 10_000},
}
UNBOUNDED, WITH_HESSIAN = ("BFGS", "Newton-CG", "trust-exact"), ("Newton-CG", "trust-exact")


def _problems(seed):
    generator = np.random.default_rng(seed)
    for n, classes, k, shared in SHAPES:
        groups = np.concatenate([np.arange(k), generator.integers(0, k, n - k)])
        scores = generator.dirichlet(np.ones(classes), n)
        scores[:, 0] *= 1 + groups
        scores = scores**4 if seed % 2 else scores / scores.sum(axis=1, keepdims=True)
        scores += 1e-4
        scores /= scores.sum(axis=1, keepdims=True)
        members = generator.dirichlet(np.ones(k), n) if shared else groups
        for kind, divergence in product(("parity", "odds"), ("kl", "ce")):
            shares = marginals_of(scores, members, k)
            if kind == "parity":
                shares = np.tile(shares.sum(axis=0), (classes, 1))
            yield Problem.of(ScoredRows(scores, members, k, kind), divergence, marginals=shares)


def _scipy(method, problem, tolerance):
    dual = _Dual(problem, problem.columns(tolerance) if tolerance else problem.signed, 0.0, stray=False)
    at = {}

    def made(x):
        if at.get("x") != x.tobytes():
            at.update(x=x.tobytes(), made=dual(x, with_value=True))
        return at["made"]

    size = dual.columns.shape[1]
    found = minimize(
        lambda x: made(x)[0],
        np.full(size, 0.05) if tolerance else np.zeros(size),
        jac=lambda x: made(x)[1],
        hess=(lambda x: made(x)[2]) if method in WITH_HESSIAN else None,
        bounds=[(0, None)] * size if tolerance else None,
        method=method,
        options=METHODS[method],
    )
    value, gradient, _ = dual(found.x, with_value=True)
    short = max(-gradient.min(), np.abs(found.x * gradient).max())
    residual = short if tolerance else np.abs(gradient).max()
    return max(residual, abs(problem.objective(dual.columns @ found.x) + value))


def _ours(problem, tolerance):
    solution = solve(problem, tolerance)
    return max(solution.residual, abs(solution.gap))


def main():
    warnings.simplefilter("ignore")
    found = {}
    for seed in range(4):
        for problem in _problems(seed):
            for tolerance in (share * problem.largest_tolerance() for share in SHARES):
                for method in ("ours", *METHODS):
                    if method != "ours" and (method in UNBOUNDED) == bool(tolerance):
                        continue
                    start = time.process_time()
                    with np.errstate(all="ignore"):
                        fault = (
                            _ours(problem, tolerance)
                            if method == "ours"
                            else _scipy(method, problem, tolerance)
                        )
                    taken = time.process_time() - start
                    found.setdefault((tolerance > 0, method), []).append((taken, fault))
    print("tolerance  method       problems  seconds  times ours  not within 1e-8  not within 1e-11    worst")
    for (above, method), rows in sorted(found.items(), key=lambda item: item[0][0]):
        seconds, faults = sum(taken for taken, _ in rows), np.array([fault for _, fault in rows])
        times = seconds / sum(taken for taken, _ in found[above, "ours"])
        loose, inexact = (~(faults < 1e-8)).sum(), (~(faults < 1e-11)).sum()
        line = f"{'above 0' if above else '0':9}  {method:12} {len(rows):8}  {seconds:7.2f}  {times:10.1f}"
        print(f"{line}  {loose:15}  {inexact:16}  {faults.max():7.1e}")


if __name__ == "__main__":
    main()
