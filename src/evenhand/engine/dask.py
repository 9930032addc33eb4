"""Reports from a Dask data frame, drawn by its workers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand._validate import kind_of, refuse
from evenhand.collect.protocols.registry import AUTO
from evenhand.engine.cluster.run import Choices, privatize_frame
from evenhand.engine.report_blocks import ReportPlan
from evenhand.errors import ClusterError, MissingExtraError, OutsideDomainError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from evenhand.engine.cluster.notes import Note
    from evenhand.engine.cluster.tasks import Task
    from evenhand.engine.privatize import Privatized
    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.signing.keys import AnyKey
    from evenhand.schema import Schema

_OWNER = "dask.privatize"
_TYPES = {str: pa.large_string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def privatize(  # noqa: PLR0913 - one keyword for each choice
    ddf: Any,
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
    r"""Randomise columns of a Dask data frame into a folder of Parquet files.

    This is an action: it runs at once, on the cluster of the current client or, without one, in threads of
    this process. Every row is one person. Each worker draws the reports of its partitions from streams of one
    secret key, so that a task that Dask runs again gives the reports of its first try
    (:mod:`evenhand.engine.report_blocks`). The output stands in one uniform order of all people. Beside it
    stand ``<out>.schema.toml`` and ``<out>.guarantee.json``. The index of the frame is left out.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
        The people. evenhand must be installed on the scheduler and all workers.
    out : str or path
        The folder to write, which ends with ``.parquet`` or ``.pq``. The client and all workers must see it
        under this name. While it is written, ``<out>.unfinished`` stands beside it.
    materialize : bool, optional
        Whether the rows are kept in ``<out>.unfinished`` from the check until they are reported. Dask does
        not say whether a partition would be the same the second time, so by default they are. They are true
        values: the folder can be read by its owner only, and goes with the end of the run. False computes
        the partitions twice, and refuses those that differ.
    schema, epsilon, protocol, split, strategy, columns, keep, linkable
        As for :func:`evenhand.engine.privatize_file`.
    keep_order, overwrite, ledger, purpose, sign
        As for :func:`evenhand.engine.spark.privatize`.

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
        If Dask could not do the work. After the charge, the same call goes on where it stopped.
    """
    engine = _Dask(ddf)
    plan = ReportPlan.make(
        engine.find_columns(schema),
        schema=schema,
        epsilon=epsilon,
        protocol=protocol,
        split=split,
        strategy=strategy,
        columns=columns,
        keep=keep,
        owner=_OWNER,
    )
    engine.select(plan.given)
    choices = Choices(out, keep_order, overwrite, materialize, ledger, purpose, _OWNER, sign, linkable)
    return privatize_frame(engine, plan, choices)


class _Dask:
    """Tasks on the workers of a Dask cluster."""

    name = "Dask"
    is_reproducible = False  # Dask does not say

    def __init__(self, ddf: Any) -> None:
        try:
            import dask  # noqa: PLC0415
            import dask.dataframe as dd  # noqa: PLC0415
        except ImportError:
            raise MissingExtraError("dask", feature="evenhand.engine.dask", extra="dask") from None
        if not isinstance(ddf, dd.DataFrame):
            refuse("ddf", _OWNER, "a dask.dataframe.DataFrame", kind_of(ddf))
        self._dask: Any = dask
        self._ddf: Any = ddf

    def find_columns(self, schema: Schema) -> pa.Schema:
        """Return the columns of the frame; those of Python objects have the declared type, or text."""
        meta = self._ddf._meta  # noqa: SLF001 - there is no public way
        names = list(meta.columns)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            refuse("ddf", _OWNER, "a frame whose columns have different names, all texts", "other names")
        fields = []
        for name in names:
            declared = schema[name].domain.value_type if name in getattr(schema, "names", ()) else str
            kind = pa.Array.from_pandas(meta[name]).type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            fields.append(
                pa.field(name, _TYPES.get(declared, pa.date32()) if pa.types.is_null(kind) else kind)
            )
        return pa.schema(fields)

    def select(self, given: pa.Schema) -> None:
        """Leave the other columns where they are."""
        self._ddf = self._ddf[given.names]

    def map_partitions(self, task: Task) -> list[Note]:
        """Run a task for each partition of the frame."""
        run = self._dask.delayed(_run_on_frame, pure=False)
        shared = self._dask.delayed(task, pure=False, traverse=False)  # sent once, not with each partition
        partitions = self._ddf.to_delayed()
        return self._compute([run(shared, number, part) for number, part in enumerate(partitions)])

    def map_numbers(self, task: Task, numbers: Sequence[int]) -> list[Note]:
        """Run a task for each number."""
        run = self._dask.delayed(_run_on_number, pure=False)
        shared = self._dask.delayed(task, pure=False, traverse=False)
        return self._compute([run(shared, number) for number in numbers])

    def _compute(self, tasks: list[Any]) -> list[Note]:
        try:
            return list(self._dask.compute(*tasks))
        except Exception as error:  # noqa: BLE001 - words of others may hold values
            raise ClusterError(_explain(error)) from None


def _explain(error: Exception) -> str:
    """Return why Dask stopped, in our own words: its message may hold values of the rows."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)  # type: ignore[arg-type]
    text = "\n".join(map(str, causes))
    if "No module named 'evenhand" in text or "deserialization" in text:
        return (
            "Dask's scheduler or a worker has no evenhand, or another version. Hint: pip install evenhand on "
            "the scheduler and all workers."
        )
    known = re.search(r"A (worker has|task failed with) [^\n]*", text)
    return f"Dask stopped. {known[0]}" if known else f"Dask stopped with {type(error).__name__}."


def _run_on_frame(task: Task, number: int, frame: Any) -> Note:
    """Run a task on a partition, which is a pandas frame."""
    return task.run(number, _batches_of(frame, task.plan.given))


def _run_on_number(task: Task, number: int) -> Note:
    return task.run(number)


def _batches_of(frame: Any, given: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a pandas frame; what has another type than the frame declares is refused."""
    arrays = []
    for part in given:
        column = frame[part.name]
        try:
            is_object = column.dtype == object
            arrays.append(pa.Array.from_pandas(column, type=part.type if is_object else None))
        except pa.ArrowException:  # whose message may hold a value
            what = "values of another type in one partition than the frame declares"
            hint = "convert the column to one type before."
            raise OutsideDomainError(part.name, what=what, hint=hint) from None
    arrays = [array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array for array in arrays]
    yield pa.RecordBatch.from_arrays(arrays, names=given.names)
