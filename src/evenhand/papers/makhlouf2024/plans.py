"""The plans of makhlouf2024: nine data sets, three ways to protect them, nine epsilons, twenty repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.datasets.download.files import places
from evenhand.papers.makhlouf2024.forest import DistinctRowsForest
from evenhand.papers.paper import Study, read_entries, read_studies, read_toml
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask

if TYPE_CHECKING:
    from collections.abc import Sequence

# The epsilons of the paper's figures, as exact texts. Its text leaves out 4
EPSILONS = ("16", "8", "5", "4", "3", "2", "1", "0.5", "0.1")

REPEATS = 20
FOLDS = 10

STRATEGIES = ("single", "combined", "independent")  # the paper's sLDP, combLDP and indLDP
# Accuracy and the five disparities, group 1 minus group 0
MEASURES = ("acc", "spd", "eod", "ped", "oad", "prd")
# Our measures, and rates of group 0 and 1, with the published columns
NAMES = read_toml(__package__, "paper.toml")["published"]["columns"]
# What is undefined where nobody is predicted positive; the published runs have 0 there
PRECISION = ("prd", "precision_0", "precision_1")

SYNTHETIC = ("synthetic-0.44", "synthetic-0.52", "synthetic-0.6")
COMPAS = ("compas-1", "compas-3", "compas-5")
ADULT = ("adult-10000", "adult-27260", "adult-50000")

# Figures 3a and 3b have the first threshold, as their quoted numbers tell; 3c by its axes
FIGURE_3 = (SYNTHETIC[0], COMPAS[0], ADULT[0])
# Figures 4b and 4c have the second threshold, as their quoted numbers tell; 4a by analogy
FIGURE_4 = (SYNTHETIC[1], COMPAS[1], ADULT[1])

_STEM = "synthetic_makhlouf2024"


# The data sets by the name of their study. The synthetic thresholds are names of quartiles
DATA = read_entries(__package__, "data")


def plan_for(name: str, *, epsilons: Sequence[str] = EPSILONS, repeats: int = REPEATS) -> Plan:
    """Return the plan of one data set.

    The synthetic people are those that the authors published, where their file is on this machine; else they
    are drawn from the same model.

    >>> len(plan_for("compas-3").cells()) == (3 * 9 + 1) * 20
    True
    """
    source = DATA[name]
    options = dict(source.options)
    if source.dataset == "causal":
        paths = [each.folder / f"{_STEM}.csv{end}" for each in places(None) for end in ("", ".gz")]
        options["version"] = "stored" if any(path.is_file() for path in paths) else "generated"
    return Plan(
        data=DataSource(dataset=source.dataset, options=options),
        task=CollectTask(
            "grr", epsilons, splits="k-based", strategies=STRATEGIES, model=DistinctRowsForest(),
            encoder="codes", folds=FOLDS,
        ),
        measures=MEASURES,
        repeats=repeats,
        seed=0,
        name=f"makhlouf2024 {name}",
    )  # fmt: skip


# Forests have default parameters, so that there is no search
studies = read_studies(__package__, lambda name, **sizes: Study(name, plan_for(name, **sizes)))
