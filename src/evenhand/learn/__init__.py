"""Training models on protected data.

Names are loaded when they are first used, since scikit-learn is slow to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.learn.projection import FairProjection
    from evenhand.learn.training import PrivateTraining

__all__ = ["FairProjection", "PrivateTraining"]

_HOMES = {"FairProjection": "projection", "PrivateTraining": "training"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'evenhand.learn' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"evenhand.learn.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
