"""Gaps between groups beside a slow version that tries every pair."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from evenhand.answer.effects import EVERYBODY, EffectTable, Option
from evenhand.answer.gaps import GAP_EFFECTS, judge_gaps
from evenhand.answer.harm import find_payers
from evenhand.answer.status import family_level, judge
from evenhand.measure.repeat_means import means
from property.answer._tables import PAGE, PLAIN, draw_table, observe
from unit.study import _learn_studies as learn

TWO = (Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0))


def _table(*seen, **more):
    return EffectTable(TWO, tuple(seen), PAGE, **more)


def _slow_gap(table, option, effect):
    """Return the pair that is furthest apart in what is due, its change and its limits, pair by pair."""
    seen = [
        each for each in table.observations
        if (each.option, each.effect) == (option, effect) and each.group != EVERYBODY
    ]  # fmt: skip
    pairs = list(itertools.permutations(seen, 2))
    first, second = max(pairs, key=lambda pair: np.mean(pair[0].due) - np.mean(pair[1].due))
    step = [table.before(each) for each in (first, second)]
    change = (first.after - second.after) - (step[0] - step[1])
    level = 1 - 0.05 / (len(pairs) / 2)
    found = means(change[None], level=level, spread="even")
    return f"{first.group} and {second.group}", change.mean(), found.low[0], found.high[0]


@pytest.mark.parametrize("seed", range(20))
def test_a_gap_is_that_of_the_pair_furthest_apart_in_what_is_due(seed):
    """If not, the page would compare a pair that was picked by its result."""
    table = draw_table(seed, n_groups=2 + seed % 4)
    rows = judge_gaps(table)

    assert {row.effect for row in rows} == {"selected", "wrongly_refused"}
    assert len(rows) == 2 * (len(table.options) - 1)
    for row in rows:
        group, change, low, high = _slow_gap(table, row.setting, row.effect)
        assert row.group == group
        assert row.change == pytest.approx(change)
        assert row.after - row.before == pytest.approx(change)
        assert row.due >= 0
        if not np.isnan(row.low):  # all on one side, and the interval crosses 0 by its tail alone
            assert (row.low, row.high) == pytest.approx((low, high))


def test_the_gap_of_hiring_is_read_as_a_person_would():
    """If not, a gap that grows would read as one that shrinks."""
    table = _table(
        observe(PAGE, "women", "selected", 140.0, 300.0, basis="exact"),
        observe(PAGE, "men", "selected", 400.0, 440.0, basis="exact"),
    )
    (row,) = judge_gaps(table)

    assert (row.group, row.due, row.after, row.change) == ("men and women", 140.0, 260.0, 120.0)
    assert (row.status, row.harm, row.unit, row.basis) == ("clear", "", "of 1,000", "exact")


def test_a_gap_that_stays_is_none_and_one_that_may_shrink_is_open():
    """If not, a gap that may have closed would be called unchanged."""
    rng = np.random.default_rng(1)
    for spread, status in ((1.0, "none"), (60.0, "open")):
        noise = spread * rng.standard_normal(10)
        table = _table(
            observe(PAGE, "a", "selected", 400 + noise - noise.mean() - spread / 4, 400.0),
            observe(PAGE, "b", "selected", np.full(10, 300.0), 300.0),
        )
        assert judge_gaps(table)[0].status == status


def test_groups_of_too_few_people_margins_entities_and_everybody_make_no_gap():
    """If not, women would be compared with women who are young."""

    def seen(group, due, people=1_000.0):
        return observe(PAGE, group, "selected", due - 5, due, people=people, basis="repeats")

    table = _table(
        seen("few", 990.0, 29.0), seen("margin", 980.0), seen("Ash", 970.0), seen(EVERYBODY, 960.0),
        seen("a", 200.0), seen("b", 100.0),
        margins={"a": ("margin",), "b": ("margin",)}, entities=frozenset({"Ash"}),
    )  # fmt: skip

    assert [row.group for row in judge_gaps(table)] == ["a and b"]
    assert judge_gaps(replace(table, observations=table.observations[:5])) == ()


def test_an_effect_without_an_interval_has_no_limits_of_its_gap():
    """If not, a gap would be surer than what it is the difference of."""
    jumps = np.random.default_rng(3).normal(500, 5, size=10)
    table = _table(
        observe(PAGE, "a", "wrongly_selected", jumps, 100.0, spread="none"),
        observe(PAGE, "b", "wrongly_selected", jumps / 2, 50.0, spread="none"),
    )
    (row,) = judge_gaps(table)

    assert row.status == "open"
    assert np.isnan(row.low)


def test_equal_repeats_are_bounded_by_the_people_of_both_groups():
    """If not, the rule of three would count one group's people twice."""
    table = _table(
        observe(PAGE, "a", "selected", np.full(9, 500.0), 500.0, people=6_000.0),
        observe(PAGE, "b", "selected", np.full(9, 400.0), 400.0, people=3_000.0),
    )
    (row,) = judge_gaps(table)

    assert row.high == pytest.approx(3_000 / 6_000 + 3_000 / 3_000)
    assert row.status == "none"


@pytest.mark.parametrize("seed", range(10))
def test_gaps_are_in_no_family_and_never_pay(seed):
    """If not, a gap would take power from the groups, or be blamed itself."""
    table = draw_table(seed)
    rows = judge(table)
    looks = sum(
        seen.option == PAGE and seen.group != EVERYBODY and table.hurts(seen.effect)
        for seen in table.observations
    )

    assert family_level(table, [PAGE]) == 1 - 0.05 / looks
    assert not any(row.is_harm for row in judge_gaps(table))
    assert not {row.group for row in rows} & {row.group for row in judge_gaps(table)}
    assert {payer.row.group for payer in find_payers(table).payers} <= {row.group for row in rows}


def test_gaps_stand_in_the_table_of_a_study():
    """If not, effects.csv would not tell what parity is for."""
    results = learn.small_study()
    effects, groups = results.effects(backend="pandas"), results.groups(backend="pandas")
    gaps = effects[effects["group"] == "1 and 0"]
    private, plain = (
        groups[groups["mechanism"] == name].pivot_table(index="repeat", columns="group", values="selection")
        for name in ("dp", "none")
    )
    row = gaps[(gaps["setting"] == "DP, ε = 3") & (gaps["effect"] == "selected")].iloc[0]

    assert set(effects["effect"]) >= set(GAP_EFFECTS)
    assert row["due"] == pytest.approx(1000 * (plain["1"] - plain["0"]).mean())
    assert row["after"] == pytest.approx(1000 * (private["1"] - private["0"]).mean())
    assert set(gaps["harm"]) == {""}
