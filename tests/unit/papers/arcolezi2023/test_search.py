"""The hyper-parameter search never sees test rows, and stays within the paper's space."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from evenhand.errors import InvalidParameterError
from evenhand.papers.arcolezi2023 import plans
from evenhand.papers.arcolezi2023.plans import (
    SPACE,
    SearchResult,
    draw_parameters,
    search_parameters,
    studies,
)
from evenhand.study.tasks.base import Prepared
from evenhand.study.tasks.shared.parts import parts
from unit.papers._made_up import facts


@pytest.fixture(autouse=True)
def _fresh():
    search_parameters.cache_clear()
    yield
    search_parameters.cache_clear()


@pytest.fixture(name="prepared")
def _prepared(monkeypatch):
    draws = np.random.default_rng(3)
    about = facts(400, race1=2, row=400)
    codes = {"race1": draws.integers(0, 2, 400, dtype=np.uint8), "row": np.arange(400, dtype=np.uint16)}
    codes["ugpa"] = np.zeros(400, dtype=np.uint8)
    target = (draws.random(400) < 0.4).astype(np.uint8)
    made = Prepared(about, codes, target, codes["race1"])
    monkeypatch.setattr(plans, "prepare", lambda _plan: made)
    return made


def test_draws_stay_within_the_paper_s_space():
    """A depth or a rate outside it would be another search."""
    drawn = [draw_parameters("adult", number) for number in range(500)]

    assert {each["max_depth"] for each in drawn} == set(range(3, 51))
    assert {each["n_estimators"] for each in drawn} <= set(range(50, 2001, 50))
    assert all(0.01 <= each["learning_rate"] < 0.25 for each in drawn)
    assert set(drawn[0]) == set(SPACE)


def test_test_rows_are_neither_learnt_from_nor_scored_on(prepared):
    """The paper's search scored on test rows, which makes its baseline look better than it is."""
    learnt, target, held, truth = plans._rows("lsac")
    rows = [matrix[:, 2:402].argmax(axis=1) for matrix in (learnt, held)]
    plan = plans.plan_for("lsac", seeds=1)
    ((train, test),) = parts(prepared.target, test=plan.task.test, seed=42)

    assert set(rows[0]) | set(rows[1]) == set(train.tolist())
    assert not set(rows[0]) & set(rows[1])
    assert not (set(rows[0]) | set(rows[1])) & set(test.tolist())
    assert len(rows[1]) == 64
    np.testing.assert_array_equal(target, prepared.target[rows[0]])
    np.testing.assert_array_equal(truth, prepared.target[rows[1]])


@pytest.mark.usefixtures("prepared")
def test_the_best_score_wins_and_the_first_of_equals(monkeypatch):
    """A constant model scores one half whatever its parameters; one that cheats is found."""
    monkeypatch.setattr(plans, "_model", lambda *_: DummyClassifier(strategy="constant", constant=1))
    first = search_parameters("lsac", evaluations=4)
    search_parameters.cache_clear()
    wanted = draw_parameters("lsac", 2)

    def model(_name, parameters):
        return Knows() if parameters == wanted else DummyClassifier(strategy="constant", constant=1)

    monkeypatch.setattr(plans, "_model", model)
    best = search_parameters("lsac", evaluations=4)

    assert first == SearchResult(draw_parameters("lsac", 0), 0.5, 4)
    assert (best.parameters, best.evaluations) == (wanted, 4)
    assert best.score > 0.5


class Knows:
    """A classifier that learns which value of the protected column is positive more often."""

    def fit(self, features, target):
        """Learn the better of the two constant-by-group rules."""
        rule = features[:, 1] > 0.5
        self.flip = (rule == target).mean() < 0.5
        return self

    def predict(self, features):
        """Predict by group."""
        return (features[:, 1] > 0.5) ^ self.flip


def test_the_model_is_the_paper_s_with_other_parameters():
    """Everything but the three hyper-parameters stays."""
    model = plans._model("lsac", {"max_depth": 4, "n_estimators": 50, "learning_rate": 0.1})

    assert (model.max_depth, model.n_estimators, model.random_state, model.objective) == (4, 50, 42, "binary")


def test_studies_with_a_search_have_names_and_parameters_of_their_own(monkeypatch):
    """Cells of other parameters must not fall into the same folder."""
    asked = []

    def found(name, *, evaluations):
        asked.append((name, evaluations))
        return SearchResult({"max_depth": 4}, 0.7, evaluations)

    monkeypatch.setattr(plans, "search_parameters", found)
    (one,) = studies("quick", search=7)
    studies("quick", search=True)

    assert (one.name, one.plan.task.parameters) == ("lsac-searched", {"max_depth": 4})
    assert asked == [("lsac", 7), ("lsac", 100)]


def test_names_and_numbers_are_checked():
    """A search of nothing has no best."""
    with pytest.raises(InvalidParameterError, match="'name' parameter of search_parameters"):
        search_parameters("compas")
    with pytest.raises(InvalidParameterError, match="'evaluations' parameter of search_parameters"):
        search_parameters("lsac", evaluations=0)
