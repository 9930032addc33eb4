"""The verdict and the three sentences: who pays, how much, and what to do.

A sentence has at most 20 words and two numbers; intervals, second effects and tests stand in its details. No
sentence says more than the rows behind it: "pays" needs a clear harm, "nobody" needs every harm bounded, and
"use" needs all four tests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.answer.choice import changes_given, smallest_epsilon
from evenhand.answer.effects import EFFECTS, EVERYBODY, FEWEST_PEOPLE
from evenhand.answer.harm import changes_of, side_in_each
from evenhand.answer.prices import say_charges, say_cost, say_next_steps, say_price, say_useless
from evenhand.answer.view import Sentence
from evenhand.report.words import capital, epsilon_of, listed, number

if TYPE_CHECKING:
    from evenhand.answer.status import Effect
    from evenhand.answer.telling import Telling

_MOST_DETAILS = 8
_MOST_OF_IT = 0.5
_FEW_REPEATS, _MOST_REPEATS = 10, 500
_WORDS_OF_TWO = 6  # for each of two lists of groups in one sentence


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
    why = "open"
    if not telling.harmful or all(row.status == "not stored" for row in telling.harmful):
        why = "stored"
    elif not found.open:
        why = "few"
    elif telling.case.repeats == 1 and any(row.basis.startswith("repeats") for row in telling.harmful):
        why = "repeats"
    elif telling.lead is not None and (side := side_in_each(telling.table, telling.lead)):
        return say(f"verdict.unsure_{side}", **telling.named([telling.lead.group]))
    return say(f"verdict.unsure_{why}")


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
        if worst is not None and worst.limits.mean > first.amount:
            key = "trade_off"
            slots |= telling.named([worst.lead.group], slot="H")
            slots |= {"R": telling.option(trade_off.option.name).words}
    elif found.maybe_worse:
        key = "maybe"
    elif telling.choice.trials and not telling.choice.find_least("needs the true group"):
        key = "helpless"
    elif _others(telling):
        key = "most"
    return telling.say(f"verdict.{key}", **slots)


# --- who --------------------------------------------------------------------------------------------


def say_who(telling: Telling) -> Sentence:
    """Return who pays, with what is known of each group."""
    return Sentence(_who(telling), tuple(_who_details(telling)))


def _who(telling: Telling) -> str:
    found, say = telling.verdict, telling.say
    if found.trouble and found.trouble[0] != "missing":
        if found.trouble[0] != "below zero":
            return say("who.useless")
        groups = [payer.row.group for payer in found.payers if payer.row.effect == "billed"]
        billed = [row for row in telling.rows_of[telling.table.page] if row.effect == "billed"]
        most = max(billed, key=lambda row: (row.group != EVERYBODY, row.after)).group
        return say("who.below_zero", **telling.named(groups or [most]))
    if found.payers:
        return _who_pays(telling)
    if found.state == "nobody":
        return say("who.nobody", few=_few_words(telling))
    return _who_unsure(telling)


def _who_unsure(telling: Telling) -> str:
    found, say, lead = telling.verdict, telling.say, telling.lead
    if lead is None or all(row.status == "not stored" for row in telling.harmful):
        return say("who.not_stored")
    if not found.open:
        largest = max(found.unjudged, key=lambda row: _tested(telling, row))
        tested = _tested(telling, largest)
        if tested >= FEWEST_PEOPLE:
            return say("who.few_others", n=FEWEST_PEOPLE, **telling.slots(largest.group))
        return say("who.few_all", p=tested, **telling.slots(largest.group))
    return say("who.open", **telling.named(dict.fromkeys(row.group for row in telling.open)))


def _who_pays(telling: Telling) -> str:
    found, say = telling.verdict, telling.say
    groups = [payer.row.group for payer in found.payers]
    others = _others(telling)
    open_groups = list(dict.fromkeys(row.group for row in telling.open if row.group not in telling.harmed))
    if found.is_everybody and len(telling.harmed) > 1:
        return say("verdict.everybody" if others else "verdict.everybody_alike", **telling.named(groups))
    is_missing = telling.verb == "missing"
    worse = {row.group for row in found.maybe_worse} - set(groups)
    maybe = list(dict.fromkeys(row.group for row in found.maybe_worse if row.group in worse))
    maybe, others = ([], []) if is_missing else (maybe, others)
    crossed = set(telling.harmed) - {*groups, *others}
    gains = list(dict.fromkeys(row.group for row in telling.gains if not crossed))
    if telling.case.is_between_groups or found.unjudged:
        gains = []
    for key, beside in (("maybe", maybe), ("others", others), ("unclear", open_groups), ("gain", gains)):
        if beside:
            names = telling.named(beside, slot="H", words=_WORDS_OF_TWO)
            return say(f"who.{key}", **telling.named(groups, words=_WORDS_OF_TWO), **names)
    judged = {row.group for row in telling.harmful if row.status != "unjudged"}
    is_alone = len(judged) == len(groups) or telling.case.is_between_groups or crossed or found.unjudged
    told = say("verdict.pays" if is_alone else "who.alone", **telling.named(groups))
    return f"{told.removesuffix('.')}{_few_words(telling)}."


def _others(telling: Telling) -> list[str]:
    """Return who has a clear harm and is not named, without the crossings of those who have."""
    named = {payer.row.group for payer in telling.verdict.payers}
    margins, harmed = telling.table.margins, set(telling.harmed)
    return [each for each in telling.harmed if each not in named and not set(margins.get(each, ())) & harmed]


def _who_details(telling: Telling) -> list[str]:
    found, say, lines = telling.verdict, telling.say, []
    if found.payers and not found.payers[0].row.basis.startswith("exact"):
        first = found.payers[0]
        amount = telling.amount(first.row, first.low)
        lines.append(say("detail.lower", amount=amount, **telling.slots(first.row.group)))
    named = [payer.row for payer in found.payers]
    keys = {(row.group, row.effect) for row in named}
    shown = [row for row in telling.harmful if row.is_harm or row.status in ("open", "not stored")]
    rows = [*named, *(row for row in shown if (row.group, row.effect) not in keys), *telling.gains]
    lines += [tell_row(telling, row) for row in rows[:_MOST_DETAILS]]
    for row in found.unjudged:
        tested = _tested(telling, row)
        key = "detail.unjudged" if tested < FEWEST_PEOPLE else "who.few_others"
        lines.append(say(key, p=tested, n=FEWEST_PEOPLE, **telling.slots(row.group)))
    return list(dict.fromkeys(lines))[:_MOST_DETAILS]


def _tested(telling: Telling, row: Effect) -> int:
    """Return how many people of a row's group were tested; beside others `tested` counts those too."""
    tested = math.inf if telling.case.is_between_groups else telling.seen(row).tested
    return math.floor(min(row.people, tested))


