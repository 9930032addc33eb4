from pathlib import Path

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask


def test_a_path_may_be_a_path_object():
    assert DataSource(path=Path("folder/people.csv")) == DataSource(path="folder/people.csv")
    assert DataSource(path=Path("folder/people.csv")).label == "people.csv"


def test_the_label_of_a_data_set_is_its_name():
    assert DataSource(dataset="causal").label == "causal"


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({}, "path"),
        ({"path": "a.csv", "dataset": "adult"}, "path"),
        ({"path": 3}, "path"),
        ({"dataset": 3}, "dataset"),
        ({"path": "a.csv", "options": {"n": 3}}, "options"),
        ({"path": "a.csv", "rows": 0}, "rows"),
        ({"path": "a.csv", "rows": True}, "rows"),
    ],
)
def test_what_is_no_source_is_refused_by_name(wrong, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        DataSource(**wrong)

    assert caught.value.parameter == parameter


class Guess:
    def fit(self, *_):
        return self

    def predict(self, rows):
        return rows


def test_a_classifier_of_ones_own_is_a_model():
    task = CollectTask(model=Guess())

    assert task.model_name == "Guess"
    assert hash(task) == hash(CollectTask(model="own:Guess"))
    with pytest.raises(InvalidParameterError, match="made already"):
        CollectTask(model=Guess(), parameters={"a": 1})
