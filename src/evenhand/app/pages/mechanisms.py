"""Every protocol and mechanism in words and with a picture; the desk's process reads and draws them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import getdoc
from typing import Any

from evenhand._lazy import lazy
from evenhand.app.state.far import FarFunction
from evenhand.app.tasks.answers import choice_words
from evenhand.errors import UnknownNameError

homes = lazy("evenhand.collect.protocols.homes")  # the server only names what the desk's process loads
pictures = lazy("evenhand.app.pages.pictures")
registry = lazy("evenhand.release.mechanisms.registry")

_PEOPLE = "People randomise their own answers"
_TABLES = "A table is protected before it is published"
_FIELD = re.compile(r":[a-z:]+:`~?([^`<]+?)(?: <[^`]+>)?`")
_MATH = re.compile(r"^\s*\.\. math::.*?(?=\n\S|\n\n\S|\Z)", re.DOTALL | re.MULTILINE)
_END = re.compile(r"^(Parameters|Attributes|Notes|References|Examples|See Also|Raises)\n-+", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A mechanism in a list."""

    name: str
    title: str
    sentence: str
    family: str


@dataclass(frozen=True)
class Explained:
    """A mechanism on its page: in words for everybody, and what its documentation proves."""

    heading: str
    sentence: str
    fits: str
    proof: tuple[str, ...]
    picture: str = ""
    alt: str = ""
    caption: str = ""


def list_mechanisms() -> tuple[Entry, ...]:
    """Return every protocol, then every mechanism for tables, with what it does."""
    families = {"protocols": (homes.CLASSES, _PEOPLE), "mechanisms": (registry.MECHANISMS, _TABLES)}
    return tuple(
        Entry(name, _title(name), choice_words(kind, name)[0], family)
        for kind, (names, family) in families.items()
        for name in names
    )


def explain(name: str) -> Explained:
    """Return what a mechanism does, in words and as a picture.

    Raises
    ------
    UnknownNameError
        If there is no mechanism of that name.
    """
    known = (*homes.CLASSES, *registry.MECHANISMS)
    if name not in known:
        raise UnknownNameError("Mechanism", name[:40], known, place="one of the list")
    is_protocol = name in homes.CLASSES
    kind = homes.CLASSES[name] if is_protocol else registry.MECHANISMS[name]
    drawn = pictures.draw_protocol(kind) if is_protocol else pictures.draw_mechanism(kind)
    words = choice_words("protocols" if is_protocol else "mechanisms", name)
    return Explained(f"What does {_title(name)} do?", *words, paragraphs_of(kind), *drawn)


def plain_words(text: str) -> str:
    """Return documentation as plain words, without marks of its format.

    >>> plain_words("Uses :math:`k` and :class:`~evenhand.Table`, with ``epsilon``.")
    'Uses k and evenhand.Table, with epsilon.'
    """
    words = " ".join(_FIELD.sub(r"\1", text).replace("`", "").split())
    for mark, letter in (("\\varepsilon", "ε"), ("\\delta", "δ"), ("\\Delta_1", "Δ"), ("\\rho", "ρ")):
        words = words.replace(mark, letter)
    return words


def paragraphs_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the paragraphs of a class's documentation before its parameters, formulas left out."""
    text = _END.split(_MATH.sub("", getdoc(kind) or ""))[0]
    paragraphs = [plain_words(part) for part in re.split(r"\n\s*\n", text)[1:]]
    return tuple(part for part in paragraphs if part and "\\" not in part and not part.startswith("where "))


def _title(name: str) -> str:
    return str(homes.CLASSES[name].__name__ if name in homes.CLASSES else registry.MECHANISMS[name].label)


LIST_MECHANISMS = FarFunction(__name__, "list_mechanisms")
"""The list, for the desk."""

EXPLAIN = FarFunction(__name__, "explain")
"""A page, for the desk."""
