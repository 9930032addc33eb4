"""Cells that cost nothing, fail, hang or kill their process; and a program that runs them.

Worker processes import this module by its name, so nothing here may live in a test file.
"""

import os
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.events import CellDone, CellFailed
from evenhand.study.run.whole import Runner
from evenhand.study.store.outcome import Outcome
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask

LOG = "EVENHAND_TEST_LOG"
PAUSE = "EVENHAND_TEST_PAUSE"
WORKERS = "EVENHAND_TEST_WORKERS"


def small_plan(epsilons=(1, 2), *, repeats=2, protocols=("grr",), seed=7, **more):
    """Return a plan of ``(1 + protocols x epsilons) x repeats`` cells on a few rows."""
    data = DataSource(dataset="causal", options={"n": 60})
    task = more.pop("task", CollectTask("grr", model="logistic", splits="uniform"))
    task = replace(task, protocols=list(protocols), epsilons=list(epsilons))
    return Plan(data=data, task=task, repeats=repeats, seed=seed, **more)


@dataclass(frozen=True)
class LightRows:
    """Prepared rows that need neither a data set nor a model's library."""

    facts: Facts
    codes: dict
    target: object
    group: object


def light_rows():
    """Return forty people in two groups."""
    sex = Column("sex", Domain.categorical(["female", "male"]))
    paid = Column("paid", Domain.categorical(["no", "yes"]))
    roles = {
        "sensitive": ["sex"],
        "protected": "sex",
        "privileged": "male",
        "target": "paid",
        "positive": "yes",
    }
    group, target = np.arange(40, dtype=np.uint8) % 2, (np.arange(40) % 3 == 0).astype(np.uint8)
    facts = Facts(
        label="light rows", schema=Schema(columns=(sex, paid), **roles), rows=40, dropped=0,
        groups=("female", "male"), privileged=1, sizes=(20, 20), fingerprint="1" * 64,
    )  # fmt: skip
    return LightRows(facts, {"sex": group}, target, group)


class LightRunner(Runner):
    """Run cells on light rows."""

    def _prepared(self):
        return light_rows()


def cheap(cell, *, plan, prepared):
    """Draw numbers from the cell's own stream and the rows; no model is trained."""
    words = SeededSource(plan.seed).for_cell(cell.id).words(4)
    numbers = [float(word) / 2**64 for word in words]
    measures = {"accuracy": numbers[0], "sp_gap": numbers[1] / 3, "di": float("nan"), "prd": float("inf")}
    rate = float(prepared.target.mean())
    groups = {label: {"selection_rate": rate * numbers[2], "people": 6} for label in prepared.facts.groups}
    return Outcome(cell, measures, groups, {"true": rate, "reported": numbers[3]}, {"train": time.time()})


def logged(cell, *, plan, prepared):
    """As `cheap`, but slow, and each start is written to a file in one piece."""
    with open(os.environ[LOG], "ab", buffering=0) as file:  # noqa: PTH123 - appended without a buffer
        file.write(f"{os.getpid()} {cell.id}\n".encode())
    time.sleep(float(os.environ.get(PAUSE, "0.02")))
    return cheap(cell, plan=plan, prepared=prepared)


def sleepy(cell, *, plan, prepared):
    """Never come back; tell who sleeps."""
    with open(os.environ[LOG], "ab", buffering=0) as file:  # noqa: PTH123 - appended without a buffer
        file.write(f"{os.getpid()}\n".encode())
    time.sleep(600)


def picky(cell, *, plan, prepared):
    """Fail in every tenth repeat, in some with an error of evenhand."""
    if cell.repeat % 40 == 3:
        raise InvalidParameterError("k", owner="GRR", must_be="at least 2", got=1)
    if cell.repeat % 10 == 3:
        message = "a secret value: 123-45-6789"
        raise ZeroDivisionError(message)
    return cheap(cell, plan=plan, prepared=prepared)


def ordeal(cell, *, plan, prepared):
    """Kill the process in the first cell, in the second only the first time, and hang in the others."""
    mark = Path(f"{os.environ[LOG]}-mark")
    if cell == plan.cells()[0] or (cell == plan.cells()[1] and not mark.exists()):
        if cell == plan.cells()[1]:
            mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if cell in plan.cells()[2:]:
        sleepy(cell, plan=plan, prepared=prepared)
    return cheap(cell, plan=plan, prepared=prepared)


def peeking(cell, *, plan, prepared):
    """As `cheap`, but write down whether the store holds this very cell already, and which others."""
    with Store.open(Path(os.environ[LOG]).parent / "study") as store:
        stored = [outcome.cell.id for outcome in store.outcomes()]
    with open(os.environ[LOG], "ab", buffering=0) as file:  # noqa: PTH123 - appended without a buffer
        file.write(f"{cell.id in stored}\n".encode())
    return cheap(cell, plan=plan, prepared=prepared)


def fatal(cell, *, plan, prepared):
    """Kill the study, once, in the middle of its third cell: its only process, or that of its workers."""
    mark = Path(f"{os.environ[LOG]}-mark")
    with open(os.environ[LOG], "ab", buffering=0) as file:  # noqa: PTH123 - appended without a buffer
        file.write(f"{os.getpid()} {cell.id}\n".encode())
    if cell == plan.cells()[2] and not mark.exists():
        mark.touch()
        alone = os.environ[WORKERS] == "1"
        os.kill(os.getpid() if alone else os.getppid(), signal.SIGKILL)
        time.sleep(0 if alone else 600)
    return cheap(cell, plan=plan, prepared=prepared)


class Stubborn:
    """A classifier that cannot be loaded in another process."""

    def __init__(self, home=None):
        self.home = home or os.getpid()

    def fit(self, x, y):
        return self

    def predict(self, x):
        return [0] * len(x)

    def __setstate__(self, state):
        if state["home"] != os.getpid():
            raise ModuleNotFoundError
        self.__dict__.update(state)


class Clinging(Stubborn):
    """A classifier that does not leave its process."""

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError


def main(folder, execute, workers, *grid):
    """Run or resume a study and print each cell once it is stored."""
    repeats, *epsilons = map(int, grid)
    plan = small_plan(epsilons, repeats=repeats)
    runner = LightRunner(plan, out=folder, workers=int(workers), resume=True, execute=globals()[execute])
    for event in runner.events():
        if isinstance(event, CellDone | CellFailed):
            print(event.outcome.cell.id, flush=True)  # noqa: T201 - read by the test
        else:
            print(f"# {type(event).__name__}", flush=True)  # noqa: T201 - read by the test


def cell_names(lines):
    """Return the cells in what `main` printed; a line that was cut off is none."""
    return [line.strip() for line in lines if line.startswith("{") and line.endswith("\n")]


def starts(path):
    """Return the cells that `logged` wrote down, in the order of their starts."""
    lines = Path(path).read_text(encoding="ascii").splitlines() if Path(path).exists() else []
    return [Cell.from_id(line.partition(" ")[2]).id for line in lines]


if __name__ == "__main__":
    from attacks._study_cells import main  # workers know the module by this name

    main(*sys.argv[1:])
