"""The interval over repeats holds the true mean as often as it says; broken copies do not."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import binom

from evenhand.measure import repeat_means as intervals
from evenhand.measure.repeat_means import means
from evenhand.study.results.estimates import estimate
from evenhand.study.tasks.collect.task import CollectTask
from statistical._exact import ALPHA, Event, exact_events_pvalue
from statistical._repeat_laws import LAWS as REPEAT_LAWS
from unit._study_results import NOTHING, grr, study

STUDIES = 40_000
TRUE_CHANGE = -0.02


def runs(seed, *, repeats, studies=STUDIES):
    """Return unprotected and protected runs: splits move both, and each has noise of its own."""
    rng = np.random.default_rng(seed)
    split = rng.normal(0, 0.03, (studies, repeats))
    before = 0.8 + split + rng.normal(0, 0.004, (studies, repeats))
    after = 0.8 + TRUE_CHANGE + split + rng.normal(0, 0.006, (studies, repeats))
    return before, after


def coverage(low, high, truth, level):
    """Return the exact p-value of how many intervals hold the truth."""
    held = (low <= truth) & (truth <= high)
    return exact_events_pvalue(held, events=[Event(lambda each: each, level)])


@pytest.mark.statistical
@pytest.mark.parametrize("repeats", [2, 5, 20])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_paired_interval_holds_the_true_change_as_often_as_it_says(repeats, level):
    """Every finding of a report rests on this interval."""
    before, after = runs(7, repeats=repeats)
    found = means(after - before, level=level)

    assert coverage(found.low, found.high, TRUE_CHANGE, level) > ALPHA


@pytest.mark.statistical
def test_an_interval_that_ignores_the_pairs_is_seen():
    """The twin: two independent standard errors are far too wide here."""
    before, after = runs(8, repeats=5)
    one, two = (means(each, level=0.8) for each in (before, after))
    reach = float(stdtrit(8, 0.9)) * np.sqrt(one.standard_error**2 + two.standard_error**2)
    middle = two.value - one.value

    assert coverage(middle - reach, middle + reach, TRUE_CHANGE, 0.8) < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("wrong", ["normal quantile", "one degree too many", "variance over n"])
def test_an_interval_with_a_wrong_quantile_or_variance_is_seen(wrong):
    """The twins: each is a plausible slip."""
    before, after = runs(9, repeats=5)
    found = means(after - before, level=0.95)
    factor = {
        "normal quantile": 1.959964 / stdtrit(4, 0.975),
        "one degree too many": stdtrit(5, 0.975) / stdtrit(4, 0.975),
        "variance over n": np.sqrt(4 / 5),
    }[wrong]
    reach = (found.high - found.low) / 2 * factor

    assert coverage(found.value - reach, found.value + reach, TRUE_CHANGE, 0.95) < ALPHA


@pytest.mark.statistical
def test_leaving_out_undefined_values_keeps_the_level():
    """Repeats without a value, at random, must make the interval wider and not wrong."""
    before, after = runs(10, repeats=8)
    keep = np.random.default_rng(11).random(after.shape) < 0.8
    keep[:, :2] = True
    found = means(np.where(keep, after, np.nan) - before, level=0.9)
    as_nought = means(np.where(keep, after, 0.0) - before, level=0.9)

    assert coverage(found.low, found.high, TRUE_CHANGE, 0.9) > ALPHA
    assert coverage(as_nought.low, as_nought.high, TRUE_CHANGE, 0.9) < ALPHA


@pytest.mark.statistical
def test_results_give_the_interval_that_was_tested():
    """The figures above are about the function that tables and sentences use."""
    before, after = runs(12, repeats=6, studies=1)
    results = study({NOTHING: {"acc": before[0].tolist()}, grr(1): {"acc": after[0].tolist()}})
    change, alone = (means(each, level=0.9, spread="tailed") for each in (after - before, after))
    found = estimate(results, grr(1), "acc", against=NOTHING, level=0.9)

    assert (found.low, found.high) == (change.low[0], change.high[0])
    assert estimate(results, grr(1), "acc", level=0.9).low == alone.low[0]


PEOPLE, TESTED, SPLITS = 100, 20, 5


@pytest.fixture(name="tests_of_new_people", scope="module")
def _tests_of_new_people():
    """Return studies x splits of the mean over test rows, and of each study's mean over all its rows.

    Each study has people of its own, from a population of mean 0, and tests a fifth of them again and again.
    """
    rng = np.random.default_rng(13)
    rows = rng.normal(0, 1, (10_000, PEOPLE))
    tested = [rng.permuted(rows, axis=1)[:, :TESTED].mean(axis=1) for _ in range(SPLITS)]
    return np.stack(tested, axis=1), rows.mean(axis=1)


@pytest.mark.statistical
def test_the_interval_over_seeds_is_about_these_rows_and_too_short_for_new_people(tests_of_new_people):
    """What the docs say of it: 95 of 100 for these rows, far fewer for the population."""
    runs, of_these_rows = tests_of_new_people
    found = means(runs, level=0.95)

    assert coverage(found.low, found.high, of_these_rows, 0.95) > ALPHA
    assert coverage(found.low, found.high, 0.0, 0.95) < ALPHA
    assert ((found.low <= 0) & (found.high >= 0)).mean() < 0.9


@pytest.mark.statistical
def test_the_corrected_interval_makes_up_for_overlapping_tests(tests_of_new_people):
    """For the plainest measure, a mean over test rows, the correction is exact; with another it is not."""
    runs, _ = tests_of_new_people
    extra = CollectTask(test=TESTED / PEOPLE).overlap
    found = means(runs, level=0.95, extra=extra)
    twice = means(runs, level=0.95, extra=2 * extra)

    assert coverage(found.low, found.high, 0.0, 0.95) > ALPHA
    assert coverage(twice.low, twice.high, 0.0, 0.95) < ALPHA


# --- values with a tail ---------------------------------------------------------------------------

LAWS = {
    "normal": (lambda rng, shape: rng.normal(0, 1, shape), 0.0),
    "gamma of shape 2": (lambda rng, shape: -rng.gamma(2.0, 1.0, shape), -2.0),
    "exponential": (lambda rng, shape: -rng.exponential(1.0, shape), -1.0),
}
"""Losses of accuracy are between the last two at a small epsilon, near the first at a large one."""


def share_held(law, repeats, spread):
    draw, truth = LAWS[law]
    found = means(draw(np.random.default_rng(14), (STUDIES, repeats)), level=0.95, spread=spread)
    return float(((found.low <= truth) & (truth <= found.high)).mean())


@pytest.mark.statistical
@pytest.mark.parametrize("repeats", [5, 10, 20])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_values_with_a_tail_hold_the_mean_94_to_97_times_in_100(law, repeats):
    """What the documentation promises of accuracy and its like, whether or not they have a tail."""
    assert 0.94 <= share_held(law, repeats, "tailed") <= 0.97


@pytest.mark.statistical
@pytest.mark.parametrize("repeats", [5, 10, 20])
def test_students_interval_of_values_with_a_tail_is_seen_to_hold_less(repeats):
    """The twin: the rule that this one replaced fails the bound."""
    assert share_held("exponential", repeats, None) < 0.93
    assert share_held("gamma of shape 2", repeats, None) < 0.94


# --- repeats that are mostly equal ----------------------------------------------------------------


def count_misses(law, repeats, studies=20_000):
    """Return how many intervals that are shown miss the mean of a law."""
    draw, truth = REPEAT_LAWS[law]
    found = means(draw(np.random.default_rng(15), (studies, repeats)), level=0.95, spread="tailed")
    return int(((found.low > truth) | (found.high < truth)).sum())


@pytest.mark.statistical
@pytest.mark.parametrize("repeats", [5, 7, 10, 20, 30])
@pytest.mark.parametrize("law", REPEAT_LAWS)
def test_intervals_that_are_shown_miss_the_mean_in_at_most_six_of_a_hundred_studies(law, repeats):
    """Equal repeats have no interval, and where there is one it holds."""
    assert binom.sf(count_misses(law, repeats) - 1, 20_000, 0.06) > ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("repeats", [5, 7, 10])
def test_intervals_of_equal_repeats_are_seen_to_miss_the_mean(repeats, monkeypatch):
    """The twin: a change that is 0 in nine of ten repeats had intervals of width 0."""
    monkeypatch.setattr(intervals, "_are_mostly_equal", lambda tied, _: np.zeros_like(tied, dtype=bool))

    assert binom.sf(count_misses("0 in nine of ten, else 0.1", repeats) - 1, 20_000, 0.06) < ALPHA


PAGE = Path(__file__).parents[3] / "docs" / "background" / "inside-a-study.md"
ROWS = {
    "0 in nine of ten, else +0.1": ["0 in nine of ten, else 0.1"],
    "+0.01 in nine of ten, else −0.09": ["+0.01 in nine of ten, else -0.09"],
    "+0.01 in eight of ten, +0.011 in one, else −0.091": ["+0.01 in eight of ten, near it in one"],
    "rate of 40 people, of whom 5 in 100 change": ["rate of 40 people, 5 in 100 change"],
    "normal; exponential loss": ["normal", "exponential"],
}
"""Rows of the table of the page, and the laws they are about."""


def shown_and_missed(law, repeats):
    """Return in how many of 100 studies there is an interval, and in how many it misses the mean."""
    draw, truth = REPEAT_LAWS[law]
    found = means(draw(np.random.default_rng(repeats), (20_000, repeats)), level=0.95, spread="tailed")
    missed = (found.low > truth) | (found.high < truth)
    shown, missed = 100 * np.isfinite(found.low).mean(), 100 * missed.mean()
    return f"{shown:.{0 if shown > 10 else 1}f}, {missed:.1f}".replace("0.0", "0")


@pytest.mark.statistical
@pytest.mark.parametrize("row", ROWS)
def test_the_page_has_how_many_studies_show_an_interval_and_miss_the_mean(row):
    """A reader would rely on figures that nobody computes."""
    cells = ["; ".join(shown_and_missed(law, repeats) for law in ROWS[row]) for repeats in (5, 10, 30)]
    line = f"| {row} | {' | '.join(cells)} |"

    assert line in PAGE.read_text(encoding="utf-8"), line
