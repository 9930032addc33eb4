r"""Tell how sure an effect is: clear, none, open, unjudged or not stored, and the limits that say so.

*Clear*: the limits leave out 0 and the amount is at least what matters. *None*: the one-sided 95 % limit on
the harmful side is below what matters. *Open*: neither. Limits of a family of looks hold together: each of
its :math:`m` intervals misses with probability :math:`\alpha / m`. There are two families, each corrected by
itself: the groups and harmful effects of the page's option, and those of all candidates. Everything else is
descriptive and has uncorrected limits. *None* needs no correction, since every group must pass.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.answer.effects import EFFECTS, EVERYBODY, mean
from evenhand.measure.intervals import normal_quantile
from evenhand.measure.repeat_means import bound_mean, means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.answer.effects import Basis, EffectTable, Harm, Observation, Status
    from evenhand.measure.contrasts import Contrast
    from evenhand.measure.repeat_means import Spread

_ONE_SIDED = 0.90  # the two-sided level whose limits are one-sided 95 % limits


class Sample(NamedTuple):
    """Differences whose mean is wanted: one per repeat, or a single one with its standard error or rates.

    `unseen` bounds the mean of repeats that were all 0, with 95 %: what three people in the group come to.
    """

    values: NDArray[np.float64]
    basis: Basis
    spread: Spread = "even"
    error: float = 0.0
    unseen: float = math.nan
    contrast: Contrast | None = None


class Limits(NamedTuple):
    """A mean with limits at the level asked, and one-sided limits (of 95 %); NaN where there are none."""

    mean: float
    low: float
    high: float
    least: float
    most: float

    @property
    def excludes_zero(self) -> bool:
        """Return whether there are limits and 0 is not between them."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Effect:
    """A row of the table: what an option does to one group, and how sure that is."""

    setting: str
    reference: str
    group: str
    people: float
    effect: str
    measure: str
    due: float
    before: float
    after: float
    change: float
    low: float
    high: float
    bound: float
    unit: str
    rate: float
    due_rate: float
    basis: str
    harm: Harm
    status: Status
    worst: float = math.nan

    @property
    def is_harm(self) -> bool:
        """Return whether the change is clear and on the side that hurts."""
        if self.status != "clear":
            return False
        return {"less": self.change < 0, "more": self.change > 0, "away": True}.get(self.harm, False)

    @property
    def lack(self) -> float:
        """Return what the group lacks of what is due to it; below 0 it has more than that."""
        return self.lack_by(self.after - self.due)

    def lack_by(self, more: float) -> float:
        """Return what the group lacks if it has more by an amount; below 0 it gains."""
        return {"less": -more, "away": abs(more)}.get(self.harm, more)


EFFECT_COLUMNS = tuple(each.name for each in fields(Effect))
"""The columns of the table, in order."""


def sample_of(seen: Observation, differences: NDArray[np.float64]) -> Sample:
    """Return differences of an observation as a sample."""
    of_group = {"of 1,000": 1000.0, "people": seen.people}.get(EFFECTS[seen.effect].unit, math.nan)
    unseen = 3 * of_group / seen.people if seen.people > 0 else math.nan
    return Sample(differences, seen.basis, seen.spread, seen.error, unseen, contrast_of(seen, differences))


def contrast_of(seen: Observation, differences: NDArray[np.float64]) -> Contrast | None:
    """Return the rates behind differences of an observation; no difference at all where those are others."""
    if seen.contrasts is None or not len(differences):
        return None
    after, due = seen.contrasts
    more = seen.after - seen.due
    if np.array_equal(differences, more):
        return after - due
    return due - after if np.array_equal(differences, -more) else due - due


def limit_samples(samples: Sequence[Sample], level: float, *, narrow: float = _ONE_SIDED) -> list[Limits]:
    """Return the limits of the mean of each sample, and one-sided ones: those of a narrower interval.

    An interval over repeats is not shown where all repeats lie on one side of 0 and it crosses 0 only by the
    tail that is assumed for what was not seen.
    """
    found: list[Limits] = [Limits(*[math.nan] * 5)] * len(samples)
    alike: dict[tuple[Spread, int], list[int]] = defaultdict(list)
    for place, sample in enumerate(samples):
        if sample.basis == "repeats":
            alike[sample.spread, len(sample.values)].append(place)
        elif len(sample.values) and math.isfinite(sample.values[0]):
            found[place] = _limit_single(sample, level, narrow)
    for (spread, _), everywhere in alike.items():
        values = np.array([samples[place].values for place in everywhere])
        known = np.isfinite(values).any(axis=1)
        if not known.any():
            continue
        values, places = values[known], np.array(everywhere)[known].tolist()
        wide, inner = (means(values, level=each, spread=spread) for each in (level, narrow))
        plain = means(values, level=level)
        lowest, highest = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
        same = lowest == highest
        one_side = (lowest > 0) | (highest < 0)
        assumed = one_side & (wide.low <= 0) & (wide.high >= 0) & ~((plain.low <= 0) & (plain.high >= 0))
        for row, place in enumerate(places):
            middle = float(wide.value[row])
            if same[row] or assumed[row]:
                unseen = samples[place].unseen if middle == 0 and same[row] else math.nan
                misses = (1 - level, (1 - narrow) / 2)
                far, near = (unseen * math.log(each) / math.log(0.05) for each in misses)  # rule of three
                found[place] = Limits(middle, middle - far, middle + far, middle - near, middle + near)
                continue
            parts = (wide.low, wide.high, inner.low, inner.high)
            found[place] = Limits(middle, *(float(part[row]) for part in parts))
    return found


