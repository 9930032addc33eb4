"""Which columns of a file are reported, which are kept in the clear, and which are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.joint.build import STRATEGIES, optimal_strategy, refuse_single_values, strategy_for
from evenhand.collect.joint.split import SPLITS
from evenhand.collect.joint.strategy import refuse_dropping
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.guarantees.in_clear import refuse_reserved_names
from evenhand.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collect.joint.strategy import Strategy

_OWNER = "privatize_file"
_OPTIMAL = "optimal"


@dataclass(frozen=True)
class Choice:
    """What becomes of the columns of a file, each in the order of the file.

    Parameters
    ----------
    reported : tuple of str
        Randomised.
    in_clear : tuple of str
        Kept as they are.
    left_out : tuple of str
        Not in the result.
    in_order : tuple of str
        Reported and kept, as they stand in the file.
    """

    reported: tuple[str, ...]
    in_clear: tuple[str, ...]
    left_out: tuple[str, ...]

    in_order: tuple[str, ...]

    @property
    def kept(self) -> frozenset[str]:
        """What the result holds."""
        return frozenset(self.in_order)


def without_beside(schema: Schema) -> Schema:
    """Return the schema without the person and weights: reports have no use for these columns."""
    return schema.with_roles(person=None, rows_per_person=None, weight=None)


def refuse_person(person: str | None, choice: Choice, *, is_allowed: bool, owner: str = _OWNER) -> None:
    """Refuse to pass on the column that says whose row it is: rows of one person hide each other's link."""
    if person is not None and person in choice.in_clear and not is_allowed:
        must_be = f"without '{person}', by which every row links to one person"
        hint = "leave it out, or allow it with linkable=True (--linkable)."
        raise InvalidParameterError("keep", owner=owner, must_be=must_be, got=person, hint=hint)


def choose_columns(
    names: Sequence[str],
    schema: Schema,
    *,
    columns: Sequence[str] | None,
    keep: Sequence[str] | None,
    strategy: str,
    owner: str = _OWNER,
    place: str = "file",
) -> Choice:
    """Return what becomes of the columns `names` of a file or, as `place` says, a frame.

    Reported are the columns asked for, else those that the schema calls sensitive; with the strategy
    ``"single"`` and several of them, the protected one. Kept in the clear are the columns asked for by name,
    and no others.
    """
    raw: object = schema
    if not isinstance(raw, Schema):
        got = f"a value of type {type(raw).__name__}"
        raise InvalidParameterError("schema", owner=owner, must_be="a Schema", got=got)
    where = {"owner": owner, "place": place}
    reported = _reported_columns(names, schema, columns, strategy, **where)
    refuse_dropping(schema[name] for name in reported)
    asked = _check_names("keep", () if keep is None else keep, names, schema, **where)
    twice = [name for name in asked if name in reported]
    if twice:
        must_be = "columns other than those that are reported"
        raise InvalidParameterError("keep", owner=owner, must_be=must_be, got=twice[0])
    in_clear = tuple(name for name in names if name in asked)
    taken = {*reported, *in_clear}
    refuse_reserved_names((*reported, *in_clear), owner=owner, parameter="path" if place == "file" else place)
    left_out, in_order = ([name for name in names if (name in taken) is kept] for kept in (False, True))
    return Choice(reported, in_clear, tuple(left_out), tuple(in_order))


def _reported_columns(
    names: Sequence[str],
    schema: Schema,
    columns: Sequence[str] | None,
    strategy: str,
    *,
    owner: str,
    place: str,
) -> tuple[str, ...]:
    one_of("strategy", strategy, STRATEGIES, owner=owner)
    where = {"owner": owner, "place": place}
    asked = schema.sensitive if columns is None else _check_names("columns", columns, names, schema, **where)
    if not asked:
        raise InvalidParameterError(
            "columns",
            owner=owner,
            must_be="given when the schema has no sensitive column",
            got="none",
            hint="say what to protect: columns=['gender'], or schema.with_roles(sensitive=['gender']).",
        )
    if strategy == "single" and len(asked) > 1:
        if not isinstance(schema.protected, str) or schema.protected not in asked:
            must_be = "one column with the strategy 'single', or several with the protected one among them"
            raise InvalidParameterError("columns", owner=owner, must_be=must_be, got=list(asked))
        asked = (schema.protected,)
    for name in asked:
        schema.column(name)
        if name not in names:
            raise _not_found(name, names, schema, place)
    return tuple(name for name in names if name in asked)


