"""Columns: a name, a domain and the rules for what does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from evenhand._validate import kind_of, one_of, refuse
from evenhand.errors import UnknownNameError
from evenhand.schema.domain import Domain, RangeLabels
from evenhand.schema.levels import Coarsening, Level, coarsenings, code_dtype, unused_label
from evenhand.schema.text import brief
from evenhand.schema.values import described, elements, instance, shown, text, truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

_MOST_LEVELS = 64
_MOST_LABELLED = 100_000

Rule = Literal["error", "other", "drop"]
"""What to do with a value outside the domain, or with none at all."""


@dataclass(frozen=True)
class Column:
    """One declared column.

    Parameters
    ----------
    name : str
        Name of the column, not empty.
    domain : Domain
        The values it may hold.
    outside : {"error", "other", "drop"}, default "error"
        What to do with a value outside the domain: refuse the data, give it the code "other", or
        leave out the row. ``"error"`` is for public data: whether it strikes depends on the rows.
        ``"drop"`` is refused where people report the column: who is left out would tell the value.
    nulls : {"error", "other", "drop"}, default "error"
        The same for a missing value.
    levels : list or tuple of Level, default ()
        A public hierarchy, from the finest to the coarsest; at most 64 levels.
    inferred : bool, default False
        Whether the domain, or that there are missing values, was read from rows and is not a public fact.
        Every guarantee about the column then says so: what was read is a leak that no epsilon covers.
    value_labels : mapping of value to str, default ()
        What people read instead of a value, such as ``{1: "White"}``; it is kept as pairs of texts. Files and
        codes keep the value. Of a domain of at most 100,000 values.

    Notes
    -----
    If either rule is ``"other"`` the column has one code more than its domain, the last one.
    Its label is ``"other"``; if that is a declared label too, ``"(other)"``, and so on.

    Examples
    --------
    >>> age = Column("age", Domain.integers(17, 90), nulls="other", levels=[Level("life", cuts=[30, 65])])
    >>> age.size, age.labels[-1], age.dtype
    (75, 'other', dtype('uint8'))
    >>> age.level("life").labels
    ('17 to 29', '30 to 64', '65 to 90', 'other')
    >>> age.level_codes("life")[[0, 12, 13, 74]]
    array([0, 0, 1, 3], dtype=uint8)
    >>> Column("white", Domain.categorical([0, 1]), value_labels={1: "White"}).display_labels
    ('0', 'White')
    """

    name: str
    domain: Domain
    outside: Rule = field(default="error", kw_only=True)
    nulls: Rule = field(default="error", kw_only=True)
    levels: Sequence[Level] = field(default=(), kw_only=True)
    inferred: bool = field(default=False, kw_only=True)
    value_labels: Mapping[Any, str] | tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        name = text("name", self.name, owner="Column")
        owner = f"column '{brief(name)}'"
        levels = elements("levels", self.levels, owner=owner)
        if len(levels) > _MOST_LEVELS:
            refuse("levels", owner, f"a list of at most {_MOST_LEVELS} levels", f"{len(levels)} of them")
        kept = {
            "name": name,
            "domain": instance("domain", self.domain, Domain, owner=owner),
            "outside": one_of("outside", shown(self.outside), get_args(Rule), owner=owner),
            "nulls": one_of("nulls", shown(self.nulls), get_args(Rule), owner=owner),
            "levels": tuple(instance("levels", level, Level, owner=owner) for level in levels),
            "inferred": truth("inferred", self.inferred, owner=owner),
        }
        kept["value_labels"] = _checked_labels(self.value_labels, self.domain, owner=owner)
        for attribute, value in kept.items():
            object.__setattr__(self, attribute, value)
        self._coarsenings  # noqa: B018 - checks the levels

    @property
    def has_other(self) -> bool:
        """Whether there is a code for values that are outside the domain or missing."""
        return "other" in {self.outside, self.nulls}

    @property
    def may_drop(self) -> bool:
        """Whether a rule may leave rows out: a fact of the declaration, whatever the rows hold."""
        return "drop" in {self.outside, self.nulls}

    @property
    def size(self) -> int:
        """How many codes there are, that of "other" included."""
        return self.domain.size + self.has_other

    @property
    def other_code(self) -> int | None:
        """The code of "other", which is the last one; None if there is none."""
        return self.domain.size if self.has_other else None

    @cached_property
    def labels(self) -> Sequence[str]:
        """One text for each code, that of "other" included."""
        labels = self.domain.labels
        if not self.has_other:
            return labels
        if self.domain.kind == "integers":
            return RangeLabels(self.domain.low, self.domain.high, ("other",))
        return (*labels, unused_label(labels))

    @property
    def named_values(self) -> dict[str, str]:
        """Each value that has a label, as text, with its label; see `value_labels`."""
        return dict(self.value_labels)

    @cached_property
    def display_labels(self) -> Sequence[str]:
        """One text for each code as people read it: the label of its value, or else as in :attr:`labels`."""
        if not self.value_labels:
            return self.labels
        named = self.named_values
        shown = [named.get(label, label) for label in self.domain.labels]
        return (*shown, unused_label(shown)) if self.has_other else tuple(shown)

    def display_label(self, value: object) -> str:
        """Return a value of the domain as people read it.

        >>> Column("white", Domain.categorical([0, 1]), value_labels={1: "White"}).display_label(1)
        'White'
        """
        return self.display_labels[self.domain.code(value)]

    def find(self, value: object) -> int | None:
        """Return the code of a value, or of the value with this label; None if there is neither.

        >>> Column("white", Domain.categorical([0, 1]), value_labels={1: "White"}).find("White")
        1
        """
        code = self.domain.find(value)
        if code is None and value in self.named_values.values():
            return self.display_labels.index(str(value))
        return code

    def describe(self) -> str:
        """Say in a few words what the domain holds, each value with its label."""
        return self.domain.describe(self.named_values)

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest unsigned type that holds every code."""
        return code_dtype(self.size)

    @property
    def level_names(self) -> tuple[str, ...]:
        """The names of the levels, from the finest to the coarsest."""
        return tuple(level.name for level in self.levels)

    def level(self, name: str) -> Coarsening:
        """Return a level as it applies to this column: its labels, its size, its codes."""
        if name not in self._coarsenings:
            place = f"a level of column '{self.name}'"
            raise UnknownNameError("Level", name, self.level_names, place=place)
        return self._coarsenings[name]

    def level_codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return the coarse code of every base code: ``level_codes("decade")[codes]`` coarsens.

        For a very large range use ``level(name).apply(codes)``, which makes no table.
        """
        return self.level(name).codes()

    @cached_property
    def _coarsenings(self) -> dict[str, Coarsening]:
        return coarsenings(self.name, self.domain, self.levels, other=self.has_other)

    def __repr__(self) -> str:
        parts = [repr(self.name), repr(self.domain)]
        parts += [
            f"{rule}={value!r}" for rule in ("outside", "nulls") if (value := getattr(self, rule)) != "error"
        ]
        parts += [f"levels={list(self.levels)!r}"] if self.levels else []
        parts += ["inferred=True"] if self.inferred else []
        parts += [f"value_labels={self.named_values!r}"] if self.value_labels else []
        return f"Column({', '.join(parts)})"


def _checked_labels(given: object, domain: Domain, *, owner: str) -> tuple[tuple[str, str], ...]:
    """Return each value that has a label, as text, with its label, in the order of the codes.

    A file has texts only, so a value may be given as the text that stands for it.
    """
    pairs = tuple(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, tuple):
        refuse("value_labels", owner, "a mapping from a value to its label", kind_of(given))
    if not pairs:
        return ()
    if domain.size > _MOST_LABELLED:
        must_be = f"left out, or the domain one of at most {_MOST_LABELLED:,} values"
        refuse("value_labels", owner, must_be, f"labels for one of {domain.size:,}")
    labels: dict[int, str] = {}
    for value, label in pairs:
        code = domain.find(value)
        if code is None and isinstance(value, str) and value in domain.labels:
            code = domain.labels.index(value)
        if code is None:
            must_be = f"a mapping from values of the domain ({domain.describe()})"
            refuse("value_labels", owner, must_be, shown(value))
        name = text("value_labels", label, owner=owner)
        taken = name in labels.values() or (name in domain.labels and domain.labels.index(name) != code)
        if code in labels or taken:
            must_be = "one label for each value, and none that another value has or is written as"
            refuse("value_labels", owner, must_be, f"{described(value if code in labels else name)} twice")
        labels[code] = name
    return tuple((domain.labels[code], labels[code]) for code in sorted(labels))
