import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from evenhand.collect import GRR
from evenhand.errors import InvalidParameterError
from evenhand.measure import MEASURES, RATES, group_report

REPORT = group_report([1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0], list("mmmmffff"), privileged="m")


def test_a_report_prints_as_two_aligned_tables():
    lines = repr(REPORT).splitlines()

    assert lines[0] == "Group report, privileged group: 'm'"
    assert lines[1].split() == [
        "group",
        "size",
        "selection",
        "tpr",
        "fpr",
        "accuracy",
        "precision",
        "base",
        "rate",
    ]
    assert lines[2].split() == ["f", "4", "0.250", "0.500", "0.000", "0.750", "1.000", "0.500"]
    assert "spd                 0.500  -0.286 to 0.845             0" in lines
    assert lines[-1].startswith("  auc: No scores were given")
    assert max(len(line) for line in lines) <= 100


def test_measures_with_one_reason_are_named_together():
    text = repr(group_report(None, [1, 0], [0, 1]))

    assert "  acc, f1, recall, balanced_accuracy, eo_gap, meo_gap: No true labels were given." in text
    assert "  spd, di, eod, ped, oad, prd: No privileged group was named." in text


def test_an_undefined_rate_prints_as_undefined():
    assert "undefined" in repr(group_report([1, 0], [0, 0], [0, 1]))


def test_weights_are_said():
    text = repr(group_report([1, 0], [0, 1], [0, 1], weights=[1.5, 2000]))

    assert "rates are weighted" in text.splitlines()[0]
    assert "2,000.0" in text


def test_a_report_without_undefined_measures_has_no_list_of_them():
    full = group_report(
        [1, 0, 1, 0] * 2, [1, 0, 0, 1] * 2, list("aaaabbbb"), privileged="a", scores=[0.9, 0.1, 0.4, 0.6] * 2
    )

    assert "Undefined" not in repr(full)
    assert "Undefined" not in full._repr_html_()


@pytest.mark.parametrize("payload", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a&b"])
def test_labels_are_escaped_in_html(payload):
    """Labels come from data files that somebody else may have written."""
    page = group_report([1, 0, 0], [1, 0, 0], [payload, "b", "b"], privileged=payload)._repr_html_()

    assert payload not in page
    assert page.count("<img") == page.count("<script") == 0


def test_the_html_has_the_numbers_with_true_minus_signs():
    page = REPORT._repr_html_()

    assert ">−0.333</td>" in page
    assert page.count("<table ") == 2


@pytest.mark.parametrize(("backend", "kind"), [("polars", pl.DataFrame), ("pyarrow", pa.Table)])
def test_frames_come_in_the_library_asked_for(backend, kind):
    assert isinstance(REPORT.to_frame(backend), kind)
    assert isinstance(REPORT.summary_frame(backend=backend), kind)


def test_the_frame_of_rates_has_one_row_per_group():
    frame = REPORT.to_frame("polars")

    assert frame.columns == ["group", "size", *RATES, "note"]
    assert frame["group"].to_list() == ["f", "m"]
    assert frame["precision"].to_list() == [1.0, 2 / 3]


def test_the_frame_of_rates_notes_what_is_undefined():
    frame = group_report([0, 1], [0, 1], ["a", "b"]).to_frame("polars")

    assert frame["note"][0] == (
        "tpr: Group 'a' has no rows with a positive label. "
        "precision: Group 'a' has no rows with a positive prediction."
    )


def test_the_summary_has_every_measure_with_its_interval_and_method():
    frame = REPORT.summary_frame(0.9, "polars")
    row = frame.row(MEASURES.index("spd"), named=True)
    interval = REPORT.interval("spd", 0.9)

    assert frame["measure"].to_list() == list(MEASURES)
    assert (row["value"], row["low"], row["high"], row["level"]) == (
        REPORT.spd,
        interval.low,
        interval.high,
        0.9,
    )
    assert (row["method"], row["exact"], row["no_disparity"], row["note"]) == (
        interval.method,
        False,
        0.0,
        "",
    )
    assert math.isnan(frame.row(MEASURES.index("auc"), named=True)["value"])


def _many(n_groups):
    return group_report([1, 0] * n_groups, [1, 0] * n_groups, np.repeat(np.arange(n_groups), 2))


@pytest.mark.parametrize(
    ("n_groups", "line"), [(30, None), (31, "and 1 more group;"), (40, "and 10 more groups;")]
)
def test_only_the_first_groups_are_shown(n_groups, line):
    report = _many(n_groups)
    rows = repr(report).splitlines()[2:34]

    assert rows[29].split()[0] == "29"
    assert rows[30].startswith(line or "")
    assert (rows[30] == "") == (line is None)
    assert (line or "</table><table ") in report._repr_html_()
    assert report._repr_html_().count('<th scope="row"') == 30 + 7


def test_printing_thousands_of_groups_compares_no_pairs(monkeypatch):
    """With 20,000 groups the intervals of all pairs took minutes, and a notebook prints by itself."""
    report = _many(20_000)
    monkeypatch.setattr("evenhand.measure.gaps.pair_blocks", None)
    text = repr(report)

    assert (
        "With more than 200 groups, intervals of sp_gap, eo_gap, meo_gap are left to interval(...)." in text
    )
    assert text.count("not computed") == 3
    assert "left to interval(...)" in report._repr_html_()
    assert len(text.splitlines()) < 60


def test_hundreds_of_groups_print_their_intervals():
    assert "not computed" not in repr(_many(200))


# --- labels that people read ------------------------------------------------------------------------

ROWS = ([1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1])


@pytest.mark.parametrize("privileged", [1, "White"])
def test_a_group_report_shows_labels_and_the_same_numbers(privileged):
    plain = group_report(*ROWS, privileged=1)
    named = group_report(*ROWS, privileged=privileged, labels={1: "White", 0: "Black"})

    assert list(named.rates) == ["Black", "White"]
    assert named.spd == plain.spd
    assert "White" in repr(named)
    assert "Black" in named._repr_html_()
    assert named.to_frame(backend="pyarrow").num_rows == plain.to_frame(backend="pyarrow").num_rows


@pytest.mark.parametrize("labels", [{0: "x", 1: "x"}, {1: ""}, {1: 3}, ["x"], {1: 0}])
def test_labels_that_do_not_tell_groups_apart_are_refused(labels):
    with pytest.raises(InvalidParameterError, match="'labels'"):
        group_report(*ROWS, labels=labels)


def test_an_estimate_shows_labels_in_text_and_frames():
    protocol = GRR(k=2, epsilon=2)
    estimate = protocol.estimate(protocol.privatize([0, 1, 1, 0], rng=1), labels=["Black", "White"])

    assert "White" in repr(estimate)
    assert estimate.to_frame(backend="pyarrow")["value"].to_pylist() == ["Black", "White"]
    assert "White" in repr(estimate.consistent())
