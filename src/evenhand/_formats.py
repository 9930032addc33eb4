"""What all files of ours share: JSON that says nothing twice, one text for one content, and format numbers.

A file says which form it has. A newer form than this evenhand knows is refused, for it may mean something
else; which older ones are read is stated in ``docs/formats.md``.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

_LONGEST_WRITER = 40


def parse_json(text: str | bytes) -> Any:
    """Return what a JSON text holds; ValueError if it is none, or says something twice.

    >>> parse_json('{"a": 1}')
    {'a': 1}
    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: a name twice
    """
    try:
        return json.loads(text, object_pairs_hook=_unique_names, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("too deep") from None


def canonical_json(value: Any) -> bytes:
    r"""Return the one text that stands for a value: names in order, no blanks, ASCII.

    >>> canonical_json({"b": 1, "a": "é"})
    b'{"a":"\\u00e9","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def format_number(form: object, name: str) -> int | None:
    """Return the number of a form such as ``"evenhand release 2"``; None if it is another kind of file.

    >>> format_number("evenhand release 2", "evenhand release"), format_number("another", "evenhand release")
    (2, None)
    """
    if not isinstance(form, str) or not form.startswith(f"{name} "):
        return None
    number = form.removeprefix(f"{name} ")
    if not (number.isascii() and number.isdigit() and len(number) < 10) or str(int(number)) != number:
        return None
    return int(number)


def version_fault(number: object, *, newest: int, oldest: int | None = None, writer: object = None) -> str:
    """Return why a file of this format number is not read, as the end of a sentence; empty if it is.

    Parameters
    ----------
    number : object
        What the file says.
    newest, oldest : int
        The formats that are read; the newest alone if `oldest` is left out.
    writer : object
        Which version of evenhand the file says wrote it, if it says that.

    >>> version_fault(2, newest=2)
    ''
    >>> version_fault(3, newest=2, writer="0.9")
    'has the format 3, written by evenhand 0.9; this evenhand knows the format 2. Hint: install a newer...'
    >>> version_fault(1, newest=3, oldest=2)
    'has the format 1; this evenhand knows the formats 2 to 3. Hint: read it with the evenhand that wrote it.'
    """
    oldest = newest if oldest is None else oldest
    known = f"the format {newest}" if oldest == newest else f"the formats {oldest} to {newest}"
    if type(number) is not int or number < 0:
        return f"has no format number; this evenhand knows {known}. Hint: take an unchanged copy."
    if oldest <= number <= newest:
        return ""
    by = f", written by evenhand {writer}" if _is_version(writer) else ""
    hint = "install a newer evenhand" if number > newest else "read it with the evenhand that wrote it"
    return f"has the format {number}{by}; this evenhand knows {known}. Hint: {hint}."


def _is_version(writer: object) -> bool:
    """Whether a text may be shown as a version: a file can say anything."""
    return (
        isinstance(writer, str)
        and 0 < len(writer) <= _LONGEST_WRITER
        and all(letter.isascii() and (letter.isalnum() or letter in ".+-") for letter in writer)
    )


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a name twice")
    return record


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
