r"""Arrow batches of people in, Arrow batches of their reports out, the same on every try.

An engine that spreads work over machines runs a piece of it again when it fails or is slow. Each try must
give the same reports: two reports of one person are two releases. And the random words of one person must
never serve another: whoever sees two reports that were made with the same words learns how the two values
differ, with certainty.

**How a stream is chosen.** Rows are cut into blocks of a fixed number of rows, counted from the start of
their partition, whatever batches they come in. A block draws from the stream at the position

    partition, block, digest of the block

under the secret key of the run (:class:`~evenhand.privacy.randomness.RunKey`). The digest is an HMAC of
everything that the reporter is given of these rows, in their order, under another key that is derived from
that of the run.

* The same rows on a second try have the same digest, so the same words, so the same reports.
* Other rows in the same place, or the same rows in another order, have another digest, so words of their
  own. No word ever serves two different rows. Rows that agree in every column that the reporter is given may
  take each other's place: what comes out is then the same too.
* For every input the words are uniform and independent, as far as anybody can tell who has not got the key.
  So what comes out has the law of the protocol for that input, and the guarantee is that of the protocol,
  against everybody who has not got the key. That the words depend on the rows does no harm: a guarantee
  compares what comes out of two inputs, and for each of them the words are as good as fresh.

**What this does not do.** Whoever sees the reports of two tries with different rows sees two reports of some
people, made with independent words: that costs their epsilon twice. So the reporter can be given the digests
that the blocks had when the input was checked, and refuses a block that has another, before it draws.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._validate import integer, kind_of, refuse
from evenhand.collect.joint.strategy import draw_joint_reports
from evenhand.collect.privatizer.bare_columns import write_out_views
from evenhand.collect.protocols.registry import AUTO
from evenhand.engine.choices import Choice, choose_columns, strategy_of, without_beside
from evenhand.engine.promise import prepare_strategy, state_guarantee
from evenhand.engine.record import Record
from evenhand.engine.text_forms import join_bytes
from evenhand.engine.writers import ReportColumns, has_length, plain_values
from evenhand.errors import ColumnNotFoundError, OtherRowsError, OutsideDomainError
from evenhand.privacy.randomness import RunKey
from evenhand.table.encode import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.schema import Schema

BLOCK_ROWS = 1 << 16
"""Rows that are drawn for together, unless their reports are long."""

_OF_SPARK = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
}
_LARGE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}  # 2 GiB of text are not too many
_LARGEST_PARTITION = 2**63 - 1


@dataclass(frozen=True)
class ReportPlan:
    """What is reported of the rows of a frame, and how: everything but the rows and the key.

    :meth:`make` makes one. All of it is public knowledge; it travels to every worker.

    Parameters
    ----------
    given : pyarrow.Schema
        The columns that are reported or in the clear, with plain types, in their order.
    schema : Schema
        The declared columns among them.
    strategy : Strategy
        What makes the reports.
    choice : Choice
        Which columns are reported, which in the clear, which left out.
    promise : Guarantee
        What one person is promised, but for the order of the rows.
    inferred : tuple of str
        The reported columns whose domains were read from the rows, which is a leak.
    """

    given: pa.Schema
    schema: Schema
    strategy: Strategy
    choice: Choice
    promise: Guarantee
    inferred: tuple[str, ...] = field(default=())

    @classmethod
    def make(
        cls,
        frame: pa.Schema,
        *,
        schema: Schema,
        epsilon: Any,
        protocol: Any = AUTO,
        split: Any = "optimal",
        strategy: str = "independent",
        columns: Sequence[str] | None = None,
        keep: Sequence[str] | None = None,
        owner: str = "ReportPlan.make",
    ) -> ReportPlan:
        """Return the plan for a frame with these columns.

        Nobody measures here how many rows the columns in the clear link to one person each.

        Parameters
        ----------
        frame : pyarrow.Schema
            The columns of the frame.
        schema, epsilon, protocol, split, strategy, columns, keep
            As for :func:`evenhand.engine.privatize_file`.
        owner : str
            Who asks, for messages.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from evenhand.schema import Column, Domain, Schema
        >>> schema = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
        >>> frame = pa.schema([("sex", pa.string()), ("hired", pa.int64())])
        >>> ReportPlan.make(frame, schema=schema, epsilon=1, keep=["hired"]).output.names
        ['sex', 'hired']
        """
        if not isinstance(frame, pa.Schema):
            refuse("frame", owner, "a pyarrow.Schema", kind_of(frame))
        asked: dict[str, Any] = {"columns": columns, "keep": keep}
        choice = choose_columns(frame.names, schema, **asked, strategy=strategy, owner=owner, place="frame")
        person, schema = schema.person, without_beside(schema)
        options = {"epsilon": epsilon, "protocol": protocol, "split": split, "strategy": strategy}
        chosen = strategy_of(schema, choice.reported, **options, owner=owner)
        prepare_strategy(chosen, None)
        inferred = tuple(name for name in chosen.columns if schema[name].inferred)
        promise = state_guarantee(chosen, choice, protocol, inferred, person=person)
        given = pa.schema([pa.field(name, _plain_type(frame.field(name).type)) for name in choice.in_order])
        declared = schema.select([name for name in schema.names if name in choice.kept])
        plan = cls(given, declared, chosen, choice, promise, inferred)
        plan.columns  # noqa: B018 - refuses names that would be there twice
        return plan

    @cached_property
    def columns(self) -> ReportColumns:
        """The columns of what comes out."""
        return ReportColumns(self.given, self.strategy)

    @property
    def output(self) -> pa.Schema:
        """The columns of what comes out, with their types."""
        return self.columns.schema

    @property
    def spark_output(self) -> pa.Schema:
        """The same in types that Spark has: its whole numbers are signed, and 64 bits stay 64 bits."""
        return pa.schema([pa.field(part.name, _spark_type(part.type)) for part in self.output])

    @property
    def block_rows(self) -> int:
        """How many rows are drawn for together."""
        return min(BLOCK_ROWS, self.columns.most_rows)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of everything that what comes out depends on, but for the rows and the key."""
        clear, schema = self.choice.in_clear, self.schema.fingerprint
        record = Record(self.strategy, "parquet", 0, clear, schema, simulated=False, guarantee=self.promise)
        text = f"{record.to_dict()}\n{self.given.to_string()}\n{self.block_rows}\n{self.inferred}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "columns"}  # made anew


