"""Lazy labels behave as the tuple they stand for."""

import pickle

import pytest

from evenhand.schema.domain import RangeLabels


@pytest.mark.parametrize(
    ("low", "high", "extra"), [(-3, 3, ()), (-3, 3, ("other",)), (7, 7, ("other",)), (0, 9, ())]
)
def test_lazy_labels_are_the_tuple_of_labels(low, high, extra):
    lazy, plain = RangeLabels(low, high, extra), (*map(str, range(low, high + 1)), *extra)

    assert tuple(lazy) == plain
    assert lazy == plain
    assert lazy == list(plain)
    assert len(lazy) == len(plain)
    assert [lazy[place] for place in range(-len(plain), len(plain))] == list(plain + plain)
    assert lazy[1:] == plain[1:]
    assert lazy[::-2] == plain[::-2]
    assert [lazy.index(label) for label in plain] == list(range(len(plain)))
    assert all(label in lazy for label in plain)
    assert list(reversed(lazy)) == list(reversed(plain))
    assert lazy.count(plain[0]) == 1


@pytest.mark.parametrize(
    "absent", ["10", "-1", "01", "+1", "1.0", "", "x", "-", "²", "٣", " 1", 1, None, "9" * 5000]
)
def test_what_is_no_label_is_not_found(absent):
    labels = RangeLabels(0, 9, ("other",))

    assert absent not in labels
    with pytest.raises(ValueError, match="not one of the labels"):
        labels.index(absent)


def test_a_search_keeps_to_its_bounds():
    labels = RangeLabels(0, 9)

    assert labels.index("5", 5, 6) == 5
    with pytest.raises(ValueError, match="not one of the labels"):
        labels.index("5", 6)


def test_places_beyond_the_end_are_refused():
    with pytest.raises(IndexError):
        RangeLabels(0, 9)[10]


def test_labels_are_equal_by_value():
    labels = RangeLabels(0, 10**9, ("other",))

    assert labels == RangeLabels(0, 10**9, ("other",))
    assert hash(labels) == hash(RangeLabels(0, 10**9, ("other",)))
    assert labels != RangeLabels(0, 10**9)
    assert labels != ("0",)
    assert RangeLabels(0, 1) != ("0", "2")
    assert labels != "0"
    assert pickle.loads(pickle.dumps(labels)) == labels
    assert repr(labels) == "RangeLabels('0' … '1000000000', 'other')"
