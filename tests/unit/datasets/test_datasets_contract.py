"""Every data set, with every option, keeps the same promises."""

import time

import narwhals as nw
import numpy as np
import pytest

from evenhand.datasets import load
from evenhand.table.encode import Table

# Name, options, rows, columns.
WAYS = [
    ("acs_coverage", {}, 98_739, 15),
    ("acs_coverage", {"keep_state": True}, 98_739, 16),
    ("adult", {}, 45_849, 11),
    ("adult", {"threshold": 10_000}, 45_849, 11),
    ("adult", {"binarised": True, "threshold": 27_260}, 45_849, 9),
    ("adult", {"version": "uci"}, 45_222, 15),
    ("adult", {"version": "uci", "part": "train"}, 30_162, 15),
    ("adult", {"version": "uci", "part": "test"}, 15_060, 15),
    ("adult", {"version": "uci", "unknown": "keep"}, 48_842, 15),
    ("adult", {"version": "uci", "part": "train", "unknown": "keep"}, 32_561, 15),
    ("adult", {"version": "uci", "part": "test", "unknown": "keep"}, 16_281, 15),
    ("adult", {"version": "fair_projection"}, 46_447, 10),
    ("causal", {"version": "stored"}, 100_000, 4),
    ("compas", {}, 5_915, 5),
    ("compas", {"filter": "and", "threshold": 1}, 5_278, 5),
    ("compas", {"version": "fair_projection"}, 5_278, 7),
    ("compas", {"version": "propublica"}, 7_214, 46),
    ("credit_default", {}, 30_000, 24),
    ("credit_default", {"unnamed_codes": "merge"}, 30_000, 24),
    ("lsac", {}, 20_427, 7),
    ("lsac", {"race": "five groups"}, 20_427, 7),
    ("lsac", {"missing": "used columns"}, 22_076, 7),
    ("lsac", {"missing": "used columns", "race": "five groups"}, 22_076, 7),
    ("nist_excerpts", {}, 7_634, 24),
    ("nist_excerpts", {"part": "tx", "histogram": True}, 9_276, 25),
    ("nist_excerpts", {"part": "national", "histogram": True, "age_brackets": True}, 27_253, 26),
    ("section203", {}, 187, 6),
    ("section203", {"version": "alaska"}, 29, 7),
    ("section203", {"version": "alaska", "language": "all"}, 390, 7),
    ("section203", {"version": "simulated"}, 3_129, 7),
    ("title1", {}, 16_641, 5),
    ("title1", {"state": "NEW YORK"}, 972, 5),
    ("title1", {"version": "nces"}, 16_641, 5),
    ("title1", {"version": "nces", "least_students": 0}, 17_025, 5),
    ("title1", {"version": "saipe"}, 13_183, 7),
    ("title1", {"version": "saipe", "year": 2015}, 13_245, 7),
    ("title1", {"version": "saipe", "year": 2020}, 13_172, 7),
]
MADE = [
    ("causal", {"n": 500}, 500, 4),
    ("causal", {"n": 500, "privileged_group": 0, "quantile": 0.75, "mediator": "as_printed"}, 500, 4),
    ("counties", {"n": 500}, 500, 5),
    ("counties", {"n": 500, "near_per_mille": 0}, 500, 5),
    ("school_districts", {"n": 500}, 500, 4),
]


def _promises(loaded, rows, width):
    frame = nw.from_native(loaded.frame, eager_only=True)
    table = Table.encode(loaded.frame, loaded.schema)

    assert frame.shape == (rows, width)
    assert loaded.provenance.rows == rows
    assert loaded.provenance.cleaning
    assert loaded.provenance.citation
    assert loaded.provenance.licence
    assert set(loaded.schema.names) <= set(frame.columns)
    assert all(column.outside == "error" and column.nulls == "error" for column in loaded.schema)
    assert all(len(table[name]) == rows for name in loaded.schema.names)


@pytest.mark.parametrize(("name", "options", "rows", "width"), WAYS)
def test_real_rows_are_counted_and_fit_the_declared_domains(name, options, rows, width, real):
    """If a value were outside, a domain would have been declared wrong or a row read wrong."""
    loaded = real(name, **options)

    assert len(loaded.provenance.files) >= 1
    assert loaded.provenance.url.startswith("https://")
    assert loaded.options.items() >= options.items()
    _promises(loaded, rows, width)


@pytest.mark.parametrize(("name", "options", "rows", "width"), MADE)
def test_made_rows_fit_the_declared_domains(name, options, rows, width):
    _promises(load(name, **options), rows, width)


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
@pytest.mark.parametrize("name", ["adult", "compas", "lsac", "nist_excerpts", "section203"])
def test_every_library_gives_the_same_codes(name, backend, real, data):
    expected = Table.encode(real(name).frame, real(name).schema)
    loaded = load(name, folder=data, download=False, backend=backend)
    actual = Table.encode(loaded.frame, loaded.schema)

    assert loaded.schema == real(name).schema
    for column in loaded.schema.names:
        np.testing.assert_array_equal(actual[column], expected[column])


@pytest.mark.parametrize(
    "name", ["adult", "acs_coverage", "credit_default", "lsac", "nist_excerpts", "title1"]
)
def test_loading_takes_no_time_to_speak_of(name, data):
    load(name, folder=data, download=False, backend="pyarrow")
    started = time.process_time()
    load(name, folder=data, download=False, backend="pyarrow")

    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("name", "options", "rows", "width"), [*MADE, ("causal", {}, 0, 0), ("counties", {}, 0, 0)]
)
def test_made_rows_are_the_same_each_time(name, options, rows, width):
    first, second = (load(name, backend="pyarrow", **options).frame for _ in range(2))

    assert first.equals(second)


@pytest.mark.parametrize("name", ["causal", "counties", "school_districts"])
def test_another_seed_gives_other_rows(name):
    first, second = (load(name, backend="pyarrow", n=500, seed=seed).frame for seed in (0, 1))

    assert not first.equals(second)
