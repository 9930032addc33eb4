"""F5: awards add up exactly, and permuting places permutes them."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import award_cents

TABLES = 300


def tables(number, seed):
    """Yield claims, a budget in cents and names; claims repeat often, so that there are ties."""
    draws = np.random.default_rng(seed)
    for _ in range(number):
        size = int(draws.integers(1, 13))
        most = int(draws.choice([2, 10, 1_000, 10**12]))
        claims = draws.integers(0, most + 1, size)
        claims[draws.integers(size)] += 1
        given = claims / draws.choice([1, 8]) if draws.random() < 0.5 else claims
        yield given, int(draws.integers(0, 10 ** int(draws.integers(1, 13)))), draws.permutation(size)


def check(number, seed):
    for claims, cents, order in tables(number, seed):
        names = [f"place {place}" for place in range(len(claims))]
        awards = award_cents(claims, Fraction(cents, 100), names=names)
        moved = award_cents(claims[order], Fraction(cents, 100), names=[names[place] for place in order])
        total = sum(map(Fraction, claims.tolist()))

        assert int(awards.sum()) == cents
        assert moved.tolist() == awards[order].tolist()
        assert all(
            abs(award - cents * Fraction(claim) / total) < 1
            for award, claim in zip(awards.tolist(), claims.tolist(), strict=True)
        )


def test_awards_add_up_and_follow_the_places():
    """Money that does not add up, or that depends on the order of the list, is a scandal."""
    check(TABLES, seed=5)


@pytest.mark.nightly
def test_awards_add_up_and_follow_the_places_in_ten_thousand_tables():
    """The same at full size."""
    check(10_000, seed=6)


def test_the_check_rejects_awards_that_depend_on_the_order():
    """Ties given to whoever is listed first would pass a test that never permutes."""
    claims, order = np.array([1, 1, 1]), np.array([2, 0, 1])
    awards, moved = award_cents(claims, "0.01"), award_cents(claims[order], "0.01")

    assert moved.tolist() != awards[order].tolist()
