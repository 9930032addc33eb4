"""The protocols by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand.collect.grr import GRR
from evenhand.collect.hashing import BLH, OLH
from evenhand.collect.optimal import Optimal
from evenhand.collect.subset import SS
from evenhand.collect.thresholded import THE
from evenhand.collect.unary import OUE, RAPPOR
from evenhand.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from evenhand.collect.base import Protocol

__all__ = ["PROTOCOLS", "protocol_from", "protocol_named"]

_CLASSES: tuple[type[Protocol], ...] = (GRR, BLH, OLH, RAPPOR, OUE, SS, THE, Optimal)

PROTOCOLS: dict[str, type[Protocol]] = {each.name: each for each in _CLASSES}
"""Every protocol class by its name."""

_LONGEST_NAME = 40


def protocol_named(name: str) -> type[Protocol]:
    """Return the protocol class of a name, in small or capital letters.

    >>> protocol_named("OUE").__name__
    'OUE'
    """
    found = PROTOCOLS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        shown = name[:_LONGEST_NAME] if isinstance(name, str) else f"a value of type {type(name).__name__}"
        raise UnknownNameError("Protocol", shown, PROTOCOLS)
    return found


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
    if not isinstance(record, Mapping):
        raise _refused("a mapping, as Protocol.to_dict makes it", f"a value of type {type(record).__name__}")
    values = dict(record)
    made = protocol_named(values.pop("protocol", None))
    known = {each.name: each for each in fields(made)}
    needed = {name for name, each in known.items() if each.default is MISSING}
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
    return InvalidParameterError("record", owner="protocol_from", must_be=must_be, got=got)
