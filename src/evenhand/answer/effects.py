"""The table of effects: what happens to each group of people under each option that was tried.

A study, an audit of predictions or a plugin hands over *observations*: the value of one effect for one group
under one option, once per repeat, beside what is due to the group. Everything that judges (:mod:`status`,
:mod:`harm`, :mod:`choice`) reads this table and nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand._validate import one_of, refuse
from evenhand.measure.intervals import check_level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.measure.contrasts import Contrast
    from evenhand.measure.repeat_means import Spread
    from evenhand.report.marks import Scale

Harm = Literal["less", "more", "away", "cost", ""]
Basis = Literal["exact", "repeats", "draws", "rows"]
Status = Literal["clear", "none", "open", "unjudged", "not stored"]

EVERYBODY = ""
"""The group of all people, whose rows tell what an option costs in all."""

FEWEST_PEOPLE = 30
"""Fewer distinct people are not judged, unless the effect is exact."""


class Declared(NamedTuple):
    """The declaration of an effect.

    `matters` is the least amount that counts, and at least `share` of what is due, or of the group's people
    where people are counted. Effects of a lower `tier` come first when the payer is named; effects of
    different units are never compared.
    """

    measure: str
    unit: Literal["of 1,000", "people", "dollars", "percent", "of 100 releases"]
    harm: Harm
    matters: float
    share: float = 0.0
    tier: int = 3


EFFECTS: Mapping[str, Declared] = {
    "selected": Declared("selection_rate", "of 1,000", "less", 10),
    "wrongly_refused": Declared("false_negative_rate", "of 1,000", "more", 10),
    "wrongly_selected": Declared("false_positive_rate", "of 1,000", "cost", 10),
    "wrong": Declared("error_rate", "of 1,000", "cost", 10),
    "share_error": Declared("share_error", "of 1,000", "away", 10),
    "counted": Declared("count", "people", "away", 1, share=0.01, tier=1),
    "hidden": Declared("suppressed_count", "people", "more", 1, share=0.01, tier=1),
    "invented": Declared("count_where_nobody_is", "people", "more", 1, share=0.01, tier=2),
    "outcome": Declared("outcome_rate", "of 1,000", "away", 10),
    "exposed": Declared("exposed_rate", "of 1,000", "more", 1),
    "off": Declared("mean_absolute_error", "percent", "more", 5, tier=4),
    "refused": Declared("wrongful_refusal_rate", "of 1,000", "more", 10),
    "granted": Declared("wrongful_grant_rate", "of 1,000", "cost", 10),
    "billed": Declared("chance_below_zero", "of 100 releases", "more", 1, tier=0),
    "short": Declared("payment", "dollars", "less", 0, share=0.01, tier=1),
    "in_all": Declared("given_in_all", "people", "", 0),
    "auc": Declared("auc", "percent", "", 0),
    "separation": Declared("true_minus_false_positive_rate", "percent", "", 0),
}
"""Every effect by its name. The last three are told of everybody: what an option gives in all (people
selected, rights, dollars), and how well a model tells people apart."""

_UNWANTED: Mapping[str, Harm] = {"selected": "more", "wrongly_selected": "more", "wrongly_refused": "cost"}


@dataclass(frozen=True)
class Option:
    """Something that was tried: a protection, or a protection with a remedy.

    Parameters
    ----------
    name : str
    reference : str
        The option that it is compared with, the step before it; empty for the unprotected result.
    epsilon, delta : float
        Its guarantee; infinite without one.
    method : str
        What it is without its epsilon: options of one method make a curve.
    is_remedy : bool
        Whether it is a remedy, tried beside the protection that was asked for.
    simplicity : int
        The simpler of two equal remedies is named first: the smaller number.
    needs_group : bool
        Whether it needs the true group, which whoever collects reports does not hold.
    """

    name: str
    reference: str = ""
    epsilon: float = math.inf
    delta: float = 0.0
    method: str = ""
    is_remedy: bool = False
    simplicity: int = 0
    needs_group: bool = False


@dataclass(frozen=True, eq=False)
class Observation:
    """One effect for one group under one option.

    Parameters
    ----------
    option, group, effect : str
    after, due : array
        What the group gets and what is due to it, in the unit of the effect: one value per repeat, NaN where
        it is not defined; a single one if exact or drawn. Empty where a folder cannot give it.
    people : float
        The distinct people behind the effect.
    basis : {"exact", "repeats", "draws", "rows"}
        What limits rest on.
    tested : float, optional
        How many of the people were in some test part; by default all.
    spread : Spread
        How repeats are spread, see :mod:`evenhand.measure.repeat_means`; ``"none"`` has no interval.
    error : float
        The standard error of `after` minus `due`, for draws and rows.
    draws : int
        Of how many draws `after` is the mean.
    rate, due_rate : float
        The conditional rate per 1,000, such as of those who qualify, where the effect has one.
    worst : float
        What `after` comes to in the worst 1 of 20 releases, where that is known.
    contrasts : tuple of Contrast, optional
        `after` and `due` as rates of rows per 1,000, whose limits are then found at every level instead of
        from `error`.
    """

    option: str
    group: str
    effect: str
    after: NDArray[np.float64]
    due: NDArray[np.float64]
    people: float
    basis: Basis = "repeats"
    tested: float = math.inf
    spread: Spread = "even"
    error: float = 0.0
    draws: int = 1
    rate: float = math.nan
    due_rate: float = math.nan
    worst: float = math.nan
    contrasts: tuple[Contrast, Contrast] | None = None

    @property
    def is_judged(self) -> bool:
        """True if there are enough people to judge it; where none were drawn, all are there."""
        return self.basis in ("exact", "draws") or min(self.people, self.tested) >= FEWEST_PEOPLE

    @property
    def is_stored(self) -> bool:
        """True if it has any value."""
        return math.isfinite(self.mean_after)

    @cached_property
    def mean_after(self) -> float:
        """Return what the group gets on average; NaN where nothing is stored."""
        return mean(self.after)

    @cached_property
    def mean_due(self) -> float:
        """Return what is due to the group on average."""
        return mean(self.due)


@dataclass(frozen=True, eq=False)
class EffectTable:
    """The observations, the options, and which of them the page is about.

    Parameters
    ----------
    options : tuple of Option
        One of them is the unprotected result: the one without a reference.
    observations : tuple of Observation
    page : str
        The option that the page is about.
    margins : mapping of str to tuple of str
        The margins of each group that crosses several columns.
    entities : frozenset of str
        Groups that are single entities, such as a county.
    unwanted : bool
        Whether to be selected is a harm, as by a flag or a denial.
    context : frozenset of str
        Effects that are shown and hurt nobody here.
    matters : mapping of str to (float, float)
        The least amount and the least share of what is due that count, where not those of the effect.
    level : float
        How often all limits of a family hold together.
    fresh : EffectTable, optional
        What was seen in fresh repeats, in which the page's option and a remedy were run again.
    """

    options: tuple[Option, ...]
    observations: tuple[Observation, ...]
    page: str
    margins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entities: frozenset[str] = frozenset()
    unwanted: bool = False
    context: frozenset[str] = frozenset()
    matters: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    level: float = 0.95
    fresh: EffectTable | None = None

    def __post_init__(self) -> None:
        """Refuse a table that contradicts itself or holds what is no number."""
        owner = "EffectTable"
        check_level(self.level, owner=owner)
        names = [option.name for option in self.options]
        references = {option.reference for option in self.options}
        if len(set(names)) < len(names) or not references <= {*names, ""}:
            refuse("options", owner, "named once each, with references among them", "other names")
        if sum(not option.reference for option in self.options) != 1:
            refuse("options", owner, "with one unprotected result", "none or several")
        one_of("page", self.page, names, owner=owner)
        keys = Counter((seen.option, seen.group, seen.effect) for seen in self.observations)
        if any(times > 1 for times in keys.values()):
            refuse("observations", owner, "one for each option, group and effect", "some twice")
        for name in {seen.option for seen in self.observations}:
            one_of("option", name, names, owner=owner)
        for effect in self.effects:
            one_of("effect", effect, tuple(EFFECTS), owner=owner)
        for seen in self.observations:
            if not _fits(seen):
                refuse("observations", owner, f"finite numbers of '{seen.effect}'", "one that is not")

    @cached_property
    def by_key(self) -> dict[tuple[str, str, str], Observation]:
        """The observations by option, group and effect."""
        return {(seen.option, seen.group, seen.effect): seen for seen in self.observations}

    @cached_property
    def by_option(self) -> dict[str, list[Observation]]:
        """The observations of each option."""
        found: dict[str, list[Observation]] = {option.name: [] for option in self.options}
        for seen in self.observations:
            found[seen.option].append(seen)
        return found

    @cached_property
    def harmful(self) -> dict[tuple[str, str], dict[str, list[Observation]]]:
        """The judged observations that may hurt a group, by option and unit, and then by group."""
        found: dict[tuple[str, str], dict[str, list[Observation]]] = {}
        hurting = {effect: EFFECTS[effect].unit for effect in self.effects if self.hurts(effect)}
        for seen in self.observations:
            if seen.effect in hurting and seen.group != EVERYBODY and seen.is_judged and seen.is_stored:
                groups = found.setdefault((seen.option, hurting[seen.effect]), {})
                groups.setdefault(seen.group, []).append(seen)
        return found

    @cached_property
    def effects(self) -> frozenset[str]:
        """The effects that were seen."""
        return frozenset(seen.effect for seen in self.observations)

    @property
    def pays_money(self) -> bool:
        """Return whether money is given, and not places or rights."""
        return "short" in self.effects

    @cached_property
    def by_name(self) -> dict[str, Option]:
        """The options by their name."""
        return {option.name: option for option in self.options}

    @cached_property
    def unprotected(self) -> str:
        """The name of the unprotected result."""
        return next(option.name for option in self.options if not option.reference)

    @cached_property
    def candidates(self) -> tuple[Option, ...]:
        """The remedies that were tried with at least the guarantee of the page's option."""
        page = self.by_name[self.page]
        return tuple(
            option
            for option in self.options
            if option.is_remedy and option.epsilon <= page.epsilon and option.delta <= page.delta
        )

    def in_all(self, name: str, effect: str) -> float:
        """Return an effect on everybody under an option; NaN where it is not known."""
        seen = self.by_key.get((name, EVERYBODY, effect))
        return math.nan if seen is None else seen.mean_after

    def harm_of(self, effect: str) -> Harm:
        """Return who an effect hurts."""
        if effect in self.context:
            return ""
        return _UNWANTED.get(effect, EFFECTS[effect].harm) if self.unwanted else EFFECTS[effect].harm

    def hurts(self, effect: str) -> bool:
        """Return whether an effect may hurt the group itself."""
        return self.harm_of(effect) in ("less", "more", "away")

    def threshold(self, seen: Observation) -> float:
        """Return the least amount of an effect that matters."""
        declared = EFFECTS[seen.effect]
        amount, share = self.matters.get(seen.effect, (declared.matters, declared.share))
        whole = seen.people if declared.unit == "people" else abs(seen.mean_due)
        return max(amount, share * whole) if share else amount

    def before(self, seen: Observation) -> NDArray[np.float64]:
        """Return what the group has under the reference of an option; empty if that was not seen."""
        if self.by_name[seen.option].reference in ("", self.unprotected):
            return seen.due
        step = self._step(seen)
        return np.array([]) if step is None else step.after

    def change(self, seen: Observation) -> Contrast | None:
        """Return what an observation is more than under the reference, where rows tell it."""
        if seen.contrasts is None:
            return None
        after, before = seen.contrasts
        if self.by_name[seen.option].reference not in ("", self.unprotected):
            step = self._step(seen)
            if step is None or step.contrasts is None:
                return None
            before = step.contrasts[0]
        return after - before

    def _step(self, seen: Observation) -> Observation | None:
        return self.by_key.get((self.by_name[seen.option].reference, seen.group, seen.effect))


