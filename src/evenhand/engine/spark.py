"""Reports from a Spark data frame, drawn by its executors."""

from __future__ import annotations

import gc
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand._validate import kind_of, refuse
from evenhand.collect.protocols.registry import AUTO
from evenhand.engine.cluster.notes import Note
from evenhand.engine.cluster.run import Choices, privatize_frame
from evenhand.engine.report_blocks import ReportPlan
from evenhand.errors import ClusterError, MissingExtraError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.engine.cluster.tasks import Task
    from evenhand.engine.privatize import Privatized
    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.signing.keys import AnyKey
    from evenhand.schema import Schema

_OWNER = "spark.privatize"
_NOTES = pa.schema([("note", pa.string())])

# Nodes of a physical plan that give the same rows in the same order each time, if the files behind them stay.
# What is not among them, such as an exchange, makes the rows be kept first. Were one wrongly among them, the
# digests would show it, and the run would be refused.
_FIXED_NODES = frozenset(
    {"ColumnarToRow", "FileScan", "BatchScan", "Filter", "LocalTableScan", "Project", "Range", "Union"}
)


def privatize(  # noqa: PLR0913 - one keyword for each choice
    df: Any,
    *,
    out: str | os.PathLike[str],
    schema: Schema,
    epsilon: Any,
    protocol: Any = AUTO,
    split: Any = "optimal",
    strategy: str = "independent",
    columns: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    linkable: bool = False,
    keep_order: bool = False,
    overwrite: bool = False,
    materialize: bool | None = None,
    ledger: AnyLedger | None = None,
    purpose: str | None = None,
    sign: AnyKey | None = None,
) -> Privatized:
    r"""Randomise columns of a Spark data frame into a folder of Parquet files.

    This is an action: it runs at once, and returns when the files are there. Every row is one person. Each
    executor draws the reports of its partitions from streams of one secret key, so that a task that Spark
    runs again gives the reports of its first try (:mod:`evenhand.engine.report_blocks`). The output stands in
    one uniform order of all people. Beside it stand ``<out>.schema.toml`` and ``<out>.guarantee.json``.

    The rows are gone through twice: once to refuse what cannot be reported, before anything is drawn or
    charged, and once to draw. Rows that are not the same the second time, in the same order, are refused.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The people. evenhand must be installed where the executors run.
    out : str or path
        The folder to write, which ends with ``.parquet`` or ``.pq``. The driver and all executors must see
        it under this name. While it is written, ``<out>.unfinished`` stands beside it.
    schema, epsilon, protocol, split, strategy, columns, keep, linkable
        As for :func:`evenhand.engine.privatize_file`.
    keep_order : bool, default False
        Whether each partition becomes one file with its rows in their order. The guarantee then lists
        ``"row order"`` as in the clear.
    overwrite : bool, default False
        Whether reports that are there already may be replaced.
    materialize : bool, optional
        Whether the rows are kept in ``<out>.unfinished`` from the check until they are reported. By default
        they are if the frame might give other rows the second time, as after a join or a shuffle. They are
        true values: the folder can be read by its owner only, and goes with the end of the run.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, once, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names is charged, if there is one.
    purpose : str, optional
        What the ledger is told, before the name of the run; the columns if left out.
    sign : SigningKey, str or path, optional
        The key that signs the guarantee, or its file.

    Returns
    -------
    Privatized
        The record with its guarantee. ``charge`` of a run that was resumed is that of its first start.

    Raises
    ------
    OutsideDomainError
        If a value is outside its domain, or missing, and the rule says ``"error"``.
    OtherRowsError
        If a partition has other rows than when it was checked, or the same in another order.
    ClusterError
        If Spark could not do the work. After the charge, the same call goes on where it stopped.
    """
    refuse_missing_package()
    engine = _Spark(df)
    plan = ReportPlan.make(
        engine.columns,
        schema=schema,
        epsilon=epsilon,
        protocol=protocol,
        split=split,
        strategy=strategy,
        columns=columns,
        keep=keep,
        owner=_OWNER,
    )
    engine.select(plan.given.names)
    choices = Choices(out, keep_order, overwrite, materialize, ledger, purpose, _OWNER, sign, linkable)
    return privatize_frame(engine, plan, choices)


