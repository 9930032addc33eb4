"""What pages on classifiers share: numbers of the head, baselines, and how to make it fairer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Note, Section, Table
from evenhand.report.words import change_of, number
from evenhand.study.page.comparing import clearly, strict
from evenhand.study.page.parts import cell_text, small_print
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP, SHARE
from evenhand.study.page.wording import digits_that_agree, mark
from evenhand.study.results.estimates import group_change
from evenhand.study.tasks.shared.classifier import AUC, BALANCED, LITTLE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from evenhand.report.page import KeyNumber
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.shared.classifier import ClassifierReading

_MOST_GROUPS = 4


def classifier_numbers(reading: ClassifierReading) -> list[KeyNumber]:
    """Return accuracy, how well people are told apart, the gap, and the accuracy of the groups concerned."""
    say = reading.sentences.say
    apart = AUC if math.isfinite(reading.mean(AUC)) else BALANCED
    accuracy, ranking, gap = (
        reading.changed_number(say(f"numbers.{measure}"), reading.pair(measure), reading.change(measure))
        for measure in (ACCURACY, apart, GAP)
    )
    if apart == AUC:
        (before, after), moved = reading.pair(AUC), reading.change(AUC)
        digits = digits_that_agree(before.value, after.value, moved.value, fewest=2, times=1)
        values = [number(estimate.value, digits or 2) for estimate in (before, after)]
        detail = change_of(mark(moved), digits or 2)
        detail = detail if moved.has_interval else say("head.no_interval", change=detail)
        detail = detail if digits else detail[max(detail.find("("), 0) :]  # else the interval alone
        ranking = replace(ranking, before=values[0], value=values[1], detail=detail)
    numbers = [accuracy, ranking, gap]
    for group in concerned_groups(reading, 2):
        label, pair = say("numbers.group", group=reading.named(group)), reading.rate_pair(group, "accuracy")
        moved = reading.moved(group, "accuracy")
        numbers.append(reading.changed_number(label, pair, moved, reading.colour(group)))
    return numbers


def concerned_groups(reading: ClassifierReading, most: int = _MOST_GROUPS) -> tuple[str, ...]:
    """Return the groups that lose most accuracy, in the schema's order; of groups too small none."""
    changes = {group: reading.moved(group, "accuracy").value for group in reading.judged}
    known = sorted(
        (group for group in changes if math.isfinite(changes[group])), key=lambda group: changes[group]
    )
    return tuple(sorted(known[:most], key=reading.groups.index))


# --- baselines ------------------------------------------------------------------------------------


def baselines_section(reading: ClassifierReading, name: Callable[[Setting], str]) -> Section:
    """Return the answers that need no model beside the model with and without protection."""
    say = reading.sentences.say
    scored = math.isfinite(reading.mean(AUC, BASELINE)) or math.isfinite(reading.mean(AUC))
    half = (number(50), number(0.5, 2))[: 1 + scored]
    same = say("baselines.same", answer=reading.same_answer)
    rows = [
        [same, _share(reading, reading.same_answer_runs), *half],
        [say("baselines.coin"), _share(reading, reading.coin_runs), *half],
    ]
    for setting in dict.fromkeys((BASELINE, reading.chosen)):
        shares = [cell_text(reading.value(measure, setting)) for measure in (ACCURACY, BALANCED)]
        ranking = [cell_text(reading.value(AUC, setting), times=1, digits=2)] * scored
        rows.append([name(setting), *shares, *ranking])
    slots: dict[str, Any] = {"answer": reading.same_answer, "ahead": reading.ahead_of_same_answer()}
    barely = reading.is_useful() and slots["ahead"].value <= LITTLE
    columns = ("what", "accuracy", "balanced", "auc")[: len(rows[0])]
    caption = small_print(reading, "", say("baselines.caption"))
    return Section(
        heading=say(f"baselines.heading_{'barely' if barely else reading.usefulness()}", **slots),
        lead=say("baselines.lead", answer=reading.same_answer),
        tables=(
            Table(
                header=[say(f"baselines.column_{column}") for column in columns],
                rows=rows,
                numeric=[False, *[True] * (len(columns) - 1)],
                caption=f"{caption}{say('baselines.caption_auc') * scored}",
                sunk=0,
                chosen=len(rows) - 1,
            ),
        ),
        anchor="baselines",
    )


def _share(reading: ClassifierReading, runs: Any) -> str:
    return cell_text(reading.tested(runs, within=SHARE))


