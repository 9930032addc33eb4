"""Releasing: tables that a curator publishes, by noise or by disclosure avoidance, and what each promises.

Names are loaded when they are first used, so that the registry of mechanisms can be read at next to no cost.
"""

from typing import TYPE_CHECKING

from evenhand._lazy import lazy_names

if TYPE_CHECKING:
    from evenhand.release import alpha_bounds, postprocess  # noqa: F401 - modules that people reach by name
    from evenhand.release.audit.audit import ReleaseAudit, audit_release
    from evenhand.release.kanonymity.generalized import GeneralizedTable
    from evenhand.release.kanonymity.mechanisms import KAnonymity, SampledKAnonymity
    from evenhand.release.mechanisms.bias import Bias, Variance
    from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling
    from evenhand.release.mechanisms.mechanism import ReleaseMechanism
    from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
    from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping, SwapEstimate
    from evenhand.release.mechanisms.registry import MECHANISMS, mechanism_from, mechanism_named
    from evenhand.release.mechanisms.suppression import NoisySuppression, Suppression
    from evenhand.release.mechanisms.swapping import Swapping
    from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
    from evenhand.release.mechanisms.totals import LaplaceTotals
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
    "LaplaceTotals",
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
    "alpha_bounds": (),
    "audit.audit": ("ReleaseAudit", "audit_release"),
    "kanonymity.generalized": ("GeneralizedTable",),
    "kanonymity.mechanisms": ("KAnonymity", "SampledKAnonymity"),
    "mechanisms.bias": ("Bias", "Variance"),
    "mechanisms.generalized_sampling": ("GeneralizedSampling",),
    "mechanisms.mechanism": ("ReleaseMechanism",),
    "mechanisms.noise": ("DiscreteGaussian", "Laplace"),
    "mechanisms.random_swapping": ("RandomSwapping", "RecordSwapping", "SwapEstimate"),
    "mechanisms.registry": ("MECHANISMS", "mechanism_from", "mechanism_named"),
    "mechanisms.suppression": ("NoisySuppression", "Suppression"),
    "mechanisms.swapping": ("Swapping",),
    "mechanisms.thresholded": ("ThresholdedLaplace",),
    "mechanisms.totals": ("LaplaceTotals",),
    "postprocess": (),
    "table.histogram": ("Histogram",),
    "table.released": ("Release",),
}

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, "alpha_bounds", "postprocess"])
