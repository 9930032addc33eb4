"""Swapping is drawn as defined: every outcome of small tables against its enumerated probability.

Exact binomial tests, alpha 1e-9, on outcomes fixed in advance; wrong laws, and a wrong search, are rejected.
"""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.mechanisms import swap_kernels as _kernels_swapping
from evenhand.release.mechanisms import swapping
from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from evenhand.release.mechanisms.swapping import Swapping, swap_costs
from statistical._exact import ALPHA, exact_events_pvalue
from unit.release._slow_swapping import (
    cells_law,
    discrepancy_steps,
    nearest_steps,
    pairs_law,
    records_law,
    slow_distance,
    small_table,
    swapped,
)

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

RUNS = 10_000
WORDS = 128  # enough for a run of any case here, but for one in a million, which is left out by its length


def _pvalue(found, law):
    """The p-value of outcomes against a law of outcomes."""
    outcomes = sorted(law)
    places = {outcome: place for place, outcome in enumerate(outcomes)}
    if not set(found) <= set(places):
        return 0.0
    draws = np.array([places[outcome] for outcome in found])
    return exact_events_pvalue(draws, [float(law[outcome]) for outcome in outcomes])


# --- randomised response: one row of the table is one draw --------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "law_of_row"),
    [(RandomSwapping, cells_law), (RecordSwapping, records_law)],
    ids=["cells", "people"],
)
@pytest.mark.parametrize(("row", "epsilon"), [((2, 1), 1), ((3, 0, 1), "1/2")])
def test_every_row_that_can_come_out_does_so_with_its_probability(mechanism, law_of_row, row, epsilon):
    """If cells or people shared a draw, or kept their place too often, this would show."""
    table = small_table(np.repeat(np.array(row)[:, None], 30_000, axis=1))
    keep = mechanism(epsilon).response(table).keep
    source = SecureSource() if len(row) == 3 else SeededSource(6).for_cell(f"{mechanism.name} {row}")
    made = mechanism(epsilon).release(table, rng=source).histogram.counts
    found = list(map(tuple, made.T.tolist()))

    assert _pvalue(found, law_of_row(row, keep)) > ALPHA
    for wrong in (keep * Fraction(9, 10), keep * Fraction(11, 10)):
        assert _pvalue(found, law_of_row(row, wrong)) < ALPHA


@pytest.mark.parametrize("n", [2, 5])
def test_one_value_becomes_each_other_with_its_probability(n):
    """Three per cent off is seen."""
    law = RecordSwapping(1).response(small_table(np.zeros((n, 1), int)))
    values = np.full(400_000, 1)
    places, became = law.draw_moves(values, source=SeededSource(8))
    values[places] = became

    def chances(keep):
        return [keep if value == 1 else (1 - keep) / (n - 1) for value in range(n)]

    assert exact_events_pvalue(values, chances(float(law.keep))) > ALPHA
    for factor in (0.97, 1.03):  # twelve standard errors or more
        assert exact_events_pvalue(values, chances(factor * float(law.keep))) < ALPHA


# --- pairs ------------------------------------------------------------------------------------------

CASES = {
    "ties": {(0, 0): 1, (0, 1): 1, (0, 2): 1, (1, 0): 1, (1, 1): 1, (2, 1): 1},
    "people": {(0, 0): 3, (0, 2): 1, (2, 1): 2, (1, 1): 1},
    "spread": {(0, 0): 1, (0, 2): 1, (1, 0): 2, (2, 2): 1},
}
SHAPE = (3, 3)
REACHES = (None, 2)  # the second column is numerical


def _distance(one, two):
    return slow_distance(one, two, REACHES)


