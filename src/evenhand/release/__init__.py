"""Releasing: tables that a curator publishes, by noise or by disclosure avoidance, and what each promises."""

from evenhand.release import alpha_bounds, postprocess  # noqa: F401 - modules that people reach by name
from evenhand.release.audit.audit import ReleaseAudit, audit_release
from evenhand.release.kanonymity.generalized import GeneralizedTable
from evenhand.release.kanonymity.mechanisms import KAnonymity, SampledKAnonymity
from evenhand.release.mechanisms.bias import Bias, Variance
from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling
from evenhand.release.mechanisms.mechanism import ReleaseMechanism
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.mechanisms.record_swapping import RecordSwapping
from evenhand.release.mechanisms.registry import MECHANISMS, mechanism_from, mechanism_named
from evenhand.release.mechanisms.suppression import NoisySuppression, Suppression
from evenhand.release.mechanisms.swap_estimate import SwapEstimate
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
