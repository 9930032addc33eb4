r"""Tell how often composed rules err, and how unevenly, from what their parts do.

A predicate errs for an entity when noise turns its answer round; the probability of that is its *error*.
These are the statements of [1]_ about thresholds (Theorem 4) and about predicates joined by and, or and xor
(Lemmas 1 to 3, Theorems 5 to 8, Corollaries 3 and 6), with the conditions they need, which are checked.

The Lemmas and Theorems take the noise of the two predicates to be independent. It is not where they read the
same input: the language rule reads one count three times, and independence is off by up to 12 points there.
:func:`error_limits` holds whatever the predicates share, and
:func:`~evenhand.decide.bias` computes the error itself.

What is said here about fairness bounds is about bounds: Corollary 6 says that the bound of a composition is
above both alphas, not that the composition treats entities more unevenly.

References
----------
.. [1] Fioretto, Tran, Van Hentenryck (2021). Decision making with differential privacy under a fairness
       lens. IJCAI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from evenhand._validate import one_of
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]
    Flags = NDArray[np.bool_]

__all__ = [
    "OPERATORS",
    "ErrorRange",
    "alpha_bound",
    "alpha_bound_excess",
    "check_independent",
    "composed_error",
    "error_limits",
    "errors_by_truth",
    "most_erring_truth",
    "threshold_bound",
]

Operator = Literal["and", "or", "xor"]
OPERATORS: tuple[Operator, ...] = ("and", "or", "xor")
"""How two predicates may be joined."""

_HALF = 0.5
_TRUTHS = ((True, True), (True, False), (False, True), (False, False))
_ROUNDING = 1e-12


@dataclass(frozen=True)
class ErrorRange:
    r"""The least and the greatest error of a predicate over the entities.

    The bounds on compositions need a mechanism that is not trivial: no error above 1/2. A linear predicate
    with symmetric noise has none; a ratio whose denominator may come out at 0 or below can.

    Parameters
    ----------
    least, greatest : float
        Errors from 0 to 1/2, :math:`\underline B` and :math:`\overline B` in the paper.

    Examples
    --------
    >>> ErrorRange.of([0.1, 0.4, 0.25])
    ErrorRange(least=0.1, greatest=0.4)
    >>> f"{ErrorRange(least=0.1, greatest=0.4).alpha:.1f}"
    '0.3'
    """

    least: float
    greatest: float

    def __post_init__(self) -> None:
        for name in ("least", "greatest"):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if not number or not 0 <= value <= _HALF:
                must_be = "a probability of at most 1/2, as the bounds on compositions need"
                raise InvalidParameterError(name, owner="ErrorRange", must_be=must_be, got=value)
            object.__setattr__(self, name, float(value))
        if self.least > self.greatest:
            must_be = "at most 'greatest'"
            raise InvalidParameterError("least", owner="ErrorRange", must_be=must_be, got=self.least)

    @property
    def alpha(self) -> float:
        """The greatest error minus the least."""
        return self.greatest - self.least

    @classmethod
    def of(cls, errors: ArrayLike) -> Self:
        """Return the range of the errors of some entities."""
        array = _probabilities("errors", errors, owner="ErrorRange.of", most=_HALF)
        if not array.size:
            must_be = "the errors of at least one entity"
            raise InvalidParameterError("errors", owner="ErrorRange.of", must_be=must_be, got="none")
        return cls(least=float(array.min()), greatest=float(array.max()))


def threshold_bound(law: Law) -> float:
    r"""Return what the error of a threshold on one count is at most, and so its alpha too (Theorem 4).

    It is 1/2 for symmetric noise. Whole counts with whole noise :math:`\eta` do better, since noise of 0
    changes no answer: :math:`\Pr[\eta \ge 1] = (1 - \Pr[\eta = 0]) / 2`. The bound is met by a count at
    the threshold; for real noise and ``>=`` it is 1/2 exactly there.

    Parameters
    ----------
    law : Law
        The noise; a law of :mod:`evenhand.privacy.laws`.

    Examples
    --------
    >>> from evenhand.privacy.laws import DiscreteLaplace, Laplace
    >>> threshold_bound(Laplace(2)), round(threshold_bound(DiscreteLaplace(2)), 4)
    (0.5, 0.3775)
    """
    if not hasattr(law, "support"):
        got = f"a value of type {type(law).__name__}"
        raise InvalidParameterError("law", owner="threshold_bound", must_be="a Law", got=got)
    return float(law.sf(0)) if law.support == "integers" else _HALF


def composed_error(
    operator: Operator, first: ArrayLike, second: ArrayLike, *, first_true: ArrayLike, second_true: ArrayLike
) -> Values:
    r"""Return the error of two predicates joined, from their errors and their true answers (Lemmas 1 to 3).

    With errors :math:`a` and :math:`b`:

    ======== =================== =================== ==================
    truth    and                 or                  xor
    ======== =================== =================== ==================
    both     :math:`a + b - ab`  :math:`ab`          :math:`a + b - 2ab`
    first    :math:`(1 - a) b`   :math:`a (1 - b)`   the same
    second   :math:`a (1 - b)`   :math:`(1 - a) b`   the same
    neither  :math:`ab`          :math:`a + b - ab`  the same
    ======== =================== =================== ==================

    **Condition.** The noise of the two predicates is independent, which numbers cannot show: ask
    :func:`check_independent` with the rules, or use :func:`error_limits`.

    Parameters
    ----------
    operator : {"and", "or", "xor"}
        How the predicates are joined.
    first, second : array
        Their errors, one for each entity.
    first_true, second_true : array of bool
        Their answers on the true counts.

    Examples
    --------
    >>> composed_error("and", [0.1, 0.1], [0.2, 0.2], first_true=[True, False], second_true=[True, True])
    array([0.28, 0.08])
    """
    a, b, first_holds, second_holds = _inputs(
        operator, first, second, first_true, second_true, owner="composed_error"
    )
    if operator == "xor":
        return (a + b - 2 * a * b)[()]
    cases = [(1 - a) * b, a * (1 - b), a * b]
    errors: Values = np.select(
        [first_holds & ~second_holds, second_holds & ~first_holds, ~first_holds & ~second_holds],
        cases,
        default=a + b - a * b,
    )
    return errors[()]


def error_limits(
    operator: Operator, first: ArrayLike, second: ArrayLike, *, first_true: ArrayLike, second_true: ArrayLike
) -> tuple[Values, Values]:
    r"""Return what the error of two predicates joined is at least and at most, whatever they share.

    These are the limits of Fréchet: the probability that both of two events happen is from
    :math:`\max(0, a + b - 1)` to :math:`\min(a, b)`. No independence is assumed. Parameters as in
    :func:`composed_error`.

    Returns
    -------
    low, high : arrays

    Examples
    --------
    >>> low, high = error_limits("or", 0.1, 0.2, first_true=False, second_true=False)
    >>> f"{low:.2f} {high:.2f}"
    '0.20 0.30'
    """
    a, b, first_holds, second_holds = _inputs(
        operator, first, second, first_true, second_true, owner="error_limits"
    )
    if operator == "xor":
        return np.abs(a - b)[()], np.minimum(a + b, 2 - a - b)[()]
    # The joined answer errs if the first event and the second happen, or for two true ones if either does.
    left, right = np.where(first_holds, 1 - a, a), np.where(second_holds, 1 - b, b)  # each comes out true
    both_low, both_high = np.maximum(0.0, left + right - 1), np.minimum(left, right)
    both = first_holds & second_holds
    return np.where(both, 1 - both_high, both_low)[()], np.where(both, 1 - both_low, both_high)[()]


def alpha_bound(operator: Operator, first: ErrorRange, second: ErrorRange) -> float:
    r"""Return a bound on alpha of two predicates joined, from the ranges of their errors (Theorems 5, 6).

    .. math:: \overline B^1 + \overline B^2 - \overline B^1 \overline B^2 - \underline B^1 \underline B^2,
              \qquad \alpha_1 (1 - 2 \underline B^2) + \alpha_2 (1 - 2 \underline B^1) - 2 \alpha_1 \alpha_2

    for *and* and *or*, and for *xor*. Two predicates that err everywhere alike err everywhere alike under
    xor (Corollary 3); under the others they need not.

    **Conditions.** Independent noise (see :func:`check_independent`) and no error above 1/2, which
    :class:`ErrorRange` makes sure of.

    Notes
    -----
    (17) of the paper is this bound for xor. Its step (20b) has two signs wrong,
    :math:`- \underline B^1 + \underline B^2 - 2 \underline B^1 \underline B^2` in place of
    :math:`- \underline B^1 - \underline B^2 + 2 \underline B^1 \underline B^2`. (10) is right; its step (21b)
    for Corollary 6 leaves out :math:`- 2 \underline B^1 \underline B^2`, see :func:`alpha_bound_excess`.

    Parameters
    ----------
    operator : {"and", "or", "xor"}
        How the predicates are joined.
    first, second : ErrorRange
        The errors of each over the entities.

    Examples
    --------
    >>> first, second = ErrorRange(least=0.1, greatest=0.4), ErrorRange(least=0.2, greatest=0.3)
    >>> f"{alpha_bound('xor', first, second):.2f} {alpha_bound('and', first, second):.2f}"
    '0.20 0.56'
    """
    chosen = one_of("operator", operator, OPERATORS, owner="alpha_bound")
    _ranges(first, second, owner="alpha_bound")
    if chosen == "xor":
        plain = first.alpha * (1 - 2 * second.least) + second.alpha * (1 - 2 * first.least)
        return plain - 2 * first.alpha * second.alpha
    joint = first.greatest + second.greatest - first.greatest * second.greatest
    return joint - first.least * second.least


def alpha_bound_excess(first: ErrorRange, second: ErrorRange) -> float:
    r"""Return by how much the bound for *and* and *or* is above the greater alpha of the two (Corollary 6).

    .. math:: \alpha - \alpha_1 = \underline B^1 (1 - \overline B^2) + \alpha_2 (1 - \alpha_1)
              + \underline B^2 (1 - \overline B^1) \ge 0

    and the same for :math:`\alpha_2`. It is above 0 unless one predicate never errs and the other has a least
    error of 0. This is a statement about the bound: the alpha that a composition has can be below both.

    Examples
    --------
    >>> f"{alpha_bound_excess(ErrorRange(least=0.1, greatest=0.4), ErrorRange(least=0.2, greatest=0.3)):.2f}"
    '0.26'
    """
    _ranges(first, second, owner="alpha_bound_excess")
    over_first = first.least * (1 - second.greatest) + second.alpha * (1 - first.alpha)
    over_second = second.least * (1 - first.greatest) + first.alpha * (1 - second.alpha)
    return min(
        over_first + second.least * (1 - first.greatest), over_second + first.least * (1 - second.greatest)
    )


def errors_by_truth(operator: Operator, first: float, second: float) -> dict[tuple[bool, bool], float]:
    """Return the error of two predicates joined for each pair of true answers, the greatest first.

    Parameters
    ----------
    operator : {"and", "or", "xor"}
        How the predicates are joined.
    first, second : float
        Their errors.

    Examples
    --------
    >>> for truth, error in errors_by_truth("and", 0.1, 0.2).items():
    ...     print(truth, f"{error:.2f}")
    (True, True) 0.28
    (True, False) 0.18
    (False, True) 0.08
    (False, False) 0.02
    """
    first_holds, second_holds = np.array(_TRUTHS).T
    errors = composed_error(
        operator, np.full(4, first), np.full(4, second), first_true=first_holds, second_true=second_holds
    ).tolist()
    return dict(sorted(zip(_TRUTHS, errors, strict=True), key=lambda pair: -pair[1]))


def most_erring_truth(operator: Operator, first: ArrayLike, second: ArrayLike) -> tuple[bool, bool] | None:
    r"""Return the true answers with which two predicates joined err most (Theorems 7 and 8).

    Both true for *and*, both false for *or*: whoever must meet two conditions and meets both is refused most
    often, and whoever may meet either of two and meets neither is granted most often. No pair errs most for
    *xor*: None.

    **Conditions.** Each predicate errs for all entities alike (the mechanism is fair with respect to both),
    which is checked, and independent noise. The theorems need no bound of 1/2 on the errors. Without the
    first condition the entities with other answers may err more, for they may err more in one predicate.

    Parameters
    ----------
    operator : {"and", "or", "xor"}
        How the predicates are joined.
    first, second : array
        Their errors, one for each entity.

    Examples
    --------
    >>> most_erring_truth("or", [0.1, 0.1], [0.2, 0.2])
    (False, False)
    """
    chosen = one_of("operator", operator, OPERATORS, owner="most_erring_truth")
    for name, errors in (("first", first), ("second", second)):
        array = _probabilities(name, errors, owner="most_erring_truth")
        if array.size and np.ptp(array) > _ROUNDING:
            must_be = "the same error for every entity, as Theorems 7 and 8 need"
            hint = "compare the entities themselves with composed_error(...)."
            raise InvalidParameterError(
                name, owner="most_erring_truth", must_be=must_be, got="errors that differ", hint=hint
            )
    return {"and": (True, True), "or": (False, False), "xor": None}[chosen]


def check_independent(first: Any, second: Any) -> None:
    """Refuse two rules that read the same input, since their noise is not independent.

    Parameters
    ----------
    first, second : Rule
        The two parts of a composition.
    """
    shared = sorted(set(first.inputs) & set(second.inputs))
    if shared:
        listed = ", ".join(f"'{name}'" for name in shared)
        hint = "error_limits(...) holds whatever is shared, and bias(...) gives the error itself."
        raise InvalidParameterError(
            "second",
            owner="check_independent",
            must_be="a rule that reads none of the inputs of 'first'",
            got=f"a rule that also reads {listed}",
            hint=hint,
        )


def _ranges(first: object, second: object, *, owner: str) -> None:
    for name, value in (("first", first), ("second", second)):
        if not isinstance(value, ErrorRange):
            got = f"a value of type {type(value).__name__}"
            hint = "ErrorRange.of(errors) makes one."
            raise InvalidParameterError(name, owner=owner, must_be="an ErrorRange", got=got, hint=hint)


def _inputs(
    operator: Operator,
    first: ArrayLike,
    second: ArrayLike,
    first_true: ArrayLike,
    second_true: ArrayLike,
    *,
    owner: str,
) -> tuple[Values, Values, Flags, Flags]:
    """Return errors and true answers of one shape; for "or" the answers of the predicates turned round.

    A or B is not (not A and not B), and to err on A is to err on not A.
    """
    chosen = one_of("operator", operator, OPERATORS, owner=owner)
    a, b = _probabilities("first", first, owner=owner), _probabilities("second", second, owner=owner)
    flags = []
    for name, value in (("first_true", first_true), ("second_true", second_true)):
        array = np.asarray(value)
        if array.dtype != np.bool_:
            raise InvalidParameterError(name, owner=owner, must_be="true or false", got="something else")
        flags.append(~array if chosen == "or" else array)
    try:
        return tuple(np.broadcast_arrays(a, b, *flags))  # type: ignore[return-value]
    except ValueError as error:
        must_be = "as long as the other arguments"
        raise InvalidParameterError("first", owner=owner, must_be=must_be, got="another length") from error


def _probabilities(name: str, values: ArrayLike, *, owner: str, most: float = 1.0) -> Values:
    array = np.asarray(values)
    fine = array.dtype.kind in "fiu" and bool(np.all((array >= 0) & (array <= most)))
    if not fine:
        must_be = "probabilities" if most == 1 else "probabilities of at most 1/2, as the bounds need"
        raise InvalidParameterError(name, owner=owner, must_be=must_be, got="something else")
    return array.astype(np.float64)
