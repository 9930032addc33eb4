"""The leak of a domain that was read from rows stands in the place of the claim that it is public."""

from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import READ_FROM_ROWS, leak_of_domains, state_inferred

PUBLIC = "the values are public"
STATED = Guarantee(
    epsilon=1,
    unit="one report",
    trust="local",
    protects=["race"],
    in_clear=["hired"],
    tight=True,
    proof="x",
    assumptions=[PUBLIC, "fresh"],
)


def test_without_inferred_columns_the_guarantee_stays_as_it_is():
    assert state_inferred(STATED, (), instead_of=PUBLIC) is STATED


def test_the_leak_comes_first_and_nothing_else_changes():
    stated = state_inferred(STATED, ["race"], instead_of=PUBLIC)

    assert stated.assumptions == (leak_of_domains(["race"]), "fresh")
    assert stated.in_clear == ("hired", READ_FROM_ROWS)
    same = {"assumptions": [PUBLIC, "fresh"], "in_clear": ["hired"]}
    assert Guarantee.from_dict(stated.to_dict() | same) == STATED
    assert state_inferred(stated, ["race"], instead_of=PUBLIC).in_clear == stated.in_clear


def test_many_columns_are_counted_and_no_name_can_break_a_line():
    """The sentence is written as a comment into a file, where a line break would end it."""
    many = leak_of_domains([f"c{number}" for number in range(12)])

    assert "c0, c1" in many
    assert "c9 and 2 more were read" in many
    assert "\n" not in leak_of_domains(["a\nb"])
