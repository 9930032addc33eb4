"""Whatever happens to the files of a ledger, it is refused or harmless, and never counts less."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import EvenhandError, LedgerError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.ledger import ledger as module
from evenhand.privacy.ledger.database import APPLICATION, FORMAT

TENTH = Guarantee.pure("1/10", unit="replace one", trust="central")


def refuse_all(path, match):
    """Opening, and whatever an open ledger does, is refused."""
    with pytest.raises(LedgerError, match=match):
        Ledger(path)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- older copies and edits -----------------------------------------------------------------------


def test_an_older_copy_put_back_is_refused(ledger, tmp_path):
    """Otherwise a budget is spent again by whoever restores a backup."""
    ledger.backup(tmp_path / "copy.db")
    before = ledger.path.read_bytes()
    ledger.spend(TENTH, purpose="after the copy")
    ledger.total()  # which copies the log into the file
    for older in (before, (tmp_path / "copy.db").read_bytes()):
        ledger.path.write_bytes(older)
        refuse_all(ledger.path, "has 4 entries but its anchor says 5: an older copy was put back")
        with pytest.raises(LedgerError):
            ledger.spend(TENTH, purpose="again")


def test_a_backup_that_is_as_new_as_the_anchor_can_be_put_back(ledger, tmp_path):
    ledger.backup(tmp_path / "copy.db")
    ledger.path.unlink()
    refuse_all(ledger.path, "is gone, but its anchor 'ledger.db.anchor' says that it was there")
    with pytest.raises(LedgerError, match="is gone"):
        Ledger(ledger.path, epsilon=1)  # nor does it begin anew
    shutil.move(tmp_path / "copy.db", ledger.path)

    assert Ledger(ledger.path).total().spent.epsilon == Fraction(3, 10)
    Ledger(ledger.path).spend(TENTH, purpose="goes on")


def test_both_files_put_back_are_refused_by_a_process_that_knows_better(ledger, tmp_path):
    before = files_of(tmp_path)
    ledger.spend(TENTH, purpose="after the copy")
    ledger.total()  # which copies the log into the file
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    for act in (ledger.verify, ledger.total, lambda: ledger.spend(TENTH, purpose="again")):
        with pytest.raises(LedgerError, match="changed or replaced while it was open"):
            act()


@pytest.mark.parametrize("lost", ["missing", "empty", "other text", "another ledger's"])
def test_a_ledger_without_its_anchor_is_refused(ledger, tmp_path, lost):
    if lost == "missing":
        ledger.anchor.unlink()
    elif lost == "another ledger's":
        other = Ledger(tmp_path / "other.db", epsilon=1)
        shutil.copy(other.anchor, ledger.anchor)
    else:
        ledger.anchor.write_text("" if lost == "empty" else '{"ledger": 1}')
    refuse_all(ledger.path, "missing|damaged|belongs to another ledger")


def test_the_anchor_may_stand_elsewhere_and_is_found_again(tmp_path):
    """On another disk it survives what happens to this one."""
    (tmp_path / "elsewhere").mkdir()
    place = tmp_path / "elsewhere" / "anchor.json"
    made = Ledger(tmp_path / "ledger.db", epsilon=1, anchor=place)
    made.spend(TENTH, purpose="table")

    assert made.total().charges == 1
    assert json.loads(place.read_text())["entries"] == 2
    assert sorted(files_of(tmp_path)) == ["ledger.db"]
    assert Ledger(made.path).anchor == place
    moved = place.rename(tmp_path / "moved.json")
    refuse_all(made.path, "The anchor 'anchor.json' of ledger 'ledger.db' is missing")
    assert Ledger(made.path, anchor=moved).total().charges == 1


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("UPDATE entries SET text = replace(text, '1/10', '1/90') WHERE number = 3", "damaged at entry 3"),
        ("DELETE FROM entries WHERE number = 3", "damaged at entry 3"),
        ("DELETE FROM entries WHERE number = 4", "has 3 entries but its anchor says 4"),
        ("UPDATE entries SET number = 9 WHERE number = 4", "damaged at entry 4"),
        ("DELETE FROM entries", "has no entries|says 4"),
        ("DROP TABLE entries", "is damaged"),
        (f"PRAGMA user_version = {FORMAT + 1}", "install a newer evenhand"),
        ("PRAGMA user_version = 0", "knows the format"),
        (f"PRAGMA application_id = {APPLICATION + 1}", "is a database, but no ledger"),
    ],
)
def test_an_edited_row_a_foreign_and_a_newer_file_are_refused(ledger, statement, match):
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(statement)
    connection.close()
    refuse_all(ledger.path, match)


def test_a_chain_that_was_written_anew_does_not_fit_its_anchor(ledger):
    """Whoever computes all hashes again still has not the anchor."""
    from evenhand.privacy.ledger.chain import Chain

    chain = Chain()
    for entry in ledger.history():
        terms = dict(entry.terms) | ({"epsilon": "1/90"} if entry.number == 3 else {})
        chain = Chain((*chain.entries, chain.next_entry(terms)))
    with sqlite3.connect(ledger.path) as connection:
        rows = [(entry.text, entry.hash, entry.number) for entry in chain.entries]
        connection.executemany("UPDATE entries SET text = ?, hash = ? WHERE number = ?", rows)
    connection.close()
    refuse_all(ledger.path, "was changed: entry 4 is another than its anchor says")


def test_a_newer_anchor_is_refused(ledger):
    written = json.loads(ledger.anchor.read_text())
    ledger.anchor.write_text(json.dumps(written | {"format": 2}))
    refuse_all(ledger.path, "has the format 2; this evenhand knows the format 1")


def test_a_charge_whose_anchor_was_not_written_counts(ledger):
    """A process that is killed between the two has charged."""
    before = ledger.anchor.read_bytes()
    ledger.spend(TENTH, purpose="killed before its anchor")
    ledger.anchor.write_bytes(before)
    again = Ledger(ledger.path)

    assert again.total().spent.epsilon == Fraction(4, 10)
    again.spend(TENTH, purpose="goes on")
    assert json.loads(ledger.anchor.read_text())["entries"] == 6


def test_a_making_that_was_cut_short_can_be_done_again(tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    written = json.loads(made.anchor.read_text())
    made.anchor.write_text(json.dumps(written | {"entries": 0, "head": ""}))

    assert Ledger(made.path).total().charges == 0  # killed before the first anchor
    made.path.write_bytes(b"")
    made.anchor.write_text(json.dumps(written | {"entries": 0, "head": ""}))
    refuse_all(made.path, "There is no ledger")
    assert Ledger(made.path, epsilon=2).budget.epsilon == 2


def flip_bytes(folder, names, places, seed):
    """Flip one byte at so many places in turn, and return where a ledger then counted less or crashed."""
    draws = np.random.default_rng(seed)
    whole = {name: (folder / name).read_bytes() for name in names}
    faults = []
    for _ in range(places):
        name = names[draws.integers(len(names))]
        place = int(draws.integers(len(whole[name])))
        changed = bytearray(whole[name])
        changed[place] ^= int(draws.integers(1, 256))
        (folder / name).write_bytes(changed)
        try:
            if Ledger(folder / "ledger.db").total().spent.epsilon != Fraction(3, 10):
                faults.append((name, place, "counts another sum"))
        except EvenhandError:
            pass
        except Exception as error:  # noqa: BLE001 - any other error is what is looked for
            faults.append((name, place, repr(error)))
        for other in folder.iterdir():
            other.unlink()
        for kept, content in whole.items():
            (folder / kept).write_bytes(content)
    return faults


def leave_log(path):
    """Spend in a process that dies without closing the file, so that the last entries stand in the log."""
    code = f"""
        import os
        from evenhand.privacy import Guarantee
        from evenhand.privacy.ledger import Ledger, database
        database.closing = lambda connection: __import__("contextlib").nullcontext(connection)
        ledger = Ledger({str(path)!r}, epsilon=1)
        guarantee = Guarantee.pure("1/10", unit="replace one", trust="central")
        for number in range(3):
            ledger.spend(guarantee, purpose=f"table {{number}}")
        os._exit(0)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


