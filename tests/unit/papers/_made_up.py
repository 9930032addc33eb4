"""Results made by hand: what a setting gives is a function, so that findings can be planted."""

import numpy as np

from evenhand.measure import MEASURES
from evenhand.papers.arcolezi2023.plans import plan_for
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.facts import Facts
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.shared.report_settings import report_setting

FEW = ("0.25", "4", "50")


def facts(people=20_427, **sizes):
    """Return facts about rows with these sensitive columns; `race1` is the protected one."""
    sizes = sizes or {"race1": 2, "fam_inc": 5, "gender": 2, "fulltime": 2}
    protected = next(iter(sizes))
    columns = [Column(name, Domain.integers(0, size - 1)) for name, size in sizes.items()]
    columns += [Column("ugpa", Domain.categorical([1.5, 2.0, 2.5, 3.0, 3.5, 4.0], ordered=True))]
    columns += [Column("target", Domain.integers(0, 1))]
    roles = {"sensitive": list(sizes), "protected": protected, "privileged": 1}
    schema = Schema(columns, target="target", positive=1, **roles)
    return Facts(
        label="made up",
        schema=schema,
        rows=people,
        dropped=0,
        groups=("0", "1"),
        privileged=1,
        sizes=(1000, people - 1000),
        fingerprint="0" * 64,
    )


def made(value, *, name="lsac", seeds=6, epsilons=FEW, noise=0.001, about=None):
    """Return results in which a measure of a setting is `value(setting, measure)` plus a little noise."""
    plan = plan_for(name, epsilons=epsilons, seeds=seeds)
    draws = np.random.default_rng(7)
    shared = draws.normal(0, 0.02, (seeds, len(MEASURES)))  # what a split does to every setting
    outcomes = []
    for cell in plan.cells():
        own = draws.normal(0, noise, len(MEASURES)) if cell.setting.is_protected else np.zeros(len(MEASURES))
        found = {
            measure: value(cell.setting, measure) + shared[cell.repeat, place] + own[place]
            for place, measure in enumerate(MEASURES)
        }
        outcomes.append(Outcome(cell, found, {}, {}))
    return Results(plan, about or facts(), outcomes)


def setting(protocol="grr", epsilon="4", split="uniform"):
    """Return a setting as the paper's plans have it."""
    parameters = {"as_printed": True} if protocol == "ss" else {}
    from fractions import Fraction

    return report_setting(protocol, Fraction(epsilon), split, "independent", parameters)
