"""Rows that cannot be read: refused, or counted by the rules of the columns, inside the guarantee."""

from __future__ import annotations

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, InvalidParameterError, UnreadableFileError
from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema
from evenhand.table import FileFormat

OTHER = FileFormat(broken_rows="other")
SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"]), outside="other", nulls="other"),
        Column("age", Domain.integers(0, 9), outside="other", nulls="other"),
    ]
)
DROPPING = Schema([SCHEMA["sex"], Column("age", Domain.integers(0, 9), outside="drop", nulls="drop")])
BY_PERSON = SCHEMA.with_roles(person="id", rows_per_person=2)
BROKEN = {
    "a long cell": b"f," + b"9" * 70_000,
    "a long row": b"f," + b"9" * 1_200_000,
    "a NUL": b"f\0,1",
    "a byte that is not text": b"f\xff,1",
    "an extra field": b"f,1,2",
    "a missing field": b"f",
    "an open quote": b'"f,1',
    "a stray quote": b'f",1',
    "text after a quote": b'"f"x,1',
    "a line end of another kind": b"f\r,1",
}


def write(path, *lines, header=b"sex,age"):
    path.write_bytes(b"\n".join([header, *lines, b""]))
    return path


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_row_is_a_row_of_other(tmp_path, what):
    """If this is false one respondent decides whether there is a release."""
    path = write(tmp_path / "a.csv", b"f,1", BROKEN[what], b"m,2", b'"m","2"')
    expected = np.zeros((3, 11), int)
    expected[0, 1], expected[1, 2], expected[2, 10] = 1, 2, 1

    assert Histogram.count(path, SCHEMA, file_format=OTHER).counts.tolist() == expected.tolist()
    dropping = Histogram.count(path, DROPPING, file_format=OTHER)
    assert dropping.counts.tolist() == expected[:, :10].tolist()
    assert dropping.may_drop == ("age",)
    with pytest.raises(EvenhandError, match=r"a\.csv was not read") as refused:  # unless that is said
        Histogram.count(path, SCHEMA, file_format=FileFormat(encoding="utf-8"))
    assert "9999" not in str(refused.value)


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_row_of_a_person_is_left_out(tmp_path, what):
    """It may be anybody's: counted, it would be one row more than the person has."""
    lines = [b"f,1,7", b"m,2,7", b"m,2,7", BROKEN[what], BROKEN[what], b"f,3,8", b"f,3,", b"f,3,NA"]
    path = write(tmp_path / "a.csv", *lines, header=b"sex,age,id")

    if what == "an extra field":  # which is a row of three fields here
        return
    counted = Histogram.count(path, BY_PERSON, file_format=OTHER)
    assert counted.people == 3
    assert counted.counts[2].sum() == 0
    assert "a rule of id leaves the row out" in str(Laplace(1, unit="replace one").guarantee_for(counted))


LINES = st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" ")) | st.sampled_from(
    [b"f,1", b'"m",2', b'"f', b'f"', b'f,"1', b"", b"f,1,2", b"\xff\xfe", b"m;1,5", b"f\r"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lines")


@pytest.mark.figures
@given(st.lists(LINES, max_size=5), LINES, st.data())
def test_one_line_moves_one_row(folder, lines, another, data):
    """If this is false one person moves more counts than the noise covers, or makes counting fail."""
    place = data.draw(st.integers(0, len(lines)))
    tables = [
        Histogram.count(write(folder / "a.csv", *rows), SCHEMA, file_format=OTHER).counts
        for rows in (lines, [*lines[:place], another, *lines[place:]])
    ]

    assert (tables[1] - tables[0]).min() >= 0
    assert (tables[1] - tables[0]).sum() <= 1


@pytest.mark.figures
@given(st.lists(LINES, max_size=5), LINES, st.data())
def test_one_line_moves_the_rows_of_its_person_alone(folder, lines, another, data):
    """With persons: the rows of others stay what they are, so the bound of two rows holds."""
    place = data.draw(st.integers(0, len(lines)))
    tables = [
        Histogram.count(
            write(folder / "a.csv", *rows, header=b"sex,age,id"), BY_PERSON, file_format=OTHER
        ).people
        for rows in (
            [line + b",%d" % number for number, line in enumerate(lines)],
            [
                *(line + b",%d" % number for number, line in enumerate(lines[:place])),
                another + b",new",
                *(line + b",%d" % number for number, line in enumerate(lines[place:], start=place)),
            ],
        )
    ]

    assert tables[1] - tables[0] in (0, 1)


def test_the_rules_must_say_what_becomes_of_a_broken_row(tmp_path):
    """Known before the rows are read, so that no row decides on it."""
    path = write(tmp_path / "a.csv", b"f,1")
    strict = Schema([Column("sex", Domain.categorical(["f", "m"]))])

    with pytest.raises(InvalidParameterError, match="column 'sex' refuses values outside its domain"):
        Histogram.count(path, strict, file_format=OTHER)


def test_workbooks_have_no_broken_rows(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["sex", "age"])
    book.save(tmp_path / "a.xlsx")

    with pytest.raises(UnreadableFileError, match="no delimiter, encoding, decimal mark or broken rows"):
        Histogram.count(tmp_path / "a.xlsx", SCHEMA, file_format=OTHER)
