"""Codes are whole numbers of the domain, or nothing is drawn and nothing is told."""

import numpy as np
import pytest

from evenhand.collect.protocols.codes import check_codes, code_type
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.errors import InvalidParameterError
from unit.privacy._slow_sampling import ScriptedSource

SECRET = 987_654_321  # a code that no message may show
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">u4"]
BAD = {
    "too large": [0, SECRET],
    "negative": [0, -1],
    "floats": [0.0, 1.0],
    "words": ["0", "1"],
    "nothing": [None, 1],
    "huge": [2**70, 1],
    "missing": [float("nan"), 1],
    "two dimensions": [[0, 1], [1, 0]],
    "one number": 1,
    "ragged": [[0], [1, 0]],
    "masked": np.ma.array([0, 1], mask=[True, False]),
    "complex": np.array([0j, 1]),
    "days": np.array(["2026-11-01"], dtype="M8[D]"),
    "objects": np.array([0, 1], dtype=object),
    "two dimensions, empty": np.empty((0, 3), dtype=int),
}


@pytest.mark.parametrize(("k", "name"), [(2, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")])
def test_reports_take_the_smallest_type(k, name):
    assert code_type(k) == np.dtype(name)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_type_is_taken_as_it_is(dtype):
    codes = np.array([0, 4, 2], dtype=dtype)

    assert check_codes(codes, 5, owner="test") is codes


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("k", [2, 100, 128, 129, 200, 255, 256, 40_000, 2**31 - 1])
def test_the_limits_hold_for_every_type(dtype, k):
    """Read without its sign, -100 in one byte is 156: below 200, and no code."""
    limits = np.iinfo(dtype)
    for code in {limits.min, -100, -1, 0, 1, k - 1, k, limits.max}:
        if not limits.min <= code <= limits.max:
            continue
        codes = np.array([0, code, 0], dtype=dtype)
        if 0 <= code < k:
            assert check_codes(codes, k, owner="test") is codes
        else:
            with pytest.raises(InvalidParameterError, match="codes outside"):
                check_codes(codes, k, owner="test")


def test_a_code_outside_is_found_in_any_block():
    codes = np.zeros(600_000, dtype=np.int64)
    codes[-1] = 5

    with pytest.raises(InvalidParameterError, match="codes outside"):
        check_codes(codes, 5, owner="test")


def test_booleans_are_two_codes():
    assert check_codes([True, False], 2, owner="test").tolist() == [1, 0]


def test_a_column_of_a_table_is_taken():
    table = np.arange(10).reshape(5, 2) % 3

    assert check_codes(table[:, 1], 3, owner="test").tolist() == [1, 0, 2, 1, 0]


@pytest.mark.parametrize("codes", [[], np.empty(0), np.empty(0, dtype="i4")])
@pytest.mark.parametrize("protocol", [GRR(5, 1), OUE(5, 1)])
def test_nobody_gives_no_reports(codes, protocol):
    reports = protocol.privatize(codes)

    assert len(reports) == 0
    assert protocol.counts(reports).tolist() == [0] * 5
    assert protocol.indicators(reports).shape == (0, 5)


@pytest.mark.parametrize("codes", [*BAD.values()], ids=BAD)
@pytest.mark.parametrize("protocol", [GRR(2, 1), RAPPOR(2, 1), OUE(2, 1), THE(2, 1)], ids=repr)
def test_bad_codes_draw_nothing_and_are_not_told(protocol, codes):
    """A message that quotes a code, or a refusal after the draw, would be a leak."""
    source = ScriptedSource([])
    with pytest.raises(InvalidParameterError) as caught:
        protocol.privatize(codes, rng=source)

    assert source.asked == []
    assert str(SECRET) not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert f"The 'codes' parameter of {type(protocol).__name__}.privatize must be" in str(caught.value)


def test_codes_are_not_changed():
    codes = np.array([1, 0, 2], dtype=np.uint8)
    for protocol in (GRR(3, 1), OUE(3, 1)):
        protocol.privatize(codes, rng=1)

    assert codes.tolist() == [1, 0, 2]