def tell_row(telling: Telling, row: Effect) -> str:
    """Return a row in a line: what changes for a group, with its limits."""
    slots = telling.slots(row.group)
    if row.status == "not stored":
        return telling.say("detail.row", words=telling.say("picture.not_stored"), limits="", **slots)
    scale = telling.scale(row)
    words = telling.moved(row, is_step=True)
    if EFFECTS[row.effect].unit == "of 100 releases" or row.effect == "refused":
        words = f"{telling.word(row.effect)}, {words}"
    if row.status in ("open", "none") and not row.basis.startswith("exact") and row.low < 0 < row.high:
        words = telling.say("picture.no_change")
    limits = telling.limits(row.effect, scale * row.low, scale * row.high)
    return telling.say("detail.row", words=words, limits=limits, **slots)


# --- how much -----------------------------------------------------------------------------------------


def say_how_much(telling: Telling) -> Sentence:
    """Return how much the first payer lacks, or at most could, with the second effect and the gap."""
    found, say, lead = telling.verdict, telling.say, telling.lead
    if found.trouble and found.trouble[0] in ("no guarantee", "dead", "dead without protection"):
        return Sentence(say_useless(telling, found.trouble[0], telling.table.page), ())
    if lead is None or lead.status == "not stored":
        unknown = f"{capital(say('picture.not_stored'))}."
        return Sentence(say("how.nothing") if found.state == "nobody" else unknown, ())
    if found.payers or found.trouble:
        return _how_much_is_lacking(telling, lead)
    if found.state == "nobody":
        return _how_little(telling, lead)
    if not found.open:
        return Sentence(say("how.few", n=FEWEST_PEOPLE), ())
    return Sentence(_open_words(telling, lead), tuple(_gap_details(telling, lead)))


