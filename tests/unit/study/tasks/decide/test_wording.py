"""Words for amounts, chances, entities and settings of a decision."""

import math

import pytest

from evenhand.study.tasks.decide.wording import Amounts, chance_text, few_text, noun_of, setting_words
from unit.study._decide_studies import money_task


@pytest.mark.parametrize(
    ("column", "one", "many"),
    [
        ("county", "county", "counties"), ("district", "district", "districts"),
        ("parish", "parish", "parishes"), ("day", "day", "days"), ("name", "entity", "entities"),
        (None, "entity", "entities"), ("Agency Name", "entity", "entities"), ("x", "entity", "entities"),
    ],
)  # fmt: skip
def test_the_column_of_names_is_a_noun_where_it_can_be(column, one, many):
    assert (noun_of(column).one, noun_of(column).many) == (one, many)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "$0.00"), (-0.0, "$0.00"), (999.5, "$1,000"), (-1e6, "−$1.0 million"), (6.5e9, "$6.50 billion"),
        (0.05, "$0.05"), (12.345, "$12.35"), (math.nan, "unknown"), (999_999.6, "$1,000,000"),
        (4e-9, "less than $0.01"), (-0.004, "less than $0.01"),
    ],
)  # fmt: skip
def test_money_has_as_many_figures_as_it_needs(value, text):
    assert Amounts("$", in_money=True).text(value) == text


def test_a_currency_that_is_a_word_follows():
    assert Amounts("EUR", in_money=True).text(-5, sign=True) == "−5.00 EUR"


def test_an_axis_of_money_has_a_unit_that_fits():
    dollars = Amounts("$", in_money=True)
    units = [dollars.axis("t", [value]).unit for value in (5, 5e4, 5e7, 5e10)]

    assert units == ["$", "$ thousand", "$ million", "$ billion"]
    assert dollars.axis("t", [5e4]).times * 5e4 == pytest.approx(50)
    assert Amounts("$", in_money=False).axis("t", [0.1]).unit == "% of the budget"
    assert dollars.axis("t", []).unit == "$"


def test_chances_and_small_numbers_never_look_like_none():
    assert chance_text(1e-12) == "less than 0.00001%"
    assert chance_text(math.nan) == few_text(math.nan) == "unknown"
    assert few_text(1e-5) == "1 in 100,000 releases"


def test_a_setting_is_said_with_what_is_done_besides():
    task = money_task(mechanisms=[{"name": "discrete-gaussian", "rho": "1/8"}], mitigations=["shrink"])
    plain, shrunk = task.settings()

    assert setting_words(plain) == "Gaussian noise (ρ = 1/8)"
    assert setting_words(shrunk) == "Gaussian noise (ρ = 1/8), lowered after the clamp"
