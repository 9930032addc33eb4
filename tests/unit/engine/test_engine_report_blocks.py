"""The same rows give the same reports on every try, and other rows never the same random words."""

import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from evenhand.engine import ReportPlan, RunKey, reporter
from evenhand.engine.report_blocks import BLOCK_ROWS, Reporter, digest_rows
from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    OtherRowsError,
    OutsideDomainError,
)
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, binomial_pvalue
from unit.engine.cluster._toy_engine import SCHEMA, fixed_key, people, plan_of


def report(table, *, key=None, position=0, rows=None, **options):
    plan = plan_of(table, **options)
    made = reporter(plan, key or fixed_key(), position)(table.to_batches(rows))
    return pa.Table.from_batches(made, plan.output)


def test_a_second_try_gives_the_reports_of_the_first():
    table = people(1_000)

    assert report(table).equals(report(table))


@pytest.mark.parametrize("rows", [1, 7, 999, 100_000])
def test_the_size_of_batches_does_not_change_the_reports(rows, monkeypatch):
    """A second try may get its rows in other batches."""
    monkeypatch.setattr("evenhand.engine.report_blocks.BLOCK_ROWS", 64)
    table = people(300)

    assert report(table, rows=rows).equals(report(table))


def test_two_partitions_share_no_stream():
    table = people(4_000)
    first, second = (report(table, position=place)["sex"].to_numpy() for place in (0, 1))
    truth = np.array([value == "m" for value in table["sex"].to_pylist()])
    lies = [(first == 1) != truth, (second == 1) != truth]
    chance = np.mean(lies[0]) * np.mean(lies[1])

    assert binomial_pvalue(np.count_nonzero(lies[0] & lies[1]), 4_000, chance) > ALPHA
    assert (
        binomial_pvalue(np.count_nonzero(lies[0] & lies[0]), 4_000, chance) < ALPHA
    )  # a shared stream is seen


def test_two_blocks_of_one_partition_share_no_stream(monkeypatch):
    monkeypatch.setattr("evenhand.engine.report_blocks.BLOCK_ROWS", 1_000)
    table = pa.concat_tables([people(1_000)] * 2)
    reports = report(table)["job"].to_numpy()

    assert not np.array_equal(reports[:1_000], reports[1_000:])


def test_two_runs_have_nothing_in_common():
    table = people(1_000)

    assert not report(table, key=RunKey.draw()).equals(report(table, key=RunKey.draw()))


def test_a_changed_row_gets_all_others_of_its_block_other_words():
    """The same words for one person who stayed and one who came would tell how the two differ."""
    table = people(2_000)
    changed = pa.concat_tables([table.slice(0, 1_999), people(1, start=5_000)])
    one, other = report(table)["sex"].to_numpy()[:1_999], report(changed)["sex"].to_numpy()[:1_999]

    assert np.count_nonzero(one != other) > 100


def test_rows_that_differ_in_a_column_in_the_clear_alone_get_other_words():
    """Two people of the same value who change places would otherwise show that they have the same value."""
    table = people(2_000)
    places = np.arange(2_000)
    places[[0, 6]] = [6, 0]  # both are of the same sex
    swapped = table.set_column(0, "id", table["id"].take(pa.array(places)))
    one, other = report(table)["sex"].to_numpy(), report(swapped)["sex"].to_numpy()

    assert np.count_nonzero(one != other) > 100


def test_rows_in_another_order_are_refused_before_anything_is_drawn():
    """To draw for them would give every one of these people a second report."""
    table = people(500)
    plan, key = plan_of(table), fixed_key()
    digests = [block.digest for block in Reporter(plan, key, 3).blocks(table.to_batches())]
    again = Reporter(plan, key, 3, expected=digests)
    other = table.take(pa.array(np.arange(500)[::-1]))

    assert pa.Table.from_batches(again(table.to_batches())).num_rows == 500
    with pytest.raises(OtherRowsError, match="Partition 3 has other rows") as refusal:
        list(Reporter(plan, key, 3, expected=digests)(other.to_batches()))
    assert refusal.value.partition == 3


@pytest.mark.parametrize("rows", [0, 499, 501, BLOCK_ROWS + 1])
def test_more_or_fewer_rows_are_refused(rows):
    plan, key = plan_of(people(500)), fixed_key()
    digests = [block.digest for block in Reporter(plan, key, 0).blocks(people(500).to_batches())]

    with pytest.raises(OtherRowsError):
        list(Reporter(plan, key, 0, expected=digests)(people(rows).to_batches()))


# --- digests --------------------------------------------------------------------------------------------

VALUES = {
    "text": pa.array(["a", None, "", "bc"]),
    "large": pa.array(["a", None, "", "bc"], pa.large_string()),
    "bytes": pa.array([b"a", None, b"", b"bc"]),
    "truth": pa.array([True, None, False, True]),
    "small": pa.array([1, None, 3, 0], pa.int8()),
    "float": pa.array([1.5, None, float("nan"), 0.0]),
    "date": pa.array([1, None, 3, 0], pa.date32()),
    "time": pa.array([1, None, 3, 0], pa.timestamp("us", tz="UTC")),
    "decimal": pa.array([Decimal(1), None, Decimal(3), Decimal(0)]),
    "list": pa.array([[1], None, [], [2, 3]]),
    "nothing": pa.nulls(4),
}


