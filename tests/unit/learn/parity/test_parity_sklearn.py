"""scikit-learn's own checks of an estimator, run on the post-processor.

They know nothing of groups, so a subclass takes two groups from the first feature. The list says which
checks fail even so and why.
"""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from evenhand.learn.parity.post_processor import ParityPostProcessor

EXPECTED_FAILED_CHECKS = {}


class WithGroups(ParityPostProcessor):
    """The same classifier with a group for each row, known from the row itself, and no row kept back."""

    def fit(self, X, y=None):  # noqa: N803 - scikit-learn's name
        return super().fit(X, y, group=self._group(X, y, reset=True))

    def predict(self, X):  # noqa: N803 - as above
        return super().predict(X, group=self._group(X))

    def predict_proba(self, X):  # noqa: N803 - as above
        return super().predict_proba(X, group=self._group(X))

    def score(self, X, y, sample_weight=None):  # noqa: N803 - as above
        return ClassifierMixin.score(self, X, y, sample_weight)

    def _group(self, X, y=None, *, reset=False):  # noqa: N803 - as above
        given = (self, X) if y is None else (self, X, y)
        rows = validate_data(*given, reset=reset, accept_sparse="csr")
        rows = rows if y is None else rows[0]
        rows = rows.toarray() if issparse(rows) else rows
        return (np.sin(20 * rows[:, 0].astype(float)) > 0).astype(int)


def expected(estimator):
    return EXPECTED_FAILED_CHECKS


@pytest.mark.slow
@parametrize_with_checks(
    [WithGroups(LogisticRegression(), gap=1, epsilon=1, prefit=False, groups=[0, 1], rng=1)],
    expected_failed_checks=expected,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_finds_what_it_expects(estimator, check):
    check(estimator)
