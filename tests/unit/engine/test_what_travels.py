"""What a file of reports holds besides reports and columns in the clear, one by one, as the docs list it."""

import gzip
import stat

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.engine import shuffle
from evenhand.engine.privatize import privatize_file
from evenhand.errors import UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from unit.engine._keeping import privatize_all

SCHEMA = Schema([Column("race", Domain.categorical(["white", "black"]))], sensitive="race")
ROWS = 400
CLEAR = np.random.default_rng(7).permutation(ROWS)


def _people(**beside):
    return pa.table(
        {"race": ["white", "black"] * (ROWS // 2), "home": [f"h{each}" for each in CLEAR], **beside}
    )


def _privatized(table, folder, out="o.parquet", **how):
    source = folder / "in.parquet"
    if isinstance(table, pa.Table):
        pq.write_table(table, source)
    else:
        source.write_bytes(table)
    privatize_all(source, folder / out, schema=SCHEMA, epsilon=1, **how)
    return folder / out


# --- what Arrow and Parquet say beside the rows ---------------------------------------------------------


@pytest.mark.parametrize("keep_order", [False, True])
def test_metadata_of_the_input_does_not_travel(tmp_path, keep_order):
    """pandas writes the index, or how to make it, into the metadata of a schema."""
    table = _people().replace_schema_metadata({"pandas": '{"index": "secret"}', "author": "secret"})
    field = table.schema.field("home").with_metadata({"source": "secret"})
    table = table.cast(pa.schema([table.schema.field("race"), field], metadata=table.schema.metadata))
    out = _privatized(table, tmp_path, keep_order=keep_order)
    read = pq.read_schema(out)

    assert b"secret" in (tmp_path / "in.parquet").read_bytes()
    assert set(read.metadata) == {b"format", b"rng", b"guarantee_sha256"}
    assert [each.metadata for each in read] == [None, None]
    assert b"secret" not in out.read_bytes()


def test_an_index_of_pandas_is_a_column_like_any_other(tmp_path):
    frame = pd.DataFrame({"race": ["white", "black"]}, index=pd.Index([7, 3], name="person"))
    frame.to_parquet(tmp_path / "in.parquet")
    made = privatize_all(tmp_path / "in.parquet", tmp_path / "o.parquet", schema=SCHEMA, epsilon=1)

    assert made.in_clear == ("person",)
    assert pd.read_parquet(tmp_path / "o.parquet").index.equals(pd.RangeIndex(2))


def test_types_of_an_extension_are_refused(tmp_path):
    kept = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * ROWS, pa.binary(16)))

    with pytest.raises(UnreadableFileError, match="a type of its own, which are not read"):
        _privatized(_people(number=kept), tmp_path)


def _lists_of_values(path, column):
    file = pq.ParquetFile(path, read_dictionary=[column])
    groups = [file.read_row_group(group)[column] for group in range(file.num_row_groups)]
    return [chunk.dictionary.to_pylist() for group in groups for chunk in group.chunks]


