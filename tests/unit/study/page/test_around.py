"""What every page says around its answer: warnings in order, rows, repeats, limits and sources."""

import pytest

from evenhand._notes import Note
from evenhand.answer.case import Warned
from evenhand.study.page.around import say_around, warned
from unit.study._release_studies import study

NOTES = (
    Note("sample", "The study uses 500 of the rows."),
    Note("privacy", "The domain of 'age' was read from the rows."),
    Note("data", "Ages are in years."),
)


def heads(results, **options):
    return [warning.head for warning in say_around(results, **options)["warnings"]]


def test_that_a_page_is_not_private_comes_first_and_limits_of_the_data_last():
    """The first warning alone is read: it must be the one that protects people."""
    own = (Warned("Counts may be below 0.", "…"),)
    found = heads(study(notes=NOTES, failures=(1,), epsilons=(1, 20), repeats=1), warnings=own)

    assert found == [
        "Not for publication.",
        "The promise may be weaker.",
        "1 run has no result.",
        "Counts may be below 0.",
        "Only some of the rows.",
        "A large ε protects little.",
        "A single repeat has no limits.",
    ]


def test_a_single_repeat_of_exact_numbers_is_no_warning():
    """Nothing varies: to ask for ten repeats would cost time and change nothing."""
    assert heads(study(repeats=1), is_exact=True) == ["Not for publication."]


def test_runs_without_a_result_are_counted():
    """A mean over the runs that happened to finish looks like one over all."""
    [_, missing] = say_around(study(failures=(1, 2)))["warnings"]

    assert missing.head == "2 runs have no result."
    assert "2 failed and 0 were not run" in missing.text
    assert missing.text.endswith("no number covers them (ValueError).")


def test_rows_repeats_and_sources_are_told():
    """Without them nobody can say later which data a page was about."""
    said = say_around(study(), method=["Noise is added."])
    counties = say_around(study(), counted="12 counties", is_exact=True)

    assert said["meta"] == "people.csv: 1,000 people, 10 repeats"
    assert counties["meta"] == "people.csv: 12 counties"
    assert said["method"] == (
        "people.csv: 1,000 people (Women: 100 and Men: 900).",
        "Noise is added.",
        "10 repeats, with seeds from 0 on.",
    )
    assert said["limits"][-1] == "One data set, ε = 1 and 4. Nothing is said about others."
    assert said["sources"][0].startswith("Rows: SHA-256 0000000000000000…")


def test_notes_on_the_data_are_told_once():
    """What is a warning already need not stand in the method too."""
    method = say_around(study(notes=NOTES))["method"]

    assert "Ages are in years." in method
    assert not any("500 of the rows" in line for line in method)


def test_german_pages_say_all_of_it_in_german():
    """A page of two languages is read by nobody."""
    results = study(notes=NOTES, failures=(1,), epsilons=(1, 20), repeats=1)
    said = say_around(results, language="de")

    assert heads(results, language="de") == [
        "Nicht veröffentlichen.",
        "Die Zusage kann schwächer sein.",
        "1 Lauf hat kein Ergebnis.",
        "Nur ein Teil der Zeilen.",
        "Ein großes ε schützt wenig.",
        "Eine einzige Wiederholung hat keine Grenzen.",
    ]
    assert said["method"][0] == "people.csv: 1.000 Personen (Women: 100 und Men: 900)."
    assert said["limits"][-1].startswith("Ein Datensatz, ε = 1 und 20.")


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_warning_has_a_head_and_a_sentence(language):
    """A template without bold words would lose its first letters."""
    for key in ("not_private", "one_repeat"):
        warning = warned(language, f"study.{key}")

        assert warning.head.endswith(".")
        assert warning.text.endswith(".")
        assert "**" not in "".join(warning)
