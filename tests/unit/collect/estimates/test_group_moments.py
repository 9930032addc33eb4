"""Moments of groups and outcomes, against people counted one by one in rational numbers.

Every variance below is computed a second time from a list of people, or from all reports that a person may
send with their probabilities; nothing of the closed forms is used for that.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from evenhand.collect import GRR, OUE, RAPPOR, SS
from evenhand.collect.estimates.group_moments import GroupMoments
from evenhand.collect.estimates.ratio_limits import is_separated, rate_variance
from evenhand.collect.protocols.channel import Channel, MatrixChannel

P, Q = Fraction(3, 4), Fraction(1, 8)
ADDED = 2  # people for each outcome, spread evenly over all reports
PEOPLE = {
    2: [(0, (1, 0)), (0, (1, 1)), (0, (0, 0)), (1, (0, 1)), (1, (0, 1)), (1, (1, 0)), (1, (0, 0))],
    3: [(0, (1, 0, 0)), (0, (1, 1, 0)), (0, (0, 0, 1)), (1, (0, 1, 1)), (1, (0, 1, 0)), (1, (1, 1, 1))],
}


def _moments(people, channel):
    k = len(people[0][1])
    together = np.zeros((2, k, k))
    for outcome, support in people:
        together[outcome] += np.outer(support, support)
    counted = np.array([sum(outcome == y for outcome, _ in people) for y in (0, 1)])
    return GroupMoments(counted, together, channel)


def _scores(support, p=P, q=Q):
    return [(bit - q) / (p - q) for bit in support]


def _weighted(people, k):
    """The people, each once, and those that are added, spread evenly over all 2**k reports."""
    added = [(y, bits, Fraction(ADDED, 2**k)) for y in (0, 1) for bits in product((0, 1), repeat=k)]
    return [(y, bits, Fraction(1)) for y, bits in people] + added


def _covariance(vectors, weights):
    total = sum(weights)
    size = len(vectors[0])
    means = [sum(w * v[i] for w, v in zip(weights, vectors, strict=True)) / total for i in range(size)]
    return [
        [
            sum(w * v[i] * v[j] for w, v in zip(weights, vectors, strict=True)) / total - means[i] * means[j]
            for j in range(size)
        ]
        for i in range(size)
    ]


def _assert_close(found, expected):
    expected = np.array([[float(cell) for cell in row] for row in expected])
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("k", PEOPLE)
def test_shares_are_means_of_scores(k):
    people, channel = PEOPLE[k], Channel(P, Q)
    moments, n = _moments(people, channel), len(people)
    for v in range(k):
        above = sum(y * _scores(bits)[v] for y, bits in people) / n
        below = sum(_scores(bits)[v] for _, bits in people) / n

        assert moments.numerators[v] == pytest.approx(float(above), rel=1e-13)
        assert moments.denominators[v] == pytest.approx(float(below), rel=1e-13)
    assert moments.overall == sum(y for y, _ in people) / n


@pytest.mark.parametrize("k", PEOPLE)
@pytest.mark.parametrize("together", [1, 2])
def test_covariances_are_those_of_the_people_and_two_more_for_each_outcome(k, together):
    """One variance of these that is off makes every interval of a rate or a gap too short."""
    people = PEOPLE[k]
    sets = np.array([c for c in product(range(k), repeat=together) if len(set(c)) == together])
    found = _moments(people, Channel(P, Q)).covariance(sets)
    weighted = _weighted(people, k)
    for place, groups in enumerate(sets):
        vectors = [
            [part for v in groups for part in (y * _scores(bits)[v], _scores(bits)[v])] + [y]
            for y, bits, _ in weighted
        ]
        expected = _covariance(vectors, [weight for *_, weight in weighted])
        divided = [[cell / len(people) for cell in row] for row in expected]

        assert found[place].shape == (2 * together + 1,) * 2
        _assert_close(found[place], divided)


def test_covariances_of_a_matrix_are_those_of_the_people_and_one_more_of_each_report():
    """Half a report of each value says another value too, in the products alone."""
    channel = MatrixChannel(np.array([[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.1, 0.2, 0.7]]))
    scores = channel.scores
    k, reports = 3, [(0, 0), (0, 0), (0, 2), (1, 1), (1, 2), (1, 2), (1, 0)]
    people = [(y, tuple(int(v == said) for v in range(k))) for y, said in reports]
    found = _moments(people, channel).covariance(np.array([[0, 1], [2, 0]]))
    n = len(people) + 2 * k
    share = (sum(y for y, _ in reports) + ADDED) / (len(people) + 2 * ADDED)
    for place, (u, v) in enumerate([(0, 1), (2, 0)]):
        chosen = scores[[u, v]]
        one, two = np.zeros((2, 2)), np.zeros((2, 2, 2))
        for y in (0, 1):
            said = [place for outcome, place in reports if outcome == y] + list(range(k))
            one[y] = sum(chosen[:, place] for place in said)
            two[y] = sum(np.outer(chosen[:, place], chosen[:, place]) for place in said)
            two[y] += sum(
                np.outer(chosen[:, a], chosen[:, b]) / (2 * (k - 1))
                for a in range(k)
                for b in range(k)
                if a != b
            )
        mean = np.array([one[1][0], one.sum(0)[0], one[1][1], one.sum(0)[1], share * n]) / n
        squares = np.empty((5, 5))
        squares[0:4:2, 0:4:2] = squares[0:4:2, 1:4:2] = squares[1:4:2, 0:4:2] = two[1] / n
        squares[1:4:2, 1:4:2] = two.sum(0) / n
        squares[4, :4] = squares[:4, 4] = np.repeat(one[1] / n, 2)
        squares[4, 4] = share

        assert found[place] == pytest.approx((squares - np.outer(mean, mean)) / len(people), rel=1e-12)


# --- what one report tells -------------------------------------------------------------------------

PROTOCOLS = [GRR(2, 1), GRR(3, "1/2"), OUE(3, 1), RAPPOR(2, "3/2"), SS(5, 1), SS(4, "1/3")]


def _law(protocol):
    """Each report's support and its probability under each value, all of them rational."""
    support = protocol.indicators(protocol.outputs())
    law = protocol.matrix(exact=True)
    return [
        [(tuple(map(int, bits)), law[value, place]) for place, bits in enumerate(support)]
        for value in range(protocol.k)
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_mean_squares_are_those_of_all_reports(protocol):
    p, q = protocol.p_exact, protocol.q_exact
    law = _law(protocol)
    own, other = (
        sum(chance * ((bits[group] - q) / (p - q)) ** 2 for bits, chance in law[0]) for group in (0, 1)
    )
    found = protocol.channel.mean_squares(np.zeros((2, protocol.k)))

    assert found == pytest.approx((float(own), float(other)), rel=1e-12)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_estimates_have_no_bias_and_the_stated_variance_over_all_reports_of_three_people(protocol):
    """All combinations of reports of three people, with their probabilities."""
    held, p, q = (0, 0, 1), protocol.p_exact, protocol.q_exact
    chances = []
    for value in held:  # reports that say the same of group 0 are taken together
        yes = sum(chance for bits, chance in _law(protocol)[value] if bits[0])
        chances.append({1: yes, 0: 1 - yes})
    mean = square = Fraction(0)
    for supports in product((0, 1), repeat=3):
        chance = np.prod([chances[i][bit] for i, bit in enumerate(supports)])
        share = sum((bit - q) / (p - q) for bit in supports) / 3
        mean, square = mean + chance * share, square + chance * share**2

    assert mean == Fraction(2, 3)
    stated = protocol.channel.variance(np.array([2 / 3]), 3)[0]
    assert stated == pytest.approx(float(square - mean**2), rel=1e-12)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
@pytest.mark.parametrize(("share", "rate", "overall"), [("1/4", "1/3", "2/5"), ("1/2", "4/5", "1/2")])
def test_the_variance_at_a_true_rate_is_that_of_all_people_and_reports(protocol, share, rate, overall):
    """The sum over group, outcome and report of (y - r)**2 s**2: the mean is zero at the true rate."""
    share, rate, overall = Fraction(share), Fraction(rate), Fraction(overall)
    p, q = protocol.p_exact, protocol.q_exact
    law = _law(protocol)
    kinds = {
        (0, 1): share * rate,
        (0, 0): share * (1 - rate),
        (1, 1): overall - share * rate,
        (1, 0): 1 - overall - share + share * rate,
    }
    expected = sum(
        weight * chance * ((y - rate) * (bits[0] - q) / (p - q)) ** 2
        for (value, y), weight in kinds.items()
        for bits, chance in law[value]
    )
    squares = protocol.channel.mean_squares(np.zeros((2, protocol.k)))
    terms = rate_variance(np.array([float(share)]), np.array([float(overall)]), squares)[0]
    r = float(rate)

    assert sum(kinds.values()) == 1
    assert terms[0] + terms[1] * r + terms[2] * r * r == pytest.approx(float(expected), rel=1e-12)


def test_a_group_is_separated_by_the_variance_of_its_own_share():
    moments = _moments(PEOPLE[2] * 30, Channel(P, Q))
    weighted = _weighted(PEOPLE[2] * 30, 2)
    for v in (0, 1):
        spread = _covariance([[_scores(bits)[v]] for _, bits, _ in weighted], [w for *_, w in weighted])[0][0]
        variance = float(spread / len(PEOPLE[2] * 30))
        limit = moments.denominators[v] / variance**0.5

        assert moments.separated(limit * (1 - 1e-9))[v]
        assert not moments.separated(limit * (1 + 1e-9))[v]
        assert is_separated(moments.denominators[v], variance, 0.0)
