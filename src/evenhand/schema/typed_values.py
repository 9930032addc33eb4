"""Values and their labels as a person types them: the value of a column that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._validate import refuse
from evenhand.errors import ColumnNotFoundError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evenhand.schema import Domain, Schema
    from evenhand.schema.values import Value

_FORM = "COLUMN=VALUE:LABEL, such as white=1:White"
_OWNER = "label_values"


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
    >>> value_of(Domain.categorical([False, True]), "yes"), value_of(Domain.integers(0, 9), "1.7")
    (None, None)
    """
    number = _number(text)
    if domain.kind == "integers":
        whole = None if number is None or not number.is_integer() else int(number)
        return None if whole is None or domain.find(whole) is None else whole
    values: Sequence[Value] = domain.values if domain.kind == "categorical" else tuple(domain.labels)
    ways_to_be_meant: tuple[Callable[[Value], bool], ...] = (
        lambda value: str(value) == text,
        lambda value: str(value).strip() == text.strip(),
        lambda value: str(value).replace("–", "-") == text.strip().replace("–", "-"),
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


def label_values(schema: Schema, labels: Iterable[str]) -> Schema:
    """Return the schema with labels of values, each typed as ``COLUMN=VALUE:LABEL``.

    A label takes the place of one that the schema has.

    Raises
    ------
    InvalidParameterError
        If a text has another form, or a value or a label is given twice.
    ColumnNotFoundError
        If there is no such column.
    SchemaError
        If the column does not hold the value; ``field`` is ``"labels"``.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("white", Domain.categorical([0, 1]))])
    >>> label_values(schema, ["white=1:White", "white=0:Not white"])["white"].display_labels
    ('Not white', 'White')
    """
    columns: dict[str, dict[str, str]] = {}
    for text in labels:
        name, rest = _column_and_rest(schema, text)
        value, label = _value_and_label(schema[name].domain, rest, text, name)
        named = columns.setdefault(name, {})
        if value in named:
            hint = "leave one of them out."
            refuse("labels", _OWNER, "given once for each value", f"'{name}={value}' twice", hint=hint)
        named[value] = label
    for name, named in columns.items():
        shown = {**schema[name].named_values, **named}
        texts = [shown.get(value, value) for value in schema[name].domain.labels]
        twice = [label for label in named.values() if texts.count(label) > 1]
        if twice:
            must_be = "another label for each value of a column"
            hint = "give one of the values another label."
            refuse("labels", _OWNER, must_be, f"'{twice[0]}' twice for '{name}'", hint=hint)
    return schema.with_labels(columns)


def _column_and_rest(schema: Schema, text: str) -> tuple[str, str]:
    """Return the column and what follows its name; of several names that fit, the longest is meant."""
    known = {name.strip(): name for name in schema.names}
    beginnings = _beginnings(text, "=")
    for beginning in reversed(beginnings):
        if beginning.strip() in known:
            return known[beginning.strip()], text[len(beginning) + 1 :]
    if not beginnings or not beginnings[0].strip():
        refuse("labels", _OWNER, _FORM, text)
    raise ColumnNotFoundError(beginnings[0].strip(), schema.names, place="among the columns that are used")


def _value_and_label(domain: Domain, rest: str, text: str, name: str) -> tuple[str, str]:
    """Return the value as its domain writes it, and the label; a value may hold the mark too."""
    readings = [(value, rest[len(value) + 1 :].strip()) for value in _beginnings(rest, ":")]
    readings = [(value, label) for value, label in readings if value.strip() and label]
    if not readings:
        refuse("labels", _OWNER, _FORM, text)
    for typed, label in readings:
        value = value_of(domain, typed)
        if value is not None:
            _refuse_several(domain, label, text)
            return str(value), label
    message = f"The value in the label '{text}' is not one of column '{name}'"
    raise SchemaError(f"{message}. Hint: write it as it stands in the data.", field="labels")


def _refuse_several(domain: Domain, label: str, text: str) -> None:
    """Refuse a label that holds another value of the column with its label, after a comma."""
    for part in label.split(",")[1:]:
        if any(value_of(domain, typed.strip()) is not None for typed in _beginnings(part, ":")):
            hint = "give each value its own, as in --label white=1:White --label white=0:Black"
            refuse("labels", _OWNER, "about one value each", text, hint=hint)


def _beginnings(text: str, mark: str) -> Sequence[str]:
    """Return what stands before each mark in a text.

    >>> _beginnings("a:b:c", ":")
    ['a', 'a:b']
    """
    return [text[:place] for place, letter in enumerate(text) if letter == mark]
