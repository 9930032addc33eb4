"""Rates of true groups from private reports: intervals cover, and dependent outcomes are noticed (F3).

A design is the shares of the groups and then the rate of each. The method was improved while looking at the
named ones: with plug-in variances the rare outcome was covered 93.7 % of the time, which is why a rate is
tested with its own variance, and "weak" was chosen because the textbook interval fails there. So they are no
fair judge, and random designs, drawn after the method was settled, are tested as well. Studies are drawn from
the law of the counts: a multinomial draw over outcome and report, which is exact.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.collect.estimates.group_moments import GroupMoments, difference_interval, ratio_interval
from evenhand.collect.estimates.group_rates import GroupRates, group_rates
from evenhand.collect.estimates.outcome_counts import OutcomeCounts
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.errors import IndependenceWarning
from evenhand.measure.intervals import wilson
from statistical._exact import ALPHA

pytestmark = pytest.mark.statistical

DESIGNS = {
    "two groups": ((0.7, 0.3), (0.2, 0.6)),
    "a small group": ((0.95, 0.05), (0.3, 0.5)),
    "rare outcome": ((0.6, 0.4), (0.03, 0.01)),
    "three groups": ((0.5, 0.3, 0.2), (0.7, 0.4, 0.2)),
    "all or nothing": ((0.6, 0.4), (0.0, 1.0)),
    "five groups": ((0.4, 0.3, 0.15, 0.1, 0.05), (0.5, 0.4, 0.6, 0.3, 0.5)),
    "weak": ((0.95, 0.05), (0.1, 0.9)),
}
SETTINGS = [
    ("grr", 1, 2000),
    ("grr", 4, 500),
    ("oue", 0.5, 5000),
    ("ss", 2, 1000),
    ("rappor", 1, 5000),
    ("the", 1, 5000),
]
DEFAULT = [
    ("two groups", "grr", 1, 2000),
    ("a small group", "oue", 0.5, 5000),
    ("rare outcome", "grr", 4, 500),
    ("three groups", "ss", 2, 1000),
]
Z = 1.959963984540054
SEED = 20261121
AT_LEAST = 0.94


@cache
def _studies(design, name, epsilon, n, studies):
    return _drawn(*DESIGNS[design], PROTOCOLS[name](k=len(DESIGNS[design][0]), epsilon=epsilon), n, studies)


def _drawn(shares, rates, protocol, n, studies):
    shares, rates = np.array(shares), np.array(rates)
    law, support = protocol.matrix(), protocol.indicators(protocol.outputs()).astype(float)
    cells = np.concatenate([(shares * (1 - rates)) @ law, (shares * rates) @ law])
    drawn = np.random.default_rng(SEED).multinomial(n, cells / cells.sum(), studies).reshape(studies, 2, -1)
    together = np.einsum("syo,ou,ov->syuv", drawn, support, support, optimize=True)
    return GroupMoments(drawn.sum(axis=-1), np.rint(together), Channel(protocol.p_exact, protocol.q_exact))


def _truth(design):
    shares, rates = (np.array(each) for each in (DESIGNS[design] if isinstance(design, str) else design))
    return rates, rates[0] - rates[1:], rates / (shares @ rates)


def _held(limits, truth):
    low, high = limits
    return ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).sum(axis=0)


def _all_held(moments, design, z=Z):
    """How often rates, gaps to the first group and relative rates are held, one number for each."""
    rates, gaps, relative = _truth(design)
    pairs = np.array([(0, other) for other in range(1, len(rates))])
    return {
        "rates": _held(moments.rate_limits(z), rates),
        "gaps": _held(moments.gap_limits(pairs, z), gaps),
        "relative": _held(moments.relative_limits(z), relative),
    }


def _pvalue(held, studies):
    """The chance of so few held intervals if each is held with 94 %, of the worst of them."""
    return float(np.size(held) * binom.cdf(np.min(held), studies, AT_LEAST))


@pytest.mark.parametrize("setting", DEFAULT, ids=str)
def test_intervals_cover(setting):
    """The small form of the nightly test: 800 studies cannot show a coverage below 94 %."""
    design, studies = setting[0], 800
    held = _all_held(_studies(*setting, studies), design)

    for each in held.values():
        assert _pvalue(each, studies) > ALPHA


@pytest.mark.nightly
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_cover_in_ten_thousand_studies(design, setting):
    held = _all_held(_studies(design, *setting, 10_000), design)

    for each in held.values():
        assert each.min() / 10_000 >= AT_LEAST


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(20))
def test_intervals_cover_in_designs_nobody_chose(number):
    """Two to four groups of random shares and rates, a random protocol, epsilon and size."""
    generator = np.random.default_rng([SEED, 1, number])
    k = int(generator.integers(2, 5))
    shares, rates = generator.dirichlet(np.ones(k)), generator.beta(0.7, 1.2, size=k)
    name = ["grr", "oue", "ss", "rappor", "the"][generator.integers(5)]
    epsilon, n = np.exp(generator.uniform(np.log([0.3, 300]), np.log([5, 20_000])))
    moments = _drawn(shares, rates, PROTOCOLS[name](k=k, epsilon=float(epsilon)), int(n), 10_000)

    for each in _all_held(moments, (shares, rates)).values():
        assert each.min() / 10_000 >= AT_LEAST


@pytest.mark.nightly
@pytest.mark.parametrize("design", ["two groups", "a small group", "three groups"])
def test_intervals_cover_with_hashed_reports(design):
    """Local hashing has no matrix, so people and reports are drawn."""
    shares, rates = (np.array(each) for each in DESIGNS[design])
    protocol, n, studies = OLH(k=len(shares), epsilon=1), 2000, 10_000
    generator = np.random.default_rng(SEED)
    people, together = np.empty((studies, 2)), np.empty((studies, 2, protocol.k, protocol.k))
    for study in range(studies):
        group = generator.choice(protocol.k, size=n, p=shares)
        outcome = (generator.random(n) < rates[group]).astype(np.uint8)
        bits = protocol.indicators(protocol.privatize(group, rng=generator))
        counts = OutcomeCounts.of_chunks(outcome, [bits], bits.shape[1])
        people[study], together[study] = counts.people, counts.together
    moments = GroupMoments(people, together, Channel(protocol.p_exact, protocol.q_exact))

    for each in _all_held(moments, design).values():
        assert each.min() / studies >= AT_LEAST


@pytest.mark.nightly
@pytest.mark.parametrize("design", ["two groups", "three groups", "five groups"])
def test_intervals_of_the_unfairness_cover(design):
    """10,000 studies: with 1,000 a right program would fall below 94 % once in 15 runs."""
    rates, _, relative = _truth(design)
    moments, studies = _studies(design, "grr", 1, 20_000, 10_000), 10_000
    difference, ratio = rates.max() - rates.min(), np.abs(relative - 1).max()

    assert _held(difference_interval(moments, 0.95)[:2], difference) / studies >= AT_LEAST
    assert _held(ratio_interval(moments, 0.95)[:2], ratio) / studies >= AT_LEAST


# --- twins ----------------------------------------------------------------------------------------


def test_the_check_rejects_the_textbook_interval_in_a_weak_design():
    """Why Fieller: around the ratio itself, 95 % intervals cover 89 % where a share is small and noisy."""
    studies = 1500
    moments = _studies("weak", "grr", 1, 1000, studies)
    rates, gaps, _ = _truth("weak")
    rate, own = moments.numerators / moments.denominators, moments._own
    variance = own[..., 0, 0] - 2 * rate * own[..., 0, 1] + rate**2 * own[..., 1, 1]
    reach = Z * np.sqrt(variance) / np.abs(moments.denominators)
    textbook = _held((rate - reach, rate + reach), rates)

    assert _pvalue(textbook, studies) < ALPHA
    assert _pvalue(_held(moments.rate_limits(Z), rates), studies) > ALPHA
    assert _pvalue(_held(moments.gap_limits(np.array([[0, 1]]), Z), gaps), studies) > ALPHA


def test_the_check_rejects_the_naive_rates():
    """The rates by reported group are sure of the wrong answer."""
    studies = 1500
    moments = _studies("two groups", "grr", 1, 2000, studies)
    support = np.diagonal(moments.together, axis1=-2, axis2=-1)
    naive = wilson(support[:, 1], support.sum(axis=1))

    assert _held(naive, _truth("two groups")[0]).max() < 0.1 * studies


def test_the_check_rejects_intervals_of_a_lower_level():
    studies = 1500
    held = _all_held(_studies("two groups", "grr", 1, 2000, studies), "two groups", z=1.5)

    for each in held.values():
        assert _pvalue(each, studies) < ALPHA


def test_the_check_rejects_the_wrong_q():
    studies = 1500
    right = _studies("two groups", "grr", 1, 2000, studies)
    wrong = GroupMoments(right.people, right.together, Channel(right.channel.p, (1 - right.channel.p) / 2))

    assert _pvalue(_held(wrong.rate_limits(Z), _truth("two groups")[0]), studies) < ALPHA


# --- independence ---------------------------------------------------------------------------------

STATED = 1.15e-6
"""The chance, for each group, that an outcome is suspected which is not made from the reports."""


def _suspected(make, studies=200):
    """How many of the studies draw the warning."""
    protocol, suspected = GRR(k=2, epsilon=1), 0
    for study in range(studies):
        generator = np.random.default_rng([SEED, study])
        group = (generator.random(4000) < 0.3).astype(np.uint8)
        reports = protocol.privatize(group, rng=generator)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            group_rates(make(group, np.asarray(reports), generator), reports)
        suspected += any(issubclass(each.category, IndependenceWarning) for each in caught)
    return suspected


def test_observed_labels_are_suspected_no_more_often_than_stated():
    """Nobody in one group has the outcome and everybody in the other: where alarms are likeliest."""
    alarms = _suspected(lambda group, reports, generator: group)

    assert binom.sf(alarms - 1, 200, 2 * STATED) > ALPHA


def test_predictions_from_the_same_reports_are_suspected():
    """The twin: a model that selects 95 % of one reported group and 5 % of the other."""

    def predictions(group, reports, generator):
        return generator.random(len(reports)) < np.where(reports == 1, 0.95, 0.05)

    alarms = _suspected(predictions)

    assert alarms == 200
    assert binom.sf(alarms - 1, 200, 2 * STATED) < ALPHA


def test_the_standard_error_of_a_rate_is_as_documented():
    """The table of how many people are needed rests on this variance."""
    moments = _studies("two groups", "grr", 1, 20_000, 1500)
    found = GroupRates(OutcomeCounts(moments.people[0], moments.together[0]), moments.channel, (0, 1))
    p, q = float(moments.channel.p), float(moments.channel.q)
    (shares, rates), width = (np.array(each) for each in DESIGNS["two groups"]), p - q
    own, other = (p * (1 - q) ** 2 + (1 - p) * q**2) / width**2, q * (1 - q) / width**2
    overall = shares @ rates
    spread = own * shares * rates * (1 - rates)
    rest = (overall - shares * rates) * (1 - rates) ** 2 + (1 - overall - shares * (1 - rates)) * rates**2
    stated = np.sqrt((spread + other * rest) / 20_000) / shares

    assert moments.rates.std(axis=0) == pytest.approx(stated, rel=6.1 / np.sqrt(2 * 1500))
    assert found.n == 20_000
