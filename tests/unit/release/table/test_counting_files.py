"""Tables counted from files, folders and patterns are those counted from a frame."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evenhand.errors import OutsideDomainError, UnreadableFileError
from evenhand.release import Histogram
from evenhand.release.table import counting, files
from evenhand.schema import Column, Domain, Schema
from evenhand.table import FileFormat

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"])),
        Column("age", Domain.integers(0, 9), nulls="drop"),
    ]
)


def people(rows, seed):
    draw = np.random.default_rng(seed)
    age = pa.array(draw.integers(0, 10, rows), mask=draw.random(rows) < 0.1)
    return pa.table(
        {"sex": np.array(["f", "m"])[draw.integers(0, 2, rows)], "age": age, "who": np.arange(rows) % 7}
    )


@pytest.fixture
def folder(tmp_path):
    for place in range(3):
        pq.write_table(people(500, place), tmp_path / f"{place}.parquet")
    return tmp_path


def whole(folder):
    return pa.concat_tables([pq.read_table(file) for file in sorted(folder.glob("*.parquet"))])


@pytest.mark.parametrize("path", ["0.parquet", "", "*.parquet"])
def test_a_path_is_counted_as_its_rows_are(folder, path):
    rows = pq.read_table(folder / path) if path.startswith("0") else whole(folder)

    counted = Histogram.count(str(folder / path), SCHEMA)

    assert counted.counts.tolist() == Histogram.count(rows, SCHEMA).counts.tolist()
    assert counted.may_drop == ("age",)


def test_filled_cells_alone_are_counted_of_large_tables(folder, monkeypatch):
    for module in (counting, files):
        monkeypatch.setattr(module, "MOST_CELLS", 5)
    monkeypatch.setattr("evenhand.release.table.histogram.MOST_CELLS", 5)

    counted, expected = Histogram.count(folder, SCHEMA), Histogram.count(whole(folder), SCHEMA)

    assert counted.is_sparse
    assert counted.cells.tolist() == expected.cells.tolist()
    assert counted.filled.tolist() == expected.filled.tolist()


def test_tables_of_more_cells_than_rows_are_counted(folder):
    schema = Schema([Column("age", Domain.integers(0, 5_000), nulls="other"), SCHEMA["sex"]])

    counted = Histogram.count(folder, schema)

    assert counted.counts.tolist() == Histogram.count(whole(folder), schema).counts.tolist()


def test_rows_of_one_person_are_found_in_all_files(folder):
    """If this is false, a person in two files counts twice, and the noise is too small."""
    schema = SCHEMA.with_roles(person="who")

    counted = Histogram.count(folder, schema, rng=1)

    assert counted.people <= 7
    assert counted.counts.tolist() == Histogram.count(whole(folder), schema, rng=1).counts.tolist()


def test_text_files_are_read_as_they_are_said_to_be_written(tmp_path):
    (tmp_path / "a.csv").write_text("sex|age\nf|1\nm|2\n")

    counted = Histogram.count(tmp_path / "a.csv", SCHEMA, file_format=FileFormat(delimiter="|"))

    assert counted.people == 2


def test_values_outside_are_refused_without_a_value(folder):
    pq.write_table(pa.table({"sex": ["x"], "age": [1], "who": [1]}), folder / "9.parquet")

    with pytest.raises(OutsideDomainError, match="outside its declared domain") as refused:
        Histogram.count(folder, SCHEMA)
    assert "'x'" not in str(refused.value)
    pq.write_table(pa.table({"sex": [1], "age": [1], "who": [1]}), folder / "9.parquet")
    with pytest.raises(UnreadableFileError, match="in name, order and type"):
        Histogram.count(folder, SCHEMA)
