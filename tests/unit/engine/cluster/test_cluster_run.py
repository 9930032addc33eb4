"""A run on a cluster: whole or not at all, charged once, each row reported once, the key gone at the end."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenhand as eh
from evenhand.engine.cluster import run as run_module
from evenhand.engine.cluster import tasks
from evenhand.engine.record import Record
from evenhand.errors import (
    ClusterError,
    InvalidParameterError,
    OtherRowsError,
    OutsideDomainError,
    UnwritableFileError,
)
from evenhand.privacy.ledger import Ledger
from evenhand.schema import Schema
from unit.engine.cluster._toy_engine import SCHEMA, ToyEngine, names_in, people, read, run


def reverse_rows(partitions):
    return [part.take(pa.array(np.arange(len(part))[::-1])) for part in partitions]


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
    assert made.record.in_clear == ("id", "linkable rows (100 % are unique on these columns)")


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


def test_a_column_that_follows_the_partitions_is_said_to_be_associated_with_the_order(out):
    """Sorting the output by it would put people back into some of their partitions."""
    parts = [
        people(200, start=200 * number).append_column("block", pa.array([number % 2] * 200))
        for number in range(6)
    ]
    made = run(ToyEngine(parts), out)

    assert made.follow_order == ("block",)
    assert "row order (block is associated with it)" in made.guarantee.in_clear


def test_a_column_that_follows_the_rows_of_a_partition_is_said_to(out):
    parts = [people(200).append_column("time", pa.array(range(200)))]

    assert run(ToyEngine(parts), out).order_relations == {"time": "gives it back"}


@pytest.mark.parametrize(("step", "said"), [(200, "gives it back"), (0, "is associated with it")])
def test_a_column_gives_the_order_back_only_among_partitions_and_within_them(out, step, said):
    """A time that begins anew in every partition does not say in which of them a person was."""
    parts = [
        people(200).append_column("time", pa.array(range(step * part, step * part + 200)))
        for part in range(6)
    ]

    assert run(ToyEngine(parts), out).order_relations == {"time": said}


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
