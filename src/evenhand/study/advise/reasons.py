"""Why a setting is recommended or none is, in sentences with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.words import number
from evenhand.study.advise.predictions import NO_GAP
from evenhand.study.advise.recommend import ACCURACY, GAP, message_bits
from evenhand.study.advise.verdicts import full_settings
from evenhand.study.page.wording import amount, change, counted, listed
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, paired_change
from evenhand.study.tasks.collect.wording import protocol_name, setting_name, way_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.advise.recommend import Candidate, Choice, Limits
    from evenhand.study.results.base import ResultData

__all__ = ["has_no_gap", "reasons"]

_UNPROTECTED = Setting()
_SINGLE = (
    "A single repeat says nothing about chance: without a second one there is no interval, and a better "
    "figure may be luck. Run the study with more repeats, ten for a start."
)
_NO_PAIRS = (
    "No setting has two repeats with a result beside that of the unprotected runs, so there is no interval: "
    "cells failed, were not run, or have no defined value. Look at the failures, and run the study again."
)


def has_no_gap(results: ResultData, limits: Limits, *, level: float) -> bool:
    """Return whether the unprotected runs leave no gap to reduce, by the far end of their interval."""
    found = estimate(results, _UNPROTECTED, GAP, level=level)
    most = NO_GAP if limits.max_gap is None else min(NO_GAP, limits.max_gap)
    return found.high is not None and found.high <= most


def reasons(results: ResultData, limits: Limits, choice: Choice, *, no_gap: bool) -> tuple[str, ...]:
    """Return why, one sentence or two per reason."""
    if choice.outcome == "no-candidates":
        return (_out_of_reach(results, limits),)
    if choice.outcome == "no-intervals":
        return (_SINGLE if results.plan.repeats == 1 else _NO_PAIRS,)
    if no_gap:
        return _nothing_to_reduce(results, choice)
    if choice.outcome == "none":
        return _nothing_fits(limits, choice)
    if choice.chosen is None:
        return _cannot_be_told(results, limits, choice)
    return _chosen(results, limits, choice, choice.chosen)


def _out_of_reach(results: ResultData, limits: Limits) -> str:
    tried = [each.epsilon for each in full_settings(results) if each.epsilon is not None]
    if not tried or limits.epsilon is None:
        return (
            "The study has no setting that protects every sensitive column. Run it with the strategy "
            "'independent' or 'combined'."
        )
    return (
        f"The study has no setting that protects every sensitive column at ε = {_epsilon(limits.epsilon)} or "
        f"less: its smallest epsilon is {_epsilon(min(tried))}. Run it with smaller ones."
    )


def _nothing_to_reduce(results: ResultData, choice: Choice) -> tuple[str, ...]:
    gap = estimate(results, _UNPROTECTED, GAP)
    first = (
        f"Without protection the model's gap is {amount(gap)}: there is next to none to reduce, and "
        "protection may add to it."
    )
    kept = (choice.chosen,) if choice.chosen else choice.alike
    if not kept:
        return (first, "No setting keeps within your limits at the far end of its intervals.")
    keep = "keeps" if len(kept) == 1 else "keep"
    second = (
        f"If the data must be protected all the same, {_named(kept)} {keep} within your limits; choose by "
        f"accuracy, or by message size: {_bits(results, kept)}."
    )
    return (first, second)


def _nothing_fits(limits: Limits, choice: Choice) -> tuple[str, ...]:
    """Say which limit binds, what comes nearest, and whether more repeats could help."""
    gap = [each for each in choice.candidates if each.gap_excess <= 0]
    loss = [each for each in choice.candidates if each.loss_excess <= 0]
    total = counted(len(choice.candidates), "candidate")
    if limits.max_gap is not None and not gap:
        told = [f"the limit on the gap, {_points(limits.max_gap)}"]
        told += [f"the limit on accuracy, {_points(limits.max_accuracy_loss)}"] if not loss else []
        first = f"Of {total}, none is shown to keep {', nor '.join(told)}."
    elif not loss:
        most = _points(limits.max_accuracy_loss)
        first = f"Of {total}, none is shown to lose at most {most} of accuracy: that limit binds."
    else:
        keep = "keeps" if len(gap) == 1 else "keep"
        first = (
            f"Of {total}, {len(gap)} {keep} the limit on the gap and {len(loss)} that on accuracy, but none "
            "keeps both: they bind together."
        )
    nearest = min(choice.candidates, key=lambda each: each.excess)
    second = (
        f"{setting_name(nearest.setting)} comes nearest: a gap of {amount(nearest.gap)} and a change of "
        f"accuracy of {change(nearest.change, unit=' points')}; at the far end it is "
        f"{number(100 * nearest.excess)} points beyond the limit."
    )
    unsure = sum(not each.breaks for each in choice.candidates)
    if not unsure:
        return (first, second, "Each clearly breaks a limit: more repeats will not help, other limits may.")
    some = f"{unsure} of them may keep the limits"
    return (first, second, f"By the near end of the intervals {some}: more repeats would tell.")


def _cannot_be_told(results: ResultData, limits: Limits, choice: Choice) -> tuple[str, ...]:
    alike = choice.alike
    epsilon = _epsilon(alike[0].setting.epsilon)
    sure = [each for each in alike if each.meets]
    which = "at which a setting meets the limits" if limits.are_set else _without_interval(results, choice)
    same = "their gaps and accuracies differ by no more than chance may explain"
    told = [f"At ε = {epsilon}, the smallest {which}, {_named(alike)} cannot be told apart: {same}."]
    if limits.are_set and len(sure) < len(alike):
        told.append(f"Shown to meet the limits {'is' if len(sure) == 1 else 'are'} only {_named(sure)}.")
    gaps = [each.gap.value for each in alike]
    told.append(
        f"Their mean gaps are {number(100 * min(gaps))} to {number(100 * max(gaps))} points. {_level(choice)}"
    )
    told.append(f"Choose by another criterion, such as message size: {_bits(results, alike)}.")
    return tuple(told)


def _chosen(results: ResultData, limits: Limits, choice: Choice, best: Candidate) -> tuple[str, ...]:
    gap, before = best.gap, estimate(results, _UNPROTECTED, GAP, level=choice.level)
    accuracy = estimate(results, best.setting, ACCURACY, level=choice.level)
    cost = f"Accuracy is {number(100 * accuracy.value)}%, a change of {change(best.change, unit=' points')}."
    told = [f"Its gap is {amount(gap)}; without protection it is {amount(before)}. {cost}"]
    if limits.are_set:
        kept = [f"a gap of at most {_points(limits.max_gap)}"] if limits.max_gap is not None else []
        if limits.max_accuracy_loss is not None:
            kept.append(f"a loss of accuracy of at most {_points(limits.max_accuracy_loss)}")
        told.append(f"It keeps {' and '.join(kept)} at the far end of its intervals.")
    told.append(_smaller(results, choice, best, limits))
    told += [_against(results, choice, best), _level(choice)]
    return tuple(told)


def _without_interval(results: ResultData, choice: Choice) -> str:
    """Say what the smallest epsilon of the candidates is the smallest of."""
    smallest = min(each.setting.epsilon for each in choice.candidates if each.setting.epsilon is not None)
    within = [each.epsilon for each in full_settings(results) if each.epsilon is not None]
    return "that was tried" if smallest == min(within) else "of the settings that have intervals"


def _smaller(results: ResultData, choice: Choice, best: Candidate, limits: Limits) -> str:
    """Say why no smaller epsilon."""
    epsilon = best.setting.epsilon
    less = [each for each in choice.candidates if each.setting.epsilon < epsilon]  # type: ignore[operator]
    if not less:
        return f"ε = {_epsilon(epsilon)} is the smallest {_without_interval(results, choice)}."
    nearest = min(less, key=lambda each: each.excess)
    broken = []
    if limits.max_gap is not None and nearest.gap_excess > 0:
        broken.append(f"a gap of {amount(nearest.gap)}")
    if limits.max_accuracy_loss is not None and nearest.loss_excess > 0:
        broken.append(f"a change of accuracy of {change(nearest.change, unit=' points')}")
    return (
        f"No setting with a smaller epsilon is shown to meet the limits; nearest is "
        f"{setting_name(nearest.setting)}, with {' and '.join(broken)}."
    )


def _against(results: ResultData, choice: Choice, best: Candidate) -> str:
    """Say how far ahead it is of the others of its epsilon."""
    beside = [
        each
        for each in choice.candidates
        if each.setting.epsilon == best.setting.epsilon and each is not best
    ]
    if not beside:
        return "It is the only candidate at this epsilon."
    by_gap: list[Candidate] = []
    by_accuracy: list[Candidate] = []
    for rival in (each for each in beside if each.meets):
        gap = paired_change(results, best.setting, GAP, against=rival.setting, level=choice.level)
        (by_gap if gap.is_clear else by_accuracy).append(rival)
    told = []
    if by_gap:
        told.append(f"its gap is clearly smaller than that of {_others(results, best, by_gap, GAP, choice)}")
    if by_accuracy:
        shown = _others(results, best, by_accuracy, ACCURACY, choice)
        told.append(f"with gaps that cannot be told apart it is clearly more accurate than {shown}")
    rest = [each for each in beside if not each.meets]
    if rest:
        told.append(f"not shown to meet the limits: {_named(rest)}")
    return f"Among the settings of this epsilon, {'; '.join(told)}."


def _others(
    results: ResultData, best: Candidate, rivals: Sequence[Candidate], measure: str, choice: Choice
) -> str:
    """Name the rivals and the smallest difference to one of them."""
    differences = [
        paired_change(results, best.setting, measure, against=rival.setting, level=choice.level)
        for rival in rivals
    ]
    nearest = min(differences, key=lambda each: abs(each.value))
    which = "" if len(rivals) == 1 else "at the least "
    return f"{_named(rivals)}, by {which}{change(nearest, unit=' points')}"


def _level(choice: Choice) -> str:
    several = counted(len(choice.candidates), "candidate")
    return (
        f"Each of these intervals has a level of {100 * choice.level:.4g} %, so that what is said of "
        f"{several} holds together."
    )


def _named(candidates: Sequence[Candidate]) -> str:
    return listed([_short(each) for each in candidates], most=12)


def _short(candidate: Candidate) -> str:
    """Return a setting without its epsilon, for lists."""
    return f"{protocol_name(candidate.setting)} ({way_name(candidate.setting)})"


def _bits(results: ResultData, candidates: Sequence[Candidate]) -> str:
    schema = results.facts.schema
    sized = [(message_bits(each.setting, schema), each) for each in candidates]
    sized.sort(key=lambda pair: pair[0])
    shown = [f"{_short(each)} {counted(bits, 'bit')}" for bits, each in sized]
    return listed(shown, most=12)


def _points(value: float | None) -> str:
    shown = "" if value is None else f"{100 * value:.3g}"
    return f"{shown} {'point' if shown == '1' else 'points'}"


def _epsilon(value: object) -> str:
    return f"{float(value):g}"  # type: ignore[arg-type]
