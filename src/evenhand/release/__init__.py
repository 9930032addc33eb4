"""Releasing: tables that a curator publishes, by noise or by disclosure avoidance, and what each promises.

Names are loaded when they are first used, so that the registry of mechanisms can be read at next to no cost.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.release import alpha_bounds, postprocess  # noqa: F401 - modules that people reach by name
    from evenhand.release.audit.audit import ReleaseAudit, audit_release
    from evenhand.release.kanonymity.generalized import GeneralizedTable
    from evenhand.release.kanonymity.mechanisms import KAnonymity, SampledKAnonymity
    from evenhand.release.mechanisms.bias import Bias, Variance
    from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling
    from evenhand.release.mechanisms.mechanism import ReleaseMechanism
    from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
    from evenhand.release.mechanisms.random_swapping import RandomSwapping
    from evenhand.release.mechanisms.record_swapping import RecordSwapping, SwapEstimate
    from evenhand.release.mechanisms.registry import MECHANISMS, mechanism_from, mechanism_named
    from evenhand.release.mechanisms.suppression import NoisySuppression, Suppression
    from evenhand.release.mechanisms.swapping import Swapping
    from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
    from evenhand.release.table.histogram import Histogram
    from evenhand.release.table.released import Release

__all__ = [
    "MECHANISMS",
    "Bias",
    "DiscreteGaussian",
    "GeneralizedSampling",
    "GeneralizedTable",
    "Histogram",
    "KAnonymity",
    "Laplace",
    "NoisySuppression",
    "RandomSwapping",
    "RecordSwapping",
    "Release",
    "ReleaseAudit",
    "ReleaseMechanism",
    "SampledKAnonymity",
    "Suppression",
    "SwapEstimate",
    "Swapping",
    "ThresholdedLaplace",
    "Variance",
    "audit_release",
    "mechanism_from",
    "mechanism_named",
]

_HOMES = {
    "MECHANISMS": "mechanisms.registry",
    "Bias": "mechanisms.bias",
    "DiscreteGaussian": "mechanisms.noise",
    "GeneralizedSampling": "mechanisms.generalized_sampling",
    "GeneralizedTable": "kanonymity.generalized",
    "Histogram": "table.histogram",
    "KAnonymity": "kanonymity.mechanisms",
    "Laplace": "mechanisms.noise",
    "NoisySuppression": "mechanisms.suppression",
    "RandomSwapping": "mechanisms.random_swapping",
    "RecordSwapping": "mechanisms.record_swapping",
    "Release": "table.released",
    "ReleaseAudit": "audit.audit",
    "ReleaseMechanism": "mechanisms.mechanism",
    "SampledKAnonymity": "kanonymity.mechanisms",
    "Suppression": "mechanisms.suppression",
    "SwapEstimate": "mechanisms.record_swapping",
    "Swapping": "mechanisms.swapping",
    "ThresholdedLaplace": "mechanisms.thresholded",
    "Variance": "mechanisms.bias",
    "audit_release": "audit.audit",
    "mechanism_from": "mechanisms.registry",
    "mechanism_named": "mechanisms.registry",
}
_MODULES = ("alpha_bounds", "postprocess")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"evenhand.release.{name}")
    if name not in _HOMES:
        message = f"module 'evenhand.release' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"evenhand.release.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
