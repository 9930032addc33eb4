"""Tell how one row of the table is told: its numbers, the words of its effect, the name of its group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.answer.case import Name, OptionName
from evenhand.answer.choice import choose_remedy, list_steps
from evenhand.answer.effects import EFFECTS, EVERYBODY, FEWEST_PEOPLE, per_head, told_in
from evenhand.answer.harm import find_payers, sort_open
from evenhand.answer.status import family_level, judge, keep_possible, limit_samples, move_to, sample_of
from evenhand.answer.words import words_in
from evenhand.report.language import money_in_language
from evenhand.report.words import MINUS, capital, has_figures, listed, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.answer.case import Case
    from evenhand.answer.choice import Choice, Step
    from evenhand.answer.effects import EffectTable, Observation
    from evenhand.answer.harm import Verdict
    from evenhand.answer.status import Effect, Limits
    from evenhand.answer.words import Words

MOST_NAMED = 3
MOST_WORDS = 12
_CONDITIONAL = "wrongly_refused"
_VERBS = {"off": "off"}
_VERBS |= dict.fromkeys(("counted", "hidden", "invented", "share_error", "outcome"), "miscounted")
_DIGITS = {"dollars": (2, 100), "percent": (1, 10), "people": (1, 100)}
"""So many digits have values below so much."""
_EITHER_WAY = {"counted": "counted", "share_error": "counted", "outcome": "counted", "short": "short"}


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
        """Every row of the table, judged; those of a remedy that was run again are of fresh repeats."""
        again, fresh = self.choice.again, self.table.fresh
        if fresh is None or not again:
            return self._first_look
        first = [row for row in self._first_look if row.setting == again]
        kept = [row for row in self._first_look if row.setting != again]
        return (*kept, *move_to(first, (row for row in judge(fresh) if row.setting == again)))

    @cached_property
    def _first_look(self) -> tuple[Effect, ...]:
        return judge(self.table)

    def table_of(self, name: str) -> EffectTable:
        """Return the table that has the figures of an option: that of fresh repeats if it was run again."""
        fresh = self.table.fresh
        return fresh if fresh is not None and name == self.choice.again else self.table

    @cached_property
    def verdict(self) -> Verdict:
        """Who pays."""
        return find_payers(self.table, self._first_look)

    @cached_property
    def choice(self) -> Choice:
        """The remedies that were tried."""
        return choose_remedy(self.table, self.verdict, self.case.costs)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The curve over epsilon of the page's method."""
        return list_steps(self.table, self.rows)

    @cached_property
    def by_key(self) -> dict[tuple[str, str, str], Effect]:
        """The rows by option, group and effect."""
        return {(row.setting, row.group, row.effect): row for row in self.rows}

    @cached_property
    def harmful(self) -> tuple[Effect, ...]:
        """The rows of the page's option that may hurt a group, those that lack most first."""
        rows = self._harmful_under(self.table.page)
        return tuple(sorted(rows, key=lambda row: (-self._multiple(row), row.group, row.effect)))

    def _harmful_under(self, name: str) -> list[Effect]:
        """Return the rows of an option that may hurt a group."""
        return [
            row
            for row in self.rows_of.get(name, ())
            if row.group != EVERYBODY and self.table.hurts(row.effect)
        ]

    def _multiple(self, row: Effect) -> float:
        """Return what a row lacks as a multiple of what matters; below 0 it has more than is due."""
        if row.status == "not stored":
            return 0.0
        return row.lack / (self.table.threshold(self.seen(row)) or 1.0)

    @cached_property
    def gains(self) -> tuple[Effect, ...]:
        """The rows of clear benefits, the largest first."""
        return tuple(row for row in self.harmful[::-1] if row.status == "clear" and not row.is_harm)

    @cached_property
    def open(self) -> tuple[Effect, ...]:
        """The open rows: those that lost in every repeat first, then those with limits that may lack most."""
        known = [row for row in self.harmful if row.status in ("open", "not stored")]
        return tuple(sort_open(self.table, known))

    @cached_property
    def harmed(self) -> tuple[str, ...]:
        """Every group with a clear harm under the page's option, those of the first sentence first."""
        named = [payer.row.group for payer in self.verdict.payers]
        clear = [row.group for row in self.harmful if row.is_harm]
        groups = [group for group in clear if group not in self.table.entities]
        return tuple(dict.fromkeys([*named, *(groups or clear)]))

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

    def named(self, groups: Iterable[str], *, slot: str = "G", words: int = MOST_WORDS) -> dict[str, Any]:
        """Return the slots of several groups, by name as far as so many words go, but at least one."""
        names = [self.name(group) for group in groups]
        count = 1 if len(names) == 1 and names[0].is_one else 2
        verbs = {}
        if slot == "G":
            does, each = (self.words.say(f"does.{self.verb}", n=many) for many in (count, 1))
            verbs, words = {"does": does, "each": each}, words + 1 - len(does.split())
        shown = [name.words for name in names[:MOST_NAMED]]
        while len(shown) > 1 and len(" ".join(shown).split()) + (4 if len(names) > len(shown) else 1) > words:
            shown.pop()
        if len(names) > len(shown):
            left = len(names) - len(shown)
            shown.append(self.say("group.other" if left == 1 else "group.others", n=left))
        return {slot: listed(shown), f"{slot.lower()}n": count, **verbs}

    @property
    def verb(self) -> str:
        """The key of what payers do: they pay, are missing or miscounted, or fare worse than others."""
        if self.case.is_between_groups:
            return "worse"
        if self.verdict.payers and self.verdict.payers[0].tier < 0:
            return "missing"
        return _VERBS.get("" if self.lead is None else self.lead.effect, "pays")

    # --- numbers ------------------------------------------------------------------------------------

    def digits(self, effect: str, value: float) -> int:
        """Return with how many digits a value is written, unless it is a whole number."""
        digits, below = _DIGITS.get(told_in(effect), (0, 0))
        return digits if abs(value) < below else 0

    def written(self, effect: str, value: float, digits: int | None = None) -> str:
        """Return a number with its sign of money or percent; a whole number has no digits."""
        digits = self.digits(effect, value) if digits is None else digits
        digits = 0 if round(value, digits) == round(value) else digits
        unit = told_in(effect)
        if unit == "dollars":
            shown = money_in_language(number(abs(value), digits), self.case.currency)
            return f"{MINUS if value < 0 else ''}{shown}"
        shown = number(value, digits)
        return self.say("amount.percent", n=shown) if unit == "percent" else shown

    def shown(self, effect: str, value: float, *, up: bool = False) -> str:
        """Return a value of an effect as people read it, such as "under 1"; `up` rounds it up."""
        if not math.isfinite(value):
            return "–"
        if up:
            steps = 10 ** self.digits(effect, value)
            value = math.ceil(value * steps - 1e-9) / steps
        if told_in(effect) in ("of 1,000", "of 100 releases") and 0 < abs(value) < 1:
            return self.say("amount.under_one")
        return self.written(effect, value)

    def signed(self, effect: str, value: float) -> str:
        """Return a change as it is written, with its sign."""
        shown = self.written(effect, value)
        return f"+{shown}" if value > 0 and has_figures(shown) else shown

    def difference(self, effect: str, one: float, other: float) -> str:
        """Return how far two values are apart as they are written, so that shown numbers agree."""
        digits = [self.digits(effect, each) for each in (one, other)]
        apart = abs(round(one, digits[0]) - round(other, digits[1]))
        shown = self.shown(effect, abs(one - other))
        if apart == 0 or (0 in (one, other) and shown == self.say("amount.under_one")):
            return shown
        return self.written(effect, apart, max(digits))

    def limits(self, effect: str, low: float, high: float) -> str:
        """Return limits without their sign where both are on one side of 0; nothing where there are none."""
        if not (math.isfinite(low) and math.isfinite(high)) or low == high:
            return ""
        texts = [self.written(effect, each) for each in sorted((abs(low), abs(high)))]
        if low < 0 < high:
            texts = [self.written(effect, low), self.signed(effect, high)]
        return f" ({self.say('amount.range', low=texts[0], high=texts[1])})"

    def amount(self, row: Effect, per: float) -> str:
        """Return an amount per head of a row's group with its unit, such as "34 of 1,000"."""
        if per <= 0:
            return self.say("amount.nothing")
        return self._with_unit(row, self.shown(row.effect, self.drawn(row, per)))

    def _with_unit(self, row: Effect, shown: str, *, is_conditional: bool = True) -> str:
        unit = told_in(row.effect)
        if unit in ("percent", "of 100 releases"):
            return shown if unit == "percent" else f"{shown} {self.say('unit.releases')}"
        key = {"dollars": "money", "people": "people"}.get(unit, "rate")
        if row.effect == _CONDITIONAL and is_conditional and not self.table.unwanted:
            key = "qualified"
        size = row.people if row.people > 0 else 1000.0
        return self.say(f"amount.{key}", n=shown, p=round(size), head=self.head)

    def _of_group(self, row: Effect, value: float, *, up: bool = False) -> str:
        value = max(value, 0.0) * self.scale(row, is_conditional=False)
        return self._with_unit(row, self.shown(row.effect, value, up=up), is_conditional=False)

    def bound(self, row: Effect) -> str:
        """Return the most that a group may lack, rounded up, of the whole group."""
        return self._of_group(row, row.bound, up=True)

    def matters(self, row: Effect) -> str:
        """Return what matters of an effect, of the whole group."""
        return self._of_group(row, self.table.threshold(self.seen(row)))

    def seen(self, row: Effect) -> Observation:
        """Return the observation behind a row."""
        return self.table_of(row.setting).by_key[row.setting, row.group, row.effect]

    def scale(self, row: Effect, *, is_conditional: bool = True) -> float:
        """Return what a number of a row is multiplied with where it is written or drawn.

        Money is told per head, a chance of 1,000 as releases of 100, and refusals of those who qualify.
        """
        if EFFECTS[row.effect].unit == "dollars":
            return float(per_head(self.seen(row), 1.0))
        if row.effect != _CONDITIONAL or self.case.is_between_groups or not is_conditional:
            return 1.0 if told_in(row.effect) == EFFECTS[row.effect].unit else 0.1
        for rate, value in ((row.rate, row.after), (row.due_rate, row.due)):
            if math.isfinite(rate) and value > 0:
                return rate / value
        return 1.0

    def due_limits(self, row: Effect) -> Limits:
        """Return the limits of what a group has beyond what is due to it, corrected for the row's family."""
        seen, level = self.seen(row), self._levels[row.setting == self.table.page]
        if row.setting == self.choice.again:
            level = family_level(self.table_of(row.setting), [row.setting])
        limits = limit_samples([sample_of(seen, seen.after - seen.due)], level)[0]
        return keep_possible(seen, seen.due, limits)

    @cached_property
    def _levels(self) -> tuple[float, float]:
        """The levels of limits of candidates, and of the page's option."""
        page = self.table.page
        candidates = [option.name for option in self.table.candidates if option.name != page]
        return family_level(self.table, candidates), family_level(self.table, [page])

    # --- the words of one row -------------------------------------------------------------------------

    def word(self, effect: str) -> str:
        """Return what happens to people by an effect, as a participle: "hired"."""
        key = f"effect.{effect}.word"
        unwanted = f"{key}_unwanted"
        return self.say(unwanted if self.table.unwanted and self.words.has(unwanted) else key)

    def title(self, effect: str) -> str:
        """Return what a panel of an effect is called: by its word, unless it has a title."""
        key = f"effect.{effect}.title"
        word = self.say(key) if self.words.has(key) else self.word(effect)
        return capital(word)

    def base(self, row: Effect) -> str:
        """Return whom a rate counts, where not all of a group."""
        is_due = row.effect == _CONDITIONAL and not self.table.unwanted
        return self.words.say("default.qualified") if is_due else ""

    def numbers(self, row: Effect) -> dict[str, Any]:
        """Return the slots of the numbers of a row."""
        scale = self.scale(row)
        after, due = scale * row.after, scale * row.due
        shown = self.shown(row.effect, after)
        return {
            **self.slots(row.group),
            "Q": self.base(row),
            "a": shown,
            "an": 1 if shown in ("1", self.say("amount.under_one")) else 2,
            "b": self.shown(row.effect, due),
            "bn": round(due, 1),
            "d": self.difference(row.effect, after, due),
            "w": self.shown(row.effect, scale * row.worst),
            "p": number(row.people, 0),
            "head": self.head,
            "left": self.left(row),
        }

    def lack(self, row: Effect) -> float:
        """Return what a group lacks of what is due to it, per head."""
        return float(per_head(self.seen(row), max(float(np.nan_to_num(row.lack)), 0.0)))

    def _lack_shown(self, row: Effect) -> float:
        """Return what a group lacks as the shown values give it."""
        values = (self.scale(row) * each for each in (row.after, row.due))
        after, due = (round(value, self.digits(row.effect, value)) for value in values)
        return max(row.lack_by(after - due), 0.0)

    def rise(self, row: Effect, per: float) -> str:
        """Return how much more a group lacks than under the page's option, so that shown numbers agree."""
        page = self.by_key.get((self.table.page, row.group, row.effect))
        if page is not None and page.status != "not stored":
            shown = abs(self._lack_shown(row) - self._lack_shown(page))
            if shown > 0 and abs(shown - self.drawn(row, per)) <= 1:
                return self._with_unit(row, self.written(row.effect, shown))
        return self.amount(row, per)

    def left(self, row: Effect) -> str:
        """Return what a group lacks in a few words: "34 of 1,000", or "2 as 9.1" for a count."""
        after, due = (self.scale(row) * each for each in (row.after, row.due))
        if row.effect == "counted":
            return self.say("amount.as", a=self.shown(row.effect, after), b=self.shown(row.effect, due))
        if self.lack(row) <= 0:
            return self.say("amount.none_of_it" if self._harms(row.setting) else "amount.nothing")
        return self._with_unit(row, self.lack_words(row))

    def lack_words(self, row: Effect) -> str:
        """Return what a group lacks, without its unit."""
        scale = self.scale(row)
        return self.difference(row.effect, scale * row.after, scale * row.due) if self.lack(row) > 0 else "0"

    def _harms(self, name: str) -> bool:
        """Return whether a judged group lacks what matters under an option, by any effect."""
        return any(self._multiple(row) >= 1 for row in self._harmful_under(name) if row.status != "unjudged")

    def level(self, row: Effect, *, source: bool = True) -> str:
        """Return the sentence that tells what a group has instead of what is due to it."""
        slots = {**self.numbers(row), "called": self.called, "source": self.source if source else ""}
        part = "others" if self.case.is_between_groups else "level"
        key = f"effect.{row.effect}.{part}"
        if not self.words.has(key):
            key = f"{part}.releases" if told_in(row.effect) == "of 100 releases" else f"{part}.rate"
            slots["word"] = self.word(row.effect)
        return self.words.say(key, **slots)

    def then(self, row: Effect) -> str:
        """Return the end of a sentence: what a group then has, or still lacks."""
        if row.effect in ("selected", "short") and self.table.harm_of(row.effect) == "less":
            return self.say("do.lacks", **self.numbers(row))
        level, words = self.level(row, source=False), self.name(row.group).words
        if level.startswith(capital(words)):
            return f"{words}{level[len(words) :]}"
        return f"{level[:1].lower()}{level[1:]}"

    def moved(self, row: Effect, *, is_step: bool = False) -> str:
        """Return a change from what is due, or from the step before, such as "121 fewer hired"."""
        before = row.before if is_step else row.due
        scale = self.scale(row)
        return self._moved(
            row,
            row.after - before,
            self.difference(row.effect, scale * row.after, scale * before),
            from_due=not is_step or row.reference == self.table.unprotected,
        )

    def moved_by(self, row: Effect, low: float, high: float) -> str:
        """Return a change between two amounts of one sign in a few words, such as "1 to 4 fewer hired"."""
        texts = [self.shown(row.effect, abs(each) * self.scale(row)) for each in (low, high)]
        shown = texts[0] if texts[0] == texts[1] else self.say("amount.range", low=texts[0], high=texts[1])
        return self._moved(row, low, shown, from_due=True)

    def _moved(self, row: Effect, change: float, shown: str, *, from_due: bool) -> str:
        unit, effect = told_in(row.effect), row.effect
        part = "more" if change > 0 else "less" if unit in ("percent", "dollars") else "fewer"
        is_chance = unit == "of 100 releases"
        if from_due and row.due == 0:
            return f"{shown} {self.say('unit.releases') if is_chance else self.word(effect)}"
        if change == 0 or not has_figures(shown):
            return self.say("picture.same")
        if from_due and effect in _EITHER_WAY:
            return self.say(f"moved.{_EITHER_WAY[effect]}_{'more' if change > 0 else 'fewer'}", d=shown)
        word = self.say("unit.releases") if is_chance else self.word(effect)
        return self.say(f"moved.{part}", d=shown, word=word)

    def worst_under(self, name: str) -> Effect | None:
        """Return the row of the group that lacks most under an option, by the effect that the page is about.

        Counts of people are told of one group only: that which the page is about.
        """
        lead = self.lead
        if lead is None:
            return None
        if EFFECTS[lead.effect].unit == "people":
            row = self.lead_under(name)
            return None if row is None or row.status == "not stored" else row
        entities = frozenset() if lead.group in self.table.entities else self.table.entities
        rows = [
            row
            for row in self.rows_of.get(name, ())
            if row.group not in {EVERYBODY, *entities}
            and row.effect == lead.effect
            and row.status not in ("unjudged", "not stored")
        ]
        most = max((self.lack(row) for row in rows), default=0.0)
        worst = [row for row in rows if self.lack(row) == most]
        return max(worst, key=lambda row: np.nan_to_num(self.lack_limits(row)[1]), default=None)

    def lead_under(self, name: str) -> Effect | None:
        """Return the row that the page is about under another option."""
        return None if self.lead is None else self.by_key.get((name, self.lead.group, self.lead.effect))

    def drawn(self, row: Effect, per: float) -> float:
        """Return an amount per head of a row as it is drawn: people, or of those who qualify."""
        unit = EFFECTS[row.effect].unit
        if unit == "people":
            return per * row.people / 1000 if row.people > 0 else per
        return per if unit == "dollars" else per * self.scale(row)

    def lack_limits(self, row: Effect) -> tuple[float, float]:
        """Return the limits of what a row lacks as it is drawn, never below 0; NaN where there are none."""
        limits = self.due_limits(row)
        if not math.isfinite(limits.low) or limits.low == limits.high:
            return math.nan, math.nan
        harm, falls = self.table.harm_of(row.effect), limits.mean < 0
        low, high = limits.low, limits.high
        if harm == "less" or (harm == "away" and falls):
            low, high = -high, -low
        scale = self.drawn(row, float(per_head(self.seen(row), 1.0)))
        return scale * max(low, 0.0), scale * max(high, 0.0)

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
            return found.worst or next(iter(self.gains), None)
        smallest = sorted(found.unjudged, key=lambda row: row.people >= FEWEST_PEOPLE)
        return next(iter((*found.unnamed, *self.open, *smallest, *self.harmful)), None)
