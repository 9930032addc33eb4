"""A channel of two probabilities counts as it says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.estimates.group_moments import GroupMoments
from evenhand.collect.estimates.group_rates import GroupRates, group_rates
from evenhand.collect.joint.estimate import product_variance
from evenhand.collect.joint.independent import Independent
from evenhand.collect.joint.strategy import JointReports
from evenhand.collect.protocols.channel import Channel, MatrixChannel
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.unary import OUE
from evenhand.collect.reports.reports import Reports
from evenhand.errors import IndependenceWarning, InvalidParameterError
from evenhand.measure.intervals import clopper_pearson
from unit.collect._grouped_people import expected_counts


def test_smoothing_adds_two_people_spread_over_the_four_kinds_of_reports():
    """Intervals of few reports rest on the added people; one in place of two makes them too short."""
    channel = Channel(Fraction(3, 4), Fraction(1, 4))
    sums, products, people = channel.smoothed(np.zeros((2, 2)), np.zeros(()))
    kinds = [(first, second) for first in (0, 1) for second in (0, 1)]  # which value a report supports
    scores = [[(bit - 0.25) / 0.5 for bit in kind] for kind in kinds]

    assert people == 2
    assert sums.tolist() == [sum(0.5 * score[value] for score in scores) for value in (0, 1)]
    for one in (0, 1):
        for other in (0, 1):
            expected = sum(0.5 * score[one] * score[other] for score in scores)

            assert products[one, other] == expected


# --- A whole matrix, undone: for randomized response it gives what one p and one q give, to the last ---


SHARES = np.array([0.5, 0.3, 0.2])
RATES = np.array([0.7, 0.4, 0.2])
PEOPLE = [10_000, 6_000, 4_000]


PROTOCOL = Optimal(SHARES, RATES, 1, error=0.5)


class Whole(GRR):
    """Randomized response that shows its matrix instead of p and q."""

    @property
    def channel(self):
        return MatrixChannel(self.matrix())


def _pair(k, epsilon):
    return GRR(k, epsilon), Whole(k, epsilon)


@pytest.fixture(scope="module")
def optimal():
    return Optimal(SHARES, RATES, 1, error=0.5)


# --- the same as one p and one q ----------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "8"])
@pytest.mark.parametrize("k", [2, 3, 20])
def test_estimates_are_those_of_one_p_and_one_q(k, epsilon):
    plain, whole = _pair(k, epsilon)
    counts = np.random.default_rng(k).multinomial(10_000, np.full(k, 1 / k))
    one, other = (Frequencies(counts, n=10_000, protocol=each) for each in (plain, whole))
    scale = max(1, np.abs(one.values).max())

    assert other.values == pytest.approx(one.values, abs=1e-9 * scale)
    for of in ("people", "population"):
        expected = np.array([*one.interval(of=of)])
        assert np.array([*other.interval(of=of)]) == pytest.approx(expected, abs=1e-7)
        assert other.covariance(of=of) == pytest.approx(one.covariance(of=of), rel=1e-6, abs=1e-12)
    reports = np.repeat(np.arange(k), counts)
    assert other.covariance(reports=reports) == pytest.approx(one.covariance(reports=reports), rel=1e-6)


def test_two_values_have_the_exact_interval_of_one_count():
    plain, whole = _pair(2, 1)
    for first in (0, 20, 30, 50, 77, 100):
        one, other = (Frequencies([first, 100 - first], n=100, protocol=each) for each in (plain, whole))
        expected = np.array([*one.interval(of="population", method="exact")])
        found = np.array([*other.interval(of="population", method="exact")])

        inside = (one.values >= 0) & (one.values <= 1)
        assert found[:, inside] == pytest.approx(expected[:, inside], abs=1e-12)
        assert np.all(found[1] > found[0])


@pytest.mark.parametrize("k", [2, 4])
def test_moments_of_groups_are_those_of_one_p_and_one_q(k):
    plain, whole = _pair(k, 1)
    shares, rates = np.arange(1, k + 1) / (k * (k + 1) / 2), np.linspace(0.2, 0.7, k)
    counts = expected_counts(plain, shares, rates, n=1e6)
    one, other = (
        GroupMoments(counts.people, counts.together, Channel.of(protocol, owner="test"))
        for protocol in (plain, whole)
    )
    pairs = np.array([(0, 1)])

    assert other.rates == pytest.approx(one.rates, abs=1e-9)
    assert np.array(other.rate_limits(2.0)) == pytest.approx(np.array(one.rate_limits(2.0)), abs=1e-9)
    assert other.covariance(pairs) == pytest.approx(one.covariance(pairs), rel=1e-3)  # people are added
    assert np.array(other.gap_limits(pairs, 2.0)) == pytest.approx(
        np.array(one.gap_limits(pairs, 2.0)), abs=1e-4
    )


def test_several_attributes_are_those_of_one_p_and_one_q():
    people = {"a": np.arange(900) % 3, "b": np.arange(900) % 2}
    plain, whole = _pair(3, 2)
    for beside in (GRR(2, 1), OUE(2, 1)):
        sent = [plain.privatize(people["a"], rng=1), beside.privatize(people["b"], rng=2)]
        one, other = (
            _joint({"a": each, "b": beside}, [np.array(part) for part in sent]) for each in (plain, whole)
        )

        assert other.values == pytest.approx(one.values, abs=1e-9)
        assert other.standard_error == pytest.approx(one.standard_error, abs=1e-9)


def _joint(protocols, values):
    strategy = Independent(protocols)
    sent = [
        Reports(part, protocol=way, simulated=True)
        for way, part in zip(protocols.values(), values, strict=True)
    ]
    return strategy.estimate_joint(JointReports(sent, strategy=strategy))


# --- a matrix of its own ------------------------------------------------------------------------------


def test_scores_have_mean_one_for_the_own_value_and_zero_for_others(optimal):
    channel = optimal.channel

    assert channel.scores @ channel.matrix.T == pytest.approx(np.eye(3), abs=1e-14)
    assert channel.scores.sum(axis=0) == pytest.approx(np.ones(3), abs=1e-13)
    assert channel.condition == pytest.approx(np.linalg.cond(optimal.matrix()))
    assert channel.alike == ()


def test_expected_counts_give_back_the_shares_and_rates(optimal):
    """p = Q^-T m and r = (Q^-T m1) / (Q^-T m): the rates of the true groups, not of the reported ones."""
    counts = expected_counts(optimal, SHARES, RATES)
    found = GroupRates(counts, optimal.channel, ("a", "b", "c"), protocol=optimal)

    assert list(found.rates.values()) == pytest.approx(RATES, abs=1e-9)
    assert list(found.shares.values()) == pytest.approx(SHARES, abs=1e-9)
    assert max(found.naive.values()) - min(found.naive.values()) < 0.06  # what the reports show: hardly a gap


def test_the_vector_of_two_groups():
    """Randomized response: naive rates .254 and .415, recovered .2 and .6."""
    rr = Optimal([0.7, 0.3], [0.2, 0.6], 1)  # at this budget it is randomized response
    counts = expected_counts(rr, np.array([0.7, 0.3]), np.array([0.2, 0.6]), n=1e9)
    found = GroupRates(counts, rr.channel, (0, 1), protocol=rr)

    assert counts.support.sum(axis=0) / 1e9 == pytest.approx([0.59242343, 0.40757657], abs=1e-8)
    assert counts.support[1] / 1e9 == pytest.approx([0.15075766, 0.16924234], abs=1e-8)
    assert list(found.naive.values()) == pytest.approx([0.25447619, 0.41524061], abs=1e-8)
    assert list(found.rates.values()) == pytest.approx([0.2, 0.6], abs=1e-8)


def test_reports_give_rates_with_intervals(optimal):
    group = np.repeat([0, 1, 2], PEOPLE)
    outcome = np.concatenate([np.arange(n) < rate * n for n, rate in zip(PEOPLE, RATES, strict=True)])
    found = group_rates(outcome, optimal.privatize(group, rng=5), labels=["a", "b", "c"], privileged="a")

    for label, rate in zip("abc", RATES, strict=True):
        low, high = found.interval(label)
        assert low <= rate <= high
    low, high = found.interval("a", against="b")
    assert low <= 0.3 <= high
    assert "Outcome rates of the true groups" in repr(found)


def test_rates_of_groups_that_are_made_alike_are_refused_at_once():
    """An object that fails only when it is printed would be found out too late."""
    alike = Optimal(SHARES, RATES, 1, error=0.6)
    with pytest.raises(InvalidParameterError, match="a matrix that has an inverse"):
        group_rates([0, 1, 1], alike.privatize([0, 1, 2], rng=1))


def test_predictions_made_from_the_reports_are_noticed(optimal):
    reports = optimal.privatize(np.arange(20_000) % 3, rng=5)
    with pytest.warns(IndependenceWarning):
        group_rates(np.asarray(reports) == 1, reports)


def test_the_covariance_is_that_of_people_drawn_one_by_one(optimal):
    """Every person's report has the law of a row, so the covariance is a sum over the rows."""
    n, scores = 500, optimal.channel.scores
    slow = np.zeros((3, 3))
    for share, row in zip(SHARES, optimal.matrix(), strict=True):
        slow += share * scores @ (np.diag(row) - np.outer(row, row)) @ scores.T / n
    expected = n * SHARES @ optimal.matrix()
    found = Frequencies(expected, n=n, protocol=optimal)

    assert found.covariance() == pytest.approx(slow, abs=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(np.diag(slow)))
    assert found.consistent().values == pytest.approx(SHARES)
    population = slow + (np.diag(SHARES) - np.outer(SHARES, SHARES)) / n
    assert found.covariance(of="population") == pytest.approx(population, abs=1e-12)


