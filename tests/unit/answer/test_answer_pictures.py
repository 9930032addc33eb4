"""The pictures of an answer show every group and every number once, and hide none behind another."""

import math
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from evenhand.answer.page import build_page
from evenhand.report.marks import EffectRow, LackCurve, Lacking
from unit.answer._views import NAN, VIEWS, collect_view, mark, money_view, nobody_view, release_view, view
from unit.report._parsing import word_boxes

WIDTHS = ("wide", "narrow")
EVERY_PANEL = [(name, place) for name, make in VIEWS.items() for place in range(len(make().panels))]


def drawn(made, place=0):
    """Return a panel of a view as a chart."""
    return build_page(made).head.picture.charts[place]


def curve_of(made):
    return build_page(made).head.choice.charts[0]


def words_of(svg):
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter("text")]


def tags(svg, name):
    return [element.attrib for element in ET.fromstring(svg).iter(name)]


def with_lines(made, *lines):
    return replace(made, panels=(made.panels[0]._replace(lines=lines),))


def random_lines(rng, count, *, has_remedy):
    """Return groups with values, limits and words as they come, hardly any of them round."""
    lines = []
    for place in range(count):
        due = float(rng.integers(0, 1000))
        stages = []
        for name in ("", "with a remedy"):
            value = float(np.clip(due + rng.normal(0, rng.choice([2, 60, 400])), 0, 1000))
            reach = float(rng.choice([0.0, 4.0, 150.0]))
            words = f"{abs(value - due):.0f} more {name}".strip()
            limits = (value - reach, value + reach) if reach else (NAN, NAN)
            stages.append(mark(due, value, *limits, is_harm=bool(rng.integers(2)), words=words))
        state = "few" if rng.random() < 0.15 else "calm"
        remedy = stages[1] if has_remedy else None
        label = f"Group {'x' * int(rng.integers(1, 60))} {place}"
        lines.append(
            EffectRow(label, label, f"{place + 30} people", due, f"{due:.0f}", stages[0], remedy, state)
        )
    return lines


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("name", "place"), EVERY_PANEL)
def test_every_group_is_drawn_once_in_the_order_of_the_view(name, place, width):
    """The most harmed must stand first, and nobody may be left out."""
    made = VIEWS[name]()
    said = words_of(getattr(drawn(made, place), width))

    labels = [line.label for line in made.panels[place].lines]
    assert [word for word in said if word in labels] == labels
    assert all(line.after.words in said for line in made.panels[place].lines)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("place", [0, 1])
def test_every_number_of_a_few_groups_stands_on_its_mark_once(place, width):
    """A reader takes the numbers from the picture; a missing or second one misleads."""
    made = collect_view()
    said = words_of(getattr(drawn(made, place), width))

    for line in made.panels[place].lines:
        for number in (line.due_shown, line.after.shown, line.remedy.shown):
            assert said.count(number) == 1, number


def test_equal_numbers_are_written_once():
    """Two equal numbers beside one mark look like two values."""
    line = EffectRow("a", "A", "", 43, "43", mark(43, 43, words="none"), mark(43, 43, words="none"), "calm")
    other = EffectRow(
        "b", "B", "", 91, "91", mark(91, 11, words="80 fewer"), mark(91, 91, words="none"), "harm"
    )

    said = words_of(drawn(with_lines(collect_view(), other, line)).wide)
    assert [said.count(number) for number in ("43", "91", "11")] == [1, 1, 1]


@pytest.mark.parametrize("make", [release_view, money_view])
def test_many_groups_have_their_numbers_in_words_and_table_alone(make):
    panel = len(make().panels) - 1
    lines = make().panels[panel].lines
    said = words_of(drawn(make(), panel).wide)

    harmed = {line.after.shown for line in lines if line.state == "harm"} - {"$1,000"}  # which is a tick
    assert len(harmed) >= 5
    assert not harmed & set(said)
    assert all(line.note.split(" ")[0] in said for line in lines)


