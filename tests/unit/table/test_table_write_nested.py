import pytest

from evenhand.errors import UnwritableFileError
from evenhand.table.write import replacing


def test_an_error_that_says_why_keeps_saying_it_and_the_old_file_stays(tmp_path):
    """A file that is written while another is must not turn "the disk is full" into something vaguer."""
    path = tmp_path / "table.csv"
    path.write_text("old")

    with pytest.raises(UnwritableFileError, match="the disk is full"), replacing(path):
        raise UnwritableFileError("other.csv was not written: the disk is full.")

    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]


def test_a_file_below_a_file_is_refused_as_any_other(tmp_path):
    (tmp_path / "plain").write_text("x")

    with (
        pytest.raises(UnwritableFileError, match="its folder is not there"),
        replacing(tmp_path / "plain" / "t"),
    ):
        pass
