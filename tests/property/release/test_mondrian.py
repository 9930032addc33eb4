"""Mondrian on any table: at least k people in every class, and the classes that the definition gives."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.release.kanonymity.mondrian import mondrian
from property._slow_mondrian import slow_mondrian

pytestmark = pytest.mark.figures

CODES = st.one_of(st.integers(0, 3), st.integers(0, 40), st.sampled_from([0, 1, 2**40, 2**62, 2**63 - 1]))


@st.composite
def tables(draw, least=0):
    columns = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[CODES] * columns), min_size=least, max_size=24))
    counts = draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows)))
    numeric = draw(st.lists(st.booleans(), min_size=columns, max_size=columns))
    codes = np.array(rows, dtype=np.int64).reshape(len(rows), columns)
    return codes, np.array(counts, dtype=np.int64), numeric, draw(st.integers(1, 9))


def _people(codes, counts):
    return [
        tuple(row) for row, count in zip(codes.tolist(), counts.tolist(), strict=True) for _ in range(count)
    ]


def _classes(codes, counts, found):
    """Return the people of every class, in order."""
    return [
        sorted(_people(codes[found.labels == label], counts[found.labels == label]))
        for label in range(len(found.people))
    ]


@given(tables())
def test_classes_are_those_of_the_slow_version(table):
    """Speed is worth nothing if the classes are others than the definition says."""
    codes, counts, numeric, k = table
    found = mondrian(codes, counts, k=k, numeric=numeric)
    slow = slow_mondrian(_people(codes, counts), k, numeric)

    assert [sorted(people) for people in slow] == _classes(codes, counts, found)


@given(tables())
def test_every_class_has_k_people_and_everybody_is_in_one(table):
    """One class of fewer than k people and the table is not k-anonymous."""
    codes, counts, numeric, k = table
    found = mondrian(codes, counts, k=k, numeric=numeric)
    total = int(counts.sum())

    assert (found.people >= k).all()
    assert int(found.people.sum()) == (total if total >= k else 0)
    assert ((found.labels >= 0) == ((counts > 0) & (total >= k))).all()
    for label, people in enumerate(found.people):
        assert counts[found.labels == label].sum() == people


@given(tables())
def test_no_class_can_be_cut_further(table):
    """Classes are as small as strict cuts can make them: a wider one would hide more than it has to."""
    codes, counts, numeric, k = table
    found = mondrian(codes, counts, k=k, numeric=numeric)

    for people in _classes(codes, counts, found):
        for column in range(codes.shape[1]):
            for value in {person[column] for person in people}:
                left = sum(person[column] <= value for person in people)
                assert not k <= left <= len(people) - k


@given(tables())
def test_the_boxes_of_two_classes_never_overlap(table):
    """The expected counts are added up class by class and rest on this."""
    codes, counts, numeric, k = table
    found = mondrian(codes, counts, k=k, numeric=numeric)
    boxes = [
        (codes[found.labels == label].min(axis=0), codes[found.labels == label].max(axis=0))
        for label in range(len(found.people))
    ]

    for one, other in itertools.combinations(boxes, 2):
        assert ((one[1] < other[0]) | (other[1] < one[0])).any()


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(table, shuffler):
    """The order of rows in a file must not decide who is in a class with whom."""
    codes, counts, numeric, k = table
    order = list(range(len(codes)))
    shuffler.shuffle(order)
    found = mondrian(codes, counts, k=k, numeric=numeric)
    again = mondrian(codes[order], counts[order], k=k, numeric=numeric)

    assert (found.labels[order] == again.labels).all()
    assert (found.people == again.people).all()


@given(tables())
def test_people_one_by_one_are_the_same_as_tuples_with_counts(table):
    """Counting equal rows first is only a matter of speed."""
    codes, counts, numeric, k = table
    each = np.repeat(codes, counts, axis=0)
    found = mondrian(codes, counts, k=k, numeric=numeric)

    assert (np.repeat(found.labels, counts) == mondrian(each, k=k, numeric=numeric).labels).all()
