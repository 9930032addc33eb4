"""Which columns a privatizer reports, and by which strategy: its parameters, checked when it is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.collect.joint.build import Strategy, strategy_for
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.registry import protocol_named
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.schema import Schema

__all__ = ["DEFAULT_SPLIT", "STRATEGIES", "chosen_columns", "made_strategy", "reported_columns"]

STRATEGIES = ("independent", "combined", "single")
DEFAULT_SPLIT = "optimal"
_OWNER = "LocalPrivatizer"


def chosen_columns(columns: Any, known: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns that were asked for, in the order of the frame; None if none were."""
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) < len(names) or not all(isinstance(each, str) for each in names):
        must_be = "the name of a column, or a list of different names"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=columns)
    for name in names:
        if name not in known:
            raise ColumnNotFoundError(name, known, place="in the frame")
    return tuple(name for name in known if name in names)


def reported_columns(
    schema: Schema, known: Sequence[str], chosen: tuple[str, ...] | None, strategy: str
) -> tuple[str, ...]:
    """Return the columns to report, in the order of the frame.

    Those asked for; else the sensitive ones, without a target that is not among the features. Of these, the
    strategy ``"single"`` reports the protected one alone.
    """
    one_of("strategy", strategy, STRATEGIES, owner=_OWNER)
    names = chosen
    if names is None:
        names = tuple(name for name in schema.sensitive if name != schema.target or name in known)
    if strategy == "single" and len(names) != 1:
        return _the_protected_one(schema, known, chosen)
    if not names:
        raise InvalidParameterError(
            "columns",
            owner=_OWNER,
            must_be="given when the schema has no sensitive column",
            got=None,
            hint="say what to protect: columns=['gender'], or schema.with_roles(sensitive=['gender']).",
        )
    for name in names:
        schema.column(name)
        if name not in known:
            raise ColumnNotFoundError(name, known, place="in the frame")
    return tuple(name for name in known if name in names)


def _the_protected_one(
    schema: Schema, known: Sequence[str], chosen: tuple[str, ...] | None
) -> tuple[str, ...]:
    if schema.protected is None:
        raise InvalidParameterError(
            "strategy",
            owner=_OWNER,
            must_be="another one than 'single' when several columns could be the single one",
            got="single",
            hint="name it: columns=['gender'], or schema.with_roles(protected='gender').",
        )
    if chosen is not None and schema.protected not in chosen:
        raise InvalidParameterError(
            "columns",
            owner=_OWNER,
            must_be=f"one column with strategy='single', or several with '{schema.protected}', the protected "
            "one, among them",
            got=list(chosen),
            hint="strategy='independent' reports all of them.",
        )
    if schema.protected not in known:
        raise ColumnNotFoundError(schema.protected, known, place="in the frame")
    return (schema.protected,)


def made_strategy(
    sizes: Mapping[str, int], *, protocol: Any, epsilon: Any, split: Any, strategy: str
) -> Strategy:
    """Return the strategy for columns of these sizes, or refuse the parameters at fault."""
    amount = exact(epsilon, name="epsilon", owner=_OWNER, above=0, most=1_000_000)
    for column, k in sizes.items():
        if k < 2:
            raise InvalidParameterError(
                "columns",
                owner=_OWNER,
                must_be="columns of at least two values",
                got=f"column '{column}', whose domain has one",
                hint="there is nothing to hide in a column that is the same for everybody.",
            )
    _check_protocol(protocol, sizes)
    if strategy != "independent" and split != DEFAULT_SPLIT:
        raise InvalidParameterError(
            "split",
            owner=_OWNER,
            must_be=f"left out with strategy='{strategy}', which has nothing to split",
            got=split,
        )
    given = {} if split == DEFAULT_SPLIT and len(sizes) == 1 else {"split": split}
    protected = next(iter(sizes)) if strategy == "single" else None
    return strategy_for(
        sizes, epsilon=amount, protocol=protocol, strategy=strategy, protected=protected, **given
    )


def _check_protocol(protocol: Any, sizes: Mapping[str, int]) -> None:
    wanted = dict(protocol) if isinstance(protocol, Mapping) else dict.fromkeys(sizes, protocol)
    for column in wanted:
        if column not in sizes:
            raise ColumnNotFoundError(column, sizes, place="among the columns that are reported")
    for column, k in sizes.items():
        if column not in wanted:
            raise InvalidParameterError(
                "protocol",
                owner=_OWNER,
                must_be=f"given for each of {', '.join(sizes)}",
                got=f"none for column '{column}'",
            )
        _check_one(wanted[column], column, k)


def _check_one(given: Any, column: str, k: int) -> None:
    if isinstance(given, str):
        if given != "best":
            protocol_named(given)
    elif isinstance(given, Protocol):
        if given.k != k:
            raise InvalidParameterError(
                "protocol",
                owner=_OWNER,
                must_be=f"one for {k:,} values in column '{column}', 'other' included",
                got=repr(given),
            )
    elif not (isinstance(given, type) and issubclass(given, Protocol)):
        raise InvalidParameterError(
            "protocol",
            owner=_OWNER,
            must_be="the name of a protocol, a protocol, or one of these for each column",
            got=given,
        )
