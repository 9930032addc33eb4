"""The schema of a study: what a person declared, and what was read from the rows where nobody did."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.app.tasks.registry import form_of_kind
from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.schema.infer import has_missing, open_frame
from evenhand.schema.values import increasing_edges, number_text
from evenhand.study.intake.draft import draft_column
from evenhand.study.intake.guess import guess
from evenhand.study.intake.setup import RoleOptions, Setup, name_columns, set_up, with_declared_roles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from evenhand.app.state.record import StudyRecord
    from evenhand.schema.column import Rule
    from evenhand.study.intake.draft import Draft, Part
    from evenhand.study.intake.guess import Guess
    from evenhand.study.intake.opening import Opened

CATEGORIES, WHOLE_NUMBERS, BANDS = "categories", "whole numbers", "bands"
"""The kinds of domain that a person can declare on the schema page."""

DOMAINS = {"categorical": CATEGORIES, "integers": WHOLE_NUMBERS, "binned": BANDS}
"""The same by the kinds that a domain knows."""

RULES = ("error", "other", "drop")
"""What may be done with a value outside the domain, or with none."""

_OWNER = "the schema"
_LISTS = ("sensitive", "drop", "labels")
_AMOUNTS = ("rows_per_person", "pool_below")
_PARTS = ("kind", "values", "low", "high", "width", "edges")
_BOUNDS = ("low", "high", "width")
_MOST_EDGES = 10_000


@dataclass(frozen=True)
class DraftedColumn:
    """A column as it will be used, and how it came about.

    Parameters
    ----------
    column : Column, optional
        None if it is left out.
    why_not : str
        Why it is left out, as the end of "left out: it ...".
    edited : bool
        Whether a person declared its domain or marked it as public.
    """

    column: Column | None
    why_not: str = ""
    edited: bool = False


@dataclass(frozen=True)
class Drafted:
    """The schema of a study, with and without its roles.

    Parameters
    ----------
    columns : mapping of str to DraftedColumn
        Every column of the data.
    words : RoleOptions
        The roles as the person says them, with the names that the data has.
    """

    columns: Mapping[str, DraftedColumn] = field(default_factory=dict)
    words: RoleOptions = field(default_factory=RoleOptions)

    @property
    def usable(self) -> tuple[Column, ...]:
        """The columns that can be used."""
        return tuple(drafted.column for drafted in self.columns.values() if drafted.column is not None)

    def set_up(self, opened: Opened) -> Setup:
        """Return the schema with its roles; refuse roles that cannot be.

        Raises
        ------
        SchemaError, ColumnNotFoundError
            As :func:`evenhand.study.intake.setup.set_up`.
        """
        for role, names in self._named():
            for name in names:
                drafted = self.columns.get(name)
                if drafted is not None and drafted.column is None:
                    message = f"Column '{name}' is needed ({role}) and cannot be used: it {drafted.why_not}"
                    hint = "choose another column, or declare its values."
                    raise SchemaError(f"{message}. Hint: {hint}", field=f"roles.{role}")
        if len(self.usable) < 2:
            message = "Fewer than two columns can be used. Hint: declare the values of more columns."
            raise SchemaError(message, field="columns")
        declared = replace(opened, schema=Schema(self.usable))
        return set_up(declared, replace(self.words, bands={}))

    def _named(self) -> tuple[tuple[str, Sequence[str]], ...]:
        words = self.words
        target = () if words.target is None else (words.target,)
        return (("target", target), ("protected", words.protected_columns), ("sensitive", words.sensitive))


def read_roles(roles: Mapping[str, Any]) -> RoleOptions:
    """Return the roles of a record as the rest of evenhand takes them.

    >>> read_roles({"target": "hired", "protected": ["sex", "race"], "positive": ""}).protected
    ('sex', 'race')
    """
    known = {one.name for one in fields(RoleOptions)}
    given: dict[str, Any] = {
        name: value for name, value in roles.items() if name in known and value not in ("", None, [], ())
    }
    for name in ("protected", "privileged"):
        value = given.get(name)
        if isinstance(value, list | tuple):
            given[name] = value[0] if len(value) == 1 else tuple(value)
    for name in _LISTS:
        if name in given:
            given[name] = tuple(given[name])
    for name in _AMOUNTS:
        if name in given:
            given[name] = _whole(name, given[name])
    return RoleOptions(**given)


def write_roles(words: RoleOptions) -> dict[str, Any]:
    """Return roles in JSON's types, without those that are not given."""
    plain = {one.name: getattr(words, one.name) for one in fields(words)}
    return {
        name: list(value) if isinstance(value, tuple) else dict(value) if name == "bands" else value
        for name, value in plain.items()
        if value not in (None, (), False) and value != {}
    }


