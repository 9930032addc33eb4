"""What holds of every post-processing, whatever the rates, groups and people."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.learn.parity.closest import closest_odds, closest_rates
from evenhand.learn.parity.key import PersonKey, encode_person
from evenhand.learn.parity.table import count_predictions

SHARES = st.fractions(0, 1, max_denominator=60)
FEW = settings(max_examples=20)
COSTS = st.fractions(-1, 1, max_denominator=12)
GROUPS = st.lists(st.tuples(SHARES, COSTS, COSTS), min_size=1, max_size=6)
IDENTIFIERS = st.one_of(st.text(min_size=1), st.integers())


def columns(groups):
    rates, down, up = zip(*groups, strict=True)
    return list(rates), (list(down), list(up))


@FEW
@given(GROUPS, SHARES)
def test_the_cost_meets_its_lower_bound_and_the_gap_its_target(groups, gap):
    """Proposition 6 in pairs and the closed form share no step; where they agree both are right."""
    rates, costs = columns(groups)
    found = closest_rates(rates, gap=gap, costs=costs)

    assert abs(found.cost - found.lower_bound) <= 1e-12
    assert np.ptp(found.target) <= float(gap) + 1e-12
    assert np.allclose(found.promote + (found.keep - found.promote) * found.rates, found.target, atol=1e-12)
    for values in (found.target, found.keep, found.promote):
        assert ((values >= 0) & (values <= 1)).all()


@FEW
@given(GROUPS, SHARES, st.randoms(use_true_random=False))
def test_the_order_of_the_groups_changes_nothing(groups, gap, order):
    """Not even the last digit: whose group is written first must not decide who is refused."""
    moved = list(range(len(groups)))
    order.shuffle(moved)
    rates, costs = columns(groups)
    other_rates, other_costs = columns([groups[place] for place in moved])
    one = closest_rates(rates, gap=gap, costs=costs)
    other = closest_rates(other_rates, gap=gap, costs=other_costs)

    assert one.keep[moved].tolist() == other.keep.tolist()
    assert one.promote[moved].tolist() == other.promote.tolist()
    assert (one.cost, one.interval) == (other.cost, other.interval)


@FEW
@given(st.lists(SHARES, min_size=2, max_size=5), SHARES, SHARES)
def test_a_wider_gap_never_costs_more(rates, one, other):
    narrow, wide = sorted([one, other])

    assert closest_rates(rates, gap=wide).cost <= closest_rates(rates, gap=narrow).cost
    assert closest_rates(rates, gap=max(rates) - min(rates)).cost == 0


@FEW
@given(st.lists(SHARES, min_size=2, max_size=5), SHARES)
def test_positive_and_negative_are_treated_alike(rates, gap):
    """Calling the other class positive turns the problem round and must change nobody's lot."""
    one = closest_rates(rates, gap=gap)
    other = closest_rates([1 - Fraction(rate) for rate in rates], gap=gap)

    assert one.cost == other.cost
    assert np.allclose(one.keep, 1 - other.promote)


@FEW
@given(
    st.lists(st.lists(st.integers(0, 30), min_size=4, max_size=4), min_size=2, max_size=4), st.floats(0, 1)
)
def test_odds_agree_up_to_the_gap_and_cost_what_the_dual_says(cells, gap):
    found = closest_odds(np.array(cells).reshape(-1, 2, 2), gap=gap)

    assert np.ptp(found.target, axis=0).max() <= gap + 1e-8
    assert abs(found.cost - found.lower_bound) <= 1e-8


PEOPLE = st.tuples(st.integers(0, 2), st.booleans(), st.booleans())


@FEW
@given(st.lists(PEOPLE, min_size=1, max_size=8), PEOPLE, st.booleans())
def test_one_person_moves_one_count_and_one_replaced_moves_two(people, other, labelled):
    """The sensitivity: if a person moved more, the noise would be too small."""

    def table(rows):
        group, label, predicted = (np.array(column, dtype=int) for column in zip(*rows, strict=True))
        labels = label.astype(bool) if labelled else None
        return count_predictions(group, predicted.astype(bool), n_groups=3, labels=labels)

    assert np.abs(table([*people, other]) - table(people)).sum() == 1
    assert np.abs(table([*people[1:], other]) - table(people)).sum() <= 2


@FEW
@given(st.lists(IDENTIFIERS, min_size=2, max_size=6))
def test_two_identifiers_are_two_people(people):
    """One encoding for two people would tie their answers together."""
    different = {(type(person), person) for person in people}

    assert len({encode_person(person) for person in people}) == len(different)


@FEW
@given(st.lists(IDENTIFIERS, max_size=6), st.binary(min_size=32, max_size=32))
def test_a_person_has_one_number_whoever_else_is_asked_about(people, secret):
    key = PersonKey(secret)

    assert key.numbers(people).tolist() == [int(key.numbers([person])[0]) for person in people]
    assert (key.numbers(people) < 2**53).all()
