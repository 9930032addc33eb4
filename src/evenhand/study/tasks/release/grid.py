"""The grid of a study of releases: one or several of a thing as a list, and the mechanism of a setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.release.mechanisms.named import TableMechanism

if TYPE_CHECKING:
    from evenhand.release.mechanisms.mechanism import ReleaseMechanism
    from evenhand.study.plan.cells import Setting

__all__ = ["built", "several"]


def built(setting: Setting, *, unit: str) -> ReleaseMechanism:
    """Return the mechanism of a setting."""
    return TableMechanism(setting.protocol, setting.parameters).build(epsilon=setting.epsilon, unit=unit)


def several(given: Any, name: str) -> list[Any]:
    """Return what one or several of a thing stand for, as a list that is not empty."""
    if isinstance(given, str | Mapping | TableMechanism) or not isinstance(given, Iterable):
        return [given]
    listed = list(given)
    if not listed:
        raise InvalidParameterError(name, owner="ReleaseTask", must_be="at least one", got="an empty list")
    return listed
