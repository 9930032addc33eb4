"""From a plan to encoded rows with groups and outcomes, for every task whose rows are people."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand import datasets
from evenhand._notes import Note
from evenhand.privacy.contributions import bound_rows
from evenhand.privacy.randomness import SeededSource
from evenhand.report.language import language_now
from evenhand.schema.text import brief
from evenhand.study.page.words import words_in
from evenhand.study.plan.facts import Facts, versions
from evenhand.study.plan.source import ROWS_CELL
from evenhand.study.profile.leakage import target_leaks
from evenhand.study.tasks.base import Prepared, refuse_field
from evenhand.study.tasks.groups import GroupedRows, group_rows
from evenhand.table import Table
from evenhand.table.frames import eager_frame
from evenhand.table.limits import STUDY_LIMITS
from evenhand.table.persons import person_codes
from evenhand.table.sample import read_or_sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Codes


@dataclass(frozen=True)
class LoadedRows:
    """A frame as it was read, with the schema in force, and what a reader should know about the data set."""

    frame: Any
    schema: Schema
    notes: tuple[str, ...] = ()


def load_rows(plan: Plan, frame: Any) -> LoadedRows:
    """Load the rows of a plan, or take a frame in their place; the schema is the plan's or the data set's."""
    data = plan.data
    if frame is None and data is None:
        refuse_field("data", "is missing. Hint: name a file or a data set, or give a frame.")
    of_data_set = frame is None and data is not None and data.dataset is not None
    if plan.schema is None and not of_data_set:
        why = "is missing: only data sets of evenhand bring one. Hint: declare the columns and their roles"
        refuse_field("schema", f"{why}, or let Schema.infer make a draft to check.")
    loaded, own, notes = load_frame(plan, frame, schema=plan.schema)
    return LoadedRows(loaded, plan.schema or own, notes)


def load_frame(plan: Plan, frame: Any, *, schema: Schema | None = None) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the frame of a plan's data, the data set's own schema if there is one, and its notes."""
    data = plan.data
    if frame is not None or data is None:
        return frame, None, ()
    if data.dataset is not None:
        dataset = datasets.load(data.dataset, backend="pyarrow", **data.options)
        return dataset.frame, dataset.schema, (dataset.note,) if dataset.note else ()
    found = read_or_sample(
        str(data.path),
        rows=data.rows,
        source=SeededSource(plan.seed).for_cell(ROWS_CELL),
        schema=schema,
        limits=STUDY_LIMITS,
        file_format=data.file_format,
    )
    return found.frame, None, () if found.drawn is None else (sampled_sentence(found.drawn),)


def sampled_sentence(rows: int) -> Note:
    """Return what is said where a file does not fit and some of its rows were drawn."""
    return Note("sample", words_in(language_now()).say("method.large", rows=rows))


def encode_rows(plan: Plan, rows: LoadedRows, *, keep_target: bool = False) -> Prepared:
    """Encode rows and draw as many of them as the plan asks for; `keep_target` keeps its codes too.

    With ``rows`` in the plan's data, so many rows are drawn after encoding, so rows that a rule leaves out do
    not count. Which ones depends on the seed and the number of rows alone.
    """
    schema = rows.schema
    own = SeededSource(plan.seed).for_cell("rows of one person")
    frame = bound_rows(rows.frame, schema, source=own, owner="prepare")
    table = Table.encode(frame, schema)
    dropped = 0 if table.kept is None else len(frame) - len(table.kept)
    chosen, sampled = _choose_rows(plan, len(table))
    codes = {name: values[chosen] for name, values in table.codes.items()}
    weights = None if table.weights is None else table.weights[chosen]
    people = _people_of(frame, schema, table.kept)
    people = None if people is None else people[chosen]
    groups = group_rows(schema, codes)
    target = _positive_rows(schema, codes)
    facts = Facts(
        label=label_of(plan),
        schema=schema,
        rows=len(target),
        dropped=dropped,
        groups=groups.labels,
        privileged=0 if groups.privileged is None and schema.crossing is None else groups.privileged,
        sizes=groups.sizes,
        persons=() if people is None else _count_people(people, groups),
        fingerprint=_fingerprint(schema, codes, weights, people),
        versions=versions(plan.task.used_packages),
        notes=(
            *plan.notes,
            *(note for note in rows.notes if note not in plan.notes),
            *sampled,
            *groups.notes,
            *_roles_beside(schema, plan.task.unweighted),
        ),
    )
    kept = {name: codes[name] for name in schema.names if keep_target or name != schema.target}
    parts = (facts, kept, target, groups.codes)
    return Prepared(*parts, survey_weights=weights, people=people, places=groups.places)


def add_target_leaks(prepared: Prepared) -> Prepared:
    """Return rows with the columns that tell the target, and a note that names them."""
    leaks = target_leaks(prepared)
    if not leaks:
        return prepared
    names = [f"'{brief(leak.by[0])}'" for leak in leaks]
    slots = {"columns": names, "n": len(names), "target": f"'{brief(leaks[0].column)}'"}
    text = words_in(language_now()).say("classifier.target", **slots)
    notes = (*prepared.facts.notes, Note("target", text))
    return replace(prepared, facts=replace(prepared.facts, notes=notes, target_leaks=leaks))


