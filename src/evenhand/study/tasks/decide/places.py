"""Entities one by one under the page's setting: evidence below a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.answer.effects import per_head
from evenhand.report.page import Section, Table
from evenhand.report.words import number, plain
from evenhand.study.page.wording import digits_of

if TYPE_CHECKING:
    from evenhand.answer.effects import EffectTable, Observation
    from evenhand.answer.words import Words

_SHOWN = 20
_SMALL = 0.05


def places_section(table: EffectTable, words: Words, *, title: str) -> Section | None:
    """Return the entities that lack most under the page's option; None where none was kept."""
    rows = [
        seen
        for seen in table.by_option[table.page]
        if seen.group in table.entities and seen.effect in ("refused", "granted", "short") and seen.is_stored
    ]
    if not rows:
        return None
    rows.sort(key=lambda seen: -_lack(seen))
    is_rule = rows[0].effect != "short"
    header = words.say("decide.header_rule" if is_rule else "decide.header_money").split("|")
    shown = [_tell_right(each) if is_rule else _tell_money(table, each) for each in rows[:_SHOWN]]
    made = Table(
        header=header,
        rows=shown,
        numeric=[False, *[True] * (len(header) - 1)],
        name="places",
        data=_data(table, rows),
    )
    return Section(title, tables=(made,), anchor="places")


def _lack(seen: Observation) -> float:
    """Return what an entity lacks beside what is due to it; to gain a right is less than to lose one."""
    if seen.effect == "short":
        return float(per_head(seen, seen.mean_due - seen.mean_after))
    return seen.mean_after if seen.effect == "refused" else seen.mean_after - 1000.0


def _tell_right(seen: Observation) -> list[str]:
    chance = _amount(seen.mean_after / 10)
    chances = (chance, "–") if seen.effect == "refused" else ("–", chance)
    return [plain(seen.group), number(seen.people, 0), *chances]


def _tell_money(table: EffectTable, seen: Observation) -> list[str]:
    billed = table.by_key.get((seen.option, seen.group, "billed"))
    chance = math.nan if billed is None else billed.mean_after
    amounts = (seen.mean_due, seen.mean_after, seen.worst, chance)
    return [plain(seen.group), number(seen.people, 0), *map(_amount, amounts)]


def _amount(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return number(value, 0 if abs(value) >= 100 or abs(value) < _SMALL else digits_of(value))


def _data(table: EffectTable, rows: list[Observation]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {
        "entity": [plain(seen.group) for seen in rows],
        "people": [seen.people for seen in rows],
        "effect": [seen.effect for seen in rows],
        "due": [seen.mean_due for seen in rows],
        "after": [seen.mean_after for seen in rows],
        "worst": [seen.worst for seen in rows],
    }
    bills = [table.by_key.get((seen.option, seen.group, "billed")) for seen in rows]
    if any(bills):
        found["billed"] = [math.nan if each is None else each.mean_after for each in bills]
    return found
