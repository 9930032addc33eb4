"""From opened data and a few words about roles to a schema and a plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.errors import ColumnNotFoundError, SchemaError
from evenhand.schema import Schema
from evenhand.schema.infer import open_frame
from evenhand.schema.text import listed
from evenhand.study.intake.draft import draft_column
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.schema import Column, Domain
    from evenhand.schema.values import Value
    from evenhand.study.intake.draft import Draft, Part
    from evenhand.study.intake.opening import Opened

ROLES = {
    "target": "the column that is predicted",
    "positive": "the value of it that people hope for",
    "protected": "the column whose groups are compared",
    "privileged": "the group that the others are compared with",
    "sensitive": "the columns that people randomise, with commas between them",
}
"""What a person has to say before anything can be compared."""

_MOST_REASONS = 6
_SAID_APART = ("target", "protected")
_MISSING = frozenset({"?", "-", ".", "na", "n/a", "nan", "null", "none", "missing"})
_INFERRED = Note(
    "privacy",
    "The domains of the columns were read from the rows, and that is a leak: a rare value is listed because "
    "somebody has it. Declare them in a schema file, from public code lists.",
)


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """The roles as a person says them: names of columns, and values as they are written in the file.

    Parameters
    ----------
    target, positive, protected, privileged : str, optional
    sensitive : tuple of str, default ()
    drop : tuple of str, default ()
        Columns to leave out.
    missing_group : bool, default False
        Whether people whose protected value is missing are compared as a group.
    weight, person : str, optional
        Columns that need no domain: survey weights, and whose row it is.
    rows_per_person : int, optional
    """

    target: str | None = None
    positive: str | None = None
    protected: str | None = None
    privileged: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing_group: bool = False
    weight: str | None = None
    person: str | None = None
    rows_per_person: int | None = None


@dataclass(frozen=True)
class Setup:
    """A schema with its roles, and how it came about.

    Parameters
    ----------
    schema : Schema
    inferred : bool
        Whether its domains were read from the rows.
    left_out : mapping of str to str
        Columns that are not used, with the reason.
    notes : tuple of str
        What else a person should know, in sentences.
    """

    schema: Schema
    inferred: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader of the study should know about the schema."""
        sentences: list[str] = [_INFERRED] if self.inferred else []
        if self.left_out:
            reasons = [f"'{name}' {why}" for name, why in list(self.left_out.items())[:_MOST_REASONS]]
            more = len(self.left_out) - _MOST_REASONS
            sentences.append(
                f"Columns left out: {'; '.join(reasons)}{f'; and {more} more' if more > 0 else ''}."
            )
        return (*sentences, *self.notes)


def missing_roles(words: RoleOptions, opened: Opened) -> tuple[str, ...]:
    """Return the roles that neither the person nor a declared schema gives.

    >>> from evenhand.study.intake.opening import open_data
    >>> missing_roles(RoleOptions(), open_data("causal", options={"n": 1000}))
    ()
    """
    return tuple(
        role
        for role in ROLES
        if not getattr(words, role) and not _declares(opened.schema, role, words, opened.undeclared)
    )


def _declares(schema: Schema | None, role: str, words: RoleOptions, undeclared: Sequence[str]) -> bool:
    """Tell whether a declared schema gives a role; its values are those of its own columns."""
    if schema is None or getattr(schema, role) in (None, ()):
        return False
    owner = {"positive": "target", "privileged": "protected"}.get(role)
    named = getattr(words, owner) if owner else None
    return named is None or column_named(named, schema.names, undeclared) == getattr(schema, str(owner))


