"""The form of a question says at once that it is being replaced, and Run is off while nothing can be run."""

import pytest

from browser._access import parts_that_move, severe_findings
from browser._steps import choose_dataset, describe, set_field, start_run, start_study, wait_until_whole

_CHOOSE = """
(kind) => {
  document.querySelector('#kind-' + kind).click();
  const parts = ['question_form', 'estimate', 'commands'].map((id) => document.getElementById(id));
  return {
    busy: parts.map((part) => part.getAttribute('aria-busy')),
    inert: parts.map((part) => part.inert),
    words: document.getElementById('form-status').textContent,
    run: document.getElementById('run').getAttribute('aria-disabled'),
  };
}
"""
"""Choose a question, and return what the page says before any answer can have come."""

_CHOOSE_AND_RETURN = """
() => {
  document.querySelector('#kind-release').click();
  document.querySelector('#kind-collect').click();
  return document.getElementById('question_form').getAttribute('aria-busy');
}
"""


@pytest.fixture
def asking(page):
    """Return a page that asks a question about a data set that is built in."""
    start_study(page)
    choose_dataset(page, "causal")
    describe(page)
    wait_until_whole(page)
    return page


def test_another_question_is_said_to_be_read_before_the_workbench_answers(asking):
    """On a slow machine the former form stays for seconds: nobody must take it for the new one."""
    at_once = asking.evaluate(_CHOOSE, "release")
    asking.wait_for_selector("#question_form [data-form-kind=release]")
    wait_until_whole(asking)

    assert at_once == {
        "busy": ["true"] * 3,
        "inert": [True] * 3,
        "words": "Reading what this question asks.",
        "run": "true",
    }
    assert asking.locator("[aria-busy=true], [inert]").count() == 0
    assert asking.locator("#form-status").inner_text() == ""
    assert asking.get_attribute("#run", "aria-disabled") is None


def test_who_returns_to_the_former_question_finds_its_form_ready(asking):
    """No new form comes then, so that nothing but the choice itself can end the waiting."""
    assert asking.evaluate(_CHOOSE_AND_RETURN) is None
    wait_until_whole(asking)

    assert asking.locator("[aria-busy=true], [inert]").count() == 0


def test_nothing_moves_while_a_question_is_read_if_motion_is_unwanted(asking):
    asking.emulate_media(reduced_motion="reduce")
    asking.evaluate(_CHOOSE, "learn")

    assert parts_that_move(asking) == []


def test_run_is_off_while_the_plan_cannot_be_run_and_leads_to_what_is_missing(asking):
    """A button that can be pressed below "This cannot be run yet" says two things at once."""
    set_field(asking, "epsilons", "0")
    asking.wait_for_selector("#estimate-error")
    asking.wait_for_selector("#run[aria-disabled=true]")
    asking.click("#run", force=True)

    assert asking.get_attribute("#run", "aria-describedby") == "estimate-error"
    assert asking.get_attribute("#save-plan", "aria-disabled") == "true"
    assert asking.evaluate("document.activeElement.id") == "estimate-error"
    assert asking.url.endswith("/question")
    assert severe_findings(asking) == []


def test_run_can_be_pressed_as_soon_as_the_answer_is_mended(asking):
    """The press comes before the workbench has said that the answer fits."""
    set_field(asking, "epsilons", "0")
    asking.wait_for_selector("#run[aria-disabled=true]")
    asking.fill("#field-epsilons", "1")
    start_run(asking)

    assert asking.url.endswith("/run")


def test_folds_of_the_form_and_of_the_commands_stay_open_while_answers_change(asking):
    """Who reads how the Python follows the form would have to open it after every answer."""
    asking.click("#python-fold > summary")
    asking.click("#more > summary")
    set_field(asking, "epsilons", "7")
    asking.wait_for_selector("#python-text:has-text('\"7\"')", state="attached")

    assert asking.locator("#python-fold[open], #more[open]").count() == 2
