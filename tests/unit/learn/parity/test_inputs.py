"""Reading the parameters: what is public is declared, and what is rounded is rounded once."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.inputs import declared_groups, read_class_places, read_group_codes, read_settings
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.privacy.guarantees.units import Unit


def settings(**given):
    return read_settings(ParityPostProcessor(None, **given))


def test_the_coin_is_a_multiple_of_a_power_of_two():
    """A coin that cannot be drawn exactly would be another coin than the one in the proof."""
    third = settings(holdout="1/3").holdout

    assert settings().holdout == Fraction(1, 4)
    assert (2**53 * third).denominator == 1
    assert abs(third - Fraction(1, 3)) <= Fraction(1, 2**54)


def test_as_printed_sets_what_the_thesis_assumes():
    made = settings(as_printed=True, weights="people", unit="add or remove one")

    assert (made.by_people, made.unit) == (False, Unit.REPLACE_ONE)


def test_labels_are_counted_only_where_they_are_needed():
    """A table of twice the size has twice the noise in every rate."""
    assert not settings().needs_labels
    assert settings(kind="odds").needs_labels
    assert settings(aim="accuracy").needs_labels


def test_declared_groups_are_plain_labels_in_the_order_given():
    assert declared_groups(np.array([3, 1]), None) == (3, 1)
    assert declared_groups(None, {"b": 1, "a": 2}) == ("b", "a")
    assert declared_groups(("a", "b"), {"b": 1, "a": 2}) == ("a", "b")
    assert declared_groups(None, object()) is None


def test_codes_are_places_among_the_declared_groups():
    codes, labels, _ = read_group_codes(["b", "c", "b"], ("c", "b", "a"), place="fit")

    assert codes.tolist() == [1, 0, 1]
    assert labels == ["c", "b", "a"]
    assert read_group_codes(["b", "c"], None, place="fit").labels == ["b", "c"]


def test_a_thousand_groups_are_the_most():
    with pytest.raises(InvalidParameterError, match="2 to 1,000"):
        read_group_codes(np.arange(1_001), None, place="fit")
    with pytest.raises(InvalidParameterError, match="2 to 1,000"):
        declared_groups(range(1_001), None)


def test_labels_become_places_among_the_classes():
    assert read_class_places(["y", "n"], ("y", "n"), place="fit").tolist() == [0, 1]
