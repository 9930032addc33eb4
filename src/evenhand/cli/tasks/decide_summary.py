"""What a study of decisions says to machines: one object for each setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.study.results.results import Results

__all__ = ["decision_rows"]

_MOST = 10


def decision_rows(results: Results) -> list[dict[str, Any]]:
    """Return one object for each protected setting: measures, groups of people, and the most affected."""
    from evenhand.study.tasks.decide.methods import way_title  # noqa: PLC0415 - as above
    from evenhand.study.tasks.decide.reading import DecideReading  # noqa: PLC0415 - starts numpy

    rows = []
    for setting in results.settings:
        if not setting.is_protected:
            continue
        reading = DecideReading(results, setting)
        found = reading.outcome()
        row: dict[str, Any] = {"setting": str(setting), **setting.key, "way": way_title(setting)}
        row |= {measure: reading.mean(measure) for measure in results.plan.measures}
        row["method"] = None if found is None or not found.notes else found.notes[0]
        row["notes"] = [] if found is None else list(found.notes[1:])
        row["groups"] = {
            group: {name: reading.of_group(group, name) for name in results.arrays.rates}
            for group in reading.groups
        }
        row["most_affected"] = [
            {"name": name, **numbers} for name, numbers in (found.entities[:_MOST] if found else ())
        ]
        rows.append(row)
    return rows
