"""Group measures against brute force on random tables (F1) and on every tiny table (F2)."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from evenhand.measure import MEASURES, RATES, CountTable, GroupReport, group_report
from property._measure_reference import measures_of, random_case

pytestmark = pytest.mark.figures

FROM_COUNTS = tuple(name for name in MEASURES if name != "auc")
CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


def _differs(actual, expected):
    if math.isnan(actual) or math.isnan(expected):
        return math.isnan(actual) != math.isnan(expected)
    return abs(actual - expected) > 1e-12


def _disagreements(report, case):
    expected, rates = measures_of(**case)
    wrong = [name for name in FROM_COUNTS if _differs(report.value(name), expected[name])]
    for group, slow in zip(case["groups"], rates, strict=True):
        fast = report.rates[group]
        wrong += [f"{rate} of {group}" for rate in RATES if _differs(getattr(fast, rate), slow[rate])]
    return wrong


def test_group_measures_equal_brute_force_on_ten_thousand_tables():
    """If this is false, every disparity the project prints is suspect."""
    generator = np.random.default_rng(20261115)
    wrong = []
    for _ in range(10_000):
        columns, options, case = random_case(generator)
        wrong += _disagreements(group_report(**columns, **options), case)

    assert wrong == []


def test_brute_force_sees_a_swapped_side():
    """The twin: a report with the wrong group privileged must not pass."""
    generator = np.random.default_rng(3)
    wrong = []
    for _ in range(100):
        columns, options, case = random_case(generator)
        if len(case["groups"]) > 1:
            options["privileged"] = case["groups"][0]
            case["privileged"] = case["groups"][1]
            wrong += _disagreements(group_report(**columns, **options), case)

    assert {"spd", "di", "eod", "ped", "oad", "prd"} <= set(wrong)


def _tiny_groups():
    for size in (0, 1, 2):
        yield from combinations_with_replacement(CELLS, size)


@pytest.mark.parametrize("privileged", ["a", "b", None])
def test_every_measure_of_tiny_groups_is_a_value_or_nan_with_a_reason(privileged):
    """A silent 0 for an empty group reads as "no disparity" (F2)."""
    for first, second in product(_tiny_groups(), repeat=2):
        rows = [("a", y, p, 1) for y, p in first] + [("b", y, p, 1) for y, p in second]
        table = np.zeros((2, 2, 2), dtype=np.int64)
        for group, y, p, _ in rows:
            table["ab".index(group), y, p] += 1
        report = GroupReport(CountTable(("a", "b"), table), privileged)

        assert (
            _disagreements(
                report, {"rows": rows, "groups": ["a", "b"], "privileged": privileged, "labelled": True}
            )
            == []
        )
        for name in MEASURES:
            value, interval = report.value(name), report.interval(name)
            assert (
                bool(value.reason)
                == math.isnan(value)
                == math.isnan(interval.low)
                == math.isnan(interval.high)
            )
            assert value.reason == report.reason(name) == interval.reason == report.reasons.get(name, "")
            if not value.reason:
                assert interval.low <= value + 1e-12
                assert value - 1e-12 <= interval.high
