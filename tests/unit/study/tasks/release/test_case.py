"""What a page on a published table says around its effects."""

import re

import pytest

from evenhand.study.page.words import words_in
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.run.whole import run
from evenhand.study.tasks.release.case import case
from evenhand.study.tasks.release.task import ReleaseTask
from unit.study import _release_studies as release

COLUMNS = ["sex", "job"]


def made(mechanisms=("laplace", "suppression"), epsilons=(1, 2), *, page=None, language="en", **task):
    """Return the case of a small study, all of whose rows are counted."""
    task = ReleaseTask(COLUMNS, list(mechanisms), list(epsilons), classify=False, **task)
    results = run(release.plan(task), frame=release.people(), workers=1, progress=False)
    return case(task, results, page=None if page is None else results.setting(page), language=language)


def test_the_question_names_the_columns_and_what_protects_them():
    """A page whose question says neither could be about any table."""
    assert made().question == "If we publish a table of sex and job with noise, who is miscounted?"
    assert made(page="suppression").question == (
        "If we publish a table of sex and job with suppression below 6, who is miscounted?"
    )
    assert made(language="de").question == (
        "Wer wird falsch gezählt, wenn wir eine Tabelle von sex und job mit Rauschen veröffentlichen?"
    )


def test_options_have_plain_names_of_their_own():
    """A reader cannot choose between two options of one name, nor by the name of a parameter."""
    mechanisms = ["laplace", "thresholded-laplace", {"name": "suppression", "threshold": 3}, "suppression"]
    options = made(mechanisms, compare_post="nonnegative").options

    names = [option.words for option in options.values()]
    assert len(set(names)) == len(names)
    assert not [name for name in names if re.search(r"post=|threshold=|[A-Z]{4}", name)]
    assert options["Laplace noise, post=nonnegative, ε = 1"].words == ("Laplace noise, none below 0")
    assert options["Laplace noise, ε = 2"].use == "Publish with Laplace noise, ε = 2"


def test_counts_below_zero_that_are_kept_are_said_where_the_page_raises_them():
    """Else the remedy would have the name of what is asked about."""
    options = made(["laplace"], post=["nonnegative"], compare_post="none").options

    assert options["Laplace noise, ε = 1"].words == "Laplace noise, none below 0"
    assert options["Laplace noise, post=none, ε = 1"].words == "Laplace noise, counts below 0 kept"


def test_a_promise_is_one_sentence_and_its_numbers():
    """If the factor or the unit were another one, people would be promised what no proof says."""
    promise = made(bound=50).promise

    assert promise.text.startswith("What one person's row says changes the chance")
    assert "by a factor of 2.72 at most" in promise.text
    assert [(fact.term, fact.text) for fact in promise.facts] == [
        ("Guarantee", "ε = 1, δ = 0"),
        ("Unit", "what one person's row says"),
        ("Mechanism", "Laplace noise"),
        ("Assumes", "the list of cells is public, and so is the bound of 50 people in a cell"),
    ]
    assert made(unit="add or remove one").promise.text.startswith("Whether one person is in the table")


def test_suppression_promises_nothing_measurable():
    """A factor beside it would be read as a promise."""
    suppressed = made(page="suppression")

    assert suppressed.promise.text.startswith("Nothing that can be measured")
    assert suppressed.promise.facts == ()
    assert suppressed.warnings[1].head == "Suppression below 6: no measurable promise."


def test_nothing_is_promised_of_a_setting_that_was_not_run():
    """An interrupted study of suppression would promise what no proof says."""
    results = release.study()
    none = Results(results.plan, results.facts, ())
    first = Results(results.plan, results.facts, results.outcomes[:1])

    assert [case(each.plan.task, each).promise for each in (none, first)] == [None, None]
    assert "no measurable promise" not in " ".join(each.head for each in case(none.plan.task, none).warnings)


def test_warnings_say_that_counts_may_be_below_zero_only_where_they_may():
    """Noise that takes as often as it gives is right on average, and a negative count surprises readers."""
    heads = [warning.head for warning in made().warnings]
    clamped = [warning.head for warning in made(post=["nonnegative"]).warnings]

    assert heads[0] == clamped[0] == "Not for publication."
    assert "Counts may be below 0." in heads
    assert "Counts may be below 0." not in clamped


def test_a_weak_delta_is_a_warning():
    """From one in so many people on, a release of one random row would keep the promise."""
    noise = [{"name": "discrete-gaussian", "delta": "0.009"}]

    assert "The promise is weak." in [warning.head for warning in made(noise).warnings]
    assert "With a chance of about 0.009 that fails." in made(noise).promise.text


def test_each_option_of_a_named_data_set_has_the_command_that_publishes_it():
    """A command that publishes something else than was tested would undo the choice."""
    results = release.made(release.by_name({}), grid=["laplace"], epsilons=[1], repeats=1, classify=False)
    named = Results(results.plan.with_(data=DataSource(dataset="adult")), results.facts, results.outcomes)
    [command] = case(named.plan.task, named).commands

    assert (command.option, command.note) == ("Laplace noise, ε = 1", "spends ε = 1, once")
    assert command.line.startswith("evenhand release adult --columns sex,job,hired --quasi sex")
    assert case(results.plan.task, results).commands == ()  # of a file, whose path the folder tells


def test_the_evidence_sets_every_way_to_publish_side_by_side():
    """Who compares mechanisms needs what each promises beside its errors."""
    [section] = made(["laplace", "suppression", "thresholded-laplace"]).evidence
    [table] = section.tables

    assert [row[0] for row in table.rows] == [
        "Laplace noise",
        "Suppression below 6",
        "Noise and a threshold of 6",
    ]
    assert table.header[:2] == ["Way to publish", "δ"]
    assert table.rows[1][1] == "1.000"
    assert all(len(row) == len(table.header) for row in table.rows)


@pytest.mark.parametrize("language", ["en", "de"])
def test_names_in_the_table_do_not_depend_on_the_language(language):
    """If they did, an option would have no name, no command and no row."""
    found = made(epsilons=(0.5, 1), language=language)

    assert set(found.options) == {option.name for option in found.table.options}
    assert "Laplace noise, ε = 0.5" in found.options


def test_every_mechanism_has_a_name_in_every_language():
    """A German page must not fall back to English words."""
    from evenhand.release.mechanisms.registry import MECHANISMS

    own = [name for name in MECHANISMS if MECHANISMS[name].__module__.startswith("evenhand.")]
    assert [
        name for name in own for language in ("en", "de") if not words_in(language).has(f"mechanism.{name}")
    ] == []
