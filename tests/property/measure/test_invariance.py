"""What must not change a measure, and what must change it in a known way."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.measure import MEASURES, count_table, data_unfairness, group_report

pytestmark = pytest.mark.figures

FROM_COUNTS = [name for name in MEASURES if name != "auc"]
rows = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=40)
two_groups = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 1)), min_size=1, max_size=40)


def _columns(table):
    y_true, y_pred, group = (np.array(column) for column in zip(*table, strict=True))
    return {"y_true": y_true, "y_pred": y_pred, "group": group}


def _same(first, second):
    return all(
        a == b or abs(a - b) <= 1e-12 or (math.isnan(a) and math.isnan(b))
        for a, b in zip(first, second, strict=True)
    )


def _figures(report):
    return [figure for name in FROM_COUNTS for figure in (report.value(name), *report.interval(name))]


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table, random):
    shuffled = table.copy()
    random.shuffle(shuffled)
    first, second = (
        group_report(**_columns(each), groups=range(4), privileged=0) for each in (table, shuffled)
    )

    assert _same(_figures(first), _figures(second))


@given(rows)
def test_the_names_of_groups_do_not_matter(table):
    columns = _columns(table)
    named = {**columns, "group": np.array(["delta", "alpha", "gamma", "beta"])[columns["group"]]}
    first, second = (
        group_report(**columns, groups=range(4), privileged=2),
        group_report(**named, groups=["delta", "alpha", "gamma", "beta"], privileged="gamma"),
    )

    assert _same(_figures(first), _figures(second))


@given(rows, st.integers(0, 40))
def test_parts_add_up_to_the_whole(table, place):
    parts = [part for part in (table[:place], table[place:]) if part]
    tables = [count_table(**_columns(part), groups=range(4)) for part in parts]
    total = tables[0] if len(tables) == 1 else tables[0] + tables[1]

    assert (total.counts == count_table(**_columns(table), groups=range(4)).counts).all()


@given(rows, st.floats(1e-6, 1e6))
def test_the_unit_of_weights_does_not_matter(table, factor):
    columns, weights = _columns(table), np.arange(1.0, len(table) + 1)
    first, second = (
        group_report(**columns, weights=each, groups=range(4), privileged=0)
        for each in (weights, factor * weights)
    )

    assert _same([first.value(name) for name in FROM_COUNTS], [second.value(name) for name in FROM_COUNTS])
    assert np.allclose(_figures(first), _figures(second), rtol=1e-6, atol=1e-6, equal_nan=True)


@given(two_groups)
def test_naming_the_other_of_two_groups_privileged_turns_every_sign(table):
    first, second = (group_report(**_columns(table), groups=[0, 1], privileged=each) for each in (0, 1))

    for name in ("spd", "eod", "ped", "oad", "prd"):
        low, high = second.interval(name)
        assert _same([first.value(name), *first.interval(name)], [-second.value(name), -high, -low])
    if first.di > 0 and second.di > 0:
        assert math.isclose(first.di * second.di, 1)


@given(rows)
def test_with_two_groups_the_gap_is_the_absolute_difference(table):
    columns = _columns(table)
    columns["group"] = columns["group"] % 2
    report = group_report(**columns, groups=[0, 1], privileged=0)

    assert _same([report.sp_gap], [abs(report.spd)])
    assert _same([report.meo_gap], [(abs(report.eod) + abs(report.ped)) / 2])
    assert _same(
        [report.eo_gap],
        [math.nan if math.isnan(report.eod + report.ped) else max(abs(report.eod), abs(report.ped))],
    )


@given(rows)
def test_data_unfairness_is_the_gap_of_the_labels(table):
    columns = _columns(table)
    report = group_report(None, columns["y_true"], columns["group"])
    found = data_unfairness(columns["y_true"], columns["group"], kind="difference")

    assert _same([found], [report.sp_gap])
    assert found.reason == report.reason("sp_gap")