def digest(array):
    return digest_rows(fixed_key(), 0, 0, pa.RecordBatch.from_arrays([array], ["x"]))


@pytest.mark.parametrize("kind", VALUES)
def test_a_digest_does_not_depend_on_where_the_rows_lie(kind):
    array = VALUES[kind]
    moved = pa.concat_arrays([array, array]).slice(4)

    assert digest(array) == digest(moved)


@pytest.mark.parametrize("kind", sorted(set(VALUES) - {"nothing"}))
def test_a_digest_depends_on_every_value_and_on_the_order(kind):
    array = VALUES[kind]
    others = [
        array.take(pa.array(places)) for places in ([0, 1, 3, 2], [1, 0, 2, 3], [0, 0, 2, 3], [0, 1, 2])
    ]

    assert len({digest(array), *map(digest, others)}) == 5


def test_what_stands_where_a_value_is_missing_does_not_count():
    one, other = (
        pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(np.array([5, hidden]))])
        for hidden in (1, 2)
    )

    assert digest(one) == digest(other)


def test_missing_and_empty_texts_differ():
    assert digest(pa.array(["", None])) != digest(pa.array([None, ""]))


def test_texts_that_join_to_the_same_text_differ():
    assert digest(pa.array(["ab", "c"])) != digest(pa.array(["a", "bc"]))


def test_a_digest_needs_the_key():
    """Digests of few possible rows could be tried one by one by whoever finds them."""
    rows = people(1).to_batches()[0]

    assert digest_rows(RunKey.draw(), 0, 0, rows) != digest_rows(RunKey.draw(), 0, 0, rows)


# --- types and plans ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_other_forms_of_text_give_the_same_reports(kind):
    table = people(100)
    other = table.set_column(1, "sex", table["sex"].cast(kind))
    plan = plan_of(table)

    assert list(reporter(plan, fixed_key(), 0)(other.to_batches())) == list(
        reporter(plan, fixed_key(), 0)(table.to_batches())
    )


@pytest.mark.parametrize("column", [pa.array([1, 2]), pa.array([True, False]), pa.array([b"f", b"m"])])
def test_a_batch_of_another_type_is_refused_without_a_value(column):
    table = people(2)
    other = table.set_column(1, "sex", column)

    with pytest.raises(OutsideDomainError, match="Column 'sex' holds values of another type") as refusal:
        list(reporter(plan_of(table), fixed_key(), 0)(other.to_batches()))
    assert refusal.value.__cause__ is None


def test_a_batch_without_a_column_is_refused():
    with pytest.raises(ColumnNotFoundError, match="'sex' is not in a partition"):
        list(reporter(plan_of(people(2)), fixed_key(), 0)(people(2).drop_columns("sex").to_batches()))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"plan": 1}, "plan"),
        ({"key": b"x" * 32}, "key"),
        ({"position": -1}, "position"),
        ({"position": "0"}, "position"),
    ],
)
def test_wrong_arguments_are_refused(change, name):
    arguments = {"plan": plan_of(people(2)), "key": fixed_key(), "position": 0} | change

    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of reporter"):
        reporter(**arguments)


def test_a_plan_of_no_schema_of_a_frame_is_refused():
    with pytest.raises(InvalidParameterError, match=r"must be a pyarrow\.Schema"):
        ReportPlan.make(people(2), schema=SCHEMA, epsilon=1)


@pytest.mark.parametrize("protocol", ["grr", "oue", "olh", "ss"])
@pytest.mark.parametrize("strategy", ["independent", "combined", "single"])
def test_every_protocol_gives_types_that_spark_has(protocol, strategy):
    table = people(50)
    options = {} if strategy == "combined" else {"protocol": protocol}
    plan = plan_of(table, strategy=strategy, **options)
    batches = list(reporter(plan, fixed_key(), 0, for_spark=True)(table.to_batches()))

    assert [batch.schema for batch in batches] == [plan.spark_output]
    assert not any(pa.types.is_unsigned_integer(kind) for kind in plan.spark_output.types)
    assert not any(pa.types.is_fixed_size_binary(kind) for kind in plan.spark_output.types)


def test_a_plan_travels_and_stays_what_it_was():
    plan = plan_of(people(2))

    assert pickle.loads(pickle.dumps(plan)).fingerprint == plan.fingerprint


@pytest.mark.parametrize("change", [{"epsilon": 1}, {"keep": []}, {"columns": ["sex"]}, {"protocol": "oue"}])
def test_another_plan_has_another_fingerprint(change):
    table = people(2)

    assert plan_of(table, **change).fingerprint != plan_of(table).fingerprint


def test_reports_too_long_for_a_block_are_drawn_in_smaller_ones():
    schema = Schema([Column("town", Domain.integers(0, 49_999))], sensitive="town")
    plan = ReportPlan.make(pa.schema([("town", pa.int64())]), schema=schema, epsilon=1, protocol="oue")

    assert plan.block_rows < BLOCK_ROWS