def _how_much_is_lacking(telling: Telling, lead: Effect) -> Sentence:
    """Return what the first payer lacks; who is charged comes first, and its other effects in details."""
    if telling.verdict.trouble and telling.verdict.trouble[0] == "below zero":
        anybody = telling.by_key.get((telling.table.page, EVERYBODY, "billed"), lead)
        is_other = telling.verdict.payers and anybody is not lead
        return Sentence(telling.level(anybody), (telling.level(lead),) if is_other else ())
    worst = f"effect.{lead.effect}.worst"
    details = [telling.say(worst, **telling.numbers(lead))] if math.isfinite(lead.worst) else []
    details += [
        telling.level(row)
        for row in telling.harmful
        if row.group == lead.group and row.effect != lead.effect and row.status in ("clear", "open")
    ]
    return Sentence(telling.level(lead), (*details, *_gap_details(telling, lead)))


def _how_little(telling: Telling, lead: Effect) -> Sentence:
    """Return the most that a group could lack where nobody pays."""
    if lead.bound <= 0:
        is_gain = lead.status == "clear"
        return Sentence(telling.level(lead) if is_gain else telling.say("how.nothing"))
    details = (tell_row(telling, lead), *_gap_details(telling, lead))
    words = telling.say("how.could", amount=telling.bound(lead), **telling.slots(lead.group))
    return Sentence(words, details)


def _open_words(telling: Telling, lead: Effect) -> str:
    """Return what is possible both ways, or that every repeat was on one side."""
    say, slots = telling.say, telling.slots(lead.group) | {"Q": telling.base(lead)}
    is_rate = EFFECTS[lead.effect].unit == "of 1,000" and lead.harm in ("less", "more")
    if math.isfinite(lead.low) and math.isfinite(lead.high) and lead.low != lead.high:
        worse, better = (-lead.low, lead.high) if lead.harm == "less" else (lead.high, -lead.low)
        scale = telling.scale(lead)
        if is_rate and scale * min(worse, better) >= 1:
            lose, gain = (telling.shown(lead.effect, each * scale) for each in (worse, better))
            if telling.case.is_between_groups:
                more, fewer = (gain, lose) if lead.harm == "less" else (lose, gain)
                word = say(f"effect.{lead.effect}.word")
                return say("how.between", more=more, fewer=fewer, word=word, **slots)
            return say("how.both_ways", n=lose, m=gain, **slots)
        return say("how.could", amount=telling.bound(lead), **slots)
    values = changes_of(telling.table, lead)
    if len(values) and (values.min() > 0 or values.max() < 0):
        low, high = sorted((values.min(), values.max()), key=abs)
        if is_rate and len(values) > 1:
            return say("how.each", moved=telling.moved_by(lead, low, high), **slots)
        return telling.level(lead)
    return say("how.no_limits", **slots)


def _gap_details(telling: Telling, lead: Effect) -> list[str]:
    """Return how the gap changes between the two groups that are furthest apart without protection."""
    table = telling.table
    overlapping = {margin for margins in table.margins.values() for margin in margins}
    rows = [
        row
        for row in telling.rows_of[table.page]
        if row.effect == lead.effect
        and row.group not in {EVERYBODY, *table.entities, *overlapping}
        and row.status not in ("unjudged", "not stored")
    ]
    if lead.effect not in ("selected", "wrongly_refused") or telling.case.is_between_groups or len(rows) < 2:
        return []
    rates = {row.group: tuple(telling.scale(row) * each for each in (row.due, row.after)) for row in rows}
    low, high = (choose(rates, key=lambda group: (rates[group], group)) for choose in (min, max))
    before, after = (
        telling.difference(lead.effect, one, other)
        for one, other in zip(rates[low], rates[high], strict=True)
    )
    if before == after or rates[low][1] > rates[high][1]:
        return []
    names = listed([telling.name(group).words for group in (high, low)])
    return [telling.say("detail.gap", a=after, b=before, G=names)]


# --- what to do ---------------------------------------------------------------------------------------


def say_what_to_do(telling: Telling) -> Sentence:
    """Return what to do, with the tests and what other epsilons would cost."""
    return Sentence(_what_to_do(telling), tuple(_what_details(telling)))


def _what_to_do(telling: Telling) -> str:
    found, say = telling.verdict, telling.say
    use = telling.choice.first
    if use is not None:
        row, name = telling.lead_under(use.option.name), telling.option(use.option.name)
        order = capital(name.use or name.words)
        if row is None or row.status == "not stored":
            return f"{order}."
        return say("do.use", use=order, then=telling.then(row))
    if found.trouble:
        return say("do.drop")
    if found.state == "nobody":
        return _go_ahead(telling)
    return _take(telling) if found.state == "unsure" else _no_remedy(telling)


