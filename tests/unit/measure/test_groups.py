import math
import pickle
import re

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.measure import (
    MEASURES,
    RATES,
    CountTable,
    GroupReport,
    clopper_pearson,
    group_report,
    share_difference,
)

# Group "m": 6 true positives, 2 false negatives, 3 false positives, 9 true negatives.
# Group "f": 3 true positives, 3 false negatives, 1 false positive, 13 true negatives.
TABLE = CountTable(("f", "m"), np.array([[[13, 1], [3, 3]], [[9, 3], [2, 6]]]))


def _columns(table):
    rows = [
        (label, y, p)
        for place, label in enumerate(table.groups)
        for y in (0, 1)
        for p in (0, 1)
        for _ in range(int(table.counts[place, y, p]))
    ]
    group, y_true, y_pred = zip(*rows, strict=True)
    return {"y_true": list(y_true), "y_pred": list(y_pred), "group": list(group)}


@pytest.fixture
def report():
    return group_report(**_columns(TABLE), privileged="m")


def test_rates_of_a_group_follow_their_definitions(report):
    rates = report.rates["m"]

    assert (rates.size, rates.selection, rates.tpr, rates.fpr) == (20, 9 / 20, 6 / 8, 3 / 12)
    assert (rates.accuracy, rates.precision, rates.base_rate) == (15 / 20, 6 / 9, 8 / 20)
    assert rates.reasons == {}


def test_differences_are_privileged_minus_unprivileged_and_the_ratio_is_the_other_way(report):
    """Swapped signs turn a disadvantage into an advantage."""
    assert report.spd == pytest.approx(9 / 20 - 4 / 20)
    assert report.di == pytest.approx((4 / 20) / (9 / 20))
    assert report.eod == pytest.approx(6 / 8 - 3 / 6)
    assert report.ped == pytest.approx(3 / 12 - 1 / 14)
    assert report.oad == pytest.approx(15 / 20 - 16 / 20)
    assert report.prd == pytest.approx(6 / 9 - 3 / 4)


def test_gaps_are_those_of_the_worst_pair(report):
    assert report.sp_gap == pytest.approx(5 / 20)
    assert report.eo_gap == pytest.approx(6 / 8 - 3 / 6)
    assert report.meo_gap == pytest.approx((6 / 8 - 3 / 6 + 3 / 12 - 1 / 14) / 2)
    assert report.worst_pair("sp_gap") == ("f", "m")


def test_figures_for_everybody_follow_their_definitions(report):
    assert report.acc == pytest.approx(31 / 40)
    assert report.recall == pytest.approx(9 / 14)
    assert report.f1 == pytest.approx(2 * 9 / (2 * 9 + 4 + 5))
    assert report.balanced_accuracy == pytest.approx((9 / 14 + 22 / 26) / 2)


def test_every_measure_is_also_an_attribute(report):
    for name in MEASURES:
        value = getattr(report, name)

        assert value == report.value(name) or math.isnan(value)


def test_without_a_privileged_group_the_two_sided_measures_say_so():
    report = group_report(**_columns(TABLE))

    for name in ("spd", "di", "eod", "ped", "oad", "prd"):
        assert math.isnan(report.value(name))
        assert report.reason(name) == "No privileged group was named."
    assert report.sp_gap == pytest.approx(0.25)


def test_with_three_groups_the_unprivileged_side_is_everybody_else_pooled():
    report = group_report(
        [1] * 8, [1, 1, 1, 0, 1, 0, 0, 0], ["a", "a", "b", "b", "c", "c", "c", "c"], privileged="a"
    )

    assert report.spd == pytest.approx(1 - 2 / 6)
    assert report.sp_gap == pytest.approx(1 - 1 / 4)
    assert report.worst_pair("sp_gap") == ("a", "c")


def test_the_worst_pair_of_mean_odds_is_a_pair_and_not_a_mean_of_ranges():
    """With three groups the largest TPR and FPR differences may belong to different pairs."""
    counts = np.array([[[5, 5], [5, 5]], [[5, 5], [0, 10]], [[0, 10], [5, 5]]])
    report = GroupReport(CountTable(("a", "b", "c"), counts))

    assert report.eo_gap == 0.5
    assert report.meo_gap == 0.5
    assert report.worst_pair("meo_gap") == ("b", "c")
    assert report.worst_pair("eo_gap") == ("a", "b")


def test_a_gap_with_an_undefined_rate_is_nan_and_names_the_group():
    """A gap that skips a group would hide it."""
    report = group_report([1, 0, 0, 1, 0], [1, 0, 1, 0, 0], ["a", "a", "b", "a", "c"], privileged="a")

    assert math.isnan(report.eo_gap)
    assert (
        report.eo_gap.reason
        == "Group 'b' has no rows with a positive label. Group 'c' has no rows with a positive label."
    )
    assert report.worst_pair("eo_gap") is None
    assert report.rates["b"].reasons == {"tpr": "Group 'b' has no rows with a positive label."}
    assert not math.isnan(report.sp_gap)