def draft(opened: Opened, record: StudyRecord) -> Drafted:
    """Return every column as it will be used: declared, of the data set, or read from the rows."""
    form = form_of_kind(record.kind)
    answers = record.form.get(record.kind, {})
    base = with_declared_roles(read_roles(record.roles), opened.schema)
    words = name_columns(base, opened.names, opened.unread)
    parts = words.parts(form.crossed(answers, opened.names))
    frame = Frame.of(opened)
    bins_only = form.needs_bins(answers)
    columns = {}
    for name in opened.names:
        if name in words.drop:
            columns[name] = DraftedColumn(None, "was left out by you")
        elif name in (words.weight, words.person):
            columns[name] = DraftedColumn(None, "has a role that needs no list of values")
        else:
            edit = record.columns.get(name, {})
            part, band = parts.get(name, "clear"), str(words.bands.get(name, ""))
            columns[name] = _draft_column(opened, frame, name, edit, part, band, bins_only=bins_only)
    return Drafted(columns, words)


def known_roles(opened: Opened, record: StudyRecord) -> RoleOptions:
    """Return the roles of a record as far as they are names, where something else of it is wrong."""
    names = {role: value for role, value in record.roles.items() if role not in _AMOUNTS}
    return with_declared_roles(read_roles(names), opened.schema)


def _draft_column(
    opened: Opened,
    frame: Frame,
    name: str,
    edit: Mapping[str, Any],
    part: Part,
    band: str,
    *,
    bins_only: bool,
) -> DraftedColumn:
    if "declared" in edit:
        base: Column | None = next(iter(Schema.from_toml(str(edit["declared"]))))
        why_not, is_declared = "", False  # a file says itself what was read from rows
    elif opened.schema is not None:
        base = next((column for column in opened.schema if column.name == name), None)
        why_not, is_declared = "" if base else "is not declared", False
    else:
        found = _drafts(frame, name, part, bins_only, band)
        base, why_not, is_declared = found.column, found.why_not, False
    if _declares(edit):
        shown = shown_domain(base, edit)
        declared = declare_column(opened, name, shown)
        is_declared = all(edit.get(key) == value for key, value in shown.items() if key != "kind")
        base = declared if is_declared or base is None else replace(declared, inferred=base.inferred)
    if base is None:
        return DraftedColumn(None, why_not)
    column = _with_edits(base, edit, is_declared=is_declared)
    return DraftedColumn(column, edited=is_declared or bool(edit))


def _declares(edit: Mapping[str, Any]) -> bool:
    """Whether an edit says what the domain is."""
    return any(edit.get(key) not in (None, "", [], ()) for key in ("values", *_BOUNDS, "edges"))


