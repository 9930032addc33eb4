"""Ids of persons are read by one rule, whatever the column's type and library."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import OutsideDomainError
from evenhand.table.persons import MOST_KEY_BYTES, person_codes, person_keys

SPELLINGS = [
    "7",
    " 7",
    "7 ",
    "\t7",
    "\u00a07",
    "07",
    "007",
    "7.",
    "7.0",
    "7.000",
    "+7",
    "+07.0",
    "7e0",
    "70E-1",
]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_one_number_is_one_person_however_it_is_spelled(spelled):
    """If this is false one person counts as several, and the noise is too small for them."""
    assert person_keys(pa.array([spelled, "x", "7"])).to_pylist() == ["7", "x", "7"]


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 8], pa.int8()),
        pa.array([7, 8], pa.uint64()),
        pa.array([7.0, 8.0], pa.float32()),
        pa.array([7.0, 8.0]),
        pa.array([Decimal("7.00"), Decimal("8.00")]),
        pa.array(["7", "8"], pa.large_string()),
        pa.array(["7", "8"], pa.string_view()),
        pa.array([" 07", "8"]).dictionary_encode(),
        pa.array([b"7", b"8"]),
    ],
    ids=lambda ids: str(ids.type),
)
def test_every_type_of_column_gives_the_same_keys(ids):
    """If this is false a person is another one in a file of another type."""
    assert person_keys(ids).to_pylist() == ["7", "8"]


@pytest.mark.parametrize(
    "text", ["a7", "7a", "+-7", "--7", "0x7", "1_000", "7,0", ".", "e7", "1e", "inf", "٧", "Na"]
)
def test_what_is_no_number_is_taken_letter_by_letter(text):
    assert person_keys(pa.array([text])).to_pylist() == [text]


@pytest.mark.parametrize("missing", [None, "", "  ", "NA", "N/A", " NA "])
def test_a_missing_id_is_no_person(missing):
    assert person_keys(pa.array(["7", missing])).to_pylist() == ["7", None]


def test_whole_numbers_beyond_the_range_of_floats_stay_apart():
    """If this is false many people share the rows of one."""
    ids = [2**53, 2**53 + 1, 2**63 - 1]

    assert person_keys(pa.array(ids)).to_pylist() == [str(number) for number in ids]
    assert len(set(person_keys(pa.array([f"{number}.0" for number in ids])).to_pylist())) == 3
    assert person_keys(pa.array([2.0**53, 1e16, 1e300])).equals(
        person_keys(pa.array([str(2**53), "1" + "0" * 16, "1e300"]))
    )


_NUMBERS = st.from_regex(
    r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?", fullmatch=True
)


@given(st.lists(_NUMBERS, min_size=2, max_size=6))
def test_two_numbers_have_one_key_exactly_if_they_are_equal(texts):
    """Compared with exact fractions: a wrong key merges people or takes one person for several."""
    keys = person_keys(pa.array(texts)).to_pylist()
    expected = [[Fraction(first) == Fraction(second) for second in texts] for first in texts]

    assert [[first == second for second in keys] for first in keys] == expected


@given(st.lists(st.text(max_size=200), min_size=1, max_size=5))
def test_any_text_has_a_short_key_and_one_text_has_one_key(texts):
    ids = pa.array([text.encode("utf-8", "replace").decode() for text in texts])
    keys = person_keys(ids)

    assert all(key is None or len(key.encode()) <= MOST_KEY_BYTES for key in keys.to_pylist())
    assert len(set(keys.to_pylist())) <= len(set(ids.to_pylist()))


def test_long_ids_that_differ_at_their_end_stay_apart():
    keys = person_keys(
        pa.array(["x" * 70_000, "x" * 69_999 + "y", "9" * 4_400, "0" + "9" * 4_400])
    ).to_pylist()

    assert len(set(keys)) == 3
    assert keys[2] == keys[3]


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame], ids=["arrow", "pandas", "polars"])
def test_frames_of_every_library_tell_the_same_persons(make):
    frame = nw.from_native(make({"id": ["7", "b", " 07", "b ", "7.0"]}), eager_only=True)

    assert person_codes(frame.get_column("id")).tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series(["7", "07", "8"], dtype="category"),
        pd.Series([7, 7, 8], dtype="Int64"),
        pd.Series([7.0, 7.0, 8.0]),
        pd.Series(["7", " 7", "8"], dtype=object),
        pl.Series(["7", "07", "8"], dtype=pl.Categorical),
    ],
)
def test_series_of_other_types_tell_the_same_persons(ids):
    series = nw.from_native(ids, series_only=True).alias("id")

    assert person_codes(series).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (pd.Series(["secret", None], dtype="category"), "no person in some rows"),
        (pd.Series([1.0, np.nan]), "no person in some rows"),
        (pd.Series(["secret", "NA"]), "no person in some rows"),
        (pd.Series([1, "secret"], dtype=object), "several types"),
        (pd.Series([["secret"], ["secret"]], dtype=object), "several types"),
        (pd.Series([2**70, 1], dtype=object), "several types"),
    ],
)
def test_what_is_refused_is_refused_without_an_id(ids, why):
    with pytest.raises(OutsideDomainError, match=why) as refused:
        person_codes(nw.from_native(ids, series_only=True).alias("id"))

    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
