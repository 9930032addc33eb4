"""The first step: which data sets are there, and whether a file can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.app.flow.opening import open_rows
from evenhand.app.flow.views import BuiltIn, Opening
from evenhand.app.state.record import DataChoice, StudyRecord
from evenhand.app.tasks.registry import FORMS, form_of_kind
from evenhand.datasets import DATASETS, describe
from evenhand.datasets.registry import describe_place
from evenhand.errors import UnknownNameError
from evenhand.study.tasks.shared.rows import sampled_sentence
from evenhand.table.source import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEMO = "causal"
"""The data set that needs no file and that the tutorial walks through."""

_DEMO_PEOPLE = 10_000
_HERE = ("built in", "on this machine")
_ORDER = (DEMO, "counties", "school_districts")
_DEMO_TITLE = "Made-up people"
_DEMO_SENTENCE = (
    "Made-up people who have a group A and two more attributes, C and M, and a good outcome Y or not. It "
    "needs no file, and a study of it takes about a minute."
)


def built_in() -> tuple[BuiltIn, ...]:
    """Return the data sets that can be chosen without a file, the demo first and then what is here."""
    sets = [_built_in(name) for name in DATASETS]
    places = {name: place for place, name in enumerate(_ORDER)}
    return tuple(sorted(sets, key=lambda one: (places.get(one.name, len(places)), not one.here, one.name)))


def _built_in(name: str) -> BuiltIn:
    description, where = describe(name), describe_place(name)
    count = next((option.default for option in description.options if option.name == "n"), None)
    count = _DEMO_PEOPLE if name == DEMO else count
    kinds = kinds_for(name)
    of_people = any(form_of_kind(kind).needs_people for kind in kinds)
    rows = "" if count is None else f"{count:,} {'people' if of_people else 'entities'}, made up"
    return BuiltIn(
        name=name,
        title=_DEMO_TITLE if name == DEMO else description.title,
        sentence=_DEMO_SENTENCE if name == DEMO else description.about,
        rows=rows,
        here=where in _HERE,
        where=where,
        kinds=kinds,
        is_demo=name == DEMO,
    )


def kinds_for(name: str) -> tuple[str, ...]:
    """Return the kinds of study that a data set suits: those it was made for, or all about people."""
    forms = [form_of_kind(kind) for kind in FORMS]
    own = tuple(form.kind for form in forms if name in form.datasets)
    return own or tuple(form.kind for form in forms if form.needs_people)


def choose_dataset(name: str) -> dict[str, Any]:
    """Return the changes of a study's record by which it has a data set of evenhand's own.

    >>> choose_dataset("causal")["data"].options
    {'n': 10000}
    """
    if name not in DATASETS:
        raise UnknownNameError("Data set", name, DATASETS, place="one of evenhand")
    options = {"n": _DEMO_PEOPLE} if name == DEMO else {}
    choice = DataChoice(source="dataset", label=name, dataset=name, options=options)
    changes: dict[str, Any] = {"data": choice, "roles": {}, "columns": {}, "described": False}
    kind = kinds_for(name)[0]
    return {**changes, "kind": kind, "form": {kind: dict(form_of_kind(kind).datasets.get(name, {}))}}


def check_upload(
    folder: Path, file: str, label: str, *, file_format: Mapping[str, Any] | None = None
) -> Opening:
    """Return what a file holds that was received into the folder of a study; refuse one that cannot be read.

    Rows of a file that is too large for memory are drawn.

    Parameters
    ----------
    folder : path
        Of the study.
    file : str
        The random name of the file in the folder ``data`` of the study.
    label : str
        What the person calls it.
    file_format : mapping, optional
        What the person says of how it is written: ``delimiter``, ``encoding``, ``decimal``, ``sheet``.

    Raises
    ------
    EvenhandError
        What reading raises, without a path and without a value.
    """
    said = {key: value for key, value in (file_format or {}).items() if value}
    choice = DataChoice(source="upload", label=label, file=file, file_format=said)
    opened = open_rows(folder, StudyRecord(id="0" * 16, name="", created=0.0, data=choice))
    if not opened.rows:
        refuse(label, "it has column names and no rows. Hint: choose a file that has rows, too.")
    sentences = [] if opened.assumed is None else [f"It was read as {opened.assumed}."]
    sentences += [] if opened.drawn is None else [sampled_sentence(opened.drawn)]
    found = opened.source.file_format
    return Opening(
        label=opened.source.label,
        columns=opened.names,
        rows=opened.rows,
        drawn=opened.drawn is not None,
        file_format={} if found is None else dict(found.parts),
        sentences=tuple(sentences),
    )
