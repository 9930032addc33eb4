"""A page in German: its words, its numbers, and that nothing of English stays behind."""

import re
from functools import cache
from pathlib import Path

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.report.html import render
from evenhand.report.language import written_in
from evenhand.report.words import interval_of, number
from evenhand.study.page.catalogue import catalogue
from evenhand.study.page.page import page_of
from unit.study._golden_collect import situations
from unit.study._page_studies import against, made, two
from unit.study._sentence_rules import MOST_NUMBERS, MOST_WORDS, golden_text

ENGLISH = re.compile(r"\b(?:the|of|and|with|than|that|people|accuracy|gap|settings?|runs?|repeats?|points)\b")
GOLDEN = Path(__file__).parents[3] / "golden" / "answers_collect_de.md"
NUMBER = re.compile(r"(?<![\w,])[+−]?\d[\d.,]*")


@pytest.fixture(scope="module")
def results():
    return made(against(two(0.2, 0.5), two(0.25, 0.45)), repeats=8)


@pytest.fixture(scope="module")
def page(results):
    return page_of(results, language="de", command="evenhand audit --plan plan.toml")


def texts(page):
    """Yield what a page says in its own words: not what stands in the guarantee itself, nor names of data."""
    yield from (page.question, page.kicker, page.meta, *page.answers, *page.limits, *page.method)
    yield from (note.text for note in page.notes)
    for section in page.sections:
        yield from (section.heading, section.lead, *(note.text for note in section.notes))
        yield from (text for chart in section.charts for text in (chart.alt, chart.caption))
        yield from (key.label for chart in section.charts for key in chart.legend)
        yield from (text for table in section.tables for text in (*table.header, table.caption))
        yield from (fact.term for fact in section.facts)


def test_a_german_page_has_no_english_sentence(page):
    said = [text.replace("people.csv", "") for text in texts(page)]

    assert len(said) > 60
    assert [text for text in said if ENGLISH.search(text)] == []


def test_its_fixed_words_and_its_language_are_german(page):
    html = render(page)

    assert '<html lang="de">' in html
    for words in ("Methode", "Grenzen", "Quelle", "Zur Antwort springen", "wird zu"):
        assert words in html
    assert not re.search(r"Skip to|>Method<|becomes|This page again", html)


def test_numbers_have_a_comma_in_tables_and_sentences(page):
    cells = [
        cell for section in page.sections for table in section.tables for row in table.rows for cell in row
    ]

    assert any(re.search(r"\d,\d\n\d+,\d bis \d", cell) for cell in cells)
    assert not any(re.search(r"\d\.\d", text) for text in (*cells, *page.answers))


def test_charts_have_a_comma_too(page):
    drawn = "".join(chart.wide for section in page.sections for chart in section.charts)

    assert re.search(r">\d+,\d", drawn)
    assert not re.search(r">[^<>]*\d\.\d[^<>]*</text>", drawn)


@cache
def german():
    return tuple(situations("de"))


def test_every_answer_can_be_given_in_german():
    """Each finding is as short as in English, and no word of English is left."""
    for _, said in german():
        for answer in said:
            assert len(answer.finding.split()) <= MOST_WORDS
            assert len(NUMBER.findall(re.sub(r"ε = [\d,]+", "", answer.finding))) <= MOST_NUMBERS
            assert not ENGLISH.search(str(answer))
            assert answer.finding.endswith(".")
            assert answer.finding[0].isupper()
            assert "{" not in answer


def test_german_answers_are_those_that_were_read():
    """After a change of words run this file as a script, and read what it wrote."""
    assert golden_text("collect", german()) == GOLDEN.read_text(encoding="utf-8")


def test_a_language_that_the_kind_has_not_is_refused_with_those_it_has(results):
    with pytest.raises(InvalidParameterError, match=r"'language'.*one of 'en', 'de'\. Got 'fr'"):
        page_of(results, language="fr")


def test_the_language_ends_with_its_block():
    with written_in("de"):
        assert (number(1234.5), interval_of(0.5, 1)) == ("1.234,5", "(0,5 bis 1,0)")
    assert (number(1234.5), interval_of(0.5, 1)) == ("1,234.5", "(0.5 to 1.0)")


def test_an_error_ends_the_language_as_well():
    with pytest.raises(ZeroDivisionError), written_in("de"):
        _ = 1 / 0
    assert number(0.5) == "0.5"


def test_the_numbers_of_every_run_are_the_same_in_both(results, page):
    english = page_of(results)
    columns = [
        next(table.data for section in each.sections for table in section.tables if table.name == "all-cells")
        for each in (page, english)
    ]

    assert columns[0] == columns[1]


if __name__ == "__main__":
    GOLDEN.write_text(golden_text("collect", german()), encoding="utf-8")


@pytest.mark.parametrize(
    ("language", "key", "count", "words"),
    [
        ("de", "study.failed", 1, "1 von 10 Läufen ist gescheitert"),
        ("de", "study.failed", 2, "2 von 10 Läufen sind gescheitert"),
        ("en", "method.empty", 1, "1 combination of sex and age, of 8 in all, nobody has: this is no group."),
        (
            "en",
            "method.empty",
            3,
            "3 combinations of sex and age, of 8 in all, nobody has: these are no groups.",
        ),
        ("de", "method.empty", 1, "1 Kombination von a, von 8 insgesamt, hat niemand: das ist keine Gruppe."),
    ],
)
def test_a_verb_agrees_with_its_number(language, key, count, words):
    columns = "sex and age" if language == "en" else "a"
    slots = {"failed": count, "empty": count, "total": 10, "combinations": 8, "columns": columns}

    assert catalogue("evenhand.study.page", language).say(key, **slots) == words
