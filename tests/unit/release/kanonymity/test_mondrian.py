"""Cutting tuples into classes: examples one can follow, edges, and the kernel without the compiler."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity import mondrian_kernels as _kernels_mondrian
from evenhand.release.kanonymity.mondrian import MOST_PEOPLE, mondrian, rank_codes
from property._slow_mondrian import slow_mondrian
from unit._plain_kernels import compiled_or_plain, plain_copy


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_mondrian)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _kernels_mondrian)


@pytest.fixture(autouse=True)
def no_wrap():
    with np.errstate(all="raise", under="ignore"):
        yield


def _classes(codes, labels):
    return [
        sorted(map(tuple, codes[labels == label].tolist())) for label in range(labels.max(initial=-1) + 1)
    ]


@pytest.mark.parametrize("size", [30, 300])
@pytest.mark.parametrize("k", [1, 2, 6])
def test_many_different_numbers_are_cut_as_the_slow_version_does(kernels, size, k):
    """With more values than buckets the median is found in several passes, which must not move it."""
    draw = SeededSource(size).generator()
    codes = np.stack(
        [draw.integers(0, 10**12, size), draw.integers(0, 3, size), draw.geometric(0.01, size)], axis=1
    )
    numeric = [True, False, True]
    slow = slow_mondrian([tuple(row) for row in codes.tolist()], k, numeric)

    assert [sorted(people) for people in slow] == _classes(
        codes, mondrian(codes, k=k, numeric=numeric).labels
    )


def test_more_values_than_all_buckets_are_cut_in_halves(kernels):
    """20,000 different numbers are more than the kernel has buckets: two passes find the median."""
    codes = np.arange(20_000)[:, np.newaxis] * 1_000
    found = mondrian(codes, k=5_000, numeric=[True])

    assert found.people.tolist() == [5_000] * 4
    assert (np.diff(found.labels) >= 0).all()


@pytest.mark.parametrize(
    ("numeric", "expected"), [([False, True, True], [0, 0, 1, 1]), ([False, False, True], [0, 1, 0, 1])]
)
def test_the_widest_column_is_cut_by_range_or_by_number_of_categories(kernels, numeric, expected):
    """The rows are the same; whether the second column's distances count decides what is cut next."""
    left = [[0, 0, 0], [0, 0, 2], [0, 12, 0], [0, 12, 2]]  # 12 of 12, or 1 step of 4, against 2 of 3
    right = [[1, 1, 3], [1, 2, 3], [1, 3, 3], [1, 3, 3]]
    found = mondrian(left + right, k=2, numeric=numeric)

    assert expected == found.labels[:4].tolist()


def test_equally_wide_columns_are_cut_in_the_order_of_the_table(kernels):
    """Ties must not be settled by chance or by the order of the rows."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])

    assert mondrian(codes, k=2).labels.tolist() == [0, 0, 1, 1]
    assert mondrian(codes[:, ::-1], k=2).labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("counts", "k", "people"),
    [
        ([1, 5, 1], 1, [1, 5, 1]),  # the value in the middle has more than half
        ([9, 1, 1], 2, [9, 2]),
        ([1, 1, 9], 2, [2, 9]),
        ([2, 9, 2], 3, [13]),  # no cut leaves three on both sides
        ([3, 3], 3, [3, 3]),
        ([3, 2], 3, [5]),
        ([4], 2, [4]),
    ],
)
def test_a_cut_leaves_k_people_on_both_sides_or_is_not_made(kernels, counts, k, people):
    """This is what makes the classes k-anonymous."""
    codes = np.arange(len(counts))[:, np.newaxis]

    assert mondrian(codes, counts, k=k).people.tolist() == people


def test_shares_that_differ_in_the_last_of_126_bits_are_told_apart(kernels):
    """Rounded to floats both columns would be equally wide, and the wrong one would be cut."""
    huge = 2**62
    codes = np.array([[0, 0], [0, huge], [huge - 1, 1], [huge, 1]])
    found = mondrian(codes, [0, 2, 2, 2], k=2, numeric=[True, True])
    slow = slow_mondrian([tuple(row) for row in codes[1:].tolist() for _ in range(2)], 2, [True, True])

    assert [sorted(set(people)) for people in slow] == _classes(codes, found.labels)


@pytest.mark.parametrize("counts", [[2**40, 2**40 - 1, 3], [2**60, 2**60, 0]])
def test_huge_counts_do_not_wrap(kernels, counts):
    """A sum that wraps would make a large class look small."""
    found = mondrian([[0], [1], [2]], counts, k=2)

    assert int(found.people.sum()) == sum(counts)


@pytest.mark.parametrize(
    ("codes", "counts", "k"),
    [
        (np.empty((0, 2), np.int64), [], 1),
        (np.array([[0, 1], [1, 1]]), [2, 2], 5),
        (np.array([[0, 1]]), [0], 1),
        (np.array([[0, 1]]), [-7], 1),
        (np.array([[0, 1]]), [1], 2**61),
    ],
)
def test_fewer_than_k_people_make_no_class_and_no_error(codes, counts, k):
    """An error would tell how many people there are."""
    found = mondrian(codes, np.array(counts, dtype=np.int64), k=k)

    assert found.labels.tolist() == [-1] * len(codes)
    assert found.people.size == 0


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.uint64])
def test_the_type_of_the_codes_does_not_matter(kind):
    """Tables come with the smallest type that holds their codes."""
    codes = np.array([[0, 3], [0, 4], [1, 3], [1, 9]])
    expected = mondrian(codes, k=2).labels.tolist()

    assert expected == mondrian(codes.astype(kind), k=2).labels.tolist()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"codes": [1, 2]}, "codes"),
        ({"codes": [[0.5]]}, "codes"),
        ({"codes": np.empty((3, 0), np.int64)}, "codes"),
        ({"codes": np.array([[2**64 - 1]], np.uint64)}, "codes"),
        ({"counts": [1]}, "counts"),
        ({"counts": [0.5, 1.0]}, "counts"),
        ({"k": 0}, "k"),
        ({"k": True}, "k"),
        ({"k": 1.5}, "k"),
        ({"numeric": [True]}, "numeric"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change, name):
    """The message has to say which argument is wrong."""
    given = {"codes": [[0, 1], [1, 0]], "counts": [1, 1], "k": 1, "numeric": None} | change
    with pytest.raises(InvalidParameterError) as caught:
        mondrian(given.pop("codes"), given.pop("counts"), **given)

    assert name == caught.value.parameter


def test_more_people_than_can_be_added_are_refused(monkeypatch):
    """Beyond 2**61 a doubled sum would wrap."""
    with pytest.raises(LimitExceededError):
        mondrian([[0], [1]], [MOST_PEOPLE, MOST_PEOPLE], k=1)
    monkeypatch.setattr("evenhand.release.kanonymity.mondrian._MOST_TUPLES", 1)
    with pytest.raises(LimitExceededError):
        mondrian([[0], [1]], k=1)


@pytest.mark.parametrize("values", [[3, 1, 3], [2**62, 5, 2**62], [7]])
def test_ranks_are_places_among_the_different_values(values):
    """Wide codes are sorted, narrow ones looked up; both must agree with the definition."""
    found, ranks = rank_codes(np.array(values))

    assert found.tolist() == sorted(set(values))
    assert found[ranks].tolist() == values
