"""From classes back to cells: Algorithm 5, its averages, and the kernel without the compiler."""

import itertools
import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.kanonymity import reconstruct
from evenhand.release.kanonymity import reconstruct_kernels as _kernels_reconstruct
from evenhand.release.kanonymity.generalized import generalize
from evenhand.release.kanonymity.reconstruct import expected_counts
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.privacy._slow_sampling import ScriptedSource

AGE = Column("age", Domain.integers(20, 29))
YEAR = Column("year", Domain.integers(-3, 3))
RACE = Column("race", Domain.categorical(["a", "b", "c"]))
HOME = Column("home", Domain.categorical(["own", "rent"]))


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels_reconstruct)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _kernels_reconstruct)


@pytest.fixture(autouse=True)
def no_wrap():
    with np.errstate(all="raise", under="ignore"):
        yield


def _classes(k=6, seed=1, people=60, quasi=("age", "race")):
    schema = Schema([AGE, HOME, RACE], quasi_identifiers=quasi)
    counts = SeededSource(seed).generator().multinomial(people, np.full(60, 1 / 60))
    return generalize(Histogram.of(counts, schema), k)


def _chances(merged, number, how):
    """Return the probability of every code of one column in one class, from the definition."""
    codes = merged.of_class(number).tolist()
    if not merged.numeric:
        return {code: 1 / len(codes) for code in codes}
    low, high = codes
    if how == "uniform" or low == high:
        start = merged.column.domain.low
        codes = range(low, high + 1) if low < high or how == "uniform" else [max(low, -start)]
        return {code: 1 / len(codes) for code in codes}
    domain = merged.column.domain
    middle, spread = domain.low + (low + high) / 2, (high - low) / 4

    def below(value):
        return 0.5 * (1 + math.erf((value - middle) / spread / math.sqrt(2)))

    chances = {}
    for value in range(-200, 200):  # rounded to a whole number, not negative, inside of the domain
        moved = min(max(value, 0, domain.low), domain.high) - domain.low
        chances[moved] = chances.get(moved, 0) + below(value + 0.5) - below(value - 0.5)
    return chances


def _slow_moments(table, how):
    """Return mean and variance of every cell, class by class and value by value."""
    shape = tuple(column.size for column in table.schema)
    mean, variance = np.zeros(shape), np.zeros(shape)
    sizes = [table.schema[name].size for name in table.others]
    for number, combination, people in zip(table.classes, table.combinations, table.counts, strict=True):
        fixed = dict(zip(table.others, np.unravel_index(combination, sizes) if sizes else (), strict=True))
        laws = [_chances(each, number, how).items() for each in table.merged]
        for values in itertools.product(*laws):
            codes = fixed | {
                each.column.name: code for each, (code, _) in zip(table.merged, values, strict=True)
            }
            cell = tuple(int(codes[name]) for name in table.schema.names)
            chance = math.prod(each for _, each in values)
            mean[cell] += people * chance
            variance[cell] += people * chance * (1 - chance)
    return mean, variance


@pytest.mark.parametrize("how", ["uniform", "as_printed"])
@pytest.mark.parametrize("quasi", [("age", "race"), (), ("race",)])
@pytest.mark.parametrize("k", [2, 15])
def test_mean_and_variance_are_those_of_the_definition(kernels, how, quasi, k):
    """The exact bias of k-anonymity is this mean minus the truth."""
    table = _classes(k=k, quasi=quasi)
    mean, variance = expected_counts(table, how)
    slow_mean, slow_variance = _slow_moments(table, how)

    assert np.abs(mean - slow_mean).max() < 1e-12
    assert np.abs(variance - slow_variance).max() < 1e-12
    assert mean.sum() == pytest.approx(60, abs=1e-12)


@pytest.mark.parametrize("counts", [[3, 1, 0, 0, 0, 2, 1], [5, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0]])
def test_numbers_below_nought_become_nought_as_printed(counts):
    """The paper rounds to the nearest number that is not negative, whatever the interval."""
    table = generalize(Histogram.of(counts, Schema([YEAR])), 3)
    mean, variance = expected_counts(table, "as_printed")
    slow_mean, slow_variance = _slow_moments(table, "as_printed")

    assert mean[:3].sum() == 0
    assert np.abs(mean - slow_mean).max() < 1e-12
    assert np.abs(variance - slow_variance).max() < 1e-12


@pytest.mark.parametrize("how", ["uniform", "as_printed"])
@pytest.mark.parametrize("quasi", [("age", "race"), ()])
def test_everybody_is_drawn_once_and_other_columns_stay(kernels, how, quasi):
    """People must not get lost, and what is published as it is must be as it is."""
    table = _classes(quasi=quasi)
    made = reconstruct.reconstruct(table, source=SeededSource(5), how=how)

    assert made.people == 60
    if quasi:
        kept = [int(table.counts[table.combinations == home].sum()) for home in (0, 1)]
        assert kept == made.margin(["home"]).counts.tolist()


