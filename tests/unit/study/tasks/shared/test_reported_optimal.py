"""What people report under "optimal": everybody once, from what the cell may know, the same on every run."""

import numpy as np
import pytest

from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.privacy.randomness import SeededSource
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.canonical import table_hash
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.shared import reported
from evenhand.study.tasks.shared.reported import People, optimal_columns
from unit.study._small_studies import people, plan, schema

PREPARED = prepare(plan(roles={"sensitive": ["region"]}), frame=people(600))
ROWS = People(PREPARED.codes, PREPARED.target)
SCHEMA = PREPARED.facts.schema


def setting(strategy="independent", split="uniform", **parameters):
    grid = CollectTask([Mechanism("optimal", parameters)], 1, splits=split, strategies=strategy)
    return next(grid.settings())


def columns(chosen, *, rows=ROWS, everybody=ROWS, encoder="codes", seed=1, used=SCHEMA):
    return optimal_columns(
        rows, setting=chosen, schema=used, encoder=encoder, source=SeededSource(seed), everybody=everybody
    )


@pytest.fixture
def known(monkeypatch):
    """Return the list of what channels were made from."""
    found = []

    def kept(outcomes, *rest):
        found.append(outcomes)
        return made(outcomes, *rest)

    made = reported._strategy
    monkeypatch.setattr(reported, "_strategy", kept)
    return found


@pytest.mark.parametrize("strategy", ["independent", "single", "combined"])
@pytest.mark.parametrize("parameters", [{}, {"outcomes": "noisy", "budget": 1}, {"outcomes": "exact"}])
def test_everybody_reports_one_value(strategy, parameters):
    found = columns(setting(strategy, **parameters))["region"]
    shown = columns(setting(strategy, **parameters), encoder="one-hot")["region"]

    assert found.shape == (600,)
    assert shown.shape == (600, 3)
    assert (shown.argmax(axis=1) == found).all()
    assert (shown.sum(axis=1) == 1).all()


def test_a_pilot_knows_only_what_its_people_reported(known, monkeypatch):
    """If the estimate saw the true groups of anybody, the guarantee would be void."""
    seen = []
    first = reported.group_rates
    monkeypatch.setattr(reported, "group_rates", lambda *given: seen.append(given) or first(*given))
    columns(setting(pilot=0.25))
    (target, reports), (outcomes,) = seen[0], known

    assert len(target) == len(reports) == 150
    assert reports.protocol.name == "grr"
    assert outcomes.origin == "pilot"


def test_others_do_not_change_what_a_pilot_reports(known):
    """The channel of the others depends on the pilot alone: their own rows must not reach it."""
    size, share = len(ROWS.target), 0.25
    draws = SeededSource(1).for_cell("who is in the pilot").words(size)
    asked = np.zeros(size, dtype=bool)
    asked[np.argpartition(draws, 149)[:150]] = True
    other = {name: np.where(asked, codes, (codes + 1) % 3) for name, codes in ROWS.codes.items()}
    columns(setting(pilot=share))
    columns(setting(pilot=share), rows=People(other, ROWS.target))

    assert known[0] == known[1]


def test_noise_is_on_the_training_rows_and_exact_counts_are_of_all(known):
    part = People({name: codes[:300] for name, codes in ROWS.codes.items()}, ROWS.target[:300])
    columns(setting(outcomes="noisy", budget=10), rows=part)
    columns(setting(outcomes="exact"), rows=part)
    noisy, exact = known

    assert noisy.weights == pytest.approx(
        GroupOutcomes.exact(part.target, part.codes["region"], k=3).weights, abs=0.02
    )
    assert exact == GroupOutcomes.exact(ROWS.target, ROWS.codes["region"], k=3)


def test_a_table_of_the_plan_is_taken_as_it_is(known):
    columns(setting(outcomes={"weights": [5, 3, 2], "rates": [0.2, 0.3, 0.6]}))

    assert (known[0].weights, known[0].origin) == ((0.5, 0.3, 0.2), "public")


def test_people_who_are_asked_one_column_are_read_as_such(known):
    prepared = prepare(plan(roles={"sensitive": ["region", "job"]}), frame=people(600))
    rows = People(prepared.codes, prepared.target)
    found = columns(
        setting(split="sample", pilot=0.5), rows=rows, encoder="one-hot", used=prepared.facts.schema
    )

    assert known[0].origin == "pilot"
    assert (found["region"].sum(axis=1) + found["job"].sum(axis=1)).tolist() == [1] * 600


def test_cells_are_the_same_whatever_runs_beside_them():
    """E3: a solver that remembers the cell before would show here."""
    study = plan(
        collect=CollectTask(["optimal", "grr"], [1, 2], strategies=["independent", "single"]),
        roles={"sensitive": ["region", "job"]},
        task=CollectTask(model="logistic"),
        repeats=1,
    )
    whole = run(study, frame=people(), workers=1, progress=False)
    prepared = prepare(study, frame=people())
    backwards = [execute(cell, plan=study, prepared=prepared) for cell in reversed(study.cells())]

    assert whole.failures == ()
    assert table_hash(whole.outcomes) == table_hash(backwards)


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bytes():
    """E3 in several processes, each of which solves for itself and remembers what it solved."""
    mechanisms = ["optimal", {"name": "optimal", "outcomes": "noisy", "budget": 1}]
    study = plan(
        collect=CollectTask(mechanisms, [1, 2], strategies=["independent", "combined"]),
        roles={"sensitive": ["region", "job"]},
        task=CollectTask(model="logistic"),
        repeats=2,
    )
    hashes = {
        table_hash(run(study, frame=people(), workers=workers, progress=False).outcomes) for workers in (1, 3)
    }

    assert len(hashes) == 1


def test_a_channel_that_cannot_be_made_is_one_failed_cell():
    """Reports without any error are not private: that fault must not end the study."""
    exact = Mechanism("optimal", {"error": 0.0})
    study = plan(collect=CollectTask([exact, "grr"], 1), roles={"sensitive": ["region"]}, repeats=1)
    found = run(study, frame=people(), workers=1, progress=False)

    assert [each.setting.mechanism for each in (one.cell for one in found.failures)] == ["optimal"]


def test_reports_go_together_with_the_label_less_than_those_of_grr():
    """What it is for, on the rows themselves."""
    draws = np.random.default_rng(5)
    region = draws.integers(0, 3, 30_000)
    target = (draws.random(30_000) < np.array([0.2, 0.5, 0.8])[region]).astype(np.uint8)
    rows = People({"region": region}, target)
    found = columns(setting(outcomes="exact"), rows=rows, everybody=rows, used=schema(sensitive=["region"]))
    rates = [target[found["region"] == value].mean() for value in range(3)]
    plain = columns(setting(), rows=rows, used=schema(sensitive=["region"]))
    assert plain["region"].shape == (30_000,)

    assert max(rates) - min(rates) < 0.6 * (np.e - 1) / (np.e + 2)  # what GRR leaves, with room below


@pytest.mark.parametrize("parameters", [{}, {"outcomes": "noisy", "budget": 10}, {"outcomes": "exact"}])
def test_people_without_any_outcome_report_too(parameters):
    """A pilot may have nobody with outcome 1; then no report is fairer than another, and none must fail."""
    nobody = People(ROWS.codes, np.zeros_like(ROWS.target))

    assert columns(setting(**parameters), rows=nobody, everybody=nobody)["region"].shape == (600,)
