"""Outcomes as canonical JSON: one text for one result, exact to the last bit of every number."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.study.store.outcome import Failure, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Cell

__all__ = ["canonical", "numbers_from", "numbers_text", "outcome_from", "result_of", "result_text"]

_WRONG = "This text is not the result of a cell."
_PARTS = ("measures", "groups", "data", "failure")
_FURTHER = ("entities", "notes")


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: keys in order, no spaces, ASCII only, no NaN.

    >>> canonical({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def result_of(outcome: Outcome) -> dict[str, Any]:
    """Return the result in JSON's types: no cell, and no times, which differ from run to run.

    Strict JSON knows neither NaN nor infinity: NaN is ``null``, the infinities are ``"inf"`` and ``"-inf"``.
    Groups are a list, for their order is the schema's. Entities and notes are left out where there are none.
    """
    failure = outcome.failure
    entities = [[name, _plain_numbers(numbers)] for name, numbers in outcome.entities]
    more = {"entities": entities, "notes": [Note.of(note).plain for note in outcome.notes]}
    return {name: each for name, each in more.items() if each} | {
        "measures": _plain_numbers(outcome.measures),
        "groups": [[label, _plain_numbers(rates)] for label, rates in outcome.groups.items()],
        "data": _plain_numbers(outcome.data),
        "failure": None if failure is None else {"kind": failure.kind, "message": failure.message},
    }


def result_text(outcome: Outcome) -> str:
    """Return the result as canonical JSON, see :func:`result_of`.

    >>> from evenhand.study.plan.cells import Cell, Setting
    >>> result_text(Outcome(Cell(Setting(), 0), measures={"accuracy": 0.1, "di": float("nan")}))
    '{"data":{},"failure":null,"groups":[],"measures":{"accuracy":0.1,"di":null}}'
    """
    return canonical(result_of(outcome))


def numbers_text(numbers: Mapping[str, float]) -> str:
    """Return numbers by name as canonical JSON."""
    return canonical(_plain_numbers(numbers))


def numbers_from(given: Any) -> dict[str, float]:
    """Return the numbers that a table of JSON stands for; a wrong one raises ValueError."""
    if not isinstance(given, dict):
        raise ValueError(_WRONG)  # noqa: TRY004 - one kind of error for whatever is wrong with a text
    return {name: _number(value) for name, value in given.items()}


def outcome_from(cell: Cell, *, result: str, seconds: str) -> Outcome:
    """Return the outcome that two texts stand for; anything else raises ValueError."""
    document = json.loads(result)
    if not isinstance(document, dict) or {*document, *_FURTHER} != {*_PARTS, *_FURTHER}:
        raise ValueError(_WRONG)
    failure = document["failure"]
    return Outcome(
        cell,
        measures=numbers_from(document["measures"]),
        groups={str(label): numbers_from(rates) for label, rates in document["groups"]},
        data=numbers_from(document["data"]),
        seconds=numbers_from(json.loads(seconds)),
        failure=None if failure is None else Failure(str(failure["kind"]), str(failure["message"])),
        entities=tuple((str(name), numbers_from(each)) for name, each in document.get("entities", ())),
        notes=tuple(Note.of(each) for each in document.get("notes", ())),
    )


def _plain_numbers(numbers: Mapping[str, float]) -> dict[str, float | str | None]:
    return {str(name): _plain(float(value)) for name, value in numbers.items()}


def _plain(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if value in ("inf", "-inf") or (isinstance(value, int | float) and not isinstance(value, bool)):
        return float(value)
    raise ValueError(_WRONG)
