"""The forest of different rows is scikit-learn's, or the study is not the paper's."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from evenhand.papers.makhlouf2024 import PAPER
from evenhand.papers.makhlouf2024.forest import DistinctRowsForest
from evenhand.papers.makhlouf2024.plans import SYNTHETIC, plan_for
from evenhand.papers.reproduction import build_reproduction
from evenhand.study.plan.source import DataSource
from evenhand.study.run.whole import run

SIZES = {"synthetic": (2, 2, 3), "compas": (2, 2, 3, 2), "adult": (2,) * 8}
VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def people(sizes, rows=600, seed=5):
    """Return rows of codes and labels that depend on them."""
    draws = np.random.default_rng(seed)
    codes = np.stack([draws.integers(0, size, rows) for size in sizes], axis=1)
    chance = 0.3 + 0.25 * codes[:, 0] - 0.1 * codes[:, -1]
    return codes.astype(np.float64), (draws.random(rows) < chance).astype(np.uint8)


@pytest.mark.skipif(VERSION < (1, 9), reason="older versions draw bootstrap samples in another order")
@pytest.mark.parametrize("kind", SIZES)
def test_it_is_the_forest_of_scikit_learn_bit_for_bit(kind):
    """Another forest would be another method."""
    rows, labels = people(SIZES[kind])
    every = np.unique(rows, axis=0)
    ours = DistinctRowsForest(n_estimators=20, random_state=4).fit(rows, labels)
    theirs = RandomForestClassifier(n_estimators=20, random_state=4).fit(rows, labels)

    np.testing.assert_array_equal(ours.predict_proba(every), theirs.predict_proba(every))
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))


def test_a_forest_without_its_bootstrap_sample_is_another():
    """The twin that must fail: weights of the whole sample instead of drawn ones."""
    rows, labels = people(SIZES["adult"])
    ours = DistinctRowsForest(n_estimators=20, random_state=4).fit(rows, labels)
    whole = RandomForestClassifier(n_estimators=20, random_state=4, bootstrap=False).fit(rows, labels)

    assert not np.array_equal(ours.predict_proba(rows), whole.predict_proba(rows))


def test_it_can_be_cloned_and_seeded():
    """A cell makes a fresh copy with its own seed."""
    rows, labels = people(SIZES["compas"], rows=200)
    first = clone(DistinctRowsForest(n_estimators=3), safe=False).set_params(random_state=8)
    again = DistinctRowsForest(n_estimators=3, random_state=8)

    assert first.get_params() == again.get_params()
    np.testing.assert_array_equal(
        first.fit(rows, labels).predict_proba(rows), again.fit(rows, labels).predict_proba(rows)
    )


def test_other_labels_than_0_and_1_are_kept():
    """Classes come back as they were given."""
    rows, labels = people((2, 2), rows=100)
    named = np.array(["no", "yes"])[labels]
    forest = DistinctRowsForest(n_estimators=5).fit(rows, named)

    assert set(forest.predict(rows)) <= {"no", "yes"}
    assert forest.predict_proba(rows).sum(axis=1) == pytest.approx(1)


def test_a_study_with_it_runs_resumes_and_is_judged(tmp_path):
    """The forest comes from Python, so a stored plan only has its name: cells must still be found again."""
    small = DistinctRowsForest(n_estimators=3)
    whole = plan_for(SYNTHETIC[0], epsilons=("1",), repeats=2)
    plan = whole.with_(
        data=DataSource(dataset="causal", options={"n": 400}),
        task=whole.task.with_(model=small, encoder="codes", folds=2),
    )
    first = run(plan.with_(repeats=1), out=tmp_path, workers=1)
    again = run(plan, out=tmp_path, workers=1, resume=True)
    told = build_reproduction(replace(PAPER, figures=lambda _: ()), "quick", {SYNTHETIC[0]: again})

    assert (len(first), len(again), len(again.failures)) == (4, 8, 0)
    assert [each.measures for each in again.outcomes if not each.cell.repeat] == [
        each.measures for each in first.outcomes
    ]
    assert len(told.tables[SYNTHETIC[0]]["measure"]) == 4 * 16
    assert {row.id: row.verdict for row in told.claims}["data-synthetic"] == "contradicted"
