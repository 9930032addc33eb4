"""Estimates from reports have the mean and variance that are stated, and their intervals cover (F3, F4)."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.collect.protocols.unary import OUE
from statistical._exact import ALPHA, binomial_pvalue

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

SHARES = {
    "few values": np.array([0.5, 0.3, 0.15, 0.05, 0.0]),
    "two values": np.array([0.9, 0.1]),
    "many values": np.array([0.4, 0.2, 0.1] + [0.3 / 17] * 17),
}
SETTINGS = [("few values", 1), ("two values", 0.5), ("many values", 2)]
ONE_P = [name for name in PROTOCOLS if name != "optimal"]  # a matrix: test_optimal_estimates.py
WITHIN = 6.1  # standard errors: two tails of ALPHA


def _runs(protocol, shares, *, n, runs, seed, copies=1):
    """Estimates of the same n people reporting again and again; `copies` people share each report."""
    counts = np.rint(shares * n).astype(int)
    counts[0] += n - counts.sum()
    codes = np.repeat(np.arange(protocol.k), counts)
    found = []
    for start in range(0, runs, 100):
        together = min(100, runs - start)
        people = np.tile(codes[::copies], together)
        reports = protocol.privatize(people, rng=seed + start)
        support = protocol.indicators(reports).reshape(together, -1, protocol.k).sum(axis=1, dtype=np.int64)
        found += [Frequencies(copies * each, n=n, protocol=protocol).values for each in support]
    return counts / n, np.array(found)


def _mean_and_variance_off(protocol, truth, found, n):
    """The largest distance of the mean in standard errors, and of the variance from the stated one."""
    stated = protocol.variance(truth, n)
    mean = np.abs(found.mean(axis=0) - truth) / np.sqrt(stated / len(found))
    return float(mean.max()), float(np.abs(found.var(axis=0, ddof=1) / stated - 1).max())


@pytest.mark.parametrize("name", ONE_P)
def test_mean_and_variance_are_as_stated(name):
    """The small form of the nightly test: 400 runs, so the variance is held to 43 %."""
    protocol, runs = PROTOCOLS[name](k=5, epsilon=1), 400
    truth, found = _runs(protocol, SHARES["few values"], n=200, runs=runs, seed=1)
    mean, variance = _mean_and_variance_off(protocol, truth, found, 200)

    assert mean < WITHIN
    assert variance < WITHIN * np.sqrt(2 / runs)


@pytest.mark.nightly
@pytest.mark.parametrize(("shares", "epsilon"), SETTINGS)
@pytest.mark.parametrize("name", ONE_P)
def test_mean_and_variance_are_as_stated_in_two_thousand_runs(name, shares, epsilon):
    protocol = PROTOCOLS[name](k=len(SHARES[shares]), epsilon=epsilon)
    truth, found = _runs(protocol, SHARES[shares], n=1000, runs=2000, seed=2)
    mean, variance = _mean_and_variance_off(protocol, truth, found, 1000)

    assert mean < WITHIN
    assert variance < 0.20


def test_the_check_sees_the_wrong_q():
    """The twin: local hashing with the chance of a bucket in place of the chance of support."""
    protocol = OLH(k=5, epsilon=1)
    truth, found = _runs(protocol, SHARES["few values"], n=200, runs=400, seed=1)
    right, wrong = protocol.q, float(protocol.flip_exact)
    moved = (found * (protocol.p - right) + right - wrong) / (protocol.p - wrong)

    assert _mean_and_variance_off(protocol, truth, moved, 200)[0] > WITHIN


def test_the_check_sees_shared_randomness():
    """The twin: two people at a time send one report. The mean is right and the variance doubles."""
    protocol = OUE(k=5, epsilon=1)
    truth, found = _runs(protocol, SHARES["few values"], n=200, runs=400, seed=1, copies=2)
    mean, variance = _mean_and_variance_off(protocol, truth, found, 200)

    assert mean < 2 * WITHIN
    assert variance > WITHIN * np.sqrt(2 / 400)


# --- coverage, summed over all counts instead of simulated ------------------------------------------

DESIGNS = [(2, 0.5), (5, 1), (20, 2), (20, 4), (100, 0.5), (5, 8)]
SIZES = (50, 200, 1000)
AT_LEAST, AT_MOST = 0.94, 0.97


def _people(n):
    return sorted({0, 1, n // 50, n // 20, n // 10, n // 5, n // 2, n - 1, n})


def _law(n, members, protocol, of):
    """The law of the count: the people are given, or drawn themselves."""
    if of == "population":
        return binom.pmf(np.arange(n + 1), n, protocol.q + members / n * (protocol.p - protocol.q))
    with_value = binom.pmf(np.arange(members + 1), members, protocol.p)
    return np.convolve(with_value, binom.pmf(np.arange(n - members + 1), n - members, protocol.q))


def _coverage(protocol, n, limits, of):
    low, high = limits
    found = []
    for members in _people(n):
        held = (low <= members / n + 1e-12) & (members / n - 1e-12 <= high)
        found.append(float(_law(n, members, protocol, of)[held].sum()))
    return found


def _all_coverages(of, n, **options):
    for made in map(PROTOCOLS.get, ONE_P):
        for k, epsilon in DESIGNS:
            protocol = made(k=k, epsilon=epsilon)
            limits = Frequencies(np.arange(n + 1), n=n, protocol=protocol).interval(of=of, **options)
            yield _coverage(protocol, n, limits, of)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("of", ["people", "population"])
def test_score_intervals_cover(of, n):
    """Exact sums over 42 protocols and settings, nine shares each: never below the level."""
    found = [each for coverages in _all_coverages(of, n) for each in coverages]

    assert min(found) >= 0.95 > AT_LEAST


@pytest.mark.parametrize("n", SIZES)
def test_exact_intervals_cover_at_their_level(n):
    found = [each for found in _all_coverages("population", n, method="exact") for each in found]

    assert min(found) >= 0.95


@pytest.mark.parametrize("name", ONE_P)
def test_score_intervals_do_not_cover_too_often(name):
    """With a thousand people and a share of one fifth or one half, inside of [0, 1]."""
    protocol = PROTOCOLS[name](k=5, epsilon=2)
    for of in ("people", "population"):
        limits = Frequencies(np.arange(1001), n=1000, protocol=protocol).interval(of=of)

        assert max(_coverage(protocol, 1000, limits, of)[5:7]) <= AT_MOST


def test_the_check_rejects_other_intervals():
    """The twins: the wrong q, a lower level, and the textbook interval in a small sample."""
    protocol, n = GRR(k=5, epsilon=1), 1000
    counts = np.arange(n + 1)
    wrong = SimpleNamespace(p_exact=protocol.p_exact, q_exact=(1 - protocol.p_exact) / 5)
    with_wrong_q = Frequencies(counts, n=n, protocol=wrong).interval()
    lower = Frequencies(counts, n=n, protocol=protocol).interval(0.92)
    strong, small = GRR(k=5, epsilon=8), 200
    estimate = Frequencies(np.arange(small + 1), n=small, protocol=strong)
    textbook = (
        estimate.values - 1.96 * estimate.standard_error,
        estimate.values + 1.96 * estimate.standard_error,
    )

    assert min(_coverage(protocol, n, with_wrong_q, "people")) < AT_LEAST
    assert min(_coverage(protocol, n, lower, "people")) < AT_LEAST
    assert min(_coverage(strong, small, textbook, "people")) < AT_LEAST


@pytest.mark.parametrize("name", ONE_P)
def test_drawn_intervals_cover_as_the_sums_say(name):
    """The sums rest on the law of the count; this one draws reports."""
    protocol, runs, n = PROTOCOLS[name](k=5, epsilon=1), 400, 200
    truth, found = _runs(protocol, SHARES["few values"], n=n, runs=runs, seed=3)
    counts = np.rint(n * (protocol.q + found * (protocol.p - protocol.q)))
    low, high = Frequencies(np.arange(n + 1), n=n, protocol=protocol).interval()
    for value, share in enumerate(truth):
        place = counts[:, value].astype(int)
        held = int(((low[place] <= share + 1e-12) & (share - 1e-12 <= high[place])).sum())
        chance = _law(n, round(share * n), protocol, "people")
        expected = float(chance[(low <= share + 1e-12) & (share - 1e-12 <= high)].sum())

        assert 5 * binomial_pvalue(held, runs, min(1.0, expected)) > ALPHA


# --- the bias of the projection, as printed in docs/background/estimates.md ------------------------


PROJECTED = np.array([0.5, 0.25, 0.1, 0.05] + [0.1 / 16] * 16)
BIAS = {0.5: (-3.7, 0.82), 1: (-1.0, 0.26), 2: (-0.13, 0.03)}
"""Percentage points that the largest share and the sixteen smallest are off on average, by epsilon."""


@pytest.mark.parametrize("epsilon", BIAS)
def test_the_bias_of_the_projection_is_as_documented(epsilon):
    """20 values, 10,000 people: large shares come out too small and small ones too large."""
    protocol, n, runs = GRR(k=20, epsilon=epsilon), 10_000, 1000
    members = np.rint(PROJECTED * n).astype(int)
    members[0] += n - members.sum()
    generator = np.random.default_rng(20261120)
    laws = np.where(np.eye(20, dtype=bool), protocol.p, protocol.q)
    counts = sum(generator.multinomial(size, law, runs) for size, law in zip(members, laws, strict=True))
    estimates = [Frequencies(each, n=n, protocol=protocol) for each in counts]
    raw = 100 * (np.array([each.values for each in estimates]) - members / n)
    projected = 100 * (np.array([each.consistent().values for each in estimates]) - members / n)
    error = raw.std(axis=0) / np.sqrt(runs)
    largest, small = BIAS[epsilon]

    assert projected[:, 0].mean() == pytest.approx(largest, abs=3 * error[0])
    assert projected[:, 4:].mean() == pytest.approx(small, abs=3 * error[4] / 4)
    assert np.abs(raw.mean(axis=0) / error).max() < WITHIN
