"""What a file of `entries` declares about its data set: options, files, and how it is cleaned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.datasets.download.files import Reader, SourceFile
    from evenhand.schema import Schema

__all__ = ["Cleaned", "Description", "Entry", "Option", "choose_options"]


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """What a data set's `build` gives back.

    Attributes
    ----------
    columns : mapping of str to array
        The cleaned columns, in order.
    schema : Schema
        Their declared domains and roles.
    rows : int
        How many rows there must be. Loading fails if there are not.
    cleaning : tuple of str
        What was done, step by step.
    note : str
        What a reader of results should know.
    synthetic : bool or "partly"
        As in :class:`~evenhand.datasets.dataset.Provenance`.
    """

    columns: Mapping[str, Any]
    schema: Schema
    rows: int
    cleaning: tuple[str, ...]
    note: str = ""
    synthetic: bool | Literal["partly"] = False


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A data set: what it is, its options, its files, and how it is cleaned."""

    about: str
    citation: str
    options: tuple[Option, ...]
    build: Callable[[Reader, Mapping[str, Any]], Cleaned]
    files: tuple[SourceFile, ...] = ()
    departures: tuple[str, ...] = ()
    built_in: bool = False


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is known about a data set without touching a file.

    Attributes
    ----------
    name, title, about : str
        What it is.
    options : tuple of Option
        What `load` takes for it.
    files : tuple of SourceFile
        The files it may need, with source, licence and checksum.
    citation : str
        The study or agency to cite.
    departures : tuple of str
        Where the papers say one thing and their code or data another.
    built_in : bool
        Whether it needs no file at all, with its default options.
    """

    name: str
    title: str
    about: str
    citation: str
    options: tuple[Option, ...]
    files: tuple[SourceFile, ...]
    departures: tuple[str, ...]
    built_in: bool

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title}", self.about, f"Cite: {self.citation}"]
        lines += [f"Option {option}" for option in self.options]
        lines += [f"File {file}" for file in self.files]
        lines += [f"Departure: {departure}" for departure in self.departures]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a data set.

    Attributes
    ----------
    name, meaning : str
        What it is called and what it does.
    default : object
        The value used when it is left out.
    choices : tuple
        The values it may have. Empty for a whole number between `low` and `high`.
    low, high : int
        Both ends of a whole number.
    only_with : tuple of str and tuple, optional
        Another option and the values of it for which this one means anything.
        Given with any other value it is refused, not ignored.
    """

    name: str
    meaning: str
    default: Any
    choices: tuple[Any, ...] = ()
    low: int = 0
    high: int = 2**63 - 1
    only_with: tuple[str, tuple[Any, ...]] | None = None

    def check(self, value: object, *, owner: str) -> Any:
        """Return the value if the option may have it, else refuse it.

        A scalar of numpy stands for the Python value of its kind.
        """
        plain = value.item() if isinstance(value, np.generic) else value
        if not self.choices:
            return integer(self.name, plain, owner=owner, low=self.low, high=self.high)
        for choice in self.choices:
            if type(plain) is type(choice) and plain == choice:
                return choice
        listed = ", ".join(repr(choice) for choice in self.choices)
        raise InvalidParameterError(self.name, owner=owner, must_be=f"one of {listed}", got=value)

    def __str__(self) -> str:
        listed = " | ".join(repr(choice) for choice in self.choices)
        allowed = listed or f"{self.low} to {self.high}"
        scope = f" Only with {self._scope()}." if self.only_with else ""
        return f"{self.name} = {self.default!r} ({allowed}): {self.meaning}{scope}"

    def _scope(self) -> str:
        other, values = self.only_with or ("", ())
        return f"{other} = {' or '.join(repr(value) for value in values)}"


def choose_options(dataset: str, declared: tuple[Option, ...], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the value of every option that applies, defaults filled in.

    Parameters
    ----------
    dataset : str
        Name of the data set, for messages.
    declared : tuple of Option
        Its options, the ones others depend on first.
    given : mapping
        What the caller asked for.

    Raises
    ------
    UnknownNameError
        If the data set has no option of that name.
    InvalidParameterError
        If an option has a value it cannot have, or does not apply to the others.
    """
    owner = f"load('{dataset}')"
    known = {option.name: option for option in declared}
    for name in given:
        if name not in known:
            raise UnknownNameError("Option", name, known, place=f"known to data set '{dataset}'")
    chosen: dict[str, Any] = {}
    for option in declared:
        value = option.check(given.get(option.name, option.default), owner=owner)
        if option.only_with is None or chosen.get(option.only_with[0]) in option.only_with[1]:
            chosen[option.name] = value
        elif option.name in given:
            other = option.only_with[0]
            must_be = f"left out when {other} = {chosen.get(other)!r}"
            raise InvalidParameterError(option.name, owner=owner, must_be=must_be, got=value)
    return chosen
