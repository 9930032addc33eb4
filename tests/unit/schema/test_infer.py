"""Inference reads what the rows hold, says that this leaks, and shows no value while doing so."""

# ruff: noqa: PD011 - `values` are those of a domain, not of a data frame

import datetime as dt
import decimal
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import (
    ColumnNotFoundError,
    DomainInferredWarning,
    InvalidParameterError,
    SchemaError,
)
from evenhand.schema import Column, Domain, Schema

BACKENDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
SECRET = "Holand-Netherlands"


@pytest.fixture(params=BACKENDS)
def make(request):
    return BACKENDS[request.param]


def _infer(frame, **options):
    with pytest.warns(DomainInferredWarning):
        return Schema.infer(frame, **options)


def _domain(values, **options):
    return _infer(values if hasattr(values, "columns") else pl.DataFrame({"x": values}), **options)[
        "x"
    ].domain


def test_the_documented_call_works_on_every_kind_of_frame(make):
    frame = make(
        {
            "gender": ["Male", "Female", "Male"] * 10,
            "race": ["White", "Black", "Asian"] * 10,
            "age": list(range(20, 50)),
            "hours": [number * 1.25 for number in range(30)],
            "member": [True, False, True] * 10,
            "children": [0, 1, 2] * 10,
            "income": ["<=50K", ">50K", "<=50K"] * 10,
        }
    )
    with pytest.warns(DomainInferredWarning):
        schema = Schema.infer(
            frame,
            sensitive=["gender", "race", "age"],
            protected="gender",
            privileged="Male",
            target="income",
            positive=">50K",
        )

    assert schema == Schema(
        (
            Column("gender", Domain.categorical(["Female", "Male"]), inferred=True),
            Column("race", Domain.categorical(["Asian", "Black", "White"]), inferred=True),
            Column("age", Domain.binned(range(20, 51, 5)), inferred=True),
            Column("hours", Domain.binned([0, 5, 10, 15, 20, 25, 30, 35, 40]), inferred=True),
            Column("member", Domain.categorical([False, True])),
            Column("children", Domain.categorical([0, 1, 2], ordered=True), inferred=True),
            Column("income", Domain.categorical(["<=50K", ">50K"]), inferred=True),
        ),
        sensitive=["gender", "race", "age"],
        protected="gender",
        privileged="Male",
        target="income",
        positive=">50K",
    )


def test_the_warning_says_which_columns_why_and_what_to_do(make):
    frame = make({"country": ["Cuba", SECRET, "Cuba"], "member": [True, False, True], "age": [17, 93, 40]})
    with pytest.warns(DomainInferredWarning) as caught:
        Schema.infer(frame)
    text = str(caught[0].message)

    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert "The domains of 'country' and 'age' were read from the rows" in text
    assert "somebody in the data has it" in text
    assert "schema.save('schema.toml')" in text
    assert "Schema.load('schema.toml')" in text
    for value in (SECRET, "Cuba", "17", "93", "member"):
        assert value not in text


def test_the_warning_about_many_columns_stays_short():
    frame = pl.DataFrame({f"column {number}": [1, 2] for number in range(1_000)})
    with pytest.warns(
        DomainInferredWarning, match="'column 9' and 990 more were read from the rows"
    ) as caught:
        Schema.infer(frame)

    assert len(str(caught[0].message)) < 1_000
    with pytest.warns(DomainInferredWarning, match="The domain of 'column 3' was read from the rows"):
        Schema.infer(frame, columns="column 3")


def test_there_is_no_warning_where_no_row_was_read():
    frame = pl.DataFrame(
        {"flag": [True, False], "size": pl.Series(["L", "S"], dtype=pl.Enum(["S", "M", "L"]))}
    )
    with warnings.catch_warnings(action="error"):
        schema = Schema.infer(frame, nulls="drop")

    assert schema["flag"].domain == Domain.categorical([False, True])
    assert schema["size"].domain == Domain.categorical(["S", "M", "L"], ordered=True)


def test_truth_values_have_both_values_whatever_the_rows_hold():
    with warnings.catch_warnings(action="error"):
        assert Schema.infer(pl.DataFrame({"x": [True, True]}))["x"].domain == Domain.categorical(
            [False, True]
        )


