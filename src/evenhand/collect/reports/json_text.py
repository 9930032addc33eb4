"""Reports as JSON texts, for the few that a browser or a telephone sends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evenhand.collect.reports.notes import NOTES, in_written_order, note_of, parsed, read_note
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError
from evenhand.table.source import Limits, over_limit, refuse

if TYPE_CHECKING:
    from types import UnionType

__all__ = ["reports_from_text", "reports_text"]

_NAME = "The text"
_LIMITS = Limits(bytes=20_000_000)  # parsed, a hostile text takes twenty times its size


def reports_text(reports: Reports, *, simulated: str, keep_order: bool) -> str:
    """Return reports, and what they are, as one JSON object."""
    note = note_of(reports, simulated=simulated, keep_order=keep_order, owner="Reports.to_json")
    written = in_written_order(reports, keep_order=keep_order)
    return json.dumps(note | {"reports": reports.protocol.layout.to_json(written.values)})


def reports_from_text(text: str | bytes, *, limits: Limits | None = None) -> Reports:
    """Return the reports of a text that :func:`reports_text` made."""
    limits = _LIMITS if limits is None else limits
    _check_type("limits", limits, Limits, "a Limits")
    _check_type("text", text, str | bytes, "a text or its bytes in UTF-8")
    if len(text) > limits.bytes:
        over_limit(_NAME, f"it is longer than {limits.bytes:,} bytes.", limit="bytes")
    try:
        record = parsed(text if isinstance(text, str) else text.decode("utf-8"))
    except ValueError:
        refuse(_NAME, "it is not JSON, or says something twice.")
    if not isinstance(record, dict):
        refuse(_NAME, "it is not a JSON object.")
    protocol, simulated = read_note(record, _NAME)
    if "reports" not in record or record.keys() - {*NOTES, "reports"}:
        refuse(_NAME, "it has no reports, or more than reports and what they are.")
    try:
        values = protocol.layout.from_json(record["reports"])
    except InvalidParameterError as error:
        refuse(_NAME, f"its reports are not {error.must_be}.")
    return Reports._drawn(values, protocol, simulated=simulated)  # noqa: SLF001 - they were checked


def _check_type(name: str, value: object, kind: type | UnionType, must_be: str) -> None:
    if not isinstance(value, kind):
        got = f"a value of type {type(value).__name__}"
        raise InvalidParameterError(name, owner="Reports.from_json", must_be=must_be, got=got)
