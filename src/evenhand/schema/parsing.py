"""TOML read within limits: a hostile or damaged text gives one error of ours and nothing else."""

from __future__ import annotations

import re
import tomllib
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any

from evenhand.errors import InvalidParameterError, LimitExceededError, SchemaError, UnreadableFileError

__all__ = ["MAX_BYTES", "parsed", "read_text"]

MAX_BYTES = 2**20
_DEEPEST_KEY = 16

_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_DEEPEST_KEY}}}")
_PLACE = re.compile(r"\(at (line \d+, column \d+|end of document)\)")


def read_text(path: object, *, max_bytes: int, what: str = "schema") -> str:
    """Return the text of a file, having read at most one byte more than `max_bytes`.

    Messages hold the last part of the path only.
    """
    if not isinstance(path, str | PathLike):
        got = f"a value of type {type(path).__name__}"
        raise InvalidParameterError("path", owner=f"{what.capitalize()}.load", must_be="a path", got=got)
    name = PurePath(fspath(path)).name
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path that is not a file, too, ends in our error
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise UnreadableFileError(
            f"There is no {what} file '{name}'. Hint: check its name and folder."
        ) from None
    except (OSError, ValueError):
        raise UnreadableFileError(
            f"The {what} file '{name}' cannot be opened. Hint: check its rights."
        ) from None
    _refuse_long(len(data), max_bytes, f"The {what} file '{name}'")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(
            f"The {what} file '{name}' is not text in UTF-8. Hint: save it as UTF-8.", field="file"
        ) from None


def parsed(text: str, *, max_bytes: int, what: str = "schema") -> dict[str, Any]:
    """Return the TOML document in `text`.

    A key of thousands of parts costs the parser memory that grows with the square of their number,
    so such keys are looked for first; deep nesting and endless digits are refused by the parser.
    """
    try:
        length = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise SchemaError(f"The {what} text cannot be written as UTF-8.", field="file") from None
    _refuse_long(length, max_bytes, f"The {what} text")
    if _LONG_KEY.search(_STRING_OR_COMMENT.sub("s", text)):
        raise SchemaError(f"The {what} has a key of more than {_DEEPEST_KEY} parts.", field="file")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SchemaError(f"The {what} is nested too deeply.", field="file") from None
    except ValueError as error:
        place = _PLACE.search(str(error))
        where = f" at {place[1]}" if place else ""
        hint = "Hint: text stands in quotes, lists in brackets, and every key once."
        raise SchemaError(f"The {what} is not TOML{where}. {hint}", field="file") from None


def _refuse_long(length: int, max_bytes: int, what: str) -> None:
    if length > max_bytes:
        raise LimitExceededError(
            f"{what} is longer than {max_bytes:,} bytes. Hint: pass a larger max_bytes if that is meant.",
            limit="max_bytes",
        )
