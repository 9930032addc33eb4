"""The command that was typed, with some of its options changed, as it can be typed again."""

from __future__ import annotations

import re
import shlex
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPED: ContextVar[tuple[str, ...]] = ContextVar("TYPED", default=())
"""The words after ``evenhand`` as the person typed them: a relative path stays one."""

_ADDED = ("--drop",)
"""Options that may be typed several times."""

_NAMING = ("--rule", "--allot", "--count", "--groups")
"""Options that name columns in a formula or a list."""


def retype(options: Mapping[str, str], renamed: Mapping[str, str]) -> str:
    """Return the typed command with options besides and with columns renamed; an empty name is left out.

    >>> typed = TYPED.set(("audit", "my people.csv", "--repeats=2", "--count", "pct"))
    >>> retype({"--repeats": "10", "--drop": "age"}, {"pct": "poor"})
    "evenhand audit 'my people.csv' --count poor --repeats 10 --drop age"
    >>> TYPED.reset(typed)
    """
    words: list[str] = []
    for word in TYPED.get():
        flag, equals, value = word.partition("=")
        words += [flag, value] if equals and flag in {*options, *_NAMING} else [word]
    for flag, value in options.items():
        while flag in words and flag not in _ADDED:
            place = words.index(flag)
            del words[place : place + 2]
        words += [flag, value]
    for place, flag in enumerate(words[:-1]):
        if flag in _NAMING:
            words[place + 1] = _rename(words[place + 1], renamed, is_formula=flag in _NAMING[:2])
    return shlex.join(["evenhand", *words])


def _rename(text: str, renamed: Mapping[str, str], *, is_formula: bool) -> str:
    for name, new in renamed.items():
        if is_formula:
            written = new if "`" in new else f"`{new}`"
            text = written.join(re.split(rf"`{re.escape(name)}`|(?<!\w){re.escape(name)}(?!\w)", text))
        else:
            kept = [new if each.strip() == name else each for each in text.split(",")]
            text = ",".join(each for each in kept if each.strip())
    return re.sub(r"`([A-Za-z_]\w*)`", r"\1", text)
