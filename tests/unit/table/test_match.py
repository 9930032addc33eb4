"""The rules of matching, one value at a time."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evenhand.schema import Domain
from evenhand.table.match import find_code, is_missing, largest_exact

WHOLE = Domain.integers(-(2**60), 2**60)


@pytest.mark.parametrize(
    "value",
    [
        None,
        math.nan,
        np.float32("nan"),
        np.float64("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "s"),
        np.timedelta64("NaT", "s"),
        Decimal("NaN"),
        Decimal("sNaN"),
    ],
)
def test_these_are_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize(
    "value",
    ["", 0, False, math.inf, "nan", [], (), b"", np.datetime64(0, "s"), Decimal(0), Decimal("Infinity")],
)
def test_these_are_not_missing(value):
    assert not is_missing(value)


def code(value, domain=WHOLE):
    found = find_code(value, domain)
    return None if found is None else found - 2**60


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (np.int8(-3), -3),
        (np.uint64(3), 3),
        (3.0, 3),
        (-0.0, 0),
        (np.float32(3), 3),
        (Decimal("3.00"), 3),
        (2**53 + 1, 2**53 + 1),
        (2.0**53 - 1, 2**53 - 1),
        (2.0**53, None),
        (-(2.0**53), None),
        (np.float32(2**24 - 1), 2**24 - 1),
        (np.float32(2**24), None),
        (np.float16(2047), 2047),
        (np.float16(2048), None),
        (np.longdouble(3), 3),
        (Decimal(2**53 + 1), 2**53 + 1),
        (3.5, None),
        (Decimal("3.5"), None),
        (math.inf, None),
        (Decimal("Infinity"), None),
        (Decimal("1e1000000"), None),
        (Decimal("1e-1000000"), None),
        (10**400, None),
        (True, None),
        (np.True_, None),
        ("3", None),
        (b"3", None),
        (Fraction(3), None),
        (3 + 0j, None),
        (np.datetime64(3, "s"), None),
    ],
)
def test_whole_numbers_match_what_they_equal_and_nothing_else(value, expected):
    assert code(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, 0),
        (np.float64(0.1), 0),
        (np.float32(0.1), None),
        (Decimal("0.1"), 0),
        (Decimal(3602879701896397) / 2**55, None),
        (1, 1),
        (1.0, 1),
        (2**60, 2),
        (2.0**60, 2),
        (2**60 + 1, None),
        (10**400, None),
        (True, None),
        ("0.1", None),
    ],
)
def test_numbers_match_exactly(value, expected):
    assert find_code(value, Domain.categorical([0.1, 1.0, 2.0**60])) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (0.5, 0),
        (1, 1),
        (1.0, 1),
        (Decimal("0.999"), 0),
        (2, 1),
        (2.0, 1),
        (2.000001, None),
        (-1, None),
        (-0.0, 0),
        (math.inf, None),
        (True, None),
        ("1", None),
        (np.float32(1), 1),
        (10**400, None),
    ],
)
def test_a_bin_holds_its_left_edge_and_the_last_bin_both(value, expected):
    assert find_code(value, Domain.binned([0, 1, 2])) == expected


def test_truth_values_match_truth_values_and_their_words():
    domain = Domain.categorical([True, False])

    assert [find_code(value, domain) for value in (True, np.False_, "true", "FALSE", 1, 0.0, "yes", "t")] == [
        0,
        1,
        0,
        1,
        None,
        None,
        None,
        None,
    ]
    assert find_code("false", Domain.categorical([True])) is None


def test_text_matches_text_only():
    domain = Domain.categorical(["1", "true", "a"])

    assert [
        find_code(value, domain) for value in ("1", np.str_("a"), "true", 1, True, b"a", "A", "\ud800")
    ] == [0, 2, 1, None, None, None, None, None]
    assert find_code("1", Domain.binned([0, 1, 2])) is None


def test_the_bound_of_exact_whole_numbers_depends_on_the_type():
    assert [largest_exact(np.dtype(name)) for name in ("float16", "float32", "float64", "longdouble")] == [
        2**11,
        2**24,
        2**53,
        2**53,
    ]
