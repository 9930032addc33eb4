"""What projected scores decide, curves of tolerances, and the tolerance that meets a gap."""

import numpy as np
import pandas as pd
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.learn.projection.curve import Curve, Decided, Judge, tolerance_that_meets
from evenhand.learn.projection.problem import KINDS, ScoredRows
from evenhand.measure import group_report
from unit.learn._projection_cases import random_case

NOTHING = np.zeros((3, 2))


def judged(kind, *, n=200, n_classes=2, k=3, shared=False, seed=1, labelled=True):
    scores, groups, labels = random_case(seed, n=n, n_classes=n_classes, k=k, shared=shared)
    judge = Judge(ScoredRows(scores, groups, k, kind), labels if labelled else None, groups, kind)
    return judge, scores, groups, labels


@pytest.mark.parametrize(("kind", "measure"), [("parity", "sp_gap"), ("odds", "meo_gap")])
def test_gaps_and_accuracy_are_those_of_a_group_report(kind, measure):
    judge, scores, groups, labels = judged(kind)
    report = group_report(labels, (scores[:, 1] > 0.5).astype(int), groups)
    decided = judge.judge(NOTHING, "kl")

    assert decided.gap == pytest.approx(report.value(measure), abs=1e-12)
    assert decided.accuracy == pytest.approx(report.value("acc"), abs=1e-12)
    first, second = (report.rates[s].selection for s in (0, 1))
    assert decided.signed == pytest.approx(second - first, abs=1e-12)


@pytest.mark.parametrize(("kind", "measure"), [("parity", "sp_gap"), ("odds", "meo_gap")])
def test_with_more_classes_the_worst_class_counts(kind, measure):
    """Each class against the others, by brute force."""
    judge, scores, groups, labels = judged(kind, n_classes=4)
    decided = scores.argmax(axis=1)
    worst = max(group_report(labels == c, decided == c, groups).value(measure) for c in range(4))

    assert judge.judge(np.zeros((3, 4)), "ce").gap == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_of_groups_are_weights(kind):
    known, scores, groups, labels = judged(kind)
    one_hot = np.eye(3)[groups]
    wanted = known.judge(NOTHING, "kl")
    for shares in (one_hot, np.broadcast_to(one_hot, (2, *one_hot.shape))):
        found = Judge(ScoredRows(scores, shares, 3, kind), labels, shares, kind).judge(NOTHING, "kl")

        assert (found.gap, found.accuracy) == pytest.approx((wanted.gap, wanted.accuracy))


def test_without_labels_there_is_a_gap_but_no_accuracy():
    judge, *_ = judged("parity", labelled=False)
    decided = judge.judge(NOTHING, "kl")

    assert decided.gap > 0
    assert np.isnan(decided.accuracy)


def some_curve(n=40):
    steps = np.linspace(0, 1, n)
    return Curve("parity", "kl", steps, (1 - steps) ** 2 / 10, steps / 4, 0.8 + steps / 100)


def test_a_curve_reads_as_a_small_table():
    lines = repr(some_curve()).splitlines()

    assert lines[0] == "Projection for parity by kl, 12 of 40 points"
    assert lines[1].split() == ["tolerance", "divergence", "gap", "accuracy"]
    assert lines[2].split() == ["0.000", "0.10000", "0.000", "0.800"]
    assert len(lines) == 14
    assert repr(some_curve(3)).splitlines()[0] == "Projection for parity by kl"


def test_a_curve_becomes_a_frame():
    frame = some_curve(5).to_frame()

    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["tolerance", "objective", "gap", "accuracy"]
    assert some_curve(5).to_frame(backend="pyarrow").num_rows == len(some_curve(5)) == 5


def test_a_curve_cannot_be_changed():
    curve = some_curve()
    with pytest.raises(ValueError, match="read-only"):
        curve.gap[0] = 0
    with pytest.raises(AttributeError):
        curve.kind = "odds"


# -- the tolerance that meets a gap ------------------------------------------------------------------


def meets(target, function, *, monotone, largest=1.0):
    def judge(tolerance):
        signed = function(tolerance)
        return Decided(abs(signed), 0.8, signed)

    return tolerance_that_meets(target, judge, largest, monotone=monotone, owner="example")


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_tolerance_that_meets_the_gap_is_found(monotone, sign):
    found = meets(0.1, lambda tolerance: sign * 0.4 * tolerance, monotone=monotone)

    assert found == pytest.approx(0.25, abs=1e-4)
    assert found <= 0.25


@pytest.mark.parametrize("sign", [1, -1])
def test_a_gap_that_was_over_corrected_is_passed_through(sign):
    """At tolerance 0 the other group is ahead; a search by the absolute gap would stop there."""
    found = meets(0.0001, lambda tolerance: sign * (tolerance - 0.3), monotone=True)

    assert found == pytest.approx(0.3001, abs=1e-5)


@pytest.mark.parametrize("monotone", [True, False])
def test_a_gap_that_the_estimator_has_needs_no_projection(monotone):
    assert meets(0.5, lambda tolerance: 0.4 * tolerance, monotone=monotone) == 1.0


@pytest.mark.parametrize("monotone", [True, False])
def test_a_gap_out_of_reach_is_refused_with_the_way_out(monotone):
    with pytest.raises(InvalidParameterError, match=r"about 0\.0500 or more.*post-processing"):
        meets(0.01, lambda tolerance: 0.05 + tolerance, monotone=monotone)


def test_a_gap_that_is_jumped_over_is_refused():
    """Decisions change row by row, and where many rows are equal, in one jump."""
    with pytest.raises(InvalidParameterError, match=r"about 0\.2000 or more"):
        meets(0.1, lambda tolerance: -0.2 if tolerance < 0.5 else 0.3, monotone=True)


@pytest.mark.parametrize("dip", [0.01, 0.505, 0.99])
def test_a_dip_between_two_points_of_the_grid_is_looked_for(dip):
    found = meets(0.1, lambda tolerance: 0.095 + 2 * abs(tolerance - dip), monotone=False)

    assert found == pytest.approx(dip + 0.0025, abs=2e-4)


def test_a_gap_that_only_points_between_the_grid_meet_is_found():
    grid = np.linspace(0, 1, 33)
    found = meets(0.1, lambda tolerance: 0.3 if tolerance in grid else 0.05, monotone=False)

    assert 0 < found < 1


def test_rows_without_a_group_cannot_be_counted():
    with pytest.raises(InvalidParameterError, match="every group has rows"):
        meets(0.1, lambda tolerance: np.nan, monotone=False)
