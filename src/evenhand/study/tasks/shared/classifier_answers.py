"""Who pays, and what becomes of the gap, where a classifier is tested: which sentence is true.

What matters most comes first: that the model is of no use, then that somebody loses much, then that nobody
clearly does, then that these runs cannot say. The words stand in the catalogue beside this module.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.page.comparing import ALMOST_ALL, ENOUGH_REPEATS, FEWEST_PEOPLE, clearly
from evenhand.study.page.crossed import margins_sentence, rates_map
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP, mean_of
from evenhand.study.page.wording import Rounded, is_exactly_zero, points, round_apart
from evenhand.study.tasks.shared.classifier import AUC, LITTLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.page import Answer
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.shared.classifier import ClassifierReading

_MOST = 0.95
"""From this share of every group on, almost everybody is said to get the same answer."""

_STILL_RANKS = 0.7
"""An area under the ROC curve from which on scores are said to rank people."""

_HALF_A_POINT = 0.005
_MOST_NAMED = 6


def cost_answer(reading: ClassifierReading) -> Answer:
    """Return who pays for protection, and how much."""
    key, slots = _cost(reading)
    said = reading.sentences.answer(f"cost.{key}", **slots)
    evidence = f"{said.evidence}{_barely_ahead(reading)}"
    return type(said)(said.finding, " ".join(filter(None, (evidence, *_asides(reading)))))


def _barely_ahead(reading: ClassifierReading) -> str:
    """Return a remark if a useful model is little better than the same answer for everybody."""
    ahead = reading.ahead_of_same_answer()
    if not (reading.is_useful() and math.isfinite(ahead.value) and ahead.value <= LITTLE):
        return ""
    slots = {"answer": reading.same_answer, "base": mean_of(reading.same_answer_runs), "ahead": ahead}
    return reading.sentences.say("cost.parts.barely", **slots)


def _asides(reading: ClassifierReading) -> list[str]:
    """Return which groups are too small to say, and which runs are missing."""
    sentences, asides = reading.sentences, []
    if reading.too_few:
        key = "too_few" if reading.judged else "all_too_few"  # then the finding says that they are
        groups = [
            sentences.say(f"people.{key}_group", group=reading.named(group), people=reading.people(group))
            for group in reading.too_few
        ]
        asides.append(sentences.say(f"people.{key}", groups=groups))
    if missing := reading.missing_words("people.missing"):
        asides.append(missing)
    return asides


def _cost(reading: ClassifierReading) -> tuple[str, dict[str, Any]]:
    (before, after), moved = reading.pair(ACCURACY), reading.change(ACCURACY)
    slots: dict[str, Any] = {"before": before, "after": after, "design": reading.design, **reading.places}
    if not math.isfinite(moved.value):
        return "unknown", slots
    if not reading.is_useful():
        return _useless(reading, slots)
    if moved.runs == 1:
        return "one_repeat", slots
    if not moved.has_interval and not (reading.losing() or reading.gaining()):
        return ("none" if is_exactly_zero(moved) else "equal"), slots
    return _payers(reading, moved, slots)


def _useless(reading: ClassifierReading, slots: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    base, share = mean_of(reading.same_answer_runs), reading.said_same()
    slots |= {"answer": reading.same_answer, "base": base, "share": share}
    slots |= {"ranking": _ranking(reading), "others": group_losses(reading)}
    if not reading.is_useful(BASELINE):
        useless = "useless" in {reading.usefulness(BASELINE), reading.usefulness()}
        return "no_model" if useless else "no_proof", slots
    if reading.usefulness() == "unproved":
        return "unproved", slots
    if share in {0, 1}:
        return "constant", slots | {"answer": reading.answer_named(positive=reading.selected() == 1)}
    ahead = reading.ahead_of_same_answer()
    if clearly(ahead, -1) and ahead.value < -_HALF_A_POINT:
        return "worse", slots
    return ("dead" if share >= ALMOST_ALL else "useless"), slots


def _ranking(reading: ClassifierReading) -> str:
    before, after = (reading.mean(AUC, setting) for setting in (BASELINE, reading.chosen))
    if not (math.isfinite(before) and math.isfinite(after)):
        return ""
    part = "ranking_stays" if after >= _STILL_RANKS else "ranking_falls"
    return reading.sentences.say(f"cost.parts.{part}", before=before, after=after)


def _payers(
    reading: ClassifierReading, moved: Estimated, slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the sentence on who loses accuracy, as far as each group's own change is clear."""
    winners, who = reading.gaining(), _cannot_say(reading)
    if reading.losing():
        return _losers(reading, moved, slots)
    if moved.is_clear and moved.value < 0:
        who = who or reading.sentences.say("cost.parts.who_unclear")
        return "unclear_who", slots | {"loss": moved, "who": who, "others": group_losses(reading)}
    if moved.is_clear:
        slots |= {"gain": moved, "who": who, "others": group_losses(reading)}
        return ("rises_for_whom" if who else "rises"), slots
    if winners:
        gain = {"group": reading.named(winners[0]), "gain": reading.moved(winners[0], "accuracy")}
        return "group_rises", slots | gain | _others(reading, winners[0])
    return _nobody(reading, moved, slots)


