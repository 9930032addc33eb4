"""From a setting to the strategy that makes the reports, and so to the guarantee."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.collect.joint import strategy_for
from evenhand.collect.registry import protocol_named
from evenhand.collect.split import split_budget
from evenhand.errors import InvalidParameterError
from evenhand.study.cells import UNPROTECTED

if TYPE_CHECKING:
    from evenhand.collect.joint import Strategy
    from evenhand.schema import Schema
    from evenhand.study.cells import Setting

__all__ = ["strategy_of"]


def strategy_of(setting: Setting, schema: Schema) -> Strategy:
    """Return the strategy of a protected setting for the sensitive columns of the schema.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.cells import Setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> strategy_of(Setting("grr", Fraction(1), "k-based", "independent"), schema).epsilon
    Fraction(1, 1)
    """
    if not isinstance(setting.epsilon, Fraction):
        must_be = "a protected one"
        raise InvalidParameterError("setting", owner="strategy_of", must_be=must_be, got=str(setting))
    sizes = {name: schema[name].size for name in schema.sensitive}
    shares = dict.fromkeys(sizes, setting.epsilon)
    if setting.strategy == "independent" and setting.split != "sample":
        shares = split_budget(
            setting.epsilon, sizes, how=setting.split, protocol=setting.protocol, exact=True
        )
    kind = protocol_named(setting.protocol)
    made = {column: kind(k, shares[column], **setting.parameters) for column, k in sizes.items()}
    return strategy_for(
        sizes,
        epsilon=setting.epsilon,
        protocol="grr" if setting.strategy == "combined" else made,
        split="uniform" if setting.split == UNPROTECTED else setting.split,
        strategy=setting.strategy,
        protected=schema.protected,
    )
