"""Moments of crossed reports against brute force: every person, every report, one by one."""

import itertools
import math

import numpy as np
import pytest

from evenhand.collect import GRR, OUE, SS, Optimal
from evenhand.collect.estimates.crossed_channel import CrossedChannel
from evenhand.collect.estimates.crossed_reports import count_columns
from evenhand.collect.estimates.group_moments import GroupMoments, quantile_of_all_pairs
from evenhand.collect.joint.combined import Combined, CombinedOptimal
from evenhand.collect.joint.independent import Independent
from evenhand.collect.protocols.channel import Channel

OPTIMAL = Optimal([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], epsilon=2, error=0.3)
PAIRS = {
    "grr": (GRR(2, "1"), GRR(3, "2")),
    "oue": (OUE(2, "2"), OUE(3, "2")),
    "mixed": (GRR(2, "1"), SS(4, "2")),
    "oue-optimal": (OUE(2, "1"), OPTIMAL),
    "three": (GRR(2, "1"), GRR(2, "2"), OUE(2, "1")),
}


def score(protocol, report, value):
    """The score of a value in one report, from its definition."""
    if isinstance(protocol, Optimal):
        return float(np.linalg.inv(protocol.matrix())[int(report.values[0]), value])
    supports = protocol.indicators(report)[0, value]
    return (supports - protocol.q) / (protocol.p - protocol.q)


def enumerated(protocols, shares, rates):
    """Mean and covariance of (y s, s) for each combination and of y, over all people and reports."""
    values = list(itertools.product(*(range(protocol.k) for protocol in protocols)))
    outputs = [protocol.outputs() for protocol in protocols]
    laws = [protocol.matrix() for protocol in protocols]
    mean, second = 0.0, 0.0
    for places in itertools.product(*(range(len(output)) for output in outputs)):
        reports = [output[place : place + 1] for output, place in zip(outputs, places, strict=True)]
        tables = [
            [score(protocol, report, value) for value in range(protocol.k)]
            for protocol, report in zip(protocols, reports, strict=True)
        ]
        scores = np.array(
            [math.prod(table[v] for table, v in zip(tables, value, strict=True)) for value in values]
        )
        for share, rate, value in zip(shares, rates, values, strict=True):
            chance = math.prod(law[v, z] for law, v, z in zip(laws, value, places, strict=True))
            for outcome, weight in ((1, rate), (0, 1 - rate)):
                numbers = np.append(np.stack([outcome * scores, scores], axis=1).ravel(), outcome)
                mean = mean + share * chance * weight * numbers
                second = second + share * chance * weight * np.outer(numbers, numbers)
    return mean, second - np.outer(mean, mean)


def expected_moments(protocols, shares, rates, n):
    """What the channel makes of the counts that are expected."""
    channel = CrossedChannel.of_protocols(protocols, owner="test")
    law, features = np.ones((1, 1)), np.ones((1, 1))
    for protocol in protocols:
        law = np.kron(law, protocol.matrix())
        own = protocol.indicators(protocol.outputs())
        if len(channel_features(protocol)) > protocol.k:
            own = np.column_stack([own, np.ones(len(own))])
        features = np.kron(features, own)
    cells = np.stack([(shares * (1 - rates)) @ law, (shares * rates) @ law]) * n
    together = np.einsum("yo,ou,ov->yuv", cells, features, features)
    return GroupMoments(cells.sum(axis=1), together, channel)


def channel_features(protocol):
    return range(CrossedChannel.of_protocols([protocol], owner="test").features)


@pytest.mark.parametrize("protocols", PAIRS.values(), ids=PAIRS)
def test_moments_of_crossed_reports_are_those_of_all_people_and_reports(protocols):
    """If a covariance were wrong, every interval of a gap would be."""
    draws = np.random.default_rng(5)
    cells = math.prod(protocol.k for protocol in protocols)
    shares, rates, n = draws.dirichlet(np.ones(cells)), draws.random(cells), 1e9
    mean, covariance = enumerated(protocols, shares, rates)
    moments = expected_moments(protocols, shares, rates, n)

    assert moments.numerators == pytest.approx(shares * rates)
    assert moments.denominators == pytest.approx(shares)
    assert mean[:-1:2] == pytest.approx(shares * rates)
    found = moments.covariance(np.arange(cells)[None])[0] * n
    assert found == pytest.approx(covariance, abs=1e-6 * abs(covariance).max())


