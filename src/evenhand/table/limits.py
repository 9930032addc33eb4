"""How large a file may be: every limit on what a reader takes in, and what each of them protects."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from evenhand._validate import integer


@dataclass(frozen=True)
class Limits:
    """What a file may ask of the reader.

    Every limit is checked before the memory it speaks of is taken, so a small compressed file that
    unfolds into a large one is refused after the limit, not after the memory of the machine.

    Parameters
    ----------
    bytes : int, default 200,000,000
        Most bytes of the file, uncompressed. The table made of it may take one and a half times as much in
        memory, and 16 MiB in any case, which leaves room for files of many short cells.
    columns : int, default 5,000
        Most columns of the file.
    field_bytes : int, default 65,536
        Most bytes of one cell or one column name, as it stands in the file.
    row_bytes : int, default 1,048,576
        Most bytes of one line of a CSV file.
    cells : int, default 5,000,000
        Most cells of all sheets of an Excel workbook, empty ones too; they take more time than memory.

    Examples
    --------
    >>> Limits(bytes=1_000_000).columns
    5000
    """

    bytes: int = 200_000_000
    columns: int = 5_000
    field_bytes: int = 65_536
    row_bytes: int = 1_048_576
    cells: int = 5_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            checked = integer(field.name, getattr(self, field.name), owner="Limits", low=1)
            object.__setattr__(self, field.name, checked)

    @property
    def table_bytes(self) -> int:
        """Most bytes of the table in memory: one and a half times `bytes`, and 16 MiB in any case."""
        return max(self.bytes + self.bytes // 2, 16 << 20)


DEFAULT_LIMITS = Limits()
"""For a file of unknown origin that is read whole: they protect the memory of a small machine."""

STUDY_LIMITS = Limits(bytes=2_000_000_000)
"""For the file that a plan names, which is the user's own: they protect the memory, and are the same on every
machine, so that a plan that runs on one is not refused on another."""

STREAM_LIMITS = Limits(bytes=1 << 44)
"""For files that are read batch by batch: memory does not grow with their length, so they protect the time
and the disk alone; the limits of fields, rows and columns protect the memory of a batch."""

_OWN_FILE_BYTES = (200_000_000, 8_000_000_000)
"""The least and most bytes of a file of one's own. The least is the default, so that no file of one's own is
refused that a stranger may hand in; the most protects what else runs on a large machine."""


def own_file_limits() -> Limits:
    """Return limits for a file of one's own: a quarter of this machine's memory, within reason.

    >>> own_file_limits().bytes >= DEFAULT_LIMITS.bytes
    True
    """
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # a system that does not say
        memory = 0
    least, most = _OWN_FILE_BYTES
    return Limits(bytes=max(least, min(memory // 4, most)))