def _go_ahead(telling: Telling) -> str:
    """Return what to do where nobody pays; people selected in all may still be far fewer or more."""
    say, steps, page = telling.say, telling.steps, telling.table.by_name[telling.table.page]
    if telling.case.is_between_groups:
        return say("do.unchanged")
    if changes_given(telling.table, page.name, telling.case.costs):
        return say("do.keep_costly", price=say_cost(telling, page.name, "in_all"))
    step = smallest_epsilon(steps)
    if step is None or len(steps) == 1:
        return say("do.keep")
    return say("do.keep_smallest" if step.epsilon == page.epsilon else "do.keep_smaller", e=step.epsilon)


def _no_remedy(telling: Telling) -> str:
    """Return what to do where somebody pays and nothing that was tried passes."""
    say, trade_off = telling.say, telling.choice.find_least("trade-off")
    if trade_off is not None:
        price = say_price(telling, trade_off, most=1)
        return say("do.trade_off", R=telling.option(trade_off.option.name).words, price=price)
    if telling.choice.misled:
        return say("do.misled", R=telling.option(telling.choice.again).words)
    if telling.case.is_between_groups:
        groups = [payer.row.group for payer in telling.verdict.payers]
        return say("do.look", **telling.named(groups, words=_WORDS_OF_TWO))
    if needs := telling.choice.find_least("needs the true group"):
        key, price = "costs_group" if needs.failed else "needs_group", say_price(telling, needs, most=1)
        return say(f"do.{key}", R=telling.option(needs.option.name).words, price=price)
    step = smallest_epsilon(telling.steps)
    if step is not None and step.epsilon > telling.table.by_name[telling.table.page].epsilon:
        return say("do.less_privacy", e=step.epsilon)
    return say("do.helpless" if telling.choice.trials else "do.untried")


def _take(telling: Telling) -> str:
    """Return what would settle every open row: more repeats, or more people of who takes most."""
    say, found = telling.say, telling.verdict
    rows = [row for row in found.open if row.status != "not stored"]
    if not rows:
        return say("do.few") if found.unjudged and not found.open else f"{say('default.again')}."
    if all(telling.seen(row).spread == "none" and row.basis.startswith("repeats") for row in rows):
        return say("do.uncalibrated")
    needs = _people_to_settle(telling)
    if more := _repeats_to_settle(telling, needs):
        return say("do.repeats", n=more)
    if _is_lost_in_each(telling):
        return say("do.uncalibrated")
    needs.sort(key=lambda need: not _is_still(telling, need[0]))
    return say("do.people", **_name_needed(telling, *needs[0]))


def _is_lost_in_each(telling: Telling) -> bool:
    return telling.lead is not None and side_in_each(telling.table, telling.lead) == "lost"


def _repeats_to_settle(telling: Telling, needs: list[tuple[Effect, float]]) -> int:
    """Return how many more repeats would settle every open row; 0 where that takes people."""
    repeats = telling.case.repeats
    if telling.lead is not None and _is_lost_in_each(telling):
        return _FEW_REPEATS if len(set(changes_of(telling.table, telling.lead))) > 1 else 0
    if needs and (repeats == 1 or any(_is_still(telling, row) for row, _ in needs)):
        return 0
    growth = max((people / row.people for row, people in needs), default=2.0)
    more = max(math.ceil(repeats * (growth - 1)), 1 if needs else _FEW_REPEATS)
    if more > _MOST_REPEATS:  # of few repeats the limits are too wide to tell how many people it takes
        return _FEW_REPEATS if repeats < _FEW_REPEATS else 0
    return more


def find_settling(telling: Telling) -> dict[str, str]:
    """Return the option of the same study by which the third sentence is done: repeats, or an epsilon."""
    told, say = _what_to_do(telling), telling.say
    more = _repeats_to_settle(telling, _people_to_settle(telling)) if telling.verdict.open else 0
    if more and told == say("do.repeats", n=more):
        return {"--repeats": str(telling.case.repeats + more)}
    step = smallest_epsilon(telling.steps)
    asked = ("do.less_privacy", "do.keep_smaller")
    if step is not None and told in [say(key, e=step.epsilon) for key in asked]:
        return {"--epsilon": f"{step.epsilon:.15g}"}
    return {}


def _people_to_settle(telling: Telling) -> list[tuple[Effect, float]]:
    """Return the open row of each group that takes most people to settle, and how many; the largest first."""
    found: dict[str, tuple[Effect, float]] = {}
    for row in telling.verdict.open:
        growth = math.nan if row.status == "not stored" else _growth_to_settle(telling, row)
        if math.isfinite(growth) and row.people * growth > found.get(row.group, (row, 0.0))[1]:
            found[row.group] = row, row.people * growth
    return sorted(found.values(), key=lambda each: (-each[1], each[0].group))


