"""Counting people: order, chunks, wide counts, and what one person can change."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.release.table import counting as histogram_counting
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

pytestmark = pytest.mark.figures

RULES = st.sampled_from(["other", "drop"])
VALUES = st.sampled_from(["a", "b", "z", None])
NUMBERS = st.one_of(st.integers(-1, 4), st.none(), st.sampled_from([2**31, 2**32, -(2**63), 2**63 - 1]))
PEOPLE = st.tuples(VALUES, NUMBERS)
WIDE = st.integers(-(2**55), 2**55)
FEWER = settings(max_examples=settings.default.max_examples // 2)  # each example counts several tables


@st.composite
def schemas(draw):
    return Schema(
        [
            Column("x", Domain.categorical(["a", "b"]), outside=draw(RULES), nulls=draw(RULES)),
            Column("y", Domain.integers(0, 3), outside=draw(RULES), nulls=draw(RULES)),
        ],
        quasi_identifiers=draw(st.sampled_from(["x", "y"])),
    )


def frame(people):
    names = {"x": (0, pa.string()), "y": (1, pa.int64())}
    return pa.table({name: pa.array([each[i] for each in people], kind) for name, (i, kind) in names.items()})


def slow_count(people, schema):
    """Count by the rules of the schema, one person at a time, in Python integers."""
    cells = {}
    for person in people:
        codes = [_code(value, column) for value, column in zip(person, schema, strict=True)]
        if None not in codes:
            cells[tuple(codes)] = cells.get(tuple(codes), 0) + 1
    return cells


def _code(value, column):
    code = None if value is None else column.domain.find(value)
    if code is not None:
        return code
    rule = column.nulls if value is None else column.outside
    return column.other_code if rule == "other" else None


@FEWER
@given(schemas(), st.lists(PEOPLE, max_size=30), st.randoms(use_true_random=False), st.integers(1, 7))
def test_order_and_chunks_of_rows_do_not_change_a_table(schema, people, random, chunk):
    """A sum that depends on the order moves by more than one person when one person moves."""
    first = Histogram.count(frame(people), schema)
    slow = np.zeros(first.shape, np.int64)
    for cell, count in slow_count(people, schema).items():
        slow[cell] = count
    random.shuffle(people)
    before = histogram_counting._CHUNK_ROWS
    try:
        histogram_counting._CHUNK_ROWS = chunk
        second = Histogram.count(frame(people), schema)
    finally:
        histogram_counting._CHUNK_ROWS = before

    assert np.array_equal(first.counts, slow)
    assert np.array_equal(second.counts, slow)


@FEWER
@given(schemas(), st.lists(PEOPLE, max_size=12), PEOPLE, PEOPLE, st.integers(1, 3))
def test_one_person_moves_counts_by_at_most_the_sensitivity(schema, people, one, other, bound):
    """Noise is sized for one cell by one person, two where a person is replaced."""
    tables = [Histogram.count(frame([*people, *each]), schema, bound=bound) for each in ([], [one], [other])]
    for query in (_whole, _margin, _slice, Histogram.as_matrix):
        empty, added, replaced = map(query, tables)

        assert np.abs(added - empty).sum() <= 1
        assert np.abs(replaced - added).sum() <= 2
        assert empty.shape == added.shape == replaced.shape
        assert empty.dtype == added.dtype == replaced.dtype == np.int64


def _whole(histogram):
    return histogram.counts


def _margin(histogram):
    return histogram.margin("y").counts


def _slice(histogram):
    return histogram.slice({"x": "b"}).counts


@FEWER
@given(st.lists(PEOPLE, max_size=6), PEOPLE, schemas())
def test_success_and_cells_do_not_depend_on_a_person(people, one, schema):
    """A cell that appears with a person, or a count that fails with one, tells that the person is there."""
    first, second = Histogram.count(frame(people), schema), Histogram.count(frame([*people, one]), schema)
    left, right = (each.to_frame("pyarrow").drop(["count"]) for each in (first, second))

    assert left.equals(right)
    assert first.is_sparse == second.is_sparse
    assert repr(first) == repr(second)
    assert first._repr_html_() == second._repr_html_()


@FEWER
@given(st.lists(WIDE, min_size=12, max_size=12), st.sampled_from([("x",), ("y",), ("y", "x")]))
def test_wide_counts_add_up_as_python_integers_do(values, columns):
    """A count cast to 32 bits, or added as a float, is another count."""
    schema = Schema([Column("x", Domain.integers(0, 2)), Column("y", Domain.integers(0, 3))])
    table = Histogram.of(values, schema)
    expected = {}
    for cell, value in zip(np.ndindex(3, 4), values, strict=True):
        key = tuple(cell["xy".index(name)] for name in columns)
        expected[key] = expected.get(key, 0) + value
    sparse = Histogram(schema=schema, cells=np.arange(12), filled=values)
    read = Histogram.from_frame(table.to_frame("pyarrow"), schema)

    assert table.people == sum(values)
    for each in (table, sparse, read):
        found = each.margin(columns).counts
        assert {cell: int(found[cell]) for cell in np.ndindex(found.shape)} == expected


@FEWER
@given(schemas(), st.lists(PEOPLE, max_size=20))
def test_frames_and_matrices_lead_back_to_the_table(schema, people):
    """What is written must be what is read."""
    table = Histogram.count(frame(people), schema)

    assert np.array_equal(Histogram.from_frame(table.to_frame("pyarrow"), schema).counts, table.counts)
    assert np.array_equal(table.from_matrix(table.as_matrix()).counts, table.counts)
    assert table.as_matrix().sum() == table.people


@FEWER
@given(st.lists(st.tuples(*[st.integers(0, 499)] * 3), max_size=20), st.permutations(range(3)))
def test_sparse_and_dense_tables_agree(people, order):
    """Which way a table is kept is a question of memory only."""
    schema = Schema([Column(name, Domain.integers(0, 499)) for name in "abc"])
    rows = pa.table(
        {name: pa.array([each[i] for each in people], pa.int64()) for i, name in enumerate("abc")}
    )
    sparse = Histogram.count(rows, schema)
    cells = sorted({person[0] * 250_000 + person[1] * 500 + person[2] for person in people})
    column = "abc"[order[0]]
    twice = sparse.margin(["abc"[i] for i in order]).margin(column)

    assert sparse.is_sparse
    assert sparse.cells.tolist() == cells
    assert np.array_equal(sparse.margin(column).counts, Histogram.count(rows, schema, column).counts)
    assert np.array_equal(twice.counts, sparse.margin(column).counts)
