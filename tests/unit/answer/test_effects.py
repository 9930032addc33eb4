"""From which amount on an effect matters."""

import pytest

from evenhand.answer.effects import EffectTable, Option, read_matters
from evenhand.answer.harm import find_payers
from unit.answer._tables import PAGE, PLAIN, see


def table_of(effect, after, people, **more):
    """Return a table in which so many women have an effect that nobody is due to have."""
    options = (Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0, method="noise"))
    seen = see("women", effect, after, 0, people=people, basis="exact")
    return EffectTable(options, (seen,), PAGE, **more)


def payers(table):
    """Return the groups that are named."""
    return [payer.row.group for payer in find_payers(table).payers]


@pytest.mark.parametrize(
    ("people", "hidden", "named"),
    [(6_000, 42, False), (6_000, 61, True), (50, 2, True), (50, 0.9, False), (0, 2, True)],
)
@pytest.mark.parametrize("effect", ["hidden", "invented"])
def test_people_count_from_one_person_and_a_hundredth_of_the_group_on(effect, people, hidden, named):
    """Nobody is due to be hidden; a share of that was 0, so that 42 of 6,000 were said to be miscounted."""
    made = table_of(effect, hidden, people)

    assert payers(made) == ["women"] * named


def test_a_share_of_hidden_people_is_that_of_the_group():
    """`--matters hidden=5%` changed nothing."""
    assert payers(table_of("hidden", 42, 1_000)) == ["women"]
    assert payers(table_of("hidden", 42, 1_000, matters=read_matters(("hidden=5%",), owner="audit"))) == []
