"""The best of several equal remedies looks better than it is; on fresh repeats it does not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from evenhand.answer.choice import choose_remedy
from evenhand.answer.effects import EffectTable, Observation, Option
from evenhand.answer.harm import find_payers
from property.answer._tables import PAGE, PLAIN
from statistical._exact import ALPHA

pytestmark = pytest.mark.figures


STUDIES, REMEDIES, REPEATS = 300, 8, 10
DUE, LACK, RELIEF, NOISE = 300.0, 100.0, 60.0, 8.0
NAMES = [f"remedy {place}" for place in range(REMEDIES)]
OPTIONS = (
    Option(PLAIN),
    Option(PAGE, PLAIN, epsilon=1.0, method="page"),
    *(Option(name, PAGE, epsilon=1.0, method=name, is_remedy=True) for name in NAMES),
)


def _draw_table(rng, relief):
    """Return ten repeats in which a group lacks 100 of 1,000, and so much less with each remedy."""
    due = np.full(REPEATS, DUE)
    lacks = {PAGE: LACK, **dict.fromkeys(NAMES, LACK - relief)}
    rows = [
        Observation(name, "women", "selected", due - lack + rng.normal(0, NOISE, REPEATS), due, 5_000.0)
        for name, lack in lacks.items()
    ]
    return EffectTable(OPTIONS, tuple(rows), PAGE)


def _count_flattered(*, is_fresh):
    """Return in how many studies the remedy to use is said to help more than it does, and of how many."""
    rng = np.random.default_rng(20_261_118)
    flattered, used = 0, 0
    for _ in range(STUDIES):
        first, fresh = _draw_table(rng, RELIEF), _draw_table(rng, RELIEF)
        table = replace(first, fresh=fresh) if is_fresh else first
        use = choose_remedy(table, find_payers(table)).first
        if use is not None:
            used += 1
            flattered += use.relief.mean > RELIEF
    return flattered, used


def test_on_fresh_repeats_a_chosen_remedy_is_not_flattered():
    """Somebody who follows the page must find what it promised, as often more as less."""
    flattered, used = _count_flattered(is_fresh=True)

    assert used == STUDIES
    assert binomtest(flattered, used).pvalue > ALPHA


def test_on_its_own_repeats_it_is():
    """The twin: without fresh repeats the same test fails."""
    flattered, used = _count_flattered(is_fresh=False)

    assert binomtest(flattered, used).pvalue < ALPHA


def test_remedies_that_do_too_little_are_seldom_recommended():
    """Each truly helps by 6 of 1,000, where 10 matter: the best of eight passes by chance, not twice."""
    rng = np.random.default_rng(7)
    first_look, confirmed = 0, 0
    for _ in range(STUDIES):
        table, fresh = _draw_table(rng, 6.0), _draw_table(rng, 6.0)
        first_look += choose_remedy(table, find_payers(table)).first is not None
        both = replace(table, fresh=fresh)
        confirmed += choose_remedy(both, find_payers(both)).first is not None

    assert confirmed < first_look / 3
    assert binomtest(confirmed, STUDIES, 0.1, alternative="greater").pvalue > ALPHA
