"""Objects by the records that their ``to_dict`` wrote: nothing in a record is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import islice
from typing import Any, TypeVar

from evenhand.errors import InvalidParameterError, UnknownNameError

_LONGEST_NAME = 40


Made = TypeVar("Made")


def find_class(name: object, classes: Mapping[str, type[Made]], *, kind: str) -> type[Made]:
    """Return the class of a name, in small or capital letters; `kind` is what the message calls it."""
    named = classes.get(name.lower()) if isinstance(name, str) else None
    if named is None:
        shown = name[:_LONGEST_NAME] if isinstance(name, str) else f"a value of type {type(name).__name__}"
        raise UnknownNameError(kind, shown, classes)
    return named


def build_from_record(record: object, classes: Mapping[str, type[Made]], *, kind: str, owner: str) -> Made:
    """Return what a record describes; the name of its class stands under `kind` in small letters.

    The classes are dataclasses with a class method ``from_record``.

    The record must have the fields of its class and no others. What may be left out is what has a default.
    """
    if not isinstance(record, Mapping):
        raise _refusal(owner, "a mapping, as to_dict makes it", f"a value of type {type(record).__name__}")
    values = dict(record)
    record_class: Any = find_class(values.pop(kind.lower(), None), classes, kind=kind)
    known = {field.name: field for field in fields(record_class) if field.init}
    needed = {
        name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING
    }
    if not needed <= values.keys() <= known.keys():
        names = sorted(str(name)[:_LONGEST_NAME] for name in islice(values, 20))
        must_be = f"a record of {record_class.__name__}, with the fields {', '.join(known)}"
        raise _refusal(owner, must_be, f"the fields {', '.join(names)}" if names else "no fields")
    for name, value in values.items():
        if isinstance(known[name].default, bool) and not isinstance(value, bool):
            got = f"a value of type {type(value).__name__}"
            raise InvalidParameterError(name, owner=record_class.__name__, must_be="true or false", got=got)
    result: Made = record_class.from_record(values)
    return result


def _refusal(owner: str, must_be: str, got: str) -> InvalidParameterError:
    return InvalidParameterError("record", owner=owner, must_be=must_be, got=got)