def set_up(
    opened: Opened, words: RoleOptions, *, bins_only: bool = False, crossed: Sequence[str] = ()
) -> Setup:
    """Return the schema for a study of `opened` with the roles that `words` say.

    A declared schema is used as it is, with the roles that are given. Without one the domain of each column
    is read from the rows, which is a leak: see :meth:`evenhand.schema.Schema.infer`.

    Parameters
    ----------
    opened : Opened
    words : RoleOptions
    bins_only : bool, default False
        Put whole numbers in the clear into bins too, for an encoder that makes a feature of each value.
    crossed : sequence of str
        Columns of a table that is published, which are read like those that people report.

    Raises
    ------
    ColumnNotFoundError
        If a name is not that of a column.
    SchemaError
        If a column with a role cannot be used, or does not hold the value that is given; ``field`` is
        ``"roles.positive"`` and the like. The message holds no value of the rows.

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
    roles = [getattr(named, role) or getattr(opened.schema, role, None) for role in ("target", "protected")]
    for name in (*roles, *named.sensitive):
        if name in drop:
            other = "holds weights or persons" if name in beside else "is to be left out"
            message = f"Column '{name}' has a role and {other} too."
            raise SchemaError(f"{message} Hint: take it out of one of the two.", field="roles")
    if opened.schema is not None:
        setup = Setup(opened.schema.select([name for name in known if name not in drop]))
    else:
        parts: dict[str, Part] = dict.fromkeys((*crossed, *named.sensitive), "sensitive")
        if named.protected is not None:
            parts[named.protected] = "protected"
        if named.target is not None:
            parts[named.target] = "target"
        setup = _inferred(opened, parts, drop, bins_only=bins_only)
    return _with_roles(setup, named)


def name_columns(words: RoleOptions, known: Sequence[str], undeclared: Sequence[str]) -> RoleOptions:
    """Return the words with the names of columns as the data has them."""
    return replace(
        words,
        target=words.target and column_named(words.target, known, undeclared),
        protected=words.protected and column_named(words.protected, known, undeclared),
        sensitive=tuple(column_named(name, known, undeclared) for name in words.sensitive),
        drop=columns_to_drop(words.drop, known, undeclared),
        weight=words.weight and column_named(words.weight, (*known, *undeclared)),
        person=words.person and column_named(words.person, (*known, *undeclared)),
    )


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


def columns_to_drop(
    names: Iterable[str], known: Sequence[str], undeclared: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns that a person wants to leave out, without those that are left out already.

    >>> columns_to_drop(["sex", "id"], ["age", "sex"], undeclared=["id"])
    ('sex',)
    """
    return tuple(
        column_named(name, known) for name in names if name in known or not _is_among(name, undeclared)
    )


def _is_among(name: str, columns: Sequence[str]) -> bool:
    return name.strip() in {column.strip() for column in columns}


def _inferred(opened: Opened, parts: Mapping[str, Part], drop: Iterable[str], *, bins_only: bool) -> Setup:
    frame = open_frame(opened.frame)
    dropped = set(drop)
    drafts = {
        name: draft_column(frame, name, parts.get(name, "clear"), bins_only=bins_only)
        for name in opened.names
        if name not in dropped
    }
    for name, part in parts.items():
        if drafts[name].column is None:
            message = f"Column '{name}' is needed ({part}) and cannot be used: it {drafts[name].why_not}"
            raise SchemaError(f"{message}. Hint: name another column, or declare it.", field=f"roles.{part}")
    columns = [draft.column for draft in drafts.values() if draft.column is not None]
    left_out = {name: draft.why_not for name, draft in drafts.items() if draft.column is None}
    if len(columns) < 2:
        message = "Fewer than two columns can be used. Hint: declare the columns in a schema file."
        raise SchemaError(message, field="columns")
    return Setup(Schema(columns), inferred=True, left_out=left_out, notes=tuple(_notes(drafts, parts)))


def _notes(drafts: Mapping[str, Draft], parts: Mapping[str, Part]) -> Iterable[str]:
    used = {name: draft for name, draft in drafts.items() if draft.column is not None}
    missing = [name for name, draft in used.items() if draft.missing and parts.get(name) not in _SAID_APART]
    if missing:
        yield f"Missing values of {_few(missing)} count as a value of their own, 'other'."
    unknown = [name for name, draft in used.items() if draft.missing and parts.get(name) == "target"]
    if unknown:
        yield f"People whose '{unknown[0]}' is missing are left out."
    yield from _look_alikes({name: draft.column for name, draft in used.items() if name in parts})
    binned = [name for name, draft in used.items() if draft.binned and name in parts]
    if binned:
        yield f"Numbers of {_few(binned)} are put into bins."


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
        yield f"Values of {_few(alike)} that differ by blanks or capitals only count as different."
    for name, values in texts.items():
        words = [value for value in values if value.strip().casefold() in _MISSING]
        if words:
            count = "count as values" if len(words) > 1 else "counts as a value"
            yield (
                f"'{name}' holds {_few(words)}, which {count} like any other. "
                "An empty cell is a missing value."
            )


