"""What stands beside a table belongs to it, unless it says what it is itself."""

import pytest

from evenhand.errors import UnwritableFileError
from evenhand.table.side_files import refuse_tables_beside, side_files


@pytest.mark.parametrize("ending", ["guarantee.json", "json", "schema.toml"])
@pytest.mark.parametrize("word", ["classes", "rates"])
def test_a_file_that_says_itself_what_it_is_is_no_side_file(tmp_path, word, ending):
    table, described = tmp_path / f"t.{word}.csv", tmp_path / f"t.{word}.csv.{ending}"
    table.touch()
    refuse_tables_beside(tmp_path / "t.csv")
    described.touch()

    with pytest.raises(UnwritableFileError, match=rf"t\.{word}\.csv, which would be replaced") as caught:
        refuse_tables_beside(tmp_path / "t.csv")
    assert described.name in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.csv.gz"])
def test_what_promises_something_is_removed_first(tmp_path, name):
    first, second, *others = [file.name for file in side_files(tmp_path / name)]

    assert {first, second} == {f"{name}.guarantee.json", f"{name}.json"}
    assert len({name, first, second, *others}) == 8
