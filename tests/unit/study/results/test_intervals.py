"""Means over repeats and what their intervals cover."""

import math
import re
import statistics
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidParameterError
from evenhand.measure.repeat_means import (
    _TABLE,
    FEWEST_REPEATS,
    check_kind,
    kind_words,
    means,
    means_of,
    why_no_interval,
)
from evenhand.study.tasks.collect.task import CollectTask

RUNS = [0.31, 0.28, 0.35, 0.30, 0.29]


def test_the_interval_of_the_mean_is_students():
    """Tables and pictures show it; a wrong quantile would make chance look like a finding."""
    found = means(np.array(RUNS), level=0.9)
    error = statistics.stdev(RUNS) / math.sqrt(len(RUNS))
    low, high = stats.t.interval(0.9, len(RUNS) - 1, loc=statistics.mean(RUNS), scale=error)

    assert float(found.value) == pytest.approx(statistics.mean(RUNS), rel=1e-14)
    assert float(found.standard_error) == pytest.approx(error, rel=1e-12)
    assert (float(found.low), float(found.high)) == pytest.approx((low, high), rel=1e-12)
    assert int(found.runs) == 5


def test_the_corrected_interval_is_wider_by_the_printed_factor():
    """Nadeau and Bengio: the variance of the mean has 1/n + test/train in place of 1/n."""
    extra = CollectTask(test=0.2).overlap
    plain, corrected = (means(np.array(RUNS), level=0.95, extra=each) for each in (0.0, extra))

    assert extra == pytest.approx(0.25)
    assert float(corrected.standard_error) == pytest.approx(
        float(plain.standard_error) * math.sqrt((1 / 5 + 0.25) / (1 / 5)), rel=1e-12
    )
    assert float(corrected.value) == float(plain.value)


def test_the_correction_of_folds_is_that_of_their_single_tests():
    """Under equal correlations the mean of k r tests has the variance s2 (1/(kr) + test/train)."""
    folds, repeats = 5, 4
    of_a_repeat = 0.03**2
    of_a_test = folds * of_a_repeat  # what r means of k tests say about one test
    extra = CollectTask(folds=folds).overlap

    assert of_a_repeat * (1 / repeats + extra) == pytest.approx(
        of_a_test * (1 / (folds * repeats) + 1 / (folds - 1))
    )


def test_undefined_values_are_left_out_and_counted():
    """A NaN that became 0 would invent a group without any disparity."""
    found = means(np.array([[0.2, np.nan, 0.4, np.inf], [np.nan] * 4]), level=0.95)

    assert found.value[0] == pytest.approx(0.3)
    assert found.runs.tolist() == [2, 0]
    assert np.isnan(found.value[1])
    assert np.isnan([found.low[1], found.high[1], found.standard_error[1]]).all()


def test_a_single_run_has_no_interval():
    """One draw says nothing about the spread of draws."""
    found = means(np.array([0.5]), level=0.95)

    assert float(found.value) == 0.5
    assert np.isnan([found.low, found.high, found.standard_error]).all()


def test_equal_runs_have_no_spread_at_all():
    """Rounding of a sum must not pass for variation: 0.1 three times is 0.1."""
    found = means(np.array([0.1, 0.1, 0.1]), level=0.95)

    assert (float(found.low), float(found.value), float(found.high)) == (0.1, 0.1, 0.1)
    assert float(found.standard_error) == 0


def test_no_repeats_are_no_crash():
    """An array without repeats has neither mean nor interval."""
    found = means(np.empty((2, 0)), level=0.95)

    assert np.isnan(found.value).all()
    assert found.runs.tolist() == [0, 0]


def test_seeds_are_not_corrected():
    """Of the three kinds one alone is about people who are not in the data."""
    kinds = ("student", "seeds", "corrected")
    errors = [
        float(means_of(np.array(RUNS), overlap=CollectTask().overlap, kind=kind, level=0.9).standard_error)
        for kind in kinds
    ]

    assert errors[0] == errors[1] < errors[2]
    assert "seeds" in kind_words("seeds", 0.9)
    assert "Nadeau" in kind_words("corrected", 0.9)
    assert kind_words("corrected", 0.9).startswith("90 % ")


def test_another_kind_is_refused_by_name():
    with pytest.raises(InvalidParameterError, match="must be one of 'seeds', 'corrected', 'student'"):
        check_kind("bootstrap", owner="summary")


TAIL = [0.30, 0.31, 0.29, 0.30, 0.10]


