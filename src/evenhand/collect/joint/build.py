"""Making a strategy for several attributes from a few words, or from the outcomes of groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from evenhand._validate import one_of
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.combined import MOST_PRODUCT_CELLS, Combined, CombinedOptimal, check_product
from evenhand.collect.joint.independent import Independent, Sampled, Single
from evenhand.collect.joint.split import split_budget
from evenhand.collect.joint.split_fair import fair_epsilon
from evenhand.collect.joint.strategy import check_column_names
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.registry import AUTO, auto_name, protocol_named
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collect.joint.strategy import Strategy

    Wanted = dict[str, str | type[Protocol] | Protocol]

STRATEGIES = ("single", "independent", "combined")
"""The strategies by name."""

_OWNER = "strategy_for"


def strategy_for(
    sizes: Mapping[str, int],
    *,
    epsilon: Number,
    protocol: Any = AUTO,
    split: Any = "optimal",
    strategy: str = "independent",
    protected: str | None = None,
    weights: Any = None,
) -> Strategy:
    """Return the strategy that the words stand for.

    Parameters
    ----------
    sizes : mapping of str to int
        How many values each column has.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of a person's whole report, > 0.
    protocol : str, protocol class, protocol, or mapping of str to any of these
        How columns are reported. ``"auto"``, the default, takes whichever of GRR, OUE and SS has the least
        variance at the column's size and epsilon; above 1,024 values, of GRR and OLH. A protocol that is
        made already keeps its own epsilon, which is taken out of the whole before the rest is split; its `k`
        must be the column's.
    split : {"optimal", "uniform", "k-based", "sample"} or mapping of str to number
        How the epsilon is split among the columns (:func:`evenhand.collect.joint.split.split_budget`).
        ``"sample"`` asks each person one column, with the whole epsilon. Not used where nothing is to be
        split.
    strategy : {"independent", "combined", "single"}
        Each column on its own; all of them as one value, by GRR; or only the column `protected`, with the
        others in the clear.
    protected : str, optional
        The column that ``"single"`` reports; may be left out where there is one column.
    weights : mapping of str to number, optional
        How much the variance of each column counts, for ``"optimal"`` and ``"sample"``.

    Examples
    --------
    >>> adult = {"gender": 2, "race": 5, "native-country": 41, "age": 74}
    >>> print(strategy_for(adult, epsilon=1))
    column          k   protocol  epsilon within the report  if only this column is seen
    gender          2   GRR       0.0807361                  0.0807361
    race            5   SS        0.150991                   0.150991
    native-country  41  SS        0.344936                   0.344936
    age             74  SS        0.423338                   0.423338
    whole report: epsilon 1
    """
    total = exact(epsilon, name="epsilon", owner=_OWNER, above=0, most=1_000_000)
    kind = one_of("strategy", strategy, STRATEGIES, owner=_OWNER)
    if not isinstance(sizes, Mapping) or not sizes:
        must_be = "a mapping of columns to how many values they have"
        got = f"a {type(sizes).__name__}" if sizes else "none"
        raise InvalidParameterError("sizes", owner=_OWNER, must_be=must_be, got=got)
    if kind != "independent" and (not isinstance(split, str) or split == "sample"):
        must_be = f"a way to split by name, other than 'sample', for the strategy '{kind}'"
        raise InvalidParameterError("split", owner=_OWNER, must_be=must_be, got=split)
    if kind == "combined":
        _check_grr(protocol)
        return Combined(sizes, total)
    if kind == "single":
        return _build_single(sizes, total, protocol, protected)
    wanted = _protocols_by_column(protocol, sizes)
    if isinstance(split, str) and split == "sample":
        return _build_sampled(sizes, total, wanted, weights)
    return Independent(_split_protocols(sizes, total, wanted, split, weights))


def refuse_single_values(sizes: Mapping[str, int], *, owner: str) -> None:
    """Refuse columns whose domain has one value."""
    for column, k in sizes.items():
        if k < 2:
            raise InvalidParameterError(
                "columns",
                owner=owner,
                must_be="columns of at least two values",
                got=f"column '{column}', whose domain has one",
                hint="there is nothing to hide in a column that is the same for everybody.",
            )


def _build_single(sizes: Mapping[str, int], total: Fraction, protocol: Any, protected: str | None) -> Single:
    column = _protected_column(sizes, protected, owner=_OWNER, must_be="the column that is reported")
    wanted = protocol.get(column) if isinstance(protocol, Mapping) else protocol
    made = _build_protocol(wanted, column, sizes[column], total)
    _check_sum([made.epsilon], total)
    return Single(column, made, in_clear=[name for name in sizes if name != column])


def _build_sampled(sizes: Mapping[str, int], total: Fraction, wanted: Wanted, weights: Any) -> Sampled:
    names = {column: _formula_name(protocol) for column, protocol in wanted.items()}
    asked = split_budget(total, sizes, how="sample", protocol=names, weights=weights, exact=True)
    protocols = {column: _build_protocol(wanted[column], column, k, total) for column, k in sizes.items()}
    _check_sum([max(protocol.epsilon for protocol in protocols.values())], total)
    return Sampled(protocols, asked)


def _split_protocols(
    sizes: Mapping[str, int], total: Fraction, wanted: Wanted, split: Any, weights: Any
) -> dict[str, Protocol]:
    """Return the protocol of each column: those given as they are, the others with their part of the rest."""
    given = [protocol.epsilon for protocol in wanted.values() if isinstance(protocol, Protocol)]
    rest = {column: k for column, k in sizes.items() if not isinstance(wanted[column], Protocol)}
    left = total - _check_sum(given, total, more=bool(rest))
    parts: dict[str, Fraction] = {}
    if rest:
        if isinstance(weights, Mapping):
            weights = {column: weights[column] for column in weights if column in rest or column not in sizes}
        names = {column: _formula_name(wanted[column]) for column in rest}
        parts = split_budget(left, rest, how=split, protocol=names, weights=weights, exact=True)
    elif not isinstance(split, str):
        must_be = "the name of a way to split where every protocol is given"
        raise InvalidParameterError("split", owner=_OWNER, must_be=must_be, got=split)
    return {
        column: _build_protocol(wanted[column], column, k, parts.get(column, total))
        for column, k in sizes.items()
    }


def _protocols_by_column(protocol: Any, sizes: Mapping[str, int]) -> Wanted:
    if not isinstance(protocol, Mapping):
        return dict.fromkeys(sizes, protocol)
    if set(protocol) != set(sizes):
        must_be = f"one for all, or a mapping with the keys {', '.join(map(str, sizes))}"
        got = f"the keys {', '.join(map(str, protocol))}"
        raise InvalidParameterError("protocol", owner=_OWNER, must_be=must_be, got=got)
    return {column: protocol[column] for column in sizes}


def _formula_name(wanted: str | type[Protocol] | Protocol) -> str:
    """Return the name by which the formulas know a protocol; refuse one that a name does not make."""
    if isinstance(wanted, str) and wanted == AUTO:
        return wanted
    kind = protocol_named(wanted) if isinstance(wanted, str) else wanted
    if isinstance(kind, type) and issubclass(kind, Protocol):
        kind.of_size(2, 1)
    return str(getattr(kind, "name", kind))


def _build_protocol(wanted: Any, column: str, k: int, epsilon: Fraction) -> Protocol:
    """Return the protocol of a column; one that is made already must fit."""
    if isinstance(wanted, Protocol):
        if wanted.k != k:
            must_be, got = f"a protocol of {k:,} values for column '{column}'", f"one of {wanted.k:,}"
            raise InvalidParameterError("protocol", owner=_OWNER, must_be=must_be, got=got)
        return wanted
    if isinstance(wanted, str) and wanted == AUTO:
        wanted = auto_name(k, float(epsilon))
    is_class = isinstance(wanted, type) and issubclass(wanted, Protocol)
    return (wanted if is_class else protocol_named(wanted)).of_size(k, epsilon)


def _check_sum(given: list[Fraction], total: Fraction, *, more: bool = False) -> Fraction:
    """Return the sum of the epsilons of protocols that are given, if it leaves enough of the whole."""
    spent = sum(given, Fraction(0))
    if spent > total or (more and spent == total):
        must_be = f"protocols whose epsilons sum to {'less than' if more else 'at most'} {total}, the whole"
        raise InvalidParameterError("protocol", owner=_OWNER, must_be=must_be, got=f"a sum of {spent}")
    return spent


def _check_grr(protocol: Any) -> None:
    name = protocol if isinstance(protocol, str) else getattr(protocol, "name", None)
    if isinstance(protocol, Protocol) or not isinstance(name, str) or name.lower() not in {"grr", AUTO}:
        raise InvalidParameterError(
            "protocol",
            owner=_OWNER,
            must_be="'grr' or 'auto' for the strategy 'combined'",
            got=protocol,
            hint="strategy='independent' takes any protocol.",
        )


_OPTIMAL_OWNER = "optimal_strategy"
_ROUNDING = 1e-6  # what the last digits of a solved matrix may add to its unfairness


def optimal_strategy(
    sizes: Mapping[str, int],
    *,
    epsilon: Number,
    outcomes: GroupOutcomes,
    protected: str | Sequence[str] | None = None,
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
    protected : str or sequence of str, optional
        May be left out where there is one column, and with ``"combined"``. Several columns are crossed:
        `outcomes` are those of their combinations, and one channel reports the combination, alone
        (``"single"``) or with all columns (``"combined"``).
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
    >>> crossed = GroupOutcomes.public([4, 3, 2, 1], [0.2, 0.3, 0.4, 0.6], source="census 2020, table 5")
    >>> columns = {"gender": 2, "union": 2}
    >>> both = optimal_strategy(columns, epsilon=1, outcomes=crossed, protected=["gender", "union"])
    >>> f"{both.unfairness.before:.2f} {both.unfairness.after:.2f}"
    '0.94 0.08'
    """
    total = exact(epsilon, name="epsilon", owner=_OPTIMAL_OWNER, above=0, most=1_000_000)
    kind = one_of("strategy", strategy, ("auto", *STRATEGIES), owner=_OPTIMAL_OWNER)
    given: object = outcomes
    if not isinstance(given, GroupOutcomes):
        must_be, got = "a GroupOutcomes", f"a {type(outcomes).__name__}"
        raise InvalidParameterError("outcomes", owner=_OPTIMAL_OWNER, must_be=must_be, got=got)
    crossed = _crossed_columns(sizes, protected)
    if kind == "auto":
        kind = "combined" if len(crossed) > 1 else _choose_strategy(sizes, outcomes)
    if target is not None and kind != "independent":
        must_be = "left out unless the strategy is 'independent'"
        raise InvalidParameterError("target", owner=_OPTIMAL_OWNER, must_be=must_be, got=str(target))
    if len(crossed) > 1 and kind == "independent":
        must_be = (
            "'combined' or 'single' where several columns are protected: one channel reports them together"
        )
        raise InvalidParameterError("strategy", owner=_OPTIMAL_OWNER, must_be=must_be, got=kind)
    if kind == "combined" or len(crossed) > 1:
        together = {name: sizes[name] for name in crossed} if kind == "single" else sizes
        clear = [name for name in sizes if name not in together]
        _check_groups(outcomes, check_product(together), "one for each combination")
        return CombinedOptimal(together, outcomes.optimal(total, **options), in_clear=clear)
    must_be = "the column that is reported by the optimal channel"
    column = _protected_column(sizes, crossed[0] if crossed else None, owner=_OPTIMAL_OWNER, must_be=must_be)
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


