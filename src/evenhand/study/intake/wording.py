"""The sentences on rows and columns that were read, in the language that is being written."""

from __future__ import annotations

from typing import Any

from evenhand.report.language import language_now
from evenhand.study.page.words import words_in


def say(key: str, /, **slots: Any) -> str:
    """Return a sentence of the catalogue with its slots filled."""
    return words_in(language_now(), "evenhand.study.intake").say(key, **slots)
