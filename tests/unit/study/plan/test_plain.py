"""No plan runs that could not be written down."""

import datetime as dt

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.schema.values import plain_mapping
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask, Mechanism

DEEP = {"a": 1}
for _ in range(30):
    DEEP = {"a": DEEP}


def test_numbers_of_arrays_are_numbers():
    """A grid of parameters often comes from numpy; a run would end where the plan is written."""
    task = CollectTask(
        parameters={"max_iter": np.int64(5), "learning_rate": np.float32(0.5), "x": np.bool_(1)}
    )

    assert task.parameters == {"max_iter": 5, "learning_rate": 0.5, "x": True}
    assert Plan.from_toml(Plan(task=task).to_toml()).task == task


@pytest.mark.parametrize(
    "given",
    [{"a": None}, {"a": [None]}, {"a": {0: 1}}, {0: 1}, {"a": {1, 2}}, {"a": np.arange(2)}, {"a": 1j}, DEEP,
     {"a": dt.date(2020, 1, 1)}, [("a", 1)], "abc", 3, None],
)  # fmt: skip
def test_what_no_plan_file_can_hold_is_refused_at_once(given):
    """Else the study ends in the middle, when the plan is written beside it."""
    for make in (lambda: CollectTask(parameters=given), lambda: DataSource(dataset="causal", options=given)):
        with pytest.raises(InvalidParameterError, match="must be a mapping of names to what a plan file can"):
            make()


def test_a_classifier_takes_any_parameter_from_python():
    with pytest.raises(InvalidParameterError, match="Hint: from Python, the classifier itself can be given"):
        CollectTask(parameters={"max_depth": None})


@pytest.mark.parametrize("value", ["no", 0, 1, 0.5, [1], [], ""])
def test_a_parameter_of_a_protocol_is_true_or_false(value):
    """The text "no" would count as true, and the study would be about another protocol."""
    with pytest.raises(InvalidParameterError, match="must be true or false each"):
        Mechanism("olh", {"as_printed": value})
    with pytest.raises(InvalidParameterError, match="must be true or false each"):
        CollectTask([{"name": "olh", "as_printed": value}])


def test_what_comes_back_is_a_copy():
    given = {"a": [1, (2, 3)], "b": {"c": "d"}}
    made = plain_mapping("x", given, owner="test")
    given["a"].append(4)

    assert made == {"a": [1, [2, 3]], "b": {"c": "d"}}
