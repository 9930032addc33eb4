"""The mechanisms of release by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.privacy.records import build_from_record, find_class
from evenhand.release.class_registry import ClassRegistry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.release.mechanisms.mechanism import ReleaseMechanism

__all__ = ["MECHANISMS", "mechanism_from", "mechanism_named"]

MECHANISMS: ClassRegistry[ReleaseMechanism] = ClassRegistry(
    {
        "laplace": "evenhand.release.mechanisms.noise:Laplace",
        "discrete-gaussian": "evenhand.release.mechanisms.noise:DiscreteGaussian",
        "suppression": "evenhand.release.mechanisms.suppression:Suppression",
        "swapping": "evenhand.release.mechanisms.swapping:Swapping",
        "k-anonymity": "evenhand.release.kanonymity.mechanisms:KAnonymity",
        "noisy-suppression": "evenhand.release.mechanisms.suppression:NoisySuppression",
        "random-swapping": "evenhand.release.mechanisms.random_swapping:RandomSwapping",
        "sampled-k-anonymity": "evenhand.release.kanonymity.mechanisms:SampledKAnonymity",
        "thresholded-laplace": "evenhand.release.mechanisms.thresholded:ThresholdedLaplace",
        "record-swapping": "evenhand.release.mechanisms.record_swapping:RecordSwapping",
        "generalized-sampling": "evenhand.release.mechanisms.generalized_sampling:GeneralizedSampling",
    }
)
"""Every mechanism class by its name. Names cost nothing to list; a class is loaded when it is taken."""


def mechanism_named(name: str) -> type[ReleaseMechanism]:
    """Return the mechanism class of a name, in small or capital letters.

    >>> mechanism_named("Laplace").__name__
    'Laplace'
    """
    return find_class(name, MECHANISMS, kind="Mechanism")


def mechanism_from(record: Mapping[str, Any]) -> ReleaseMechanism:
    """Return the mechanism that :meth:`ReleaseMechanism.to_dict` wrote down.

    Nothing in the record is passed over: it must have the fields of its mechanism and no others. What may be
    left out is what has a default.

    Raises
    ------
    UnknownNameError
        If there is no mechanism of that name.
    InvalidParameterError
        If a field is missing, unknown, or has a value it cannot have.

    Examples
    --------
    >>> from evenhand.release import Laplace
    >>> mechanism_from(Laplace(epsilon=0.1, unit="replace one").to_dict())
    Laplace(epsilon=0.1, unit='replace one')
    """
    return build_from_record(record, MECHANISMS, kind="Mechanism", owner="mechanism_from")
