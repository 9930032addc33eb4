"""Engines that hold the rows of a lazy frame: how an Arrow table gets into each, and out again."""

import contextlib
import importlib.util
import os
import warnings
from dataclasses import dataclass
from typing import Any, Callable

import pytest


@dataclass(frozen=True)
class Engine:
    """An engine: the packages it needs, a lazy frame of a table, and the frame that its user would collect."""

    name: str
    packages: tuple[str, ...]
    load: Callable[[Any], Any]
    collect: Callable[[Any], Any]

    def require(self):
        for package in self.packages:
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"{package} is not installed: pip install {package}")


def _polars(table):
    import polars as pl

    return pl.from_arrow(table).lazy()


def _duckdb(table):
    import duckdb

    return duckdb.from_arrow(table)


def _ibis(table):
    import ibis

    return ibis.memtable(table)


def _dask(table):
    import dask.dataframe as dd
    import pandas as pd

    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return dd.from_pandas(frame, npartitions=min(2, len(frame)) or 1)


def _dask_numpy(table):
    import dask.dataframe as dd

    frame = table.to_pandas()
    return dd.from_pandas(frame, npartitions=min(2, len(frame)) or 1)


ENGINES = [
    Engine("polars", ("polars",), _polars, lambda lazy: lazy.collect()),
    Engine("duckdb", ("duckdb",), _duckdb, lambda lazy: lazy.to_arrow_table()),
    Engine("ibis", ("ibis", "duckdb"), _ibis, lambda lazy: lazy.to_pyarrow()),
    Engine("dask", ("dask", "pandas"), _dask, lambda lazy: lazy.compute(scheduler="synchronous")),
    Engine("dask-numpy", ("dask", "pandas"), _dask_numpy, lambda lazy: lazy.compute(scheduler="synchronous")),
]