def _name_needed(telling: Telling, row: Effect, people: float) -> dict[str, Any]:
    """Return the slots of a group and of how many people of it a rate takes, where not all count in it."""
    shown, slots = number(float(f"{people:.2g}"), 0), telling.slots(row.group)
    if row.effect == "wrongly_refused":
        shown = telling.say("group.qualified", n=shown)
    elif row.effect == "wrongly_selected" and telling.case.is_between_groups:
        slots |= {key: telling.say("group.not_due", G=slots[key]) for key in ("G", "L")}
    return {**slots, "n": shown}


def _growth_to_settle(telling: Telling, row: Effect) -> float:
    """Return by how much an open row's repeats or people must grow for it to become clear or none.

    Limits shrink with the root of either; NaN where there are no limits to go by. Where no repeat changes
    anything, they shrink with people alone.
    """
    threshold = telling.table.threshold(telling.seen(row))
    lack = row.lack_by(row.change)
    reach = row.bound - lack
    if not (math.isfinite(row.low) and math.isfinite(reach)) or reach <= 0:
        return math.nan
    if _is_still(telling, row):
        return max(reach / threshold, 1.0)
    growths = [(reach / max(threshold - lack, threshold / 4)) ** 2]
    if abs(lack) >= threshold:
        growths.append(((row.high - row.low) / 2 / abs(lack)) ** 2)
    return max(min(growths), 1.0)


def _is_still(telling: Telling, row: Effect) -> bool:
    """Return whether no repeat changes anything, so that limits go by how many people there are."""
    changes = changes_of(telling.table, row)
    return row.basis.startswith("repeats") and len(changes) > 1 and not changes.any()


def _what_details(telling: Telling) -> list[str]:
    say, lines = telling.say, []
    use = telling.choice.first
    if use is not None:
        lines.append(say("detail.tests"))
        row = telling.lead_under(use.option.name)
        exact = row is not None and row.basis == "exact"
        if row is not None and not row.basis.startswith("rows"):
            key = "exact" if exact else "confirmed" if telling.choice.again else "same_draws"
            lines.append(say(f"detail.{key}", n=telling.case.repeats))
        tied = [telling.option(trial.option.name).words for trial in telling.choice.recommended[1:]]
        lines += [say("detail.tied", R=listed(tied))] if tied else []
    if telling.choice.misled:
        lines.append(say("detail.misled", R=telling.option(telling.choice.again).words))
    for trial in telling.choice.trials:
        if trial.failed and trial.tag != "no clear help":
            keys = (f"detail.test_{test.replace(' ', '_')}" for test in trial.failed if test != "usable")
            tests = [say("tag.not_usable")] * ("usable" in trial.failed) + [say(key) for key in keys]
            lines.append(say("detail.failed", R=telling.option(trial.option.name).words, tests=tests))
    lines += say_next_steps(telling) + say_charges(telling)
    curve = say_curve(telling)
    return [*_takes(telling), *lines, *([curve] if curve else [])][:_MOST_DETAILS]


def _takes(telling: Telling) -> list[str]:
    """Return how many people each of the other open groups takes, where people are what is asked for."""
    if telling.verdict.state != "unsure" or telling.case.repeats > 1:
        return []
    return [
        telling.say("detail.takes", **_name_needed(telling, row, people))
        for row, people in _people_to_settle(telling)[1:]
    ]


def say_curve(telling: Telling) -> str:
    """Return what the worst-off lack at each epsilon of the page's method; nothing for a single one."""
    steps = telling.steps
    rows = [telling.worst_under(step.option) for step in steps]
    told = [telling.left(row) for row in rows if row is not None]
    if len(set(told)) < 2 or len(told) < len(steps):
        return ""
    shared = {text.partition(" ")[2] for text in told}
    if len(shared) == 1 and all(any(map(str.isdigit, text.partition(" ")[0])) for text in told):
        told = [*(text.partition(" ")[0] for text in told[:-1]), told[-1]]
    epsilons = [epsilon_of(step.epsilon) for step in steps]
    return telling.say("choice.alt", lacks=listed(told), epsilons=listed(epsilons))


def _few_words(telling: Telling) -> str:
    few = {row.group for row in telling.verdict.unjudged}
    return telling.say("who.few", n=len(few)) if few else ""
