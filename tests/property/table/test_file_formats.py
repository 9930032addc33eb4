"""A table reads back the same in every separator and encoding."""

import bz2
import contextlib
import csv
import gzip
import io
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.errors import UnreadableFileError
from evenhand.table import read_csv

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "windows-1252"]
PACKINGS = [bytes, gzip.compress, bz2.compress]
DELIMITERS = [",", ";", "\t", "|"]

LETTERS = st.characters(codec="latin-1", categories=("L", "N", "P", "S", "Zs"), exclude_characters="\x7f")
cells = st.text(LETTERS | st.sampled_from(',;\t|"\n .'), max_size=6)
names = st.lists(st.text("abcäöüé;,| ", min_size=1, max_size=5), min_size=2, max_size=4, unique=True)


@st.composite
def tables(draw):
    header = draw(names)
    row = st.lists(cells, min_size=len(header), max_size=len(header))
    return [header, *draw(st.lists(row, min_size=1, max_size=6))]


def written(rows, delimiter, encoding):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(encoding)


def read(data, **known):
    return read_csv(io.BytesIO(data), **known)


@given(
    tables(),
    st.sampled_from(DELIMITERS),
    st.sampled_from(ENCODINGS),
    st.sampled_from(PACKINGS),
)
def test_every_form_that_is_named_reads_as_its_plain_twin(rows, delimiter, encoding, packed):
    """If false, a study depends on which program saved the file."""
    known = {"delimiter": delimiter, "encoding": encoding, "decimal": "."}
    twin = read(written(rows, ",", "utf-8"), delimiter=",", encoding="utf-8", decimal=".")

    assert read(packed(written(rows, delimiter, encoding)), **known).equals(twin)


FOUND = [*ENCODINGS[:3], "windows-1252"]
plain_names = st.lists(st.text("abcäöü", min_size=1, max_size=5), min_size=2, max_size=4, unique=True)
plain_cells = st.text("abcäöüß €01.;,|", max_size=6)


@given(plain_names, st.data(), st.sampled_from(DELIMITERS), st.sampled_from(FOUND))
def test_every_form_is_found_where_the_header_has_one_separator(header, data, delimiter, encoding):
    row = st.lists(plain_cells, min_size=len(header), max_size=len(header))
    rows = [header, *data.draw(st.lists(row, min_size=1, max_size=6))]
    assume(not any("," in cell for line in rows for cell in line))  # no decimal commas
    assume(not re.search("[äöüß€]{3}", " ".join(cell for line in rows for cell in line)))  # as no word has
    twin = read(written(rows, ",", "utf-8"))

    assert read(written(rows, delimiter, encoding)).equals(twin)


amounts = st.floats(-1e6, 1e6).map(lambda value: round(value, 2))
numbers = st.lists(st.tuples(amounts, st.integers(-99, 99)), min_size=1, max_size=9)


@given(numbers, st.sampled_from([";", "\t", "|"]))
def test_decimal_commas_give_the_numbers_of_the_twin(rows, delimiter):
    points = [["x", "n"], *([str(x), str(n)] for x, n in rows)]
    commas = [["x", "n"], *([str(x).replace(".", ","), str(n)] for x, n in rows)]

    assert read(written(commas, delimiter, "utf-8")).equals(read(written(points, ",", "utf-8")))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_in_our_words(data):
    with contextlib.suppress(UnreadableFileError):  # nothing here passes a limit
        read(data)


@pytest.mark.parametrize("harm", [lambda data: data[:-1], lambda data: data[:20], lambda data: data[:4]])
def test_a_damaged_bzip2_file_is_refused(harm):
    with pytest.raises(UnreadableFileError, match="its compressed data is damaged or cut off"):
        read(harm(bz2.compress(b"a,b\n" + b"1,2\n" * 1_000)))
