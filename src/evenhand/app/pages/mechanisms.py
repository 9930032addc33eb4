"""Every protocol, mechanism and method in words and with a picture; the desk's process draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand._lazy import lazy
from evenhand.app.state.far import FarFunction
from evenhand.app.tasks.answers import choice_words, promise_paragraphs
from evenhand.errors import UnknownNameError

homes = lazy("evenhand.collect.protocols.homes")  # the server only names what the desk's process loads
pictures = lazy("evenhand.app.pages.pictures")
registry = lazy("evenhand.release.mechanisms.registry")
methods = lazy("evenhand.study.tasks.learn.methods")

_PEOPLE = "People randomise their own answers"
_TABLES = "A table is protected before it is published"
_MODELS = "A model is trained, and people see its answers"
_TITLES = {"protocols": "__name__", "mechanisms": "label", "methods": "title"}
_DRAWN = {"protocols": "draw_protocol", "mechanisms": "draw_mechanism", "methods": "draw_method"}


@dataclass(frozen=True)
class Entry:
    """A mechanism in a list."""

    name: str
    title: str
    sentence: str
    family: str


@dataclass(frozen=True)
class Explained:
    """A mechanism on its page: what it does, fits and promises, and its picture."""

    heading: str
    sentence: str
    fits: str
    promised: tuple[str, ...]
    picture: str = ""
    alt: str = ""
    caption: str = ""


@dataclass(frozen=True)
class _Family:
    """What is listed together: what `words.toml` calls it, and its members by name."""

    kind: str
    heading: str
    members: dict[str, Any]


def _families() -> tuple[_Family, ...]:
    return (
        _Family("protocols", _PEOPLE, homes.CLASSES),
        _Family("mechanisms", _TABLES, registry.MECHANISMS),
        _Family("methods", _MODELS, methods.METHODS),
    )


def list_mechanisms() -> tuple[Entry, ...]:
    """Return every protocol, every mechanism for tables and every method of training, with what it does."""
    return tuple(
        Entry(name, _title(family, name), choice_words(family.kind, name)[0], family.heading)
        for family in _families()
        for name in family.members
    )


def explain(name: str) -> Explained:
    """Return what a mechanism does, in words and as a picture.

    Raises
    ------
    UnknownNameError
        If there is no mechanism of that name.
    """
    family = next((family for family in _families() if name in family.members), None)
    if family is None:
        known = [known for family in _families() for known in family.members]
        raise UnknownNameError("Mechanism", name[:40], known, place="one of the list")
    member = name if family.kind == "methods" else family.members[name]
    return Explained(
        f"What does {_title(family, name)} do?",
        *choice_words(family.kind, name),
        promise_paragraphs(family.kind, name),
        *getattr(pictures, _DRAWN[family.kind])(member),
    )


def _title(family: _Family, name: str) -> str:
    return str(getattr(family.members[name], _TITLES[family.kind]))


LIST_MECHANISMS = FarFunction(__name__, "list_mechanisms")
"""The list, for the desk."""

EXPLAIN = FarFunction(__name__, "explain")
"""A page, for the desk."""
