"""Measuring a mechanism from outside, by how well two inputs can be told apart."""

from evenhand.privacy.audit.measured import (
    Audit,
    audit_epsilon,
)

__all__ = ["Audit", "audit_epsilon"]
