"""Engines that hold the rows of a lazy frame: how an Arrow table gets into each, and out again."""

import importlib.util
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest


@dataclass(frozen=True)
class Engine:
    """An engine: the packages it needs, a lazy frame of a table, and the frame that is collected from it."""

    name: str
    packages: tuple[str, ...]
    load: Callable[[Any], Any]
    collect: Callable[[Any], Any]

    def require(self):
        """Skip a test where a package is not installed."""
        for package in self.packages:
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"{package} is not installed: pip install {package}")
        if "pyspark" in self.packages and shutil.which("java") is None:
            pytest.skip("Java is not installed: apt-get install default-jre-headless")


def _load_polars(table):
    import polars as pl

    return pl.from_arrow(table).lazy()


def _load_duckdb(table):
    import duckdb

    return duckdb.from_arrow(table)


def _load_ibis(table):
    import ibis

    return ibis.memtable(table)


def _load_dask(table, types=None):
    import dask
    import dask.dataframe as dd
    import pandas as pd

    dask.config.set(scheduler="synchronous")
    frame = table.to_pandas(types_mapper=pd.ArrowDtype if types is None else types.get)
    return dd.from_pandas(frame, npartitions=min(2, len(frame)) or 1)


@cache
def spark_session():
    """Return the one Spark of this process, with one worker."""
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
    builder = SparkSession.builder.master("local[1]").config(map=settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas 3 is newer than Spark knows
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _load_spark(table):
    return spark_session().createDataFrame(table)


POLARS = Engine("polars", ("polars",), _load_polars, lambda lazy: lazy.collect())
DUCKDB = Engine("duckdb", ("duckdb",), _load_duckdb, lambda lazy: lazy.to_arrow_table())
IBIS = Engine("ibis", ("ibis", "duckdb"), _load_ibis, lambda lazy: lazy.to_pyarrow())
DASK = Engine("dask", ("dask", "pandas"), _load_dask, lambda lazy: lazy.compute())
DASK_NUMPY = Engine(
    "dask-numpy", ("dask", "pandas"), lambda table: _load_dask(table, types={}), lambda lazy: lazy.compute()
)
SPARK = Engine("spark", ("pyspark",), _load_spark, lambda lazy: lazy.toArrow())

IN_PROCESS = [POLARS, DUCKDB, IBIS, DASK, DASK_NUMPY]
