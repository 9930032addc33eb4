"""Every protocol, mechanism and method in words and with a picture; the desk's process draws them."""

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
methods = lazy("evenhand.study.tasks.learn.methods")
learn = lazy("evenhand.learn")

_PEOPLE = "People randomise their own answers"
_TABLES = "A table is protected before it is published"
_MODELS = "A model is trained, and people see its answers"
_CLASSES = {
    "dp": "DPLogisticRegression",
    "fermi": "DPFermi",
    "local": "PrivateTraining",
    "parity": "ParityPostProcessor",
    "projection": "FairProjection",
}
_FIELD = re.compile(r":[a-z:]+:`~?([^`<]+?)(?: <[^`]+>)?`")
_ATTRIBUTE = re.compile(r"\b(guarantee)_(?!\w)")
_SOURCE = re.compile(r"(?: of| in)? \[\d+\]_")
_MATH = re.compile(r"^\s*\.\. math::.*?(?=\n\S|\n\n\S|\Z)", re.DOTALL | re.MULTILINE)
_FULL = re.compile(r".*\.(?=\s|$)", re.DOTALL)
_TITLES = {"protocols": "__name__", "mechanisms": "label", "methods": "title"}
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
    member, words = family.members[name], choice_words(family.kind, name)
    if family.kind == "methods":
        classes = [getattr(learn, _CLASSES[part]) for part in (member.base, member.then) if part in _CLASSES]
        drawn = pictures.draw_method(name)
    else:
        classes = [member]
        drawn = (pictures.draw_protocol if family.kind == "protocols" else pictures.draw_mechanism)(member)
    proof = tuple(text for each in classes for text in paragraphs_of(each))
    return Explained(f"What does {_title(family, name)} do?", *words, proof, *drawn)


def plain_words(text: str) -> str:
    """Return documentation as plain words, without marks of its format.

    >>> plain_words("Uses :math:`k` and :class:`~evenhand.Table`, with ``epsilon``.")
    'Uses k and evenhand.Table, with epsilon.'
    """
    words = " ".join(_SOURCE.sub("", _FIELD.sub(r"\1", text)).replace("`", "").split())
    words = _ATTRIBUTE.sub(r"the \1", words)
    for mark, letter in (("\\varepsilon", "ε"), ("\\delta", "δ"), ("\\Delta_1", "Δ"), ("\\rho", "ρ")):
        words = words.replace(mark, letter)
    return words


def paragraphs_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the paragraphs of a class's documentation before its parameters.

    Formulas are left out, and so are sentences that one would complete.
    """
    text = _END.split(_MATH.sub("", getdoc(kind) or ""))[0]
    paragraphs = [_FULL.match(plain_words(part)) for part in re.split(r"\n\s*\n", text)[1:]]
    kept = [found[0] for found in paragraphs if found is not None]
    return tuple(part for part in kept if "\\" not in part and not part.startswith("where "))


def _title(family: _Family, name: str) -> str:
    return str(getattr(family.members[name], _TITLES[family.kind]))


LIST_MECHANISMS = FarFunction(__name__, "list_mechanisms")
"""The list, for the desk."""

EXPLAIN = FarFunction(__name__, "explain")
"""A page, for the desk."""
