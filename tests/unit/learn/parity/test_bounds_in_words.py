"""What people read of bounds and changes, as text and as HTML."""

import numpy as np
import pytest

from evenhand.learn.parity.bounds import Bounds, GapBound
from evenhand.learn.parity.table import Changes


def bounds(sizes="noisy", measured=None):
    part = GapBound("positive rate", 0.05, 0.125, np.zeros(2), np.ones(2), measured=measured)
    return Bounds(0.01, 0.95, (part,), ("<b>", "b"), sizes)


@pytest.mark.parametrize(
    ("sizes", "told"), [("noisy", "hold noise"), ("public", "said to be public"), ("true", "not private")]
)
def test_bounds_say_from_which_sizes_they_were_made(sizes, told):
    """A bound from true sizes tells something about them; the reader has to know."""
    lines = repr(bounds(sizes)).splitlines()

    assert lines[:3] == [
        "Largest gap between 2 groups, target 0.010",
        "Gap of         expected <=  95 % sure <=",
        "positive rate        0.050         0.125",
    ]
    assert told in lines[3]
    assert told in bounds(sizes)._repr_html_()


def test_the_measured_gap_stands_beside_the_bounds():
    assert (
        repr(bounds(measured=0.031)).splitlines()[2] == "positive rate        0.050         0.125     0.031"
    )
    assert "0.031" in bounds(measured=0.031)._repr_html_()


def test_changes_are_told_by_group_and_for_all():
    changes = Changes(("<i>", "b"), np.array([0.2, 0.0]), np.array([0.0, 0.1]), np.array([0.25, 0.75]))

    assert changes.overall == pytest.approx(0.125)
    assert repr(changes).splitlines() == [
        "Share of people whose answer is changed, on average",
        "Group          up   down  changed",
        "<i>         0.200  0.000    0.200",
        "b           0.000  0.100    0.100",
        "all people  0.050  0.075    0.125",
    ]
    assert "<i>" not in changes._repr_html_()
    assert "&lt;i&gt;" in changes._repr_html_()
