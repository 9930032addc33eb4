"""No mitigation claims what it does not keep: what looks at the true counts says so in its guarantee."""

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.mitigate import compare, fairness_payment, linear_proxy, shrink
from evenhand.privacy.laws import DiscreteLaplace, Laplace

SHARES, COUNTS = Allotment([1, 2, 3]), {"x": [40, 500, 300]}
NOISE = DiscreteLaplace(2)
ADD, REPLACE = "add or remove one", "replace one"


def test_a_temperature_from_the_true_counts_has_no_guarantee():
    """It is a function of the table that no noise covers, whatever the words beside it say."""
    chosen = shrink(SHARES, COUNTS, NOISE, unit=ADD, temperature="decision")
    free = shrink(SHARES, COUNTS, NOISE, unit=ADD)

    assert chosen.guarantee.trust == "none"
    assert chosen.guarantee.in_clear == ("x",)
    assert free.guarantee.epsilon == 0.5


def test_a_payment_from_the_true_counts_has_no_guarantee():
    """The bias that is shown is that of shares and payments together, and so must the guarantee be."""
    paid = fairness_payment(SHARES, COUNTS, NOISE, unit=ADD)

    assert paid.guarantee.trust == "none"
    assert paid.guarantee.delta == 1
    assert paid.guarantee.in_clear == ("x",)
    assert "There is no guarantee" in paid.words


def test_the_table_of_ways_prints_none_for_what_looks_at_the_true_counts():
    """Side by side, an epsilon would say that it costs the same as the others."""
    lines = str(compare(SHARES, COUNTS, NOISE, unit=ADD)).splitlines()
    none = [line.split("  ")[0] for line in lines if " none " in line]

    assert none == ["shrink for the decision", "fairness payment"]


@pytest.mark.parametrize("weights", [[1, 2, 3], [2, 2, 2]])
def test_a_replaced_person_must_be_counted_somewhere_for_the_total_to_move_by_a_difference(weights):
    """Replaced by someone who is not counted, a person moves the total by a whole weight."""
    a, x = np.array(weights), np.array(COUNTS["x"])
    moved = max(abs(float(a @ (x - row)) - float(a @ x)) for row in np.eye(3))
    proxy = linear_proxy(Allotment(weights), COUNTS, NOISE, unit=REPLACE)

    assert moved > a.max() - a.min()
    assert any("counted in exactly one entity" in each for each in proxy.guarantee.assumptions)


def test_what_is_taken_for_public_or_real_is_assumed_in_the_guarantee():
    """A guarantee is read without the words beside it."""
    public = linear_proxy(SHARES, COUNTS, NOISE, unit=ADD, total=1940)
    halves = linear_proxy(Allotment([1, 2, 1.5]), COUNTS, NOISE, unit=ADD)
    whole = linear_proxy(SHARES, COUNTS, NOISE, unit=ADD)
    real = linear_proxy(SHARES, COUNTS, Laplace(2), unit=ADD)

    assert any("total is public" in each for each in public.guarantee.assumptions)
    assert any("real numbers" in each for each in halves.guarantee.assumptions)
    assert not any("real numbers" in each for each in whole.guarantee.assumptions)
    assert sum("real numbers" in each for each in real.guarantee.assumptions) == 1
    assert not any("exactly one" in each for each in whole.guarantee.assumptions)