@pytest.mark.parametrize("protocols", PAIRS.values(), ids=PAIRS)
def test_squares_and_ends_of_scores_are_those_of_all_reports(protocols):
    """They set the width of the interval of a rate."""
    channel = CrossedChannel.of_protocols(protocols, owner="test")
    values = list(itertools.product(*(range(protocol.k) for protocol in protocols)))
    parts = [
        np.array(
            [
                [score(p, out[z : z + 1], v) for v in range(p.k)]
                for out in (p.outputs(),)
                for z in range(len(out))
            ]
        )
        for p in protocols
    ]
    scores = parts[0]
    for part in parts[1:]:
        scores = np.kron(scores, part)
    law = np.ones((1, 1))
    for protocol in protocols:
        law = np.kron(law, protocol.matrix())

    assert len(values) == channel.k
    assert channel.squares == pytest.approx((law @ scores**2).T)
    assert channel.low == pytest.approx(scores.min(axis=0))
    assert channel.high == pytest.approx(scores.max(axis=0))
    assert law @ scores == pytest.approx(np.eye(channel.k), abs=1e-9)


def _joint(strategy, n=300, seed=3):
    draws = np.random.default_rng(seed)
    codes = {column: draws.integers(0, k, n) for column, k in strategy.sizes.items()}
    return draws.integers(0, 2, n), strategy.privatize(codes, rng=seed)


@pytest.mark.parametrize("protocols", PAIRS.values(), ids=PAIRS)
def test_reports_are_counted_as_person_by_person(protocols):
    """Sums and products of scores, each person's by itself."""
    strategy = Independent({f"c{place}": protocol for place, protocol in enumerate(protocols)})
    outcome, joint = _joint(strategy)
    counts, channel = count_columns(outcome, joint, strategy.columns)
    values = list(itertools.product(*(range(protocol.k) for protocol in protocols)))
    scores, supports = np.empty((len(joint), len(values))), np.empty((len(joint), len(values)))
    for person in range(len(joint)):
        reports = [joint[column][person : person + 1] for column in strategy.columns]
        tables = [
            [score(protocol, report, v) for v in range(protocol.k)]
            for protocol, report in zip(protocols, reports, strict=True)
        ]
        held = [protocol.indicators(report)[0] for protocol, report in zip(protocols, reports, strict=True)]
        for place, value in enumerate(values):
            scores[person, place] = math.prod(t[v] for t, v in zip(tables, value, strict=True))
            supports[person, place] = math.prod(h[v] for h, v in zip(held, value, strict=True))

    support = np.diagonal(counts.together, axis1=1, axis2=2)
    for label in (0, 1):
        own = scores[outcome == label]
        assert channel.sums(support, counts.people)[label] == pytest.approx(own.sum(axis=0))
        second = channel.scores @ counts.together[label] @ channel.scores.T
        assert second == pytest.approx(own.T @ own, abs=1e-7)
        assert counts.support[label].tolist() == supports[outcome == label].sum(axis=0).tolist()


def test_a_margin_of_the_optimal_channel_is_the_sum_over_its_combinations():
    weights, rates = np.full(6, 1 / 6), np.array([0.2, 0.3, 0.4, 0.6, 0.1, 0.5])
    strategy = CombinedOptimal({"a": 2, "b": 3}, Optimal(weights, rates, epsilon=3, error=0.2))
    outcome, joint = _joint(strategy)
    whole = GroupMoments(*_taken(count_columns(outcome, joint, ("a", "b"))))
    turned = GroupMoments(*_taken(count_columns(outcome, joint, ("b", "a"))))
    counts, channel = count_columns(outcome, joint, ("b",))
    margin = GroupMoments(counts.people, counts.together, channel)
    adding = np.tile(np.eye(3), 2)

    assert margin.numerators == pytest.approx(adding @ whole.numerators)
    assert margin.denominators == pytest.approx(adding @ whole.denominators)
    assert turned.rates.reshape(3, 2).T.ravel() == pytest.approx(whole.rates)
    matrix = strategy.product.matrix()
    mean_squares = (channel.scores**2) @ matrix.T
    assert channel.squares == pytest.approx(np.maximum(mean_squares[:, :3], mean_squares[:, 3:]))
    assert counts.support.sum(axis=0).tolist() == np.bincount(joint.sent[0].values % 3, minlength=3).tolist()


