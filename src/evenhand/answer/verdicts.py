"""The verdict: who pays and whether it can be undone, that nobody pays, or why it cannot be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.answer.effects import EFFECTS
from evenhand.answer.harm import side_in_each

if TYPE_CHECKING:
    from evenhand.answer.status import Effect
    from evenhand.answer.telling import Telling

_MOST_OF_IT = 0.5


def say_verdict(telling: Telling) -> str:
    """Return the verdict."""
    found, say = telling.verdict, telling.say
    if found.trouble:
        missing = [payer.row.group for payer in found.payers if payer.tier < 0]
        slots = telling.named(missing) if missing else {}
        between = telling.case.is_between_groups and found.trouble[0] == "dead"
        key = f"verdict.{found.trouble[0].replace(' ', '_')}"
        return say("verdict.dead_decisions" if between else key, **slots)
    if found.state == "pays":
        return _say_who_pays(telling)
    if found.state == "nobody":
        if found.worst is None or found.worst.bound <= 0:
            return say("verdict.nobody", **telling.named([]))
        own = f"verdict.nobody_{found.worst.effect}"
        key = own if telling.words.has(own) else f"verdict.nobody_{telling.verb}"
        return say(key, amount=telling.bound(found.worst))
    return _say_unsure(telling)


def _say_unsure(telling: Telling) -> str:
    """Return why it cannot be said who pays."""
    found, say = telling.verdict, telling.say
    if not telling.harmful or all(row.status == "not stored" for row in telling.harmful):
        return say("verdict.unsure_stored")
    if found.unnamed:
        return say("verdict.unsure_crossing", **telling.named([found.unnamed[0].group]))
    if not found.open:
        return say("verdict.unsure_few")
    if telling.case.repeats == 1 and any(row.basis.startswith("repeats") for row in telling.harmful):
        return say("verdict.unsure_repeats")
    if telling.lead is not None and (side := side_in_each(telling.table, telling.lead)):
        return say(f"verdict.unsure_{side}", **telling.named([telling.lead.group]))
    is_small = any(_is_clearly_harmed(row) for row in telling.open)
    return say("verdict.unsure_small" if is_small else "verdict.unsure_open")


def _is_clearly_harmed(row: Effect) -> bool:
    """Return whether limits leave out that a group lacks nothing, whether by what matters or not."""
    return row.lack > 0 and (row.low > 0 or row.high < 0)


def _say_who_pays(telling: Telling) -> str:
    """Return the verdict on the payers: whether it can be undone, and at whose cost."""
    found = telling.verdict
    first, use, trade_off = found.payers[0], telling.choice.first, telling.choice.find_least("trade-off")
    slots = telling.named(payer.row.group for payer in found.payers) | {
        "P": telling.case.protection or telling.words.say("default.protection")
    }
    key = "pays"
    if use is not None:
        most = use.relief.mean >= _MOST_OF_IT * first.amount
        key = "undone" if most else "helped"
    elif found.is_everybody and len(telling.harmed) > 1:
        key = "everybody_alike" if len(found.payers) == len(telling.harmed) else "everybody"
    elif trade_off is not None:
        key, unit = "costly", EFFECTS[first.row.effect].unit
        alike = [each for each in trade_off.harmed if EFFECTS[each.lead.effect].unit == unit]
        worst = max(alike, key=lambda each: each.limits.mean, default=None)
        if worst is not None and worst.limits.mean > first.amount and not telling.case.is_between_groups:
            key = "trade_off"
            slots |= telling.named([worst.lead.group], slot="H")
            slots |= {"R": telling.option(trade_off.option.name).words}
    elif found.maybe_worse:
        key = "maybe"
    elif telling.choice.trials and not telling.choice.may_help:
        key = "helpless"
    elif find_others(telling) and not telling.case.is_between_groups:
        key = "most"
    return telling.say(f"verdict.{key}", **slots)


def find_others(telling: Telling) -> list[str]:
    """Return who has a clear harm and is not named, without the crossings of those who have."""
    named = {payer.row.group for payer in telling.verdict.payers}
    margins, harmed = telling.table.margins, set(telling.harmed)
    return [each for each in telling.harmed if each not in named and not set(margins.get(each, ())) & harmed]