def test_a_rule_for_missing_values_that_was_read_is_a_leak_too(make):
    """The code for missing values is there because somebody's value is missing."""
    with pytest.warns(DomainInferredWarning, match="of 'x' was read"):
        schema = Schema.infer(make({"x": [True, None, False], "y": [True, False, True]}))

    assert (schema["x"].nulls, schema["y"].nulls) == ("other", "error")
    assert schema["x"].domain == Domain.categorical([False, True])


@pytest.mark.parametrize("values", [["a", None], [1, None], [0.5, None]])
def test_missing_values_become_other_unless_a_rule_is_given(make, values):
    frame = make({"x": values})

    assert _infer(frame)["x"].nulls == "other"
    assert _infer(frame, nulls="drop")["x"].nulls == "drop"
    assert _infer(make({"x": [values[0]]}))["x"].nulls == "error"


def test_not_a_number_counts_as_missing(make):
    assert _infer(make({"x": [0.5, math.nan]}))["x"].nulls == "other"


def test_infinite_numbers_do_not_stretch_the_bins(make):
    column = _infer(make({"x": [*(at / 40 for at in range(41)), math.inf, -math.inf]}))["x"]

    assert column.domain.edges[-1] == 1.0
    assert column.outside == "other"


def test_the_rule_for_values_outside_is_given_to_every_column(make):
    schema = _infer(make({"x": ["a"], "y": [1]}), outside="other")

    assert [column.outside for column in schema] == ["other", "other"]


def test_a_category_type_with_an_order_keeps_it():
    ordered = pd.Categorical(["low", "high"], categories=["low", "middle", "high"], ordered=True)
    unordered = pd.Categorical(["low", "high"], categories=["low", "middle", "high"])

    assert _domain(pd.DataFrame({"x": ordered})) == Domain.categorical(
        ["low", "middle", "high"], ordered=True
    )
    assert _domain(pd.DataFrame({"x": unordered})) == Domain.categorical(["high", "low"])
    assert _domain(pl.Series(["b", "a"], dtype=pl.Categorical)) == Domain.categorical(["a", "b"])
    assert _domain(pa.table({"x": pa.array(["b", "a"]).dictionary_encode()})) == Domain.categorical(
        ["a", "b"]
    )


def test_more_categories_than_allowed_are_refused_to_the_last_one():
    assert _domain([str(number) for number in range(100)]).size == 100
    for count in (101, 102):
        with pytest.raises(SchemaError, match="more than 100 distinct values"):
            Schema.infer(pl.DataFrame({"x": [str(number) for number in range(count)]}))


def test_categories_that_are_numbers_stay_numbers():
    assert _domain(pd.DataFrame({"x": pd.Categorical([3, 1])})) == Domain.categorical([1, 3])
    assert _domain(pd.DataFrame({"x": pd.Categorical([0.5, 0.1])})) == Domain.categorical([0.1, 0.5])


def test_objects_of_one_type_are_taken_for_what_they_are():
    assert _domain(pd.DataFrame({"x": np.array(["b", "a", None], dtype=object)})) == Domain.categorical(
        ["a", "b"]
    )
    assert _domain(pd.DataFrame({"x": np.array([True, None], dtype=object)})) == Domain.categorical(
        [False, True]
    )


def test_whole_numbers_are_a_list_up_to_twenty_and_a_range_beyond():
    assert _domain(list(range(0, 60, 3))) == Domain.categorical(list(range(0, 60, 3)), ordered=True)
    assert _domain(list(range(0, 63, 3))) == Domain.integers(0, 60)
    assert _domain([5, 1, 3], max_categories=2) == Domain.integers(1, 5)
    assert _domain(pl.Series([3, 1], dtype=pl.UInt8)) == Domain.categorical([1, 3], ordered=True)


def test_whole_numbers_stay_exact():
    numbers = [2**53 + offset for offset in range(1, 50)]

    assert _domain(numbers) == Domain.integers(2**53 + 1, 2**53 + 49)
    assert _domain([2**53 + 1, 2**53]) == Domain.categorical([2**53, 2**53 + 1], ordered=True)
    assert _domain(pd.DataFrame({"x": pd.array([2**53 + 1, None], dtype="Int64")})).values == (2**53 + 1,)


def test_decimals_are_binned_like_numbers():
    many = [decimal.Decimal(number) / 100 for number in range(10, 96, 2)]

    assert _domain(many).edges[:3] == (0.1, 0.2, 0.3)
    assert _domain(many[:2]) == Domain.categorical([0.1, 0.12], ordered=True)


