"""Hash what changes the results of cells besides the cells themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.study.plan.cells import canonical

if TYPE_CHECKING:
    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.plan import Plan

_FORMAT = 1
_DEEPEST = 20


@dataclass(frozen=True)
class Spec:
    """Data, schema, task and seed of a study: equal specs and equal cells give equal results.

    The grid and the number of repeats are not part of it, so that a study whose plan gains a value keeps
    every cell that is finished. The parts are in JSON's types, under the names that messages call them by.
    """

    parts: Mapping[str, Any]

    @classmethod
    def of(cls, plan: Plan, facts: Facts) -> Spec:
        """Return the spec of a plan whose data are known."""
        return cls(
            {
                "format": _FORMAT,
                "data": facts.fingerprint,
                "schema": facts.schema.fingerprint,
                "task": plan.task.fixed,
                "seed": plan.seed,
            }
        )

    @property
    def text(self) -> str:
        """The spec as canonical JSON."""
        return canonical(self.parts)

    @property
    def hash(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()

    def differences(self, other: Spec) -> tuple[str, ...]:
        """Return the names of the parts in which two specs differ.

        >>> Spec({"data": "a", "seed": 1}).differences(Spec({"data": "a", "seed": 2}))
        ('seed',)
        """
        names = {*self.parts, *other.parts}
        return tuple(name for name in sorted(names) if self.parts.get(name) != other.parts.get(name))


def plain_value(value: Any, depth: int = _DEEPEST) -> Any:
    """Return a parameter in JSON's types, such that different values never look the same."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else {"float": float(value).hex()}
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return _plain_object(value, depth)
    if not depth:
        raise _unfit(value)
    if isinstance(value, Mapping):
        pairs = [[plain_value(key, depth - 1), plain_value(part, depth - 1)] for key, part in value.items()]
        return {"mapping": sorted(pairs, key=canonical)}
    listed = [plain_value(part, depth - 1) for part in value]
    if isinstance(value, list | tuple):
        return {"list" if isinstance(value, list) else "tuple": listed}
    return {"set": sorted(listed, key=canonical)}


def _plain_object(value: Any, depth: int) -> Any:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return {"array": [value.dtype.str, list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]}
    if isinstance(value, type) or (callable(value) and "<" not in getattr(value, "__qualname__", "<")):
        return {"name": f"{value.__module__}.{value.__qualname__}"}
    is_named = hasattr(value, "__qualname__")  # two lambdas have one name
    parts = None if not depth or is_named or isinstance(value, np.ndarray) else _parts(value)
    if parts is None:
        raise _unfit(value)
    return {"object": _name_of(value), "parts": plain_value(parts, depth - 1)}


def _parts(value: Any) -> Any:
    """Return what a stranger's object is made of, or None if that cannot be told."""
    if callable(getattr(value, "get_params", None)):
        return dict(value.get_params(deep=False))
    try:
        reduced = value.__reduce_ex__(4)
    except TypeError:
        return None
    parts = list(reduced) if isinstance(reduced, tuple) else [reduced]
    return parts[:3] + [list(part) for part in parts[3:5] if part is not None]


def _unfit(value: object) -> InvalidParameterError:
    must_be = "a classifier whose parameters are numbers, texts, lists, mappings, arrays or such objects"
    return InvalidParameterError("model", owner="CollectTask", must_be=must_be, got=_name_of(value))


def _name_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
