"""The result page: what is chosen on it is asked of the results, and what is missing is said."""

from dataclasses import replace

import pytest

from evenhand.app.flow.views import ResultView, SettingChoice
from evenhand.app.pages.address import study_address
from evenhand.app.pages.result import _show
from evenhand.errors import EvenhandError
from unit.app.pages._tab import Controls, words_of

SETTINGS = (
    SettingChoice("grr", "GRR, ε = 1"),
    SettingChoice("oue", "OUE, ε = 1"),
)
VIEW = ResultView(
    "<h1>Who pays?</h1>",
    "<h2>Findings</h2>",
    SETTINGS,
    "grr",
    files=("report.html", "all.zip", "study.db"),
    commands=(
        ("Do it", "evenhand privatize people.csv reports.csv"),
        ("Again", "evenhand audit --plan plan.toml"),
    ),
    done=9,
    total=9,
)


@pytest.fixture
def study(tab):
    """Return a study that is finished, on the page of its answer."""
    made = tab.add_study()
    tab.set_run(made, "finished", done=9, total=9)
    tab.desk.told["read_result"] = VIEW
    tab.address = study_address(made, "result")
    return made


@pytest.mark.parametrize("state", ["none", "running", "stopped"])
def test_without_a_finished_run_the_page_leads_to_the_run(tab, study, state):
    tab.set_run(study, state)
    html = tab.read()

    assert "There is no result yet" in html
    assert Controls(html).by_id["to-run"]["href"] == study_address(study, "run")
    assert tab.desk.calls == []


def test_a_run_that_was_stopped_is_answered_with_a_warning(tab, study):
    """An answer from a part of the runs must not be taken for the whole."""
    tab.set_run(study, "stopped", done=4, total=9)
    tab.desk.told["read_result"] = replace(VIEW, done=4)
    words = tab.words()

    assert "4 of 9 runs are in. The answer may change when the others are." in words
    assert "runs are in" not in words_of(page_of(tab, study, "finished"))
    assert "1 of 9 runs is in." in words_of(page_of(tab, study, "stopped", done=1))


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_a_study_that_runs_is_answered_so_far_and_nothing_of_it_is_done_for_real_yet(tab, study, state):
    """Who waits for an hour wants the first answer; a file of an earlier run is not that answer."""
    tab.set_run(study, state, done=5, total=9, staged=4, so_far="Nobody pays. None of 1,000.")
    tab.desk.told["read_result"] = replace(VIEW, done=5)
    html = tab.read()
    controls = Controls(html).by_id

    assert "Who pays?" in html
    assert "5 of 9 runs are in. The answer may change when the others are." in words_of(html)
    assert controls["to-run"]["href"] == study_address(study, "run")
    assert not {"apply", "take-along", "to-files", "ask-again"} & set(controls)


def test_an_answer_so_far_is_not_taken_along_while_the_whole_is_drawn():
    """The last run is in by then, and the files are those of the whole."""
    drawn = {
        done: Controls(str(_show("a" * 16, replace(VIEW, done=done), waits=True))).by_id for done in (4, 9)
    }

    assert not {"apply", "take-along", "to-files", "ask-again"} & set(drawn[4])
    assert {"apply", "take-along"} <= set(drawn[9])


def test_runs_that_failed_do_not_come_later(tab, study):
    """The report says how many failed; nobody need wait for them."""
    assert "The answer may change" not in words_of(page_of(tab, study, "finished", done=8, failed=1))


def page_of(tab, study, state, **changes):
    tab.set_run(study, state, done=9 - len(changes), total=9)
    tab.desk.told["read_result"] = replace(VIEW, **changes)
    return tab.read()


def test_what_is_chosen_is_asked_of_the_results(tab, study):
    tab.change("chosen", "oue")
    tab.read()

    assert tab.desk.calls[-1] == ("read_result", {"chosen": "oue"})


def test_who_has_an_answer_can_ask_otherwise(tab, study):
    """An answer may say that more repeats are needed, and they are asked for on another page."""
    assert Controls(tab.read()).by_id["ask-again"]["href"] == study_address(study, "question")


def test_what_one_study_shows_is_not_asked_of_another(tab, study):
    """A setting of one study is unknown to the next, whose page would be an error."""
    tab.change("chosen", "oue")
    other = tab.add_study("Other")
    tab.set_run(other, "finished", done=9, total=9)
    tab.go(study_address(other, "result"))

    assert tab.desk.calls[-1][1]["chosen"] == ""


def test_one_setting_alone_leaves_nothing_to_choose(tab, study):
    tab.desk.told["read_result"] = replace(VIEW, settings=SETTINGS[:1])

    assert "chosen" not in Controls(tab.read()).by_id


def test_the_first_button_applies_what_is_recommended(tab, study):
    """A page that recommends one way and applies another would be followed wrongly."""
    assert "Apply this for real" in tab.words()
    tab.desk.told["read_result"] = replace(VIEW, recommended="OUE, ε = 1")
    tab.change("chosen", "oue")

    assert "Apply OUE, ε = 1" in tab.words()


def test_only_files_that_may_be_taken_along_are_offered_with_the_commands(tab, study):
    html = tab.read()
    ids = Controls(html).by_id

    assert ids["download-report.html"]["href"] == f"studies/{study}/files/report.html"
    assert "download-study.db" not in ids
    assert "evenhand audit" in html
    assert "evenhand privatize" in html
    tab.desk.told["read_result"] = replace(VIEW, commands=(), advice="**GRR** keeps both.")
    tab.change("chosen", "oue")
    ids = Controls(tab.read()).by_id
    assert {"command-1", "command-2"}.isdisjoint(ids)
    assert "advice" in ids


def test_while_results_are_read_the_page_says_so_and_a_fault_is_said(tab, study):
    assert "Reading the results" in tab.read(at_once=True)
    tab.desk.told["read_result"] = EvenhandError("The file of results is damaged. Hint: run it again.")

    assert "The file of results is damaged." in tab.read()


def test_a_page_that_is_drawn_anew_keeps_the_old_one_until_then(tab, study):
    """A page that goes blank at every choice cannot be read."""
    tab.read()
    tab.do(do="result.choose", study=study, key="chosen", value="oue")
    html = tab.read(at_once=True)

    assert "Drawing anew." in html
    assert "<h2>Findings</h2>" in html
