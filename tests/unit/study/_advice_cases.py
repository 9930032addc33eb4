"""Profiles, and results of two protocols, whose numbers are known."""

from fractions import Fraction

import numpy as np

from evenhand.measure import MEASURES, RATES
from evenhand.measure.dependence import Bounded
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.profile.profiling import Dependence, GroupProfile, Profile
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import report_setting

NOTHING = Setting()
GROUPS = ("women", "men")
SPREAD = np.array([-0.0021, 0.0012, 0.0001, 0.0018, -0.0010])


def setting(protocol, epsilon, *, split="uniform", strategy="independent"):
    """Return a setting of these studies."""
    return report_setting(
        protocol, Fraction(epsilon), "none" if strategy != "independent" else split, strategy
    )


def bounded(value, reach=0.01):
    """Return a figure with an even interval."""
    return Bounded(value, value - reach, value + reach)


def made_profile(
    *, men=0.9, women=0.7, share=0.8, reach=0.01, strongest=0.5, clear=0.1, columns=2, privileged="men"
):
    """Return the profile of made-up people, with strong dependence and mostly positive labels by default."""
    groups = tuple(
        GroupProfile(name, 500, bounded(rate, reach), privileged=name == privileged)
        for name, rate in zip(GROUPS, (women, men), strict=True)
    )
    gap = abs(men - women)
    limits = Bounded(gap, max(gap - 2 * reach, 0.0), gap + 2 * reach)
    pairs = (Dependence("sex", "age", bounded(strongest, reach)),)
    return Profile(
        label="people.csv",
        people=1000,
        protected="sex",
        positive=bounded(share, reach),
        groups=groups,
        gap=limits,
        order_is_clear=limits.low > 0,
        sizes={"sex": 2, "age": 5} if columns > 1 else {"sex": 2},
        among_sensitive=pairs if columns > 1 else (),
        clear_columns=(Dependence("job", "sex", bounded(clear, reach)),),
    )


def schema(columns=2):
    """Return the schema of these people, with one or two sensitive columns."""
    return Schema(
        columns=(
            Column("sex", Domain.categorical(list(GROUPS))),
            Column("age", Domain.integers(0, 4)),
            Column("job", Domain.integers(0, 2)),
            Column("hired", Domain.categorical([0, 1])),
        ),
        sensitive=["sex", "age"][:columns],
        protected="sex",
        privileged="men",
        target="hired",
        positive=1,
    )


def facts(columns=2):
    """Return facts about a made-up file."""
    return Facts(
        label="people.csv",
        schema=schema(columns),
        rows=1000,
        dropped=0,
        groups=GROUPS,
        privileged=1,
        sizes=(500, 500),
        fingerprint="0" * 64,
    )


def grid(protocols=("grr", "oue"), epsilons=(1, 4), *, splits=("uniform",), strategies=("independent",)):
    """Return what is tried."""
    return CollectTask(list(protocols), list(epsilons), splits=list(splits), strategies=list(strategies))


def results(values, *, collect=None, repeats=10, columns=2, spread=SPREAD, leave_out=()):
    """Return results from ``{setting: {figure: mean}}``, with a small spread over repeats.

    Figures are measures, ``"women selection"`` and the like, and ``"reported"``. Runs of `spread` are shifted
    from setting to setting, so that paired differences vary too. The settings in `leave_out` are not run.
    """
    plan = Plan(task=collect or grid(), repeats=repeats)
    outcomes = []
    for place, each in enumerate(plan.settings()):
        if each in leave_out:
            continue
        figures = {**values.get("all", {}), **values.get(each, {})}
        runs = (1 + 0.1 * (place // len(spread))) * np.resize(np.roll(spread, place), repeats)
        outcomes += [_outcome(Cell(each, repeat), figures, runs[repeat]) for repeat in range(repeats)]
    return Results(plan, facts(columns), outcomes)


def _outcome(cell, figures, noise):
    measures = {name: figures.get(name, np.nan) + noise for name in MEASURES}
    rates = {
        group: {rate: figures.get(f"{group} {rate}", 0.5) + share * noise for rate in RATES}
        | {"people": 100.0}
        for group, share in zip(GROUPS, (1, 0.9), strict=True)  # a difference that is equal has no interval
    }
    reported = figures.get("reported", 0.1) + noise if cell.setting.is_protected else np.nan
    data = {"true": figures.get("true", 0.2), "reported": reported}
    return Outcome(cell, measures=measures, groups=rates, data=data, seconds={"train": 0.1})
