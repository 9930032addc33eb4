"""Who pays under the page's option, by one rule for all kinds.

A useless result comes first. Else the payer is the group with the largest *lower limit* of clear harm, per
1,000 of the group or dollars a head; groups that are not clearly different from it are named with it. Ranked
by estimates, a small group would often be named by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.answer.effects import EFFECTS, EVERYBODY, mean, per_head
from evenhand.answer.status import Sample, contrast_of, family_level, judge, limit_samples, sample_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.answer.effects import EffectTable, Observation
    from evenhand.answer.status import Effect

Trouble = Literal["no guarantee", "below zero", "dead", "dead without protection", "missing"]
State = Literal["stop", "pays", "nobody", "unsure"]

MEANINGLESS_DELTA = 0.01
_ONE_ANSWER = 980.0  # so many of 1,000 get the same answer
_CHANCE_AUC = 60.0
_NO_SEPARATION = 5.0


@dataclass(frozen=True)
class Payer:
    """A group with a clear harm, and the effect that shows it."""

    row: Effect
    amount: float
    low: float
    tier: int


@dataclass(frozen=True)
class Verdict:
    """Who pays.

    `trouble` is what makes the page's option useless. `payers` are the worst-off first, with those that are
    not clearly different from it; `is_everybody` tells that every judged group has a clear harm. Where nobody
    pays, `worst` has the largest bound. `open` rows forbid "nobody", `unjudged` ones have too few people.
    `maybe_worse` are the open rows of other groups that may lack more than the first payer, the largest
    estimate first: to name that payer alone would mislead.
    """

    state: State
    trouble: tuple[Trouble, ...]
    payers: tuple[Payer, ...]
    is_everybody: bool
    worst: Effect | None
    open: tuple[Effect, ...]
    unjudged: tuple[Effect, ...]
    maybe_worse: tuple[Effect, ...]


def find_payers(table: EffectTable, rows: tuple[Effect, ...] | None = None) -> Verdict:
    """Return who pays under the page's option; `rows` are those of :func:`judge`, where they are at hand."""
    rows = judge(table) if rows is None else rows
    harmful = [
        row
        for row in rows
        if row.setting == table.page and row.group != EVERYBODY and table.hurts(row.effect)
    ]
    level = family_level(table, [table.page])
    harmed = {(row.group, row.effect) for row in harmful if row.is_harm}
    harms = (_payer(table, row) for row in harmful if row.is_harm)
    payers = sorted(
        (payer for payer in harms if _may_be_named(table, payer, harmed, level)),
        key=lambda payer: (payer.tier, -payer.low, -payer.amount, payer.row.group),
    )
    named = _name_equals(table, payers, level)
    trouble = find_trouble(table, table.page)
    if any(payer.tier < 0 for payer in named):
        trouble = (*trouble, "missing")
    still_open = tuple(row for row in harmful if row.status in ("open", "not stored"))
    others = [row for row in still_open if row.group not in {payer.row.group for payer in named}]
    judged = {row.group for row in harmful if row.status not in ("unjudged", "not stored")}
    state: State = "unsure"
    if trouble:
        state = "stop"
    elif named:
        state = "pays"
    elif not still_open and not harmed and (judged or (not harmful and _is_stored(table))):
        state = "nobody"
    base = judged - set(table.margins) - table.entities
    return Verdict(
        state,
        trouble,
        tuple(named),
        is_everybody=len(base) > 1 and base <= {group for group, _ in harmed},
        worst=_most_bounded(table, [row for row in harmful if row.status == "none"]),
        open=still_open,
        unjudged=tuple(row for row in harmful if row.status == "unjudged"),
        maybe_worse=tuple(
            sorted(
                (row for row in others if named and not _bound_of(table, row) <= named[0].amount),
                key=lambda row: -_lack_of(table, row),
            )
        ),
    )


def _is_stored(table: EffectTable) -> bool:
    """Return whether anything is known of the page's option; then nobody is due what it could take away."""
    return any(seen.is_stored for seen in table.by_option[table.page])


