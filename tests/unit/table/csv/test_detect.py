"""How a text file is written is found out from its beginning, by stated rules."""

import io

import pytest

from evenhand.errors import InvalidParameterError, UnreadableFileError
from evenhand.table import FileFormat, read_csv
from evenhand.table.csv.detect import PREFIX_BYTES, detect_format


def found(data, **asked):
    data = data.encode() if isinstance(data, str) else data
    return detect_format(data, FileFormat(**asked), name="x.csv", is_whole=True)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a\n1;2\n", ","),  # the header has one column
        ('"a;b",c\n1,2\n', ","),  # what is quoted does not count
        ('"a\nb";c\n1;2\n', ";"),
        ("a b;c, d\n1;2\n", ";"),  # only semicolons give every row two fields
        ("a;b,c\n1;2,3\n", ","),  # a tie goes to the comma
        ("a,b;c;d\n1,2;3;4\n", ";"),  # both fit, and one gives more fields
        ("\n\na;b\n1;2\n", ";"),
        ("", ","),
    ],
)
def test_the_separator_is_the_one_of_the_header(text, delimiter):
    assert found(text).delimiter == delimiter


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"a,b\n1,2\n", "utf-8"),
        ("ä,b\n1,2\n".encode("utf-8-sig"), "utf-8"),
        ("ä,b\n".encode("utf-16"), "utf-16"),
        ("\ufeffä,b\n".encode("utf-16-be"), "utf-16"),
        ("a,b\n1,ä\n".encode("utf-16-le"), "utf-16-le"),
        ("a,b\n1,ä\n".encode("utf-16-be"), "utf-16-be"),
        ("ä,b\n".encode("latin-1"), "windows-1252"),
        ("1 €,b\n".encode("cp1252"), "windows-1252"),
        ("äöü,ß\n".encode() + b"\xe9", "utf-8"),  # mostly UTF-8, so it is damaged
        (b"a,b\n1,\0\n", "utf-8"),  # one NUL is not UTF-16
    ],
)
def test_the_encoding_is_told_by_marks_and_bytes(data, encoding):
    assert found(data).encoding == encoding


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n;y\nNA;z\n2;w\n", ","),
        ("a;b\n1.5;x\n", "."),
        ("a;b\n1,5;x\n1,5,6;y\n", "."),  # a list of codes
        ("a;b\n1.234,5;x\n", "."),  # marks of thousands are text
        ("a;b\n12;x\n", "."),
        ('a,b\n"1,5",x\n', "."),  # never between commas, unless asked for
        ("a;b\n,5;x\n-2,25e3;y\n", ","),
    ],
)
def test_decimal_commas_are_a_matter_of_whole_columns(text, decimal):
    assert found(text).decimal == decimal


def test_what_is_asked_for_is_not_looked_at():
    asked = {"delimiter": "|", "encoding": "latin-1", "decimal": ","}

    assert found("a,b\n1.5,2\n", **asked) == FileFormat(**asked)


def test_a_character_that_is_cut_by_the_end_of_the_prefix_is_no_damage():
    data = ("a;b\n" + "x" * (PREFIX_BYTES - 5)).encode() + "ä;1\n".encode()

    assert detect_format(data, FileFormat(), name="x", is_whole=True).encoding == "utf-8"


def test_columns_with_both_decimal_marks_are_refused_without_a_value():
    with pytest.raises(UnreadableFileError) as caught:
        found("a;b\n1,5;2.5\n")

    assert "some columns of numbers have decimal commas, and others have decimal points" in str(caught.value)
    assert "1,5" not in str(caught.value)


def test_cyrillic_letters_are_not_taken_for_western_ones():
    """Text in the wrong letters would be read without an error, and every group would have a wrong name."""
    with pytest.raises(UnreadableFileError, match="neither UTF-8 nor those of Western languages"):
        found("имя,город\nАнна,Омск\n".encode("cp1251"))

    data = io.BytesIO("имя,город\nАнна,Омск\n".encode("cp1251"))
    assert read_csv(data, encoding="windows-1251").to_pydict() == {"имя": ["Анна"], "город": ["Омск"]}


def test_a_byte_that_windows_1252_does_not_have_is_refused_with_its_line():
    data = "ä,b\n1,é\n".encode("latin-1") + b"1,\x81\n"
    with pytest.raises(UnreadableFileError, match="line 3 is not Windows-1252 text"):
        read_csv(io.BytesIO(data))


def test_a_thousands_point_is_no_number_where_commas_are_decimal():
    """1.500 is fifteen hundred there, and one and a half elsewhere."""
    table = read_csv(io.BytesIO(b"a;b\n1,5;1.500\n2,5;2.500\n"), decimal=",")

    assert table.to_pydict() == {"a": [1.5, 2.5], "b": ["1.500", "2.500"]}


@pytest.mark.parametrize(
    "wrong", [{"encoding": "utf-7"}, {"encoding": "base64"}, {"encoding": 3}, {"sheet": ""}]
)
def test_a_format_that_cannot_be_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match=f"The '{next(iter(wrong))}' parameter of FileFormat"):
        FileFormat(**wrong)


def test_names_of_one_encoding_are_one():
    assert FileFormat(encoding="cp1252") == FileFormat(encoding="Windows-1252")
    assert FileFormat(encoding="ISO-8859-1") == FileFormat(encoding="latin1")
    assert FileFormat(encoding="utf_8_sig").encoding == "utf-8"
