"""Means over repeats and what their intervals cover."""

import math
import re
import statistics
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidParameterError
from evenhand.measure.repeat_means import (
    _TABLE,
    FEWEST_REPEATS,
    Spread,
    check_kind,
    estimate_rows,
    kind_words,
    lean,
    means,
    means_of,
    stretches,
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
    assert "7 repeats or more" in why_no_interval(spread, 6, tied=1)
    assert why_no_interval(spread, 7, tied=1) == ""


# --- repeats that are mostly equal ----------------------------------------------------------------

WITH_INTERVALS = [spread for spread in get_args(Spread) if spread != "none"]


@pytest.mark.parametrize("spread", WITH_INTERVALS)
@pytest.mark.parametrize("value", [0.0, 0.1, -0.3])
@pytest.mark.parametrize("runs", [2, 3, 10, 200])
def test_what_is_the_same_in_all_repeats_has_no_interval(spread, value, runs):
    """It is often 0 in most repeats and not in all: an interval of width 0 would miss its mean."""
    found = means(np.full(runs, value), level=0.95, spread=spread)

    assert np.isnan([found.low, found.high]).all()
    assert (float(found.value), float(found.standard_error), int(found.tied)) == (value, 0, runs)
    assert "all gave the same value" in why_no_interval(spread, runs, tied=runs)


@pytest.mark.parametrize(
    ("runs", "tied", "shown"),
    [(2, 1, True), (3, 1, True), (3, 2, False), (4, 2, True), (4, 3, False), (9, 5, False), (10, 5, True)],
)
@pytest.mark.parametrize("far", [0.5, -0.5])
def test_more_than_half_that_are_equal_have_no_interval(runs, tied, shown, far):
    """A few values beside many equal ones say little about those that are rarer still."""
    values = np.array([0.01] * tied + [far * (1 + place) for place in range(runs - tied)])
    found = means(values, level=0.95, spread="even")

    assert bool(np.isfinite(found.low)) is bool(np.isfinite(found.high)) is shown
    assert (why_no_interval("even", runs, tied=int(found.tied)) == "") is shown


def slow_count_of_equals(values):
    """Return how many values the most frequent one has, up to rounding, without anything clever."""
    return max((sum(abs(one - other) < 1e-9 for other in values) for one in values), default=0)


def test_equal_repeats_are_counted_as_one_would_by_hand():
    """The fast count looks at the middle value only, which is enough for more than half."""
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        values = rng.choice([0.0, 0.01, 0.25, np.nan], size=rng.integers(1, 12), p=[0.5, 0.2, 0.2, 0.1])
        defined = values[np.isfinite(values)]
        by_hand = slow_count_of_equals(defined)
        found = means(values, level=0.95, spread="even")
        most = len(defined) > 1 and bool(2 * by_hand > len(defined))

        assert bool(np.isnan(found.low)) is (most or len(defined) < 2)
        assert not most or int(found.tied) == by_hand


def test_values_that_differ_by_rounding_are_equal():
    """0.3 - 0.1 and 0.2 are not the same number to a computer."""
    values = np.array([0.3 - 0.1, 0.2, 0.9 - 0.7, 0.8 - 0.6])
    assert len(set(values.tolist())) > 1

    assert np.isnan(means(values, level=0.95, spread="even").low)
    assert np.isnan(means(values - 0.2, level=0.95, spread="tailed").low)
    assert np.isnan(means(1e9 * values, level=0.95, spread="even").low)
    assert np.isfinite(means(values + np.arange(4) * 1e-8, level=0.95, spread="even").low)


def test_students_interval_of_equal_repeats_stays_as_it_is_in_the_literature():
    """Reproductions judge by it, and their verdicts must not change."""
    for kind, shown in (("student", True), ("seeds", False), ("corrected", False)):
        found = means_of(np.full(5, 0.1), overlap=0.25, kind=kind, level=0.95)
        assert bool(np.isfinite(found.low)) is shown
        assert (not shown) or float(found.low) == float(found.high) == 0.1


def test_what_is_computed_is_its_own_interval_where_it_is_equal():
    """Nothing was drawn, so that there is nothing that was not seen."""
    exact, drawn = (
        means(np.full(4, 0.1), level=0.95, spread="even", is_exact=each) for each in (True, False)
    )
    mixed = means(np.array([0.1, 0.1, 0.1, 0.3]), level=0.95, spread="even", is_exact=True)

    assert float(exact.low) == float(exact.high) == 0.1
    assert np.isnan([drawn.low, mixed.low]).all()


@pytest.mark.parametrize("repeats", [2, 3, 5, 7, 10, 30])
def test_values_that_all_differ_have_the_interval_that_they_always_had(repeats):
    """What is new must not make ordinary studies less sure of anything."""
    values = np.random.default_rng(repeats).normal(0, 0.01, (500, repeats))
    for spread in WITH_INTERVALS:
        student, found = (means(values, level=0.95, spread=each) for each in (None, spread))
        runs = np.full(500, repeats)
        halves = stretches(spread, runs, lean(values - student.value[:, None], runs), np.ones(500))

        for end, side, half in ((found.low, student.low, halves[0]), (found.high, student.high, halves[1])):
            np.testing.assert_allclose(end - found.value, (side - student.value) * half, rtol=1e-9)


# --- the rule by which two settings are compared -----------------------------------------------------


def estimated(values, *, level=0.95, within=(-1, 1), spread="even"):
    rows = np.array([values], dtype=float)
    return estimate_rows(rows, level=level, kind="seeds", within=within, spread=spread)[0]


def test_a_comparison_is_that_of_the_table():
    """Sentences, tables and advice must not disagree about one difference."""
    values = np.array([*RUNS, np.nan])
    found = estimated(values, level=0.9, within=(0.0, 0.37), spread="tailed")
    table = means(values, level=0.9, spread="tailed").within(0.0, 0.37)

    assert (found.value, found.standard_error, found.low, found.high) == table[:4]
    assert (found.high, found.runs, found.left_out) == (0.37, 5, 1)


def test_a_comparison_without_an_interval_says_why():
    """None and words, not a number that looks like an answer."""
    equal, mostly = estimated([0.01] * 8), estimated([0.01] * 7 + [-0.5])
    ratio, single, none = estimated(RUNS, spread="none"), estimated([0.1]), estimated([np.nan])

    for found in (equal, mostly, ratio, single, none):
        assert (found.low, found.high) == (None, None)
    assert "all gave the same value" in equal.note
    assert mostly.note.startswith(
        "No interval: 7 of 8 repeats gave the same value, so that rare ones far off"
    )
    assert "hangs on rare repeats" in ratio.note
    assert single.note == "There is a single repeat, so nothing is known about the spread: no interval."
    assert none.note == "It has no defined value in any repeat."


def test_a_ratio_has_a_mean_and_a_standard_error_and_no_limits():
    found = means(np.array(RUNS), level=0.95, spread="none")

    assert np.isnan([found.low, found.high]).all()
    assert float(found.standard_error) > 0


def test_a_note_says_once_that_all_repeats_are_equal():
    """Twice in one line reads as two findings."""
    assert estimated([0.25] * 8).note == why_no_interval("even", 8, tied=8)


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


def test_the_page_says_how_often_a_rare_loss_is_not_foreseen():
    """Equal on average: +1 person of 100 in nine of ten repeats, as people are drawn, and -9 in the tenth."""
    draws, better = np.random.default_rng(5), []
    for repeats in (7, 10, 20, 30):
        gain = draws.binomial(600, 0.01, (20_000, repeats)) / 600
        runs = np.where(draws.random(gain.shape) < 0.1, -0.09, gain)
        found = means(runs, level=1 - 0.05 / 6, spread="even")  # as for two candidates
        better.append(round(100 * np.mean((found.low > 0) | (found.high < 0))))
    first, *rest = better

    told = f"called better in {first} of 100 studies with 7 repeats, {rest[0]} with 10, {rest[1]} with 20 and"
    assert f"{told} {rest[2]} with 30." in PAGE.read_text("utf-8"), better