def test_the_half_on_the_side_of_the_tail_is_longer():
    """Few repeats miss a tail more often than they show all of it."""
    plain, found = means(np.array(TAIL), level=0.95), means(np.array(TAIL), level=0.95, spread="tailed")
    mirrored = means(-np.array(TAIL), level=0.95, spread="tailed")

    assert found.value - found.low > found.high - found.value > 0
    assert found.value - found.low > 2 * (plain.value - plain.low)
    assert (float(-mirrored.high), float(-mirrored.low)) == pytest.approx(
        (float(found.low), float(found.high))
    )
    assert float(found.standard_error) == float(plain.standard_error)


def test_the_stretch_of_five_repeats_is_the_printed_formula():
    """The numbers of the table, written out again."""
    lean = float(stats.skew(TAIL)) * math.sqrt(4) / 3
    plain, found = (means(np.array(TAIL), level=0.99, spread=each) for each in (None, "tailed"))
    growth = stats.t.ppf(0.995, 4) / stats.t.ppf(0.975, 4)

    assert -1 < lean < 0
    assert float(found.value - found.low) == pytest.approx(
        (1.45 + 4 * growth * -lean) * float(plain.value - plain.low), rel=1e-9
    )
    assert float(found.high - found.value) == pytest.approx(
        max(1.45 + 1.2 / growth * lean, 0.29) * float(plain.high - plain.value), rel=1e-9
    )


def test_many_repeats_need_little_stretch():
    """The correction is for few repeats: with many, the interval is nearly Student's."""
    runs = np.sin(np.arange(2000.0))
    plain = means(runs, level=0.95)
    for spread in ("even", "tailed", "group"):
        found = means(runs, level=0.95, spread=spread)
        assert float(found.high - found.low) == pytest.approx(float(plain.high - plain.low), rel=0.01)


@pytest.mark.parametrize("spread", ["accuracy, change", "selection, change"])
def test_the_change_of_one_group_has_an_interval_from_seven_repeats_on(spread):
    """Fewer often miss the repeats that matter, and no rule held both groups."""
    six, seven = (means(np.sin(np.arange(n)), level=0.95, spread=spread) for n in (6, 7))

    assert np.isnan([six.low, six.high]).all()
    assert six.standard_error > 0
    assert seven.low < seven.value < seven.high
    assert "7 repeats or more" in why_no_interval(spread, 6, error=0.1)
    assert why_no_interval(spread, 7, error=0.1) == ""


@pytest.mark.parametrize(
    ("spread", "shown"), [("tpr, protected", False), ("tpr, change", True), ("even", True)]
)
def test_a_rate_that_is_the_same_in_all_repeats_has_no_interval(spread, shown):
    """It is often 0 in most repeats and not in all: an interval of width 0 would miss its mean."""
    found = means(np.zeros(5), level=0.95, spread=spread)

    assert (not np.isnan([found.low, found.high]).any()) is shown
    assert (why_no_interval(spread, 5, error=0.0) == "") is shown


def test_a_ratio_has_a_mean_and_a_standard_error_and_no_limits():
    found = means(np.array(RUNS), level=0.95, spread="none")

    assert np.isnan([found.low, found.high]).all()
    assert float(found.standard_error) > 0


# --- the page on coverage -------------------------------------------------------------------------

PAGE = Path(__file__).parents[4] / "docs" / "background" / "inside-a-study.md"


def printed_rule():
    """Return the numbers of the tables of the page: by spread, then by how many repeats."""
    found = {}
    for table in re.findall(
        r"((?:^\| repeats.*\n)(?:^\|.*\n)+)", PAGE.read_text("utf-8"), flags=re.MULTILINE
    ):
        head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines())
        for row in rows:
            for title, cell in zip(head[1:], row[1:], strict=True):
                found.setdefault(title, {})[int(row[0].split()[0])] = cell
    return found


def test_the_page_prints_the_numbers_of_the_rule():
    """Who checks an interval by hand has only the page."""
    page = printed_rule()
    titles = {
        "tailed": "accuracy and its like: $w$, $a$, $b$",
        "even": "gaps and differences, precision of a group",
        **{name: name.replace("tpr", "true positive rate") for name in _TABLE if ", " in name},
    }

    assert set(titles.values()) == set(page)
    for name, title in titles.items():
        rows = {n: tuple(map(float, text.split(", "))) for n, text in page[title].items() if ", " in text}
        assert rows == {int(n): numbers for n, *rest in _TABLE[name] for numbers in (tuple(rest),)}, name
        assert all((page[title][n] == "none") == (n < FEWEST_REPEATS.get(name, 0)) for n in page[title])
