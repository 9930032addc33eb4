"""Charts draw what they are given, leave out what has no value and say so, and never fail on odd labels."""

import math
import re
import sys
from xml.etree import ElementTree as ET

import pytest

from evenhand.errors import MissingExtraError
from evenhand.report.charts import bars_chart, frontier_chart
from evenhand.report.charts.curves import curves_chart
from evenhand.report.charts.effect_curve import lack_chart
from evenhand.report.charts.frontier import place_labels
from evenhand.report.drawing import Box, Segment
from evenhand.report.marks import Axis, Bar, Estimate, LackCurve, Lacking, Line, Panel, Point
from evenhand.report.scales import Linear
from unit.report._sample_page import ACCURACY, BASELINE, GAP, about, frontier_points

WORDS = {"name": "n", "alt": "a", "caption": "c"}
NAN = Estimate(math.nan)
ODD = [
    "نساء",
    "女性",
    "👩\u200d🔬",
    "a" * 400,
    "\x00\x1b[31m",
    "\ud800",
    "<b>&\"'",
    "",
    " ",
    "$x^2$",
    "{{ 7 }}",
    "datum.x",
    "a\nb",
    "\u202ekcab",
    "constructor",
    "__proto__",
]


def frontier(points, baseline=None, chosen=None):
    return frontier_chart(points, baseline=baseline, chosen=chosen, x=ACCURACY, y=GAP, **WORDS)


def panel(*lines, row="", baseline=None):
    return Panel(row, Axis("selection gap"), lines, baseline)


def curves(*panels):
    return curves_chart(panels, "n", alt="a", caption="c")


def titles(chart):
    return re.findall(r"<title>(.*?)</title>", chart.wide)


def words(svg):
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def sound(chart):
    for svg in (chart.wide, chart.narrow):
        ET.fromstring(f"<g>{svg}</g>")
        assert svg.startswith("<svg")
        assert "NaN" not in svg
        assert "undefined" not in svg
    lengths = {len(column) for column in chart.data.values()}
    assert len(lengths) == 1
    return chart


def test_each_setting_has_a_mark_that_says_what_it_is():
    points = frontier_points(protocols=("GRR", "OUE"), epsilons=(0.5, 1.0, 4.0))
    chart = sound(frontier(points, BASELINE, points[1]))
    marks = titles(chart)

    assert len(points) + 2 == len(marks)  # the unprotected result, and the chosen setting on its ring
    assert any(mark.startswith("OUE, uniform, ε = 4: accuracy 80.") for mark in marks)
    assert all(re.search(r"\(\d+\.\d to \d+\.\d\)", mark) for mark in marks)
    assert "this report: GRR, k-based, ε = 1" in words(chart.wide)
    assert "unprotected" in words(chart.narrow)


def test_both_axes_of_a_frontier_are_named_at_their_ends_and_cut_where_cut():
    """A cut axis makes small differences look large; who reads must be told on the chart itself."""
    shown = words(frontier(frontier_points(("GRR",), (1.0, 2.0))).wide)

    assert "accuracy, % (axis cut)" in shown
    assert "selection gap, points (axis cut)" in shown
    assert "better ↘" in shown
    assert "rotate" not in frontier(frontier_points(("GRR",), (1.0,))).wide


def test_an_axis_with_nought_is_not_called_cut():
    points = [
        Point("a", 1.0, "", Estimate(0.0), Estimate(-0.1)),
        Point("b", 2.0, "", Estimate(0.9), Estimate(0.1)),
    ]

    assert not any("cut" in word for word in words(frontier(points).wide))


def test_the_stronger_the_tone_the_more_private():
    chart = frontier(
        frontier_points(("GRR",), (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0, 50.0), ("uniform",))
    )

    assert [(key.label, key.colour) for key in chart.legend][:4] == [
        ("ε 0.25 to 1, most private", "p1"),
        ("2 to 4", "p2"),
        ("8 to 10", "p3"),
        ("20 to 50", "p4"),
    ]


def test_steps_join_the_undominated_and_nothing_joins_one():
    best = [Point(str(n), 1.0, "", Estimate(n / 10), Estimate(n / 10), undominated=True) for n in (1, 2, 3)]

    assert [key.label for key in frontier(best).legend][-1] == "best reached"
    assert "best reached" not in [key.label for key in frontier(best[:1]).legend]


