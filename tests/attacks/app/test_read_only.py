"""A finished study that is only shown cannot be changed, and nothing beside it can be read."""

import io
import zipfile

import pytest

from attacks.app._gate import open_gate
from attacks.app._names import as_target, traversal_names

SENTINEL = b"sentinel-of-a-private-file"


@pytest.fixture(name="gate", scope="module")
def _gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("around") / "my results"
    folder.mkdir()
    (folder.parent / "secret.csv").write_bytes(SENTINEL)
    (folder / "study.db").write_bytes(SENTINEL)
    (folder / "report.html").write_bytes(b"<p>our report</p>")
    (folder / "cells.csv").write_bytes(b"a,b\n")
    with open_gate(folder, shown=True) as gate:
        gate.folder = folder
        yield gate


def test_its_files_can_be_taken_along(gate):
    packed = zipfile.ZipFile(io.BytesIO(gate.get("/report/files/all.zip").body))

    assert gate.get("/report/files/report.html").body == b"<p>our report</p>"
    assert packed.namelist() == ["report.html", "cells.csv"]
    assert gate.get("/report/files/study.db").status == 404
    assert gate.get("/report/files/plan.toml").status == 404


def test_nothing_is_written(gate):
    before = {path: path.stat().st_mtime_ns for path in gate.folder.rglob("*")}
    study = "0123456789abcdef"

    assert gate.upload(study, "a.csv", b"a,b\n1,2\n").status == 422
    assert gate.post(f"/studies/{study}/schema", b"x").status == 422
    assert gate.get(f"/studies/{study}/files/report.html").status == 404
    assert gate.get("/").status == 200
    assert {path: path.stat().st_mtime_ns for path in gate.folder.rglob("*")} == before


def test_no_name_reads_outside(gate):
    for name in traversal_names():
        assert SENTINEL not in gate.get(f"/report/files/{as_target(name)}").body


def test_a_study_of_the_workspace_is_not_shown_as_a_report(tmp_path):
    with open_gate(tmp_path / "workbench") as gate:
        assert gate.get("/report/files/report.html").status == 404
