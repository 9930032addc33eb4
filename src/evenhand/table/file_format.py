"""How a file is written: what separates its fields, its encoding, its decimal mark, and its sheet."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace

from evenhand._validate import one_of, refuse

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
"""The marks between fields that are looked for, in the order in which they win a tie, by their names."""

_WRITTEN = {name: mark for mark, name in SEPARATORS.items()} | {"\\t": "\t"}
_DECIMALS = {"comma": ",", "point": "."}
_MARKS = ["\t", *map(chr, range(0x20, 0x7F))]
_SHOWN = {"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252", "latin-1": "Latin-1"}
_OWN_NAMES = {"utf-8-sig": "utf-8", "cp1252": "windows-1252", "iso8859-1": "latin-1", "ascii": "utf-8"}
_ENCODINGS = frozenset(
    [
        "utf-8", "utf-8-sig", "ascii", "utf-16", "utf-16-le", "utf-16-be",
        "big5", "euc_jp", "euc_kr", "gb18030", "gbk", "koi8-r", "koi8-u", "mac-roman", "shift_jis",
        *(f"cp{page}" for page in (437, 850, 852, 866, 874, 932, 949, *range(1250, 1259))),
        *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
    ]
)  # fmt: skip
"""Python's names of encodings of text whose size in UTF-8 is bounded by that of the file."""


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    r"""How a file is written; what is None is found out from its beginning.

    Parameters
    ----------
    delimiter : str, optional
        The character between fields, or its name: ``"comma"``, ``"semicolon"``, ``"tab"``, ``"pipe"``.
    encoding : str, optional
        Such as ``"utf-8"``, ``"utf-16"``, ``"latin-1"`` or ``"windows-1252"``.
    decimal : str, optional
        The mark before the decimals of a number, ``"."`` or ``","``.
    sheet : str, optional
        Of an Excel workbook: the name of a sheet, or its place, counted from 1.
    broken_rows : {"refuse", "other"}, optional
        What becomes of a row of a text file that cannot be read. By default the file is refused. With
        ``"other"`` each line is one row, and one that cannot be read is a row of which every cell is outside
        its domain, so that the rules of the columns decide about it; a schema must declare all columns that
        are read. What is left open is found out from the line of column names alone.

    Examples
    --------
    >>> FileFormat(delimiter="tab").delimiter
    '\t'
    >>> print(FileFormat(delimiter=";", encoding="cp1252", decimal=","))
    semicolon-separated Windows-1252 with decimal commas
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    broken_rows: str | None = None

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check(value))

    @property
    def is_plain(self) -> bool:
        """Whether it is UTF-8 with commas between fields and points in numbers, not of a sheet by name."""
        return self == PLAIN

    def fill_in(self, other: FileFormat) -> FileFormat:
        """Return this format, with what it leaves open taken from another."""
        return replace(other, **self.parts)

    @property
    def parts(self) -> dict[str, str]:
        """What is not left open, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def options(self) -> list[str]:
        """The parts as they are typed on the command line.

        >>> FileFormat(delimiter=";", decimal=",").options
        ['--delimiter', 'semicolon', '--decimal', 'comma']
        """
        words = {**SEPARATORS, **{mark: name for name, mark in _DECIMALS.items()}}
        typed = {name: words.get(value, value) for name, value in self.parts.items()}
        return [word for name, value in typed.items() for word in (f"--{name.replace('_', '-')}", value)]

    def assumed_beside(self, asked: FileFormat | None) -> FileFormat | None:
        """Return this format if it holds something that was not asked for and is not plain, else None."""
        open_parts = self.delimiter is None or self == asked or replace(self, broken_rows=None) == PLAIN
        return None if open_parts else self

    @property
    def shown_encoding(self) -> str:
        """The encoding as a sentence has it."""
        encoding = self.encoding or "utf-8"
        return _SHOWN.get(encoding, encoding.upper())

    def __str__(self) -> str:
        delimiter = self.delimiter or ","
        separated = f"{SEPARATORS.get(delimiter, repr(delimiter))}-separated"
        decimal = " with decimal commas" if self.decimal == "," else ""
        return f"{separated} {self.shown_encoding}{decimal}"


def check_mark(name: str, mark: object, *, owner: str) -> str:
    """Return a character that may stand between or around fields."""
    if not isinstance(mark, str) or mark not in _MARKS:
        refuse(name, owner, "one printable ASCII character or a tab", mark)
    return mark


def _check_delimiter(given: object) -> str:
    known = _WRITTEN.get(given, given) if isinstance(given, str) else given
    return check_mark("delimiter", known, owner="FileFormat")


def _check_encoding(given: object) -> str:
    try:
        codec = codecs.lookup(given).name if isinstance(given, str) else ""
    except (LookupError, ValueError):
        codec = ""
    if codec not in _ENCODINGS:
        must_be = "an encoding of text, such as utf-8, utf-16, latin-1 or windows-1252"
        refuse("encoding", "FileFormat", must_be, given)
    return _OWN_NAMES.get(codec, codec)


def _check_decimal(given: object) -> str:
    known = _DECIMALS.get(given, given) if isinstance(given, str) else given
    return one_of("decimal", known, (".", ","), owner="FileFormat")


def _check_sheet(given: object) -> str:
    if not isinstance(given, str) or not given:
        refuse("sheet", "FileFormat", "the name of a sheet, or its place as a text", given)
    return given


def _check_broken_rows(given: object) -> str | None:
    rule = one_of("broken_rows", given, ("refuse", "other"), owner="FileFormat")
    return None if rule == "refuse" else rule


_CHECKS = {
    "delimiter": _check_delimiter,
    "encoding": _check_encoding,
    "decimal": _check_decimal,
    "sheet": _check_sheet,
    "broken_rows": _check_broken_rows,
}

PLAIN = FileFormat(delimiter=",", encoding="utf-8", decimal=".")
"""What evenhand writes, and what a file is taken for unless it looks otherwise."""