def test_words_of_many_groups_are_whole():
    """If a column were as wide as its words but for rounding, each would end in dots."""
    for chance in range(1, 100):
        stage = mark(0, chance, NAN, NAN, is_harm=True, words=f"{chance} of 100 releases")
        lines = [EffectRow(f"c{at}", f"c{at}", "9 people", 0, "0", stage, None, "harm") for at in range(12)]

        assert stage.words in words_of(drawn(with_lines(collect_view(), *lines)).wide)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", range(30))
def test_no_words_of_the_main_picture_touch_or_leave_it(seed, width):
    """Numbers that lie on each other cannot be read."""
    rng = np.random.default_rng(seed)
    lines = random_lines(rng, int(rng.integers(1, 13)), has_remedy=bool(rng.integers(2)))
    chart = drawn(with_lines(collect_view(), *lines))

    for boxes, (across, down) in word_boxes(getattr(chart, width)):
        for place, box in enumerate(boxes):
            assert box.left >= -0.5, box
            assert box.right <= across + 0.5, box
            assert box.bottom <= down + 4, box
            assert [other for other in boxes[place + 1 :] if box.touches(other)] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("name", "place"), EVERY_PANEL)
def test_no_words_touch_in_the_pictures_of_the_views(name, place, width):
    for boxes, _ in word_boxes(getattr(drawn(VIEWS[name](), place), width)):
        assert [(a, b) for number, a in enumerate(boxes) for b in boxes[:number] if a.touches(b)] == []


def test_colour_is_harm_and_shape_is_the_stage():
    """Renters are harmed before and after the remedy, owners only with it."""
    svg = drawn(collect_view()).wide
    dots = [circle["fill"] for circle in tags(svg, "circle")]
    diamonds = [path["fill"] for path in tags(svg, "path") if path.get("fill", "none") != "none"]

    assert dots == ["var(--g1)", "var(--ink3)"]
    assert diamonds == ["var(--g1)", "var(--g1)"]


def test_one_group_is_one_row():
    made = collect_view()
    chart = drawn(with_lines(made, made.panels[0].lines[0]))

    assert len(tags(chart.wide, "circle")) == 1
    assert re.search(r'height="98"', chart.wide)


def test_counts_over_a_hundredfold_range_are_on_a_logarithm_with_zero():
    """On a plain axis three people and nine are one point."""
    chart = drawn(release_view())
    x = {"".join(text.itertext()): float(text.get("x")) for text in ET.fromstring(chart.wide).iter("text")}
    places = [x[tick] for tick in ("0", "1", "10", "100", "1,000", "10,000")]
    steps = [right - left for left, right in pairwise(places)]

    assert "log scale" in chart.rows[0]
    assert steps[-1] == pytest.approx(steps[-2], rel=0.01)
    assert steps[0] / steps[-1] == pytest.approx(math.log10(2), rel=0.02)


def test_counts_of_one_size_are_on_a_plain_axis():
    lines = release_view().panels[0].lines[2:4]

    assert "log scale" not in drawn(with_lines(release_view(), *lines)).rows[0]


def test_changes_too_small_to_see_are_drawn_as_changes_over_a_green_band():
    """Beside 0 to 400, a change of 4 is a point on its bar, whatever it means."""
    chart = drawn(nobody_view())
    said = words_of(chart.wide)
    bands = tags(chart.wide, "rect")

    assert "drawn as changes" in chart.rows[0]
    assert {"\u221210", "0", "+10"} <= set(said)
    assert {band["fill"] for band in bands} == {"var(--g3)"}
    assert len(bands) == 5, "the group that is too small has none"


def test_one_large_change_forbids_drawing_changes():
    lines = [*nobody_view().panels[0].lines]
    lines[0] = lines[0]._replace(after=mark(203, 120, 110, 130, is_harm=True, words="83 fewer"))
    chart = drawn(with_lines(nobody_view(), *lines))

    assert "drawn as changes" not in chart.rows[0]
    assert tags(chart.wide, "rect") == []


