"""The folder of studies: private, one process at a time, and nothing is left of what was deleted."""

import os
import stat
import subprocess
import sys

import pytest

from evenhand._locks import Lock
from evenhand.app.state.record import DataChoice
from evenhand.app.state.workbench import Workbench
from evenhand.app.state.workspace import RUN_LOCK, Workspace
from evenhand.errors import UnknownNameError, UnreadableFileError, WorkbenchError

posix = pytest.mark.skipif(os.name != "posix", reason="the system has no modes")


def modes(folder):
    return {path: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}


@posix
def test_folders_are_0700_and_files_0600(workspace):
    """If this is false, other people of the machine can read an upload."""
    old = os.umask(0)
    try:
        record = workspace.create("a")
        workspace.secret()
        workspace.save(record.with_(name="b"))
    finally:
        os.umask(old)

    assert {mode for path, mode in modes(workspace.path).items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes(workspace.path).items() if path.is_file()} == {0o600}


@posix
def test_a_folder_that_others_could_open_is_closed_to_them(tmp_path):
    (tmp_path / "w").mkdir(mode=0o755)
    with Workspace(tmp_path / "w") as workspace:
        assert stat.S_IMODE(workspace.path.stat().st_mode) == 0o700


def test_studies_are_listed_with_the_newest_first(workspace):
    first, second = workspace.create("first"), workspace.create("second")

    assert workspace.studies() == [second, first]
    assert workspace.load(first.id) == first


def test_a_study_without_a_name_gets_one_that_is_free(workspace):
    names = [workspace.create().name for _ in range(3)]

    assert names == ["Study 1", "Study 2", "Study 3"]


def test_a_study_is_renamed_and_an_empty_name_changes_nothing(workspace):
    record = workspace.create("old")

    assert workspace.rename(record.id, " new\nname ").name == "new name"
    assert workspace.rename(record.id, "  ").name == "new name"
    assert workspace.load(record.id).name == "new name"


def test_a_damaged_record_is_named_and_hides_no_other_study(workspace):
    """Otherwise one bad file would lock a person out of all studies."""
    good, bad, other = (workspace.create(name) for name in ("good", "bad", "other"))
    (workspace.folder(bad.id) / "study.json").write_text("{")
    (workspace.folder(other.id) / "study.json").write_text(good.to_json())

    assert workspace.studies() == [good]
    assert set(workspace.damaged) == {bad.id, other.id}
    assert "Hint:" in workspace.damaged[bad.id]
    assert str(workspace.path) not in workspace.damaged[bad.id]
    with pytest.raises(UnreadableFileError):
        workspace.load(bad.id)
    workspace.delete(bad.id)
    assert not (workspace.path / bad.id).exists()


@pytest.mark.parametrize(
    "study", ["", ".", "..", "../w", "a/b", "secret", "0" * 16, "%2e%2e", "con", "\x00" * 16]
)
def test_no_other_name_leads_to_a_folder(workspace, study):
    """A name from outside must never become a path."""
    workspace.secret()
    for call in (workspace.folder, workspace.load, workspace.delete, workspace.deletion):
        with pytest.raises(UnknownNameError):
            call(study)


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="the system has no links")
def test_a_link_is_no_study(workspace, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (workspace.path / ("a" * 16)).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UnknownNameError):
        workspace.delete("a" * 16)
    assert workspace.studies() == []


def test_deletion_says_what_it_deletes(workspace):
    study = workspace.create("a").id
    folder = workspace.folder(study)
    alone = workspace.deletion(study)
    for name in ("data", "study", "applied"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "file").write_text("x")
    sentences = workspace.deletion(study)

    assert len(alone) == 1
    assert len(sentences) == 4
    assert "original file is not touched" in sentences[1]
    assert "stays charged" in sentences[3]


