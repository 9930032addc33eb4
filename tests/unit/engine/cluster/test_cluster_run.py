"""A run on a cluster: whole or not at all, charged once, each row reported once, the key gone at the end."""

import json
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenhand as eh
from evenhand.engine.cluster import run as run_module
from evenhand.engine.cluster import tasks
from evenhand.engine.record import Record
from evenhand.errors import (
    BudgetExceededError,
    ClusterError,
    InvalidParameterError,
    OtherRowsError,
    OutsideDomainError,
    UnwritableFileError,
)
from evenhand.privacy.ledger import Ledger
from evenhand.schema import Schema
from unit.engine.cluster._toy_engine import SCHEMA, ToyEngine, people, read, run


@pytest.fixture
def parts():
    return [people(700), people(300, start=700), people(0), people(1_000, start=1_000)]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "reports.parquet"


def reverse_rows(partitions):
    return [part.take(pa.array(np.arange(len(part))[::-1])) for part in partitions]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# --- what is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize("materialize", [True, False])
@pytest.mark.parametrize("tries", [1, 2])
def test_every_row_is_reported_once(parts, out, materialize, tries):
    made = run(ToyEngine(parts, tries=tries), out, materialize=materialize)
    expected = sorted(pa.concat_tables(parts)["id"].to_pylist())

    assert sorted(read(out)["id"].to_pylist()) == expected
    assert made.rows == 2_000


def test_three_names_stand_there_at_the_end_and_no_key(parts, out):
    run(ToyEngine(parts), out)

    assert names_in(out.parent) == [out.name, f"{out.name}.guarantee.json", f"{out.name}.schema.toml"]
    assert names_in(out) == ["part-00000.parquet"]


def test_the_record_beside_the_output_is_the_one_returned(parts, out):
    made = run(ToyEngine(parts), out)
    written = Record.from_json(made.places.record.read_bytes(), "record")

    assert written == made.record
    assert Schema.from_toml(made.places.schema.read_text()) == SCHEMA
    assert str(made.guarantee).startswith("Seeing everything one person sends")
    assert pq.read_schema(out / "part-00000.parquet").metadata[b"rng"] == b"secure"


def test_the_output_stands_in_another_order(parts, out):
    made = run(ToyEngine(parts), out)
    ids = pa.concat_tables(parts)["id"].to_pylist()

    assert read(out)["id"].to_pylist() != ids
    assert made.record.in_clear == ("id",)


def test_the_order_is_a_uniform_one_over_several_parts(parts, out, monkeypatch):
    monkeypatch.setattr(run_module, "PART_ROWS", 300)
    monkeypatch.setattr(tasks, "_SPILL_BYTES", 2_000)
    run(ToyEngine(parts), out)
    written = read(out)["id"].to_pylist()
    place = {name: number for number, name in enumerate(pa.concat_tables(parts)["id"].to_pylist())}
    places = [place[name] for name in written]

    assert len(names_in(out)) == 7
    assert sorted(places) == list(range(2_000))
    assert abs(np.corrcoef(places, range(2_000))[0, 1]) < 6.5 / np.sqrt(2_000)


def test_keep_order_keeps_it_and_says_so(parts, out):
    made = run(ToyEngine(parts), out, keep_order=True)

    assert read(out)["id"].to_pylist() == pa.concat_tables(parts)["id"].to_pylist()
    assert names_in(out) == ["part-00000.parquet", "part-00001.parquet", "part-00003.parquet"]
    assert "row order" in made.guarantee.in_clear


@pytest.mark.parametrize("keep_order", [True, False])
def test_no_rows_give_an_empty_output(out, keep_order):
    made = run(ToyEngine([people(0)] * 3), out, keep_order=keep_order)

    assert (made.rows, read(out).num_rows, read(out).column_names) == (0, 0, ["id", "sex", "job"])


def test_a_column_that_follows_the_partitions_is_said_to_give_the_order_back(out):
    """Sorting the output by it would put people back into their partitions."""
    parts = [
        people(200, start=200 * number).append_column("block", pa.array([number % 2] * 200))
        for number in range(6)
    ]
    made = run(ToyEngine(parts), out)

    assert made.follow_order == ("block",)
    assert "row order (block follows it)" in made.guarantee.in_clear


def test_a_column_that_follows_the_rows_of_a_partition_is_said_to(out):
    parts = [people(200).append_column("time", pa.array(range(200)))]

    assert run(ToyEngine(parts), out).follow_order == ("time",)


