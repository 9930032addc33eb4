"""The three sentences of a study of decisions: who gains and who loses, which people pay, and what helps.

Each number is computed from the results. What is exact has no interval; where draws had to be made, a word is
only said if it holds beyond twice the standard error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.words import epsilon_words
from evenhand.study.page.wording import listed, plain, with_article
from evenhand.study.tasks.decide.methods import way_title
from evenhand.study.tasks.decide.wording import chance_text, few_text, setting_words

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading, Entity

__all__ = [
    "gain_heading",
    "group_heading",
    "helps_answer",
    "per_thousand",
    "sides",
    "who_answer",
    "who_pays_answer",
]

_CLEARLY = 2.0
_WORSE = 1.2  # times the typical error now
_FAR = 2.0  # times the largest expected misallocation


# --- who gains and who loses ----------------------------------------------------------------------


def who_answer(reading: DecideReading) -> str:
    """Say which entities gain and which lose, in money or rights."""
    if reading.outcome() is None:
        return f"**Nothing is known**: no cell of {setting_words(reading.chosen)} is done."
    return _who_is_refused(reading) if reading.is_rule else _who_gains(reading)


def _who_gains(reading: DecideReading) -> str:
    amounts, how = reading.amounts, setting_words(reading.chosen)
    moved = reading.mean("moved")
    if moved == 0:
        return f"**Nobody gains or loses on average**: {how} moves no money."
    head = gain_heading(reading)
    gains, losses = sides(reading)
    parts = [f"{entity.name} gains {amounts.text(_money(reading, entity))}" for entity in gains[:1]]
    parts += [f"{entity.name} loses {amounts.text(-_money(reading, entity))}" for entity in losses[:1]]
    of = f" of {amounts.text(reading.money)}" if amounts.in_money else ""
    what = f"{amounts.text(moved)}{of} is expected to move"
    if _nobody_loses(reading):
        what = f"{amounts.text(reading.beyond())} is expected to be paid beyond the budget"
    worst = f"; {listed(parts)}" if parts else ""
    return f"**{head}**: under {how}, {what}{worst}{_sampled(reading)}."


def _nobody_loses(reading: DecideReading) -> bool:
    """Return whether all that entities gain is paid on top of the budget."""
    return reading.mean("cost_of_privacy") == 0 and reading.beyond() > 0


def gain_heading(reading: DecideReading) -> str:
    """Return which sizes of entities gain and which lose, if there is one line between them."""
    noun, people = reading.noun, plain(reading.task.count or "people")
    if _nobody_loses(reading):
        return f"No {noun.one} loses on average"
    bound = reading.mean("error_bound")
    least = bound if reading.is_exact() and math.isfinite(bound) else 0.0
    totals = [
        (size, gain if abs(gain := reading.of_size("gain", size)) > least else 0.0) for size in reading.sizes
    ]
    signs = [math.copysign(1.0, total) for _, total in totals if total]
    changes = [place for place in range(1, len(signs)) if signs[place] != signs[place - 1]]
    known = [size for size, total in totals if total]
    if len(changes) != 1 or not _is_beyond_chance(reading):
        gains, losses = sides(reading)
        if gains and losses:
            return f"Some {noun.many} gain and others lose"
        return f"What {noun.many} get is not clearly moved"
    line = f"{known[changes[0]].least:,} {people}"
    small, large = ("gain", "lose") if signs[0] > 0 else ("lose", "gain")
    if _has_exceptions(reading, known[changes[0]].least, signs[0]):
        return f"On the whole, {noun.many} of fewer than {line} {small} and larger ones {large}"
    return f"{noun.many.capitalize()} of fewer than {line} {small}, larger ones {large}"


def _has_exceptions(reading: DecideReading, line: float, sign: float) -> bool:
    """Return whether an entity clearly goes another way than those of its size do together."""
    gains, losses = sides(reading)
    small, large = (gains, losses) if sign > 0 else (losses, gains)
    return any(each["size"] >= line for each in small) or any(each["size"] < line for each in large)


def sides(reading: DecideReading) -> tuple[list[Entity], list[Entity]]:
    """Return the entities that gain and those that lose, the most affected first, as far as it is clear."""
    least = 0.0
    if not reading.is_exact():
        least = _CLEARLY * reading.mean("error_bound") / (1.0 if reading.is_rule else reading.money)
    gains = [entity for entity in reading.entities if entity["bias"] > least]
    return gains, [entity for entity in reading.entities if entity["bias"] < -least]


def _money(reading: DecideReading, entity: Entity) -> float:
    return entity["bias"] * reading.money


def _is_beyond_chance(reading: DecideReading) -> bool:
    return reading.is_exact() or bool(any(sides(reading)))


def _sampled(reading: DecideReading) -> str:
    if reading.is_exact():
        return ""
    error = reading.mean("error_bound")
    shown = chance_text(error) if reading.is_rule else reading.amounts.text(error)
    return f" (drawn, not exact: a standard error of up to {shown} for each {reading.noun.one})"


def _who_is_refused(reading: DecideReading) -> str:
    noun, how = reading.noun, setting_words(reading.chosen)
    wrong, refused, granted = (
        reading.mean(name) for name in ("expected_wrong", "expected_refused", "expected_granted")
    )
    if wrong == 0:
        return f"**No {noun.one} is decided wrongly**: {how} changes nothing here."
    head = (
        f"{few_text(refused)} of {noun.count(reading.entities_in_all)} lose a right they have and "
        f"{few_text(granted)} gain one they do not have"
    )
    worst = reading.entities[0] if reading.entities else None
    chance = (
        f"; {worst.name} is hit hardest, with a chance of {chance_text(worst['flip'])} of a wrong decision"
        if worst is not None and worst["flip"] > 0
        else ""
    )
    return f"**{head}**, on average over what may be published under {how}{chance}{_sampled(reading)}."


# --- which people pay -----------------------------------------------------------------------------


def who_pays_answer(reading: DecideReading) -> str:
    """Say what groups of people gain or lose per head; without groups, what one release is off by."""
    if reading.outcome() is None:
        return "**Nothing is known** of who pays."
    if reading.groups:
        drawn = "" if reading.is_exact() else " (drawn, not exact: small differences may be chance)"
        return f"**{group_heading(reading)}**{_group_rest(reading)}{drawn}."
    return _near_the_line(reading) if reading.is_rule else _one_release(reading)


def group_heading(reading: DecideReading) -> str:
    """Return which group gains most per head and which loses most."""
    found = {group: _per_head(reading, group) for group in reading.groups}
    known = {group: value for group, value in found.items() if math.isfinite(value)}
    if not known:
        return f"Nobody of any group {'is entitled' if reading.is_rule else 'lives anywhere'}"
    return _group_refused(reading, known) if reading.is_rule else _group_gains(reading, known)


def _group_refused(reading: DecideReading, known: dict[str, float]) -> str:
    high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    shown = {few_text(1000 * value) for value in known.values()}
    if len(reading.groups) == 1:
        return f"Of 1,000 people of {plain(high)} who are entitled, {shown.pop()} are wrongly refused"
    if len(shown) == 1:
        return f"All groups are refused alike: {shown.pop()} of 1,000 people who are entitled"
    return (
        f"Of 1,000 people of {plain(high)} who are entitled, {few_text(1000 * known[high])} are wrongly "
        f"refused; of {plain(low)}, {few_text(1000 * known[low])}"
    )


def _group_gains(reading: DecideReading, known: dict[str, float]) -> str:
    high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    amounts = reading.amounts
    if not any(known.values()):
        return "Per head, no group gains or loses on average"
    if known[high] <= 0 or known[low] >= 0 or high == low:
        word = "loses" if known[low] < 0 else "gains"
        most = " most:" if len(reading.groups) > 1 else ""
        return f"Per head, {plain(low if known[low] < 0 else high)} {word}{most} {amounts.text(_most(known))}"
    return (
        f"Per head, {plain(low)} loses {amounts.text(-known[low])} and {plain(high)} gains "
        f"{amounts.text(known[high])}"
    )


def _most(known: dict[str, float]) -> float:
    return max(abs(value) for value in known.values())


def per_thousand(reading: DecideReading, group: str, name: str, setting: Setting | None = None) -> float:
    """Return how many of 1,000 people of a group are refused, or granted, a right by error.

    Those who are refused are counted among those entitled, those who are granted it among the others.
    """
    due, people = (reading.of_group(group, each, setting) for each in ("due", "people"))
    among = due if name == "refused" else people - due
    return 1000 * reading.of_group(group, name, setting) / among if among > 0 else math.nan


def _per_head(reading: DecideReading, group: str) -> float:
    if reading.is_rule:
        return per_thousand(reading, group, "refused") / 1000
    return reading.of_group(group, "gain_per_head")


def _group_rest(reading: DecideReading) -> str:
    if reading.is_rule:
        total = sum(reading.of_group(group, "refused") for group in reading.groups)
        return f"; {few_text(total)} people are expected to lose a right that they have"
    found = [reading.of_group(group, "gain") for group in reading.groups]
    if not any(math.isfinite(_per_head(reading, group)) for group in reading.groups):
        return ""
    between = min(sum(each for each in found if each > 0), -sum(each for each in found if each < 0))
    moved = f", {reading.amounts.text(between)} between groups" if between > 0 else ""
    return f"{moved}, if all people of {with_article(reading.noun.one)} share alike"


def _one_release(reading: DecideReading) -> str:
    amounts, noun = reading.amounts, reading.noun
    mean, largest = reading.mean("mean_error"), reading.mean("largest_error")
    if not math.isfinite(mean):
        return f"**What one release is off by is not known** for every {noun.one}."
    if largest == 0:
        return "**One release is as good as another**: no award is ever off."
    far = largest > _FAR * reading.mean("largest_misallocation") and mean > reading.mean("moved")
    head = "One release is off by far more than the average shows" if far else "What one release is off by"
    return (
        f"**{head}**: the award of {with_article(noun.one)} is typically off by {amounts.text(mean)}, "
        f"that of the worst by {amounts.text(largest)}, in either direction."
    )


def _near_the_line(reading: DecideReading) -> str:
    noun = reading.noun
    number = round(reading.mean("at_risk"))
    if not number:
        return f"**No {noun.one} has a chance of 5% or more of a wrong decision.**"
    lose = round(reading.mean("at_risk_of_loss"))
    verb = "has" if number == 1 else "have"
    of_them = f"{lose:,} of them would lose a right that they have"
    if number == 1:
        of_them = f"it would {'lose a right that it has' if lose else 'gain a right that it does not have'}"
    return f"**{noun.count(number)} {verb} a chance of 5% or more of a wrong decision**; {of_them}."


# --- what helps -----------------------------------------------------------------------------------


def helps_answer(reading: DecideReading) -> str:
    """Say what making up for losses costs, and what another way or epsilon would change."""
    if reading.outcome() is None:
        return "**Nothing is known** of what would help."
    now = _needed(reading, reading.chosen)
    if reading.is_rule:
        head = f"**{few_text(now)} decisions are expected to be wrong at {_at(reading.chosen)}**"
    else:
        head = f"**To make up for every expected loss costs {reading.amounts.text(now)}**"
        head += f" at {_at(reading.chosen)}" if reading.chosen.epsilon is not None else ""
    parts = [_other_epsilon(reading), _other_way(reading, now)]
    said = [part for part in parts if part]
    return f"{head}{'; ' if said else ''}{', and '.join(said)}."


def _at(setting: Setting) -> str:
    return "this setting" if setting.epsilon is None else epsilon_words(setting.epsilon)


def _needed(reading: DecideReading, setting: Setting) -> float:
    return reading.mean("expected_wrong", setting) if reading.is_rule else reading.needed(setting)


def _other_epsilon(reading: DecideReading) -> str:
    others = [setting for setting in reading.by_epsilon if setting != reading.chosen]
    known = [setting for setting in others if math.isfinite(_needed(reading, setting))]
    if not known:
        return ""
    far = max(known, key=lambda each: abs(math.log((each.epsilon or 1) / (reading.chosen.epsilon or 1))))
    return f"{reading.value_text(_needed(reading, far))} at {_at(far)}"


def _other_way(reading: DecideReading, now: float) -> str:
    others = [setting for setting in reading.ways if setting != reading.chosen]
    known = [setting for setting in others if math.isfinite(_needed(reading, setting))]
    if not known:
        return ""
    best = min(known, key=lambda each: _needed(reading, each))
    value = _needed(reading, best)
    if value + _doubt(reading, best) < now and reading.value_text(value) != reading.value_text(now):
        drawn = "" if reading.is_exact(best) else " (drawn, not exact)"
        promised = math.isfinite(reading.mean("claimed_epsilon", best))
        none = "" if promised else ", with no promise to anybody"
        rest = f"{drawn}{_at_what(reading, best)}{none}"
        return f"'{way_title(best)}' would bring it to {reading.value_text(value)}{rest}"
    return "nothing else that was tried clearly comes to less"


def _at_what(reading: DecideReading, other: Setting) -> str:
    """Return that one release is further off than now, where it clearly is."""
    if reading.is_rule:
        return ""
    now, then = reading.mean("mean_error"), reading.mean("mean_error", other)
    if not then > _WORSE * now:
        return ""
    return f", with a typical error of {reading.amounts.text(then)} in place of {reading.amounts.text(now)}"


def _doubt(reading: DecideReading, other: Setting) -> float:
    """Return by what two sums over entities may differ by chance, with errors taken as independent."""
    drawn = [each for each in (reading.chosen, other) if not reading.is_exact(each)]
    known = [each for each in (reading.mean("error_bound", each) for each in drawn) if math.isfinite(each)]
    return _CLEARLY * math.hypot(*known) * math.sqrt(reading.entities_in_all) if known else 0.0
