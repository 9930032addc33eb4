"""An answer for programs: its words, its numbers and the rows behind them as one JSON object."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.answer.status import EFFECT_COLUMNS

if TYPE_CHECKING:
    from evenhand.answer.view import View


def to_json(view: View) -> dict[str, Any]:
    """Return an answer in JSON's types; a number that is not defined is None."""
    told = {"who": view.who, "how_much": view.how_much, "what_to_do": view.what_to_do}
    answer = {
        "language": view.language,
        "kind": view.kind,
        "question": view.question,
        "state": view.state,
        "verdict": view.verdict,
        "sentences": told,
        "warnings": view.warnings,
        "heading": view.heading,
        "panels": view.panels,
        "remedies": view.remedies,
        "curve": view.curve,
        "page": view.page,
        "recommended": view.recommended,
        "commands": view.commands,
        "promise": view.promise and view.promise.text,
        "effects": [{name: getattr(row, name) for name in EFFECT_COLUMNS} for row in view.rows],
    }
    return {name: _plain(value) for name, value in answer.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, str | bool | int | None):
        return value
    return float(value) if math.isfinite(value) else None
