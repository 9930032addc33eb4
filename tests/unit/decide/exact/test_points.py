"""Points and weights between kinks, and runs of whole numbers on which no comparison changes."""

import numpy as np
import pytest

from evenhand.decide.exact import components
from evenhand.decide.exact.components import Component, Structure
from evenhand.decide.exact.points import ComparisonSteps, Kink, find_kinks, nodes, run_starts
from evenhand.privacy.laws import Gaussian, Laplace


def test_the_rule_is_exact_for_a_kinked_exponential_of_any_width():
    """A peak a thousand times narrower than the noise would fall between points chosen without its rate."""
    places = np.array([-3.0, 0.0, 11.0, 50.0])
    found = [Kink(np.zeros(4), 36.0, 1.0), Kink(places, 0.036, 1000.0)]
    low, high = np.full(4, -36.0), np.full(4, 36.0)
    rows, points, weights = nodes(found, low, high)
    narrow = np.exp(-1000 * np.abs(points - places[rows]))
    total = np.bincount(rows, weights=weights * np.exp(-np.abs(points)) / 2 * narrow, minlength=4)
    rate = 1000.0
    near = (np.exp(-np.abs(places)) * rate - np.exp(-rate * np.abs(places))) / (rate**2 - 1)

    assert np.allclose(total[:3], near[:3], rtol=1e-12, atol=0)
    assert total[3] == 0


def test_pieces_have_no_length_where_the_ends_meet():
    """A count clamped far above its noise has an atom and no integral."""
    rows, _, _ = nodes([Kink(np.zeros(2), 36.0, 1.0)], np.array([36.0, 0.0]), np.array([36.0, 36.0]))

    assert set(rows.tolist()) == {1}


def test_kinks_are_where_borders_meet():
    """A missed kink costs digits without a sign of it; here they are worked out by hand.

    v > 3; v + 2 u > 10; u > 1, with noise on u about 0 and a least value of -4 for it.
    """
    structure = Structure(
        (((0, 1),), ((0, 1), (1, 2)), ((1, 1),)), (True,) * 3, (Laplace(2), Laplace(5)), frozenset({1})
    )
    thresholds = {0: np.array([3]), 1: np.array([10]), 2: np.array([1])}
    found = find_kinks(
        structure, Component((0, 1, 2), (0, 1)), 0, thresholds=thresholds, floors={1: np.array([-4])}
    )
    places = sorted((float(kink.place[0]), kink.reach, kink.rate) for kink in found)

    assert [place for place, _, _ in places] == [0, 3, 8, 10, 18]
    assert places[0][1:] == (72, 0.5)  # its own noise
    assert places[1][1:] == (0, 0)
    assert places[2][1:] == (0, 0)  # both borders of u meet at u = 1
    assert places[3][1:] == pytest.approx((360, 0.1))  # the middle of u: changes over 2 * 5
    assert places[4][1:] == (0, 0)  # u at its least value


def test_a_chain_of_inputs_carries_its_widths():
    """What is narrow two inputs away is narrow here too, once the input between is integrated out."""
    structure = Structure(
        (((0, 1), (1, 1)), ((1, 1), (2, 1))), (True, True), (Gaussian(100), Gaussian(100), Gaussian("0.0001"))
    )
    thresholds = {0: np.array([0.0]), 1: np.array([5.0])}
    found = find_kinks(structure, Component((0, 1), (0, 1, 2)), 0, thresholds=thresholds, floors={})

    assert max(kink.rate for kink in found) == pytest.approx(3 / 0.01)
    assert any(kink.rate > 100 and kink.place[0] == -5 for kink in found)


def _clipped(step, far):
    """Return, for each entity and v, the number compared with, as far as it matters."""
    v = np.arange(-far, far + 1)
    left = (step.threshold[:, None] - step.coefficient * v) // step.multiple
    return np.sign(left + 0.5) if step.reach < 0 else np.clip(left, -step.reach - 1, step.reach + 1)


@pytest.mark.parametrize("coefficient", [1, -1, 7, -7, 20, -131])
@pytest.mark.parametrize("multiple", [1, 3, 20, 10_000])
@pytest.mark.parametrize("reach", [-1, 1, 30])
def test_no_comparison_changes_within_a_run(coefficient, multiple, reach):
    """A change inside a run would be taken for its first value: a wrong probability, silently."""
    far = 40
    thresholds = np.random.default_rng(1).integers(-30_000, 30_000, 40)
    step = ComparisonSteps(np.concatenate([thresholds, np.arange(-50, 51)]), coefficient, multiple, reach)
    other = ComparisonSteps(step.threshold // 7, 3, 1, 5)
    rows, starts = run_starts([step, other], far, step.threshold.size)
    marked = np.zeros((step.threshold.size, 2 * far + 1), dtype=bool)
    marked[rows, starts + far] = True

    assert marked[:, 0].all()
    for each in (step, other):
        changed = np.diff(_clipped(each, far), axis=1) != 0
        assert not (changed & ~marked[:, 1:]).any()
    assert (np.diff(rows * (2 * far + 1) + starts) > 0).all()


def test_runs_are_far_fewer_than_whole_numbers():
    """The sum over noise of scale 300 would otherwise take 21,601 terms for each entity."""
    threshold = np.array([131 * 10_050 - 10_000 * 140])
    rows, _ = run_starts([ComparisonSteps(threshold, -131, 10_000, 10_800)], 10_800, 1)

    assert 200 < rows.size < 300
    assert components._expected_runs(-131, 10_000, 10_800, 10_800) == pytest.approx(rows.size, abs=5)
    assert components._expected_runs(20, 1, 10_800, 10_800) == 2 * 540 + 3
