"""Every sentence at the head of a report, for made-up results of each kind, as a person reads it.

After a change of words run this file as a script, and read what it wrote.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from unit.study._sentence_rules import broken_rules, golden_text

FOLDER = Path(__file__).parents[2] / "golden"
KINDS = sorted(path.stem.removeprefix("_golden_") for path in Path(__file__).parent.glob("_golden_*.py"))


@cache
def situations(kind):
    return tuple(import_module(f"unit.study._golden_{kind}").situations())


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_that_were_read(kind):
    assert golden_text(kind, situations(kind)) == (FOLDER / f"answers_{kind}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_a_finding_is_short_and_has_two_numbers_at_most(kind):
    broken = {
        answer.finding: rules
        for _, answers in situations(kind)
        for answer in answers
        if (rules := broken_rules(answer.finding, kind))
    }

    assert broken == {}
    assert len(situations(kind)) >= 40


@pytest.mark.parametrize("kind", KINDS)
def test_that_nothing_can_be_distinguished_is_said_once_at_most(kind):
    often = {
        title
        for title, answers in situations(kind)
        if " ".join(map(str, answers)).count("cannot be distinguished") > 1
    }

    assert often == set()


def test_a_long_finding_and_one_with_three_numbers_break_the_rules():
    """The twin of the test above."""
    assert broken_rules("word " * 26 + ".") != []
    assert broken_rules("From 1 to 2 points, or 3.") == ["3 numbers"]
    assert broken_rules("In about 7 of 100 releases one of 40 counties loses 2 points.") == ["3 numbers"]
    assert broken_rules("In about 7 of 100 releases one county loses its right.") == []
    assert broken_rules("No cell is done.") == ["cell"]
    assert broken_rules("Small cells suffer most.", "release") == []


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in KINDS:
        (FOLDER / f"answers_{name}.md").write_text(golden_text(name, situations(name)), encoding="utf-8")
