"""The closest rates and the closest odds: vectors, brute force, linear programs, lower bounds and ties."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.closest import closest_odds, closest_rates

FOUR = (0.6, 0.3, 0.45, 0.1)
VECTORS = [
    ((0.6, 0.3), 0, None, (0.3, 0.6), (0.45, 0.45), 0.3, (0.75, 1), (0, 0.214285714286)),
    ((0.6, 0.3), 0.1, None, (0.3, 0.5), (0.5, 0.4), 0.2, (0.833333333333, 1), (0, 0.142857142857)),
    (FOUR, 0, None, (0.3, 0.45), (0.375,) * 4, 0.65,
     (0.625, 1, 0.833333333333, 1), (0, 0.107142857143, 0, 0.305555555556)),
    (FOUR, 0.1, None, (0.3, 0.35), (0.425, 0.325, 0.425, 0.325), 0.45,
     (0.708333333333, 1, 0.944444444444, 1), (0, 0.035714285714, 0, 0.25)),
    (FOUR, 0.1, (0.5, 0.3, 0.1, 0.1), (0.45, 0.5), (0.575, 0.475, 0.475, 0.475), 0.105,
     (0.958333333333, 1, 1, 1), (0, 0.25, 0.045454545455, 0.416666666667)),
    ((0, 0, 1), 0.25, None, (0, 0), (0, 0, 0.25), 0.75, (1, 1, 0.25), (0, 0, 0)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rates", "gap", "weights", "interval", "target", "cost", "keep", "promote"), VECTORS
)
def test_the_worked_examples_come_out(rates, gap, weights, interval, target, cost, keep, promote):
    """These were checked by hand; another number means another optimum, or another choice among optima."""
    found = closest_rates(rates, gap=gap, weights=weights)

    assert found.interval == pytest.approx(interval, abs=1e-9)
    assert found.target == pytest.approx(target, abs=1e-9)
    assert (found.cost, found.lower_bound) == pytest.approx((cost, cost), abs=1e-9)
    assert found.keep == pytest.approx(keep, abs=1e-9)
    assert found.promote == pytest.approx(promote, abs=1e-9)


def test_costs_that_differ_by_direction_come_out():
    """The rates of a group whose rejections are costly must be raised first."""
    found = closest_rates((0.6, 0.3, 0.45), gap=0.1, costs=((0.3, 0.2, 0.05), (0.1, 0.25, 0.02)))

    assert found.target == pytest.approx((0.6, 0.5, 0.5), abs=1e-9)
    assert (found.cost, found.lower_bound) == pytest.approx((0.051, 0.051), abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [(0.6, 0.3), (0.3, 0.6), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
def test_two_groups_follow_algorithm_1(first, second):
    """The closed form claims to be the thesis's algorithm where that one is defined, guards included."""
    found = closest_rates([first, second])
    high, low = max(first, second), min(first, second)
    kept = (high + low) / (2 * high) if high else 1.0
    promoted = (high - low) / (2 * (1 - low)) if low < 1 else 0.0

    assert found.keep.min() == pytest.approx(kept)
    assert found.promote.max() == pytest.approx(promoted)
    assert found.cost == pytest.approx(high - low)


def by_program(rates, gap, down, up):
    """The same problem in the probabilities themselves, with every pair of groups constrained."""
    k = len(rates)
    rates, down, up = (np.asarray(values, dtype=float) for values in (rates, down, up))
    price = np.concatenate([-down * rates, up * (1 - rates)])
    rows = []
    for a, b in itertools.permutations(range(k), 2):
        row = np.zeros(2 * k)
        row[[a, b]] = rates[a], -rates[b]
        row[[k + a, k + b]] = 1 - rates[a], -(1 - rates[b])
        rows.append(row)
    found = linprog(price, A_ub=rows, b_ub=[gap] * len(rows), bounds=[(0, 1)] * (2 * k))
    return found.fun + float(down @ rates)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("signs", ["same", "positive", "any"])