def test_nothing_in_the_clear_has_no_order_to_give_back(parts, out):
    made = run(ToyEngine(parts), out, keep=[])

    assert made.record.in_clear == ()
    assert read(out).column_names == ["sex", "job"]


# --- tasks that run again -------------------------------------------------------------------------------


@pytest.mark.parametrize("keep_order", [True, False])
def test_a_second_try_writes_the_same_bytes(parts, out, keep_order, monkeypatch):
    """Otherwise whoever saw both would have two reports of each person."""
    seen = {}
    place = tasks.put_in_place

    def remember(target):
        if target.exists():
            seen[target.name] = target.read_bytes()
        return place(target)

    monkeypatch.setattr(tasks, "put_in_place", remember)
    monkeypatch.setattr(tasks.Path, "exists", lambda path: False)  # nobody knows of an earlier try
    monkeypatch.setattr(tasks, "put_in_place", lambda target: _same_as_before(place, target, seen))
    run(ToyEngine(parts, tries=2), out, keep_order=keep_order)

    assert len(seen) == (3 if keep_order else 4)
    assert all(len(set(contents)) == 1 and len(contents) == 2 for contents in seen.values())


def _same_as_before(place, target, seen):
    from contextlib import contextmanager

    @contextmanager
    def writing():
        with place(target) as file:
            yield file
        seen.setdefault(target.name, []).append(target.read_bytes())

    return writing()


def test_rows_in_another_order_are_refused_and_nothing_is_left(parts, out):
    engine = ToyEngine(parts, change=reverse_rows)

    with pytest.raises(OtherRowsError, match="Partition 0 has other rows") as refusal:
        run(engine, out, materialize=False)
    assert refusal.value.partition == 0
    assert names_in(out.parent) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts[:-1],
        lambda parts: [*parts, people(5, start=9_000)],
        lambda parts: [parts[0], pa.concat_tables(parts[1:])],
        lambda parts: [parts[0].slice(1), *parts[1:]],
        lambda parts: [*parts[:2], people(3), *parts[3:]],
    ],
)
def test_other_partitions_are_refused(parts, out, change):
    with pytest.raises(OtherRowsError):
        run(ToyEngine(parts, change=change), out, materialize=False)
    assert names_in(out.parent) == []


@pytest.mark.parametrize("asked", [{"materialize": True}, {}])
def test_rows_that_may_change_are_kept_first(parts, out, asked):
    engine = ToyEngine(parts, change=reverse_rows, is_reproducible=False)
    made = run(engine, out, **asked)

    assert engine.passes == ["CheckTask", "DrawTask", "GatherTask"]
    assert made.rows == read(out).num_rows == 2_000


def test_the_rows_that_were_kept_are_gone_at_the_end(parts, out):
    run(ToyEngine(parts), out, materialize=True)

    assert not out.with_name(f"{out.name}.unfinished").exists()


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["x-secret", None, 5])
def test_bad_values_are_refused_once_before_the_charge(parts, out, value, tmp_path):
    ledger = Ledger(tmp_path / "spent.db", epsilon=4)
    bad = people(3)
    bad = bad.set_column(1, "sex", pa.array([value, value, value]))
    before = names_in(tmp_path)

    with pytest.raises(OutsideDomainError, match="Column 'sex' holds") as refusal:
        run(ToyEngine([*parts, bad, bad]), out, ledger=ledger)
    assert "secret" not in str(refusal.value)
    assert refusal.value.column == "sex"
    assert names_in(tmp_path) == before
    assert len(ledger.history()) == 1


@pytest.mark.parametrize(
    ("out_name", "words"),
    [
        ("r.csv", "ends with .parquet"),
        ("s3://bucket/r.parquet", "a path that the driver and every worker see"),
        ("none/r.parquet", "its folder is not there"),
    ],
)
def test_an_output_that_cannot_be_is_refused(parts, tmp_path, out_name, words):
    out = out_name if "://" in out_name else tmp_path / out_name

    with pytest.raises((InvalidParameterError, UnwritableFileError), match=words):
        run(ToyEngine(parts), out)


@pytest.mark.parametrize("choice", ["keep_order", "overwrite", "materialize"])
def test_choices_are_true_or_false(parts, out, choice):
    with pytest.raises(InvalidParameterError, match=f"'{choice}' parameter of toy.privatize must be True or"):
        run(ToyEngine(parts), out, **{choice: "no"})


