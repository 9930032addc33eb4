"""Make the view of a case: verdict and sentences, the main picture, remedies and the curve over epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.answer.choice import changes_given, smallest_epsilon
from evenhand.answer.effects import EVERYBODY, told_in
from evenhand.answer.harm import MEANINGLESS_DELTA, find_trouble
from evenhand.answer.prices import say_cost, say_price
from evenhand.answer.sentences import (
    find_settling,
    say_curve,
    say_how_much,
    say_what_to_do,
    say_who,
)
from evenhand.answer.telling import Telling
from evenhand.answer.verdicts import say_verdict
from evenhand.answer.view import RemedyLine, View
from evenhand.report.language import written_in
from evenhand.report.marks import LARGEST, EffectPanel, EffectRow, LackCurve, Lacking, Stage
from evenhand.report.words import MINUS, capital, has_figures, listed, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.answer.case import Case
    from evenhand.answer.status import Effect

_MOST_DRAWN, _DRAWN_OF_MANY = 30, 12
_MOST_CURVES = 4
_OF_CASE = (
    "language", "kind", "question", "meta", "warnings", "promise", "evidence", "method", "limits", "sources",
)  # fmt: skip
_BESIDE = {
    "selected": "wrongly_refused",
    "wrongly_refused": "selected",
    "wrongly_selected": "selected",
    "refused": "granted",
    "counted": "hidden",
    "hidden": "counted",
    "invented": "counted",
    "off": "counted",
}
"""The effect that explains another or pays for it."""
_OF_EVERY_ENTITY = frozenset({"billed", "short"})
_BESIDE_UNWANTED = {"selected": "wrongly_selected", "wrongly_selected": "wrongly_refused"}


def compose(case: Case) -> View:
    """Return what a page, the terminal and JSON say of a case."""
    with written_in(case.language):
        return _compose(Telling(case))


def _compose(telling: Telling) -> View:
    case, choice = telling.case, telling.choice
    recommended = choice.first.option.name if choice.first else ""
    curve = _draw_curve(telling, recommended)
    remedies = _list_remedies(telling)
    shown = {"", recommended or telling.table.page}
    return View(
        **{name: getattr(case, name) for name in _OF_CASE},
        state=telling.verdict.state,
        verdict=say_verdict(telling),
        who=say_who(telling),
        how_much=say_how_much(telling),
        what_to_do=say_what_to_do(telling),
        heading=_head_picture(telling),
        panels=tuple(_draw_panels(telling, recommended)),
        caption=_caption(telling),
        choice_heading=_head_choice(telling, has_curve=curve is not None),
        epsilon_heading=_head_epsilon(telling) if curve else "",
        remedy_heading=_head_remedies(telling) if remedies else "",
        curve=curve,
        remedies=remedies,
        remedy_caption=telling.say("choice.caption") if remedies else "",
        commands=tuple(command for command in case.commands if command.option in shown),
        rows=telling.rows,
        page=telling.table.page,
        recommended=recommended,
        settling=find_settling(telling),
    )


# --- the main picture ---------------------------------------------------------------------------------


def _head_picture(telling: Telling) -> str:
    lead, found, say = telling.lead, telling.verdict, telling.say
    if found.payers and lead is not None:
        words = telling.moved(lead)
        return say("detail.row", L=telling.name(lead.group).label, words=words, limits="").rstrip(".")
    if found.state == "nobody" and lead is not None:
        return say("picture.heading_nobody", amount=telling.matters(lead))
    return say("picture.heading_unsure")


def _draw_panels(telling: Telling, recommended: str) -> list[EffectPanel]:
    lead = telling.lead
    if lead is None or lead.status == "not stored":
        return []
    effects = [lead.effect]
    beside = _BESIDE.get(lead.effect, "")
    if telling.table.unwanted:
        beside = _BESIDE_UNWANTED.get(lead.effect, beside)
    stored = [
        row
        for row in telling.rows_of[telling.table.page]
        if row.effect == beside and row.status != "not stored"
    ]
    if any(row.group != EVERYBODY and (row.after or row.due) for row in stored):
        effects.append(beside)
    order = _order(telling, lead.effect)
    panels = [_draw_panel(telling, effect, order, recommended) for effect in effects]
    return [panel for panel in panels if panel.lines]


def _order(telling: Telling, effect: str) -> list[str]:
    """Return the groups in order of harm: clear before unclear, too few last."""
    told = telling.rows_of[telling.table.page]
    page = [row for row in told if row.effect == effect and row.group != EVERYBODY]
    groups = [row for row in page if row.group not in telling.table.entities]
    drawn = {*telling.harmed, *(row.group for row in groups)}
    rows = [row for row in page if row.group in drawn] if groups else page
    rows.sort(key=lambda row: (row.status == "unjudged", not row.is_harm, -telling.lack(row), row.group))
    return [row.group for row in rows]


def _draw_panel(telling: Telling, effect: str, order: Sequence[str], recommended: str) -> EffectPanel:
    table, say = telling.table, telling.say
    rows = [row for group in order if (row := telling.by_key.get((table.page, group, effect)))]
    drawn = rows if len(rows) <= _MOST_DRAWN else rows[:_DRAWN_OF_MANY]
    rest = ""
    if left := rows[len(drawn) :]:
        others = len(left)
        if effect in _OF_EVERY_ENTITY and all(row.group in table.entities for row in rows):
            others = len(table.entities) - len(drawn)  # those without a row lack no more
        rest = say("picture.rest", n=number(others, 0), amount=telling.left(max(left, key=telling.lack)))
    thresholds = {
        round(table.threshold(telling.seen(row)) * telling.scale(row), 9)
        for row in rows
        if row.status != "not stored"
    }
    harm = table.harm_of(effect)
    return EffectPanel(
        effect=effect,
        title=telling.title(effect),
        unit=_unit(telling, effect),
        scale=told_in(effect),
        names=(
            telling.option(table.unprotected).column,
            telling.option(table.page).column,
            telling.option(recommended).column if recommended else "",
        ),
        lines=tuple(_draw_line(telling, row, recommended) for row in drawn),
        matters=thresholds.pop() if len(thresholds) == 1 else 0.0,
        is_more_harm=None if harm in ("away", "") else harm != "less",
        rest=rest,
        currency=telling.case.currency,
    )


def _draw_line(telling: Telling, row: Effect, recommended: str) -> EffectRow:
    name = telling.name(row.group)
    remedy = telling.by_key.get((recommended, row.group, row.effect)) if recommended else None
    one, many = telling.head, telling.case.heads[1] or telling.words.say("default.people")
    size = number(row.people, 0)
    note = f"{size} {one if size == '1' else many}"
    if row.effect == "wrongly_refused" and not telling.table.unwanted:
        note = telling.say("group.qualified", n=size)
    scale = telling.scale(row)
    return EffectRow(
        group=row.group,
        label=capital(name.label),
        note=note,
        due=row.due * scale,
        due_shown=telling.shown(row.effect, row.due * scale),
        after=_mark(telling, row),
        remedy=None if remedy is None or remedy.status == "not stored" else _mark(telling, remedy),
        state="few" if row.status in ("unjudged", "not stored") else "harm" if row.is_harm else "calm",
    )


def _mark(telling: Telling, row: Effect) -> Stage:
    """Return a value on the axis with the limits of what it is beyond what is due."""
    scale, say, nothing = telling.scale(row), telling.say, math.nan
    if row.status == "not stored":
        told = {"words": say("picture.not_stored"), "shown": "–", "change": "–"}
        return Stage(nothing, nothing, nothing, is_harm=False, **told)
    limits = telling.due_limits(row)
    is_judged = row.status != "unjudged"
    harm, change = telling.table.harm_of(row.effect), limits.mean
    hurts = {"less": change < 0, "more": change > 0, "away": True}.get(harm, False)
    matters = abs(change) >= telling.table.threshold(telling.seen(row))
    low = high = nothing
    shown_limits = ""
    if is_judged and math.isfinite(limits.low) and limits.low != limits.high:
        low, high = _keep_drawable(
            row, [(row.due + each) * scale for each in (limits.low, limits.high)], scale
        )
        texts = [telling.signed(row.effect, each * scale) for each in (limits.low, limits.high)]
        shown_limits = say("amount.range", low=texts[0], high=texts[1])
    return Stage(
        row.after * scale,
        low,
        high,
        is_harm=bool(is_judged and hurts and limits.excludes_zero and matters),
        words=_mark_words(telling, row, is_open=limits.low <= 0 <= limits.high),
        shown=telling.shown(row.effect, row.after * scale) if is_judged else "–",
        change=_change(telling, row) if is_judged else "–",
        limits=shown_limits,
    )


def _keep_drawable(row: Effect, limits: list[float], scale: float) -> list[float]:
    """Return limits on the axis, cut at what a rate can be: from nobody to everybody."""
    most = LARGEST.get(told_in(row.effect), math.inf)
    if not 0 <= row.after * scale <= most < math.inf:
        return limits
    return [min(max(each, 0.0), most) for each in limits]


def _mark_words(telling: Telling, row: Effect, *, is_open: bool) -> str:
    """Return what a mark tells: the change from what is due, or of a remedy from the step before it."""
    say = telling.say
    if row.status == "unjudged":
        return say("picture.few")
    remedy = telling.option(row.setting).column
    is_page = row.setting == telling.table.page
    if not is_page and row.reference != telling.table.unprotected:
        return f"{remedy}: {telling.moved(row, is_step=True)}"
    small = abs(row.after - row.due) < telling.table.threshold(telling.seen(row))
    if row.basis == "exact" and small and row.effect == "counted":
        words = say("picture.right")
    elif is_open and row.basis != "exact":
        words = say("picture.no_change")
    else:
        words = telling.moved(row)
    return words if is_page else f"{remedy}: {words}"


def _change(telling: Telling, row: Effect) -> str:
    """Return a change from what is due with its sign, as the shown values give it."""
    scale = telling.scale(row)
    shown = telling.difference(row.effect, scale * row.after, scale * row.due)
    if shown == telling.say("amount.under_one") or not has_figures(shown):
        return "0"
    return f"{'+' if row.after > row.due else MINUS}{shown}"


def _unit(telling: Telling, effect: str) -> str:
    own, unit = f"effect.{effect}.unit", told_in(effect)
    ways = {"_others": telling.case.is_between_groups, "_unwanted": telling.table.unwanted, "": True}
    for key in (f"{own}{way}" for way, is_so in ways.items() if is_so):
        if telling.words.has(key):
            return telling.say(key)
    key = {"of 1,000": "rate", "of 100 releases": "releases"}.get(unit, unit)
    return telling.say(f"unit.{key}", head=telling.head)


def _caption(telling: Telling) -> str:
    lead, say = telling.lead, telling.say
    if lead is None:
        return ""
    kind = lead.basis.split(" ")[0]
    key = {"exact": "exact", "repeats": "repeats"}.get(kind, "rows")
    if key == "repeats" and telling.case.repeats == 1:
        key = "one"
    parts = [say(f"picture.caption_{key}", n=telling.case.repeats)]
    if lead.status != "not stored":
        parts.append(say("picture.caption_rest", matters=telling.matters(lead)))
    return " ".join(parts)


# --- what to choose -----------------------------------------------------------------------------------


def _head_choice(telling: Telling, *, has_curve: bool) -> str:
    choice, say = telling.choice, telling.say
    if choice.first:
        return say("choice.heading_use", R=telling.option(choice.first.option.name).words)
    if choice.trials:
        return say("choice.heading_misled" if choice.misled else "choice.heading_none")
    return _head_epsilon(telling) if has_curve else ""


def _head_remedies(telling: Telling) -> str:
    epsilon = telling.table.by_name[telling.table.page].epsilon
    return telling.say("choice.remedy" if math.isfinite(epsilon) else "choice.remedy_alone", e=epsilon)


def _head_epsilon(telling: Telling) -> str:
    step = smallest_epsilon(telling.steps)
    if step is None:
        return telling.say("choice.epsilon_none")
    return telling.say("choice.epsilon", e=step.epsilon)


def _list_remedies(telling: Telling) -> tuple[RemedyLine, ...]:
    choice, say, found = telling.choice, telling.say, telling.verdict
    if not choice.trials:
        return ()
    page = telling.table.page
    payers, worst = [payer.row.group for payer in found.payers], telling.worst_under(page)
    is_worst = worst is None or worst.group in payers  # else the number beside it is not theirs
    base = say("price.base", **telling.named(payers)) if is_worst else ""
    lines = [
        RemedyLine(
            say("choice.none", P=telling.option(page).words),
            "as planned",
            say("tag.as_planned"),
            *_say_left(telling, page),
            listed([*([base] if base else []), *_cost_as_planned(telling)]),
        )
    ]
    for trial in choice.trials:
        name = telling.option(trial.option.name)
        tag = say(f"tag.{trial.tag.replace(' ', '_').replace('-', '_')}")
        price = say_price(telling, trial)
        lines.append(
            RemedyLine(
                capital(name.words),
                trial.tag,
                tag,
                *_say_left(telling, trial.option.name),
                price=f"{name.note}; {price}" if name.note else price,
            )
        )
    return tuple(lines)


def _cost_as_planned(telling: Telling) -> list[str]:
    """Return that far fewer or more people are selected as planned, for a remedy's price tells the same."""
    table = telling.table
    if telling.case.is_between_groups or not changes_given(table, table.page, telling.case.costs):
        return []
    return [say_cost(telling, table.page, "in_all")]


