"""CSV content becomes typed columns, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.datasets.download.parsing import (
    as_it_stands,
    keep_rows,
    line_feeds,
    parse_csv,
    read_rows,
    write_rows,
)

CONTENT = b'name,count,share,"a, b"\nann,3,0.5,\n"b ""x""",-1,,N\n'


def test_types_are_declared_and_blanks_kept():
    columns = parse_csv(CONTENT, integers=["count"], numbers=["share"])

    assert list(columns) == ["name", "count", "share", "a, b"]
    assert columns["name"].tolist() == ["ann", 'b "x"']
    assert columns["count"].dtype == np.int64
    assert columns["count"].tolist() == [3, -1]
    np.testing.assert_equal(columns["share"], [0.5, np.nan])
    assert columns["a, b"].tolist() == ["", "N"]


def test_text_that_looks_like_a_number_stays_text():
    """A county code 01001 must not become 1001."""
    assert parse_csv(b"fips\n01001\n")["fips"].tolist() == ["01001"]


def test_only_marked_rows_are_kept():
    columns = keep_rows(
        {"a": np.array([1, 2, 3]), "b": np.array(["x", "y", "z"])}, np.array([True, False, True])
    )

    assert columns["a"].tolist() == [1, 3]
    assert columns["b"].tolist() == ["x", "z"]


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")), min_size=2, max_size=4)
    )
)
def test_rows_survive_being_written(rows):
    assert read_rows(write_rows(rows)) == rows


@pytest.mark.parametrize(
    ("raw", "expected"), [(b"a\r\nb\r\n", b"a\nb\n"), (b"a\nb", b"a\nb\n"), (b"", b"\n"), (b"a\n", b"a\n")]
)
def test_lines_end_by_a_line_feed(raw, expected):
    assert line_feeds(raw) == expected


def test_a_file_is_taken_as_it_is_published():
    assert as_it_stands(b"x") == b"x"
