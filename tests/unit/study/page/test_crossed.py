"""The map of crossed groups: its order, what it says of small groups, and what columns hide."""

import math

import pytest

import evenhand as eh
from evenhand.measure.disparities import Disparity
from evenhand.report import render
from evenhand.report.charts import groups_chart
from evenhand.report.marks import Axis, Estimate, GroupRow
from evenhand.study.page.crossed import GroupMap, crossed_section, rates_map
from evenhand.study.page.page import page_of
from evenhand.study.predictions.answers import answers as prediction_answers
from evenhand.study.predictions.sections import groups_section
from evenhand.study.tasks.collect.reading import CollectReading
from unit.report._parsing import Parsed
from unit.study._page_studies import crossed
from unit.study.predictions._cases import HIDDEN, SHOWN, audit, crossed_people

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

    assert ("no column shows by itself" in part.heading) == hidden
    assert [note.tone for note in part.notes] == ["warn" if hidden else "plain"]


def test_one_protected_column_has_no_map():
    """The twin of all others: a page of one column stays as it is."""
    truth, predicted, columns = crossed_people(HIDDEN)
    alone = audit(truth, predicted, columns["sex"])

    assert groups_section(alone).anchor == "groups"
    assert not alone.to_dict()["margins"]


@pytest.mark.parametrize(("rates", "hidden"), [(HIDDEN, True), (SHOWN, False)])
def test_predictions_are_called_out_as_group_report_does(rates, hidden):
    truth, predicted, columns = crossed_people(rates)
    found = audit(truth, predicted, columns)
    report = eh.measure.group_report(truth, predicted, columns)

    assert report.is_hidden() == hidden
    assert ("hide it" in prediction_answers(found)[1]) == hidden
    assert [note.tone for note in groups_section(found).notes] == ["warn" if hidden else "plain"]


def test_margins_of_an_audit_are_those_of_the_report():
    truth, predicted, columns = crossed_people(SHOWN)
    found = audit(truth, predicted, columns)
    report = eh.measure.group_report(truth, predicted, columns)

    for name, margin in report.margins.items():
        assert found.to_dict()["margins"][name]["value"] == pytest.approx(float(margin.sp_gap))


def test_small_groups_of_predictions_are_pooled_by_a_declared_rule():
    truth, predicted, columns = crossed_people(HIDDEN)
    columns["race"][:20] = ["asian"] * 20
    columns["race"][-20:] = ["asian"] * 20
    found = audit(truth, predicted, columns, pool_below=30)

    assert "other groups" in found.rows.labels
    assert any("fewer than 30 people" in note for note in found.rows.notes)
    with pytest.raises(eh.errors.InvalidParameterError, match="pool_below"):
        eh.measure.page(truth, predicted, columns, pool_below=0)


def test_a_privileged_combination_is_given_as_a_tuple():
    truth, predicted, columns = crossed_people(HIDDEN)
    page = eh.measure.page(truth, predicted, columns, privileged=("men", "white"))

    assert any("men, white" in part.heading.replace("\u00a0", " ") for part in page.sections)
    with pytest.raises(eh.errors.InvalidParameterError, match="privileged"):
        eh.measure.page(truth, predicted, columns, privileged=("men", "green"))


def test_a_crossing_of_ten_thousand_combinations_is_refused():
    rows = [str(place) for place in range(101)]
    with pytest.raises(eh.errors.InvalidParameterError, match="at most 1,000 combinations"):
        eh.measure.page(None, [0, 1] * 50 + [1], {"a": rows, "b": rows})


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
