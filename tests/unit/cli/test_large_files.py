"""Audits of files that do not fit: so many rows are drawn in one pass, and everybody is told."""

import pytest

from evenhand.study.plan.plan import Plan
from evenhand.table.limits import Limits
from unit.cli.conftest import ROLES, people

QUICK = [
    "--sensitive", "sex", "--epsilon", "1", "--protocol", "grr", "--repeats", "2", "--model", "logistic",
    "--workers", "1", "--out", "study", "--yes",
]  # fmt: skip
SAID = "The file does not fit into memory: the study uses 80 of its rows, drawn at random in one pass"


@pytest.fixture
def small_machine(monkeypatch):
    """Let files of more than two kilobytes be too large."""
    monkeypatch.setattr("evenhand.study.intake.opening.own_file_limits", lambda: Limits(bytes=2_000))
    monkeypatch.setattr("evenhand.study.tasks.shared.rows.STUDY_LIMITS", Limits(bytes=2_000))


@pytest.mark.usefixtures("small_machine")
def test_an_audit_of_a_large_file_says_how_many_rows_it_used(call, file):
    done = call("audit", file, *ROLES, *QUICK, "--rows", 80)

    assert done.exit_code == 0, done.output
    assert SAID in " ".join(done.output.split())
    plan = Plan.load("study/plan.toml")
    assert plan.data.rows == 80
    assert any(SAID in note for note in plan.notes)
    pages = [path.read_text() for path in (file.parent / "study").rglob("*.html")]
    assert any("does not fit into memory" in " ".join(page.split()) for page in pages)


@pytest.mark.usefixtures("small_machine")
def test_a_large_table_is_not_published_from_a_part_of_its_people(call, file):
    """A count of drawn rows is no count of people, so the audit of a release refuses."""
    options = ["--columns", "sex,job", "--protected", "sex", "--epsilon", "1", "--repeats", "2"]
    done = call("audit", "release", file, *options, "--mechanism", "laplace", "--out", "study", "--yes")

    assert done.exit_code != 0
    assert "holds more than" in " ".join(done.output.split())


def test_a_folder_is_audited_as_one(call, tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        people(folder / name)

    done = call("audit", folder, *ROLES, *QUICK)

    assert done.exit_code == 0, done.output
    assert "people, 240 rows" in " ".join(done.output.split())
    assert Plan.load("study/plan.toml").data.path.endswith("people")