def find_trouble(table: EffectTable, name: str) -> tuple[Trouble, ...]:
    """Return what makes an option useless, whatever it does to groups."""
    found: list[Trouble] = []
    if table.by_name[name].delta >= MEANINGLESS_DELTA:
        found.append("no guarantee")
    billed = [seen.mean_after for seen in table.by_option[name] if seen.effect == "billed" and seen.is_stored]
    if max(billed, default=0.0) >= EFFECTS["billed"].matters:
        found.append("below zero")
    if _is_dead(table, name):
        found.append("dead without protection" if _is_dead(table, table.unprotected) else "dead")
    return tuple(found)


def lacks(table: EffectTable, seen: Observation) -> NDArray[np.float64]:
    """Return what a group lacks of what is due to it, by repeat; below 0 it has more than that.

    Where either direction hurts, the direction is that of the mean.
    """
    harm = table.harm_of(seen.effect)
    more = seen.after - seen.due
    if harm == "less" or (harm == "away" and mean(more) < 0):
        return -more
    return more


def changes_of(table: EffectTable, row: Effect) -> NDArray[np.float64]:
    """Return the change of a row in each repeat where it is known."""
    seen = table.by_key[row.setting, row.group, row.effect]
    before = table.before(seen)
    values = seen.after - before if len(before) == len(seen.after) else seen.after[:0]
    return values[np.isfinite(values)]


def side_in_each(table: EffectTable, row: Effect) -> Literal["lost", "gained", ""]:
    """Return whether a group lost or gained in every one of several repeats that give no limits."""
    values = changes_of(table, row)
    if len(values) < 2 or math.isfinite(row.low) or values.min() <= 0 <= values.max():
        return ""
    return "lost" if row.lack_by(values[0]) > 0 else "gained"


def sort_open(table: EffectTable, rows: list[Effect]) -> list[Effect]:
    """Return open rows, those that lost in every repeat first, then those with limits that may lack most."""

    def order(row: Effect) -> tuple[int, float]:
        side = side_in_each(table, row)
        if side == "lost":
            return 0, -row.lack_by(row.change)
        has_limits = math.isfinite(row.low)
        most = row.bound if has_limits else row.lack_by(np.nan_to_num(row.change))
        threshold = 1.0
        if row.status != "not stored":
            threshold = table.threshold(table.by_key[row.setting, row.group, row.effect])
        return 1 + (side == "gained") + (not has_limits), -float(most) / (threshold or 1.0)

    return sorted(rows, key=order)


def _payer(table: EffectTable, row: Effect) -> Payer:
    """Return a group with a clear harm: the limits of the change are those of the lack."""
    seen = table.by_key[row.setting, row.group, row.effect]
    falls = row.change < 0
    low = max(-row.high, 0.0) if falls else max(row.low, 0.0)
    tier = EFFECTS[row.effect].tier
    if row.effect == "counted":
        tier = (-1 if row.after <= 0 else 1) if falls else 2
    elif row.effect == "hidden" and row.after >= row.people > 0:
        tier = -1
    return Payer(row, float(per_head(seen, abs(row.change))), float(per_head(seen, low)), tier)


def _may_be_named(table: EffectTable, payer: Payer, harmed: set[tuple[str, str]], level: float) -> bool:
    """Return whether a group may be named: a crossing if it is clearly worse than its margins.

    An entity may be named if its row is exact, and clearly worse than every group that has the same harm.
    """
    row = payer.row
    own = table.by_key[row.setting, row.group, row.effect]
    beside = table.margins.get(row.group, ())
    if row.group in table.entities:
        if row.basis != "exact":
            return False
        same = (group for group, effect in harmed if effect == row.effect)
        beside = tuple(group for group in same if group not in table.entities)
    for group in beside:
        other = table.by_key.get((row.setting, group, row.effect))
        if other is None or not _is_clearly_worse(table, own, other, level):
            return False
    return True


