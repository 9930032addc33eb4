"""Pieces of charts: powers of ten, dumbbells, and tags of tables."""

import pytest

from evenhand.report.charts import moved_chart
from evenhand.report.html import render
from evenhand.report.marks import Axis, Estimate, Moved
from evenhand.report.page import Page, Section, Table
from evenhand.report.scales import Decades, tick_text

WORDS = {"name": "n", "alt": "a", "caption": "c"}
AXIS = Axis("α", "people")


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
