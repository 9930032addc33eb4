"""Entities as dots, and tables that a reader sorts without a script, whatever they are given."""

import math
import re
from xml.etree import ElementTree as ET

import pytest

from evenhand.report.charts import spots_chart
from evenhand.report.html import render
from evenhand.report.marks import Axis, Class, Spot
from evenhand.report.page import Page, Section, Table

WORDS = {"name": "n", "alt": "a", "caption": "c"}
ACROSS, UP = Axis("people counted"), Axis("chance", "%", 100.0)
ODD = ["نساء", "女性", "a" * 300, "<b>&\"'", "", "\x00", "a\nb"]


def words(svg):
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def sound(chart):
    for svg in (chart.wide, chart.narrow):
        ET.fromstring(f"<g>{svg}</g>")
    return chart


def test_dots_have_their_numbers_and_the_first_their_names():
    spots = [Spot("Ash", 3, 0.42), Spot("Bay", 500, 0.01, second=True), Spot("Elm", 90_000, 0.0)]
    chart = sound(spots_chart(ACROSS, UP, spots, kinds=("has it", "has it not"), shares=True, **WORDS))

    assert "Ash: people counted 3, chance 42.0 %" in chart.wide
    assert "Ash" in words(chart.wide)
    assert chart.data["entity"] == ["Ash", "Bay", "Elm"]
    assert chart.data["kind"] == ["has it", "has it not", "has it"]
    assert chart.data["chance_percent"] == [42.0, 1.0, 0.0]
    assert [key.label for key in chart.legend] == ["has it", "has it not"]
    assert chart.legend[1].hollow


def test_what_is_below_the_floor_stands_on_it_and_the_axis_says_so():
    """A logarithmic axis has no zero."""
    chart = sound(spots_chart(ACROSS, UP, [Spot("a", 0.2, 0.3), Spot("b", 50, 1e-9)], **WORDS))

    assert "≤ 1" in words(chart.wide)
    assert "≤ 0.0001" in words(chart.wide)


def test_means_of_classes_and_how_many_there_are():
    classes = [
        Class("10 to 29", 10, 30, 15, 0.2, 4),
        Class("30 to 99", 30, 100, 60, 0.05, 1_000),
        Class("none", 1, 2, 1, math.nan, 0),
    ]
    chart = sound(spots_chart(ACROSS, UP, [Spot("a", 12, 0.3)], classes=classes, kinds=("one", ""), **WORDS))

    assert "10 to 29: 4 entities" in chart.wide
    assert "30 to 99: mean of 1,000" in chart.wide
    assert "how many entities, at most 1,000" in words(chart.wide)
    assert [key.label for key in chart.legend] == ["one", "mean of a class of sizes"]
    assert "kind" not in chart.data


def test_names_that_would_touch_are_left_out():
    spots = [Spot("a first long name", 100, 0.4), Spot("a second long name", 101, 0.4), Spot("far", 1, 0.1)]
    shown = words(sound(spots_chart(ACROSS, UP, spots, shares=True, **WORDS)).wide)

    assert "a first long name" in shown
    assert "a second long name" not in shown
    assert "far" in shown


def test_a_name_at_the_right_end_stands_to_the_left_of_its_dot():
    spots = [Spot("quite a long name of a county", 99_000, 0.4), Spot("b", 1, 0.2)]
    chart = sound(spots_chart(ACROSS, UP, spots, shares=True, **WORDS))

    assert "quite a long name of a county" in words(chart.wide)


@pytest.mark.parametrize("spots", [[], [Spot("a", math.nan, 0.5)], [Spot("a", 5, math.inf)]])
def test_nothing_to_draw_is_said(spots):
    chart = sound(spots_chart(ACROSS, UP, spots, **WORDS))

    assert "no values" in words(chart.wide)
    assert ("Not drawn for want of a value: 1 entity." in chart.caption) == bool(spots)


@pytest.mark.parametrize("name", ODD)
def test_names_stay_text(name):
    sound(spots_chart(Axis(name), Axis(name, name), [Spot(name, 5, 0.5)], kinds=(name, name), **WORDS))


# --- orders of a table --------------------------------------------------------------------------------


def page(*orders, rows=(("b", "1"), ("a", "2"))):
    table = Table(
        header=["Name", "Number"], rows=rows, numeric=[False, True], caption="**Exact.**", orders=orders
    )
    return render(Page(question="q", answers=("a",), sections=(Section("h", tables=(table,)),)))


def tables(text):
    found = re.findall(r'<table class="by-(\d)".*?</table>', text, re.DOTALL)
    bodies = re.findall(r'<table class="by-\d".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    return found, [re.findall(r"<span>(.*?)</span></th>", body) for body in bodies]


def test_every_order_is_a_table_of_its_own_that_a_button_shows():
    """A page may not run a script, so that all orders are there and CSS shows one."""
    text = page(("name", [1, 0]), ("number", [0, 1]))
    places, rows = tables(text)

    assert places == ["1", "2"]
    assert rows == [["a", "b"], ["b", "a"]]
    assert text.count(" checked>") == 1
    assert '<label for="t1-2">number</label>' in text
    assert "<legend>Sort by</legend>" in text
    assert "<b>Exact.</b>" in text
    assert "<script" not in text


def test_places_that_do_not_exist_and_too_many_orders_are_left_out():
    text = page(*[(f"order {each}", [5, -1, 1, 1, 0]) for each in range(9)])
    places, rows = tables(text)

    assert len(places) == 6
    assert rows[0] == ["a", "b"]


def test_a_table_without_orders_is_one_table():
    text = page()

    assert "radio" not in text
    assert text.count("<table>") == 1


@pytest.mark.parametrize("name", ODD)
def test_names_of_orders_stay_text(name):
    assert "<b>&" not in page((name, [0, 1]))
