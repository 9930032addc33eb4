"""The words of studies: those of every answer, and what studies say around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.answer.words import words_in as answer_words

if TYPE_CHECKING:
    from evenhand.answer.words import Words


def words_in(language: str, *packages: str) -> Words:
    """Return the catalogue of a language, with what some further packages say.

    >>> words_in("en").say("collect.protection")
    'Randomising'
    """
    return answer_words(language, "evenhand.study.page", *packages)