def _runs(case, pairing, pairs):
    """Draw many independent sets of pairs by the kernels, each from words of its own."""
    live = CASES[case]
    codes = np.array(sorted(live))
    people = np.array([live[tuple(row)] for row in codes.tolist()])
    costs = swap_costs(small_table(np.zeros(SHAPE, int), ordered=(1,)).schema)
    words = SeededSource(9).for_cell(f"{case} {pairing} {pairs}").words(RUNS * WORDS).reshape(RUNS, WORDS)
    out = np.empty((RUNS, pairs, 2), np.int64)
    ranks, squares = swapping._ranks(people), swapping._ranks(people**2)
    tree = swapping._Tree.of(np.ravel_multi_index(tuple(codes.T), SHAPE), SHAPE, people)
    totals = np.array([people.sum(), (people**2).sum(), swapping._farthest(codes, costs)])
    levels, ties = np.empty((2, 4), np.int64), np.empty(people.size, np.int64)
    finished = np.zeros(RUNS, bool)
    for run in range(RUNS):
        if pairing == "nearest":
            state = (tree.first, tree.nodes.copy(), codes, ranks.copy(), costs, levels, ties)
            done, _ = _kernels_swapping.nearest(words[run], out[run], 0, *state)
        else:
            state = (codes, people.copy(), ranks.copy(), squares.copy(), costs, totals.copy())
            done, _ = _kernels_swapping.apart(words[run], out[run], 0, *state)
        finished[run] = done == pairs
    tuples = list(map(tuple, codes.tolist()))
    return [
        tuple(sorted(tuple(sorted((tuples[one], tuples[two]))) for one, two in rows if one >= 0))
        for rows in out[finished].tolist()
    ]


def _first_of_ties(live, distance):
    """A wrong search: of those equally near it always takes the first."""
    people = sum(live.values())
    for one, many in live.items():
        left = {two: count - (two == one) for two, count in live.items() if count > (two == one)}
        yield one, min(sorted(left), key=lambda two: distance(one, two)), Fraction(many, people)


def _by_tuple(live, distance):
    """A wrong draw: every tuple alike, however many people have it."""
    alike = dict.fromkeys(live, 1)
    for one in live:
        left = {two: count - (two == one) for two, count in live.items() if count > (two == one)}
        best = min(distance(one, two) for two in left)
        ties = [two for two in left if distance(one, two) == best]
        for two in ties:
            yield one, two, Fraction(1, len(alike) * len(ties))


def _any_pair(live, distance):
    """A wrong draw: all pairs that are not alike have the same chance."""
    del distance
    return discrepancy_steps(live, lambda one, two: int(one != two))


@pytest.mark.parametrize(
    ("case", "pairs", "wrong"),
    [("ties", 3, _first_of_ties), ("people", 2, _by_tuple), ("spread", 2, _first_of_ties)],
)
def test_pairs_of_nearest_follow_the_definition(case, pairs, wrong):
    """All sets of pairs, each with the probability that the definition gives it."""
    found = _runs(case, "nearest", pairs)

    assert len(found) > 0.9999 * RUNS
    assert _pvalue(found, pairs_law(CASES[case], _distance, nearest_steps, pairs)) > ALPHA
    assert _pvalue(found, pairs_law(CASES[case], _distance, wrong, pairs)) < ALPHA


@pytest.mark.parametrize(("case", "pairs"), [("ties", 2), ("people", 2), ("spread", 2)])
def test_pairs_by_discrepancy_follow_the_definition(case, pairs):
    found = _runs(case, "discrepancy", pairs)

    assert len(found) > 0.9999 * RUNS
    assert _pvalue(found, pairs_law(CASES[case], _distance, discrepancy_steps, pairs)) > ALPHA
    assert _pvalue(found, pairs_law(CASES[case], _distance, _any_pair, pairs)) < ALPHA


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairing", "steps"), [("nearest", nearest_steps), ("discrepancy", discrepancy_steps)]
)
def test_published_tables_follow_the_definition(pairing, steps):
    """From the histogram to the published table, through everything on the way."""
    live = CASES["people"]
    counts = np.zeros(SHAPE, int)
    for cell, people in live.items():
        counts[cell] = people
    table, source = small_table(counts, ordered=(1,)), SeededSource(10).for_cell(pairing)
    mechanism = Swapping(Fraction(4, 7), pairing)
    law = {}
    for pairs, chance in pairs_law(live, _distance, steps, 2).items():
        made = tuple(sorted(swapped(live, pairs, 1).items()))
        law[made] = law.get(made, 0) + chance
    found = []
    for _ in range(10_000):
        made = mechanism.release(table, rng=source).histogram.counts
        found.append(tuple((cell, int(made[cell])) for cell in np.ndindex(SHAPE) if made[cell]))

    assert _pvalue(found, law) > ALPHA
