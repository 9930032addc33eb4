"""Products of columns: read without evaluating anything, refused with a caret."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.decide_weights import Product, product_of


def made(text):
    return product_of(text, parameter="weight", owner="DecideTask")


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
    ],
)
def test_a_product_is_read(text, factor, columns):
    found = made(text)

    assert found == Product(Fraction(factor), tuple(columns))
    assert made(found.text) == found


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a +", 3),
        ("a *", 4),
        ("* a", 1),
        ("a b", 3),
        ("a * 0", 5),
        ("2x", 1),
        ("a ** b", 4),
        ("f(a)", 2),
        ("`a", 1),
    ],
)
def test_what_is_no_product_is_pointed_at(text, column):
    with pytest.raises(InvalidParameterError) as refused:
        made(text)
    *_, line, caret = str(refused.value).split("\n")

    assert f"column {column} must hold" in str(refused.value)
    assert caret.index("^") - 4 == column - 1
    assert line.strip() == text.strip()


def test_a_long_text_is_shown_around_the_place():
    with pytest.raises(InvalidParameterError) as refused:
        made(" * ".join(["abc"] * 60) + " + d" + " * e" * 20)
    line, caret = str(refused.value).split("\n")[-2:]

    assert line[caret.index("^")] == "+"
    assert line.strip().startswith("...")
    assert line.endswith("...")


@pytest.mark.parametrize(
    "number", ["1e999999999", "1e-999999999", "1e51", "0", "0.0", "9" * 900, "1e50 * 1e50", "1e-50 / 10"]
)
def test_a_number_that_nothing_can_hold_is_refused_at_once(number):
    """To write out ten to the power of a billion would fill the memory."""
    with pytest.raises(InvalidParameterError, match="from 1e-50 to 1e50"):
        made(f"a * {number}")


@pytest.mark.parametrize("text", ["", "  ", 3, None, "a * " * 500 + "a"])
def test_no_text_and_too_long_a_text_are_refused(text):
    with pytest.raises(InvalidParameterError, match="a product of columns"):
        made(text)


def test_the_product_of_every_row():
    columns = {"a": np.array([1, 2, 3]), "b": np.array([2.0, 0.0, 4.0])}

    assert made("6 * a / b").of(columns, rows=3).tolist() == [3.0, np.inf, 4.5]
    assert made("7").of(columns, rows=2).tolist() == [7.0, 7.0]


def test_what_stands_beside_a_factor():
    assert made("2 * a * b").without("a").text == "2 * b"
