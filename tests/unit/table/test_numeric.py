"""Codes of whole arrays of numbers, at the edges where arithmetic could go wrong."""

import numpy as np
import pytest

from evenhand.schema import Domain
from evenhand.table.column_codes import float_codes, integer_codes


def outcome(found):
    codes, outside = found
    return [
        None if wrong else int(code) for code, wrong in zip(codes.tolist(), outside.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "values", "domain", "expected"),
    [
        ("int64", [-(2**63), 2**63 - 1, 0], Domain.integers(-(2**63), -(2**63) + 5), [0, None, None]),
        ("int64", [-(2**63), 2**63 - 1], Domain.integers(2**63 - 5, 2**63 - 1), [None, 4]),
        ("uint64", [2**64 - 1, 0, 3], Domain.integers(-1, 3), [None, 1, 4]),
        ("uint64", [2**64 - 1, 2**63], Domain.integers(-5, -1), [None, None]),
        ("uint8", [255, 0], Domain.integers(-1, 0), [None, 1]),
        ("int8", [-128, 127, -1], Domain.integers(-1, 1_000), [None, 128, 0]),
        ("int8", [-128, 127], Domain.integers(300, 400), [None, None]),
        ("int16", [256, -256, 0], Domain.categorical([256, 0]), [0, None, 1]),
        ("uint8", [1, 200], Domain.categorical([-5, 200, 1]), [2, 1]),
        ("int64", [10**18, 5, 6], Domain.categorical([10**18, -(10**18), 5]), [0, 2, None]),
        ("int64", [2**53, 1, 7], Domain.categorical([1.0, 2.0**53]), [1, 0, None]),
        ("int64", [0, 9, 10, 20, 21, -1], Domain.binned([0, 9.5, 20]), [0, 0, 1, 1, None, None]),
        ("uint8", [0, 255], Domain.binned([-1e300, 100, 1e300]), [0, 1]),
        ("int64", [2**53 + 3], Domain.binned([0, 2.0**53 + 4, 2.0**60]), [0]),
        ("int64", [5], Domain.binned([0.2, 0.4]), [None]),
        ("int64", [], Domain.categorical([1.0]), []),
    ],
)
def test_whole_numbers(kind, values, domain, expected):
    assert outcome(integer_codes(np.array(values, kind), domain)) == expected


def test_whole_numbers_too_large_for_a_float_are_left_to_the_exact_path():
    assert integer_codes(np.array([2**53 + 1]), Domain.categorical([2.0**53])) is None


@pytest.mark.parametrize(
    ("kind", "values", "domain", "expected"),
    [
        (
            "float64",
            [1.0, 1.5, -0.0, 2.0**53, np.nan, np.inf, 1e300],
            Domain.integers(0, 2**60),
            [1, None, 0, None, None, None, None],
        ),
        ("float32", [2.0**24 - 1, 2.0**24], Domain.integers(0, 2**60), [2**24 - 1, None]),
        ("float16", [2047, 2048, 0.5], Domain.integers(-10, 5_000), [2057, None, None]),
        ("float64", [5.0, -7.0, 6.0], Domain.categorical([5, -7]), [0, 1, None]),
        ("float64", [0.0, 2.0**53], Domain.categorical([2**60, 0]), [1, None]),
        ("float32", [0.5, 0.1], Domain.categorical([0.1, 0.5]), [1, None]),
        ("float64", [0.1, np.nan, -np.inf], Domain.categorical([0.1]), [0, None, None]),
        ("float32", [0.0, 1.0, 2.0, 2.5], Domain.binned([0, 1, 2]), [0, 1, 1, None]),
    ],
)
def test_floating_point_numbers(kind, values, domain, expected):
    assert outcome(float_codes(np.array(values, kind), domain)) == expected


@pytest.mark.parametrize("edges", [5, 200])
def test_few_and_many_edges_give_the_same_bins(edges):
    """Few edges are compared one by one, many are searched."""
    limits = np.linspace(-1, 1, edges)
    values = np.concatenate([limits, np.random.default_rng(1).uniform(-1.2, 1.2, 1_000)])
    expected = [
        None if not -1 <= value <= 1 else min(sum(value >= edge for edge in limits) - 1, edges - 2)
        for value in values
    ]

    assert outcome(float_codes(values, Domain.binned(limits.tolist()))) == expected