@pytest.mark.parametrize("places", [25, pytest.param(500, marks=pytest.mark.nightly)])
def test_a_flipped_byte_is_detected_or_harmless(ledger, tmp_path, places):
    assert flip_bytes(tmp_path, ["ledger.db", "ledger.db.anchor"], places, seed=places) == []


@pytest.mark.figures
def test_a_flipped_byte_in_the_log_is_detected_or_harmless(tmp_path):
    leave_log(tmp_path / "ledger.db")
    assert (tmp_path / "ledger.db-wal").stat().st_size > 0
    names = ["ledger.db", "ledger.db-wal", "ledger.db.anchor"]

    assert flip_bytes(tmp_path, names, 500, seed=1) == []


def test_an_entry_that_comes_while_a_ledger_is_read_is_no_fault(ledger, monkeypatch):
    """The chain was read before it and the anchor after it, so the ledger looked shorter than its anchor."""
    other = Ledger(ledger.path)
    read_chain = module.read_chain

    def read_then_wait(connection, known, *, name):
        chain = read_chain(connection, known, name=name)
        monkeypatch.setattr(module, "read_chain", read_chain)
        other.spend(TENTH, purpose="comes between")
        return chain

    monkeypatch.setattr(module, "read_chain", read_then_wait)
    assert ledger.total().charges == 3
    assert ledger.total().charges == 4


