"""Which measure a name stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._validate import one_of

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["ALIASES", "measure_named"]

ALIASES = {"accuracy": "acc", "gap": "sp_gap"}
"""Other names by which a measure may be asked for."""


def measure_named(name: object, known: Collection[str], *, parameter: str, owner: str) -> str:
    """Return the measure that a name or another name stands for.

    >>> measure_named("accuracy", ["acc", "sp_gap"], parameter="x", owner="frontier")
    'acc'
    """
    asked = ALIASES.get(name, name) if isinstance(name, str) else name
    if asked in known:
        return str(asked)
    spelled = [*(alias for alias, meant in ALIASES.items() if meant in known), *known]
    return one_of(parameter, name, spelled, owner=owner)
