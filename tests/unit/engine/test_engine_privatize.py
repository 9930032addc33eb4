"""A file privatised in batches: a report for everybody, clear columns as they were, nothing left behind."""

import gc
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from evenhand.collect import PROTOCOLS
from evenhand.engine import ReportPlan, drawing, shuffle
from evenhand.engine.estimates import estimate_file
from evenhand.engine.privatize import privatize_file
from evenhand.engine.row_order import _comparable
from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    LimitExceededError,
    OutsideDomainError,
    PrivacyWarning,
    UnreadableFileError,
    UnwritableFileError,
)
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, read
from unit.engine._keeping import privatize_all
from unit.engine._streams import SCHEMA, people, write

PEOPLE = people()


@pytest.fixture(params=["csv", "parquet"])
def source(request, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    return write(PEOPLE, folder / f"people.{request.param}")


@pytest.fixture
def csv(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    return write(PEOPLE, folder / "people.csv")


def _files(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def _cells(path):
    """Return the text of a CSV file as another reader has it."""
    text = gzip.decompress(path.read_bytes()) if path.name.endswith("gz") else path.read_bytes()
    return arrow_csv.read_csv(
        io.BytesIO(text),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types={"id": pa.string(), "race": pa.string(), "age": pa.string()},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


# --- what comes out -------------------------------------------------------------------------------------


def _in_order_of_input(table):
    """Return rows in the order of their ids, -0, -1, ..."""
    places = [-int(each.removeprefix("'")) for each in table["id"].to_pylist()]
    return table.take(pa.array(np.argsort(places)))


@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("out", ["reports.csv", "reports.csv.gz", "reports.parquet"])
def test_everybody_has_a_report_and_what_is_in_the_clear_is_as_it_was(source, tmp_path, out, keep_order):
    made = privatize_all(
        source, tmp_path / out, schema=SCHEMA, epsilon=2, batch_rows=300, keep_order=keep_order
    )
    table = pq.read_table(tmp_path / out) if out.endswith("parquet") else _cells(tmp_path / out)
    if not keep_order:
        assert table["id"].to_pylist() != PEOPLE["id"].to_pylist()
        table = _in_order_of_input(table)

    assert made.rows == table.num_rows == PEOPLE.num_rows
    assert table.column_names == PEOPLE.column_names
    assert table["id"].to_pylist() == PEOPLE["id"].to_pylist()
    assert table["hired"].to_pylist() == PEOPLE["hired"].to_pylist()
    notes = [None if each is None else each for each in PEOPLE["note"].to_pylist()]
    written = [each and each.removeprefix("'") for each in table["note"].to_pylist()]
    assert written == notes
    assert _files(tmp_path) == [out, f"{out}.guarantee.json", f"{out}.schema.toml"]


def test_the_reports_are_those_of_the_strategy(csv, tmp_path):
    """The slow twin: the whole table at once, with the same source, in one batch."""
    how = {"schema": SCHEMA, "epsilon": 2, "simulate": 5, "protocol": "grr"}
    made = privatize_all(csv, tmp_path / "o.parquet", keep_order=True, **how)
    privatize_all(csv, tmp_path / "s.parquet", **how)
    strategy = made.record.strategy
    table = Table.encode(read(csv, schema=SCHEMA), SCHEMA, columns=["race", "age"])
    expected = strategy.privatize(table.codes, rng=SeededSource(5))

    shuffled = _in_order_of_input(pq.read_table(tmp_path / "s.parquet"))
    for found in (pq.read_table(tmp_path / "o.parquet"), shuffled):
        for name in ("race", "age"):
            assert found[name].to_pylist() == expected[name].values.tolist()


@pytest.mark.parametrize("batch_rows", [1, 30, 100_000])
def test_the_size_of_batches_changes_nothing_but_the_draws(source, tmp_path, batch_rows):
    few = PEOPLE.slice(0, 100 if batch_rows > 1 else 12)
    write(few, source)
    made = privatize_all(source, tmp_path / "o.csv", schema=SCHEMA, epsilon=2, batch_rows=batch_rows)
    whole = privatize_all(source, tmp_path / "w.csv", schema=SCHEMA, epsilon=2)

    clear = ["id", "wage", "note", "hired"]
    one, other = (_in_order_of_input(_cells(tmp_path / name)).select(clear) for name in ("o.csv", "w.csv"))
    assert one.to_pylist() == other.to_pylist()
    assert made.record == whole.record
    assert made.schema == whole.schema


@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "optimal"])
def test_every_protocol_and_form_of_file_goes_there_and_back(csv, tmp_path, protocol, out, monkeypatch):
    """In pieces so small that each batch is cut."""
    monkeypatch.setattr("evenhand.engine.writers._PIECE_BYTES", 20_000)
    monkeypatch.setattr("evenhand.engine.counting._PIECE_BYTES", 20_000)
    for split in ("optimal", "sample"):
        how = {"epsilon": 8, "protocol": protocol, "split": split, "overwrite": True, "simulate": 3}
        privatize_file(csv, tmp_path / out, schema=SCHEMA, **how)
        found = estimate_file(tmp_path / out, simulated="allow", batch_rows=333)
        truth = [PEOPLE["race"].to_pylist().count(each) / PEOPLE.num_rows for each in SCHEMA["race"].labels]

        assert found.shares["race"].values == pytest.approx(truth, abs=0.2)
        total = found.shares["race"].n + (found.shares["age"].n if split == "sample" else 0)
        assert total == PEOPLE.num_rows


def test_combined_columns_are_reported_together(csv, tmp_path):
    for out in ("o.csv", "o.parquet"):
        made = privatize_file(csv, tmp_path / out, schema=SCHEMA, epsilon=6, strategy="combined")
        found = estimate_file(tmp_path / out)

        assert made.guarantee.epsilon == 6
        assert set(found.shares) == {"race", "age"}


def test_people_whose_value_is_outside_or_missing_report_like_everybody_else(tmp_path):
    """A row that is left out would tell what its value is; tests/attacks/test_left_out_rows.py says more."""
    table = pa.table({"age": [1, 99, 3], "id": ["a", "b", "c"], "race": ["white", "black", None]})
    path = write(table, tmp_path / "in.csv")
    schema = SCHEMA.select(["race", "age"]).with_columns(
        Column("age", Domain.integers(-5, 14), outside="other")
    )
    made = privatize_all(path, tmp_path / "o.csv", schema=schema, epsilon=1)

    assert made.rows == 3
    assert sorted(_cells(tmp_path / "o.csv")["id"].to_pylist()) == ["a", "b", "c"]


def test_a_file_of_nobody_has_everything_but_rows(tmp_path):
    path = write(PEOPLE.slice(0, 0), tmp_path / "in.csv")
    for out in ("o.csv", "o.parquet"):
        made = privatize_file(path, tmp_path / out, schema=SCHEMA, epsilon=1, protocol="olh")

        assert made.rows == 0
        assert estimate_file(tmp_path / out).shares["race"].n == 0


def test_hashed_reports_are_three_columns_of_a_parquet_file(csv, tmp_path):
    privatize_all(
        csv, tmp_path / "o.parquet", schema=SCHEMA, epsilon=1, protocol={"race": "olh", "age": "grr"}
    )

    names = pq.read_schema(tmp_path / "o.parquet").names
    assert names == ["id", "race.multiplier", "race.offset", "race.value", "age", "wage", "note", "hired"]


def test_a_column_called_like_a_part_of_a_report_is_refused(tmp_path):
    table = PEOPLE.append_column("race.value", PEOPLE["note"])
    path = write(table, tmp_path / "in.parquet")

    with pytest.raises(InvalidParameterError, match=r"race\.value"):
        privatize_all(path, tmp_path / "o.parquet", schema=SCHEMA, epsilon=1, protocol="olh")
    assert _files(tmp_path) == ["in.parquet"]


def test_long_lists_of_values_are_written_out_in_pieces(tmp_path, monkeypatch):
    """Text that a file stores once and repeats a million times must not be in memory a million times."""
    monkeypatch.setattr(drawing, "EXPANDED_BYTES", 10_000)
    monkeypatch.setattr(shuffle, "MOST_BYTES", 5_000)
    monkeypatch.setattr(shuffle, "GROUP_BYTES", 5_000)
    table = pa.table({"race": ["white"] * 64, "long": pa.array(["x" * 1_000, None] * 32).dictionary_encode()})
    path = write(table, tmp_path / "in.parquet")
    for keep_order in (True, False):
        for out in ("o.csv", "o.parquet"):
            how = {"epsilon": 1, "keep_order": keep_order, "overwrite": True}
            privatize_all(path, tmp_path / out, schema=SCHEMA.select(["race"]), **how)
        found = [pq.read_table(tmp_path / "o.parquet")["long"], _cells(tmp_path / "o.csv")["long"]]

        assert pq.ParquetFile(tmp_path / "o.parquet").metadata.num_row_groups >= 4
        for column in found:
            texts, expected = column.to_pylist(), table["long"].to_pylist()
            assert (texts == expected) is keep_order
            assert sorted(texts, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("keep_order", [True, False])
def test_a_list_of_long_values_takes_memory_of_a_piece(tmp_path, monkeypatch, kind, keep_order):
    monkeypatch.setattr(drawing, "EXPANDED_BYTES", 1 << 20)
    monkeypatch.setattr(shuffle, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(shuffle, "GROUP_BYTES", 1 << 20)
    texts = pa.array([letter.encode() * 1_000 for letter in "cab"]).cast(kind)
    column = pa.DictionaryArray.from_arrays(pa.array(np.arange(60_000) % 3, pa.int32()), texts)
    path = write(pa.table({"race": ["white"] * 60_000, "long": column}), tmp_path / "in.parquet")
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        how = {"schema": SCHEMA.select(["race"]), "epsilon": 1, "keep_order": keep_order}
        privatize_file(path, tmp_path / "o.parquet", **how)
    finally:
        pa.set_memory_pool(before)

    assert pool.max_memory() < 20 << 20  # of 60 million bytes
    assert pq.ParquetFile(tmp_path / "o.parquet").metadata.num_rows == 60_000


@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([3_000_000, 2_932_897, 5, 3] * 100, pa.date32()),
        pa.array([2**62, 7] * 200, pa.timestamp("us")),
        pa.array([2**62, 7] * 200, pa.duration("s")),
        pa.array(["some text that is longer than twelve bytes", None] * 200, pa.string_view()),
        pa.array([b"some bytes", None] * 200).cast(pa.binary_view()),
        pa.nulls(400),
    ],
    ids=lambda column: str(column.type) if isinstance(column, pa.Array) else column,
)
def test_columns_of_any_type_are_passed_on_or_refused_in_words(tmp_path, column, out):
    """Python has no dates after the year 9999, and Arrow can hardly do anything with views."""
    path = write(pa.table({"race": ["white"] * 400, "clear": column}), tmp_path / "in.parquet")
    how = {"schema": SCHEMA.select(["race"]), "epsilon": 1}
    if out == "o.csv" and str(column.type) in {"duration[s]", "binary_view"}:
        with pytest.raises(InvalidParameterError, match="must be columns of text, numbers"):
            privatize_all(path, tmp_path / out, **how)
        return
    made = privatize_all(path, tmp_path / out, **how)

    assert made.rows == 400
    assert made.follow_order == (() if str(column.type) == "null" else ("clear",))  # values that take turns
    if out == "o.parquet":
        found = pq.read_table(tmp_path / out)["clear"].combine_chunks()
        told, given = (_comparable(values).to_pylist() for values in (found, column))
        assert sorted(told, key=str) == sorted(given, key=str)


# --- what is promised -----------------------------------------------------------------------------------


def test_the_guarantee_is_that_of_a_person_and_names_what_is_in_the_clear(csv, tmp_path):
    made = privatize_all(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon="1/2")
    said = json.loads((tmp_path / "o.csv.guarantee.json").read_text())

    assert said["guarantee"]["epsilon"] == "1/2"
    assert (said["guarantee"]["unit"], said["guarantee"]["trust"]) == ("one person", "local")
    assert said["guarantee"]["protects"] == ["race", "age"]
    assert said["linkable"] == {"unique_share": 1.0, "is_sampled": False}
    links = "linkable rows (100 % are unique on these columns)"
    clear = [
        "id",
        "wage",
        "note",
        "hired",
        links,
        "row order (id gives it back)",
        "row order (note is associated with it)",
    ]
    assert said["in_clear"] == said["guarantee"]["in_clear"] == clear
    assert said["rows"] == 1_000
    assert said["schema"] == Schema.load(tmp_path / "o.csv.schema.toml").fingerprint
    assert str(made.guarantee) == said["statement"]


def test_only_reports_leaves_the_rest_out(csv, tmp_path):
    made = privatize_file(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon=1, keep=())

    assert made.left_out == ("id", "wage", "note", "hired")
    assert made.schema.names == ("race", "age")
    assert (tmp_path / "o.csv").read_text().startswith("race,age\n")


def test_a_seed_marks_every_file_as_simulated(csv, tmp_path):
    """Whoever finds one of the files must see that nobody's privacy is kept by it."""
    made = privatize_file(csv, tmp_path / "o.parquet", schema=SCHEMA, epsilon=1, simulate=7)

    assert made.guarantee is None
    assert json.loads((tmp_path / "o.parquet.guarantee.json").read_text())["simulated"] is True
    assert (tmp_path / "o.parquet.schema.toml").read_text().startswith("# Beside simulated reports")
    assert pq.read_schema(tmp_path / "o.parquet").metadata[b"rng"] == b"seeded"


def test_the_same_seed_gives_the_same_bytes(csv, tmp_path):
    for out in ("a.parquet", "b.parquet", "a.csv", "b.csv", "a.csv.gz", "b.csv.gz"):
        privatize_file(csv, tmp_path / out, schema=SCHEMA, epsilon=1, simulate=7, batch_rows=300)

    for form in ("parquet", "csv", "csv.gz"):
        assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


def test_a_weak_guarantee_is_warned_of(csv, tmp_path):
    with pytest.warns(PrivacyWarning):
        privatize_file(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon=11)


def test_progress_is_told(csv, tmp_path):
    seen = []
    privatize_file(
        csv,
        tmp_path / "o.csv",
        schema=SCHEMA,
        epsilon=1,
        batch_rows=400,
        progress=lambda *told: seen.append(told),
    )

    assert [rows for rows, _ in seen] == [400, 800, 1_000]
    assert seen[-1][1] == 1.0


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ({"wage": [1.0, 99.0]}, OutsideDomainError),
        ({"wage": [1.0, None]}, OutsideDomainError),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_after_an_error_in_the_last_row_nothing_is_left_behind(tmp_path, broken, error, form):
    table = pa.table({"id": range(502), "wage": [1.0] * 500 + broken["wage"]})
    path = write(table, tmp_path / f"in.{form}")
    schema = SCHEMA.select(["wage"]).with_roles(sensitive="wage")

    with pytest.raises(error) as caught:
        privatize_file(path, tmp_path / "o.csv", schema=schema, epsilon=1, batch_rows=100)
    assert "99" not in str(caught.value)
    assert "501" not in str(caught.value)
    assert _files(tmp_path) == [f"in.{form}"]


@pytest.mark.parametrize("out", ["o.csv", "o.csv.gz", "o.parquet"])
def test_a_full_disk_is_said_and_nothing_is_left_behind(csv, tmp_path, out, monkeypatch):
    """Nor does anything speak up later, when the writer is thrown away."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evenhand.engine.writers.ParquetOut.write", full)
    monkeypatch.setattr("evenhand.engine.writers.CsvOut.write", full)
    with pytest.raises(UnwritableFileError, match=f"{out} was not written: the disk is full"):
        privatize_file(csv, tmp_path / out, schema=SCHEMA, epsilon=1)
    gc.collect()
    assert _files(tmp_path) == []


def test_an_error_leaves_old_files_as_they_were(csv, tmp_path):
    privatize_file(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon=1)
    before = {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)}
    with csv.open("a") as file:
        file.write("too,few\n")

    with pytest.raises(UnreadableFileError, match="has 2 fields"):
        privatize_file(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon=1, overwrite=True)
    assert {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)} == before


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"schema": "schema.toml"}, InvalidParameterError),
        ({"epsilon": 0}, InvalidParameterError),
        ({"epsilon": "much"}, InvalidParameterError),
        ({"protocol": "xyz"}, KeyError),
        ({"columns": ["gone"]}, ColumnNotFoundError),
        ({"simulate": -1}, InvalidParameterError),
        ({"batch_rows": 0}, InvalidParameterError),
        ({"keep_order": "no"}, InvalidParameterError),
    ],
)
def test_wrong_use_is_refused_before_anything_is_written(csv, tmp_path, change, error):
    with pytest.raises(error):
        privatize_file(csv, tmp_path / "o.csv", **{"schema": SCHEMA, "epsilon": 1} | change)
    assert _files(tmp_path) == []


def test_files_are_not_written_over_and_the_input_never_is(csv, tmp_path):
    privatize_file(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon=1)

    with pytest.raises(UnwritableFileError, match="there is a file of that name"):
        privatize_file(csv, tmp_path / "o.csv", schema=SCHEMA, epsilon=1)
    with pytest.raises(InvalidParameterError, match="another file than the input"):
        privatize_file(csv, csv, schema=SCHEMA, epsilon=1, overwrite=True)
    with pytest.raises(InvalidParameterError, match="'out' parameter of privatize_file"):
        privatize_file(csv, tmp_path / "o.xlsx", schema=SCHEMA, epsilon=1)


def test_a_column_in_the_clear_that_csv_cannot_hold_is_refused(tmp_path):
    path = write(pa.table({"race": ["white"], "photo": [b"x"]}), tmp_path / "in.parquet")

    with pytest.raises(InvalidParameterError, match="column 'photo' of another type"):
        privatize_all(path, tmp_path / "o.csv", schema=SCHEMA.select(["race"]), epsilon=1)
    assert _files(tmp_path) == ["in.parquet"]


def test_a_nested_column_that_is_left_out_does_no_harm(tmp_path):
    path = write(pa.table({"race": ["white"], "tags": [["x"]]}), tmp_path / "in.parquet")
    made = privatize_file(path, tmp_path / "o.csv", schema=SCHEMA.select(["race"]), epsilon=1, keep=())

    assert made.rows == 1


@pytest.mark.parametrize("protocol", ["oue", pytest.param("ss", marks=pytest.mark.figures)])
def test_reports_too_long_for_a_csv_file_are_refused_before_anything_is_drawn(tmp_path, protocol):
    """Otherwise a file would be written that nobody can read, and people's budget spent on it."""
    column = Column("code", Domain.integers(0, 99_999))
    schema = Schema([column], sensitive="code")
    path = write(pa.table({"code": [5, 7]}), tmp_path / "in.csv")

    with pytest.raises(LimitExceededError, match="Hint: write a Parquet file"):
        privatize_file(path, tmp_path / "o.csv", schema=schema, epsilon=1, protocol=protocol)
    privatize_file(path, tmp_path / "o.parquet", schema=schema, epsilon=1, protocol=protocol)
    assert estimate_file(tmp_path / "o.parquet").shares["code"].n == 2
    assert not (tmp_path / "o.csv").exists()


def test_a_large_domain_is_reported_without_a_list_of_it(tmp_path):
    domain = Column("code", Domain.integers(0, 10**8), outside="other")
    path = write(pa.table({"code": [5, 10**8, -1]}), tmp_path / "in.csv")
    privatize_file(path, tmp_path / "o.csv", schema=Schema([domain], sensitive="code"), epsilon=1)

    cells = (tmp_path / "o.csv").read_text().split()[1:]
    assert all(each == "other" or 0 <= int(each) <= 10**8 for each in cells)


def test_a_report_that_cannot_be_drawn_is_refused_before_a_ledger_is_charged(tmp_path):
    """If this is false, people have paid for reports that nobody can draw."""
    schema = Schema([Column("town", Domain.integers(0, 2**27))], sensitive="town")
    path = write(pa.table({"town": [1, 2, 3]}), tmp_path / "towns.parquet")
    ledger = Ledger(tmp_path / "ledger.db", epsilon=30, unit="one person")
    options = {"schema": schema, "epsilon": 25, "protocol": "ss"}
    with pytest.raises(LimitExceededError, match="a deck of"):
        privatize_file(path, tmp_path / "out.parquet", ledger=ledger, **options)
    with pytest.raises(LimitExceededError, match="a deck of"):
        ReportPlan.make(pa.schema([("town", pa.int64())]), **options)

    assert [entry.kind for entry in ledger.history()] == ["open"]
