"""Axes hold what they show, with few round ticks, and say when they are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.drawing import Box, room_near
from evenhand.report.scales import Linear, Log, digits_between, labelled_ticks

VALUES = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(VALUES, min_size=1, max_size=20), st.integers(3, 10), st.booleans())
def test_a_scale_holds_its_values_with_few_ticks(values, most, zero):
    scale = Linear.over(values, pixels=200, most_ticks=most, from_zero=zero)

    assert scale.low <= min(values) <= max(values) <= scale.high
    assert 2 <= len(scale.ticks) <= most
    assert -1e-6 <= scale(min(values)) <= scale(max(values)) <= 200 + 1e-6
    assert not (zero and scale.cut)


@pytest.mark.parametrize(
    ("values", "cut"), [([33, 36], True), ([-3, -1], True), ([-1, 1], False), ([0, 4], False), ([], False)]
)
def test_an_axis_without_nought_is_cut(values, cut):
    """A small change on a cut axis looks large: the reader must be told."""
    assert Linear.over(values, pixels=100, margin=0).cut == cut


def test_what_is_not_finite_does_not_stretch_a_scale():
    assert Linear.over([1.0, float("nan"), float("inf"), 2.0], pixels=9) == Linear.over([1.0, 2.0], pixels=9)


@pytest.mark.parametrize(("ticks", "digits"), [((0, 2), 0), ((0, 0.5), 1), ((0, 0.02), 2), ((0, 1e-9), 7)])
def test_tick_labels_have_the_digits_they_need(ticks, digits):
    assert Linear(0, 1, ticks, 9).tick_digits == digits


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=12, unique=True), st.floats(120, 900))
def test_epsilons_lie_inside_the_axis_in_order(epsilons, pixels):
    scale = Log(tuple(sorted(epsilons)), pixels)
    places = [scale(tick) for tick in scale.ticks]

    assert places == sorted(places)
    assert all(7.9 <= place <= pixels - 7.9 for place in places)
    assert scale.domain[0] < scale.ticks[0]
    assert scale.ticks[-1] < scale.domain[1]


def test_labels_do_not_touch_and_the_chosen_one_stays():
    """Two labels in one place cannot be read, and the setting in question must be."""
    scale = Log((0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0, 50.0), 190)

    shown = labelled_ticks(scale, first=(10.0, 7.0), widths=[14.0] * 9)
    places = [scale(tick) for tick in shown]

    assert {0.25, 10.0, 50.0} <= set(shown)
    assert 8.0 not in shown
    assert min(b - a for a, b in pairwise(places)) >= 22


@pytest.mark.parametrize(
    ("values", "digits"),
    [([], 1), ([0.0], 1), ([5, 5], 1), ([0.001, 0.002], 4), ([1e-9, 2e-9], 6), ([2e4], 0)],
)
def test_digits_tell_values_apart(values, digits):
    assert digits_between(values) == digits


@given(st.floats(0, 300), st.floats(0, 200), st.floats(10, 280), st.floats(10, 60))
def test_a_label_stays_inside_the_plot(x, y, width, height):
    box = room_near(x, y, width=width, height=height, plot=(300, 200), taken=[])

    assert -1e-9 <= box.left <= 300 - width + 1e-9
    assert -1e-9 <= box.top <= 200 - height + 1e-9


def test_a_label_keeps_off_what_is_taken():
    marks = [Box(x, 80, 12, 40) for x in range(110, 300, 6)]

    box = room_near(100, 100, width=60, height=20, plot=(300, 200), taken=marks)

    assert sum(box.overlap(mark) for mark in marks) == 0


def test_a_label_wider_than_the_plot_starts_at_its_edge():
    assert room_near(5, 5, width=500, height=20, plot=(300, 200), taken=[]).left == 0
