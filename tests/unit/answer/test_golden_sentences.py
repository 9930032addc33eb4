"""Every sentence of an answer, for made-up tables of each kind, as a person reads it.

After a change of words run this file as a script, and read what it wrote.
"""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evenhand.answer.case import Name
from evenhand.answer.compose import compose
from evenhand.answer.effects import EFFECTS, EVERYBODY
from evenhand.answer.harm import find_payers
from evenhand.answer.words import words_in
from unit.answer._cases import cases
from unit.answer._tables import in_german

FOLDER = Path(__file__).parents[2] / "golden"
MOST_WORDS, MOST_NUMBERS, MOST_TEMPLATES = 20, 2, 250
CASES = cases()
IN_GERMAN = (
    "one group pays, and most of it can be undone", "a remedy needs the true group",
    "qualified people are refused, and a remedy helps", "three groups pay, one most",
    "everybody pays, one group most", "one group pays and one gains", "a small group may pay more",
    "the remedy would cost others more", "the remedy selects too many",
    "a larger epsilon would spare everybody", "nobody pays, and small groups cannot be judged",
    "a loss is possible, and so is none", "all repeats on one side", "fewer flags in every repeat",
    "every group is too small",
    "a delta that promises nothing", "districts are paid below zero", "a group is wholly missing",
    "two people are counted as nine", "a lower threshold helps",
    "smoothing pays small districts what is due",
    "qualified people of one group are refused more often",
)  # fmt: skip
_FREE = re.compile(r"\b1[,.]?000\b|\b100\b|ε = [\d.,]+")
_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_WRONG = re.compile(r"  |\bnan\b|\binf\b|\b1 are\b|\b[02-9] is\b|[(){}]|–|\.\.| [,;:.]")


@cache
def told(name, language="en"):
    """Return the view of a case."""
    return compose(CASES[name] if language == "en" else in_german(CASES[name]))


def sentences(view):
    """Return the verdict and the three sentences."""
    return (view.verdict, view.who.text, view.how_much.text, view.what_to_do.text)


def golden_text(language):
    """Return what is said of each case, as a person reads it."""
    lines = []
    for name in CASES if language == "en" else IN_GERMAN:
        view = told(name, language)
        lines += [f"# {name}", *([view.question] if language == "en" else []), f"= {view.verdict}"]
        for sentence in (view.who, view.how_much, view.what_to_do):
            lines += [f"- {sentence.text}", *(f"    {detail}" for detail in sentence.details)]
        heads = dict.fromkeys((view.heading, view.choice_heading, view.epsilon_heading))
        lines += [f"[{' | '.join(head for head in heads if head)}]"]
        for panel in view.panels[:1]:
            lines += [f"    {line.label}: {line.after.words}" for line in panel.lines[:3]]
        lines += [f"    {row.name} ({row.tag_words}): {row.left}, {row.price}" for row in view.remedies]
        lines.append("")
    return "\n".join(lines)


@pytest.mark.parametrize("language", ["en", "de"])
def test_answers_are_those_that_were_read(language):
    assert golden_text(language) == (FOLDER / f"answers.{language}.txt").read_text(encoding="utf-8")


def test_the_cases_are_as_many_as_were_promised():
    assert len(CASES) >= 60
    assert len(IN_GERMAN) >= 20
    assert set(IN_GERMAN) <= set(CASES)


# --- rules of every sentence ----------------------------------------------------------------------


def broken_rules(sentence, names=()):
    """Return what is wrong with a sentence, in which the groups have some names."""
    for name in sorted(names, key=len, reverse=True):
        sentence = re.sub(re.escape(name), "G" * len(name.split()), sentence, flags=re.IGNORECASE)
    numbers = len(_NUMBER.findall(_FREE.sub("", sentence)))
    broken = _WRONG.findall(sentence)
    broken += [f"{numbers} numbers"] if numbers > MOST_NUMBERS else []
    return (
        broken if sentence.endswith(".") and sentence[0] == sentence[0].upper() else [*broken, "no sentence"]
    )


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", CASES)
def test_a_sentence_is_short_and_whole(name, language):
    view = told(name, language)
    names = [each.words for each in CASES[name].groups.values()]
    broken = {each: rules for each in sentences(view) if (rules := broken_rules(each, names))}

    assert broken == {}
    if language == "en":
        assert {each: len(each.split()) for each in sentences(view) if len(each.split()) > MOST_WORDS} == {}


def test_a_long_sentence_and_one_with_three_numbers_break_the_rules():
    """The twin of the test above."""
    assert broken_rules("Of 1,000 women, 1 are hired instead of 3.") == ["1 are"]
    assert broken_rules("From 1 to 2 points, or 3.") == ["3 numbers"]
    assert broken_rules("Of 1,000 women, 5 are hired instead of nan.") == ["nan"]
    assert broken_rules("women pay.") == ["no sentence"]
    assert (
        broken_rules(
            "District 21, district 33 and district 7 pay.", ["district 21", "district 33", "district 7"]
        )
        == []
    )


@pytest.mark.parametrize("name", CASES)
def test_long_names_leave_a_sentence_short(name):
    """If they did not, a column with many values would make every sentence unreadable."""
    case = CASES[name]
    groups = {
        key: Name(f"people with race = R{place}", f"race = R{place}", is_one=each.is_one)
        for place, (key, each) in enumerate(case.groups.items())
    }
    view = compose(replace(case, groups=groups))

    assert {each for each in sentences(view) if len(each.split()) > MOST_WORDS + 2} == set()


