"""From a file and role options to a schema, with errors that show the person what to type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.cli.asking import AMOUNT, ask_roles
from evenhand.cli.files import open_typed, typed_format
from evenhand.cli.options import split_list
from evenhand.cli.proposals import EXAMPLE, lay_out
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.errors import SchemaError
from evenhand.schema import Schema
from evenhand.schema.crossing import as_names
from evenhand.schema.infer import open_frame
from evenhand.study.intake.draft import draft_column
from evenhand.study.intake.guess import Guess, guess, read_rows
from evenhand.study.intake.setup import (
    ROLES,
    RoleOptions,
    Setup,
    column_named,
    missing_roles,
    set_up,
)
from evenhand.study.page.wording import counted, outcome_name
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.rows import sampled_sentence
from evenhand.table.sample import LARGE_FILE_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.study.intake.draft import Part
    from evenhand.study.intake.opening import Opened

_INFERRED = "domains were learnt from the rows, and that is a leak; give --schema with public code lists"


def read_role_options(opened: Opened, typed: Mapping[str, Any]) -> RoleOptions:
    """Return the roles as they were typed."""
    return RoleOptions(
        target=typed.get("target"),
        positive=typed.get("positive"),
        protected=typed_columns(typed.get("protected"), opened.names),
        privileged=_typed_group(typed.get("privileged"), typed.get("protected"), opened),
        pool_below=typed.get("pool_below"),
        sensitive=split_list(typed.get("sensitive"), opened.names),
        drop=split_list(typed.get("drop"), (*opened.names, *opened.unread)),
        missing_group=bool(typed.get("missing_group")),
        bands=read_bands(typed.get("band"), opened.names),
        labels=tuple(typed.get("labels") or ()),
        **beside_options(typed),
    )


def typed_columns(text: str | None, known: Sequence[str]) -> str | tuple[str, ...] | None:
    """Return the protected columns as they were typed: one name, or several with commas.

    >>> typed_columns("sex,race", ["sex", "race"]), typed_columns("a,b", ["a,b"]), typed_columns(None, [])
    (('sex', 'race'), 'a,b', None)
    """
    if text is None or text in known:
        return text
    names = split_list([text], known)
    return names if len(names) > 1 else "".join(names) if names else text


def _typed_group(text: str | None, protected: str | None, opened: Opened) -> str | tuple[str, ...] | None:
    """Return the privileged group as it was typed: of several protected columns a value of each."""
    columns = as_names(typed_columns(protected, opened.names))
    if not columns and opened.schema is not None:
        columns = opened.schema.protected_columns
    return text if text is None or len(columns) < 2 else split_list([text])


def read_bands(given: Sequence[str] | None, known: Sequence[str] = ()) -> dict[str, str]:
    """Return the columns and bands of --band as they were typed.

    >>> read_bands(["birth=10y:dd/mm/yyyy, age=10"])
    {'birth': '10y:dd/mm/yyyy', 'age': '10'}
    """
    bands: dict[str, str] = {}
    for pair in split_list(given):
        name, _, band = pair.rpartition("=")
        if not name.strip() or not band.strip() or name in bands:
            wrong_use("--band takes each column once, with its band: --band birth=10y,age=10")
        bands[name if name in known else name.strip()] = band.strip()
    return bands


def beside_options(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles of columns that need no domain, as they were typed."""
    beside = {name: typed.get(name) for name in ("weight", "person", "rows_per_person")}
    if beside["rows_per_person"] is not None and beside["person"] is None:
        wrong_use(
            "--rows-per-person is typed without --person. Hint: name the column that says whose row it is."
        )
    return beside


ROLE_NAMES = (*ROLES, "drop", "person", "guess")
"""The options that a command is spelt without, before the roles are."""


def repeat_options(typed: Mapping[str, Any]) -> list[str]:
    """Return what was typed about the file and about columns beside the roles that are asked for."""
    asked = typed_format(typed)
    words = list(asked.options) if asked else []
    for name in ("band", "labels", "weight", "person", "rows_per_person", "pool_below"):
        values = typed.get(name)
        flag = "--label" if name == "labels" else f"--{name.replace('_', '-')}"
        for value in values if isinstance(values, list) else [values]:
            words += [] if value is None else [flag, str(value)]
    return [*words, *(["--missing-group"] if typed.get("missing_group") else [])]