def test_deleting_leaves_nothing(workspace):
    """Rows that a person deleted must be gone."""
    study, other = workspace.create("a").id, workspace.create("b").id
    (workspace.folder(study) / "data" / "rows.csv").write_text("secret")
    workspace.delete(study)

    assert [path for path in workspace.path.iterdir() if study in path.name] == []
    assert [record.id for record in workspace.studies()] == [other]


def test_a_study_that_a_process_runs_is_not_deleted(workspace):
    """Otherwise a worker would go on writing into a folder that is gone."""
    study = workspace.create("a").id
    lock = Lock(workspace.folder(study) / RUN_LOCK)
    assert lock.take()

    with pytest.raises(WorkbenchError, match="running"):
        workspace.delete(study)
    lock.free()
    workspace.delete(study)


def test_uploads_that_belong_to_no_study_are_removed_at_start(tmp_path):
    """After a crash no byte may be left that belongs to no study."""
    with Workspace(tmp_path / "w") as workspace:
        kept, bare = workspace.create("kept"), workspace.create("bare")
        workspace.save(kept.with_(data=DataChoice(source="upload", label="a.csv", file="kept.csv")))
        for name in ("kept.csv", "older.csv", ".half.part"):
            (workspace.folder(kept.id) / "data" / name).write_text("rows")
        (workspace.folder(kept.id) / ".study.json.abc.part").write_text("half")
        (workspace.folder(bare.id) / "data" / "stray.csv").write_text("rows")
        (workspace.path / ".deleted-0123456789abcdef").mkdir()
        (workspace.path / ".deleted-0123456789abcdef" / "rows.csv").write_text("rows")
        (workspace.path / ("f" * 16) / "data").mkdir(parents=True)
        (workspace.path / ("f" * 16) / "data" / "rows.csv").write_text("rows")

    workbench = Workbench.open(tmp_path / "w")
    try:
        left = {path.name for path in (tmp_path / "w").rglob("*") if path.is_file()}
        ids = {record.id for record in workbench.workspace.studies()}
    finally:
        workbench.close()

    assert ids == {kept.id, bare.id}
    assert {name for name in left if "lock" not in name} == {"study.json", "kept.csv"}


def test_a_second_process_on_one_workspace_is_refused(tmp_path):
    """Two queues would run studies over each other."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom evenhand.app.state.workspace import Workspace\n"
        "from evenhand.errors import WorkbenchError\n"
        "try:\n    Workspace(Path(sys.argv[1]))\nexcept WorkbenchError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "w")]
    with Workspace(tmp_path / "w"):
        refused = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    accepted = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert refused.startswith("Another workbench has this folder of studies open. Hint:")
    assert str(tmp_path) not in refused
    assert accepted == ""


def test_a_folder_that_cannot_be_made_is_refused_without_its_path(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(WorkbenchError, match="Hint:") as caught:
        Workspace(tmp_path / "file" / "w")
    assert str(tmp_path) not in str(caught.value)


def test_the_secret_stays_after_a_restart_and_one_that_others_could_read_does_not(tmp_path):
    """The cookie of a browser is checked with it."""
    with Workspace(tmp_path / "w") as workspace:
        secret = workspace.secret()
    with Workspace(tmp_path / "w") as workspace:
        again = workspace.secret()
        (workspace.path / "secret").chmod(0o644)
        renewed = workspace.secret()

    assert again == secret
    assert len(secret) == 64
    assert os.name != "posix" or renewed != secret


def test_a_finished_study_is_shown_without_writing_into_its_folder(tmp_path):
    """The folder may be somebody else's, or a copy that must stay as it is."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.db").write_bytes(b"x")
    before = modes(folder)
    workbench = Workbench.show(folder)
    own = workbench.workspace.path
    try:
        assert workbench.read_only == folder.resolve()
        assert workbench.workspace.studies() == []
        assert folder not in own.parents
    finally:
        workbench.close()

    assert modes(folder) == before
    assert not own.exists()


def test_a_folder_without_a_study_is_not_shown(tmp_path):
    with pytest.raises(WorkbenchError, match=r"study\.db.*Hint:"):
        Workbench.show(tmp_path)
