"""Audits of files that do not fit: so many rows are drawn in one pass, and everybody is told."""

from dataclasses import replace

import pytest

from evenhand.study import run
from evenhand.study.plan.plan import Plan
from evenhand.table.limits import Limits
from unit.cli.conftest import ROLES, people

QUICK = [
    "--sensitive", "sex", "--epsilon", "1", "--protocol", "grr", "--repeats", "2", "--model", "logistic",
    "--anyway",
    "--workers", "1", "--out", "study", "--yes",
]  # fmt: skip
TABLE = [
    "--columns", "sex,job", "--protected", "sex", "--epsilon", "1", "--repeats", "2",
    "--mechanism", "laplace", "--workers", "1", "--out", "study", "--yes",
]  # fmt: skip
ADVICE = [
    "--sensitive", "sex", "--max-gap", "0.5", "--epsilon", "0.1", "--repeats", "1",
    "--workers", "1", "--out", "study", "--yes", "--anyway",
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


@pytest.mark.figures
@pytest.mark.usefixtures("small_machine")
def test_advice_on_a_large_file_says_how_many_rows_it_used(call, file):
    """The plan of a study that drew rows must say so, or nobody can repeat it."""
    done = call("advise", file, *ROLES, *ADVICE, "--rows", 80)

    assert done.exit_code in {0, 1}, done.output
    plan = Plan.load("study/plan.toml")
    assert plan.data.rows == 80
    assert any(SAID in note for note in plan.notes)


@pytest.mark.figures
@pytest.mark.usefixtures("small_machine")
def test_a_release_study_of_a_large_file_says_first_that_its_table_is_that_of_drawn_rows(call, file):
    """A count of drawn rows is no count of people: who reads errors of cells must know whose they are."""
    done = call("audit", "release", file, *TABLE, "--rows", 80)

    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert SAID in said
    assert "The true table is that of the 80 people drawn" in said
    plan = Plan.load("study/plan.toml")
    assert plan.data.rows == 80
    head = [warning.text for warning in run(plan, out="again").view().warnings]
    drawn = next(place for place, text in enumerate(head) if text.startswith(SAID))
    assert head[drawn + 1].startswith("The true table is that of the 80 people drawn")


@pytest.mark.figures
@pytest.mark.usefixtures("small_machine")
def test_a_plan_without_a_number_of_rows_runs_on_a_large_file(call, file, monkeypatch):
    """A plan that was written for a file that fitted must not end in an error when the file has grown."""
    call("audit", "release", file, *TABLE, "--rows", 80)
    plan = Plan.load("study/plan.toml")
    plan.with_(data=replace(plan.data, rows=None), notes=()).save("grown.toml")
    monkeypatch.setattr("evenhand.study.intake.opening.LARGE_FILE_ROWS", 80)

    done = call("audit", "release", "--plan", "grown.toml", "--out", "grown", "--yes")

    assert done.exit_code == 0, done.output
    assert SAID in " ".join(done.output.split())
    assert Plan.load("grown/plan.toml").data.rows == 80


@pytest.mark.parametrize("name", ["people", "people/*.csv"])
def test_a_table_of_a_folder_is_counted_whole(call, tmp_path, name):
    folder = tmp_path / "people"
    folder.mkdir()
    for part in ("a.csv", "b.csv"):
        people(folder / part)

    done = call("audit", "release", tmp_path / name, *TABLE)

    assert done.exit_code == 0, done.output
    assert "240 rows" in " ".join(done.output.split())
    assert "drawn at random" not in done.output


def test_a_decision_on_a_folder_takes_every_entity_of_its_files(call, tmp_path):
    """Entities are never drawn: without some of them the shares of the others change."""
    folder = tmp_path / "counties"
    folder.mkdir()
    (folder / "a.csv").write_text("county,people\nA,100\nB,40\n")
    (folder / "b.csv").write_text("county,people\nC,60\n")

    done = call(
        "audit", "decide", folder, "--name", "county", "--rule", "people >= 50",
        "--mechanism", "laplace", "--epsilon", "1", "--out", "study", "--yes",
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    assert "counties, 3 rows" in " ".join(done.output.split())


def test_a_folder_is_audited_as_one(call, tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        people(folder / name)

    done = call("audit", folder, *ROLES, *QUICK)

    assert done.exit_code == 0, done.output
    assert "people, 240 rows" in " ".join(done.output.split())
    assert Plan.load("study/plan.toml").data.path.endswith("people")
