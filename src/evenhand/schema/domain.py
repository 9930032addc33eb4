"""Domains: which values a column may hold, declared and public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast, get_args, overload

from evenhand._validate import one_of, refuse
from evenhand.schema.bands import ISO, check_band, check_day, check_form, date_bands, rule_bins
from evenhand.schema.text import shortened
from evenhand.schema.values import (
    Value,
    bounds,
    distinct_labels,
    distinct_values,
    increasing_edges,
    interval_labels,
    number_text,
    plain_value,
    shown,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class RangeLabels(Sequence[str]):
    """The labels of ``low`` to ``high`` and of what follows them, as a lazy sequence.

    A domain of a billion whole numbers has a billion labels: they are written one by one when
    asked for. Equal to any tuple or list of the same labels.

    Examples
    --------
    >>> labels = RangeLabels(0, 10**9, ("other",))
    >>> len(labels), labels[42], labels[-1], labels.index("7"), "x" in labels
    (1000000002, '42', 'other', 7, False)
    >>> labels
    RangeLabels('0' … '1000000000', 'other')
    """

    __slots__ = ("_extra", "_numbers")

    def __init__(self, low: int, high: int, extra: tuple[str, ...] = ()) -> None:
        self._numbers = range(low, high + 1)
        self._extra = extra

    def __len__(self) -> int:
        return len(self._numbers) + len(self._extra)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        count = len(self._numbers)
        return str(self._numbers[place]) if place < count else self._extra[place - count]

    def __contains__(self, label: object) -> bool:
        return self._find(label) is not None

    def index(self, label: object, start: int = 0, stop: int | None = None) -> int:
        """Return the place of `label`; ``ValueError`` if it is not there."""
        place = self._find(label)
        if place is None or place not in range(*slice(start, stop).indices(len(self))):
            raise ValueError(f"{label!r} is not one of the labels.")
        return place

    def _find(self, label: object) -> int | None:
        if not isinstance(label, str):
            return None
        if label in self._extra:
            return len(self._numbers) + self._extra.index(label)
        if not label.removeprefix("-").isdecimal() or len(label) > 20:
            return None
        number = int(label)
        return number - self._numbers[0] if number in self._numbers and str(number) == label else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RangeLabels):
            return self._numbers == other._numbers and self._extra == other._extra
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self._numbers, self._extra))

    def __repr__(self) -> str:
        ends = f"{str(self._numbers[0])!r} … {str(self._numbers[-1])!r}"
        return f"RangeLabels({', '.join([ends, *map(repr, self._extra)])})"


Kind = Literal["categorical", "integers", "binned"]
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Domain:
    """The values a column may hold, in the order of their codes.

    Make one with :meth:`categorical`, :meth:`integers`, :meth:`binned`, :meth:`dates` or :meth:`threshold`.
    A domain is public: it is declared from a code list or a questionnaire, not read from rows.
    Domains are frozen, hashable and equal by value *and* type: the whole numbers 0 and 1, the
    numbers 0.0 and 1.0, the texts "0" and "1" and the truth values make four different domains.

    Attributes
    ----------
    kind : {"categorical", "integers", "binned"}
        Which of the three it is; bands of dates and the two sides of a threshold are bins.
    values : tuple
        The values of a categorical domain, all of one type; empty otherwise.
    ordered : bool
        Whether the order of the values means something, such as school grades. Ranges and bins
        are always ordered.
    low, high : int
        Both ends of a range of whole numbers, inclusive; 0 otherwise.
    edges : tuple of float
        The edges of the bins, one more than there are bins; empty otherwise.
    bin_labels : tuple of str
        The labels declared for the bins; empty if they are made from the edges.
    band, written : str
        Of dates, how long a band is and how a text has them; edges are then days since 1970. Empty otherwise.
    rule : str
        Of a threshold, such as ``">= 50000"``; empty otherwise.

    Examples
    --------
    >>> Domain.categorical(["Female", "Male"])
    Domain.categorical(['Female', 'Male'])
    >>> Domain.integers(17, 90).size
    74
    >>> Domain.binned([0, 10, 100]).labels
    ('[0, 10)', '[10, 100]')
    """

    kind: Kind
    values: tuple[Value, ...] = ()
    ordered: bool = False
    low: int = 0
    high: int = 0
    edges: tuple[float, ...] = ()
    bin_labels: tuple[str, ...] = ()
    band: str = ""
    written: str = ""
    rule: str = ""

    def __post_init__(self) -> None:
        owner = f"Domain.{one_of('kind', shown(self.kind), get_args(Kind), owner='Domain')}"
        kept: dict[str, object] = {"values": (), "low": 0, "high": 0, "edges": (), "bin_labels": ()}
        if self.kind != "binned":
            kept |= {"band": "", "written": "", "rule": ""}
        if self.kind == "categorical":
            kept["values"] = distinct_values(self.values, owner=owner)
            kept["ordered"] = truth("ordered", self.ordered, owner=owner)
        elif self.kind == "integers":
            kept["low"], kept["high"] = bounds(self.low, self.high, owner=owner)
            kept["ordered"] = True
        elif self.band:
            edges = increasing_edges(self.edges, owner=owner)
            first, last = (_EPOCH + timedelta(days=edges[place]) for place in (0, -1))
            months = check_band(self.band, owner=owner)
            kept["edges"], kept["bin_labels"] = date_bands(first, last, months, owner=owner)
            kept |= {"ordered": True, "written": check_form(self.written, owner=owner), "rule": ""}
        elif self.rule:
            kept["rule"], kept["edges"], kept["bin_labels"] = rule_bins(self.rule, owner=owner)
            kept |= {"ordered": True, "written": ""}
        else:
            kept["edges"] = edges = increasing_edges(self.edges, owner=owner)
            labels = self.bin_labels
            kept["bin_labels"] = labels and distinct_labels("labels", labels, len(edges) - 1, owner=owner)
            kept |= {"ordered": True, "written": ""}
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @classmethod
    def categorical(cls, values: Iterable[object], *, ordered: bool = False) -> Domain:
        """Declare a list of values; the order of the list is the order of the codes.

        Parameters
        ----------
        values : list or tuple
            Distinct values, all text, or all whole numbers, or all truth values, or all finite
            numbers. Text is compared as it stands: case, spaces and accents count.
        ordered : bool, default False
            Whether the order means something beyond the codes.

        Raises
        ------
        InvalidParameterError
            If the list is empty, holds a value twice, mixes types, or holds None, a number that
            is not finite or anything else that cannot be declared.

        Examples
        --------
        >>> Domain.categorical(["none", "school", "university"], ordered=True).size
        3
        """
        return cls("categorical", values=cast("tuple[Value, ...]", values), ordered=ordered)

    @classmethod
    def integers(cls, low: int, high: int) -> Domain:
        """Declare the whole numbers from `low` to `high`, both included; the code is ``value - low``.

        Both ends must fit 64 bits, and the range may hold at most 2**63 - 2 numbers, so that
        every code fits a signed 64-bit integer.

        Examples
        --------
        >>> Domain.integers(17, 90).labels[0]
        '17'
        """
        return cls("integers", low=low, high=high)

    @classmethod
    def binned(cls, edges: Iterable[float], *, labels: Iterable[str] | None = None) -> Domain:
        """Declare bins of a number; only the bin is kept.

        A bin holds its left edge and not its right one; the last bin holds both. A number below
        the first edge or above the last is outside the domain.

        Parameters
        ----------
        edges : list or tuple of float
            At least two finite numbers, strictly increasing.
        labels : list or tuple of str, optional
            One label for each bin. By default ``"[0, 10)"`` and so on, made from the edges.

        Examples
        --------
        >>> Domain.binned([0, 18, 65, 120], labels=["child", "adult", "senior"]).code("adult")
        1
        """
        bins = cls("binned", edges=cast("tuple[float, ...]", edges))
        if labels is None:
            return bins
        names = distinct_labels("labels", labels, bins.size, owner="Domain.binned")
        return cls("binned", edges=bins.edges, bin_labels=names)

    @classmethod
    def dates(cls, first: date | str, last: date | str, *, band: str, written: str = ISO) -> Domain:
        """Declare bands of dates; only the band is kept.

        Bands begin at multiples of their length, counted from the year 0: those of ten years in 1980, 1990
        and so on. Those that hold `first` and `last` are whole. A date outside them is outside the domain.

        Parameters
        ----------
        first, last : date or str
            Two dates, as texts in the form ``"1980-01-31"``.
        band : str
            Years, quarters or months: ``"10y"``, ``"1q"``, ``"6m"``.
        written : str, default "yyyy-mm-dd"
            How dates stand in a column of texts: one of ``"yyyy-mm-dd"``, ``"yyyy/mm/dd"``, ``"yyyy.mm.dd"``,
            ``"dd.mm.yyyy"``, ``"dd/mm/yyyy"``, ``"mm/dd/yyyy"``, ``"dd-mm-yyyy"``, ``"mm-dd-yyyy"``,
            ``"dd mon yyyy"``, ``"dd-mon-yyyy"``, ``"mon dd yyyy"``. Columns of dates need none.

        Examples
        --------
        >>> Domain.dates("1985-01-01", "2003-06-30", band="10y").labels
        ('1980–1989', '1990–1999', '2000–2009')
        """
        owner = "Domain.dates"
        months = check_band(band, owner=owner)
        ends = check_day("first", first, owner=owner), check_day("last", last, owner=owner)
        edges, _ = date_bands(*ends, months, owner=owner)
        return cls("binned", edges=edges, band=band, written=check_form(written, owner=owner))

    @classmethod
    def threshold(cls, rule: str) -> Domain:
        """Declare the two sides of a threshold of a number, the lower one first; only the side is kept.

        Every finite number is on one side.

        Parameters
        ----------
        rule : str
            A sign (``>=``, ``>``, ``<`` or ``<=``) and a number.

        Examples
        --------
        >>> Domain.threshold(">= 50000").labels
        ('< 50000', '>= 50000')
        """
        written, edges, _ = rule_bins(rule, owner="Domain.threshold")
        return cls("binned", edges=edges, rule=written)

    @property
    def form(self) -> str:
        """How it is declared: "categorical", "integers", "binned", "dates" or "threshold"."""
        return "dates" if self.band else "threshold" if self.rule else self.kind

    @property
    def first(self) -> date:
        """The first day of bands of dates."""
        return _EPOCH + timedelta(days=self.edges[0])

    @property
    def last(self) -> date:
        """The last day of bands of dates."""
        return _EPOCH + timedelta(days=self.edges[-1])

    @property
    def size(self) -> int:
        """How many codes there are."""
        if self.kind == "categorical":
            return len(self.values)
        return self.high - self.low + 1 if self.kind == "integers" else len(self.edges) - 1

    @property
    def value_type(self) -> type[str | int | bool | float | date]:
        """The type of the values that belong to it: ``str``, ``int``, ``bool``, ``float`` or ``date``."""
        if self.kind == "categorical":
            return type(self.values[0])
        if self.band:
            return date
        return int if self.kind == "integers" else float

    @cached_property
    def labels(self) -> Sequence[str]:
        """One text for each code, for display; those of a range are written when looked at."""
        if self.kind == "integers":
            return RangeLabels(self.low, self.high)
        if self.kind == "categorical":
            return tuple(str(value) for value in self.values)
        return self.bin_labels or interval_labels(self.edges)

    def find(self, value: object) -> int | None:
        """Return the code of a public value, or None if it is not in the domain.

        For bins the value is the label of a bin. Types count: ``1`` is not in a domain of truth
        values, and ``"1"`` is not in one of whole numbers. A whole number is looked up in a domain
        of numbers as the number it is.

        >>> Domain.integers(17, 90).find(18), Domain.categorical([False, True]).find(1)
        (1, None)
        """
        plain = plain_value(value)
        if plain is None:
            return None
        if self.kind == "integers":
            return plain - self.low if type(plain) is int and self.low <= plain <= self.high else None
        wanted = self.value_type if self.kind == "categorical" else str
        if type(plain) is not wanted and not (wanted is float and type(plain) is int):
            return None
        return self._codes.get(plain)

    def code(self, value: object) -> int:
        """Return the code of a public value, see :meth:`find`; refuse what is not in the domain.

        >>> Domain.categorical(["Female", "Male"]).code("Male")
        1
        """
        code = self.find(value)
        if code is None:
            refuse("value", "Domain.code", f"a value of the domain ({self.describe()})", shown(value))
        return code

    def describe(self, named: Mapping[str, str] | None = None) -> str:
        """Say in a few words what the domain holds; `named` has labels of values, by the text of the value.

        >>> Domain.integers(17, 90).describe()
        '74 values: 17 … 90'
        >>> Domain.categorical([0, 1]).describe({"1": "White"})
        '2 values: 0, 1 (White)'
        """
        noun = {"binned": "bin", "dates": "band"}.get(self.form, "value")
        plural = "" if self.size == 1 else "s"
        labels = self.labels
        if named:
            labels = [f"{label} ({named[label]})" if label in named else label for label in labels]
        shown = shortened(labels, self.size, ends_only=self.kind != "categorical")
        return f"{self.size:,} {noun}{plural}: {shown}"

    @cached_property
    def _codes(self) -> dict[Value, int]:
        keys = self.labels if self.kind == "binned" else self.values
        return {key: code for code, key in enumerate(keys)}

    def _key(self) -> tuple[object, ...]:
        kept = (self.values, self.ordered, self.low, self.high, self.edges, self.bin_labels)
        return (self.kind, self.value_type.__name__, *kept, self.band, self.written, self.rule)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Domain) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        if self.kind == "integers":
            return f"Domain.integers({self.low}, {self.high})"
        if self.kind == "categorical":
            return f"Domain.categorical({list(self.values)!r}{', ordered=True' if self.ordered else ''})"
        if self.rule:
            return f"Domain.threshold({self.rule!r})"
        if self.band:
            written = f", written={self.written!r}" if self.written else ""
            return f"Domain.dates('{self.first}', '{self.last}', band={self.band!r}{written})"
        labels = f", labels={list(self.bin_labels)!r}" if self.bin_labels else ""
        return f"Domain.binned([{', '.join(map(number_text, self.edges))}]{labels})"
