"""A run that failed keeps no other out, and going on with other values says what happens to the results."""

import json
import shlex
from importlib import import_module

import pytest

from attacks._study_cells import small_plan
from evenhand.errors import StudyStoreError
from evenhand.study.results.results import Results
from evenhand.study.run.attempt import execute
from evenhand.study.run.whole import run
from evenhand.study.store.store import Store
from unit.cli.conftest import ROLES, people

WHOLE_RUN = import_module("evenhand.study.run.whole")  # the package has a function of its name
SMALL = ["--sensitive", "sex", "--epsilon", "1", "--protocol", "grr", "--model", "logistic", "--workers", 1]
WHOLE = [*ROLES, *SMALL, "--anyway", "--no-remedies"]


def said(done):
    return " ".join(done.stderr.split())


@pytest.fixture(autouse=True)
def _no_page(monkeypatch):
    monkeypatch.setattr(Results, "report", lambda self, path, **_: path.write_text("page"))


def failing(*_, **__):
    raise MemoryError("a worker could not do it")


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_a_study_that_is_stopped_before_its_first_result_leaves_no_folder(call, file, tmp_path, monkeypatch):
    monkeypatch.setattr(WHOLE_RUN, "execute", interrupted)
    done = call("audit", file, *WHOLE, "--repeats", 2, "--out", "a/s")

    assert done.exit_code == 130
    assert "no run was finished, and nothing is kept" in said(done)
    assert not (tmp_path / "a").exists()
    monkeypatch.setattr(WHOLE_RUN, "execute", execute)
    assert call("audit", file, *WHOLE, "--repeats", 2, "--out", "a/s").exit_code == 0


def test_a_folder_of_the_person_stays_with_what_they_put_there(call, file, tmp_path, monkeypatch):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "notes.txt").write_text("mine")
    monkeypatch.setattr(WHOLE_RUN, "execute", interrupted)
    call("audit", file, *WHOLE, "--out", "s")

    assert (tmp_path / "s" / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "s" / "study.db").exists()


def test_a_study_of_which_every_run_failed_does_not_block_the_same_command(call, file, monkeypatch):
    monkeypatch.setattr(WHOLE_RUN, "execute", failing)
    first = call("audit", file, *WHOLE, "--repeats", 2, "--out", "s", "--json")
    monkeypatch.setattr(WHOLE_RUN, "execute", execute)
    second = call("audit", file, *WHOLE, "--repeats", 2, "--out", "s", "--json")

    assert first.exit_code == 1
    assert json.loads(first.stdout)["failed"] == 4
    assert second.exit_code == 0, second.stderr
    assert json.loads(second.stdout)["failed"] == 0


def test_a_store_that_was_killed_as_it_was_made_does_not_block(call, file, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.db").touch()

    assert call("audit", file, *WHOLE, "--repeats", 1, "--out", "s").exit_code == 0


def test_results_block_and_name_resume(call, file):
    call("audit", file, *WHOLE, "--repeats", 1, "--out", "s")
    again = call("audit", file, *WHOLE, "--repeats", 1, "--out", "s")

    assert again.exit_code == 2
    assert "There is a study in s already. Hint: go on with it (--resume)" in said(again)


@pytest.mark.parametrize("words", [("--plan", "a b/plan.toml"), ("--resume", "--out", "a b")])
def test_a_plan_of_another_kind_names_the_command_that_runs_it(call, tmp_path, words):
    """A hint without the folder runs another plan, or none; without --resume it begins anew."""
    (tmp_path / "a b").mkdir()
    small_plan().save(tmp_path / "a b" / "plan.toml")
    done = call("audit", "learn", *words)

    assert done.exit_code == 2
    assert said(done).endswith(f"Hint: {shlex.join(['evenhand', 'audit', 'collect', *words])}")


def test_more_repeats_say_what_is_kept_and_added(call, file, tmp_path):
    call("audit", file, *WHOLE, "--repeats", 2, "--out", "s")
    before = {outcome.cell.id: outcome.measures for outcome in Results.load(tmp_path / "s").outcomes}
    done = call("audit", "--resume", "--out", "s", "--repeats", 3, "--workers", 1)
    after = {outcome.cell.id: outcome.measures for outcome in Results.load(tmp_path / "s").outcomes}

    assert done.exit_code == 0
    assert "Resume 4 finished runs are kept, 2 of 6 are run now (repeats 2 become 3)" in said(done)
    assert len(after) == 6
    assert before.items() <= after.items()


def test_a_finished_study_says_that_nothing_is_missing(call, file):
    call("audit", file, *WHOLE, "--repeats", 1, "--out", "s")

    assert "2 finished runs are kept, none is missing" in said(call("audit", "--resume", "--out", "s"))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"repeats": 1}, "repeats 2 become 1"),
        ({"epsilon": 2}, "1 setting more; 1 setting less"),
    ],
)
def test_values_that_leave_out_results_are_refused(call, file, tmp_path, other, words):
    """A report that lost half of its runs looks like any other."""
    call("audit", file, *WHOLE, "--repeats", 2, "--out", "s")
    kept = {path.name: path.read_bytes() for path in (tmp_path / "s").iterdir()}
    values = {"epsilon": 1, "repeats": 2, **other}
    typed = [word for name, value in values.items() for word in (f"--{name}", value)]
    fixed = ["--sensitive", "sex", "--protocol", "grr", "--model", "logistic", "--workers", 1]
    done = call("audit", file, *ROLES, *fixed, *typed, "--out", "s", "--resume")

    assert done.exit_code == 2
    assert "2 finished runs that would be left out of the report" in said(done)
    assert words in said(done)
    assert "--resume --out s alone" in said(done)
    assert kept == {path.name: path.read_bytes() for path in (tmp_path / "s").iterdir()}


