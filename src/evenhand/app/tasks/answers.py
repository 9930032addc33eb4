"""Answers of a form as a task takes them, and a task as it is typed."""

from __future__ import annotations

import csv
import tomllib
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.app.tasks.base import Choice

_MOST_NAMED = 8


def list_answer(values: Mapping[str, Any], name: str) -> list[str]:
    """Return an answer that may be several: a list, or a text with commas or line ends between them.

    >>> list_answer({"epsilons": "0.5, 1"}, "epsilons"), list_answer({}, "epsilons")
    (['0.5', '1'], [])
    """
    given = values.get(name)
    if given is None:
        return []
    if isinstance(given, str):
        rows = csv.reader(given.splitlines(), skipinitialspace=True)
        given = [word for row in rows for word in row]
    return [str(word).strip() if isinstance(word, str) else str(word) for word in given if str(word).strip()]


def column_answer(values: Mapping[str, Any], name: str) -> list[str]:
    """Return columns as they were chosen; a column keeps its name as it stands."""
    given = values.get(name)
    if isinstance(given, list | tuple):
        return [str(column) for column in given if str(column)]
    return list_answer(values, name)


def text_answer(values: Mapping[str, Any], name: str) -> str:
    """Return an answer of one line, an empty text where there is none."""
    given = values.get(name)
    return "" if given is None or given is False else str(given).strip()


def text_answers(values: Mapping[str, Any], *names: str) -> dict[str, str]:
    """Return the answers of one line that there are, by name.

    >>> text_answers({"unit": "replace one", "delta": ""}, "unit", "delta")
    {'unit': 'replace one'}
    """
    given = {name: text_answer(values, name) for name in names}
    return {name: text for name, text in given.items() if text}


def number_answer(values: Mapping[str, Any], name: str, *, owner: str) -> float | None:
    """Return a number, None where there is none; refuse what is no number."""
    text = text_answer(values, name).replace(",", "")
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(name, owner=owner, must_be="a number", got=text) from None


def whole_answer(values: Mapping[str, Any], name: str, *, owner: str) -> int | None:
    """Return a whole number, None where there is none; refuse what is none."""
    number = number_answer(values, name, owner=owner)
    if number is None:
        return None
    if not abs(number) < 2**53 or not number.is_integer():
        raise InvalidParameterError(name, owner=owner, must_be="a whole number", got=f"{number:g}")
    return int(number)


def choice_words(kind: str, name: str) -> tuple[str, str]:
    """Return what a choice does and what it is good for, in words for everybody; empty where nobody wrote it.

    >>> choice_words("mechanisms", "suppression")[0]
    'Counts below a limit are left out, and all others are published as they are.'
    """
    entry = _words()[kind].get(name, {})
    return entry.get("does", ""), entry.get("fits", "")


def promise_paragraphs(kind: str, name: str) -> tuple[str, ...]:
    """Return what a choice promises and what that assumes, in words for everybody.

    >>> promise_paragraphs("methods", "plain")
    ('Nothing is promised: the model is made from the true rows.',)
    """
    paragraphs = _words()["promises"]
    return tuple(paragraphs[key] for key in _words()[kind].get(name, {}).get("promised", ()))


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def in_order(chosen: Iterable[str], choices: Iterable[Choice]) -> list[str]:
    """Return answers in the order of the choices, so that the same answers make the same plan."""
    places = {choice.value: place for place, choice in enumerate(choices)}
    return sorted(dict.fromkeys(chosen), key=lambda value: places.get(value, len(places)))


def few_names(names: Sequence[str]) -> list[str]:
    """Return names of columns as a sentence can hold them: the first few, and how many more there are.

    >>> few_names(("a", "b")), few_names(tuple("abcdefghij"))[-2:]
    (['a', 'b'], ['h', '2 more columns'])
    """
    more = [f"{len(names) - _MOST_NAMED:,} more columns"] if len(names) > _MOST_NAMED + 1 else []
    return [*names[:_MOST_NAMED], *more] if more else list(names)


def type_epsilons(epsilons: Iterable[Fraction]) -> str:
    """Return epsilons as they are typed: decimals where they are exact.

    >>> type_epsilons([Fraction(1, 2), Fraction(1, 3)])
    '0.5,1/3'
    """
    return ",".join(type_number(epsilon) for epsilon in epsilons)


def type_number(amount: Fraction) -> str:
    """Return an exact number as it is typed."""
    written = f"{float(amount):g}"
    return written if Fraction(written) == amount else as_text(amount)


def type_options(options: Mapping[str, object], usual: Mapping[str, object]) -> list[str]:
    """Return options that differ from what is usual, as they are typed; a flag that is True stands alone."""
    words: list[str] = []
    for flag, value in options.items():
        if value in (None, "", False) or value == usual.get(flag):
            continue
        words += [f"--{flag}"] if value is True else [f"--{flag}", str(value)]
    return words
