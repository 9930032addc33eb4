"""The verdict and the three sentences: who pays, how much, and what to do.

A sentence has at most 20 words and two numbers; intervals, second effects and tests stand in its details. No
sentence says more than the rows behind it: "pays" needs a clear harm, "nobody" needs every harm bounded, and
"use" needs all four tests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.answer.choice import list_steps, smallest_epsilon
from evenhand.answer.effects import EFFECTS, EVERYBODY, FEWEST_PEOPLE, per_head
from evenhand.answer.view import Sentence
from evenhand.report.words import epsilon_of, listed

if TYPE_CHECKING:
    from evenhand.answer.choice import Harmed, Step, Trial
    from evenhand.answer.status import Effect
    from evenhand.answer.telling import Telling

_MOST_DETAILS = 8
_MOST_OF_IT = 0.5
_MOST_REPEATS = 500


def say_verdict(telling: Telling) -> str:
    """Return the verdict."""
    found, say = telling.verdict, telling.say
    if found.trouble:
        missing = [payer.row.group for payer in found.payers if payer.tier < 0]
        slots = telling.named(missing) if missing else {}
        return say(f"verdict.{found.trouble[0].replace(' ', '_')}", **slots)
    if found.state == "pays":
        return _say_who_pays(telling)
    if found.state == "nobody":
        return say(f"verdict.nobody_{telling.verb}", amount=_bound_words(telling, found.worst))
    why = "open"
    if not telling.harmful or all(row.status == "not stored" for row in telling.harmful):
        why = "stored"
    elif not found.open:
        why = "few"
    elif telling.case.repeats == 1 and any(row.basis.startswith("repeats") for row in telling.harmful):
        why = "repeats"
    return say(f"verdict.unsure_{why}")


def _say_who_pays(telling: Telling) -> str:
    """Return the verdict on the payers: whether it can be undone, and at whose cost."""
    found = telling.verdict
    first, use, trade_off = found.payers[0], _recommended(telling), _trade_off(telling)
    slots = telling.named(payer.row.group for payer in found.payers) | {"P": _protection(telling)}
    key = "pays"
    if use is not None:
        most = use.relief.mean >= _MOST_OF_IT * first.amount
        key = "undone" if most else "helped"
    elif found.is_everybody and len(telling.harmed) > 1:
        key = "everybody_alike" if len(found.payers) == len(telling.harmed) else "everybody"
    elif trade_off is not None:
        worst, key = _worst_harmed(trade_off), "costly"
        if worst is not None and worst.limits.mean > first.amount:
            key = "trade_off"
            slots |= telling.named([worst.group], slot="H")
            slots |= {"R": telling.option(trade_off.option.name).words}
    elif telling.choice.trials:
        key = "helpless"
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
        billed = [payer.row.group for payer in found.payers if payer.row.effect == "billed"]
        return say("who.below_zero", **telling.named(billed or [_most_billed(telling)]))
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
        largest = max(found.unjudged, key=lambda row: row.people)
        return say("who.few_all", p=round(largest.people), **telling.slots(largest.group))
    return say("who.open", **telling.named(dict.fromkeys(row.group for row in found.open)))


def _who_pays(telling: Telling) -> str:
    found, say = telling.verdict, telling.say
    groups = [payer.row.group for payer in found.payers]
    payers = telling.named(groups)
    others = [group for group in telling.harmed if group not in groups]
    open_groups = list(dict.fromkeys(row.group for row in found.open if row.group not in telling.harmed))
    if found.is_everybody and len(telling.harmed) > 1:
        return say("verdict.everybody" if others else "verdict.everybody_alike", **payers)
    maybe = [row.group for row in found.maybe_worse if row.group not in groups]
    if maybe:
        return say("who.maybe", **payers, **telling.named(dict.fromkeys(maybe), slot="H"))
    if others:
        return say("who.others", **payers, **telling.named(others, slot="H"))
    if open_groups:
        return say("who.unclear", **payers, **telling.named(open_groups, slot="H"))
    judged = {row.group for row in telling.harmful if row.status != "unjudged"}
    return say("who.alone" if len(judged) > len(groups) else "verdict.pays", **payers)


def _who_details(telling: Telling) -> list[str]:
    found, say, lines = telling.verdict, telling.say, []
    if found.payers and not found.payers[0].row.basis.startswith("exact"):
        first = found.payers[0]
        amount = telling.amount(first.row.effect, first.low, first.row.people)
        lines.append(say("detail.lower", amount=amount, **telling.slots(first.row.group)))
    shown = [row for row in telling.harmful if row.is_harm or row in found.open]
    named = [payer.row for payer in found.payers]
    lines += [tell_row(telling, row) for row in (*named, *(row for row in shown if row not in named))]
    lines += [tell_row(telling, row) for row in found.gains]
    seen: set[str] = set()
    for row in found.unjudged:
        if row.group not in seen:
            seen.add(row.group)
            lines.append(say("detail.unjudged", p=round(row.people), **telling.slots(row.group)))
    return lines[:_MOST_DETAILS]


def tell_row(telling: Telling, row: Effect) -> str:
    """Return a row in a line: what changes for a group, with its limits."""
    if row.status == "not stored":
        return telling.say(
            "detail.row", words=telling.say("picture.not_stored"), limits="", L=_label(telling, row)
        )
    factor = telling.factor(row) * float(
        per_head(telling.seen(row), 1.0) if EFFECTS[row.effect].unit == "dollars" else 1.0
    )
    limits = ""
    if row.low != row.high and math.isfinite(row.low) and math.isfinite(row.high):
        low, high = sorted(factor * each for each in (row.low, row.high))
        limits = telling.say(
            "detail.limits", low=telling.shown(row.effect, low), high=telling.shown(row.effect, high)
        )
    return telling.say(
        "detail.row", words=telling.moved(row, row.change), limits=limits, L=_label(telling, row)
    )


def _label(telling: Telling, row: Effect) -> str:
    return telling.name(row.group).label


# --- how much -----------------------------------------------------------------------------------------


def say_how_much(telling: Telling) -> Sentence:
    """Return how much the first payer lacks, or at most could, with the second effect and the gap."""
    found, say, lead = telling.verdict, telling.say, telling.lead
    details: list[str] = []
    if found.trouble and found.trouble[0] in ("no guarantee", "dead", "dead without protection"):
        return Sentence(_useless(telling), ())
    if lead is None or lead.status == "not stored":
        return Sentence(say("how.not_stored"), ())
    if found.trouble and found.trouble[0] == "below zero":
        anybody = telling.by_key.get((telling.table.page, EVERYBODY, "billed"), lead)
        details = [telling.level(lead)] if found.payers else []
        return Sentence(telling.level(anybody), tuple(details))
    if found.payers:
        if math.isfinite(lead.worst):
            details.append(telling.say(f"effect.{lead.effect}.worst", **telling.numbers(lead)))
        details += [
            telling.level(row)
            for row in telling.harmful
            if row.group == lead.group and row.effect != lead.effect and row.status in ("clear", "open")
        ]
        details += _gap_details(telling, lead)
        return Sentence(telling.level(lead), (tell_row(telling, lead), *details))
    if found.state == "nobody":
        slots = telling.slots(lead.group)
        return Sentence(
            say("how.could", amount=_bound_words(telling, lead), **slots),
            (tell_row(telling, lead), *_gap_details(telling, lead)),
        )
    return Sentence(_open_words(telling, lead), tuple(_gap_details(telling, lead)))


def _open_words(telling: Telling, lead: Effect) -> str:
    """Return what is possible both ways, or that all repeats were on one side."""
    say, seen = telling.say, telling.seen(lead)
    slots = telling.slots(lead.group)
    values = seen.after - telling.table.before(seen) if len(seen.after) > 1 else seen.after[:0]
    if math.isfinite(lead.low) and math.isfinite(lead.high) and lead.low != lead.high:
        worse, better = (-lead.low, lead.high) if lead.harm == "less" else (lead.high, -lead.low)
        factor = telling.factor(lead)
        if EFFECTS[lead.effect].unit == "of 1,000":
            lose, gain = (telling.shown(lead.effect, max(each * factor, 0.0)) for each in (worse, better))
            return say("how.both_ways", n=lose, m=gain, **slots)
        return tell_row(telling, lead)
    if len(values) > 1 and (values.min() > 0 or values.max() < 0):
        sizes = sorted(abs(values * telling.factor(lead)))
        moved = say("how.moved_more" if values.min() > 0 else "how.moved_less")
        low, high = (telling.shown(lead.effect, size) for size in (sizes[0], sizes[-1]))
        return say("how.one_side", moved=moved, n=len(values), low=low, high=high, **slots)
    return say("how.no_limits", **slots)


def _useless(telling: Telling) -> str:
    table, say = telling.table, telling.say
    if telling.verdict.trouble[0] == "no guarantee":
        return say("how.no_guarantee", delta=f"{table.by_name[table.page].delta:.2g}")
    selected = table.by_key[table.page, EVERYBODY, "selected"]
    share = float(np.nanmean(selected.after))
    return say("how.dead", n=telling.shown("selected", max(share, 1000 - share)))


def _gap_details(telling: Telling, lead: Effect) -> list[str]:
    """Return how the gap between two groups changes, for the effect that the page is about."""
    for row in telling.rows:
        if row.setting == telling.table.page and row.effect == f"{lead.effect}_gap":
            after, before = (telling.shown(lead.effect, abs(each)) for each in (row.after, row.before))
            return [telling.say("detail.gap", a=after, b=before, G=row.group)]
    return []


def _bound_words(telling: Telling, row: Effect | None) -> str:
    """Return the most that a group may lack, or what matters where there is no such row."""
    if row is None:
        return telling.say("amount.nothing")
    bound = max(row.bound, 0.0) * telling.factor(row)
    per = float(per_head(telling.seen(row), bound))
    if EFFECTS[row.effect].unit == "of 1,000":
        per = math.ceil(per)
    return telling.amount(row.effect, per, row.people)


# --- what to do ---------------------------------------------------------------------------------------


def say_what_to_do(telling: Telling) -> Sentence:
    """Return what to do, with the tests and what other epsilons would cost."""
    return Sentence(_what_to_do(telling), tuple(_what_details(telling)))


def _what_to_do(telling: Telling) -> str:
    found, say = telling.verdict, telling.say
    use = _recommended(telling)
    if use is not None:
        row, name = telling.payer_row(found.payers[0], use.option.name), telling.option(use.option.name)
        return say("do.use", use=name.use or name.words, then="" if row is None else telling.then(row))
    if found.trouble:
        return say("do.drop")
    if found.state == "nobody":
        step, page = smallest_epsilon(steps_of(telling)), telling.table.by_name[telling.table.page]
        smallest = step is not None and step.epsilon == page.epsilon and len(steps_of(telling)) > 1
        return say("do.keep_smallest", e=page.epsilon) if smallest else say("do.keep")
    return _take(telling) if found.state == "unsure" else _no_remedy(telling)


def _no_remedy(telling: Telling) -> str:
    """Return what to do where somebody pays and nothing that was tried passes."""
    say, trade_off = telling.say, _trade_off(telling)
    if trade_off is not None:
        return _trade_off_words(telling, trade_off)
    if telling.case.is_between_groups:
        return say("do.look", **telling.named(payer.row.group for payer in telling.verdict.payers))
    needs = [trial for trial in telling.choice.trials if trial.tag == "needs the true group"]
    if needs:
        return say("do.needs_group", R=telling.option(needs[0].option.name).words)
    step = smallest_epsilon(steps_of(telling))
    if step is not None:
        return say("do.raise_epsilon", e=step.epsilon)
    return say("do.helpless" if telling.choice.trials else "do.untried")


def _trade_off_words(telling: Telling, trial: Trial) -> str:
    say, remedy = telling.say, telling.option(trial.option.name).words
    worst = _worst_harmed(trial)
    if worst is None:
        return say("do.trade_costs", R=remedy, price=say_price(telling, trial))
    people = telling.table.by_key[trial.option.name, worst.group, worst.effect].people
    amount = telling.amount(worst.effect, worst.limits.mean, people)
    return say("do.trade_off", R=remedy, amount=amount, **telling.named([worst.group], slot="H"))


def say_price(telling: Telling, trial: Trial) -> str:
    """Return what a remedy costs: whom it harms, then what goes beyond its limit."""
    say, name, page = telling.say, trial.option.name, telling.table.page
    words = []
    for harmed in trial.harmed[:2]:
        people = telling.table.by_key[name, harmed.group, harmed.effect].people
        amount = telling.amount(harmed.effect, harmed.limits.mean, people)
        words.append(say("price.harmed", amount=amount, **telling.slots(harmed.group)))
    for effect in trial.costs:
        now, due = (
            float(np.nanmean(telling.table.by_key[each, EVERYBODY, effect].after))
            for each in (name, telling.table.unprotected if effect == "in_all" else page)
        )
        key, slots = effect, {"n": telling.shown("wrong", now - due)}
        if effect != "wrong":
            slots = {"x": f"{100 * (now / due - 1) if due else math.inf:+.0f}".replace("-", "−")}
        if effect == "in_all":
            effects = {seen.effect for seen in telling.table.observations}
            key = "paid" if "short" in effects else "rights" if "refused" in effects else "given"
        words.append(say(f"price.{key}", **slots))
    return listed(words) if words else say("price.none")


def _take(telling: Telling) -> str:
    """Return what would settle the first open row: more repeats, or more people."""
    say, lead = telling.say, telling.lead
    if lead is None or lead.status == "not stored":
        return say("how.not_stored")
    if lead.status == "unjudged":
        return say("do.people", n=FEWEST_PEOPLE, **telling.slots(lead.group))
    more, people = repeats_to_settle(telling, lead)
    if math.isfinite(more):
        return say("do.repeats", n=more)
    if math.isfinite(people):
        return say("do.people", n=telling.shown("counted", people), **telling.slots(lead.group))
    return say("do.repeats", n=max(10, telling.case.repeats))


def repeats_to_settle(telling: Telling, row: Effect) -> tuple[float, float]:
    """Return how many more repeats an open row takes to become clear or none, else how many people.

    Limits shrink with the root of either; NaN where there are no limits to go by.
    """
    half = (row.high - row.low) / 2
    threshold = telling.table.threshold(telling.seen(row))
    need = max(
        abs(row.change) if abs(row.change) >= threshold else threshold - max(row.change, 0.0), threshold / 4
    )
    if not math.isfinite(half) or half <= 0:
        return math.nan, math.nan
    factor = (half / need) ** 2
    repeats = telling.case.repeats
    more = math.ceil(repeats * (factor - 1)) if repeats > 1 else math.nan
    if more <= _MOST_REPEATS and repeats > 1:
        return max(more, 1), math.nan
    people = row.people * factor
    return math.nan, float(f"{people:.2g}")


def _what_details(telling: Telling) -> list[str]:
    say, lines = telling.say, []
    use = _recommended(telling)
    if use is not None:
        lines.append(say("detail.tests"))
        row = telling.payer_row(telling.verdict.payers[0], use.option.name)
        exact = row is not None and row.basis == "exact"
        lines.append(say("detail.exact" if exact else "detail.same_draws"))
        lines += [
            telling.say(
                "price.harmed",
                amount=telling.amount(each.effect, each.limits.mean),
                **telling.slots(each.group),
            )
            for each in use.harmed
        ]
    for trial in telling.choice.trials:
        if trial.failed and trial.tag != "no clear help":
            tests = [say(f"detail.test_{test.replace(' ', '_')}") for test in trial.failed]
            lines.append(say("detail.failed", R=telling.option(trial.option.name).words, tests=tests))
    curve = say_curve(telling)
    return [*lines, curve][:_MOST_DETAILS] if curve else lines[:_MOST_DETAILS]


def say_curve(telling: Telling) -> str:
    """Return what the worst-off lack at each epsilon of the page's method; nothing for a single one."""
    steps = steps_of(telling)
    rows = [telling.worst_under(step.option) for step in steps]
    told = [telling.lack_words(row) for row in rows if row is not None]
    if len(set(told)) < 2 or len(told) < len(steps):
        return ""
    shared = {text.partition(" ")[2] for text in told}
    if len(shared) == 1 and all(any(map(str.isdigit, text.partition(" ")[0])) for text in told):
        told = [*(text.partition(" ")[0] for text in told[:-1]), told[-1]]
    epsilons = [epsilon_of(step.epsilon) for step in steps]
    return telling.say("choice.alt", lacks=listed(told), epsilons=listed(epsilons))


def steps_of(telling: Telling) -> tuple[Step, ...]:
    """Return the curve over epsilon of the page's method."""
    return list_steps(telling.table, telling.rows)


def _recommended(telling: Telling) -> Trial | None:
    return next(iter(telling.choice.recommended), None)


def _trade_off(telling: Telling) -> Trial | None:
    """Return the trade-off that leaves the worst-off with the least harm."""
    found = [trial for trial in telling.choice.trials if trial.tag == "trade-off"]
    return min(found, key=lambda trial: (trial.left, trial.option.simplicity), default=None)


def _worst_harmed(trial: Trial) -> Harmed | None:
    return max(trial.harmed, key=lambda each: each.limits.mean, default=None)


def _few_words(telling: Telling) -> str:
    few = {row.group for row in telling.verdict.unjudged}
    return telling.say("who.few", n=len(few)) if few else ""


def _most_billed(telling: Telling) -> str:
    rows = [row for row in telling.rows if row.setting == telling.table.page and row.effect == "billed"]
    return max(rows, key=lambda row: (row.group != EVERYBODY, row.after)).group


def _protection(telling: Telling) -> str:
    return telling.case.protection or telling.words.say("default.protection")
