"""Small tables that people can check by hand, and studies of releases with any numbers one likes."""

from fractions import Fraction

import numpy as np
import pyarrow as pa

from evenhand.measure import MEASURES, RATES
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.tasks.release.measures import SIZES
from evenhand.study.tasks.release.task import ReleaseTask
from unit.study._page_studies import wobble

WOMEN, MEN = "women", "men"


def schema(groups=(WOMEN, MEN), **roles):
    """Return the schema of a table of sex, job and whether somebody was hired."""
    columns = (
        Column("sex", Domain.categorical(list(groups))),
        Column("job", Domain.categorical(["clerk", "nurse", "cook"])),
        Column("hired", Domain.categorical(["no", "yes"])),
    )
    given = {
        "protected": "sex",
        "privileged": groups[-1],
        "target": "hired",
        "positive": "yes",
        "quasi_identifiers": ["sex"],
    }
    return Schema(columns, **{**given, **roles})


def people(rows=120):
    """Return rows in which more men than women are hired, and few women are cooks."""
    sex = [MEN if row % 2 else WOMEN for row in range(rows)]
    job = ["cook" if row % 10 == 9 else ("clerk", "nurse")[row // 2 % 2] for row in range(rows)]
    hired = ["yes" if row // 2 % 10 < (7 if row % 2 else 4) else "no" for row in range(rows)]
    return pa.table({"sex": sex, "job": job, "hired": hired})


def plan(task=None, *, roles=None, **parts):
    """Return a plan of a release of these rows."""
    task = ReleaseTask(["sex", "job", "hired"], ["laplace"], [1]) if task is None else task
    return Plan(schema=schema(**(roles or {})), task=task, **{"repeats": 2, "seed": 7, **parts})


# --- made up ----------------------------------------------------------------------------------------

GRID = ("laplace", {"name": "suppression", "threshold": 6}, "noisy-suppression")


def numbers(
    setting, *, lost=(0.0, 0.0), error=2.0, delta=0.0, accuracy=0.8, alpha=1.0, growth=0.0,
    error_exact=False, expected=None, spread=0.02,
):  # fmt: skip
    """Return what one setting is given in every repeat; `growth` makes large cells err more."""
    return {
        "lost": lost,
        "error": error,
        "delta": delta,
        "accuracy": accuracy,
        "alpha": alpha,
        "growth": growth,
        "error_exact": error_exact,
        "expected": expected,
        "spread": spread,
        "setting": setting,
    }


def outcome(cell, given, *, noise, groups, classify, exact=True, counted=None, sizes=range(1, 6)):
    """Return an outcome with these numbers and a little noise of its own."""

    def near(name, value, scale=noise):
        return value + scale * wobble(draw_text(cell), name)

    error = near("error", given["error"])
    measures = {
        "l1_error": 6 * len(groups) * error,
        "l1_bias": 3.0 * given["error"],
        "alpha": given["alpha"],
        "largest_bias": given["alpha"],
        "delta": given["delta"],
        "claimed_epsilon": 1.0,
        "suppressed": 0.0,
        "net_people": 0.0,
        "bias_exact": float(exact),
        "error_exact": float(given["error_exact"]),
        "delta_tight": 1.0,
    }
    told = {}
    for place, (group, lost) in enumerate(zip(groups, given["lost"], strict=True)):
        there = counted[place] if counted else 900.0 if place else 100.0
        net = there * near(f"lost {group}", lost, noise / 20)
        told[group] = {
            "counted": there,
            "published": there + net,
            "net": net,
            "expected_net": given["expected"] * there if given["expected"] is not None else net,
            "net_spread": given["spread"] * there,
            "cell_error": error,
            "person_error": 6 * error / there,
        }
    data = {}
    for place, size in enumerate(SIZES):
        known = place in sizes
        data[f"cells_{size.key}"] = 2.0 if known else 0.0
        data[f"size_{size.key}"] = 1.5 * size.least if known else np.nan
        data[f"error_{size.key}"] = (
            error * (1 + given["growth"] * (1.5 * size.least) ** 2) if known else np.nan
        )
        data[f"bias_{size.key}"] = 0.5 if known else np.nan
    if classify:
        measures |= dict.fromkeys(MEASURES, 0.3) | {"acc": near("acc", given["accuracy"], noise / 100)}
        for group in groups:
            told[group] |= dict.fromkeys(RATES, 0.4) | {"people": 30.0}
    return Outcome(cell, measures, told, data, {"release": 0.1})


def made(
    given=None, *, grid=GRID, epsilons=(1, 4), repeats=10, noise=0.1, groups=(WOMEN, MEN), classify=True,
    failures=(), exact=True, notes=(), counted=None, sizes=range(1, 6), **task,
):  # fmt: skip
    """Return results; `given` maps a setting to its numbers."""
    plan = Plan(
        data=DataSource(path="people.csv"),
        task=ReleaseTask(["sex", "job", "hired"], list(grid), list(epsilons), classify=classify, **task),
        repeats=repeats,
    )
    facts = Facts(
        label="people.csv",
        schema=schema(groups),
        rows=1000,
        dropped=0,
        groups=tuple(groups),
        privileged=len(groups) - 1,
        sizes=(100,) + (900,) * (len(groups) - 1),
        fingerprint="0" * 64,
        notes=tuple(notes),
    )
    nothing = numbers(None, lost=(0.0,) * len(groups), error=0.0, delta=1.0, alpha=0.0)

    def of(setting):
        return given(setting) if given and setting.is_protected else nothing

    outcomes = []
    for place, cell in enumerate(plan.cells()):
        if place in failures:
            outcomes.append(Outcome(cell, failure=Failure("ValueError", "Raised at some.py:1.")))
            continue
        calm = noise if cell.setting.is_protected else 0.0
        options = {"noise": calm, "groups": groups, "classify": classify, "exact": exact}
        options |= {"counted": counted, "sizes": sizes}
        outcomes.append(outcome(cell, of(cell.setting), **options))
    return Results(plan, facts, outcomes)


def by_name(table, **otherwise):
    """Return numbers by the name of the mechanism."""

    def given(setting):
        return numbers(setting, **{**otherwise, **table.get(setting.mechanism, {})})

    return given


ONE = Fraction(1)
PROMISES = {"suppression": {"delta": 1.0}, "noisy-suppression": {"delta": 0.6}}


def study(table=None, **options):
    """Return results of noise that keeps a promise beside two mechanisms that keep none."""
    otherwise = {"lost": options.pop("lost", (0.0, 0.0)), "growth": options.pop("growth", 0.0)}
    return made(by_name({**PROMISES, **(table or {})}, **otherwise), **options)