@pytest.mark.parametrize(("is_more_harm", "opens"), [(False, "right"), (True, "left"), (None, "")])
def test_the_band_is_open_on_the_side_of_gains(is_more_harm, opens):
    """A gain is never a harm, however large."""
    made = nobody_view()
    made = replace(made, panels=(made.panels[0]._replace(is_more_harm=is_more_harm),))
    svg = drawn(made).wide
    x = {"".join(text.itertext()): float(text.get("x")) for text in ET.fromstring(svg).iter("text")}
    band = tags(svg, "rect")[0]
    left, right = float(band["x"]), float(band["x"]) + float(band["width"])

    assert left == pytest.approx(x["\u221220"] if opens == "left" else x["\u221210"], abs=0.1)
    assert right == pytest.approx(x["+20"] if opens == "right" else x["+10"], abs=0.1)


def test_a_group_that_is_too_small_is_hollow_dashed_and_without_numbers():
    """A number beside it would be taken for a finding."""
    made = collect_view()
    few = made.panels[0].lines[1]._replace(state="few")
    few = few._replace(after=few.after._replace(words="too few to judge"))
    svg = drawn(with_lines(made, made.panels[0].lines[0], few)).wide
    said = words_of(svg)

    assert [circle["fill"] for circle in tags(svg, "circle")] == ["var(--g1)", "var(--card)"]
    assert any("stroke-dasharray" in path for path in tags(svg, "path"))
    assert "too few to judge" in said
    assert not {"361", "367", "352"} & set(said)


def test_a_group_that_is_too_small_is_not_drawn_where_it_is_not():
    """At the end of the axis its mark would be a value that it has not."""
    made = nobody_view()
    far = made.panels[0].lines[-1]._replace(after=mark(250, 90, 10, 320, words="too few to judge"))
    svg = drawn(with_lines(made, *made.panels[0].lines[:-1], far)).wide

    assert "var(--card)" not in [circle["fill"] for circle in tags(svg, "circle")]
    assert "too few to judge" in words_of(svg)


def test_groups_that_are_all_too_small_are_drawn_by_their_values():
    """Changes would say that they are too small to see, which nobody knows."""
    made = nobody_view()
    lines = [line._replace(state="few") for line in made.panels[0].lines]
    chart = drawn(with_lines(made, *lines))

    assert "drawn as changes" not in chart.rows[0]
    assert {circle["fill"] for circle in tags(chart.wide, "circle")} == {"var(--card)"}


def test_a_cut_axis_says_so():
    """Lengths from the edge of a cut axis mean nothing."""
    assert "axis cut" in drawn(money_view()).rows[0]
    assert "axis cut" not in drawn(collect_view()).rows[0]


def test_money_is_written_with_its_currency():
    assert "$1,300" in words_of(drawn(money_view()).wide)


def test_groups_that_are_not_drawn_are_told_below():
    made = collect_view()
    made = replace(made, panels=(made.panels[0]._replace(rest="The other 40: at most 12 fewer."),))

    assert drawn(made).caption == "The other 40: at most 12 fewer."


def test_what_is_not_known_is_not_drawn():
    """A mark at the edge of the axis would be a value."""
    line = EffectRow("a", "A", "", NAN, "", mark(0, 5, words="not stored"), None, "calm")
    blank = EffectRow("b", "B", "", 40, "40", mark(40, NAN, words="not stored"), None, "calm")
    other = collect_view().panels[0].lines[0]
    svg = drawn(with_lines(collect_view(), other, line, blank)).wide

    assert len(tags(svg, "circle")) == 1
    assert "nan" not in svg


@pytest.mark.parametrize(("name", "place"), EVERY_PANEL)
def test_the_words_of_a_picture_tell_its_numbers(name, place):
    """Whoever does not see the picture has only these."""
    panel = VIEWS[name]().panels[place]
    alt = drawn(VIEWS[name](), place).alt

    for line in panel.lines:
        assert line.label in alt
        assert line.due_shown in alt
        assert (line.after.words if line.state == "few" else line.after.shown) in alt