def _crossed_columns(sizes: Mapping[str, int], protected: Any) -> tuple[str, ...]:
    """Return the protected columns, whose combinations are the groups; none if they are not named."""
    names = (
        ()
        if protected is None
        else check_column_names(protected, parameter="protected", owner=_OPTIMAL_OWNER)
    )
    for name in names:
        if name not in sizes:
            raise ColumnNotFoundError(name, sizes, place="among the sizes")
    return names


def _choose_strategy(sizes: Mapping[str, int], outcomes: GroupOutcomes) -> Literal["combined", "independent"]:
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
            raise InvalidParameterError("target", owner=_OPTIMAL_OWNER, must_be=must_be, got=str(target))
        return dict.fromkeys(sizes, epsilon)
    limits = None
    if target is not None and outcomes is not None:
        most = fair_epsilon(outcomes.weights, target, rates=outcomes.rates, kind=kind)
        limits = {protected: most}
    parts: dict[str, Fraction] = split_budget(epsilon, sizes, how=split, limits=limits, exact=True)
    return parts


def _protected_column(sizes: Mapping[str, int], protected: str | None, *, owner: str, must_be: str) -> str:
    """Return the column that is protected, which need not be named where there is one."""
    column = next(iter(sizes)) if protected is None and len(sizes) == 1 else protected
    if column is None:
        got = "none, of several columns"
        raise InvalidParameterError("protected", owner=owner, must_be=must_be, got=got)
    if column not in sizes:
        raise ColumnNotFoundError(column, sizes, place="among the sizes")
    return column


def _check_target(protocol: Any, target: Number) -> None:
    """Refuse a channel that keeps more of the unfairness than it may: one with less error than GRR can."""
    before, after = protocol.unfairness
    most = float(exact(target, name="target", owner=_OPTIMAL_OWNER, above=0))
    if after > before * most * (1 + _ROUNDING) + _ROUNDING:
        must_be = "one that the channel meets with the error that it may have"
        hint = "leave 'error' out: with as much error as GRR the target is met."
        raise InvalidParameterError(
            "target", owner=_OPTIMAL_OWNER, must_be=must_be, got=str(target), hint=hint
        )


def _check_groups(outcomes: GroupOutcomes, k: int, meaning: str) -> None:
    if outcomes.k != k:
        must_be, got = f"weights and rates of {k:,} groups, {meaning}", f"those of {outcomes.k:,}"
        raise InvalidParameterError("outcomes", owner=_OPTIMAL_OWNER, must_be=must_be, got=got)