def _check_names(
    parameter: str, given: Any, known: Sequence[str], schema: Schema, *, owner: str, place: str
) -> tuple[str, ...]:
    asked = (given,) if isinstance(given, str) else tuple(given)
    if len(set(asked)) < len(asked) or not all(isinstance(name, str) for name in asked):
        must_be = "a list of different names of columns"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=list(asked))
    for name in asked:
        if name not in known:
            raise _not_found(name, known, schema, place)
    return asked


def _not_found(name: str, names: Sequence[str], schema: Schema, place: str) -> ColumnNotFoundError:
    """Return the error that lists the columns that are declared and there.

    What a file without a header calls its columns may be private, so the others are not listed.
    """
    declared = [column for column in names if column in schema.names]
    return ColumnNotFoundError(name, declared, place=f"in the {place}")


def strategy_of(
    schema: Schema,
    reported: Sequence[str],
    *,
    epsilon: Any,
    protocol: Any,
    split: Any,
    strategy: str,
    owner: str = _OWNER,
) -> Strategy:
    """Return the strategy that reports these columns.

    A protocol may be a :class:`GroupOutcomes`: the protected column, or the only one, is then reported by the
    optimal channel that is made from it, and the others by GRR.
    """
    if isinstance(split, str):
        one_of("split", split, SPLITS, owner=owner)
    sizes = {name: schema[name].size for name in reported}
    refuse_single_values(sizes, owner=owner)
    if isinstance(protocol, GroupOutcomes):
        return _optimal(schema, sizes, epsilon, protocol, split, strategy, owner=owner)
    named = protocol.values() if isinstance(protocol, Mapping) else [protocol]
    if any(isinstance(word, str) and word.lower() == _OPTIMAL for word in named):
        raise InvalidParameterError(
            "protocol",
            owner=owner,
            must_be="made from the shares and outcome rates of the groups, where it is 'optimal'",
            got="its name alone",
            hint="protocol=GroupOutcomes.public(weights, rates, source='...'); on the command line "
            "--outcomes FILE, or --weights and --rates.",
        )
    shared = {"split": split} if strategy == "independent" and len(sizes) > 1 else {}
    protected = reported[0] if strategy == "single" else None
    return strategy_for(
        sizes, epsilon=epsilon, protocol=protocol, strategy=strategy, protected=protected, **shared
    )


def _optimal(
    schema: Schema,
    sizes: dict[str, int],
    epsilon: Any,
    outcomes: GroupOutcomes,
    split: Any,
    strategy: str,
    *,
    owner: str,
) -> Strategy:
    """Return the strategy in which one column has the optimal channel."""
    if strategy == "combined":
        must_be = "'independent' or 'single' where the protocol is 'optimal'"
        hint = "reports of combinations can be made in Python: evenhand.collect.optimal_strategy."
        raise InvalidParameterError("strategy", owner=owner, must_be=must_be, got=strategy, hint=hint)
    column = next(iter(sizes)) if len(sizes) == 1 else schema.protected_name
    if column not in sizes:
        raise InvalidParameterError(
            "columns",
            owner=owner,
            must_be="one column, or several with the protected one, where the protocol is 'optimal'",
            got=list(sizes),
        )
    return optimal_strategy(
        sizes, epsilon=epsilon, outcomes=outcomes, protected=column, strategy=strategy, split=split
    )
