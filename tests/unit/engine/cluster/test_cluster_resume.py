"""Runs on a cluster that stop and go on: charged once, with the same key, note and signature."""

import json
import pathlib
import stat

import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.engine.cluster import run as run_module
from evenhand.errors import (
    BudgetExceededError,
    ClusterError,
    LedgerError,
    OtherRowsError,
    UnwritableFileError,
)
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.signing.keys import SigningKey
from evenhand.table.side_files import record_path
from unit.engine.cluster._toy_engine import ToyEngine, names_in, people, read, run


def test_the_ledger_is_charged_once(parts, out, tmp_path):
    ledger = Ledger(tmp_path / "spent.db", epsilon=4)
    made = run(ToyEngine(parts, tries=3), out, ledger=ledger)

    assert [entry.number for entry in ledger.history()] == [1, made.charge.number]
    assert made.charge.terms["purpose"].startswith("reports: sex, job (run ")


def test_without_budget_nothing_is_drawn_or_left(parts, out, tmp_path):
    ledger = Ledger(tmp_path / "spent.db", epsilon=1)
    before = names_in(tmp_path)
    engine = ToyEngine(parts)

    with pytest.raises(BudgetExceededError):
        run(engine, out, ledger=ledger)
    assert engine.passes == ["CheckTask"]
    assert names_in(tmp_path) == before


@pytest.mark.parametrize("materialize", [True, False])
@pytest.mark.parametrize("stop", [("DrawTask", 0), ("DrawTask", 3), ("GatherTask", 0)])
def test_a_run_that_stopped_goes_on_without_another_charge(parts, out, tmp_path, materialize, stop):
    ledger = Ledger(tmp_path / "spent.db", epsilon=3)
    engine = ToyEngine(parts, fail_on=stop)
    with pytest.raises(ClusterError, match="make the same call again"):
        run(engine, out, ledger=ledger, materialize=materialize)
    assert not out.exists()
    made = run(engine, out, ledger=ledger, materialize=materialize)

    assert engine.passes.count("CheckTask") == 1
    assert [entry.number for entry in ledger.history()] == [1, made.charge.number]
    assert sorted(read(out)["id"].to_pylist()) == sorted(pa.concat_tables(parts)["id"].to_pylist())
    assert not out.with_name(f"{out.name}.unfinished").exists()


@pytest.mark.parametrize("stop", [None, ("DrawTask", 3), ("GatherTask", 0)])
def test_the_note_of_a_run_that_stopped_is_that_of_one_that_did_not(parts, out, tmp_path, stop):
    """If this is false, nobody can find the charge of a run that was resumed, or who signed it."""
    ledger, key = Ledger(tmp_path / "spent.db", epsilon=3), SigningKey.new()
    engine = ToyEngine(parts, fail_on=stop)
    if stop is not None:
        with pytest.raises(ClusterError):
            run(engine, out, ledger=ledger, sign=key)
    made = run(engine, out, ledger=ledger, sign=key)

    [_, entry] = ledger.history()
    assert made.charge == entry
    note = json.loads(record_path(out).read_text())
    assert note["ledger_entry"]["number"] == entry.number
    assert note["signed_by"]["fingerprint"] == key.public.fingerprint
    checked = eh.engine.verify(out, key=key.public, ledger=tmp_path / "spent.db")
    assert checked.passed, checked


