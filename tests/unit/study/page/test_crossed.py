"""The map of crossed groups: its order, what it says of small groups, and what columns hide."""

import math

import pytest

from evenhand.measure.disparities import Disparity
from evenhand.report import render
from evenhand.report.charts import groups_chart
from evenhand.report.marks import Axis, Estimate, GroupRow
from evenhand.study.page.crossed import GroupMap, crossed_section, rates_map
from evenhand.study.page.page import answers, page_of
from evenhand.study.tasks.collect.page.frontier import measures_section
from evenhand.study.tasks.collect.reading import CollectReading
from unit.report._parsing import Parsed
from unit.study._page_studies import crossed

LOW_LAST = (0.8, 0.2, 0.2, 0.8)


def test_the_worst_off_group_comes_first_and_small_ones_last():
    found = rates_map(
        CollectReading.of(crossed((0.5,) * 4, (0.6, 0.1, 0.3, 0.8), people=(200.0, 8.0, 200.0, 200.0)))
    )

    assert [row.few for row in found.rows] == [False, False, False, True]
    assert [round(row.rate.value, 1) for row in found.rows] == [0.3, 0.6, 0.8, 0.1]
    assert found.rows[-1].label.replace("\u00a0", " ") == "women, white"


def test_a_small_group_has_an_interval_that_says_how_little_is_known():
    rows = rates_map(CollectReading.of(crossed(LOW_LAST, LOW_LAST, people=(200.0, 8.0, 200.0, 200.0)))).rows
    widths = {row.people: row.rate.high - row.rate.low for row in rows}

    assert widths[8.0] > 3 * widths[200.0]


def test_columns_of_which_nothing_is_known_hide_nothing():
    """Where no column by itself has groups of enough people, nobody can say that it shows no gap."""
    gap = Disparity("selection_gap", 0.5, 0.4, 0.6, "selection")
    unknown = Disparity("selection_gap", math.nan, math.nan, math.nan, "selection", reason="too_few")

    assert not GroupMap((), {}, gap, {"sex": unknown}).is_hidden
    assert not GroupMap((), {}, gap, {}).is_hidden


@pytest.mark.parametrize(("after", "hidden"), [(LOW_LAST, True), ((0.2, 0.2, 0.8, 0.8), False)])
def test_a_crossing_that_its_margins_hide_is_called_out_and_one_that_they_show_is_not(after, hidden):
    results = crossed(after, after, repeats=10)
    part = crossed_section(CollectReading.of(results))

    assert ("hide it" in answers(results)[1]) == hidden
    assert ("no column shows by itself" in part.heading) == hidden
    assert [note.tone for note in part.notes] == ["warn" if hidden else "plain"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_without_a_privileged_group_the_measures_name_no_gaps_with_a_sign(language):
    results = crossed(LOW_LAST, LOW_LAST)
    [chart] = measures_section(CollectReading.of(results, language=language)).charts

    assert results.facts.privileged is None
    assert not any(word in chart.alt for word in ("two other gaps", "zwei weitere Abstände"))
    assert not any(word in chart.caption for word in ("privileged", "privilegierte"))


def rows_of(count):
    return [
        GroupRow(f"Female, Asian-Pac-Islander, {place} to 49", 100.0 + place, Estimate(0.5, 0.4, 0.6))
        for place in range(10, 10 + count)
    ]


def test_thirty_names_are_whole_on_a_phone_and_labels_are_text():
    chart = groups_chart([(Axis("all", "%", 100.0), rows_of(30))], name="n", alt="a", caption="c")

    assert all(f"Islander, {place} to 49<" in chart.narrow for place in range(10, 40))
    assert "…" not in chart.narrow
    assert "(40.0 to 60.0)</text>" in chart.wide
    assert "(40.0 to 60.0)</text>" not in chart.narrow  # drawn alone, for no name is cut
    assert len(chart.data["group"]) == 30


def test_a_chart_without_any_rate_says_so():
    row = GroupRow("a", 0.0, Estimate(float("nan")))
    chart = groups_chart([(Axis("all", "%", 100.0), [row])], name="n", alt="a", caption="c")

    assert "Not drawn" in chart.caption


@pytest.mark.figures
def test_the_page_is_one_valid_file():
    text = render(page_of(crossed(LOW_LAST, LOW_LAST, repeats=10)))

    assert not Parsed(text).faults
    assert "no column shows by itself" in text
