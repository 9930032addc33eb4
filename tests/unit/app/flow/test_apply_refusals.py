"""Doing it for real, where it cannot be done or goes wrong: nothing is spent twice, no folder is named."""

import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand._locks import Lock
from evenhand.app.flow import apply as applying
from evenhand.app.flow.apply import amount_of, apply, ledgers_of, prepare_applying
from evenhand.app.flow.command import keep_files, run, runs_in, write_order
from evenhand.app.flow.describe import guess_roles
from evenhand.app.flow.files import read_applied
from evenhand.app.state.record import DataChoice
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.ledger import Ledger
from unit.app.flow.conftest import FORMS, PUBLIC, new_study, people
from unit.app.state._studies import wait_until

pytestmark = pytest.mark.figures  # a study runs first, which takes a while

NEW = {"name": "people", "limit": "3"}


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """Return a study of people that ran, with every list declared as public."""
    made = new_study(tmp_path_factory.mktemp("w"), people(), "people.csv", form={"collect": FORMS["collect"]})
    made.change(**guess_roles(made.folder, made.record)).change(columns=PUBLIC).run()
    return made


@pytest.fixture
def made(made_once, monkeypatch):
    """Return the study; what a test does for real is removed after it."""
    monkeypatch.delenv("EVENHAND_LEDGER", raising=False)
    yield made_once
    for folder in (made_once.folder / "applied", made_once.folder.parent / "ledgers"):
        for file in folder.glob("*"):
            file.unlink()
        if folder.exists():
            folder.rmdir()


@pytest.fixture
def command(monkeypatch):
    """Return what the command line is asked, and let a test say what comes of it."""
    asked = SimpleNamespace(
        words=[], folder=None, code=0, out="", err="", error=None, writes=("reports.csv",)
    )

    def run(words, *, cwd, stdout, stderr, **_):
        asked.words, asked.folder = words, cwd
        asked.seen = {path.name: path.read_bytes() for path in cwd.iterdir()}
        if asked.error is not None:
            raise asked.error
        if not asked.code:
            (cwd / "reports.csv").write_text("x")
            keep_files(cwd)
        stdout.write(asked.out.encode())
        stderr.write(asked.err.encode())

    monkeypatch.setattr(applying.subprocess, "run", run)
    return asked


def test_the_command_finds_the_file_under_the_name_that_the_person_gave_it(made, command):
    done = apply(made.folder, made.record)
    view = prepare_applying(made.folder, made.record)

    assert done.ok
    assert done.files == ("reports.csv",)
    assert ["evenhand", *command.words[3:-1]] == view.command.split()
    assert {name for name in command.seen if name[0] != "."} == {"people.csv", "schema.toml"}
    assert command.seen["people.csv"] == (made.folder / "data" / "5f3a.csv").read_bytes()
    assert not command.folder.exists()


def test_what_was_done_is_not_done_again(made, command):
    """A second tab, or a page from yesterday, must not spend a second time."""
    assert apply(made.folder, made.record).ok
    command.words = []
    again = apply(made.folder, made.record)

    assert (again.ok, command.words) == (False, [])
    assert "done already" in again.said[0]


def test_what_another_tab_does_now_is_not_done_beside_it(made, command):
    """Two tabs at once would spend twice, and each would remove what the other writes."""
    other = Lock(made.folder / "run.lock")
    assert other.take()
    refused = apply(made.folder, made.record)
    other.free()

    assert (refused.ok, command.words) == (False, [])
    assert "another tab" in refused.said[0]
    assert apply(made.folder, made.record).ok


def test_what_was_killed_in_the_middle_was_not_done(made, command):
    """If this is false, people are told that files are there which nobody wrote."""
    (made.folder / "applied" / ".work").mkdir(parents=True)
    (made.folder / "applied" / ".work" / "reports.csv").write_text("half")
    done = apply(made.folder, made.record)

    assert (done.ok, done.files) == (True, ("reports.csv",))
    assert (made.folder / "applied" / "reports.csv").read_text() == "x"


def test_what_a_closed_workbench_began_is_not_done_beside_it(made, command):
    """Its command goes on and is paid for: a second one would pay again and remove what the first writes."""
    work = made.folder / "applied" / ".work"
    work.mkdir(parents=True)
    (work / "reports.csv").write_text("half")
    running = Lock(work / ".running")
    assert running.take()
    refused = apply(made.folder, made.record)
    running.free()

    assert (refused.ok, command.words) == (False, [])
    assert (work / "reports.csv").read_text() == "half"
    assert apply(made.folder, made.record).ok