# --- files that are none --------------------------------------------------------------------------


def test_a_folder_a_link_and_other_files_are_refused(ledger, tmp_path):
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "link.db").symlink_to(ledger.path)
    (tmp_path / "table.db").write_text("county,count\n" * 500)
    (tmp_path / "dangling.db").symlink_to(tmp_path / "nowhere")
    before = files_of(tmp_path)
    for name, match in {
        "folder.db": "is a folder", "link.db": "symbolic link", "dangling.db": "symbolic link",
        "table.db": "is not a ledger", "no/folder.db": "cannot be written|cannot be opened",
    }.items():  # fmt: skip
        with pytest.raises(LedgerError, match=match):
            Ledger(tmp_path / name, epsilon=1)

    assert files_of(tmp_path) == before


def test_a_ledger_that_another_program_holds_is_refused(ledger, monkeypatch):
    monkeypatch.setattr("evenhand.privacy.ledger.database._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="is locked by another program"):
        ledger.spend(TENTH, purpose="table")
    other.close()

    assert ledger.total().charges == 3
    ledger.spend(TENTH, purpose="table")


READ_ONLY = """
import os, pathlib, sys, tempfile
from evenhand.errors import LedgerError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger
folder = pathlib.Path(tempfile.mkdtemp())
guarantee = Guarantee.pure("1/1000", unit="replace one", trust="central")
ledger = Ledger(folder / "ledger.db", epsilon=1)
ledger.spend(guarantee, purpose="while it may be written")
ledger.total()  # which copies the log into the file
if os.getuid() == 0:  # nothing is forbidden to root
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534)
    os.setuid(65534)
before = {path.name: path.read_bytes() for path in folder.iterdir()}
folder.chmod(0o500)
refused = 0
for _ in range(int(sys.argv[1])):
    try:
        ledger.spend(guarantee, purpose="table")
    except LedgerError:
        refused += 1
folder.chmod(0o700)
after = {path.name: path.read_bytes() for path in folder.iterdir()}
print(refused, before == after, Ledger(folder / "ledger.db").total().charges)
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have other permissions there")
@pytest.mark.parametrize("attempts", [3, pytest.param(50, marks=pytest.mark.nightly)])
def test_a_folder_that_may_not_be_written_is_refused(attempts):
    command = [sys.executable, "-c", READ_ONLY, str(attempts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stdout.split() == [str(attempts), "True", "1"], done.stderr


@pytest.mark.parametrize(
    "rooms", [[200, 9_000], pytest.param(range(0, 40_000, 800), marks=pytest.mark.nightly)], ids=["2", "50"]
)
def test_a_full_disk_is_refused_and_leaves_all_as_it_was(ledger, rooms):
    """The limit on the size of a file stands for the disk."""
    pytest.importorskip("resource")
    code = f"""
        import resource
        from evenhand.errors import LedgerError
        from evenhand.privacy import Guarantee
        from evenhand.privacy.ledger import Ledger
        guarantee = Guarantee.pure("1/1000", unit="replace one", trust="central")
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        for room in {list(rooms)}:
            ledger = Ledger({str(ledger.path)!r})
            before = ledger.total().charges
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
            try:
                ledger.spend(guarantee, purpose="table")
                refused = 0
            except LedgerError:
                refused = 1
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            print(refused, Ledger({str(ledger.path)!r}).total().charges - before)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]

    assert len(outcomes) == len(rooms)
    assert set(outcomes) <= {(1, 0), (0, 1)}  # refused and unchanged, or granted and charged
    assert outcomes[0] == (1, 0)


