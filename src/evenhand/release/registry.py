"""The mechanisms of release by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.release.generalized_sampling import GeneralizedSampling
from evenhand.release.kanonymity import KAnonymity, SampledKAnonymity
from evenhand.release.noise import DiscreteGaussian, Laplace
from evenhand.release.random_swapping import RandomSwapping
from evenhand.release.record_swapping import RecordSwapping
from evenhand.release.suppression import NoisySuppression, Suppression
from evenhand.release.swapping import Swapping
from evenhand.release.thresholded import ThresholdedLaplace

if TYPE_CHECKING:
    from evenhand.release.mechanism import ReleaseMechanism

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

_LONGEST_NAME = 40


def mechanism_named(name: str) -> type[ReleaseMechanism]:
    """Return the mechanism class of a name, in small or capital letters.

    >>> mechanism_named("Laplace").__name__
    'Laplace'
    """
    found = MECHANISMS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        shown = name[:_LONGEST_NAME] if isinstance(name, str) else f"a value of type {type(name).__name__}"
        raise UnknownNameError("Mechanism", shown, MECHANISMS)
    return found


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
    if not isinstance(record, Mapping):
        raise _refused("a mapping, as to_dict makes it", f"a value of type {type(record).__name__}")
    values = dict(record)
    made = mechanism_named(values.pop("mechanism", ""))
    known = {each.name: each for each in fields(made) if each.init}
    needed = {
        name for name, each in known.items() if each.default is MISSING and each.default_factory is MISSING
    }
    if not needed <= values.keys() <= known.keys():
        names = sorted(str(name)[:_LONGEST_NAME] for name in islice(values, 20))
        raise _refused(
            f"a record of {made.__name__}, with the fields {', '.join(known)}",
            f"the fields {', '.join(names)}" if names else "no fields",
        )
    for name, value in values.items():
        if isinstance(known[name].default, bool) and not isinstance(value, bool):
            owner, got = made.__name__, f"a value of type {type(value).__name__}"
            raise InvalidParameterError(name, owner=owner, must_be="true or false", got=got)
    return made.from_record(values)


def _refused(must_be: str, got: str) -> InvalidParameterError:
    return InvalidParameterError("record", owner="mechanism_from", must_be=must_be, got=got)
