"""Whether one person seems to have several rows: a column whose values repeat while others stay the same.

A panel has the same people in several years. Their number repeats, and what a person is, such as sex or year
of birth, stays the same within it. What is promised for one row is then not promised for one person.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.errors import LimitExceededError, UnreadableFileError
from evenhand.table.frames import eager_frame
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.read import open_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from evenhand.table import FileFormat

    Codes = npt.NDArray[np.int64]

_FEWEST_PEOPLE = 20  # with several rows: fewer may stay the same by chance
_LEAST_REPEATS = 1.5
_MOST_REPEATS = 400
_EVEN = 0.9  # of the people have as many rows as most
_SAME = 0.99  # of the people have one value, if a column stays the same; the rest are slips of the pen
_VARIES = 0.9
_BY_CHANCE = 0.9  # of pairs of rows that agree in a column: whether it stays the same cannot be told
_MOST_COLUMNS = 200
_NOTICED_ROWS = 1 << 15
_NUMBERED = frozenset({
    "id", "nr", "pid", "uid", "idcode", "caseid", "pidnum", "seqn", "ident", "identifier", "person",
    "personid", "subject",
})  # fmt: skip
_TIMES = frozenset({"age", "year", "quarter", "month", "week", "day", "date", "time", "wave", "period"})
_PERSONAL = frozenset({
    "sex", "gender", "female", "male", "race", "black", "white", "hisp", "hispanic", "ethnicity", "ethnic",
    "birth", "born", "birthdate", "birthyear", "dob", "yob", "nationality", "native", "age",
})  # fmt: skip


@dataclass(frozen=True)
class RepeatedPeople:
    """A column that seems to say whose row it is, with several rows for a person.

    Parameters
    ----------
    column : str
    rows_each : float
        How many rows each value has on average.
    is_even : bool
        Whether nearly all have the same number.
    constant : tuple of str
        Columns that stay the same within each value.
    """

    column: str
    rows_each: float
    is_even: bool
    constant: tuple[str, ...]


def find_repeated_people(rows: pa.Table) -> RepeatedPeople | None:
    """Return the column that seems to say which rows are of one person; None if there is none.

    Its values repeat, and at least one other column stays the same within each of them, and another does not.
    No column that tells what a person is, such as sex, may vary within it: a state, a household or a school
    has several people. Where values do not repeat evenly, such a column must stay the same, or the name must
    be that of a number of people.

    Examples
    --------
    >>> rows = pa.table({
    ...     "nr": [place // 4 for place in range(120)],
    ...     "sex": ["fm"[place // 4 % 2] for place in range(120)],
    ...     "wage": [place * 7 % 31 for place in range(120)],
    ... })
    >>> find_repeated_people(rows)
    RepeatedPeople(column='nr', rows_each=4.0, is_even=True, constant=('sex',))
    """
    if rows.num_columns > _MOST_COLUMNS:
        rows = rows.select(rows.column_names[:_MOST_COLUMNS])
    codes = {name: _encode(rows.column(name)) for name in rows.column_names}
    found = [each for name in codes for each in _look_at(name, rows.column(name).type, codes)]
    ranked = sorted(found, key=lambda each: (not is_numbered(each.column), -len(each.constant)))
    return ranked[0] if ranked else None


def notice_people_in_file(
    path: Any, *, file_format: FileFormat | None = None, **file_options: Any
) -> str | None:
    """Return the column whose values seem to be people with several rows, as far as the first rows tell.

    A file with a row or a column that cannot be read, and may be left out, tells nothing.
    """
    if file_format is not None:
        file_format = replace(file_format, broken_rows=None)
    file_options["file_format"] = file_format
    try:
        options: Any = {"limits": STREAM_LIMITS, "batch_rows": _NOTICED_ROWS} | file_options
        with open_batches(path, **options) as batches:
            first = next(iter(batches), None)
    except (UnreadableFileError, LimitExceededError):
        return None
    return None if first is None else _column_of(find_repeated_people(pa.Table.from_batches([first])))


def notice_people_in_frame(frame: Any, *, owner: str) -> str | None:
    """Return what :func:`notice_people_in_file` does, of a frame; a column of mixed types tells nothing."""
    first = eager_frame(frame, owner=owner, parameter="df").head(_NOTICED_ROWS)
    columns: dict[str, Any] = {}
    for name in first.columns[:_MOST_COLUMNS]:
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            columns[str(name)] = first.get_column(name).to_arrow()
    return _column_of(find_repeated_people(pa.table(columns)))


def _column_of(found: RepeatedPeople | None) -> str | None:
    return None if found is None else found.column


def _look_at(name: str, kind: pa.DataType, codes: dict[str, Codes]) -> Iterator[RepeatedPeople]:
    """Yield what a column seems to be, if it seems to say whose row it is."""
    own = codes[name]
    if _tokens(name) & _TIMES and not is_numbered(name):  # within which whole panels stay the same
        return
    if pa.types.is_floating(kind) or pa.types.is_boolean(kind) or len(own) == 0 or own.min() < 0:
        return
    counts = np.bincount(own)
    several = int(np.count_nonzero(counts > 1))
    rows_each = len(own) / len(counts)
    if several < _FEWEST_PEOPLE or not _LEAST_REPEATS <= rows_each <= _MOST_REPEATS:
        return
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    is_next = ordered[1:] == ordered[:-1]

    def measure(names: Iterable[str]) -> dict[str, float]:
        return {other: _share_constant(codes[other][order], is_next, ordered, several) for other in names}

    others = [other for other in codes if other != name and codes[other].max(initial=-1) > 0]
    is_even = bool(np.mean(counts == np.bincount(counts).argmax()) >= _EVEN)
    shares = measure(other for other in others if _tokens(other) & _PERSONAL)  # first: most end here
    if any(share < _VARIES and "age" not in _tokens(other) for other, share in shares.items()):
        return
    if not (is_even or is_numbered(name) or any(_stays(codes[other], shares[other]) for other in shares)):
        return
    shares |= measure(other for other in others if other not in shares)
    constant = tuple(other for other in others if _stays(codes[other], shares[other]))
    if constant and min(shares.values()) < _VARIES:
        yield RepeatedPeople(name, round(rows_each, 1), is_even, constant)


def _share_constant(values: Codes, is_next: Any, ordered: Codes, several: int) -> float:
    """Return the share of people with several rows, now side by side, who have one value in all of them."""
    changing = ordered[1:][is_next & (values[1:] != values[:-1])]
    return 1 - (np.count_nonzero(np.diff(changing)) + int(len(changing) > 0)) / several


def _stays(values: Codes, share: float) -> bool:
    """Whether a column stays the same within nearly all people, and not because it does nearly everywhere."""
    return share >= _SAME and not _agrees(values)


def _agrees(values: Codes) -> bool:
    """Whether nearly all pairs of rows agree in a column."""
    shares = np.bincount(values + 1) / len(values)
    return float(np.dot(shares, shares)) > _BY_CHANCE


def _encode(column: Any) -> Codes:
    """Return a code for each value, -1 where it is missing."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], column.type)
    try:
        encoded = whole if pa.types.is_dictionary(whole.type) else pc.dictionary_encode(whole)
    except pa.ArrowException:  # lists and the like
        return np.zeros(len(whole), np.int64)
    codes: Codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    if pa.types.is_dictionary(whole.type):  # not every value of the list need be there
        codes = np.unique(codes, return_inverse=True)[1] - int(bool((codes < 0).any()))
    return codes


def is_numbered(name: str) -> bool:
    """Return whether a column is named like a number of people or rows."""
    return bool(_tokens(name) & _NUMBERED)


def _tokens(name: str) -> frozenset[str]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))
