"""The question page: answers are kept as they are given, and a run starts only from a plan that fits."""

import pytest

from evenhand.app.pages.address import study_address
from evenhand.app.state.record import DataChoice
from evenhand.errors import EvenhandError
from unit.app.pages._tab import Controls

CAUSAL = DataChoice(source="dataset", label="causal", dataset="causal", options={"n": 300})


@pytest.fixture
def study(tab):
    """Return a study that is described, on its question page."""
    made = tab.add_study(data=CAUSAL, described=True)
    tab.address = study_address(made, "question")
    return made


def test_before_the_data_and_the_columns_are_known_the_page_leads_there(tab, study):
    tab.workspace.save(tab.record(study).with_(described=False))
    assert Controls(tab.read()).by_id["back"]["href"] == study_address(study, "schema")
    tab.workspace.save(tab.record(study).with_(data=None))
    assert Controls(tab.read()).by_id["back"]["href"] == study_address(study, "data")

    assert "run" not in Controls(tab.read()).by_id


def test_there_are_four_questions_of_which_one_is_chosen_and_its_answers_stay(tab, study):
    """Whoever looks at another question must find the answers of the first again."""
    ids = Controls(tab.read()).by_id
    assert "checked" in ids["kind-collect"]
    tab.do(do="question.field", study=study, name="epsilons", value="1,2")
    tab.change("kind", "release")
    tab.do(do="question.field", study=study, name="mechanisms", value=("laplace",))

    assert "checked" in Controls(tab.read()).by_id["kind-release"]
    assert tab.record(study).form == {
        "collect": {"epsilons": "1,2"}, "release": {"mechanisms": ["laplace"]},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("written", "pressed", "kept"),
    [
        ("0.3,1", ["1", "0.25"], "0.25,0.3,1"),
        ("0.3,1", [], "0.3"),
        ("much,1/3,2", ["2", "10"], "1/3,2,10,much"),
        ("", ["4", "99"], "4"),
    ],
)
def test_the_scale_changes_the_usual_values_and_keeps_those_that_were_written(
    tab, study, written, pressed, kept
):
    """An epsilon that somebody wrote must not vanish because another was pressed."""
    tab.do(do="question.field", study=study, name="epsilons", value=written)
    tab.do(do="question.epsilons", study=study, name="epsilons", value=pressed)

    assert tab.record(study).form["collect"]["epsilons"] == kept


def test_a_question_that_fits_is_written_and_waits_for_its_turn(tab, study):
    tab.press("run")

    assert tab.jobs.asked == [("run", study)]
    assert (tab.workspace.folder(study) / "plan.toml").is_file()
    assert tab.address == study_address(study, "run")


@pytest.mark.parametrize(("name", "value"), [("epsilons", "0"), ("repeats", "two")])
def test_a_question_that_does_not_fit_is_not_run_and_the_field_is_marked(tab, study, name, value):
    tab.do(do="question.field", study=study, name=name, value=value)
    tab.press("run")
    what, message = tab.sent[-1]

    assert tab.jobs.asked == []
    assert not (tab.workspace.folder(study) / "plan.toml").exists()
    assert (what, message["field"]) == ("problem", name)
    assert message["text"]


def test_what_no_field_is_to_blame_for_is_said_below_the_form(tab, study):
    tab.workspace.save(
        tab.record(study).with_(data=DataChoice(source="upload", label="people.csv", file="gone.csv"))
    )
    tab.press("run")

    assert tab.sent[-1][1]["field"] == "form"
    assert tab.jobs.asked == []


def test_a_study_that_runs_says_that_it_must_be_stopped_first(tab, study):
    tab.set_run(study, "running")

    assert "This study runs now." in tab.read()


def test_run_leaves_the_plan_of_a_study_that_runs_as_it_is(tab, study):
    """Otherwise the plan to take along would not be the one that gave the numbers."""
    tab.press("run")
    plan = tab.workspace.folder(study) / "plan.toml"
    before = plan.read_bytes()
    tab.set_run(study, "running")
    tab.go(study_address(study, "question"))
    tab.do(do="question.field", study=study, name="epsilons", value="7")
    tab.press("run")

    assert plan.read_bytes() == before
    assert tab.address == study_address(study, "run")


def test_run_and_save_wait_for_a_plan_that_can_be_run(tab, study):
    controls = Controls(tab.read()).by_id

    assert "data-plan" in controls["run"]
    assert "data-plan" in controls["save-plan"]
    assert controls["form-status"]["data-words"] == "Reading what this question asks."


def test_while_the_questions_are_read_the_page_says_so_and_a_fault_is_said(tab, study):
    assert "Reading which questions there are." in tab.read(at_once=True)
    tab.desk.told["list_kinds"] = EvenhandError("The process ended. Hint: try again.")

    assert "The process ended." in tab.read()


def test_a_data_set_is_chosen_with_its_own_question_and_the_page_names_it(tab):
    study = tab.workspace.create("Rights").id
    tab.go(study_address(study, "data"))
    tab.do(do="data.choose", study=study, name="counties")
    record = tab.record(study)

    assert (record.kind, record.data.dataset) == ("decide", "counties")
    assert record.roles == {}
    assert 'id="continue"' in tab.read()
    tab.do(do="data.choose", study=study, name="nothing")
    assert "problem" in Controls(tab.read()).by_id
    assert tab.record(study) == record


def test_a_file_that_was_refused_is_said_where_it_was_chosen(tab):
    study = tab.workspace.create("Rights").id
    tab.go(study_address(study, "data"))
    tab.do(do="data.failed", study=study, value="rows.csv is empty. Hint: choose another file.")

    assert "upload-problem" in Controls(tab.read()).by_id
    assert "disabled" in Controls(tab.read()).by_id["continue"]
