"""From shares and outcome rates to the strategy that reports several attributes by the fairest channel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from evenhand._validate import one_of
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import STRATEGIES
from evenhand.collect.joint.combined_optimal import MOST_PRODUCT_CELLS, CombinedOptimal, check_product
from evenhand.collect.joint.independent import Independent, Single
from evenhand.collect.joint.sampled import Sampled
from evenhand.collect.joint.split import split_budget
from evenhand.collect.joint.split_fair import fair_epsilon
from evenhand.collect.protocols.grr import GRR
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.collect.protocols.base import Protocol

__all__ = ["epsilons_for", "optimal_strategy"]

_OWNER = "optimal_strategy"
_ROUNDING = 1e-6  # what the last digits of a solved matrix may add to its unfairness


def optimal_strategy(
    sizes: Mapping[str, int],
    *,
    epsilon: Number,
    outcomes: GroupOutcomes,
    protected: str | None = None,
    strategy: str = "auto",
    split: Any = "optimal",
    target: Number | None = None,
    **options: Any,
) -> Strategy:
    """Return a strategy in which the protected attribute is reported by the fairest channel.

    =================  ====================================================================================
    strategy           what is reported
    =================  ====================================================================================
    ``single``         the protected column, by :class:`Optimal`; the others stay in the clear
    ``independent``    the protected column by :class:`Optimal`, each other by :class:`GRR`
    ``combined``       the combination of all columns, by one :class:`Optimal`; at most 64 combinations
    ``auto``           ``combined`` where there are at most 64 combinations and `outcomes` are theirs, for one
                       channel then serves all columns; else ``independent``
    =================  ====================================================================================

    Parameters
    ----------
    sizes : mapping of str to int
        How many values each column has.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of a person's whole report, > 0.
    outcomes : GroupOutcomes
        Of the groups of the protected column; with ``"combined"`` of all combinations, in row-major order.
    protected : str, optional
        May be left out where there is one column, and with ``"combined"``.
    strategy : {"auto", "independent", "combined", "single"}
        See above.
    split : {"uniform", "k-based", "optimal", "sample"} or mapping of str to number
        How epsilon is split among the columns, with ``"independent"``. The variances are those of GRR.
    target : int, float, str, Fraction or Decimal, optional
        The most that reports of the protected column may keep of the unfairness, as a share, above 0 and
        below 1: its epsilon is limited to what meets it
        (:func:`evenhand.collect.joint.split_fair.fair_epsilon`), and the others share the rest. It is refused
        where `error` leaves the channel so little room that it misses it. With ``"independent"`` only.
    **options
        ``error``, ``kind`` and ``as_printed`` of :class:`Optimal`.

    Examples
    --------
    >>> census = GroupOutcomes.public([0.7, 0.3], [0.2, 0.6], source="census 2020, table 4")
    >>> sizes = {"gender": 2, "race": 5}
    >>> print(optimal_strategy(sizes, epsilon=4, outcomes=census, protected="gender", target=0.25))
    column  k  protocol  epsilon within the report  if only this column is seen
    gender  2  Optimal   0.747215                   0.747215
    race    5  GRR       3.25279                    3.25279
    whole report: epsilon 4
    """
    total = exact(epsilon, name="epsilon", owner=_OWNER, above=0, most=1_000_000)
    kind = one_of("strategy", strategy, ("auto", *STRATEGIES), owner=_OWNER)
    given: object = outcomes
    if not isinstance(given, GroupOutcomes):
        must_be, got = "a GroupOutcomes", f"a {type(outcomes).__name__}"
        raise InvalidParameterError("outcomes", owner=_OWNER, must_be=must_be, got=got)
    if kind == "auto":
        kind = _chosen(sizes, outcomes)
    if target is not None and kind != "independent":
        must_be = "left out unless the strategy is 'independent'"
        raise InvalidParameterError("target", owner=_OWNER, must_be=must_be, got=str(target))
    if kind == "combined":
        _check_groups(outcomes, check_product(sizes), "one for each combination")
        return CombinedOptimal(sizes, outcomes.optimal(total, **options))
    column = _protected(sizes, protected)
    _check_groups(outcomes, sizes[column], f"one for each value of '{column}'")
    if kind == "single":
        return Single(column, outcomes.optimal(total, **options), in_clear=[c for c in sizes if c != column])
    shares = epsilons_for(
        sizes,
        total,
        outcomes=outcomes,
        protected=column,
        split=split,
        target=target,
        kind=options.get("kind", "ratio"),
    )
    made: dict[str, Protocol] = {
        name: outcomes.optimal(shares[name], **options) if name == column else GRR(k, shares[name])
        for name, k in sizes.items()
    }
    if target is not None:
        _check_target(made[column], target)
    if isinstance(split, str) and split == "sample":
        return Sampled(made, split_budget(total, sizes, how="sample", exact=True))
    return Independent(made)


def _chosen(sizes: Mapping[str, int], outcomes: GroupOutcomes) -> Literal["combined", "independent"]:
    """Return the strategy for these numbers: the product of all columns if it is small and they are its."""
    cells = math.prod(sizes.values())
    small = len(sizes) > 1 and cells <= MOST_PRODUCT_CELLS
    return "combined" if small and outcomes.k == cells else "independent"


def epsilons_for(
    sizes: Mapping[str, int],
    epsilon: Fraction,
    *,
    outcomes: GroupOutcomes | None = None,
    protected: str,
    split: Any,
    target: Number | None = None,
    kind: Any = "ratio",
) -> dict[str, Fraction]:
    """Return the epsilon of each column where each is reported on its own.

    Parameters
    ----------
    sizes, epsilon, outcomes, protected, split, target
        As for :func:`optimal_strategy`; outcomes matter with a target only.
    kind : {"ratio", "difference"}
        Of unfairness.
    """
    if isinstance(split, str) and split == "sample":
        if target is not None:
            must_be = "left out where each person is asked one column, with the whole epsilon"
            raise InvalidParameterError("target", owner=_OWNER, must_be=must_be, got=str(target))
        return dict.fromkeys(sizes, epsilon)
    limits = None
    if target is not None and outcomes is not None:
        most = fair_epsilon(outcomes.weights, target, rates=outcomes.rates, kind=kind)
        limits = {protected: most}
    parts: dict[str, Fraction] = split_budget(epsilon, sizes, how=split, limits=limits, exact=True)
    return parts


def _protected(sizes: Mapping[str, int], protected: str | None) -> str:
    if protected is None and len(sizes) == 1:
        return next(iter(sizes))
    if protected is None:
        must_be, got = "the column that is reported by the optimal channel", "none, of several columns"
        raise InvalidParameterError("protected", owner=_OWNER, must_be=must_be, got=got)
    if protected not in sizes:
        raise ColumnNotFoundError(protected, sizes, place="among the sizes")
    return protected


def _check_target(protocol: Any, target: Number) -> None:
    """Refuse a channel that keeps more of the unfairness than it may: one with less error than GRR can."""
    before, after = protocol.unfairness
    most = float(exact(target, name="target", owner=_OWNER, above=0))
    if after > before * most * (1 + _ROUNDING) + _ROUNDING:
        must_be = "one that the channel meets with the error that it may have"
        hint = "leave 'error' out: with as much error as GRR the target is met."
        raise InvalidParameterError("target", owner=_OWNER, must_be=must_be, got=str(target), hint=hint)


def _check_groups(outcomes: GroupOutcomes, k: int, what: str) -> None:
    if outcomes.k != k:
        must_be, got = f"weights and rates of {k:,} groups, {what}", f"those of {outcomes.k:,}"
        raise InvalidParameterError("outcomes", owner=_OWNER, must_be=must_be, got=got)
