"""A draft of each column, read from the rows: its domain, or the reason why it cannot be used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np

from evenhand.errors import EvenhandError, SchemaError
from evenhand.schema import Column, Domain
from evenhand.schema.infer import Inference, inferred, round_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.schema.column import Rule

__all__ = ["Draft", "Part", "draft_column"]

Part = Literal["target", "protected", "sensitive", "clear"]
"""What a column is for, which decides how fine its domain is."""

FEW = 20
_MOST_TEXTS = {"target": 1_000, "protected": 1_000, "sensitive": 1_000, "clear": 100}
_MOST_NUMBERS = 100
_BINS = {"target": 10, "protected": 10, "sensitive": 10, "clear": 50}
_FEWEST_ROWS_OF_AN_ID = 30
_LARGEST = 2**53
_UNEVEN = 5
_MOSTLY = 0.5
_NUMBER = re.compile(r"[-+]?\d[\d.,' ]*(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Draft:
    """What became of a column.

    Parameters
    ----------
    column : Column, optional
        None if it cannot be used.
    why_not : str
        The reason, as the end of "left out: it ...".
    missing, binned : bool
        Whether it has missing values, and whether numbers were put into bins.
    """

    column: Column | None
    why_not: str = ""
    missing: bool = False
    binned: bool = False


def draft_column(frame: nw.DataFrame[Any], name: str, part: Part, *, bins_only: bool = False) -> Draft:
    """Return the draft of one column.

    Parameters
    ----------
    frame : narwhals frame
    name : str
    part : {"target", "protected", "sensitive", "clear"}
    bins_only : bool
        Whether numbers in the clear need bins too, because each value would become a feature.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = nw.from_native(pa.table({"id": list(range(40)), "sex": ["f", "m"] * 20}), eager_only=True)
    >>> draft_column(people, "sex", "protected").column.domain
    Domain.categorical(['f', 'm'])
    >>> draft_column(people, "id", "clear").why_not
    'numbers the rows, as identifiers do'
    """
    series = frame.get_column(name)
    missing = _has_missing(series)
    present = series.drop_nulls()
    distinct = int(present.n_unique()) if len(present) else 0
    why_not = _why_not(present, distinct, part, missing=missing)
    if why_not:
        return Draft(None, why_not, missing)
    try:
        domain, binned, outside = _domain(frame, name, part, present, distinct, bins_only=bins_only)
    except EvenhandError as error:
        return Draft(None, _reason(str(error), name), missing)
    except Exception:  # noqa: BLE001 - whatever a library says about a column may hold a value of it
        return Draft(None, "holds values that cannot be compared", missing)
    nulls: Rule = ("drop" if part == "target" else "other") if missing else "error"
    column = Column(name, domain, outside=outside, nulls=nulls, inferred=True)
    return Draft(column, "", missing, binned)


def _why_not(present: nw.Series[Any], distinct: int, part: Part, *, missing: bool) -> str:
    """Return the reason why a column is of no use; nothing if it may be."""
    named = part != "clear"
    if not distinct:
        return "holds no value"
    if distinct == 1 and (named or not missing):
        return "holds one value only"
    if not named and _is_identifier(present, distinct):
        return "numbers the rows, as identifiers do"
    if _is_text(present) and distinct > _most_texts(part, len(present)):
        if _are_mostly_numbers(present):
            return "holds numbers beside other texts, or numbers with decimal commas"
        return "holds too many different texts, as names and free text do"
    return ""


def _domain(
    frame: nw.DataFrame[Any],
    name: str,
    part: Part,
    present: nw.Series[Any],
    distinct: int,
    *,
    bins_only: bool,
) -> tuple[Domain, bool, Rule]:
    """Return the domain, whether it has bins, and the rule for what is outside it."""
    if not present.dtype.is_numeric():
        how = Inference(_MOST_TEXTS[part], _BINS[part], "error", None)
        return inferred(frame, [name], how)[0][0].domain, False, "error"
    if present.dtype.is_integer():
        domain = _whole(name, part, present, distinct, bins_only=bins_only)
        return domain, domain.kind == "binned", "error"
    numbers = present.cast(nw.Float64)
    finite = numbers.filter(numbers.is_finite())
    if finite.is_empty():
        raise SchemaError(f"Column '{name}' holds no number.", field=name)
    outside: Rule = "other" if len(finite) < len(numbers) - int(numbers.is_nan().sum()) else "error"
    if distinct <= FEW:
        return Domain.categorical(sorted(finite.unique().to_list()), ordered=True), False, outside
    return Domain.binned(_edges(finite, _BINS[part])), True, outside


def _whole(name: str, part: Part, present: nw.Series[Any], distinct: int, *, bins_only: bool) -> Domain:
    """Return the domain of whole numbers: a list if they are few, the range if that is of use, or bins."""
    low, high = int(present.min()), int(present.max())
    if max(-low, high) > _LARGEST:
        raise SchemaError(f"Column '{name}' holds whole numbers that are too large.", field=name)
    if distinct <= FEW:
        return Domain.categorical(sorted(present.unique().to_list()), ordered=True)
    if (part == "clear" and not bins_only) or (part == "sensitive" and high - low < _MOST_NUMBERS):
        return Domain.integers(low, high)
    return Domain.binned(_edges(present.cast(nw.Float64), _BINS[part]))


def _edges(numbers: nw.Series[Any], bins: int) -> tuple[float, ...]:
    """Return round edges equally far apart or, where one bin would hold most people, closer where many are.

    Incomes and debts are so: with bins of one width nearly everybody would be in the first of them, and a
    model could not tell people apart.
    """
    edges = round_edges(float(numbers.min()), float(numbers.max()), bins)
    values = numbers.to_numpy()
    counts = np.histogram(values, edges)[0]
    if counts.max() * len(counts) <= _UNEVEN * len(values):
        return edges
    marks = _marks(values, bins)
    around = np.concatenate([[edges[0]], marks, [edges[-1]]])
    room = np.minimum(np.diff(around)[:-1], np.diff(around)[1:])
    inner = {_rounded(float(mark), float(free)) for mark, free in zip(marks, room, strict=True)}
    return (edges[0], *sorted(each for each in inner if edges[0] < each < edges[-1]), edges[-1])


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


def _are_mostly_numbers(texts: nw.Series[Any]) -> bool:
    """Tell whether most of the first texts are numbers as some people write them: 1.234,56 or 12."""
    some = [str(each).strip() for each in texts.head(1_000).to_list()]
    return sum(bool(_NUMBER.fullmatch(each)) for each in some) > _MOSTLY * len(some)


def _is_text(series: nw.Series[Any]) -> bool:
    return series.dtype in {nw.String, nw.Categorical}


def _most_texts(part: Part, rows: int) -> int:
    """Return how many texts still look like categories; in a small file fewer do."""
    most = _MOST_TEXTS[part]
    return min(most, max(FEW, rows // 2)) if part == "clear" else most


def _is_identifier(present: nw.Series[Any], distinct: int) -> bool:
    """Tell whether whole numbers are all different and close together, as row numbers are."""
    if not present.dtype.is_integer() or len(present) < _FEWEST_ROWS_OF_AN_ID or distinct < len(present):
        return False
    return bool(int(present.max()) - int(present.min()) < 3 * distinct)


def _has_missing(series: nw.Series[Any]) -> bool:
    return bool(series.null_count()) or (series.dtype.is_float() and bool(series.is_nan().any()))


def _reason(message: str, name: str) -> str:
    """Return what is wrong with a column from the message that refuses it."""
    return message.split(". Hint:", maxsplit=1)[0].removeprefix(f"Column '{name}' ").rstrip(".")
