"""Why a setting is recommended: who pays for it, what becomes of the gap, and what else could narrow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.words import epsilon_words
from evenhand.study.advise.predictions import NO_GAP
from evenhand.study.advise.recommend import paired
from evenhand.study.advise.wording import full_name, limit_word, name_of, say
from evenhand.study.page.comparing import clearly
from evenhand.study.page.reading import BASELINE, GAP
from evenhand.study.tasks.shared.classifier_answers import cost_answer, gap_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.schema import Schema
    from evenhand.study.advise.recommend import Candidate, Choice, Limits
    from evenhand.study.tasks.collect.reading import CollectReading


def reasons(about: CollectReading, limits: Limits, choice: Choice, picked: Candidate) -> tuple[str, ...]:
    """Return at most three reasons for the setting that the reading is about."""
    told = [answer.replace("**", "") for answer in (cost_answer(about), gap_answer(about))]
    return (*told, *filter(None, [_third(about, limits, choice, picked)]))


def _third(about: CollectReading, limits: Limits, choice: Choice, picked: Candidate) -> str:
    """Return what could narrow a gap; without one that there is none, or why epsilon is not smaller."""
    before = about.value(GAP, BASELINE)
    said = choice.outcome == "chosen" and all(each.meets for each in choice.beside)
    if not said and before.low is not None and before.low > NO_GAP:
        return _remedies(about, limits, choice, picked)
    most = NO_GAP if limits.max_gap is None else min(NO_GAP, limits.max_gap)
    if before.high is not None and before.high <= most:
        return say("why.no_gap", before=before)
    less = [each for each in choice.candidates if each.setting.epsilon < picked.setting.epsilon]  # type: ignore[operator]
    return _smaller(about, limits, less) if less and limits.are_set else ""


def _remedies(about: CollectReading, limits: Limits, choice: Choice, picked: Candidate) -> str:
    """Return whether another protocol or split at this epsilon leaves a smaller gap, and why not that."""
    others = choice.beside
    if not others:
        return ""
    differences = {
        each: paired(about, picked.setting, each.setting, GAP, level=choice.level) for each in others
    }
    at = epsilon_words(picked.setting.epsilon)
    smaller = [each for each in others if clearly(differences[each], 1)]
    if smaller:
        best = max(smaller, key=lambda each: differences[each].value)
        word = "dead" if not best.is_useful else "limits" if not best.keeps else "costs"
        slots = {"other": name_of(best.setting, about.results.facts.schema), "difference": differences[best]}
        return say(f"why.remedy_{word}", change=best.change, limit=limit_word(limits.which), **slots)
    wider = [each for each in others if clearly(differences[each], -1)]
    if len(wider) == len(others):
        least = min((differences[each] for each in wider), key=lambda each: abs(each.value))
        names = [name_of(each.setting, about.results.facts.schema) for each in wider]
        key = f"why.remedy_best{'_one' if len(names) == 1 else ''}"
        return say(key, at=at, others=names, difference=least)
    shown = [
        say("why.remedy_one", other=name_of(each.setting, about.results.facts.schema), gap=each.gap)
        for each in sorted(others, key=lambda each: each.gap.value)
    ]
    narrower = clearly(about.change(GAP, picked.setting), -1)
    return say("why.remedy_none", at=at, others=shown) + ("" if narrower else say("why.stays"))


def _smaller(about: CollectReading, limits: Limits, less: Sequence[Candidate]) -> str:
    """Return how near the limits the next smaller epsilon comes."""
    below = max(each.setting.epsilon for each in less if each.setting.epsilon is not None)
    there = [each for each in less if each.setting.epsilon == below]
    useful = [each for each in there if each.is_useful]
    if not useful:
        return say("why.smaller_dead", smaller=epsilon_words(below))
    near = min(useful, key=lambda each: each.excess)
    slots = {
        "limit": limit_word(limits.which),
        "smaller": epsilon_words(below),
        "name": name_of(near.setting, about.results.facts.schema),
    }
    return say("why.smaller", gap=near.gap, change=near.change, **slots)


def tried(limits: Limits, choice: Choice, schema: Schema) -> tuple[str, ...]:
    """Return one line for each candidate, with what the limits or its cost say of it."""
    lines = []
    for each in choice.candidates:
        if each is choice.picked and choice.outcome != "too-wide":
            word = "recommended"
        elif not each.is_useful:
            word = "dead"
        elif limits.are_set:
            word = "keeps" if each.keeps else "breaks" if each.breaks else "open"
        else:
            word = "cheap" if each.costs_no_more else "costs"
        slots = {"name": full_name(each.setting, schema), "gap": each.gap, "change": each.change}
        lines.append(say("tried.line", verdict=say(f"tried.{word}"), **slots))
    if lines:
        count = len(choice.candidates)
        lines.append(say("why.level", count=count, level=choice.level))
    return tuple(lines)