def test_other_data_and_another_seed_are_refused_by_name(call, file, tmp_path):
    call("audit", file, *WHOLE, "--repeats", 1, "--out", "s")
    plan = (tmp_path / "s" / "plan.toml").read_bytes()
    people(tmp_path / "other.csv", rows=90)
    other = call("audit", "other.csv", *WHOLE, "--repeats", 1, "--out", "s", "--resume")
    seed = call("audit", "--resume", "--out", "s", "--seed", 5, "--workers", 1)

    assert other.exit_code == seed.exit_code == 2
    assert "The folder 's' holds another study, which differs in the data" in said(other)
    assert "which differs in the seed" in said(seed)
    assert "are kept" not in said(other) + said(seed)
    assert (tmp_path / "s" / "plan.toml").read_bytes() == plan


def test_the_same_command_goes_on_with_the_remedies_that_it_tried(call, file, tmp_path):
    """If not, whoever types a command again after a stop is told that its own runs are those of another."""
    typed = ["audit", file, *ROLES, *SMALL, "--anyway", "--repeats", 2, "--out", "s"]
    call(*typed, "--quick")
    tried = Results.load(tmp_path / "s").plan.remedies
    done = call(*typed, "--resume")

    assert tried
    assert done.exit_code == 0
    assert "8 finished runs are kept, none is missing" in said(done)
    assert Results.load(tmp_path / "s").plan.remedies == tried


def test_another_epsilon_has_remedies_of_its_own(call, file, tmp_path):
    """If not, the page would compare its setting with remedies at another guarantee, or with none."""
    call("audit", file, *ROLES, *SMALL, "--anyway", "--repeats", 1, "--out", "s")
    other = call("audit", "--plan", "s/plan.toml", "--epsilon", 2, "--workers", 1, "--out", "t")
    none = call("audit", "--plan", "s/plan.toml", "--no-remedies", "--workers", 1, "--out", "u")
    more = call("audit", "--resume", "--epsilon", "2,1", "--workers", 1, "--out", "s")
    tried = [Results.load(tmp_path / folder).plan.remedies for folder in "stu"]

    assert other.exit_code == none.exit_code == more.exit_code == 0, said(more)
    assert {float(each.epsilon) for each in tried[0]} == {1.0}
    assert {float(each.epsilon) for each in tried[1]} == {2.0}
    assert not tried[2]


def test_runs_that_failed_are_tried_again(call, file, monkeypatch):
    """When memory ran out, fewer workers may do it."""
    calls = []

    def sometimes(cell, **options):
        calls.append(cell)
        return failing() if len(calls) == 2 else execute(cell, **options)

    monkeypatch.setattr(WHOLE_RUN, "execute", sometimes)
    first = call("audit", file, *WHOLE, "--repeats", 2, "--out", "s", "--json")
    second = call("audit", "--resume", "--out", "s", "--workers", 1, "--json")

    assert json.loads(first.stdout)["failed"] == 1
    assert json.loads(second.stdout)["failed"] == 0
    assert "3 finished runs are kept, 1 of 4 is run now" in said(second)


def test_from_python_a_plan_that_does_not_fit_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(WHOLE_RUN, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt, match="so nothing was kept"):
        run(small_plan(), out=tmp_path / "s", workers=1, progress=False)

    assert not (tmp_path / "s").exists()
    assert Store.count_results(tmp_path / "s") == 0


def test_a_store_that_cannot_be_read_is_said(tmp_path):
    (tmp_path / "study.db").write_text("a store that cannot be read")

    with pytest.raises(StudyStoreError, match="is not a study's store"):
        Store.count_results(tmp_path)
