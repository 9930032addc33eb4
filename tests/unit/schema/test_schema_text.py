"""Names and labels are shown so that one cannot pose as another."""

import pytest

from evenhand.schema.text import brief, listed, shortened, visible
from evenhand.schema.values import described, instance, number_text, plain_value, shown, text, truth


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("age", "age"),
        ("Größe 日本", "Größe 日本"),
        ("", "''"),
        (" ", "' '"),
        ("\n", r"'\n'"),
        ("a\tb", r"a\tb"),
        ("a\x00b\x1bc", r"a\x00b\x1bc"),
        ("a\u202eb", r"a\u202eb"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 39 + "…"),
    ],
)
def test_what_cannot_be_seen_is_written_out(given, expected):
    assert visible(given) == expected


def test_lists_are_shortened_beyond_five():
    assert shortened("abcde", 5, ends_only=False) == "a, b, c, d, e"
    assert shortened("abcdef", 6, ends_only=False) == "a, b, c … f"
    assert shortened("abcdef", 6, ends_only=True) == "a … f"


def test_names_are_joined_as_in_a_sentence():
    assert [listed(list("abc")[:count]) for count in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert brief("x" * 101) == "x" * 99 + "…"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, "3"),
        (None, "None"),
        (True, "True"),
        (0.5, "0.5"),
        ("a", "'a'"),
        ("x" * 101, "a value of type str"),
        (10**101, "a value of type int"),
        ([1], "a value of type list"),
        (object(), "a value of type object"),
    ],
    ids=range(9),
)
def test_a_message_shows_short_plain_values_only(value, expected):
    assert described(value) == expected
    assert (shown(value) is value) == (not expected.startswith("a value"))


def test_numbers_are_written_as_short_as_they_read_back():
    for number in (0.1, 10.0, 1e300, -2.5, 5e-324, 1 / 3):
        assert float(number_text(number)) == number


def test_subclasses_of_text_become_text():
    class Loud(str):
        __slots__ = ()

        def __str__(self):
            return "LOUD"

    assert plain_value(Loud("a")) == "a"
    assert type(plain_value(Loud("a"))) is str
    assert type(text("name", Loud("a"), owner="Test")) is str


def test_checks_return_what_they_accept():
    assert truth("ordered", value=True, owner="Test") is True
    assert instance("x", 3, int, owner="Test") == 3
