"""Results as text and as HTML: each setting with a few measures and their intervals."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.study.results.estimates import estimate
from evenhand.study.results.intervals import kind_words

if TYPE_CHECKING:
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated

__all__ = ["as_html", "as_text"]

_FEW = 4
_SHOWN_TEXT = 12
_SHOWN_HTML = 30
_LEVEL = 0.95
_NOT_PRIVATE = "Computed from the true data: these numbers are not private."


def as_text(results: ResultData) -> str:
    """Return title, table and notes."""
    table = aligned(_rows(results, _SHOWN_TEXT))
    return "\n".join([_title(results), *table, *_notes(results, _SHOWN_TEXT)])


def as_html(results: ResultData) -> str:
    """Return title, table and notes; every text is escaped."""
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(results, _SHOWN_HTML))
    table = html_table(_rows(results, _SHOWN_HTML))
    return f"<div><p>{escape(_title(results))}</p>{table}{notes}</div>"


def _title(results: ResultData) -> str:
    name = f"{results.plan.name} on " if results.plan.name else ""
    counts = [f"{len(results.settings):,} settings x {_several(results.plan.repeats, 'repeat')}"]
    counts += [f"{_several(len(results.failures), 'cell')} failed"] if results.failures else []
    counts += [f"{_several(len(results.missing), 'cell')} not run"] if results.missing else []
    return f"Results of {name}{results.facts.label}: {', '.join(counts)}"


def _several(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _rows(results: ResultData, shown: int) -> list[list[str]]:
    named = results.plan.measures
    task = results.plan.task
    keys = task.key_measures or named[:_FEW]
    measures = [name for name in keys if name in named] or list(named[: len(keys)])
    rows = [["setting", *(task.measure(name).words for name in measures)]]
    for setting in results.settings[:shown]:
        found = (estimate(results, setting, name, level=_LEVEL) for name in measures)
        rows.append([str(setting), *map(_value_text, found)])
    return rows


def _value_text(found: Estimated) -> str:
    if not found.runs:
        return "no value"
    value = number_text(found.value)
    if found.low is None or found.high is None:
        return value
    return f"{value} ({number_text(found.low)} to {number_text(found.high)})"


def _notes(results: ResultData, shown: int) -> list[str]:
    more = len(results.settings) - shown
    notes = [f"and {_several(more, 'more setting')}; summary() has them all"] if more > 0 else []
    if results.plan.repeats > 1:
        notes.append(f"In brackets: {kind_words('seeds', _LEVEL)}.")
    elif not results.plan.task.is_exact:
        notes.append("A single repeat has no interval.")
    return [*notes, _NOT_PRIVATE]
