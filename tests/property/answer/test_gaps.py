"""Gaps on made-up tables, each property with a broken twin that must fail it."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.answer import gaps
from evenhand.answer.effects import EVERYBODY
from evenhand.answer.gaps import judge_gaps
from property.answer._tables import PAGE, change_observations, draw_table
from property.answer.test_answer_rule import assert_fails

TABLES = st.builds(
    draw_table,
    st.integers(0, 2**32 - 1),
    n_groups=st.integers(1, 5),
    n_remedies=st.integers(0, 2),
    basis=st.sampled_from(["exact", "repeats"]),
)
NUMBERS = ("due", "before", "after", "change", "low", "high", "bound", "status", "people")


def _facts(table, names=None):
    """Return the gaps of a table by setting, effect and group, as numbers."""
    names = names or {}
    return {
        (row.setting, row.effect, *(names.get(group, group) for group in row.group.split(" and "))): repr(
            [getattr(row, name) for name in NUMBERS]
        )
        for row in judge_gaps(table)
    }


def _check_names(table, seed):
    rng = np.random.default_rng(seed)
    new = {f"group {place}": f"z{9 - place}" for place in range(9)} | {EVERYBODY: EVERYBODY}
    moved = change_observations(table, lambda seen: replace(seen, group=new[seen.group]))
    order = rng.permutation(len(moved.observations))
    moved = replace(
        moved,
        observations=tuple(moved.observations[place] for place in order),
        options=tuple(moved.options[place] for place in rng.permutation(len(moved.options))),
    )

    assert _facts(moved) == _facts(table, new)


@given(TABLES, st.integers(0, 1_000))
def test_names_and_order_of_groups_change_no_gap(table, seed):
    """If they did, which gap is shown would depend on the alphabet."""
    _check_names(table, seed)


def test_a_gap_of_the_first_two_in_the_alphabet_is_found(monkeypatch):
    """If not, the property would hold for anything."""
    whole = gaps._list_groups
    names = {"group 0", "group 1", "z9", "z8", "z7"}
    broken = lambda table: (seen for seen in whole(table) if seen.group in names)  # noqa: E731
    assert_fails(
        lambda seed: _check_names(draw_table(seed), seed), monkeypatch, (gaps, "_list_groups", broken)
    )


def _check_between(table):
    """A further group between the two keeps the pair and its change, and no limit is nearer."""
    found = {(row.setting, row.effect): row for row in judge_gaps(table)}
    ends = {key: row.group.split(" and ") for key, row in found.items()}
    middle = []
    for (setting, effect), (first, second) in ends.items():
        one, other = (table.by_key[setting, group, effect] for group in (first, second))
        half = {name: (getattr(one, name) + getattr(other, name)) / 2 for name in ("after", "due")}
        middle.append(replace(one, group="middle", **half))
    more = replace(table, observations=(*table.observations, *middle))
    for row in judge_gaps(more):
        before = found[row.setting, row.effect]

        assert (row.group, row.change, row.after) == (before.group, before.change, before.after)
        shown = row.low, before.low, row.bound, before.bound
        if table.by_key[PAGE, "group 0", "selected"].basis == "exact" or any(map(math.isnan, shown)):
            continue
        assert row.low < before.low
        assert row.high > before.high
        assert row.bound > before.bound


@given(TABLES)
def test_a_further_group_between_two_widens_the_limits_of_their_gap(table):
    """If not, the pair of largest gap would be said to change as surely as one that was named before."""
    _check_between(table)


def test_limits_that_count_one_pair_alone_are_found(monkeypatch):
    """If not, the property would hold for limits that are too near."""

    class Math:
        comb = staticmethod(lambda *_: 1)
        fsum, hypot = math.fsum, math.hypot

    assert_fails(lambda seed: _check_between(draw_table(seed)), monkeypatch, (gaps, "math", Math))


def test_a_gap_with_limits_has_a_bound():
    """If not, a gap would be shown with limits, and with nothing that it is bounded by."""
    _check_between(draw_table(1141, n_groups=5, n_remedies=0))