def test_there_are_at_most_the_bins_asked_for():
    many = [number / 2 for number in range(201)]

    assert _domain(many, bins=4).edges == (0, 25, 50, 75, 100)
    assert _domain(many, bins=1).edges == (0, 100)


@pytest.mark.parametrize("role", ["sensitive", "protected", "target"])
def test_zero_and_one_with_gaps_are_two_values_and_missing(role):
    """pandas writes such a column as 0.0 and 1.0; eleven bins of it would be ten that nobody is in."""
    column = _infer(pd.DataFrame({"x": [0.0, None, 1.0] * 40}), **{role: "x"})["x"]

    assert column.domain == Domain.categorical([0, 1], ordered=True)
    assert column.nulls == ("drop" if role == "target" else "other")


def test_whole_numbers_of_a_role_are_put_into_bins():
    """An audit and a release must not differ in how fine a column is that people report."""
    assert _domain(list(range(18, 90)), sensitive="x") == Domain.binned(range(10, 91, 10))
    assert _domain(list(range(18, 90))) == Domain.integers(18, 89)


def test_the_same_rows_in_any_order_give_the_same_schema(make):
    rows = {"x": ["b", "a", "c", "a"], "y": [3, 1, 2, 1], "z": [0.5, 0.25, 9.0, 0.25]}
    turned = {name: values[::-1] for name, values in rows.items()}

    assert _infer(make(rows)) == _infer(make(turned))
    assert _infer(make(rows)).fingerprint == _infer(pl.DataFrame(rows)).fingerprint


def test_only_the_columns_asked_for_are_read(make):
    frame = make({"x": ["a"], "when": [dt.date(2020, 1, 1)], "y": ["b"]})

    assert _infer(frame, columns=["y", "x"]).names == ("y", "x")
    with pytest.raises(ColumnNotFoundError, match=r"Column 'Y' is not in the frame. Hint: did you mean 'y'"):
        Schema.infer(frame, columns=["Y"])
    with pytest.raises(ColumnNotFoundError, match="is not in the frame"):
        Schema.infer(frame, columns=[["x"]])
    with pytest.raises(InvalidParameterError, match="'x' twice"):
        Schema.infer(frame, columns=["x", "x"])
    with pytest.raises(ColumnNotFoundError, match="Column 'y' is not in the schema"):
        Schema.infer(frame, columns=["x"], sensitive="y")