def test_no_rule_of_this_kind_is_cheaper(k, signs):
    """Fewest changes is the promise; a linear program over all rules must not find fewer."""
    draw = np.random.default_rng(k)
    for _ in range(12):
        rates = draw.choice([0, 1, 0.5, *draw.random(3).round(3)], size=k)
        gap = float(draw.choice([0, 0.05, 0.2, round(draw.random(), 3)]))
        down, up = draw.random((2, k)).round(3) if signs != "any" else draw.uniform(-1, 1, (2, k)).round(3)
        up = down if signs == "same" else up
        found = closest_rates(rates, gap=gap, costs=(down, up))
        after = found.promote + (found.keep - found.promote) * rates

        assert found.cost == pytest.approx(by_program(rates, gap, down, up), abs=1e-9)
        assert after == pytest.approx(found.target, abs=1e-12)
        assert np.ptp(found.target) <= gap + 1e-12
        paid = (down * rates * (1 - found.keep) + up * (1 - rates) * found.promote).sum()
        assert paid == pytest.approx(found.cost, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_rates_on_a_grid_are_closer(k):
    """A search through all rates shares no idea with the closed form."""
    draw = np.random.default_rng(10 + k)
    grid = np.linspace(0, 1, 13 if k < 4 else 9)
    every = np.array(list(itertools.product(grid, repeat=k)))
    for gap in (0.0, 0.25):
        allowed = every[np.ptp(every, axis=1) <= gap + 1e-12]
        rates, weights = draw.choice(grid, size=k), draw.integers(1, 5, size=k)
        cheapest = (np.abs(allowed - rates) * weights).sum(axis=1).min()

        assert closest_rates(rates, gap=gap, weights=weights).cost <= cheapest + 1e-12
        if gap == 0:  # the optimum is then at a rate of a group, which is on the grid
            assert closest_rates(rates, weights=weights).cost == pytest.approx(cheapest)


def test_a_twin_that_takes_the_mean_is_found_out():
    """Moving everybody to the mean rate is fair too, but changes more; the comparison must see that."""
    rates = np.array([0.9, 0.5, 0.4])

    assert np.abs(rates - rates.mean()).sum() > closest_rates(rates).cost + 0.05


def test_predictions_that_are_better_reversed_are_reversed():
    """Where both answers are mostly wrong, the cheapest rule turns them round."""
    found = closest_rates([0.7, 0.3], costs=([-0.6, 0.5], [-0.4, 0.5]))

    assert (found.keep[0], found.promote[0]) == (0.0, 1.0)
    assert found.target == pytest.approx([0.3, 0.3])
    assert found.cost == found.lower_bound == pytest.approx(-0.6 * 0.7 - 0.4 * 0.3)


def test_numbers_stay_rationals_inside():
    """A tie that rounding breaks would move other people after a change of the groups' order."""
    found = closest_rates([Fraction(1, 3), "1/7", Fraction(2, 3)], gap="1/21")

    assert found.interval == (float(Fraction(6, 21)), float(Fraction(1, 3)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rates": []}, {"rates": 0.5}, {"rates": [0.5, 1.1]}, {"rates": [0.5, float("nan")]},
        {"rates": [0.5, 0.4], "gap": -0.1}, {"rates": [0.5, 0.4], "gap": 1.5},
        {"rates": [0.5, 0.4], "weights": [1]}, {"rates": [0.5, 0.4], "weights": [1, -1]},
        {"rates": [0.5, 0.4], "weights": [0, 0]}, {"rates": [0.5, 0.4], "costs": [1, 2]},
        {"rates": [0.5, 0.4], "costs": ([1, 2], [1, 2]), "weights": [1, 1]},
        {"rates": [0.5, 0.4], "costs": ([1, 2], [1])},
    ],
)  # fmt: skip
def test_what_are_no_rates_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="of closest_rates must be"):
        closest_rates(**wrong)


TABLE = np.array([[[60, 10], [5, 25]], [[50, 10], [20, 20]]])


def after(found):
    return found.promote[:, None] + (found.keep - found.promote)[:, None] * found.rates