def shown_domain(column: Column | None, edit: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of a domain: what a person wrote, and what the column has where nobody did.

    Parameters
    ----------
    column : Column, optional
        As it is without the edit.
    edit : mapping
    """
    given = {key: value for key, value in edit.items() if key in _PARTS and value not in (None, "", [], ())}
    domain = None if column is None else column.domain
    own = "" if domain is None else DOMAINS.get(domain.kind, "")
    kind = str(given.get("kind") or (CATEGORIES if "values" in given else own))
    if kind == CATEGORIES and {"low", "high"} & given.keys() and "kind" not in given:
        kind = WHOLE_NUMBERS
    shown = {**shown_bounds(domain), **given}
    bounds = ("edges",) if "edges" in shown and not given.keys() & set(_BOUNDS) else _BOUNDS
    parts = {CATEGORIES: ("values",), WHOLE_NUMBERS: ("low", "high")}.get(kind, bounds)
    return {"kind": kind, **{key: value for key, value in shown.items() if key in parts}}


def shown_bounds(domain: Domain | None) -> dict[str, str]:
    """Return the bounds of a domain as the page shows them.

    These are the lowest and the highest number. Of bands there is also their width, or, if they have
    different widths, their edges.

    >>> shown_bounds(Domain.binned([0, 10, 20, 25]))
    {'low': '0', 'high': '25', 'width': '10'}
    >>> shown_bounds(Domain.binned([0, 10, 100]))
    {'low': '0', 'high': '100', 'edges': '0, 10, 100'}
    """
    form = "" if domain is None else domain.form
    if domain is None or form not in {"integers", "binned"}:
        return {}
    if form == "integers":
        return {"low": str(domain.low), "high": str(domain.high)}
    texts = [number_text(edge) for edge in domain.edges]
    ends = {"low": texts[0], "high": texts[-1]}
    low, second, high = (Fraction(text) for text in (texts[0], texts[1], texts[-1]))
    width = second - low
    if ceil((high - low) / width) == domain.size and _band_edges(low, high, width) == domain.edges:
        return {**ends, "width": number_text(float(width))}
    return {**ends, "edges": ", ".join(texts)}


def declare_column(opened: Opened, name: str, edit: Mapping[str, Any]) -> Column:
    """Return the column that a person declares by its values, or by the lowest and the highest.

    Raises
    ------
    InvalidParameterError
        Whose ``parameter`` is ``values``, ``low``, ``high``, ``width`` or ``edges``.
    """
    series = column_of(opened, name)
    kind = str(edit.get("kind") or (CATEGORIES if edit.get("values") else WHOLE_NUMBERS))
    kind = one_of("kind", kind, (CATEGORIES, WHOLE_NUMBERS, BANDS), owner=_OWNER)
    nulls: Rule = "other" if has_missing(series) else "error"
    if kind == CATEGORIES:
        values = _typed_values(list(edit.get("values") or ()), series)
        return Column(name, Domain.categorical(values), nulls=nulls)
    if kind == WHOLE_NUMBERS:
        first, last = _whole("low", edit.get("low")), _whole("high", edit.get("high"))
        if first > last:
            _refuse("low", "at most the highest value", f"{first} and {last}")
        return Column(name, Domain.integers(first, last), nulls=nulls)
    if edit.get("edges"):
        return Column(name, Domain.binned(_read_edges(str(edit["edges"]))), nulls=nulls)
    low, high, width = (_number(key, edit.get(key)) for key in _BOUNDS)
    if not low < high:
        _refuse("low", "below the highest value", f"{low:g} and {high:g}")
    if width <= 0 or (high - low) / width > _MOST_EDGES:
        _refuse("width", f"a number above 0 that makes at most {_MOST_EDGES:,} bands", f"{width:g}")
    edges = _band_edges(*(Fraction(str(number)) for number in (low, high, width)))
    return Column(name, Domain.binned(edges), nulls=nulls)


def _band_edges(low: Fraction, high: Fraction, width: Fraction) -> tuple[float, ...]:
    """Return the edges of bands of one width; the last band is narrower if the width does not fit."""
    starts = (float(low + width * place) for place in range(ceil((high - low) / width)))
    return (*starts, float(high))


def _read_edges(text: str) -> tuple[float, ...]:
    """Return the edges of bands that a person wrote in one line, from the lowest to the highest."""
    parts = re.split(r"[\s,;]+", text.strip(" \t,;"))
    if len(parts) > _MOST_EDGES:
        _refuse("edges", f"at most {_MOST_EDGES:,} numbers", f"{len(parts):,} of them")
    return increasing_edges([_number("edges", part) for part in parts], owner=_OWNER)


def _with_edits(column: Column, edit: Mapping[str, Any], *, is_declared: bool) -> Column:
    """Return a column with the labels and rules that a person gave, and with whose word its domain is."""
    changes: dict[str, Any] = {}
    if is_declared or edit.get("public"):
        changes["inferred"] = False
    if column.inferred and not is_declared and edit.get("public") and column.outside == "error":
        # a word such as NA is a missing value only where domains are read from the rows
        changes["outside"] = column.nulls
    for key, attribute in (("unknown", "outside"), ("missing", "nulls")):
        if edit.get(key):
            changes[attribute] = one_of(key, str(edit[key]), RULES, owner=f"column '{column.name}'")
    labels = {str(value): str(label).strip() for value, label in dict(edit.get("labels") or {}).items()}
    known = set(map(str, column.domain.labels)) if labels else set()
    labels = {value: label for value, label in labels.items() if label and value in known}
    if labels:
        changes["value_labels"] = {**column.named_values, **labels}
    return replace(column, **changes) if changes else column


def _typed_values(texts: Sequence[Any], series: Any) -> list[Any]:
    """Return values in the type that the column has: whole numbers, numbers, truth values, or texts."""
    written = [str(text).strip() for text in texts if str(text).strip()]
    if not written:
        _refuse("values", "a list with one value a line", "an empty one")
    if series.dtype.is_integer():
        return [_whole("values", text) for text in written]
    if series.dtype.is_numeric():
        numbers = [_number("values", text) for text in written]
        return [int(each) for each in numbers] if all(each.is_integer() for each in numbers) else numbers
    words = {"true": True, "false": False}
    if str(series.dtype) == "Boolean":
        if not all(text.lower() in words for text in written):
            _refuse("values", "True and False", "others")
        return [words[text.lower()] for text in written]
    return written


def _whole(name: str, given: object) -> int:
    number = _number(name, given)
    if not number.is_integer():
        _refuse(name, "a whole number", given)
    return int(number)


def _number(name: str, given: object) -> float:
    text = str("" if given is None else given).strip().replace("−", "-")
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 2**53:
        _refuse(name, "a number", text or "nothing")
    return number


def _refuse(parameter: str, must_be: str, got: object) -> Any:
    raise InvalidParameterError(parameter, owner=_OWNER, must_be=must_be, got=got)


def column_of(opened: Opened, name: str) -> nw.Series[Any]:
    """Return one column of the rows, without looking at the others, of which there may be thousands."""
    return open_frame(opened.frame.select([name])).get_column(name)


# --- what is read from rows, once -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows that what was read of them can be remembered by: the same file in the same state is equal."""

    opened: Opened

    @classmethod
    def of(cls, opened: Opened) -> Frame:
        """Return the rows of what was opened; what was read of other rows is forgotten."""
        frame = cls(opened)
        if _last != [frame]:
            forget_rows()
            _last[:] = [frame]
        return frame

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and other.opened.frame is self.opened.frame

    def __hash__(self) -> int:
        return id(self.opened.frame)


_last: list[Frame] = []


@lru_cache(maxsize=6_000)
def _drafts(frame: Frame, name: str, part: Part, bins_only: bool, band: str) -> Draft:  # noqa: FBT001 - a key
    rows = open_frame(frame.opened.frame.select([name]))  # of thousands of columns one
    return draft_column(rows, name, part, bins_only=bins_only, band=band)


def forget_rows() -> None:
    """Forget what was read of rows before, so that their memory can be used again."""
    _drafts.cache_clear()
    guesses.cache_clear()


@lru_cache(maxsize=2)
def guesses(frame: Frame) -> Guess:
    """Return the roles that rows suggest, and why."""
    return guess(frame.opened, RoleOptions())
