r"""How sure an effect is: clear, none, open, unjudged or not stored, and the limits that say so.

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
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.answer.effects import EFFECTS, EVERYBODY
from evenhand.measure.repeat_means import means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.answer.effects import Basis, EffectTable, Harm, Observation, Status
    from evenhand.measure.repeat_means import Spread

_ONE_SIDED = 0.90  # the two-sided level whose limits are one-sided 95 % limits


class Sample(NamedTuple):
    """Differences whose mean is wanted: one per repeat, or a single one with its standard error.

    `unseen` bounds the mean of repeats that were all 0, with 95 %: what three people in the group come to.
    """

    values: NDArray[np.float64]
    basis: Basis
    spread: Spread = "even"
    error: float = 0.0
    unseen: float = math.nan


class Limits(NamedTuple):
    """A mean with limits at the level asked, and one-sided 95 % limits; NaN where there are none."""

    mean: float
    low: float
    high: float
    least: float
    most: float

    @property
    def excludes_zero(self) -> bool:
        """Whether there are limits and 0 is not between them."""
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

    @property
    def is_harm(self) -> bool:
        """Whether the change is clear and on the side that hurts."""
        if self.status != "clear":
            return False
        return {"less": self.change < 0, "more": self.change > 0, "away": True}.get(self.harm, False)


EFFECT_COLUMNS = tuple(each.name for each in fields(Effect))
"""The columns of the table, in order."""


def sample_of(seen: Observation, differences: NDArray[np.float64]) -> Sample:
    """Return differences of an observation as a sample."""
    of_group = {"of 1,000": 1000.0, "people": seen.people}.get(EFFECTS[seen.effect].unit, math.nan)
    unseen = 3 * of_group / seen.people if seen.people > 0 else math.nan
    return Sample(differences, seen.basis, seen.spread, seen.error, unseen)


def limit_samples(samples: Sequence[Sample], level: float) -> list[Limits]:
    """Return the limits of the mean of each sample.

    An interval over repeats is not shown where all repeats lie on one side of 0 and it crosses 0 only by the
    tail that is assumed for what was not seen.
    """
    found: list[Limits] = [Limits(*[math.nan] * 5)] * len(samples)
    alike: dict[tuple[Spread, int], list[int]] = defaultdict(list)
    for place, sample in enumerate(samples):
        if not np.isfinite(sample.values).any():
            continue
        if sample.basis == "repeats":
            alike[sample.spread, len(sample.values)].append(place)
        else:
            found[place] = _limit_single(sample, level)
    for (spread, _), places in alike.items():
        values = np.array([samples[place].values for place in places])
        wide, narrow = (means(values, level=each, spread=spread) for each in (level, _ONE_SIDED))
        plain = means(values, level=level)
        lowest, highest = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
        same = lowest == highest
        one_side = (lowest > 0) | (highest < 0)
        assumed = one_side & (wide.low <= 0) & (wide.high >= 0) & ~((plain.low <= 0) & (plain.high >= 0))
        for row, place in enumerate(places):
            mean = float(wide.value[row])
            if same[row] or assumed[row]:
                least = samples[place].unseen if mean == 0 and same[row] else math.nan
                reach = least * math.log(1 - level) / math.log(0.05)  # rule of three
                found[place] = Limits(mean, mean - reach, mean + reach, mean - least, mean + least)
                continue
            parts = (wide.low, wide.high, narrow.low, narrow.high)
            found[place] = Limits(mean, *(float(part[row]) for part in parts))
    return found


def judge(table: EffectTable) -> tuple[Effect, ...]:
    """Return a row for every observation of a protected option, with its limits and status."""
    seen = [each for each in table.observations if each.option != table.unprotected]
    samples = []
    for each in seen:
        before = table.before(each)
        values = each.after - before if len(before) == len(each.after) else np.array([])
        samples.append(sample_of(each, values))
    level_of = {name: level for names, level in _families(table) for name in names}
    limits: dict[int, Limits] = {}
    for level in {*level_of.values(), table.level}:
        places = [at for at, each in enumerate(seen) if level_of.get(each.option, table.level) == level]
        limits.update(zip(places, limit_samples([samples[at] for at in places], level), strict=True))
    return tuple(_row(table, each, limits[at]) for at, each in enumerate(seen))


def _row(table: EffectTable, seen: Observation, limits: Limits) -> Effect:
    harm = table.harm_of(seen.effect)
    bound = {
        "less": -limits.least,
        "away": max(-limits.least, limits.most),
    }.get(harm, limits.most)
    return make_row(table, seen, before=table.before(seen), harm=harm, limits=limits, bound=bound)


def family_level(table: EffectTable, options: Sequence[str]) -> float:
    """Return the level of each interval so that those of some options hold together at the table's level."""
    looks = 0
    for seen in table.observations:
        if seen.option in options and seen.group != EVERYBODY and table.hurts(seen.effect):
            sampled = seen.basis in ("repeats", "rows") and seen.spread != "none"
            looks += (1 + len(table.margins.get(seen.group, ()))) * (sampled and seen.is_judged)
    return 1 - (1 - table.level) / max(looks, 1)


def _families(table: EffectTable) -> list[tuple[list[str], float]]:
    candidates = [option.name for option in table.candidates if option.name != table.page]
    return [(names, family_level(table, names)) for names in ([table.page], candidates) if names]


def _limit_single(sample: Sample, level: float) -> Limits:
    mean = float(sample.values[0])
    normal = NormalDist()
    wide, narrow = (
        sample.error * normal.inv_cdf(0.5 + each / 2) if sample.basis != "exact" else 0.0
        for each in (level, _ONE_SIDED)
    )
    return Limits(mean, mean - wide, mean + wide, mean - narrow, mean + narrow)


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
    runs = int(np.isfinite(seen.after).sum())
    return Effect(
        setting=seen.option,
        reference=table.by_name[seen.option].reference,
        group=seen.group,
        people=seen.people,
        effect=seen.effect,
        measure=declared.measure,
        due=_mean(seen.due),
        before=_mean(before),
        after=_mean(seen.after),
        change=limits.mean,
        low=limits.low,
        high=limits.high,
        bound=bound,
        unit=declared.unit,
        rate=seen.rate,
        due_rate=seen.due_rate,
        basis=seen.basis if seen.basis == "exact" else f"{seen.basis} ({runs})",
        harm=harm,
        status=_status(table, seen, limits, bound),
    )


def _status(table: EffectTable, seen: Observation, limits: Limits, bound: float) -> Status:
    if not seen.is_stored:
        return "not stored"
    if not seen.is_judged:
        return "unjudged"
    threshold = table.threshold(seen)
    if limits.excludes_zero and abs(limits.mean) >= threshold:
        return "clear"
    return "none" if bound < threshold else "open"


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan
