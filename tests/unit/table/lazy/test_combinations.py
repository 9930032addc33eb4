"""One group_by in an engine: names, texts, failures and counts that an engine sees in another way."""

import sys
from decimal import Decimal

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import (
    ColumnNotFoundError,
    EngineError,
    InvalidParameterError,
    LimitExceededError,
    MissingExtraError,
    OutsideDomainError,
)
from evenhand.release import Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.table.lazy import combinations

LETTERS = Schema([Column("s", Domain.categorical(["a", "b"]), outside="other")])


@pytest.fixture
def duckdb():
    return pytest.importorskip("duckdb", reason="pip install duckdb")


@pytest.fixture
def dask_frames():
    pytest.importorskip("dask", reason="pip install 'dask[dataframe]'")
    import dask
    import dask.dataframe as dd

    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield dd


def counts_of(frame, schema=LETTERS):
    return Histogram.count(frame, schema).counts.tolist()


# --- texts ----------------------------------------------------------------------------------------

TEXTS = "(VALUES ('a'), ('A'), ('a '), ('b'), ('\\x61'), ('ä'))"


def test_a_collation_of_duckdb_merges_no_texts(duckdb):
    """Otherwise people of another value are counted as those of a declared one."""
    connection = duckdb.connect()
    connection.sql("CREATE TABLE people (s VARCHAR COLLATE NOCASE)")
    connection.sql(f"INSERT INTO people SELECT * FROM {TEXTS}")

    assert counts_of(connection.table("people")) == [1, 1, 4]

    connection.sql("PRAGMA default_collation='nocase.noaccent'")
    assert counts_of(connection.sql(f"SELECT * FROM {TEXTS} AS people (s)")) == [1, 1, 4]


def test_a_collation_of_a_database_behind_ibis_merges_no_texts():
    ibis = pytest.importorskip("ibis", reason="pip install 'ibis-framework[duckdb]'")
    pytest.importorskip("duckdb", reason="pip install duckdb")
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE people (s VARCHAR COLLATE NOCASE)")
    connection.raw_sql(f"INSERT INTO people SELECT * FROM {TEXTS}")

    assert counts_of(connection.table("people")) == [1, 1, 4]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["b", "x", "a"])])
def test_texts_with_codes_of_their_own_are_texts(kind):
    lazy = pl.LazyFrame({"s": ["b", "a", "x", "b"]}).with_columns(pl.col("s").cast(kind))

    assert counts_of(lazy) == [1, 2, 1]


def test_an_enum_of_duckdb_is_text(duckdb):
    lazy = duckdb.sql("SELECT s::ENUM('b', 'x', 'a') AS s FROM (VALUES ('b'), ('a'), ('x'), ('b')) AS t (s)")

    assert counts_of(lazy) == [1, 2, 1]


def test_categories_of_dask_that_are_numbers_are_no_texts(dask_frames):
    import pandas as pd

    frame = pd.DataFrame({"s": pd.Categorical(["a", "b", "a", "x", None])})
    digits = Schema([Column("s", Domain.categorical(["1"]), outside="other", nulls="drop")])

    lazy = dask_frames.from_pandas(frame, npartitions=2)
    assert counts_of(lazy, digits) == [0, 4]
    numbers = dask_frames.from_pandas(pd.DataFrame({"s": pd.Categorical([1, 1])}), npartitions=1)
    assert counts_of(numbers, digits) == [0, 2]


def test_json_that_is_compared_with_texts_is_one_error(duckdb):
    """Its texts have quotes; DuckDB cannot read the declared ones as JSON."""
    with pytest.raises(EngineError, match="DuckDB could not count the columns s"):
        counts_of(duckdb.sql("SELECT '\"a\"'::JSON AS s"))


# --- names ----------------------------------------------------------------------------------------


def test_names_that_a_database_does_not_tell_apart_are_refused(duckdb):
    """DuckDB gives the first of them for both, without a word."""
    for query in ("SELECT 'a' AS s, 'b' AS \"S\"", "SELECT 'a' AS s, 'b' AS s"):
        with pytest.raises(InvalidParameterError, match="does not tell apart by case"):
            counts_of(duckdb.sql(query))


def test_the_same_name_twice_is_refused_in_eager_frames_as_before():
    import pandas as pd

    with pytest.raises(InvalidParameterError, match="the same name twice"):
        counts_of(pd.DataFrame([["a", "b"]], columns=["s", "s"]))


def test_names_of_a_frame_may_be_numbers(dask_frames):
    import pandas as pd

    lazy = dask_frames.from_pandas(pd.DataFrame({0: [1], "s": pd.Categorical(["a"])}), npartitions=1)

    assert counts_of(lazy) == [1, 0, 0]
    with pytest.raises(ColumnNotFoundError, match=r"There are: 0\."):
        counts_of(lazy[[0]])


