"""evenhand advise: the same roles, a small study, and what follows under limits."""

import json
import shlex

import pytest

from evenhand.cli import study
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.task import CollectTask
from unit._study_results import failed
from unit.cli.conftest import ROLES, finished

WHOLE = [*ROLES, "--sensitive", "sex", "--workers", 1]


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch):
    """The made-up results are of other people than the file holds."""
    monkeypatch.setattr("evenhand.cli.commands.advise.profile", lambda prepared: None)


def test_a_small_study_is_run_and_the_advice_shown_with_its_caveat(call, file, fake, monkeypatch):
    enough, run = finished(Plan(task=CollectTask(["grr", "oue"], ["1/2", 1]), repeats=7)), study.run_cells
    monkeypatch.setattr("evenhand.cli.study.run_cells", lambda plan, **how: run(plan, **how) and enough)
    done = call("advise", file, *WHOLE, "--max-gap", 0.1)

    plan = fake[0]["plan"]
    assert done.exit_code == 0
    assert plan.repeats == 8
    assert str(fake[0]["out"]) == "advice"
    assert "No tested setting keeps your limit: a gap of 10 points." in done.stdout
    assert "It would keep a limit of" in " ".join(done.stdout.split())
    assert "not covered by the guarantee" in " ".join(done.stdout.split())
    assert "Report   advice/report.html" in done.stdout


def test_the_report_is_about_what_is_recommended(call, file, with_rows, monkeypatch):
    """A page about another setting may say the opposite of the terminal."""
    shown = []
    monkeypatch.setattr(Results, "report", lambda self, path, *, chosen, **_: shown.append(chosen))
    (file.parent / "advice").mkdir()
    told = json.loads(call("advise", file, *WHOLE, "--json").stdout)

    assert [str(setting.epsilon) for setting in shown] == [told["recommendation"]["epsilon"]]


def test_the_largest_epsilon_limits_what_is_tried(call, file, fake):
    call("advise", file, *WHOLE, "--epsilon", 1.5, "--repeats", 3, "--rows", 100, "--seed", 4)

    plan = fake[0]["plan"]
    assert [float(each) for each in plan.task.epsilons] == [0.5, 1, 1.5]
    assert (plan.repeats, plan.data.rows, plan.seed) == (3, 100, 4)


@pytest.fixture(name="with_rows")
def _with_rows(fake, monkeypatch):
    """Put a run in place of the real one whose results know their file."""
    task = CollectTask(["grr", "oue"], ["1/2", 1], splits="uniform")

    def run(plan, **_):
        return finished(Plan(data=plan.data, task=task, repeats=7))

    monkeypatch.setattr("evenhand.cli.study.run_cells", run)


def test_the_advice_for_machines(call, file, with_rows):
    (file.parent / "advice").mkdir()
    told = json.loads(call("advise", file, *WHOLE, "--json").stdout)

    assert told["command"] == "advise"
    assert told["recommendation"]["name"] == "GRR, uniform split, ε = 0.5"
    assert told["finding"].startswith("Use GRR at ε = 0.5")
    assert told["next"] == (
        "evenhand privatize people.csv reports.csv --schema advice/schema.toml --columns sex "
        "--epsilon 1/2 --protocol grr --split uniform"
    )
    assert told["caveats"]
    assert told["files"]["plan"].endswith("advice/plan.toml")


def test_reasons_by_paper_are_behind_an_option(call, file, fake):
    short = call("advise", file, *WHOLE)
    long = call("advise", "--resume", "--out", "advice", "--details")

    assert "makhlouf2024" not in short.stdout
    assert "More: evenhand advise --resume --out advice --details" in short.stdout
    assert "makhlouf2024" in long.stdout
    assert "What was tried:" in long.stdout
    assert "More: " not in long.stdout


def test_the_command_stands_on_one_line(call, file, with_rows):
    """A command that is wrapped cannot be copied."""
    (file.parent / "advice").mkdir()
    lines = call("advise", file, *WHOLE).stdout.splitlines()

    assert sum(line.startswith("  evenhand privatize people.csv reports.csv") for line in lines) == 1
    assert any(line.endswith("--protocol grr --split uniform") for line in lines)


