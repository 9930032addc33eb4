"""How one row of the table is told: its numbers, the words of its effect, the name of its group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.answer.case import Name, OptionName
from evenhand.answer.choice import choose_remedy
from evenhand.answer.effects import EFFECTS, EVERYBODY, per_head
from evenhand.answer.harm import find_payers
from evenhand.answer.status import family_level, judge, limit_samples, sample_of
from evenhand.answer.words import words_in
from evenhand.report.words import listed, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.answer.case import Case
    from evenhand.answer.choice import Choice
    from evenhand.answer.effects import EffectTable, Observation
    from evenhand.answer.harm import Payer, Verdict
    from evenhand.answer.status import Effect, Limits
    from evenhand.answer.words import Words

MOST_NAMED = 3
_CONDITIONAL = "wrongly_refused"
_COUNTS = ("counted", "hidden", "invented", "off")


@dataclass(frozen=True, eq=False)
class Telling:
    """A case with what was found in it, and the words for it."""

    case: Case

    @property
    def table(self) -> EffectTable:
        """The table of effects."""
        return self.case.table

    @cached_property
    def words(self) -> Words:
        """The catalogue of the page's language."""
        return words_in(self.case.language)

    @cached_property
    def rows(self) -> tuple[Effect, ...]:
        """Every row of the table, judged."""
        return judge(self.table)

    @cached_property
    def verdict(self) -> Verdict:
        """Who pays."""
        return find_payers(self.table, self.rows)

    @cached_property
    def choice(self) -> Choice:
        """The remedies that were tried."""
        return choose_remedy(self.table, self.verdict, self.case.costs)

    @cached_property
    def by_key(self) -> dict[tuple[str, str, str], Effect]:
        """The rows by option, group and effect."""
        return {(row.setting, row.group, row.effect): row for row in self.rows}

    @cached_property
    def harmful(self) -> tuple[Effect, ...]:
        """The rows of the page's option that may hurt a group."""
        return tuple(
            row
            for row in self.rows
            if row.setting == self.table.page and row.group != EVERYBODY and self.table.hurts(row.effect)
        )

    @cached_property
    def harmed(self) -> tuple[str, ...]:
        """Every group with a clear harm under the page's option, those of the first sentence first."""
        named = [payer.row.group for payer in self.verdict.payers]
        clear = [row.group for row in self.harmful if row.is_harm]
        groups = [group for group in clear if group not in self.table.entities]
        return tuple(dict.fromkeys([*named, *(groups or ([] if named else clear))]))

    # --- names --------------------------------------------------------------------------------------

    def say(self, key: str, /, **slots: Any) -> str:
        """Return a sentence of the catalogue."""
        return self.words.say(key, called=self.called, source=self.source, **slots)

    @property
    def called(self) -> str:
        """The verb of a selection."""
        default = "default.called_unwanted" if self.table.unwanted else "default.called"
        return self.case.called or self.words.say(default)

    @property
    def source(self) -> str:
        """Where the people are, with a blank before it: repeats speak of this file alone."""
        return f" {self.words.say('default.source')}" if self.case.repeats > 1 else ""

    @property
    def head(self) -> str:
        """One of those whom the table counts."""
        return self.case.heads[0] or self.words.say("default.person")

    def name(self, group: str) -> Name:
        """Return how a group is called."""
        if group == EVERYBODY:
            return Name(self.words.say("default.somebody"), self.words.say("default.somebody"), is_one=True)
        return self.case.groups.get(group) or Name(group, group)

    def option(self, name: str) -> OptionName:
        """Return how an option is called."""
        found = self.case.options.get(name) or OptionName(name)
        return found._replace(column=found.column or found.words)

    def slots(self, group: str) -> dict[str, Any]:
        """Return the slots of a group in a template."""
        name = self.name(group)
        return {"G": name.words, "L": name.label, "gn": 1 if name.is_one else 2}

    def named(self, groups: Iterable[str], *, slot: str = "G") -> dict[str, Any]:
        """Return the slots of several groups, three at most by name."""
        kept = list(groups)
        if len(kept) == 1:
            name = self.name(kept[0])
            count = 1 if name.is_one else 2
            return {slot: name.words, f"{slot.lower()}n": count} | self._verbs(slot, count)
        shown = [self.name(group).words for group in kept[:MOST_NAMED]]
        if len(kept) > MOST_NAMED:
            shown.append(self.say("group.others", n=len(kept) - MOST_NAMED))
        return {slot: listed(shown), f"{slot.lower()}n": 2} | self._verbs(slot, 2)

    def _verbs(self, slot: str, count: int) -> dict[str, str]:
        does, each = (self.words.say(f"does.{self.verb}", n=many) for many in (count, 1))
        return {"does": does, "each": each} if slot == "G" else {}

    @property
    def verb(self) -> str:
        """The key of what payers do: they pay, are miscounted, or fare worse than others."""
        if self.case.is_between_groups:
            return "worse"
        is_counted = self.lead is not None and self.lead.effect in _COUNTS
        return "miscounted" if is_counted else "pays"

    # --- numbers ------------------------------------------------------------------------------------

    def shown(self, effect: str, value: float) -> str:
        """Return a value of an effect as it is written: whole people of 1,000, whole dollars from 100 on."""
        unit, size = EFFECTS[effect].unit, abs(value)
        if not math.isfinite(value):
            return "–"
        if unit == "of 1,000":
            size, value = (size / 10, value / 10) if effect in ("refused", "granted") else (size, value)
            return self.say("amount.under_one") if 0 < size < 0.5 else number(value, 0)
        if unit == "dollars":
            return f"{'−' if value < 0 else ''}{self.case.currency}{number(size, 0 if size >= 100 else 2)}"
        if unit == "percent":
            return self.say("amount.percent", n=number(value, 0 if size >= 10 else 1))
        if unit == "of 100 releases":
            return self.say("amount.under_one") if 0 < size < 0.5 else number(value, 0)
        whole = abs(value - round(value)) < 0.05 or size >= 100
        return number(value, 0 if whole else 1)

    def amount(self, effect: str, value: float, people: float = math.nan) -> str:
        """Return an amount per head of a group with its unit, such as "34 of 1,000"."""
        unit = EFFECTS[effect].unit
        if value <= 0:
            return self.say("amount.nothing")
        if unit == "people":
            size = people if math.isfinite(people) and people > 0 else 1000.0
            return self.say("amount.people", n=self.shown(effect, value * size / 1000), p=size)
        if effect in ("refused", "granted", "billed"):
            return self.say("amount.releases", n=self.shown(effect, value))
        key = {"of 1,000": "rate", "dollars": "money"}.get(unit)
        shown = self.shown(effect, value)
        return self.say(f"amount.{key}", n=shown, head=self.head) if key else shown

    def seen(self, row: Effect) -> Observation:
        """Return the observation behind a row."""
        return self.table.by_key[row.setting, row.group, row.effect]

    def factor(self, row: Effect) -> float:
        """Return what a number per 1,000 of the group is multiplied with to be of those who qualify."""
        if row.effect != _CONDITIONAL or self.case.is_between_groups:
            return 1.0
        for rate, value in ((row.rate, row.after), (row.due_rate, row.due)):
            if math.isfinite(rate) and value > 0:
                return rate / value
        return 1.0

    def due_limits(self, row: Effect) -> Limits:
        """Return the limits of what a group has beyond what is due to it, corrected for the row's family."""
        seen, names = self.seen(row), [self.table.page]
        if row.setting != self.table.page:
            names = [option.name for option in self.table.candidates if option.name != self.table.page]
        return limit_samples([sample_of(seen, seen.after - seen.due)], family_level(self.table, names))[0]

    # --- the words of one row -------------------------------------------------------------------------

    def numbers(self, row: Effect) -> dict[str, Any]:
        """Return the slots of the numbers of a row."""
        factor = self.factor(row)
        seen = self.seen(row)
        per = float(per_head(seen, 1.0)) if EFFECTS[row.effect].unit == "dollars" else 1.0
        after, due = factor * row.after * per, factor * row.due * per
        return {
            **self.slots(row.group),
            "a": self.shown(row.effect, after),
            "an": round(after),
            "b": self.shown(row.effect, due),
            "bn": round(due),
            "d": self.shown(row.effect, abs(after - due)),
            "w": self.shown(row.effect, row.worst * per),
            "p": number(row.people, 0),
            "head": self.head,
            "left": self.amount(row.effect, self.lack(row), row.people),
        }

    def lack(self, row: Effect) -> float:
        """Return what a group lacks of what is due to it, per head."""
        more = (row.after - row.due) * self.factor(row)
        harm = self.table.harm_of(row.effect)
        lacking = -more if harm == "less" else abs(more) if harm == "away" else more
        return float(per_head(self.seen(row), max(lacking, 0.0)))

    def level(self, row: Effect) -> str:
        """Return the sentence that tells what a group has instead of what is due to it."""
        part = "others" if self.case.is_between_groups else "level"
        return self.say(f"effect.{row.effect}.{part}", **self.numbers(row))

    def then(self, row: Effect) -> str:
        """Return the end of a sentence: what a group then has, or still lacks."""
        if row.effect in ("selected", "short"):
            return self.say("do.lacks", **self.numbers(row))
        level = self.level(row)
        return f"{level[:1].lower()}{level[1:]}" if level.startswith("Of ") else level

    def moved(self, row: Effect, change: float) -> str:
        """Return a change in a few words, such as "121 fewer hired"."""
        unit, key = EFFECTS[row.effect].unit, f"effect.{row.effect}.word"
        size = float(per_head(self.seen(row), 1.0)) if unit == "dollars" else 1.0
        shown = self.shown(row.effect, abs(change) * self.factor(row) * size)
        part = "more" if change > 0 else "fewer"
        if self.words.has(key):
            return self.say(f"moved.{part}", d=shown, word=self.say(key))
        return self.say(f"moved.{'money' if unit == 'dollars' else 'people'}_{part}", d=shown)

    def worst_under(self, name: str) -> Effect | None:
        """Return the row of the group that lacks most under an option, in the unit that the page is about.

        Counts of people are told of one group only: that which the page is about.
        """
        lead = self.lead
        if lead is None:
            return None
        if EFFECTS[lead.effect].unit == "people":
            row = self.by_key.get((name, lead.group, lead.effect))
            return None if row is None or row.status == "not stored" else row
        skipped = {EVERYBODY, *(() if lead.group in self.table.entities else self.table.entities)}
        rows = [
            row
            for row in self.rows_of.get(name, ())
            if row.group not in skipped
            and self.table.hurts(row.effect)
            and EFFECTS[row.effect].unit == EFFECTS[lead.effect].unit
            and row.status not in ("unjudged", "not stored")
        ]
        return max(rows, key=lambda row: self.lack(row) / self.factor(row), default=None)

    def lack_of_worst(self, name: str) -> float:
        """Return what the row of :meth:`worst_under` lacks, as it is drawn; NaN if there is none."""
        row = self.worst_under(name)
        if row is None:
            return math.nan
        if EFFECTS[row.effect].unit == "people":
            return self.lack(row) * row.people / 1000 if row.people > 0 else self.lack(row)
        return self.lack(row) / self.factor(row)

    def lack_words(self, row: Effect) -> str:
        """Return what a row lacks in a few words: "34 of 1,000", or "2 as 9.1" for a count."""
        if row.effect == "counted":
            numbers = self.numbers(row)
            return self.say("amount.as", a=numbers["a"], b=numbers["b"])
        if EFFECTS[row.effect].unit == "people":
            return self.shown(row.effect, row.after)
        return self.amount(row.effect, self.lack(row) / self.factor(row), row.people)

    @cached_property
    def rows_of(self) -> dict[str, list[Effect]]:
        """The rows by their option."""
        found: dict[str, list[Effect]] = {}
        for row in self.rows:
            found.setdefault(row.setting, []).append(row)
        return found

    @cached_property
    def lead(self) -> Effect | None:
        """The row that the page is about: the first payer's, or what could be worst, or is most open."""
        found = self.verdict
        if found.payers:
            return found.payers[0].row
        if found.state == "nobody":
            return found.worst
        by_size = sorted(found.open, key=lambda row: (not math.isfinite(row.bound), -_reach(self, row)))
        return next(iter((*by_size, *found.unjudged, *self.harmful)), None)

    def payer_row(self, payer: Payer, name: str) -> Effect | None:
        """Return the row of a payer's effect under another option."""
        return self.by_key.get((name, payer.row.group, payer.row.effect))


def _reach(telling: Telling, row: Effect) -> float:
    """Return the most that an open row may come to, as a multiple of what matters."""
    threshold = telling.table.threshold(telling.seen(row)) if row.status != "not stored" else math.inf
    bound = row.bound if math.isfinite(row.bound) else abs(np.nan_to_num(row.change))
    return float(bound) / threshold if threshold else float(bound)
