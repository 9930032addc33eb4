"""Frames that evenhand makes itself are of the library that was asked for."""

import importlib.util

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError, MissingExtraError
from evenhand.table import make_frame

COLUMNS = {"group": ["a", "b"], "rate": [0.5, 0.25]}


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_is_of_the_library_asked_for(backend, kind):
    frame = make_frame(COLUMNS, backend=backend)

    assert isinstance(frame, kind)
    assert pa.table(frame).to_pydict() == COLUMNS


def test_pandas_is_taken_where_it_is_installed():
    assert isinstance(make_frame(COLUMNS), pd.DataFrame)


def without(package, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))


def test_without_pandas_a_frame_is_an_arrow_table(monkeypatch):
    without("pandas", monkeypatch)

    assert isinstance(make_frame(COLUMNS), pa.Table)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_the_command(package, monkeypatch):
    without(package, monkeypatch)
    with pytest.raises(MissingExtraError) as caught:
        make_frame(COLUMNS, backend=package)

    assert (
        str(caught.value) == f"A {package} frame needs the package '{package}'. Hint: pip install {package}"
    )


def test_an_unknown_library_is_refused():
    with pytest.raises(InvalidParameterError, match="The 'backend' parameter of make_frame must be one of"):
        make_frame(COLUMNS, backend="dask")