@pytest.mark.parametrize(("code", "files"), [(0, ("reports.csv",)), (3, None)])
def test_what_a_closed_workbench_paid_for_is_there_when_it_opens_again(
    made, monkeypatch, tmp_path, code, files
):
    """Nobody waits for this command any more; what it wrote and was charged must not be lost."""
    ledger = Ledger(tmp_path / "people.db", epsilon=3)
    work = made.folder / "applied" / ".work"
    work.mkdir(parents=True)
    write_order(work, inputs=["people.csv"], said={"promise": "a promise"}, ledger=ledger)
    monkeypatch.chdir(work)

    def main():
        Path("people.csv").write_text("what was read")
        Path("reports.csv").write_text("what was written")
        assert runs_in(work)
        sys.exit(code)

    with pytest.raises(SystemExit):
        run(main)
    found = read_applied(made.folder)
    shutil.rmtree(work)

    assert not runs_in(work)
    assert (found and found.files) == files
    if found:
        assert found.promise == "a promise"
        assert found.charged == "Ledger 'people': ε = 0 is spent, ε = 3 is left."


def test_a_workbench_that_is_killed_in_the_middle_loses_nothing_and_pays_once(made):
    """If this is false, a restart of the server costs people epsilon for files that nobody has."""
    words = {"ledger": applying.NEW, "options": NEW}
    process = multiprocessing.get_context("spawn").Process(
        target=apply, args=(made.folder, made.record), kwargs=words
    )
    process.start()
    running = made.folder / "applied" / ".work" / ".running"
    wait_until(running.exists)
    process.kill()
    process.join()
    process.close()

    refused = apply(made.folder, made.record, ledger="people")
    wait_until(lambda: read_applied(made.folder) is not None)
    wait_until(lambda: not runs_in(running.parent))
    found = read_applied(made.folder)
    shutil.rmtree(running.parent)
    assert not refused.ok
    assert "reports.csv" in found.files
    assert found.charged == "Ledger 'people': ε = 1 is spent, ε = 2 is left."


def test_a_file_that_came_after_the_run_is_not_taken_for_the_one_that_was_tested(made, command):
    """The setting was chosen for other rows, and the command would name a file that is not there."""
    data = made.folder / "data" / "5f3a.csv"
    before = data.stat()
    os.utime(data, (before.st_atime + 3600, before.st_mtime + 3600))
    view, done = prepare_applying(made.folder, made.record), apply(made.folder, made.record)
    os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert "changed after its run" in view.error
    assert (view.button, done.ok, command.words) == ("", False, [])


def test_where_there_are_no_links_the_file_is_copied(made, command, monkeypatch):
    """Windows gives links to administrators alone."""

    def refuse(path, target):
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(applying.Path, "symlink_to", refuse)

    assert apply(made.folder, made.record).ok
    assert command.seen["people.csv"] == (made.folder / "data" / "5f3a.csv").read_bytes()


@pytest.mark.parametrize(
    ("out", "err", "said"),
    [
        ('{"error": "Column \'sex\' is missing."}', "", "Column 'sex' is missing."),
        ("", "Error    The ledger is full.\nmore\n", "Error    The ledger is full."),
        ("no json", "\n  \nThe file {work}/people.csv is gone.", "The file people.csv is gone."),
        ("", "", "The command did not finish."),
        ("[1]", "It failed.", "It failed."),
    ],
)
def test_what_the_command_says_is_said_without_a_folder_of_this_computer(made, command, out, err, said):
    command.code, command.out = 2, out
    command.err = err.replace("{work}", str(made.folder / "applied" / ".work"))
    done = apply(made.folder, made.record)

    assert (done.ok, done.said) == (False, (said,))
    assert not list((made.folder / "applied").iterdir())
    assert prepare_applying(made.folder, made.record).button


def test_a_command_that_never_ends_is_stopped_and_leaves_no_rows_behind(made, command):
    command.error = subprocess.TimeoutExpired("evenhand", 3_600)
    done = apply(made.folder, made.record)

    assert "longer than an hour" in done.said[0]
    assert not command.folder.exists()


def test_a_setting_that_is_not_of_the_study_is_refused_at_its_field(made):
    view = prepare_applying(made.folder, made.record, chosen="nothing")

    assert view.field == "chosen"
    assert "Setting 'nothing'" in view.error
    assert not apply(made.folder, made.record, chosen="nothing").ok


def test_a_data_set_of_evenhand_is_not_privatised(made):
    """Nobody is protected by it, and a charge would be wasted."""
    choice = DataChoice(source="dataset", label="causal", dataset="causal")
    view = prepare_applying(made.folder, made.record.with_(data=choice))

    assert "nobody to protect" in view.error
    assert view.command.startswith("evenhand privatize")
    assert (view.button, view.field) == ("", "data")
    assert not apply(made.folder, made.record.with_(data=choice)).ok


