"""Dates are dates: bands of a public grid, in every form in which frames and files hold them."""

import datetime as dt
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import ColumnNotFoundError, InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Level, Schema
from evenhand.schema.bands import FORMS, as_date, recognise_dates
from evenhand.table import Table

DAYS = [
    dt.date(1969, 12, 31),
    dt.date(1970, 1, 1),
    None,
    dt.date(1989, 12, 31),
    dt.date(1990, 1, 1),
    dt.date(1959, 12, 31),
]
CODES = [0, 1, 3, 2, 3, 3]
TENS = Domain.dates("1960-01-01", "1985-06-30", band="10y")
STAMPS = [day and dt.datetime(day.year, day.month, day.day, 23, 59) for day in DAYS]  # noqa: DTZ001 - no zone


def infer(frame, **given):
    with warnings.catch_warnings(action="ignore"):
        return Schema.infer(frame, **given)


def codes(series, domain=TENS):
    schema = Schema([Column("born", domain, outside="other", nulls="other")])
    return Table.encode(series, schema)["born"].tolist()


def texts(written):
    return [day and day.strftime(written) for day in DAYS]


FRAMES = {
    "date32": pa.table({"born": pa.array(DAYS, pa.date32())}),
    "date64": pa.table({"born": pa.array(DAYS, pa.date64())}),
    **{unit: pa.table({"born": pa.array(STAMPS, pa.timestamp(unit))}) for unit in ("s", "ms", "us", "ns")},
    "zone": pa.table({"born": pa.array(STAMPS, pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))}),
    "objects": pd.DataFrame({"born": DAYS}),
    "pandas": pd.DataFrame({"born": pd.to_datetime(pd.Series(STAMPS))}),
    "polars": pl.DataFrame({"born": DAYS}),
    "polars stamps": pl.DataFrame({"born": STAMPS}),
    "text": pa.table({"born": texts("%Y-%m-%d")}),
    "text with time": pa.table({"born": texts("%Y-%m-%dT%H:%M:%SZ")}),
    "categories": pd.DataFrame({"born": pd.Categorical(texts("%Y-%m-%d"))}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_date_has_one_code_in_whatever_form_it_comes(frame):
    assert codes(frame) == CODES


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("dd.mm.yyyy", "%d.%m.%Y"),
        ("mm/dd/yyyy", "%m/%d/%Y"),
        ("dd mon yyyy", "%d %b %Y"),
        ("mon dd yyyy", "%B %d, %Y"),
    ],
)
def test_a_declared_way_of_writing_is_read(form, written):
    domain = Domain.dates("1960-01-01", "1985-06-30", band="10y", written=form)

    assert codes(pa.table({"born": texts(written)}), domain) == CODES