def reporter(plan: ReportPlan, key: RunKey, position: int, *, for_spark: bool = False) -> Reporter:
    """Return a function from batches of people to batches of their reports.

    It is what Spark's ``mapInArrow`` takes, and serves for the record batches of Polars and DuckDB. The same
    plan, key, position and rows give the same reports, in batches of any size.

    Parameters
    ----------
    plan : ReportPlan
        What is reported, and how.
    key : RunKey
        The secret of this run. Whoever has it can take the noise off; draw one for each run, and let it go
        with the run.
    position : int
        The number of the partition, from 0 on: no two parts of the input of one run may have the same.
    for_spark : bool, default False
        Whether what comes out has the types of ``plan.spark_output``, for ``mapInArrow``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
    >>> people = pa.table({"sex": ["f", "m", "f"], "hired": [1, 0, 1]})
    >>> plan, key = ReportPlan.make(people.schema, schema=schema, epsilon=1), RunKey.draw()
    >>> first, again = (pa.Table.from_batches(reporter(plan, key, 0)(people.to_batches())) for _ in range(2))
    >>> first.num_rows, first.equals(again)
    (3, True)
    """
    return Reporter(plan, key, position, for_spark=for_spark)


class Reporter:
    """A function from batches of people to batches of their reports, see :func:`reporter`.

    Parameters
    ----------
    plan, key, position, for_spark
        As for :func:`reporter`.
    expected : sequence of bytes, optional
        The digest of each block when the input was checked. A block with another is refused.
    """

    def __init__(
        self,
        plan: ReportPlan,
        key: RunKey,
        position: int,
        *,
        for_spark: bool = False,
        expected: Sequence[bytes] | None = None,
    ) -> None:
        for name, value, kind in (("plan", plan, ReportPlan), ("key", key, RunKey)):
            if not isinstance(value, kind):
                refuse(name, "reporter", f"a {kind.__name__}", kind_of(value))
        self._plan, self._key = plan, key
        self._position = integer("position", position, owner="reporter", low=0, high=_LARGEST_PARTITION)
        self._for_spark, self._expected = for_spark, expected

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the reports of the rows, a block at a time."""
        for block in self.blocks(batches):
            reports = self.report(block)
            yield _cast_rows(reports, self._plan.spark_output) if self._for_spark else reports

    def blocks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the rows in blocks, each with its digest; refuse what is not as it was when checked."""
        number = -1
        for number, rows in enumerate(_cut_blocks(batches, self._plan.given, self._plan.block_rows)):
            block = Block(number, rows, digest_rows(self._key, self._position, number, rows))
            if self._expected is not None and self._expected[number : number + 1] != [block.digest]:
                raise OtherRowsError(self._position)
            yield block
        if self._expected is not None and number + 1 != len(self._expected):
            raise OtherRowsError(self._position)

    def report(self, block: Block) -> pa.RecordBatch:
        """Return the reports of a block."""
        plan = self._plan
        codes = self.encode(block.rows)
        source = self._key.stream("reports", self._position, block.number, block.digest)
        return plan.columns.prepare(block.rows, draw_joint_reports(plan.strategy, codes, source))

    def encode(self, rows: pa.RecordBatch) -> Any:
        """Return the codes of the columns that are reported; refuse values that cannot be."""
        return Table.encode(rows, self._plan.schema, columns=list(self._plan.strategy.columns)).codes


