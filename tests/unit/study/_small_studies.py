"""Small rows with known structure, and a classifier that keeps what it was shown."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask

GROUPS = ("north", "east", "south")


def people(n=400, seed=3, *, groups=GROUPS):
    """Return rows in which the outcome depends on the group, the age and a clear column."""
    draws = np.random.default_rng(seed)
    region = draws.integers(0, len(groups), n)
    age = draws.integers(18, 68, n)
    job = draws.integers(0, 4, n)
    score = region + (age > 40) + (job == 2) + draws.normal(0, 1, n)
    return pa.table(
        {
            "age": age,
            "region": [groups[each] for each in region],
            "job": [f"job {each}" for each in job],
            "hired": np.where(score > np.median(score), "yes", "no"),
        }
    )


def schema(**roles):
    """Return the schema of these rows; `region` and `age` are sensitive."""
    columns = (
        Column("age", Domain.integers(18, 67)),
        Column("region", Domain.categorical(GROUPS)),
        Column("job", Domain.categorical([f"job {each}" for each in range(4)])),
        Column("hired", Domain.categorical(["no", "yes"])),
    )
    given = {
        "sensitive": ["region", "age"],
        "protected": "region",
        "privileged": "south",
        "target": "hired",
        "positive": "yes",
    }
    return Schema(columns, **{**given, **roles})


def with_grid(task, grid):
    """Return a task that tries what another tries."""
    tried = {name: getattr(grid, name) for name in ("protocols", "epsilons", "splits", "strategies")}
    return replace(task, **tried)


def plan(*, collect=None, roles=None, **parts):
    """Return a plan for these rows."""
    task = parts.pop("task", CollectTask("grr", model="logistic", splits="uniform"))
    return Plan(
        schema=schema(**(roles or {})),
        task=task if collect is None else with_grid(task, collect),
        **{"repeats": 2, "seed": 11, **parts},
    )


class Recorder:
    """A classifier that remembers what it was trained on and what it was asked; copies share the memory."""

    def __init__(self):
        self.memory = Memory()

    def fit(self, features, target):
        """Remember the training rows."""
        self.memory.trained.append((np.array(features), np.array(target)))
        return self

    def predict(self, features):
        """Remember the rows, and say that every other one is positive."""
        self.memory.asked.append(np.array(features))
        return np.arange(len(features)) % 2


class Memory:
    """Two lists that a deep copy does not copy."""

    def __init__(self):
        self.trained, self.asked = [], []

    def __deepcopy__(self, memo):
        return self
