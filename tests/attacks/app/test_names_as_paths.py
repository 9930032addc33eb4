"""G3: names never become paths."""

import contextlib
import io
import re
import zipfile

import pytest

from attacks.app._gate import open_gate
from attacks.app._names import COUNT, as_header, as_target, traversal_names
from evenhand.app.flow.files import DOWNLOADS
from evenhand.app.state.uploads import ENDINGS, choose_file_name, read_label
from evenhand.errors import UnreadableFileError
from evenhand.table.read import ENDINGS as READ_ENDINGS

TABLE = b"age,sex\n1,a\n2,b\n"
SENTINEL = "sentinel-of-a-private-file"
RANDOM_NAME = re.compile(r"[0-9a-f]{32}(\.csv|\.tsv|\.txt|\.xlsx|\.parquet|\.pq)(\.gz|\.bz2)?")


@pytest.fixture(scope="module", name="gate")
def _gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("around")
    (folder / "secret.csv").write_text(f"a,b\n{SENTINEL},1\n", encoding="utf-8")
    (folder / "etc").mkdir()
    (folder / "etc" / "passwd").write_text(SENTINEL, encoding="utf-8")
    with open_gate(folder / "workbench") as gate:
        yield gate


@pytest.fixture(scope="module", name="study")
def _study(gate):
    return gate.workbench.workspace.create("Names").id


def all_files(folder):
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*")}


def outside(files, study):
    return {name: time for name, time in files.items() if not name.startswith(f"workbench/{study}")}


def test_there_are_300_names():
    assert len(set(traversal_names())) == COUNT


def test_no_name_of_an_upload_writes_outside_the_data_of_its_study(gate, study, tmp_path):
    """A file called ../../.bashrc would be run at the next login."""
    workspace = gate.workbench.workspace
    around = workspace.path.parent
    before = outside(all_files(around), study)
    statuses, labels = [], []
    for name in traversal_names():
        answer = gate.upload(study, as_header(name), TABLE)
        statuses.append(answer.status)
        labels += [workspace.load(study).data.label] if answer.status == 200 else []
        kept = [path.name for path in (workspace.folder(study) / "data").iterdir()]
        assert len(kept) <= 1
        assert all(RANDOM_NAME.fullmatch(file) for file in kept)

    assert set(statuses) == {200, 422}
    assert statuses.count(200) > 50
    assert outside(all_files(around), study) == before
    assert [label for label in labels if re.search(r"[/\\\x00-\x1f]", label)] == []
    assert {path.name for path in workspace.folder(study).iterdir()} <= {
        "study.json",
        "data",
        "progress.json",
    }


@pytest.mark.parametrize(
    "place",
    [
        "/studies/{study}/files/{name}",
        "/studies/{name}/files/cells.csv",
        "/studies/{study}/applied/{name}",
        "/report/files/{name}",
        "/static/{name}",
        "/lib/{name}",
        "/session/{name}/download/x",
        "/{name}",
    ],
)
def test_no_name_in_an_address_reads_outside(gate, study, place):
    """Whoever can name a path could have the passwords of this machine sent."""
    results = workspace_results(gate, study)
    for name in traversal_names():
        answer = gate.get(place.format(study=study, name=as_target(name)))
        assert SENTINEL.encode() not in answer.body
        assert b"root:" not in answer.body
        assert gate.workbench.workspace.secret().encode() not in answer.body
        if answer.status == 200:
            assert answer.body in results or place == "/{name}"


def workspace_results(gate, study):
    """Write a result, and return what may be sent of it."""
    folder = gate.workbench.workspace.folder(study) / "study"
    folder.mkdir(exist_ok=True)
    (folder / "report.html").write_bytes(b"<p>our report</p>")
    (folder / "study.db").write_text(SENTINEL, encoding="utf-8")
    return {b"<p>our report</p>"}


def test_only_listed_files_are_sent_and_always_as_a_file_to_save(gate, study):
    """An HTML file that is shown in place of being saved would run as a page of the workbench."""
    workspace_results(gate, study)

    answer = gate.get(f"/studies/{study}/files/report.html")

    assert answer.status == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert gate.get(f"/studies/{study}/files/study.db").status == 404
    assert gate.get(f"/studies/{study}/files/cells.csv").status == 404  # in the list, and not there
    assert gate.get(f"/studies/{'0' * 16}/files/report.html").status == 404
    packed = gate.get(f"/studies/{study}/files/all.zip")
    assert packed.status == 200
    assert packed.headers["content-disposition"] == 'attachment; filename="all.zip"'
    assert SENTINEL.encode() not in packed.body


def test_what_was_made_for_real_is_sent_by_the_name_that_it_has(gate, study):
    """And nothing that only looks like it, or that a link leads to."""
    folder = gate.workbench.workspace.folder(study) / "applied"
    folder.mkdir()
    (folder / "people für alle.csv").write_bytes(TABLE)
    (folder / "link.csv").symlink_to(gate.workbench.workspace.path.parent / "secret.csv")
    answer = gate.get(f"/studies/{study}/applied/people%20f%C3%BCr%20alle.csv")

    assert (answer.status, answer.body) == (200, TABLE)
    assert answer.headers["content-disposition"].startswith("attachment; filename")
    assert gate.get(f"/studies/{study}/applied/link.csv").status == 404
    assert gate.get(f"/studies/{study}/applied/..%2Fapplied%2Fpeople%20f%C3%BCr%20alle.csv").status == 404


def test_a_link_in_a_study_leads_nowhere(gate, study):
    """A study that somebody sent may hold links instead of files."""
    workspace_results(gate, study)
    folder = gate.workbench.workspace.folder(study) / "study"
    link = folder / "cells.csv"
    link.symlink_to(gate.workbench.workspace.path.parent / "secret.csv")
    try:
        assert gate.get(f"/studies/{study}/files/cells.csv").status == 404
        packed = gate.get(f"/studies/{study}/files/all.zip")
        names = zipfile.ZipFile(io.BytesIO(packed.body)).namelist()
    finally:
        link.unlink()
    assert names == ["report.html"]


def test_every_download_is_inside_the_folder_by_its_own_path():
    for download in DOWNLOADS.values():
        assert not download.file.startswith(("/", "\\"))
        assert ".." not in download.file.split("/")


def test_a_file_that_can_be_read_can_be_uploaded():
    """The two lists of endings are kept apart, since the server does not load what reads tables."""
    assert set(ENDINGS) == set(READ_ENDINGS)


def test_a_label_is_the_last_part_of_a_name_and_its_ending_is_one_of_ours():
    for name in traversal_names():
        label = read_label(as_header(name))
        assert not re.search(r"[/\\\x00-\x1f]", label)
        with contextlib.suppress(UnreadableFileError):
            assert RANDOM_NAME.fullmatch(choose_file_name(label))