def test_what_has_no_value_is_left_out_and_said():
    """A mark that silently vanishes looks as if it had never been tried."""
    points = [*frontier_points(("GRR",), (1.0, 2.0)), Point("OUE", 1.0, "uniform", NAN, Estimate(0.3))]
    chart = sound(frontier(points, Point("none", None, "", NAN, NAN), points[-1]))

    assert chart.caption == "c Not drawn for want of a value: 1 setting."
    assert not any("OUE" in title for title in titles(chart))
    assert chart.data["setting"][-1] == "OUE"
    assert chart.data["accuracy_percent"][-1] is None


@pytest.mark.parametrize("points", [[], [Point("a", None, "", Estimate(0.5), Estimate(0.5))]])
def test_a_frontier_of_nothing_or_one_is_still_a_picture(points):
    sound(frontier(points, chosen=points[0] if points else None))


def test_a_measure_has_one_scale_in_all_rows():
    """Panels of one measure are compared with each other by eye."""
    low, high = (
        Line("GRR", (1.0, 2.0), (about(0.1, 0.01), about(0.2, 0.01))),
        Line("GRR", (1.0, 2.0), (about(0.7, 0.01), about(0.8, 0.01))),
    )
    chart = sound(curves(panel(low, row="a"), panel(high, row="b")))
    first, second = (words(svg) for svg in chart.wide.split("</svg>")[:2])

    assert [word for word in first if "." in word] == [word for word in second if "." in word] != []
    assert chart.rows == ("a", "b")
    assert "← more private" in first
    assert "ε, log scale" in first


def test_every_tested_epsilon_has_a_mark():
    epsilons = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0, 50.0)
    line = Line("GRR", epsilons, [about(0.3, 0.01)] * 9)
    chart = sound(curves(panel(line, baseline=about(0.4, 0.01))))

    assert sum("ε = " in title for title in titles(chart)) == 9


@pytest.mark.parametrize(
    "drawn",
    [
        panel(),
        panel(Line("GRR", (1.0,), (Estimate(0.3),)), Line("a", (1.0,), (Estimate(0.2),))),
        panel(Line("GRR", (1.0,), (NAN,)), baseline=NAN),
    ],
    ids=["no lines", "one epsilon", "no value"],
)
def test_small_multiples_of_little_are_still_pictures(drawn):
    sound(curves(drawn))


def strokes(svg):
    """Return how many points each line of a picture has."""
    return [len(re.findall("[ML]", path)) for path in re.findall(r'<path[^>]* d="(M[^"Z]*L[^"Z]*)"', svg)]


def test_a_curve_has_a_gap_where_a_value_is_missing():
    """A line across the gap says that something was measured there."""
    epsilons, values = (0.5, 1.0, 2.0, 4.0, 8.0), (0.1, 0.2, math.nan, 0.3, 0.4)
    line = Line("GRR", epsilons, [Estimate(value) for value in values])
    whole = Line("GRR", epsilons, [Estimate(0.1)] * 5)

    assert strokes(curves(panel(whole)).wide)[-1:] == [5]
    assert strokes(curves(panel(line)).wide)[-2:] == [2, 2]


def test_what_is_lacking_has_a_gap_where_it_is_not_known():
    """As above: the epsilon may be the one whose runs failed."""
    lacks = (5.0, 4.0, math.nan, 2.0, 1.0)
    line = Lacking("noise", "page", (0.5, 1.0, 2.0, 4.0, 8.0), lacks, math.nan, math.nan)
    chart = lack_chart(LackCurve("t", "u", [line], 1.0, 0.0, "", "a"), name="n")

    assert chart.wide.count('stroke-width="2.4"') == 2


def test_an_interval_below_nought_keeps_no_room_for_numbers_there():
    """Room that is never used makes the bars shorter."""
    above = bars_chart(GAP, [Bar("a", Estimate(0.2, 0.1, 0.3))], **WORDS)
    across = bars_chart(GAP, [Bar("a", Estimate(0.2, -0.02, 0.3))], **WORDS)

    def longest(chart):
        start, end = re.search(r'd="M([0-9.]+),[0-9.]+L([0-9.]+)', chart.wide).groups()
        return float(end) - float(start)

    assert longest(across) > 0.85 * longest(above)