def test_a_schema_file_and_failed_cells(call, file, fake, monkeypatch):
    call("audit", file, *WHOLE)
    fake[0]["plan"].schema.save("schema.toml")
    monkeypatch.setattr("evenhand.cli.study.run_cells", lambda plan, **_: finished(failures=[(1, failed)]))
    (file.parent / "advice").mkdir()
    done = call("advise", file, "--schema", "schema.toml", "--quiet")

    assert done.exit_code == 1
    assert "learnt from the rows" not in done.stderr


def test_missing_roles_show_the_command_that_was_meant(call, file):
    assert "evenhand advise people.csv" in call("advise", file.name).stderr


def test_a_stopped_study_goes_on_from_its_folder_alone(call, file, fake):
    call("advise", file, *WHOLE, "--out", "s", "--repeats", 3)
    done = call("advise", "--resume", "--out", "s", "--max-gap", 0.2, "--repeats", 5)

    first, second = fake
    assert done.exit_code == 0
    assert (first["resume"], second["resume"]) == (False, True)
    assert second["plan"].with_(repeats=3).cells() == first["plan"].cells()
    assert second["plan"].repeats == 5
    assert second["plan"].schema == first["plan"].schema
    assert second["frame"].num_rows == 120
    assert "Plan" not in done.stderr  # how long is said of a new study


def test_a_study_goes_on_with_the_same_words_too(call, file, fake):
    call("advise", file, *WHOLE)
    done = call("advise", file, *WHOLE, "--resume")

    assert done.exit_code == 0
    assert [str(each["out"]) for each in fake] == ["advice", "advice"]
    assert fake[1]["plan"].cells() == fake[0]["plan"].cells()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "DATA is missing"),
        (["--resume"], "There is no study in advice to go on with. Hint: name its folder with --out"),
        (["--resume", "--out", "s", "--target", "hired"], "--target cannot be given with a plan"),
    ],
)
def test_what_cannot_go_on_is_refused(call, file, fake, options, said):
    call("advise", file, *WHOLE, "--out", "s")
    done = call("advise", *options)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_there_is_a_study_already_and_resume_is_the_way_on(call, file, tmp_path, fake):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.db").write_text("a store that cannot be read")
    done = call("advise", file, *WHOLE, "--out", "s")

    assert done.exit_code == 2
    assert "go on with it (--resume)" in " ".join(done.stderr.split())


@pytest.mark.figures
def test_a_real_study_that_was_stopped_is_finished_and_gives_the_advice_of_one_that_was_not(
    call, file, monkeypatch
):
    """Advice that depended on whether somebody pressed Ctrl-C would be worth nothing."""
    monkeypatch.setattr(Results, "report", lambda self, path, **_: path.write_text("page"))
    words = [file, *WHOLE, "--epsilon", 1, "--repeats", 2]
    real = study.run_cells
    seen = []

    def stopped(plan, *, progress, **options):
        def follow(event):
            seen.append(event)
            if event.done == 3:
                raise KeyboardInterrupt
            progress(event)

        return real(plan, progress=follow, **options)

    with monkeypatch.context() as patch:
        patch.setattr(study, "run_cells", stopped)
        first = call("advise", *words, "--out", "s", "--json")
    again = shlex.split(json.loads(first.stdout)["resume"])[1:]
    rest = json.loads(call(*again, "--workers", 1, "--json").stdout)
    whole = json.loads(call("advise", *words, "--out", "t", "--json").stdout)

    assert (first.exit_code, again) == (130, ["advise", "--resume", "--out", "s", "--epsilon", "1"])
    assert (seen[-1].done, seen[-1].total) == (3, 14)
    rest["next"] = rest["next"].replace("--out s ", "--out t ")  # its own folder
    assert {**rest, "files": None} == {**whole, "files": None}
