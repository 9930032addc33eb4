"""Reading a rule from its text, by a tokenizer and a recursive descent; nothing in it is ever executed."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from evenhand.decide.language.numerals import within_limits
from evenhand.decide.language.rule import Rule
from evenhand.decide.language.terms import LINEAR, Ratio, Term, count
from evenhand.decide.language.tokens import LONGEST_TEXT, Token, refuse, tokens
from evenhand.errors import InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DEEPEST_TEXT", "parse"]

DEEPEST_TEXT = 40
"""How many parentheses may be nested in one another."""

_LONGEST_EXPONENT = 3
_LONGEST_DIGITS = 400
_VALUE = "a number, a name or '('"
_ADDED: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub}
_MULTIPLIED: dict[str, Callable[[Any, Any], Any]] = {"*": operator.mul, "/": operator.truediv}
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_JOINED: tuple[tuple[str, Callable[[Any, Any], Any]], ...] = (
    ("or", operator.or_),
    ("xor", operator.xor),
    ("and", operator.and_),
)


def parse(text: str) -> Rule:
    """Return the rule that a text says.

    The language has ``and``, ``or``, ``xor``, ``not`` and parentheses; the comparisons ``>``, ``>=``, ``<``
    and ``<=``; ``+``, ``-``, ``*`` and ``/``; numbers such as ``10_000`` or ``1e4``; names of columns, in
    backquotes where they are odd; and ``signed(x/y)`` for a ratio that is compared below a denominator of 0
    as well, see :func:`~evenhand.decide.language.terms.ratio`. ``not`` binds closer than ``and``, that closer
    than ``xor``, that closer than ``or``.

    Parameters
    ----------
    text : str
        The rule, at most 20,000 characters.

    Raises
    ------
    RuleError
        Where it cannot be read; the message points at the place.
    LimitExceededError
        Where it is too long or nested too deeply.

    Examples
    --------
    >>> rule = parse("(sp/s > 0.05 or sp > 10_000) and spe/sp > 1.31e-2")
    >>> rule
    (sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131
    >>> parse(repr(rule)) == rule
    True
    """
    given: object = text
    if not isinstance(given, str):
        got = f"a value of type {type(given).__name__}"
        raise InvalidParameterError("text", owner="parse", must_be="the text of a rule", got=got)
    if len(text) > LONGEST_TEXT:
        message = (
            f"The text of a rule has at most {LONGEST_TEXT:,} characters. Hint: split it into several rules."
        )
        raise LimitExceededError(message, limit="text")
    return _Reader(text, tokens(text)).rule()


@dataclass
class _Reader:
    """Where we are in the text. A value read is a Rule, a Term (numbers are terms too) or a Ratio."""

    text: str
    words: list[Token]
    at: int = field(default=0)
    depth: int = field(default=0)

    @property
    def here(self) -> Token:
        return self.words[self.at]

    def rule(self) -> Rule:
        value = self._any(0)
        if self.here.kind != "end":
            hint = "there is one ')' too many." if self.here.is_(")") else ""
            self._refuse_here(f"{_after(value)}{' or the end' if isinstance(value, Rule) else ''}", hint=hint)
        if not isinstance(value, Rule):
            self._refuse_here("'>', '>=', '<' or '<=', because a rule compares")
        return value

    def _any(self, level: int) -> Any:
        """Read parts joined by 'or', then 'xor', then 'and'; the further down the closer they bind."""
        if level == len(_JOINED):
            return self._not()
        word, join = _JOINED[level]
        start = self.here
        value = self._any(level + 1)
        while self.here.is_(word):
            left = self._as_rule(value, start)
            sign, start = self._taken(), self.here
            value = self._applied(join, sign, left, self._as_rule(self._any(level + 1), start))
        return value

    def _not(self) -> Any:
        turns = 0
        while self.here.is_("not"):
            self._taken()
            turns += 1
        start = self.here
        value = self._comparison()
        if turns:
            rule = self._as_rule(value, start)
            return ~rule if turns % 2 else rule
        return value

    def _comparison(self) -> Any:
        start = self.here
        left = self._sum()
        if not self.here.is_(*_COMPARED):
            return left
        self._as_value(left, start)
        sign, start = self._taken(), self.here
        right = self._as_value(self._sum(), start)
        if self.here.is_(*_COMPARED):
            self._refuse_here("'and', 'or', 'xor' or the end", hint="write a < b and b < c for a chain.")
        return self._applied(_COMPARED[sign.text], sign, left, right)

    def _sum(self) -> Any:
        return self._operated(_ADDED, self._product)

    def _product(self) -> Any:
        return self._operated(_MULTIPLIED, self._signed)

    def _operated(self, signs: dict[str, Callable[[Any, Any], Any]], part: Callable[[], Any]) -> Any:
        start = self.here
        value = part()
        while self.here.is_(*signs):
            self._as_value(value, start)
            sign, start = self._taken(), self.here
            value = self._applied(signs[sign.text], sign, value, self._as_value(part(), start))
        return value

    def _signed(self) -> Any:
        minus, first = False, self.here
        while self.here.is_("+", "-"):
            minus ^= self._taken().text == "-"
        start = self.here
        value = self._single()
        if start is not first:
            self._as_value(value, start)
        return -value if minus else value

    def _single(self) -> Any:
        token = self.here
        if token.kind == "number":
            return self._number(self._taken())
        if token.kind == "name":
            return count(self._taken().text)
        if token.is_("signed"):
            return self._signed_ratio()
        if token.is_("("):
            return self._parenthesis()
        hint = "a column of that name stands in backquotes." if token.kind == "word" else ""
        return self._refuse_here(_VALUE, hint=hint)

    def _parenthesis(self) -> Any:
        opened = self._taken()
        self.depth += 1
        if self.depth > DEEPEST_TEXT:
            message = f"A rule nests at most {DEEPEST_TEXT} parentheses; column {opened.place + 1} is deeper."
            raise LimitExceededError(message, limit="depth")
        value = self._any(0)
        if not self.here.is_(")"):
            hint = f"'(' was opened at column {opened.place + 1}."
            self._refuse_here(f"{_after(value)} or ')'", hint=hint)
        self._taken()
        self.depth -= 1
        return value

    def _signed_ratio(self) -> Ratio:
        self._taken()
        start = self.here
        if not start.is_("("):
            self._refuse_here("'(' after 'signed'", hint="a column of that name stands in backquotes.")
        value = self._parenthesis()
        if not isinstance(value, Ratio):
            refuse(self.text, start.place, expected="a ratio such as signed(x/y)", got="something else")
        return replace(value, nonpositive="signed")

    def _number(self, token: Token) -> Term:
        digits, _, exponent = token.text.lower().partition("e")
        short = len(exponent.lstrip("+-").lstrip("0")) <= _LONGEST_EXPONENT and len(digits) <= _LONGEST_DIGITS
        value = Fraction(token.text) if short else Fraction(0)
        if not short or not within_limits(value):
            expected = "0, or a number from 1e-100 to 1e100 of at most 300 digits"
            refuse(self.text, token.place, expected=expected, got="another number")
        return Term((), value)

    def _taken(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def _applied(self, function: Callable[[Any, Any], Any], sign: Token, left: Any, right: Any) -> Any:
        """Return what an operation makes; what it refuses is said at its sign."""
        try:
            return function(left, right)
        except InvalidParameterError as error:
            expected = f"{error.must_be} beside '{sign.text}'"
            hint = LINEAR if error.owner.startswith("'") else ""
            refuse(self.text, sign.place, expected=expected, got="something else", hint=hint)

    def _as_rule(self, value: Any, start: Token) -> Rule:
        if not isinstance(value, Rule):
            refuse(
                self.text, start.place, expected="a comparison such as x > 3", got="a number, count or ratio"
            )
        return value

    def _as_value(self, value: Any, start: Token) -> Term | Ratio:
        if isinstance(value, Rule):
            refuse(self.text, start.place, expected="a number, a count or a ratio", got="a comparison")
        return value  # type: ignore[no-any-return]

    def _refuse_here(self, expected: str, *, hint: str = "") -> NoReturn:
        refuse(self.text, self.here.place, expected=expected, got=self.here.shown, hint=hint)


def _after(value: Any) -> str:
    """Say what may follow a value."""
    return "'and', 'or', 'xor'" if isinstance(value, Rule) else "a sign such as '+', '/' or '>'"
