"""A guarantee reads as a sentence that says what is promised, what is not, and what to be careful about."""

import decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import PrivacyWarning
from evenhand.privacy import Guarantee, Trust, Unit
from evenhand.privacy.contributions import promise_to_rows
from evenhand.privacy.guarantees.wording import _epsilon_to_read, _factor, amount_text, delta_text

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
            person's race by at most a factor of 1.11 (epsilon = 0.1, pure, unit: one person,
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
            most a factor of 8.52 plus 1.0e-6, read at delta = 1.0e-6 (rho = 0.1, zCDP, unit:
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
            approximate, unit: one report, trust: local, for 2 reports at once; bound, by group
            privacy). Nothing is declared to be in the clear.
        """,
    ),
    (
        Guarantee.pure("1/4", unit="one report", trust="local", protects=["race"]).group(3),
        """
            Seeing any 3 reports can change the odds between any two values of the race behind
            them by at most a factor of 2.12 (epsilon = 0.75, pure, unit: one report, trust:
            local, for 3 reports at once; bound, by group privacy). Nothing is declared to be
            in the clear.
        """,
    ),
    (
        Guarantee.pure("1/4", unit="one report", trust="central").group(3),
        """
            Seeing what is published can change the odds between any two values of the record
            behind any 3 reports by at most a factor of 2.12 (epsilon = 0.75, pure, unit: one
            report, trust: central, for 3 reports at once; bound, by group privacy). Nothing is
            declared to be in the clear.
        """,
    ),
    (
        Guarantee.pure("1/4", unit="one person", trust="local", protects=["race"]).group(3),
        """
            Seeing everything any 3 people send can change the odds between any two values of
            any 3 people's race by at most a factor of 2.12 (epsilon = 0.75, pure, unit: one
            person, trust: local, for 3 people at once; bound, by group privacy). Nothing is
            declared to be in the clear.
        """,
    ),
    (
        Guarantee.pure("1/1000", unit="one report", trust="local", in_clear=["race"]),
        """
            Seeing one report can change the odds between any two values of what was asked
            besides by at most a factor of 1.0011 (epsilon = 0.001, pure, unit: one report,
            trust: local; bound). In the clear, and so not protected: race. No declared column
            is protected.
        """,
    ),
    (
        Guarantee.pure("1/4", unit="replace one", trust="central", protects=["race"])
        + Guarantee.pure("1/4", unit="replace one", trust="central", in_clear=["race"]),
        """
            Seeing what is published can change the odds between any two values of the rest of
            one person's record by at most a factor of 1.65 (epsilon = 0.5, pure, unit: replace
            one, trust: central; bound). In the clear, and so not protected: race. No declared
            column is protected.
        """,
    ),
    (
        Guarantee.approximate("1/4", "1e-9", unit="one report", trust="central", in_clear=["race"]),
        """
            Changing the rest of the record behind one report changes the chance of anything
            that can be seen by at most a factor of 1.29 plus 1.0e-9 (epsilon = 0.25, delta =
            1.0e-9, approximate, unit: one report, trust: central; bound). In the clear, and so
            not protected: race. No declared column is protected.
        """,
    ),
    (
        Guarantee.pure("1/4", unit="add or remove one", trust="central", in_clear=["race"]),
        """
            Seeing what is published can change the odds between one person being in the data
            and not being in it, whatever the rest of their record, by at most a factor of 1.29
            (epsilon = 0.25, pure, unit: add or remove one, trust: central; bound). In the
            clear, and so not protected: race. No declared column is protected.
        """,
    ),
    (
        Guarantee.no_guarantee(unit="replace one", in_clear=["race"]),
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
        "Caution: delta = 0.001 with 1,000 people, so delta is at least one in their number, which allows "
        "publishing a random person's row."
    )
    assert second == "Caution: epsilon = 12 allows odds to change by a factor of 163,000."
    assert str(made).endswith(" ".join(made.cautions))


@given(st.fractions(0, 600) | st.fractions(0, 1) | st.integers(1, 399).map(lambda n: Fraction(7, 10**n)))
def test_a_shown_factor_is_never_below_the_true_one(epsilon):
    """'At most a factor of 2.71' would be false at epsilon 1."""
    import mpmath

    shown = _factor(epsilon)
    with mpmath.workdps(900):
        log = (
            mpmath.mpf(shown[2:])
            if shown.startswith("e^")
            else mpmath.log(sum(mpmath.mpf(term.replace(",", "")) for term in shown.split(" + ")))
        )

        assert log >= mpmath.mpf(epsilon.numerator) / epsilon.denominator


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (0, "1"), ("1e-300", "1 + 1.1e-300"), ("1e-6", "1.0000011"), ("0.001", "1.0011"),
        ("0.009", "1.0091"), ("0.1", "1.11"), ("0.6931", "2"), (1, "2.72"), (3, "20.1"), (7, "1,100"),
        (12, "163,000"), (100, "2.69e+43"), (1000, "e^1,000"),
    ],
)  # fmt: skip
def test_factors_are_short(epsilon, shown):
    assert _factor(Fraction(epsilon)) == shown


@given(st.fractions(0, 1))
def test_a_shown_delta_is_never_below_the_true_one(delta):
    assert Fraction(delta_text(delta)) >= delta


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(0), "rho = 0"),
        (Fraction(1, 3), "rho = 0.333334 (exactly 1/3)"),
        (Fraction("0.123456789"), "rho <= 0.12346"),
        (Fraction(10**9), "rho = 1000000000"),
        (Fraction(10**15), "rho <= 1.0000e+15"),
        (Fraction(1, 10**5_000), "rho <= 1e-5000"),
    ],
)
def test_amounts_are_exact_when_short_and_rounded_up_when_long(value, shown):
    assert amount_text("rho", value) == shown


def test_a_rounded_delta_is_not_said_to_be_both_at_most_and_at_least():
    with pytest.warns(PrivacyWarning, match="delta <= 0.0013 with 1,000 people, so delta is at least one in"):
        Guarantee.approximate(1, "0.00123456", unit="replace one", trust="central", people=1_000)


def test_a_rho_is_read_once_and_not_for_every_text():
    made = Guarantee.zcdp("1/17", unit="replace one", trust="central")
    str(made)
    before = _epsilon_to_read.cache_info().hits
    str(made)

    assert _epsilon_to_read.cache_info().hits == before + 1


def test_the_text_does_not_depend_on_the_callers_decimal_settings():
    with decimal.localcontext() as context:
        context.prec, context.rounding, context.capitals = 1, decimal.ROUND_DOWN, 1
        for made, expected in READINGS:
            assert str(made) == " ".join(expected.split())


@pytest.mark.parametrize("protects", [(), ("sex",)], ids=["record", "sex"])
@pytest.mark.parametrize("unit", ["replace one", "add or remove one"])
@pytest.mark.parametrize("delta", [0, "1e-6", "0.5"])
def test_a_guarantee_for_rows_says_nothing_of_one_person_but_that_they_may_have_several(
    protects, unit, delta
):
    """If this is false, a reader takes what holds for a row for a promise to a person."""
    people = Guarantee(epsilon=1, delta=delta, unit=unit, trust="central", protects=protects)
    rows = promise_to_rows(people)
    claim, _, assumed = str(rows).partition("Assumes: ")

    assert "person" in str(people)
    assert "person" not in claim
    assert "one row" in claim
    assert assumed.startswith("one person may have several rows, and is promised this for each of them.")


def test_a_guarantee_for_several_rows_counts_rows():
    rows = promise_to_rows(Guarantee(epsilon=1, unit="replace one", trust="central")).group(3)

    assert "any 3 rows" in str(rows)
    assert "for 3 rows at once" in str(rows)
