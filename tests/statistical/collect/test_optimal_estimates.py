"""Estimates from reports by a whole matrix have the mean, the variance and the coverage that they state."""

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.estimates.group_moments import GroupMoments
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.measure.intervals import normal_quantile
from statistical._exact import ALPHA

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

SEED = 2026
Z = normal_quantile(0.05)
AT_LEAST = 0.94
WITHIN = 6.1  # standard errors: two tails of ALPHA
DESIGNS = {
    "two groups": ((0.7, 0.3), (0.2, 0.6), 1, 0.35),
    "three groups": ((0.5, 0.3, 0.2), (0.7, 0.4, 0.2), 1, 0.5),
    "little error": ((0.5, 0.3, 0.2), (0.7, 0.4, 0.2), 4, "minimum"),
    "a small group": ((0.95, 0.05), (0.1, 0.9), 1, "minimum"),
    "four groups": ((0.4, 0.3, 0.2, 0.1), (0.03, 0.01, 0.02, 0.05), 2, "grr"),
    "five groups": ((0.4, 0.3, 0.15, 0.1, 0.05), (0.5, 0.4, 0.6, 0.3, 0.5), 1, "grr"),
}


def _made(design):
    shares, rates, epsilon, error = DESIGNS[design]
    return np.array(shares), np.array(rates), Optimal(shares, rates, epsilon, error=error)


def _counts(protocol, n, studies, shares):
    """Counts of reports of the same people again and again, drawn by the protocol itself."""
    people = np.rint(shares * n).astype(int)
    people[0] += n - people.sum()
    codes = np.tile(np.repeat(np.arange(protocol.k), people), studies)
    reports = np.asarray(protocol.privatize(codes, rng=SEED)).reshape(studies, n)
    return people / n, (reports[:, :, None] == np.arange(protocol.k)).sum(axis=1)


def _mean_and_variance_off(protocol, truth, found, n):
    stated = protocol.variance(truth, n)
    mean = np.abs(found.mean(axis=0) - truth) / np.sqrt(stated / len(found))
    return float(mean.max()), float(np.abs(found.var(axis=0, ddof=1) / stated - 1).max())


@pytest.mark.parametrize("design", ["two groups", "three groups", "five groups"])
def test_mean_and_variance_are_as_stated(design):
    shares, _, protocol = _made(design)
    truth, counts = _counts(protocol, 200, 2_000, shares)
    found = protocol.channel.shares(counts, 200)
    mean, variance = _mean_and_variance_off(protocol, truth, found, 200)

    assert mean < WITHIN
    assert variance < WITHIN * np.sqrt(2 / 2_000)


def test_the_check_sees_another_matrix():
    """The twin: reports undone as if they came from randomized response with the same error."""
    shares, _, protocol = _made("three groups")
    truth, counts = _counts(protocol, 200, 2_000, shares)
    wrong = Frequencies(counts[0], n=200, protocol=GRR(3, 1)).channel
    found = np.array([wrong.shares(each, 200) for each in counts])

    assert _mean_and_variance_off(protocol, truth, found, 200)[0] > WITHIN


def _pvalue(held, studies, level=AT_LEAST):
    """The chance of so few held intervals if each is held with 94 %, of the worst of them."""
    return float(np.size(held) * binom.cdf(np.min(held), studies, level))


def _held(limits, truth):
    low, high = limits
    return (low <= truth + 1e-9) & (truth - 1e-9 <= high)


@pytest.mark.parametrize("design", ["two groups", "three groups", "little error", "five groups"])
@pytest.mark.parametrize("n", [50, 400])
def test_intervals_of_shares_cover(design, n):
    """Of the people who reported, of the population, and with a guaranteed level."""
    shares, _, protocol = _made(design)
    studies = 300
    truth, counts = _counts(protocol, n, studies, shares)
    drawn = np.random.default_rng(SEED).multinomial(n, shares @ protocol.matrix(), studies)
    about_people = [_held(Frequencies(each, n=n, protocol=protocol).interval(), truth) for each in counts]
    found = [Frequencies(each, n=n, protocol=protocol) for each in drawn]
    about_all = [_held(each.interval(of="population"), shares) for each in found]
    exact = [_held(each.interval(of="population", method="exact"), shares) for each in found]

    assert _pvalue(np.sum(about_people, axis=0), studies) > ALPHA
    assert _pvalue(np.sum(about_all, axis=0), studies) > ALPHA
    assert _pvalue(np.sum(exact, axis=0), studies, 0.95) > ALPHA


def _moments(design, n, studies, channel=None):
    shares, rates, protocol = _made(design)
    law = protocol.matrix()
    cells = np.concatenate([(shares * (1 - rates)) @ law, (shares * rates) @ law])
    drawn = np.random.default_rng(SEED).multinomial(n, cells / cells.sum(), studies).reshape(studies, 2, -1)
    together = drawn[..., None] * np.eye(protocol.k)
    return shares, rates, GroupMoments(drawn.sum(axis=-1), together, channel or protocol.channel)


def _all_held(design, n, studies, channel=None, z=Z):
    shares, rates, moments = _moments(design, n, studies, channel)
    pairs = np.array([(0, other) for other in range(1, len(rates))])
    return {
        "rates": _held(moments.rate_limits(z), rates).sum(axis=0),
        "gaps": _held(moments.gap_limits(pairs, z), rates[0] - rates[1:]).sum(axis=0),
        "relative": _held(moments.relative_limits(z), rates / (shares @ rates)).sum(axis=0),
    }


@pytest.mark.parametrize(
    ("design", "n"), [("two groups", 400), ("three groups", 2_000), ("four groups", 1_000)]
)
def test_intervals_of_rates_cover(design, n):
    """The small form of the nightly test."""
    for each in _all_held(design, n, 600).values():
        assert _pvalue(each, 600) > ALPHA


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("n", [200, 1_000, 5_000])
def test_intervals_of_rates_cover_in_ten_thousand_studies(design, n):
    for each in _all_held(design, n, 10_000).values():
        assert each.min() / 10_000 >= AT_LEAST


def test_the_check_rejects_the_rates_of_another_matrix():
    """The twins: reports undone by the matrix of randomized response, and a lower level."""
    wrong = GRR(3, 1).channel

    assert _pvalue(_all_held("three groups", 2_000, 600, wrong)["rates"], 600) < ALPHA
    assert _pvalue(_all_held("two groups", 5_000, 600, z=1.2)["rates"], 600) < ALPHA
