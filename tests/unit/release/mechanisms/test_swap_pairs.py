"""Pairs of records: the distance of the paper, the nearest and no other, and nobody twice."""

import itertools
from collections import Counter

import numpy as np
import pytest

from evenhand.errors import LimitExceededError
from evenhand.privacy import feeding
from evenhand.privacy.randomness import SeededSource
from evenhand.release.mechanisms import swap_kernels as _kernels_swapping
from evenhand.release.mechanisms import swapping
from evenhand.release.mechanisms.swapping import discrepancy_pairs, nearest_pairs, swap_costs
from evenhand.schema import Column, Domain, Schema
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.privacy._slow_sampling import ScriptedSource
from unit.release._slow_swapping import slow_distance

SHAPE = (4, 6, 3, 5)
SCHEMA = Schema(
    [
        Column("race", Domain.categorical(["a", "b", "c"]), outside="other"),
        Column("age", Domain.integers(20, 24), nulls="other"),
        Column("sex", Domain.categorical(["f", "m", "x"])),
        Column("income", Domain.binned([0, 10, 20, 50, 100, 1000])),
    ]
)
REACHES = (None, 4, None, 4)
OTHERS = (3, 5, None, None)


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_swapping)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    with np.errstate(all="raise", under="ignore"):
        yield compiled_or_plain(request, monkeypatch, _kernels_swapping)


def _records(seed, size, most):
    """Distinct tuples of codes and how many people have each."""
    random = np.random.default_rng(seed)
    cells = random.choice(np.prod(SHAPE), size=size, replace=False)
    return np.column_stack(np.unravel_index(cells, SHAPE)).astype(np.int64), random.integers(
        1, most + 1, size
    )


def _distance(one, two):
    return slow_distance(one.tolist(), two.tolist(), REACHES, OTHERS)


def _nearest(codes, people, pairs, source):
    parts = nearest_pairs(codes, people, SHAPE, swap_costs(SCHEMA), pairs=pairs, source=source)
    return np.concatenate(list(parts)) if pairs else np.empty((0, 2), int)


def _apart(codes, people, pairs, source):
    return np.concatenate(
        list(discrepancy_pairs(codes, people, swap_costs(SCHEMA), pairs=pairs, source=source))
    )


# --- distances ------------------------------------------------------------------------------------


def test_whole_number_distances_are_those_of_the_paper(plain):
    """Ties and nearest records depend on exact equality."""
    costs = swap_costs(SCHEMA)
    assert (costs[:, 2] == 4).all()
    for seed in range(40):
        (one, two), _ = _records(seed, 2, 1)
        found = sum(
            int(plain._cost(*map(np.int64, (a, b, *cost))))
            for a, b, cost in zip(one, two, costs, strict=True)
        )

        assert found == 4 * _distance(one, two)


def test_ranges_are_brought_to_one_denominator():
    columns = [Column(str(top), Domain.integers(0, top)) for top in (4, 6, 10)]

    assert swap_costs(Schema(columns)).tolist() == [[15, -1, 60], [10, -1, 60], [6, -1, 60]]


def test_a_range_of_one_number_has_no_distances():
    columns = [Column("a", Domain.integers(3, 3), outside="other"), Column("b", Domain.categorical(["x"]))]

    assert swap_costs(Schema(columns)).tolist() == [[0, 1, 1], [0, -1, 1]]


def test_ranges_without_a_common_denominator_are_refused():
    """Sums that wrap would make far records near."""
    columns = [Column(str(top), Domain.integers(0, top)) for top in (2**31 - 1, 2**30 - 1, 2**29 - 3)]
    with pytest.raises(LimitExceededError, match="common multiple"):
        swap_costs(Schema(columns))


