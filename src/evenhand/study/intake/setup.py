"""From opened data and a few words about roles to a schema and a plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.errors import ColumnNotFoundError, SchemaError
from evenhand.schema import Schema
from evenhand.schema.bands import rule_text
from evenhand.schema.crossing import as_names
from evenhand.schema.infer import open_frame, refuse_one_side
from evenhand.schema.typed_values import label_values, value_of
from evenhand.study.intake.draft import draft_column, say
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.shared.rows import sampled_sentence
from evenhand.table.repeated_people import find_repeated_people

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evenhand.schema import Column
    from evenhand.study.intake.draft import Draft, Part
    from evenhand.study.intake.opening import Opened
    from evenhand.study.tasks.base import Task

ROLES = {
    "target": "the column that is predicted",
    "positive": "the value of it that people hope for",
    "protected": "the column whose groups are compared, or several with commas",
    "privileged": "the group that the others are compared with",
    "sensitive": "the columns that people randomise, with commas between them",
}
"""What a person has to say before anything can be compared."""

_MOST_REASONS = 6
_OWNERS = {"target": "target", "positive": "target", "protected": "protected", "privileged": "protected"}
_MISSING = frozenset({"?", "-", ".", "na", "n/a", "nan", "null", "none", "missing"})


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """The roles as a person says them: names of columns, and values as they are written in the file.

    Several protected columns are crossed; the privileged group is then a value of each. People whose value is
    missing may be a `missing_group`, and groups of fewer people than `pool_below` are compared as one.
    `bands` say how wide those of some columns are, as in :meth:`evenhand.schema.Schema.infer`, and `labels`
    what people read for values, each as ``COLUMN=VALUE:LABEL``. Two columns need no domain: survey weights,
    and the person whose row it is.
    """

    target: str | None = None
    positive: str | None = None
    protected: str | tuple[str, ...] | None = None
    privileged: str | tuple[str, ...] | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing_group: bool = False
    bands: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    weight: str | None = None
    person: str | None = None
    rows_per_person: int | None = None
    pool_below: int | None = None

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """The columns whose groups are compared; several are crossed."""
        return as_names(self.protected)

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that have a role, or are left out."""
        beside = (self.target, self.weight, self.person)
        named = (*self.protected_columns, *self.sensitive, *self.drop, *self.bands)
        return (*named, *(name for name in beside if name is not None))

    def parts(self, crossed: Iterable[str] = ()) -> dict[str, Part]:
        """Return what each column is for; those `crossed` in a table are read like what people report."""
        parts: dict[str, Part] = dict.fromkeys((*crossed, *self.sensitive), "sensitive")
        parts.update(dict.fromkeys(self.protected_columns, "protected"))
        if self.target is not None:
            parts[self.target] = "target"
        return parts


