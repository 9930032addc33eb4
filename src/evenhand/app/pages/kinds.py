"""The kinds of study as the question page names them; the desk's process reads them."""

from __future__ import annotations

from typing import NamedTuple

from evenhand.app.state.far import FarFunction
from evenhand.app.tasks.registry import FORMS, form_of_kind


class Kind(NamedTuple):
    """A kind of study: its name, a word, a few words, a sentence, and whether each row is a person."""

    name: str
    verb: str
    title: str
    sentence: str
    needs_people: bool = True


def list_kinds() -> tuple[Kind, ...]:
    """Return every kind of study that can be asked for."""
    forms = [form_of_kind(name) for name in FORMS]
    return tuple(Kind(form.kind, form.verb, form.title, form.sentence, form.needs_people) for form in forms)


LIST_KINDS = FarFunction(__name__, "list_kinds")
"""The same, for the desk."""
