"""Releasing: tables that a curator publishes, by noise or by disclosure avoidance, and what each promises."""

from evenhand.release import alpha_bounds, postprocess  # noqa: F401 - modules that people reach by name
from evenhand.release.audit_release import ReleaseAudit, audit_release
from evenhand.release.bias import Bias, Variance
from evenhand.release.generalized import GeneralizedTable
from evenhand.release.generalized_sampling import GeneralizedSampling
from evenhand.release.histogram import Histogram
from evenhand.release.kanonymity import KAnonymity, SampledKAnonymity
from evenhand.release.mechanism import ReleaseMechanism
from evenhand.release.noise import DiscreteGaussian, Laplace
from evenhand.release.random_swapping import RandomSwapping
from evenhand.release.record_swapping import RecordSwapping
from evenhand.release.registry import MECHANISMS, mechanism_from, mechanism_named
from evenhand.release.released import Release
from evenhand.release.suppression import NoisySuppression, Suppression
from evenhand.release.swap_estimate import SwapEstimate
from evenhand.release.swapping import Swapping
from evenhand.release.thresholded import ThresholdedLaplace

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
