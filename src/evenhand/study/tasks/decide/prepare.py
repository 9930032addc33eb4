"""From a plan to the entities that its cells share, checked before anything runs."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notes import Note
from evenhand.decide.language.parse import parse_weight
from evenhand.decide.result.entities import Entities, frame_columns, read_entity_weights, read_public_numbers
from evenhand.errors import EvenhandError
from evenhand.schema import Column, Domain, Schema
from evenhand.schema.text import brief
from evenhand.study.plan.facts import Facts, versions
from evenhand.study.tasks.base import Prepared, refuse_field
from evenhand.study.tasks.shared.rows import label_of, load_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.decide.task import DecideTask

_COUNTS = Domain.integers(0, 10**15)
_NOBODY = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False, repr=False)
class PreparedEntities(Prepared):
    """The entities of a study of decisions, and public columns that mitigations need, such as amounts.

    An allotment's weights are those of the entities. ``codes``, ``target`` and ``group`` are empty.
    """

    entities: Entities
    public: Mapping[str, NDArray[np.float64]]


def prepare(task: DecideTask, plan: Plan, *, frame: Any = None) -> PreparedEntities:
    """Load the entities of a plan and check that they can be decided on.

    A plan is refused by its field; the message names a column and nothing that is in it.
    """
    data = plan.data
    if data is not None and data.rows is not None:
        why = "does not go with the task 'decide': to leave entities out changes shares."
        refuse_field("data.rows", f"{why} Hint: leave it out.")
    if plan.schema is not None and plan.schema.beside:
        role = "weight" if plan.schema.weight is not None else "person"
        why = "does not go with the task 'decide', whose rows are entities. Hint: take the role away."
        refuse_field(f"schema.roles.{role}", why)
    if frame is None and data is None:
        refuse_field("data", "is missing. Hint: name a file with one row for each entity, or give a frame.")
    loaded, _, notes = load_frame(plan, frame)
    columns = frame_columns(loaded)
    needed = tuple(dict.fromkeys(name for each in task.mitigations for name in each.columns.values()))
    _check_names(task, columns, needed)
    with _refusing("data", "cannot be decided on"):
        entities = Entities.read(columns, name=task.name, counts=task.inputs, groups=task.groups)
    counted = np.max([*entities.counts.values()], axis=0)
    for group, people in zip(entities.groups, entities.populations.T, strict=True):
        if np.array_equal(people, counted):
            why = f"names {group!r}, which is everybody who is counted, so that there are no others."
            refuse_field("task.groups", f"{why} Hint: name columns of parts of the people.")
    weights = None if task.is_rule else _read_weights(task, columns, entities)
    entities = replace(entities, weights=weights)
    with _refusing("task.mitigations", "name a column that does not do"):
        public = {name: read_public_numbers(columns, name) for name in needed}
    facts = Facts(
        label=label_of(plan),
        schema=Schema([Column(name, _COUNTS) for name in dict.fromkeys((*task.inputs, *task.groups))]),
        rows=len(entities),
        dropped=0,
        groups=entities.groups,
        privileged=0,
        sizes=tuple(int(each) for each in entities.populations.sum(axis=0)),
        fingerprint=_fingerprint(entities, public),
        versions=versions(task.used_packages),
        notes=(*plan.notes, *notes, *_note_repeated_names(task, entities)),
    )
    return PreparedEntities(facts, {}, _NOBODY, _NOBODY, entities, public)


def _check_names(task: DecideTask, columns: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    """Refuse a column that the data has not, by the field that names it; mitigations need some."""
    fields = {
        "rule" if task.is_rule else "count": task.inputs,
        "name": (task.name,) if task.name else (),
        "weight": () if task.weight is None else parse_weight(task.weight).names,
        "groups": task.groups,
        "mitigations": needed,
    }
    for where, name in ((where, name) for where, names in fields.items() for name in names):
        if name not in columns:
            there = ", ".join(f"'{brief(str(each))}'" for each in list(columns)[:12])
            refuse_field(
                f"task.{where}", f"names '{brief(name)}', which is no column. Hint: there are {there}."
            )


def _read_weights(task: DecideTask, columns: Mapping[str, Any], entities: Entities) -> NDArray[np.float64]:
    """Return the weights of an allotment, all 1 if there is no column."""
    weights = np.ones(len(entities))
    if task.weight is not None:
        written = parse_weight(task.weight)
        with _refusing("task.weight", "cannot weigh the entities"):
            public = {name: read_entity_weights(columns, name) for name in written.names}
            weighed = {task.weight: written.of(public, rows=len(entities))}
            weights = np.asarray(read_entity_weights(weighed, task.weight))
    if not float(np.asarray(entities.counts[str(task.count)], dtype=np.float64) @ weights) > 0:
        why = "names a column with a weighted total of 0."
        refuse_field("task.count", f"{why} Hint: name one whose counts and weights are above 0.")
    return weights


@contextmanager
def _refusing(field: str, why: str) -> Iterator[None]:
    """Refuse a field with what the table must be, for somebody who typed names of columns."""
    try:
        yield
    except EvenhandError as error:
        must_be = getattr(error, "must_be", "")
        refuse_field(field, f"{why}: the data must be {must_be}." if must_be else f"{why}. {error}")


def _note_repeated_names(task: DecideTask, entities: Entities) -> tuple[Note, ...]:
    """Return that several rows have one name, as those of a place in several years have."""
    if task.name is None or len(set(entities.names)) == len(entities):
        return ()
    text = (
        f"Names of '{brief(task.name)}' repeat, and each row counts as a place of its own. A person who is "
        "counted in several rows, such as in several years, is promised less than is said here."
    )
    return (Note("privacy", text),)


def _fingerprint(entities: Entities, public: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the SHA-256 of every column that is used, low byte first."""
    digest = hashlib.sha256("\n".join(map(repr, entities.names)).encode())
    people = dict(zip(entities.groups, entities.populations.T, strict=True))
    weights = [] if entities.weights is None else [("", entities.weights)]
    for name, values in (*entities.counts.items(), *{**people, **public}.items(), *weights):
        array = np.ascontiguousarray(values)
        digest.update(f"\n{name!r} {array.size} x {array.itemsize}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
    return digest.hexdigest()
