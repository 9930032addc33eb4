"""Linear predicates: one normal form for what says the same."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.language import rule as rules
from evenhand.decide.language.rule import Predicate, exceeds
from evenhand.decide.language.terms import count, ratio


def test_a_predicate_has_whole_coefficients_without_a_common_divisor():
    half, third = Fraction(1, 2), Fraction(1, 3)

    made = Predicate.of({"x": half, "y": -third, "z": Fraction(0)}, third, strict=False)

    assert made.terms == (("x", 3), ("y", -2))
    assert made.bound == 2
    assert all(isinstance(each, Fraction) for each in (*made.coefficients.values(), made.bound))
    assert repr(made) == "3*x - 2*y >= 2"


@pytest.mark.parametrize("factor", [2, Fraction(1, 7), 0.05])
def test_a_positive_factor_gives_the_same_predicate(factor):
    """A rule that says a thing twice must not be taken for two independent events."""
    one = count("x") - 2 * count("y") > 3

    assert (
        (one.predicates[0])
        == ((count("x") - 2 * count("y")) * factor > 3 * Fraction(str(factor))).predicates[0]
    )


def test_less_is_written_as_more():
    assert repr((count("x") < 3).predicates[0]) == "-x > -3"
    assert repr((count("x") <= count("y")).predicates[0]) == "-x + y >= 0"


def test_the_half_space_leaves_the_denominator_out():
    (made,) = (count("x") / count("y") > 0.5).predicates

    assert repr(made) == "2*x - y > 0 and y > 0"
    assert repr(made.half_space) == "2*x - y > 0"
    assert made.numbers == (2, -1, 0, 1, 0)
    with pytest.raises(TypeError):
        made.coefficients["x"] = 3


def test_an_empty_sum_prints_as_zero():
    assert repr(Predicate.of({"x": 0}, 1, strict=True)) == "0 > 1"


def slowly(terms, bound, columns, *, strict):
    """Every sum as a rational, one at a time."""
    arrays = np.broadcast_arrays(*(np.asarray(columns[name]) for name, _ in terms))
    flat = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    sums = [
        sum(weight * Fraction(value) for (_, weight), value in zip(terms, row, strict=True)) for row in flat
    ]
    return np.array([each > bound if strict else each >= bound for each in sums]).reshape(arrays[0].shape)


HUGE = np.array([2**63 - 1, -(2**63), 2**53 + 1, 2**53, 0, 1, -1, 10**18])
COLUMNS = {
    "small": (np.arange(-20, 21)[:, None], np.arange(-20, 21)),
    "huge": (HUGE[:, None], HUGE),
    "unsigned": (HUGE.astype(np.uint64)[:, None], np.array([0, 1, 2**64 - 1], dtype=np.uint64)),
    "bytes": (np.arange(-128, 128, 15, dtype=np.int8)[:, None], np.arange(-128, 128, 17, dtype=np.int8)),
    "floats": (
        np.array([0.05, 0.1, 1e-320, -0.0, 3.0, np.nextafter(3, 4), 1e300, -1e300])[:, None],
        np.array([1.0, 2.0, 1e-320, 0.0, 60.0, np.nextafter(60, 0), 1e301, 1e-300]),
    ),
    "mixed": (np.array([0.15, 3.0, 1e15 + 0.125])[:, None], HUGE),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize(
    ("weights", "bound"),
    [
        ((1, -1), Fraction(0)),
        ((20, -1), Fraction(0)),
        ((10_000, -131), Fraction(0)),
        ((1, Fraction(-1, 3)), Fraction(1, 7)),
        ((10**90, -(10**90)), Fraction(10**90)),
        ((1, 1), Fraction(2**63)),
    ],
)
def test_every_way_agrees_with_rationals(kind, weights, bound):
    """One wrong answer at the threshold is one place that wrongly gets nothing."""
    columns = dict(zip("xy", COLUMNS[kind], strict=True))
    terms = [("x", Fraction(weights[0])), ("y", Fraction(weights[1]))]

    for strict in (True, False):
        made = exceeds(terms, bound, columns, strict=strict)
        assert (made == slowly(terms, bound, columns, strict=strict)).all()


def test_a_share_of_exactly_one_twentieth_is_not_above_it():
    """The law says more than five percent, not more than a binary number near it."""
    rule = ratio("sp", "s") > 0.05
    wholes = np.arange(1, 2_000)

    assert not rule.holds({"sp": wholes, "s": 20 * wholes}).any()
    assert rule.holds({"sp": 20 * wholes + 1, "s": 400 * wholes}).all()
    assert (ratio("sp", "s") >= 0.05).holds({"sp": wholes, "s": 20 * wholes}).all()
    assert (count("sp") >= 0.14 * count("s")).holds({"sp": 7 * wholes, "s": 50 * wholes}).all()
    assert not (7 * wholes >= 0.14 * (50 * wholes)).all()  # so that the test can see
    assert not (ratio("sp", "s") > 0.35).holds({"sp": 7 * wholes, "s": 20 * wholes}).any()


def test_counts_of_a_thousand_million_do_not_wrap():
    """1e9 times 1e10 does not fit into 64 bits."""
    counts = np.array([10**9, 10**9 + 1, 10**9 - 1])

    rule = count("x") * 10**10 > count("y") * 10**10

    assert rule.holds({"x": counts, "y": np.full(3, 10**9)}).tolist() == [False, True, False]
    wide = count("x") * 10_000_000_019 > count("y") * 10_000_000_033
    assert wide.holds({"x": counts, "y": counts}).tolist() == [False, False, False]
    assert wide.holds({"x": 2 * counts, "y": counts}).all()


def test_long_floats_are_read_as_doubles():
    assert (count("x") > 0.5).holds({"x": np.array([0.5, 0.75], dtype=np.longdouble)}).tolist() == [
        False,
        True,
    ]
    assert (count("x") > 0.5).holds({"x": np.array([0.5, 0.75], dtype=np.float16)}).tolist() == [False, True]


def test_equal_rows_are_computed_once(monkeypatch):
    """Clamped counts are 0 in many draws, and as rationals each of them would take 30 microseconds."""
    asked = []
    slow = rules._exact_sign

    def counted(terms, bound, values):
        asked.append(values)
        return slow(terms, bound, values)

    monkeypatch.setattr(rules, "_exact_sign", counted)
    terms = (("x", Fraction(1)), ("y", Fraction(-1, 20)))
    columns = {"x": np.array([0.0, 0, 0, 1, 0.05]), "y": np.array([0.0, 0, 0, 20, 1])}
    found = rules.exceeds(terms, Fraction(0), columns, strict=False)

    assert found.tolist() == [True] * 5
    assert sorted(asked) == [(0.0, 0.0), (0.05, 1.0), (1.0, 20.0)]
