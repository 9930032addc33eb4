"""Small studies whose numbers are known, without any model."""

from fractions import Fraction

import numpy as np

from evenhand.measure import MEASURES, RATES
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import report_setting

NOTHING = Setting()


def grr(epsilon, **fields):
    """Return a GRR setting with an even split."""
    return report_setting(
        "grr", Fraction(epsilon), **{"split": "uniform", "strategy": "independent", **fields}
    )


def facts(groups=("women", "men")):
    """Return facts about a made-up file."""
    schema = Schema(
        columns=(
            Column("sex", Domain.categorical(list(groups))),
            Column("hired", Domain.categorical([0, 1])),
        ),
        sensitive=["sex"],
        protected="sex",
        privileged=groups[-1],
        target="hired",
        positive=1,
    )
    return Facts(
        label="people.csv",
        schema=schema,
        rows=1000,
        dropped=0,
        groups=tuple(groups),
        privileged=len(groups) - 1,
        sizes=(1000 // len(groups),) * len(groups),
        fingerprint="0" * 64,
    )


def outcome(cell, *, groups=("women", "men"), **measures):
    """Return an outcome with some measures; the others are undefined."""
    rates = dict.fromkeys(RATES, 0.25 + 0.01 * cell.repeat)
    return Outcome(
        cell,
        measures={name: measures.get(name, np.nan) for name in MEASURES},
        groups={group: {**rates, "people": 100.0} for group in groups},
        data={"true": 0.2, "reported": 0.2 if not cell.setting.is_protected else 0.1, "tested": 0.2},
        seconds={"train": 0.1},
    )


def failed(cell, message="The 'x' parameter of Y must be z."):
    """Return the outcome of a cell that failed."""
    return Outcome(cell, failure=Failure("InvalidParameterError", message))


def study(values, *, repeats=None, **plan):
    """Return results from ``{setting: {measure: one value per repeat}}``.

    A value of None is a cell that was not run. Settings must be GRR with one split.
    """
    epsilons = [setting.epsilon for setting in values if setting.is_protected]
    lengths = {len(runs) for measures in values.values() for runs in measures.values()}
    made = Plan(
        **{
            "task": CollectTask(["grr"], epsilons or [1], splits="uniform"),
            "repeats": repeats or max(lengths),
            **plan,
        }
    )
    outcomes = []
    for setting, measures in values.items():
        for repeat, runs in enumerate(zip(*measures.values(), strict=True)):
            if None not in runs:
                outcomes.append(outcome(Cell(setting, repeat), **dict(zip(measures, runs, strict=True))))
    return Results(made, facts(), outcomes)
