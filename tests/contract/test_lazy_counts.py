"""Counting a lazy frame gives what counting the collected frame gives, whatever the engine and the rows."""

from collections import Counter

import narwhals as nw
import pyarrow as pa
import pytest
from hypothesis import given, settings

from contract._engines import DASK, DUCKDB, IBIS, IN_PROCESS, POLARS, SPARK, spark_session
from contract._lazy_tables import DOMAINS, VALUES, make_array, tables
from evenhand.errors import EngineError, EvenhandError, InvalidParameterError, OutsideDomainError
from evenhand.release import Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table
from evenhand.table.lazy.codes import count_codes

EVERY = [*IN_PROCESS, pytest.param(SPARK, marks=pytest.mark.engines)]


def outcome(frame, schema):
    try:
        histogram = Histogram.count(frame, schema)
    except EvenhandError as error:
        return type(error).__name__, getattr(error, "column", None)
    cells, filled = histogram.filled_cells()
    return cells.tolist(), filled.tolist(), filled.dtype.name


def named(engine):
    return getattr(engine, "name", None)


def compare(engine, made):
    engine.require()
    table, schema = made
    lazy = engine.load(table)

    counted = outcome(lazy, schema)
    has_dictionary = any(pa.types.is_dictionary(field.type) for field in table.schema)
    if engine is DASK and has_dictionary and counted == (EngineError.__name__, None):
        # docs/how-to/large-files-and-engines.md: Dask cannot group by every dictionary beside other columns
        return
    assert counted == outcome(engine.collect(lazy), schema)


@given(made=tables())
@settings(max_examples=60)
def test_polars_counts_a_lazy_frame_as_the_collected_one(made):
    compare(POLARS, made)


@given(made=tables())
@settings(max_examples=40)
def test_duckdb_counts_a_relation_as_the_collected_one(made):
    compare(DUCKDB, made)


@pytest.mark.engines
@given(made=tables())
@settings(max_examples=25)
@pytest.mark.parametrize("engine", [IBIS, DASK], ids=named)
def test_every_other_engine_counts_as_its_collected_frame(engine, made):
    compare(engine, made)


@pytest.mark.engines
@pytest.mark.parametrize("engine", [*IN_PROCESS, SPARK], ids=named)
@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_every_type_of_column_meets_every_domain(engine, kind):
    """One query counts the same column against each of the domains, so that even a slow engine can."""
    engine.require()
    schema = Schema(
        [Column(f"x{place}", domain, outside="other", nulls="other") for place, domain in enumerate(DOMAINS)]
    )
    column = make_array([*VALUES[kind], None], kind)
    if engine is SPARK and (pa.types.is_unsigned_integer(kind) or pa.types.is_time(kind)):
        pytest.skip("Spark has no whole numbers without a sign, and groups by no time of the day")
    lazy = engine.load(pa.table(dict.fromkeys(schema.names, column)))
    if engine is DASK and pa.types.is_dictionary(kind):
        with pytest.raises(EngineError, match="Dask could not count"):  # nor does pandas group by two of them
            Histogram.count(lazy, schema, ["x0", "x1"])
        return
    expected = Table.encode(engine.collect(lazy), schema)

    table, counts = count_codes(nw.from_native(lazy), schema, owner="Histogram.count")

    actual = Counter()
    for row, times in zip(rows_of(table), counts.tolist(), strict=True):
        actual[row] += times
    assert actual == Counter(rows_of(expected))


def rows_of(table):
    return zip(*(table[name].tolist() for name in table.schema.names), strict=True)


PEOPLE = pa.table(
    {
        "sex": ["f", "m", "f", None, "x", "m"],
        "age": [17, 90, 30, 45, None, 200],
        "wage": [0.0, -0.0, 12.5, float("nan"), float("inf"), None],
    }
)
RULES = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"]), outside="other", nulls="other"),
        Column("age", Domain.integers(17, 120), outside="drop", nulls="other"),
        Column("wage", Domain.binned([0, 10, 20]), outside="other", nulls="drop"),
    ]
)


@pytest.mark.parametrize("engine", EVERY, ids=named)
def test_rules_of_several_columns_are_followed_together(engine):
    engine.require()
    lazy = engine.load(PEOPLE)

    counted = Histogram.count(lazy, RULES, ["sex", "wage", "age"])

    expected = Histogram.count(PEOPLE, RULES, ["sex", "wage", "age"])
    assert counted.counts.dtype.name == "int64"
    assert (counted.counts == expected.counts).all()
    assert counted.may_drop == expected.may_drop == ("wage", "age")


