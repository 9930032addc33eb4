"""Domains read from rows: quick, and a leak that the caller is told about."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NoReturn

import narwhals as nw
import numpy as np

from evenhand._validate import kind_of
from evenhand.errors import ColumnNotFoundError, EvenhandError, InvalidParameterError, SchemaError
from evenhand.schema.bands import ISO, as_date, band_edges, have_short_years, is_band, recognise_dates
from evenhand.schema.column import Column
from evenhand.schema.domain import Domain
from evenhand.schema.text import listed, visible
from evenhand.schema.values import refuse_twins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from evenhand.schema.column import Rule

FEW = 20
"""Up to so many different numbers are a list."""

MOST_TEXTS = {"target": 1_000, "protected": 1_000, "sensitive": 1_000, "clear": 100}
"""How many different texts still look like categories, by what a column is for."""

_UNEVEN = 5
_DATED = (nw.Date, nw.Datetime)  # a set would not find a time stamp of a unit
_EXACT = 2**53


@dataclass(frozen=True)
class Inference:
    """How the domain of a column is read from rows.

    Parameters
    ----------
    max_categories, bins : int
        The most different texts, and the most bins of numbers.
    outside, nulls : {"error", "other", "drop"}, optional
        The rules. By default ``"other"`` where a number is infinite, and where a value is missing; else
        ``"error"``.
    ranges : bool
        Whether many whole numbers are a range, or bins as where people report them or are compared by them.
    band : str
        Of dates such as ``"10y"``, which how they are written may follow after a colon, and of numbers such
        as ``"10"``. By default dates are refused.
    """

    max_categories: int
    bins: int = 10
    outside: Rule | None = None
    nulls: Rule | None = None
    ranges: bool = True
    band: str = ""


def open_frame(frame: object) -> nw.DataFrame[Any]:
    """Return a frame of any library as a narwhals one, or refuse it without showing it."""
    owner, got = "Schema.infer", kind_of(frame)
    try:
        opened: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        must_be = "a frame whose columns have distinct names"
        raise InvalidParameterError("frame", owner=owner, must_be=must_be, got="one name twice") from None
    except TypeError:
        must_be, hint = "a pandas, Polars or Arrow frame", "collect a lazy frame first"
        raise InvalidParameterError("frame", owner=owner, must_be=must_be, got=got, hint=hint) from None
    if not all(isinstance(name, str) for name in opened.columns):
        must_be = "a frame whose columns are named by text"
        raise InvalidParameterError("frame", owner=owner, must_be=must_be, got="another kind of name")
    return opened


def inferred(
    frame: nw.DataFrame[Any], names: Iterable[str] | None, how: Callable[[str], Inference]
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the columns, as `how` says for each name, and the names of those for which rows were read."""
    known = dict.fromkeys(frame.columns)
    chosen = list(known) if names is None else [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if not isinstance(name, str) or name not in known:
            raise ColumnNotFoundError(name, known, place="in the frame")
    refuse_twins("columns", chosen, owner="Schema.infer")
    columns, read = [], []
    for name in chosen:
        column, from_rows = _column(name, frame.get_column(name), how(name))
        columns.append(column)
        if from_rows:
            read.append(name)
    return tuple(columns), tuple(read)


def refuse_unseen(columns: Iterable[Column], **given: tuple[Any, Any]) -> None:
    """Refuse a role value that its column does not hold, without telling what it does hold."""
    domains = {column.name: column.domain for column in columns}
    pairs = []
    for role, (names, values) in given.items():
        crossed = isinstance(names, list | tuple) and isinstance(values, list | tuple)
        several = zip(names, values, strict=False) if crossed else [(names, values)]
        pairs += [(role, name, value) for name, value in several]
    for role, name, value in pairs:
        if (
            isinstance(name, str)
            and name in domains
            and value is not None
            and domains[name].find(value) is None
        ):
            message = f"Role '{role}' is not a value that was found in column '{name}'"
            hint = f"leave '{role}' out, look at the schema, then add it with schema.with_roles({role}=...)"
            raise SchemaError(f"{message}. Hint: {hint}.", field=f"roles.{role}") from None


def refuse_one_side(frame: nw.DataFrame[Any], columns: Iterable[Column]) -> None:
    """Refuse a threshold that all rows are on one side of, without telling on which."""
    for column in columns:
        if not column.domain.rule or column.name not in frame.columns:
            continue
        present = frame.get_column(column.name).drop_nulls()
        if present.dtype.is_numeric():
            numbers = present.cast(nw.Float64)
            above = numbers.filter(numbers.is_finite()) >= column.domain.edges[1]
            if not bool(above.any()) or bool(above.all()):
                message = f"All rows of column '{column.name}' are on one side of '{column.domain.rule}'"
                hint = "choose a number that parts them"
                raise SchemaError(f"{message}. Hint: {hint}.", field="roles.positive")


def leak_warning(names: tuple[str, ...]) -> str:
    """Say which domains were read from rows, why that leaks and what to do instead."""
    many = len(names) > 1
    shown = [f"'{visible(name)}'" for name in names[:10]]
    shown += [f"{len(names) - 10} more"] if len(names) > 10 else []
    return (
        f"The domain{'s' if many else ''} of {listed(shown)} {'were' if many else 'was'} read from the rows, "
        "and that is a leak: a rare category, the lowest or highest number or the mark for missing values is "
        "listed because somebody in the data has it, and no noise added later hides that. "
        "Fine for public data and for trying things out. For a release declare the schema: "
        "draft it (evenhand schema FILE, or schema.save('schema.toml')), replace what was read by a public "
        "code list, take out the line 'inferred = true' there, and use it (--schema, or "
        "Schema.load('schema.toml'))."
    )


def _column(name: str, series: nw.Series[Any], how: Inference) -> tuple[Column, bool]:
    """Return a column, and whether rows had to be read for it."""
    try:
        domain, from_rows = (_banded(name, series, how), True) if how.band else _domain(name, series, how)
        missing = how.nulls is None and has_missing(series)
        odd = how.outside is None and _has_odd_values(series, domain)
    except EvenhandError:
        raise
    except Exception:  # noqa: BLE001 - whatever a library says about a column may hold a value of it
        _refuse(name, "holds values that cannot be compared")
    nulls = "other" if missing else how.nulls or "error"
    outside = "other" if odd else how.outside or "error"
    read = from_rows or missing
    return Column(name, domain, outside=outside, nulls=nulls, inferred=read), read


def _domain(name: str, series: nw.Series[Any], how: Inference) -> tuple[Domain, bool]:
    """Return the domain of a column, and whether rows had to be read for it."""
    kind = series.dtype
    why, band = why_no_categories(series)
    if why:
        banded = f"band them, with bands={{{name!r}: {band!r}}} or on the command line --band {name}={band}"
        hint = banded if band else "write years with four digits"
        _refuse(name, why, f"{hint}, or leave it out with columns=[...]")
    if kind == nw.Boolean or (
        kind == nw.Object and {type(value) for value in series.drop_nulls().to_list()} == {bool}
    ):
        return Domain.categorical([False, True]), False
    if isinstance(kind, nw.Enum):
        # Ordered categories of pandas may have been collected from the rows; those of Polars are declared.
        from_rows = series.implementation.is_pandas_like()
        return _categorical(name, list(kind.categories), ordered=True), from_rows
    if kind.is_integer():
        return _whole_numbers(name, series, how), True
    if kind.is_numeric():
        return _numbers(name, series, how), True
    if kind in {nw.String, nw.Categorical, nw.Object}:
        return _texts(name, series, how), True
    return _refuse(name, f"is of type {type(kind).__name__}, for which no domain can be read")


# --- dates and bands ------------------------------------------------------------------------------


def date_forms(series: nw.Series[Any]) -> tuple[str, ...]:
    """Return the forms in which a column has dates; several if day and month cannot be told apart."""
    if series.dtype in _DATED:
        return (ISO,)
    return recognise_dates(_some(series))


def _some(series: nw.Series[Any]) -> list[Any]:
    """Return some different values of a column of texts or objects; none of a column of another type."""
    is_text = series.dtype in {nw.String, nw.Categorical, nw.Object}
    return series.drop_nulls().head(10_000).unique(maintain_order=True).to_list()[:1_000] if is_text else []


def why_no_categories(series: nw.Series[Any]) -> tuple[str, str]:
    """Return why a column, though it may be of texts, has no categories: it holds dates; and a band for them.

    Both are empty for other columns; the band is, where there can be none.
    """
    forms = date_forms(series)
    if len(forms) > 1:
        return f"holds dates, {_ASK_FOR_ORDER.format(forms=' or '.join(forms))}", f"10y:{forms[0]}"
    if forms:
        return "holds dates", "10y"
    return ("holds dates with years of two digits", "") if have_short_years(_some(series)) else ("", "")


def _banded(name: str, series: nw.Series[Any], how: Inference) -> Domain:
    """Return the bands that hold all values of a column."""
    width, _, written = how.band.partition(":")
    if series.dtype.is_numeric():
        return _banded_numbers(name, series, how.band)
    forms = (written,) if written else date_forms(series)
    if len(forms) > 1:
        _refuse(name, f"holds dates, {_ASK_FOR_ORDER.format(forms=' or '.join(forms))}", _ORDER)
    if not forms:
        _refuse(name, "holds neither dates nor numbers, so it has no bands", _FORM)
    if not is_band(width):
        why = "holds dates, whose bands are years, quarters or months such as 10y, 1q or 6m"
        _refuse(name, why, "say the band so")
    present = series.drop_nulls()
    ends = present.to_list() if present.dtype not in _DATED else [present.min(), present.max()]
    days = [day for value in dict.fromkeys(ends) if (day := as_date(value, forms[0])) is not None]
    if not days:
        _refuse(name, f"holds no date that is written as {forms[0]}", _FORM)
    try:
        return Domain.dates(min(days), max(days), band=width, written=forms[0])
    except InvalidParameterError as error:
        if error.parameter == "written":
            raise
        _refuse(name, "spans more bands than there can be", "make them wider")


def _banded_numbers(name: str, series: nw.Series[Any], band: str) -> Domain:
    numbers = series.drop_nulls().cast(nw.Float64) + 0.0  # Arrow counts −0.0 and 0.0 as two values
    finite = numbers.filter(numbers.is_finite())
    if finite.is_empty():
        _refuse(name, "holds no number")
    try:
        width = float(band)
    except ValueError:
        width = 0.0
    if not 0 < width < float("inf"):
        _refuse(
            name, "holds numbers, whose bands are as wide as a number above 0", "give a number such as 10"
        )
    edges = band_edges(float(finite.min()), float(finite.max()), width)
    if not edges or any(left >= right for left, right in pairwise(edges)):
        _refuse(name, "spans more bands than there can be", "make them wider")
    return Domain.binned(edges)


# --- texts and numbers ----------------------------------------------------------------------------


def _texts(name: str, series: nw.Series[Any], how: Inference) -> Domain:
    present = series.drop_nulls().unique()
    many = f"holds more than {how.max_categories} distinct values (max_categories)"
    if len(present) > how.max_categories + 1:  # one may be a missing value that Arrow keeps as a category
        _refuse(name, many)
    values = [value for value in present.to_list() if value is not None]
    if len({type(value) for value in values}) > 1:
        _refuse(name, "holds values of several types")
    if len(values) > how.max_categories:
        _refuse(name, many)
    return _categorical(name, sorted(values))


def _whole_numbers(name: str, series: nw.Series[Any], how: Inference) -> Domain:
    present = series.drop_nulls()
    if present.n_unique() <= min(FEW, how.max_categories):
        return _categorical(name, sorted(present.unique().to_list()), ordered=True)
    if not how.ranges:
        if max(-int(present.min()), int(present.max())) > _EXACT:
            _refuse(name, "holds whole numbers that are too large")
        return Domain.binned(even_edges(present.cast(nw.Float64).to_numpy(), how.bins))
    try:
        return Domain.integers(present.min(), present.max())
    except InvalidParameterError:  # its message would show the highest number
        _refuse(name, "holds whole numbers that are too large or too far apart for 64 bits")


def _numbers(name: str, series: nw.Series[Any], how: Inference) -> Domain:
    numbers = series.drop_nulls().cast(nw.Float64) + 0.0  # Arrow counts −0.0 and 0.0 as two values
    finite = numbers.filter(numbers.is_finite())
    if finite.is_empty():
        _refuse(name, "holds no number")
    if finite.n_unique() > min(FEW, how.max_categories):
        return Domain.binned(even_edges(finite.to_numpy(), how.bins))
    values = sorted(finite.unique().to_list())
    exact = 2**24 - 1 if series.dtype == nw.Float32 else _EXACT
    if all(value.is_integer() and abs(value) <= exact for value in values):  # 0 and 1 with gaps
        return _categorical(name, [int(value) for value in values], ordered=True)
    return _categorical(name, values, ordered=True)


def even_edges(values: NDArray[np.float64], bins: int) -> tuple[float, ...]:
    """Return round edges equally far apart or, where one bin would hold most people, closer where many are.

    Incomes and debts are so: with bins of one width nearly everybody would be in the first of them, and a
    model could not tell people apart.
    """
    edges = round_edges(float(values.min()), float(values.max()), bins)
    counts = np.histogram(values, edges)[0]
    if counts.max() * len(counts) <= _UNEVEN * len(values):
        return edges
    marks = _marks(values, bins)
    around = np.concatenate([[edges[0]], marks, [edges[-1]]])
    room = np.minimum(np.diff(around)[:-1], np.diff(around)[1:])
    inner = {_rounded(float(mark), float(free)) for mark, free in zip(marks, room, strict=True)}
    return (edges[0], *sorted(edge for edge in inner if edges[0] < edge < edges[-1]), edges[-1])


def _marks(values: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return fewer than `bins` different numbers with about as many people between any two of them.

    A number that many share, as zero is among debts, counts once and the others are parted without it.
    """
    even = np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1])
    found, times = np.unique(even, return_counts=True)
    common = found[times > 1]
    rest = values[~np.isin(values, common)]
    if not len(common) or not len(rest):
        return found
    return np.unique([*common, *np.quantile(rest, np.linspace(0, 1, bins - len(common) + 1)[1:-1])])


def _rounded(mark: float, room: float) -> float:
    """Return a round number near `mark`, so that an edge is not the number of one person.

    >>> _rounded(21973.412, 1800.0), _rounded(7.0, 0.0)
    (22000.0, 7.0)
    """
    return round(mark, -int(np.floor(np.log10(room)))) if room > 0 else mark


def _categorical(name: str, values: list[Any], *, ordered: bool = False) -> Domain:
    """Return a list of values as a domain; zero with a minus is zero."""
    if not values:
        _refuse(name, "holds no value")
    values = list(dict.fromkeys(value + 0.0 if isinstance(value, float) else value for value in values))
    try:
        return Domain.categorical(values, ordered=ordered)
    except InvalidParameterError:
        _refuse(
            name, "holds values that cannot be declared: they must be text, whole numbers or finite numbers"
        )


def has_missing(series: nw.Series[Any]) -> bool:
    """Tell whether a column has missing values, NaN among them."""
    if series.null_count():
        return True
    if series.dtype == nw.Categorical:  # Arrow may keep a missing value among the categories
        return None in series.unique().to_list()
    return series.dtype.is_float() and bool(series.is_nan().any())


def _has_odd_values(series: nw.Series[Any], domain: Domain) -> bool:
    """Tell whether a column has infinite numbers, or texts beside dates."""
    present = series.drop_nulls()
    if domain.band and present.dtype not in _DATED:
        return any(as_date(value, domain.written) is None for value in dict.fromkeys(present.to_list()))
    return series.dtype.is_float() and not bool((present.is_finite() | present.is_nan()).all())


_DECLARE = "declare its domain with Column and Domain, or leave it out with columns=[...]"
_ASK_FOR_ORDER = "and their days and months cannot be told apart ({forms})"
_ORDER = "say the order after the band, such as 10y:dd/mm/yyyy"
_FORM = "say how dates are written after the band, such as 10y:dd.mm.yyyy"


def _refuse(name: str, why: str, hint: str = _DECLARE) -> NoReturn:
    message = f"Column '{name}' {why}. Hint: {hint}."
    raise SchemaError(message, field=f"columns.{name}.domain", why=why) from None


_STEPS = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))


def round_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Return the edges of at most `bins` bins that hold `low` to `high`.

    The width of a bin is 1, 2, 2.5 or 5 times a power of ten, and every edge a multiple of it.
    Computed with rationals, so an edge is 0.3 and never 0.30000000000000004.

    Examples
    --------
    >>> round_edges(0.03, 0.97, 5)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    >>> round_edges(18.5, 18.5, 10)
    (18.0, 20.0)
    """
    first, last = Fraction(low), Fraction(high)
    width = (last - first) / max(bins, 2) or abs(first) / 10 or Fraction(1)
    return next(edges for step in _round_steps(width) if (edges := _edges(first, last, step, bins)))


def _round_steps(width: Fraction) -> Iterator[Fraction]:
    """Yield the round numbers from `width` on, without end."""
    power = (Decimal(width.numerator) / Decimal(width.denominator)).adjusted()
    for exponent in count(power):  # pragma: no branch - it has no end
        for step in _STEPS:
            if step * Fraction(10) ** exponent >= width:
                yield step * Fraction(10) ** exponent


def _edges(first: Fraction, last: Fraction, step: Fraction, bins: int) -> tuple[float, ...]:
    """Return the multiples of `step` around both ends, or nothing if they are too many or too close."""
    start = floor(first / step)
    stop = max(ceil(last / step), start + 1)
    if stop - start > max(bins, 2):  # on both sides of zero there are two bins, however wide
        return ()
    largest = Fraction(sys.float_info.max)
    edges = [float(max(min(number * step, largest), -largest)) for number in range(start, stop + 1)]
    if stop - start > bins:
        edges = [edges[0], edges[-1]]
    apart = all(left < right for left, right in pairwise(edges))
    return tuple(edges) if apart and edges[0] <= first and last <= edges[-1] else ()
