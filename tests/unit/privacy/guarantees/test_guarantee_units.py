"""A guarantee is read for another unit where that is valid, at its price, and refused where it is not."""

from fractions import Fraction

import mpmath
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError, PrivacyWarning
from evenhand.privacy import Guarantee, Trust, Unit

VALID = {
    ("one report", "one person"),
    ("one report", "replace one"),
    ("one person", "replace one"),
    ("add or remove one", "replace one"),
}
EVERY_PAIR = [(str(first), str(second)) for first in Unit for second in Unit]


@pytest.mark.parametrize(("given", "asked"), EVERY_PAIR)
def test_every_pair_of_units_converts_or_says_why_not(given, asked):
    """A conversion that is not valid turns a promise about one change into one about another."""
    made = Guarantee.pure(1, unit=given, trust="local")

    if given == asked:
        assert made.as_unit(asked) is made
    elif (given, asked) in VALID:
        assert made.as_unit(asked).unit == asked
    else:
        with pytest.raises(GuaranteeError, match=f"'{given}' cannot be read as one for '{asked}': .*Hint: "):
            made.as_unit(asked)


@pytest.mark.parametrize(
    ("given", "asked", "why"),
    [
        ("replace one", "add or remove one", "the number of people may show"),
        ("one person", "add or remove one", "whether a person sends anything at all is not hidden"),
        ("add or remove one", "one report", "not of what one person sends"),
        ("one person", "one report", "each report with it"),
    ],
)
def test_the_reason_is_told(given, asked, why):
    with pytest.raises(GuaranteeError, match=why):
        Guarantee.pure(1, unit=given, trust="central").as_unit(asked)


def test_the_whole_report_of_a_person_under_local_privacy_costs_the_same_for_replace_one():
    local = Guarantee.pure("1/3", unit="one person", trust="local", tight=True, proof="randomized response")
    made = local.as_unit("replace one")

    assert (made.epsilon, made.tight, made.trust) == (Fraction(1, 3), True, Trust.LOCAL)
    assert made.assumptions == ("who takes part is public",)
    assert made.proof == "randomized response"


def test_one_report_is_one_person_only_under_an_assumption_that_is_recorded():
    """A person who sends five reports under it is protected five times less."""
    local = Guarantee.pure(1, unit="one report", trust="local", tight=True)

    assert local.as_unit("one person").assumptions == ("each person sends one report",)
    assert local.as_unit("one person").tight
    assert local.as_unit("replace one").assumptions == (
        "each person sends one report",
        "who takes part is public",
    )


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ({"epsilon": "1/2"}, (Fraction(5, 2), 0, None)),
        ({"epsilon": "1/2", "delta": "1/1000"}, (Fraction(5, 2), Fraction(1, 200), None)),
        ({"epsilon": "1/2", "delta": "1/4"}, (Fraction(5, 2), 1, None)),
        ({"rho": "1/10"}, (None, 0, Fraction(1, 2))),
    ],
)
def test_the_reports_of_a_person_add(loss, expected):
    """Each local report has randomness of its own, so they compose one after the other."""
    made = Guarantee(**loss, unit="one report", trust="local", tight=True).as_unit("one person", reports=5)

    assert (made.epsilon, made.delta, made.rho) == expected
    assert made.assumptions == ("each person sends at most 5 reports",)
    assert (made.tight, made.proof) == (False, "sequential composition")


def test_the_rows_of_a_person_in_a_central_table_are_a_group():
    rows = Guarantee.zcdp("1/10", unit="one report", trust="central")

    assert rows.as_unit("one person", reports=3).rho == Fraction(9, 10)
    assert rows.as_unit("one person", reports=3).proof == "group privacy"
    assert rows.as_unit("one person", reports=2).proof == "group privacy"
    assert rows.as_unit("one person", reports=1).rho == Fraction(1, 10)
    assert rows.as_unit("one person", reports=1).proof == ""
    assert rows.as_unit("replace one", reports=1).assumptions == ("each person has at most 1 row",)
    with pytest.raises(GuaranteeError, match="covers one row, and a person may have several"):
        rows.as_unit("one person")


def test_central_one_person_is_replace_one_at_no_price():
    made = Guarantee.pure(1, unit="one person", trust="central", tight=True).as_unit("replace one")

    assert (made.epsilon, made.tight, made.assumptions) == (1, True, ())


def test_add_or_remove_to_replace_doubles_epsilon():
    made = Guarantee.pure("1/2", unit="add or remove one", trust="central", tight=True).as_unit("replace one")

    assert (made.epsilon, made.delta, made.tight) == (1, 0, False)
    assert made.proof == "group privacy"


