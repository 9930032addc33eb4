"""Charts of a release: error against size, and levels against epsilon, whatever they are given."""

import math
import re
from xml.etree import ElementTree as ET

import pytest

from evenhand.report.charts import levels_chart, moved_chart, sizes_chart
from evenhand.report.html import render
from evenhand.report.marks import Axis, Estimate, Level, Moved, Sized, SizePanel
from evenhand.report.page import Page, Section, Table
from evenhand.report.scales import Decades, tick_text

WORDS = {"name": "n", "alt": "a", "caption": "c"}
AXIS = Axis("α", "people")
ODD = ["نساء", "女性", "a" * 300, "<b>&\"'", "", "\x00", "a\nb"]


def sized(size, error, bias=0.5, cells=4.0):
    return Sized(f"{size}", float(size), Estimate(error, 0.8 * error, 1.2 * error), Estimate(bias), cells)


def words(svg):
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def sound(chart):
    for svg in (chart.wide, chart.narrow):
        ET.fromstring(f"<g>{svg}</g>")
    return chart


# --- sizes ------------------------------------------------------------------------------------------


def test_sizes_are_drawn_with_their_numbers():
    panel = SizePanel("Laplace noise", "guarantee holds", "ok", [sized(2, 1.5), sized(200, 1.4, bias=-3.0)])
    chart = sound(sizes_chart([panel], **WORDS))

    assert "cells of 2 people: mean error 1.5, bias +0.50" in chart.wide
    assert "Laplace noise" in words(chart.wide)
    assert "guarantee holds" in words(chart.wide)
    assert chart.data["mean_error"] == [1.5, 1.4]
    assert chart.data["mean_bias"] == [0.5, -3.0]


def test_empty_cells_are_in_the_numbers_and_not_in_the_picture():
    """A logarithmic axis has no place for a cell of nobody."""
    panel = SizePanel("a", "", "bad", [sized(0, 1.0), sized(5, math.nan), sized(7, 2.0, bias=math.nan)])
    chart = sound(sizes_chart([panel], **WORDS))

    assert len(chart.data["cells"]) == 3
    assert "Not drawn for want of a value: 1 cell size." in chart.caption
    assert "no bias known" in chart.wide


def test_an_error_of_zero_stands_on_the_floor():
    panel = SizePanel("a", "t", "warn", [sized(5, 0.0, bias=0.0), sized(50, 20.0)])
    chart = sound(sizes_chart([panel, SizePanel("b", "t", "ok", [])], **WORDS))

    assert "no values" in words(chart.wide)
    assert any(each.startswith("≤ ") for each in words(chart.wide))


@pytest.mark.parametrize("label", ODD)
def test_odd_labels_break_no_chart(label):
    panel = SizePanel(label, label, "ok", [sized(5, 1.0)])

    sound(sizes_chart([panel], **WORDS))
    sound(levels_chart(AXIS, [Level(label, [1.0], [Estimate(2.0)])], chosen_epsilon=1.0, **WORDS))


# --- levels -----------------------------------------------------------------------------------------


def test_levels_have_lines_names_and_numbers():
    levels = [
        Level("Laplace noise", [0.5, 1.0], [Estimate(4.0, 3.9, 4.1), Estimate(2.0)]),
        Level("Suppression (threshold 6)", [], [Estimate(5.0)], strong=False),
        Level("Swapping", [], [Estimate(0.0)], strong=False),
    ]
    chart = sound(levels_chart(AXIS, levels, chosen_epsilon=1.0, **WORDS))

    assert "Suppression (threshold 6)" in words(chart.wide)
    assert "Suppression" in words(chart.narrow)
    assert "0" in words(chart.wide)
    assert chart.data["value"] == [4.0, 2.0, 5.0, 0.0]
    assert [key.label for key in chart.legend] == ["keeps a promise", "no meaningful guarantee"]
    assert "Laplace noise, ε = 1: α 2.00" in chart.wide


def test_names_that_would_be_the_same_without_brackets_keep_them():
    levels = [Level(f"Suppression (threshold {n})", [], [Estimate(n)], strong=False) for n in (5, 6)]
    chart = levels_chart(AXIS, levels, chosen_epsilon=None, **WORDS)

    assert {"Suppression (threshold 5)", "Suppression (threshold 6)"} <= set(words(chart.narrow))


def test_many_names_are_moved_apart():
    """Names on top of each other cannot be read."""
    levels = [Level(f"mechanism {n}", [1.0, 2.0], [Estimate(1.0), Estimate(1.0)]) for n in range(12)]
    chart = sound(levels_chart(AXIS, levels, chosen_epsilon=1.0, **WORDS))
    heights = [
        float(y)
        for y, text in re.findall(r"<text[^>]*translate\([0-9.]+,([0-9.-]+)\)[^>]*>(.*?)</text>", chart.wide)
        if text.startswith("mechanism")
    ]

    assert len(set(heights)) == len(heights) == 12


def test_nothing_and_what_is_no_number_is_said():
    nothing = levels_chart(AXIS, [], chosen_epsilon=None, **WORDS)
    lost = levels_chart(
        AXIS,
        [Level("a", [1.0, 2.0], [Estimate(math.nan), Estimate(3.0)]), Level("b", [], [Estimate(math.nan)])],
        chosen_epsilon=None,
        **WORDS,
    )

    assert "no values" in words(nothing.wide)
    assert "Not drawn for want of a value: 2 values" in lost.caption


def test_values_below_the_floor_are_said_to_be_small():
    levels = [Level("a", [1.0], [Estimate(0.004)]), Level("b", [1.0], [Estimate(0.5)])]

    assert any(
        "&lt; 0.01" in each for each in words(levels_chart(AXIS, levels, chosen_epsilon=1.0, **WORDS).wide)
    )


# --- pieces -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "low", "high"), [([3.0], 0, 1), ([], 0, 1), ([0.02, 5e4], -1, 5), ([1.0, 1000.0], 0, 3)]
)
def test_decades_hold_what_they_are_given(values, low, high):
    scale = Decades.over(values, pixels=100)

    assert (scale.low, scale.high) == (low, high)
    assert all(0 <= scale(value) <= 100 for value in [*values, 0.0, 1e9])


def test_many_powers_have_every_second_tick():
    assert len(Decades(0, 8, 100).ticks) == 5
    assert [tick_text(each) for each in (0.01, 1.0, 1e6)] == ["0.01", "1", "1 million"]


def test_the_marks_of_dumbbells_have_the_words_they_are_given():
    moved = [Moved(0, "women", Estimate(1.0), Estimate(0.9), Estimate(-0.1))]
    chart = moved_chart([(AXIS, moved)] * 5, words=("there are", "published"), most_columns=2, **WORDS)

    assert [key.label for key in chart.legend] == ["women", "there are", "published"]
    assert "women, published: 0.9" in chart.wide
    assert chart.columns == 2


def test_tags_of_a_table_are_words_in_a_tone():
    """A tag says in words what it says in colour."""
    table = Table(
        ["δ", "Guarantee"], [["0", "holds"], ["1", "none <b>"]], [False, False], tags={(1, 1): "bad"}
    )
    text = render(Page("q", ("a",), sections=(Section("h", tables=(table,)),)))

    assert '<span class="tag bad">none &lt;b&gt;</span>' in text
    assert text.count('<span class="tag') == 1
    assert 'data-name="δ"' in text
