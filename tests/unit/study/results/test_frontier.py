"""The frontier: who is beaten by whom, and how surely."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.results.frontier import frontier
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.task import CollectTask
from unit._study_results import NOTHING, facts, grr, outcome, study


def points(values, **asked):
    return {str(point.setting.epsilon): point for point in frontier(study(values), **asked)}


def runs(accuracy, gap, spread=0.001):
    own = [spread * (accuracy + gap) * part for part in (0.3, -0.1, 0.2)]  # so that differences vary too
    return {
        "acc": [accuracy - spread + own[0], accuracy + own[1], accuracy + spread + own[2]],
        "sp_gap": [gap - spread - own[1], gap - own[2], gap + spread - own[0]],
    }


def test_more_privacy_for_the_same_result_is_on_the_frontier():
    """Epsilon is the third direction: the same accuracy and gap with less epsilon is better."""
    found = points({NOTHING: runs(0.9, 0.1), grr(1): runs(0.8, 0.05), grr(2): runs(0.8, 0.05)})

    assert found["1"].undominated
    assert not found["2"].undominated
    assert found["2"].dominated_by == grr(1)
    assert found["2"].clearly


def test_more_epsilon_is_worth_it_if_it_buys_accuracy():
    found = points({NOTHING: runs(0.9, 0.1), grr(1): runs(0.8, 0.05), grr(2): runs(0.85, 0.05)})

    assert found["1"].undominated
    assert found["2"].undominated
    assert found["None"].undominated
    assert all(point.clearly for point in found.values())


def test_the_unprotected_setting_can_be_dominated_but_dominates_no_protected_one():
    """Its epsilon is infinite. That protection helps both would be a finding, not an error."""
    found = points({NOTHING: runs(0.8, 0.2), grr(1): runs(0.85, 0.1), grr(2): runs(0.5, 0.9)})

    assert found["None"].dominated_by == grr(1)
    assert found["2"].dominated_by == grr(1)
    assert found["1"].undominated


def test_a_win_within_its_paired_interval_is_not_clear():
    """Ranks among means of few repeats are partly chance; the reader is told."""
    base = [0.70, 0.80, 0.90]
    gaps = [0.1, 0.101, 0.099]
    noisy = {NOTHING: {"acc": [0.5, 0.51, 0.52], "sp_gap": [0.5, 0.51, 0.52]}}
    noisy[grr(1)] = {"acc": base, "sp_gap": gaps}
    noisy[grr(2)] = {"acc": [0.72, 0.79, 0.92], "sp_gap": gaps}  # +0.01, within chance
    found = points(noisy)

    assert found["2"].undominated
    assert not found["2"].clearly
    assert found["1"].clearly
    noisy[grr(2)] = {"acc": [0.71, 0.8101, 0.9099], "sp_gap": gaps}  # +0.01 in every repeat
    assert points(noisy)["2"].clearly


def test_pairs_make_a_win_clear_that_intervals_side_by_side_would_hide():
    """Repeats differ by 20 points and the settings by 1 in each: only the pairing sees it."""
    values = {
        NOTHING: {"acc": [0.7, 0.8, 0.9], "sp_gap": [0.1, 0.101, 0.099]},
        grr(1): {"acc": [0.69, 0.7901, 0.889], "sp_gap": [0.1, 0.101, 0.099]},
    }
    found = points(values)

    assert found["None"].undominated
    assert found["None"].clearly
    assert found["None"].x.low < found["1"].x.high


def test_a_single_repeat_makes_nothing_clear():
    found = points(
        {
            NOTHING: {"acc": [0.9], "sp_gap": [0.3]},
            grr(1): {"acc": [0.8], "sp_gap": [0.1]},
            grr(2): {"acc": [0.7], "sp_gap": [0.2]},
        }
    )

    assert found["2"].dominated_by == grr(1)
    assert not any(point.clearly for point in found.values())


def test_equal_settings_do_not_dominate_each_other():
    """Without a better one of two equals, both stay."""
    found = frontier(study({NOTHING: runs(0.9, 0.1), grr(1): runs(0.8, 0.1)}), x="acc", y="acc")

    assert [point.undominated for point in found] == [True, True]


def test_a_setting_without_a_value_is_not_on_the_frontier():
    """Nothing is known of it, so it is neither good nor in anybody's way."""
    values = {
        NOTHING: runs(0.9, 0.1),
        grr(1): {"acc": [0.9] * 3, "sp_gap": [np.nan] * 3},
        grr(2): runs(0.8, 0.05),
    }
    found = points(values)

    assert not found["1"].undominated
    assert found["1"].dominated_by is None
    assert not found["1"].clearly
    assert found["2"].undominated