HARMS = {
    "swapped": "part-00000.parquet has the content of part-00001.parquet.",
    "cut short": "part-00000.parquet was changed",
    "missing": "part-00000.parquet is missing.",
    "renamed": "part-00000.parquet was renamed: it is there as part-00099.parquet.",
    "more": "part-00099.parquet is there, and the note does not list it.",
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_folder_of_reports_that_was_changed_does_not_pass(parts, out, monkeypatch, harm):
    """If this is false, reports can be taken out of a folder, or put into it, without anybody noticing."""
    monkeypatch.setattr(run_module, "PART_ROWS", 400)
    run(ToyEngine(parts), out)
    first, second = out / "part-00000.parquet", out / "part-00001.parquet"
    assert eh.engine.verify(out).passed
    if harm == "swapped":
        first.rename(out / "x")
        second.rename(first)
        (out / "x").rename(second)
    elif harm == "cut short":
        first.write_bytes(first.read_bytes()[:-1])
    elif harm == "missing":
        first.unlink()
    elif harm == "renamed":
        first.rename(out / "part-00099.parquet")
    else:
        (out / "part-00099.parquet").write_bytes(b"PAR1")

    [failed] = [check for check in eh.engine.verify(out).checks if not check.passed]
    assert failed.name == "files"
    assert HARMS[harm] in failed.text


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_was_killed_as_it_published_goes_on_or_leaves_no_key(
    parts, out, tmp_path, monkeypatch, when
):
    """If this is false, the key stays beside complete reports, or the same call is refused for ever."""
    ledger, replace = Ledger(tmp_path / "spent.db", epsilon=3), pathlib.Path.replace

    def stop_at_the_end(self, target):
        if self.name == "finished" and when == "before":
            raise KeyboardInterrupt
        replace(self, target)
        if self.name == "finished":
            raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(pathlib.Path, "replace", stop_at_the_end)
        with pytest.raises(KeyboardInterrupt):
            run(ToyEngine(parts), out, ledger=ledger)
    assert (out.with_name(f"{out.name}.unfinished") / "key").exists()
    if when == "after":
        with pytest.raises(UnwritableFileError, match="is there already"):
            run(ToyEngine(parts), out, ledger=ledger)
    else:
        run(ToyEngine(parts), out, ledger=ledger)

    assert eh.engine.verify(out, ledger=tmp_path / "spent.db").passed
    assert not out.with_name(f"{out.name}.unfinished").exists()
    assert len(ledger.history()) == 2


def test_a_run_that_was_killed_after_its_charge_is_not_charged_again(parts, out, tmp_path, monkeypatch):
    """If this is false, a machine that goes down at the wrong moment costs the budget twice."""
    ledger, spend = Ledger(tmp_path / "spent.db", epsilon=3), Ledger.spend

    def spend_and_stop(self, *given, **named):
        spend(self, *given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "spend", spend_and_stop)
    with pytest.raises(KeyboardInterrupt):
        run(ToyEngine(parts), out, ledger=ledger)
    monkeypatch.undo()
    made = run(ToyEngine(parts), out, ledger=ledger)

    assert [entry.number for entry in ledger.history()] == [1, made.charge.number]


def test_a_run_that_was_killed_before_its_charge_is_charged_when_it_goes_on(
    parts, out, tmp_path, monkeypatch
):
    ledger = Ledger(tmp_path / "spent.db", epsilon=3)

    def stop(*_given, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "spend", stop)
    with pytest.raises(KeyboardInterrupt):
        run(ToyEngine(parts), out, ledger=ledger)
    monkeypatch.undo()
    made = run(ToyEngine(parts), out, ledger=ledger)

    assert [entry.number for entry in ledger.history()] == [1, made.charge.number]


def test_a_run_does_not_go_on_with_another_ledger_purpose_or_key(parts, out, tmp_path):
    """If this is false, a run is charged to two ledgers, or its note names neither."""
    ledger, key = Ledger(tmp_path / "spent.db", epsilon=3), SigningKey.new()
    with pytest.raises(ClusterError):
        run(ToyEngine(parts, fail_on=("DrawTask", 0)), out, ledger=ledger)
    other = Ledger(tmp_path / "other.db", epsilon=3)

    for change in (
        {},
        {"ledger": other},
        {"ledger": ledger, "purpose": "x"},
        {"ledger": ledger, "sign": key},
    ):
        with pytest.raises(UnwritableFileError, match="another ledger or key"):
            run(ToyEngine(parts), out, **change)
    assert len(other.history()) == 1
    assert run(ToyEngine(parts), out, ledger=ledger).charge.number == 2


def test_a_ledger_that_cannot_be_read_does_not_end_a_run_that_was_charged(parts, out, tmp_path, monkeypatch):
    """If this is false, its reports and its charge are lost."""
    ledger = Ledger(tmp_path / "spent.db", epsilon=3)
    with pytest.raises(ClusterError):
        run(ToyEngine(parts, fail_on=("DrawTask", 3)), out, ledger=ledger)

    def refuse(_self):
        raise LedgerError("The ledger was not read.")

    monkeypatch.setattr(Ledger, "history", refuse)
    with pytest.raises(LedgerError):
        run(ToyEngine(parts), out, ledger=ledger)
    monkeypatch.undo()

    assert run(ToyEngine(parts), out, ledger=ledger).charge.number == 2


def test_what_was_drawn_before_the_stop_is_what_is_published(parts, out):
    engine = ToyEngine(parts, fail_on=("DrawTask", 3))
    with pytest.raises(ClusterError):
        run(engine, out, keep_order=True, materialize=False)
    first = (out.with_name(f"{out.name}.unfinished") / "parts" / "part-00000.parquet").read_bytes()
    run(engine, out, keep_order=True, materialize=False)

    assert (out / "part-00000.parquet").read_bytes() == first


def test_the_key_is_for_its_owner_alone_while_it_is_there(parts, out):
    with pytest.raises(ClusterError):
        run(ToyEngine(parts, fail_on=("DrawTask", 0)), out)
    folder = out.with_name(f"{out.name}.unfinished")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "key", folder / "run.json")]

    assert [oct(mode) for mode in modes] == ["0o700", "0o600", "0o600"]
    assert (folder / "key").stat().st_size == 32


