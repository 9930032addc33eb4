"""What the files of `entries` declare about a data set: options, files, schemas, and how it is cleaned.

What a data set is stands in `<name>.toml`; what is done to its files stands in `<name>.py`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import integer
from evenhand.datasets.download.files import Download, SourceFile
from evenhand.datasets.download.parsing import as_it_stands, line_feeds
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.datasets.download.files import Reader

_ENTRIES = Path(__file__).parent / "entries"


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
    """A data set: what it is, its options, its files, and how it is cleaned.

    Attributes
    ----------
    about, citation, options, files, departures, built_in, unwanted, rule
        As in :class:`Description`.
    build : callable
        From the reader of its files and the chosen options to the cleaned columns.
    codes : mapping
        Published code lists by name, or what each code stands for.
    schemas : mapping
        Roles and columns of each schema by name; a column has the arguments of its domain, whose values may
        be the name of a code list.
    """

    about: str
    citation: str
    options: tuple[Option, ...]
    build: Callable[[Reader, Mapping[str, Any]], Cleaned]
    files: tuple[SourceFile, ...] = ()
    departures: tuple[str, ...] = ()
    built_in: bool = False
    unwanted: bool = False
    rule: str = ""
    codes: Mapping[str, Any] = field(default_factory=dict)
    schemas: Mapping[str, Any] = field(default_factory=dict)

    def schema(self, name: str, *, values: Mapping[str, Any] | None = None, **roles: Any) -> Schema:
        """Return a declared schema; `values` and `roles` take the place of what is declared."""
        declared = {**self.schemas[name], **roles}
        changed = {column: {"values": codes} for column, codes in (values or {}).items()}
        columns = {**declared.pop("columns"), **changed}
        return Schema(
            tuple(Column(name, self._domain(**given)) for name, given in columns.items()), **declared
        )

    def _domain(self, **given: Any) -> Domain:
        if "values" not in given:
            return Domain.integers(**given)
        values = given.pop("values")
        return Domain.categorical(list(self.codes[values] if isinstance(values, str) else values), **given)


def read_entry(
    name: str,
    *,
    build: Callable[[Reader, Mapping[str, Any]], Cleaned],
    converters: tuple[Callable[..., bytes], ...] = (),
) -> Entry:
    """Return the data set that the file `<name>.toml` declares.

    Parameters
    ----------
    name : str
    build : callable
        As in :class:`Entry`.
    converters : tuple of callable
        The functions that make our files of what is downloaded; a file names its own by ``convert``.
    """
    declared = tomllib.loads((_ENTRIES / f"{name}.toml").read_text("utf-8"))
    functions = {function.__name__: function for function in (as_it_stands, line_feeds, *converters)}
    declared["options"] = tuple(_option(**table) for table in declared["options"])
    declared["files"] = tuple(_source_file(functions, **table) for table in declared.get("files", ()))
    declared["departures"] = tuple(declared.get("departures", ()))
    return Entry(build=build, **declared)


def _option(*, choices: Any = (), only_with: Any = None, **given: Any) -> Option:
    scope = None if only_with is None else (only_with[0], tuple(only_with[1]))
    return Option(choices=tuple(choices), only_with=scope, **given)


def _source_file(
    functions: Mapping[str, Callable[..., bytes]], *, urls: Any = (), convert: str = "", **given: Any
) -> SourceFile:
    download = Download(urls=tuple(urls), convert=functions[convert]) if urls else None
    return SourceFile(download=download, **given)


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
    unwanted : bool
        Whether its positive outcome is one that nobody hopes for, such as a risk score.
    rule : str
        The rule by which a right follows from its counts; empty where none does.
    """

    name: str
    title: str
    about: str
    citation: str
    options: tuple[Option, ...]
    files: tuple[SourceFile, ...]
    departures: tuple[str, ...]
    built_in: bool
    unwanted: bool
    rule: str

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