def _cannot_say(reading: ClassifierReading) -> str:
    """Return why no group can be said to pay: too few repeats or people; an empty text if one could."""
    if not reading.has_enough_repeats():
        return reading.sentences.say("cost.parts.who_repeats", repeats=reading.change(ACCURACY).runs)
    return "" if reading.judged else reading.sentences.say("cost.parts.who_people")


def _losers(
    reading: ClassifierReading, moved: Estimated, slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return which groups lose accuracy, and whether others gain."""
    losers, winners = reading.losing(), reading.gaining()
    slots |= {"group": reading.named(losers[0]), "loss": reading.moved(losers[0], "accuracy")}
    if winners:
        slots |= {"other": reading.named(winners[0]), "gain": reading.moved(winners[0], "accuracy")}
        return "against", slots | _others(reading, losers[0], winners[0])
    alike = len(losers) == 2 and not reading.moved_apart("accuracy").is_clear
    if len(losers) == len(reading.judged) and moved.is_clear and (alike or len(losers) > 2):
        return "everyone", slots | {"loss": moved, "others": group_losses(reading)}
    if len(losers) > 1:
        slots |= {"other": reading.named(losers[1]), "other_loss": reading.moved(losers[1], "accuracy")}
        return "most", slots | _others(reading, *losers[:2])
    return "one_group", slots | _others(reading, losers[0])


def _nobody(
    reading: ClassifierReading, moved: Estimated, slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return that no change is clear, with what cannot be ruled out."""
    changes = {group: reading.moved(group, "accuracy") for group in reading.judged}
    known = {group: change for group, change in changes.items() if change.low is not None}
    widest = max(
        (abs(limit or 0.0) for change in known.values() for limit in (change.low, change.high)), default=0.0
    )
    if len(known) < len(changes) or not widest:  # that all is the same is another sentence
        most = max(abs(limit) for limit in (moved.low or 0.0, moved.high or 0.0))
        key = "nobody_overall" if most <= LITTLE else "open_overall"
        most = _round_up(most) if key == "nobody_overall" else -(moved.low or 0.0)
        who = _cannot_say(reading) or reading.sentences.say("cost.parts.who_unclear")
        return key, slots | {"change": moved, "most": most, "who": who, "others": group_losses(reading)}
    furthest = max(known, key=lambda group: -(known[group].low or 0.0))
    if widest <= LITTLE:
        largest = max(known, key=lambda group: abs(known[group].value))
        slots |= {"group": reading.named(largest), "change": known[largest], "most": _round_up(widest)}
        return ("nobody_judged" if reading.too_few else "nobody"), slots | {"others": ""}
    slots |= {"group": reading.named(furthest), "change": known[furthest], "others": ""}
    most = -(known[furthest].low or 0.0)
    judged = "_judged" if reading.too_few else ""
    if most <= LITTLE:
        return f"little{judged}", slots | {"most": _round_up(max(most, _HALF_A_POINT / 5))}
    return f"open{judged}", slots | {"most": most}


def _round_up(share: float) -> float:
    """Return a share rounded up to a tenth of a point, so that *less than* stays true."""
    return math.ceil(share * 1000 - 1e-9) / 1000


def _others(reading: ClassifierReading, *told: str) -> dict[str, str]:
    """Return the groups that the finding does not name, if their change is not clear."""
    rest = [group for group in reading.judged if group not in told]
    if not rest:
        return {"others": ""}
    return {"others": group_losses(reading, rest)}


def group_losses(reading: ClassifierReading, groups: Sequence[str] | None = None) -> str:
    """Return the change of accuracy of each group, or of those named; an empty text if none is known."""
    sentences, shown = reading.sentences, list(reading.judged if groups is None else groups)
    changes = {group: reading.moved(group, "accuracy") for group in shown}
    known = {group: change for group, change in changes.items() if math.isfinite(change.value)}
    if not known:
        return ""
    bare = not any(change.has_interval for change in known.values())
    order = sorted(known, key=lambda group: known[group].value)[:_MOST_NAMED]
    parts = [
        sentences.say(
            f"cost.parts.group_{'unclear' if known[group].has_interval else 'bare'}",
            group=reading.named(group),
            change=known[group],
        )
        for group in order
    ]
    why = "equal" if all(change.runs >= ENOUGH_REPEATS for change in known.values()) else "bare"
    key = f"groups_{why}" if bare else "groups" if groups is None else "others"
    return sentences.say(f"cost.parts.{key}", groups=parts, repeats=ENOUGH_REPEATS)


# --- the gap --------------------------------------------------------------------------------------


def gap_answer(reading: ClassifierReading) -> Answer:
    """Return what becomes of the gap, and who moved."""
    key, slots = _gap(reading)
    said = reading.sentences.answer(f"gap.{key}", **slots)
    return type(said)(said.finding, f"{said.evidence}{_privileged_least(reading)}{_margins(reading)}".strip())


def _margins(reading: ClassifierReading) -> str:
    """Return what the gap is within each crossed column; an empty text where nothing is crossed."""
    if not reading.results.facts.margins or not reading.is_useful():
        return ""
    return margins_sentence(reading.sentences, rates_map(reading))


def _gap(reading: ClassifierReading) -> tuple[str, dict[str, Any]]:
    if len(reading.judged) < 2:
        return "too_few", {"fewest": FEWEST_PEOPLE}
    (before, after), moved = reading.pair(GAP), reading.change(GAP)
    high, low = reading.named(reading.high), reading.named(reading.low)
    first, second = round_apart(before, after, moved)
    slots: dict[str, Any] = {"before": first, "after": second, "change": moved, **reading.places}
    slots |= {"level": _level(reading, first, second)}
    slots |= {"high": high, "low": low, "moves": "", "left": "", "pair": "", "why": ""}
    if not math.isfinite(moved.value):
        return "unknown", slots
    if not reading.is_useful():
        return _useless_gap(reading, slots)
    if not moved.has_interval and not is_exactly_zero(moved):
        return ("one_repeat" if moved.runs == 1 else "equal"), slots
    apart, apart_after = reading.apart(BASELINE), reading.apart(reading.chosen)
    slots |= {"apart": apart, "apart_after": apart_after}
    if len(reading.judged) > 2:
        return _wide_gap(reading, moved, slots)
    return _two_groups(reading, moved, slots | {"moves": _moves(reading)})


def _level(reading: ClassifierReading, before: Rounded, after: Rounded) -> str:
    """Return what the gap is before and after, or that it stays where it is as far as digits show."""
    same = points(before.value, before.digits) == points(after.value, after.digits)
    return reading.sentences.say(f"gap.parts.{'stays' if same else 'becomes'}", before=before, after=after)


def _useless_gap(reading: ClassifierReading, slots: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if not reading.is_useful(BASELINE):
        return "no_model", slots
    if slots["after"].value >= slots["before"].value or reading.said_same() < ALMOST_ALL:
        return "useless", slots
    if reading.said_same() == 1:
        return "constant", slots
    return ("dead" if slots["change"].is_clear else "useless"), slots


def _two_groups(
    reading: ClassifierReading, moved: Estimated, slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    apart, apart_after = slots["apart"], slots["apart_after"]
    if apart.is_clear and apart_after.is_clear and apart.value * apart_after.value < 0:
        return "turned", slots
    if is_exactly_zero(moved):
        return "same", slots
    if not moved.is_clear:
        none = not apart.is_clear and not apart_after.is_clear
        return ("none" if none and apart.has_interval and apart_after.has_interval else "unclear"), slots
    if moved.value > 0 and not apart.is_clear and apart_after.is_clear and apart.has_interval:
        names = (slots["high"], slots["low"]) if apart_after.value > 0 else (slots["low"], slots["high"])
        return "opens", slots | {"ahead": names[0], "behind": names[1]}
    if moved.value > 0:
        return "grows", slots | {"why": _why(reading)}
    alike = _almost_alike(reading)
    sure = apart_after.is_clear or not apart_after.has_interval
    left = "" if sure or alike else reading.sentences.say("gap.parts.left")
    return "narrows", slots | {"why": alike or _why(reading), "left": left}


def _wide_gap(
    reading: ClassifierReading, moved: Estimated, slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    pair = reading.sentences.say("gap.parts.pair", **slots) if slots["apart"].has_interval else ""
    slots |= {"pair": f"{pair}{_other_pair(reading)}"}
    if is_exactly_zero(moved):
        return "wide_same", slots
    if not moved.is_clear:
        return "wide_unclear", slots
    return ("wide_grows" if moved.value > 0 else "wide_narrows"), slots


def _why(reading: ClassifierReading) -> str:
    """Return whose clear move explains the change of the gap; an empty text if none is clear."""
    moves = [_direction(reading.moved(group, "selection")) for group in (reading.low, reading.high)]
    parts = {
        (-1, 0): "low_falls",
        (1, 0): "low_rises",
        (0, -1): "high_falls",
        (0, 1): "high_rises",
        (-1, -1): "both_fall",
        (1, 1): "both_rise",
        (1, -1): "together",
        (-1, 1): "apart",
    }
    part = parts.get((moves[0], moves[1]))
    if part is None:
        return ""
    names = {"low": reading.named(reading.low), "high": reading.named(reading.high)}
    return reading.sentences.say(f"gap.why.{part}", **names)


def _almost_alike(reading: ClassifierReading) -> str:
    """Return that a gap narrows by giving almost everybody in each group the same answer; else nothing."""
    shares = [reading.rate(group, "selection").value for group in reading.judged]
    said = min(shares) if reading.selected() > 1 / 2 else 1 - max(shares)
    if not said >= _MOST:
        return ""
    answer = reading.answer_named(positive=reading.selected() > 1 / 2)
    return reading.sentences.say("gap.why.alike", answer=answer)


def _direction(moved: Estimated) -> int:
    return int(np.sign(moved.value)) if moved.is_clear else 0


def _moves(reading: ClassifierReading) -> str:
    """Return how often both groups are selected before and after, or that neither clearly moves."""
    moves = [reading.moved(group, "selection") for group in (reading.low, reading.high)]
    if all(moved.has_interval and not moved.is_clear for moved in moves):
        part = "moves_together" if reading.change(GAP).is_clear else "nobody_moves"
        return reading.sentences.say(f"gap.parts.{part}")
    (low_before, low_after), (high_before, high_after) = (
        reading.rate_pair(group, "selection") for group in (reading.low, reading.high)
    )
    slots = {"low_before": low_before, "low_after": low_after, "high_before": high_before}
    names = {"low": reading.named(reading.low), "high": reading.named(reading.high)}
    return reading.sentences.say("gap.parts.moves", **slots, high_after=high_after, **names)


def _other_pair(reading: ClassifierReading) -> str:
    """Return a remark if other groups are furthest apart afterwards."""
    rates = {group: reading.rate(group, "selection").value for group in reading.judged}
    known = {group: value for group, value in rates.items() if math.isfinite(value)}
    if len(known) < 2:
        return ""
    top, bottom = max(known, key=lambda group: known[group]), min(known, key=lambda group: known[group])
    if {top, bottom} == {reading.high, reading.low} or known[top] == known[bottom]:
        return ""
    names = {"high": reading.named(top), "low": reading.named(bottom)}
    return reading.sentences.say("gap.parts.other_pair", **reading.places, **names)


def _privileged_least(reading: ClassifierReading) -> str:
    """Return a remark if the group declared as privileged is the one that is selected least."""
    place = reading.results.facts.privileged
    if place is None:
        return ""
    privileged = reading.groups[place]
    if len(reading.judged) < 2 or privileged != reading.low or not clearly(reading.apart(BASELINE), 1):
        return ""
    return reading.sentences.say("gap.parts.privileged", group=reading.named(privileged))
