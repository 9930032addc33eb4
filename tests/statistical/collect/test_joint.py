"""Several attributes together: the draws follow the law of the whole report, and estimates have no bias."""

import numpy as np
import pytest

from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from statistical._exact import ALPHA, CORRELATION, binomial_pvalue, exact_events_pvalue, worst_correlation
from statistical._joint_draws import assert_whole_reports_follow_the_law, law_of, whole_reports

pytestmark = pytest.mark.statistical

N = 50_000
EVERY = [
    Independent({"a": GRR(2, 1), "b": GRR(3, "1/2")}),
    Independent({"a": GRR(2, 1), "b": OUE(2, 1), "c": SS(3, 1)}),
    Combined({"a": 2, "b": 3}, 1),
    Sampled({"a": GRR(2, 1), "b": OUE(3, 1)}, {"a": "1/4", "b": "3/4"}),
]


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_whole_reports_are_drawn_with_the_probabilities_stated(strategy):
    """Columns right one by one may still be wrong together."""
    for place, held in enumerate(((0,) * len(strategy.sizes), tuple(k - 1 for k in strategy.sizes.values()))):
        assert_whole_reports_follow_the_law(strategy, held, n=N, seed=place)


@pytest.mark.parametrize(
    ("strategy", "louder"),
    [
        (EVERY[0], Independent({"a": GRR(2, "1.2"), "b": GRR(3, "1/2")})),
        (EVERY[0], Independent({"a": GRR(2, "0.8"), "b": GRR(3, "1/2")})),
        (EVERY[2], Combined({"a": 2, "b": 3}, "1.2")),
        (EVERY[2], Combined({"a": 2, "b": 3}, "0.8")),
        (EVERY[3], Sampled(EVERY[3].protocols, {"a": "0.28", "b": "0.72"})),
        (EVERY[3], Sampled(EVERY[3].protocols, {"a": "0.22", "b": "0.78"})),
    ],
)
def test_a_fifth_more_or_less_is_seen(strategy, louder):
    """The twins, in both directions."""
    held = (1, 2)
    draws = whole_reports(strategy, held, n=N, seed=9)

    assert exact_events_pvalue(draws, law_of(strategy, held)) > ALPHA
    assert exact_events_pvalue(draws, law_of(louder, held)) < ALPHA


def bits(strategy, n, seed):
    """Return who supports the first value of each attribute, side by side."""
    codes = {column: np.zeros(n, dtype=int) for column in strategy.columns}
    found = strategy.indicators(strategy.privatize(codes, rng=seed))
    return np.hstack([found[column][:, :1] for column in strategy.columns])


def test_attributes_are_drawn_independently():
    """Were they not, the answers of a person would tell on each other."""
    strategy = Independent({name: GRR(4, 1) for name in "abcde"} | {"f": OUE(4, 1)})

    assert worst_correlation(bits(strategy, N, 3)) < CORRELATION


def test_neighbours_are_drawn_independently():
    strategy = Independent({"a": GRR(4, 1), "b": OUE(4, 1)})
    drawn = bits(strategy, N + 1, 3)

    assert worst_correlation(np.hstack((drawn[:-1], drawn[1:]))) < CORRELATION


def test_combined_columns_are_not_independent():
    """The twin: one draw decides all columns, and the correlation shows it."""
    assert worst_correlation(bits(Combined({"a": 2, "b": 3}, 1), N, 3)) > CORRELATION


def joint_people(n):
    """Return values of two columns that go together, and the share of each combination."""
    draws = np.random.default_rng(11)
    a = draws.integers(2, size=n)
    b = np.where(draws.random(n) < 0.6, a, 2)
    shares = np.zeros((2, 3))
    np.add.at(shares, (a, b), 1 / n)
    return {"a": a, "b": b}, shares


def worst_error(found, truth):
    return np.abs((found.values - truth) / found.standard_error).max()


@pytest.mark.parametrize(
    "strategy",
    [
        Independent({"a": GRR(2, 1), "b": GRR(3, 1)}),
        Independent({"a": OUE(2, 1), "b": SS(3, 1)}),
        Combined({"a": 2, "b": 3}, 1),
    ],
    ids=repr,
)
def test_estimates_of_combinations_and_columns_come_out_right(strategy):
    """A wrong p or q of a column shifts every estimate; the twin has the shares in other places."""
    codes, shares = joint_people(N)
    reports = strategy.privatize(codes, rng=2)
    joint, alone = strategy.estimate_joint(reports), strategy.estimate(reports)

    assert worst_error(joint, shares) < CORRELATION
    assert worst_error(alone["a"], shares.sum(axis=1)) < CORRELATION
    assert worst_error(alone["b"], shares.sum(axis=0)) < CORRELATION
    assert worst_error(joint, np.roll(shares, 1, axis=1)) > CORRELATION
    assert worst_error(alone["b"], np.roll(shares.sum(axis=0), 1)) > CORRELATION


def test_estimates_from_those_who_were_asked_come_out_right():
    strategy = EVERY[3]
    codes, shares = joint_people(N)
    reports = strategy.privatize(codes, rng=2)
    alone = strategy.estimate(reports)
    asked_a = int((reports.asked == 0).sum())

    assert binomial_pvalue(asked_a, N, 0.25) > ALPHA
    assert binomial_pvalue(asked_a, N, 0.27) < ALPHA
    for column, axis in (("a", 1), ("b", 0)):
        truth = np.array([shares.sum(axis=axis)]).ravel()
        slack = np.sqrt(truth * (1 - truth) / alone[column].n)  # who was asked is a sample of the people

        assert (
            np.abs(alone[column].values - truth) < CORRELATION * (alone[column].standard_error + slack)
        ).all()
    assert worst_error(alone["b"], np.roll(shares.sum(axis=0), 1)) > CORRELATION
