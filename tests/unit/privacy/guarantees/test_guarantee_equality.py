"""Two guarantees are equal when they say the same thing, and only then."""

import dataclasses

import pytest

from evenhand.privacy import Guarantee
from evenhand.privacy.guarantees.loss import Loss

BASE = {
    "epsilon": 3,
    "delta": "1e-6",
    "unit": "replace one",
    "trust": "central",
    "protects": ["race"],
    "in_clear": ["age"],
    "tight": False,
    "proof": "x",
    "assumptions": ["a"],
    "people": 5,
    "group_size": 2,
}
OTHER = {
    "epsilon": {"epsilon": 2},
    "delta": {"delta": "1e-7"},
    "rho": {"epsilon": None, "delta": 0, "rho": 3},
    "unit": {"unit": "one person"},
    "trust": {"trust": "local"},
    "protects": {"protects": ["sex"]},
    "in_clear": {"in_clear": ["income"]},
    "tight": {"tight": True},
    "proof": {"proof": "y"},
    "assumptions": {"assumptions": ["b"]},
    "people": {"people": 6},
    "group_size": {"group_size": 3},
}


@pytest.mark.parametrize("changed", OTHER.values(), ids=OTHER)
def test_one_term_that_differs_makes_another_guarantee(changed):
    """A term that equality forgets could be changed in a ledger without anybody noticing."""
    first, second = Guarantee(**BASE), Guarantee(**(BASE | changed))

    assert first != second
    assert len({first, second}) == 2


def test_every_field_is_tried_above_or_below():
    names = {field.name for field in dataclasses.fields(Guarantee)}

    assert names == {*OTHER, "blocks"}


def test_the_heaviest_parts_are_a_term_too():
    """Two wholes with one sum go on differently: 1 + 2 and 3 + 0 with another 2 make 4 and 5."""
    one, two, three, none = (Guarantee.pure(e, unit="replace one", trust="central") for e in (1, 2, 3, 0))
    first, second = one | two, three | none

    assert first.loss == second.loss
    assert first.assumptions == second.assumptions
    assert first != second
    assert ((first | two).epsilon, (second | two).epsilon) == (4, 5)


def test_amounts_are_compared_in_their_measure():
    assert Guarantee(epsilon=1, unit="replace one", trust="central") != Guarantee(
        rho=1, unit="replace one", trust="central"
    )
    assert Loss(1, concentrated=True) != Loss(1)


def test_the_repr_of_a_whole_shows_its_heaviest_parts():
    """Without them two guarantees that are not equal would read the same."""
    one, two = (Guarantee.pure(e, unit="replace one", trust="central") for e in (1, 2))

    assert "blocks=[['2', '0'], ['1', '0']]" in repr(one | two)
    assert "blocks" not in repr(one)
