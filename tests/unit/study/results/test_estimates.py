"""Estimates of one setting, alone and against another."""

import math
import statistics

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure.repeat_means import NO_INTERVAL, Estimated, means
from evenhand.study.results.estimates import estimate
from evenhand.study.tasks.learn.measures import LEARN_RATES
from unit._study_results import NOTHING, grr, study

BEFORE = [0.80, 0.90, 0.70, 0.85]
AFTER = [0.78, 0.87, 0.69, 0.83]


@pytest.fixture(name="results", scope="module")
def _results():
    return study({NOTHING: {"acc": BEFORE}, grr(1): {"acc": AFTER}})


def test_a_mean_is_over_the_repeats_of_its_setting(results):
    """Another setting's runs in the mean would be a wrong result that looks right."""
    found = estimate(results, grr(1), "acc")

    assert found.value == pytest.approx(statistics.mean(AFTER))
    assert (found.runs, found.left_out, found.note) == (4, 0, "")
    assert found.low < found.value < found.high
    assert list(found) == [found.low, found.high]
    assert found.value in found
    assert 2.0 not in found


def test_a_change_is_paired_by_repeat(results):
    """Repeats differ by 20 points here and the change by 1: unpaired, it would drown."""
    found = estimate(results, grr(1), "acc", against=NOTHING)
    differences = [after - before for after, before in zip(AFTER, BEFORE, strict=True)]

    assert found.value == pytest.approx(statistics.mean(differences))
    assert found.standard_error == pytest.approx(statistics.stdev(differences) / 2)
    assert found.is_clear
    assert not estimate(results, grr(1), "acc").low > estimate(results, NOTHING, "acc").high


def test_a_change_against_itself_is_nought(results):
    """The baseline row of a table must read as no change."""
    found = estimate(results, NOTHING, "acc", against=NOTHING)

    assert (found.low, found.value, found.high) == (0, 0, 0)
    assert not found.is_clear
    assert "same value" in found.note


def test_a_change_may_be_against_any_setting(results):
    assert estimate(results, NOTHING, "acc", against=grr(1)).value == pytest.approx(0.02)


def test_a_single_repeat_gives_no_interval_and_says_why():
    """None, not NaN or zero: a caption must be able to tell."""
    found = estimate(study({NOTHING: {"acc": [0.8]}, grr(1): {"acc": [0.7]}}), grr(1), "acc")

    assert found.value == 0.7
    assert (found.low, found.high, found.standard_error) == (None, None, None)
    assert not found.has_interval
    assert not found.is_clear
    assert 0.7 not in found
    assert "single repeat" in found.note


def test_a_change_uses_the_repeats_that_both_have_and_says_how_many():
    """After a cancel the last repeat is half there; its runs have no partner."""
    results = study(
        {NOTHING: {"acc": [0.8, 0.9, None, 0.7]}, grr(1): {"acc": [0.7, None, 0.6, 0.65]}},
    )
    found = estimate(results, grr(1), "acc", against=NOTHING)

    assert found.runs == 2
    assert found.left_out == 2
    assert found.value == pytest.approx((-0.1 - 0.05) / 2)
    assert found.note == "2 of 4 repeats have no value (not run, failed or undefined)."


def test_what_is_undefined_everywhere_has_no_value():
    """It must not be shown as 0."""
    found = estimate(study({NOTHING: {"acc": [0.8, 0.9]}}), NOTHING, "auc")

    assert math.isnan(found.value)
    assert found.runs == 0
    assert found.note == "It has no defined value in any repeat."


def test_rates_of_a_group_are_found_by_label(results):
    found = estimate(results, grr(1), "tpr", group="women")

    assert found.value == pytest.approx(np.mean([0.25, 0.26, 0.27, 0.28]))
    assert estimate(results, grr(1), "people", group="men").value == 100
    assert estimate(results, grr(1), "tpr", group="men", against=NOTHING).value == 0


def test_the_disparity_of_labels_before_and_after(results):
    rows = results.data("pyarrow").to_pylist()
    reported = [row for row in rows if row["mechanism"] == "grr"]

    assert [row["true"] for row in reported] == pytest.approx([0.2] * 4)
    assert [row["reported"] - row["true"] for row in reported] == pytest.approx([-0.1] * 4)
    assert all(row["reported"] == row["true"] for row in rows if row["mechanism"] == "none")


def test_limits_are_cut_to_what_is_possible():
    """An accuracy above 1 in a table makes a reader doubt all of it; no true mean is lost by the cut."""
    results = study({NOTHING: {"acc": [0.99, 0.8], "di": [0.1, 1.9], "spd": [-0.9, 0.9], "f1": [0.1, 0.0]}})
    wide = {name: estimate(results, NOTHING, name) for name in ("accuracy", "spd", "f1")}

    assert wide["accuracy"].high == 1
    assert estimate(results, NOTHING, "di", kind="student").low == 0
    assert estimate(results, NOTHING, "di", kind="student").high > 1.9
    assert (wide["spd"].low, wide["spd"].high) == (-1, 1)
    assert wide["f1"].low == 0
    assert estimate(results, NOTHING, "people", group="men", kind="student").high == 100


