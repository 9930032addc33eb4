"""The words that need a definition, the button that shows it, and the longer texts of the pages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from htmltools import Tag, tags

_FOLDER = Path(__file__).with_name("words")


def read_words(name: str) -> dict[str, Any]:
    """Return the texts of one file of the folder ``words``.

    >>> read_words("tutorial")["data"].startswith("This demo")
    True
    """
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


class Word(NamedTuple):
    """A word as it is written, and its definition in a sentence or two."""

    name: str
    text: str


WORDS = {key: Word(**entry) for key, entry in read_words("glossary").items()}
"""Every word with a definition."""


def term(word: str, text: str = "") -> Tag:
    """Return a word as a button that opens its definition; without text, a small question mark."""
    name = WORDS[word].name
    shown = {"class_": "term"} if text else {"class_": "term mark", "aria_label": f"What is: {name}"}
    return tags.button(
        text or "?", type="button", data_term=word, aria_expanded="false", aria_haspopup="dialog", **shown
    )


def word_list() -> Tag:
    """Return every definition, hidden, for the script that opens them."""
    entries = [tags.div(word.text, data_word=key, data_name=word.name) for key, word in WORDS.items()]
    return tags.div(*entries, id="words", hidden="")
