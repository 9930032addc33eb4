"""What the command line and the workbench share of a release: defaults, and who takes which parameter."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.study.tasks.release.task import ReleaseTask

if TYPE_CHECKING:
    from evenhand.schema import Schema

PARAMETERS = ("threshold", "fill", "k", "fraction", "delta", "rho")
"""The parameters of mechanisms that have an option."""

WITH_QUASI_IDENTIFIERS = ("record-swapping", "k-anonymity")
"""The mechanisms that are tried as well where a schema says what others may know."""


def default_mechanisms(*, has_quasi_identifiers: bool) -> tuple[str, ...]:
    """Return the mechanisms that are compared where nobody names any.

    >>> default_mechanisms(has_quasi_identifiers=True)[-1]
    'k-anonymity'
    """
    more = WITH_QUASI_IDENTIFIERS if has_quasi_identifiers else ()
    return (*ReleaseTask.audit_mechanisms, *more)


def mechanisms_with(parameter: str) -> tuple[str, ...]:
    """Return the names of the mechanisms that take a parameter.

    >>> mechanisms_with("threshold")
    ('suppression', 'noisy-suppression', 'thresholded-laplace')
    """
    return tuple(name for name in MECHANISMS if takes_parameter(name, parameter))


def takes_parameter(name: str, parameter: str) -> bool:
    """Tell whether the mechanism of a name takes a parameter; no other mechanism is loaded for that."""
    kind: Any = MECHANISMS.get(name)
    return kind is not None and any(field.name == parameter for field in fields(kind))


def roles_to_train(schema: Schema) -> tuple[str, ...]:
    """Return the roles that a model needs beside the target: of crossed groups none is privileged."""
    return ("positive",) if schema.crossing is not None else ("positive", "privileged")


def trains_model(schema: Schema) -> bool:
    """Whether a schema has all that a model needs that is trained on the published table."""
    return all(getattr(schema, role) is not None for role in ("target", *roles_to_train(schema)))
