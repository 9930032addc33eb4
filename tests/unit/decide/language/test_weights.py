"""Weights of columns and numbers: read without evaluating anything, refused with a caret."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.language.parse import parse_weight
from evenhand.decide.language.weights import Product, Sum
from evenhand.errors import InvalidParameterError


def read_weight(text):
    return parse_weight(text, parameter="weight", owner="DecideTask")


@pytest.mark.parametrize(
    ("text", "factor", "columns"),
    [
        ("a", 1, [("a", 1)]),
        (" a*b ", 1, [("a", 1), ("b", 1)]),
        ("a / b", 1, [("a", 1), ("b", -1)]),
        ("1_000 * a / 2.5e2", 4, [("a", 1)]),
        (".5 * `odd, name` * é", Fraction(1, 2), [("odd, name", 1), ("é", 1)]),
        ("1 / a", 1, [("a", -1)]),
        ("3", 3, []),
        ("a / b * c", 1, [("a", 1), ("c", 1), ("b", -1)]),
        ("a / (b / (2 * c))", 2, [("a", 1), ("c", 1), ("b", -1)]),
        ("((a))", 1, [("a", 1)]),
    ],
)
def test_a_product_is_read(text, factor, columns):
    found = read_weight(text)

    assert found == Product(Fraction(factor), tuple(columns))
    assert read_weight(found.text) == found


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a +", 4),
        ("a *", 4),
        ("* a", 1),
        ("a b", 3),
        ("a * 0", 5),
        ("2x", 1),
        ("a ** b", 4),
        ("f(a)", 2),
        ("`a", 1),
        ("a + * b", 5),
        ("(a + b", 7),
        ("a + b)", 6),
        ("()", 2),
        ("-a", 1),
        ("a - -b", 5),
        ("a + b > 3", 7),
    ],
)
def test_parse_error_marks_the_column(text, column):
    with pytest.raises(InvalidParameterError) as refused:
        read_weight(text)
    *_, line, caret = str(refused.value).split("\n")

    assert f"column {column} must hold" in str(refused.value)
    assert caret.index("^") - 4 == column - 1
    assert line.strip() == text.strip()


def test_a_long_text_is_shown_around_the_place():
    with pytest.raises(InvalidParameterError) as refused:
        read_weight(" * ".join(["abc"] * 60) + " ^ d" + " * e" * 20)
    line, caret = str(refused.value).split("\n")[-2:]

    assert line[caret.index("^")] == "^"
    assert line.strip().startswith("...")
    assert line.endswith("...")


@pytest.mark.parametrize(
    "number", ["1e999999999", "1e-999999999", "1e51", "0", "0.0", "9" * 900, "1e50 * 1e50", "1e-50 / 10"]
)
def test_a_number_too_large_to_hold_is_refused_at_once(number):
    """To write out ten to the power of a billion would fill the memory."""
    with pytest.raises(InvalidParameterError, match="from 1e-50 to 1e50"):
        read_weight(f"a * {number}")


@pytest.mark.parametrize("text", ["", "  ", 3, None, "a * " * 500 + "a"])
def test_no_text_and_too_long_a_text_are_refused(text):
    with pytest.raises(InvalidParameterError, match="made of columns and numbers"):
        read_weight(text)


def test_the_product_of_every_row():
    columns = {"a": np.array([1, 2, 3]), "b": np.array([2.0, 0.0, 4.0])}

    assert read_weight("6 * a / b").of(columns, rows=3).tolist() == [3.0, np.inf, 4.5]
    assert read_weight("7").of(columns, rows=2).tolist() == [7.0, 7.0]


SUMS = [
    ("a + b", "a + b"),
    ("a - (b - 2)", "a - b + 2"),
    ("0.4 * a + 3 / 100 * b - 1 / 3", "0.4 * a + 0.03 * b - 1 / 3"),
    ("a + 0.2 + 7 * b / 3", "a + 0.2 + 7 * b / 3"),
    ("2 * (a + b / 3) / c", "2 * (a + b / 3) / c"),
    ("(a + b) * (a - b) / (1 + c)", "(a + b) * (a - b) / (1 + c)"),
    ("1 * (a + b)", "a + b"),
    ("a / (b + c) - 2 * (a + 1)", "a / (b + c) - 2 * (a + 1)"),
    ("((a + (b))) + `odd name`", "a + b + `odd name`"),
]


@pytest.mark.parametrize(("text", "written"), SUMS)
def test_a_sum_is_written_as_it_is_read_and_means_the_same(text, written):
    """A plan keeps what is written; if it stood for another weight, a study that goes on would be another."""
    columns = {
        "a": np.array([1.5, 2.0]),
        "b": np.array([3.0, 0.5]),
        "c": np.array([4.0, 1.0]),
        "odd name": np.ones(2),
    }
    expected = [
        eval(text.replace("`odd name`", "odd"), {}, {"a": a, "b": b, "c": c, "odd": odd})  # the slow twin
        for a, b, c, odd in zip(*columns.values(), strict=True)
    ]
    found = read_weight(text)

    assert found.text == written
    assert read_weight(found.text) == found
    assert found.of(columns, rows=2).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("2 * a * b", "2 * b"),
        ("a", "1"),
        ("b * (a * c + a) / 2", "b * (c + 1) / 2"),
        ("a * b - a / c", "b - 1 / c"),
        ("(a + a) * (b + c)", "(b + c) * (1 + 1)"),
        ("a + b", None),
        ("a + 1", None),
        ("a * a", None),
        ("a / a", None),
        ("b / a", None),
        ("b / (a + a * c)", None),
        ("b", None),
        ("(a + b) * c", None),
        ("(a + b) * a", None),
    ],
)
def test_the_factor_beside_a_count_is_returned_where_the_weight_is_proportional_to_it(text, beside):
    """Shares that are not proportional to the count would be computed as if they were."""
    found = read_weight(text).beside("a")

    assert (None if found is None else found.text) == beside


def test_too_many_brackets_are_refused_before_they_are_too_deep():
    assert read_weight("(" * 40 + "a" + ")" * 40) == read_weight("a")
    with pytest.raises(InvalidParameterError, match="at most 40 brackets"):
        read_weight("(" * 41 + "a" + ")" * 41)


def test_names_are_listed_once_in_their_order():
    assert read_weight("b * (a + b) / (c - a)").names == ("b", "a", "c")
    assert isinstance(read_weight("b + a"), Sum)
    assert read_weight("b + a").names == ("b", "a")
