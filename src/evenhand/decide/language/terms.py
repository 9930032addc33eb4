"""Counts and ratios of counts, and the comparisons of them that make rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, reduce
from numbers import Real
from operator import and_, or_
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from evenhand._validate import one_of
from evenhand.decide.language.rule import Predicate, Rule
from evenhand.decide.language.tokens import check_input_name, exact_number, within_limits, write_sum
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.privacy.rational import Number

Nonpositive = Literal["false", "signed"]

MOST_INPUTS = 50
"""How many counts one side of a comparison may add."""

LINEAR = "rules are linear: counts are weighted, added and divided once, and compared with numbers."
"""What a refusal says where counts would be multiplied."""

Sign = Literal[">", ">=", "<", "<="]

FLIPPED: dict[Sign, Sign] = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
"""The sign when the two sides change places."""


class _Side(ABC):
    """Stand on a side of a comparison: with four comparisons, each of which makes a rule, and minus."""

    __array_ufunc__ = None  # so that numpy's numbers leave arithmetic and comparisons to us

    @abstractmethod
    def compared_to(self, sign: Sign, other: Any) -> Rule:
        """Return the rule that this is `sign` to `other`."""

    def __gt__(self, other: Any) -> Rule:
        return self.compared_to(">", other)

    def __ge__(self, other: Any) -> Rule:
        return self.compared_to(">=", other)

    def __lt__(self, other: Any) -> Rule:
        return self.compared_to("<", other)

    def __le__(self, other: Any) -> Rule:
        return self.compared_to("<=", other)

    def __sub__(self: Any, other: Any) -> Any:
        right = other if isinstance(other, Ratio) else _as_term(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self: Any, other: Any) -> Any:
        return -self + other


@dataclass(frozen=True, repr=False)
class Term(_Side):
    """A weighted sum of counts, plus a number, with exact coefficients.

    Terms are added and subtracted, and multiplied and divided by numbers; a term divided by a term is a
    :class:`Ratio`. Start from :func:`count`.

    Parameters
    ----------
    coefficients : tuple of (str, Fraction)
        The counts by name, none with a coefficient of 0.
    constant : Fraction
        The number that is added.

    Examples
    --------
    >>> 2 * count("sp") - count("s") / 10 + 5
    2*sp - 0.1*s + 5
    """

    coefficients: tuple[tuple[str, Fraction], ...]
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, coefficients: Mapping[str, Fraction], constant: Fraction | int = 0) -> Term:
        """Return the term without the coefficients that are 0, refusing numbers that are too long."""
        term = cls(
            tuple((name, coefficient) for name, coefficient in coefficients.items() if coefficient),
            Fraction(constant),
        )
        if len(term.coefficients) > MOST_INPUTS:
            must_be = f"a sum of at most {MOST_INPUTS} counts"
            raise InvalidParameterError("other", owner="a term", must_be=must_be, got="one of more")
        if not all(
            map(within_limits, (term.constant, *(coefficient for _, coefficient in term.coefficients)))
        ):
            must_be = "a sum whose numbers stay from 1e-100 to 1e100, with at most 300 digits"
            raise InvalidParameterError("other", owner="a term", must_be=must_be, got="another")
        return term

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the counts."""
        return tuple(name for name, _ in self.coefficients)

    @property
    def is_number(self) -> bool:
        """Return whether no count is left in it."""
        return not self.coefficients

    def __add__(self, other: Any) -> Term | Ratio:
        if isinstance(other, Ratio):
            return other + self
        right = _as_term(other)
        if right is None:
            return NotImplemented
        total = dict(self.coefficients)
        for name, coefficient in right.coefficients:
            total[name] = total.get(name, Fraction(0)) + coefficient
        return Term.of(total, self.constant + right.constant)

    __radd__ = __add__

    def __neg__(self) -> Term:
        return self._times(Fraction(-1))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Ratio):
            return other * self
        right = _as_term(other)
        if right is None:
            return NotImplemented
        if right.is_number:
            return self._times(right.constant)
        return right._times(self.constant) if self.is_number else _refuse_product("*")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        right = _as_term(other)
        if right is None:
            return _refuse_product("/") if isinstance(other, Ratio) else NotImplemented
        return self._times(_inverse(right.constant)) if right.is_number else Ratio(self, right)

    def __rtruediv__(self, other: Any) -> Any:
        left = _as_term(other)
        return NotImplemented if left is None else left / self

    def _times(self, factor: Fraction) -> Term:
        return Term.of(
            {name: coefficient * factor for name, coefficient in self.coefficients}, self.constant * factor
        )

    def compared_to(self, sign: Sign, other: Any) -> Rule:
        """Return the rule that this is `sign` to `other`."""
        if isinstance(other, Ratio):
            return other.compared_to(FLIPPED[sign], self)
        right = _right_side(other)
        return (
            compare_sides(right, FLIPPED[sign], self) if self.is_number else compare_sides(self, sign, right)
        )

    def against(self, right: Term) -> tuple[Term, None, bool]:
        """Return what must be above 0 for this to be above `right`; there is no denominator."""
        return self - right, None, False

    def above_zero(self, *, strict: bool, needs_positive: Predicate | None = None) -> Predicate:
        """Return the predicate that this is > 0, or >= 0."""
        bound = -self.constant
        return Predicate.of(dict(self.coefficients), bound, strict=strict, needs_positive=needs_positive)

    def __repr__(self) -> str:
        return write_sum(self.coefficients, self.constant)


