"""The plans of ghoukasian2024, chapter 5: five experiments, four mechanisms, nine epsilons, twenty seeds.

And their people: which attribute is private, and who has which outcome.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from evenhand import datasets
from evenhand.papers.arcolezi2023.plans import DATA as MODELS
from evenhand.papers.paper import Study
from evenhand.papers.stored import read_entries, read_toml
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = read_entries(__package__, "data")  # the experiments by the name of their study
BOTH = "race-gender"  # the attribute that stands for race and gender together
# The epsilons of the figures, as exact texts
EPSILONS = ("0.05", "0.25", "0.5", "1", "2", "4", "8", "10", "20")

SEEDS = 20

# The mechanisms: three of the thesis, and our default error budget
GRR, SS, OPT, BUDGETED = "grr", "ss", "opt", "opt at GRR's error"

LABELS = {GRR: "GRR", SS: "SS", OPT: "OPT", BUDGETED: "OPT at GRR's error (ours)"}

# What the thesis shows, besides the equal-opportunity gap, which is made of the groups' rates
MEASURES = ("acc", "f1", "sp_gap")


def mechanisms(name: str) -> dict[str, Mechanism]:
    """Return what an experiment compares, by name.

    OPT is the thesis's: Theorem 14 for two groups, else the fairest matrix at the smallest error. It knows
    the exact frequencies of all rows.

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
    """Return the studies of a design; hyper-parameters are those of arcolezi2023, so that there is no search.

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

    >>> len(plan_for("adult-race").cells()) == (4 * 9 + 1) * 20
    True
    """
    source = DATA[name]
    return Plan(
        task=CollectTask(
            tuple(mechanisms(name).values()), epsilons, strategies="single", model="lightgbm",
            parameters=MODELS[source.dataset].parameters, encoder="one-hot", test=0.2,
        ),
        measures=MEASURES,
        repeats=seeds,
        seed=0,
        name=f"ghoukasian2024, {source.title}",
    )  # fmt: skip


def complete_plan(name: str, plan: Plan) -> tuple[Plan, Any]:
    """Return the plan with the schema of its experiment, and the rows."""
    frame, schema = load_experiment(name)
    return plan.with_(schema=schema), frame


class Population(NamedTuple):
    """How many people have each value of the private attribute, and how many of them a positive label."""

    values: tuple[str, ...]
    people: tuple[int, ...]
    positive: tuple[int, ...]

    @property
    def weights(self) -> tuple[float, ...]:
        """The share of people with each value."""
        return tuple(count / sum(self.people) for count in self.people)

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of positive labels among them."""
        return tuple(good / count for good, count in zip(self.positive, self.people, strict=True))


def load_experiment(name: str) -> tuple[Any, Schema]:
    """Return the rows of an experiment as an Arrow table, and their schema with its roles.

    The code of race and gender together is that of race times two and that of gender; the two columns are
    taken away.
    """
    source = DATA[name]
    dataset = datasets.load(source.dataset, backend="pyarrow", **source.options)
    frame, schema = dataset.frame, dataset.schema
    if source.attribute == BOTH:
        frame, schema = _join_race_and_gender(frame, schema)
    return frame, schema.with_roles(
        sensitive=(source.attribute,), protected=source.attribute, privileged=source.privileged
    )


def _join_race_and_gender(frame: Any, schema: Schema) -> tuple[Any, Schema]:
    parts, target = ("race", "gender"), str(schema.target)
    labels = [", ".join(map(str, pair)) for pair in product(*(schema[name].domain.values for name in parts))]
    values = [", ".join(pair) for pair in zip(*(frame[name].to_pylist() for name in parts), strict=True)]
    kept = [schema[name] for name in schema.names if name not in {*parts, target}]
    columns = (*kept, Column(BOTH, Domain.categorical(labels)), schema[target])
    joined = Schema(columns, target=target, positive=schema.positive)
    return frame.append_column(BOTH, pa.array(values)).select(list(joined.names)), joined


def population(name: str) -> Population:
    """Return the counts of all rows of an experiment, test rows included, as the thesis used them."""
    frame, schema = load_experiment(name)
    column = schema[str(schema.protected)]
    group = np.asarray([column.domain.code(value) for value in frame[column.name].to_pylist()])
    positive = np.asarray(frame[str(schema.target)].to_pylist()) == schema.positive
    return Population(
        tuple(column.labels),
        tuple(int(count) for count in np.bincount(group, minlength=column.size)),
        tuple(int(count) for count in np.bincount(group[positive], minlength=column.size)),
    )
