"""What it would take where no setting can be recommended: repeats, people, another epsilon, other limits.

Intervals are about as long as one over the root of the number of repeats, and what repeats vary by is about
one over the root of the number of people. That gives both numbers where a mean is within the limits and only
the far end of its interval is not. Where the mean is beyond them, epsilon is interpolated, on its logarithm,
between tested values on both sides of the limit; beyond the tested ones only the direction is said, and that
from what holds without protection, which is where ever larger values of epsilon lead.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from evenhand.report.words import epsilon_of, epsilon_words
from evenhand.study.advise.verdicts import full_settings
from evenhand.study.advise.wording import limit_word, say
from evenhand.study.page.comparing import TIGHTER, people_for, repeats_for
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.tasks.collect.wording import protocol_name, way_name

if TYPE_CHECKING:
    from evenhand.study.advise.recommend import Candidate, Choice, Limits
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading


def within_on_average(candidate: Candidate, limits: Limits) -> bool:
    """Return whether the means of a candidate are within the limits."""
    return all(distance > 0 for distance, _ in _distances(candidate, limits))


def nearest(choice: Choice, limits: Limits) -> Candidate:
    """Return the candidate nearest to the limits; one that is of use, and within them on average, first."""
    useful = [each for each in choice.candidates if each.is_useful] or list(choice.candidates)
    return min(useful, key=lambda each: (not within_on_average(each, limits), each.excess))


def what_it_takes(reading: CollectReading, choice: Choice, limits: Limits) -> tuple[str, int | None]:
    """Return what it would take to keep the limits, and how many repeats if they could tell."""
    near = nearest(choice, limits)
    without = [found for found in (near.gap, near.change) if not found.has_interval]
    if without:
        return without[0].note, None
    if within_on_average(near, limits):
        distances = [(TIGHTER * distance, found) for distance, found in _distances(near, limits)]
        return _more(distances)
    said = [_epsilon(reading, near, limits)]
    loss = -(near.change.low or 0.0)
    given = (limits.max_gap is not None, limits.max_accuracy_loss is not None)
    key = {(True, True): "both", (True, False): "gap", (False, True): "loss"}[given]
    said.append(say(f"takes.limits_{key}", gap=near.gap.high or near.gap.value, loss=max(loss, 0.0)))
    return " ".join(filter(None, said)), None


def _distances(candidate: Candidate, limits: Limits) -> list[tuple[float, Estimated]]:
    """Return how far each mean is within its limit, below zero where it is not, with its estimate."""
    found = []
    if limits.max_gap is not None:
        found.append((limits.max_gap - candidate.gap.value, candidate.gap))
    if limits.max_accuracy_loss is not None:
        found.append((limits.max_accuracy_loss + candidate.change.value, candidate.change))
    return found


def _more(distances: list[tuple[float, Estimated]]) -> tuple[str, int | None]:
    """Return how many repeats or people would show that the limits are kept."""
    repeats, factor = repeats_for(distances), people_for(distances)
    if factor is None:
        return (say("takes.repeats", repeats=repeats) if repeats else say("takes.on_limit")), repeats
    key = "takes.people" if repeats is None else "takes.repeats_or_people"
    return say(key, repeats=repeats, factor=f"{factor:.2g}"), repeats


def _epsilon(reading: CollectReading, near: Candidate, limits: Limits) -> str:
    """Return which epsilon would keep the limits on average, as far as tested ones or their limit tell."""
    series = sorted(
        (each for each in full_settings(reading.results) if _alike(each, near.setting)),
        key=lambda each: each.epsilon or 0,
    )
    over = {each: _beyond(reading, each, limits) for each in series if reading.is_useful(each)}
    for low, high in pairwise(over):
        if min(over[low], over[high]) <= 0 < max(over[low], over[high]):
            share = over[low] / (over[low] - over[high])
            ends = math.log(low.epsilon or 1), math.log(high.epsilon or 1)
            about = float(f"{math.exp(ends[0] + share * (ends[1] - ends[0])):.2g}")
            slots = {"low": epsilon_words(low.epsilon), "high": epsilon_words(high.epsilon)}
            return say("takes.epsilon", about=epsilon_words(about), **slots)
    before = reading.value(GAP, BASELINE)
    if limits.max_gap is None or (before.high is not None and before.high <= limits.max_gap):
        return say("takes.larger", largest=epsilon_of(max(reading.epsilons)), limit=limit_word(limits.which))
    if limits.which == "both" and near.gap.value <= limits.max_gap:
        return say("takes.between", before=before)
    stays = before.low is not None and before.low > limits.max_gap
    return say(f"takes.gap_{'stays' if stays else 'unclear'}", before=before)


def _alike(setting: Setting, other: Setting) -> bool:
    return protocol_name(setting) == protocol_name(other) and way_name(setting) == way_name(other)


def _beyond(reading: CollectReading, setting: Setting, limits: Limits) -> float:
    """Return how far the means of a setting are beyond the limits, below zero where they are within."""
    lost = reading.mean(ACCURACY, BASELINE) - reading.mean(ACCURACY, setting)
    over = []
    if limits.max_gap is not None:
        over.append(reading.mean(GAP, setting) - limits.max_gap)
    if limits.max_accuracy_loss is not None:
        over.append(lost - limits.max_accuracy_loss)
    return max(over)
