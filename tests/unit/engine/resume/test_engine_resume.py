"""Runs that are interrupted and taken up: the same reports, one charge, and no key left."""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from evenhand._locks import Lock
from evenhand.engine import estimate_file, privatize_file
from evenhand.engine.drawing import Drawing
from evenhand.engine.places import FolderPlaces
from evenhand.engine.unfinished import Spool, Unfinished
from evenhand.errors import InvalidParameterError, UnreadableFileError, UnwritableFileError
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import RunKey
from unit.engine import _killed_run
from unit.engine._killed_run import MOMENTS
from unit.engine._streams import SCHEMA, people, write

HIDDEN = ".{}.evenhand.unfinished"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return a file of people; keys are the same in every run."""
    monkeypatch.setattr(RunKey, "draw", RunKey.draw)  # is put back afterwards
    return write(people(300), tmp_path / "people.parquet")


def run(*given, **named):
    return _killed_run.run(*given, **named)


def interrupt(monkeypatch, owner, name, calls=1):
    """Make a method stop the run after so many calls."""
    real, made = getattr(owner, name), []

    def stopping(*given, **named):
        real(*given, **named)
        made.append(name)
        if len(made) == calls:
            raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, stopping)
    return lambda: monkeypatch.setattr(owner, name, real)


def contents(out):
    """Return the bytes of all that stands in a folder, or of a file with what stands beside it."""
    files = sorted(out.iterdir()) if out.is_dir() else sorted(out.parent.glob(f"{out.name}*"))
    return {file.name: file.read_bytes() for file in files}


def uncharged(files):
    """Return the same files with a note that says nothing of a ledger."""
    others = {name: text for name, text in files.items() if not name.endswith(".guarantee.json")}
    (note,) = (json.loads(text) for name, text in files.items() if name not in others)
    del note["ledger_entry"], note["note_sha256"]
    return others | {"note": note}


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("out", ["out.parquet", "out.csv"])
@pytest.mark.parametrize("calls", [1, 5])
def test_an_interrupted_run_is_taken_up_with_the_same_reports(
    data, tmp_path, monkeypatch, out, calls, keep_order
):
    """If this is false, some people get a second report, which tells more than epsilon says."""
    (tmp_path / "whole").mkdir()
    whole = run(data, tmp_path / "whole" / out, keep_order=keep_order)
    undo = interrupt(monkeypatch, Spool, "add", calls)

    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path / out, keep_order=keep_order)
    hidden = tmp_path / HIDDEN.format(out)
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o700
    assert stat.S_IMODE((hidden / "key").stat().st_mode) == 0o600
    assert not (tmp_path / out).exists()
    drawn = {file.name: file.read_bytes() for file in hidden.glob("unit-*.arrow")}
    undo()
    told = []
    again = run(data, tmp_path / out, keep_order=keep_order, progress=lambda rows, share: told.append(rows))

    assert len(drawn) >= calls
    assert again.rows == whole.rows == told[-1]
    assert contents(tmp_path / out) == contents(tmp_path / "whole" / out)
    assert listed(tmp_path) == sorted(["people.parquet", "whole", *contents(tmp_path / out)])


def test_a_resumed_run_has_the_reports_of_an_uninterrupted_one_whatever_the_threads(data, tmp_path):
    for workers in (1, 3):
        run(data, tmp_path / f"{workers}.parquet", workers=workers)

    one, three = (pq.read_table(tmp_path / f"{workers}.parquet") for workers in (1, 3))
    assert one.equals(three)


def test_the_reports_of_two_keys_differ(data, tmp_path):
    """The twin: were the key not used, all the tests above would pass."""
    for name in ("a.parquet", "b.parquet"):
        options = {"schema": SCHEMA, "epsilon": 3, "keep": (), "keep_order": True}
        privatize_file(data, tmp_path / name, resume=True, **options)

    first, second = (pq.read_table(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    assert not first.equals(second)


def test_a_ledger_is_charged_once(data, tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "l.db", epsilon=10, unit="one person")
    undo = interrupt(monkeypatch, Spool, "add")

    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path / "out.csv", ledger=ledger)
    undo()
    done = run(data, tmp_path / "out.csv", ledger=ledger)

    assert len(ledger.history()) == 2
    assert done.charge.reference() == ledger.history()[-1].reference()


def test_another_input_or_setting_is_refused(data, tmp_path, monkeypatch):
    """If this is false, one key draws reports of two tables, and the noise falls out of the difference."""
    undo = interrupt(monkeypatch, Spool, "add")
    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path / "out.csv")
    undo()

    for changed in ({"epsilon": 2}, {"batch_rows": 41}, {"keep_order": True}, {"keep": ()}):
        (name,) = changed
        with pytest.raises(UnwritableFileError, match=f"an unfinished run beside it differs in {name}"):
            run(data, tmp_path / "out.csv", **changed)
    os.utime(data, ns=(1, 1))
    with pytest.raises(UnwritableFileError, match=r"differs in input.*begin anew"):
        run(data, tmp_path / "out.csv")
    write(people(300, seed=8), data)
    with pytest.raises(UnwritableFileError, match=r"differs in input.*begin anew"):
        run(data, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_what_cannot_be_resumed_is_refused(data, tmp_path):
    with pytest.raises(InvalidParameterError, match="False for a simulation"):
        run(data, tmp_path / "out.csv", simulate=1)
    (tmp_path / "out.csv").write_text("")
    with pytest.raises(UnwritableFileError, match="there is a file"):
        run(data, tmp_path / "out.csv")
    assert listed(tmp_path) == ["out.csv", "people.parquet"]


def test_bad_rows_leave_no_key(data, tmp_path):
    write(people(90).set_column(2, "age", [[99] * 90]), data)

    with pytest.raises(ValueError, match="outside its declared domain"):
        run(data, tmp_path / "out.csv")
    assert listed(tmp_path) == ["people.parquet"]


def test_two_processes_do_not_write_one_output(data, tmp_path):
    with (
        Unfinished(tmp_path / "out.csv", {}),
        pytest.raises(UnwritableFileError, match="another process"),
    ):
        Unfinished(tmp_path / "out.csv", {})


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of this kind")
@pytest.mark.parametrize("plant", ["link", "owner", "mode"])
def test_a_folder_that_somebody_else_made_is_refused(data, tmp_path, monkeypatch, plant):
    """Whoever made the folder could put a key in it that they know, and take the noise off."""
    hidden = tmp_path / HIDDEN.format("out.csv")
    if plant == "link":
        (tmp_path / "elsewhere").mkdir()
        hidden.symlink_to(tmp_path / "elsewhere")
    elif plant == "mode":
        hidden.mkdir()
        hidden.chmod(0o755)
    else:
        hidden.mkdir(mode=0o700)
        monkeypatch.setattr(os, "getuid", lambda: hidden.stat().st_uid + 1)
    with pytest.raises(UnwritableFileError, match="belongs to somebody else"):
        run(data, tmp_path / "out.csv")

    assert list(hidden.iterdir()) == []
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("terms", [None, {}])
def test_a_place_that_is_not_there_is_told_without_its_path(tmp_path, terms):
    with pytest.raises(UnwritableFileError, match=r"^out\.csv was not written") as refused:
        Unfinished(tmp_path / "no folder" / "out.csv", terms)

    assert str(tmp_path) not in str(refused.value)


def test_a_lock_that_is_another_file_is_told(tmp_path):
    hidden = tmp_path / HIDDEN.format("out.csv")
    hidden.mkdir(mode=0o700)
    (hidden / "lock").write_text("somebody's notes " * 100, encoding="ascii")

    with pytest.raises(UnwritableFileError, match="cannot be locked"):
        Unfinished(tmp_path / "out.csv", {})


@pytest.mark.parametrize("terms", [None, {}])
def test_without_locks_of_unix_a_folder_in_use_stays_and_goes_with_its_run(tmp_path, monkeypatch, terms):
    """On Windows a second run removed what the first was writing, or wrote into it."""
    monkeypatch.setattr("evenhand._part_files.locking", None)
    monkeypatch.setattr(sys, "platform", "win32")
    remove, is_free = shutil.rmtree, []

    def remove_unlocked(folder, **named):
        lock = Lock(folder / "lock")
        is_free.append(lock.take())
        lock.free()
        remove(folder, **named)

    monkeypatch.setattr(shutil, "rmtree", remove_unlocked)
    with Unfinished(tmp_path / "out.csv", terms) as first:
        with Unfinished(tmp_path / "other.csv"):
            pass
        while_in_use = first.folder.exists()

    assert while_in_use
    assert is_free == [True, True]
    assert listed(tmp_path) == []


def test_a_damaged_run_is_refused(data, tmp_path, monkeypatch):
    undo = interrupt(monkeypatch, Unfinished, "mark_drawn")
    with pytest.raises(KeyboardInterrupt):
        run(data, tmp_path / "out.csv")
    undo()
    hidden = tmp_path / HIDDEN.format("out.csv")
    assert not (hidden / "key").exists()
    (hidden / "unit-00000002.arrow").unlink()
    kept = (hidden / "state.json").read_text()
    (hidden / "state.json").write_text("{")
    with pytest.raises(UnwritableFileError, match="is damaged"):
        run(data, tmp_path / "out.csv")
    (hidden / "state.json").write_text(kept)
    with pytest.raises(UnreadableFileError, match="reports of it are missing"):
        run(data, tmp_path / "out.csv")


def test_another_number_of_units_is_refused(tmp_path):
    with Unfinished(tmp_path / "out.csv", {}) as unfinished:
        unfinished.mark_drawn(3)
        with pytest.raises(UnreadableFileError, match="another number of rows"):
            unfinished.spool().close(4)


def test_a_folder_is_taken_up_file_by_file(data, tmp_path, monkeypatch):
    folder = tmp_path / "people"
    folder.mkdir()
    for place in range(3):
        write(people(90, seed=place), folder / f"{place}.parquet")
    (tmp_path / "whole").mkdir()
    run(folder, tmp_path / "whole" / "out", workers=1)
    undo = interrupt(monkeypatch, Drawing, "draw", 2)
    with pytest.raises(KeyboardInterrupt):
        run(folder, tmp_path / "out", workers=1)
    undo()
    hidden = tmp_path / HIDDEN.format("out")
    first = (hidden / "parts" / "0.parquet").stat().st_ino
    assert (hidden / "key").exists()
    done = run(folder, tmp_path / "out", workers=1)

    assert contents(tmp_path / "out") == contents(tmp_path / "whole" / "out")
    assert (tmp_path / "out" / "0.parquet").stat().st_ino == first
    assert done.rows == 270
    assert not hidden.exists()
    assert estimate_file(tmp_path / "out").rows == 270


def test_columns_that_follow_the_order_are_told_of_files_that_are_done(data, tmp_path, monkeypatch):
    """Whoever takes a run up must hear as much of what is in the clear as whoever never stopped."""
    folder = tmp_path / "people"
    folder.mkdir()
    for place in range(2):
        write(people(900, seed=place), folder / f"{place}.parquet")
    undo = interrupt(monkeypatch, Unfinished, "mark_placing")
    with pytest.raises(KeyboardInterrupt):
        run(folder, tmp_path / "out", keep=("id", "note", "hired"), linkable=True)
    undo()

    assert run(folder, tmp_path / "out", keep=("id", "note", "hired"), linkable=True).follow_order == (
        "id",
        "note",
    )


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_folder_that_was_about_to_take_its_place_takes_it(data, tmp_path, monkeypatch, when):
    folder = tmp_path / "people"
    folder.mkdir()
    for place in range(2):
        write(people(90, seed=place), folder / f"{place}.parquet")
    owner, name = (Unfinished, "mark_placing") if when == "before" else (FolderPlaces, "put_in_place")
    undo = interrupt(monkeypatch, owner, name)
    with pytest.raises(KeyboardInterrupt):
        run(folder, tmp_path / "out")
    undo()
    assert (tmp_path / "out").exists() == (when == "after")
    assert not (tmp_path / HIDDEN.format("out") / "key").exists()

    assert run(folder, tmp_path / "out").rows == 180
    assert estimate_file(tmp_path / "out").rows == 180
    assert not (tmp_path / HIDDEN.format("out")).exists()


@pytest.mark.nightly
@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_leaves_nothing_half_written_and_is_taken_up(data, tmp_path, moment, keep_order):
    """SIGKILL at ten moments: nothing under the final name, or all of it; then the same output."""
    (tmp_path / "whole").mkdir()
    run(data, tmp_path / "whole" / "out.parquet", keep_order=keep_order)
    ledger = Ledger(tmp_path / "l.db", epsilon=10, unit="one person")
    out, expected = tmp_path / "out.parquet", contents(tmp_path / "whole" / "out.parquet")

    script = pathlib.Path(_killed_run.__file__)
    root = script.parents[2]
    command = [sys.executable, str(script), str(data), str(out), str(keep_order)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    killed = subprocess.run([*command, moment, str(tmp_path / "l.db")], env=env, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists() or uncharged(contents(out)) == uncharged(expected)
    if out.exists():
        assert not (tmp_path / HIDDEN.format(out.name) / "key").exists()
    subprocess.run([*command, "", str(tmp_path / "l.db")], env=env, check=True)

    assert uncharged(contents(out)) == uncharged(expected)
    assert len(ledger.history()) == 2
    assert listed(tmp_path) == sorted([*expected, "l.db", *_anchors(tmp_path), "people.parquet", "whole"])


def _anchors(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith("l.db") and path.name != "l.db"]
