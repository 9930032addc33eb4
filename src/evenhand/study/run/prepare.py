"""From a plan to the encoded rows that its cells share, checked before anything runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import PlanError
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.versions import versions
from evenhand.study.tasks.collect.requirements import check_rows, check_schema, check_size, check_task
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.prepare import check_release, check_split, positive_rows, table_schema
from evenhand.study.tasks.release.task import ReleaseTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Column, Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.table import Table

    Codes = NDArray[np.unsignedinteger[Any]]

__all__ = ["Prepared", "prepare"]

_UNNAMED = "data frame"
_LARGEST_FILE = 2_000_000_000  # bytes, uncompressed: it is the user's own file, on the user's machine


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """The rows of a study as integer codes, which every cell reads and none changes.

    Parameters
    ----------
    facts : Facts
        What is known about the data.
    codes : mapping of str to array
        The codes of every column but the target, in the schema's order. For a release, those of every
        column of the table.
    target : array of 0 and 1
        Whether each person has the positive outcome.
    group : array
        Each person's group, as a place in ``facts.groups``: the codes of the protected column.
    """

    facts: Facts
    codes: Mapping[str, Codes]
    target: NDArray[np.uint8]
    group: Codes

    def __repr__(self) -> str:
        return f"Prepared rows of {self.facts.label}: {', '.join(self.codes)}"


def prepare(plan: Plan, *, frame: Any = None) -> Prepared:
    """Load the data of a plan, encode it and check that the task can be done with it.

    Parameters
    ----------
    plan : Plan
    frame : pandas, Polars or Arrow frame, optional
        The data, instead of what the plan names.

    Returns
    -------
    Prepared

    Raises
    ------
    PlanError
        If the plan lacks data, a schema or a role, or if its task cannot be done with this data. The message
        names the field, and no value or count of the rows.
    EvenhandError
        What reading a file, loading a data set and encoding rows raise.

    Notes
    -----
    With ``rows``, so many rows are drawn after encoding, so rows that a rule leaves out do not count. Which
    ones depends on the seed and the number of rows alone.

    Examples
    --------
    >>> from evenhand.study import DataSource, Plan
    >>> prepared = prepare(Plan(data=DataSource(dataset="causal", options={"n": 2000}, rows=500)))
    >>> prepared.facts.people, prepared.facts.groups, prepared.facts.privileged
    (500, ('0', '1'), 1)
    >>> list(prepared.codes)
    ['C', 'A', 'M']
    """
    if isinstance(plan.task, DecideTask):
        from evenhand.study.tasks.decide.prepare import prepare_entities  # noqa: PLC0415 - only where it is the task

        return prepare_entities(plan, plan.task, frame=frame)
    from evenhand.table import Table  # noqa: PLC0415 - starts pyarrow

    loaded, schema, notes = _loaded(plan, frame)
    if isinstance(plan.task, ReleaseTask):
        return _prepared_table(plan, plan.task, loaded, schema, notes)
    if isinstance(plan.task, LearnTask):
        from evenhand.study.tasks.learn.prepare import check_learning  # noqa: PLC0415 - only where it is the task

        check_learning(plan.task, schema)
    else:
        check_schema(schema, plan.collect)
        check_task(plan.task, plan.collect)
    table = Table.encode(loaded, schema)
    dropped = 0 if table.kept is None else len(loaded) - len(table.kept)
    del loaded
    codes, sampled = _sampled(plan, table)
    target_column, protected = schema[str(schema.target)], schema[str(schema.protected)]
    target = (codes[target_column.name] == target_column.domain.code(schema.positive)).astype(np.uint8)
    group = codes[protected.name]
    sizes = np.bincount(group, minlength=protected.size)
    groups = _groups(protected, sizes)
    privileged = protected.domain.code(schema.privileged)
    if not isinstance(plan.task, LearnTask):
        check_size(plan.task, schema, people=len(target))
    check_rows(plan.task, target=target, sizes=sizes[: len(groups)], schema=schema)
    facts = Facts(
        label=_label(plan),
        schema=schema,
        people=len(target),
        dropped=dropped,
        groups=groups,
        privileged=privileged,
        sizes=tuple(int(each) for each in sizes[: len(groups)]),
        fingerprint=_fingerprint(schema, codes),
        versions=_versions(plan),
        notes=(*plan.notes, *notes, *sampled),
    )
    features = {name: codes[name] for name in schema.names if name != schema.target}
    prepared = Prepared(facts, features, target, group)
    if isinstance(plan.task, LearnTask):
        from evenhand.study.tasks.learn.prepare import prepare_learning  # noqa: PLC0415 - only where it is the task

        return prepare_learning(plan.task, prepared)
    return prepared


def _prepared_table(
    plan: Plan, task: ReleaseTask, loaded: Any, whole: Schema, notes: tuple[str, ...]
) -> Prepared:
    """Return the columns of the table that a release publishes, the target among them."""
    from evenhand.table import Table  # noqa: PLC0415 - starts pyarrow

    schema = table_schema(task, whole)
    check_release(task, schema, of=whole)
    table = Table.encode(loaded, schema)
    dropped = 0 if table.kept is None else len(loaded) - len(table.kept)
    codes, sampled = _sampled(plan, table)
    target = positive_rows(schema, codes)
    check_split(task, schema, target=target)
    protected = schema[str(schema.protected)]
    group = codes[protected.name]
    sizes = np.bincount(group, minlength=protected.size)
    groups = _groups(protected, sizes)
    facts = Facts(
        label=_label(plan),
        schema=schema,
        people=len(target),
        dropped=dropped,
        groups=groups,
        privileged=0 if schema.privileged is None else protected.domain.code(schema.privileged),
        sizes=tuple(int(each) for each in sizes[: len(groups)]),
        fingerprint=_fingerprint(schema, codes),
        versions=_versions(plan),
        notes=(*plan.notes, *notes, *sampled),
    )
    return Prepared(facts, {name: codes[name] for name in schema.names}, target, group)


def _loaded(plan: Plan, frame: Any) -> tuple[Any, Schema, tuple[str, ...]]:
    """Return the frame, the schema in force, and what a reader should know about the data set."""
    data = plan.data
    if frame is None and data is None:
        raise PlanError(
            "The plan field 'data' is missing. Hint: name a file or a data set, or give a frame.",
            field="data",
        )
    if frame is None and data is not None and data.dataset is not None:
        from evenhand.datasets import load  # noqa: PLC0415 - only where one is named

        dataset = load(data.dataset, backend="pyarrow", **data.options)
        return dataset.frame, plan.schema or dataset.schema, (dataset.note,) if dataset.note else ()
    if plan.schema is None:
        raise PlanError(
            "The plan field 'schema' is missing: only data sets of evenhand bring one. Hint: declare the "
            "columns and their roles, or let Schema.infer make a draft to check.",
            field="schema",
        )
    if frame is None and data is not None and data.path is not None:
        from evenhand.table import Limits, read  # noqa: PLC0415 - starts pyarrow

        frame = read(data.path, schema=plan.schema, limits=Limits(bytes=_LARGEST_FILE))
    return frame, plan.schema, ()


def _sampled(plan: Plan, table: Table) -> tuple[dict[str, Codes], tuple[str, ...]]:
    """Return the codes of the rows that the plan asks for, in the order of the data."""
    rows = None if plan.data is None else plan.data.rows
    if rows is None or rows >= len(table):
        return dict(table.codes), ()
    draws = SeededSource(plan.seed).for_cell("rows").words(len(table))
    chosen = np.sort(np.argpartition(draws, rows - 1)[:rows])
    note = f"The study uses {rows:,} of the rows, drawn at random with its seed."
    return {name: codes[chosen] for name, codes in table.codes.items()}, (note,)


def _groups(protected: Column, sizes: NDArray[Any]) -> tuple[str, ...]:
    """Return the labels of the groups; "other" is one of them only if somebody is in it."""
    labels = tuple(protected.labels)
    return labels[:-1] if protected.has_other and not sizes[-1] else labels


def _label(plan: Plan) -> str:
    return plan.data.label if plan.data is not None else plan.name or _UNNAMED


def _fingerprint(schema: Schema, codes: Mapping[str, Codes]) -> str:
    """Return the SHA-256 of the schema and of every column's codes, low byte first."""
    digest = hashlib.sha256(schema.fingerprint.encode())
    for name in schema.names:
        array = np.ascontiguousarray(codes[name])
        digest.update(f"\n{name!r} {array.size} x {array.itemsize}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
    return digest.hexdigest()


def _versions(plan: Plan) -> dict[str, str]:
    needed = {"lightgbm": plan.task.model == "lightgbm", "dp-accounting": isinstance(plan.task, LearnTask)}
    return {name: number for name, number in versions().items() if needed.get(name, True)}
