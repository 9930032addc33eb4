"""Joint estimates: fast ways against slow ones, and moments against the whole law."""

from itertools import product

import numpy as np
import pytest

from evenhand.collect.joint import estimate as joint_estimate
from evenhand.collect.joint.estimate import JointFrequencies, as_shares, check_cells
from evenhand.collect.joint.independent import Independent, Single
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.errors import InvalidParameterError, LimitExceededError

DRAWS = np.random.default_rng(3)
N = 200
EVERY = [
    Single("a", OUE(4, 1)),
    Independent({"a": GRR(2, 1), "b": GRR(3, 2)}),
    Independent({"a": GRR(2, 1), "b": OUE(3, 2)}),
    Independent({"a": SS(6, 1), "b": RAPPOR(3, 2), "c": GRR(2, "1/2")}),
    Independent({"a": OLH(4, 1), "b": GRR(3, 2), "c": GRR(2, 1), "d": OUE(2, 1)}),
]


def people(strategy):
    return {column: DRAWS.integers(k, size=N) for column, k in strategy.sizes.items()}


def slow_estimate(strategy, reports):
    """Multiply the factors of every person, combination by combination."""
    bits = strategy.indicators(reports)
    found = np.empty(tuple(strategy.sizes.values()))
    for cell in product(*map(range, found.shape)):
        terms = np.ones(N)
        for value, (column, way) in zip(cell, strategy.protocols.items(), strict=True):
            terms *= (bits[column][:, value] - way.q) / (way.p - way.q)
        found[cell] = terms.mean()
    return found


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
@pytest.mark.parametrize("block", [1 << 25, 1 << 9])
def test_the_fast_estimate_is_the_mean_of_products(monkeypatch, strategy, block):
    monkeypatch.setattr(joint_estimate, "_BLOCK_BYTES", block)
    reports = strategy.privatize(people(strategy), rng=5)
    found = strategy.estimate_joint(reports)

    assert found.values == pytest.approx(slow_estimate(strategy, reports), rel=1e-9, abs=1e-9)
    assert found.values.shape == found.standard_error.shape == tuple(strategy.sizes.values())
    assert (found.n, found.columns) == (N, strategy.columns)


@pytest.mark.parametrize("strategy", EVERY[:2], ids=repr)
def test_a_joint_estimate_of_grr_sums_to_the_marginals(strategy):
    reports = strategy.privatize(people(strategy), rng=5)
    joint, alone = strategy.estimate_joint(reports).values, strategy.estimate(reports)
    if strategy.name == "single":
        assert joint == pytest.approx(alone["a"].values)
        return

    assert joint.sum(axis=1) == pytest.approx(alone["a"].values)
    assert joint.sum(axis=0) == pytest.approx(alone["b"].values)


@pytest.mark.parametrize("strategy", EVERY[:4], ids=repr)
def test_mean_and_variance_are_those_of_the_whole_law(strategy):
    """Every report of every person, weighed by its probability: no bias, and this variance."""
    shape = tuple(strategy.sizes.values())
    shares = DRAWS.dirichlet(np.ones(np.prod(shape))).reshape(shape)
    moments = [np.zeros(shape), np.zeros(shape)]
    for held in product(*map(range, shape)):
        first, second = np.ones(shape), np.ones(shape)
        for axis, (value, way) in enumerate(zip(held, strategy.protocols.values(), strict=True)):
            law, support = way.matrix()[value], way.indicators(way.outputs())
            factor = (support - way.q) / (way.p - way.q)
            lift = tuple(slice(None) if each == axis else None for each in range(len(shape)))
            first, second = first * (law @ factor)[lift], second * (law @ factor**2)[lift]
        truth = np.zeros(shape)
        truth[held] = 1
        assert first == pytest.approx(truth, abs=1e-9)
        moments[0] += shares[held] * second
        moments[1] += shares[held] * first**2

    assert strategy.joint_variance(shares) == pytest.approx(moments[0] - moments[1], rel=1e-9)
    assert strategy.joint_variance(shares, n=50) == pytest.approx(strategy.joint_variance(shares) / 50)


def test_the_standard_error_is_that_of_the_nearest_shares():
    strategy = EVERY[2]
    found = strategy.estimate_joint(strategy.privatize(people(strategy), rng=5))
    shares = as_shares(found.values)

    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert found.standard_error == pytest.approx(np.sqrt(strategy.joint_variance(shares, n=N)))


def test_estimates_below_zero_are_no_shares_at_all():
    assert as_shares(np.array([-1.0, -2.0])).tolist() == [0.5, 0.5]


def test_no_reports_give_no_estimate():
    strategy = EVERY[1]
    found = strategy.estimate_joint(strategy.privatize({"a": [], "b": []}, rng=1))

    assert np.isnan(found.values).all()
    assert np.isnan(found.standard_error).all()
    assert found.n == 0


def test_a_joint_estimate_is_shown_in_a_line():
    shares = JointFrequencies(np.zeros((2, 3)), np.zeros((2, 3)), 1200, ("a", "b"))

    assert repr(shares) == "<shares of 2 x 3 combinations of a, b from 1,200 reports>"


@pytest.mark.parametrize(
    "shares", [np.zeros((2, 2)), np.eye(2, 3), np.zeros((2, 3)), [[1.5, -0.5, 0], [0, 0, 0]]]
)
def test_shares_must_be_shares_of_every_combination(shares):
    with pytest.raises(InvalidParameterError, match="'shares' parameter"):
        EVERY[1].joint_variance(shares)


# --- limits -----------------------------------------------------------------------------------------


def test_too_many_combinations_are_refused_with_the_numbers():
    strategy = EVERY[1]
    reports = strategy.privatize(people(strategy), rng=5)
    with pytest.raises(
        LimitExceededError, match=r"a \(2\) x b \(3\) has 6 combinations.*144 bytes"
    ) as refusal:
        strategy.estimate_joint(reports, most_cells=5)

    assert refusal.value.limit == "most_cells"
    assert strategy.estimate_joint(reports, most_cells=6).values.shape == (2, 3)


def test_a_product_of_any_size_has_a_message():
    sizes = {f"column {i}": 2**31 - 1 for i in range(600)}
    with pytest.raises(LimitExceededError, match=r"x 580 more has about 10\*\*5599 combinations"):
        check_cells(sizes, 1000, subject="A joint estimate")


@pytest.mark.parametrize(("columns", "end"), [(20, r"c19 \(2\) has"), (21, r"c19 \(2\) x 1 more has")])
def test_twenty_columns_are_named_and_the_others_are_counted(columns, end):
    with pytest.raises(LimitExceededError, match=end):
        check_cells({f"c{i}": 2 for i in range(columns)}, 1000, subject="A joint estimate")


def test_a_limit_of_one_combination_is_a_limit_and_none_is_a_mistake():
    strategy = EVERY[1]
    reports = strategy.privatize(people(strategy), rng=5)
    with pytest.raises(LimitExceededError, match="of 1 combinations"):
        strategy.estimate_joint(reports, most_cells=1)
    with pytest.raises(InvalidParameterError, match=r"'most_cells' parameter of Independent\.estimate_joint"):
        strategy.estimate_joint(reports, most_cells=0)
