"""The same study gives the same table, however it is run."""

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from attacks import _study_cells as cells
from attacks._study_cells import LightRunner, cheap, picky, small_plan
from evenhand.study.plan.facts import versions
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import Runner, run
from evenhand.study.store.canonical import canonical_table, table_hash
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask

TESTS = Path(cells.__file__).parent.parent

PROGRAM = """
import itertools, sys
from attacks._study_cells import LightRunner, cheap, small_plan
from evenhand.study.store.canonical import table_hash
from evenhand.study.store.store import Store
folder, workers, stops = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for stop in [3 * number for number in range(1, stops + 1)] + [None]:
    runner = LightRunner(small_plan(repeats=3), out=folder, workers=workers, resume=True, execute=cheap)
    events = runner.events()
    list(itertools.islice(events, stop))
    events.close()
with Store.open(folder) as store:
    print(table_hash(store.outcomes()), len(store.outcomes()))
"""


def _elsewhere(folder, *, workers, stops, hash_seed):
    """Run the study in another interpreter, stopped and resumed so many times, and return its hash."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-c", PROGRAM, str(folder), str(workers), str(stops)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.figures
def test_reruns_are_identical(tmp_path):
    """E3. A table that depends on the machine's mood proves nothing."""
    runner = LightRunner(small_plan(repeats=3), workers=1, execute=cheap)
    list(runner.events())
    here = [table_hash(runner.outcomes.values()), "9"]

    assert _elsewhere(tmp_path / "many", workers=8, stops=0, hash_seed=0) == here
    assert _elsewhere(tmp_path / "resumed", workers=1, stops=2, hash_seed=1) == here
    assert _elsewhere(tmp_path / "straight", workers=1, stops=0, hash_seed=4_294_967_295) == here


def test_the_comparison_can_see():
    """A cell that draws from the process instead of its own name must be noticed."""
    moods = itertools.count(1)

    def moody(cell, *, plan, prepared):
        outcome = cheap(cell, plan=plan, prepared=prepared)
        outcome.measures["accuracy"] += 1e-15 * next(moods)
        return outcome

    hashes = set()
    for _ in range(2):
        runner = LightRunner(small_plan(), workers=1, execute=moody)
        list(runner.events())
        hashes.add(table_hash(runner.outcomes.values()))

    assert len(hashes) == 2


def test_earlier_cells_do_not_change_when_the_grid_grows():
    """E4. Who adds a value must neither lose nor move what is there."""
    small, grown = small_plan([1], repeats=1), small_plan([1, 2], protocols=["grr", "oue"])
    before, after = (Runner(plan, workers=1) for plan in (small, grown))
    list(before.events())
    list(after.events())
    kept = [after.outcomes[cell.id] for cell in small.cells()]

    assert canonical_table(kept) == canonical_table(before.outcomes.values())


def test_a_grown_grid_computes_only_what_is_new(tmp_path):
    list(LightRunner(small_plan([1, 2]), out=tmp_path, workers=1, execute=cheap).events())
    grown = LightRunner(small_plan([1, 2, 4]), out=tmp_path, workers=1, execute=cheap, resume=True)
    events = list(grown.events())
    alone = LightRunner(small_plan([1, 2, 4]), workers=1, execute=cheap)
    list(alone.events())

    assert (events[0].done, len(events) - 2) == (6, 2)
    assert table_hash(grown.outcomes.values()) == table_hash(alone.outcomes.values())


def test_one_bad_cell_is_one_bad_cell(tmp_path):
    """E5. A night of computing must not be lost to a cell that fails."""
    plan = Plan(task=CollectTask("grr", [1]), repeats=50, seed=7)
    runner = LightRunner(plan, out=tmp_path, workers=1, execute=_some_fail)
    events = list(runner.events())
    with Store.open(tmp_path) as store:
        stored = store.outcomes()
    failures = [outcome.failure for outcome in stored if outcome.failure is not None]

    assert (len(stored), len(failures)) == (100, 5)
    assert (events[-1].done, events[-1].failed) == (100, 5)
    assert all(outcome.measures for outcome in stored if outcome.failure is None)
    assert {failure.kind for failure in failures} == {"InvalidParameterError", "ZeroDivisionError"}


def _some_fail(cell, *, plan, prepared):
    return (picky if cell.setting.is_protected else cheap)(cell, plan=plan, prepared=prepared)


# --- with models ----------------------------------------------------------------------------------

MODELS = ["quick-boosting", "gradient-boosting", "random-forest", "logistic", "lightgbm"]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_reruns_with_models_are_identical(tmp_path, model):
    """E3 with what people use: threads and orders of summation must not show."""
    parameters = {} if model == "logistic" else {_size(model): 20}
    task = CollectTask(["grr", "oue"], [1, 4], model=model, parameters=parameters)
    data = DataSource(dataset="causal", options={"n": 3000})
    plan = Plan(data=data, task=task, repeats=2)
    counts = (1, 8) if model == "gradient-boosting" else (1, 2)
    hashes = {table_hash(run(plan, workers=workers, progress=False).outcomes) for workers in counts}
    events = Runner(plan, out=tmp_path, workers=2).events()
    list(itertools.islice(events, 5))
    events.close()
    resumed = run(plan, out=tmp_path, workers=1, resume=True, progress=False)

    assert resumed.failures == ()
    assert hashes == {table_hash(resumed.outcomes)}


def _size(model):
    return "max_iter" if model.endswith("boosting") else "n_estimators"


@pytest.mark.nightly
def test_stored_cells_can_be_replayed(tmp_path):
    """E6. Whoever doubts a number can compute it again from what is stored."""
    data = DataSource(dataset="causal", options={"n": 4000})
    plan = Plan(data=data, task=CollectTask(["grr", "oue", "ss"], [0.5, 1, 2]), repeats=5, seed=11)
    run(plan, out=tmp_path, workers=2, progress=False)
    with Store.open(tmp_path) as store:
        records, stored, facts = store.records(), store.plan, store.facts
        spec = store.spec.hash
    prepared = prepare(stored)
    chosen = random.Random(3).sample(records, 20)

    assert prepared.facts.fingerprint == facts.fingerprint
    for record in chosen:
        again = execute(record.outcome.cell, plan=stored, prepared=prepared)
        assert canonical_table([again]) == canonical_table([record.outcome])
        assert (record.spec, record.seed, record.rng) == (spec, 11, "seeded")
        assert json.loads(json.dumps(dict(record.versions))) == versions()
