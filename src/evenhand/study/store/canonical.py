"""Outcomes and facts as text: one canonical JSON for one result, exact to the last bit of every number.

The canonical table of a study is the same bytes however, and however often, the study was run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notes import Note
from evenhand.schema import Schema
from evenhand.study.plan.cells import canonical
from evenhand.study.plan.facts import Facts, Leak
from evenhand.study.store.outcome import Failure, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Cell

_WRONG = "This text is not the result of a cell."
_PARTS = ("measures", "groups", "data", "failure")
_FURTHER = ("entities", "names", "columns", "notes")
_KINDS = {4: "<f4", 8: "<f8"}
_LEAKS = ("leaks", "target_leaks")  # stored where there are any


def result_of(outcome: Outcome) -> dict[str, Any]:
    """Return the result in JSON's types: no cell, and no times, which differ from run to run.

    Strict JSON knows neither NaN nor infinity: NaN is ``null``, the infinities are ``"inf"`` and ``"-inf"``.
    Groups are a list, for their order is the schema's. What is :data:`_FURTHER` is left out where there is
    none.
    """
    failure = outcome.failure
    more = {
        "entities": [[name, _plain_numbers(numbers)] for name, numbers in outcome.entities],
        "names": list(outcome.names),
        "columns": dict(outcome.columns),
        "notes": [Note.of(note).plain for note in outcome.notes],
    }
    return {name: part for name, part in more.items() if part} | {
        "measures": _plain_numbers(outcome.measures),
        "groups": [[label, _plain_numbers(rates)] for label, rates in outcome.groups.items()],
        "data": _plain_numbers(outcome.data),
        "failure": None if failure is None else dict(vars(failure)),
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
        entities=tuple((str(name), numbers_from(numbers)) for name, numbers in document.get("entities", ())),
        names=tuple(map(str, document.get("names", ()))),
        columns=_texts_from(document.get("columns", {})),
        notes=tuple(Note.of(note) for note in document.get("notes", ())),
    )


def _texts_from(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise ValueError(_WRONG)
    return given


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


def pack(values: NDArray[np.floating[Any]]) -> str:
    """Return many numbers as one short text: their type, then their bytes, low byte first.

    >>> pack(np.array([0.5, 2], dtype=np.float32))
    '<f4 AAAAPwAAAEA='
    """
    kind = _KINDS[values.dtype.itemsize]
    return f"{kind} {base64.b64encode(values.astype(kind).tobytes()).decode('ascii')}"


def unpack(text: str) -> NDArray[np.float64]:
    """Return the numbers of a text of :func:`pack`; any other raises ValueError.

    >>> unpack("<f4 AAAAPwAAAEA=")
    array([0.5, 2. ])
    """
    kind, _, packed = text.partition(" ")
    if kind not in _KINDS.values():
        raise ValueError("This text holds no numbers.")
    return np.frombuffer(base64.b64decode(packed, validate=True), dtype=kind).astype(np.float64)


def canonical_table(outcomes: Iterable[Outcome]) -> bytes:
    r"""Return the outcomes as lines of canonical JSON, in the order of the cells' names.

    Times are left out, for they differ from run to run. Everything else is the same to the byte for any
    number of workers, for a study that was stopped and resumed, and in every process.

    Examples
    --------
    >>> from evenhand.study import Cell, Outcome, Setting
    >>> canonical_table([Outcome(Cell(Setting(), 0), measures={"accuracy": 0.75})])
    b'{"cell":{"epsilon":null,"mechanism":"none","options":{},"repeat":0},...
    """
    named = {outcome.cell.id: outcome for outcome in outcomes}
    lines = (canonical({"cell": json.loads(name), **result_of(named[name])}) for name in sorted(named))
    return b"".join(f"{line}\n".encode("ascii") for line in lines)


def table_hash(outcomes: Iterable[Outcome]) -> str:
    """Return the SHA-256 of the canonical table, in hexadecimal.

    >>> table_hash([])
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    return hashlib.sha256(canonical_table(outcomes)).hexdigest()


# --- facts -----------------------------------------------------------------------------------------


def facts_text(facts: Facts) -> str:
    """Return the facts as canonical JSON, the schema in them as TOML."""
    plain: dict[str, Any] = {
        **vars(facts),
        "schema": facts.schema.to_toml(),
        "notes": [Note.of(note).plain for note in facts.notes],
        "versions": [[name, version] for name, version in facts.versions.items()],
        **{name: [vars(leak) for leak in getattr(facts, name)] for name in _LEAKS},
    }
    optional = (*_LEAKS, "persons")
    return canonical({name: value for name, value in plain.items() if name not in optional or value})


def facts_from(text: str) -> Facts:
    """Return the facts that a text of :func:`facts_text` stands for."""
    plain = json.loads(text)
    plain |= {name: tuple(plain.get(name, ())) for name in ("groups", "sizes", "notes", "persons")}
    plain["schema"] = Schema.from_toml(plain["schema"])
    plain["versions"] = {str(name): str(version) for name, version in plain["versions"]}
    for name in _LEAKS:
        leaks = plain.get(name, ())
        plain[name] = tuple(Leak(**{**leak, "by": tuple(leak["by"])}) for leak in leaks)
    return Facts(**plain)
