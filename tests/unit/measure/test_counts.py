"""The count table and its rates: rows are counted once and exactly, and every rate is a share of them."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import CountTable, count_table, counts
from evenhand.measure.counts import RATES, Shares, Tables, _tally, _tally_pairs, why_undefined


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 16_383, 16_384, 16_385, 300_001])
@pytest.mark.parametrize("n_groups", [1, 2, 64])
def test_counting_in_pairs_equals_counting_one_by_one(rows, n_groups):
    """The fast path must not lose the odd row at the end."""
    combined = np.random.default_rng(rows).integers(0, 4 * n_groups, rows).astype(np.uint8)
    expected = np.bincount(combined, minlength=4 * n_groups)

    assert _tally_pairs(combined, 4 * n_groups).tolist() == expected.tolist()
    assert _tally(combined, n_groups, None).ravel().tolist() == expected.tolist()


def test_the_limit_of_byte_codes_is_where_they_overflow():
    assert 4 * counts._BYTE_CODES == 256


def test_tables_of_parts_add_up_to_the_table_of_the_whole():
    """Streams are measured part by part."""
    generator = np.random.default_rng(4)
    y, p, group = generator.integers(0, 2, (3, 101))
    weights = generator.random(101)
    whole = count_table(y, p, group, weights=weights)
    first = count_table(y[:40], p[:40], group[:40], weights=weights[:40], groups=[0, 1])
    rest = count_table(y[40:], p[40:], group[40:], weights=weights[40:], groups=[0, 1])

    np.testing.assert_allclose((first + rest).counts, whole.counts, rtol=1e-12)
    np.testing.assert_allclose((first + rest).squares, whole.squares, rtol=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        count_table([1], [1], ["b"]),
        count_table(None, [1], ["a"]),
        count_table([1], [1], ["a"], weights=[1.0]),
    ],
)
def test_tables_of_different_kinds_do_not_add(other):
    with pytest.raises(InvalidParameterError, match="a table with the same groups"):
        count_table([1], [1], ["a"]) + other


def test_a_table_does_not_add_to_something_else():
    with pytest.raises(TypeError):
        count_table([1], [1], ["a"]) + 1


def test_unweighted_tables_add():
    table = count_table([1], [1], ["a"])

    assert (table + table).counts.tolist() == [[[0, 0], [0, 2]]]


def test_groups_keep_their_declared_order():
    table = count_table([1, 0], [1, 0], ["b", "a"], groups=("b", "c", "a"))

    assert table.groups == ("b", "c", "a")
    assert table.sizes.tolist() == [1, 0, 1]


def test_groups_may_be_declared_by_an_array():
    assert count_table([1], [1], [3], groups=np.array([1, 3])).groups == (1, 3)


@pytest.mark.parametrize("groups", ["ab", b"ab", [], ["a", "a"], [["a"]], 5])
def test_declared_groups_must_be_distinct_labels(groups):
    with pytest.raises(InvalidParameterError, match=r"'groups' .* must be a sequence of distinct labels"):
        count_table([1], [1], ["a"], groups=groups)


def test_a_group_that_is_not_declared_is_refused():
    with pytest.raises(InvalidParameterError, match="must be a column of the labels in 'groups'"):
        count_table([1, 0], [1, 0], ["a", "b"], groups=["a"])


@pytest.mark.parametrize("table", [np.zeros((2, 2)), np.zeros((1, 2, 2))])
def test_a_table_has_one_square_per_group(table):
    with pytest.raises(InvalidParameterError, match=r"'counts' .* an array of shape"):
        CountTable(("a", "b"), table)


@pytest.mark.parametrize("cell", [-1, np.nan, np.inf])
def test_counts_are_finite_and_not_negative(cell):
    with pytest.raises(InvalidParameterError, match="finite and not negative"):
        CountTable(("a",), np.full((1, 2, 2), cell))


def test_the_counts_of_a_table_cannot_be_written():
    table = count_table([1], [1], ["a"])

    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0, 0] = 5


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint64, bool])
def test_narrow_counts_do_not_overflow_when_added(dtype):
    """200 + 200 in one byte is 144, and nothing would show it."""
    largest = 1 if dtype is bool else min(np.iinfo(dtype).max, 1 << 52)
    table = CountTable(("a",), np.full((1, 2, 2), largest, dtype=dtype))

    assert (table + table).counts.tolist() == [[[2 * largest] * 2] * 2]
    assert (table + table).counts.dtype == np.int64
    assert table.sizes.tolist() == [4 * largest]


def test_narrow_floats_are_widened():
    table = CountTable(("a",), np.ones((1, 2, 2), np.float16), np.ones((1, 2, 2), np.float16))

    assert (table.counts.dtype, table.squares.dtype) == (np.float64, np.float64)


def test_counts_above_what_floats_hold_are_refused():
    half = CountTable(("a",), np.full((1, 2, 2), 1 << 53))

    with pytest.raises(InvalidParameterError, match=r"at most 2\*\*53"):
        half + half


def test_a_table_may_be_made_from_lists():
    table = CountTable(["a"], [[[1, 2], [3, 4]]])

    assert table.groups == ("a",)
    assert table.counts.tolist() == [[[1, 2], [3, 4]]]
    assert (table + table).sizes.tolist() == [20]


def test_a_table_keeps_its_own_counts():
    """A caller who writes to the array later must not change a report."""
    given = np.ones((1, 2, 2), dtype=np.int64)
    table = CountTable(("a",), given)
    given[0, 0, 0] = 99

    assert table.counts[0, 0, 0] == 1


@pytest.mark.parametrize("groups", [("a", "a"), "ab", ([1], [2]), 5, {"a", "b"}, (1, True)])
def test_the_groups_of_a_table_are_distinct_labels(groups):
    """Of two groups with one name, one would be lost from the rates without a word."""
    with pytest.raises(InvalidParameterError, match=r"'groups' .* a sequence of distinct labels"):
        CountTable(groups, np.ones((2, 2, 2)))


@pytest.mark.parametrize(
    "counts",
    [
        [[["1", "2"], ["3", "4"]]],
        [[[1, 2], [3]]],
        None,
        np.full((1, 2, 2), 1j),
        np.full((1, 2, 2), None),
        np.ma.masked_array(np.ones((1, 2, 2)), mask=True),
    ],
)
def test_what_is_no_array_of_numbers_is_no_table(counts):
    with pytest.raises(InvalidParameterError, match=r"'counts' .* an array of shape"):
        CountTable(("a",), counts)


def test_labelled_is_a_yes_or_no():
    with pytest.raises(InvalidParameterError, match=r"'labelled' .* must be True or False"):
        CountTable(("a",), np.ones((1, 2, 2)), None, "no")


def test_a_table_of_nobody_has_no_groups():
    assert CountTable((), np.zeros((0, 2, 2))).sizes.tolist() == []


def test_stacked_tables_are_measured_as_each_alone():
    """A bootstrap and a simulation run on stacks; a report on one."""
    cells = np.random.default_rng(2).integers(0, 9, (50, 3, 4))
    stacked = Tables(cells, None, 1)

    for place, alone in enumerate(cells):
        single = Tables(alone, None, 1)
        for part in ("groups", "overall", "privileged_side", "other_side"):
            np.testing.assert_array_equal(getattr(stacked, part).values[place], getattr(single, part).values)


def test_without_a_privileged_group_both_sides_are_empty():
    tables = Tables(np.ones((2, 4), dtype=int))

    assert np.isnan(tables.privileged_side.values).all()
    assert np.isnan(tables.other_side.values).all()


def test_the_effective_size_is_that_of_kish():
    weights = np.array([1.0, 2.0, 5.0])
    tables = Tables(np.array([[0, 0, 0, weights.sum()]]), np.array([[0, 0, 0, (weights**2).sum()]]))
    successes, trials = tables.groups.of("tpr")

    assert trials[0] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert successes[0] == pytest.approx(trials[0])


def test_equal_weights_have_the_effective_size_of_their_number():
    tables = Tables(np.array([[6.0, 3.0, 0.0, 0.0]]), np.array([[18.0, 9.0, 0.0, 0.0]]))

    assert tables.groups.of("selection")[1][0] == pytest.approx(3)


@pytest.mark.parametrize("rate", RATES)
def test_a_defined_rate_needs_no_excuse(rate):
    shares = Tables(np.ones((1, 4), dtype=int)).overall

    assert why_undefined("There are", rate, shares, labelled=True) == ""


def test_shares_divide_only_where_there_are_trials():
    shares = Shares(np.array([1, 0]), np.array([2, 0]), np.array([2, 0]))

    assert shares.values.tolist()[0] == 0.5
    assert np.isnan(shares.values[1])
