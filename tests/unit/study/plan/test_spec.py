"""Equal specs mean equal results, so a stored cell may be reused; different ones never look the same."""

import functools

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from attacks._study_cells import Stubborn, small_plan
from evenhand.errors import InvalidParameterError
from evenhand.study.plan.spec import Spec
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask

PLAN = small_plan()


@pytest.fixture(scope="module")
def facts():
    return prepare(PLAN).facts


def _hash(facts, **changes):
    return Spec.of(PLAN.with_(**changes), facts).hash


def test_the_grid_and_the_repeats_are_not_part_of_it(facts):
    """A value that is added to the grid must not throw finished cells away."""
    wider = small_plan([1, 2, 4], repeats=5, protocols=["grr", "oue"], name="wider", measures=("sp_gap",))

    assert Spec.of(wider, facts).hash == Spec.of(PLAN, facts).hash


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"seed": 8}, "seed"),
        ({"task": CollectTask(model="random-forest")}, "task"),
        ({"task": CollectTask(model="logistic", parameters={"C": 0.5})}, "task"),
        ({"task": CollectTask(model="logistic", encoder="one-hot")}, "task"),
        ({"task": CollectTask(model="logistic", test=0.3)}, "task"),
        ({"task": CollectTask(model="logistic", folds=3)}, "task"),
    ],
)
def test_what_changes_results_changes_the_hash_and_is_named(facts, changes, part):
    ours, theirs = Spec.of(PLAN, facts), Spec.of(PLAN.with_(**changes), facts)

    assert ours.hash != theirs.hash
    assert ours.differences(theirs) == (part,)


def test_other_rows_are_other_data(facts):
    other = prepare(small_plan(seed=7).with_(data=None, schema=facts.schema), frame=_rows(facts)).facts

    assert Spec.of(PLAN, facts).differences(Spec.of(PLAN, other)) == ("data",)


def _rows(facts):
    from evenhand.datasets import load

    return load("causal", n=61, backend="pyarrow").frame


MODELS = [
    LogisticRegression(),
    LogisticRegression(C=0.5),
    LogisticRegression(C=1),
    LogisticRegression(class_weight={0: 1, 1: 2}),
    LogisticRegression(class_weight={0: 2, 1: 1}),
    LogisticRegression(class_weight={"0": 2, "1": 1}),
    RandomForestClassifier(random_state=np.random.RandomState(1)),
    RandomForestClassifier(random_state=np.random.RandomState(2)),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()),
    make_pipeline(FunctionTransformer(np.sqrt), LogisticRegression()),
    make_pipeline(FunctionTransformer(functools.partial(np.add, 1)), LogisticRegression()),
    make_pipeline(FunctionTransformer(functools.partial(np.add, 2)), LogisticRegression()),
    RandomForestClassifier(monotonic_cst=np.array([0, 1])),
    RandomForestClassifier(monotonic_cst=np.array([0, 0])),
    RandomForestClassifier(monotonic_cst=[0, 0]),
    RandomForestClassifier(monotonic_cst=(0, 0)),
    RandomForestClassifier(monotonic_cst={0}),
    RandomForestClassifier(monotonic_cst=float),
    Stubborn(home=1),
    Stubborn(home=2),
]


def test_classifiers_that_differ_in_anything_have_different_hashes(facts):
    """Two models under one hash would mix their cells in one table."""
    hashes = [_hash(facts, task=CollectTask(model=model)) for model in MODELS]

    assert len(set(hashes)) == len(MODELS)


def test_classifiers_that_are_alike_have_one_hash(facts):
    again = [
        _hash(
            facts,
            task=CollectTask(model=make_pipeline(StandardScaler(), RandomForestClassifier(max_depth=3))),
        )
        for _ in range(2)
    ]

    assert again[0] == again[1]


def test_a_classifier_that_was_fitted_before_has_the_hash_of_a_fresh_one(facts):
    """Every cell fits a fresh copy, so only the parameters change results."""
    fitted = LogisticRegression(C=0.5).fit([[0.0], [1.0]], [0, 1])

    assert _hash(facts, task=CollectTask(model=fitted)) == _hash(
        facts, task=CollectTask(model=LogisticRegression(C=0.5))
    )


class _Slots:
    """Something that cannot be written down."""

    __slots__ = ("lock",)

    def __reduce_ex__(self, _):
        message = "no"
        raise TypeError(message)


def _nested(depth):
    return [] if depth == 0 else [_nested(depth - 1)]


@pytest.mark.parametrize(
    "value",
    [lambda x: x, _Slots(), _nested(30), np.array([object()])],
    ids=["lambda", "not to be written", "deep", "array of objects"],
)
def test_a_classifier_that_cannot_be_told_apart_is_refused(facts, value):
    """Guessing that two of them are the same would reuse the wrong cells."""
    with pytest.raises(InvalidParameterError, match="'model' parameter of CollectTask"):
        _hash(facts, task=CollectTask(model=Stubborn(home=value)))


def test_an_object_that_is_known_by_name_is_told_by_it(facts):
    """Some objects say of themselves that their name is all there is to know."""

    class Singleton:
        def __reduce__(self):
            return "SINGLETON"

    assert len(_hash(facts, task=CollectTask(model=Stubborn(home=Singleton())))) == 64
