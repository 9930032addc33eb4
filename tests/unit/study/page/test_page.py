"""Pages of studies of classifiers: what is written, in which words, and where a command stands."""

import re
from dataclasses import fields, is_dataclass

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.report.page import Table
from evenhand.study.tasks.collect.task import CollectTask
from unit.study import _learn_studies
from unit.study._page_studies import BEFORE, FULL, NEVER, against, by_setting, made, sweep, two

NOT_WORDS = {"rows", "line", "data", "wide", "narrow", "state", "effect", "scale", "role", "tag"}
ENGLISH = re.compile(
    r"\b(?:the|of|and|with|than|that|people|accuracy|gap|settings?|runs?|repeats?|points)\b", re.IGNORECASE
)


def texts(thing):
    """Yield everything that people read of a view."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Table):
        yield from (thing.caption, *thing.header, *(cell for row in thing.rows for cell in row))
    elif is_dataclass(thing) or hasattr(thing, "_fields"):
        names = [field.name for field in fields(thing)] if is_dataclass(thing) else thing._fields
        for name in names:
            if name not in NOT_WORDS:
                yield from texts(getattr(thing, name))
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from texts(each)


def in_own_words(view):
    """Yield what a view says but for the guarantee itself, names of options in tables, and versions."""
    shown = [
        view.verdict,
        view.who,
        view.how_much,
        view.what_to_do,
        view.warnings,
        view.panels,
        view.remedies,
    ]
    shown += [
        view.question,
        view.kind,
        view.meta,
        view.method[1:],
        view.limits,
        view.promise.text,
        view.caption,
    ]
    return texts([*shown, view.curve, [fact.term for fact in view.promise.facts]])


def test_a_whole_report_is_written_with_its_pictures_and_figures(tmp_path):
    """Everything together: charts, template, files."""
    results = made(against(BEFORE, two(0.23, 0.57)), collect=CollectTask(["grr", "oue"], 1, splits="uniform"))
    path = results.report(tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")

    assert path == tmp_path / "report.html"
    assert results.view().verdict in text
    assert {"frontier.csv", "all-cells.csv"} <= set(re.findall(r'download="([^"]+)"', text))


@pytest.mark.usefixtures("undrawn")
def test_no_page_says_what_is_never_said():
    """Nobody is safe, nothing is significant, and no number is undefined."""
    for results in sweep()[::6]:
        said = [text for text in texts(results.view()) if NEVER.search(text) and "SHA-256" not in text]
        assert said == []


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "results",
    [
        made(by_setting({}), collect=FULL, repeats=8),
        _learn_studies.made(lambda setting, _: _learn_studies.measures(epsilon=setting.epsilon), repeats=8),
    ],
    ids=["collect", "learn"],
)
def test_a_german_page_has_no_english_sentence_and_commas(results):
    """A page in two languages is read by nobody."""
    said = [
        re.sub(r"people\.csv|LogisticRegression", "", text)
        for text in in_own_words(results.view(language="de"))
    ]

    assert len(said) > 40
    assert [text for text in said if ENGLISH.search(text)] == []
    assert [text for text in said if re.search(r"\d\.\d(?!\d\d)", text)] == []


@pytest.mark.usefixtures("undrawn")
def test_a_language_that_is_not_there_is_refused_with_those_that_are():
    """A KeyError would tell nobody which there are."""
    with pytest.raises(InvalidParameterError, match=r"'language'.*'en'.*'de'.*Got 'fr'"):
        made(against(BEFORE, BEFORE)).view(language="fr")


@pytest.mark.usefixtures("undrawn")
def test_a_page_is_about_a_protected_setting():
    """The unprotected result is what others are compared with."""
    with pytest.raises(InvalidParameterError, match="a protected setting"):
        made(against(BEFORE, BEFORE)).view(chosen="unprotected")


def test_a_command_is_given_only_where_its_plan_lies(tmp_path):
    """A command that names a file nobody has is of no use."""
    results = made(against(BEFORE, BEFORE))
    before = results.command(tmp_path)
    results.plan.save(tmp_path / "plan.toml")
    there = results.command(tmp_path)
    results.plan.with_(seed=8).save(tmp_path / "plan.toml")
    other = results.command(tmp_path)

    assert (before, there, other) == ("", "evenhand audit --plan plan.toml", "")
