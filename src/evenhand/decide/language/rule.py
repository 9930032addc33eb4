"""Rules: comparisons of counts and ratios, composed by and, or, exclusive or and not.

Every comparison has a normal form, linear predicates, and an exact test whether they hold: whole numbers are
multiplied out in 64 bits where nothing can wrap around. Everything else is computed in floating point with a
bound on its error, and the few sums closer to the bound than that error are computed again as rationals: no
rounding decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from evenhand._validate import require_true_values
from evenhand.decide.language.tokens import write_number, write_sum
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    Truths = npt.NDArray[np.bool_]
    Terms = Sequence[tuple[str, Fraction]]

Operation = Literal["compare", "not", "and", "xor", "or"]

DEEPEST = 30
"""How many operations may be nested in one another; a ratio counts as 1, a signed ratio as 2."""

MOST_COMPARISONS = 400
"""How many comparisons a rule may hold; one of a ratio counts as 2, one of a signed ratio as 4."""

_OWNER = "Rule.holds"
_LARGEST = 1 << 62
_ROUNDING = 2.0**-50  # eight times the unit of rounding, for each of the operations of one term
_STRENGTH = {"or": 1, "xor": 2, "and": 3, "not": 4, "compare": 5}


class Compared(Protocol):
    """A comparison that a rule is made of: :class:`~evenhand.decide.language.terms.CountComparison`."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the counts."""

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """The predicates one of which must hold."""

    @property
    def half_spaces(self) -> int:
        """Return how many half-spaces decide it."""

    def linear(self) -> Rule:
        """Return the same decision by half-spaces alone."""


