"""Tell what an option costs: whom a remedy harms, what goes beyond its limit, and why it is useless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.answer.choice import share_of_one_answer, try_next_steps
from evenhand.answer.effects import EVERYBODY
from evenhand.answer.harm import find_trouble
from evenhand.report.language import in_language
from evenhand.report.words import listed, number

if TYPE_CHECKING:
    from evenhand.answer.choice import Trial
    from evenhand.answer.harm import Trouble
    from evenhand.answer.telling import Telling


def say_price(telling: Telling, trial: Trial, *, most: int = 3) -> str:
    """Return what a remedy costs: whom it harms most, then what goes beyond its limit."""
    say, name = telling.say, trial.option.name
    words = _trouble_words(telling, name)
    for harmed in sorted(trial.harmed, key=lambda each: (-each.limits.mean, each.lead.group))[:2]:
        group, effect = harmed.lead.group, harmed.lead.effect
        row = telling.by_key[name, group, effect]
        if row.unit == "people":
            words.append(telling.then(row).removesuffix("."))
            continue
        amount = telling.rise(row, harmed.limits.mean)
        key = "price.harmed_off" if effect == "off" else "price.harmed"
        words.append(say(key, amount=amount, **telling.slots(group)))
    costs, table = trial.costs, telling.table
    if not words and not costs and table.in_all(name, "granted") - table.in_all(table.page, "granted") >= 1:
        costs = ("granted",)  # rights by error, within the limit
    words += [say_cost(telling, name, effect) for effect in costs]
    return listed(words[:most]) if words else say("price.none")


def say_next_steps(telling: Telling) -> list[str]:
    """Return what each remedy costs that was run on top of the page's option, where nobody pays."""
    if telling.verdict.state != "nobody":
        return []
    return [
        telling.say(
            "detail.failed", R=telling.option(trial.option.name).words, tests=[say_price(telling, trial)]
        )
        for trial in try_next_steps(telling.table, telling.case.costs)
    ]


def say_charges(telling: Telling) -> list[str]:
    """Return at which other epsilons somebody is charged, where the page is about less than is due."""
    if telling.lead is None or telling.lead.effect != "short":
        return []
    billed = [(step, telling.by_key.get((step.option, EVERYBODY, "billed"))) for step in telling.steps]
    return [
        telling.say("detail.charged", e=step.epsilon, n=telling.shown("billed", row.after))
        for step, row in billed
        if row is not None and step.option != telling.table.page and find_trouble(telling.table, step.option)
    ]


def say_cost(telling: Telling, name: str, effect: str) -> str:
    """Return what an option costs in all by an effect: people selected, rights, money, or errors."""
    table, key = telling.table_of(name), effect
    now, due = (
        table.in_all(each, effect) for each in (name, table.unprotected if effect == "in_all" else table.page)
    )
    if effect == "in_all":
        key = "paid" if table.pays_money else "rights" if "refused" in table.effects else "given"
    share = number(100 * abs(now / due - 1), 0) if due else "–"
    is_near = effect == "in_all" and abs(now - due) <= telling.case.costs.given * abs(due)
    alike = share_of_one_answer(table, name) if is_near else 0.0
    if alike:
        return telling.say("how.dead", n=telling.shown("wrong", 1000 * alike)).removesuffix(".")
    slots = {"n": telling.shown("wrong", now - due), "x": share, "more": 1 if now > due else 2}
    return telling.say(f"price.{key}", **slots)


def _trouble_words(telling: Telling, name: str) -> list[str]:
    """Return what makes a remedy useless, as part of a sentence; nothing for one that can be used."""
    told = []
    for trouble in find_trouble(telling.table_of(name), name):
        billed = telling.by_key.get((name, EVERYBODY, "billed"))
        if trouble != "below zero":
            told.append(say_useless(telling, trouble, name))
        elif billed is not None:
            told.append(telling.level(billed))
    return [f"{text[:1].lower()}{text[1:]}".removesuffix(".") for text in told[:1]]


def say_useless(telling: Telling, trouble: Trouble, name: str) -> str:
    """Return why an option without a guarantee, or that gives nearly everybody one answer, is useless."""
    table, say = telling.table_of(name), telling.say
    if trouble == "no guarantee":
        delta = table.by_name[name].delta
        return say(
            "how.no_guarantee", delta=in_language(f"{delta:.2g}"), n=telling.shown("wrong", 1000 * delta)
        )
    share = table.in_all(name, "selected")
    return say("how.dead", n=telling.shown("selected", max(share, 1000 - share)))
