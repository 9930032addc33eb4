"""Classes of cells or entities by how many people are in them."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """A class of cells by how many people are in them, both ends included; the last class has no end."""

    least: int
    most: int | None

    @property
    def label(self) -> str:
        """As an axis and a sentence say it.

        >>> Size(3, 9).label, Size(10_000, None).label, Size(0, 0).label
        ('3 to 9', '10,000 or more', 'none')
        """
        if self.most is None:
            return f"{self.least:,} or more"
        return "none" if not self.most else f"{self.least:,} to {self.most:,}"

    @property
    def key(self) -> str:
        """As names of columns have it, such as ``"3_9"``."""
        return str(self.least) if self.most in {None, self.least} else f"{self.least}_{self.most}"