def test_a_run_goes_on_with_the_same_rows_only(parts, out):
    """The key of a run must never be used on other people."""
    with pytest.raises(ClusterError):
        run(ToyEngine(parts, fail_on=("DrawTask", 0)), out, materialize=False)
    others = [people(700, start=50_000), *parts[1:]]

    with pytest.raises(OtherRowsError):
        run(ToyEngine(others), out, materialize=False)
    assert names_in(out.parent) == []


@pytest.mark.parametrize("change", [{"epsilon": 1}, {"keep": []}, {"keep_order": True}])
def test_a_run_with_other_choices_does_not_go_on(parts, out, change):
    with pytest.raises(ClusterError):
        run(ToyEngine(parts, fail_on=("DrawTask", 0)), out)

    with pytest.raises(UnwritableFileError, match="holds a run with other data, columns or options"):
        run(ToyEngine(parts), out, **change)


@pytest.mark.parametrize("content", ["{", '{"format": "evenhand unfinished 0"}', "[]"])
def test_a_damaged_state_is_refused(parts, out, content):
    with pytest.raises(ClusterError):
        run(ToyEngine(parts, fail_on=("DrawTask", 0)), out)
    (out.with_name(f"{out.name}.unfinished") / "run.json").write_text(content)

    with pytest.raises(UnwritableFileError, match="holds a run with other data"):
        run(ToyEngine(parts), out)


def test_what_is_left_of_a_run_that_was_not_charged_is_started_anew(parts, out):
    folder = out.with_name(f"{out.name}.unfinished")
    (folder / "input").mkdir(parents=True)
    folder.chmod(0o700)
    (folder / "input" / "0-old.arrow").write_bytes(b"rows")
    engine = ToyEngine(parts)
    run(engine, out)

    assert engine.passes[0] == "CheckTask"
    assert not folder.exists()


@pytest.mark.parametrize("prepare", ["open to others", "a link", "a file"])
def test_a_folder_that_others_can_look_into_is_not_used(parts, out, prepare, tmp_path):
    """Whoever put a key there would know it."""
    folder = out.with_name(f"{out.name}.unfinished")
    if prepare == "open to others":
        folder.mkdir()
        folder.chmod(0o755)
    elif prepare == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.write_text("")

    with pytest.raises(UnwritableFileError, match="belongs to somebody else, or others may look into it"):
        run(ToyEngine(parts), out)


def test_two_runs_do_not_write_one_output(parts, out):
    from evenhand.engine.cluster.unfinished import Unfinished

    with Unfinished(out), pytest.raises(UnwritableFileError, match="another run is writing it"):
        run(ToyEngine(parts), out)


def test_a_place_that_cannot_be_written_is_refused(parts, out, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "no")

    monkeypatch.setattr("evenhand.engine.cluster.unfinished.lock_file", refuse)

    with pytest.raises(UnwritableFileError, match="you may not write there"):
        run(ToyEngine(parts), out)
