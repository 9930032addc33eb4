"""The classifiers below: which rows they are trained on and asked about, and what they promise together."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.base import Base, take_rows
from evenhand.privacy.randomness import SeededSource, source_from
from unit.learn._parity_cases import GROUP, Column, GroupAware, X, Y

LABELS = (0, 1, 2)


class Remembers(Column):
    """A classifier that keeps how many rows it was trained on."""

    def fit(self, X, y):  # noqa: N803 - scikit-learn's name
        self.rows_ = len(X)
        return super().fit(X, y)


def test_each_classifier_is_trained_on_its_own_group_and_the_single_one_on_all():
    each = Base.of({a: Remembers() for a in LABELS}, LABELS).train(X, Y, GROUP)
    single = Base.of(Remembers(), LABELS).train(X, Y, GROUP)

    assert [model.rows_ for model in each.models] == [200, 300, 100]
    assert single.estimator().rows_ == 600
    assert list(each.estimator()) == [0, 1, 2]


def test_the_classifier_given_is_not_the_one_trained():
    """A parameter of an estimator is never changed by fitting."""
    given = Column()
    Base.of(given, LABELS).train(X, Y, GROUP)

    assert not hasattr(given, "classes_")


def test_a_group_without_rows_is_not_asked_about():
    """Most classifiers refuse to predict for nobody."""

    class Fussy(Column):
        def predict(self, X):  # noqa: N803 - as above
            if not len(X):
                raise ValueError("no rows")
            return super().predict(X)

    model = Base.of({a: Fussy().fit(X, Y) for a in LABELS}, LABELS)
    few = GROUP < 2

    assert model.predict_places(X[few], GROUP[few], (0, 1)).sum() == X[few].sum()
    assert Base.of(Fussy().fit(X, Y), LABELS).predict_places(X[:0], GROUP[:0], (0, 1)).shape == (0,)


def test_a_classifier_without_a_signature_is_asked_without_groups():
    class Compiled(Column):
        pass

    def predict(rows):
        return np.asarray(rows)[:, 0]

    predict.__signature__ = "none"
    model = Compiled().fit(X, Y)
    model.predict = predict

    assert Base.of(model, LABELS).predict_places(X, GROUP, (0, 1)).sum() == X.sum()


def test_groups_are_told_by_their_names_when_predicting():
    names = ("a", "b", "c")
    model = Base.of(GroupAware(), names).train(X, Y, GROUP)

    assert model.models[0].seen_ == ["a", "b", "c"]
    assert model.predict_places(X, GROUP, (0, 1)).sum() == X.sum()


def test_together_disjoint_groups_lose_the_largest_epsilon():
    """A person is in one group; under replacement they may change groups, and two count."""
    models = {a: Column(epsilon=e).fit(X, Y) for a, e in zip(LABELS, (1, 3, 2), strict=True)}
    both = Base.of(models, LABELS).guarantee()

    assert both.epsilon == 3
    assert both.as_unit("replace one").epsilon >= 5
    assert Base.of(models | {1: Column().fit(X, Y)}, LABELS).guarantee() is None


@pytest.mark.parametrize("rng", [7, np.random.default_rng(7), SeededSource(7)])
def test_classifiers_of_two_groups_draw_apart(rng):
    """Clones with one seed would draw the same noise: in a study the groups' models would err alike."""

    class Draws(Column):
        def __init__(self, rng=None):
            super().__init__()
            self.rng = rng

        def fit(self, X, y):  # noqa: N803 - scikit-learn's name
            self.drawn_ = source_from(self.rng).words(4).tolist()
            return super().fit(X, y)

    given = Draws(rng)
    made = Base.of({a: make_pipeline(given) if a else given for a in LABELS}, LABELS).train(X, Y, GROUP)
    drawn = [getattr(model, "steps", [(0, model)])[-1][1].drawn_ for model in made.models]

    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def test_classes_must_be_two_and_the_same():
    with pytest.raises(InvalidParameterError, match="two classes"):
        Base.of(object.__new__(Column), LABELS).classes()


def test_rows_are_taken_from_lists_too():
    assert take_rows([[1], [2], [3]], np.array([2, 0])) == [[3], [1]]
