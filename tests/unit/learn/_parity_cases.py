"""Rows, classifiers and shortcuts for the tests of the post-processing."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.privacy.guarantees.guarantee import Guarantee


class Column(ClassifierMixin, BaseEstimator):
    """A classifier that predicts its first feature, and may promise something about its training rows."""

    def __init__(self, epsilon=None, *, simulated=False):
        self.epsilon = epsilon
        self.simulated = simulated

    def fit(self, X, y):  # noqa: N803 - scikit-learn's name
        self.classes_ = np.unique(y)
        if self.epsilon is not None:
            self.guarantee_ = Guarantee.pure(self.epsilon, unit="add or remove one", trust="central")
            self.simulated_ = self.simulated
        self.n_features_in_ = np.asarray(X).shape[1]
        return self

    def predict(self, X):  # noqa: N803 - as above
        return np.asarray(self.classes_)[np.asarray(X)[:, 0].astype(int)]


class GroupAware(Column):
    """One that is told the group, and keeps what it was told."""

    def fit(self, X, y, group):  # noqa: N803 - as above
        self.seen_ = np.unique(group).tolist()
        return super().fit(X, y)

    def predict(self, X, *, group):  # noqa: N803 - as above
        assert set(np.unique(group)) <= set(self.seen_)
        return super().predict(X)


def rows(rates, sizes, *, agree=0.8, seed=1):
    """Return predictions as the only feature, labels that agree with most of them, and groups."""
    draw = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    exact = [np.arange(n) < round(rate * n) for rate, n in zip(rates, sizes, strict=True)]
    predicted = np.concatenate(exact).astype(int)
    label = np.where(draw.random(len(group)) < agree, predicted, 1 - predicted)
    return predicted[:, None], label, group


X, Y, GROUP = rows((0.6, 0.3, 0.45), (200, 300, 100))
TRAINED = Column().fit(X, Y)


def fitted(*args, estimator=TRAINED, data=(X, Y, GROUP), **given):
    model = ParityPostProcessor(estimator, *args, **{"held_out": True, "rng": 1} | given)
    return model.fit(data[0], data[1], group=data[2])