@dataclass(frozen=True, repr=False)
class Ratio(_Side):
    """One term divided by another, to be compared with a number.

    A ratio may be multiplied and divided by numbers, and numbers and ratios with the same denominator
    may be added. Start from :func:`ratio`.

    Parameters
    ----------
    numerator, denominator : Term
        What is divided, and by what.
    nonpositive : {"false", "signed"}
        What a comparison says where the denominator is not above 0, see :func:`ratio`.
    """

    numerator: Term
    denominator: Term
    nonpositive: Nonpositive = "false"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the counts."""
        return tuple(dict.fromkeys((*self.numerator.inputs, *self.denominator.inputs)))

    def _over(self, numerator: Term) -> Ratio:
        return Ratio(numerator, self.denominator, self.nonpositive)

    def __add__(self, other: Any) -> Ratio:
        if isinstance(other, Ratio):
            if (other.denominator, other.nonpositive) != (self.denominator, self.nonpositive):
                _refuse_product("+", "a ratio with the same denominator")
            return self._over(self.numerator + other.numerator)  # type: ignore[arg-type]
        right = _as_term(other)
        if right is None:
            return NotImplemented
        if not right.is_number:
            _refuse_product("+", "a number, or a ratio with the same denominator")
        return self._over(self.numerator + self.denominator._times(right.constant))  # type: ignore[arg-type]

    __radd__ = __add__

    def __neg__(self) -> Ratio:
        return self._over(-self.numerator)

    def __mul__(self, other: Any) -> Any:
        right = _as_term(other)
        if right is None:
            return _refuse_product("*") if isinstance(other, Ratio) else NotImplemented
        return self._over(self.numerator * right.constant) if right.is_number else _refuse_product("*")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        right = _as_term(other)
        if right is None:
            return _refuse_product("/") if isinstance(other, Ratio) else NotImplemented
        return self * _inverse(right.constant) if right.is_number else _refuse_product("/")

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented if _as_term(other) is None else _refuse_product("/")

    def compared_to(self, sign: Sign, other: Any) -> Rule:
        """Return the rule that this is `sign` to `other`."""
        if isinstance(other, Ratio):
            return (self - other).compared_to(sign, Term.of({}))  # type: ignore[no-any-return]
        right = _right_side(other)
        if not right.is_number:
            _refuse_product(sign, "a number, or a ratio with the same denominator")
        return compare_sides(self, sign, right)

    def against(self, right: Term) -> tuple[Term, Term, bool]:
        """Return what must be above 0, the denominator, and whether it is signed."""
        over: Term = self.numerator - self.denominator * right.constant
        return over, self.denominator, self.nonpositive == "signed"

    def __repr__(self) -> str:
        text = f"{_bracket_term(self.numerator)}/{_bracket_term(self.denominator, below=True)}"
        return f"signed({text})" if self.nonpositive == "signed" else text


def count(name: str) -> Term:
    """Return the count of a column, to be compared or computed with.

    >>> count("sp") > 10_000
    sp > 10000
    >>> count("children aged 5-17") >= 2 * count("teachers")
    `children aged 5-17` >= 2*teachers
    """
    return _count_of(name, parameter="name", owner="count")


def _count_of(name: object, *, parameter: str, owner: str) -> Term:
    return Term(((check_input_name(name, parameter=parameter, owner=owner), Fraction(1)),))


def ratio(numerator: str | Term, denominator: str | Term, *, nonpositive: Nonpositive = "false") -> Ratio:
    """Return one count divided by another, to be compared with a number.

    The comparison is multiplied out: with a denominator above 0, ``x/y > c`` is ``x - c*y > 0``, exactly.

    Parameters
    ----------
    numerator, denominator : str or Term
        The counts, or terms of counts.
    nonpositive : {"false", "signed"}
        What a comparison says where the denominator is not above 0, as it may be with noise. ``"false"``: it
        does not hold, whichever way it compares. ``"signed"``: below 0 it is that of the quotient, so
        multiplying out turns it round; at 0 it does not hold. Formulas for continuous noise that integrate
        over the whole plane are signed.

    Examples
    --------
    >>> ratio("sp", "s") > 0.05
    sp/s > 0.05
    >>> ratio("sp", "s", nonpositive="signed") > 0.05
    signed(sp/s) > 0.05
    >>> columns = {"sp": [-1, 1, 0], "s": [-2, 2, 0]}
    >>> [(ratio("sp", "s", nonpositive=how) > 0.05).holds(columns).tolist() for how in ("false", "signed")]
    [[False, True, False], [True, True, False]]
    """
    one_of("nonpositive", nonpositive, ("false", "signed"), owner="ratio")
    above, below = (
        side if isinstance(side, Term) else _count_of(side, parameter=name, owner="ratio")
        for name, side in (("numerator", numerator), ("denominator", denominator))
    )
    if below.is_number:
        raise InvalidParameterError(
            "denominator", owner="ratio", must_be="a term with a count", got=denominator
        )
    return Ratio(above, below, nonpositive)


def threshold(name: str, level: Number) -> Rule:
    """Return the rule that a count is at least `level`.

    >>> threshold("sp", 10_000)
    sp >= 10000
    """
    return count(name) >= exact_number(level, parameter="level", owner="threshold")


def _as_term(value: object) -> Term | None:
    """Return a term, or a number as one; None where it is neither."""
    if isinstance(value, Term):
        return value
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    return Term((), exact_number(value, parameter="other", owner="a term"))


def _right_side(value: object) -> Term:
    right = _as_term(value)
    if right is None:
        must_be = "a number or a term of counts"
        raise InvalidParameterError("other", owner="a comparison", must_be=must_be, got=value)
    return right


def _inverse(value: Fraction) -> Fraction:
    if value == 0:
        raise InvalidParameterError("other", owner="a division", must_be="a number other than 0", got=0)
    return 1 / value


def _refuse_product(sign: str, must_be: str = "a number") -> NoReturn:
    raise InvalidParameterError("other", owner=f"'{sign}'", must_be=must_be, got="a count", hint=LINEAR)


def _bracket_term(term: Term, *, below: bool = False) -> str:
    """Write a term so that it can stand above or below the line of a ratio."""
    alone = len(term.coefficients) + bool(term.constant or not term.coefficients) == 1
    weighted = below and term != Term(((term.inputs[0], Fraction(1)),))
    return f"({term!r})" if weighted or not alone else repr(term)


@dataclass(frozen=True, repr=False)
class CountComparison:
    """Two sides and a sign between them.

    Parameters
    ----------
    left : Term or Ratio
        The side that holds a count, or a ratio.
    sign : {">", ">=", "<", "<="}
        How they are compared.
    right : Term
        The other side; a number where the left one is a ratio.
    """

    left: Term | Ratio
    sign: Sign
    right: Term

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the counts, in the order in which they are written."""
        return tuple(dict.fromkeys((*self.left.inputs, *self.right.inputs)))

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """The predicates one of which must hold: two for a signed ratio, which exclude each other."""
        difference, below, signed = self.left.against(self.right)
        strict = self.sign in {">", "<"}
        over = difference if self.sign in {">", ">="} else -difference
        if below is None:
            return (over.above_zero(strict=strict),)
        predicates = [over.above_zero(strict=strict, needs_positive=below.above_zero(strict=True))]
        if signed:  # below 0 the denominator turns the sign round
            turned = (-below).above_zero(strict=True)
            predicates.append((-over).above_zero(strict=strict, needs_positive=turned))
        return tuple(predicates)

    @property
    def half_spaces(self) -> int:
        """Return how many half-spaces decide it: 1, 2 for a ratio, 4 for a signed one."""
        return sum(1 if predicate.needs_positive is None else 2 for predicate in self.predicates)

    def linear(self) -> Rule:
        """Return the same decision by half-spaces alone."""
        conditions = ((predicate.half_space, predicate.needs_positive) for predicate in self.predicates)
        pieces = (
            reduce(and_, (half_space_rule(part) for part in parts if part is not None))
            for parts in conditions
        )
        return reduce(or_, pieces)

    def __repr__(self) -> str:
        return f"{self.left!r} {self.sign} {self.right!r}"


def compare_sides(left: Term | Ratio, sign: Sign, right: Term) -> Rule:
    """Return the rule of one comparison; refuse it if no count is left in it, or its numbers are too long."""
    comparison = CountComparison(left, sign, right)
    if not all(predicate.terms for predicate in comparison.predicates):
        must_be, got = (
            "something that leaves a count to compare",
            "sides whose counts cancel, or numbers alone",
        )
        raise InvalidParameterError("other", owner="a comparison", must_be=must_be, got=got)
    if not all(within_limits(predicate) for part in comparison.predicates for predicate in part.numbers):
        must_be = "such that whole coefficients of up to 1e100 say the same"
        raise InvalidParameterError("other", owner="a comparison", must_be=must_be, got="longer numbers")
    return Rule("compare", comparison=comparison)


def half_space_rule(predicate: Predicate) -> Rule:
    """Return the rule of one half-space."""
    sign: Sign = ">" if predicate.strict else ">="
    return compare_sides(Term.of(predicate.coefficients), sign, Term.of({}, predicate.bound))
