"""Runs of whole numbers on which nothing changes, against all of them."""

import numpy as np
import pytest

from evenhand.decide.exact.runs import Steps, expected_runs, run_starts


def _clipped(step, far):
    """Return, for each entity and v, the number compared with, as far as it matters."""
    v = np.arange(-far, far + 1)
    left = (step.threshold[:, None] - step.coefficient * v) // step.multiple
    return np.sign(left + 0.5) if step.reach < 0 else np.clip(left, -step.reach - 1, step.reach + 1)


@pytest.mark.parametrize("coefficient", [1, -1, 7, -7, 20, -131])
@pytest.mark.parametrize("multiple", [1, 3, 20, 10_000])
@pytest.mark.parametrize("reach", [-1, 1, 30])
def test_nothing_changes_within_a_run(coefficient, multiple, reach):
    """A change inside a run would be taken for its first value: a wrong probability, silently."""
    far = 40
    thresholds = np.random.default_rng(1).integers(-30_000, 30_000, 40)
    step = Steps(np.concatenate([thresholds, np.arange(-50, 51)]), coefficient, multiple, reach)
    other = Steps(step.threshold // 7, 3, 1, 5)
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
    rows, _ = run_starts([Steps(threshold, -131, 10_000, 10_800)], 10_800, 1)

    assert 200 < rows.size < 300
    assert expected_runs(-131, 10_000, 10_800, 10_800) == pytest.approx(rows.size, abs=5)
    assert expected_runs(20, 1, 10_800, 10_800) == 2 * 540 + 3
