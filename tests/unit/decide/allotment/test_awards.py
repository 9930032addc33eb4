"""Whole-cent awards: they add up, nobody is a cent away, ties go where the documentation says."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import award_cents
from evenhand.errors import InvalidParameterError


class TestAwards:
    def test_they_add_up_to_the_budget(self):
        """A cent lost or made up is a line that an auditor stops at."""
        claims = [17, 0, 5, 3, 999_983]

        assert int(award_cents(claims, "12345.67").sum()) == 1_234_567
        assert award_cents(claims, 0).tolist() == [0] * 5

    def test_nobody_is_a_cent_away_from_the_exact_share(self):
        """The method of largest remainders rounds each quota down or up and no further."""
        claims = [7, 11, 13, 17, 23]
        quotas = [Fraction(100_00 * each, sum(claims)) for each in claims]

        assert all(abs(a - q) < 1 for a, q in zip(award_cents(claims, 100).tolist(), quotas, strict=True))

    def test_the_largest_remainders_get_the_cents_that_are_left(self):
        """1.43, 2.86 and 5.71 cents leave two cents: to .86 and .71."""
        assert award_cents([1, 2, 4], "0.10").tolist() == [1, 3, 6]

    def test_ties_go_to_the_larger_claim_then_to_the_first_name(self):
        """Undocumented ties would look like favours."""
        assert award_cents([1, 3], "0.02").tolist() == [0, 2]
        assert award_cents([5, 5, 5], "0.01", names=["c", "a", "b"]).tolist() == [0, 1, 0]
        assert award_cents([5, 5, 5], "0.01").tolist() == [1, 0, 0]

    def test_every_kind_of_number_is_taken_for_what_it_holds(self):
        """Floats are binary fractions and not the decimals they print."""
        expected = [1, 1, 2]

        assert award_cents([Fraction(1, 3), Fraction(1, 3), Fraction(2, 3)], "0.04").tolist() == expected
        assert award_cents([Decimal("0.1"), Decimal("0.1"), Decimal("0.2")], "0.04").tolist() == expected
        assert award_cents(np.array([0.25, 0.25, 0.5]), 0.04).tolist() == expected
        assert award_cents([10**30, 10**30, 2 * 10**30], "0.04").tolist() == expected

    def test_the_awards_cannot_be_written_to(self):
        with pytest.raises(ValueError, match="read-only"):
            award_cents([1], 1)[0] = 5


class TestRefusals:
    @pytest.mark.parametrize(
        "claims",
        [[], [0, 0], [1, -1], [1, float("nan")], [1, float("inf")], ["a"], [[1]], [True, None]],
    )
    def test_claims_that_cannot_be_shared_by(self, claims):
        with pytest.raises(InvalidParameterError, match="The 'claims' parameter of award_cents must be"):
            award_cents(claims, 1)

    @pytest.mark.parametrize("budget", [-1, "0.001", 10**20, "much"])
    def test_budgets_that_are_no_cents(self, budget):
        with pytest.raises(InvalidParameterError, match="The 'budget' parameter of award_cents must be"):
            award_cents([1], budget)

    @pytest.mark.parametrize("names", [["a"], ["a", "a"], [1, 2]])
    def test_names_that_do_not_tell_places_apart(self, names):
        with pytest.raises(InvalidParameterError, match="as many different texts as claims"):
            award_cents([1, 2], 1, names=names)