def _name_equals(table: EffectTable, payers: list[Payer], level: float) -> list[Payer]:
    """Return the first payer and the groups of its tier that are not clearly better off, one row for each."""
    if not payers:
        return []
    first = payers[0]
    lead = table.by_key[first.row.setting, first.row.group, first.row.effect]
    named = {first.row.group: first}
    for payer in payers[1:]:
        own = table.by_key[payer.row.setting, payer.row.group, payer.row.effect]
        if payer.tier == first.tier and not _is_clearly_worse(table, lead, own, level):
            named.setdefault(payer.row.group, payer)
    return list(named.values())


def _is_clearly_worse(table: EffectTable, one: Observation, other: Observation, level: float) -> bool:
    """Return whether a group clearly lacks more than another, by at least what matters."""
    values, others = (np.asarray(per_head(seen, lacks(table, seen))) for seen in (one, other))
    limits = limit_samples([sample_difference(one, values, other, others)], level)[0]
    matters = float(per_head(one, table.threshold(one)))
    return limits.low > 0 and limits.mean >= matters


def sample_difference(
    one: Observation, values: NDArray[np.float64], other: Observation, others: NDArray[np.float64]
) -> Sample:
    """Return by how much one observation's values are larger than another's, all of them per head."""
    if one.basis == other.basis == "repeats" and len(values) == len(others):
        return sample_of(one, values - others)
    if one.basis == other.basis == "exact":
        return sample_of(one, values - others)
    errors = (_standard_error(seen, own) for seen, own in ((one, values), (other, others)))
    sample = sample_of(one, np.array([mean(values) - mean(others)]))
    rates = [contrast_of(seen, own) for seen, own in ((one, values), (other, others))]
    contrast = None if rates[0] is None or rates[1] is None else rates[0] - rates[1]
    return sample._replace(basis="draws", error=math.hypot(*errors), contrast=contrast)


def _standard_error(seen: Observation, values: NDArray[np.float64]) -> float:
    """Return the standard error of the mean of values per head."""
    if seen.basis != "repeats":
        return float(per_head(seen, seen.error))
    runs = np.isfinite(values).sum()
    return float(np.nanstd(values, ddof=1) / math.sqrt(runs)) if runs > 1 else math.inf


def _bound_of(table: EffectTable, row: Effect) -> float:
    """Return the most that a group may lack, per head; NaN where there is no limit."""
    return float(per_head(table.by_key[row.setting, row.group, row.effect], row.bound))


def _lack_of(table: EffectTable, row: Effect) -> float:
    """Return what a group is estimated to lack, per head; below all others where nothing is stored."""
    seen = table.by_key[row.setting, row.group, row.effect]
    lack = float(per_head(seen, mean(lacks(table, seen)))) if seen.is_stored else math.nan
    return lack if math.isfinite(lack) else -math.inf


def _most_bounded(table: EffectTable, rows: list[Effect]) -> Effect | None:
    """Return the row that nobody lacks more than: the largest bound beside what matters, or in money."""

    def compare(row: Effect) -> tuple[float, float]:
        threshold = table.threshold(table.by_key[row.setting, row.group, row.effect])
        return (row.bound / threshold if threshold else math.inf, row.bound)

    worst = max(rows, key=compare, default=None)
    if worst is None or worst.unit != "dollars":
        return worst
    in_money = (row for row in rows if row.unit == "dollars")
    return max(in_money, key=lambda row: (_bound_of(table, row), row.group))


def _is_dead(table: EffectTable, name: str) -> bool:
    """Return whether a model gives nearly everybody one answer and does not tell people apart."""
    selected = table.by_key.get((name, EVERYBODY, "selected"))
    if selected is None or not selected.is_stored:
        return False
    share = selected.mean_after
    if min(share, 1000 - share) > 1000 - _ONE_ANSWER:
        return False
    for effect, limit, side in (("auc", _CHANCE_AUC, "high"), ("separation", _NO_SEPARATION, "low")):
        seen = table.by_key.get((name, EVERYBODY, effect))
        if seen is not None and seen.is_stored:
            limits = limit_samples([sample_of(seen, seen.after)], table.level)[0]
            reached = getattr(limits, side)
            return bool((limits.mean if math.isnan(reached) else reached) < limit)
    return True