def _say_left(telling: Telling, name: str) -> tuple[str, str]:
    """Return what the worst-off lack under an option, and its limits."""
    worst = telling.worst_under(name)
    if worst is None:
        return "–", ""
    least, most = telling.lack_limits(worst)
    if not most > 0 or worst.effect == "counted":
        return telling.left(worst), ""
    low, high = (telling.shown(worst.effect, each) for each in (least, most))
    return telling.left(worst), telling.say("amount.range", low=low, high=high)


def _curve_words(telling: Telling, row: Effect) -> str:
    """Return what the worst-off lack at a point of the curve, or that somebody is charged there."""
    is_billed = row.effect != "billed" and "below zero" in find_trouble(telling.table, row.setting)
    return telling.say("amount.charged") if is_billed else telling.lack_words(row)


def _draw_curve(telling: Telling, recommended: str) -> LackCurve | None:
    lead, table, say = telling.lead, telling.table, telling.say
    if lead is None or lead.status == "not stored":
        return None
    page = table.by_name[table.page]
    chosen = table.by_name[recommended].method if recommended else ""
    kept = [each.method for each in table.options if each.reference and each.delta < MEANINGLESS_DELTA]
    methods = dict.fromkeys([page.method, chosen, *kept])
    lines = []
    for method in [each for each in methods if each][:_MOST_CURVES]:
        tried = {
            option: row
            for option in sorted(table.options, key=lambda each: (each.epsilon, each.name))
            if option.method == method and math.isfinite(option.epsilon)
            if (row := telling.worst_under(option.name))
        }
        if len(tried) < 2:
            continue
        at = next((each for each in tried if each.epsilon == page.epsilon), next(iter(tried)))
        lines.append(
            Lacking(
                telling.option(at.name).words,
                "recommended" if method == chosen else "page" if method == page.method else "other",
                tuple(each.epsilon for each in tried),
                tuple(telling.drawn(row, telling.lack(row)) for row in tried.values()),
                *telling.lack_limits(tried[at]),
                tuple(_curve_words(telling, row) for row in tried.values()),
            )
        )
    if not any(line.role == "page" for line in lines):
        return None
    matters = telling.table.threshold(telling.seen(lead)) * telling.scale(lead)
    return LackCurve(
        title=say("choice.curve_title"),
        unit=say("choice.curve_unit", unit=_unit(telling, lead.effect)),
        lines=tuple(lines),
        chosen=page.epsilon,
        matters=matters,
        matters_words=say("choice.matters", amount=telling.shown(lead.effect, matters)),
        alt=say_curve(telling),
    )
