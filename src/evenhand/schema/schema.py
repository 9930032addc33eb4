"""Schemas: everything that is public about a data set, in one frozen object."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand._part_files import put_in_place, resolve_folder, sweep
from evenhand._validate import integer, refuse
from evenhand.errors import ColumnNotFoundError, DomainInferredWarning
from evenhand.schema.column import Column
from evenhand.schema.crossing import ProtectedGroups
from evenhand.schema.describe import schema_html, schema_text
from evenhand.schema.infer import (
    MOST_TEXTS,
    Inference,
    inferred,
    leak_warning,
    open_frame,
    refuse_one_side,
    refuse_unseen,
)
from evenhand.schema.roles import ROLES, Names, Roles, canonical_names, checked_roles, cut_target
from evenhand.schema.toml import MAX_BYTES, columns_and_roles, parse_toml, read_text, write_toml
from evenhand.schema.values import Value, elements, instance, refuse_twins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from evenhand.schema.column import Rule

_KEEP: Any = object()
"""Stands for "as it was" where None means "no such role"."""


@dataclass(frozen=True, repr=False, init=False)
class Schema(ProtectedGroups):
    """The public knowledge about a data set: its columns, their domains and their roles.

    Parameters
    ----------
    columns : tuple of Column
        At least one; names are distinct.
    sensitive : name or list of names, default ()
        Columns that a mechanism is to protect. The others are in the clear. The target may be one of them.
    protected : name or list of names, optional
        The column whose groups are compared. It may be sensitive or in the clear. Several columns are
        crossed: each combination of their values is a group, of at most 1,000.
    privileged : value or list of values, optional
        The group of `protected` that the others are compared with; for bins, the label of a bin. Of crossed
        columns a value of each; without one, each comparison is the largest difference of two groups.
    target : str, optional
        The column that is decided or predicted.
    positive : value, optional
        The value of `target` that people hope for; for bins, the label of a bin. With a threshold such as
        ``">= 50000"`` a target of numbers has two values, its sides.
    quasi_identifiers : name or list of names, default ()
        Columns that others may know too.
    missing_group : bool, default False
        Whether people whose `protected` value is missing are a group that is compared. By default they are
        *not stated*: listed apart, and in no gap.
    weight : str, optional
        The column of survey weights, numbers of at least 0. It is no column of the schema: it has no domain
        and is no feature. It is in the clear.
    person : str, optional
        The column that says which rows are of one person: numbers are compared as numbers, and blanks around
        them do not count. It is no column of the schema, and is never written or shown.
    rows_per_person : int, optional
        How many rows of one person count at most, by default 1; which of more do is drawn at random.
    pool_below : int, optional
        Groups of fewer people than this are compared as one, "other groups", whatever their outcomes.

    Raises
    ------
    InvalidParameterError
        If a parameter cannot be what it is.
    ColumnNotFoundError
        If a role names a column that is not there.
    SchemaError
        If the parts contradict each other: `privileged` without `protected`, or not in its domain.

    Notes
    -----
    Frozen, hashable and equal by value. The order of columns counts, since it is the order of
    tables and colours; the order in which role columns are named does not, but for `protected`, whose
    order is that of the values of a group.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain
    >>> schema = Schema(
    ...     columns=(
    ...         Column("gender", Domain.categorical(["Female", "Male"])),
    ...         Column("age", Domain.integers(17, 90)),
    ...     ),
    ...     sensitive="age",
    ...     protected="gender",
    ...     privileged="Male",
    ... )
    >>> schema
    Schema of 2 columns
      gender  2 values: Female, Male  protected (privileged: Male)
      age     74 values: 17 … 90      sensitive
    >>> schema["age"].size, schema.in_clear
    (74, ('gender',))
    """

    columns: tuple[Column, ...]
    sensitive: tuple[str, ...]
    protected: str | tuple[str, ...] | None
    privileged: Value | tuple[Value, ...] | None
    target: str | None
    positive: Value | None
    quasi_identifiers: tuple[str, ...]
    missing_group: bool
    weight: str | None
    person: str | None
    rows_per_person: int | None
    pool_below: int | None

    def __init__(  # noqa: PLR0913 - one keyword for each role
        self,
        columns: Iterable[Column],
        *,
        sensitive: Names = (),
        protected: str | Sequence[str] | None = None,
        privileged: Value | Sequence[Value] | None = None,
        target: str | None = None,
        positive: Value | None = None,
        quasi_identifiers: Names = (),
        missing_group: bool = False,
        weight: str | None = None,
        person: str | None = None,
        rows_per_person: int | None = None,
        pool_below: int | None = None,
    ) -> None:
        kept = tuple(
            instance("columns", column, Column, owner="Schema")
            for column in elements("columns", columns, owner="Schema")
        )
        if not kept:
            refuse("columns", "Schema", "a list of at least one Column", "an empty list")
        refuse_twins("columns", [column.name for column in kept], owner="Schema")
        kept, positive = cut_target(kept, target, positive)
        object.__setattr__(self, "columns", kept)
        first: Any = sensitive, protected, privileged, target, positive, quasi_identifiers, missing_group
        given = Roles(*first, weight, person, rows_per_person, pool_below)  # type: ignore[call-arg]
        for role, value in vars(checked_roles(self._by_name, given)).items():
            object.__setattr__(self, role, value)

    @property
    def roles(self) -> Roles:
        """The roles, as one object."""
        return Roles(**{role: getattr(self, role) for role in ROLES})

    @property
    def positive_label(self) -> str:
        """The positive value of the target as people read it."""
        return "" if self.positive is None else self[str(self.target)].display_label(self.positive)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> dict[str, int]:
        """How many codes each column has."""
        return {column.name: column.size for column in self.columns}

    @property
    def in_clear(self) -> tuple[str, ...]:
        """The names of the columns that are not sensitive, weights last: no mechanism protects them."""
        sensitive = set(self.sensitive)
        weight = () if self.weight is None else (self.weight,)
        return (*(name for name in self.names if name not in sensitive), *weight)

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of the columns that are read beside those of the schema: weights, and the person."""
        return tuple(name for name in (self.weight, self.person) if name is not None)

    @property
    def may_drop(self) -> tuple[str, ...]:
        """The names of the columns whose rules may leave rows out."""
        return tuple(column.name for column in self.columns if column.may_drop)

    @property
    def inferred(self) -> tuple[str, ...]:
        """The names of the columns whose domains were read from rows, which is a leak."""
        return tuple(column.name for column in self.columns if column.inferred)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column:
        """Return the column called `name`; also written ``schema[name]``."""
        if name not in self:
            raise ColumnNotFoundError(name, self.names)
        return self._by_name[name]

    def __getitem__(self, name: str) -> Column:
        return self.column(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return schema_text(self.columns, self.roles)

    def _repr_html_(self) -> str:
        return schema_html(self.columns, self.roles)

    # --- schemas made from this one --------------------------------------------------------

    def select(self, names: Iterable[str]) -> Schema:
        """Return the schema of these columns, in the order given; roles that lose their column go.

        >>> from evenhand.schema import Column, Domain
        >>> bit = Domain.integers(0, 1)
        >>> schema = Schema([Column("a", bit), Column("b", bit)], target="b")
        >>> schema.select(["a"]).target is None
        True
        """
        columns = tuple(self.column(name) for name in ([names] if isinstance(names, str) else names))
        kept = {column.name for column in columns}
        protected, target = kept.issuperset(self.protected_columns), self.target in kept
        return Schema(
            columns,
            sensitive=tuple(name for name in self.sensitive if name in kept),
            protected=self.protected if protected else None,
            privileged=self.privileged if protected else None,
            target=self.target if target else None,
            positive=self.positive if target else None,
            quasi_identifiers=tuple(name for name in self.quasi_identifiers if name in kept),
            missing_group=self.missing_group and protected,
            weight=self.weight,
            person=self.person,
            rows_per_person=self.rows_per_person,
            pool_below=self.pool_below if protected else None,
        )

    def with_columns(self, *columns: Column) -> Schema:
        """Return the schema with these columns: those of a known name are replaced, others come last."""
        named = dict(self._by_name)
        for column in columns:
            named[instance("columns", column, Column, owner="Schema.with_columns").name] = column
        return replace(self, columns=tuple(named.values()))

    def with_labels(self, labels: Mapping[str, Mapping[Any, str]]) -> Schema:
        """Return the schema with labels of values, by column; a label takes the place of the one before.

        Files, codes and draws are the same with and without labels.

        >>> from evenhand.schema import Column, Domain
        >>> schema = Schema([Column("white", Domain.categorical([0, 1]))], protected="white")
        >>> schema.with_labels({"white": {1: "White"}}).with_roles(privileged="White").privileged
        1
        """
        changed = []
        for name, named in labels.items():
            column = self.column(name)
            of_values = {**column.named_values, **{str(value): label for value, label in named.items()}}
            changed.append(replace(column, value_labels=of_values))
        return self.with_columns(*changed)

    def with_roles(  # noqa: PLR0913 - one keyword for each role
        self,
        *,
        sensitive: Names = _KEEP,
        protected: str | Sequence[str] | None = _KEEP,
        privileged: Value | Sequence[Value] | None = _KEEP,
        target: str | None = _KEEP,
        positive: Value | None = _KEEP,
        quasi_identifiers: Names = _KEEP,
        missing_group: bool = _KEEP,
        weight: str | None = _KEEP,
        person: str | None = _KEEP,
        rows_per_person: int | None = _KEEP,
        pool_below: int | None = _KEEP,
    ) -> Schema:
        """Return the schema with these roles; a role that is not named stays, None takes it away.

        A new `protected` column takes the old `privileged` and `pool_below` away unless given, so does a new
        `target` with `positive`, and a new `person` with `rows_per_person`.
        """
        given = {
            "sensitive": sensitive,
            "protected": protected,
            "privileged": privileged,
            "target": target,
            "positive": positive,
            "quasi_identifiers": quasi_identifiers,
            "missing_group": missing_group,
            "weight": weight,
            "person": person,
            "rows_per_person": rows_per_person,
            "pool_below": pool_below,
        }
        changed = {role: value for role, value in given.items() if value is not _KEEP}
        for owner, value in (
            ("protected", "privileged"),
            ("protected", "pool_below"),
            ("target", "positive"),
            ("person", "rows_per_person"),
        ):
            if canonical_names(changed.get(owner, getattr(self, owner))) != getattr(self, owner):
                changed.setdefault(value, None)
        for role in ("sensitive", "quasi_identifiers"):
            if role in changed and changed[role] is None:
                changed[role] = ()
        return replace(self, **changed)

    # --- files -----------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Return the schema as TOML; equal schemas give the same text."""
        return write_toml(self.columns, self.roles)

    @classmethod
    def from_toml(cls, text: str, *, max_bytes: int = MAX_BYTES) -> Schema:
        """Return the schema that a TOML text describes, see :meth:`load`."""
        given = instance("text", text, str, owner="Schema.from_toml")
        limit = integer("max_bytes", max_bytes, owner="Schema.from_toml", low=1)
        columns, roles = columns_and_roles(parse_toml(given, max_bytes=limit))
        return cls(columns, **vars(roles))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the schema to a TOML file; an old file stays whole until the new one is, a link is replaced.

        The SHA-256 of the file is :attr:`fingerprint`.
        """
        target = resolve_folder(path)
        sweep(target.parent)
        with put_in_place(target) as file:
            file.write(self.to_toml().encode("utf-8"))

    @classmethod
    def load(cls, path: str | PathLike[str], *, max_bytes: int = MAX_BYTES) -> Schema:
        """Read a schema from a TOML file.

        Parameters
        ----------
        path : str or path
            The file.
        max_bytes : int, default 1,048,576
            Longer files are refused.

        Raises
        ------
        SchemaError
            If the file is not a schema; ``field`` names the part at fault, such as
            ``"columns.age.values"``, or ``"file"`` if it is no TOML at all.
        UnreadableFileError
            If there is no such file, or it cannot be opened.
        LimitExceededError
            If it is longer than `max_bytes`.
        """
        limit = integer("max_bytes", max_bytes, owner="Schema.load", low=1)
        return cls.from_toml(read_text(path, max_bytes=limit), max_bytes=limit)

    @classmethod
    def infer(  # noqa: PLR0913 - one keyword for each role and each choice
        cls,
        frame: Any,
        *,
        sensitive: Names = (),
        protected: str | Sequence[str] | None = None,
        privileged: Value | Sequence[Value] | None = None,
        target: str | None = None,
        positive: Value | None = None,
        quasi_identifiers: Names = (),
        weight: str | None = None,
        person: str | None = None,
        rows_per_person: int | None = None,
        pool_below: int | None = None,
        columns: Iterable[str] | None = None,
        bands: Mapping[str, str] | None = None,
        max_categories: int = _KEEP,
        bins: int = 10,
        outside: Rule | None = None,
        nulls: Rule | None = None,
    ) -> Schema:
        """Read a schema from the rows of a frame, and warn that this is a leak.

        Text and categories become a sorted list; a category type with an order keeps it. Numbers
        become a list if there are at most 20 of them, and 0.0 and 1.0 are then 0 and 1. More whole
        numbers become the range from the lowest to the highest, other numbers bins of round width.
        In a column with a role whole numbers become bins too. Truth values are False, True.
        Audits, ``evenhand privatize`` and ``evenhand release`` read domains by the same rules.

        Columns for which rows were read are marked as :attr:`inferred`. The mark stays with them in
        files and in schemas made from this one, and guarantees about them state the leak.

        Parameters
        ----------
        frame : pandas, Polars or Arrow frame
            Only eager frames.
        sensitive, protected, privileged, target, positive, quasi_identifiers, weight, person, \
        rows_per_person, pool_below
            The roles, as in :class:`Schema`. They are given, never read.
        columns : list of str, optional
            The columns to take. By default all.
        bands : mapping of str to str, optional
            Columns to put into bands of a public grid: dates into ``"10y"``, ``"1q"`` or ``"6m"``, after a
            colon how they are written (``"10y:dd/mm/yyyy"``) where that cannot be seen; numbers into
            ``"10"``. Dates without a band are refused.
        max_categories : int, optional
            A column of more distinct texts is refused: it is more of a name than a category. By default
            1,000 for a column with a role, and 100 for any other.
        bins : int, default 10
            At most so many bins for a column of numbers.
        outside : {"error", "other", "drop"}, optional
            The rule for values outside the domain, for every column. By default "other" where numbers
            are infinite, else "error".
        nulls : {"error", "other", "drop"}, optional
            The rule for missing values, for every column. By default "other" where there are any
            ("drop" in the target), else "error".

        Warns
        -----
        DomainInferredWarning
            If any domain was read from the rows. It says which, why that leaks and how to declare
            them. It holds no value from the data.

        Raises
        ------
        SchemaError
            If no domain can be read for a column: dates without a band, nested types, too many texts, no
            values. If all rows are on one side of a threshold.

        Examples
        --------
        >>> import warnings
        >>> import pyarrow
        >>> frame = pyarrow.table({"gender": ["Male", "Female"], "member": [True, False]})
        >>> with warnings.catch_warnings(action="ignore"):
        ...     Schema.infer(frame, sensitive="gender")
        Schema of 2 columns
          gender  2 values: Female, Male  sensitive; read from the rows
          member  2 values: False, True
        """
        most = None
        if max_categories is not _KEEP:
            most = integer("max_categories", max_categories, owner="Schema.infer", low=1)
        integer("bins", bins, owner="Schema.infer", low=1)
        named = [[given] if isinstance(given, str) else given or () for given in (sensitive, protected)]
        with_role = {target, *(name for names in named for name in names)}
        wanted, opened = dict(bands or {}), open_frame(frame)
        if missing := [name for name in wanted if name not in opened.columns]:
            raise ColumnNotFoundError(missing[0], opened.columns, place="in the frame")

        def how(name: str) -> Inference:
            texts = MOST_TEXTS["sensitive" if name in with_role else "clear"] if most is None else most
            ranges = name not in with_role
            return Inference(texts, bins, outside, nulls, ranges=ranges, band=wanted.get(name, ""))

        if columns is None:
            columns = [name for name in opened.columns if name not in (weight, person)]
        columns_read, read = inferred(opened, columns, how)
        if nulls is None and target is not None:
            columns_read = tuple(
                replace(column, nulls="drop") if column.name == target and column.nulls == "other" else column
                for column in columns_read
            )
        columns_read, positive = cut_target(columns_read, target, positive)
        refuse_one_side(opened, columns_read)
        refuse_unseen(columns_read, privileged=(protected, privileged), positive=(target, positive))
        schema = cls(
            columns_read,
            sensitive=sensitive,
            protected=protected,
            privileged=privileged,
            target=target,
            positive=positive,
            quasi_identifiers=quasi_identifiers,
            weight=weight,
            person=person,
            rows_per_person=rows_per_person,
            pool_below=pool_below,
        )
        if read:
            warnings.warn(leak_warning(read), DomainInferredWarning, stacklevel=2)
        return schema

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the schema as TOML, in hexadecimal: the same in every run and machine."""
        return hashlib.sha256(self.to_toml().encode("utf-8")).hexdigest()