def test_a_ledger_that_is_not_there_or_is_taken_is_refused_at_its_field(made, command):
    unknown = prepare_applying(made.folder, made.record, ledger="nothing")
    assert unknown.field == "ledger"
    assert "Ledger 'nothing'" in unknown.error
    assert apply(made.folder, made.record, ledger="new", options=NEW).ok
    assert ledgers_of(made.folder) == (
        ("", "without a ledger"),
        ("people", "people"),
        ("new", "make a new ledger"),
    )

    taken = prepare_applying(made.folder, made.record, ledger="new", options=NEW)
    assert taken.field == "ledger"
    assert "no other ledger has" in taken.error


@pytest.mark.parametrize("limit", ["0", "-1", "much", "1/0"])
def test_a_limit_that_is_no_amount_is_refused_and_makes_no_ledger(made, command, limit):
    done = apply(made.folder, made.record, ledger="new", options={**NEW, "limit": limit})

    assert not done.ok
    assert command.words == []
    assert not list((made.folder.parent / "ledgers").glob("*"))


def test_a_new_ledger_that_is_not_named_yet_is_not_made(made):
    view = prepare_applying(made.folder, made.record, ledger="new", options={"name": "people", "limit": ""})

    assert view.ledger is None
    assert view.error == ""


@pytest.mark.parametrize("options", [{}, {"name": "people"}, {"limit": "3"}, {"name": " ", "limit": "3"}])
def test_nothing_is_done_without_the_ledger_that_was_asked_for(made, command, options):
    """Whoever chooses a new ledger and forgets its name would else spend without any ledger."""
    view = prepare_applying(made.folder, made.record, ledger="new", options=options)
    done = apply(made.folder, made.record, ledger="new", options=options)

    assert view.needs == "Write the name of the new ledger, and the most ε that these people may ever pay."
    assert (done.ok, done.said) == (False, (view.needs,))
    assert command.words == []
    assert prepare_applying(made.folder, made.record, ledger="new", options=NEW).needs == ""


def test_the_ledger_that_the_environment_names_is_the_one_that_is_charged(
    made, command, tmp_path, monkeypatch
):
    """The command charges it in any case, so the page must not say that there is none."""
    Ledger(tmp_path / "office.db", epsilon=3)
    monkeypatch.setenv("EVENHAND_LEDGER", str(tmp_path / "office.db"))
    for key in ("", "found"):
        view = prepare_applying(made.folder, made.record, ledger=key)

        assert (view.ledger.name, view.ledger.left) == ("office", "2")
        assert "--ledger office.db" in view.command
        assert view.ledgers[0] == ("found", "the ledger that this computer names")
        assert "without a ledger" not in dict(view.ledgers).values()
        assert str(tmp_path) not in str(view)
    done = apply(made.folder, made.record, ledger="found")

    assert command.words[-3:-1] == ["--ledger", str(tmp_path / "office.db")]
    assert done.charged.startswith("Ledger 'office': ")

    monkeypatch.setenv("EVENHAND_LEDGER", str(tmp_path / "gone.db"))
    view = prepare_applying(made.folder, made.record)
    assert view.field == "ledger"
    assert str(tmp_path) not in view.error


def test_a_ledger_cannot_be_charged_with_a_promise_that_is_none(made, tmp_path):
    with pytest.raises(Exception, match="Nothing is promised"):
        applying._ledger_view(Ledger(tmp_path / "office.db", epsilon=3), None)


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (Guarantee(epsilon=1, unit="one report", trust="local"), "ε = 1"),
        (
            Guarantee(epsilon="1/3", delta="1e-6", unit="one report", trust="central"),
            "ε = 1/3, δ = 1.0\u00a0×\u00a010⁻⁶",
        ),
        (Guarantee(epsilon="1/2", unit="one report", trust="local"), "ε = 0.5"),
        (Guarantee(rho="1/2", unit="one report", trust="central"), "ρ = 0.5"),
    ],
)
def test_what_is_spent_is_said_exactly_and_as_the_reports_write_it(guarantee, words):
    assert amount_of(guarantee) == words


@pytest.mark.parametrize("count", [2, 7])
def test_lists_that_were_read_from_the_rows_are_named_but_not_all_of_very_many(count):
    schema = SimpleNamespace(inferred=tuple(f"c{place}" for place in range(count)))
    _, public = applying._ticks("ε = 1", schema)

    assert not public.can_be_set
    assert "'c1'" in public.why_not
    assert ("and others" in public.why_not) == (count > 5)