def test_names_that_differ_by_case_are_two_names_to_polars():
    assert counts_of(pl.LazyFrame({"S": ["b"], "s": ["a"]})) == [1, 0, 0]


def test_a_name_in_another_case_is_not_the_name(duckdb):
    for lazy in (duckdb.sql("SELECT 'a' AS S"), pl.LazyFrame({"S": ["a"]})):
        with pytest.raises(
            ColumnNotFoundError, match=r"Column 's' is not in the frame. Hint: did you mean 'S'"
        ):
            counts_of(lazy)


def test_names_may_hold_what_a_query_reads_otherwise(duckdb):
    name = 'a "b" -- ; n'
    schema = Schema([Column(name, Domain.categorical(["a"])), Column("n", Domain.integers(0, 1))])
    table = pa.table({name: ["a", "a"], "n": [0, 1]})

    for lazy in (duckdb.from_arrow(table), pl.from_arrow(table).lazy()):
        assert counts_of(lazy, schema) == [[1, 1]]


# --- failures -------------------------------------------------------------------------------------


def test_what_an_engine_says_of_a_row_is_not_shown(duckdb):
    people = duckdb.sql("SELECT CAST(secret AS INT) AS s FROM (VALUES ('Jane Doe')) AS t (secret)")
    schema = Schema([Column("s", Domain.integers(0, 1), outside="other", nulls="other")])

    with pytest.raises(EngineError, match="DuckDB could not count the columns s: it raised") as caught:
        Histogram.count(people, schema)

    assert caught.value.engine == "DuckDB"
    assert "Jane" not in str(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None


def test_a_file_that_is_gone_is_one_error(tmp_path):
    pl.DataFrame({"s": ["a"]}).write_parquet(tmp_path / "people.parquet")
    lazy = pl.scan_parquet(tmp_path / "people.parquet")
    (tmp_path / "people.parquet").unlink()

    with pytest.raises(EngineError, match="Polars could not count") as caught:
        counts_of(lazy)

    assert str(tmp_path) not in str(caught.value)


def test_a_package_that_an_engine_lacks_is_named_with_its_command(duckdb, monkeypatch):
    monkeypatch.setattr("narwhals.LazyFrame.collect", lambda *_, **__: exec("import no_such_package"))

    with pytest.raises(
        MissingExtraError, match=r"DuckDB needs the package 'no_such_package'. Hint: pip install"
    ):
        counts_of(duckdb.sql("SELECT 'a' AS s"))


def test_rows_that_can_be_read_once_are_read_once(duckdb):
    batches = pa.table({"s": ["a", "b", "a"]}).to_reader()

    assert counts_of(duckdb.from_arrow(batches)) == [2, 1, 0]


def test_python_objects_are_refused_unless_they_are_to_be_texts(dask_frames):
    import pandas as pd

    lazy = dask_frames.from_pandas(
        pd.DataFrame({"s": ["a", True, 1, 1.0, None]}, dtype=object), npartitions=1
    )
    whole = Schema([Column("s", Domain.integers(0, 1), outside="other", nulls="other")])

    with pytest.raises(
        InvalidParameterError, match=r"'s' has a type of its own. Got a column of Python objects"
    ):
        counts_of(lazy, whole)
    dropping = Schema([Column("s", Domain.categorical(["a"]), outside="other", nulls="drop")])
    assert counts_of(lazy, dropping) == [1, 3]


# --- numbers --------------------------------------------------------------------------------------


def test_more_combinations_than_can_be_fetched_are_refused(monkeypatch):
    monkeypatch.setattr(combinations, "MOST_COMBINATIONS", 10)
    wide = Schema([Column("day", Domain.dates("1980-01-01", "1989-12-31", band="1y"), outside="other")])
    texts = [f"1980-01-{day:02}" for day in range(1, 12)]

    assert counts_of(pl.LazyFrame({"day": texts[:10]}), wide)[0] == 10
    with pytest.raises(LimitExceededError, match="The columns day hold more than 10 different combinations"):
        counts_of(pl.LazyFrame({"day": texts}), wide)


def test_a_table_whose_size_the_schema_tells_is_never_too_large(monkeypatch):
    """Otherwise an exception would tell something about people."""
    monkeypatch.setattr(combinations, "MOST_COMBINATIONS", 1)
    schema = Schema([Column("age", Domain.integers(0, 99), outside="other")])

    assert counts_of(pl.LazyFrame({"age": range(1000)}), schema) == [1] * 100 + [900]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([1, 2**62], [1, 2**62]),
        ([2**63 - 1], [2**63 - 1]),
        ([Decimal(2**53 + 1), Decimal(1)], [2**53 + 1, 1]),
        ([], []),
    ],
)
def test_counts_come_back_as_exact_whole_numbers(counts, expected):
    kind = pl.Decimal(38, 0) if counts and isinstance(counts[0], Decimal) else pl.Int64
    read = combinations.read_counts(nw.from_native(pl.Series(counts, dtype=kind), series_only=True))

    assert read.tolist() == expected
    assert read.dtype == np.int64