def test_many_undefined_groups_are_counted_and_not_all_named():
    report = group_report([0] * 6, [0] * 6, list("abcdef"))

    assert report.reason("eo_gap").endswith("So it is with 3 more.")


def test_an_empty_declared_group_is_reported_as_empty():
    report = group_report([1, 0], [1, 0], ["a", "a"], groups=["a", "b"], privileged="b")

    assert report.rates["b"].size == 0
    assert report.reason("spd") == "The privileged group 'b' has no rows."
    assert report.reason("sp_gap") == "Group 'b' has no rows."
    assert report.rates["b"].reasons.keys() == set(RATES)


def test_the_ratio_is_undefined_if_nobody_privileged_is_selected():
    """The published code divides by zero here."""
    report = group_report([1, 0, 1, 0], [0, 0, 1, 0], ["m", "m", "f", "f"], privileged="m")

    assert math.isnan(report.di)
    assert (
        report.di.reason == "The privileged group 'm' has a selection rate of 0, and the ratio divides by it."
    )
    assert report.spd == -0.5


def test_precision_without_positive_predictions_is_nan_and_not_0():
    report = group_report([1, 0, 1, 0], [1, 0, 0, 0], ["m", "m", "f", "f"], privileged="m")

    assert math.isnan(report.rates["f"].precision)
    assert report.reason("prd") == "The unprivileged side has no rows with a positive prediction."


def test_one_group_alone_has_no_gap():
    report = group_report([1, 0], [1, 0], [7, 7], privileged=7)

    assert report.reason("sp_gap") == "There is only one group, so there is no pair to compare."
    assert report.reason("spd") == "The unprivileged side has no rows."
    assert math.isnan(report.interval("sp_gap").low)


def test_no_rows_give_a_report_of_nans_with_reasons():
    report = group_report([], [], [], privileged="m", scores=[])

    for name in MEASURES:
        assert math.isnan(report.value(name))
        assert report.reason(name) == "There are no rows."
    assert dict(report.rates) == {}


def test_without_labels_only_selection_is_known():
    report = group_report(
        None, [1, 0, 1, 1], ["a", "a", "b", "b"], privileged="b", scores=[0.1, 0.2, 0.3, 0.4]
    )
    known = {name for name in MEASURES if not report.reason(name)}

    assert known == {"spd", "di", "sp_gap"}
    assert (
        report.reason("auc")
        == report.reason("acc")
        == report.reason("eo_gap")
        == "No true labels were given."
    )
    assert report.rates["a"].selection == 0.5


def test_the_area_needs_scores_because_of_decisions_it_is_balanced_accuracy(report):
    """The published code calls balanced accuracy "auc"."""
    scores = [0.9, 0.4, 0.35, 0.8]
    ranked = group_report([1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1], scores=scores)
    hard = group_report([1, 1, 0, 0, 1], [1, 0, 0, 1, 1], [0] * 5, scores=[1, 0, 0, 1, 1])

    assert "No scores" in report.reason("auc")
    assert ranked.auc == 1.0
    assert hard.auc == pytest.approx(hard.balanced_accuracy)


def test_the_area_is_undefined_if_a_class_is_empty():
    report = group_report([0, 0], [1, 0], [0, 1], scores=[0.1, 0.2])

    assert report.auc.reason == "There are no rows with a positive label."


def test_weights_count_rows_several_times_in_rates():
    columns = _columns(TABLE)
    weights = np.random.default_rng(1).integers(0, 4, 40)
    weighted = group_report(**columns, weights=weights, privileged="m")
    repeated = group_report(
        **{name: np.repeat(values, weights) for name, values in columns.items()}, privileged="m"
    )

    for name in MEASURES:
        assert weighted.value(name) == pytest.approx(repeated.value(name), abs=1e-12, nan_ok=True)


def test_weights_make_intervals_approximate_and_wider():
    columns = _columns(TABLE)
    equal = group_report(**columns, weights=[3.0] * 40, privileged="m")
    unequal = group_report(**columns, weights=np.tile([1.0, 5.0], 20), privileged="m")

    assert equal.interval("spd") == equal.interval("spd", 0.95)
    assert tuple(equal.interval("spd")) == pytest.approx(
        tuple(group_report(**columns, privileged="m").interval("spd"))
    )
    kind = "Clopper-Pearson, effective size from the linearised variance, at most Kish's"
    assert equal.interval("acc").method == kind
    assert not equal.interval("acc").exact
    assert not equal.rate_interval("tpr", "m").exact
    assert np.subtract(*unequal.interval("acc")) < np.subtract(
        *equal.interval("acc")
    )  # low minus high: wider


