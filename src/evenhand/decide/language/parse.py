"""The one parser of rules and weights: a tokenizer and a recursive descent; no part of a text is executed."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from evenhand.decide.language.rule import Rule
from evenhand.decide.language.terms import LINEAR, Ratio, Term, count
from evenhand.decide.language.tokens import LONGEST_TEXT, Token, refuse_text, tokenize, within_limits
from evenhand.decide.language.weights import LARGEST_NUMBER, SMALLEST_NUMBER, Product, Weight
from evenhand.errors import InvalidParameterError, LimitExceededError, RuleError

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[Any, Any], Any]

DEEPEST_TEXT = 40
"""How many parentheses may be nested in one another."""

_LONGEST_WEIGHT = 1_000
_LONGEST_EXPONENT = 3
_LONGEST_DIGITS = 400
_ADDED: dict[str, Function] = {"+": operator.add, "-": operator.sub}
_MULTIPLIED: dict[str, Function] = {"*": operator.mul, "/": operator.truediv}
_COMPARED: dict[str, Function] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_JOINED: tuple[tuple[str, Function], ...] = (
    ("or", operator.or_),
    ("xor", operator.xor),
    ("and", operator.and_),
)
_WEIGHT = "made of columns and numbers with + - * / and brackets"
_WEIGHT_VALUE = "a column, a number from 1e-50 to 1e50, or ("


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
    raw: object = text
    if not isinstance(raw, str):
        got = f"a value of type {type(raw).__name__}"
        raise InvalidParameterError("text", owner="parse", must_be="the text of a rule", got=got)
    if len(text) > LONGEST_TEXT:
        message = (
            f"The text of a rule has at most {LONGEST_TEXT:,} characters. Hint: split it into several rules."
        )
        raise LimitExceededError(message, limit="text")
    return _RuleReader(text, tokenize(text)).read()


def parse_weight(text: object, *, parameter: str = "text", owner: str = "parse_weight") -> Weight:
    """Return the weight of an allotment that a text says.

    The language has columns, which are public, numbers, ``+``, ``-``, ``*``, ``/`` and brackets. Names of
    columns that are no plain words are put in backquotes.

    Parameters
    ----------
    text : str
        The weight, at most 1,000 characters.
    parameter, owner : str
        What a refusal calls the text, and whose parameter it is.

    Raises
    ------
    InvalidParameterError
        If it is anything else; the message has a caret below the column at fault.

    Examples
    --------
    >>> parse_weight("2 * (`exp index` + 1)").text
    '2 * (`exp index` + 1)'
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST_WEIGHT:
        must_be = f"{_WEIGHT}, such as 'students * index', and of at most {_LONGEST_WEIGHT:,} letters"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=text)
    written = text.rstrip()
    try:
        words = tokenize(written, keywords=(), expected=_WEIGHT_VALUE)
        return _ArithmeticReader(written, words).read()  # type: ignore[no-any-return]
    except RuleError as error:
        _, _, marked = str(error).partition("\n")
        hint = f"column {error.column} must hold {error.expected}.\n{marked}"
        raise InvalidParameterError(
            parameter, owner=owner, must_be=_WEIGHT, got="something else", hint=hint
        ) from None