def test_the_mean_of_a_ratio_has_no_interval_and_says_why():
    """Its mean over few repeats hangs on those in which hardly anybody is selected."""
    results = study({NOTHING: {"di": [0.1, 0.4, 1.9]}, grr(1): {"di": [0.2, 0.9, 1.4]}})
    for found in (estimate(results, NOTHING, "di"), estimate(results, grr(1), "di", against=NOTHING)):
        assert (found.low, found.high) == (None, None)
        assert found.standard_error > 0
        assert found.note == NO_INTERVAL
        assert not found.is_clear
    table = results.summary("di", shape="long", backend="pandas")

    assert table["low"].isna().all()
    assert table["change_high"].isna().all()
    assert set(table["note"]) == {NO_INTERVAL}
    assert not results.frontier(x="acc", y="di", backend="pandas")["clearly"].any()
    assert results.summary("di", kind="student", backend="pandas")["di_low"].notna().all()


@pytest.mark.parametrize(("name", "spread"), [("acc", "tailed"), ("auc", "tailed"), ("sp_gap", "even")])
def test_a_measure_has_the_interval_of_its_spread_wherever_it_is_shown(name, spread):
    """One rule in one place: accuracy has a tail, gaps are even."""
    before, after = np.array([0.5, 0.52, 0.49, 0.51, 0.5]), np.array([0.48, 0.51, 0.45, 0.5, 0.47])
    results = study({NOTHING: {name: before.tolist()}, grr(1): {name: after.tolist()}})
    value, change = (means(runs, level=0.95, spread=spread) for runs in (after, after - before))
    table = results.summary(name, backend="pandas").iloc[1]
    point = results.frontier(x=name, y=name, backend="pandas").iloc[1]
    moved = estimate(results, grr(1), name, against=NOTHING)

    assert (table[f"{name}_low"], table[f"{name}_high"]) == (value.low, value.high)
    assert (table[f"{name}_change_low"], table[f"{name}_change_high"]) == (change.low, change.high)
    assert (moved.low, moved.high) == (change.low, change.high)
    assert (point[f"{name}_low"], point[f"{name}_high"]) == (value.low, value.high)
    assert value.low != means(after, level=0.95).low


@pytest.mark.parametrize("arm", ["unprotected", "protected", "change"])
def test_a_rate_of_a_group_has_the_interval_of_its_spread(arm):
    """Only the accuracy of a group, and whom a method changes, are spread by what a mechanism draws."""
    names = ("selection", "tpr", "fpr", "precision", "base_rate", "people", "accuracy", "promoted")
    spreads = [LEARN_RATES[name].spread_of(arm) for name in names]

    own = ["even", "even"] if arm == "unprotected" else [f"accuracy, {arm}", "group"]
    assert spreads == [f"selection, {arm}", f"tpr, {arm}", "none", "precision", "even", "even", *own]


def test_the_change_of_one_group_says_how_many_repeats_it_needs():
    results = study({NOTHING: {"acc": [0.5] * 5}, grr(1): {"acc": [0.5] * 5}})
    for place, outcome in enumerate(results.outcomes):
        outcome.groups["men"]["selection"] = 0.5 + 0.001 * place**2
    found = estimate(results, grr(1), "selection", group="men", against=NOTHING)

    assert (found.low, found.high) == (None, None)
    assert found.note.endswith("Run the study with 7 repeats or more.")


def test_a_measure_has_two_names(results):
    assert estimate(results, grr(1), "accuracy") == estimate(results, grr(1), "acc")


def test_the_corrected_interval_says_so(results):
    plain = estimate(results, grr(1), "acc")
    corrected = estimate(results, grr(1), "acc", kind="corrected")

    assert corrected.low < plain.low < plain.high < corrected.high
    assert "Nadeau" in corrected.words
    assert "seeds" in plain.words


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda r: estimate(r, grr(1), "accuracies"), "measure"),
        (lambda r: estimate(r, grr(1), 5), "measure"),
        (lambda r: estimate(r, grr(1), "acc", level=95), "level"),
        (lambda r: estimate(r, grr(1), "acc", kind="t"), "kind"),
        (lambda r: estimate(r, grr(7), "acc"), "setting"),
        (lambda r: estimate(r, grr(1), "tpr", group="children"), "group"),
        (lambda r: estimate(r, grr(1), "acc", group="men"), "measure"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(results, call, parameter):
    """A typing error must not end as an empty picture."""
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter"):
        call(results)


def test_an_estimate_without_limits_is_not_clear():
    assert not Estimated(0.5).is_clear
    assert not Estimated(0.5, -0.1, 0.6).is_clear
    assert Estimated(-0.5, -0.6, -0.4).is_clear