@pytest.mark.parametrize("name", CASES)
def test_only_a_recommended_option_is_said_to_be_used(name):
    """If another were, a reader would follow what fails a test."""
    case, view = CASES[name], told(name)
    orders = {option.use for key, option in case.options.items() if option.use and key != view.recommended}

    assert not [order for order in orders for sentence in sentences(view) if order in sentence]
    assert (
        not re.search(r"\buse\b(?! this result)", " ".join(sentences(view)), re.IGNORECASE)
        or view.recommended
    )


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_names_nobody_but_who_pays_or_would(name):
    case, view = CASES[name], told(name)
    if view.state not in ("pays", "stop"):
        return
    payers = {payer.row.group for payer in find_payers(case.table).payers}
    named = {
        key
        for key, each in case.groups.items()
        if re.search(rf"\b{each.words}\b", view.verdict, re.IGNORECASE)
    }
    worse = {key for key, each in case.groups.items() if f"cost {each.words} more" in view.verdict}

    assert {group for group in named if not any(group in payer for payer in payers)} <= worse


# --- numbers ------------------------------------------------------------------------------------


def _near(case, group, option):
    """Return the numbers that a sentence on a group under an option may show, from its observations alone."""
    found = {"0"}
    for seen in case.table.observations:
        if seen.group != group or seen.option != option or not len(seen.after):
            continue
        after, due = float(np.mean(seen.after)), float(np.mean(seen.due))
        unit = EFFECTS[seen.effect].unit
        scale = (
            1 / seen.people if unit == "dollars" else 0.1 if seen.effect in ("refused", "granted") else 1.0
        )
        if seen.effect == "wrongly_refused" and np.isfinite(seen.rate):
            after, due = seen.rate, seen.due_rate
        after, due = after * scale, due * scale
        values = (after, due, round(after) - round(due), after - due, seen.people)
        found |= {f"{abs(value):,.{digits}f}" for value in values for digits in (0, 1, 2)}
    return found


def _numbers(sentence, case):
    for each in sorted(case.groups.values(), key=lambda name: -len(name.words)):
        sentence = re.sub(re.escape(each.words), "", sentence, flags=re.IGNORECASE)
    return set(_NUMBER.findall(_FREE.sub("", sentence)))


@pytest.mark.parametrize("name", CASES)
def test_shown_numbers_are_those_of_the_table(name):
    """If not, the page would tell of nobody in the file."""
    case, view = CASES[name], told(name)
    verdict = find_payers(case.table)
    if not verdict.payers or verdict.trouble[:1] not in ((), ("missing",), ("below zero",)):
        return
    group = verdict.payers[0].row.group

    assert _numbers(view.how_much.text, case) <= _near(case, group, case.table.page)
    if view.recommended:
        figures = replace(case, table=case.table.fresh or case.table)
        assert _numbers(view.what_to_do.text, case) <= _near(figures, group, view.recommended)


def test_a_number_of_another_group_is_found():
    """The twin of the test above."""
    case = CASES["no remedy was tried"]

    assert not _numbers("Of 1,000 women, 231 are hired.", case) <= _near(case, "women", case.table.page)


@pytest.mark.parametrize("name", CASES)
def test_what_is_shown_of_a_line_adds_up(name):
    """If 174 became 52 and 121 were said to be lost, a reader would trust no number."""
    for panel in told(name).panels:
        if panel.scale != "of 1,000":
            continue
        for line in panel.lines:
            due, after = (_NUMBER.fullmatch(each) for each in (line.due_shown, line.after.shown))
            change = _NUMBER.search(line.after.change)
            if due and after and change:
                assert abs(int(after[0]) - int(due[0])) == int(change[0])


@pytest.mark.parametrize("name", CASES)
def test_the_heading_of_the_picture_does_not_repeat_a_sentence(name):
    view = told(name)

    assert view.heading not in " ".join(sentences(view))


def _excludes_zero(limits):
    """Return whether limits as they are written, such as "−3 to +5", leave out 0."""
    low, high = (float(re.sub(r"[^0-9.-]", "", text.replace("−", "-"))) for text in limits.split(" to "))
    return low > 0 or high < 0


@pytest.mark.parametrize("name", CASES)
def test_no_clear_change_has_limits_with_0_between_them(name):
    """If not, words and numbers of one line would contradict each other."""
    view = told(name)
    lines = [line for panel in view.panels for line in panel.lines]
    marks = [mark for line in lines for mark in (line.after, line.remedy) if mark]
    beside = [mark.limits for mark in marks if "no clear change" in mark.words and mark.limits]
    details = [detail for part in (view.who, view.how_much, view.what_to_do) for detail in part.details]
    beside += re.findall(r"no clear change \((.*?)\)", " ".join(details))

    assert [limits for limits in beside if _excludes_zero(limits)] == []
    assert (_excludes_zero("+1 to +5"), _excludes_zero("−5 to 0")) == (True, False)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_said_twice(name):
    """If it were, a reader would look for the difference between the two."""
    view = told(name)
    parts = (view.who, view.how_much, view.what_to_do)
    lines = [view.verdict, *(text for part in parts for text in (part.text, *part.details))]

    assert [line for line in set(lines) if lines.count(line) > 1 and line != view.who.text] == []


def test_the_catalogue_is_small_and_the_same_in_both_languages():
    english, german = (words_in(language).templates for language in ("en", "de"))
    slots = [
        {key: set(re.findall(r"\{(\w+)", text)) - {"gn"} for key, text in each.items()}
        for each in (english, german)
    ]

    assert len(english) <= MOST_TEMPLATES
    assert slots[0] == slots[1]


def test_everybody_has_no_name():
    assert all(EVERYBODY not in case.groups for case in CASES.values())


if __name__ == "__main__":
    for tongue in ("en", "de"):
        (FOLDER / f"answers.{tongue}.txt").write_text(golden_text(tongue), encoding="utf-8")
