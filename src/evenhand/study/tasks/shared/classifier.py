"""What pages on classifiers share: who pays, the answers that need no model, and groups too small to judge.

A classifier is worth something only if it is right more often than the same answer for everybody. That
baseline needs no model, and neither does a coin that says *yes* as often as the outcome occurs. Both are
computed from the rows of each test, so that they are compared within repeats like any other setting.

A group of which a test has fewer than :data:`FEWEST_PEOPLE` people is not judged: neither the gap nor a
sentence at the head rests on it. That is decided by its size alone, before any outcome is looked at.

With fewer than :data:`ENOUGH_REPEATS` repeats nobody can say which group pays, so that nothing is advised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.report.words import plain
from evenhand.study.page.comparing import (
    ALMOST_ALL,
    ENOUGH_REPEATS,
    FEWEST_PEOPLE,
    LEVEL,
    TIGHTER,
    clearly,
    groups_by_sign,
    people_for,
    repeats_for,
    strict,
)
from evenhand.study.page.reading import ACCURACY, BASELINE, CHANGE, GAP, SHARE, Reading, mean_of
from evenhand.study.page.wording import value_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated

    Runs = NDArray[np.float64]

AUC, BALANCED = "auc", "balanced_accuracy"
LITTLE = 0.02
"""A change whose whole interval is within two points is little."""

_FEW_ERRORS = 0.05
"""Of the errors that the same answer for everybody makes."""


@dataclass(frozen=True)
class OpenLoss:
    """A large loss of a group that is not clear and that these runs cannot rule out.

    Parameters
    ----------
    group : str
    most : float
        The far end of the interval of the loss.
    repeats : int, optional
        How many repeats would show a loss, or that it is little; None if more than anybody would run.
    factor : float, optional
        How many times as many people would; None if far too many.
    """

    group: str
    most: float
    repeats: int | None
    factor: float | None


class ClassifierReading(Reading):
    """Results of a study in which a classifier is tested on people as they are."""

    @property
    def design(self) -> str:
        """The chosen setting and the number of repeats, as in brackets."""
        return self.repeats_words

    @cached_property
    def places(self) -> dict[str, str]:
        """The chosen setting and the baseline as sentences have them, in small letters and capitals."""
        words = {
            name: self.sentences.say(name, at=self.at, name=plain(self.setting_words))
            for name in ("where", "without", "unprotected")
        }
        return words | {name.capitalize(): f"{word[0].upper()}{word[1:]}" for name, word in words.items()}

    @property
    def setting_words(self) -> str:
        """The chosen setting as in a sentence."""
        return self.at

    # --- groups that are judged -----------------------------------------------------------------------

    @cached_property
    def too_few(self) -> tuple[str, ...]:
        """The groups of which a test has too few people to say anything."""
        return tuple(group for group in self.groups if self.people(group) < FEWEST_PEOPLE)

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """The groups that are large enough."""
        return tuple(group for group in self.groups if group not in self.too_few)

    def people(self, group: str) -> float:
        """Return how many people of a group a test has, on average."""
        return mean_of(self.group_runs(BASELINE, group, "people"))

    @property
    def people_for_two_groups(self) -> float:
        """About how many people it takes so that two groups are large enough, if shares stay the same."""
        sizes = sorted((self.people(group) for group in self.groups), reverse=True)
        return float(f"{self.results.facts.rows * FEWEST_PEOPLE / max(sizes[1], 0.5):.1e}")

    # --- the gap, between groups that are judged --------------------------------------------------------

    def runs(self, setting: Setting, measure: str) -> Runs:
        """Return a measure in each repeat; the gap is that of the groups that are judged."""
        if measure != GAP or not self.too_few:
            return super().runs(setting, measure)
        if len(self.judged) < 2:
            return np.full(self.repeats, np.nan)
        rates = np.array([self.group_runs(setting, group, "selection") for group in self.judged])
        gaps: Runs = rates.max(axis=0) - rates.min(axis=0)
        return gaps

    def value(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a measure, of the chosen setting unless another is named."""
        if measure != GAP or not self.too_few:
            return super().value(measure, setting)
        return self.tested(self.runs(self.chosen if setting is None else setting, GAP), within=SHARE)

    def change(
        self,
        measure: str,
        setting: Setting | None = None,
        *,
        against: Setting = BASELINE,
        comparisons: int = 1,
    ) -> Estimated:
        """Return the change of a measure within repeats, against the baseline unless another is named."""
        if measure != GAP or not self.too_few:
            return super().change(measure, setting, against=against, comparisons=comparisons)
        where = self.chosen if setting is None else setting
        runs = self.runs(where, GAP) - self.runs(against, GAP)
        return self.tested(runs, within=CHANGE, level=strict(comparisons))

    # --- the two groups of the gap ----------------------------------------------------------------

    @property
    def high(self) -> str:
        """The group that is selected most often without protection."""
        return self._extremes[0]

    @property
    def low(self) -> str:
        """The group that is selected least often without protection."""
        return self._extremes[1]

    @cached_property
    def _extremes(self) -> tuple[str, str]:
        """The groups selected most and least often: without protection, or failing that with it."""
        groups, privileged = self.groups, self.results.facts.privileged
        allowed = self.judged if len(self.judged) > 1 else groups
        for setting in (BASELINE, self.chosen):
            rates = [self.rate(group, "selection", setting).value for group in groups]
            known = [
                place
                for place, value in enumerate(rates)
                if math.isfinite(value) and groups[place] in allowed
            ]
            if len(known) > 1:
                order = sorted(known, key=lambda place: (-rates[place], place != privileged, place))
                return groups[order[0]], groups[order[-1]]
        ahead = privileged or 0
        others = [place for place in range(len(groups)) if place != ahead]
        return groups[ahead], groups[others[0]]

    def apart(self, setting: Setting, rate: str = "selection") -> Estimated:
        """Return how much higher a rate is in the group `high` than in `low`, with its sign.

        The two are picked for being far apart, so that the level is raised for how many pairs there are.
        """
        runs = self.group_runs(setting, self.high, rate) - self.group_runs(setting, self.low, rate)
        return self.tested(runs, within=CHANGE, level=strict(math.comb(len(self.groups), 2)))

    def moved_apart(self, rate: str) -> Estimated:
        """Return how much more a rate of `low` moves than that of `high`."""
        moves = [
            self.group_runs(self.chosen, group, rate) - self.group_runs(BASELINE, group, rate)
            for group in (self.low, self.high)
        ]
        return self.tested(moves[0] - moves[1], within=(-2.0, 2.0))

    # --- who pays -------------------------------------------------------------------------------------

    def losing(self, rate: str = "accuracy") -> list[str]:
        """Return the judged groups whose rate clearly falls, the one that falls furthest first."""
        return self._moving(rate, -1)

    def gaining(self, rate: str = "accuracy") -> list[str]:
        """Return the judged groups whose rate clearly rises, the one that rises furthest first."""
        return self._moving(rate, 1)

    def _moving(self, rate: str, sign: int) -> list[str]:
        moves = {group: self.moved(group, rate) for group in self.judged}
        groups = groups_by_sign(moves)[0 if sign > 0 else 1]
        return sorted(groups, key=lambda group: -abs(moves[group].value))

    def has_enough_repeats(self, setting: Setting | None = None) -> bool:
        """Return whether a setting has as many repeats with a result as it takes to say who pays."""
        return self.change(ACCURACY, setting).runs >= ENOUGH_REPEATS

    def costs_little(self) -> bool:
        """Return whether nobody clearly loses accuracy or may lose much, and no gap clearly grows."""
        changes = [self.change(ACCURACY), *(self.moved(group, "accuracy") for group in self.judged)]
        little = all(change.low is not None and change.low >= -LITTLE for change in changes)
        falls = any(clearly(change, -1) for change in changes)
        return little and not falls and not clearly(self.change(GAP), 1)

    def open_loss(self, setting: Setting) -> OpenLoss | None:
        """Return the largest loss of a judged group that a setting may have, where none is clear.

        A setting that clearly costs accuracy is judged by that; None also where every loss is little.
        """
        moves = {group: self.moved(group, "accuracy", setting) for group in self.judged}
        lows = {group: move.low for group, move in moves.items() if move.low is not None}
        if any(clearly(move, -1) for move in (self.change(ACCURACY, setting), *moves.values())):
            return None
        large = [moves[group] for group, low in lows.items() if low < -LITTLE]
        if not large:
            return None
        reaches = [(TIGHTER * max(LITTLE + move.value, -move.value), move) for move in large]
        group = min(lows, key=lows.__getitem__)
        return OpenLoss(group, -lows[group], repeats_for(reaches), people_for(reaches))

    # --- answers that need no model -------------------------------------------------------------------

    @cached_property
    def base_rate_runs(self) -> Runs:
        """The share of people with the outcome among the rows of each test."""
        return self._over_people(BASELINE, "base_rate")

    @property
    def same_answer_runs(self) -> Runs:
        """How often the better of the two same answers for everybody is right, in each test."""
        runs: Runs = np.maximum(self.base_rate_runs, 1 - self.base_rate_runs)
        return runs

    @property
    def coin_runs(self) -> Runs:
        """How often a coin is right that says *yes* as often as the outcome occurs, in each test."""
        runs: Runs = self.base_rate_runs**2 + (1 - self.base_rate_runs) ** 2
        return runs

    @property
    def same_answer(self) -> str:
        """The answer that is right for most people, as the data have it."""
        return self.answer_named(positive=mean_of(self.base_rate_runs) >= 1 / 2)

    def answer_named(self, *, positive: bool) -> str:
        """Return the label of the outcome, or of its absence; a code comes with the name of its column."""
        schema = self.results.facts.schema
        labels = schema.column(str(schema.target)).display_labels
        others = [label for label in labels if label != schema.positive_label]
        if not positive and len(others) != 1:
            return self.sentences.say("people.not_value", value=plain(schema.positive_label))
        label = plain(schema.positive_label if positive else others[0])
        is_code = not any(letter.isalpha() for letter in label)
        return value_words(schema.target, label) if is_code else label

    def selected(self, setting: Setting | None = None) -> float:
        """Return the share of all people who are predicted to have the outcome."""
        return mean_of(self._over_people(self.chosen if setting is None else setting, "selection"))

    def said_same(self, setting: Setting | None = None) -> float:
        """Return the share of people who get the answer that is right for most."""
        share = self.selected(setting)
        return share if mean_of(self.base_rate_runs) >= 1 / 2 else 1 - share

    def ahead_of_same_answer(self, setting: Setting | None = None) -> Estimated:
        """Return by how much more often a setting is right than the same answer for everybody."""
        where = self.chosen if setting is None else setting
        runs = self.runs(where, ACCURACY) - self.same_answer_runs
        spread = self.task.measure(ACCURACY).spread
        return self.tested(runs, within=CHANGE, level=LEVEL, spread=spread)

    def usefulness(self, setting: Setting | None = None) -> Literal["useful", "unproved", "useless"]:
        """Return whether a setting is right more often than the same answer for everybody.

        It is useful if that is clear, or in a single repeat if it is so there, or if equal repeats leave no
        interval and it is so by more than little in each; useless if it is not clear and
        the difference is little; else unproved, as it is with too few repeats unless it is clearly worse.
        Without any result it counts as useful. A protected setting that gives almost everybody that answer,
        and so avoids few of its errors, is useless too.
        """
        ahead = self.ahead_of_same_answer(setting)
        if (
            (self.chosen if setting is None else setting).is_protected
            and self.said_same(setting) >= ALMOST_ALL
            and ahead.value < _FEW_ERRORS * (1 - mean_of(self.same_answer_runs))
        ):
            return "useless"
        if not math.isfinite(ahead.value) or (ahead.value > 0 and (ahead.is_clear or ahead.runs == 1)):
            return "useful"
        each = self.runs(self.chosen if setting is None else setting, ACCURACY) - self.same_answer_runs
        if not ahead.has_interval and np.nanmin(each) > LITTLE:
            return "useful"
        few = 1 < ahead.runs < ENOUGH_REPEATS and not ahead.is_clear
        return "unproved" if few or ahead.value > LITTLE else "useless"

    def is_useful(self, setting: Setting | None = None) -> bool:
        """Return whether a setting is clearly right more often than the same answer for everybody."""
        return self.usefulness(setting) == "useful"

    def _over_people(self, setting: Setting, rate: str) -> Runs:
        """Return a rate of all people in each test, from those of the groups."""
        total, people = np.zeros(self.repeats), np.zeros(self.repeats)
        for group in self.groups:
            size = self.group_runs(setting, group, "people")
            known = np.where(size > 0, self.group_runs(setting, group, rate), 0.0)
            total += size * known
            people += size
        with np.errstate(invalid="ignore"):
            share: Runs = total / people
        return share