def _few(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in names[:5]]
    return listed([*shown, f"{len(names) - 5} more"] if len(names) > 5 else shown)


# --- values ---------------------------------------------------------------------------------------


def _with_roles(setup: Setup, words: RoleOptions) -> Setup:
    """Return the setup with the roles that the words say, whose columns are named as the data has them."""
    schema, notes = setup.schema, list(setup.notes)
    named = ("target", "protected", "sensitive", "weight", "person", "rows_per_person")
    given = {role: getattr(words, role) for role in named}
    changes: dict[str, Any] = {role: columns for role, columns in given.items() if columns not in (None, ())}
    if words.missing_group:
        changes["missing_group"] = True
    schema = schema.with_roles(**changes)
    for role, owner in (("positive", "target"), ("privileged", "protected")):
        text, column = getattr(words, role), getattr(schema, owner)
        if text is None or column is None:
            continue
        value = value_of(schema[column].domain, text)
        if value is None:
            message = f"The value given for '{role}' is not one of column '{column}'"
            raise SchemaError(f"{message}. Hint: write it as it stands in the data.", field=f"roles.{role}")
        if str(value) != text:
            notes.append(f"'{text}' was taken as {value!r} of column '{column}'.")
        changes = {role: value}
        schema = schema.with_roles(**changes)
    return replace(setup, schema=schema, notes=tuple(notes))


def value_of(domain: Domain, text: str) -> Value | None:
    """Return the value of a domain that a person means by a text; None if there is none.

    Types are those of the domain; blanks around the text, and how a number is written, do not count.

    Examples
    --------
    >>> from evenhand.schema import Domain
    >>> value_of(Domain.categorical([" Female", " Male"]), "Male")
    ' Male'
    >>> value_of(Domain.categorical([0.0, 1.0]), "1")
    1.0
    >>> value_of(Domain.categorical([False, True]), "yes") is None
    True
    """
    number = _number(text)
    if domain.kind == "integers":
        return int(number) if number is not None and domain.find(int(number)) is not None else None
    values: Sequence[Value] = domain.values if domain.kind == "categorical" else tuple(domain.labels)
    ways_to_be_meant: tuple[Callable[[Value], bool], ...] = (
        lambda value: str(value) == text,
        lambda value: str(value).strip() == text.strip(),
        lambda value: type(value) in {int, float} and number == float(value),
        lambda value: isinstance(value, bool) and str(value).lower() == text.strip().lower(),
    )
    for is_meant in ways_to_be_meant:
        meant = [value for value in values if is_meant(value)]
        if len(meant) == 1:
            return meant[0]
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 2**53 else None


def choices_of(opened: Opened, name: str, part: Part) -> tuple[str, ...]:
    """Return the labels that a column of one's own data holds; nothing if it cannot be used.

    For the person whose file it is, to choose from; never for a message that others read.
    """
    if opened.schema is not None:
        return tuple(opened.schema[name].domain.labels)
    column = draft_column(open_frame(opened.frame), name, part).column
    return () if column is None else tuple(column.domain.labels)


# --- plans ----------------------------------------------------------------------------------------


def plan_for(  # noqa: PLR0913 - one keyword for each choice
    opened: Opened,
    schema: Schema | None,
    *,
    protocols: Sequence[str] = (),
    epsilons: Sequence[Any] = (),
    splits: Sequence[str] = (),
    strategies: Sequence[str] = (),
    task: CollectTask | None = None,
    rows: int | None = None,
    repeats: int = 10,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> Plan:
    """Return the plan of a study of `opened`, with good defaults for what is left out.

    Examples
    --------
    >>> from evenhand.study.intake.opening import open_data
    >>> plan = plan_for(open_data("causal", options={"n": 1000}), None, repeats=2)
    >>> len(plan.cells())
    26
    """
    return Plan(
        data=replace(opened.source, rows=rows),
        schema=schema,
        task=(task or CollectTask()).with_(
            protocols=list(protocols) or list(CollectTask.audit_mechanisms),
            epsilons=list(epsilons) or list(CollectTask.audit_epsilons),
            splits=list(splits) or ["optimal"],
            strategies=list(strategies) or ["independent"],
        ),
        repeats=repeats,
        seed=seed,
        notes=tuple(notes),
    )
