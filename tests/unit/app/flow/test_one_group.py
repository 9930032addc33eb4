"""With one group chosen, every chart and table that tells groups apart shows that group alone."""

import re

import pytest

from evenhand.app.flow.result import _group_of, _table_of_group, load_results, read_result
from evenhand.report.page import Table
from unit.app.flow.conftest import FORMS, PUBLIC

pytestmark = pytest.mark.figures  # real studies, which take a while

GROUPS = {"groups": ["people", "poor"], "mitigations": []}
DECIDED = {
    "right": {"follows": "right", "rule": "poor/people > 0.2", **GROUPS},
    "money": {"follows": "money", "count": "people", "budget": "1000000", **GROUPS},
}


def charts_of(folder):
    results = load_results(folder)
    reading = results.plan.task.read(results)
    return reading, [chart for section in reading.page().sections for chart in section.charts]


def finish(study, kind, **changes):
    made = study(kind, columns=PUBLIC, **changes) if kind != "decide" else study(kind, **changes)
    made.run()
    return made.folder


@pytest.mark.parametrize("kind", ["collect", "release", "learn"])
def test_charts_of_groups_draw_one_group_alone(study, kind):
    """If this is false, somebody who looks for one group still sees all of them."""
    reading, charts = charts_of(finish(study, kind))
    drawn = [chart for chart in charts if chart.draw_group is not None]
    names = {group: reading.named(group) for group in reading.groups}

    assert drawn
    for chart in drawn:
        assert set(names.values()) <= set(chart.data["group"])
        for group, name in names.items():
            one = chart.draw_group(group)
            others = [other for other in names.values() if other != name]
            assert set(one.data["group"]) == {name}
            assert name in one.wide
            assert not any(f">{other}" in picture for other in others for picture in (one.wide, one.narrow))
            assert (one.name, one.columns) == (chart.name, chart.columns)


@pytest.mark.parametrize("what", DECIDED)
def test_charts_of_decisions_draw_one_group_alone(study, what):
    _, charts = charts_of(finish(study, "decide", form={"decide": {**FORMS["decide"], **DECIDED[what]}}))
    drawn = [chart for chart in charts if chart.draw_group is not None]

    for chart in drawn:
        assert chart.draw_group("poor").data["label"] == ["poor"]
    assert len(drawn) <= 1


def test_a_group_keeps_its_colour_where_it_is_drawn_alone(study):
    """A colour that changes with the filter would be read as another group."""
    _, charts = charts_of(finish(study, "collect"))
    chart = next(chart for chart in charts if chart.draw_group is not None)
    second = chart.draw_group("m")

    assert [key.colour for key in second.legend if key.label == "sex = m"] == [
        key.colour for key in chart.legend if key.label == "sex = m"
    ]


def test_crossed_groups_draw_one_combination_beside_the_columns(study):
    made = study("collect", columns=PUBLIC)
    roles = {**made.record.roles, "protected": ["sex", "race"], "privileged": ["m", "a"]}
    made.change(roles=roles).run()
    reading, charts = charts_of(made.folder)
    chart = next(chart for chart in charts if chart.name == "all-groups")
    one = chart.draw_group(reading.groups[0])
    first, second = (set(drawn.data["of"]) for drawn in (chart, one))
    rows = zip(one.data["of"], one.data["group"], strict=True)
    combinations = [name for of, name in rows if of == one.data["of"][0]]

    assert first == second
    assert combinations == [reading.named(reading.groups[0])]
    assert len(one.data["group"]) == len(chart.data["group"]) - len(reading.groups) + 1


def test_the_page_says_which_group_is_drawn_and_leaves_the_others_out(finished):
    whole, part = read_result(finished), read_result(finished, group="f")
    pictures = "".join(re.findall(r"<svg.*?</svg>", part.findings_html, re.DOTALL))

    assert "Only sex = f is drawn." in part.findings_html
    assert "Only" not in re.sub(r"<[^>]*>", "", whole.findings_html).split("drawn.")[0][-40:]
    assert ">sex = m:" in whole.findings_html
    assert ">sex = m:" not in pictures
    assert ">sex = f:" in pictures


def test_rows_and_columns_of_other_groups_leave_a_table():
    table = Table(
        header=["Group", "women selected\n%", "older women selected\n%", "people"],
        rows=[["women", "1", "2", "3"], ["older women", "4", "5", "6"], ["all", "7", "8", "9"]],
        numeric=[False, True, True, True],
        tags={(1, 2): "ok", (0, 1): "bad"},
        sunk=2,
        chosen=0,
        orders=[("size", (2, 0, 1))],
    )
    part = _table_of_group(table, {"w": "women", "o": "older women"}, "o")

    assert part.header == ["Group", "older women selected\n%", "people"]
    assert part.rows == [["older women", "5", "6"], ["all", "8", "9"]]
    assert part.tags == {(0, 1): "ok"}
    assert (part.sunk, part.chosen) == (1, None)
    assert part.orders == [("size", [1, 0])]


def test_a_table_without_groups_stays_as_it_is():
    table = Table(header=["ε"], rows=[["1"]], numeric=[True])

    assert _table_of_group(table, {"w": "women"}, "w") is table
    assert _group_of("accuracy", ["women"]) == ""
