"""Accuracy against gap with bounds: every mark is drawn and named, and every number is in the CSV."""

import math

import pytest

from evenhand.report.charts.tradeoff import _Roots, tradeoff_chart
from evenhand.report.drawing import Drawing
from evenhand.report.marks import Axis, Estimate, Traded

X, Y = Axis("accuracy", "%", 100.0), Axis("selection gap", "points", 100.0)


def chart(marks, *, baseline=None, chosen=None, floor=0.008):
    return tradeoff_chart(
        marks,
        baseline=baseline,
        chosen=chosen,
        floor=floor,
        x=X,
        y=Y,
        name="t",
        alt="It is so.",
        caption="**C.**",
    )


def marks():
    return [
        Traded("DP", 1.0, Estimate(0.80, 0.79, 0.81), Estimate(0.35, 0.34, 0.36)),
        Traded("DP", 3.0, Estimate(0.81), Estimate(0.36)),
        Traded("DP + parity", 1.0, Estimate(0.74, 0.73, 0.75), Estimate(0.01, -0.002, 0.02), 0.016, 0.03),
        Traded("Plain + parity", None, Estimate(0.73), Estimate(0.012), 0.016, None),
    ]


PLAIN = Traded("Plain", None, Estimate(0.82), Estimate(0.34))


@pytest.fixture
def drawn(monkeypatch):
    """Keep what is drawn instead of making pictures of it."""
    kept = []
    real = Drawing.svg

    def svg(self):
        kept.append(self)
        return real(self) if not kept[1:] else "<svg/>"

    monkeypatch.setattr(Drawing, "svg", svg)
    return kept


def test_each_way_is_named_once_and_the_chosen_with_its_figures(drawn):
    given = marks()
    chart(given, baseline=PLAIN, chosen=given[2])
    words = [word.text for word in drawn[0]._words]

    assert [words.count(name) for name in ("DP", "DP + parity", "Plain + parity", "Plain")] == [1, 1, 1, 1]
    assert "ε = 1: 74.0%, 1.0\u00a0points" in words
    assert "equal rates would show about 0.8" in words
    assert "selection gap, points, square-root scale" in words


def test_the_csv_holds_bounds_and_intervals_in_the_unit_of_the_axes(drawn):
    del drawn
    data = chart(marks(), baseline=PLAIN).data

    assert data["method"] == ["DP", "DP", "DP + parity", "Plain + parity", "Plain"]
    assert data["accuracy_percent_low"][0] == 79
    assert data["bound_on_the_mean"] == [None, None, 1.6, 1.6, None]
    assert data["bound_95"] == [None, None, 3.0, None, None]


def test_the_legend_has_what_is_drawn_and_no_more(drawn):
    del drawn
    everything = [key.label for key in chart(marks(), baseline=PLAIN).legend]
    little = [key.label for key in chart(marks()[:1], floor=None).legend]

    assert everything == [
        "ε = 1, most private", "3", "not private", "plain", "up to the bound on the mean gap",
        "up to the bound with 95%",
    ]  # fmt: skip
    assert little == ["ε = 1"]


def test_what_voids_its_promise_is_hollow_and_called_not_private(drawn):
    """In the tone of its epsilon it would look as private as the others."""
    void = Traded("DP + projection", 9.0, Estimate(0.78), Estimate(0.03), is_private=False)
    found = chart([*marks(), void], chosen=void)
    words = [word.text for word in drawn[0]._words]

    assert [key.label for key in found.legend][:3] == ["ε = 1, most private", "3", "not private"]
    assert "DP + projection, not private" in words
    assert "trained with ε = 9: 78.0%, 3.0\u00a0points" in words
    assert found.data["private"] == [True, True, True, False, False]


def test_what_has_no_value_is_left_out_and_counted(drawn):
    del drawn
    missing = Traded("Local", 1.0, Estimate(math.nan), Estimate(math.nan))
    found = chart(
        [*marks(), missing], baseline=Traded("Plain", None, Estimate(math.nan), Estimate(0.1)), chosen=missing
    )

    assert "Not drawn for want of a value: 1 setting." in found.caption


def test_nothing_at_all_is_drawn_without_a_fault(drawn):
    del drawn
    assert chart([], floor=None).data["method"] == []


def test_marks_that_lie_together_have_a_line_to_their_names(drawn):
    crowd = [Traded(f"Way {place}", 1.0, Estimate(0.8), Estimate(0.1)) for place in range(7)]
    chart(crowd, baseline=PLAIN, chosen=crowd[0])

    assert {f"Way {place}" for place in range(7)} <= {word.text for word in drawn[0]._words}


def test_small_gaps_have_room_and_nought_is_at_the_bottom():
    scale = _Roots.over([36.0], pixels=400.0)

    assert scale(0.0) == 400
    assert scale(scale.high) == 0
    assert scale(10.0) == pytest.approx(200)
    assert scale.ticks == (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0)
    assert _Roots.over([], pixels=100.0).high == pytest.approx(1.1)
