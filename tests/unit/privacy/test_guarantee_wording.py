"""A guarantee reads as a sentence that says what is promised, what is not, and what to be careful about."""

import decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import PrivacyWarning
from evenhand.privacy import Guarantee, Trust, Unit
from evenhand.privacy._wording import _factor, amount_text, delta_text

READINGS = [
    (
        Guarantee.pure(
            1, unit="one report", trust="local", protects=["gender", "race"], tight=True,
            proof="randomized response", in_clear=["income", "age", "data used at decision time"],
        ),
        """
            Seeing one report can change the odds between any two values of gender and race by
            at most a factor of 2.72 (epsilon = 1, pure, unit: one report, trust: local; tight,
            by randomized response). In the clear, and so not protected: income, age and data
            used at decision time.
        """,
    ),
    (
        Guarantee.pure("1/10", unit="one person", trust="local", protects=["race"], assumptions=["a", "b"]),
        """
            Seeing everything one person sends can change the odds between any two values of one
            person's race by at most a factor of 1.11 (epsilon = 1/10, pure, unit: one person,
            trust: local; bound). Nothing is declared to be in the clear. Assumes: a; b.
        """,
    ),
    (
        Guarantee.pure(2, unit="replace one", trust="local"),
        """
            Seeing all reports can change the odds between any two values of one person's record
            by at most a factor of 7.39 (epsilon = 2, pure, unit: replace one, trust: local;
            bound). Nothing is declared to be in the clear.
        """,
    ),
    (
        Guarantee.pure(0, unit="add or remove one", trust="central", protects=["race"]),
        """
            Seeing what is published can change the odds between one person being in the data
            and not being in it, whatever their race, by at most a factor of 1 (epsilon = 0,
            pure, unit: add or remove one, trust: central; bound). Nothing is declared to be in
            the clear.
        """,
    ),
    (
        Guarantee.approximate(
            1, "6.0129962978621e-06", unit="add or remove one", trust="central", protects="race"
        ),
        """
            Adding or removing one person, whatever their race, changes the chance of anything
            that can be seen by at most a factor of 2.72 plus 6.1e-6 (epsilon = 1, delta <=
            6.1e-6, approximate, unit: add or remove one, trust: central; bound). Nothing is
            declared to be in the clear.
        """,
    ),
    (
        Guarantee.zcdp("1/10", unit="replace one", trust="central", protects=["race"]),
        """
            Replacing one person's race changes the chance of anything that can be seen by at
            most a factor of 8.52 plus 1.0e-6, read at delta = 1.0e-6 (rho = 1/10, zCDP, unit:
            replace one, trust: central; bound). Nothing is declared to be in the clear.
        """,
    ),
    (
        Guarantee.approximate(1, "0.98", unit="replace one", trust="central", protects=["race"]),
        """
            This is no meaningful guarantee: delta = 0.98, and with about this chance what is
            seen tells one person's record from another's, whatever epsilon says. Replacing one
            person's race changes the chance of anything that can be seen by at most a factor of
            2.72 plus 0.98 (epsilon = 1, delta = 0.98, approximate, unit: replace one, trust:
            central; bound). Nothing is declared to be in the clear.
        """,
    ),
    (
        Guarantee.approximate("1/2", "1e-9", unit="one report", trust="local").group(2),
        """
            Changing the record behind any 2 reports changes the chance of anything that can be
            seen by at most a factor of 2.72 plus 2.7e-9 (epsilon = 1, delta <= 2.7e-9,
            approximate, unit: one report, trust: local, for 2 people at once; bound, by group
            privacy). Nothing is declared to be in the clear.
        """,
    ),
    (
        Guarantee.nothing(unit="replace one", in_clear=["race"]),
        """
            This is no meaningful guarantee: nothing limits what can be learnt about one person
            (trust: none). In the clear, and so not protected: race.
        """,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("made", "expected"), READINGS)
def test_a_guarantee_reads_as_a_sentence(made, expected):
    assert str(made) == " ".join(expected.split())


@pytest.mark.parametrize("trust", list(Trust))
@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"epsilon": 1, "delta": "1/1000"}, {"rho": 1}])
@pytest.mark.parametrize("size", [1, 3])
def test_every_reading_names_both_kinds_of_columns(trust, unit, loss, size):
    """What is not said to be in the clear is taken to be protected."""
    made = Guarantee(
        **loss, unit=unit, trust=trust, protects=["shoe size"], in_clear=["income"], group_size=size
    )
    text = str(made)

    assert "shoe size" in text
    assert "In the clear, and so not protected: income" in text
    assert f"trust: {trust}" in text
    assert trust is Trust.NONE or f"unit: {unit}" in text
    assert text.endswith(".")
    assert not any(word in text.lower() for word in ("safe", "anonym", "  ", "none,"))


