"""A draft of each column, read from the rows: its domain, or the reason why it cannot be used."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.report.language import language_now
from evenhand.schema.infer import FEW, MOST_TEXTS, Inference, has_missing, inferred, why_no_categories
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from evenhand.schema import Column
    from evenhand.schema.column import Rule

Part = Literal["target", "protected", "sensitive", "clear"]
"""What a column is for, which decides how fine its domain is."""

_BINS = {"target": 10, "protected": 10, "sensitive": 10, "clear": 50}
_FEWEST_ROWS_OF_AN_ID = 30
_LARGEST = 2**53
_MOSTLY = 0.5
_NUMBER = re.compile(r"[-+]?\d[\d.,' ]*(e[-+]?\d+)?", re.IGNORECASE)


def say(key: str, /, **slots: Any) -> str:
    """Return a sentence on rows and columns that were read, in the language that is being written."""
    return words_in(language_now(), "evenhand.study.intake").say(key, **slots)


@dataclass(frozen=True)
class Draft:
    """Hold what became of a column: it, or why it cannot be used, as the end of "left out: it ...".

    Also whether it has missing values, and whether numbers were put into bins.
    """

    column: Column | None
    why_not: str = ""
    missing: bool = False
    binned: bool = False


def draft_column(
    frame: nw.DataFrame[Any], name: str, part: Part, *, bins_only: bool = False, band: str = ""
) -> Draft:
    """Return the draft of one column.

    With `bins_only` numbers in the clear need bins too, because each value would become a feature. A `band`
    says how wide those of its dates or numbers are, as in :meth:`evenhand.schema.Schema.infer`.

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
    missing = has_missing(series)
    present = series.drop_nulls()
    distinct = int(present.n_unique()) if len(present) else 0
    dates = _why_banded(present) if distinct > 1 else ""
    why_not = "" if band else dates or _why_not(present, distinct, part, missing=missing)
    if why_not:
        return Draft(None, why_not, missing)
    nulls: Rule | None = "drop" if missing and part == "target" else None
    ranges = part == "clear" and not bins_only
    how = Inference(MOST_TEXTS[part], _BINS[part], nulls=nulls, ranges=ranges, band=band)
    try:
        column = replace(inferred(frame, [name], lambda _: how)[0][0], inferred=True)
    except SchemaError as error:
        return Draft(None, error.why, missing)
    except InvalidParameterError as error:  # such as an empty name
        return Draft(None, f"has a {error.parameter} that must be {error.must_be}", missing)
    if column.domain.size == 1 and part != "clear":
        return Draft(None, "falls into one band only", missing)
    return Draft(column, "", missing, column.domain.kind == "binned" and not band)


def _why_banded(present: nw.Series[Any]) -> str:
    """Return what to do about a column of dates, which has no categories; nothing for another column."""
    dates, band = why_no_categories(present)
    todo = (
        f"band them: --band {shlex.quote(f'{present.name}={band}')}"
        if band
        else "write years with four digits"
    )
    return f"{dates}; {todo}" if dates else ""


def _why_not(present: nw.Series[Any], distinct: int, part: Part, *, missing: bool) -> str:
    """Return the reason why a column is of no use; nothing if it may be."""
    named = part != "clear"
    if not distinct:
        return say("why.no_value")
    if distinct == 1 and (named or not missing):
        return say("why.one_value")
    if not named and _is_identifier(present, distinct):
        return say("why.identifier")
    if present.dtype.is_integer() and max(-int(present.min()), int(present.max())) > _LARGEST:
        return say("why.too_large")
    most = MOST_TEXTS[part]
    most = most if named else min(most, max(FEW, len(present) // 2))  # in a small file fewer are categories
    if present.dtype in {nw.String, nw.Categorical} and distinct > most:
        return say("why.numbers" if _are_mostly_numbers(present) else "why.texts")
    return ""


def _are_mostly_numbers(texts: nw.Series[Any]) -> bool:
    """Tell whether most of the first texts are numbers as some people write them: 1.234,56 or 12."""
    some = [str(each).strip() for each in texts.head(1_000).to_list()]
    return sum(bool(_NUMBER.fullmatch(each)) for each in some) > _MOSTLY * len(some)


def _is_identifier(present: nw.Series[Any], distinct: int) -> bool:
    """Tell whether whole numbers are all different and close together, as row numbers are."""
    if not present.dtype.is_integer() or len(present) < _FEWEST_ROWS_OF_AN_ID or distinct < len(present):
        return False
    return bool(int(present.max()) - int(present.min()) < 3 * distinct)
