"""Errors of a result against slow, obvious versions of themselves."""

import math

import numpy as np
import pytest

from evenhand.decide.result.decided import Decided
from evenhand.decide.result.errors import entity_columns, errors_by_size, errors_in_all, spread_places


def shares(bias, *, truth=None, variance=None, counts=None, **more):
    truth = [1 / len(bias)] * len(bias) if truth is None else truth
    return Decided(
        kind="allotment", problem="p", noise="n", names=[f"e{place}" for place in range(len(bias))],
        truth=truth, bias=bias, variance=[0.0] * len(bias) if variance is None else variance, method="m",
        counts={"x": counts or [10] * len(bias)}, **more,
    )  # fmt: skip


def rights(truth, flip, *, counts=None, **more):
    flips = [-each if right else each for right, each in zip(truth, flip, strict=True)]
    return Decided(
        kind="rule", problem="p", noise="n", names=[f"e{place}" for place in range(len(truth))], truth=truth,
        bias=flips, variance=[each * (1 - each) for each in flip], method="made up",
        counts={"x": counts or [10] * len(truth)}, **more,
    )  # fmt: skip


def test_an_allotment_is_measured_in_money():
    found = errors_in_all(
        shares([0.1, -0.3, 0.2], variance=[0.0, 0.07, 0.0], error_bound=[0, 1e-9, 0]), money=1000
    )

    assert found["alpha"] == pytest.approx(500)
    assert found["moved"] == pytest.approx(300)
    assert found["cost_of_privacy"] == pytest.approx(300)
    assert found["largest_misallocation"] == pytest.approx(300)
    assert found["largest_error"] == pytest.approx(400)
    assert found["mean_error"] == pytest.approx(700 / 3)
    assert found["overspent"] == pytest.approx(0, abs=1e-9)
    assert found["error_bound"] == pytest.approx(1e-6)
    assert found["exact"] == 1.0


def test_shares_that_add_up_to_more_are_overspent():
    """A proxy that pays everybody too much has no losers, and somebody pays for it."""
    found = errors_in_all(shares([0.1, 0.0]), money=100)

    assert found["cost_of_privacy"] == 0
    assert found["overspent"] == pytest.approx(10)


def test_an_error_that_is_not_known_is_not_invented():
    found = errors_in_all(shares([0.1, -0.1], variance=[math.nan, 0.0]))

    assert math.isnan(found["mean_error"])
    assert math.isnan(found["largest_error"])
    assert math.isnan(found["error_bound"])


def test_a_rule_is_measured_in_decisions():
    found = errors_in_all(rights([True, False, True], [0.5, 0.05, 0.01]), money=7)

    assert found["expected_wrong"] == pytest.approx(0.56)
    assert found["expected_refused"] == pytest.approx(0.51)
    assert found["expected_granted"] == pytest.approx(0.05)
    assert found["largest_flip"] == 0.5
    assert found["mean_error"] == pytest.approx(0.56 / 3)
    assert found["alpha"] == pytest.approx(0.49)
    assert (found["at_risk"], found["at_risk_of_loss"]) == (2, 1)


def test_what_was_drawn_says_so():
    drawn = rights([True, False], [0.5, 0.1], standard_error=[0.02, 0.01], draws=500)
    found = errors_in_all(drawn)

    assert found["exact"] == 0.0
    assert found["error_bound"] == 0.02
    assert drawn.typical_error.tolist() == [0.5, 0.1]


def test_classes_of_sizes_agree_with_a_loop():
    rng = np.random.default_rng(3)
    counts = [0, 0, *rng.integers(1, 3_000_000, 60).tolist()]
    bias = rng.normal(size=62) / 100
    truth = [0.0, *[0.01] * 61]
    decided = shares(bias, truth=truth, variance=rng.random(62), counts=counts)
    starts = [0, 1, 300, 1_000, 300_000, 1_000_000]
    found = errors_by_size(decided, starts, money=50)

    errors = decided.typical_error
    for place, (least, end) in enumerate(zip(starts, [*starts[1:], math.inf], strict=True)):
        inside = [at for at, count in enumerate(counts) if least <= count < end]
        assert found["entities"][place] == len(inside)
        if not inside:
            assert math.isnan(found["gain"][place])
            continue
        assert found["gain"][place] == pytest.approx(np.mean([50 * bias[at] for at in inside]))
        assert found["error"][place] == pytest.approx(np.mean([50 * errors[at] for at in inside]))
        relative = [errors[at] / truth[at] for at in inside if truth[at]]
        assert found["relative"][place] == pytest.approx(np.mean(relative))
        assert math.isnan(found["flip"][place])
    assert 0 in found["entities"][1:-1]


def test_the_size_of_an_entity_is_its_largest_count():
    decided = Decided(
        kind="rule", problem="p", noise="n", names=["a", "b"], truth=[True, False], bias=[-0.1, 0.2],
        variance=[0, 0], method="m", counts={"s": [5, 700], "sp": [8, 20]},
    )  # fmt: skip

    assert entity_columns(decided)["size"].tolist() == [8, 700]
    assert decided.sizes.tolist() == [8, 700]
    assert errors_by_size(decided, [0, 3, 10])["flip"][1:].tolist() == pytest.approx([0.1, 0.2])


# --- entities that stand for all ------------------------------------------------------------------


def test_few_entities_are_all_there_the_most_affected_first():
    assert spread_places(shares([0.1, -0.3, 0.2]), 10) == [1, 2, 0]


def test_of_many_the_most_affected_are_there_and_some_of_every_size():
    """A picture of the most affected alone would show small places only."""
    size = 5_000
    counts = np.arange(1, size + 1)
    found = spread_places(shares(1e-6 / counts, counts=counts.tolist()), 100)
    sizes = sorted(counts[found])

    assert len(found) == len(set(found)) == 100
    assert sizes[:50] == list(range(1, 51))
    assert sizes[-1] == size
    assert max(np.diff(sizes[50:])) < 2.2 * size / 50