@dataclass(frozen=True)
class Setup:
    """A schema with its roles, and how it came about.

    It is `inferred` if its domains were read from the rows. Columns that are left out have a reason, and
    notes are what else a person should know.
    """

    schema: Schema
    inferred: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what a reader of the study should know about the schema."""
        sentences: list[str] = [Note("privacy", say("inferred"))] if self.inferred else []
        if self.left_out:
            shown = list(self.left_out.items())[:_MOST_REASONS]
            reasons = [say("left_out_one", column=f"'{name}'", why=why) for name, why in shown]
            more = len(self.left_out) - _MOST_REASONS
            reasons += [say("left_out_more", count=more)] if more > 0 else []
            sentences.append(say("left_out", columns="; ".join(reasons)))
        return (*sentences, *self.notes)


def missing_roles(words: RoleOptions, opened: Opened) -> tuple[str, ...]:
    """Return the roles that neither the person nor a declared schema gives.

    Several protected columns need no privileged group.

    >>> from evenhand.study.intake.opening import open_data
    >>> missing_roles(RoleOptions(), open_data("causal", options={"n": 1000}))
    ()
    """
    if opened.schema is not None:
        named = name_columns(words, opened.schema.names, opened.undeclared)
        words = with_declared_roles(named, opened.schema)
    crossed = len(words.protected_columns) > 1
    return tuple(
        role for role in ROLES if not getattr(words, role) and not (role == "privileged" and crossed)
    )


def with_declared_roles(words: RoleOptions, schema: Schema | None) -> RoleOptions:
    """Return the words with the roles that a declared schema has, where the person says nothing else.

    Its values are those of its own columns, which the words may replace.
    """
    if schema is None:
        return words
    for role, owner in _OWNERS.items():
        value, own = getattr(schema, role), as_names(getattr(words, owner))
        is_other = own and own != as_names(getattr(schema, owner))
        if getattr(words, role) is None and value is not None and not is_other:
            text: Any = tuple(map(str, value)) if isinstance(value, tuple) else str(value)
            words = replace(words, **{role: text})
    return words if words.sensitive else replace(words, sensitive=schema.sensitive)


def set_up(
    opened: Opened, words: RoleOptions, *, bins_only: bool = False, crossed: Sequence[str] = ()
) -> Setup:
    """Return the schema for a study of `opened` with the roles that `words` say.

    A declared schema is used as it is, with the roles that are given. Without one the domain of each column
    is read from the rows, which is a leak: see :meth:`evenhand.schema.Schema.infer`. Numbers in the clear are
    put into bins too where there are to be `bins_only`, for an encoder that makes a feature of each value.
    Columns that are `crossed` in a table that is published are read like those that people report.

    A :class:`SchemaError` names a column with a role that cannot be used, or does not hold the value that is
    given: its ``field`` is ``"roles.positive"`` and the like. The message holds no value of the rows.

    Examples
    --------
    >>> from evenhand.study.intake.opening import open_data
    >>> opened = open_data("causal", options={"n": 1000})
    >>> set_up(opened, RoleOptions(sensitive=("A",))).schema.sensitive
    ('A',)
    """
    known = opened.names if opened.schema is None else opened.schema.names
    named = name_columns(words, known, opened.undeclared)
    beside = [name for name in (named.weight, named.person) if name is not None]
    drop = {*named.drop, *beside}
    whole = with_declared_roles(named, opened.schema)
    _refuse_roles_among(drop, (whole.target, *whole.protected_columns, *named.sensitive), beside=beside)
    if opened.schema is not None:
        for name in named.bands:
            message = f"Column '{name}' is declared in the schema, bands and all."
            raise SchemaError(
                f"{message} Hint: declare its bands there, and leave the band out.", field="bands"
            )
        setup = Setup(opened.schema.select([name for name in known if name not in drop]))
    else:
        setup = _infer(opened, named, drop, crossed, bins_only=bins_only)
    setup = _with_roles(replace(setup, schema=label_values(setup.schema, named.labels)), named)
    refuse_one_side(open_frame(opened.frame), setup.schema)
    if setup.schema.target in setup.schema.protected_columns:
        message = f"Column '{setup.schema.target}' is the target and protected too."
        raise SchemaError(f"{message} Hint: compare the groups of another column.", field="roles")
    return setup if setup.schema.person else _notice_people(setup, opened)


def _notice_people(setup: Setup, opened: Opened) -> Setup:
    """Return the setup with a note if one person seems to have several rows, and nobody said so."""
    found = find_repeated_people(open_frame(opened.frame).to_arrow())
    if found is None:
        return setup
    said = say("repeated", column=found.column, constant=_few(found.constant))
    return replace(setup, notes=(*setup.notes, Note("unit", said)))


def _refuse_roles_among(
    drop: Collection[str], names: Iterable[str | None], *, beside: Collection[str] = ()
) -> None:
    for name in names:
        if name in drop:
            other = "holds weights or persons" if name in beside else "is to be left out"
            message = f"Column '{name}' has a role and {other} too."
            raise SchemaError(f"{message} Hint: take it out of one of the two.", field="roles")


def without_columns(schema: Schema, names: Iterable[str]) -> Schema:
    """Return a schema without columns that a person wants to leave out; one with a role is refused."""
    drop = [column_named(name, schema.names) for name in names]
    _refuse_roles_among(drop, (schema.target, *schema.protected_columns, *schema.sensitive))
    return schema.select([name for name in schema.names if name not in drop])


def name_columns(words: RoleOptions, known: Sequence[str], undeclared: Sequence[str]) -> RoleOptions:
    """Return the words with the names of columns as the data has them."""
    return replace(
        words,
        target=words.target and column_named(words.target, known, undeclared),
        protected=_protected_named(words, known, undeclared),
        sensitive=tuple(column_named(name, known, undeclared) for name in words.sensitive),
        drop=tuple(  # without those that are left out already
            column_named(name, known)
            for name in words.drop
            if name in known or not _is_among(name, undeclared)
        ),
        bands={column_named(name, known, undeclared): band for name, band in words.bands.items()},
        weight=words.weight and column_named(words.weight, (*known, *undeclared)),
        person=words.person and column_named(words.person, (*known, *undeclared)),
    )


def _protected_named(
    words: RoleOptions, known: Sequence[str], undeclared: Sequence[str]
) -> str | tuple[str, ...] | None:
    names = tuple(column_named(name, known, undeclared) for name in words.protected_columns)
    if len(set(names)) < len(names):
        message = "The protected columns hold one twice. Hint: name each once."
        raise SchemaError(message, field="roles.protected")
    return names[0] if len(names) == 1 else names or None


def column_named(name: str, known: Sequence[str], undeclared: Sequence[str] = ()) -> str:
    """Return the column that a person means; blanks around a name do not count.

    A name of one of the columns that are undeclared is refused as one that is not in the schema.

    >>> column_named("sex", ["age", " sex"])
    ' sex'
    """
    if name in known:
        return name
    close = [column for column in known if column.strip() == name.strip()]
    if len(close) == 1:
        return close[0]
    place = "in the schema" if _is_among(name, undeclared) else "in the data"
    raise ColumnNotFoundError(name, known, place=place)


def _is_among(name: str, columns: Sequence[str]) -> bool:
    return name.strip() in {column.strip() for column in columns}


def _infer(
    opened: Opened, words: RoleOptions, drop: Collection[str], crossed: Sequence[str], *, bins_only: bool
) -> Setup:
    frame, parts, drafts = open_frame(opened.frame), words.parts(crossed), {}
    for name in opened.names:
        if name not in drop:
            part, band = parts.get(name, "clear"), words.bands.get(name, "")
            drafts[name] = draft_column(frame, name, part, bins_only=bins_only, band=band)
    left_out = {name: draft.why_not for name, draft in drafts.items() if draft.column is None}
    for name, part in parts.items():
        if name in left_out:
            message = f"Column '{name}' is needed ({part}) and cannot be used: it {left_out[name]}"
            raise SchemaError(f"{message}. Hint: name another column, or declare it.", field=f"roles.{part}")
    for name in words.bands:
        if name in left_out:
            message = f"Column '{name}' cannot be banded: it {left_out[name]}"
            raise SchemaError(f"{message}. Hint: --band {name}=10y, 1q or 6m; numbers 10.", field="bands")
    columns = [draft.column for draft in drafts.values() if draft.column is not None]
    if len(columns) < 2:
        message = "Fewer than two columns can be used. Hint: declare the columns in a schema file."
        raise SchemaError(message, field="columns")
    return Setup(Schema(columns), inferred=True, left_out=left_out, notes=tuple(_notes(drafts, parts)))


def _notes(drafts: Mapping[str, Draft], parts: Mapping[str, Part]) -> Iterable[str]:
    used = {name: draft for name, draft in drafts.items() if draft.column is not None}
    missing = {name: parts.get(name) for name, draft in used.items() if draft.missing}
    others = [name for name, part in missing.items() if part not in {"target", "protected"}]
    if others:
        yield say("missing_as_other", columns=_few(others))
    for name, part in missing.items():
        if part == "target":
            yield say("target_missing", column=f"'{name}'")
    yield from _look_alikes({name: draft.column for name, draft in used.items() if name in parts})
    binned = [name for name, draft in used.items() if draft.binned and name in parts]
    if binned:
        yield _binned_note(binned)


def _binned_note(names: Sequence[str]) -> str:
    return say("binned", columns=_few(names))


def _look_alikes(columns: Mapping[str, Column | None]) -> Iterable[str]:
    """Say which columns with a role hold values that a person may have meant to be one, or to be missing."""
    texts = {
        name: [value for value in column.domain.values if isinstance(value, str)]
        for name, column in columns.items()
        if column is not None and column.domain.kind == "categorical"
    }
    alike = [
        name
        for name, values in texts.items()
        if len({value.strip().casefold() for value in values}) < len(values)
    ]
    if alike:
        yield say("look_alikes", columns=_few(alike))
    for name, values in texts.items():
        words = [value for value in values if value.strip().casefold() in _MISSING]
        if words:
            key = "missing_word" if len(words) == 1 else "missing_words"
            yield say(key, column=f"'{name}'", words=_few(words))


def _few(names: Sequence[str]) -> list[str]:
    shown = [f"'{name}'" for name in names[:5]]
    return [*shown, say("more", count=len(names) - 5)] if len(names) > 5 else shown


# --- values ---------------------------------------------------------------------------------------


def _with_roles(setup: Setup, words: RoleOptions) -> Setup:
    """Return the setup with the roles that the words say, whose columns are named as the data has them."""
    schema, notes = setup.schema, list(setup.notes)
    named = ("target", "protected", "sensitive", "weight", "person", "rows_per_person", "pool_below")
    given = {role: getattr(words, role) for role in named}
    changes: dict[str, Any] = {role: columns for role, columns in given.items() if columns not in (None, ())}
    if words.missing_group:
        changes["missing_group"] = True
    schema = schema.with_roles(**changes)
    text, target = words.positive, schema.target
    rule = rule_text(text) if text is not None else None
    if target is not None and rule is not None and value_of(schema[target].domain, str(text)) is None:
        if schema[target].domain.value_type not in (int, float):
            message = f"A threshold parts numbers, and column '{target}' holds none"
            raise SchemaError(f"{message}. Hint: give one of its values.", field="roles.positive")
        schema = schema.with_roles(positive=rule)
        notes = [note for note in notes if note != _binned_note([target])]
    elif target is not None and text is not None:
        schema = schema.with_roles(positive=_find_value(schema[target], "positive", text, notes))
    if words.privileged is not None and schema.protected_columns:
        schema = schema.with_roles(privileged=_privileged(schema, words.privileged, notes))
    return replace(setup, schema=schema, notes=tuple(notes))


def _privileged(schema: Schema, typed: str | tuple[str, ...], notes: list[str]) -> Any:
    """Return the privileged group that a person means: a value, or of crossed columns one of each."""
    columns, texts = schema.protected_columns, as_names(typed)
    if len(columns) == 1 and isinstance(typed, str):
        return _find_value(schema[columns[0]], "privileged", typed, notes)
    if len(texts) != len(columns):
        names = " and ".join(f"'{name}'" for name in columns)
        message = f"The privileged group must be a combination: one value each of {names}, in this order"
        hint = "write it with commas, such as Male,White, or leave it out"
        raise SchemaError(f"{message}. Hint: {hint}.", field="roles.privileged")
    pairs = zip(columns, texts, strict=True)
    return tuple(_find_value(schema[name], "privileged", text, notes) for name, text in pairs)


def _find_value(column: Column, role: str, text: str, notes: list[str]) -> Any:
    """Return the value of a column that a text stands for, with a note where it is written otherwise."""
    value = value_of(column.domain, text)
    if value is None and column.find(text) is not None:  # a label, which the schema knows
        value = text
    if value is None:
        message = f"The value given for '{role}' is not one of column '{column.name}'"
        raise SchemaError(f"{message}. Hint: write it as it stands in the data.", field=f"roles.{role}")
    if str(value) != text:
        notes.append(say("taken_as", text=f"'{text}'", value=repr(value), column=f"'{column.name}'"))
    return value


# --- plans ----------------------------------------------------------------------------------------


def plan_of(
    opened: Opened, task: Task, setup: Setup | None = None, *, rows: int | None = None, **design: Any
) -> Plan:
    """Return the plan of a task for data that was opened; `design` are repeats and seed, if not its own.

    It uses so many `rows`, by default all that were read, and says what a reader should know of the schema.
    """
    own: dict[str, Any] = {"notes": (opened.note,) if opened.note else ()}
    if setup is not None:
        own = {"schema": setup.schema, "notes": setup.sentences}
    if opened.drawn is not None:
        own["notes"] = (*own["notes"], sampled_sentence(opened.drawn))
    source = replace(opened.source, rows=opened.drawn if rows is None else rows)
    return Plan(data=source, task=task, **own, **design)