@pytest.mark.parametrize("aim", ["changes", "accuracy"])
@pytest.mark.parametrize("gap", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_both_rates_agree_up_to_the_gap_and_the_dual_says_nothing_is_cheaper(k, gap, aim):
    """The constraint is the promise, and the dual value is the proof that it is met as cheaply as can be."""
    draw = np.random.default_rng(k)
    counts, weights = draw.integers(1, 60, size=(k, 2, 2)), draw.random(k)
    found = closest_odds(counts, gap=gap, weights=weights, aim=aim)
    shares = counts / counts.sum(axis=(1, 2), keepdims=True) * weights[:, None, None]
    changed = (shares[:, :, 1].sum(1) * (1 - found.keep) + shares[:, :, 0].sum(1) * found.promote).sum()
    right = (
        np.stack([1 - found.promote, 1 - found.keep], axis=1),
        np.stack([found.promote, found.keep], axis=1),
    )
    wrong = sum((shares[:, label] * (1 - right[label])).sum() for label in (0, 1))

    assert np.ptp(after(found), axis=0).max() <= gap + 1e-9
    assert found.target == pytest.approx(after(found))
    assert found.cost == pytest.approx(changed if aim == "changes" else wrong, abs=1e-9)
    assert found.lower_bound == pytest.approx(found.cost, abs=2e-9)


def test_no_probabilities_on_a_grid_are_cheaper():
    """Two groups have four probabilities: few enough to look at all of them."""
    found = closest_odds(TABLE, gap=0.1)
    grid = np.linspace(0, 1, 26)
    keep, promote = (each.ravel() for each in np.meshgrid(grid, grid))
    shares = TABLE / TABLE.sum(axis=(1, 2), keepdims=True)
    rates = shares[:, :, 1] / shares.sum(axis=2)
    moved = [promote[:, None] + (keep - promote)[:, None] * rates[a] for a in (0, 1)]
    price = [shares[a, :, 1].sum() * (1 - keep) + shares[a, :, 0].sum() * promote for a in (0, 1)]
    near = (np.abs(moved[0][:, None] - moved[1][None]) <= 0.1).all(axis=2)
    cheapest = np.where(near, price[0][:, None] + price[1][None], np.inf).min()

    assert found.cost <= cheapest + 1e-12
    assert cheapest - found.cost < 0.05  # the grid is fine enough to have found something near


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are its only feature."""

    def fit(self, X, y):  # noqa: N803 - scikit-learn's name
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):  # noqa: N803 - as above
        return np.asarray(X)[:, 0].astype(int)


def test_it_is_as_accurate_as_fairlearn():
    """Another program for the same problem; it searches a grid of false positive rates, ours does not."""
    optimizer = pytest.importorskip("fairlearn.postprocessing").ThresholdOptimizer
    cells = [(a, y, p) for a in (0, 1) for y in (0, 1) for p in (0, 1) for _ in range(TABLE[a, y, p])]
    group, label, predicted = np.array(cells).T
    other = optimizer(
        estimator=Given().fit(predicted[:, None], label), constraints="equalized_odds", prefit=True,
        predict_method="predict", grid_size=2_000,
    ).fit(predicted[:, None], label, sensitive_features=group)  # fmt: skip
    chance = other._pmf_predict(predicted[:, None], sensitive_features=group)[:, 1]  # no draws wanted
    wrong = np.where(label == 1, 1 - chance, chance).mean()
    weights = TABLE.sum(axis=(1, 2)) / TABLE.sum()
    found = closest_odds(TABLE, aim="accuracy", weights=weights)

    assert found.cost <= wrong + 1e-9
    assert found.cost == pytest.approx(wrong, abs=2e-3)


def test_counts_that_differ_by_twelve_orders_of_magnitude_have_a_solution():
    """A program that gives up after the noise is drawn would lose what was paid for it."""
    cells = [
        [0, 0, 0, 0], [306539512890, 131, 289, 0], [4, 219292735905, 0, 13268],
        [8, 46817408, 503, 80457658549], [7506, 4, 12654877310, 184748897], [11, 0, 8648765751, 402696685822],
        [17, 5531, 21089222002, 12005291],
    ]  # fmt: skip
    counts = np.array(cells).reshape(-1, 2, 2)
    found = closest_odds(counts, weights=counts.sum(axis=(1, 2)) / counts.sum())

    assert np.ptp(found.target, axis=0).max() <= 1e-8
    assert found.lower_bound == pytest.approx(found.cost)


def test_heavy_weights_change_the_unit_of_the_cost_alone():
    light, heavy = (closest_odds(TABLE, weights=scale * np.array([1.0, 0.5])) for scale in (1, 1e6))

    assert heavy.keep.tolist() == light.keep.tolist()
    assert heavy.cost == pytest.approx(1e6 * light.cost)
    assert heavy.lower_bound == pytest.approx(1e6 * light.lower_bound)


def test_the_order_of_the_groups_changes_nothing():
    """Which group is written first is nobody's business."""
    draw = np.random.default_rng(5)
    counts = draw.integers(1, 60, size=(4, 2, 2))
    order = [2, 0, 3, 1]
    one, other = closest_odds(counts, aim="accuracy"), closest_odds(counts[order], aim="accuracy")

    assert np.array_equal(one.keep[order], other.keep)
    assert np.array_equal(one.promote[order], other.promote)


def test_a_group_without_a_label_has_the_rate_of_all():
    """With noise a cell may come out empty; nothing may break, and nobody may be singled out by it."""
    counts = np.array([[[10, 10], [0, 0]], [[10, 10], [5, 15]]])
    found = closest_odds(counts)

    assert found.rates[0, 1] == 0.75
    assert found.cost == pytest.approx(0, abs=1e-12)
    assert closest_odds(np.zeros((2, 2, 2))).cost == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), -np.ones((2, 2, 2)), np.full((2, 2, 2), np.nan)])
def test_what_is_no_table_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="'counts' parameter of closest_odds"):
        closest_odds(wrong)


@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_of_equally_accurate_probabilities_those_that_change_least_are_taken(gap):
    """Where predictions are right half of the time, accuracy cannot tell; nobody is changed for nothing."""
    found = closest_odds(np.full((2, 2, 2), 10), gap=gap, weights=np.ones(2), aim="accuracy")

    assert found.keep.tolist() == pytest.approx([1, 1])
    assert found.promote.tolist() == pytest.approx([0, 0])