@dataclass(frozen=True, repr=False)
class Rule:
    """A decision that follows from counts: yes or no for each entity.

    Rules come from comparisons, :func:`~evenhand.decide.language.terms.count` and
    :func:`~evenhand.decide.language.terms.ratio`, or from a text,
    :func:`~evenhand.decide.language.parse.parse`, and are composed by ``&``, ``|``, ``^`` and ``~``. A rule
    prints as the text that parses back to it.

    Parameters
    ----------
    operation : {"compare", "not", "and", "xor", "or"}
        How the parts are put together.
    parts : tuple of Rule
        What is put together; none in a comparison.
    comparison : Comparison, optional
        The comparison itself.

    Examples
    --------
    >>> from evenhand.decide.language.terms import count, ratio
    >>> rule = ((ratio("sp", "s") > 0.05) | (count("sp") > 10_000)) & (ratio("spe", "sp") > 0.0131)
    >>> rule
    (sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131
    >>> rule.inputs
    ('sp', 's', 'spe')
    >>> rule.holds({"s": [1000, 1000, 1000], "sp": [60, 60, 50], "spe": [6, 0, 5]}).tolist()
    [True, False, False]
    """

    operation: Operation
    parts: tuple[Rule, ...] = ()
    comparison: Compared | None = None

    def __post_init__(self) -> None:
        alone = {"compare": 0, "not": 1}.get(self.operation)
        whole = len(self.parts) > 1 if alone is None else len(self.parts) == alone
        known = self.operation in _STRENGTH and (self.comparison is not None) == (self.operation == "compare")
        if not (known and whole):
            must_be = "'compare' with a comparison, 'not' with one part, or 'and', 'xor' or 'or' with several"
            raise InvalidParameterError("operation", owner="Rule", must_be=must_be, got=self.operation)
        if self.depth > DEEPEST:
            message = f"A rule nests at most {DEEPEST} operations. Hint: write it with fewer levels."
            raise LimitExceededError(message, limit="depth")
        if self.half_spaces > MOST_COMPARISONS:
            message = f"A rule holds at most {MOST_COMPARISONS} comparisons. Hint: split it into several."
            raise LimitExceededError(message, limit="comparisons")

    # --- composing ------------------------------------------------------------------------------

    def __and__(self, other: Rule) -> Rule:
        return self._join("and", other)

    def __or__(self, other: Rule) -> Rule:
        return self._join("or", other)

    def __xor__(self, other: Rule) -> Rule:
        return self._join("xor", other)

    def __invert__(self) -> Rule:
        return self.parts[0] if self.operation == "not" else Rule("not", (self,))

    def __bool__(self) -> bool:
        raise InvalidParameterError(
            "rule",
            owner="bool",
            must_be="applied to counts before it is true or false",
            got="a rule without counts",
            hint="compose rules by & | ^ ~, in place of 'and', 'or', 'not' and chains such as 0 < x < 5; "
            "ask rule.holds(columns) for decisions.",
        )

    def _join(self, operation: Operation, other: Rule) -> Rule:
        if not isinstance(other, Rule):
            return NotImplemented
        parts: list[Rule] = []
        for rule in (self, other):
            parts.extend(rule.parts if rule.operation == operation else (rule,))
        return Rule(operation, tuple(parts))

    # --- what it is made of ---------------------------------------------------------------------

    @cached_property
    def depth(self) -> int:
        """Return how many operations are nested in one another once ratios are multiplied out."""
        if self.comparison is not None:
            return self.comparison.half_spaces // 2
        return 1 + max(part.depth for part in self.parts)

    @cached_property
    def half_spaces(self) -> int:
        """Return the number of comparisons once ratios are multiplied out, each as often as it is written."""
        if self.comparison is not None:
            return self.comparison.half_spaces
        return sum(part.half_spaces for part in self.parts)

    @cached_property
    def comparisons(self) -> tuple[Compared, ...]:
        """The comparisons in the order in which they are written, each as often as it is."""
        if self.comparison is not None:
            return (self.comparison,)
        return tuple(comparison for part in self.parts for comparison in part.comparisons)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the counts that the rule looks at, in the order in which they are written."""
        return tuple(dict.fromkeys(name for comparison in self.comparisons for name in comparison.inputs))

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """The distinct linear predicates that decide, in order; see :meth:`evaluate`.

        A comparison has one, or two if it is one of a signed ratio.
        """
        all_predicates = (predicate for comparison in self.comparisons for predicate in comparison.predicates)
        return tuple(dict.fromkeys(all_predicates))

    def linear(self) -> Rule:
        """Return the same decision by half-spaces alone: the sign of a denominator is a comparison too.

        Every predicate of what is returned is a comparison of a weighted sum with a number, and none has
        a ``needs_positive``. The two rules agree on all counts.

        >>> from evenhand.decide.language.terms import ratio
        >>> (ratio("sp", "s") > 0.05).linear()
        20*sp - s > 0 and s > 0
        """
        if self.comparison is not None:
            return self.comparison.linear()
        parts = [part.linear() for part in self.parts]
        if self.operation == "not":
            return ~parts[0]
        return reduce(lambda whole, part: whole._join(self.operation, part), parts)  # noqa: SLF001 - its own kind

    # --- deciding -------------------------------------------------------------------------------

    def holds(self, columns: Mapping[str, Any]) -> Truths:
        """Tell where the rule holds. Ratios are multiplied out, so that no rounding decides.

        Parameters
        ----------
        columns : mapping of str to array
            The inputs by name; whole numbers or finite floats, of shapes that broadcast.
        """
        arrays = read_input_columns(columns, self.inputs)
        return self.evaluate([predicate.holds(arrays) for predicate in self.predicates])

    def evaluate(self, truths: Sequence[npt.ArrayLike] | npt.NDArray[np.bool_]) -> Truths:
        """Tell where the rule holds from what is known of its predicates.

        Parameters
        ----------
        truths : sequence of arrays of bool
            For each of :attr:`predicates`, where it holds; where it has a ``needs_positive``, that is where
            both hold. Shapes must broadcast.
        """
        arrays = [np.asarray(array) for array in truths]
        fits = len(arrays) == len(self.predicates) and all(array.dtype == np.bool_ for array in arrays)
        try:
            np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError:
            fits = False
        if not fits:
            must_be = f"{len(self.predicates)} arrays of bool of one shape, one for each predicate"
            raise InvalidParameterError("truths", owner="Rule.evaluate", must_be=must_be, got="others")
        return self._decide(dict(zip(self.predicates, arrays, strict=True)))

    def _decide(self, truths: Mapping[Predicate, Truths]) -> Truths:
        if self.comparison is not None:
            return reduce(np.logical_or, (truths[predicate] for predicate in self.comparison.predicates))
        parts = [part._decide(truths) for part in self.parts]  # noqa: SLF001 - its own kind
        if self.operation == "not":
            return np.logical_not(parts[0])
        join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[self.operation]
        return reduce(join, parts)

    # --- showing --------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.comparison is not None:
            return repr(self.comparison)
        strength = _STRENGTH[self.operation]
        texts = [
            f"({part!r})" if _STRENGTH[part.operation] <= strength else repr(part) for part in self.parts
        ]
        return f"not {texts[0]}" if self.operation == "not" else f" {self.operation} ".join(texts)


# --- linear predicates --------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Predicate:
    r"""A half-space of the inputs: :math:`a \cdot x > c`, or :math:`\ge c`.

    The coefficients are whole numbers without a common divisor, so two comparisons that say the same are
    equal here; they are Fractions all the same, as the bound is.

    Parameters
    ----------
    terms : tuple of (str, Fraction)
        The inputs and their coefficients :math:`a`, none of which is 0.
    bound : Fraction
        The number :math:`c`.
    strict : bool
        True for ``>``, False for ``>=``.
    needs_positive : Predicate, optional
        The denominator of a ratio: the predicate is false unless this holds as well.

    Examples
    --------
    >>> Predicate.of({"sp": 1, "s": Fraction(-1, 20)}, 0, strict=True)
    20*sp - s > 0
    """

    terms: tuple[tuple[str, Fraction], ...]
    bound: Fraction
    strict: bool
    needs_positive: Predicate | None = None

    @classmethod
    def of(
        cls,
        coefficients: Mapping[str, Fraction | int],
        bound: Fraction | int,
        *,
        strict: bool,
        needs_positive: Predicate | None = None,
    ) -> Predicate:
        """Return the predicate in its normal form; coefficients of 0 are left out."""
        kept = {name: Fraction(coefficient) for name, coefficient in coefficients.items() if coefficient}
        scale = _to_whole(kept.values())
        terms = tuple((name, coefficient * scale) for name, coefficient in kept.items())
        return cls(terms, Fraction(bound) * scale, strict, needs_positive)

    @property
    def coefficients(self) -> Mapping[str, Fraction]:
        """The coefficients by the name of their input."""
        return MappingProxyType(dict(self.terms))

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The coefficients and the bound, those of the denominator among them."""
        below = self.needs_positive.numbers if self.needs_positive is not None else ()
        return (*(coefficient for _, coefficient in self.terms), self.bound, *below)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, those of the denominator among them."""
        below = self.needs_positive.inputs if self.needs_positive is not None else ()
        return tuple(dict.fromkeys([*(name for name, _ in self.terms), *below]))

    @property
    def half_space(self) -> Predicate:
        """The same comparison without the condition on the denominator."""
        return Predicate(self.terms, self.bound, self.strict)

    def holds(self, columns: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Tell where the predicate holds, exactly: no rounding decides.

        Parameters
        ----------
        columns : mapping of str to array
            The inputs by name; whole numbers or finite floats, of shapes that broadcast.
        """
        above = exceeds(self.terms, self.bound, columns, strict=self.strict)
        return above if self.needs_positive is None else above & self.needs_positive.holds(columns)

    def __repr__(self) -> str:
        sign = ">" if self.strict else ">="
        alone = f"{write_sum(self.terms)} {sign} {write_number(self.bound)}"
        return alone if self.needs_positive is None else f"{alone} and {self.needs_positive!r}"


