"""Strategies as plain values for a JSON file, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.collect.joint.combined import Combined, CombinedOptimal
from evenhand.collect.joint.independent import Independent, Sampled, Single
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.registry import protocol_from
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collect.joint.strategy import Strategy


def describe_strategy(strategy: Strategy) -> dict[str, Any]:
    """Return plain values from which :func:`strategy_from` makes the strategy again.

    >>> from evenhand.collect.joint.build import strategy_for
    >>> strategy = strategy_for({"sex": 2}, epsilon=1, protocol="grr")
    >>> describe_strategy(strategy)["columns"]
    [{'name': 'sex', 'values': 2, 'protocol': {'protocol': 'grr', 'k': 2, 'epsilon': '1'}}]
    """
    columns = [describe_column(strategy, place) for place in range(len(strategy.columns))]
    return {"strategy": strategy.name, "epsilon": as_text(strategy.epsilon), "columns": columns}


def describe_column(strategy: Strategy, place: int) -> dict[str, Any]:
    """Return plain values of one column: its name, how many values it has, and what is sent for it."""
    name = strategy.columns[place]
    sender = strategy.senders[place if len(strategy.senders) > 1 else 0]
    column = {"name": name, "values": strategy.sizes[name], "protocol": sender.to_dict()}
    if isinstance(strategy, Sampled):
        column["asked"] = as_text(strategy.probabilities[name])
    return column


def strategy_from(record: Mapping[str, Any]) -> Strategy:
    """Return the strategy that a record describes.

    Raises
    ------
    EvenhandError, KeyError, TypeError, ArithmeticError, ValueError
        If it describes none. The caller says which file it was.
    """
    columns = record["columns"]
    protocols = {column["name"]: protocol_from(column["protocol"]) for column in columns}
    sizes = {column["name"]: column["values"] for column in columns}
    if not columns or len(protocols) < len(columns):
        raise InvalidParameterError(
            "record", owner="strategy_from", must_be="different columns", got="others"
        )
    kind = record["strategy"]
    if kind == "combined":
        product = next(iter(protocols.values()))
        if isinstance(product, Optimal):
            return CombinedOptimal(sizes, product)
        return Combined(sizes, record["epsilon"])
    if kind == "sampled":
        return Sampled(protocols, {column["name"]: column["asked"] for column in columns})
    if kind == "single" and len(columns) == 1:
        return Single(*next(iter(protocols.items())))
    if kind == "independent":
        return Independent(protocols)
    raise InvalidParameterError("record", owner="strategy_from", must_be="a strategy", got="another name")