def test_another_version_on_a_worker_is_refused(parts, out, monkeypatch):
    """Its reports on a second try might differ from those of the first."""
    engine = ToyEngine(parts)
    send = engine._map
    engine._map = lambda task, inputs: _at_version(monkeypatch, send, task, inputs)

    with pytest.raises(ClusterError, match=r"A worker has evenhand 9\.9, the driver"):
        run(engine, out)
    assert names_in(out.parent) == []


def _at_version(monkeypatch, send, task, inputs):
    with monkeypatch.context() as patch:
        patch.setattr(eh, "__version__", "9.9")
        return send(task, inputs)


def test_a_failing_task_tells_its_kind_and_no_more(parts, out, monkeypatch):
    def broken(*_):
        raise ValueError("secret value")

    monkeypatch.setattr(tasks, "RowOrder", broken)

    with pytest.raises(ClusterError, match=r"A task failed with ValueError\.$") as failure:
        run(ToyEngine(parts), out)
    assert failure.value.__suppress_context__
    assert names_in(out.parent) == []


def test_rows_that_are_lost_on_the_way_are_noticed(parts, out, monkeypatch):
    engine = ToyEngine(parts)
    numbers = engine.map_numbers
    monkeypatch.setattr(
        engine, "map_numbers", lambda task, wanted: [_fewer(note) for note in numbers(task, wanted)]
    )

    with pytest.raises(ClusterError, match="Toy did not report every row once"):
        run(engine, out)
    assert not out.exists()


def _fewer(note):
    return type(note)(note.number, note.rows - 1)


# --- the ledger, and runs that go on --------------------------------------------------------------------


def test_the_ledger_is_charged_once(parts, out, tmp_path):
    ledger = Ledger(tmp_path / "spent.db", epsilon=4)
    made = run(ToyEngine(parts, tries=3), out, ledger=ledger)

    assert [entry.number for entry in ledger.history()] == [1, made.charge.number]
    assert made.charge.terms["purpose"] == "reports: sex, job"


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
    assert len(ledger.history()) == 2
    assert made.charge is None
    assert sorted(read(out)["id"].to_pylist()) == sorted(pa.concat_tables(parts)["id"].to_pylist())
    assert not out.with_name(f"{out.name}.unfinished").exists()


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


# --- what is there already ------------------------------------------------------------------------------


def test_reports_that_are_there_are_replaced_only_if_told(parts, out):
    run(ToyEngine(parts), out)
    with pytest.raises(UnwritableFileError, match=r"is there already"):
        run(ToyEngine(parts[:1]), out)
    made = run(ToyEngine(parts[:1]), out, overwrite=True)

    assert made.rows == read(out).num_rows == 700
    assert json.loads(made.places.record.read_text())["rows"] == 700


def test_a_file_that_is_there_is_replaced_if_told(parts, out):
    out.write_text("old")
    run(ToyEngine(parts), out, overwrite=True)

    assert out.is_dir()


def test_a_folder_of_other_files_is_never_removed(parts, out):
    out.mkdir()
    (out / "thesis.docx").write_text("years of work")

    with pytest.raises(UnwritableFileError, match="a folder that holds other files than reports"):
        run(ToyEngine(parts), out, overwrite=True)
    assert (out / "thesis.docx").exists()


def test_what_appears_during_the_run_is_not_replaced(parts, out, monkeypatch):
    engine = ToyEngine(parts)
    numbers = engine.map_numbers

    def meanwhile(task, wanted):
        out.write_text("somebody was quicker")
        return numbers(task, wanted)

    monkeypatch.setattr(engine, "map_numbers", meanwhile)

    with pytest.raises(UnwritableFileError, match="there is something of that name by now"):
        run(engine, out)
    assert out.read_text() == "somebody was quicker"


# --- who sees what --------------------------------------------------------------------------------------


def test_a_task_shows_no_key_and_notes_hold_no_reported_value(parts, out):
    engine = ToyEngine(parts)
    notes = []
    send = engine._map
    engine._map = lambda task, inputs: notes.extend(send(task, inputs)) or notes[-len(inputs) :]
    engine.sent.clear()
    run(engine, out)
    text = " ".join(note.to_json() for note in notes)

    assert not any(word in text for word in ("nurse", "clerk", "cook"))
    assert "RunKey" not in text
