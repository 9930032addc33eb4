"""Folders and patterns: which files they stand for, in which order, and what is refused among them."""

import os

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evenhand.errors import UnreadableFileError
from evenhand.table.parts import find_parts, names_several
from evenhand.table.read import ENDINGS, file_columns, open_batches, read_batches


def write(folder, name, **columns):
    """Write a small file of the form that its name says."""
    table = pa.table(columns or {"sex": ["f", "m"], "age": [1, 2]})
    if name.endswith(".csv"):
        pa.csv.write_csv(table, folder / name)
    else:
        pq.write_table(table, folder / name)
    return folder / name


def names(path):
    return [file.name for file in find_parts(path, endings=ENDINGS).files]


def test_files_come_in_the_order_of_their_names_as_bytes(tmp_path):
    """If this is false, two machines read the same folder in two orders."""
    for name in ("b.parquet", "a.parquet", "part-10.parquet", "B.parquet", "é.parquet"):
        write(tmp_path, name)
    for name in ("_SUCCESS", "notes.txt.md", "a.parquet.guarantee.json", ".DS_Store"):
        (tmp_path / name).write_text("x")

    expected = ["B.parquet", "a.parquet", "b.parquet", "part-10.parquet", "é.parquet"]
    assert names(tmp_path) == expected
    assert names(str(tmp_path / "*.parquet")) == expected
    assert names(str(tmp_path / "[ab].parquet")) == ["a.parquet", "b.parquet"]


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    path = write(tmp_path, "a[1].parquet")

    assert not names_several(path)
    assert not names_several(3)
    assert not names_several("a\0*")
    assert find_parts(path, endings=ENDINGS).is_alone


def test_patterns_go_through_folders(tmp_path):
    for year in ("2025", "2026"):
        (tmp_path / year).mkdir()
        write(tmp_path / year, "p.parquet")

    assert len(find_parts(str(tmp_path / "*" / "*.parquet"), endings=ENDINGS)) == 2
    assert len(find_parts(str(tmp_path / "**" / "*.parquet"), endings=ENDINGS)) == 2
    with pytest.raises(UnreadableFileError, match="it has folders in it"):
        find_parts(tmp_path, endings=ENDINGS)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("b.parquet.tmp", "is being written"),
        (".b.parquet.a1b2c3d4.evenhand.part", "is being written"),
        (".b.parquet", "is hidden"),
        ("_b.parquet", "is hidden"),
    ],
)
def test_hidden_and_unfinished_files_are_refused(tmp_path, name, why):
    """If this is false, half a file counts as a whole one."""
    write(tmp_path, "a.parquet")
    (tmp_path / name).write_bytes(b"")

    with pytest.raises(UnreadableFileError, match=why):
        find_parts(tmp_path, endings=ENDINGS)


def test_links_out_of_the_folder_and_double_names_are_refused(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    write(inside, "a.parquet")
    secret = write(outside, "secret.parquet")

    (inside / "b.parquet").symlink_to(secret)
    with pytest.raises(UnreadableFileError, match="leads out of the folder"):
        find_parts(inside, endings=ENDINGS)
    with pytest.raises(UnreadableFileError, match="leads out of the folder"):
        find_parts(str(inside / "*.parquet"), endings=ENDINGS)
    (inside / "b.parquet").unlink()
    (inside / "b.parquet").symlink_to(inside / "none.parquet")
    with pytest.raises(UnreadableFileError, match="leads nowhere"):
        find_parts(inside, endings=ENDINGS)
    (inside / "b.parquet").unlink()
    os.link(inside / "a.parquet", inside / "b.parquet")
    with pytest.raises(UnreadableFileError, match="of one file"):
        find_parts(inside, endings=ENDINGS)


def test_folders_without_files_of_rows_are_refused(tmp_path):
    (tmp_path / "_temporary").mkdir()

    with pytest.raises(UnreadableFileError, match="are being written"):
        find_parts(tmp_path, endings=ENDINGS)
    (tmp_path / "_temporary").rmdir()
    with pytest.raises(UnreadableFileError, match="no file of it has rows"):
        find_parts(tmp_path, endings=ENDINGS)
    with pytest.raises(UnreadableFileError, match="no file has a name that this pattern stands for"):
        find_parts(str(tmp_path / "*.parquet"), endings=ENDINGS)
    (tmp_path / "x.parquet").mkdir()
    with pytest.raises(UnreadableFileError, match="a folder has a name"):
        find_parts(str(tmp_path / "*.parquet"), endings=ENDINGS)


def test_rows_of_all_files_are_read_one_file_after_the_other(tmp_path):
    write(tmp_path, "1.parquet", sex=["f"], age=[1])
    write(tmp_path, "2.parquet", sex=pa.array([], pa.string()), age=pa.array([], pa.int64()))
    write(tmp_path, "3.parquet", sex=["m", "f"], age=[2, 3])

    assert file_columns(tmp_path) == ("sex", "age")
    with open_batches(tmp_path) as batches:
        shares, ages = [], []
        for batch in batches:
            shares.append(batches.share_read)
            ages += batch["age"].to_pylist()
    assert ages == [1, 2, 3]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1
    assert batches.share_read == 1


def test_csv_parts_are_read_as_the_first_is_written(tmp_path):
    (tmp_path / "1.csv").write_text("sex;age\nf;1\n")
    (tmp_path / "2.csv").write_text("sex;age\nm;2\n")

    assert [batch["sex"].to_pylist() for batch in read_batches(tmp_path)] == [["f"], ["m"]]


def test_other_columns_forms_and_no_rows_are_refused(tmp_path):
    write(tmp_path, "1.parquet")
    write(tmp_path, "2.parquet", sex=["f"], age=["1"])

    with pytest.raises(UnreadableFileError, match=r"2.parquet was not read: its columns are not those of 1"):
        list(read_batches(tmp_path))
    write(tmp_path, "2.parquet", age=[1], sex=["f"])
    with pytest.raises(UnreadableFileError, match="in name, order and type"):
        list(read_batches(tmp_path))
    (tmp_path / "2.parquet").unlink()
    write(tmp_path, "3.csv")
    with pytest.raises(UnreadableFileError, match="text files and Parquet files"):
        list(read_batches(tmp_path))
    empty = tmp_path / "empty"
    empty.mkdir()
    for place in range(3):
        write(empty, f"{place}.parquet", sex=pa.array([], pa.string()))
    with pytest.raises(UnreadableFileError, match="columns and no rows"):
        list(read_batches(empty))
    (empty / "1.parquet").write_bytes(b"")
    with pytest.raises(UnreadableFileError, match=r"1.parquet was not read"):
        list(read_batches(empty))
