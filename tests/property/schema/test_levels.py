"""A level does to codes what its groups say, compared with a slow version that reads them one by one."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Level
from property._schemas import columns, groupings, members

pytestmark = pytest.mark.figures

FEWER = settings(
    max_examples=settings().max_examples // 2
)  # hierarchies take long to draw; nightly there are 5,000


def _slow_label(column, level, code):
    """Return the label of a base code at a level, by going through its groups."""
    value = members(column.domain)[code]
    if level.cuts is not None:
        place = value if column.domain.kind == "integers" else column.domain.edges[code]
        return column.level(level.name).labels[sum(place >= cut for cut in level.cuts)]
    if level.of is not None:
        earlier = next(each for each in column.levels if each.name == level.of)
        value = _slow_label(column, earlier, code)
    return next(label for label, inside in level.members if value in inside)


@FEWER
@given(columns("x"))
def test_a_level_does_what_its_groups_say(column):
    assume(column.levels)
    for level in column.levels:
        made = column.level(level.name)
        expected = [_slow_label(column, level, code) for code in range(column.domain.size)]
        expected += [made.labels[-1]] * column.has_other
        table = column.level_codes(level.name)

        assert [made.labels[code] for code in table] == expected
        assert made.apply(np.arange(column.size)).tolist() == table.tolist()
        assert set(table.tolist()) == set(range(made.size))
        assert len(set(made.labels)) == made.size
        assert not column.has_other or table.tolist().count(table[-1]) == 1


@given(columns("x"))
def test_each_level_only_merges_groups_of_the_one_before(column):
    for finer, coarser in zip(column.level_names, column.level_names[1:], strict=False):
        pairs = set(
            zip(column.level_codes(finer).tolist(), column.level_codes(coarser).tolist(), strict=True)
        )

        assert len(pairs) == column.level(finer).size


@given(st.integers(2, 12), st.data())
def test_a_level_is_taken_exactly_if_it_merges_the_one_before(size, data):
    domain = Domain.integers(0, size - 1)
    fine, coarse = (data.draw(groupings(list(range(size)), name)) for name in ("fine", "coarse"))
    groups = [
        {member: label for label, inside in level.members for member in inside} for level in (fine, coarse)
    ]
    merges = all(
        groups[1][left] == groups[1][right]
        for left in range(size)
        for right in range(size)
        if groups[0][left] == groups[0][right]
    )

    if merges:
        assert Column("x", domain, levels=[fine, coarse]).level_names == ("fine", "coarse")
    else:
        with pytest.raises(SchemaError, match="splits the group"):
            Column("x", domain, levels=[fine, coarse])


@given(st.lists(st.integers(0, 9), max_size=14), st.integers(1, 8))
def test_a_level_is_taken_exactly_if_it_holds_every_value_once(listed, size):
    assume(listed)
    level = Level("all", {"all": listed})

    if sorted(listed) == list(range(size)):
        assert Column("x", Domain.integers(0, size - 1), levels=[level]).level("all").size == 1
    else:
        with pytest.raises(SchemaError, match="Level 'all' of column 'x'"):
            Column("x", Domain.integers(0, size - 1), levels=[level])
