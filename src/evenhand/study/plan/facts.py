"""Tell what is known about a study besides its plan and cells, so that results can be read without the data.

Versions of what results depend on are part of it, for the record.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import TYPE_CHECKING

from evenhand._notes import Note

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evenhand.schema import Schema

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "narwhals", "lightgbm", "dp-accounting")
_OPTIONAL = ("lightgbm", "dp-accounting")
_HARDLY_WRONG, _HARDLY_LEFT = 0.05, 0.1  # of all guesses, and of the errors of the most common value


@dataclass(frozen=True)
class Leak:
    """A column that can be guessed from others clearly better than by its most common value.

    The `column` is one that people randomise, or the target, and is guessed `by` others, the most telling
    first. Of people who were held out, the share `guessed` is guessed right from those, and the share `base`
    by the most common value.
    """

    column: str
    by: tuple[str, ...]
    guessed: float
    base: float

    @property
    def is_full(self) -> bool:
        """Return whether next to nothing of the column is left to protect: nearly every guess is right."""
        left = 1 - self.guessed
        return left <= _HARDLY_WRONG and left <= _HARDLY_LEFT * (1 - self.base)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The data of a study in a few words and numbers.

    Parameters
    ----------
    label : str
        The name of the file without its folder, or of the data set.
    schema : Schema
        As used: the plan's, or that of the data set.
    rows : int
        Rows used. They are people, or entities such as counties.
    dropped : int
        Rows left out by the schema's rules for unknown and missing values.
    groups : tuple of str
        Labels of the groups of the protected column, in the schema's order; of several columns, those of the
        combinations that somebody has.
    privileged : int or None
        The place of the privileged group, if there is one.
    sizes : tuple of int
        Rows in each group.
    fingerprint : str
        SHA-256 of the encoded rows.
    versions : mapping of str to str
        Of Python, evenhand and the packages that results depend on.
    notes : tuple of Note
        What a reader should know: an inferred domain, a sample of the rows, a repair. Text alone is about the
        data.
    leaks : tuple of Leak
        What columns in the clear give away of those that people randomise.
    target_leaks : tuple of Leak
        Columns each of which alone tells nearly everybody's outcome, so that a model needs no other.
    persons : tuple of int
        People in each group, where one may have several rows; empty where each row is another person.
    """

    label: str
    schema: Schema
    rows: int
    dropped: int
    groups: tuple[str, ...]
    privileged: int | None
    sizes: tuple[int, ...]
    fingerprint: str
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # each a Note
    leaks: tuple[Leak, ...] = ()
    target_leaks: tuple[Leak, ...] = ()
    persons: tuple[int, ...] = ()

    @property
    def people(self) -> tuple[int, ...]:
        """Return how many people are in each group."""
        return self.persons or self.sizes

    @property
    def not_stated(self) -> int:
        """Return how many people are in none of the groups, because they do not state theirs."""
        return max(self.rows - sum(self.sizes), 0) if self.schema.not_stated is not None else 0

    @property
    def compared(self) -> int | None:
        """Return how many groups are compared if somebody is in none of them; None if everybody is in one."""
        return len(self.groups) if self.not_stated else None

    @property
    def margins(self) -> dict[str, tuple[str, ...]]:
        """The groups of each crossed column by itself, by column; empty if nothing is crossed."""
        crossing = self.schema.crossing
        if crossing is None:
            return {}
        return {
            column.name: tuple(f"{column.name} = {value}" for value in values)
            for column, values in zip(crossing.columns, crossing.values, strict=True)
        }

    @property
    def group_margins(self) -> dict[str, tuple[str, ...]]:
        """The margins of each crossed group; empty if nothing is crossed."""
        crossing = self.schema.crossing
        if crossing is None:
            return {}
        margins = dict(zip(crossing.column.domain.values, product(*self.margins.values()), strict=True))
        return {group: margins[group] for group in self.groups}

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(Note.of(note) for note in self.notes))


def versions(used: Collection[str] = _OPTIONAL) -> dict[str, str]:
    """Return the versions of Python, evenhand and the packages that the numbers of a study depend on.

    A package that is not installed is not in it, nor an optional one that is not among those `used`.

    Examples
    --------
    >>> found = versions()
    >>> list(found)[:4]
    ['python', 'evenhand', 'numpy', 'scipy']
    """
    others = (name for name in used if name not in _PACKAGES)
    names = [*(name for name in _PACKAGES if name not in _OPTIONAL or name in used), *others]
    this = import_module("evenhand").__version__  # it stands above all layers
    installed = {name: number for name in names if (number := _version_of(name)) is not None}
    return {"python": platform.python_version(), "evenhand": this, **installed}


@cache
def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