@pytest.mark.parametrize("engine", EVERY, ids=named)
def test_a_value_outside_is_one_error_without_the_value(engine):
    engine.require()
    strict = Schema([RULES["age"], Column("sex", Domain.categorical(["f", "m"]), nulls="drop")])

    with pytest.raises(OutsideDomainError, match="Column 'sex' holds a value outside") as caught:
        Histogram.count(engine.load(PEOPLE), strict)

    assert "'x'" not in str(caught.value)


@pytest.mark.parametrize("engine", EVERY, ids=named)
def test_no_rows_make_a_table_of_zeros(engine):
    engine.require()

    counted = Histogram.count(engine.load(PEOPLE.slice(0, 0)), RULES)

    assert counted.people == 0
    assert counted.counts.shape == (3, 105, 3)


@pytest.mark.parametrize("engine", EVERY, ids=named)
def test_a_column_of_another_type_is_outside(engine):
    engine.require()
    lazy = engine.load(pa.table({"age": ["17", "90"]}))

    with pytest.raises(OutsideDomainError, match="a type its domain does not hold"):
        Histogram.count(lazy, Schema([Column("age", Domain.integers(17, 90))]))


# --- partitions and Spark -------------------------------------------------------------------------


def empty_but_one(number):
    import pandas as pd

    return pd.DataFrame({"age": [17, 90] if number == 7 else pd.Series([], dtype="int64")})


@pytest.mark.slow
@pytest.mark.engines
def test_ten_thousand_empty_partitions_of_dask_change_no_count():
    DASK.require()
    import dask.dataframe as dd

    lazy = dd.from_map(empty_but_one, range(10_000), meta=empty_but_one(0))
    counted = Histogram.count(lazy, Schema([Column("age", Domain.integers(17, 90))]))

    assert (counted.people, counted.counts[[0, 73]].tolist()) == (2, [1, 1])


@pytest.fixture
def spark():
    SPARK.require()
    return spark_session()


@pytest.mark.slow
@pytest.mark.engines
def test_ten_thousand_empty_partitions_of_spark_change_no_count(spark):
    lazy = spark.range(0, 10, numPartitions=10_000).selectExpr("id AS age").where("age < 2")
    counted = Histogram.count(lazy, Schema([Column("age", Domain.integers(0, 3))]))

    assert counted.counts.tolist() == [1, 1, 0, 0]


@pytest.mark.engines
def test_spark_counts_texts_of_a_collation_nowhere_else(spark):
    """Otherwise 'a' and 'A' are one value to Spark, and both would be counted as the declared one."""
    letters = Schema([Column("s", Domain.categorical(["a"]), outside="other")])
    query = "SELECT {} AS s FROM VALUES ('a'), ('A'), ('a ') AS t (s)"

    with pytest.raises(InvalidParameterError, match="'s' has the collation UTF8_BINARY"):
        Histogram.count(spark.sql(query.format("collate(s, 'UTF8_LCASE')")), letters)
    binary = query.format("collate(collate(s, 'UTF8_LCASE'), 'UTF8_BINARY')")
    assert Histogram.count(spark.sql(binary), letters).counts.tolist() == [1, 2]


@pytest.mark.engines
def test_spark_names_that_differ_by_case_are_refused(spark):
    with pytest.raises(InvalidParameterError, match="Spark does not tell apart by case"):
        Histogram.count(spark.sql("SELECT 1 AS s, 2 AS S"), Schema([Column("s", Domain.integers(0, 3))]))


@pytest.mark.engines
@pytest.mark.parametrize("strict", ["true", "false"])
def test_spark_fails_with_one_error_that_quotes_no_row(spark, strict):
    """With ANSI mode a bad cast fails, without it the value is missing; neither is in a message."""
    schema = Schema([Column("s", Domain.integers(0, 3))])
    spark.conf.set("spark.sql.ansi.enabled", strict)
    lazy = spark.sql("SELECT CAST(s AS INT) AS s FROM VALUES ('Jane Doe'), ('1') AS t (s)")

    try:
        with pytest.raises(EngineError if strict == "true" else OutsideDomainError) as caught:
            Histogram.count(lazy, schema)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")

    assert "Jane" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.engines
def test_minus_zero_is_zero_in_a_long_list_of_spark(spark):
    """Spark looks a long list up by bits, in which the two zeros differ."""
    schema = Schema([Column("x", Domain.categorical([float(value) for value in range(20)]))])

    assert Histogram.count(spark.sql("SELECT -0.0D AS x"), schema).counts[0] == 1
