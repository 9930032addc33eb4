"""Results of makhlouf2024 made by hand: rates of two groups are a function, disparities follow from them."""

import numpy as np

from evenhand.measure import MEASURES, RATES
from evenhand.papers.makhlouf2024.plans import ADULT, COMPAS, DATA, SYNTHETIC, plan_for
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.facts import Facts
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Outcome

FEW = ("8", "4", "2", "0.5", "0.1")
LAST = (SYNTHETIC[2], COMPAS[2], ADULT[2])
_ROLES = {
    "synthetic": (100_000, {"A": 2, "C": 2, "M": 3}),
    "compas": (5_915, {"race": 2, "sex": 2, "age_cat": 3}),
    "adult": (32_561, {"gender": 2, "age": 2, "race": 2, "marital-status": 2, "native-country": 2}),
}
_OF = {"spd": "selection", "eod": "tpr", "ped": "fpr", "oad": "accuracy", "prd": "precision"}


def kind_of(name):
    """Return the data set of a study."""
    return name.partition("-")[0]


def facts(name, *, wrong=False):
    """Return facts as in the paper's Table 1, or wrong ones."""
    people, sizes = _ROLES[kind_of(name)]
    columns = [Column(each, Domain.integers(0, size - 1 + wrong)) for each, size in sizes.items()]
    columns.append(Column("target", Domain.integers(0, 1)))
    protected = next(iter(sizes))
    roles = {"sensitive": list(sizes), "protected": protected, "privileged": 1}
    return Facts(
        label=name,
        schema=Schema(columns, target="target", positive=1, **roles),
        rows=people + wrong,
        dropped=0,
        groups=("0", "1"),
        privileged=1,
        sizes=(people // 2, people - people // 2),
        fingerprint="0" * 64,
    )


def made(name, rates, *, repeats=5, epsilons=FEW, noise=0.0005, wrong=False):
    """Return results in which a group's rates are `rates(name, setting, group)` plus a little noise."""
    plan = plan_for(name, epsilons=epsilons, repeats=repeats)
    draws = np.random.default_rng(11)
    shared = draws.normal(0, 0.01, (repeats, len(RATES)))
    outcomes = []
    for cell in plan.cells():
        groups = {}
        for group in (0, 1):
            told = rates(name, cell.setting, group)
            own = draws.normal(0, noise, len(RATES))
            groups[str(group)] = {
                rate: told[rate] + (0 if rate == "base_rate" else shared[cell.repeat, place] + own[place])
                for place, rate in enumerate(RATES)
            }
            groups[str(group)]["people"] = 1000.0
        apart = {each: groups["1"][rate] - groups["0"][rate] for each, rate in _OF.items()}
        measures = {each: apart.get(each, 0.7) for each in MEASURES}
        outcomes.append(Outcome(cell, measures, groups, {}))
    return Results(plan, facts(name, wrong=wrong), outcomes)


def world(rates, **options):
    """Return results of all nine studies."""
    return {name: made(name, rates, **options) for name in DATA}
