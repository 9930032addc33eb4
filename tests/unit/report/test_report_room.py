"""Words of charts have room: none is printed over another, and no line is without a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.charts import bars_chart, frontier_chart
from evenhand.report.charts.curves import curves_chart
from evenhand.report.language import LANGUAGES, written_in
from evenhand.report.marks import Axis, Bar, Estimate, Line, Panel, Point
from evenhand.report.theme import SHAPES
from evenhand.report.words import width_of, wrap_words
from unit.report._parsing import WordBox, word_boxes

pytestmark = pytest.mark.figures

WORDS = {"name": "n", "alt": "a", "caption": "c"}
LONG = "selection gap between people of the first and of the second group"
PERCENT, AMOUNT = Axis("accuracy", "%", 100.0), Axis(f"{LONG}, in dollars", "dollars")
EPSILONS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 100.0)


def about(value):
    return Estimate(value, value * 0.9, value * 1.1)


def overprinted(chart):
    """Return the pairs of words that touch and the words that leave their panel, at both widths."""
    faults = []
    for svg in (chart.narrow, chart.wide):
        for boxes, (width, height) in word_boxes(svg):
            faults += [
                (one.text, other.text)
                for place, one in enumerate(boxes)
                for other in boxes[place + 1 :]
                if one.touches(other)
            ]
            faults += [
                box.text for box in boxes
                if box.left < -1 or box.right > width + 1 or box.top < -1 or box.bottom > height + 1
            ]  # fmt: skip
    return faults


def test_words_that_touch_are_found_out():
    """The twin: a measure of boxes that sees nothing would pass everything below."""
    svg = (
        '<svg width="100" height="50"><g transform="translate(5,20)"><text>one word</text>'
        '<text transform="translate(20,4)">another</text></g></svg>'
    )
    ((boxes, size),) = word_boxes(svg)

    assert size == (100.0, 50.0)
    assert boxes[0].touches(boxes[1])
    assert not boxes[0].touches(WordBox("x", boxes[0].right + 1, 99, 0, 50))


LABELS = st.lists(
    st.text("abcdefghij MWi漢", min_size=1, max_size=60).filter(str.strip),
    min_size=1,
    max_size=24,
    unique=True,
)


@given(st.text("ab cMWi漢", max_size=80), st.floats(20, 200))
def test_wrapping_loses_no_letter_and_fits(text, width):
    lines = wrap_words(text, width)

    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width_of(line) <= width for line in lines if len(line) > 1)


def panel(count, *, times=1.0):
    lines = [
        Line(f"protocol {place}", EPSILONS, [about(times * (place + e)) for e in EPSILONS])
        for place in range(count)
    ]
    return Panel("", Axis("typical error", "people"), lines, about(times))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("times", [1e-3, 1.0, 1e6])
def test_measures_keep_their_words_apart(language, times):
    with written_in(language):
        chart = curves_chart([panel(3, times=times)], "n", alt="a", caption="c")

    assert overprinted(chart) == []


@pytest.mark.parametrize("count", [1, 2, 7, 8, 20])
def test_every_curve_has_a_look_and_a_name_of_its_own(count):
    """Two curves of one look cannot be told apart, and a shape without an outline has no mark in a legend."""
    keys = curves_chart([panel(count)], "n", alt="a", caption="c").legend[:count]

    assert [key.label for key in keys] == [f"protocol {place}" for place in range(count)]
    assert len({(key.mark, key.colour) for key in keys}) == count
    assert len({key.mark for key in keys}) == len({key.colour for key in keys}) == min(count, 7)
    assert {key.mark for key in keys} <= set(SHAPES)


POINTS = [
    Point(f"p{n}", 2.0**n, "uniform", about(0.5 + n / 20), about(1e6 * (n + 1)), n < 3) for n in range(6)
]
OTHERS = {
    "frontier": lambda: frontier_chart(
        POINTS, baseline=None, chosen=None, x=PERCENT, y=AMOUNT, **WORDS
    ),
    "bars": lambda: bars_chart(
        Axis("budget", "people"), [Bar(f"{LONG} {n}", about(3e6 * n)) for n in range(5)], **WORDS
    ),
    "bars of both signs": lambda: bars_chart(
        Axis("budget", "people"), [Bar(f"{LONG} {n}", about(3e6 * n)) for n in (-9, 4, 7)], **WORDS
    ),
    "bars of very long numbers": lambda: bars_chart(
        Axis("budget", "people"), [Bar(f"{LONG} {n}", about(3e15 * n)) for n in (-9, 4, 7)], **WORDS
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_charts_keep_their_words_apart(name):
    assert overprinted(OTHERS[name]()) == []