# --- how to make it fairer ------------------------------------------------------------------------


def fairer_section(
    reading: ClassifierReading,
    settings: Sequence[Setting],
    name: Callable[[Setting], str],
    *,
    untried: str = "",
    usable: Collection[Setting] | None = None,
) -> Section | None:
    """Return what every setting beside the chosen one does to the gap, and what it costs each group.

    Parameters
    ----------
    reading : ClassifierReading
    settings : sequence of Setting
        Those that can be used instead.
    name : callable
        How a setting is called in the table.
    untried : str
        A sentence on remedies that exist and were not tested.
    usable : collection of Setting, optional
        Those that may be recommended; all unless some are there for comparison only.
    """
    if len(settings) < 2 and not untried:
        return None
    say, groups = reading.sentences.say, concerned_groups(reading)
    header = [say("fairer.column_setting"), say("fairer.column_gap"), say("fairer.column_accuracy")]
    header += [say("fairer.column_group", group=reading.shorten_name(group, 24)) for group in groups]
    costs = {setting: _costs(reading, setting, groups) for setting in settings}
    rows = [
        [
            name(setting) if reading.is_useful(setting) else f"{name(setting)}\n{say('fairer.no_use')}",
            cell_text(reading.value(GAP, setting)),
            *(_cost(estimate) for estimate in costs[setting]),
        ]
        for setting in settings
    ]
    allowed = settings if usable is None else usable
    useful = [setting for setting in settings if reading.is_useful(setting) and setting in allowed]
    table = Table(
        header=header,
        rows=rows,
        numeric=[False, *[True] * (len(header) - 1)],
        caption=small_print(reading, say("fairer.bold"), say("fairer.caption")),
        chosen=list(settings).index(reading.chosen) if reading.chosen in settings else None,
    )
    return Section(
        heading=_fairer_heading(reading, useful, name),
        lead=f"{say('fairer.lead')}{_payers(reading, costs, groups, name)}",
        tables=(table,),
        notes=(Note("plain", untried),) if untried else (),
        anchor="fairer",
    )


def _payers(
    reading: ClassifierReading,
    costs: Mapping[Setting, Sequence[Estimated]],
    groups: Sequence[str],
    name: Callable[[Setting], str],
) -> str:
    """Return whom each setting clearly costs accuracy most; an empty text where no interval is known."""
    say = reading.sentences.say
    hit: dict[str, list[str]] = {}
    changes = {setting: dict(zip(groups, found[1:], strict=True)) for setting, found in costs.items()}
    if not any(change.has_interval for found in changes.values() for change in found.values()):
        return ""
    for setting, found in changes.items():
        losses = {group: change.value for group, change in found.items() if clearly(change, -1)}
        if losses:
            hit.setdefault(min(losses, key=lambda group: losses[group]), []).append(name(setting))
    if len(hit) == 1 and sum(map(len, hit.values())) == len(costs) > 1:
        return say("fairer.payer_of_all", group=reading.named(*hit))
    payers = [say("fairer.payer", group=reading.named(group), settings=hit[group]) for group in hit]
    return "".join(payers) or say("fairer.nobody_pays")


def _fairer_heading(
    reading: ClassifierReading, useful: Sequence[Setting], name: Callable[[Setting], str]
) -> str:
    """Return which useful setting has the smallest gap, if it is clearly smaller than the chosen one's."""
    say = reading.sentences.say
    if not useful:
        return say("fairer.heading_useless")
    least = min(useful, key=lambda setting: reading.mean(GAP, setting))
    if not reading.is_useful():
        return say("fairer.heading_instead", least=name(least), chosen=name(reading.chosen))
    smaller = reading.change(GAP, least, against=reading.chosen, comparisons=max(len(useful) - 1, 1))
    if least == reading.chosen or not (smaller.is_clear and smaller.value < 0):
        return say("fairer.heading_none", chosen=name(reading.chosen))
    return say("fairer.heading_least", least=name(least), smaller=smaller)


def _costs(reading: ClassifierReading, setting: Setting, groups: Sequence[str]) -> list[Estimated]:
    changes = [reading.change(ACCURACY, setting)]
    return changes + [
        group_change(reading.results, setting, group, "accuracy", level=strict(len(reading.groups)))
        for group in groups
    ]


def _cost(estimate: Estimated) -> str:
    return cell_text(estimate, sign=True, bold=estimate.is_clear)
