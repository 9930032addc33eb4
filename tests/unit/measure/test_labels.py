"""Groups and estimates are shown under the labels that people read."""

import pytest

from evenhand.collect import GRR
from evenhand.errors import InvalidParameterError
from evenhand.measure import group_report

ROWS = ([1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1])


@pytest.mark.parametrize("privileged", [1, "White"])
def test_a_group_report_shows_labels_and_the_same_numbers(privileged):
    plain = group_report(*ROWS, privileged=1)
    named = group_report(*ROWS, privileged=privileged, labels={1: "White", 0: "Black"})

    assert list(named.rates) == ["Black", "White"]
    assert named.spd == plain.spd
    assert "White" in repr(named)
    assert "Black" in named._repr_html_()
    assert named.to_frame(backend="pyarrow").num_rows == plain.to_frame(backend="pyarrow").num_rows


@pytest.mark.parametrize("labels", [{0: "x", 1: "x"}, {1: ""}, {1: 3}, ["x"], {1: 0}])
def test_labels_that_do_not_tell_groups_apart_are_refused(labels):
    with pytest.raises(InvalidParameterError, match="'labels'"):
        group_report(*ROWS, labels=labels)


def test_an_estimate_shows_labels_in_text_and_frames():
    protocol = GRR(k=2, epsilon=2)
    estimate = protocol.estimate(protocol.privatize([0, 1, 1, 0], rng=1), labels=["Black", "White"])

    assert "White" in repr(estimate)
    assert estimate.to_frame(backend="pyarrow")["value"].to_pylist() == ["Black", "White"]
    assert "White" in repr(estimate.consistent())
