"""What a study of the workbench is: its name, its data, what was said about it and asked of it, as JSON."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from evenhand._formats import format_number, parse_json, version_fault
from evenhand.errors import UnknownNameError, UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "evenhand workbench study"
"""What a record says that it is, before the number of its form."""

NEWEST = 1
"""The number of the form that is written."""

LONGEST_NAME = 120
"""How many letters of a name are kept."""

_ID = re.compile(r"[0-9a-f]{16}")
_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SOURCES = ("upload", "dataset")


@dataclass(frozen=True, kw_only=True)
class DataChoice:
    """The data that was chosen on the first page.

    Parameters
    ----------
    source : {"upload", "dataset"}
    label : str
        What people read: the uploaded file's own name, which is never a path, or the name of the data set.
    file : str
        The random name of an upload in the folder ``data`` of the study.
    dataset : str
        A name of :mod:`evenhand.datasets`.
    options : mapping
        Of the data set.
    file_format : mapping
        What a person said of how a text file is written.
    """

    source: Literal["upload", "dataset"]
    label: str
    file: str = ""
    dataset: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    file_format: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """A study of the workbench, as far as it was described.

    Parameters
    ----------
    id : str
        16 hexadecimal digits.
    name : str
    created : float
        Seconds since 1970.
    data : DataChoice, optional
    roles : mapping
        The fields of :class:`evenhand.study.intake.setup.RoleOptions` in JSON's types.
    columns : mapping
        What was changed of the guessed schema, by column.
    described : bool
        Whether the person said that the description is right.
    kind : str
        The kind of study that is asked for.
    form : mapping
        The answers of the question page, by kind.
    tutorial : bool
        Whether the pages explain themselves.

    Examples
    --------
    >>> record = StudyRecord(id="0123456789abcdef", name="Hiring", created=0.0)
    >>> StudyRecord.from_json(record.to_json()) == record
    True
    """

    id: str
    name: str
    created: float
    data: DataChoice | None = None
    roles: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    described: bool = False
    kind: str = "collect"
    form: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tutorial: bool = False

    def with_(self, **changes: Any) -> Self:
        """Return the record with some fields changed."""
        return replace(self, **changes)

    def to_json(self) -> str:
        """Return the record as JSON."""
        document = {"format": f"{FORMAT} {NEWEST}", **asdict(self)}
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the record of a JSON text.

        Raises
        ------
        UnreadableFileError
            If it is damaged, or was written by a newer evenhand.
        """
        try:
            document = dict(parse_json(text))
        except (ValueError, TypeError):
            raise _damaged("is not a record in JSON") from None
        number = format_number(document.pop("format", None), FORMAT)
        fault = version_fault(number, newest=NEWEST)
        if fault:
            raise UnreadableFileError(f"The record of the study {fault}")
        data = document.pop("data", None)
        choice = None if data is None else _checked(DataChoice, data, _DATA_CHECKS)
        record: Self = _checked(cls, {**document, "data": choice}, _RECORD_CHECKS)
        return record


def check_id(study: object) -> str:
    """Return the id of a study if it has the form of one: an id is the name of a folder.

    Raises
    ------
    UnknownNameError
        If it has another form.

    Examples
    --------
    >>> check_id("0123456789abcdef")
    '0123456789abcdef'
    """
    if not isinstance(study, str) or not _ID.fullmatch(study):
        raise UnknownNameError("Study", str(study)[:40], (), place="in this workspace")
    return study


def tidy_name(name: str) -> str:
    """Return a name without what no page may hold, in one line, and not too long.

    >>> tidy_name("  pay   by sex ")
    'pay by sex'
    """
    words = "".join(letter if letter.isprintable() else " " for letter in name).split()
    return " ".join(words)[:LONGEST_NAME].rstrip()


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, dict) for inner in value.values())


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_file(value: object) -> bool:
    return value == "" or (isinstance(value, str) and _FILE.fullmatch(value) is not None)


_DATA_CHECKS: Mapping[str, Any] = {
    "source": lambda value: value in _SOURCES,
    "label": _is_text,
    "file": _is_file,
    "dataset": _is_text,
    "options": _is_mapping,
    "file_format": _is_mapping,
}
_RECORD_CHECKS: Mapping[str, Any] = {
    "id": lambda value: isinstance(value, str) and _ID.fullmatch(value) is not None,
    "name": _is_text,
    "created": _is_time,
    "data": lambda value: value is None or isinstance(value, DataChoice),
    "roles": _is_mapping,
    "columns": _is_nested,
    "described": _is_flag,
    "kind": _is_text,
    "form": _is_nested,
    "tutorial": _is_flag,
}


def _checked(kind: Any, parts: object, checks: Mapping[str, Any]) -> Any:
    """Return an object of a class from what a file says, if every part has the type that it must have."""
    if not isinstance(parts, dict) or parts.keys() - checks.keys():
        raise _damaged("has a part that is not known")
    for name, value in parts.items():
        if not checks[name](value):
            raise _damaged(f"has a part '{name}' that it cannot have")
    missing = [part.name for part in fields(kind) if part.name not in parts]
    try:
        return kind(**parts)
    except TypeError:
        raise _damaged(f"lacks the part '{missing[0]}'") from None


def _damaged(what: str) -> UnreadableFileError:
    hint = "delete the study, or put a copy of its file 'study.json' back."
    return UnreadableFileError(f"The record of the study {what}. Hint: {hint}")