def _to_whole(values: Iterable[Fraction]) -> Fraction:
    """Return the factor > 0 that makes whole numbers without a common divisor of these."""
    values = tuple(values)
    if not values:
        return Fraction(1)
    below = math.lcm(*(value.denominator for value in values))
    return Fraction(below, math.gcd(*(int(value * below) for value in values)))


def exceeds(
    terms: Terms, bound: Fraction, columns: Mapping[str, Any], *, strict: bool
) -> npt.NDArray[np.bool_]:
    """Tell where the sum of coefficient times column is > `bound`, or >= where not `strict`."""
    arrays = [read_input_column(columns, name) for name, _ in terms]
    whole = math.lcm(bound.denominator, *(coefficient.denominator for _, coefficient in terms))
    weights = [int(coefficient * whole) for _, coefficient in terms]
    least = int(bound * whole)
    if all(array.dtype.kind in "iu" for array in arrays) and _fits(weights, arrays, least):
        total = np.zeros((), dtype=np.int64)
        for weight, array in zip(weights, arrays, strict=True):
            total = total + np.int64(weight) * array.astype(np.int64)
        return np.asarray(total > least if strict else total >= least)
    signs = _signs(terms, bound, arrays)
    return np.asarray(signs > 0 if strict else signs >= 0)