# --- the nearest ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("seed", "size", "most"), [(1, 60, 1), (2, 40, 3), (3, 1, 8), (4, 2, 1), (5, 200, 1)]
)
def test_every_partner_is_one_of_the_nearest_left(seed, size, most, monkeypatch):
    """The definition, step by step, against a search that compares with everybody."""
    monkeypatch.setattr(swapping, "_FEWEST", 16)  # so that the tree is made anew several times
    codes, people = _records(seed, size, most)
    live = people.copy()
    for one, two in _nearest(codes, people, int(people.sum()) // 2, SeededSource(seed)):
        assert live[one] > 0
        live[one] -= 1
        left = np.flatnonzero(live)
        distances = [_distance(codes[one], codes[each]) for each in left]

        assert live[two] > 0
        assert _distance(codes[one], codes[two]) == min(distances)
        live[two] -= 1
    assert live.sum() == people.sum() % 2


@pytest.mark.parametrize("few", [1, 3, 8])
@pytest.mark.parametrize("size", [2, 30, 200])
def test_a_search_finds_all_who_are_as_near_as_the_nearest(size, few, plain, monkeypatch):
    """A tie that is passed over would never be chosen; it must not matter how deep the search goes."""
    monkeypatch.setattr(plain, "FEW", few)
    codes, people = _records(size, size, 3)
    order = np.lexsort(codes.T[::-1])
    codes, people = codes[order], people[order]
    people[size // 3] = 0  # nobody is left here
    costs = swap_costs(SCHEMA)
    tree = swapping._Tree.of(np.ravel_multi_index(tuple(codes.T), SHAPE), SHAPE, people)
    levels = np.empty((4, 4), np.int64)
    for own in range(0, size, 7):
        ties = np.full(size, -1)
        distances = {
            each: _distance(codes[own], codes[each]) for each in np.flatnonzero(people) if each != own
        }
        if not distances:
            continue
        best = min(distances.values())
        near = {each for each, distance in distances.items() if distance == best}
        nobody = plain._search(
            own, np.int64(4 * best - 1), tree.first, tree.nodes, codes, costs, levels, ties
        )
        for limit in (4 * best, 4 * best + 1, 16):
            found, far = plain._search(
                own, np.int64(limit), tree.first, tree.nodes, codes, costs, levels, ties
            )

            assert (found, far) == (people[list(near)].sum(), 4 * best)
            assert set(ties[: len(near)].tolist()) == near
        assert nobody[0] == 0


def test_nobody_is_in_two_pairs_when_half_of_them_are_swapped():
    codes, people = _records(7, 100, 5)
    pairs = _nearest(codes, people, int(people.sum()) // 4, SeededSource(7))
    used = np.bincount(pairs.reshape(-1), minlength=100)

    assert (used <= people).all()
    assert used.sum() == 2 * (int(people.sum()) // 4)


def test_no_pairs_are_drawn_where_none_are_asked_for():
    codes, people = _records(7, 10, 1)

    assert not list(nearest_pairs(codes, people, SHAPE, swap_costs(SCHEMA), pairs=0, source=SeededSource(1)))
    assert not list(discrepancy_pairs(codes, people, swap_costs(SCHEMA), pairs=0, source=SeededSource(1)))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("draw", [_nearest, _apart])
def test_pairs_do_not_depend_on_how_the_words_are_cut(draw, monkeypatch):
    """A pair that is begun with too few words must leave no trace."""
    codes, people = _records(8, 50, 2)
    pairs = int(people.sum()) // 2 - 3
    whole = draw(codes, people, pairs, SeededSource(8))
    monkeypatch.setattr(feeding, "MOST_WORDS", 2)
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)
    monkeypatch.setattr(feeding, "SEAM", 2)
    pieces = draw(codes, people, pairs, SeededSource(8))

    assert (whole == pieces).all()


def test_a_number_that_is_too_large_is_drawn_again():
    """Three people are told by two bits, and the fourth value would favour somebody."""
    codes = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [2, 3, 1, 0]])
    source = ScriptedSource([3, 7, 1, 0], then=SeededSource(1))

    assert _nearest(codes, np.ones(3, int), 1, source).tolist() == [[1, 0]]


# --- by discrepancy ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(("seed", "size", "most"), [(1, 30, 1), (2, 20, 4), (3, 2, 1)])
def test_pairs_by_discrepancy_are_never_alike_and_nobody_is_in_two(seed, size, most, monkeypatch):
    monkeypatch.setattr(swapping, "_FEWEST", 8)
    codes, people = _records(seed, size, most)
    pairs = _apart(codes, people, int(people.sum()) // 2, SeededSource(seed))
    used = np.bincount(pairs.reshape(-1), minlength=size)

    assert (used <= people).all()
    assert (pairs[:, 0] != pairs[:, 1]).all()


@pytest.mark.usefixtures("kernels")
def test_when_all_who_are_left_are_alike_there_are_no_more_pairs():
    """Nobody is apart from anybody, so no pair has a chance; the draw must end all the same."""
    codes = np.array([[0, 0, 0, 0], [1, 2, 0, 0]])
    pairs = _apart(codes, np.array([9, 2]), 5, SeededSource(1))

    assert [sorted(pair) for pair in pairs.tolist()] == [[0, 1], [0, 1]]
    assert _apart(codes[:1], np.array([9]), 4, SeededSource(1)).shape == (0, 2)


def test_a_person_far_from_a_crowd_is_found_in_the_end():
    """Nearly every pair is drawn in vain here, which must cost time only."""
    codes = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [3, 5, 2, 4]])
    pairs = _apart(codes, np.array([20_000, 1, 1]), 2, SeededSource(1))

    assert {1, 2} <= set(pairs.reshape(-1).tolist())


def test_the_bound_of_the_distances_is_never_passed():
    """A distance above the bound would be kept less often than it should."""
    costs = swap_costs(SCHEMA)
    for seed, size in itertools.product(range(30), (1, 2, 5)):
        codes, _ = _records(seed, size, 1)
        largest = max((_distance(a, b) for a, b in itertools.combinations(codes, 2)), default=0)

        assert 4 * largest <= swapping._farthest(codes, costs) <= 16


def test_ranks_are_sums_of_runs():
    values = np.arange(1, 12)
    ranks = swapping._ranks(values)

    for i in range(1, 12):
        assert ranks[i] == values[i - (i & -i) : i].sum()


def test_the_tree_has_every_prefix_once_in_order():
    codes, people = _records(3, 50, 4)
    numbers = np.ravel_multi_index(tuple(codes.T), SHAPE)
    order = np.argsort(numbers)
    tree = swapping._Tree.of(numbers[order], SHAPE, people[order])
    code, parent, live, starts, many = tree.nodes
    prefixes = [sorted({tuple(row[:depth]) for row in codes.tolist()}) for depth in range(5)]
    expected = list(itertools.chain(*prefixes))
    totals = Counter()
    for row, held in zip(codes.tolist(), people.tolist(), strict=True):
        for depth in range(5):
            totals[tuple(row[:depth])] += held

    ordered = sorted(map(tuple, codes.tolist()))

    assert many.tolist() == [sum(row[: len(prefix)] == prefix for row in ordered) for prefix in expected]
    assert [ordered[start][: len(prefix)] for start, prefix in zip(starts, expected, strict=True)] == expected
    assert live.tolist() == [totals[prefix] for prefix in expected]
    assert code.tolist()[1:] == [prefix[-1] for prefix in expected[1:]]
    assert [expected[node] for node in parent[1:]] == [prefix[:-1] for prefix in expected[1:]]
    for node in range(len(expected) - 50):
        children = expected[tree.first[node] : tree.first[node + 1]]

        assert children == [prefix for prefix in expected if prefix[:-1] == expected[node] and prefix]
