"""evenhand advise: the same roles, a small study, and what follows under limits."""

import json
import shlex

import pytest

from evenhand.cli import study
from evenhand.study.results.results import Results
from unit._study_results import failed
from unit.cli.conftest import ROLES, finished
from unit.study._advice_cases import NOTHING, grid, results, setting

WHOLE = [*ROLES, "--sensitive", "sex", "--workers", 1, "--anyway"]


def known(plan):
    """Return results in which the gap narrows with epsilon, of the file that the plan names."""
    values = {"all": level(0.2), NOTHING: level(0.01), setting("grr", 1): level(0.05)}
    made = results(values, collect=grid(("grr",), ("1/2", 1)), columns=1)
    return Results(made.plan.with_(data=plan.data), made.facts, made.outcomes)


def level(gap):
    """Return figures of a setting: half are selected, with a gap between women and men."""
    return {"acc": 0.8, "women selection": 0.5 - gap / 2, "men selection": 0.5 + gap / 2}


@pytest.fixture(name="with_rows")
def _with_rows(fake, monkeypatch):
    """Put a run in place of the real one whose results know their file and their gaps."""
    run = study.run_cells
    monkeypatch.setattr("evenhand.cli.study.run_cells", lambda plan, **how: run(plan, **how) and known(plan))


def test_a_small_study_is_run_and_the_advice_shown_with_its_command(call, file, fake, with_rows):
    """If not, somebody would have to read every number to know what to use."""
    done = call("advise", file, *WHOLE, "--max-gap", 0.1)

    plan, shown = fake[0]["plan"], " ".join(done.stdout.replace("\\\n", "").split())
    assert done.exit_code == 0
    assert plan.repeats == 8
    assert str(fake[0]["out"]) == "advice"
    assert "Use GRR at ε = 1." in shown
    assert "No smaller ε tried will do. Of 1,000: a gap of at most" in shown
    assert "evenhand privatize people.csv reports.csv --schema advice/schema.toml --columns sex" in shown
    assert "Not for publication." in shown
    assert "Report   advice/report.html" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_limits_that_nothing_keeps_are_said_with_what_comes_nearest(call, file, with_rows):
    """If a setting were named all the same, a limit would be worth nothing."""
    done = call("advise", file, *WHOLE, "--max-gap", 0.01)

    shown = " ".join(done.stdout.split())
    assert "None of the settings tried." in shown
    assert "Nearest comes GRR at ε = 1." in shown
    assert "evenhand privatize" not in shown


def test_the_report_says_what_the_terminal_does(call, file, with_rows):
    """A page about another setting may say the opposite of the terminal."""
    call("advise", file, *WHOLE, "--max-gap", 0.1)

    page = (file.parent / "advice" / "report.html").read_text(encoding="utf-8")
    assert "Use GRR at ε" in page.replace("\u00a0", " ")


def test_advice_can_be_german_in_the_terminal_and_on_the_page(call, file, with_rows):
    """If not, whoever hands the page on would have to translate it."""
    done = call("advise", file, *WHOLE, "--max-gap", 0.1, "--language", "de")

    shown = " ".join(done.stdout.split())
    page = (file.parent / "advice" / "report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert done.exit_code == 0
    assert "GRR bei ε = 1 nutzen." in shown
    assert "Kein kleineres getestetes ε genügt." in shown
    assert 'lang="de"' in page
    assert "GRR bei ε = 1 nutzen" in page
    assert "No smaller" not in shown + page


@pytest.mark.parametrize("command", [["advise"], ["audit", "collect"]])
def test_a_study_that_goes_on_keeps_its_language(call, file, monkeypatch, command):
    """If not, what was stopped would go on in another language than it was asked for."""
    told = []
    monkeypatch.setattr("evenhand.cli.tasks.base.follow_run", lambda *_, again, **__: told.append(again))
    call(*command, file, *WHOLE, "--language", "de")

    assert told == [f"{command[0]} --resume --language de"]


def test_the_largest_epsilon_limits_what_is_tried(call, file, fake):
    call("advise", file, *WHOLE, "--epsilon", 1.5, "--repeats", 3, "--rows", 100, "--seed", 4)

    plan = fake[0]["plan"]
    assert [float(each) for each in plan.task.epsilons] == [0.5, 1, 1.5]
    assert (plan.repeats, plan.data.rows, plan.seed) == (3, 100, 4)


def test_the_advice_for_machines(call, file, with_rows):
    """If a part were missing, a program would have to read the page."""
    told = json.loads(call("advise", file, *WHOLE, "--json", "--max-gap", 0.1).stdout)

    assert told["command"] == "advise"
    assert told["recommendation"]["epsilon"] == "1"
    assert told["answer"]["verdict"] == "Use GRR at ε = 1."
    (command,) = told["next"]
    assert command == (
        "evenhand privatize people.csv reports.csv --schema advice/schema.toml --columns sex "
        "--epsilon 1 --protocol grr --split uniform"
    )
    assert [each["breaks"] for each in told["tried"]] == [["gap"], []]
    assert told["files"]["plan"].endswith("advice/plan.toml")


def test_every_setting_is_behind_an_option(call, file, with_rows):
    """If all were shown at once, nobody would see the advice."""
    short = call("advise", file, *WHOLE, "--max-gap", 0.1)
    long = call("advise", "--resume", "--out", "advice", "--max-gap", 0.1, "--details")

    assert "GRR at ε = 0.5, of 1,000" not in short.stdout
    assert "GRR at ε = 0.5, of 1,000: a gap of at most" in long.stdout


def test_a_schema_file_and_failed_cells(call, file, fake, monkeypatch):
    call("audit", file, *WHOLE)
    fake[0]["plan"].schema.save("schema.toml")
    monkeypatch.setattr("evenhand.cli.study.run_cells", lambda plan, **_: finished(failures=[(1, failed)]))
    (file.parent / "advice").mkdir()
    done = call("advise", file, "--schema", "schema.toml", "--quiet")

    assert done.exit_code == 1
    assert "1 of 15 runs failed" in done.stderr
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
    assert rest["tried"] == whole["tried"]
    assert rest["recommendation"] == whole["recommendation"]
    assert rest["answer"]["sentences"] == whole["answer"]["sentences"]
