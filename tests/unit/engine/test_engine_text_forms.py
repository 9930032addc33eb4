"""Reports as text come back as the reports they were, and nothing else passes for one."""

import numpy as np
import pyarrow as pa
import pytest

from evenhand.collect import PROTOCOLS
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.reports.layouts import SetLayout
from evenhand.engine.text_forms import TextForm, escape_formula, may_be_formula
from evenhand.errors import InvalidParameterError
from evenhand.schema import Column, Domain

COLUMNS = {
    "text": Column("c", Domain.categorical(["a", "=b", "", "d, e", "-3"]), nulls="other"),
    "range": Column("c", Domain.integers(-3, 6)),
    "range and other": Column("c", Domain.integers(2, 11), outside="other"),
    "bins": Column("c", Domain.binned([-5, 0, 5, 9])),
    "numbers": Column("c", Domain.categorical([0.5, -1.5, 3.0])),
    "many": Column("c", Domain.integers(0, 299)),
}


def _form(column, name="grr", epsilon=2):
    protocol = PROTOCOLS[name](column.size, epsilon)
    return TextForm(column, protocol.layout), protocol


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "optimal"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_text_comes_back_as_the_report_it_was(name, kind):
    column = COLUMNS[kind]
    form, protocol = _form(column, name)
    reports = protocol.privatize(np.arange(200) % column.size, rng=7)

    again = form.read(form.write(reports.values))
    assert again.dtype == reports.dtype
    assert np.array_equal(again, reports.values)


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "optimal"])
def test_no_reports_are_no_text(name):
    form, protocol = _form(COLUMNS["range"], name)
    nobody = protocol.privatize([], rng=7)

    assert len(form.write(nobody.values)) == 0
    assert len(form.read(pa.array([], pa.string()))) == 0


def test_the_forms_are_those_of_the_documentation():
    column = Column("c", Domain.categorical(["a", "b", "c", "d"]))
    said = {
        "grr": np.array([2, 0], np.uint8),
        "oue": np.array([[0b0101], [0b1000]], np.uint8),
        "ss": np.array([[3, 0]], np.uint8),
        "olh": np.array([(3_000_000_001, 5, 3)], PROTOCOLS["olh"](4, 1).layout.dtype),
    }
    layouts = {name: PROTOCOLS[name](4, 1).layout for name in said} | {"ss": SetLayout(k=4, size=2)}
    found = {name: TextForm(column, layouts[name]).write(each).to_pylist() for name, each in said.items()}

    assert found == {"grr": ["c", "a"], "oue": ["1010", "0001"], "ss": ["3 0"], "olh": ["3000000001:5:3"]}


@pytest.mark.parametrize(
    ("name", "column", "cells"),
    [
        ("grr", "text", ["a", "unknown"]),
        ("grr", "text", ["=b"]),  # it stands there with an apostrophe
        ("grr", "range", ["-4"]),
        ("grr", "range", ["7"]),
        ("grr", "range", ["other"]),
        ("grr", "range", ["1.5"]),
        ("grr", "range", [""]),
        ("grr", "range", ["9223372036854775808"]),
        ("grr", "range and other", ["-9223372036854775808"]),
        ("oue", "range", ["0101"]),
        ("oue", "range", ["010101010x"]),
        ("oue", "range", ["01010101010"]),
        ("ss", "many", ["1 2"]),
        ("ss", "range", ["1 x"]),
        ("ss", "range", ["1"]),
        ("ss", "range", ["10 1"]),
        ("olh", "range", ["1:2"]),
        ("olh", "range", ["1:2:3:4"]),
        ("olh", "range", ["1:2:99"]),
        ("olh", "range", ["1:+2:0"]),
        ("olh", "range", ["4294967296:2:0"]),
        ("olh", "range", ["99999999999999999999:2:0"]),
    ],
)
def test_what_is_no_report_is_refused_without_being_told(name, column, cells):
    form, _ = _form(COLUMNS[column], name, 1)

    with pytest.raises(InvalidParameterError) as caught:
        form.read(pa.array(cells))
    assert "unknown" not in str(caught.value)


def test_the_same_value_twice_is_no_set():
    form, protocol = _form(COLUMNS["range"], "ss", 1)
    assert protocol.layout.size == 2

    with pytest.raises(InvalidParameterError):
        form.read(pa.array(["1 1"]))


def test_a_missing_report_is_refused():
    for name in ("grr", "oue", "ss", "olh"):
        with pytest.raises(InvalidParameterError):
            _form(COLUMNS["range"], name)[0].read(pa.array([None], pa.string()))


def test_labels_that_would_be_one_are_refused():
    """Otherwise a reader could not tell which of the two was meant."""
    column = Column("c", Domain.categorical(["=a", "'=a"]))

    with pytest.raises(InvalidParameterError, match="differ once"):
        TextForm(column, GRR(2, 1).layout)


def test_numbers_are_no_formulas():
    cells = ["-5", "+1.5e3", "-.5", "=1", "+x", "@a", "-", "-5 to 0", "a-b", ""]

    assert may_be_formula(pa.array(cells)).to_pylist() == [
        False,
        False,
        False,
        True,
        True,
        True,
        True,
        True,
        False,
        False,
    ]
    assert [escape_formula(each) for each in ("-5", "=1")] == ["-5", "'=1"]


def test_a_slice_of_text_is_read_from_its_own_place():
    form, _ = _form(COLUMNS["range"], "oue")
    whole = pa.array(["0000000000", "1000000000", "0100000000"])

    assert form.read(whole.slice(1, 1)).tolist() == [[1, 0]]


def test_memory_is_foreseen():
    wide = Column("c", Domain.integers(0, 9_999))

    assert [_form(wide, name)[0].bytes_per_report for name in ("grr", "oue")] == [128, 30_000]
    assert _form(wide, "ss")[0].bytes_per_report > 20_000
