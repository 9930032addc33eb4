"""Facts of a study as JSON, the schema in them as TOML."""

from __future__ import annotations

import json
from typing import Any

from evenhand._notes import Note
from evenhand.schema import Schema
from evenhand.study.plan.facts import Facts
from evenhand.study.store.outcome_json import canonical

__all__ = ["facts_from", "facts_text"]


def facts_text(facts: Facts) -> str:
    """Return the facts as canonical JSON."""
    plain: dict[str, Any] = {
        **vars(facts),
        "schema": facts.schema.to_toml(),
        "notes": [Note.of(note).plain for note in facts.notes],
        "versions": [[name, version] for name, version in facts.versions.items()],
    }
    return canonical(plain)


def facts_from(text: str) -> Facts:
    """Return the facts that a text of :func:`facts_text` stands for."""
    plain = json.loads(text)
    return Facts(
        **{
            **plain,
            "schema": Schema.from_toml(plain["schema"]),
            "groups": tuple(plain["groups"]),
            "sizes": tuple(plain["sizes"]),
            "notes": tuple(Note.of(each) for each in plain["notes"]),
            "versions": {str(name): str(version) for name, version in plain["versions"]},
        }
    )
