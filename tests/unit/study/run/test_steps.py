"""What happens in a study comes as events, and a token stops it."""

import itertools
import shutil
from importlib import import_module

import pytest

from attacks._study_cells import cheap, picky, small_plan
from evenhand.errors import InvalidParameterError, PlanError, StudyStoreError
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.run.events import Cancel, Cancelled, CellDone, CellFailed, Finished, StageDone, Started
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import Runner, follow
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask

PLAN = small_plan()
CELLS = PLAN.cells()


def _runner(plan=PLAN, **more):
    return Runner(plan, **{"workers": 1, "execute": cheap, **more})


def _all(plan=PLAN, **more):
    return list(_runner(plan, **more).events())


def _count(events):
    return sum(isinstance(event, CellDone) for event in events)


# --- events ---------------------------------------------------------------------------------------


def test_a_study_tells_its_beginning_each_cell_and_its_end():
    events = _all()

    assert [type(event) for event in events] == [
        Started, *[CellDone] * 4, StageDone, *[CellDone] * 2, Finished
    ]  # fmt: skip
    assert [event.done for event in events] == [0, 1, 2, 3, 4, 4, 5, 6, 6]
    assert {event.total for event in events} == {6}
    told = [event.outcome.cell for event in events if isinstance(event, CellDone)]
    assert set(told) == set(CELLS)


def test_who_pays_is_known_after_the_first_stage():
    """The page is about the epsilon nearest to 1: its runs and the unprotected ones come first."""
    events = _all()
    first = next(event for event in events if isinstance(event, StageDone)).results

    assert {float(outcome.cell.setting.epsilon or 0) for outcome in first.outcomes} == {0.0, 1.0}
    assert {float(cell.setting.epsilon) for cell in first.missing} == {2.0}


def test_a_remedy_is_not_confirmed_before_all_fresh_repeats_are_in():
    """A page that is read, or a study that is stopped, in the midst of it would confirm on a single draw."""
    plan = small_plan([1], repeats=2).with_(confirm=True)
    prepared = prepare(plan)
    cells = (*plan.cells(), *plan.confirming_cells(plan.settings()))
    outcomes = [cheap(cell, plan=plan, prepared=prepared) for cell in cells]

    assert Results(plan, prepared.facts, outcomes[:-1]).fresh is None
    assert len(Results(plan, prepared.facts, outcomes).fresh) == 4


def test_a_quick_study_leaves_the_other_epsilons_for_later(tmp_path):
    events = _all(out=tmp_path, quick=True)
    assert events[-1] == Finished(done=4, failed=0, total=4)

    rest = _all(out=tmp_path, resume=True)
    assert [event.done for event in rest] == [4, 5, 6, 6]


def test_a_cell_is_stored_before_it_is_told(tmp_path):
    """Who was told that a cell is finished must find it after a power cut."""
    for event in _runner(out=tmp_path).events():
        if isinstance(event, CellDone):
            with Store.open(tmp_path) as store:
                assert len(store.outcomes()) == event.done


def test_a_failing_cell_is_told_and_counted():
    events = _all(small_plan(repeats=5), execute=picky)
    failed = [event for event in events if isinstance(event, CellFailed)]

    assert len(failed) == 3
    assert events[-1] == Finished(done=15, failed=3, total=15)
    assert failed[0].outcome.failure.kind == "InvalidParameterError"


def test_real_cells_run():
    events = list(follow(small_plan([1], repeats=1), workers=1))

    assert [type(event) for event in events] == [Started, CellDone, CellDone, Finished]


def test_nothing_happens_before_the_first_event_is_asked_for(tmp_path):
    _runner(out=tmp_path / "study").events()

    assert not (tmp_path / "study").exists()


# --- stopping -------------------------------------------------------------------------------------


def test_a_token_stops_the_study_and_keeps_what_is_finished(tmp_path):
    cancel = Cancel()
    seen = []
    for event in _runner(out=tmp_path, cancel=cancel).events():
        seen.append(event)
        if event.done == 2:
            cancel.request()

    assert [type(event) for event in seen] == [Started, CellDone, CellDone, Cancelled]
    with Store.open(tmp_path) as store:
        assert len(store.outcomes()) == 2


def test_a_token_of_before_stops_it_at_once():
    cancel = Cancel()
    cancel.request()

    assert [type(event) for event in _all(cancel=cancel)] == [Started, Cancelled]


