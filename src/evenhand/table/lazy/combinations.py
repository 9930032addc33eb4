"""One ``group_by`` in the engine of a lazy frame: combinations of values, and how many rows have each.

An engine may compare names and texts in other ways than we do: ``"a"`` and ``"A"`` are one name to a
database, and one text where a column has such a collation. That is undone or refused here. What an engine
says when it fails may quote a row, so nothing of it is shown.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from evenhand.errors import (
    ColumnNotFoundError,
    EngineError,
    InvalidParameterError,
    LimitExceededError,
    MissingExtraError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

MOST_KNOWN = 50_000_000
"""Up to so many combinations are fetched where it is known beforehand that there are no more."""

MOST_COMBINATIONS = 1 << 24
"""Where only the rows tell how many combinations there are, more than these are not fetched."""

MOST_COUNT = 2**63 - 1
"""A larger count does not fit 64 bits."""

_COUNT = "n"
_TITLES = {"polars": "Polars", "dask": "Dask", "duckdb": "DuckDB", "ibis": "Ibis"}
_IGNORES_CASE = {"duckdb", "ibis", "pyspark", "pyspark[connect]", "sqlframe"}
_EXACT_TEXT = "UTF8_BINARY"
_COLLECT: dict[str, dict[str, Any]] = {
    "polars": {"engine": "streaming"}
}  # so that a long file is never in memory whole


class Counted(NamedTuple):
    """Combinations of values that occur, each in one row or few, and how many rows of the frame have each."""

    values: nw.DataFrame[Any]
    counts: NDArray[np.int64]


def lazy_frame(frame: Any) -> nw.LazyFrame[Any] | None:
    """Return a lazy frame of any engine behind one interface; None for anything else.

    >>> import polars as pl
    >>> lazy_frame(pl.LazyFrame({"sex": ["f"]})).columns
    ['sex']
    >>> lazy_frame(pl.DataFrame({"sex": ["f"]})) is None
    True
    """
    try:
        given = nw.from_native(frame, pass_through=True)
    except DuplicateError:  # an eager frame, which is refused where it is read
        return None
    return given if isinstance(given, nw.LazyFrame) else None


def engine_title(frame: nw.LazyFrame[Any]) -> str:
    """Return what people call the engine of a frame.

    >>> import polars as pl
    >>> engine_title(lazy_frame(pl.LazyFrame()))
    'Polars'
    """
    name = frame.implementation.value
    return _TITLES.get(name, "Spark" if name.startswith("pyspark") else name)


def find_types(frame: nw.LazyFrame[Any], names: Iterable[str], *, owner: str) -> dict[str, Any]:
    """Return the type of each of these columns; refuse a column that is not there or not the only one.

    No row is looked at.
    """
    known, types = run_in_engine(frame, names, lambda: (frame.columns, dict(frame.collect_schema())))
    folded = [str(name).casefold() for name in known]
    unsure = folded if frame.implementation.value in _IGNORES_CASE else known
    for name in names:
        if name not in types:
            raise ColumnNotFoundError(name, map(str, known), place="in the frame")
        if unsure.count(name.casefold() if unsure is folded else name) > 1:
            must_be = "a frame whose columns have distinct names"
            if unsure is folded:
                must_be += f", which {engine_title(frame)} does not tell apart by case"
            got = "the same name twice"
            raise InvalidParameterError("frame", owner=owner, must_be=must_be, got=got)
    chosen = {name: types[name] for name in names}
    _refuse_collations(frame, chosen, owner=owner)
    return chosen


def holds_objects(frame: nw.LazyFrame[Any], name: str) -> bool:
    """Tell whether a column has no other type than "Python objects", as one of Dask may have."""
    return bool(frame.implementation.is_dask() and frame.to_native().dtypes[name] == np.dtype(object))


def refuse_objects(name: str, *, owner: str) -> NoReturn:
    """Refuse a column of Python objects, among which ``1``, ``1.0`` and ``True`` are one key of a group."""
    must_be = f"a frame whose column '{name}' has a type of its own"
    hint = "convert it with astype, or collect the frame first with .compute()."
    got = "a column of Python objects"
    raise InvalidParameterError("frame", owner=owner, must_be=must_be, got=got, hint=hint)


def moves_time_zones(frame: nw.LazyFrame[Any]) -> bool:
    """Tell whether the engine may take the date of a time stamp in another time zone than the column's.

    Ibis leaves it to the session of the database, and sends back time stamps in the zone of the column.
    """
    return bool(frame.implementation.is_ibis())


def count_combinations(
    frame: nw.LazyFrame[Any], keys: Mapping[str, nw.Expr], columns: Iterable[str], *, most: float = math.inf
) -> Counted:
    """Count the rows of each combination of keys, in the engine; the frame is run once.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        The rows.
    keys : mapping of str to narwhals.Expr
        What is counted, by the names of the result, which are plain words other than "n".
    columns : iterable of str
        The columns of the frame that the keys are made of, for messages.
    most : float
        How many combinations there can be whatever the rows hold.

    Examples
    --------
    >>> import polars as pl
    >>> people = lazy_frame(pl.LazyFrame({"sex": ["f", "m", "f"]}))
    >>> counted = count_combinations(people, {"who": nw.col("sex")}, ["sex"])
    >>> sorted(zip(counted.values["who"].to_list(), counted.counts.tolist()))
    [('f', 2), ('m', 1)]
    """
    limit = int(most) if most <= MOST_KNOWN else MOST_COMBINATIONS

    def fetch() -> nw.DataFrame[Any]:
        chosen = frame.select(**keys, **{_COUNT: nw.lit(1).cast(nw.Int64)})
        exact = _compare_texts_exactly(chosen)
        grouped = exact.group_by(*(name for name in exact.columns if name != _COUNT))
        answer = grouped.agg(nw.col(_COUNT).sum()).head(limit + 1)
        return answer.collect(**_COLLECT.get(frame.implementation.value, {}))

    answer = run_in_engine(frame, columns, fetch)
    if len(answer) > limit:
        raise LimitExceededError(
            f"The columns {', '.join(columns)} hold more than {limit:,} different combinations of values, "
            f"too many to fetch from {engine_title(frame)}. Hint: count fewer columns, cast decimals and "
            "texts in the engine to numbers or dates, which it puts into bins, or collect the frame.",
            limit="MOST_COMBINATIONS",
        )
    return Counted(answer, read_counts(answer.get_column(_COUNT)))


def run_in_engine(frame: nw.LazyFrame[Any], columns: Iterable[str], work: Callable[[], Any]) -> Any:
    """Return what `work` returns; nothing of what the engine says when it fails is shown."""
    missing = failed = None
    try:
        return work()
    except ImportError as error:
        missing = error.name or "pyarrow"
    except Exception as error:  # noqa: BLE001 - every engine has errors of its own
        failed = type(error).__name__
    if missing is not None:  # raised out here, so that no traceback shows the cause
        raise MissingExtraError(missing, feature=f"Counting a frame of {engine_title(frame)}")
    raise EngineError(
        f"{engine_title(frame)} could not count the columns {', '.join(columns)}: it raised {failed}, whose "
        "message may quote rows and is not shown. Hint: run the query of the frame by itself to see it, or "
        "collect the frame first.",
        engine=engine_title(frame),
    )


def read_counts(sent: nw.Series[Any]) -> NDArray[np.int64]:
    """Return whole numbers as an engine sends them, some as decimals; refuse those that do not fit 64 bits.

    >>> import polars as pl
    >>> sent = nw.from_native(pl.Series([Decimal(3), Decimal(2**53 + 1)]), series_only=True)
    >>> read_counts(sent).tolist()
    [3, 9007199254740993]
    """
    whole = sent.dtype.is_integer()
    counts = (
        sent.to_numpy() if whole else np.array([_whole_number(count) for count in sent.to_list()], object)
    )
    largest = max(map(int, (counts.max(initial=0), -counts.min(initial=0))))
    if largest * len(counts) > MOST_COUNT and sum(counts.tolist()) > MOST_COUNT:
        raise LimitExceededError("The counts of the frame do not fit 64 bits.", limit="counts")
    return counts.astype(np.int64)


def _whole_number(count: Any) -> int:
    if not isinstance(count, Decimal) or count != count.to_integral_value():
        raise LimitExceededError("The engine counts in numbers that are not exact.", limit="counts")
    return int(count)


def _compare_texts_exactly(keys: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the keys, perhaps with more of them, so that only texts of the same characters are equal."""
    native, engine = keys.to_native(), keys.implementation.value
    texts = [name for name, dtype in keys.collect_schema().items() if dtype == nw.String]
    if engine == "duckdb" and texts:
        binary = {name: f'CAST({name} AS VARCHAR) COLLATE "binary" AS {name}' for name in texts}
        native = native.project(", ".join(binary.get(name, name) for name in keys.columns))
    elif engine == "ibis" and texts:
        native = native.mutate(**{f"hash_of_{name}": native[name].hash() for name in texts})
    exact: nw.LazyFrame[Any] = nw.from_native(native)
    return exact


def _refuse_collations(frame: nw.LazyFrame[Any], types: Mapping[str, Any], *, owner: str) -> None:
    """Refuse columns of Spark in which different texts are equal."""
    if not frame.implementation.is_spark_like():
        return
    fields = {field.name: field.dataType for field in frame.to_native().schema.fields}
    for name in types:
        if getattr(fields[name], "collation", _EXACT_TEXT) != _EXACT_TEXT:
            must_be = f"a frame whose column '{name}' has the collation {_EXACT_TEXT}"
            hint = f"count collate({name}, '{_EXACT_TEXT}') in its place."
            raise InvalidParameterError("frame", owner=owner, must_be=must_be, got="another one", hint=hint)
