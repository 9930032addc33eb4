"""Rules: what holds for any rule that can be written."""

import itertools
import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.decide.language.parse import parse
from evenhand.decide.language.rule import exceeds
from evenhand.decide.language.terms import Term, count, ratio
from evenhand.errors import InvalidParameterError

pytestmark = pytest.mark.figures

NAMES = [
    "s",
    "sp",
    "spe",
    "or",
    "Signed",
    "two words",
    "1st",
    "a`b",
    "``",
    "größe",
    "x\ny",
    "\ud800",
    "学",
    "(",
    "\x00",
]
NUMBERS = [
    "1",
    "-1",
    "2",
    "-1/2",
    "0.05",
    "1e4",
    "0.0131",
    "-1/3",
    "22/7",
    "1e40",
    "-1e-40",
    "1/3486784401",
    "3/1099511627776",
]
FEW, SMALL = ["s", "sp", "spe"], ["1", "-1", "2", "1/2", "-3/2", "0.05", "3"]
BYTES = st.binary(min_size=12, max_size=50)


class Reader:
    """Makes a rule of bytes, so that a byte more or less makes another rule and few bytes a short one."""

    def __init__(self, data, names, numbers):
        self.data, self.names, self.numbers = list(data), names, numbers

    def choice(self, among):
        return among[(self.data.pop() if self.data else 0) % len(among)]

    def number(self):
        return Fraction(self.choice(self.numbers))

    def term(self):
        weights = {self.choice(self.names): self.number() for _ in range(self.choice([1, 1, 2, 3]))}
        return Term.of(weights, self.choice([Fraction(0), self.number()]))

    def comparison(self):
        sign = self.choice([">", ">=", "<", "<="])
        try:
            if self.choice([True, False]):
                return self.term().compared_to(sign, self.choice([self.term(), self.number(), Fraction(0)]))
            how = self.choice(["false", "signed"])
            return ratio(self.term(), self.term(), nonpositive=how).compared_to(sign, self.number())
        except InvalidParameterError:  # the sides cancel, or need coefficients beyond 1e100
            return count(self.choice(self.names)) >= self.number()

    def rule(self, depth=0):
        way = self.choice("cn&|^") if depth < 5 and self.data else "c"
        if way == "c":
            return self.comparison()
        first = self.rule(depth + 1)
        if way == "n":
            return ~first
        return {"&": operator.and_, "|": operator.or_, "^": operator.xor}[way](first, self.rule(depth + 1))


def rules(names=NAMES, numbers=NUMBERS):
    return BYTES.map(lambda data: Reader(data, names, numbers).rule())


CUBE = np.array(list(itertools.product(range(-3, 4), repeat=3))).T
COLUMNS = dict(zip(("s", "sp", "spe"), CUBE, strict=True))


def slowly(rule, row):
    """Decide one entity by Python's own fractions, from what is written."""
    if rule.comparison is None:
        parts = [slowly(part, row) for part in rule.parts]
        if rule.operation == "not":
            return not parts[0]
        return {"and": all(parts), "or": any(parts), "xor": sum(parts) % 2 == 1}[rule.operation]
    left, sign, right = rule.comparison.left, rule.comparison.sign, value(rule.comparison.right, row)
    if isinstance(left, Term):
        above = value(left, row)
    else:
        below = value(left.denominator, row)
        if below == 0 or (below < 0 and left.nonpositive == "false"):
            return False
        above = value(left.numerator, row) / below
    return {">": above > right, ">=": above >= right, "<": above < right, "<=": above <= right}[sign]


def value(term, row):
    return term.constant + sum(each * int(row[name]) for name, each in term.coefficients)


@given(rules())
def test_a_rule_parses_back_from_what_it_prints(rule):
    """A study keeps its rule as text; another rule must not come back."""
    text = repr(rule)
    again = parse(f" ( {text} )\n")

    assert again == rule
    assert repr(again) == text


@given(rules(FEW, SMALL))
def test_a_rule_decides_as_fractions_do(rule):
    """The decision must be the one that is written, to the last unit of a count."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in CUBE.T[::6].tolist()]
    columns = {name: each[::6] for name, each in COLUMNS.items()}

    assert rule.holds(columns).tolist() == [slowly(rule, row) for row in rows]


@given(rules(FEW, SMALL))
def test_the_linear_form_decides_the_same(rule):
    """Exact probabilities are computed from it."""
    linear = rule.linear()

    assert (linear.holds(COLUMNS) == rule.holds(COLUMNS)).all()
    assert all(each.needs_positive is None for each in linear.predicates)
    assert set(linear.inputs) <= set(rule.inputs)


@given(rules(FEW, SMALL), rules(FEW, SMALL))
def test_composition_follows_the_truth_tables(first, second):
    one, two = first.holds(COLUMNS), second.holds(COLUMNS)

    assert ((first & second).holds(COLUMNS) == (one & two)).all()
    assert ((first | second).holds(COLUMNS) == (one | two)).all()
    assert ((first ^ second).holds(COLUMNS) == (one ^ two)).all()
    assert ((~first).holds(COLUMNS) == ~one).all()
    assert ((~(first & second)).holds(COLUMNS) == (~first | ~second).holds(COLUMNS)).all()


REALS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3)
WHOLES = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3)


@given(
    st.one_of(REALS, WHOLES),
    st.one_of(REALS, WHOLES),
    st.integers(-(10**30), 10**30).filter(bool),
    st.integers(-(10**30), 10**30).filter(bool),
    st.booleans(),
)
def test_any_numbers_are_compared_exactly(x, y, first, second, strict):
    """Noise may be real or whole and small or large; none of it may be compared by a rounded sum."""
    exact = [first * Fraction(a) + second * Fraction(b) for a, b in zip(x, y, strict=True)]
    bound = exact[0]  # so that one is met exactly

    made = exceeds([("x", Fraction(first)), ("y", Fraction(second))], bound, {"x": x, "y": y}, strict=strict)

    assert made.tolist() == [each > bound if strict else each >= bound for each in exact]
