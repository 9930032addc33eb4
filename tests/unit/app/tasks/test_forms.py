"""Every kind of study has a form whose defaults are those of the command line."""

import shlex

import pytest

import evenhand as eh
from evenhand.app.tasks.registry import FORMS, form_of_kind
from evenhand.cli.options import split_list
from evenhand.cli.tasks.registry import load_task_command
from evenhand.errors import UnknownNameError
from evenhand.study import ReleaseTask
from evenhand.study.tasks.registry import KINDS

NAMES = ("place", "people", "poor")


@pytest.fixture(scope="module")
def schema():
    return eh.datasets.load("causal", n=100).schema


def answers_of(kind):
    return {"rule": "poor/people > 0.2"} if kind == "decide" else {}


def test_every_kind_of_study_has_a_form():
    assert set(FORMS) == set(KINDS)
    with pytest.raises(UnknownNameError):
        form_of_kind("guess")


@pytest.mark.parametrize("kind", FORMS)
def test_a_form_is_words_choices_and_defaults_that_make_a_task(kind, schema):
    form = form_of_kind(kind)
    fields = form.fields(schema, NAMES)
    named = {field.name: field for field in fields}
    defaults = {field.name: field.default for field in fields if field.default not in (None, "", ())}
    plain = form.task(answers_of(kind), schema, names=NAMES, rows=100)

    assert form.kind == kind
    assert form.title
    assert form.sentence.endswith("?")
    assert len(named) == len(fields)
    assert all(field.label for field in fields)
    for field in fields:
        assert all(choice.label for choice in field.choices)
        if field.kind == "chips":
            assert set(field.default or ()) <= {choice.value for choice in field.choices}
            assert all(choice.sentence for choice in field.choices)
    assert form.task({**defaults, **answers_of(kind)}, schema, names=NAMES, rows=100) == plain


@pytest.mark.parametrize("kind", FORMS)
def test_options_are_those_of_the_command_line(kind, schema):
    """If this is false, the shown command is refused when somebody types it."""
    form = form_of_kind(kind)
    task = form.task(answers_of(kind), schema, names=NAMES, rows=100)
    flags = [word for word in form.options(task) if word.startswith("--")]
    known = {flag for option in load_task_command(kind).build().params for flag in option.opts}

    assert flags
    assert set(flags) <= known
    assert shlex.split(shlex.join(form.options(task))) == form.options(task)


def test_names_with_commas_and_quotation_marks_are_typed_as_the_command_line_reads_them():
    columns = ["age", "rent, monthly", 'the "old", one']
    options = form_of_kind("release").options(ReleaseTask(columns, "laplace", 1))

    assert split_list([options[options.index("--columns") + 1]]) == tuple(columns)


def test_the_promise_of_a_decision_is_about_people_and_not_about_counts():
    """A count is of a place: nobody has "values of one person's poor"."""
    form = form_of_kind("decide")
    task = form.task(answers_of("decide"), None, names=NAMES, rows=100)

    assert "any two values of one person's record by at most" in str(form.promise(task, None, epsilon="1"))


@pytest.mark.parametrize("kind", FORMS)
def test_the_promise_is_a_sentence_of_a_guarantee(kind, schema):
    form = form_of_kind(kind)
    task = form.task(answers_of(kind), schema, names=NAMES, rows=100)
    promise = str(form.promise(task, schema, epsilon="1"))

    assert "at most a factor of 2.72" in promise
    assert "epsilon = 1" in promise
