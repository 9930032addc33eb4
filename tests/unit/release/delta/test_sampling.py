"""The delta of sampled counts: vectors, all tables of a small universe, and no table beyond the window."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exp_bounds
from evenhand.release.delta import sampling as module
from evenhand.release.delta.sampling import (
    Cell,
    binomials,
    distances,
    distances_alone,
    join_cells,
    merge_small_outcomes,
    sampled_delta,
)
from unit.release._slow_suppression import ADD, REPLACE, hockey_stick, sampled_law, worst

GROWN = {Fraction(epsilon): exp_bounds(Fraction(epsilon))[0] for epsilon in ("0", "1/4", "1", "3")}


@pytest.fixture(autouse=True)
def _fresh():
    module._delta.cache_clear()
    yield
    module._delta.cache_clear()


@pytest.mark.parametrize(
    ("epsilon", "rate", "k", "delta", "people"),
    [
        (1, "0.1", 6, 6.0129962978621e-06, 8),
        ("0.5", "0.1", 6, 5.3694918028646e-05, 12),
        (1, "0.05", 10, 1.5130095810794e-11, 14),
        (1, "0.2", 10, 3.7572549818481e-06, 13),
        (2, "0.1", 3, 0.001, 3),
    ],
)
def test_the_vectors_of_one_cell(epsilon, rate, k, delta, people):
    found = sampled_delta(epsilon, rate=rate, k=k, unit=ADD)

    assert float(found.delta) == pytest.approx(delta, rel=1e-12)
    assert (found.loses, found.gains, found.exact) == (people, None, True)


def test_the_vector_of_two_cells():
    found = sampled_delta(1, rate="0.1", k=6, unit=REPLACE)

    assert float(found.delta) == pytest.approx(6.0184312280521e-06, rel=1e-12)
    assert (found.loses, found.gains, found.exact) == (8, 15, True)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.02056), (1, 0.06557), (2, 0.4179), (4, 0.8950)])
def test_with_the_paper_s_rate_delta_is_large(epsilon, delta):
    found = sampled_delta(epsilon, rate=-np.expm1(-epsilon), k=6, unit=REPLACE)

    assert float(found.delta) == pytest.approx(delta, abs=1e-4)
    assert found.exact


@pytest.mark.parametrize(("k", "rate"), [(1, Fraction(1, 4)), (2, Fraction(1, 2)), (3, Fraction(3, 4))])
@pytest.mark.parametrize("unit", [ADD, REPLACE])
@pytest.mark.parametrize("epsilon", GROWN)
def test_delta_is_the_worst_over_all_tables_of_a_small_universe(k, rate, unit, epsilon):
    """Exact rationals, both directions: no pair of tables may exceed delta, and the best pair attains it."""
    most = 5
    cells = 2 if unit == REPLACE else 1
    counts = (
        [(w, u) for w in range(most + 1) for u in range(most + 1)]
        if cells == 2
        else [(w,) for w in range(most + 1)]
    )
    laws = {each: sampled_law(each, rate, k) for each in counts}
    truth = worst(laws, unit, most, GROWN[epsilon])
    found = sampled_delta(epsilon, rate=rate, k=k, unit=unit)
    people = max(found.loses or 0, (found.gains or 0) + 1)

    assert found.delta >= truth
    if found.exact and people <= most:
        assert float(found.delta) == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize("unit", [ADD, REPLACE])
@pytest.mark.parametrize(
    ("epsilon", "rate", "k"), [("1/4", "1/5", 2), (1, "1/3", 3), (0, "1/7", 3), (1, "4/5", 2)]
)
def test_delta_is_attained_by_the_tables_it_names(unit, epsilon, rate, k):
    """If the named tables were nearer than delta, the window would have found something that is not there."""
    found = sampled_delta(epsilon, rate=rate, k=k, unit=unit)
    first = [each for each in (found.loses, found.gains) if each is not None]
    second = [found.loses - 1] if found.loses is not None else []
    second += [found.gains + 1] if found.gains is not None else []
    chance = Fraction(rate)
    with mp.workdps(50):
        laws = [
            sampled_law(each, mp.mpf(chance.numerator) / chance.denominator, k) for each in (first, second)
        ]
        truth = hockey_stick(*laws, mp.exp(mp.mpf(str(float(Fraction(epsilon))))))

        assert found.exact
        assert mp.mpf(found.delta.numerator) / found.delta.denominator >= truth
        assert float(found.delta) == pytest.approx(float(truth), rel=1e-11)


@pytest.mark.parametrize(("epsilon", "rate", "k"), [(0.5, 0.2, 3), (1.0, 0.1, 6), (0.2, 0.6, 2)])
def test_no_cell_beyond_the_window_is_further(epsilon, rate, k):
    """The bound on what is beyond is a proof; a much larger window must agree with it."""
    found = sampled_delta(epsilon, rate=rate, k=k, unit=REPLACE)
    cells = [
        merge_small_outcomes(law, before, k=k, people=w)
        for w, (law, before) in enumerate(binomials(rate, 150), 1)
    ]
    gains = join_cells([Cell(cell.second, cell.first, cell.people) for cell in cells])
    all_of_them = [distances(cell, gains, np.exp(epsilon))[0].max() for cell in cells]

    assert max(all_of_them) <= float(found.delta)
    assert max(all_of_them) == pytest.approx(float(found.delta), rel=1e-11)


def test_publishing_the_sample_itself_costs_its_rate_at_every_epsilon():
    """Row 7 of the corrections: delta is the rate, whatever epsilon; here as k = 1 with large epsilon."""
    for epsilon in (1, 5, 20):
        found = sampled_delta(epsilon, rate="1/10", k=1, unit=ADD)

        assert float(found.delta) == pytest.approx(0.1, rel=1e-12)


def test_nobody_sampled_and_everybody_sampled():
    assert sampled_delta(1, rate=0, k=3, unit=ADD) == (0, None, None, True)
    assert sampled_delta(1, rate=1, k=3, unit=ADD) == (1, 3, None, True)
    assert sampled_delta(1, rate=1, k=3, unit=REPLACE) == (1, 3, 0, True)


def test_a_very_large_epsilon_is_read_as_a_large_one():
    found = sampled_delta(10**6, rate="1/2", k=3, unit=ADD)

    assert float(found.delta) == pytest.approx(1 / 8, rel=1e-12)


def test_where_pairs_are_too_many_a_bound_is_given_and_said_to_be_one(monkeypatch):
    """A bound may be loose, never below the exact delta."""
    truth = sampled_delta("1/4", rate="1/5", k=3, unit=REPLACE)
    for name, value in (("_MOST_WORK", 10), ("_MOST_PAIRED", 8)):
        module._delta.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            bound = sampled_delta("1/4", rate="1/5", k=3, unit=REPLACE)

        assert truth.exact
        assert not bound.exact
        assert truth.delta <= bound.delta <= 2 * truth.delta


def test_a_window_that_is_never_large_enough_gives_a_bound(monkeypatch):
    truth = sampled_delta("1/10", rate="1/5", k=3, unit=ADD)
    module._delta.cache_clear()
    monkeypatch.setattr(module, "_MOST_PEOPLE", 4)
    bound = sampled_delta("1/10", rate="1/5", k=3, unit=ADD)

    assert not bound.exact
    assert bound.delta >= truth.delta


def test_windows_grow_until_nothing_beyond_is_further(monkeypatch):
    truth = sampled_delta("1/10", rate="1/5", k=3, unit=ADD)
    module._delta.cache_clear()
    monkeypatch.setattr(module, "_first_window", lambda *_: 2)

    found = sampled_delta("1/10", rate="1/5", k=3, unit=ADD)

    assert found[1:] == truth[1:]
    assert float(found.delta) == pytest.approx(float(truth.delta), rel=1e-13)


def test_the_quick_distances_are_those_of_the_definition():
    """The tail of each law is found by search; a slip there would be a wrong delta."""
    (law, before), (longer, shorter) = list(binomials(0.3, 7))[4::2]
    loses = merge_small_outcomes(law, before, k=2, people=5)
    gains = Cell(*merge_small_outcomes(shorter, longer, k=2, people=7))
    for grown in (0.8, 1.0, 2.5):
        first = np.multiply.outer(loses.first, gains.first)
        second = np.multiply.outer(loses.second, gains.second)
        slow = np.maximum(first - grown * second, 0).sum()
        value, upper = distances(loses, join_cells([gains]), grown)

        assert value[0] == pytest.approx(slow, rel=1e-13)
        assert slow <= upper[0] <= slow * (1 + 1e-11) + 1e-60
        value, upper = distances_alone([loses], grown)
        slow = np.maximum(loses.first - grown * loses.second, 0).sum()
        assert value[0] == pytest.approx(slow, rel=1e-13)
        assert slow <= upper[0]


def test_outcomes_left_out_are_counted_in_full():
    law, before = list(binomials(0.3, 9))[-1]
    loses, gains = Cell(law, before, 9), Cell(before, law, 9)
    full, _ = distances(loses, join_cells([gains]), 1.5)
    value, upper = distances(loses, join_cells([gains], negligible=0.05), 1.5)

    assert value[0] < full[0] < upper[0]


def test_a_partner_s_outcomes_of_no_chance_are_counted_in_full():
    cell = Cell(*next(iter(binomials(0.3, 1))), 1)
    values, uppers = module._with_partner([cell], ((1e-70, 2.0), (0.5, 1.0)))

    assert values[0] == pytest.approx(0.15)
    assert 0 <= uppers[0] - values[0] < 1e-10


def test_laws_stay_laws_where_outcomes_are_negligible():
    law, before = list(binomials(1e-30, 40))[-1]

    assert law.size < 10
    assert law.sum() == pytest.approx(1)
    assert before[-1] == 0


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"epsilon": -1}, "epsilon"),
        ({"rate": "1.1"}, "rate"),
        ({"k": 0}, "k"),
        ({"unit": "one report"}, "unit"),
    ],
)
def test_what_cannot_be_is_refused(given, name):
    values = {"epsilon": 1, "rate": "0.1", "k": 3, "unit": ADD} | given
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of sampled_delta"):
        sampled_delta(values.pop("epsilon"), **values)


@pytest.mark.parametrize("block", [2, 3, 5, 7, 64])
def test_the_blocks_in_which_cells_are_looked_at_do_not_matter(monkeypatch, block):
    """The worst cell may stand just behind the end of a block; a delta without it is too small."""
    grown = float(GROWN[Fraction("1/4")])
    monkeypatch.setattr(module, "_BLOCK", block)
    for rate, k in ((0.1, 2), (0.1, 6), (0.3, 3), (0.3, 4), (0.5, 2), (0.5, 5)):
        found = module.one_cell(rate, k, ((1.0, grown),), both=True)
        cells = [
            merge_small_outcomes(law, before, k=k, people=people)
            for people, (law, before) in enumerate(binomials(rate, 120), start=1)
        ]
        turned = [Cell(cell.second, cell.first, cell.people) for cell in cells]
        most = max(distances_alone([*cells, *turned], grown)[0])

        assert found.value == pytest.approx(most, rel=1e-12)


def test_the_room_for_rounding_is_sixteen_units_a_person_and_128_more():
    """Fewer would not cover the roundings that were counted, and the bound might be none."""
    cells = [Cell(np.array([0.5]), np.array([0.5]), people) for people in (1, 3, 100)]
    value, above = distances_alone(cells, 1.0)

    assert value.tolist() == [0, 0, 0]
    assert (above * 2.0**53).tolist() == [16 * people + 128 for people in (1, 3, 100)]
