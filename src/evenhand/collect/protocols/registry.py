"""The protocols by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import BLH, OLH
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.privacy.records import build_from_record, find_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collect.protocols.base import Protocol

__all__ = ["PROTOCOLS", "protocol_from", "protocol_named"]

_CLASSES: tuple[type[Protocol], ...] = (GRR, BLH, OLH, RAPPOR, OUE, SS, THE, Optimal)

PROTOCOLS: dict[str, type[Protocol]] = {each.name: each for each in _CLASSES}
"""Every protocol class by its name."""


def protocol_named(name: str) -> type[Protocol]:
    """Return the protocol class of a name, in small or capital letters.

    >>> protocol_named("OUE").__name__
    'OUE'
    """
    return find_class(name, PROTOCOLS, kind="Protocol")


def protocol_from(record: Mapping[str, Any]) -> Protocol:
    """Return the protocol that :meth:`Protocol.to_dict` wrote down.

    Nothing in the record is passed over: it must have the fields of its protocol, each of its type, and no
    others. What may be left out is what has a default.

    Raises
    ------
    UnknownNameError
        If there is no protocol of that name.
    InvalidParameterError
        If a field is missing, unknown, or has a value it cannot have.

    Examples
    --------
    >>> protocol_from(GRR(k=5, epsilon=0.1).to_dict())
    GRR(k=5, epsilon=0.1)
    """
    return build_from_record(record, PROTOCOLS, kind="Protocol", owner="protocol_from")
