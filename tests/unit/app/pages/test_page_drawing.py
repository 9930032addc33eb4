"""What the pages draw of what the steps say, without a browser."""

from types import SimpleNamespace

import pytest
from htmltools import TagList

from evenhand.app.flow.views import Odds, Question
from evenhand.app.pages.question import choose_shape, draw_commands, draw_estimate, draw_form
from evenhand.app.pages.run import draw_first, draw_progress, headline_words, said_words
from evenhand.app.pages.visit import Answer
from evenhand.app.state.jobs import RunState
from evenhand.app.state.record import StudyRecord
from evenhand.app.tasks.base import Choice, Field

RECORD = StudyRecord(id="0123456789abcdef", name="Hiring", created=0.0)
HOSTILE = "<img src=x onerror=alert(1)>"


def draw(part):
    return str(TagList(part))


def one_of_each():
    choices = (Choice("a", "First"), Choice("b", "Second"))
    many = tuple(Choice(str(place), f"Choice {place}") for place in range(9))
    return (
        Field("several", "Several", "chips", choices, ("a",), help="Help.", term="protocol"),
        Field("one", "One", "choice", choices, "b"),
        Field("listed", "Listed", "choice", many, "3"),
        Field("count", "Count", "number", default="10"),
        Field("words", "Words", "text", default=HOSTILE),
        Field("lines", "Lines", "lines", default=("x", "y")),
        Field("epsilons", "ε", "text", default="0.5,3", term="epsilon"),
        Field("flag", "Flag", "switch", default=True, advanced=True),
    )


def test_every_kind_of_field_has_a_control_with_its_id_and_a_place_for_its_error():
    """A field without a place for its error leaves people with a button that does nothing."""
    html = draw(draw_form(RECORD, one_of_each(), {}))

    for field in one_of_each():
        assert f'id="field-{field.name}"' in html
        assert f'data-problem="{field.name}"' in html
    assert "<img" not in html
    assert "More choices" in html


def test_answers_of_the_record_stand_in_the_form():
    html = draw(draw_form(RECORD, one_of_each(), {"count": "25", "several": ["b"]}))

    assert 'value="25"' in html
    assert html.count("checked") >= 2


def test_the_scale_marks_the_usual_epsilons_that_are_written():
    html = draw(draw_form(RECORD, one_of_each()[6:7], {"epsilons": "0.5,1,3"}))

    assert html.count('checked=""') == 2
    assert 'value="0.5,1,3"' in html


def test_the_estimate_says_time_promise_and_odds():
    question = Question(
        minutes_words="about 14 minutes, by timing", runs="800 runs", promise="**One** promise.",
        odds=(Odds("1", 0.5, "changes odds by at most a factor of 2.7"),),
    )  # fmt: skip
    html = draw(draw_estimate(Answer(question)))

    assert all(
        words in html for words in ("about 14 minutes", "800 runs", "<b>One</b>", "ε = 1", "factor of 2.7")
    )


def test_a_question_that_cannot_be_run_says_why_in_place_of_the_estimate():
    html = draw(draw_estimate(Answer(Question(error=f"No: {HOSTILE}"))))

    assert "This cannot be run yet" in html
    assert "<img" not in html


def test_a_problem_that_may_be_mended_meanwhile_is_marked_as_busy():
    """The script lets Run be pressed again as soon as nobody knows whether the problem is still there."""
    question = Question(error="Say which column is predicted.")

    assert 'aria-busy="true"' in draw(draw_estimate(Answer(question, waiting=True)))
    assert "aria-busy" not in draw(draw_estimate(Answer(question)))


def test_the_form_names_the_question_that_it_belongs_to():
    """By it the script knows at once that the form on show is the one of the question before."""
    html = draw(draw_form(RECORD.with_(kind="release"), one_of_each(), {}))

    assert 'data-form-kind="release"' in html


def test_the_form_stays_until_the_next_one_is_known():
    record, fields = RECORD.with_(kind="release"), one_of_each()
    before, after = (record.id, "collect", fields[:2]), (record.id, "release", fields)

    assert choose_shape(record, Answer(waiting=True), before) == before
    assert choose_shape(record, Answer(Question(), waiting=True), before) == before
    assert choose_shape(record, Answer(Question(fields=fields)), before) == after
    assert choose_shape(record, Answer(error="The process ended."), after) == after


def test_a_question_that_cannot_be_read_does_not_keep_the_form_of_another():
    """Answers would else be given to the wrong question."""
    record = RECORD.with_(kind="release")
    shown = (record.id, "collect", one_of_each())

    assert choose_shape(record, Answer(error="The process ended."), shown) == (record.id, "release", ())


def test_there_is_no_command_for_a_question_that_cannot_be_run():
    assert "command-text" not in draw(draw_commands(Question(error="No.")))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RunState("none"), "Not started yet"),
        (RunState("waiting", place=2), "Waiting for its turn"),
        (RunState("running", done=508, total=820), "Running: 61%"),
        (RunState("running"), "Starting"),
        (RunState("stopped", done=4, total=10), "Stopped at 40%"),
        (RunState("finished", done=9, total=9), "Finished"),
        (RunState("failed", message="It failed."), "The run did not finish"),
    ],
)
def test_the_heading_of_a_run_says_how_far_it_is(state, words):
    assert headline_words(state) == words


def test_a_screen_reader_hears_only_every_tenth_percent():
    """A sentence each second would make the page useless to those who listen to it."""
    said = {said_words(RunState("running", done=done, total=100)) for done in range(30, 40)}

    assert said == {"Running, 30% done"}


@pytest.mark.parametrize(
    ("state", "button"),
    [
        ("running", "stop"),
        ("waiting", "stop"),
        ("stopped", "go-on"),
        ("failed", "go-on"),
        ("finished", "see"),
    ],
)
def test_each_state_of_a_run_has_the_button_that_goes_on(state, button):
    html = draw(draw_progress(RECORD.id, RunState(state, done=3, total=9)))

    assert f'id="{button}"' in html
    assert html.count("primary") == (0 if button == "stop" else 1)


def test_why_a_run_failed_is_said_and_escaped():
    html = draw(draw_progress(RECORD.id, RunState("failed", message=HOSTILE)))

    assert "run-problem" in html
    assert "<img" not in html


def test_first_results_show_an_interval_below_its_value():
    state = SimpleNamespace(
        state="running", first=({"setting": HOSTILE, "runs": 3, "accuracy": "71.0\n65.0 to 74.0"},)
    )
    html = draw(draw_first(state))

    assert "<small>65.0 to 74.0</small>" in html.replace("\n", "").replace("  ", "")
    assert "<img" not in html