def _roles_beside(schema: Schema, unweighted: str) -> tuple[Note, ...]:
    """Say what the weights are used for, and how many rows of one person count."""
    notes = []
    if schema.weight is not None:
        name = brief(schema.weight)
        notes.append(f"Rates and measures are weighted by '{name}'; models are trained without.")
        notes += [f"Not weighted: {unweighted}."] if unweighted else []
    if schema.person is not None:
        most = schema.rows_per_person or 1
        rows = (
            "one row drawn at random counts" if most == 1 else f"at most {most:,} rows drawn at random count"
        )
        notes.append(f"Of each '{brief(schema.person)}' {rows}.")
    return tuple(Note("method", note) for note in notes)


def _choose_rows(plan: Plan, there: int) -> tuple[NDArray[np.intp] | slice, tuple[str, ...]]:
    """Return the places of the rows that the plan asks for, in their order, and what is said of it."""
    rows = None if plan.data is None else plan.data.rows
    if rows is None or rows >= there:
        return slice(None), ()
    draws = SeededSource(plan.seed).for_cell(ROWS_CELL).words(there)
    note = Note("sample", words_in(language_now()).say("method.sample", rows=rows))
    return np.sort(np.argpartition(draws, rows - 1)[:rows]), (note,)


def _people_of(frame: Any, schema: Schema, kept: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Return whose row each encoded one is, where several of one person may count."""
    if schema.person is None or (schema.rows_per_person or 1) == 1:
        return None
    column = eager_frame(frame, owner="prepare", parameter="frame").get_column(schema.person)
    people, written = person_codes(column), np.unique(column.to_numpy(), return_inverse=True)[1]
    first = np.full(len(people), len(people))
    np.minimum.at(first, people, written)
    people = first[people]  # in the order of what is written, by which seeds split people
    return people if kept is None else people[kept]


def _count_people(people: NDArray[np.intp], groups: GroupedRows) -> tuple[int, ...]:
    """Return how many people have a row in each group."""
    return tuple(len(np.unique(people[groups.codes == place])) for place in range(len(groups.labels)))


def _positive_rows(schema: Schema, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Return whether each person has the positive outcome; nobody where there is no target."""
    if schema.target is None or schema.positive is None:
        return np.zeros(len(next(iter(codes.values()))), dtype=np.uint8)
    column = schema[schema.target]
    positive: NDArray[np.bool_] = np.equal(codes[column.name], column.domain.code(schema.positive))
    return positive.astype(np.uint8)


def label_of(plan: Plan) -> str:
    """Return what the data of a plan is called."""
    return plan.data.label if plan.data is not None else plan.name or "data frame"


def _fingerprint(
    schema: Schema,
    codes: Mapping[str, Codes],
    weights: NDArray[np.float64] | None = None,
    people: NDArray[np.intp] | None = None,
) -> str:
    """Return the SHA-256 of the schema, all codes, weights and whose rows they are, low byte first."""
    digest = hashlib.sha256(schema.fingerprint.encode())
    for name in schema.names:
        array = np.ascontiguousarray(codes[name])
        digest.update(f"\n{name!r} {array.size} x {array.itemsize}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
    if weights is not None:
        digest.update(b"\nweights\n" + np.ascontiguousarray(weights, "<f8").tobytes())
    if people is not None:
        digest.update(b"\npeople\n" + np.ascontiguousarray(people, "<i8").tobytes())
    return digest.hexdigest()


def check_roles(schema: Schema, *, otherwise: str = "") -> None:
    """Refuse a schema without a role that a classifier needs, or whose target is protected.

    Of crossed columns no group need be privileged: the largest difference of any two is compared. `otherwise`
    is what else one may do, as the end of the hint.
    """
    for role, what in (
        ("target", "the column to predict"),
        ("positive", "the value of the target that people hope for"),
        ("protected", "the column whose groups are compared"),
        ("privileged", "the group that the others are compared with"),
    ):
        if getattr(schema, role) is None and (role != "privileged" or schema.crossing is None):
            refuse_field(f"schema.roles.{role}", f"is missing. Hint: name {what}{otherwise}.")
    if schema.target in schema.protected_columns:
        refuse_field(
            "schema.roles.protected", "is the target too. Hint: compare the groups of another column."
        )


def check_parts(
    target: NDArray[np.uint8],
    schema: Schema,
    *,
    sizes: tuple[int, ...],
    test: float,
    folds: int | None = None,
) -> None:
    """Refuse rows from which no training and test part can be made, or in which a group has nobody."""
    fewest = int(np.bincount(target, minlength=2).min())
    if not fewest:
        why = f"names '{brief(str(schema.target))}', which is the same for everybody: nothing can be learnt."
        refuse_field("schema.roles.target", f"{why} Hint: check the positive value and the rows.")
    if not all(sizes):
        why = f"names '{brief(schema.protected_name)}', in which a declared group has nobody."
        hint = "take values that do not occur out of its domain."
        refuse_field("schema.roles.protected", f"{why} Hint: {hint}")
    held = math.ceil(test * target.size)
    learnt = target.size - held  # each outcome has its share of them, rounded
    enough = fewest >= 2 and held >= 2 and learnt >= 2 and 2 * learnt * fewest > target.size
    if not (enough if folds is None else fewest >= folds):
        why = "asks for parts that would not all hold both outcomes."
        field = "task.test" if folds is None else "task.folds"
        refuse_field(field, f"{why} Hint: use more rows, or fewer and larger parts.")