def open_people(terminal: Terminal, typed: Mapping[str, Any]) -> Opened:
    """Return the rows of the data that was named, with the schema that was declared for them.

    Of a file that does not fit, so many rows as were asked for, else a number that is said, are drawn.
    """
    declared = None if typed["schema"] is None else with_roles_beside(Schema.load(typed["schema"]), typed)
    rows = LARGE_FILE_ROWS if typed.get("rows") is None else typed["rows"]
    opened = open_typed(
        terminal, typed["data"], typed_format(typed), schema=declared, rows=rows, seed=typed.get("seed") or 0
    )
    report_reading(terminal, opened)
    return opened


def with_roles_beside(schema: Schema, typed: Mapping[str, Any]) -> Schema:
    """Return a declared schema with the weights and the person that were typed, without their domains."""
    roles = {name: value for name, value in beside_options(typed).items() if value is not None}
    names = [name for name in schema.names if name not in (roles.get("weight"), roles.get("person"))]
    return schema.select(names).with_roles(**roles) if roles else schema


def report_reading(terminal: Terminal, opened: Opened) -> None:
    """Say what was read."""
    label = opened.source.label
    with_nulls = sum(1 for column in opened.frame.columns if column.null_count)
    missing = "none missing" if not with_nulls else f"missing values in {with_nulls}"
    size = f"{counted(opened.rows, 'row')}, {counted(len(opened.names), 'column')}"
    terminal.say("Reading", f"{label}, {size}, {missing}")
    if opened.note:
        terminal.say("Note", opened.note)
    if opened.drawn is not None:
        terminal.say("Note", sampled_sentence(opened.drawn))


def assign_roles(
    terminal: Terminal,
    opened: Opened,
    typed: Mapping[str, Any],
    *,
    command: Sequence[str],
    bins_only: bool = False,
    needed: Sequence[str] = tuple(ROLES),
) -> Setup:
    """Return the schema with its roles, and say how it came about; others than those needed may lack."""
    refuse_empty_table(opened)
    words = read_role_options(opened, typed)
    guesses: tuple[str, ...] = ()
    if typed["guess"]:
        found = _guess_needed(terminal, opened, words, needed)
        words, guesses = found.words, tuple(f"Guessed: {reason}" for reason in found.reasons)
    missing = [role for role in missing_roles(words, opened) if role in needed]
    if missing and terminal.is_interactive and not typed.get("yes"):
        words = ask_roles(terminal, opened, words, missing, person=True)
        missing = [role for role in missing_roles(words, opened) if role in needed]
    if missing:
        if not typed["guess"]:
            found = _guess_needed(terminal, opened, words, needed)
        wrong_use(
            _ask_for(opened, words, missing, found, command=command, guessed=typed["guess"], needed=needed)
        )
    if guesses:
        terminal.say("Command", _spell_roles(command, words, needed))
    try:
        setup = set_up(opened, words, bins_only=bins_only)
    except SchemaError as error:
        wrong_use(with_choices(opened, words, error))
    report_inferred(terminal, setup)
    schema = setup.schema
    sensitive = f"; sensitive {quote_names(schema.sensitive)}" if "sensitive" in needed else ""
    protected = f"protected {schema.protected_name}, {privileged_words(schema)}"
    terminal.say("Roles", f"target {outcome_name(schema)}; {protected}{sensitive}")
    return replace(setup, notes=(*setup.notes, *guesses))


def privileged_words(schema: Schema) -> str:
    """Return the privileged group, or what is compared where there is none."""
    if schema.privileged is None:
        return "no group privileged: the largest difference of any two is compared"
    return f"privileged {schema.privileged_label}"


def report_inferred(terminal: Terminal, setup: Setup, *, is_draft: bool = False) -> None:
    """Say how a schema came about: what was read from the rows and what was left out.

    A draft marks what was read from the rows, and says itself what to do about it.
    """
    if setup.inferred and not is_draft:
        terminal.warn(_INFERRED)
    if setup.left_out:
        reasons = [f"{quote_names([name])} ({why})" for name, why in list(setup.left_out.items())[:6]]
        more = [f"and {len(setup.left_out) - 6} more"] if len(setup.left_out) > 6 else []
        terminal.say("Left out", "; ".join(reasons + more))
    for note in setup.notes:
        if Note.of(note).kind != "unit":
            terminal.say("Note", note)
        elif is_draft:  # of a study the first look tells it
            terminal.warn(note)


def refuse_empty_table(opened: Opened) -> None:
    """Refuse data without rows."""
    name = opened.source.label
    if not opened.rows:
        wrong_use(f"{name} has column names and no rows. Hint: name a file with people in it.")