@pytest.mark.parametrize("part", ["anchor", "database"])
def test_an_error_of_the_disk_before_the_commit_charges_nothing(ledger, tmp_path, monkeypatch, part):
    before = files_of(tmp_path)

    def fail(*args):
        if part == "anchor":
            raise OSError(28, "No space left on device")
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    place = (
        "evenhand._part_files.os.fsync" if part == "anchor" else "evenhand.privacy.ledger.ledger.add_entry"
    )
    with monkeypatch.context() as patched:
        patched.setattr(place, fail)
        with pytest.raises(LedgerError, match=r"No space left|the disk is full"):
            ledger.spend(TENTH, purpose="table")

    assert Ledger(ledger.path).total().charges == 3
    assert set(files_of(tmp_path)) == set(before)


# --- many processes -------------------------------------------------------------------------------

SPENDER = """
import sys
from evenhand.errors import BudgetExceededError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger
ledger = Ledger(sys.argv[1])
guarantee = Guarantee.pure("1/1000", unit="replace one", trust="central")
granted = 0
for number in range(int(sys.argv[2])):
    try:
        ledger.spend(guarantee, purpose=f"attempt {number}")
        granted += 1
    except BudgetExceededError:
        pass
print(granted)
"""


def grant_in_processes(path, *, processes, attempts):
    command = [sys.executable, "-c", SPENDER, str(path), str(attempts)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return [int(process.communicate()[0]) for process in running]


@pytest.mark.figures
def test_processes_do_not_spend_twice(tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon="20/1000")
    granted = grant_in_processes(made.path, processes=4, attempts=8)

    assert sum(granted) == 20
    assert made.total().spent.epsilon == Fraction(20, 1000)
    assert json.loads(made.anchor.read_text())["entries"] == 21


@pytest.mark.nightly
@pytest.mark.parametrize("run", range(20))
def test_a_thousand_is_granted_to_32_processes_that_ask_3200_times(tmp_path, run):
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    granted = grant_in_processes(made.path, processes=32, attempts=100)

    assert sum(granted) == 1000
    assert made.total().spent.epsilon == 1
    assert json.loads(made.anchor.read_text())["entries"] == 1001


# --- how long it takes ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_spend_is_quick_enough_to_be_used_always(tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon=100)
    seconds = []
    for number in range(500):
        start = time.perf_counter()
        made.spend(TENTH, purpose=f"table {number}")
        seconds.append(time.perf_counter() - start)

    assert np.quantile(seconds, 0.95) <= 0.050, np.quantile(seconds, [0.5, 0.95])
