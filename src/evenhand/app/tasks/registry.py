"""The forms of the question page by kind, and where each is loaded from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from evenhand.errors import UnknownNameError

if TYPE_CHECKING:
    from evenhand.app.tasks.base import TaskForm

FORMS: dict[str, str] = {
    "collect": "evenhand.app.tasks.collect:CollectForm",
    "release": "evenhand.app.tasks.release:ReleaseForm",
    "learn": "evenhand.app.tasks.learn:LearnForm",
    "decide": "evenhand.app.tasks.decide:DecideForm",
}
"""Each kind with the module and the class of its form, which is imported when it is asked for."""


def form_of_kind(kind: str) -> TaskForm:
    """Return the form of a kind.

    >>> form_of_kind("release").kind
    'release'
    """
    if kind not in FORMS:
        raise UnknownNameError("Kind of study", kind, FORMS, place="one of the workbench")
    module, _, name = FORMS[kind].partition(":")
    form: TaskForm = getattr(import_module(module), name)()
    return form