@pytest.mark.parametrize("delta", ["0.01", "0.5", 1])
@pytest.mark.parametrize("unit", list(Unit))
def test_a_large_delta_reads_no_meaningful_guarantee_first(delta, unit):
    """Whatever epsilon says, with such a chance a row is published."""
    made = Guarantee.approximate("1/10", delta, unit=unit, trust="central")

    assert str(made).startswith("This is no meaningful guarantee: delta = ")
    assert made.cautions[0].startswith("This is no meaningful guarantee: ")


def test_a_smaller_delta_does_not():
    made = Guarantee.approximate("1/10", "0.00999", unit="replace one", trust="central")

    assert "no meaningful guarantee" not in str(made)
    assert made.cautions == ()


def test_the_cautions_stand_in_the_text():
    with pytest.warns(PrivacyWarning):
        made = Guarantee.approximate(12, "1/1000", unit="replace one", trust="central", people=1_000)

    first, second = made.cautions

    assert first == (
        "Caution: delta = 0.001 is at least one in 1,000 people, which allows publishing a random "
        "person's row."
    )
    assert second == "Caution: epsilon = 12 allows odds to change by a factor of 163,000."
    assert str(made).endswith(" ".join(made.cautions))


@given(st.fractions(0, 600))
def test_a_shown_factor_is_never_below_the_true_one(epsilon):
    """'At most a factor of 2.71' would be false at epsilon 1."""
    import mpmath

    shown = _factor(epsilon)
    with mpmath.workdps(50):
        log = (
            mpmath.mpf(shown[2:])
            if shown.startswith("e^")
            else mpmath.log(mpmath.mpf(shown.replace(",", "")))
        )

        assert log >= mpmath.mpf(epsilon.numerator) / epsilon.denominator


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [(0, "1"), (1, "2.72"), (3, "20.1"), (7, "1,100"), (12, "163,000"), (100, "2.69e+43"), (1000, "e^1,000")],
)
def test_factors_are_short(epsilon, shown):
    assert _factor(Fraction(epsilon)) == shown


@given(st.fractions(0, 1))
def test_a_shown_delta_is_never_below_the_true_one(delta):
    assert Fraction(delta_text(delta)) >= delta


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(0), "rho = 0"),
        (Fraction(1, 3), "rho = 1/3"),
        (Fraction("0.123456789"), "rho <= 0.12346"),
        (Fraction(10**9), "rho = 1000000000"),
        (Fraction(10**15), "rho <= 1.0000e+15"),
        (Fraction(1, 10**5_000), "rho <= 1e-5000"),
    ],
)
def test_amounts_are_exact_when_short_and_rounded_up_when_long(value, shown):
    assert amount_text("rho", value) == shown


def test_the_text_does_not_depend_on_the_callers_decimal_settings():
    made, expected = READINGS[5]
    with decimal.localcontext() as context:
        context.prec, context.rounding, context.capitals = 1, decimal.ROUND_DOWN, 1

        assert str(made) == " ".join(expected.split())
