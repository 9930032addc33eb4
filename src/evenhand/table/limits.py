"""How much a reader takes in before it refuses."""

from __future__ import annotations

from dataclasses import dataclass, fields

from evenhand._validate import integer

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True)
class Limits:
    """What a file may ask of the reader.

    Every limit is checked before the memory it speaks of is taken, so a small compressed file that
    unfolds into a large one is refused after the limit, not after the memory of the machine.

    Parameters
    ----------
    bytes : int, default 200,000,000
        Most bytes of the file, uncompressed. The table made of it may take half as much again in
        memory, and 16 MiB in any case, which leaves room for files of many short cells.
    columns : int, default 5,000
        Most columns of the file.
    field_bytes : int, default 65,536
        Most bytes of one cell or one column name, as it stands in the file.
    row_bytes : int, default 1,048,576
        Most bytes of one line of a CSV file.

    Examples
    --------
    >>> Limits(bytes=1_000_000).columns
    5000
    """

    bytes: int = 200_000_000
    columns: int = 5_000
    field_bytes: int = 65_536
    row_bytes: int = 1_048_576

    def __post_init__(self) -> None:
        for field in fields(self):
            checked = integer(field.name, getattr(self, field.name), owner="Limits", low=1)
            object.__setattr__(self, field.name, checked)

    @property
    def table_bytes(self) -> int:
        """Most bytes of the table in memory: half as much again as `bytes`, and 16 MiB in any case."""
        return max(self.bytes + self.bytes // 2, 16 << 20)


DEFAULT_LIMITS = Limits()
