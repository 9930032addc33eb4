"""In which language a page is written: its fixed words, and how its numbers look.

Words and forms of numbers stand in ``labels/en.toml`` and one more file for each other language. The language
is that of the ``with`` block one is in, so that a number need not be told it by everything between.

>>> with written_in("de"):
...     fixed_word("page.method"), in_language("1,234.5")
('Methode', '1.234,5')
"""

from __future__ import annotations

import tomllib
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LANGUAGES = ("en", "de")
"""Those that have a file of labels."""

_LANGUAGE = ContextVar("language", default="en")


@contextmanager
def written_in(language: str) -> Iterator[None]:
    """Write words and numbers in a language until the block ends."""
    before = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(before)


def language_now() -> str:
    """Return the language of the block one is in; English outside of all."""
    return _LANGUAGE.get()


def fixed_word(key: str, /, **slots: Any) -> str:
    """Return a fixed word of pages and charts, with its slots filled."""
    words = _labels(_LANGUAGE.get())[key]
    return words.format(**slots) if slots else words


def in_language(shown: str) -> str:
    """Return a number as the language writes it."""
    if _LANGUAGE.get() == "en":
        return shown
    swapped = {",": fixed_word("form.thousands"), ".": fixed_word("form.decimal")}
    return "".join(swapped.get(letter, letter) for letter in shown)


def money_in_language(shown: str, currency: str) -> str:
    """Return an amount, which is written already and without its sign, with its currency if it has one.

    >>> with written_in("de"):
    ...     money_in_language("1.234", "$").split()
    ['1.234', '$']
    """
    return fixed_word("form.money", number=shown, currency=currency).strip() if currency else shown


def flatten(table: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """Return the texts of a TOML file by their dotted keys."""
    flat: dict[str, str] = {}
    for name, value in table.items():
        key = f"{above}{name}"
        flat.update(flatten(value, f"{key}.") if isinstance(value, dict) else {key: value})
    return flat


@cache
def _labels(language: str) -> dict[str, str]:
    text = (resources.files("evenhand.report") / "labels" / f"{language}.toml").read_text(encoding="utf-8")
    return flatten(tomllib.loads(text))