def test_a_disparity_counts_by_its_distance_whichever_group_it_favours():
    """A difference of -0.1 is no better than +0.1, and a ratio of 1.2 no better than 0.8."""
    values = {
        NOTHING: {"acc": [0.8, 0.8], "spd": [0.1, 0.1], "di": [0.8, 0.8]},
        grr(1): {"acc": [0.8, 0.8], "spd": [-0.2, 0.2], "di": [1.25, 1.25]},
    }
    results = study(values)
    by_difference = {point.setting: point for point in frontier(results, y="spd")}
    by_ratio = frontier(results, y="di")

    assert by_difference[NOTHING].undominated
    assert by_difference[grr(1)].y_distance == pytest.approx(0.2)
    assert by_difference[grr(1)].y.value == pytest.approx(0)
    assert np.isnan(by_difference[grr(1)].x_distance)
    assert [point.y_distance for point in by_ratio] == pytest.approx([0.2, 0.25])


def test_the_frame_has_the_verdict_and_the_distance_of_signed_measures():
    results = study(
        {NOTHING: {"acc": [0.8, 0.9], "spd": [0.1, 0.2]}, grr(1): {"acc": [0.7, 0.8], "spd": [-0.1, 0.3]}}
    )
    frame = results.frontier(y="spd", backend="pyarrow")

    assert frame.column_names == [
        "mechanism", "strategy", "split", "epsilon", "acc", "acc_low", "acc_high",
        "spd", "spd_low", "spd_high", "spd_distance", "undominated", "clearly", "dominated_by",
    ]  # fmt: skip
    assert frame["undominated"].to_pylist() == [True, True]
    assert frame["dominated_by"].to_pylist() == ["", ""]


def test_the_frame_names_who_dominates():
    results = study({NOTHING: runs(0.9, 0.1), grr(1): runs(0.8, 0.05), grr(2): runs(0.7, 0.05)})

    assert results.frontier(backend="pyarrow")["dominated_by"].to_pylist() == [
        "",
        "",
        "GRR, uniform split, ε = 1",
    ]


def test_a_clear_winner_is_named_before_one_that_is_not():
    """The reason that is given should be the surest."""
    gaps = [0.1, 0.101, 0.099]
    chance = {"acc": [0.70, 0.80, 0.93], "sp_gap": gaps}
    judged = {"acc": [0.72, 0.78, 0.90], "sp_gap": gaps}
    surer = {"acc": [0.76, 0.8201, 0.9402], "sp_gap": gaps}
    plan = Plan(task=CollectTask(["grr", "oue", "ss"], 1, splits="uniform"), repeats=3)
    values = dict(zip(plan.settings(), (runs(0.1, 0.9), chance, judged, surer), strict=True))
    outcomes = [
        outcome(Cell(setting, repeat), **{name: each[repeat] for name, each in measures.items()})
        for setting, measures in values.items()
        for repeat in range(3)
    ]
    found = {point.setting.mechanism: point for point in frontier(Results(plan, facts(), outcomes))}

    assert found["oue"].dominated_by.mechanism == "ss"
    assert found["oue"].clearly


@pytest.mark.parametrize("asked", [{"x": "epsilon"}, {"y": "gaps"}, {"level": 2}, {"kind": "t"}], ids=str)
def test_what_cannot_be_asked_is_refused(asked):
    with pytest.raises(InvalidParameterError, match=f"'{next(iter(asked))}' parameter of frontier"):
        study({NOTHING: runs(0.9, 0.1)}).frontier(**asked)