@dataclass(frozen=True)
class Block:
    """Rows that are drawn for together.

    Parameters
    ----------
    number : int
        Which block of its partition it is.
    rows : pyarrow.RecordBatch
        The rows, with plain types.
    digest : bytes
        What the key makes of them, see :func:`digest_rows`.
    """

    number: int
    rows: pa.RecordBatch
    digest: bytes


def _cut_blocks(
    batches: Iterable[pa.RecordBatch], given: pa.Schema, block_rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of `block_rows`, but for the last, whatever batches they came in."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = _plain_rows(batch.slice(start, block_rows - count), given)
            waiting.append(piece)
            count, start = count + piece.num_rows, start + piece.num_rows
            if count == block_rows:
                yield pa.concat_batches(waiting)
                waiting, count = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def _plain_rows(batch: pa.RecordBatch, given: pa.Schema) -> pa.RecordBatch:
    """Return the columns of the plan with the types of the plan."""
    arrays = []
    for part in given:
        if part.name not in batch.schema.names:
            known = [name for name in given.names if name in batch.schema.names]
            raise ColumnNotFoundError(part.name, known, place="in a partition of the frame")
        arrays.append(_plain_array(batch.column(part.name), part))
    return pa.RecordBatch.from_arrays(arrays, schema=given)


def _plain_array(column: Any, part: pa.Field) -> Any:
    if column.type == part.type:
        return column
    try:
        plain = plain_values(column)
        if _family(plain.type) != _family(part.type) and not pa.types.is_null(plain.type):
            raise pa.ArrowTypeError("")
        return plain.cast(part.type)
    except pa.ArrowException:  # whose message may hold a value
        what = "values of another type in one partition than the frame declares"
        hint = "convert the column to one type before."
        raise OutsideDomainError(part.name, what=what, hint=hint) from None


def _family(kind: pa.DataType) -> str:
    """Return what types can be told apart by: text, bytes, truth values, numbers, or itself."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_boolean(kind):
        return "truth"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    return "bytes" if has_length(kind) else str(kind)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    plain = write_out_views(pa.array([], kind)).type
    return _LARGE.get(plain, plain)


def _spark_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    return _OF_SPARK.get(kind, kind)


def _cast_rows(rows: pa.RecordBatch, types: pa.Schema) -> pa.RecordBatch:
    columns = [column.cast(part.type, safe=False) for column, part in zip(rows.columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=types)


# --- what the rows are, in 32 bytes ---------------------------------------------------------------------


def digest_rows(key: RunKey, position: int, number: int, rows: pa.RecordBatch) -> bytes:
    """Return what a key makes of rows, their order and their place; it says nothing without the key.

    Equal rows have equal digests whatever memory they lie in: slices, offsets and what stands where a value
    is missing do not count.
    """
    digest = key.digest(position, number, rows.num_rows)
    for column in rows.columns:
        for part in _value_bytes(column):
            view = memoryview(part).cast("B") if len(part) else b""
            digest.update(len(view).to_bytes(8, "big"))
            digest.update(view)
    return digest.digest()


def _value_bytes(column: Any) -> Iterator[Any]:
    """Yield the values of a column as bytes: which are missing, how long they are, and what they are."""
    kind = column.type
    yield np.packbits(column.is_valid().to_numpy(zero_copy_only=False)) if column.null_count else b""
    if pa.types.is_null(kind):
        return
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_bytes(kind):
        whole = column.cast(pa.large_binary()).fill_null(b"") if column.null_count else column
        whole = whole.cast(pa.large_binary())
        yield pc.binary_length(whole).to_numpy(zero_copy_only=False).astype("<i8", copy=False)
        yield join_bytes(whole)
    elif pa.types.is_boolean(kind):
        yield np.packbits(column.fill_null(False).to_numpy(zero_copy_only=False))  # noqa: FBT003
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        yield (column.fill_null(0) if column.null_count else column).to_numpy()
    elif pa.types.is_temporal(kind) and kind.bit_width in {32, 64}:
        numbers = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        yield (numbers.fill_null(0) if numbers.null_count else numbers).to_numpy()
    else:  # lists, decimals and whatever there may be: rare, slow, and right
        yield str(column.to_pylist()).encode("utf-8", "surrogatepass")


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