def test_nobody_leaves_the_cells_of_their_class(kernels):
    """A value that the class does not list would contradict the published classes."""
    table = _classes(k=9)
    made = reconstruct.reconstruct(table, source=SeededSource(3))
    mean, _ = expected_counts(table)

    assert (made.counts[mean == 0] == 0).all()


def test_compiled_and_plain_kernels_draw_the_same(plain, monkeypatch):
    """The slow, obvious run of the same code is the check on the compiler."""
    table = _classes(k=9)
    compiled = reconstruct.reconstruct(table, source=SeededSource(3)).counts
    monkeypatch.setattr(_kernels_reconstruct, "draw", plain.draw)

    assert (compiled == reconstruct.reconstruct(table, source=SeededSource(3)).counts).all()


def test_everybody_stays_in_their_row_however_many_are_drawn_at_a_time(kernels, monkeypatch):
    """Chunks are a matter of memory: every person of every chunk is in the row they belong to."""
    table = _classes(k=25)
    monkeypatch.setattr(reconstruct, "_CHUNK", 7)
    made = reconstruct.reconstruct(table, source=SeededSource(3)).counts
    cells = expected_counts(table)[0] > 0
    kept = [int(table.counts[table.combinations == home].sum()) for home in (0, 1)]

    assert len(table) > 1
    assert kept == made.sum(axis=(0, 2)).tolist()
    assert made[cells].sum() == 60


@pytest.mark.parametrize(("bound", "each"), [(3, 1), (2**33 + 5, 2)])
def test_a_draw_that_the_units_do_not_suffice_for_is_left_for_the_next_call(kernels, bound, each):
    """Half a draw must not be used: it would not be uniform."""
    out = np.full(3, -1, np.int64)
    shape = (np.array([3]), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros((1, 1), np.int64))
    sizes, numeric = np.full((1, 1), bound, np.int64), np.array([True])
    rest = (sizes, np.zeros(1, np.int64), numeric, np.ones(1, np.int64))
    units = np.array([1] * (2 * each + each // 2), dtype=np.uint32)
    done, used = _kernels_reconstruct.draw(units, out, 0, 0, *shape, *rest)

    assert (done, used) == (2, 2 * each)
    assert out[2] == -1


def test_units_that_would_make_some_values_likelier_are_drawn_again(kernels):
    """Of 2**32 units, one too many falls to the first of three values; of 64 bits, those above are cut."""
    table = generalize(Histogram.of([1, 1, 1], Schema([RACE])), 3)
    source = ScriptedSource([0] * 2 + [2**64 - 1] * 100)  # a unit of 0 is the one that is drawn again
    wide = Schema([Column("income", Domain.integers(0, 2**40))])
    few = generalize(Histogram.of_cells([0, 2**40], [1, 1], wide), 2)
    again = ScriptedSource([2**64 - 1] + [5] * 100)  # 2**41 - 1 after the cut, too large

    assert reconstruct.reconstruct(table, source=source).counts.tolist() == [0, 0, 3]
    assert reconstruct.reconstruct(few, source=again).cells.tolist() == [5]


def test_a_table_kept_as_its_filled_cells_stays_one():
    """Drawing values from a class of a large table must not make all of its cells."""
    income = Column("income", Domain.integers(0, 10**9))
    table = generalize(Histogram.of_cells([0, 3, 1000, 2 * 10**9], [2, 3, 1, 9], Schema([income, HOME])), 6)
    made = reconstruct.reconstruct(table, source=SeededSource(1))

    assert made.is_sparse
    assert made.people == 15
    with pytest.raises(LimitExceededError):
        expected_counts(table)


def test_classes_of_one_value_need_no_draw():
    """So many people could not be drawn one by one, and need not be."""
    table = generalize(Histogram.of([2**40, 2**41, 0], Schema([RACE])), 5)

    assert reconstruct.reconstruct(table, source=ScriptedSource([])).counts.tolist() == [2**40, 2**41, 0]


def test_more_people_than_can_be_drawn_are_refused():
    """The number of people is public when one is replaced, so the refusal tells nothing."""
    table = generalize(Histogram.of([2**40, 1, 0], Schema([RACE])), 5)
    with pytest.raises(LimitExceededError) as caught:
        reconstruct.reconstruct(table, source=SeededSource(1))

    assert caught.value.limit == "people"


@pytest.mark.parametrize("how", ["uniform", "as_printed"])
def test_an_empty_table_gives_empty_cells(how):
    """Fewer than k people: nothing is published, and nothing fails."""
    table = _classes(k=61)
    mean, variance = expected_counts(table, how)

    assert reconstruct.reconstruct(table, source=SeededSource(1), how=how).people == 0
    assert mean.sum() == variance.sum() == 0


def test_normal_draws_are_refused_for_a_release():
    """Floats leak through their low bits, so the printed way is for simulations."""
    with pytest.raises(InvalidParameterError, match="simulations only"):
        reconstruct.reconstruct(_classes(), source=SecureSource(), how="as_printed")
    with pytest.raises(InvalidParameterError, match="'uniform', 'as_printed'"):
        reconstruct.reconstruct(_classes(), source=SecureSource(), how="normal")
