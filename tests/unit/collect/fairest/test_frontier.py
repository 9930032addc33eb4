"""What fairness costs: the range of errors, and the curve between its ends."""

import numpy as np
import pytest

from evenhand.collect.fairest.optimum import error_range, fairest_channel, frontier
from evenhand.errors import InvalidParameterError

THREE = ([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1)


def test_the_range_of_errors_is_the_one_worked_out_before():
    """Users choose their budget from these three numbers."""
    found = error_range(*THREE)

    assert found.least == pytest.approx(0.420204182795, abs=1e-9)
    assert found.fair == pytest.approx(0.577681201748, abs=1e-9)
    assert found.grr == pytest.approx(2 / (np.e + 2), abs=1e-12)


@pytest.mark.parametrize("kind", ["ratio", "difference"])
def test_the_frontier_falls_from_the_least_error_to_no_unfairness(kind):
    """A curve that rises would say that more freedom makes it worse."""
    found = frontier(*THREE, points=5, kind=kind)

    assert (np.diff(found.errors) > 0).all()
    assert (np.diff(found.unfairnesses) <= 0).all()
    assert found.unfairnesses[-1] == 0
    assert (found.bounds <= found.unfairnesses).all()
    assert (found.unfairnesses - found.bounds <= 0.05 * found.unfairnesses).all()
    assert found.kind == kind


def test_each_point_is_the_fairest_channel_of_its_error():
    """The curve begins each point at the one before; it must not end elsewhere for that."""
    found = frontier(*THREE, points=4)
    for error, unfairness in zip(found.errors, found.unfairnesses, strict=True):
        assert unfairness == pytest.approx(fairest_channel(*THREE, error=error).unfairness, abs=1e-8)


def test_equal_rates_have_a_frontier_of_zero():
    """Both ends are the same error then."""
    found = frontier([0.5, 0.3, 0.2], [0.4] * 3, 1, points=3)

    assert found.unfairnesses.tolist() == [0, 0, 0]
    assert np.ptp(found.errors) < 1e-12


def test_a_frontier_cannot_be_written_to_and_says_how_far_it_is():
    """Long curves report their progress."""
    calls = []
    found = frontier([0.6, 0.4], [0.3, 0.5], 1.25, points=3, progress=lambda *at: calls.append(at))

    assert calls[0][0] == 1
    assert len(calls) == calls[-1][0] <= calls[-1][1]
    with pytest.raises(ValueError, match="read-only"):
        found.errors[0] = 0


@pytest.mark.parametrize(
    ("change", "match"),
    [({"points": 1}, "'points'"), ({"kind": "x"}, "'kind'"), ({"rates": [0, 0]}, "'rates'")],
)
def test_a_frontier_of_nothing_is_refused(change, match):
    given = {"weights": [0.5, 0.5], "rates": [0.2, 0.4], "epsilon": 1, **change}
    with pytest.raises(InvalidParameterError, match=match):
        frontier(**given)
