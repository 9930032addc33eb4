"""The words of every page: one catalogue of templates with named slots for each language."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib import resources
from string import Formatter
from typing import TYPE_CHECKING, Any

from evenhand.report.language import fixed_word, flatten, in_language, written_in
from evenhand.report.words import epsilon_words, listed, number

if TYPE_CHECKING:
    from collections.abc import Callable


class Words(Formatter):
    """The templates of one language; code decides which sentence is true, the file says it.

    ====================  ================================================================
    ``{n:count}``         a whole number: ``1,203``
    ``{x:number 2}``      a number with so many digits
    ``{x:percent 1}``     a share: ``80.6%``
    ``{n:of run|runs}``   a whole number with its noun: ``1 run``, ``12 runs``
    ``{n:word is|are}``   the word that agrees with a whole number, without the number
    ``{names:and}``       a list: ``a, b and c``
    ``{e:epsilon}``       ``ε = 0.5``
    ``{text:start}``      text with a capital letter, at the start of a sentence
    ``{text}``            text as it is
    ====================  ================================================================

    >>> Words("en", {"take": "Run {n:of repeat|repeats} more."}).say("take", n=1)
    'Run 1 repeat more.'
    """

    def __init__(self, language: str, templates: dict[str, str]) -> None:
        self.language = language
        self.templates = templates

    def say(self, key: str, /, **slots: Any) -> str:
        """Return a template with its slots filled."""
        with written_in(self.language):
            return self.vformat(self.templates[key], (), slots)

    def under(self, part: str) -> Callable[..., str]:
        """Return :meth:`say` for the keys under a part, such as that of one section."""

        def say(key: str, /, **slots: Any) -> str:
            return self.say(f"{part}.{key}", **slots)

        return say

    def has(self, key: str) -> bool:
        """Return whether there is such a template."""
        return key in self.templates

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a slot as its template asks for it."""
        form, _, argument = format_spec.partition(" ")
        if not form:
            return str(value)
        return str(_FORMS[form](value, argument))


def _number(value: float, digits: str) -> str:
    return number(value, int(digits or 1)) if math.isfinite(value) else fixed_word("form.undefined")


def _percent(value: float, digits: str) -> str:
    return fixed_word("form.percent", number=_number(100 * value, digits))


def _count(value: float, _: str = "") -> str:
    return in_language(f"{value:,.0f}")


def _word(value: float, words: str) -> str:
    one, _, many = words.partition("|")
    return one if value == 1 else many


def _of(value: float, nouns: str) -> str:
    return f"{_count(value)} {_word(value, nouns)}"


def start(text: str, _: str = "") -> str:
    """Return a text with a capital letter."""
    return f"{text[:1].upper()}{text[1:]}"


_FORMS: dict[str, Callable[[Any, str], str]] = {
    "number": _number,
    "percent": _percent,
    "count": _count,
    "word": _word,
    "of": _of,
    "start": start,
    "and": lambda names, most: listed(list(names), most=int(most or 6)),
    "epsilon": lambda value, _: epsilon_words(value),
}


@cache
def words_in(language: str, *packages: str) -> Words:
    """Return the catalogue of a language, with what some packages say in their folder ``sentences``."""
    files = [resources.files(__package__), *(resources.files(each) / "sentences" for each in packages)]
    texts = [(folder / f"{language}.toml").read_text(encoding="utf-8") for folder in files]
    return Words(
        language, {key: text for each in texts for key, text in flatten(tomllib.loads(each)).items()}
    )