# --- the trade-off over epsilon -------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
def test_more_private_is_to_the_right_and_the_page_s_epsilon_is_bold(width):
    texts = ET.fromstring(getattr(curve_of(collect_view()), width)).iter("text")
    ticks = {"".join(text.itertext()): text for text in texts}
    places = [float(ticks[name].get("x")) for name in ("6", "3", "1.5", "0.75")]

    assert places == sorted(places)
    assert ticks["1.5"].get("font-weight")
    assert not ticks["3"].get("font-weight")


def test_the_recommended_line_is_ringed_and_the_page_s_own_has_the_hue_of_harm():
    svg = curve_of(collect_view()).wide
    rings = [circle for circle in tags(svg, "circle") if circle["r"] == "8.5"]
    strokes = {path["stroke"] for path in tags(svg, "path") if path.get("stroke-width") == "2.4"}

    assert len(rings) == 1
    assert strokes == {"var(--g1)", "var(--ink)"}


def test_nothing_is_ringed_where_nothing_is_advised_and_others_have_no_limits():
    """A ring around a harm looks like advice, and limits of many lines at one epsilon hide each other."""
    made = collect_view()
    page, other, _ = made.curve.lines
    lines = (page, other._replace(low=1, high=150))
    svg = curve_of(replace(made, curve=made.curve._replace(lines=lines))).wide

    assert [circle for circle in tags(svg, "circle") if circle["r"] == "8.5"] == []
    assert [path["stroke"] for path in tags(svg, "path") if path["stroke-width"] == "1.5"] == ["var(--g1)"]


def test_a_line_below_what_matters_has_not_the_hue_of_harm():
    svg = curve_of(nobody_view()).wide

    assert "var(--g1)" not in svg
    assert len([circle for circle in tags(svg, "circle") if circle["r"] == "8.5"]) == 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", range(15))
def test_names_of_lines_do_not_touch(seed, width):
    """Lines that end together would have their names on each other."""
    rng = np.random.default_rng(seed)
    epsilons = tuple(np.unique(np.round(2.0 ** rng.uniform(-5, 5, rng.integers(1, 9)), 3)).tolist())
    roles = ("page", "recommended", "other", "other", "other")
    lines = tuple(
        Lacking(f"the method {place}", role, epsilons, tuple(rng.uniform(0, 9, len(epsilons))), NAN, NAN)
        for place, role in enumerate(roles)
    )
    curve = LackCurve("Lack", "of 1,000", lines, epsilons[0], 5, "what matters: 5", "alt")

    for boxes, (across, down) in word_boxes(getattr(curve_of(view(curve=curve)), width)):
        for place, box in enumerate(boxes):
            assert [other for other in boxes[place + 1 :] if box.touches(other)] == []
            assert 0 <= box.left <= box.right <= across + 0.5
            assert box.bottom <= down + 4


def test_a_curve_holds_its_numbers():
    data = curve_of(collect_view()).data
    rows = set(zip(data["method"], data["epsilon"], data["worst_off_lack"], strict=True))

    assert len(rows) == 12
    assert ("Optimal", 1.5, 41) in rows


def test_the_axis_of_next_to_nothing_reaches_what_matters():
    """0.1 % of a group was drawn from side to side, as if its cells told nothing."""
    made = release_view()
    panel = made.panels[0]._replace(matters=5.0, scale="percent", effect="off")
    row = panel.lines[0]._replace(due=0.0, after=mark(0, 0.1, form="{:.1f}"), remedy=None)
    words = words_of(drawn(replace(made, panels=(panel._replace(lines=(row,)),))).wide)

    assert max(float(each.strip("%")) for each in words if re.fullmatch(r"[\d.]+%?", each)) >= 5
