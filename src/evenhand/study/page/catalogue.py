"""Sentences as templates with named slots: one catalogue for each part and each language.

A catalogue is a folder ``sentences`` of TOML files, ``en.toml`` for English. A template names its numbers and
how they are written: ``"{spent:percent} of the budget is spent"``. Code decides *which* sentence is true and
gives its numbers; the file says it. A translation is one more file.

=====================  ====================================================================================
``{x:percent}``        a share: ``80.6%``
``{n:count}``          a whole number: ``1,203``
``{n:of run|runs}``    a whole number with its noun: ``1 run``, ``12 runs``
``{n:word is|are}``    the word that agrees with a whole number, without the number
``{x:number 2}``       a number with so many digits
``{names:and}``        a list: ``a, b and c``
``{e:epsilon}``        ``ε = 0.5``
``{text}``             text as it is
=====================  ====================================================================================
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from string import Formatter
from typing import TYPE_CHECKING, Any

from evenhand.report.language import LANGUAGES, fixed_word, flatten, in_language, written_in
from evenhand.report.page import Answer
from evenhand.report.words import epsilon_words, listed, number
from evenhand.study.page.wording import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_SHARED = ("evenhand.study.page",)


@dataclass(frozen=True)
class Catalogue(Formatter):
    """The templates of one kind of study in one language.

    Parameters
    ----------
    language : str
        Such as ``"en"``.
    templates : mapping of str to str
        By their dotted key.

    Examples
    --------
    >>> template = {"right": "right for {share:percent} of {people:of person|people}"}
    >>> Catalogue("en", template).say("right", share=0.806, people=1203)
    'right for 80.6% of 1,203 people'
    """

    language: str
    templates: Mapping[str, str]

    def say(self, key: str, /, **slots: Any) -> str:
        """Return a sentence with its slots filled."""
        with written_in(self.language):
            return self.vformat(self.templates[key], (), slots)

    def under(self, part: str) -> Callable[..., str]:
        """Return :meth:`say` for the keys under a part, such as that of one section."""

        def say(key: str, /, **slots: Any) -> str:
            return self.say(f"{part}.{key}", **slots)

        return say

    def answer(self, key: str, /, *, action: str = "", **slots: Any) -> Answer:
        """Return the templates ``finding`` and ``evidence`` under a key; evidence is optional."""
        evidence = self.say(f"{key}.evidence", **slots) if f"{key}.evidence" in self.templates else ""
        return Answer(self.say(f"{key}.finding", **slots), evidence, action)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a slot as its template asks for it."""
        form, _, argument = format_spec.partition(" ")
        if not form:
            return str(value)
        write = getattr(self, f"_{form}", None)
        if write is None:
            raise ValueError(f"A template has no form '{form}'")
        return str(write(value, argument))

    # --- forms --------------------------------------------------------------------------------------

    def _number(self, value: Any, digits: str = "1", *, sign: bool = False) -> str:
        size = float(getattr(value, "value", value))
        if not math.isfinite(size):
            return fixed_word("form.undefined")
        return number(size, int(digits or 1), sign=sign)

    def _percent(self, value: Any, digits: str = "1") -> str:
        return percent(float(getattr(value, "value", value)), int(digits or 1))

    def _count(self, value: float, _: str = "") -> str:
        return in_language(f"{value:,.0f}")

    def _of(self, value: int, nouns: str) -> str:
        return f"{self._count(value)} {self._word(value, nouns)}"

    def _word(self, value: int, words: str) -> str:
        one, _, many = words.partition("|")
        return one if value == 1 else many

    def _and(self, words: Any, most: str = "") -> str:
        return listed(list(words), most=int(most or 6))

    def _epsilon(self, value: Any, _: str = "") -> str:
        return epsilon_words(value)


@cache
def catalogue(package: str, language: str = "en") -> Catalogue:
    """Return the catalogue of the package of a kind of study, with what all kinds share."""
    templates: dict[str, str] = {}
    for owner in filter(None, (*_SHARED, package)):
        text = (resources.files(owner) / "sentences" / f"{language}.toml").read_text(encoding="utf-8")
        templates.update(flatten(tomllib.loads(text)))
    return Catalogue(language, templates)


def languages(package: str) -> tuple[str, ...]:
    """Return the languages of a package, English first: all where the words of answers are used.

    Else those that its catalogue has; without one, English.
    """
    if package and find_spec(f"{package}.case") is not None:
        return LANGUAGES
    folder = resources.files(package) / "sentences" if package else None
    if folder is None or not folder.is_dir():
        return ("en",)
    return tuple(language for language in LANGUAGES if (folder / f"{language}.toml").is_file())
