"""Rules: comparisons of counts and ratios, composed by and, or, exclusive or and not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from evenhand.decide.language.predicates import read_input_columns
from evenhand.errors import InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.decide.language.predicates import Predicate

    Truths = npt.NDArray[np.bool_]

__all__ = ["DEEPEST", "MOST_COMPARISONS", "Operation", "Rule"]

Operation = Literal["compare", "not", "and", "xor", "or"]

DEEPEST = 30
"""How many operations may be nested in one another; a ratio counts as 1, a signed ratio as 2."""

MOST_COMPARISONS = 400
"""How many comparisons a rule may hold; one of a ratio counts as 2, one of a signed ratio as 4."""

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
        """How many half-spaces decide it."""

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
        return self._joined("and", other)

    def __or__(self, other: Rule) -> Rule:
        return self._joined("or", other)

    def __xor__(self, other: Rule) -> Rule:
        return self._joined("xor", other)

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

    def _joined(self, operation: Operation, other: Rule) -> Rule:
        if not isinstance(other, Rule):
            return NotImplemented
        parts: list[Rule] = []
        for rule in (self, other):
            parts.extend(rule.parts if rule.operation == operation else (rule,))
        return Rule(operation, tuple(parts))

    # --- what it is made of ---------------------------------------------------------------------

    @cached_property
    def depth(self) -> int:
        """How many operations are nested in one another once ratios are multiplied out."""
        if self.comparison is not None:
            return self.comparison.half_spaces // 2
        return 1 + max(part.depth for part in self.parts)

    @cached_property
    def half_spaces(self) -> int:
        """How many comparisons there are once ratios are multiplied out, each as often as it is written."""
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
        return reduce(lambda whole, part: whole._joined(self.operation, part), parts)  # noqa: SLF001 - its own kind

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
        return self._decided(dict(zip(self.predicates, arrays, strict=True)))

    def _decided(self, truths: Mapping[Predicate, Truths]) -> Truths:
        if self.comparison is not None:
            return reduce(np.logical_or, (truths[predicate] for predicate in self.comparison.predicates))
        parts = [part._decided(truths) for part in self.parts]  # noqa: SLF001 - its own kind
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