def test_rows_without_weight_are_nobody():
    report = group_report([1, 0], [1, 0], ["a", "b"], weights=[0, 2.0], privileged="a")

    assert report.rates["a"].reasons["selection"] == "Group 'a' has no rows with a weight above 0."
    assert (
        report.rates["b"].reasons["tpr"]
        == "Group 'b' has no rows with a weight above 0 and a positive label."
    )


def test_intervals_are_those_of_the_named_methods(report):
    assert tuple(report.interval("spd", 0.9)) == pytest.approx(
        [float(each) for each in share_difference(9, 20, 4, 20, 0.9)]
    )
    assert tuple(report.interval("acc")) == pytest.approx([float(each) for each in clopper_pearson(31, 40)])
    assert tuple(report.rate_interval("tpr", "m", 0.8)) == pytest.approx(
        [float(each) for each in clopper_pearson(6, 8, 0.8)]
    )
    assert report.interval("acc").exact
    assert not report.interval("spd").exact
    assert report.interval("spd", 0.9).level == 0.9


def test_the_interval_of_f1_is_that_of_the_share_it_is_a_function_of(report):
    low, high = (float(each) for each in clopper_pearson(9, 18))

    assert tuple(report.interval("f1")) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))


def test_an_undefined_measure_has_an_interval_of_nans_with_the_reason(report):
    interval = report.interval("auc")

    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert interval.reason == report.reason("auc")


def test_an_undefined_rate_has_an_interval_of_nans_with_the_reason():
    report = group_report([0, 1], [0, 1], ["a", "b"])
    interval = report.rate_interval("tpr", "a")

    assert math.isnan(interval.low)
    assert interval.reason == "Group 'a' has no rows with a positive label."


def test_the_interval_of_the_area_names_its_method():
    perfect = group_report([1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1], scores=[0.9, 0.4, 0.35, 0.8])
    mixed = group_report([1, 0, 0, 1] * 5, [1, 0, 0, 1] * 5, [0, 0, 1, 1] * 5, scores=list(range(20)))

    assert perfect.interval("auc").method == "Newcombe score for the area"
    assert mixed.interval("auc").method == "DeLong on the logit scale"
    assert mixed.auc in mixed.interval("auc")


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, "95%", None, True, math.nan])
def test_a_level_outside_0_and_1_is_refused(report, level):
    with pytest.raises(InvalidParameterError, match="must be a number between 0 and 1"):
        report.interval("spd", level)


def test_unknown_names_are_refused_with_a_list(report):
    with pytest.raises(UnknownNameError, match="did you mean 'spd'"):
        report.value("sdp")
    with pytest.raises(UnknownNameError, match="Rate 'recall' is not known"):
        report.rate_interval("recall", "m")
    with pytest.raises(UnknownNameError, match="Worst-pair gap 'spd'"):
        report.worst_pair("spd")
    with pytest.raises(
        InvalidParameterError, match=re.escape("must be the label of one of the groups. Got 'x'")
    ):
        report.rate_interval("tpr", "x")


def test_a_privileged_group_that_does_not_occur_is_refused_without_telling_those_that_do():
    with pytest.raises(InvalidParameterError) as caught:
        group_report([1, 0], [1, 0], ["secret", "hidden"], privileged="Secret")

    assert "must be the label of one of the groups. Got 'Secret' instead." in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_scores_of_another_length_are_refused():
    with pytest.raises(
        InvalidParameterError, match="'scores' parameter of group_report must be as long as 'y_pred'"
    ):
        group_report([1, 0], [1, 0], [0, 1], scores=[0.5])


def test_a_report_can_be_made_from_counts(report):
    made = GroupReport(TABLE, "m")

    assert [made.value(name) for name in MEASURES[:4]] == [report.value(name) for name in MEASURES[:4]]


def test_a_value_survives_pickling_with_its_reason(report):
    """Studies send results between processes."""
    restored = pickle.loads(pickle.dumps(report.auc))

    assert math.isnan(restored)
    assert restored.reason == report.auc.reason


def test_every_measure_is_an_attribute_of_the_report_with_its_own_words():
    """Help on the class must say what a measure is, although all of them are made in one way."""
    report = group_report([1, 0], [1, 0], ["a", "b"], privileged="a")
    words = {name: getattr(GroupReport, name).__doc__ for name in MEASURES}

    assert len(set(words.values())) == len(MEASURES)
    assert all(repr(getattr(report, name)) == repr(report.value(name)) for name in MEASURES)
