"""Open the data that a plan names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.errors import PlanError
from evenhand.study.intake.opening import open_data
from evenhand.study.tasks.shared.rows import sampled_sentence
from evenhand.table.sample import LARGE_FILE_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.study.intake.opening import Opened
    from evenhand.study.plan.plan import Plan
    from evenhand.table import FileFormat


def open_plan(
    plan: Plan,
    *,
    data: str | None = None,
    file_format: FileFormat | None = None,
    rows: int | None = None,
    seed: int | None = None,
    may_draw: bool = False,
    on_format: Callable[[str, FileFormat], None] | None = None,
) -> tuple[Plan, Opened]:
    """Return a plan that says all that was found out about its data, and the data.

    Parameters
    ----------
    plan : Plan
    data : str, optional
        A file or a data set, instead of what the plan names.
    file_format : FileFormat, optional
        What is known of how the file is written, before what the plan says of it.
    rows, seed : int, optional
        Instead of those of the plan.
    may_draw : bool, default False
        Whether rows are drawn from a file that does not fit where nobody said how many; else it is refused.
    on_format : callable, optional
        As in :func:`~evenhand.study.intake.opening.open_data`.

    Raises
    ------
    PlanError
        If neither the plan nor `data` names any data.
    EvenhandError
        What reading a file and loading a data set raise.
    """
    source = plan.data
    name = data or (source and (source.dataset or source.path)) or ""
    if not name:
        raise PlanError("The plan field 'data' is missing. Hint: name a file or a data set.", field="data")
    if data is None and source is not None and source.file_format is not None:
        file_format = source.file_format if file_format is None else file_format.fill_in(source.file_format)
    options = source.options if source is not None and name == source.dataset else None
    if rows is None and source is not None:
        rows = source.rows
    most = LARGE_FILE_ROWS if rows is None and may_draw else rows
    opened = open_data(
        name,
        file_format=file_format,
        on_format=on_format,
        schema=plan.schema,
        options=options,
        rows=most,
        seed=plan.seed if seed is None else seed,
    )
    said = () if opened.drawn is None else (sampled_sentence(opened.drawn),)
    notes = (*plan.notes, *(note for note in said if note not in plan.notes))
    found = replace(opened.source, rows=opened.drawn if rows is None else rows)
    return plan.with_(data=found, schema=plan.schema or opened.schema, notes=notes), opened