@dataclass
class _ArithmeticReader:
    """Reads sums and products of columns and numbers: a weight. A value is a Product or a Sum."""

    text: str
    words: list[Token]
    at: int = field(default=0)
    depth: int = field(default=0)

    @property
    def here(self) -> Token:
        return self.words[self.at]

    def take(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def read(self) -> Any:
        value = self.read_inside()
        if self.here.kind != "end":
            self.refuse_here(self.after(value, "the end"))
        return value

    def read_inside(self) -> Any:
        """Read what may stand in parentheses."""
        return self.read_sum()

    def read_sum(self) -> Any:
        return self._read_operations(_ADDED, self.read_product)

    def read_product(self) -> Any:
        return self._read_operations(_MULTIPLIED, self.read_factor)

    def _read_operations(self, signs: dict[str, Function], read_part: Callable[[], Any]) -> Any:
        start = self.here
        value = read_part()
        while self.here.is_(*signs):
            self.check_value(value, start)
            sign, start = self.take(), self.here
            right = self.check_value(read_part(), start)
            value = self.apply(signs[sign.text], sign, value, right, start)
        return value

    def read_parenthesis(self) -> Any:
        opened = self.take()
        self.depth += 1
        if self.depth > DEEPEST_TEXT:
            self.refuse_depth(opened)
        value = self.read_inside()
        if not self.here.is_(")"):
            self.refuse_here(self.after(value, ")"), hint=f"'(' was opened at column {opened.place + 1}.")
        self.take()
        self.depth -= 1
        return value

    def read_factor(self) -> Any:
        """Read what may stand beside '*' and '/'."""
        token = self.here
        if token.is_("("):
            return self.read_parenthesis()
        if token.kind == "name":
            return Product(Fraction(1), ((self.take().text, 1),))
        if token.kind != "number":
            self.refuse_here(_WEIGHT_VALUE)
        number = self.read_number(least=SMALLEST_NUMBER, most=LARGEST_NUMBER, expected=_WEIGHT_VALUE)
        touching = not self.text[self.here.place - 1].isspace()
        if touching and self.here.kind in {"name", "number"}:
            refuse_text(self.text, token.place, expected=_WEIGHT_VALUE, got="a number with letters")
        return Product(number, ())

    def read_number(self, *, least: Fraction | None, most: Fraction | None, expected: str) -> Fraction:
        """Read a number; its length is looked at before it is computed."""
        token = self.take()
        digits, _, exponent = token.text.lower().partition("e")
        short = len(exponent.lstrip("+-").lstrip("0")) <= _LONGEST_EXPONENT and len(digits) <= _LONGEST_DIGITS
        value = Fraction(token.text) if short else Fraction(0)
        too_small, too_large = least is not None and value < least, most is not None and value > most
        if not short or not within_limits(value) or too_small or too_large:
            refuse_text(self.text, token.place, expected=expected, got="another number")
        return value

    def refuse_here(self, expected: str, *, hint: str = "") -> NoReturn:
        refuse_text(self.text, self.here.place, expected=expected, got=self.here.message_text, hint=hint)

    def apply(self, function: Function, sign: Token, left: Any, right: Any, start: Token) -> Any:  # noqa: ARG002 - used by rules
        """Return what an operation makes of two values, the second of which begins at `start`."""
        weight = function(left, right)
        factor = abs(weight.factor) if isinstance(weight, Product) else Fraction(1)
        if not SMALLEST_NUMBER <= factor <= LARGEST_NUMBER:
            refuse_text(self.text, start.place, expected=_WEIGHT_VALUE, got="another number")
        return weight

    def check_value(self, value: Any, start: Token) -> Any:  # noqa: ARG002 - used by rules
        """Return a value that may be computed with; refuse another at the place where it begins."""
        return value

    def after(self, value: Any, end: str) -> str:  # noqa: ARG002 - used by rules
        """Say what may follow a value, `end` among it."""
        return f"one of + - * /, or {end}"

    def refuse_depth(self, opened: Token) -> NoReturn:
        expected = f"at most {DEEPEST_TEXT} brackets within one another"
        refuse_text(self.text, opened.place, expected=expected, got="more")


class _RuleReader(_ArithmeticReader):
    """Reads comparisons of sums and products, and what joins them: a rule.

    A value is a Rule, a Term (numbers are terms too) or a Ratio.
    """

    def read(self) -> Rule:
        value = self.read_inside()
        if self.here.kind != "end":
            hint = "there is one ')' too many." if self.here.is_(")") else ""
            self.refuse_here(self.after(value, "the end" if isinstance(value, Rule) else ""), hint=hint)
        if not isinstance(value, Rule):
            self.refuse_here("'>', '>=', '<' or '<=', because a rule compares")
        return value

    def read_inside(self, level: int = 0) -> Any:
        """Read parts joined by 'or', then 'xor', then 'and'; the further down the closer they bind."""
        if level == len(_JOINED):
            return self._read_negation()
        word, join = _JOINED[level]
        start = self.here
        value = self.read_inside(level + 1)
        while self.here.is_(word):
            left = self._check_rule(value, start)
            sign, start = self.take(), self.here
            right = self._check_rule(self.read_inside(level + 1), start)
            value = self.apply(join, sign, left, right, start)
        return value

    def _read_negation(self) -> Any:
        turns = 0
        while self.here.is_("not"):
            self.take()
            turns += 1
        start = self.here
        value = self._read_comparison()
        if turns:
            rule = self._check_rule(value, start)
            return ~rule if turns % 2 else rule
        return value

    def _read_comparison(self) -> Any:
        start = self.here
        left = self.read_sum()
        if not self.here.is_(*_COMPARED):
            return left
        self.check_value(left, start)
        sign, start = self.take(), self.here
        right = self.check_value(self.read_sum(), start)
        if self.here.is_(*_COMPARED):
            self.refuse_here("'and', 'or', 'xor' or the end", hint="write a < b and b < c for a chain.")
        return self.apply(_COMPARED[sign.text], sign, left, right, start)

    def read_factor(self) -> Any:
        """Read a value with any signs before it."""
        minus, first = False, self.here
        while self.here.is_("+", "-"):
            minus ^= self.take().text == "-"
        start = self.here
        value = self._read_value()
        if start is not first:
            self.check_value(value, start)
        return -value if minus else value

    def _read_value(self) -> Any:
        token = self.here
        if token.kind == "number":
            expected = "0, or a number from 1e-100 to 1e100 of at most 300 digits"
            return Term((), self.read_number(least=None, most=None, expected=expected))
        if token.kind == "name":
            return count(self.take().text)
        if token.is_("signed"):
            return self._read_signed_ratio()
        if token.is_("("):
            return self.read_parenthesis()
        hint = "a column of that name stands in backquotes." if token.kind == "word" else ""
        return self.refuse_here("a number, a name or '('", hint=hint)

    def _read_signed_ratio(self) -> Ratio:
        self.take()
        start = self.here
        if not start.is_("("):
            self.refuse_here("'(' after 'signed'", hint="a column of that name stands in backquotes.")
        value = self.read_parenthesis()
        if not isinstance(value, Ratio):
            refuse_text(self.text, start.place, expected="a ratio such as signed(x/y)", got="something else")
        return replace(value, nonpositive="signed")

    def apply(self, function: Function, sign: Token, left: Any, right: Any, start: Token) -> Any:  # noqa: ARG002 - used by weights
        """Return what an operation makes; what it refuses is said at its sign."""
        try:
            return function(left, right)
        except InvalidParameterError as error:
            expected = f"{error.must_be} beside '{sign.text}'"
            hint = LINEAR if error.owner.startswith("'") else ""
            refuse_text(self.text, sign.place, expected=expected, got="something else", hint=hint)

    def after(self, value: Any, end: str) -> str:
        follows = "'and', 'or', 'xor'" if isinstance(value, Rule) else "a sign such as '+', '/' or '>'"
        shown = f"'{end}'" if end == ")" else end
        return f"{follows} or {shown}" if end else follows

    def refuse_depth(self, opened: Token) -> NoReturn:
        message = f"A rule nests at most {DEEPEST_TEXT} parentheses; column {opened.place + 1} is deeper."
        raise LimitExceededError(message, limit="depth")

    def _check_rule(self, value: Any, start: Token) -> Rule:
        if not isinstance(value, Rule):
            expected, got = "a comparison such as x > 3", "a number, count or ratio"
            refuse_text(self.text, start.place, expected=expected, got=got)
        return value

    def check_value(self, value: Any, start: Token) -> Any:
        if isinstance(value, Rule):
            refuse_text(self.text, start.place, expected="a number, a count or a ratio", got="a comparison")
        return value