def test_who_stops_listening_stops_the_study(tmp_path):
    """A notebook's loop that breaks must leave neither a lock nor a process."""
    events = _runner(out=tmp_path).events()
    list(itertools.islice(events, 3))
    events.close()

    with Store.reserve(tmp_path, resume=True) as store:
        assert len(store.outcomes()) == 2


# --- resuming -------------------------------------------------------------------------------------


def _stopped(folder, after, plan=PLAN, **more):
    events = _runner(plan, out=folder, **more).events()
    list(itertools.islice(events, after + 1))
    events.close()


def test_a_resumed_study_runs_only_what_is_missing(tmp_path):
    _stopped(tmp_path, 4)
    events = _all(out=tmp_path, resume=True)

    assert events[0] == Started(done=4, failed=0, total=6)
    before = [cell for cell in CELLS if float(cell.setting.epsilon or 1) == 1]
    run_now = [event.outcome.cell for event in events if isinstance(event, CellDone)]
    assert set(run_now) == set(CELLS) - set(before)


def test_resuming_a_finished_study_runs_nothing(tmp_path):
    _all(out=tmp_path)

    assert [type(event) for event in _all(out=tmp_path, resume=True)] == [Started, Finished]


def test_resuming_where_nothing_is_begins(tmp_path):
    assert _count(_all(out=tmp_path / "new", resume=True)) == 6


def test_failed_cells_run_again_only_if_asked(tmp_path):
    plan = small_plan(repeats=5)
    _all(plan, out=tmp_path, execute=picky)
    kept = _all(plan, out=tmp_path, resume=True)
    again = _all(plan, out=tmp_path, resume=True, retry_failed=True)

    assert kept == [Started(done=15, failed=3, total=15), Finished(done=15, failed=3, total=15)]
    assert again[0] == Started(done=12, failed=0, total=15)
    assert again[-1] == Finished(done=15, failed=0, total=15)


def test_without_resume_finished_cells_are_refused_before_the_data_are_read(tmp_path, monkeypatch):
    _stopped(tmp_path, 1)
    monkeypatch.setattr(Runner, "_prepared", lambda _: pytest.fail("the data were read"))

    with pytest.raises(StudyStoreError, match="finished runs"):
        _all(out=tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 8}, "differs in the seed"),
        ({"task": CollectTask(model="random-forest")}, "differs in the task"),
        ({"data": DataSource(dataset="causal", options={"n": 61})}, "differs in the data"),
    ],
)
def test_another_study_is_refused_by_what_differs(tmp_path, changes, words):
    _stopped(tmp_path, 1)

    with pytest.raises(StudyStoreError, match=words):
        _all(PLAN.with_(**changes), out=tmp_path, resume=True)
    assert _count(_all(out=tmp_path, resume=True)) == 5


def test_another_grid_goes_on(tmp_path):
    _all(out=tmp_path)
    events = _all(small_plan([2, 4]), out=tmp_path, resume=True)

    assert events[0] == Started(done=4, failed=0, total=6)
    assert Plan.load(tmp_path / "plan.toml") == small_plan([2, 4])


def test_a_second_run_in_the_same_folder_is_refused(tmp_path):
    first = _runner(out=tmp_path).events()
    next(first)

    with pytest.raises(StudyStoreError, match="Another process"):
        _all(out=tmp_path, resume=True)
    first.close()
    assert _count(_all(out=tmp_path, resume=True)) == 6


def test_a_plan_that_does_not_fit_leaves_the_folder_free(tmp_path):
    with pytest.raises(PlanError, match="'data' is missing"):
        _all(Plan(), out=tmp_path)
    assert _count(_all(out=tmp_path)) == 6


# --- files ----------------------------------------------------------------------------------------


