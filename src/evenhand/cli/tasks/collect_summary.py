"""The table at the end of a study: one row per setting, changes in points with their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.cli.terminal.console import WIDEST, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = ["shown_groups", "shown_settings", "summary_rows", "summary_table"]

_MOST_ROWS = 24
_MEASURES = {"acc": "Accuracy", "sp_gap": "Gap"}
_NARROW = 60
_PROTOCOL, _PARAMETERS = "Protocol", 24
_NUMBERS, _SPLIT, _GROUP, _LONGEST = 60, 13, 5, 18


def shown_settings(results: Results) -> tuple[tuple[Setting, ...], str]:
    """Return the protected settings that fit a screen, and what was left out, in words."""
    every = [setting for setting in results.settings if setting.is_protected]
    if len(every) <= _MOST_ROWS:
        return tuple(every), ""
    middle = min((each.epsilon for each in every if each.epsilon), key=lambda each: abs(math.log(each)))
    chosen = [each for each in every if each.epsilon == middle][:_MOST_ROWS]
    return tuple(chosen), f"{len(chosen)} of {len(every)} settings are shown; the report has all"


def summary_rows(results: Results) -> list[dict[str, Any]]:
    """Return one object for each setting and measure of the table, for machines."""
    from evenhand.study.results.estimates import estimate, group_change, paired_change  # noqa: PLC0415 - starts numpy

    rows = []
    for setting in results.settings:
        row: dict[str, Any] = {"setting": str(setting), **setting.key}
        for measure in results.plan.measures:
            value, change = estimate(results, setting, measure), paired_change(results, setting, measure)
            row[measure] = {**_numbers(value), "change": _numbers(change)}
        row["groups"] = {
            label: {"selection_change": _numbers(group_change(results, setting, label, "selection"))}
            for label in results.facts.groups
        }
        rows.append(row)
    return rows


def _numbers(estimated: Estimated) -> dict[str, Any]:
    return {"value": estimated.value, "low": estimated.low, "high": estimated.high, "runs": estimated.runs}


def summary_table(terminal: Terminal, results: Results) -> Any:
    """Return the table, as wide as the terminal lets it be."""
    from rich.table import Table  # noqa: PLC0415 - rich loads when a command speaks
    from rich.text import Text  # noqa: PLC0415 - as above

    width = min(terminal.results.width, WIDEST)
    settings, _ = shown_settings(results)
    groups = shown_groups(terminal, results)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for title, numeric in _header(settings, list(groups.values()), beside=width >= _NARROW):
        named = title == _PROTOCOL  # may have parameters, and then takes the lines it needs
        table.add_column(
            fit(title, terminal.results.encoding),
            justify="right" if numeric else "left",
            no_wrap=not named,
            min_width=len(_PROTOCOL) if named else None,
            overflow="fold" if named else "ellipsis",
        )
    for setting in settings:
        cells = _row(results, setting, list(groups), beside=width >= _NARROW)
        table.add_row(*(Text(fit(text, terminal.results.encoding), style) for text, style in cells))
    return table


def shown_groups(terminal: Terminal, results: Results) -> dict[str, str]:
    """Return the groups that fit beside the numbers, each with the head of its column; nothing if none does.

    A head names the column too where there is room, for a 0 alone tells nobody whose column it is.
    """
    from evenhand.study.tasks.shared.report_settings import protocol_parameters  # noqa: PLC0415 - starts numpy

    groups, several = results.facts.groups, _several([each for each in results.settings if each.is_protected])
    room = min(terminal.results.width, WIDEST) - _NUMBERS - (_SPLIT if several else 0)
    room -= _PARAMETERS if any(protocol_parameters(each) for each in results.settings) else 0
    protected = str(results.facts.schema.protected).strip()
    for heads in ([f"{protected} = {label}" for label in groups], list(groups)):
        longest = max(len(head) for head in heads)
        if longest <= _LONGEST and sum(max(len(head), _GROUP) + 2 for head in heads) <= room:
            return dict(zip(groups, heads, strict=True))
    return {}


def _header(settings: Sequence[Setting], groups: Sequence[str], *, beside: bool) -> list[tuple[str, bool]]:
    names = [(_PROTOCOL, False)]
    names += [("Split", False)] if _several(settings) else []
    names += [("ε", True)]
    for title in _MEASURES.values():
        names += [(title, True), ("", False)] if beside else [(title, True)]
    return names + [(head, True) for head in groups]


def _row(results: Results, setting: Setting, groups: Sequence[str], *, beside: bool) -> list[tuple[str, str]]:
    from evenhand.report.words import epsilon_of  # noqa: PLC0415 - as above
    from evenhand.study.results.estimates import group_change, paired_change  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.collect.wording import protocol_name  # noqa: PLC0415 - as above

    cells = [(protocol_name(setting), "")]
    if _several([each for each in results.settings if each.is_protected]):
        cells.append((str(setting.option("split", setting.option("strategy"))), ""))
    cells.append((epsilon_of(setting.epsilon), ""))
    for measure in _MEASURES:
        change = paired_change(results, setting, measure)
        style = "bold" if change.is_clear else ""
        between = _between(change)
        cells += (
            [(_points(change.value), style), (between, "dim")]
            if beside
            else [(f"{_points(change.value)}\n{between}".rstrip(), style)]
        )
    for label in groups:
        change = group_change(results, setting, label, "selection")
        cells.append((_points(change.value), "bold" if change.is_clear else ""))
    return cells


def _several(settings: Sequence[Setting]) -> bool:
    return len({(each.option("split"), each.option("strategy")) for each in settings}) > 1


def _points(share: float) -> str:
    """Return a change in points with its sign.

    >>> _points(-0.0301), _points(0.0004), _points(float("nan"))
    ('−3.0', '0.0', 'undefined')
    """
    if math.isnan(share):
        return "undefined"
    text = f"{100 * share:+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", "−")


def _between(change: Estimated) -> str:
    if change.low is None or change.high is None:
        return ""
    return f"{_points(change.low)} to {_points(change.high)}"