REFUSED = {
    "texts": (
        pl.Series([f"{SECRET} {n}" for n in range(101)]),
        "more than 100 distinct values .max_categories",
    ),
    "date": (pl.Series([dt.date(1815, 12, 10)]), "holds dates"),
    "time": (pl.Series([dt.datetime(1815, 12, 10, 1)]), "holds dates"),  # noqa: DTZ001 - no zone on purpose
    "duration": (pl.Series([dt.timedelta(days=1815)]), "is of type Duration"),
    "list": (pl.Series([[SECRET]]), "is of type List"),
    "struct": (pl.Series([{"a": SECRET}]), "is of type Struct"),
    "binary": (pl.Series([SECRET.encode()]), "is of type Binary"),
    "nothing": (pl.Series([None, None]), "is of type Unknown"),
    "no text": (pl.Series([None, None], dtype=pl.String), "holds no value"),
    "no number": (pl.Series([math.nan, None]), "holds no number"),
    "no whole number": (pl.Series([], dtype=pl.Int64), "holds no value"),
    "large": (pl.Series([2**63 + 1815], dtype=pl.UInt64), "cannot be declared"),
    "far apart": (
        pl.Series([-(2**63), 2**63 - 1815, *range(50)]),
        "too large or too far apart for 64 bits",
    ),
    "many large": (
        pl.Series([2**63 + n for n in range(50)], dtype=pl.UInt64),
        "too large or too far apart for 64 bits",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_column_without_a_domain_is_named_and_its_values_are_not(case):
    """Errors end up in logs and tickets: a value in one is a release nobody decided on."""
    series, message = REFUSED[case]
    with pytest.raises(SchemaError, match=f"Column 'born' .*{message}") as caught:
        Schema.infer(pl.DataFrame({"born": series}))
    text = f"{caught.value!r} {caught.value}"

    assert caught.value.field == "columns.born.domain"
    assert "leave it out with columns=" in text
    assert caught.value.__suppress_context__
    for value in (SECRET, "1815", "9223372036854775808", str(2**63 - 1815)):
        assert value not in text


UNREADABLE = {
    "object": pl.DataFrame({"x": pl.Series([object(), object()], dtype=pl.Object)}),
    "no UTF-8": pa.table(
        {
            "x": pa.Array.from_buffers(
                pa.string(), 1, [None, pa.py_buffer(np.array([0, 5], np.int32)), pa.py_buffer(b"1815\xff")]
            )
        }
    ),
    "surrogate": pd.DataFrame({"x": pd.Series(["1815\ud800"], dtype=object)}),
    "lists": pd.DataFrame({"x": [[1815], [2]]}),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_a_library_says_about_a_value_is_not_passed_on(case):
    """The message of another library may quote the value it stumbled over."""
    with pytest.raises(SchemaError, match="Column 'x' holds values that cannot be") as caught:
        Schema.infer(UNREADABLE[case])

    assert "1815" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_missing_value_among_the_categories_is_missing():
    hidden = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    schema = _infer(pa.table({"x": hidden}))

    assert schema["x"] == Column("x", Domain.categorical(["a"]), nulls="other", inferred=True)


@pytest.mark.parametrize("mixed", [[SECRET, 1815], [b"1815", b"x"], [(1815,), (2,)], [pd.Interval(0, 1815)]])
def test_objects_that_cannot_be_declared_are_refused_without_showing_them(mixed):
    frame = pd.DataFrame({"x": pd.Series(mixed, dtype=object)})
    with pytest.raises(SchemaError, match="Column 'x'") as caught:
        Schema.infer(frame)

    assert SECRET not in str(caught.value)
    assert "1815" not in str(caught.value)


def test_ordered_categories_that_cannot_be_declared_are_refused_without_showing_them():
    years = pd.Categorical(pd.to_datetime(["1815-12-10"]), ordered=True)
    with pytest.raises(SchemaError, match="Column 'x' holds values that cannot be declared") as caught:
        Schema.infer(pd.DataFrame({"x": years}))

    assert "1815" not in str(caught.value)


@pytest.mark.parametrize(("role", "value"), [("protected", "privileged"), ("target", "positive")])
def test_a_role_value_that_no_row_holds_is_refused_without_telling_what_they_hold(role, value):
    frame = pl.DataFrame({"country": [SECRET, "Cuba"]})
    with pytest.raises(
        SchemaError, match=f"Role '{value}' is not a value that was found in column 'country'"
    ) as caught:
        Schema.infer(frame, **{role: "country", value: "Holand"})

    assert SECRET not in str(caught.value)
    assert caught.value.field == f"roles.{value}"
    with pytest.raises(SchemaError, match="there is none"):
        Schema.infer(frame, **{value: "Cuba"})


@pytest.mark.parametrize(
    "frame",
    [None, 3, "frame.csv", [1, 2], {"x": [1]}, pl.LazyFrame({"x": [1]}), pd.Series([1815]), np.array([1815])],
)
def test_what_is_no_frame_is_refused_without_showing_it(frame):
    with pytest.raises(
        InvalidParameterError, match=r"'frame' parameter of Schema.infer must be a pandas, Polars"
    ) as caught:
        Schema.infer(frame)

    assert "1815" not in str(caught.value)


def test_frames_whose_columns_cannot_be_told_apart_are_refused():
    with pytest.raises(InvalidParameterError, match="distinct names"):
        Schema.infer(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(InvalidParameterError, match="named by text"):
        Schema.infer(pd.DataFrame([[1, 2]]))
    with pytest.raises(InvalidParameterError, match="at least one Column"):
        Schema.infer(pl.DataFrame())


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"max_categories": 0}, "max_categories"),
        ({"max_categories": None}, "max_categories"),
        ({"bins": 0}, "bins"),
        ({"bins": 2.5}, "bins"),
        ({"outside": "keep"}, "outside"),
        ({"nulls": "keep"}, "nulls"),
    ],
)
def test_choices_that_make_no_sense_are_refused(options, parameter):
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter of"):
        Schema.infer(pl.DataFrame({"x": ["a"]}), **options)


def test_the_frame_is_left_as_it_was(make):
    frame = make({"x": ["b", "a", None], "y": [2.5, 1.5, 3.5]})
    before = str(frame)
    _infer(frame)

    assert str(frame) == before


def test_minus_zero_is_no_value_of_its_own(make):
    """Arrow counts it as one, and the same rows would have other bins than in another library."""
    numbers = [-0.0, *map(float, range(20))]
    assert _domain(make({"x": numbers})) == Domain.categorical(range(20), ordered=True)
