"""From a plan to the entities that its cells share, checked before anything runs."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    """The entities of a study of decisions, as arrays that processes can share.

    ``codes`` are the true counts by column; ``target`` and ``group`` are empty. Weights are those of an
    allotment. People of each group in each entity are `populations`, and columns that mitigations need, such
    as last year's amounts, are `public`.
    """

    names: NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, dtype=np.str_))
    weights: NDArray[np.float64] | None = None
    populations: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    public: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


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
        why = "is missing. Hint: name a file with one row for each entity, or give a frame."
        refuse_field("data", why)
    loaded, _, notes = load_frame(plan, frame)
    columns = frame_columns(loaded)
    _check_names(task, columns)
    with _refusing("data", "cannot be decided on"):
        entities = Entities.read(columns, name=task.name, counts=task.inputs, groups=task.groups)
    weights = None if task.is_rule else _read_weights(task, columns, entities)
    with _refusing("task.mitigations", "name a column that does not do"):
        public = {name: read_public_numbers(columns, name) for name in _public_columns(task)}
    populations = {name: entities.populations[:, place] for place, name in enumerate(entities.groups)}
    names = np.array(entities.names, dtype=np.str_)
    counts: dict[str, Any] = dict(entities.counts)
    weighed = {} if weights is None else {"": weights}
    facts = Facts(
        label=label_of(plan),
        schema=Schema([Column(name, _COUNTS) for name in dict.fromkeys((*task.inputs, *task.groups))]),
        rows=len(entities),
        dropped=0,
        groups=entities.groups,
        privileged=0,
        sizes=tuple(int(each.sum()) for each in populations.values()),
        fingerprint=_fingerprint(names, [counts, {**populations, **public}, weighed]),
        versions=versions(task.used_packages),
        notes=(*plan.notes, *notes, *_note_repeated_names(task, entities)),
    )
    return PreparedEntities(facts, counts, _NOBODY, _NOBODY, names, weights, populations, public)


def entities_of(prepared: PreparedEntities) -> Entities:
    """Return the entities as decisions take them."""
    people = [np.asarray(each) for each in prepared.populations.values()]
    table = np.stack(people, axis=1) if people else np.zeros((len(prepared.names), 0), dtype=np.int64)
    weights = None if prepared.weights is None else np.asarray(prepared.weights)
    names, counts = tuple(map(str, prepared.names)), dict(prepared.codes)
    return Entities(names, counts, weights, tuple(prepared.populations), table)  # type: ignore[arg-type]


def _public_columns(task: DecideTask) -> tuple[str, ...]:
    """Return the columns that mitigations need, each once."""
    return tuple(dict.fromkeys(name for each in task.mitigations for name in each.columns.values()))


def _check_names(task: DecideTask, columns: Mapping[str, Any]) -> None:
    """Refuse a column that the data has not, by the field that names it."""
    weight = () if task.weight is None else parse_weight(task.weight).names
    fields = {
        "rule" if task.is_rule else "count": task.inputs,
        "name": (task.name,) if task.name else (),
        "weight": weight,
        "groups": task.groups,
        "mitigations": _public_columns(task),
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
    different, rows = len(set(entities.names)), len(entities)
    if task.name is None or different == rows:
        return ()
    text = (
        f"'{brief(task.name)}' has {different:,} different names in {rows:,} rows, and each row counts as a "
        "place of its own. A person who is counted in several rows, such as in several years, is promised "
        "less than is said here."
    )
    return (Note("privacy", text),)


def _fingerprint(names: NDArray[np.str_], parts: list[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of every column that is used, low byte first."""
    digest = hashlib.sha256("\n".join(map(repr, names.tolist())).encode())
    for name, values in (column for part in parts for column in part.items()):
        array = np.ascontiguousarray(values)
        digest.update(f"\n{name!r} {array.size} x {array.itemsize}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
    return digest.hexdigest()
