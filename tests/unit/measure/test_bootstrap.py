import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.measure import CountTable, GroupReport, bootstrap_interval, group_report
from evenhand.measure.bootstrap import _resample

COUNTS = np.array([[[30, 10], [10, 30]], [[40, 20], [30, 40]]])
REPORT = GroupReport(CountTable(("a", "b"), COUNTS), "a")


def _generator():
    return np.random.default_rng(12)


def test_the_same_generator_gives_the_same_interval():
    first, second = (bootstrap_interval(REPORT, "spd", generator=_generator()) for _ in range(2))

    assert first == second


def test_the_bootstrap_is_close_to_the_closed_form():
    for name in ("spd", "eod", "di", "acc"):
        found = bootstrap_interval(REPORT, name, generator=_generator(), repeats=20_000)

        assert tuple(found) == pytest.approx(tuple(REPORT.interval(name)), abs=0.05)


def test_a_statistic_of_your_own_equals_the_named_measure():
    def spd(counts):
        selection = counts[:, :, 1].sum(axis=1) / counts.sum(axis=(1, 2))
        return selection[0] - selection[1]

    own = bootstrap_interval(REPORT, spd, generator=_generator(), repeats=300)

    assert tuple(own) == pytest.approx(
        tuple(bootstrap_interval(REPORT, "spd", generator=_generator(), repeats=300))
    )


def test_resampling_within_groups_keeps_their_sizes():
    tables = _resample(COUNTS, 200, "groups", _generator())

    assert (tables.sum(axis=(2, 3)) == [80, 130]).all()


def test_resampling_rows_keeps_only_the_total():
    tables = _resample(COUNTS, 200, "rows", _generator())
    sizes = tables.sum(axis=(2, 3))

    assert (sizes.sum(axis=1) == 210).all()
    assert len(set(sizes[:, 0].tolist())) > 10


def test_resamples_have_the_observed_shares_on_average():
    for within in ("groups", "rows"):
        mean = _resample(COUNTS, 20_000, within, _generator()).mean(axis=0)

        np.testing.assert_allclose(mean, COUNTS, atol=6 * math.sqrt(40 / 20_000))


def test_resampling_a_row_twice_as_often_as_it_occurs_is_seen():
    """The twin of the test above."""
    wrong = COUNTS.copy()
    wrong[0, 1, 1], wrong[0, 0, 0] = 36, 24
    mean = _resample(wrong, 20_000, "groups", _generator()).mean(axis=0)

    assert np.abs(mean - COUNTS).max() > 6 * math.sqrt(40 / 20_000)


def test_undefined_resamples_are_left_out_and_counted():
    report = GroupReport(CountTable(("a", "b"), np.array([[[3, 0], [1, 0]], [[2, 2], [2, 2]]])), "a")
    interval = bootstrap_interval(report, "eod", generator=_generator())

    assert "undefined ones left out" in interval.method
    assert interval.low <= interval.high


def test_a_measure_that_is_never_defined_has_no_interval():
    report = GroupReport(CountTable(("a", "b"), COUNTS))
    interval = bootstrap_interval(report, "spd", generator=_generator())

    assert math.isnan(interval.low)
    assert interval.reason == "The statistic is undefined in every resample."


def test_an_empty_group_stays_empty():
    tables = _resample(np.zeros((1, 2, 2), dtype=int), 100, "groups", _generator())

    assert tables.sum() == 0


@pytest.mark.parametrize("generator", [0, None, np.random, np.random.RandomState(0)])
def test_only_a_generator_is_taken(generator):
    """No default and no seed: where randomness comes from is the caller's decision."""
    with pytest.raises(InvalidParameterError, match=r"'generator' .* must be a numpy random Generator"):
        bootstrap_interval(REPORT, "spd", generator=generator)


def test_a_generator_must_be_given():
    with pytest.raises(TypeError):
        bootstrap_interval(REPORT, "spd")


def test_weighted_reports_are_refused():
    weighted = group_report([1, 0], [1, 0], [0, 1], weights=[1, 2])

    with pytest.raises(InvalidParameterError, match="a report without weights"):
        bootstrap_interval(weighted, "sp_gap", generator=_generator())


@pytest.mark.parametrize("statistic", ["auc", "nonsense"])
def test_measures_that_the_table_does_not_hold_are_refused(statistic):
    with pytest.raises(UnknownNameError):
        bootstrap_interval(REPORT, statistic, generator=_generator())


@pytest.mark.parametrize(
    ("option", "value"), [("repeats", 99), ("repeats", 2.5), ("within", "people"), ("level", 1.5)]
)
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(InvalidParameterError, match=f"'{option}' parameter"):
        bootstrap_interval(REPORT, "spd", generator=_generator(), **{option: value})