def read_input_column(columns: Mapping[str, Any], name: str) -> npt.NDArray[Any]:
    """Return one input as an array of whole numbers or finite floats."""
    try:
        raw = columns[name]
    except (KeyError, IndexError, TypeError):
        raise ColumnNotFoundError(name, _names(columns), place="among the columns") from None
    require_true_values(raw, name="columns", owner=_OWNER)
    try:
        array = np.asarray(raw)
    except ValueError:  # lists of several lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        must_be = f"columns of numbers without missing or infinite ones; '{name}' is not"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got="others")
    return array


def read_input_columns(columns: Mapping[str, Any], names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs as arrays whose shapes broadcast."""
    arrays = {name: read_input_column(columns, name) for name in names}
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        must_be, got = "columns of one length", "several lengths"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=got) from None
    return arrays


def _names(columns: Any) -> list[str]:
    try:
        return [str(name) for name in columns]
    except TypeError:
        return []


def _fits(weights: list[int], arrays: list[npt.NDArray[Any]], bound: int) -> bool:
    """Return whether no sum or bound can leave 64 bits."""
    largest = [max(-int(array.min()), int(array.max()), 1) if array.size else 1 for array in arrays]
    total = sum(abs(weight) * size for weight, size in zip(weights, largest, strict=True))
    return max(total, abs(bound), *map(abs, weights), 0) < _LARGEST


def _signs(terms: Terms, bound: Fraction, arrays: list[npt.NDArray[Any]]) -> npt.NDArray[np.int8]:
    """Return the sign of the sum minus the bound; what floating point cannot tell, as rationals."""
    total = np.full(np.broadcast_shapes(*(array.shape for array in arrays)), -_nearest_float(bound))
    size = np.abs(total)
    with np.errstate(over="ignore", invalid="ignore"):
        for (_, weight), array in zip(terms, arrays, strict=True):
            product = _nearest_float(weight) * array.astype(np.float64)
            total, size = total + product, size + np.abs(product)
        error = size * (_ROUNDING * (len(terms) + 1)) + 1e-290
        clear = np.abs(total) > error
        clear &= np.isfinite(size)
    signs = np.where(clear, np.sign(total), 0).astype(np.int8)
    unclear = np.nonzero(~clear)
    exactly = [np.broadcast_to(array, total.shape)[unclear].tolist() for array in arrays]
    rows = list(zip(*exactly, strict=True))
    settled = {row: _exact_sign(terms, bound, row) for row in set(rows)}  # clamped counts are 0 over and over
    signs[unclear] = [settled[row] for row in rows]
    return signs


def _nearest_float(value: Fraction) -> float:
    """Return the nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _exact_sign(terms: Terms, bound: Fraction, values: Sequence[float]) -> int:
    total = sum((weight * Fraction(value) for (_, weight), value in zip(terms, values, strict=True)), -bound)
    return (total > 0) - (total < 0)
