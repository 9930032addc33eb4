"""The three sentences of a study of classifiers: what privacy costs, what becomes of the gap, what to choose.

Each number is computed from the results and each comparative word rests on an interval: where it leaves room
for no difference, the sentence is another one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.study.page.comparing import Rival, clearly
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import amount, change, is_exactly_zero, listed, percent, points
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["choice_answer", "cost_answer", "gap_answer", "rivals_of"]


# --- what privacy costs ---------------------------------------------------------------------------


def cost_answer(reading: LearnReading) -> str:
    """Say what training with privacy alone costs in accuracy, before anything is evened out."""
    setting = _bare(reading)
    if setting is None:
        before = reading.value(ACCURACY, BASELINE)
        return (
            "**No way with privacy alone was trained**, so what it costs by itself cannot be said: the plain "
            f"classifier is right for {percent(before.value)} of the test rows."
        )
    return f"**{cost_heading(reading, setting)}**: {_accuracies(reading, setting)}."


def cost_heading(reading: LearnReading, setting: Setting) -> str:
    """Return what privacy does to accuracy, as far as it is clear."""
    moved, name = reading.change(ACCURACY, setting), reading.name(setting)
    if not moved.has_interval:
        return f"One repeat cannot tell what {name} costs"
    if is_exactly_zero(moved):
        return f"{name} is as accurate as the plain classifier, in every repeat"
    if not moved.is_clear:
        return f"{name} does not clearly change accuracy"
    return f"{name} {'costs' if moved.value < 0 else 'gains'} {amount(moved)} of accuracy"


def _bare(reading: LearnReading) -> Setting | None:
    """Return the first private way at the epsilon that is not post-processed: what privacy alone does."""
    return next((setting for setting in reading.private if not METHODS[setting.mechanism].then), None)


def _accuracies(reading: LearnReading, setting: Setting) -> str:
    before, after = reading.value(ACCURACY, BASELINE), reading.value(ACCURACY, setting)
    moved = reading.change(ACCURACY, setting)
    said = (
        f"{percent(before.value)} of the test rows are right without privacy and {percent(after.value)} with"
    )
    if moved.is_clear or is_exactly_zero(moved):
        return said
    return f"{said}, a change of {change(moved, unit=' points')}"


# --- the gap --------------------------------------------------------------------------------------


def gap_answer(reading: LearnReading) -> str:
    """Say what becomes of the gap, beside what equal rates would show and what bounds it."""
    after = reading.value(GAP)
    if not math.isfinite(after.value):
        return f"**What becomes of the gap is not known**: no cell of {reading.name()} is done."
    if reading.constant():
        return (
            f"**{gap_heading(reading)}**: whatever the groups are like, the same answer for all has no gap."
        )
    if not reading.chosen.is_protected:
        return f"**The plain classifier has a gap of {points(after.value)} points**{_equal(reading)}."
    before, moved = reading.value(GAP, BASELINE), reading.change(GAP)
    both = f"{points(before.value)} points for the plain classifier and {points(after.value)} for this one"
    price = _price(reading) if moved.has_interval else ""
    return f"**{gap_heading(reading)}**: {both}{_equal(reading)}.{price}{_bounded(reading)}"


def gap_heading(reading: LearnReading) -> str:
    """Return which way the gap goes, as far as it is clear."""
    moved, name = reading.change(GAP), reading.name()
    if reading.constant():
        return f"{name} selects {reading.constant()} in any test, so that its gap of 0 says nothing"
    if not moved.has_interval:
        return f"One repeat cannot tell what {name} does to the gap"
    if not moved.is_clear:
        return f"{name} does not clearly change the gap"
    return f"{name} {'narrows' if moved.value < 0 else 'widens'} the gap by {amount(moved)}"


def _price(reading: LearnReading) -> str:
    moved = reading.change(ACCURACY)
    if not moved.is_clear:
        return " Accuracy does not clearly change."
    return f" It {'costs' if moved.value < 0 else 'gains'} {amount(moved)} of accuracy."


def _equal(reading: LearnReading) -> str:
    fair, beyond = reading.value("fair_gap").value, reading.beyond_equal()
    if not math.isfinite(fair):
        return ""
    shown = f"{points(fair)} points that equal rates would show by chance on as many test rows"
    if not beyond.has_interval:
        return f", to be compared with the {shown}"
    if beyond.is_clear and beyond.value > 0:
        return f", clearly more than the {shown}"
    if beyond.is_clear:
        return f", less than the {shown}"
    return f", which cannot be told from the {shown}"


def _bounded(reading: LearnReading) -> str:
    if not math.isfinite(reading.value("bound").value):
        return " Nothing bounds the gap of other people." if reading.chosen.is_protected else ""
    words = {"bound": "points on average", "bound_95": "points with 95%"}
    told = [
        f"at most {points(reading.bound(name))} {unit}"
        for name, unit in words.items()
        if math.isfinite(reading.bound(name))
    ]
    if not told:
        return " Nothing useful bounds the gap of other people: a group has too few rows for it."
    over = f" (mean{'s' * (len(told) > 1)} over repeats)" if reading.repeats > 1 else ""
    proved = f"By {'proved bounds' if len(told) > 1 else 'a proved bound'} the gap"
    return f" {proved} among people like those of the rows is {', and '.join(told)}{over}."


# --- the choice -----------------------------------------------------------------------------------


def choice_answer(reading: LearnReading) -> str:
    """Say how the chosen way compares with the other private ones at its epsilon."""
    rivals = rivals_of(reading)
    if nothing := _no_choice(reading, many=len(rivals)):
        return nothing
    better = [rival for rival, verdict in rivals.items() if verdict == "better"]
    worse = [rival for rival, verdict in rivals.items() if verdict == "worse"]
    rest, many = _rest(reading, rivals), 2 * len(rivals)
    if better:
        heads = [
            f"{reading.way(setting).title} {_lead(reading, setting, reading.chosen, comparisons=many)}"
            for setting in better
        ]
        return f"**{listed(heads, most=3, rest='other ways do better')}**{rest}"
    if worse:
        heads = [_lead(reading, reading.chosen, setting, comparisons=many) for setting in worse]
        return f"**{reading.way().title} {listed(heads, most=3, rest='more such')}**{rest}"
    return f"**No private way at this ε clearly does better than {reading.way().title}**{rest}"


def _no_choice(reading: LearnReading, *, many: int) -> str:
    """Return why there is nothing to choose among so many rivals, if there is not."""
    title = reading.way().title
    if not reading.chosen.is_protected or not reading.is_private(reading.chosen):
        what = "This way promises" if reading.chosen.is_protected else "Plain logistic regression promises"
        return f"**{what} nothing to anybody**, so there is nothing to choose here; try private ways."
    if reading.constant():
        why = f"{title} gives everybody the same answer.** Try a larger ε, more rows or another way."
        return f"**No recommendation: {why}"
    if not many and len(reading.private) > 1:
        why = "every other private way at this ε gives everybody the same answer.**"
        return f"**No recommendation: {why} Try a larger ε or more rows."
    if not many:
        why = (
            f"{title} is the only private way at its ε.** Try others beside it to have something to compare."
        )
        return f"**No recommendation: {why}"
    if reading.repeats == 1:
        return "**One repeat cannot tell which private way does better.** Repeat the study to compare them."
    return ""


def _lead(reading: LearnReading, first: Setting, second: Setting, *, comparisons: int) -> str:
    """Return in what one way is clearly ahead of another; in the rest the two cannot be told apart."""
    accuracy = reading.change(ACCURACY, first, against=second, comparisons=comparisons)
    gap = reading.change(GAP, first, against=second, comparisons=comparisons)
    other = METHODS[second.mechanism].title
    if clearly(accuracy, 1) and clearly(gap, -1):
        return f"is more accurate than {other}, with a smaller gap"
    if clearly(accuracy, 1):
        return f"is more accurate than {other}, with no clear difference of gaps"
    return f"has a smaller gap than {other}, with no clear difference of accuracy"


def rivals_of(reading: LearnReading) -> Mapping[Setting, str]:
    """Return each other private way at the epsilon with whether it is better, worse, a trade or the same."""
    others = [
        setting for setting in reading.private if setting != reading.chosen and not reading.constant(setting)
    ]
    verdicts = {}
    for other in others:
        accuracy, gap = (
            reading.change(name, against=other, comparisons=2 * len(others)) for name in (ACCURACY, GAP)
        )
        verdicts[other] = Rival(other, accuracy, gap).verdict
    return verdicts


def _rest(reading: LearnReading, rivals: Mapping[Setting, str]) -> str:
    """Return the trades and ties that follow the first half of the sentence, and who must be known."""
    parts = []
    trades = [rival for rival, verdict in rivals.items() if verdict == "trade"]
    for sign, words in ((-1, "more accurate with a wider gap"), (1, "less accurate with a smaller gap")):
        told = [_figures(reading, each) for each in trades if _ahead_in_gap(reading, each) == sign]
        if told:
            parts.append(f"{listed(told, most=3)} {'is' if len(told) == 1 else 'are'} {words}")
    same = [METHODS[rival.mechanism].title for rival, verdict in rivals.items() if verdict == "same"]
    if same:
        parts.append(f"{listed(same)} cannot be told from it")
    bases = {METHODS[rival.mechanism].base for rival in (reading.chosen, *rivals)}
    if "local" in bases and len(bases) > 1:
        parts.append(
            "Local promises something else: it hides reported columns from whoever trains, and no others"
        )
    if reading.way().needs_group:
        parts.append(f"{reading.way().title} needs everybody's group when a decision is made")
    return f": {'; '.join(parts)}." if parts else "."


def _ahead_in_gap(reading: LearnReading, other: Setting) -> int:
    """Return -1 where the chosen way has the smaller gap, and 1 where the other has."""
    return -1 if reading.change(GAP, against=other).value < 0 else 1


def _figures(reading: LearnReading, setting: Setting) -> str:
    accuracy, gap = reading.value(ACCURACY, setting), reading.value(GAP, setting)
    return f"{METHODS[setting.mechanism].title} ({percent(accuracy.value)}, gap {points(gap.value)})"
