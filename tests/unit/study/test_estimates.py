"""Estimates of one setting, alone and against another."""

import math
import statistics

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.estimates import (
    Estimated,
    data_change,
    data_estimate,
    estimate,
    group_change,
    group_estimate,
    paired_change,
)
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
    found = paired_change(results, grr(1), "acc")
    differences = [after - before for after, before in zip(AFTER, BEFORE, strict=True)]

    assert found.value == pytest.approx(statistics.mean(differences))
    assert found.standard_error == pytest.approx(statistics.stdev(differences) / 2)
    assert found.is_clear
    assert not estimate(results, grr(1), "acc").low > estimate(results, NOTHING, "acc").high


def test_a_change_against_itself_is_nought(results):
    """The baseline row of a table must read as no change."""
    found = paired_change(results, NOTHING, "acc")

    assert (found.low, found.value, found.high) == (0, 0, 0)
    assert not found.is_clear
    assert "same value" in found.note


def test_a_change_may_be_against_any_setting(results):
    assert paired_change(results, NOTHING, "acc", against=grr(1)).value == pytest.approx(0.02)


def test_a_single_repeat_gives_no_interval_and_says_why():
    """None, not NaN or nought: a caption must be able to tell."""
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
    found = paired_change(results, grr(1), "acc")

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
    found = group_estimate(results, grr(1), "women", "tpr")

    assert found.value == pytest.approx(np.mean([0.25, 0.26, 0.27, 0.28]))
    assert group_estimate(results, grr(1), "men", "people").value == 100
    assert group_change(results, grr(1), "men", "tpr").value == 0


def test_the_disparity_of_labels_before_and_after(results):
    assert data_estimate(results, grr(1), "true").value == pytest.approx(0.2)
    assert data_change(results, grr(1)).value == pytest.approx(-0.1)
    assert data_change(results, NOTHING).value == 0


def test_limits_are_cut_to_what_is_possible():
    """An accuracy above 1 in a table makes a reader doubt all of it; no true mean is lost by the cut."""
    results = study({NOTHING: {"acc": [0.99, 0.8], "di": [0.1, 1.9], "spd": [-0.9, 0.9], "f1": [0.1, 0.0]}})
    wide = {name: estimate(results, NOTHING, name) for name in ("accuracy", "di", "spd", "f1")}

    assert wide["accuracy"].high == 1
    assert wide["di"].low == 0
    assert wide["di"].high > 1.9
    assert (wide["spd"].low, wide["spd"].high) == (-1, 1)
    assert wide["f1"].low == 0
    assert group_estimate(results, NOTHING, "men", "people").high == 100


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
        (lambda r: group_estimate(r, grr(1), "children", "tpr"), "group"),
        (lambda r: group_estimate(r, grr(1), "men", "acc"), "rate"),
        (lambda r: data_estimate(r, grr(1), "false"), "name"),
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
