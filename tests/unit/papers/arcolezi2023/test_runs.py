"""arcolezi2023 run for real: minutes, and only where the data are."""

import numpy as np
import pytest

from evenhand.papers.arcolezi2023 import load_published
from evenhand.papers.arcolezi2023.checks import PRINTED
from evenhand.papers.arcolezi2023.plans import plan_for
from evenhand.papers.reproduction import reproduce
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", name="authors")
def _authors():
    found = load_published()
    if found is None:
        pytest.skip("the published table is not on this machine")
    return found


def test_the_unprotected_results_on_adult_are_the_published_ones_in_every_seed(authors):
    """The same splits, columns, parameters and model give the same digits, or the pipeline is another one."""
    plan = plan_for("adult", seeds=2)
    prepared = prepare(plan)
    for seed in range(2):
        found = execute(Cell(Setting(), seed), plan=plan, prepared=prepared).measures
        theirs = {name: authors.runs("adult", Setting(), name)[seed] for name in PRINTED}

        assert {name: found[name] for name in PRINTED} == pytest.approx(theirs, abs=1e-9)


def plain(seed):
    """Return the accuracy on LSAC of a plain LightGBM on one-hot columns; only the rows are from us."""
    import pandas as pd
    from lightgbm import LGBMClassifier
    from sklearn.model_selection import train_test_split

    from evenhand.datasets import load

    frame = load("lsac", backend="pandas", download=False).frame
    target = frame.pop("pass_bar")
    columns = pd.get_dummies(frame.astype("str"), dtype=float)
    train, test, known, truth = train_test_split(
        columns.to_numpy(), target.to_numpy(), test_size=0.2, stratify=target, random_state=seed
    )
    model = LGBMClassifier(
        random_state=seed, objective="binary", max_depth=9, learning_rate=0.18177994587365698,
        n_estimators=1100, n_jobs=1, verbosity=-1,
    )  # fmt: skip
    return float((model.fit(train, known).predict(test) == truth).mean())


def test_the_quick_design_runs_to_its_end(authors, tmp_path):
    """What a newcomer types must give a table of claims, no failed cell, and the plain model's baseline."""
    del authors  # it tells that the data are here
    found = reproduce("arcolezi2023", out=tmp_path / "cells", progress=False)
    found.write(tmp_path / "written")
    lsac = found.studies["lsac"]
    unprotected = lsac.arrays.of_measures[lsac.place(Setting()), :, lsac.arrays.measures.index("acc")]

    assert (len(lsac), len(lsac.failures)) == (129, 0)
    assert np.isfinite(lsac.arrays.of_measures).all()
    assert unprotected.tolist() == pytest.approx([plain(seed) for seed in range(3)], abs=1e-12)
    assert {path.name for path in (tmp_path / "written").iterdir()} == {
        "claims.csv", "claims.md", "lsac.csv", "fig4.svg", "fig7.svg", "figures.md",
    }  # fmt: skip
