"""Many repeats of studies on fixed rows, and how often limits of effects from a few of them hold the mean."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, Option
from evenhand.answer.gaps import GAP_EFFECTS, judge_gaps
from evenhand.answer.status import Sample, limit_samples
from evenhand.measure.repeat_means import FEWEST_REPEATS
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DataSource, LearnTask, Plan
from evenhand.study.run.whole import run
from evenhand.study.tasks.effects.classifiers import SPREADS

REPEATS = 300
STUDIES = 1_000
COLLECT = CollectTask("grr", [1], model="logistic", splits="uniform")
LEARN = LearnTask("dp", [1])


def draw_people(n, seed, *, groups=3, rare=0.0):
    """Return rows with their schema: groups of unlike size, of whom fewer are hired where that is rare."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(2, groups + 2)
    region = rng.choice(groups, size=n, p=shares / shares.sum())
    age, job = rng.integers(18, 68, n), rng.integers(0, 4, n)
    score = region % 3 + (age > 40) + (job == 2) + rng.normal(0, 1, n)
    names = [f"region {place}" for place in range(groups)]
    columns = (
        Column("age", Domain.integers(18, 67)),
        Column("region", Domain.categorical(names)),
        Column("job", Domain.categorical([f"job {place}" for place in range(4)])),
        Column("hired", Domain.categorical(["no", "yes"])),
    )
    roles = {"sensitive": ["region", "job"], "protected": "region", "privileged": names[0]}
    schema = Schema(columns, **roles, target="hired", positive="yes")
    rows = {
        "age": age,
        "region": [names[place] for place in region],
        "job": [f"job {place}" for place in job],
        "hired": np.where(score > np.quantile(score, 1 - rare if rare else 0.5), "yes", "no"),
    }
    return pa.table(rows), schema


def _causal(n, seed, task=COLLECT):
    return lambda: (
        None,
        {"data": DataSource(dataset="causal", options={"n": n, "seed": seed}), "task": task},
    )


def _named(name, rows, task=COLLECT):
    return lambda: (None, {"data": DataSource(dataset=name, rows=rows), "task": task})


def _drawn(n, seed, task=COLLECT, **more):
    def make():
        frame, schema = draw_people(n, seed, **more)
        return frame, {"schema": schema, "task": task}

    return make


USUAL = {
    "causal, 400 rows": _causal(400, 11),
    "causal, 400 rows, another file": _causal(400, 12),
    "causal, 2,000 rows": _causal(2_000, 11),
    "compas, 2,000 rows": _named("compas", 2_000),
    "lsac, 2,000 rows": _named("lsac", 2_000),
}
"""Files of the causal data set, and two others."""

UNLIKE = {
    "4 of 100 hired": _drawn(3_000, 21, rare=0.04),
    "30 groups": _drawn(4_000, 22, groups=30),
    "repeats that are mostly equal": _drawn(1_500, 23, CollectTask("grr", [9], model="logistic")),
    "400 other rows": _drawn(400, 24),
}
"""Files unlike them."""

TOGETHER = {"causal, 2,000 rows, trained with DP": _causal(2_000, 11, LEARN)}
"""A file in which people change together: in three of four repeats nobody, else a third of a group."""

FILES = USUAL | UNLIKE | TOGETHER


def run_pool(folder, name):
    """Return what is due to each group and what it gets in many repeats on one file; run once, then read."""
    path = Path(folder) / f"effects-{list(FILES).index(name)}.npz"
    if not path.exists():
        frame, parts = FILES[name]()
        results = run(Plan(**parts, repeats=REPEATS, seed=7), frame=frame, workers=1, progress=False)
        table = results.plan.task.effects(results)
        seen = [
            each for each in table.observations
            if each.option == table.page and each.group != EVERYBODY and each.effect in GAP_EFFECTS
            and each.is_judged and each.group not in table.margins and len(each.after) == REPEATS
        ]  # fmt: skip
        part = path.with_suffix(".part.npz")
        np.savez(
            part,
            effects=np.array([each.effect for each in seen]),
            groups=np.array([each.group for each in seen]),
            people=np.array([each.people for each in seen]),
            after=np.array([each.after for each in seen]),
            due=np.array([each.due for each in seen]),
        )
        part.rename(path)
    with np.load(path) as stored:
        return dict(stored)


def cover_effect(pool, effect, *, repeats, spread, level=0.95, studies=STUDIES, seed=1):
    """Return, of each group, how often limits hold the mean of all repeats, and how often there are some."""
    rng = np.random.default_rng([seed, repeats])
    found = []
    for place in np.flatnonzero(pool["effects"] == effect):
        change = pool["after"][place] - pool["due"][place]
        change = change[np.isfinite(change)]
        truth, unseen = change.mean(), 3_000 / pool["people"][place]
        drawn = change[rng.integers(0, len(change), (studies, repeats))]
        limits = limit_samples([Sample(each, "repeats", spread, unseen=unseen) for each in drawn], level)
        low, high = np.array([each.low for each in limits]), np.array([each.high for each in limits])
        shown = np.isfinite(low)
        held = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
        found.append((held[shown].mean() if shown.any() else np.nan, shown.mean()))
    return np.array(found)


def cover_gap(pool, effect, *, repeats, spread="even", level=0.95, studies=STUDIES, seed=1):
    """Return how often the limits of the gap hold the mean of its pair, and how often there are some.

    Each study picks its pair from its own repeats, as :func:`evenhand.answer.gaps.judge_gaps` does.
    """
    rng = np.random.default_rng([seed, repeats, 2])
    places = np.flatnonzero(pool["effects"] == effect)
    after, due, people = (pool[name][places] for name in ("after", "due", "people"))
    options = (Option("plain"), Option("page", "plain", epsilon=1.0))
    held = []
    for _ in range(studies):
        at = rng.integers(0, after.shape[1], repeats)
        seen = [
            Observation(
                "page", str(place), effect, after[place, at], due[place, at], people[place], spread=spread
            )
            for place in range(len(places))
            if np.isfinite(after[place, at]).any()
        ]
        row = judge_gaps(EffectTable(options, tuple(seen), "page", level=level))[0]
        first, second = map(int, row.group.split(" and "))
        truth = np.nanmean((after[first] - after[second]) - (due[first] - due[second]))
        held.append(np.nan if np.isnan(row.low) else row.low - 1e-9 <= truth <= row.high + 1e-9)
    held = np.array(held, dtype=float)
    return (np.nanmean(held) if np.isfinite(held).any() else np.nan), np.isfinite(held).mean()


def cover_files(folder, *, repeats=(5, 7, 10, 20)):
    """Yield, by file, effect and repeats, how often limits hold for groups on average, at least, and exist.

    Those of a gap are called ``gap in`` its effect.
    """
    for name in FILES:
        pool = run_pool(folder, name)
        for effect in GAP_EFFECTS:
            for few in repeats:
                groups = cover_effect(pool, effect, repeats=few, spread=SPREADS[effect])
                is_bounded = len(groups) and few >= FEWEST_REPEATS.get(SPREADS[effect], 0)
                if is_bounded and np.isfinite(groups).all():
                    held, shown = groups.T
                    yield name, effect, few, held.mean(), held.min(), shown.mean()
                if len(groups) > 1:
                    studies = 60 if len(groups) > 10 else 400
                    held, shown = cover_gap(pool, effect, repeats=few, studies=studies)
                    if np.isfinite(held):
                        yield name, f"gap in {effect}", few, held, held, shown
