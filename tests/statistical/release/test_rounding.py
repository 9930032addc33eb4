"""Rounding at random goes up as often as the part after the point says; a law 5 % off is told from it."""

import numpy as np
import pytest

from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.postprocess.steps import Integral
from statistical._exact import ALPHA, exact_events_pvalue

pytestmark = pytest.mark.statistical

DRAWS = 200_000


@pytest.mark.parametrize("value", [0.5, 3.3, -2.75, -0.2])
@pytest.mark.parametrize("source", [SeededSource(11), SecureSource()], ids=["seeded", "secure"])
def test_rounding_follows_its_law(value, source):
    """A rounding that leans to one side adds people, a little in every cell."""
    made = Integral().apply(np.full(DRAWS, value), source=source)
    part = abs(value) % 1
    away = (made != int(value)).astype(np.int64)

    assert exact_events_pvalue(away, [1 - part, part]) > ALPHA
    assert exact_events_pvalue(away, [1 - 1.05 * part, 1.05 * part]) < ALPHA


def test_roundings_of_one_table_are_independent():
    """One draw for all cells would move them all the same way."""
    made = Integral().apply(np.full((DRAWS, 2), 0.5), source=SeededSource(5))
    equal = (made[:, 0] == made[:, 1]).astype(np.int64)
    shared = np.ones(DRAWS, np.int64)

    assert exact_events_pvalue(equal, [0.5, 0.5]) > ALPHA
    assert exact_events_pvalue(shared, [0.5, 0.5]) < ALPHA
