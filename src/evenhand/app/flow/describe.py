"""The second step: what every column holds, what it is for, and what a person should know before going on."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.app.flow.drafting import (
    DOMAINS,
    Drafted,
    Frame,
    column_of,
    draft,
    guesses,
    known_roles,
    read_roles,
    shown_bounds,
    shown_domain,
    write_roles,
)
from evenhand.app.flow.looks import column_looks, find_leaks, find_misfits, missing_share, study_looks
from evenhand.app.flow.opening import open_rows
from evenhand.app.flow.views import ColumnRow, Described, Look, MissingRole
from evenhand.app.tasks.registry import FORMS, form_of_kind
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.schema import Schema
from evenhand.schema.infer import date_forms
from evenhand.schema.values import number_text
from evenhand.study.intake.guess import guess
from evenhand.study.intake.setup import missing_roles
from evenhand.study.tasks.shared.rows import sampled_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.app.flow.drafting import DraftedColumn
    from evenhand.app.state.record import StudyRecord
    from evenhand.schema import Column
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.setup import RoleOptions

MOST_VALUES = 60
"""How many values of a column a page shows and edits; longer lists are pasted or loaded."""

_QUESTIONS = {
    "target": "Which column is predicted?",
    "positive": "Which value of '{target}' do people hope for?",
    "protected": "Which column has the groups that are compared?",
    "privileged": "Which group of '{protected}' are the others compared with?",
    "sensitive": "Which columns do people want to keep to themselves?",
}
_THRESHOLD = " It holds numbers: write a limit, such as > {limit}."
_BANDS = {"1m": "a month", "1q": "a quarter", "1y": "a year", "5y": "5 years", "10y": "10 years"}
_EMPTY = "{label} has column names and no rows. Choose a file with people in it."
_LONGEST_LIST = 100_000


def describe(folder: Path, record: StudyRecord) -> Described:
    """Return the data of a study with what every column holds and is for.

    What is wrong with it is said in the description; only data that cannot be read at all is refused.

    Parameters
    ----------
    folder : path
        Of the study.
    record : StudyRecord
    """
    try:
        opened = open_rows(folder, record)
    except EvenhandError as fault:
        return Described(error=str(fault), field="data")
    if not opened.rows:
        return Described(error=_EMPTY.format(label=opened.source.label), field="data")
    try:
        drafted = draft(opened, record)
    except EvenhandError as fault:
        return _describe_fault(opened, record, fault)
    form = form_of_kind(record.kind)
    needed = form.needed_roles(record.form.get(record.kind, {}))
    lacking = [role for role in _lacking(drafted.words, opened) if role in needed]
    setup, error, field = None, "", ""
    try:
        setup = drafted.set_up(opened)
    except EvenhandError as fault:
        if form.needs_people:
            error, field = str(fault), _field_of(fault)
    leaks = find_leaks(opened, record, setup) if setup is not None and not lacking else ()
    misfits = find_misfits(folder, record, opened, drafted)
    reasons = _reasons(opened, drafted.words, record)
    rows = tuple(
        _column_row(
            opened,
            name,
            one,
            drafted.words,
            reasons,
            column_looks(opened, name, one, drafted, leaks, misfits),
            record.columns.get(name, {}),
        )
        for name, one in drafted.columns.items()
    )
    warnings = study_looks(drafted, setup, leaks)
    if opened.drawn is not None:
        warnings = (Look("plain", sampled_sentence(opened.drawn)), *warnings)
    return Described(
        columns=rows,
        rows=opened.rows,
        drawn=opened.drawn is not None,
        roles=write_roles(drafted.words),
        choices=_choices(drafted),
        reasons=reasons,
        warnings=warnings,
        missing=tuple(_missing(role, drafted) for role in lacking if _can_be_asked(role, drafted.words)),
        schema_text="" if setup is None else setup.schema.to_toml(),
        error=error,
        field=field,
    )


def guess_roles(folder: Path, record: StudyRecord) -> dict[str, Any]:
    """Return the changes of a record by which it has the roles and answers that names and rows suggest.

    What the person said stays as it is.
    """
    opened = open_rows(folder, record)
    if not opened.rows:
        return {}
    answers = {kind: form_of_kind(kind).guess_answers(opened, record.form.get(kind, {})) for kind in FORMS}
    form = {**record.form, **{kind: values for kind, values in answers.items() if values}}
    changes: dict[str, Any] = {"form": form} if form != record.form else {}
    if not form_of_kind(record.kind).needs_people:
        return changes
    given = read_roles(record.roles)
    found = guesses(Frame.of(opened)) if not record.roles else guess(opened, given)
    return {"roles": write_roles(found.words), **changes}


# --- code lists and schema files ------------------------------------------------------------------


def read_code_list(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the values of a pasted list and their labels.

    One value a line, or values with commas between them in one line; a label may follow after a colon.

    Raises
    ------
    InvalidParameterError
        If the list is empty, too long, or holds a value twice.

    Examples
    --------
    >>> read_code_list("1: White" + chr(10) + "2: Black")
    (['1', '2'], {'1': 'White', '2': 'Black'})
    >>> read_code_list("f, m")
    (['f', 'm'], {})
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and "," in lines[0]:
        lines = [part.strip() for part in next(csv.reader(lines, skipinitialspace=True)) if part.strip()]
    if not lines or len(lines) > _LONGEST_LIST:
        got = "nothing" if not lines else f"{len(lines):,} lines"
        must_be = f"a list of values, one a line, at most {_LONGEST_LIST:,}"
        raise InvalidParameterError("values", owner="the code list", must_be=must_be, got=got)
    values, labels = [], {}
    for line in lines:
        value, mark, label = line.partition(": ") if ": " in line else line.partition(":\t")
        value = value.strip()
        values.append(value)
        if mark and label.strip():
            labels[value] = label.strip()
    twice = next((value for place, value in enumerate(values) if value in values[:place]), None)
    if twice is not None:
        must_be = "a list that holds each value once"
        raise InvalidParameterError("values", owner="the code list", must_be=must_be, got=f"'{twice}' twice")
    return values, labels


def load_schema_file(folder: Path, record: StudyRecord, text: str) -> dict[str, Any]:
    """Return the changes of a record by which it has the columns and the roles of a schema file.

    Columns of the file that the data lacks are refused; columns of the data that it does not declare are left
    out, as on the command line.

    Raises
    ------
    SchemaError
        If it is not a schema, or does not fit the data.
    """
    schema = Schema.from_toml(text)
    opened = open_rows(folder, record)
    lacking = [name for name in (*schema.names, *schema.beside) if name not in opened.names]
    if lacking:
        must_be = "columns of the data"
        raise InvalidParameterError("columns", owner="the schema file", must_be=must_be, got=lacking[0])
    columns = {
        column.name: {"declared": Schema([column]).to_toml(), **({} if column.inferred else {"public": True})}
        for column in schema
    }
    used = {*schema.names, *schema.beside}
    roles: dict[str, Any] = {
        "target": schema.target,
        "positive": None if schema.positive is None else str(schema.positive),
        "protected": list(schema.protected_columns),
        "privileged": _as_texts(schema.privileged),
        "sensitive": list(schema.sensitive),
        "drop": [name for name in opened.names if name not in used],
        "weight": schema.weight,
        "person": schema.person,
        "rows_per_person": schema.rows_per_person,
        "pool_below": schema.pool_below,
        "missing_group": schema.missing_group,
    }
    kept = {name: value for name, value in roles.items() if value not in (None, [], False)}
    return {"columns": columns, "roles": kept, "described": False}


def _as_texts(value: Any) -> Any:
    if value is None:
        return None
    return [str(each) for each in value] if isinstance(value, tuple) else str(value)


# --- rows of the page -----------------------------------------------------------------------------


def _column_row(
    opened: Opened,
    name: str,
    drafted: DraftedColumn,
    words: RoleOptions,
    reasons: Mapping[str, str],
    looks: tuple[Look, ...],
    edit: Mapping[str, Any],
) -> ColumnRow:
    column = drafted.column
    role = _role_of(name, words) or ("left out" if column is None else "clear")
    row = ColumnRow(
        name=name,
        type_words=_type_words(opened, name, column),
        missing_share=missing_share(opened, name),
        role=role,
        reason=_reason_of(name, role, drafted, reasons, words),
        edited=drafted.edited,
        looks=looks,
        bands=_bands(opened, name) if column is None or name in words.bands else (),
        band=str(words.bands.get(name, "")),
    )
    if column is None:
        return row
    domain = column.domain
    bounds = shown_bounds(domain)
    labels = list(domain.labels[: MOST_VALUES + 1]) if domain.kind != "integers" else []
    return replace(
        row,
        kind=str(edit.get("kind") or DOMAINS.get(domain.kind, "")),
        domain_words=domain.describe(column.named_values),
        values=tuple(map(str, labels[:MOST_VALUES])),
        value_count=domain.size,
        low=bounds.get("low", ""),
        high=bounds.get("high", ""),
        width=bounds.get("width", ""),
        edges=bounds.get("edges", ""),
        labels=column.named_values,
        unknown=column.outside,
        missing=column.nulls,
        inferred=column.inferred,
    )


def _bands(opened: Opened, name: str) -> tuple[tuple[str, str], ...]:
    """Return the bands that a column of dates can be put into; none for other columns."""
    forms = date_forms(column_of(opened, name))
    if len(forms) < 2:
        return tuple(_BANDS.items()) if forms else ()
    return tuple(
        (f"{band}:{form}", f"{words}, dates written as {form}")
        for form in forms
        for band, words in _BANDS.items()
    )


def _describe_fault(opened: Opened, record: StudyRecord, fault: EvenhandError) -> Described:
    """Return the columns with what a person said of them, to be corrected where it is wrong."""
    words = known_roles(opened, record)
    columns = tuple(_plain_row(opened, name, words, record.columns.get(name, {})) for name in opened.names)
    roles = {**write_roles(words), **record.roles}
    return Described(columns, opened.rows, roles=roles, error=str(fault), field=_field_of(fault))


def _plain_row(opened: Opened, name: str, words: RoleOptions, edit: Mapping[str, Any]) -> ColumnRow:
    """Return a column without its domain, with what a person said of it."""
    shown = shown_domain(None, edit)
    values = tuple(map(str, shown.pop("values", ())))
    return ColumnRow(
        name,
        _type_words(opened, name, None),
        missing_share=missing_share(opened, name),
        role=_role_of(name, words) or ("left out" if name in words.drop else "clear"),
        values=values[:MOST_VALUES],
        value_count=len(values),
        labels=dict(edit.get("labels") or {}),
        edited=bool(edit),
        **shown,
    )


def _type_words(opened: Opened, name: str, column: Column | None) -> str:
    dtype = column_of(opened, name).dtype
    if dtype.is_integer():
        kind = "whole numbers"
    elif dtype.is_numeric():
        kind = "numbers"
    else:
        plain = {"Boolean": "yes or no", "Date": "dates"}
        text = str(dtype).partition("(")[0]
        kind = "times" if text == "Datetime" else plain.get(text, "text")
    if column is None:
        return kind
    domain = DOMAINS.get(column.domain.kind, "a list")
    return kind if domain == kind else f"{kind}, as {domain}"


def _role_of(name: str, words: RoleOptions) -> str:
    """Return the roles that a person gave a column; an empty text if it has none."""
    roles = [
        role
        for role, names in (
            ("target", (words.target,)),
            ("protected", words.protected_columns),
            ("sensitive", words.sensitive),
            ("weight", (words.weight,)),
            ("person", (words.person,)),
        )
        if name in names
    ]
    return ", ".join(roles)


def _reason_of(
    name: str, role: str, drafted: DraftedColumn, reasons: Mapping[str, str], words: RoleOptions
) -> str:
    if role == "left out":
        if name in words.drop:
            return reasons.get("drop", "you left it out")
        return f"it {drafted.why_not}"
    return next((reasons[part] for part in role.split(", ") if part in reasons), "")


def _reasons(opened: Opened, words: RoleOptions, record: StudyRecord) -> dict[str, str]:
    """Return why a role was guessed, by role, where the guess holds still."""
    if opened.schema is not None:
        declared = "the data set declares it"
        return {role: declared for role in write_roles(words) if role not in record.roles}
    found = guesses(Frame.of(opened))
    return {
        role: reason.why
        for role, reason in found.by_role.items()
        if getattr(found.words, role) == getattr(words, role)
    }


def _lacking(words: RoleOptions, opened: Opened) -> tuple[str, ...]:
    return missing_roles(words, replace(opened, schema=None))


def _can_be_asked(role: str, words: RoleOptions) -> bool:
    """Whether a role can be asked for yet: a value only once its column is known."""
    return {"positive": words.target, "privileged": words.protected}.get(role, role) is not None


def _missing(role: str, drafted: Drafted) -> MissingRole:
    words = drafted.words
    usable = tuple(column.name for column in drafted.usable)
    owner = {"positive": words.target, "privileged": "".join(words.protected_columns[:1])}.get(role)
    slots = {"target": words.target or "", "protected": ", ".join(words.protected_columns)}
    question = _QUESTIONS[role].format_map(slots)
    if role not in {"positive", "privileged"}:
        return MissingRole(role, question, usable)
    column = None if not owner else drafted.columns[owner].column
    values = () if column is None else _labels(column)
    if (
        role == "positive"
        and column is not None
        and column.domain.value_type in {int, float}
        and len(values) > 2
    ):
        question += _THRESHOLD.format(limit=_middle(column))
    return MissingRole(role, question, values)


def _middle(column: Column) -> str:
    """Return a number in the middle of a domain of numbers, as an example of a limit."""
    domain = column.domain
    if domain.kind == "integers":
        return str((domain.low + domain.high) // 2)
    numbers = domain.edges if domain.kind == "binned" else sorted(map(float, domain.values))
    return number_text(numbers[len(numbers) // 2])


def _choices(drafted: Drafted) -> dict[str, tuple[str, ...]]:
    words = drafted.words
    crossed = len(words.protected_columns) > 1  # a group is then a value of each column
    named = {"positive": (words.target,), "privileged": () if crossed else words.protected_columns}
    choices = {}
    for role, names in named.items():
        column = next((drafted.columns[str(name)].column for name in names if name in drafted.columns), None)
        choices[role] = () if column is None else _labels(column)
    return choices


def _labels(column: Column) -> tuple[str, ...]:
    if column.domain.kind == "integers" and column.domain.size > MOST_VALUES:
        return ()
    return tuple(map(str, column.domain.labels[:MOST_VALUES]))


def _field_of(error: EvenhandError) -> str:
    for attribute in ("field", "parameter", "column"):
        value = getattr(error, attribute, "")
        if isinstance(value, str) and value:
            return value
    return ""
