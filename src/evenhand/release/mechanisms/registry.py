"""The mechanisms of release by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.privacy.records import build_from_record, find_class
from evenhand.release.kanonymity.mechanisms import KAnonymity, SampledKAnonymity
from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.mechanisms.record_swapping import RecordSwapping
from evenhand.release.mechanisms.suppression import NoisySuppression, Suppression
from evenhand.release.mechanisms.swapping import Swapping
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.release.mechanisms.mechanism import ReleaseMechanism

__all__ = ["MECHANISMS", "mechanism_from", "mechanism_named"]

_CLASSES: tuple[type[ReleaseMechanism], ...] = (
    Laplace,
    DiscreteGaussian,
    Suppression,
    Swapping,
    KAnonymity,
    NoisySuppression,
    RandomSwapping,
    SampledKAnonymity,
    ThresholdedLaplace,
    RecordSwapping,
    GeneralizedSampling,
)

MECHANISMS: dict[str, type[ReleaseMechanism]] = {each.name: each for each in _CLASSES}
"""Every mechanism class by its name."""


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
    >>> mechanism_from(Laplace(epsilon=0.1, unit="replace one").to_dict())
    Laplace(epsilon=0.1, unit='replace one')
    """
    return build_from_record(record, MECHANISMS, kind="Mechanism", owner="mechanism_from")