@pytest.mark.parametrize("counts", [[2**62] * 2, [Decimal(2**63)], [1.0], [Decimal("0.5")]])
def test_counts_that_do_not_fit_or_are_not_whole_are_refused(counts):
    with pytest.raises(LimitExceededError):
        combinations.read_counts(nw.from_native(pl.Series(counts), series_only=True))


def test_counts_of_duckdb_are_exact_though_its_sums_are_decimals(duckdb):
    assert counts_of(duckdb.sql("SELECT 'a' AS s FROM range(100_000)")) == [100_000, 0, 0]


def test_whole_numbers_wider_than_64_bits_are_counted(duckdb):
    ages = Schema([Column("s", Domain.integers(0, 2), outside="other", nulls="drop")])
    bins = Schema([Column("s", Domain.binned([0, 2, 1e300]), outside="other", nulls="drop")])
    values = f"(VALUES (1::HUGEINT), ({2**100}), (NULL), (-{2**100}), (2))"
    lazy = duckdb.sql(f"SELECT * FROM {values} AS t (s)")

    assert counts_of(lazy, ages) == [0, 1, 1, 2]
    assert counts_of(lazy, bins) == [1, 2, 1]


# --- times ----------------------------------------------------------------------------------------


def test_the_date_of_a_time_stamp_is_that_of_its_zone(duckdb):
    years = Schema([Column("s", Domain.dates("1999-01-01", "2000-12-31", band="1y"))])
    connection = duckdb.connect()
    connection.sql("SET TimeZone = 'America/New_York'")
    lazy = connection.sql("SELECT TIMESTAMPTZ '2000-01-01 03:00:00+00' AS s")

    assert counts_of(lazy.to_arrow_table(), years) == counts_of(lazy, years) == [1, 0]


def test_infinite_dates_are_outside(duckdb):
    years = Schema(
        [Column("s", Domain.dates("1999-01-01", "2000-12-31", band="1y"), outside="other", nulls="drop")]
    )
    lazy = duckdb.sql("SELECT * FROM (VALUES ('infinity'::DATE), ('2000-02-03'), (NULL)) AS t (s)")

    assert counts_of(lazy, years) == [0, 1, 1]


# --- what is not counted lazily -------------------------------------------------------------------


@pytest.mark.parametrize("role", [{"weight": "w"}, {"person": "w", "rows_per_person": 1}])
def test_roles_that_need_every_row_are_refused_with_what_to_do(role):
    lazy = pl.LazyFrame({"s": ["a"], "w": [1]})

    with pytest.raises(
        InvalidParameterError, match=r"without the roles .* Hint: .*: collect its columns first"
    ):
        counts_of(lazy, LETTERS.with_roles(**role))


def test_a_bound_lowers_counts_of_a_lazy_frame():
    counted = Histogram.count(pl.LazyFrame({"s": ["a"] * 5}), LETTERS, bound=3)

    assert (counted.bound, counted.counts.tolist()) == (3, [3, 0, 0])


def test_a_large_table_keeps_its_filled_cells():
    schema = Schema([Column(name, Domain.integers(0, 2**20)) for name in "xy"])

    counted = Histogram.count(pl.LazyFrame({"x": [5, 5, 0], "y": [7, 7, 2**20]}), schema)

    assert counted.is_sparse
    assert counted.filled_cells().filled.tolist() == [1, 2]


def test_more_than_thirty_columns_are_counted():
    names = [f"c{place}" for place in range(40)]
    schema = Schema([Column(name, Domain.integers(0, 0), outside="drop") for name in names])
    lazy = pl.LazyFrame({name: [0, 0, int(name == "c35")] for name in names})

    assert Histogram.count(lazy, schema).people == 2


def test_an_error_of_an_earlier_column_comes_first():
    strict = Schema([Column(name, Domain.integers(0, 1)) for name in "xy"])

    with pytest.raises(OutsideDomainError, match="Column 'x' holds a missing value"):
        Histogram.count(pl.LazyFrame({"y": [7], "x": [None]}, schema={"y": pl.Int8, "x": pl.Int8}), strict)


def test_engines_are_not_imported_to_count_a_polars_frame():
    counts_of(pl.LazyFrame({"s": ["a"]}))

    assert "pyspark" not in sys.modules
