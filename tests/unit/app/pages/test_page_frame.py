"""The frame of the page: a fault costs one sentence, and addresses from outside show no other page."""

import pytest

from evenhand.app.pages import home
from evenhand.app.pages.address import help_address, study_address
from evenhand.app.pages.shell import _ACTIONS
from evenhand.app.pages.side import draw_past, draw_steps
from evenhand.errors import EvenhandError
from unit.app.pages._tab import Tab, words_of

UNKNOWN = "0123456789abcdef"


@pytest.mark.parametrize("step", ["data", "schema", "question", "run", "result", "apply"])
def test_a_study_that_is_gone_is_said_with_a_way_to_the_others(tab, step):
    """Somebody who deleted it in another tab must not see a page that waits for ever."""
    html = tab.go(study_address(UNKNOWN, step))

    assert "This page cannot be shown" in html
    assert 'href="#/"' in html


@pytest.mark.parametrize("step", ["", "nothing", "<script>alert(1)</script>", "x" * 500])
def test_a_step_that_is_none_is_refused_in_one_sentence(tab, step):
    study = tab.add_study()
    html = tab.go(f"#/study/{study}/{step}") if step != "" else tab.go(f"#/study/{study}//")

    assert "There is no step" in html or "Which data?" in html
    assert "<script" not in html
    assert "x" * 41 not in words_of(html)


def test_what_an_action_refuses_is_said_above_the_page_until_the_next_one(tab):
    study = tab.add_study()
    tab.do(do="home.rename", study=UNKNOWN, text="x")
    refused = tab.read()
    tab.press(f"rename-{study}")

    assert 'id="problem"' in refused
    assert 'id="problem"' not in tab.read()


def test_a_fault_of_our_own_is_one_sentence_and_the_tab_goes_on(tab, monkeypatch):
    """A traceback would show values, and an action that hangs would stop all that follow."""

    async def fail(visit, event):
        raise KeyError("private value")

    monkeypatch.setitem(_ACTIONS, "home.new", fail)
    tab.press("new-study")
    html = tab.read()

    assert "Something went wrong in the workbench itself." in html
    assert "finished runs are kept" in html
    assert "private value" not in html
    monkeypatch.setitem(_ACTIONS, "home.new", home.ACTIONS["home.new"])
    tab.press("new-study")
    assert len(tab.workspace.studies()) == 1


@pytest.mark.parametrize("event", [{}, {"do": "nothing"}, {"do": "__init__"}, {"do": "question.save"}])
def test_an_event_that_names_no_action_does_nothing(tab, event):
    study = tab.add_study()
    before = tab.record(study)
    tab.do(**event, study=study)

    assert tab.record(study) == before
    assert 'id="problem"' not in tab.read()


def test_a_tab_that_was_asleep_shows_what_changed_meanwhile(tab):
    study = tab.add_study("Before")
    with_before = tab.read()
    drawn = tab.visit.drawn._value
    tab.workspace.rename(study, "After")
    tab.do(do="awake")

    assert "Before" in with_before
    assert tab.visit.drawn._value == drawn + 1
    assert "After" in tab.read()


def test_the_tutorial_speaks_at_every_step_until_it_is_ended(tab):
    study = tab.add_study(tutorial=True)
    tab.go(study_address(study, "data"))
    assert "Tutorial, 1 of 6." in tab.words()
    tab.press("end-tutorial")

    assert not tab.record(study).tutorial
    assert "Tutorial" not in tab.words()


def test_the_left_side_marks_the_step_and_lists_four_studies(tab):
    """With fifty studies the steps must not be pushed off the screen."""
    studies = [tab.add_study(f"Study number {place}", described=True) for place in range(6)]
    tab.address = study_address(studies[0], "question")
    steps, past = tab.aside(draw_steps), tab.aside(draw_past)

    assert 'id="step-question" aria-current="step"' in steps
    assert "✓" in steps
    assert past.count("Study number") == 4
    assert "2 more" in past
    tab.address = study_address(UNKNOWN, "question")
    assert tab.aside(draw_steps) == ""
    tab.address = "#/"
    assert tab.aside(draw_steps) == ""


def test_a_finished_study_that_is_shown_has_no_other_page_and_no_action(tmp_path):
    """Whoever is shown a study must reach neither other studies nor anything that writes."""
    tab = Tab(tmp_path / "workbench", read_only=tmp_path)
    tab.desk.told["read_result"] = EvenhandError("There are no results. Hint: run the study first.")
    for address in ("#/", study_address(UNKNOWN, "apply"), study_address(UNKNOWN, "data")):
        assert "There are no results." in tab.go(address)
    assert "How do you read a report?" in tab.go(help_address("report"))
    assert tab.aside(draw_past) == ""
    tab.do(do="home.demo")  # the pages of help have its button
    assert "This study is only shown." in tab.words()
    assert tab.workspace.studies() == []
    tab.close()