def judge(table: EffectTable) -> tuple[Effect, ...]:
    """Return a row for every observation of a protected option, with its limits and status."""
    seen = [each for each in table.observations if each.option != table.unprotected]
    samples = []
    for each in seen:
        before = table.before(each)
        values = each.after - before if len(before) == len(each.after) else np.array([])
        samples.append(sample_of(each, values)._replace(contrast=table.change(each)))
    level_of = {name: level for names, level in _families(table) for name in names}
    limits: dict[int, Limits] = {}
    for level in {*level_of.values(), table.level}:
        places = [at for at, each in enumerate(seen) if level_of.get(each.option, table.level) == level]
        limits.update(zip(places, limit_samples([samples[at] for at in places], level), strict=True))
    return tuple(
        _row(table, each, keep_possible(each, table.before(each), limits[at])) for at, each in enumerate(seen)
    )


def keep_possible(seen: Observation, before: NDArray[np.float64], limits: Limits) -> Limits:
    """Return limits of a rate's change over repeats, cut at what is possible: from nobody to everybody.

    Repeats that have no interval, such as those that are mostly equal, still have a bound on each side.
    """
    declared = EFFECTS[seen.effect]
    is_rate = declared.unit == "of 1,000" and declared.harm != "away"
    if seen.basis != "repeats" or not is_rate or not seen.is_stored or not np.isfinite(before).any():
        return limits
    least = -mean(before)
    most = least + (1000 * seen.mean_due / seen.due_rate if seen.due_rate > 0 else 1000.0)
    if math.isnan(limits.most) and seen.spread != "none":
        change = seen.after - before
        if np.isfinite(change).sum() > 1:
            lowest = -bound_mean(-change, most=-least)
            limits = limits._replace(least=lowest, most=bound_mean(change, most=most))
    return limits._replace(
        low=min(max(limits.low, least), limits.mean) if math.isfinite(limits.low) else limits.low,
        high=max(min(limits.high, most), limits.mean) if math.isfinite(limits.high) else limits.high,
    )


def _row(table: EffectTable, seen: Observation, limits: Limits) -> Effect:
    harm = table.harm_of(seen.effect)
    bound = bound_lack(harm, limits)
    return make_row(table, seen, before=table.before(seen), harm=harm, limits=limits, bound=bound)


def bound_lack(harm: Harm, limits: Limits) -> float:
    """Return the one-sided limit of a change on the side that hurts."""
    sides = {"less": -limits.least, "away": max(-limits.least, limits.most)}
    return sides.get(harm, limits.most)


def family_level(table: EffectTable, options: Sequence[str]) -> float:
    """Return the level of each interval so that those of some options hold together at the table's level."""
    looks = 0
    for seen in (seen for option in options for seen in table.by_option[option]):
        if seen.group != EVERYBODY and table.hurts(seen.effect):
            sampled = seen.basis in ("repeats", "rows") and seen.spread != "none"
            looks += (1 + len(table.margins.get(seen.group, ()))) * (sampled and seen.is_judged)
    return 1 - (1 - table.level) / max(looks, 1)


def _families(table: EffectTable) -> list[tuple[list[str], float]]:
    candidates = [option.name for option in table.candidates if option.name != table.page]
    return [(names, family_level(table, names)) for names in ([table.page], candidates) if names]


def _limit_single(sample: Sample, level: float, narrow: float) -> Limits:
    middle = float(sample.values[0])
    if sample.contrast is not None:
        return Limits(middle, *sample.contrast.limits(level), *sample.contrast.limits(narrow))
    if sample.basis == "exact":
        return Limits(middle, middle, middle, middle, middle)
    far, near = (sample.error * normal_quantile(1 - each) for each in (level, narrow))
    return Limits(middle, middle - far, middle + far, middle - near, middle + near)


def make_row(
    table: EffectTable,
    seen: Observation,
    *,
    before: NDArray[np.float64],
    harm: Harm,
    limits: Limits,
    bound: float,
) -> Effect:
    """Return the row of an observation: its numbers, and its status by limits and bound."""
    declared = EFFECTS[seen.effect]
    due = seen.mean_due
    return Effect(
        setting=seen.option,
        reference=table.by_name[seen.option].reference,
        group=seen.group,
        people=seen.people,
        effect=seen.effect,
        measure=declared.measure,
        due=due,
        before=due if before is seen.due else mean(before),
        after=seen.mean_after,
        change=limits.mean,
        low=limits.low,
        high=limits.high,
        bound=bound,
        unit="dollars" if seen.effect == "in_all" and table.pays_money else declared.unit,
        rate=seen.rate,
        due_rate=seen.due_rate,
        worst=seen.worst,
        basis="exact" if seen.basis == "exact" else f"{seen.basis} ({_runs(seen)})",
        harm=harm,
        status=_status(table, seen, limits, bound),
    )


def _status(table: EffectTable, seen: Observation, limits: Limits, bound: float) -> Status:
    if not seen.is_stored:
        return "not stored" if seen.basis != "rows" else "unjudged"  # rows hold all that there is
    if not seen.is_judged:
        return "unjudged"
    threshold = table.threshold(seen)
    if limits.excludes_zero and abs(limits.mean) >= threshold:
        return "clear"
    return "none" if bound < threshold else "open"


def _runs(seen: Observation) -> int:
    """Return what limits rest on: rows, draws, or repeats with a value."""
    if seen.basis == "draws":
        return seen.draws
    return round(seen.people) if seen.basis == "rows" else int(np.isfinite(seen.after).sum())
