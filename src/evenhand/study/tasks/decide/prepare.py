"""From a plan to the entities that its cells share, checked before anything runs."""

from __future__ import annotations

import hashlib
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
from evenhand.study.tasks.decide.methods import public_columns
from evenhand.study.tasks.shared.rows import label_of, load_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.study.tasks.base import StudyPlan
    from evenhand.study.tasks.decide.task import DecideTask

_COUNTS = Domain.integers(0, 10**15)
_NOBODY = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False, repr=False)
class PreparedEntities(Prepared):
    """The entities of a study of decisions, as arrays that processes can share.

    Parameters
    ----------
    facts, codes, target, group
        As of any study; ``codes`` are the true counts by column, and the other two are empty.
    names : array of str
    weights : array, optional
    populations : mapping of str to array
        People of each group in each entity.
    public : mapping of str to array
        Public columns that mitigations need, such as last year's amounts.
    """

    names: NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, dtype=np.str_))
    weights: NDArray[np.float64] | None = None
    populations: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    public: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


def prepare(task: DecideTask, plan: StudyPlan, *, frame: Any = None) -> PreparedEntities:
    """Load the entities of a plan and check that they can be decided on.

    Raises
    ------
    PlanError
        If data or a column is missing, or a column does not hold what it must; the message names the column
        and nothing that is in it.
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
    entities = _read(task, columns)
    weights = _weights(task, columns, rows=len(entities))
    populations = {name: entities.populations[:, place] for place, name in enumerate(entities.groups)}
    public = _public(task, columns)
    if task.count is not None and weights is not None:
        _check_total(entities, weights, task)
    names = np.array(entities.names, dtype=np.str_)
    counts: dict[str, Any] = dict(entities.counts)
    facts = Facts(
        label=label_of(plan),
        schema=Schema([Column(name, _COUNTS) for name in dict.fromkeys((*task.inputs, *task.groups))]),
        rows=len(entities),
        dropped=0,
        groups=entities.groups,
        privileged=0,
        sizes=tuple(int(each.sum()) for each in populations.values()),
        fingerprint=_fingerprint(names, counts, weights, {**populations, **public}),
        versions=versions(task.used_packages),
        notes=(*plan.notes, *notes, *_note_repeated_names(task, entities)),
    )
    return PreparedEntities(facts, counts, _NOBODY, _NOBODY, names, weights, populations, public)


def entities_of(prepared: PreparedEntities) -> Entities:
    """Return the entities as decisions take them."""
    size = len(prepared.names)
    people = [np.asarray(each) for each in prepared.populations.values()]
    table = np.stack(people, axis=1) if people else np.zeros((size, 0), dtype=np.int64)
    weights = None if prepared.weights is None else np.asarray(prepared.weights)
    names, counts = tuple(map(str, prepared.names)), dict(prepared.codes)
    return Entities(names, counts, weights, tuple(prepared.populations), table)  # type: ignore[arg-type]


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


def _read(task: DecideTask, columns: Mapping[str, Any]) -> Entities:
    public = () if task.weight is None else parse_weight(task.weight, parameter="weight", owner="").names
    named = (("name", (task.name,) if task.name else ()), ("weight", public), ("groups", task.groups))
    needed = ("mitigations", public_columns(task.mitigations))
    counted = ("count" if task.rule is None else "rule", task.inputs)
    for where, names in (counted, *named, needed):
        for name in names:
            if name not in columns:
                there = ", ".join(f"'{brief(str(each))}'" for each in list(columns)[:12])
                refuse_field(
                    f"task.{where}", f"names '{brief(name)}', which is no column. Hint: there are {there}."
                )
    try:
        return Entities.read(columns, name=task.name, counts=task.inputs, groups=task.groups)
    except EvenhandError as error:
        refuse_field("data", f"cannot be decided on{_because(error)}")


def _weights(task: DecideTask, columns: Mapping[str, Any], *, rows: int) -> NDArray[np.float64] | None:
    """Return the weights of an allotment, all 1 if there is no column; None where a rule decides."""
    if task.rule is not None:
        return None
    if task.weight is None:
        return np.ones(rows)
    written = parse_weight(task.weight, parameter="weight", owner="DecideTask")
    try:
        public = {name: read_entity_weights(columns, name) for name in written.names}
        return np.asarray(read_entity_weights({task.weight: written.of(public, rows=rows)}, task.weight))
    except EvenhandError as error:
        refuse_field("task.weight", f"cannot weigh the entities{_because(error)}")


def _public(task: DecideTask, columns: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Return the public columns that mitigations need."""
    try:
        return {name: read_public_numbers(columns, name) for name in public_columns(task.mitigations)}
    except EvenhandError as error:
        refuse_field("task.mitigations", f"name a column that does not do{_because(error)}")


def _because(error: EvenhandError) -> str:
    """Return what a table must be, for somebody who typed names of columns."""
    must_be = getattr(error, "must_be", "")
    return f": the data must be {must_be}." if must_be else f". {error}"


def _check_total(entities: Entities, weights: NDArray[np.float64], task: DecideTask) -> None:
    if not float(np.asarray(entities.counts[str(task.count)], dtype=np.float64) @ weights) > 0:
        refuse_field(
            "task.count",
            "names a column with a weighted total of 0. Hint: name one whose counts and weights are above 0.",
        )


def _fingerprint(
    names: NDArray[np.str_],
    counts: Mapping[str, Any],
    weights: NDArray[np.float64] | None,
    populations: Mapping[str, Any],
) -> str:
    """Return the SHA-256 of every column that is used, low byte first."""
    digest = hashlib.sha256("\n".join(map(repr, names.tolist())).encode())
    columns = [*counts.items(), *populations.items(), *([("", weights)] if weights is not None else [])]
    for name, values in columns:
        array = np.ascontiguousarray(values)
        digest.update(f"\n{name!r} {array.size} x {array.itemsize}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
    return digest.hexdigest()