def test_the_plan_stands_beside_the_store(tmp_path):
    _all(out=tmp_path)

    assert Plan.load(tmp_path / "plan.toml") == PLAN
    names = ["plan.toml", "schema.toml", "study.db", "study.lock"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_the_plan_beside_the_store_finds_the_data(tmp_path, monkeypatch):
    """A path that was given from another folder must still lead to the data."""
    from evenhand.datasets import load
    from evenhand.table import write_csv

    rows = load("causal", n=60, backend="pyarrow")
    write_csv(rows.frame, tmp_path / "rows.csv")
    monkeypatch.chdir(tmp_path)
    plan = PLAN.with_(data=DataSource(path="rows.csv"), schema=rows.schema)
    _all(plan, out="deep/study")
    monkeypatch.chdir("/")
    again = Plan.load(tmp_path / "deep" / "study" / "plan.toml")

    assert [type(each) for each in _all(again, out=tmp_path / "deep" / "study", resume=True)] == [
        Started,
        Finished,
    ]
    assert str(tmp_path) not in (tmp_path / "deep" / "study" / "plan.toml").read_text(encoding="utf-8")


def test_data_on_another_drive_keep_their_whole_path(tmp_path, monkeypatch):
    module = import_module("evenhand.study.run.whole")
    monkeypatch.setattr(module.os.path, "relpath", lambda *_: (_ for _ in ()).throw(ValueError))
    plan = PLAN.with_(data=DataSource(path="rows.csv"))

    assert module._seen_from(tmp_path, plan).data.path.endswith("/rows.csv")


def test_results_are_the_same_with_a_folder_and_without(tmp_path):
    kept, loose = _runner(out=tmp_path), _runner()
    list(kept.events())
    list(loose.events())
    with Store.open(tmp_path) as store:
        stored = canonical_table(store.outcomes())

    assert stored == canonical_table(kept.outcomes.values()) == canonical_table(loose.outcomes.values())


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"workers": 0}, "workers"), ({"workers": 1.5}, "workers"), ({"resume": True}, "resume")],
)
def test_wrong_arguments_are_refused_at_once(arguments, name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of run"):
        follow(PLAN, **arguments)


def test_what_is_no_plan_is_refused():
    with pytest.raises(InvalidParameterError, match="'plan' parameter of run must be a Plan"):
        follow({"data": 1})


def test_by_default_there_are_as_many_workers_as_cores(monkeypatch):
    module = import_module("evenhand.study.run.whole")
    counts = []

    def results(job, *, count, stop):
        counts.append(count)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "Pool", results)
    monkeypatch.setattr(module, "_cores", lambda: 3)
    for workers in (None, 2, 50):
        with pytest.raises(KeyboardInterrupt):
            _all(workers=workers)

    assert counts == [3, 2, 6]


def test_the_number_of_cores_is_that_of_this_process():
    from evenhand.study.run.whole import _cores

    assert _cores() >= 1


def test_an_outcome_counts_once():
    runner = _runner()
    runner._count(Outcome(CELLS[0], failure=Failure("A", "b")))

    assert runner.event(Started) == Started(done=1, failed=1, total=6)


# --- a folder that does not stay ------------------------------------------------------------------


def test_a_folder_that_is_removed_stops_the_study(tmp_path):
    """SQLite goes on writing into a file that has no name any more, and every cell would be lost."""
    events = _runner(out=tmp_path / "study").events()
    told = [next(events), next(events)]
    shutil.rmtree(tmp_path / "study")

    assert [type(event) for event in told] == [Started, CellDone]
    with pytest.raises(StudyStoreError, match="not where it was"):
        next(events)


def test_the_store_may_be_named_instead_of_its_folder(tmp_path):
    told = _all(out=tmp_path / "study.db")

    assert type(told[-1]) is Finished
    assert {"study.db", "plan.toml"} <= {path.name for path in tmp_path.iterdir()}


def test_a_cell_that_changes_the_working_directory_changes_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)

    def moving(cell, *, plan, prepared):
        monkeypatch.chdir(tmp_path / "other")
        return cheap(cell, plan=plan, prepared=prepared)

    told = _all(out="study", execute=moving)

    assert type(told[-1]) is Finished
    assert list((tmp_path / "other").iterdir()) == []


def test_resuming_with_other_versions_is_told(tmp_path, monkeypatch):
    """A report would name the new version for numbers that came from the old one."""
    store = import_module("evenhand.study.store.store")
    now = store.versions()
    first = _runner(out=tmp_path).events()
    next(first), next(first)
    first.close()
    monkeypatch.setattr(store, "versions", lambda: {**now, "scikit-learn": "99.0"})
    resumed = _runner(out=tmp_path, resume=True)
    list(resumed.events())
    with Store.open(tmp_path) as read:
        notes = read.facts.notes

    assert resumed.facts.notes == notes
    assert f"scikit-learn {now['scikit-learn']} instead of 99.0" in notes[-1]
    assert not any("other versions" in note for note in _finished(tmp_path / "same"))


def _finished(folder):
    list(itertools.islice(_runner(out=folder).events(), 2))
    runner = _runner(out=folder, resume=True)
    list(runner.events())
    return runner.facts.notes
