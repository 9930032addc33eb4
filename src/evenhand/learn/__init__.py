"""Training models on protected data.

Names are loaded when they are first used, since scikit-learn is slow to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.learn.audit.canaries import CanaryAudit, audit_canaries
    from evenhand.learn.encoding.encoder import PublicEncoder
    from evenhand.learn.fermi.classifier import DPFermi
    from evenhand.learn.parity.closest import closest_odds, closest_rates
    from evenhand.learn.parity.closest_classes import closest_class_rates
    from evenhand.learn.parity.key import PersonKey
    from evenhand.learn.parity.post_processor import ParityPostProcessor
    from evenhand.learn.projection.classifier import FairProjection
    from evenhand.learn.training.logistic import DPLogisticRegression
    from evenhand.learn.training.private_training import PrivateTraining

__all__ = [
    "CanaryAudit",
    "DPFermi",
    "DPLogisticRegression",
    "FairProjection",
    "ParityPostProcessor",
    "PersonKey",
    "PrivateTraining",
    "PublicEncoder",
    "audit_canaries",
    "closest_class_rates",
    "closest_odds",
    "closest_rates",
]

_HOMES = {
    "CanaryAudit": "audit.canaries",
    "DPFermi": "fermi.classifier",
    "DPLogisticRegression": "training.logistic",
    "FairProjection": "projection.classifier",
    "ParityPostProcessor": "parity.post_processor",
    "PersonKey": "parity.key",
    "PrivateTraining": "training.private_training",
    "PublicEncoder": "encoding.encoder",
    "audit_canaries": "audit.canaries",
    "closest_class_rates": "parity.closest_classes",
    "closest_odds": "parity.closest",
    "closest_rates": "parity.closest",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'evenhand.learn' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"evenhand.learn.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