def _guess_needed(terminal: Terminal, opened: Opened, words: RoleOptions, needed: Sequence[str]) -> Guess:
    """Return what is guessed of the roles that are needed, and of columns that are not, and say so."""
    found = guess(opened, words, person=True)
    unused: dict[str, Any] = {role: getattr(words, role) for role in ROLES if role not in needed}
    wanted = {role: why for role, why in found.by_role.items() if role not in unused}
    found = Guess(replace(found.words, **unused), wanted)
    report_guesses(terminal, found)
    return found


def report_guesses(terminal: Terminal, guessed: Guess) -> None:
    """Say what was guessed, and why."""
    for reason in guessed.reasons:
        terminal.say("Guess", reason)
    if guessed.reasons:
        terminal.say("", "A guess may be wrong: give the option to overrule it.")


def _ask_for(
    opened: Opened,
    words: RoleOptions,
    missing: Sequence[str],
    found: Guess,
    *,
    command: Sequence[str],
    guessed: bool,
    needed: Sequence[str],
) -> str:
    """Say in one sentence which roles are missing, and show the whole command to type."""
    flags = [f"--{role}" for role in missing]
    wanted = f"{', '.join(flags[:-1])} and {flags[-1]}" if flags[1:] else f"{flags[0]} ({ROLES[missing[0]]})"
    problem = "could not be guessed" if guessed else "must be given"
    draft = found.words
    rows = read_rows(opened, words)
    amount = rows.is_amount(draft.target)
    stand_in = replace(
        draft,
        target=draft.target or "COLUMN",
        positive=draft.positive or (AMOUNT if amount else "VALUE"),
        protected=draft.protected or "COLUMN",
        privileged=draft.privileged or ("" if len(draft.protected_columns) > 1 else "GROUP"),
        sensitive=draft.sensitive or ("COLUMN", "COLUMN"),
    )
    example = _spell_roles(command, stand_in, needed)
    values = f"'{draft.target}' holds numbers: choose the AMOUNT from which on the outcome is positive.\n"
    if not amount and draft.target in rows.domains:
        listed = quote_names(rows.domains[draft.target].labels)
        values = f"Values of {quote_names([draft.target])}: {listed}.\n"
    columns = f"Columns: {quote_names(opened.names, most=60)}.\n"
    two = [name for name, domain in rows.domains.items() if domain.size == 2]
    if draft.target is None and two:
        columns += f"Of two values: {quote_names(two, most=60)}."
    is_known = draft.target in rows.domains and not draft.positive
    beside = f"{values if is_known else ''}{columns if 'COLUMN' in example else ''}"
    return f"{wanted} {problem}; {EXAMPLE}\n{example}\n{beside}".rstrip()


def _spell_roles(command: Sequence[str], words: RoleOptions, needed: Sequence[str]) -> str:
    """Return the whole command with the roles, as it is typed."""

    def spell(role: str) -> list[str]:
        value = getattr(words, role)
        several = role in {"protected", "sensitive", "drop"} or isinstance(value, tuple)
        return [f"--{role}", typed_list(as_names(value)) if several else value] if value else []

    pairs = (("target", "positive"), ("protected", "privileged"), ("sensitive",), ("drop",), ("person",))
    lines = (
        [word for role in pair for word in spell(role)]
        for pair in pairs
        if pair[0] != "sensitive" or pair[0] in needed
    )
    return lay_out([command, *lines])


def with_choices(opened: Opened, words: RoleOptions, error: SchemaError) -> str:
    """Add the values that a column of the person's own file holds."""
    owner = {"roles.positive": "target", "roles.privileged": "protected"}.get(error.field)
    if owner is None:
        return str(error)
    names = as_names(getattr(words, owner) or getattr(opened.schema, owner))
    part: Part = "target" if owner == "target" else "protected"
    lines = [str(error)]
    for name in names:
        band = words.bands.get(column_named(name, opened.names), "")
        values = _labels_of(opened, column_named(name, opened.names), part, band)
        lines += [f"Values of {quote_names([name])}: {quote_names(values)}."] if values else []
    return "\n".join(lines)


def _labels_of(opened: Opened, name: str, part: Part, band: str) -> Sequence[str]:
    """Return the labels that a column holds; nothing if it cannot be used."""
    if opened.schema is not None:
        return opened.schema[name].domain.labels
    column = draft_column(open_frame(opened.frame), name, part, band=band).column
    return () if column is None else column.domain.labels
