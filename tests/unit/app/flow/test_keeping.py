"""What a command made for real is found whole after its process was killed as it put the files in place."""

from pathlib import Path

import pytest

from evenhand.app.flow.command import find_done, keep_files, write_order

SAID = {"promise": "ε = 1", "links": "Every row links to one person.", "is_for_publication": False}
FILES = ("reports.csv", "reports.csv.guarantee.json", "reports.csv.schema.toml")


@pytest.fixture
def work(tmp_path):
    """Return the folder of a command that has written all of its files."""
    place = tmp_path / "applied" / ".work"
    place.mkdir(parents=True)
    for name in ("people.csv", *FILES):
        (place / name).write_text(name)
    write_order(place, inputs=("people.csv",), said=SAID, ledger=None)
    return place


def kill_at(monkeypatch, moves):
    """End the process, as far as the disk can tell, before the next file is moved."""
    real, done = Path.rename, []

    def rename(path, target):
        if len(done) == moves:
            raise KeyboardInterrupt
        done.append(real(path, target))

    monkeypatch.setattr(Path, "rename", rename)


@pytest.mark.parametrize("moves", range(len(FILES)))
def test_files_that_were_half_in_place_are_found_whole_with_their_promise(work, monkeypatch, moves):
    """Reports stood there without their guarantee for ever, and as if rows that link might be published."""
    with monkeypatch.context() as killed:
        kill_at(killed, moves)
        with pytest.raises(KeyboardInterrupt):
            keep_files(work)
    found = find_done(work.parent.parent)

    assert found.files == FILES
    assert (found.promise, found.is_for_publication) == ("ε = 1", False)
    assert (work / "people.csv").exists()


def test_files_of_a_command_that_was_killed_before_its_end_are_not_offered(work):
    """They may be half of what it writes."""
    assert find_done(work.parent.parent) is None