@pytest.mark.parametrize("keep_order", [False, True])
def test_no_value_travels_that_only_other_rows_had(tmp_path, keep_order):
    """Whoever filters a table keeps its lists of values, those of the people who were left out among them."""
    values = pa.DictionaryArray.from_arrays(pa.array([0, 2] * (ROWS // 2)), pa.array(["a", "secret", "b"]))
    out = _privatized(_people(town=values), tmp_path, keep_order=keep_order)

    assert _lists_of_values(tmp_path / "in.parquet", "town") == [["a", "secret", "b"]]  # so the test can see
    assert [sorted(each) for each in _lists_of_values(out, "town")] == [["a", "b"]]


def test_the_order_in_which_values_came_first_does_not_travel(tmp_path):
    """The list of a column in the clear would begin with the first rows of the input."""
    out = _privatized(_people(), tmp_path)
    first = [value for each in _lists_of_values(out, "home") for value in each]
    in_file = pq.read_table(out)["home"].to_pylist()

    assert _lists_of_values(tmp_path / "in.parquet", "home") == [_people()["home"].to_pylist()]
    assert first == in_file
    assert first != _people()["home"].to_pylist()


@pytest.mark.parametrize("keep_order", [False, True])
def test_no_statistics_indexes_or_filters_are_written(tmp_path, keep_order):
    given = pq.read_metadata(_written(_people(), tmp_path)).row_group(0).column(1)
    out = _privatized(_people(), tmp_path, keep_order=keep_order)
    metadata = pq.read_metadata(out)
    columns = [metadata.row_group(0).column(place) for place in range(metadata.num_columns)]

    assert given.statistics is not None
    for column in columns:
        assert column.statistics is None
        assert not column.has_column_index
        assert not column.has_offset_index
        assert column.geo_statistics is None


def _written(table, folder):
    pq.write_table(table, folder / "with.parquet", write_page_index=True)
    return folder / "with.parquet"


def test_groups_of_rows_do_not_follow_those_of_the_input(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.engine.drawing.BATCH_ROWS", 150)
    sizes = []
    for name, cut in (("a", 37), ("b", 100), ("c", ROWS)):
        (tmp_path / name).mkdir()
        pq.write_table(_people(), tmp_path / name / "in.parquet", row_group_size=cut)
        bytes_in = (tmp_path / name / "in.parquet").read_bytes()
        metadata = pq.read_metadata(_privatized(bytes_in, tmp_path / name, batch_rows=cut))
        sizes.append([metadata.row_group(place).num_rows for place in range(metadata.num_row_groups)])

    assert sizes == [[150, 150, 100]] * 3


# --- text -----------------------------------------------------------------------------------------------


def test_quotation_marks_of_the_input_do_not_travel(tmp_path):
    lines = []
    for name, mark in (("plain", ""), ("quoted", '"')):
        cells = [
            f"{mark}{race}{mark},{mark}x{place}{mark}\n" for place, race in enumerate(["white", "black"] * 9)
        ]
        (tmp_path / f"{name}.csv").write_text("race,home\n" + "".join(cells))
        out = tmp_path / f"{name}-out.csv"
        privatize_all(tmp_path / f"{name}.csv", out, schema=SCHEMA, epsilon=1)
        lines.append(sorted(line.split(",")[1] for line in out.read_text().splitlines()[1:]))

    assert lines[0] == lines[1] == sorted(f"x{place}" for place in range(18))


def test_numbers_in_the_clear_are_written_as_they_stood(tmp_path):
    (tmp_path / "in.csv").write_text("race,wage\nwhite,1.0\nblack,1\nwhite,01\n")
    privatize_all(tmp_path / "in.csv", tmp_path / "o.csv", schema=SCHEMA, epsilon=1)

    wages = [line.split(",")[1] for line in (tmp_path / "o.csv").read_text().splitlines()[1:]]
    assert sorted(wages) == ["01", "1", "1.0"]


def test_nan_and_no_value_look_alike_in_a_csv_file(tmp_path):
    table = pa.table({"race": ["white"] * 3, "wage": pa.array([1.5, None, float("nan")])})
    out = _privatized(table, tmp_path, out="o.csv")

    wages = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert sorted(wages) == ["", "", "1.5"]


# --- the file itself ------------------------------------------------------------------------------------


def test_neither_a_time_nor_a_name_stands_in_a_gzipped_file(tmp_path):
    out = _privatized(_people(), tmp_path, out="o.csv.gz")
    head = out.read_bytes()[:10]

    assert head[3] == 0  # no name, no comment, no extra field
    assert head[4:8] == bytes(4)
    assert gzip.decompress(out.read_bytes()).startswith(b"race,home\n")


def test_a_file_has_the_permissions_of_any_new_one(tmp_path):
    (tmp_path / "any").touch()
    expected = stat.S_IMODE((tmp_path / "any").stat().st_mode)
    out = _privatized(_people(), tmp_path)

    assert stat.S_IMODE(out.stat().st_mode) == expected


def test_files_that_replace_others_have_their_permissions(tmp_path):
    """Whoever hid an old file from others has not shown them the new one."""
    modes = {"o.csv": 0o600, "o.csv.schema.toml": 0o640, "o.csv.guarantee.json": 0o604}
    for name, mode in modes.items():
        (tmp_path / name).touch(mode=mode)
        (tmp_path / name).chmod(mode)
    _privatized(_people(), tmp_path, out="o.csv", overwrite=True)

    assert {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in modes} == modes


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_no_true_value_is_on_the_disk_while_rows_are_shuffled(tmp_path, monkeypatch, form):
    """The file of buckets is read by whoever takes the disk out; it holds what the output holds."""
    schema = Schema([Column("race", Domain.categorical(["true-white", "true-black"]))], sensitive="race")
    table = pa.table({"race": ["true-white", "true-black"] * 200, "home": ["in-clear"] * 400})
    pq.write_table(table, tmp_path / "in.parquet")
    monkeypatch.setattr(shuffle, "MOST_ROWS", 100)
    seen = []
    close = shuffle.Shuffle.__exit__

    def look(self, *given):
        if self._file is not None:
            self._file.seek(0)
            seen.append(self._file.read())
        close(self, *given)

    monkeypatch.setattr(shuffle.Shuffle, "__exit__", look)
    privatize_all(tmp_path / "in.parquet", tmp_path / f"o.{form}", schema=schema, epsilon=1, protocol="oue")

    assert b"in-clear" in seen[-1]
    assert not any(b"true-" in each for each in seen)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_name_of_the_input_stands_nowhere_in_what_is_written(tmp_path, form):
    """A file may be named after what it holds, such as the people who were arrested."""
    pq.write_table(_people(), tmp_path / "arrested.parquet")
    out = tmp_path / "out"
    out.mkdir()
    privatize_file(tmp_path / "arrested.parquet", out / f"given.{form}", schema=SCHEMA, epsilon=1)

    assert f"given.{form}" in {path.name for path in out.iterdir()}
    assert [path.name for path in out.iterdir() if "arrested" in path.name] == []
    assert [path.name for path in out.iterdir() if b"arrested" in path.read_bytes()] == []


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_number_of_rows_is_that_of_the_input(tmp_path, form):
    """It is public: nobody is added, and nobody is left out."""
    out = _privatized(_people(), tmp_path, out=f"o.{form}")
    rows = len(out.read_text().splitlines()) - 1 if form == "csv" else pq.read_metadata(out).num_rows

    assert rows == ROWS
