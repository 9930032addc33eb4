"""Who pays when data is protected, how much, and how to make it fairer.

Names are loaded when they are first used, so that ``import evenhand`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand import (
        collect,
        datasets,
        decide,
        engine,
        errors,
        learn,
        measure,
        privacy,
        release,
        report,
        schema,
        study,
        table,
    )
    from evenhand.collect.privatizer.transformer import LocalPrivatizer
    from evenhand.privacy import Guarantee
    from evenhand.privacy.audit.measured import audit_epsilon
    from evenhand.privacy.ledger import Ledger
    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.study.run.whole import run
    from evenhand.table import Table

__version__ = "0.1.0"

__all__ = [
    "Guarantee",
    "Ledger",
    "LocalPrivatizer",
    "Plan",
    "Schema",
    "Table",
    "audit_epsilon",
    "collect",
    "datasets",
    "decide",
    "engine",
    "errors",
    "learn",
    "measure",
    "privacy",
    "release",
    "report",
    "run",
    "schema",
    "study",
    "table",
]

_HOMES = {
    "Guarantee": "privacy",
    "Ledger": "privacy.ledger",
    "LocalPrivatizer": "collect",
    "Plan": "study",
    "Schema": "schema",
    "Table": "table",
    "audit_epsilon": "privacy.audit",
    "run": "study",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        message = f"module 'evenhand' has no attribute {name!r}"
        raise AttributeError(message)
    home = import_module(f"evenhand.{_HOMES.get(name, name)}")
    return getattr(home, name) if name in _HOMES else home


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