def test_labels_of_a_frontier_keep_off_the_cross_and_the_steps():
    """A name that lies on the interval hides what it says."""
    strokes = [Segment(40, 200, 260, 200), Segment(150, 120, 150, 280)]
    free, _ = place_labels(
        [(150, 200, "this report", "80%")], marks=[], lines=None, strokes=strokes, plot=(300, 400)
    )
    found = next(each for each in free if each.text == "this report")
    box = Box(found.x - 3, found.y - 12, 90, 34)

    assert not any(
        box.overlap(Box(min(s.x, s.x2) - 1, min(s.y, s.y2) - 1, abs(s.x2 - s.x) + 2, abs(s.y2 - s.y) + 2))
        for s in strokes
    )


def test_shares_have_no_axis_beyond_their_ends():
    """Minus fifty per cent of a group is nothing."""
    points = [Point(str(n), 1.0, "", Estimate(share), Estimate(0.1)) for n, share in enumerate((0.02, 0.97))]
    drawn = words(frontier(points).wide)
    scale = Linear.over([3.0, 98.0], pixels=200, within=(-100, 100))

    assert "0" in drawn
    assert "100" in drawn
    assert not any(each.startswith("−") or each == "150" for each in drawn)
    assert (scale.low, scale.high) == (0.0, 100.0)


def test_a_legend_names_only_intervals_that_there_are():
    line = Line("GRR", [1.0, 2.0], [Estimate(0.3), Estimate(0.4)])
    bare = curves(panel(line, baseline=Estimate(0.35)))

    assert [key.label for key in bare.legend] == ["GRR", "unprotected"]


def test_a_long_unit_does_not_hide_that_the_axis_is_cut():
    axis = Axis("gap", "points, " + "a very long name " * 9)
    line = Line("a", (1.0, 2.0), (Estimate(0.52), Estimate(0.57)))
    drawn = words(curves(Panel("", axis, [line])).narrow)

    assert any(each.endswith("…, axis cut") for each in drawn)


def test_bars_start_at_nought_and_carry_their_number():
    """A bar that starts elsewhere lies about the ratio of two numbers."""
    bars = [Bar("half", Estimate(0.2)), Bar("whole", about(0.4, 0.01), strong=True), Bar("none", NAN)]
    chart = sound(bars_chart(GAP, bars, **WORDS))
    lengths = [float(found) for found in re.findall(r'd="M[^h]*h([0-9.]+)', chart.wide)]

    assert {"20.0", "40.0", "(39.0 to 41.0)"} <= set(words(chart.wide))
    assert chart.caption.endswith("1 bar.")
    assert lengths == [] or max(lengths) == pytest.approx(2 * min(lengths), rel=0.1)


@pytest.mark.parametrize(
    "values", [(-0.2, 0.4), (-0.2, -0.4), (0.0, 0.0), ()], ids=["both", "below", "zero", "none"]
)
def test_bars_of_either_sign_are_drawn(values):
    sound(bars_chart(GAP, [Bar(f"bar {value}", about(value, 0.01)) for value in values], **WORDS))


def test_odd_labels_are_only_labels():
    """Labels come from data: no field name, expression or markup may be made of them."""
    points = [Point(odd, 1.0, odd, Estimate(0.1 * n), Estimate(0.1)) for n, odd in enumerate(ODD)]
    lines = [Line(odd, (1.0, 2.0), (Estimate(0.1), Estimate(0.2))) for odd in ODD]
    title = Axis(ODD[3], ODD[0])
    sound(frontier(points, chosen=points[3]))
    sound(curves(Panel(ODD[6], title, lines)))
    sound(bars_chart(title, [Bar(odd, Estimate(0.1)) for odd in ODD], **WORDS))


def test_the_same_chart_is_the_same_text():
    points = frontier_points(("GRR",), (1.0, 2.0))

    assert frontier(points, BASELINE, points[0]) == frontier(points, BASELINE, points[0])


@pytest.mark.parametrize(("module", "package"), [("altair", "altair"), ("vl_convert", "vl-convert-python")])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingExtraError, match=rf"needs the package '{package}'.*evenhand\[report\]"):
        bars_chart(GAP, [Bar("a", Estimate(0.1))], **WORDS)