def _taken(counted):
    return counted.counts.people, counted.counts.together, counted.channel


def test_a_combined_report_is_decoded_to_any_of_its_columns():
    strategy = Combined({"a": 2, "b": 3, "c": 2}, 2)
    outcome, joint = _joint(strategy)
    counts, channel = count_columns(outcome, joint, ("c", "a"))
    codes = np.unravel_index(joint.sent[0].values.astype(int), (2, 3, 2))
    expected = np.bincount(codes[2] * 2 + codes[0], minlength=4)

    assert counts.support.sum(axis=0).tolist() == expected.tolist()
    assert float(channel.q) == pytest.approx(3 * strategy.product.q)


DESIGNS = {  # sizes of two columns, epsilon of each report, people, studies
    "2 x 2, epsilon 1": ((2, 2), 1, 5_000, 4_000),
    "2 x 3, epsilon 2": ((2, 3), 2, 20_000, 2_000),
    "2 x 5, epsilon 3": ((2, 5), 3, 50_000, 1_000),
    "5 x 6, epsilon 4": ((5, 6), 4, 200_000, 300),
}


def covered(sizes, epsilon, people, studies, *, combined=False, without_covariance=False):
    """How often the interval of each gap covers it, and how often all of them do."""
    draws, cells = np.random.default_rng(11), math.prod(sizes)
    shares, rates = draws.dirichlet(np.full(cells, 3.0)), draws.uniform(0.1, 0.8, cells)
    channel, law = _channel(sizes, epsilon, combined=combined)
    chances = np.concatenate([(shares * (1 - rates)) @ law, (shares * rates) @ law])
    counts = draws.multinomial(people, chances / chances.sum(), size=studies).reshape(studies, 2, -1)
    moments = GroupMoments(counts.sum(axis=-1), counts[..., None] * np.eye(cells, dtype=int), channel)
    if without_covariance:
        _leave_out_covariance(moments)
    pairs = np.array(list(itertools.combinations(range(cells), 2)))
    gaps = rates[pairs[:, 0]] - rates[pairs[:, 1]]
    inside = []
    for z in (1.959964, quantile_of_all_pairs(moments, 0.95)):
        low, high = moments.gap_limits(pairs, z)
        inside.append((low <= gaps) & (gaps <= high))
    return inside[0].mean(axis=0), inside[1].all(axis=1).mean()


def _channel(sizes, epsilon, *, combined):
    if combined:  # one report with the epsilon of both
        product = Combined({"a": sizes[0], "b": sizes[1]}, 2 * epsilon).product
        return Channel.of(product, owner="test"), product.matrix()
    parts = [GRR(k, epsilon) for k in sizes]
    return CrossedChannel.of_protocols(parts, owner="test"), np.kron(parts[0].matrix(), parts[1].matrix())


def _leave_out_covariance(moments):
    right = moments.covariance

    def wrong(sets):
        covariance = right(sets)
        covariance[..., 0:2, 2:4] = covariance[..., 2:4, 0:2] = 0
        return covariance

    object.__setattr__(moments, "covariance", wrong)


@pytest.mark.figures
@pytest.mark.statistical
@pytest.mark.parametrize("combined", [False, True], ids=["independent", "combined"])
@pytest.mark.parametrize(
    "design",
    [*list(DESIGNS.values())[:3], pytest.param(DESIGNS["5 x 6, epsilon 4"], marks=pytest.mark.nightly)],
)
def test_intervals_of_crossed_groups_cover_gaps_alone_and_all_together(design, combined):
    """Within four standard errors of that many studies, and two for the mean of all pairs."""
    each, together = covered(*design, combined=combined)
    room = 4 * math.sqrt(0.05 * 0.95 / design[-1])

    assert each.min() > 0.95 - room
    assert abs(each.mean() - 0.95) < room / 2
    assert 0.95 - room / 2 < together < 0.95 + 2 * room


@pytest.mark.figures
@pytest.mark.statistical
def test_intervals_without_the_covariance_of_two_groups_miss():
    """The twin that must fail: the same simulation sees that the covariance was left out."""
    each, together = covered(*DESIGNS["2 x 2, epsilon 1"], without_covariance=True)

    assert each.min() < 0.95 - 4 * math.sqrt(0.05 * 0.95 / DESIGNS["2 x 2, epsilon 1"][-1])
    assert together < 0.93
