"""The plans of ghoukasian2024, chapter 5: five experiments, four mechanisms, nine epsilons, twenty seeds."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.papers.arcolezi2023.plans import DATA as MODELS
from evenhand.papers.ghoukasian2024_local.data import DATA, load_experiment
from evenhand.papers.paper import Study
from evenhand.papers.stored import read_toml
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BUDGETED",
    "EPSILONS",
    "GRR",
    "LABELS",
    "MEASURES",
    "OPT",
    "SEEDS",
    "SS",
    "complete_plan",
    "mechanisms",
    "plan_for",
    "setting_of",
    "studies",
    "way_of",
]

EPSILONS = ("0.05", "0.25", "0.5", "1", "2", "4", "8", "10", "20")
"""The epsilons of the figures, as exact texts."""

SEEDS = 20

GRR, SS, OPT, BUDGETED = "grr", "ss", "opt", "opt at GRR's error"
"""The mechanisms: three of the thesis, and our default error budget."""

LABELS = {GRR: "GRR", SS: "SS", OPT: "OPT", BUDGETED: "OPT at GRR's error (ours)"}

MEASURES = ("acc", "f1", "sp_gap")
"""What the thesis shows, besides the equal-opportunity gap, which is made of the groups' rates."""


def mechanisms(name: str) -> dict[str, Mechanism]:
    """Return what an experiment compares, by name.

    OPT is the thesis's: Theorem 14 for two groups, else the fairest matrix at the smallest error. It knows
    the exact frequencies of all rows.

    Examples
    --------
    >>> mechanisms("adult-race")[OPT].parameters
    {'outcomes': 'exact', 'error': 'minimum'}
    """
    known: dict[str, Any] = {"outcomes": "exact"}
    own = {"as_printed": True} if DATA[name].is_binary else {"error": "minimum"}
    return {
        GRR: Mechanism("grr"),
        SS: Mechanism("ss", {"as_printed": True}),
        OPT: Mechanism("optimal", {**known, **own}),
        BUDGETED: Mechanism("optimal", known),
    }


def setting_of(name: str, way: str, epsilon: str | float | Fraction) -> Setting:
    """Return a setting of an experiment as its plan has it."""
    made = mechanisms(name)[way]
    return report_setting(made.name, Fraction(str(epsilon)), UNPROTECTED, "single", made.parameters)


def way_of(setting: Setting) -> str:
    """Return which of the mechanisms a protected setting has.

    >>> way_of(setting_of("lsac-gender", OPT, "0.5")), way_of(setting_of("lsac-income", BUDGETED, 4))
    ('opt', "opt at GRR's error")
    """
    if setting.mechanism in (GRR, SS):
        return setting.mechanism
    return OPT if {"error", "as_printed"} & set(setting.options) else BUDGETED


def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:  # noqa: ARG001 - there is no search
    """Return the studies of a design.

    Parameters
    ----------
    design : {"quick", "reduced", "full"}
    search : bool or int
        Not used: the hyper-parameters are those of arcolezi2023.

    Examples
    --------
    >>> sum(study.cells for study in studies("full")) == 5 * (4 * 9 + 1) * 20
    True
    """
    chosen = read_toml(__package__, "paper.toml")["studies"][design]
    return tuple(
        Study(name, plan_for(name, **sizes), completed=partial(complete_plan, name))
        for name, sizes in chosen.items()
    )


def plan_for(name: str, *, epsilons: Sequence[str] = EPSILONS, seeds: int = SEEDS) -> Plan:
    """Return the plan of one experiment; its schema comes with the rows.

    Examples
    --------
    >>> len(plan_for("adult-race").cells()) == (4 * 9 + 1) * 20
    True
    """
    source = DATA[name]
    return Plan(
        task=CollectTask(
            tuple(mechanisms(name).values()),
            epsilons,
            strategies="single",
            model="lightgbm",
            parameters=MODELS[source.dataset].parameters,
            encoder="one-hot",
            test=0.2,
        ),
        measures=MEASURES,
        repeats=seeds,
        seed=0,
        name=f"ghoukasian2024, {source.title}",
    )


def complete_plan(name: str, plan: Plan) -> tuple[Plan, Any]:
    """Return the plan with the schema of its experiment, and the rows."""
    frame, schema = load_experiment(name)
    return plan.with_(schema=schema), frame
