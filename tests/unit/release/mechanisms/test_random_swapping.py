"""Random swapping of whole cells: the delta it really has, and the errors it makes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Measure, Trust, Unit
from evenhand.privacy.randomness import SeededSource
from evenhand.release.mechanisms import random_swapping
from evenhand.release.mechanisms.quasi_response import printed_delta
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.postprocess.steps import Integral, Nonnegative
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.release._slow_swapping import (
    cells_law,
    hockey_stick,
    neighbours,
    several_rows,
    small_table,
    tables_of,
)

FACTORS = [Fraction(1), Fraction(3, 2), Fraction(20)]  # e to the epsilon


def _delta(mechanism, n, **details):
    return mechanism.guarantee_for(small_table(np.zeros((n, 2), int)), **details).delta


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/2", 2])
def test_delta_is_the_worst_over_all_neighbours_at_every_epsilon(n, epsilon):
    """If some pair of tables were told apart more often, the stated delta would be false."""
    mechanism = RandomSwapping(epsilon)
    keep = mechanism.response(small_table(np.zeros((n, 1), int))).keep
    laws = {row: cells_law(row, keep) for people in (1, 2, 3) for row in tables_of(people, n)}
    for factor in FACTORS:
        worst = max(
            hockey_stick(law, laws[other], factor) for row, law in laws.items() for other in neighbours(row)
        )

        assert worst == _delta(mechanism, n)


def test_delta_is_attained_by_two_people_in_one_cell():
    keep = RandomSwapping(1).response(small_table([0, 0, 2])).keep
    one, two = cells_law((0, 0, 2), keep), cells_law((0, 1, 1), keep)

    assert hockey_stick(two, one, Fraction(1000)) == _delta(RandomSwapping(1), 3)


@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2)])
def test_the_chance_of_a_large_ratio_is_never_below_delta_and_may_be_above(factor):
    """What the paper's first lemma bounds delta by: enough for a proof, more than there is."""
    keep = RandomSwapping(1).response(small_table([0, 0, 0])).keep
    laws = {row: cells_law(row, keep) for row in tables_of(2, 3)}
    spare = []
    for row, law in laws.items():
        for other in neighbours(row):
            bound = sum(chance for made, chance in law.items() if chance > factor * laws[other].get(made, 0))
            spare.append(bound - hockey_stick(law, laws[other], factor))

    assert min(spare) >= 0
    assert max(spare) > 0


def test_the_number_of_other_combinations_has_no_place_in_delta():
    """A line of the paper's proof has it in place of the number of quasi-identifiers' combinations."""
    tables = [small_table(np.zeros((3, others), int)) for others in (1, 2, 7)]

    assert len({RandomSwapping(1).guarantee_for(table).delta for table in tables}) == 1


def test_where_another_column_changes_delta_is_one():
    """The paper takes for granted that this does not happen; the guarantee must say that it matters."""
    keep = RandomSwapping(1).response(small_table([0, 0])).keep
    before = several_rows(cells_law, [(1, 1), (0, 1)], keep)
    after = several_rows(cells_law, [(0, 1), (1, 1)], keep)
    guarantee = RandomSwapping(1).guarantee_for(small_table([[1, 0], [1, 1]]))

    assert hockey_stick(before, after, Fraction(10**9)) == 1
    assert guarantee.in_clear == ("c1",)
    assert any("delta is 1" in each for each in guarantee.assumptions)


def test_the_guarantee_says_what_there_is():
    guarantee = RandomSwapping(1).guarantee_for(small_table(np.zeros((9, 2), int)))

    assert guarantee.epsilon == 0
    assert float(guarantee.delta) == pytest.approx(0.891744479468, abs=1e-12)
    assert (guarantee.unit, guarantee.trust, guarantee.measure) == (
        Unit.REPLACE_ONE,
        Trust.CENTRAL,
        Measure.APPROXIMATE,
    )
    assert guarantee.protects == ("c0",)
    assert guarantee.tight
    assert "no meaningful guarantee" in str(guarantee)


def test_no_epsilon_makes_delta_smaller():
    assert _delta(RandomSwapping(1), 3, epsilon=8) == _delta(RandomSwapping(1), 3)


def test_as_printed_is_the_papers_number_and_says_that_it_is_wrong():
    guarantee = RandomSwapping("1/2").guarantee_for(small_table(np.zeros((9, 2), int)), as_printed=True)

    assert guarantee.delta == printed_delta(9, Fraction(1, 2)) < _delta(RandomSwapping("1/2"), 9)
    assert guarantee.epsilon == Fraction(1, 2)
    assert not guarantee.tight
    assert "sign" in guarantee.proof
    assert "does not hold" in guarantee.proof


