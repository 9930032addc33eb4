"""What stands out in the data of a study: leaks, small groups, identifiers, values that do not fit."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.app.flow.drafting import column_of
from evenhand.app.flow.opening import open_rows
from evenhand.app.flow.views import Look
from evenhand.app.tasks.registry import form_of_kind
from evenhand.errors import EvenhandError
from evenhand.report.words import number
from evenhand.schema import Schema
from evenhand.study.intake.schema_file import check_schema
from evenhand.study.plan.plan import Plan
from evenhand.study.run.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evenhand.app.flow.drafting import Drafted, DraftedColumn
    from evenhand.app.state.record import StudyRecord
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.schema_file import Misfit
    from evenhand.study.intake.setup import Setup
    from evenhand.study.plan.facts import Leak

_FEWEST = 100
_MOST_GROUPS = 1_000
_ONE_LEAKS = ("gives", "Leave this column out, or make it sensitive too.")
_SEVERAL_LEAK = ("give", "Leave these columns out, or make them sensitive too.")
_TARGET_TODO = "Leave it out if it is not known before the target is."
_INFERRED = "read from these rows"
_DECLARE = (
    "That is a leak: a rare value is listed because somebody in this file has it, and no noise hides that. "
    "Paste a public code list, load a schema.toml, or say that the list is public."
)

_TODO = {
    "outside": "Add the values from a public list, or choose that others are counted as 'other'.",
    "nulls": "Choose that missing values are counted as 'other', or leave such rows out if it is the target.",
    "type": "Check whether it holds texts or numbers.",
}


def missing_share(opened: Opened, name: str) -> str:
    """Return the share of rows without a value, in words."""
    missing = _missing(opened, name)
    if not missing:
        return "none"
    share = 100 * missing / opened.rows
    return "all" if missing == opened.rows else "under 0.1%" if share < 0.1 else f"{number(share)}%"


def _missing(opened: Opened, name: str) -> int:
    series = column_of(opened, name)
    count = int(series.null_count())
    if series.dtype.is_float():
        count += int(series.is_nan().sum() or 0)
    return count


def column_looks(
    opened: Opened,
    name: str,
    drafted: DraftedColumn,
    whole: Drafted,
    leaks: Sequence[Leak],
    misfits: Sequence[Misfit],
) -> tuple[Look, ...]:
    """Return what stands out in one column, the gravest first."""
    looks = [
        Look("bad" if misfit.is_problem else "plain", "does not fit", _todo(misfit))
        for misfit in misfits
        if misfit.column == name
    ]
    words = whole.words
    for leak in leaks:
        if name in leak.by:
            tone: Any = "bad" if leak.is_full else "warn"
            todo = _TARGET_TODO if leak.column == words.target else "Leave it out, or make it sensitive too."
            detail = (
                f"With it, {number(100 * leak.guessed)}% of the values of '{leak.column}' can be guessed; "
                f"without any column {number(100 * leak.base)}%. {todo}"
            )
            looks.append(Look(tone, f"gives '{leak.column}' away", detail, (leak.column,)))
    if drafted.column is None and "identifier" in drafted.why_not:
        detail = "It says who somebody is. It is left out, unless you say that it tells whose row it is."
        looks.append(Look("warn", "identifier", detail))
    if name in words.protected_columns and drafted.column is not None:
        looks += _small_groups(opened, name)
    if drafted.column is not None and drafted.column.inferred:
        looks.append(Look("warn", _INFERRED, _DECLARE))
    return tuple(looks)


def _todo(misfit: Misfit) -> str:
    """Return what does not fit and what to do about it on the page, and not in a file."""
    problem, _, hint = misfit.sentence.partition(" Hint: ")
    if not hint:
        return problem
    return f"{problem} {_TODO.get(misfit.kind, hint[:1].upper() + hint[1:])}"


def _small_groups(opened: Opened, name: str) -> list[Look]:
    """Return a word on the groups of a protected column of which there are few people."""
    series = column_of(opened, name).drop_nulls()
    if not len(series) or series.n_unique() > _MOST_GROUPS:
        return []
    counts = series.value_counts(sort=True).rows()
    small = [count for _, count in counts if count < _FEWEST]
    if not small or len(counts) < 2:
        return []
    text = (
        f"smallest group: {small[0]:,} {'person' if small[0] == 1 else 'people'}"
        if len(small) == 1
        else f"{len(small):,} groups under {_FEWEST}"
    )
    detail = (
        f"Of groups with fewer than {_FEWEST} people little can be said. Compare small groups together, "
        "under More choices, or take more rows."
    )
    return [Look("warn", text, detail)]


def study_looks(drafted: Drafted, setup: Setup | None, leaks: Sequence[Leak]) -> tuple[Look, ...]:
    """Return what a person should know of the whole, the gravest first."""
    looks = []
    inferred = tuple(column.name for column in drafted.usable if column.inferred)
    if inferred:
        were = "The domain of {} was" if len(inferred) == 1 else "The domains of {} were"
        looks.append(Look("warn", f"{were.format(_few(inferred))} read from these rows.", _DECLARE, inferred))
    for leak in leaks:
        if leak.column == drafted.words.target:
            text = f"{_few(leak.by)} gives '{leak.column}' away: a model needs no other column."
            looks.append(Look("bad", text, _TARGET_TODO, leak.by))
        elif leak.is_full:
            give, todo = _ONE_LEAKS if len(leak.by) == 1 else _SEVERAL_LEAK
            text = f"{_few(leak.by)} {give} '{leak.column}' away: next to nothing is left to protect."
            looks.append(Look("bad", text, todo, leak.by))
    left = tuple(
        name for name, one in drafted.columns.items() if one.column is None and name not in drafted.words.drop
    )
    beside = {drafted.words.weight, drafted.words.person}
    left = tuple(name for name in left if name not in beside)
    if left:
        are = "is" if len(left) == 1 else "are"
        looks.append(Look("plain", f"{_few(left)} {are} left out; the table below says why.", "", left))
    if setup is not None:
        looks += [Look("warn", str(note)) for note in setup.notes if Note.of(note).kind == "unit"]
        looks += [Look("plain", str(note)) for note in setup.notes if Note.of(note).kind == "data"]
    return tuple(looks)


def _few(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in names[:5]]
    if len(names) > 5:
        shown.append(f"{len(names) - 5:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def find_misfits(folder: Path, record: StudyRecord, opened: Opened, drafted: Drafted) -> tuple[Misfit, ...]:
    """Return what does not fit between the columns that a person declared and the rows."""
    declared = [
        one.column
        for one in drafted.columns.values()
        if one.edited and one.column is not None and not one.column.inferred
    ]
    if not declared:
        return ()

    def read(schema: Schema) -> Any:
        return open_rows(folder, record, schema=schema).frame

    found = check_schema(Schema(declared), opened, read)
    return tuple(misfit for misfit in found if misfit.kind != "undeclared")


def find_leaks(opened: Opened, record: StudyRecord, setup: Setup) -> tuple[Leak, ...]:
    """Return what columns in the clear give away of those that people randomise, and of the target."""
    form = form_of_kind(record.kind)
    answers: Mapping[str, Any] = record.form.get(record.kind, {})
    try:
        schema = form.prepare_schema(setup.schema, answers)
        task = form.task(answers, schema, names=opened.names, rows=opened.rows)
        plan = Plan(data=opened.source, schema=schema, task=task)
        return _prepared_leaks(_Rows(opened.frame), plan.to_toml())
    except EvenhandError:  # what is wrong with the question is said where it is asked
        return ()


class _Rows:
    """A frame that results can be remembered by."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rows) and other.frame is self.frame

    def __hash__(self) -> int:
        return id(self.frame)


@lru_cache(maxsize=1)
def _prepared_leaks(rows: _Rows, plan: str) -> tuple[Leak, ...]:
    facts = prepare(Plan.from_toml(plan), frame=rows.frame).facts
    return (*facts.leaks, *facts.target_leaks)