@given(
    st.dates(dt.date(1900, 1, 1), dt.date(2099, 12, 31)), st.sampled_from([1, 2, 3, 5, 6, 12, 24, 60, 120])
)
def test_every_day_is_in_the_band_that_begins_at_a_multiple(day, months):
    """The slow version: pandas' own months, and no arithmetic of edges."""
    domain = Domain.dates("1900-01-01", "2099-12-31", band=f"{months}m")
    (code,) = codes(pa.table({"born": [day]}), domain)

    number = (pd.Period(day, "M") - pd.Period(domain.first, "M")).n
    first_month = 12 * domain.first.year + domain.first.month - 1
    assert first_month % months == 0
    assert code == number // months
    assert domain.labels[code].startswith(str((first_month + code * months) // 12))


@pytest.mark.parametrize(
    ("band", "labels"),
    [
        ("10y", ("1980–1989", "1990–1999")),
        ("1y", ("1989", "1990")),
        ("1q", ("1989-10 – 1989-12", "1990-01 – 1990-03")),
        ("1m", ("1989-12", "1990-01")),
    ],
)
def test_labels_say_the_band(band, labels):
    assert Domain.dates("1989-12-31", "1990-01-01", band=band).labels == labels


def test_a_schema_of_dates_and_a_threshold_is_written_and_read():
    dates = Domain.dates("1960-01-01", "1985-06-30", band="10y", written="dd.mm.yyyy")
    schema = Schema(
        [Column("born", dates), Column("pay", Domain.threshold(">=50"))], target="pay", positive=">= 50"
    )
    text = schema.to_toml()

    assert Schema.from_toml(text) == schema
    assert (
        'kind = "dates"\nfirst = 1960-01-01\nlast = 1989-12-31\nband = "10y"\nwritten = "dd.mm.yyyy"\n'
        in text
    )
    assert 'kind = "threshold"\nrule = ">= 50"\n' in text
    assert repr(dates) == "Domain.dates('1960-01-01', '1989-12-31', band='10y', written='dd.mm.yyyy')"
    assert eval(repr(dates), {"Domain": Domain}) == dates
    assert "3 bands: 1960–1969, 1970–1979, 1980–1989" in repr(schema)


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"band": "10"}, "band"),
        ({"band": "0y"}, "band"),
        ({"band": 10}, "band"),
        ({"first": "soon"}, "first"),
        ({"last": "1959-01-01"}, "last"),
        ({"written": "ddmmyy"}, "written"),
        ({"band": "9999y"}, "band"),
        ({"first": "0002-01-01", "last": "9990-01-01", "band": "1m"}, "band"),
    ],
)
def test_what_is_no_band_is_refused(given, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        Domain.dates(**{"first": "1960-01-01", "last": "1985-01-01", "band": "10y"} | given)

    assert caught.value.parameter == parameter


def test_bands_go_into_groups_and_have_no_cuts():
    life = Level("life", {"old": ["1960–1969"], "young": ["1970–1979", "1980–1989"]})
    assert Column("born", TENS, levels=[life]).level("life").labels == ("old", "young")
    with pytest.raises(SchemaError, match="can only be put into groups"):
        Column("born", TENS, levels=[Level("life", cuts=[0])])


# --- recognised in rows ---------------------------------------------------------------------------


@given(st.lists(st.dates(dt.date(1900, 1, 1)), min_size=40, unique=True), st.sampled_from(FORMS))
def test_dates_are_recognised_in_the_form_in_which_they_are_written(days, form):
    written = form.replace("yyyy", "%Y").replace("mon", "%b").replace("mm", "%m").replace("dd", "%d")
    column = [day.strftime(written) for day in days]
    forms = recognise_dates(column)

    assert form in forms
    assert [as_date(text, form) for text in column] == days
    if any(day.day > 12 for day in days[:4]):  # which no other order allows, for more than one in ten
        assert len(forms) == 1


@pytest.mark.parametrize("column", [["a", "b"], [], ["12"], ["1.2.3"], ["10:30"], ["2020"], ["1999-13-01"]])
def test_other_texts_are_no_dates(column):
    assert recognise_dates(column) == ()


@pytest.mark.parametrize("born", [DAYS, STAMPS, texts("%Y-%m-%d"), texts("%d.%m.%Y")])
def test_dates_without_a_band_are_called_dates(born):
    with pytest.raises(SchemaError, match=r"Column 'born' holds dates. Hint: band them, with bands=.*'10y'"):
        infer(pa.table({"born": born}))


def test_the_order_of_day_and_month_is_asked_for_and_not_guessed():
    frame = pa.table({"born": ["01/02/1980", "03/04/1999", None]})
    with pytest.raises(SchemaError, match=r"cannot be told apart \(dd/mm/yyyy or mm/dd/yyyy\)"):
        infer(frame, bands={"born": "1m"})

    said = infer(frame, bands={"born": "1m:mm/dd/yyyy"})["born"]
    assert (said.domain.first, said.domain.last) == (dt.date(1980, 1, 1), dt.date(1999, 3, 31))
    assert (said.inferred, said.nulls, said.outside) == (True, "other", "error")


def test_years_of_two_digits_are_not_guessed():
    with pytest.raises(SchemaError, match="years of two digits"):
        infer(pa.table({"born": ["01.02.80", "03.04.99"]}))


def test_a_text_beside_dates_is_outside_their_bands():
    born = [f"{year}-01-01" for year in range(1960, 1990)] + ["unknown"]
    column = infer(pa.table({"born": born}), bands={"born": "10y"})["born"]

    assert column.outside == "other"
    assert column.labels == ("1960–1969", "1970–1979", "1980–1989", "other")


def test_numbers_have_bands_too():
    schema = infer(pa.table({"age": [17, 45], "rate": [0.05, 0.31]}), bands={"age": "10", "rate": "0.1"})

    assert schema["age"].domain.edges == (10, 20, 30, 40, 50)
    assert schema["rate"].domain.edges == (0.0, 0.1, 0.2, 0.3, 0.4)


@pytest.mark.parametrize(
    ("column", "band", "message"),
    [
        ([1, 2], "10y", "holds numbers, whose bands are as wide as a number"),
        (["a", "b"], "10y", "neither dates nor"),
        (["1980-01-01"], "10", "years, quarters or months"),
        ([0.0, 1e9], "0.001", "more bands than there can be"),
        (["0001-02-03", "9998-01-01"], "1m", "more bands than there can be"),
        ([1, 2], "inf", "a number above 0"),
    ],
)
def test_a_band_that_does_not_fit_names_the_column_and_no_value(column, band, message):
    with pytest.raises(SchemaError, match=message) as caught:
        infer(pa.table({"x": column}), bands={"x": band})

    assert "1980" not in str(caught.value)
    assert "9998" not in str(caught.value)


def test_a_band_of_no_column_is_refused():
    with pytest.raises(ColumnNotFoundError):
        infer(pa.table({"x": [1]}), bands={"y": "10"})


# --- thresholds -----------------------------------------------------------------------------------


@given(
    st.sampled_from([">=", ">", "<", "<="]), st.integers(-50, 50), st.lists(st.integers(-60, 60), min_size=1)
)
def test_a_threshold_parts_numbers_as_python_does(sign, cut, numbers):
    compare = {">=": int.__ge__, ">": int.__gt__, "<": int.__lt__, "<=": int.__le__}[sign]
    domain = Domain.threshold(f"{sign} {cut}")
    positive = domain.find(f"{sign} {cut}")

    for column in (numbers, [float(number) for number in numbers]):
        found = codes(pa.table({"born": column}), domain)
        assert [code == positive for code in found] == [compare(number, cut) for number in numbers]


def test_a_target_of_numbers_takes_a_threshold_wherever_roles_are_given():
    declared = Schema(
        [Column("pay", Domain.integers(0, 90_000), nulls="drop")], target="pay", positive=">=50000"
    )
    frame = pa.table({"pay": [10_000, 60_000, None], "sex": ["f", "m", "m"]})
    read = infer(frame, target="pay", positive=">= 50000")

    for schema in (declared, read, declared.with_roles(positive=">= 50000")):
        assert schema.positive == ">= 50000"
        assert schema["pay"].domain == Domain.threshold(">= 50000")
        assert schema["pay"].nulls == "drop"
    assert declared.with_roles(positive="< 7")["pay"].domain.labels == ("< 7", ">= 7")
    assert not declared["pay"].inferred


@pytest.mark.parametrize("cut", ["> 60000", "<= 60000", ">= 10000"])
def test_a_threshold_that_parts_nobody_is_refused_without_a_value(cut):
    frame = pa.table({"pay": [10_000, 60_000], "sex": ["f", "m"]})
    with pytest.raises(SchemaError, match="are on one side of"):
        infer(frame, target="pay", positive=cut)


@pytest.mark.parametrize("rule", [">= fifty", "50", "== 5", "> 1e400", ">= 9007199254740993", 5])
def test_what_is_no_threshold_is_refused(rule):
    with pytest.raises(InvalidParameterError, match="a sign and a number"):
        Domain.threshold(rule)


def test_a_category_that_looks_like_a_threshold_stays_one():
    income = Domain.categorical(["<= 50", "> 50"])
    schema = Schema([Column("income", income)], target="income", positive="> 50")

    assert schema["income"].domain == income