def test_bias_and_variance_have_the_shape_of_the_table():
    table = small_table(np.arange(12).reshape(3, 4))
    law = RandomSwapping(1).response(table)
    bias, variance = RandomSwapping(1).bias(table), RandomSwapping(1).variance(table)

    assert bias.exact
    assert variance.exact
    for other in range(4):
        row = [table.counts[:, other]]

        assert bias.values[:, other] == pytest.approx(law.bias(row)[0])
        assert variance.values[:, other] == pytest.approx(law.cell_variance(row)[0])


def test_the_sum_of_absolute_biases_is_that_of_theorem_four():
    counts = np.array([[5, 0, 7], [1, 9, 2], [0, 0, 30]])
    table = small_table(counts)
    law = RandomSwapping(1).response(table)
    spread = np.abs(counts - counts.mean(axis=0)).mean(axis=0)  # one for each row of cells
    expected = 3 * float(law.other) * 3 * spread.sum()

    assert RandomSwapping(1).bias(table).l1 == pytest.approx(expected)


def test_equal_counts_have_no_bias_and_no_disparity():
    """One of the paper's own counter-examples to its ranking of mechanisms."""
    table = small_table(np.array([[4, 9], [4, 9]]))

    assert RandomSwapping("1/10").alpha(table) == 0


def test_bias_is_exact_where_post_processing_changes_nothing():
    table = small_table([5, 1, 0])
    after = RandomSwapping(1).bias(table, post=[Nonnegative(), Integral()])

    assert after.exact
    assert (after.values == RandomSwapping(1).bias(table).values).all()
    assert not RandomSwapping(1).bias(table, post=[Nonnegative(least=1)], draws=3).exact


def test_bias_after_post_processing_is_sampled():
    class Doubled:
        words = "doubled"

        def apply(self, values, *, source):
            del source
            return values * 2

    assert not RandomSwapping(1).bias(small_table([5, 1, 0]), post=[Doubled()], draws=5).exact


# --- draws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [3, 1 << 20])
def test_whole_cells_move_and_the_other_columns_stay(chunk, monkeypatch):
    """Counts are never torn apart: that is what the paper's results are about."""
    monkeypatch.setattr(random_swapping, "_CHUNK", chunk)
    counts = 2 ** np.arange(12).reshape(3, 4)
    table = small_table(counts)
    for seed in range(20):
        made = RandomSwapping("1/2").release(table, rng=seed).histogram.counts

        assert (made.sum(axis=0) == counts.sum(axis=0)).all()
        for before, after in zip(counts.T, made.T, strict=True):
            sums = {sum(each) for size in range(4) for each in itertools.combinations(before.tolist(), size)}

            assert set(after.tolist()) <= sums


def test_a_sparse_table_moves_in_the_same_way():
    columns = [Column(name, Domain.integers(0, 999)) for name in "abc"]
    schema = Schema(columns, quasi_identifiers=["b"])
    table = Histogram.of_cells([1_001_001, 5_005_005, 7_000_000], [4, 3, 2], schema)
    made = RandomSwapping("1/1000").release(table, rng=1).histogram

    assert made.is_sparse
    assert sorted(made.filled.tolist()) == [2, 3, 4]
    assert (made.margin(["a", "c"]).counts == table.margin(["a", "c"]).counts).all()
    assert made.cells.tolist() != table.cells.tolist()


@pytest.mark.parametrize("counts", [[0, 0], [1, 0], [2**40, 2**40 - 1]])
@pytest.mark.parametrize("epsilon", ["0.001", 20])
def test_hostile_tables_are_published(counts, epsilon):
    made = RandomSwapping(epsilon).release(small_table(counts), rng=SeededSource(1))

    assert made.histogram.people == sum(counts)
    assert made.simulated


def test_a_release_is_drawn_with_the_secure_source_unless_told():
    assert not RandomSwapping(1).release(small_table([3, 1])).simulated


@pytest.mark.parametrize("epsilon", [0, -1, "nan", None, float("inf")])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of RandomSwapping"):
        RandomSwapping(epsilon)


def test_a_table_without_quasi_identifiers_is_refused_before_a_draw():
    with pytest.raises(InvalidParameterError, match="quasi-identifiers"):
        RandomSwapping(1).release(small_table([3, 1], quasi=0))


def test_it_writes_itself_down():
    assert repr(RandomSwapping("1/2")) == "RandomSwapping(epsilon=0.5)"
    assert RandomSwapping("1/2").to_dict() == {"mechanism": "random-swapping", "epsilon": "1/2"}
    assert RandomSwapping.example() == RandomSwapping(1)
