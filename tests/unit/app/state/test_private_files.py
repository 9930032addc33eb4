"""Files that are replaced as a whole: whoever reads one sees the old text or the new, and never a part."""

import os
import stat
from pathlib import Path

import pytest

from evenhand.app.state import files
from evenhand.app.state.files import make_private_folder, write_private


def test_a_text_takes_the_place_of_the_old_one_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "study.json"
    for durable in (True, False):
        write_private(path, f"durable: {durable} é", durable=durable)

        assert path.read_text("utf-8") == f"durable: {durable} é"
        assert list(tmp_path.iterdir()) == [path]
        if os.name == "posix":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_where_the_disk_is_full_the_old_text_stays_and_no_part_of_the_new_one(tmp_path, monkeypatch):
    """A record that is cut off is a study that is lost."""
    path = tmp_path / "study.json"
    write_private(path, "old")

    def refuse(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        write_private(path, "new")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("refusals", [1, 20])
def test_a_file_that_somebody_reads_for_a_moment_is_replaced_after_it(tmp_path, monkeypatch, refusals):
    """On Windows a page that reads the progress of a run would otherwise end that run."""
    path = tmp_path / "progress.json"
    write_private(path, "old")
    replace, tries = Path.replace, []

    def refuse_at_first(part, target):
        tries.append(part)
        if len(tries) <= refusals:
            raise PermissionError(13, "in use")
        return replace(part, target)

    monkeypatch.setattr(files.Path, "replace", refuse_at_first)
    monkeypatch.setattr(files, "_PAUSE_SECONDS", 0.0)
    write_private(path, "new")

    assert path.read_text() == "new"
    assert len(tries) == refusals + 1


def test_a_file_that_is_never_given_free_is_an_error_and_leaves_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    write_private(path, "old")

    def refuse(part, target):
        raise PermissionError(13, "in use")

    monkeypatch.setattr(files.Path, "replace", refuse)
    monkeypatch.setattr(files, "_PAUSE_SECONDS", 0.0)
    with pytest.raises(PermissionError):
        write_private(path, "new")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_without_permissions_still_has_the_folder(tmp_path, monkeypatch):
    """Such as a memory stick: the workbench works there, too."""

    def refuse(path, mode):
        raise OSError(1, "Operation not permitted")

    (tmp_path / "w").mkdir(mode=0o755)
    monkeypatch.setattr(files.Path, "chmod", refuse)

    assert make_private_folder(tmp_path / "w").is_dir()
