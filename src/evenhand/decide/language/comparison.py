"""One comparison, as it was written, and the linear predicates that decide it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from evenhand.decide.language.numerals import within_limits
from evenhand.decide.language.rule import Rule
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from evenhand.decide.language.predicates import Predicate
    from evenhand.decide.language.terms import Ratio, Term

__all__ = ["FLIPPED", "Comparison", "Sign", "compared"]

Sign = Literal[">", ">=", "<", "<="]

FLIPPED: dict[Sign, Sign] = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
"""The sign when the two sides change places."""


@dataclass(frozen=True, repr=False)
class Comparison:
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
        made = [over.above_zero(strict=strict, needs_positive=below.above_zero(strict=True))]
        if signed:  # below 0 the denominator turns the sign round
            turned = (-below).above_zero(strict=True)
            made.append((-over).above_zero(strict=strict, needs_positive=turned))
        return tuple(made)

    @property
    def half_spaces(self) -> int:
        """How many half-spaces decide it: 1, 2 for a ratio, 4 for a signed one."""
        return sum(1 if each.needs_positive is None else 2 for each in self.predicates)

    def linear(self) -> Rule:
        """Return the same decision by half-spaces alone."""
        pieces = []
        for each in self.predicates:
            piece = _half_space(each.half_space)
            pieces.append(piece if each.needs_positive is None else piece & _half_space(each.needs_positive))
        return pieces[0] if len(pieces) == 1 else pieces[0] | pieces[1]

    def __repr__(self) -> str:
        return f"{self.left!r} {self.sign} {self.right!r}"


def compared(left: Term | Ratio, sign: Sign, right: Term) -> Rule:
    """Return the rule of one comparison; refuse it if no count is left in it, or its numbers are too long."""
    made = Comparison(left, sign, right)
    if not all(each.terms for each in made.predicates):
        must_be, got = (
            "something that leaves a count to compare",
            "sides whose counts cancel, or numbers alone",
        )
        raise InvalidParameterError("other", owner="a comparison", must_be=must_be, got=got)
    if not all(within_limits(each) for part in made.predicates for each in part.numbers):
        must_be = "such that whole coefficients of up to 1e100 say the same"
        raise InvalidParameterError("other", owner="a comparison", must_be=must_be, got="longer numbers")
    return Rule("compare", comparison=made)


def _half_space(predicate: Predicate) -> Rule:
    from evenhand.decide.language.terms import Term  # noqa: PLC0415 - terms are compared by what is above

    sign: Sign = ">" if predicate.strict else ">="
    return compared(Term.of(predicate.coefficients), sign, Term.of({}, predicate.bound))
