"""The plans of arcolezi2023: three data sets, seven protocols, two splits, nine epsilons, twenty seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.papers.paper import Study
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask, Mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "DATA",
    "EPSILONS",
    "MEASURES",
    "PROTOCOLS",
    "SEEDS",
    "SPLITS",
    "plan_for",
    "studies",
    "subset",
    "subset_plans",
]

EPSILONS = ("0.25", "0.5", "1", "2", "4", "8", "10", "20", "50")
"""The epsilons of the paper, as exact texts."""

SPLITS = ("uniform", "k-based")
SEEDS = 20

PROTOCOLS = (
    Mechanism("grr"),
    Mechanism("blh"),
    Mechanism("olh"),
    Mechanism("rappor"),
    Mechanism("oue"),
    Mechanism("ss", {"as_printed": True}),
    Mechanism("the"),
)
"""The protocols. SS rounds its subset size as the authors' code does.

OLH keeps our number of buckets: it is that of the code in every setting but LSAC, k-based, epsilon 2. With
``as_printed`` it would differ in many, for the code rounds where the paper's text rounds down.
"""

MEASURES = ("acc", "f1", "recall", "balanced_accuracy", "auc", "spd", "di", "eod", "oad")
"""What the paper shows. Its "auc" comes from hard predictions: it is the balanced accuracy. Ours is true."""


@dataclass(frozen=True)
class Source:
    """One data set of the paper.

    Parameters
    ----------
    dataset : str
    options : mapping
    parameters : mapping
        Of LightGBM, as published.
    others : tuple of str
        What appendix A draws from, besides the protected attribute.
    """

    dataset: str
    options: Mapping[str, Any]
    parameters: Mapping[str, Any]
    others: tuple[str, ...]


DATA = {
    "lsac": Source(
        "lsac",
        {},
        {"max_depth": 9, "learning_rate": 0.18177994587365698, "n_estimators": 1100},
        ("fam_inc", "gender", "fulltime", "lsat", "ugpa"),
    ),
    "adult": Source(
        "adult",
        {"version": "reconstructed", "threshold": 26_000},
        {"max_depth": 38, "learning_rate": 0.02255696731716368, "n_estimators": 1100},
        ("race", "native-country", "age", "hours-per-week", "education"),
    ),
    "acs_coverage": Source(
        "acs_coverage",
        {"keep_state": True},
        {"max_depth": 47, "learning_rate": 0.20243400958078808, "n_estimators": 1300},
        ("AGEP", "SEX", "SCHL", "RAC1P", "NATIVITY"),
    ),
}
"""The data sets by the name of their study."""

_FEW = ("0.25", "1", "4", "10", "50")
_FEWER = ("0.25", "4", "50")
_DESIGNS: dict[str, dict[str, tuple[Sequence[str], int]]] = {
    "quick": {"lsac": (_FEWER, 3)},
    "reduced": {
        "lsac": (_FEW, SEEDS),
        "lsac-subsets": (_FEWER, SEEDS),
        "adult": (_FEW, 5),
        "acs_coverage": (_FEWER, 5),
    },
    "full": {name: (EPSILONS, SEEDS) for base in DATA for name in (base, f"{base}-subsets")},
}


def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:
    """Return the studies of a design.

    Parameters
    ----------
    design : {"quick", "reduced", "full"}
    search : bool or int
        Search hyper-parameters first, so many of them; 100 for True. The studies then have other names.

    Examples
    --------
    >>> [(study.name, study.cells) for study in studies("quick")]
    [('lsac', 129)]
    """
    found = []
    for name, (epsilons, seeds) in _DESIGNS[design].items():
        base = name.removesuffix("-subsets")
        parameters = None
        if search:
            from evenhand.papers.arcolezi2023.search import searched  # noqa: PLC0415 - starts a search

            parameters = searched(base, evaluations=100 if search is True else search).parameters
        plan = plan_for(base, epsilons=epsilons, seeds=seeds, parameters=parameters)
        parts = partial(subset_plans, base, plan) if base != name else None
        found.append(Study(f"{name}-searched" if search else name, plan, parts))
    return tuple(found)


def plan_for(
    name: str,
    *,
    epsilons: Sequence[str] = EPSILONS,
    seeds: int = SEEDS,
    parameters: Mapping[str, Any] | None = None,
) -> Plan:
    """Return the plan of one data set.

    Examples
    --------
    >>> len(plan_for("adult").cells()) == (7 * 2 * 9 + 1) * 20
    True
    """
    source = DATA[name]
    return Plan(
        data=DataSource(dataset=source.dataset, options=source.options),
        task=CollectTask(
            PROTOCOLS,
            epsilons,
            splits=SPLITS,
            model="lightgbm",
            parameters=parameters or source.parameters,
            encoder="one-hot",
            test=0.2,
        ),
        measures=MEASURES,
        repeats=seeds,
        seed=0,
        name=f"arcolezi2023 {name}",
    )


def subset(others: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the attributes that a run of appendix A makes sensitive besides the protected one.

    How many is uniform from 1 to all, which ones are drawn without replacement. The draw depends on the seed
    of the run alone, so that all protocols, splits and epsilons share it.

    Examples
    --------
    >>> subset(["age", "race", "country"], 3) == subset(["age", "race", "country"], 3)
    True
    """
    from evenhand.privacy.randomness import SeededSource  # noqa: PLC0415 - starts numpy

    words = [int(word) for word in SeededSource(seed).for_cell("arcolezi2023 subset").words(len(others) + 1)]
    size = 1 + (words[0] * len(others) >> 64)
    ranked = sorted(range(len(others)), key=lambda place: words[place + 1])
    return tuple(others[place] for place in sorted(ranked[:size]))


def subset_plans(name: str, plan: Plan) -> tuple[Plan, ...]:
    """Return a plan for each seed, with the sensitive attributes that its draw names."""
    from evenhand.datasets import load  # noqa: PLC0415 - only where a schema is needed

    schema = load(DATA[name].dataset, backend="pyarrow", **DATA[name].options).schema
    protected = str(schema.protected)
    return tuple(
        plan.with_(
            schema=schema.with_roles(sensitive=(protected, *subset(DATA[name].others, seed))),
            repeats=1,
            seed=plan.seed + seed,
            name=f"{plan.name} subsets {seed}",
        )
        for seed in range(plan.repeats)
    )
