"""What is public can be sent to another process, also after it was used."""

import copy
import pickle

import numpy as np
import pytest

from evenhand.measure import (
    CountTable,
    Interval,
    bias_from_runs,
    count_table,
    data_unfairness,
    group_report,
    noise_parts,
)

Y, P, G = [1, 0, 1, 0, 0], [1, 1, 0, 0, 1], ["a", "a", "b", "b", "c"]
COPIES = {
    "pickled": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
}


def _used_report():
    report = group_report(
        Y, P, G, privileged="a", scores=[0.9, 0.8, 0.2, 0.1, 0.5], weights=[1.0, 2.0, 1.0, 1.0, 0.5]
    )
    repr(report), report._repr_html_(), report.rates, report.spd, report.interval("sp_gap"), report.reasons
    return report


@pytest.mark.parametrize("how", COPIES)
def test_a_used_report_can_be_copied(how):
    """Parallel studies send reports between processes; a report that was looked at must go through."""
    report = _used_report()
    twin = COPIES[how](report)

    assert repr(twin) == repr(report)
    assert repr(dict(twin.rates)) == repr(dict(report.rates))
    assert twin.interval("auc") == report.interval("auc")
    assert twin.privileged == "a"


@pytest.mark.parametrize("how", COPIES)
def test_a_count_table_is_copied_with_its_lock(how):
    table = count_table(Y, P, G, weights=[1.0, 2.0, 3.0, 4.0, 5.0])
    twin = COPIES[how](table)

    assert (twin.groups, twin.labelled) == (table.groups, table.labelled)
    assert (twin.counts.tolist(), twin.squares.tolist()) == (table.counts.tolist(), table.squares.tolist())
    assert not twin.counts.flags.writeable
    assert not twin.squares.flags.writeable
    assert isinstance(twin, CountTable)


@pytest.mark.parametrize("how", COPIES)
def test_results_can_be_copied(how):
    parts = noise_parts([0.1, 0.3, 0.5, 0.7], split=[1, 1, 2, 2], mechanism=[1, 2, 1, 2])
    results = [
        parts,
        parts.parts[0],
        parts.interval(),
        Interval(0.1, 0.2, 0.95, "none", exact=False),
        _used_report().rates["a"],
        dict(_used_report().rates)["a"],
    ]

    assert [COPIES[how](each) for each in results] == results


@pytest.mark.parametrize("how", COPIES)
def test_the_rates_of_all_groups_can_be_copied(how):
    rates = group_report(Y, P, ["a", "a", "b", "b", "b"]).rates

    assert COPIES[how](rates) == rates
    assert list(COPIES[how](rates)) == ["a", "b"]
    assert len(rates) == 2


@pytest.mark.parametrize("how", COPIES)
def test_undefined_values_keep_their_reason(how):
    twin = COPIES[how](data_unfairness([0, 0], ["a", "b"]))

    assert np.isnan(twin)
    assert twin.reason.startswith("There are no rows with a positive label")


@pytest.mark.parametrize("how", COPIES)
def test_an_estimate_of_bias_can_be_copied(how):
    twin = COPIES[how](bias_from_runs([[3, 9], [1, 11]], [1, 10]))

    assert (twin.values.tolist(), twin.runs) == ([1.0, 0.0], 2)


def test_the_rates_of_a_report_cannot_be_written():
    with pytest.raises(TypeError):
        _used_report().rates["a"] = None
