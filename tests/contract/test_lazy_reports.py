"""Group reports of the columns of a frame: by name, and for lazy frames counted in their engine."""

import math

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from contract._engines import IN_PROCESS, SPARK
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError
from evenhand.measure import MEASURES, group_report
from evenhand.measure import frames as measure_frames

ROWS = {
    "repaid": [1, 1, 0, 0, 1, 1, 0, 0, 1],
    "granted": [1, 1, 1, 0, 1, 0, 0, 0, 0],
    "sex": ["m", "m", "m", "m", "f", "f", "f", "f", "f"],
    "member": [True, True, False, False, True, False, True, False, False],
    "weight": [1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0],
    "score": [0.9, 0.8, 0.7, 0.1, 0.6, 0.2, 0.3, 0.4, 0.5],
}
LAZY = [*IN_PROCESS, pytest.param(SPARK, marks=pytest.mark.engines)]


@pytest.fixture(params=LAZY, ids=lambda engine: engine.name)
def lazy(request):
    request.param.require()
    return request.param.load(pa.table(ROWS))


def assert_same(actual, expected):
    """Check that two reports are the same to the last bit."""
    assert actual.table.groups == expected.table.groups
    assert actual.table.counts.dtype == expected.table.counts.dtype
    assert actual.table.counts.tolist() == expected.table.counts.tolist()
    assert (actual.table.weighted, actual.table.rows) == (expected.table.weighted, expected.table.rows)
    assert repr(actual) == repr(expected)
    for measure in MEASURES:
        values = float(actual.value(measure)), float(expected.value(measure))
        assert values[0] == values[1] or all(map(math.isnan, values))
        assert repr(actual.interval(measure)) == repr(expected.interval(measure))


def test_a_lazy_frame_has_the_report_of_its_rows(lazy):
    report = group_report("repaid", "granted", "sex", privileged="m", frame=lazy)

    assert_same(report, group_report(ROWS["repaid"], ROWS["granted"], ROWS["sex"], privileged="m"))


def test_columns_of_a_lazy_frame_are_crossed(lazy):
    report = group_report(None, "granted", ["sex", "member"], frame=lazy)

    crossed = {name: ROWS[name] for name in ("sex", "member")}
    assert_same(report, group_report(None, ROWS["granted"], crossed))
    assert list(report.margins) == ["sex", "member"]


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS)])
def test_columns_of_an_eager_frame_are_taken_by_name(frame):
    given = {"weights": "weight", "scores": "score"}
    report = group_report("repaid", "granted", ["sex"], frame=frame, **given)

    columns = {parameter: ROWS[name] for parameter, name in given.items()}
    assert repr(report) == repr(group_report(ROWS["repaid"], ROWS["granted"], ROWS["sex"], **columns))


def test_labels_and_declared_groups_go_with_a_lazy_frame():
    report = group_report(
        "repaid", "granted", "sex", frame=pl.LazyFrame(ROWS), groups=["m", "f", "x"], labels={"x": "other"}
    )

    assert report.table.groups == ("m", "f", "other")


@pytest.mark.parametrize("parameter", ["scores", "weights"])
def test_what_needs_every_row_is_refused_with_what_to_do(parameter):
    with pytest.raises(InvalidParameterError, match="collect the columns first") as caught:
        group_report("repaid", "granted", "sex", frame=pl.LazyFrame(ROWS), **{parameter: "weight"})

    assert caught.value.parameter == parameter


@pytest.mark.parametrize("make", [pl.LazyFrame, pl.DataFrame])
def test_a_missing_value_is_refused_without_the_row(make):
    rows = {"granted": [1, None, 0], "sex": ["f", "m", "m"]}

    with pytest.raises(InvalidParameterError, match=r"The 'y_pred' parameter .* without missing values"):
        group_report(None, "granted", "sex", frame=make(rows))


def test_missing_values_of_every_engine_are_refused(lazy_with_missing):
    with pytest.raises(InvalidParameterError, match="without missing values"):
        group_report(None, "granted", "sex", frame=lazy_with_missing)


@pytest.fixture(params=IN_PROCESS, ids=lambda engine: engine.name)
def lazy_with_missing(request):
    request.param.require()
    return request.param.load(pa.table({"granted": [1, 0, 0], "sex": ["f", None, "m"]}))


@pytest.mark.parametrize("make", [pl.LazyFrame, pl.DataFrame])
def test_a_column_that_is_not_there_is_named(make):
    with pytest.raises(ColumnNotFoundError, match=r"Column 'grant' is not in the frame\. Hint: did you mean"):
        group_report(None, "grant", "sex", frame=make(ROWS))


@pytest.mark.parametrize(
    ("names", "parameter"),
    [
        ((None, [1, 0], "sex"), "y_pred"),
        ((None, None, "sex"), "y_pred"),
        (("repaid", "granted", []), "group"),
        (("repaid", "granted", ["sex", "sex"]), "group"),
        (("repaid", "granted", ["sex", 1]), "group"),
        (("repaid", "granted", {"sex": ["f"]}), "group"),
    ],
)
def test_what_is_no_name_of_a_column_is_refused(names, parameter):
    with pytest.raises(InvalidParameterError, match="of 'frame'") as caught:
        group_report(*names, frame=pl.LazyFrame(ROWS))

    assert caught.value.parameter == parameter


def test_objects_of_several_types_make_no_groups():
    """Otherwise Dask counts 1, 1.0 and True as one group."""
    dask = pytest.importorskip("dask", reason="pip install 'dask[dataframe]'")
    import dask.dataframe as dd

    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        frames = [
            dd.from_pandas(
                pd.DataFrame({"granted": [1, 0], "sex": pd.Series(sex, dtype=object)}), npartitions=1
            )
            for sex in (["f", "m"], [1, True])
        ]
        assert group_report(None, "granted", "sex", frame=frames[0]).table.groups == ("f", "m")
        with pytest.raises(InvalidParameterError, match="Python objects"):
            group_report(None, "granted", "sex", frame=frames[1])


def test_more_rows_than_floats_count_exactly_are_refused(monkeypatch):
    monkeypatch.setattr(measure_frames, "_MOST_ROWS", 8)

    with pytest.raises(LimitExceededError, match="is not exact"):
        group_report("repaid", "granted", "sex", frame=pl.LazyFrame(ROWS))
