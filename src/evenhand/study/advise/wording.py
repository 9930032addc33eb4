"""The sentences of advice, and how it names settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.words import epsilon_words
from evenhand.study.page.catalogue import catalogue
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.tasks.collect.wording import auto_name, protocol_name, setting_name

if TYPE_CHECKING:
    from evenhand.report.page import Answer
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting

_PACKAGE = "evenhand.study.advise"


def say(key: str, /, **slots: Any) -> str:
    """Return a sentence of the catalogue with its slots filled."""
    return catalogue(_PACKAGE).say(key, **slots)


def answer_of(key: str, /, *, action: str = "", **slots: Any) -> Answer:
    """Return a finding with its evidence and the command that follows."""
    return catalogue(_PACKAGE).answer(key, action=action, **slots)


def name_of(setting: Setting, schema: Schema, *, epsilon: bool = False) -> str:
    """Return a setting as inside a sentence; one column has no split to name."""
    name = protocol_name(setting, auto=auto_name([setting], schema))
    split = str(setting.option("split"))
    if len(schema.sensitive) > 1:
        key = split if split in {UNPROTECTED, "sample"} else "split"
        name = say(f"name.{key}", protocol=name, split=split)
    return say("name.at", name=name, at=epsilon_words(setting.epsilon)) if epsilon else name


def full_name(setting: Setting, schema: Schema) -> str:
    """Return a setting with everything it consists of, as in a list."""
    return setting_name(setting, auto=auto_name([setting], schema))


def limit_word(which: str) -> str:
    """Return the noun for the limits that are set, of which there may be one."""
    return say(f"use.parts.limit{'s' if which == 'both' else ''}")
