"""Shares and outcome rates of groups: where they come from, and what that costs."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.protocols.grr import GRR
from evenhand.errors import InvalidParameterError

GROUP = np.repeat([0, 1, 2], [500, 300, 200])
OUTCOME = np.concatenate([np.arange(n) < share * n for n, share in ((500, 0.7), (300, 0.4), (200, 0.2))])


def pilot(people=1000, epsilon=2, k=3, group=GROUP, outcome=OUTCOME):
    return group_rates(outcome[:people], GRR(k=k, epsilon=epsilon).privatize(group[:people], rng=3))


def test_exact_counts_give_the_shares_and_rates():
    found = GroupOutcomes.exact(OUTCOME, GROUP, k=4)

    assert found.weights == pytest.approx((0.5, 0.3, 0.2, 0))
    assert found.rates == pytest.approx((0.7, 0.4, 0.2, 0.51))  # nobody is in the last one: the rate of all
    assert found.overall == pytest.approx(0.51)
    assert found.origin == "exact"


def test_exact_counts_promise_nothing_unless_they_are_public():
    """The thesis takes them from all rows; whoever does that with private rows must read what it means."""
    found = GroupOutcomes.exact(OUTCOME, GROUP, k=3)
    promise = found.guarantee_with(found.optimal(1))

    assert any("only if the exact shares" in each for each in promise.assumptions)


def test_a_pilot_says_how_many_reported_and_that_they_do_not_report_again():
    found = GroupOutcomes.from_pilot(pilot())

    assert found.origin == "pilot"
    assert "1,000 reports" in found.assumptions[0]
    assert sum(found.weights) == pytest.approx(1)
    assert all(0 <= each <= 1 for each in found.rates)
    assert found.guarantee.epsilon == 2


def test_a_group_that_a_pilot_cannot_see_has_the_rate_of_all_and_a_share_above_zero():
    """Its estimated rate is noise: the channel would be made for noise."""
    few = pilot(people=1000, k=5)
    found = GroupOutcomes.from_pilot(few)
    hidden = [place for place, known in few.separated.items() if not known]

    assert hidden
    assert {found.rates[place] for place in hidden} == {float(few.overall)}
    assert min(found.weights) > 0


def test_a_pilot_of_nobody_or_of_something_else_is_refused():
    with pytest.raises(InvalidParameterError, match="an estimate from one report or more"):
        GroupOutcomes.from_pilot(pilot(people=0))
    with pytest.raises(InvalidParameterError, match="what group_rates"):
        GroupOutcomes.from_pilot([0.5, 0.5])


def test_private_rows_without_a_budget_are_refused_and_the_three_ways_named():
    with pytest.raises(InvalidParameterError) as caught:
        GroupOutcomes.noisy(OUTCOME, GROUP, k=3)
    for way in ("GroupOutcomes.public", "GroupOutcomes.from_pilot", "GroupOutcomes.noisy"):
        assert way in str(caught.value)


@pytest.mark.parametrize(("unit", "scale"), [("replace one", 20), ("add or remove one", 10)])
def test_the_noise_fits_the_unit(monkeypatch, unit, scale):
    """Replacing a person changes two counts: with the noise of one, epsilon would be twice what is said."""
    asked = []

    def drawn(given, *, size, source):
        asked.append(given)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr("evenhand.collect.fairest.group_outcomes.discrete_laplace", drawn)
    found = GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon="1/10", unit=unit, rng=1)

    assert asked == [scale]
    assert str(found.guarantee.unit) == unit
    assert found.weights == pytest.approx((0.5, 0.3, 0.2))


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_differ_by_no_more_than_the_noise_is_made_for(seed):
    draws = np.random.default_rng(seed)
    group, outcome = draws.integers(0, 4, 50), draws.integers(0, 2, 50)
    counts = np.bincount(2 * group + outcome, minlength=8)
    group[7], outcome[7] = draws.integers(0, 4), draws.integers(0, 2)
    replaced = np.bincount(2 * group + outcome, minlength=8)
    removed = np.bincount(2 * group[1:] + outcome[1:], minlength=8)

    assert np.abs(counts - replaced).sum() <= 2
    assert np.abs(replaced - removed).sum() <= 1


def test_noise_that_takes_everybody_away_still_leaves_shares():
    found = GroupOutcomes.noisy([0], [0], k=3, epsilon="1/1000000", rng=11)

    assert sum(found.weights) == pytest.approx(1)
    assert min(found.weights) > 0
    assert all(0 <= each <= 1 for each in found.rates)


def test_nobody_at_all_gives_equal_shares():
    assert GroupOutcomes.exact([], np.array([], dtype=int), k=2).weights == (0.5, 0.5)


def test_what_is_counted_with_noise_is_paid_on_top_of_the_report():
    """The same people are in both: their whole cost is the sum, and somebody saw their rows."""
    found = GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon="1/4", protects=["race", "hired"], rng=1)
    whole = found.guarantee_with(found.optimal(1), protects=["race"])

    assert whole.epsilon == Fraction(5, 4)
    assert str(whole.trust) == "central"
    assert "whoever computes the noisy table sees the rows" in whole.assumptions
    assert found.guarantee_with(found.optimal(1), same_people=False).epsilon < Fraction(5, 4) + 1


@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")  # of an epsilon of 30
def test_what_a_matrix_from_private_rows_happens_to_spend_is_not_told():
    """It depends on the rows, so it is no promise that could have been made before they were read."""
    found = GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon="1/4", rng=1)
    optimal = found.optimal(30)
    less = optimal.guarantee

    assert less.epsilon < 21
    assert found.guarantee_with(optimal).epsilon == Fraction(121, 4)
    assert found.guarantee_with(less, epsilon=30).epsilon == Fraction(121, 4)
    assert found.guarantee_with(less).epsilon == less.epsilon + Fraction(1, 4)


def test_people_of_a_pilot_and_all_others_report_once():
    found = GroupOutcomes.from_pilot(pilot())
    optimal = found.optimal(1)

    assert optimal.origin == "pilot"
    assert found.guarantee_with(optimal).epsilon == 2
    assert "nobody of the pilot reports again" in found.guarantee_with(optimal).assumptions
    twice = found.guarantee_with(optimal, same_people=True)
    assert twice.epsilon == 3
    assert "nobody of the pilot reports again" not in twice.assumptions


def test_public_numbers_cost_nothing_and_name_who_published_them():
    census = GroupOutcomes.public([7, 3], [0.2, 0.6], source=" census 2020 ")
    promise = census.guarantee_with(census.optimal("1/2").guarantee)

    assert census.weights == (0.7, 0.3)
    assert promise.epsilon == census.optimal("1/2").guarantee.epsilon <= Fraction(1, 2)
    assert any("census 2020" in each for each in promise.assumptions)


@pytest.mark.parametrize("source", ["", "  ", None, 3])
def test_public_numbers_need_a_source(source):
    with pytest.raises(InvalidParameterError, match="who published the numbers"):
        GroupOutcomes.public([1, 1], [0, 1], source=source)


@pytest.mark.parametrize(
    ("weights", "rates", "field"),
    [
        ([1], [0.5], "weights"),
        ([1, -1], [0.5, 0.5], "weights"),
        ([0, 0], [0.5, 0.5], "weights"),
        ([1, float("nan")], [0.5, 0.5], "weights"),
        ([1, "2"], [0.5, 0.5], "weights"),
        ([1, True], [0.5, 0.5], "weights"),
        ([1, None], [0.5, 0.5], "weights"),
        ("12", [0.5, 0.5], "weights"),
        ([1, 2], [0.5], "rates"),
        ([1, 2], [0.5, 1.5], "rates"),
        ([1, 2], 7, "rates"),
        ([1] * 9, [0.5] * 8, "rates"),
    ],
)
def test_wrong_numbers_are_refused_by_their_field(weights, rates, field):
    with pytest.raises(InvalidParameterError) as caught:
        GroupOutcomes.from_table({"weights": weights, "rates": rates})
    assert caught.value.parameter == field


@pytest.mark.parametrize("table", [{}, {"weights": [1, 1]}, {"weights": [1, 1], "rates": [0, 1], "x": 1}, 5])
def test_tables_have_two_fields_and_perhaps_a_source(table):
    with pytest.raises(InvalidParameterError, match="'weights' and 'rates'"):
        GroupOutcomes.from_table(table)


def test_no_message_tells_a_value_of_the_rows():
    with pytest.raises(InvalidParameterError) as caught:
        GroupOutcomes.exact([0, 1, 77_123], [0, 1, 1], k=2)
    assert "77" not in str(caught.value)
    with pytest.raises(InvalidParameterError):
        GroupOutcomes.exact([0, 1], [0, 1, 1], k=2)


def test_weights_of_any_size_are_scaled():
    """Their sum may be beyond what a float holds."""
    assert GroupOutcomes.public([1e308] * 4, [0.1, 0.2, 0.3, 0.4], source="x").weights == (0.25,) * 4


@pytest.mark.parametrize("given", [5, None, "12", {"a": 1, "b": 2}])
@pytest.mark.parametrize("name", ["weights", "rates"])
def test_an_object_that_is_no_list_of_numbers_is_refused_by_name(name, given):
    with pytest.raises(InvalidParameterError, match=f"'{name}'"):
        GroupOutcomes.public(**{"weights": [1, 2], "rates": [0.1, 0.2], "source": "x"} | {name: given})


def test_scaled_weights_stay_as_they_are():
    """A plan that is written and read again must be the same plan, or a study cannot go on."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        given = rng.integers(1, 50, int(rng.integers(2, 8))).tolist()
        once = GroupOutcomes.public(given, [0.5] * len(given), source="x")
        assert GroupOutcomes.public(once.weights, once.rates, source="x") == once


def test_any_epsilon_can_be_spent_on_counts():
    """The noise takes scales of limited size only; the scale is rounded up and the cost follows from it."""
    asked = Fraction("0.12345678912345")
    found = GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon=asked, rng=1)

    assert asked * (1 - Fraction(1, 10**8)) < found.guarantee.epsilon <= asked


@pytest.mark.parametrize("epsilon", ["1e-30", "1e30"])
def test_an_epsilon_that_no_noise_has_is_refused_by_its_own_name(epsilon):
    with pytest.raises(InvalidParameterError, match=r"'epsilon' parameter of GroupOutcomes\.noisy"):
        GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon=epsilon, rng=1)


def test_noise_drawn_with_a_seed_is_called_a_simulation():
    """Whoever has the seed can take it off, so what is promised must not read like a release."""
    drawn, tried = (GroupOutcomes.noisy(OUTCOME, GROUP, k=3, epsilon=1, rng=rng) for rng in (None, 1))

    assert not any("seed" in each for each in drawn.guarantee_with(GRR(k=3, epsilon=1)).assumptions)
    assert any("seed" in each for each in tried.guarantee.assumptions)
    assert any("seed" in each for each in tried.guarantee_with(GRR(k=3, epsilon=1)).assumptions)