def test_add_or_remove_to_replace_multiplies_delta_by_one_plus_e_to_the_epsilon():
    made = Guarantee.approximate(1, "1e-6", unit="add or remove one", trust="central").as_unit("replace one")
    with mpmath.workdps(50):
        truth = mpmath.mpf("1e-6") * (1 + mpmath.e)
        stated = mpmath.mpf(made.delta.numerator) / made.delta.denominator

        assert 0 <= stated / truth - 1 < 1e-29
    assert made.epsilon == 2


def test_add_or_remove_to_replace_multiplies_rho_by_four():
    """Two steps of zCDP are four times the loss, not twice."""
    assert Guarantee.zcdp(1, unit="add or remove one", trust="central").as_unit("replace one").rho == 4


def test_delta_stays_within_one():
    made = Guarantee.approximate(9, "1/100", unit="add or remove one", trust="central")
    with pytest.warns(PrivacyWarning, match="epsilon = 18"):
        assert made.as_unit("replace one").delta == 1


def test_nothing_is_nothing_in_every_unit():
    for given in Unit:
        for asked in Unit:
            made = Guarantee.no_guarantee(unit=given, in_clear=["race"]).as_unit(asked)

            assert made == Guarantee.no_guarantee(unit=asked, in_clear=["race"])


@pytest.mark.parametrize("reports", [0, -1, 1.5, True, "2"])
def test_the_number_of_reports_is_a_count(reports):
    with pytest.raises(
        InvalidParameterError, match=r"'reports' parameter of Guarantee\.as_unit must be a whole number"
    ):
        Guarantee.pure(1, unit="one report", trust="local").as_unit("one person", reports=reports)


@pytest.mark.parametrize(("given", "asked"), [("one person", "replace one"), ("one report", "one report")])
def test_the_number_of_reports_is_refused_where_it_means_nothing(given, asked):
    """Ignored in silence, it would look as if it had been counted."""
    with pytest.raises(
        InvalidParameterError, match="must be left out unless 'one report' is read for another unit"
    ):
        Guarantee.pure(1, unit=given, trust="local").as_unit(asked, reports=2)


def test_an_unknown_unit_is_refused_with_those_that_exist():
    with pytest.raises(
        InvalidParameterError, match=r"'unit' parameter of Guarantee\.as_unit must be one of 'one report'"
    ):
        Guarantee.pure(1, unit="one report", trust="local").as_unit("household")


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ({"epsilon": "1/4"}, (1, 0, None)),
        ({"epsilon": 0, "delta": "1/1000"}, (0, Fraction(4, 1000), None)),
        ({"rho": "1/4"}, (None, 0, 4)),
    ],
)
def test_a_group_of_four_costs_four_steps(loss, expected):
    made = Guarantee(**loss, unit="add or remove one", trust="central", tight=True).group(4)

    assert (made.epsilon, made.delta, made.rho) == expected
    assert (made.group_size, made.tight, made.proof) == (4, False, "group privacy")


def test_delta_of_a_group_is_the_sum_of_the_steps():
    made = Guarantee.approximate("1/2", "1e-9", unit="replace one", trust="central").group(3)
    with mpmath.workdps(50):
        truth = mpmath.mpf("1e-9") * (1 + mpmath.exp("0.5") + mpmath.e)
        stated = mpmath.mpf(made.delta.numerator) / made.delta.denominator

        assert 0 <= stated / truth - 1 < 1e-29


def test_a_group_of_one_and_a_group_without_guarantee_are_as_they_were():
    one = Guarantee.pure(1, unit="replace one", trust="central")
    nothing = Guarantee.no_guarantee(unit="replace one")

    assert one.group(1) is one
    assert nothing.group(5) is nothing


def test_a_group_of_groups_multiplies():
    made = Guarantee.pure(1, unit="replace one", trust="central")

    assert made.group(2).group(3) == made.group(6)


def test_a_group_is_grouped_last():
    """A group's guarantee read for another unit would mix up who changes."""
    made = Guarantee.pure(1, unit="add or remove one", trust="central").group(2)
    with pytest.raises(GuaranteeError, match=r"not read for another unit\. Hint: call \.as_unit"):
        made.as_unit("replace one")


def test_a_tiny_epsilon_does_not_lose_its_digits():
    """The sum of the steps is a quotient of two differences that both vanish with epsilon."""
    made = Guarantee.approximate("1e-300", "1e-9", unit="replace one", trust="central").group(7)

    assert 0 <= made.delta / Fraction(7, 10**9) - 1 < Fraction(1, 10**29)


def test_a_huge_epsilon_costs_no_time():
    made = Guarantee.approximate(9, "1e-300", unit="replace one", trust="central")
    with pytest.warns(PrivacyWarning):
        assert made.group(10**9).delta == 1
