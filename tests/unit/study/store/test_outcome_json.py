"""A result survives the way through JSON to the last bit."""

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.store.canonical import (
    canonical,
    numbers_from,
    numbers_text,
    outcome_from,
    result_text,
)
from evenhand.study.store.outcome import Failure, Outcome

CELL = Cell(Setting(), 0)
NUMBERS = st.dictionaries(st.text(max_size=5), st.floats(allow_nan=True, allow_infinity=True), max_size=4)


def _bits(value):
    return "nan" if math.isnan(value) else struct.pack(">d", value)


def _exact(numbers):
    return {name: _bits(value) for name, value in numbers.items()}


@given(NUMBERS, st.dictionaries(st.text(max_size=5), NUMBERS, max_size=3), NUMBERS)
def test_every_number_comes_back_to_the_last_bit(measures, groups, data):
    """A rounded number would make a resumed study differ from a straight one."""
    outcome = Outcome(CELL, measures, groups, data, {"train": 0.1})
    back = outcome_from(CELL, result=result_text(outcome), seconds=numbers_text(outcome.seconds))

    assert _exact(back.measures) == _exact(measures)
    assert _exact(back.data) == _exact(data)
    assert [(label, _exact(rates)) for label, rates in back.groups.items()] == [
        (label, _exact(rates)) for label, rates in groups.items()
    ]
    assert back.seconds == {"train": 0.1}
    assert result_text(back) == result_text(outcome)


def test_the_order_of_groups_is_kept():
    """Reports show groups in the schema's order, which is not the alphabet's."""
    outcome = Outcome(CELL, groups={"White": {"people": 2}, "Black": {"people": 1}})

    assert list(outcome_from(CELL, result=result_text(outcome), seconds="{}").groups) == ["White", "Black"]


def test_the_text_is_strict_json_in_ascii():
    """Other programs must be able to read the store."""
    outcome = Outcome(CELL, {"a": math.nan, "b": math.inf, "c": -math.inf}, {"é\ud800": {}})
    text = result_text(outcome)

    assert text.isascii()
    assert json.loads(text, parse_constant=pytest.fail)["measures"] == {"a": None, "b": "inf", "c": "-inf"}


def test_numbers_of_numpy_are_plain_numbers():
    text = numbers_text({"a": np.float64(0.1), "b": np.int64(3), "c": np.float32(0.5)})

    assert text == '{"a":0.1,"b":3.0,"c":0.5}'


def test_a_failure_comes_back():
    outcome = Outcome(CELL, failure=Failure("ValueError", "Raised at x.py:3."))

    assert outcome_from(CELL, result=result_text(outcome), seconds="{}") == outcome


@pytest.mark.parametrize("wrong", [[], {"a": "1"}, {"a": True}, {"a": [1]}, None, {"a": "nan"}])
def test_what_is_no_table_of_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match="not the result of a cell"):
        numbers_from(wrong)


@pytest.mark.parametrize("wrong", ["[]", "{}", '{"measures":{}}', "null"])
def test_what_is_no_result_is_refused(wrong):
    with pytest.raises(ValueError, match="not the result of a cell"):
        outcome_from(CELL, result=wrong, seconds="{}")


def test_equal_values_have_one_text():
    assert canonical({"b": 1, "a": [None, True]}) == canonical({"a": [None, True], "b": 1})
