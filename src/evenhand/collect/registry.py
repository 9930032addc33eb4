"""The protocols by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.collect.grr import GRR
from evenhand.collect.hashing import BLH, OLH
from evenhand.collect.subset import SS
from evenhand.collect.thresholded import THE
from evenhand.collect.unary import OUE, RAPPOR
from evenhand.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collect.base import Protocol

__all__ = ["PROTOCOLS", "protocol_from", "protocol_named"]

PROTOCOLS: dict[str, type[Protocol]] = {each.name: each for each in (GRR, BLH, OLH, RAPPOR, OUE, SS, THE)}
"""Every protocol class by its name."""


def protocol_named(name: str) -> type[Protocol]:
    """Return the protocol class of a name, in small or capital letters.

    >>> protocol_named("OUE").__name__
    'OUE'
    """
    found = PROTOCOLS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise UnknownNameError("Protocol", name, PROTOCOLS)
    return found


def protocol_from(record: Mapping[str, Any]) -> Protocol:
    """Return the protocol that :meth:`Protocol.to_dict` wrote down.

    >>> protocol_from(GRR(k=5, epsilon=0.1).to_dict())
    GRR(k=5, epsilon=0.1)
    """
    values = dict(record)
    made = protocol_named(values.pop("protocol", None))
    try:
        return made(**values)
    except TypeError:
        must_be = f"the record of a protocol, with the fields of {made.__name__}"
        got = f"the fields {', '.join(map(str, values))}"
        raise InvalidParameterError("record", owner="protocol_from", must_be=must_be, got=got) from None