def mean(values: NDArray[np.float64]) -> float:
    """Return the mean of what is defined; NaN where nothing is."""
    if len(values) == 1:
        return float(values[0])
    total = float(values.sum()) if len(values) else math.nan
    if math.isfinite(total):
        return total / len(values)
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan


def per_head(seen: Observation, amount: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return an amount of an effect so that groups of any size compare: per 1,000 of the group, or a head."""
    size = seen.people if seen.people > 0 else 1.0
    return amount * {"people": 1000 / size, "dollars": 1 / size}.get(EFFECTS[seen.effect].unit, 1.0)


def told_in(effect: str) -> Scale:
    """Return the unit in which an effect is told: a chance of 1,000 people as releases of 100."""
    return "of 100 releases" if effect in ("refused", "granted") else EFFECTS[effect].unit


def read_matters(
    words: tuple[str, ...], *, owner: str, names: tuple[str, ...] = ()
) -> dict[str, tuple[float, float]]:
    """Return what matters from texts such as ``"50"``, for all rates, and ``"short=2%"``.

    What is not among `names`, the effects of one kind of study, is refused: it would change nothing.

    >>> read_matters(("short=2%",), owner="audit")
    {'short': (0.0, 0.02)}
    >>> read_matters(("20",), owner="audit")["selected"]
    (20.0, 0.0)
    """
    matters: dict[str, tuple[float, float]] = {}
    names = names or tuple(name for name, declared in EFFECTS.items() if declared.harm)
    rates = tuple(name for name, declared in EFFECTS.items() if declared.unit == "of 1,000")
    for word in words:
        name, equals, text = word.rpartition("=")
        try:
            amount = float(text.removesuffix("%"))
        except ValueError:
            amount = math.nan
        is_read = name.strip() in names if equals else not set(names).isdisjoint(rates)
        if not 0 < amount < math.inf or not is_read:
            plain = "" if set(names).isdisjoint(rates) else " such as 50, or"
            must_be = f"an amount above 0{plain} with one of {', '.join(names)}: {names[0]}=50"
            refuse("matters", owner, must_be, word)
        limit = (0.0, amount / 100) if text.endswith("%") else (amount, 0.0)
        matters |= dict.fromkeys([name.strip()] if equals else rates, limit)
    return matters


def _fits(seen: Observation) -> bool:
    """Return whether the numbers of an observation can be read."""
    if len(seen.after) == 1 == len(seen.due) and seen.people >= 0 and seen.error >= 0:
        return math.isfinite(seen.after[0]) and math.isfinite(seen.due[0])
    after, due = np.asarray(seen.after, dtype=float), np.asarray(seen.due, dtype=float)
    if after.shape != due.shape or after.ndim != 1 or not seen.people >= 0 or not seen.error >= 0:
        return False
    if not len(after):
        return True
    single = seen.basis == "repeats" or len(after) == 1
    return single and not np.isinf(after).any() and bool((np.isfinite(after) & np.isfinite(due)).any())
