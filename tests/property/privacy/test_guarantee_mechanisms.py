"""The rules hold for mechanisms that can be written down in full: a list of probabilities for each input."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.privacy import Guarantee
from evenhand.privacy.guarantees.loss import Loss
from evenhand.privacy.zcdp import delta_from_zcdp
from property._hockey_stick import discrete_gaussian, excess, together

pytestmark = [pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning"), pytest.mark.figures]

SLACK = 1e-12
CENTRAL = {"trust": "central"}

laws = (
    st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any).map(lambda raw: np.array(raw) / sum(raw))
)
epsilons = st.integers(0, 300).map(lambda n: Fraction(n, 100))


def upwards(value):
    return min(Fraction(1), Fraction(value) + Fraction(1, 10**15))


def stated(epsilon, delta, unit):
    return Guarantee.approximate(epsilon, upwards(delta), unit=unit, **CENTRAL)


def holds(claim, first, second):
    return excess(first, second, float(claim.epsilon)) <= float(claim.delta) + SLACK


@given(laws, laws, laws, laws, epsilons, epsilons)
def test_a_sum_covers_two_mechanisms_on_the_same_person(p1, q1, p2, q2, e1, e2):
    parts = [stated(e1, excess(p1, q1, e1), "replace one"), stated(e2, excess(p2, q2, e2), "replace one")]

    assert holds(parts[0] + parts[1], together(p1, p2), together(q1, q2))


@given(st.lists(laws, min_size=3, max_size=3), epsilons)
def test_replacing_is_covered_by_two_steps_of_adding_or_removing(chain, epsilon):
    """The chain is: with one person, without them, with another."""
    one_step = stated(epsilon, max(excess(*pair, epsilon) for pair in pairwise(chain)), "add or remove one")

    assert holds(one_step.as_unit("replace one"), chain[0], chain[2])


def worst_chain(epsilon, delta):
    """Return three laws whose two steps lose (epsilon, delta) each, and together all that the rule says."""
    grown = math.exp(epsilon)
    last = np.array([0.001, 0.999])
    middle = np.array([grown * last[0] + delta, 1 - grown * last[0] - delta])
    first = np.array([grown * middle[0] + delta, 1 - grown * middle[0] - delta])
    return first, middle, last


def test_the_price_of_two_steps_is_attained():
    """So one plus e^epsilon is not a figure that could be lowered."""
    chain = worst_chain(1.0, 0.01)

    assert max(excess(*pair, 1.0) for pair in pairwise(chain)) == pytest.approx(0.01, abs=1e-12)
    assert excess(chain[0], chain[2], 2.0) == pytest.approx(0.01 * (1 + math.e), abs=1e-12)


def test_two_steps_need_the_whole_price():
    """The twin: twice delta, or epsilon without its double, is not enough."""
    chain = worst_chain(1.0, 0.01)

    assert excess(chain[0], chain[2], 2.0) > 2 * 0.01
    assert excess(chain[0], chain[2], 1.0) > (1 + math.e) * 0.01


@given(st.lists(laws, min_size=5, max_size=5), epsilons, st.integers(2, 4))
def test_a_group_is_covered_by_its_chain(chain, epsilon, size):
    one_step = stated(epsilon, max(excess(*pair, epsilon) for pair in pairwise(chain)), "add or remove one")

    assert holds(one_step.group(size), chain[0], chain[size])


@given(st.lists(laws, min_size=6, max_size=6), epsilons, epsilons, epsilons)
def test_a_move_between_two_of_three_parts_is_covered(chain, e1, e2, e3):
    """Each pair of laws is a part before and after; a move changes two of the three."""
    before, after = chain[:3], chain[3:]
    parts = [
        stated(e, excess(p, q, e), "replace one") for e, p, q in zip((e1, e2, e3), before, after, strict=True)
    ]
    whole = parts[0] | parts[1] | parts[2]
    for still in range(3):
        moved = [before[each] if each == still else after[each] for each in range(3)]

        assert holds(whole, together(*before), together(*moved))


@given(st.lists(laws, min_size=6, max_size=6), epsilons, epsilons, epsilons)
def test_one_person_more_in_one_of_three_parts_is_covered(chain, e1, e2, e3):
    before, after = chain[:3], chain[3:]
    parts = [
        stated(e, excess(p, q, e), "add or remove one")
        for e, p, q in zip((e1, e2, e3), before, after, strict=True)
    ]
    whole = parts[0] | parts[1] | parts[2]
    for changed in range(3):
        grown = [after[each] if each == changed else before[each] for each in range(3)]

        assert holds(whole, together(*before), together(*grown))


def test_the_largest_part_alone_does_not_cover_a_move():
    """The twin: under replace one the maximum is too little."""
    keep, flip = np.array([0.75, 0.25]), np.array([0.25, 0.75])
    epsilon = Fraction(str(math.log(3) + 1e-9))
    part = Guarantee.pure(epsilon, unit="replace one", **CENTRAL)
    alone = Guarantee.parallel(part, part, membership="public")

    assert holds(part | part, together(keep, keep), together(flip, flip))
    assert not holds(alone, together(keep, keep), together(flip, flip))


def test_a_proof_for_replace_one_alone_does_not_cover_a_move():
    """Publishing how many people a part has loses nothing under replace one inside it, and shows every move.

    This is why the whole records the assumption that a part may gain or lose a person.
    """
    size_published = Guarantee.pure(0, unit="replace one", **CENTRAL)
    whole = size_published | size_published
    seen_before, seen_after = np.array([1.0, 0.0]), np.array([0.0, 1.0])  # sizes (5, 5), then (4, 6)

    assert whole.epsilon == 0
    assert excess(seen_before, seen_after, 0) == 1
    assert len(whole.assumptions) == 1
    assert "also holds when the number of people in the part changes by one" in whole.assumptions[0]


@pytest.mark.parametrize("keep", [0.6, 0.75, 0.9])
def test_reports_of_one_person_add(keep):
    law, other = np.array([keep, 1 - keep]), np.array([1 - keep, keep])
    report = Guarantee.pure(
        Fraction(str(math.log(keep / (1 - keep)) + 1e-12)), unit="one report", trust="local"
    )

    assert holds(
        report.as_unit("one person", reports=3), together(law, law, law), together(other, other, other)
    )
    assert not holds(report.as_unit("one person"), together(law, law, law), together(other, other, other))


@pytest.mark.parametrize(
    ("variance", "substitution", "add_or_remove"),
    [(25, 2.28670866955554e-05, 1.82933602487278e-08), (4, 0.0379694447235, None)],
)
def test_the_discrete_gaussian_loses_no_more_than_its_rho_says(variance, substitution, add_or_remove):
    """One person moves two cells under substitution (rho = 1/variance) and one when added (half of it)."""
    still, moved = discrete_gaussian(variance, 0), discrete_gaussian(variance, 1)
    exact_move = excess(together(still, moved), together(moved, still), 1.0)
    exact_add = excess(still, moved, 1.0)

    assert exact_move == pytest.approx(substitution, rel=1e-9)
    assert add_or_remove is None or exact_add == pytest.approx(add_or_remove, rel=1e-6)
    assert exact_move <= delta_from_zcdp(Fraction(1, variance), 1)
    assert exact_add <= delta_from_zcdp(Fraction(1, 2 * variance), 1)


def test_pure_epsilon_is_zcdp_with_half_its_square():
    """Rényi divergences of randomized response, the worst pure mechanism, stay below alpha epsilon^2 / 2."""
    for epsilon in (0.1, 1.0, 4.0):
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        for alpha in (1.01, 2.0, 5.0, 50.0):
            terms = [keep**alpha * (1 - keep) ** (1 - alpha), (1 - keep) ** alpha * keep ** (1 - alpha)]

            assert math.log(sum(terms)) / (alpha - 1) <= alpha * epsilon**2 / 2


def test_losses_are_plain_values():
    assert Loss(Fraction(1)) == Loss(Fraction(1), Fraction(0), concentrated=False)