def refuse_missing_package() -> None:
    """Refuse to go on without pyspark."""
    try:
        import pyspark  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtraError("pyspark", feature="evenhand.engine.spark", extra="spark") from None


class _Spark:
    """Tasks on the executors of a Spark session."""

    name = "Spark"

    def __init__(self, df: Any) -> None:
        from pyspark.sql import DataFrame  # noqa: PLC0415

        if not isinstance(df, DataFrame):
            refuse("df", _OWNER, "a pyspark.sql.DataFrame", kind_of(df))
        self._df = df

    @property
    def columns(self) -> pa.Schema:
        """The columns of the frame, with the types that executors hand over."""
        from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415

        twice = [name for name in self._df.columns if self._df.columns.count(name) > 1]
        if twice:
            refuse("df", _OWNER, "a frame whose columns have different names", f"two columns '{twice[0]}'")
        return to_arrow_schema(self._df.schema, timezone="UTC")

    def select(self, names: Sequence[str]) -> None:
        """Leave the other columns where they are; on the way names are numbers, for Spark takes not all."""
        chosen = self._df.select([f"`{name.replace('`', '``')}`" for name in names])
        self._df = chosen.toDF(*(f"c{place}" for place in range(len(names))))

    @property
    def is_reproducible(self) -> bool:
        """Whether the plan has only nodes that give the same rows in the same order each time."""
        try:
            execution = self._df._jdf.queryExecution()  # noqa: SLF001 - there is no public way
            nodes = execution.executedPlan().toString()
            is_fixed = bool(execution.optimizedPlan().deterministic())
        except Exception:  # noqa: BLE001 - a session far away has no plan to look at
            return False
        heads = [re.match(r"[\s:+\-*()\d]*([A-Za-z]*)", line) for line in nodes.splitlines() if line.strip()]
        return is_fixed and all(head is not None and head[1] in _FIXED_NODES for head in heads)

    def map_partitions(self, task: Task) -> list[Note]:
        """Run a task for each partition of the frame."""
        return self._collect(self._df, _OnPartition(task))

    def map_numbers(self, task: Task, numbers: Sequence[int]) -> list[Note]:
        """Run a task for each number."""
        places = self._df.sparkSession.range(0, len(numbers), 1, len(numbers))
        return self._collect(places, _OnNumbers(task, tuple(numbers)))

    def _collect(self, df: Any, function: Callable[..., Any]) -> list[Note]:
        try:
            rows = df.mapInArrow(function, "note string").collect()
        except Exception as error:  # noqa: BLE001 - Spark's words may hold values
            raise ClusterError(_explain(error)) from None
        return [Note.from_json(row["note"]) for row in rows]


def _explain(error: Exception) -> str:
    """Return why Spark stopped, in our own words: its message may hold values of the rows."""
    text = str(error)
    if "No module named 'evenhand" in text:
        return "A Spark executor has no evenhand. Hint: pip install evenhand where the executors run."
    known = re.search(r"A (worker has|task failed with) [^\n]*", text)
    if known:
        return f"Spark stopped. {known[0]}"
    condition = getattr(error, "getCondition", lambda: None)()
    kind = condition or type(error).__name__
    return f"Spark stopped with {kind}."


class _OnPartition:
    """What ``mapInArrow`` calls for a partition."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext  # noqa: PLC0415

        _freeze_modules(len(sys.modules))
        context: Any = TaskContext.get()
        names = self._task.plan.given.names
        own = (batch.rename_columns(names) for batch in batches)
        yield _as_row(self._task.run(context.partitionId(), own))


class _OnNumbers:
    """What ``mapInArrow`` calls for a range of places in a list of numbers."""

    def __init__(self, task: Task, numbers: tuple[int, ...]) -> None:
        self._task, self._numbers = task, numbers

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _freeze_modules(len(sys.modules))
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield _as_row(self._task.run(self._numbers[place]))


@cache
def _freeze_modules(count: int) -> None:  # noqa: ARG001 - once for each number of modules
    """Leave out what has been imported from all later garbage collections.

    Spark's Python worker collects garbage after every task and goes through all modules for it: Arrow, pandas
    and numba take it longer than a partition without rows. A task calls this before it has rows.
    """
    gc.collect()
    gc.freeze()


def _as_row(note: Note) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([note.to_json()])], schema=_NOTES)
