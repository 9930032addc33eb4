"""Cells get the type their column needs, and no cell makes that fail."""

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.schema import Column, Domain, Schema
from evenhand.table import read_csv
from evenhand.table.csv.cells import TypeGuess, converter, no_whole_number

LOW, HIGH = -(2**63), 2**63 - 1


def guessed(cells):
    column = pa.array(cells, pa.string())
    guess = TypeGuess()
    return guess.convert(guess.look(column))


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "-2", None, "0"], [1, -2, None, 0]),
        (["1", "2.5", "1e3", ".5", "-.5", "2."], [1.0, 2.5, 1000.0, 0.5, -0.5, 2.0]),
        (["true", "FALSE", None], [True, False, None]),
        (["01", "2"], ["01", "2"]),
        (["+1", "2"], ["+1", "2"]),
        ([" 1", "2"], [" 1", "2"]),
        (["1", "x"], ["1", "x"]),
        (["1", "true"], ["1", "true"]),
        (["123456789012345678", "1"], [123456789012345678, 1]),
        (["1234567890123456789", "1"], ["1234567890123456789", "1"]),
        (["123456789012345678", "1.5"], ["123456789012345678", "1.5"]),
        (["", "1"], [None, 1]),
        (["", None], [None, None]),
        ([], []),
        (["1\n", "2"], ["1\n", "2"]),
        (["nan", "1"], ["nan", "1"]),
        (["NA", "1", "2"], [None, 1, 2]),
        (["f", "NA", "m"], ["f", None, "m"]),
        (["inf"], ["inf"]),
        (["0x10", "1"], ["0x10", "1"]),
        (["-0", "1"], [0.0, 1.0]),
    ],
)
def test_a_column_gets_the_narrowest_type_all_cells_agree_with(cells, values):
    """A code such as 01 that becomes the number 1 cannot be found again."""
    converted = guessed(cells).to_pylist()

    assert converted == values
    assert [type(value) for value in converted] == [type(value) for value in values]


texts = st.text(alphabet="0123456789+-.eE trufalsTRUFALS\n", max_size=8)


@given(st.lists(texts, min_size=1, max_size=8))
def test_many_cells_are_judged_like_few(cells):
    """Few cells are matched by Python and many by Arrow; both have to say the same."""
    padding = [f"{place}" for place in range(1, 101)]

    assert guessed(cells + padding).to_pylist()[: len(cells)] == _judged_by_hand(cells, padding)


def _judged_by_hand(cells, padding):
    few = TypeGuess()
    for start in range(0, len(cells + padding), 5):
        few.look(pa.array((cells + padding)[start : start + 5], pa.string()))
    return few.convert(pa.array([cell or None for cell in cells], pa.string())).to_pylist()


@given(st.one_of(st.integers(LOW - 5, HIGH + 5).map(str), texts))
def test_whole_numbers_are_read_as_python_reads_them(cell):
    """A digit lost in a sixty-four-bit number is another number."""
    stripped = cell.strip(" \t")
    try:
        expected = (
            int(stripped.removesuffix(".0"))
            if stripped.removeprefix("-").removeprefix("+").isdigit()
            else None
        )
    except ValueError:
        expected = None
    column = converter(Domain.integers(0, 9))(pa.array([cell], pa.string()))
    actual = column[0].as_py()
    if expected is not None and LOW <= expected <= HIGH:
        assert actual == expected
    elif cell == "":
        assert actual is None
    else:
        assert actual == LOW or "." in cell


def test_the_stand_in_for_no_number_is_outside_the_domain():
    """If it were inside, whatever is written in a cell could become a valid answer."""
    assert no_whole_number(Domain.integers(0, 9)) == LOW
    assert no_whole_number(Domain.integers(LOW, LOW + 9)) == LOW + 10
    assert no_whole_number(Domain.categorical([LOW, HIGH, LOW + 1])) == LOW + 2
    assert converter(Domain.categorical([LOW, 3]))(pa.array(["x", "3"])).to_pylist() == [LOW + 1, 3]


@pytest.mark.parametrize(
    ("domain", "cells", "values"),
    [
        (Domain.integers(0, 9), ["1", "x", "+007.00", "1e3", None, ""], [1, LOW, 7, LOW, None, None]),
        (Domain.integers(0, 9), [str(HIGH), str(HIGH + 1), str(LOW), "9" * 70], [HIGH, LOW, LOW, LOW]),
        (Domain.categorical([5, 7]), ["5", "6", "1_0", "٣"], [5, 6, LOW, LOW]),
        (
            Domain.binned([0, 1]),
            ["1", "x", " .5 ", "1e400", "nan", None],
            [1.0, float("inf"), 0.5, float("inf"), float("inf"), None],
        ),
        (Domain.categorical([0.1, 0.2]), ["0.1", "0,2"], [0.1, float("inf")]),
        (Domain.categorical(["01", "1"]), ["01", "1", "", None], ["01", "1", None, None]),
        (Domain.categorical(["", "1"]), ["", None], ["", None]),
        (Domain.categorical([True]), ["true", "maybe", ""], ["true", "maybe", None]),
    ],
)
def test_a_domain_gets_the_type_it_needs(domain, cells, values):
    converted = converter(domain)(pa.array(cells, pa.string()))

    assert converted.to_pylist() == values


def test_types_do_not_depend_on_whether_there_are_rows():
    schema = Schema(
        [
            Column("a", Domain.integers(0, 9)),
            Column("b", Domain.binned([0, 1])),
            Column("c", Domain.categorical(["x"])),
        ]
    )
    empty = read_csv(io.BytesIO(b"a,b,c\n"), schema=schema)
    full = read_csv(io.BytesIO(b"a,b,c\n1,1,x\n"), schema=schema)

    assert empty.schema == full.schema
    assert empty.schema.types == [pa.int64(), pa.float64(), pa.string()]