def test_exact_limits_are_those_of_a_linear_program(optimal):
    """The least and largest share over all probabilities of reports within their intervals."""
    n = 1_000
    counts = np.rint(n * SHARES @ optimal.matrix())
    low, high = clopper_pearson(counts, n, 1 - 0.05 / 3)
    found = optimal.channel.exact_limits(counts, n, 0.95)
    for value, score in enumerate(optimal.channel.scores):
        bounds = list(zip(low, high, strict=True))
        ends = [
            sign * linprog(sign * score, A_eq=[[1, 1, 1]], b_eq=[1], bounds=bounds).fun for sign in (1, -1)
        ]

        assert [each[value] for each in found] == pytest.approx(np.clip(ends, 0, 1).tolist(), abs=1e-9)


def test_a_variance_of_joint_estimates_is_that_of_the_product(optimal):
    """One attribute is certain: then the variance is that of the other alone."""
    certain = np.zeros((3, 2))
    certain[:, 0] = SHARES
    pair = [optimal, GRR(2, 40)]

    assert product_variance(certain, pair)[:, 0] == pytest.approx(optimal.variance(SHARES), rel=1e-6)


def test_nobody_gives_nothing(optimal):
    found = Frequencies([0, 0, 0], n=0, protocol=optimal)

    assert np.isnan(found.values).all()
    assert np.isnan(found.standard_error).all()
    assert all(np.isnan(each).all() for each in found.interval())
    assert all(np.isnan(each).all() for each in found.interval(of="population", method="exact"))
    assert np.isnan(found.covariance()).all()


@given(st.lists(st.integers(0, 60), min_size=3, max_size=3), st.sampled_from(["people", "population"]))
def test_intervals_are_never_empty_nor_a_point(counts, of):
    n = sum(counts)
    found = Frequencies(counts, n=n, protocol=PROTOCOL)
    limits = [found.interval(of=of)] + ([found.interval(of=of, method="exact")] if of == "population" else [])
    for low, high in limits:
        assert np.isnan(low).all() if not n else np.all((low >= 0) & (high <= 1) & (low < high))


def test_a_matrix_without_inverse_is_refused():
    with pytest.raises(InvalidParameterError, match="values 0 and 1 send the same reports"):
        _ = MatrixChannel(np.full((2, 2), 0.5)).scores
    dependent = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.4, 0.4, 0.2]])
    with pytest.raises(InvalidParameterError, match="no inverse is left"):
        _ = MatrixChannel(dependent).scores
    assert MatrixChannel(np.full((2, 2), 0.5)).condition > 1e15
    assert math.isinf(MatrixChannel(np.zeros((2, 2))).condition)
