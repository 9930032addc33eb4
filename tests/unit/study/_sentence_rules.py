"""What every finding at the head of a report keeps to, whatever it is about."""

import re

MOST_WORDS, MOST_NUMBERS = 25, 2
_OF_HUNDRED = re.compile(r"\b(?:about )?[\d.,]+ (?:of|in) (?:every )?[\d,]*00\b")
_NUMBER = re.compile(r"(?<![\w.])[+−]?\$?\d[\d.,]*%?")
_NEVER = re.compile(r"\b(?:not un\w+|nan|inf|undefined)\b|\{|\}|  | ,|\.\.")
_CELL = re.compile(r"\bcells?\b")
WITH_TABLES = frozenset({"release"})
"""Kinds of study about tables, which have cells; elsewhere a cell is called a run."""


def broken_rules(finding, kind=""):
    """Return what is wrong with a finding; digits in the labels of made-up data count as numbers."""
    words = len(finding.split())
    numbers = len(_NUMBER.findall(_OF_HUNDRED.sub("1", finding)))
    broken = []
    if words > MOST_WORDS:
        broken.append(f"{words} words")
    if numbers > MOST_NUMBERS:
        broken.append(f"{numbers} numbers")
    if not finding.endswith(".") or (not finding[0].isupper() and not finding[0].isdigit()):
        broken.append("no sentence")
    return [*broken, *_NEVER.findall(finding), *(_CELL.findall(finding) if kind not in WITH_TABLES else ())]


def golden_text(kind, situations):
    """Return the three answers of each situation, as a person reads them."""
    lines = [f"# What a study of the kind {kind} says", ""]
    for title, answers in situations:
        lines += [f"## {title}", ""]
        for place, answer in enumerate(answers, start=1):
            lines.append(f"{place}. {answer}")
            action = getattr(answer, "action", "")
            lines += [f"   `{action}`"] if action else []
        lines.append("")
    return "\n".join(lines)
