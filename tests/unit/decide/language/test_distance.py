"""How far counts are from the line, beside what people would count and beside every change within it."""

import itertools
import math

import numpy as np
import pytest

from evenhand.decide.language.distance import distances
from evenhand.decide.language.parse import parse


@pytest.mark.parametrize(
    ("text", "x", "y", "expected"),
    [
        ("x > 10", 13, 0, 3),
        ("not x > 10", 13, 0, 3),
        ("x > 10 or y > 10", 13, 30, 20),
        ("x > 10 and y > 10", 13, 4, 6),
        ("x > 10 xor y > 10", 13, 30, 3),
        ("x > 10 xor y > 10 xor x > 20", 13, 30, 3),
        ("x/y > 0.5", 30, 40, 10),
        ("x > 2*y", 30, 10, 5),
    ],
)
def test_the_distance_is_what_people_would_count(text, x, y, expected):
    found = distances(parse(text), {"x": np.array([x]), "y": np.array([y])})

    assert found.tolist() == [pytest.approx(expected)]


@pytest.mark.parametrize(
    "text", ["x > 10 and y > 5", "x > 10 or y > 5", "x > 10 xor y > 5", "not (x > 10 or y > 5)"]
)
def test_no_change_within_the_distance_changes_the_decision(text):
    """Inputs one by one: the distance of a box around the counts in which the rule says the same."""
    rule = parse(text)
    for x, y in itertools.product(range(0, 20, 3), repeat=2):
        reach = float(distances(rule, {"x": np.array([x]), "y": np.array([y])})[0])
        inside = [step for step in range(-20, 21) if abs(step) < reach]
        moved = list(itertools.product(inside, repeat=2)) or [(0, 0)]
        says = rule.holds(
            {"x": np.array([x + a for a, _ in moved]), "y": np.array([y + b for _, b in moved])}
        )
        beyond = math.floor(reach) + 1
        near = list(itertools.product(range(-beyond, beyond + 1), repeat=2))
        others = rule.holds(
            {"x": np.array([x + a for a, _ in near]), "y": np.array([y + b for _, b in near])}
        )

        assert len(set(says.tolist())) == 1
        assert len(set(others.tolist())) == 2
