"""A profile counts what is there, says how sure it is, and that it is not private."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm, studentized_range

from evenhand.errors import InvalidParameterError
from evenhand.measure import clopper_pearson, share_difference
from evenhand.study.profile.profiling import Profile, profile, profile_of_results
from evenhand.study.run.prepare import prepare
from unit._study_results import NOTHING, grr, study
from unit.study._advice_cases import made_profile
from unit.study._small_studies import people, plan


@pytest.fixture(name="rows", scope="module")
def _rows():
    return prepare(plan(), frame=people(2000))


def test_shares_and_sizes_are_those_of_the_rows(rows):
    """Everything else rests on them."""
    found = profile(rows)
    hired = [rows.target[rows.group == place].mean() for place in range(3)]

    assert found.people == 2000
    assert found.positive.value == pytest.approx(rows.target.mean())
    assert [group.positive.value for group in found.groups] == pytest.approx(hired)
    assert [group.people for group in found.groups] == list(rows.facts.sizes)
    assert [group.privileged for group in found.groups] == [False, False, True]
    assert found.gap.value == pytest.approx(max(hired) - min(hired))
    assert (found.ahead.label, found.behind.label) == ("south", "north")
    assert found.smallest.people == min(rows.facts.sizes)
    assert (found.sizes, found.combinations) == ({"region": 3, "age": 50}, 150)
    assert [pair.first for pair in found.clear_columns] == ["job"]
    assert found.has_rows


def test_intervals_are_those_of_shares_and_of_all_pairs(rows):
    """With k groups the gap is the largest of k (k - 1) / 2 differences and its interval says so."""
    found = profile(rows, level=0.9)
    counts = [(int(rows.target[rows.group == place].sum()), n) for place, n in enumerate(rows.facts.sizes)]
    each = 1 - 2 * norm.sf(studentized_range.ppf(0.9, 3, np.inf) / math.sqrt(2))
    pairs = [share_difference(*counts[one], *counts[two], each) for one, two in ((1, 0), (2, 0), (2, 1))]

    assert (found.groups[0].positive.low, found.groups[0].positive.high) == clopper_pearson(*counts[0], 0.9)
    assert found.gap.low == pytest.approx(max(low for low, _ in pairs))
    assert found.gap.high == pytest.approx(max(max(abs(low), abs(high)) for low, high in pairs))
    assert found.order_is_clear
    assert found.level == 0.9


def test_mirrored_outcomes_mirror_the_profile():
    """What was mostly positive is mostly negative, and the group ahead is the other one."""
    frame = people(2000)
    flipped = frame.set_column(
        3, "hired", pa.array(["no" if each == "yes" else "yes" for each in frame["hired"].to_pylist()])
    )
    one, two = (profile(prepare(plan(), frame=each)) for each in (frame, flipped))

    assert two.positive.value == pytest.approx(1 - one.positive.value)
    assert (one.ahead.label, one.behind.label) == (two.behind.label, two.ahead.label)
    assert two.gap.value == pytest.approx(one.gap.value)
    assert [pair.v for pair in one.among_sensitive] == [pair.v for pair in two.among_sensitive]


@pytest.mark.parametrize(
    ("share", "skew"), [(0.8, "positive"), (0.2, "negative"), (0.5, "unclear"), (0.555, "unclear")]
)
def test_skew_is_said_where_the_interval_is_beyond_even(share, skew):
    """A share of 51 % is not skewed, however many people say so."""
    assert made_profile(share=share).skew == skew


def test_undefined_dependences_come_last():
    """The strongest pair that is known must not hide behind one that is not."""
    frame = people(800)
    frame = frame.set_column(2, "job", pa.array(["job 1"] * 800))
    found = profile(prepare(plan(roles={"sensitive": ["region", "age", "job"]}), frame=frame))

    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))

    assert math.isnan(found.among_sensitive[-1].v.value)
    assert written["among_sensitive"][-1]["v"] == {"value": None, "low": None, "high": None}
    assert found.strongest == found.among_sensitive[0]
    assert "undefined" in str(found)


# --- from results alone, and how it reads ----------------------------------------------------------


def test_results_alone_give_shares_but_no_dependence():
    """Old results have no rows at hand."""
    runs = [0.7, 0.8]
    made = study({NOTHING: {"acc": runs, "sp_gap": runs}, grr(1): {"acc": runs, "sp_gap": runs}})
    found = profile_of_results(made)

    assert isinstance(found, Profile)
    assert [group.positive.value for group in found.groups] == pytest.approx([0.255, 0.255])
    assert found.positive.value == pytest.approx(0.255)
    assert not found.has_rows
    assert found.strongest is None
    assert not found.order_is_clear
    assert "not known without the rows" in str(found)


def test_results_without_an_unprotected_run_have_no_profile():
    """There is nothing to read the labels from."""
    made = study({grr(1): {"acc": [0.7], "sp_gap": [0.1]}})

    with pytest.raises(InvalidParameterError, match="must be results with an unprotected run"):
        profile_of_results(made)


def test_a_profile_says_that_it_is_not_private(rows):
    """It is computed from the true rows; nobody should publish it unawares."""
    found = profile(rows)

    assert "not private and not for publication" in str(found)
    assert "not private and not for publication" in found._repr_html_()  # what notebooks call


def test_text_from_data_cannot_break_the_page():
    """Labels come from the data (they may hold markup)."""
    made = made_profile()
    bad = type(made)(**{**vars(made), "label": "<script>\n", "protected": "<b>"})
    shown = bad._repr_html_()

    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "\n" not in str(bad).splitlines()[0]


def test_many_columns_are_counted_and_not_all_named():
    """A 40-column file must still fit a screen."""
    made = made_profile()
    many = type(made)(**{**vars(made), "clear_columns": made.clear_columns * 8})

    assert "3 weaker" in str(many)
