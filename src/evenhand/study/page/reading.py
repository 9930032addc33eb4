"""What every page does: which setting it is about, estimates with possible limits, and what all pages say.

A kind of study brings a subclass of :class:`Reading` with its own numbers, and a subclass of that for its
page: question, answers, sections, key numbers, method and limits. Everything else on a page comes from here,
so that no page can lack it: what is not private, large values of epsilon, cells that failed, a single repeat,
where the rows come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._notes import Note as Remark
from evenhand._validate import one_of
from evenhand.errors import InvalidParameterError
from evenhand.report.language import written_in
from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import epsilon_of, epsilon_words, listed, plain
from evenhand.study.page.catalogue import Catalogue, catalogue, languages
from evenhand.study.page.comparing import ENOUGH_REPEATS, LEVEL, strict
from evenhand.study.page.wording import change, digits_shown, digits_that_agree, group_name, points
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, estimated, group_change, group_estimate, paired_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.measure.repeat_means import Spread
    from evenhand.report.page import Section
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.store.outcome import Outcome

    Runs = NDArray[np.float64]

BASELINE = Setting()
"""The setting that nothing protects, which every other is compared with."""

ACCURACY, GAP = "acc", "sp_gap"
SHARE, CHANGE, COUNT = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)
"""Between which limits a share, a change of one, and a number of people or cells lie."""

MOST_COLOURS = 5
"""Groups up to this many have a colour of their own."""

_LARGE_EPSILON = 10
_AT_THE_HEAD = ("sample", "privacy", "target")  # kinds of notes on the data that stand above everything


@dataclass(frozen=True)
class Reading:
    """Results with the setting that a page is about.

    Parameters
    ----------
    results : Results
    chosen : Setting
        A protected one, unless the kind of study says otherwise.
    language : str
        One of those that the kind's catalogue of sentences has.
    """

    results: ResultData
    chosen: Setting
    language: str = "en"

    package: ClassVar[str] = ""
    """Where the kind's folder ``sentences`` stands."""
    kicker: ClassVar[str] = ""
    """A few words above the question; if empty, ``head.kicker`` of the catalogue."""
    not_private: ClassVar[str] = ""
    """The first note: that the page is computed from the true data; if empty, ``head.not_private``."""
    must_be: ClassVar[str] = "a protected setting"
    """What a setting that is asked for must be; empty if any will do."""
    needs_repeats: ClassVar[bool] = True
    """Whether a study of one repeat should be repeated; not where one repeat is exact."""

    @classmethod
    def of(cls, results: ResultData, *, chosen: object = None, language: str = "en") -> Self:
        """Return the reading about the setting that is asked for, or about the one that the rule finds.

        Raises
        ------
        InvalidParameterError
            If `chosen` is not such a setting of the study, or the language has no catalogue.
        """
        one_of("language", language, languages(cls.package), owner="page_of")
        if chosen is None:
            first = next((setting for setting in results.settings if setting.is_protected), BASELINE)
            return cls(results, cls(results, first).by_rule(), language)
        setting = results.setting(chosen)
        if cls.must_be and not setting.is_protected:
            raise InvalidParameterError("chosen", owner="page_of", must_be=cls.must_be, got=str(setting))
        return cls(results, setting, language)

    @property
    def sentences(self) -> Catalogue:
        """The catalogue of the kind of study, in the language of the page."""
        return catalogue(self.package, self.language)

    # --- what a kind of study says ----------------------------------------------------------------

    def by_rule(self) -> Setting:
        """Return the setting that a page is about unless one is asked for; chance does not drive it."""
        raise NotImplementedError

    def question(self) -> str:
        """Return the question that the page answers."""
        raise NotImplementedError

    def answers(self) -> tuple[str, str, str]:
        """Return the three sentences of a report and of the terminal.

        Each number is computed from the results and each comparative word rests on an interval: where it
        leaves room for no difference, the sentence is another one.
        """
        raise NotImplementedError

    def sections(self) -> Iterable[Section | None]:
        """Return a finding for each part of the evidence, in the order of a reader's questions."""
        raise NotImplementedError

    def key_numbers(self) -> Sequence[KeyNumber]:
        """Return the numbers of the head, four at most."""
        raise NotImplementedError

    def method(self) -> list[str]:
        """Return how the study was done."""
        raise NotImplementedError

    def limits(self) -> list[str]:
        """Return what the numbers do not cover."""
        raise NotImplementedError

    @property
    def recommended(self) -> Setting | None:
        """The setting that the third answer recommends, if it does."""
        return self.chosen

    def setting_to_use(self, *, asked: bool) -> Setting | None:
        """Return the setting whose command a page ends with; `asked`: somebody named the page's setting."""
        return (None if asked else self.recommended) or self.chosen

    def next_command(self, setting: Setting) -> str:  # noqa: ARG002 - a kind may know one
        """Return the command that the third answer ends with; an empty text if there is none."""
        return ""

    def further_notes(self) -> list[Note]:
        """Return what else stands above everything."""
        return []

    def large_epsilon_words(self, epsilon: float) -> str:
        """Return what is said of the largest epsilon, if it is above ten."""
        return self.sentences.say("head.epsilon_tested", at=epsilon_words(epsilon))

    # --- the page ---------------------------------------------------------------------------------

    def page(self, *, command: str = "") -> Page:
        """Return the report as a page; `command` is what makes it again."""
        data = [plain(note, longest=600) for note in self.data_notes if note.kind not in _AT_THE_HEAD]
        with written_in(self.language):
            return Page(
                question=self.question(),
                answers=self.answers(),
                kicker=self.kicker or self.sentences.say("head.kicker"),
                meta=self.study_line(),
                numbers=tuple(self.key_numbers()),
                notes=tuple(self.notes()),
                sections=tuple(section for section in self.sections() if section is not None),
                method=(*self.method(), *data),
                limits=tuple(self.limits()),
                sources=self.sources(),
                command=command,
                language=self.language,
            )

    @property
    def data_notes(self) -> list[Remark]:
        """What is known of the data, in sentences with their kinds."""
        return [Remark.of(note) for note in self.results.facts.notes]

    def notes(self) -> list[Note]:
        """Return what stands above everything: that the page is not private, then what could be misjudged."""
        say = self.sentences.say
        said = [Note("warn", self.not_private or say("head.not_private"))]
        for kind in _AT_THE_HEAD:  # in this order
            said += [Note("warn", plain(note, longest=900)) for note in self.data_notes if note.kind == kind]
        largest = max(self.epsilons, default=0.0)
        if largest > _LARGE_EPSILON:
            rest = self.large_epsilon_words(largest)
            said.append(Note("warn", say("head.large_epsilon", most=_LARGE_EPSILON, rest=rest)))
        kinds = sorted({plain(cell.failure.kind) for cell in self.results.failures if cell.failure})
        why = say("head.missing_kinds", kinds=kinds) if kinds else ""
        if missing := self.missing_words("head.missing", why=why):
            said.append(Note("bad", missing))
        if self.repeats == 1 and self.needs_repeats:
            said.append(Note("warn", say("head.one_repeat", more=say("head.more_repeats"))))
        return said + self.further_notes()

    def missing_words(self, key: str, **slots: str) -> str:
        """Return the sentence of a key on the runs without a result; an empty text if all have one."""
        say, failed, missing = self.sentences.say, len(self.results.failures), len(self.results.missing)
        counts = {"failed": failed, "missing": missing, "total": len(self.results.outcomes) + missing}
        told = [say(f"study.{state}", **counts) for state in ("failed", "missing") if counts[state]]
        return say(key, missing=listed(told), count=failed + missing, **slots) if told else ""

    def study_line(self) -> str:
        """Return the line at the head: which study, how many runs, and how many failed."""
        results, say = self.results, self.sentences.say
        missing = len(results.missing)
        return say(
            "study.line",
            name=plain(results.plan.name or results.facts.label),
            total=len(results.outcomes) + missing,
            failed=len(results.failures),
            not_run=say("study.not_run", missing=missing) if missing else "",
        )

    def sources(self) -> tuple[str, ...]:
        """Return from which rows, versions and outcomes the page was made."""
        facts, say = self.results.facts, self.sentences.say
        versions = listed([f"{name} {number}" for name, number in facts.versions.items()], most=12)
        said = [say("sources.rows", digest=facts.fingerprint[:16])]
        if versions:
            said.append(say("sources.versions", versions=plain(versions, longest=400)))
        return *said, say("sources.results", digest=self.results.digest[:16])

    # --- what method and limits of several kinds share ------------------------------------------------

    def rows_line(self) -> str:
        """Return the first line of the method: how many people, by group, and how many rows were left out."""
        facts, say = self.results.facts, self.sentences.say
        sizes = [
            say("method.size", group=self.named(group), size=size)
            for group, size in zip(facts.groups, facts.sizes, strict=True)
        ]
        if facts.not_stated:
            sizes.append(say("method.not_stated", size=facts.not_stated))
        dropped = say("method.dropped", dropped=facts.dropped) if facts.dropped else ""
        return say("method.rows", label=plain(facts.label), rows=facts.rows, sizes=sizes, dropped=dropped)

    def repeats_line(self, rest: str) -> str:
        """Return how many repeats there are and with which seeds."""
        first, say = self.results.plan.seed, self.sentences.say
        last = first + self.repeats - 1
        seeds = f"{first}" if self.repeats == 1 else say("method.seeds", first=first, last=last)
        return say("method.repeats", repeats=self.repeats, seeds=seeds, rest=rest)

    def intervals_lines(self, *covered: str) -> list[str]:
        """Return what intervals are and what they cover; with one repeat, that nothing is known of it."""
        if self.repeats == 1:
            return [self.sentences.say("limits.one_repeat")]
        return [self.sentences.say("limits.intervals", level=LEVEL, covered=covered[0]), *covered[1:]]

    def group_rates_lines(self) -> list[str]:
        """Return which rates of groups have no interval, for pages that show them; none with one repeat."""
        if self.repeats == 1:
            return []
        return [self.sentences.say("limits.group_rates", few=self.few_repeats_words).rstrip()]

    def scope_line(self, what: str) -> str:
        """Return what was tested, and that nothing is said about other data."""
        tested, say = [epsilon_of(epsilon) for epsilon in self.epsilons], self.sentences.say
        at = say("limits.scope_epsilons", epsilons=tested) if tested else ""
        return say("limits.scope", what=what, at=at)

    @property
    def UNCLEAR(self) -> str:  # noqa: N802 - the limits of every page end with it
        """That a difference which is not clear may be there."""
        return self.sentences.say("limits.unclear")

    # --- settings and groups ----------------------------------------------------------------------

    @property
    def task(self) -> Any:
        """The task of the plan."""
        return self.results.plan.task

    @property
    def repeats(self) -> int:
        """How many repeats the plan has."""
        return self.results.plan.repeats

    @property
    def repeats_words(self) -> str:
        """Over what means and intervals are, such as ``"5 repeats"``."""
        return self.sentences.say("study.repeats", repeats=self.repeats)

    @cached_property
    def few_repeats_words(self) -> str:
        """Why changes of groups have no interval; empty where there are enough repeats, or only one."""
        done = max((self.moved(group, "selection").runs for group in self.groups), default=0)
        if not 1 < done < ENOUGH_REPEATS:
            return ""
        return self.sentences.say("limits.few_repeats", enough=ENOUGH_REPEATS)

    @cached_property
    def protected(self) -> tuple[Setting, ...]:
        """Every protected setting of the plan, in its order."""
        return tuple(setting for setting in self.results.settings if setting.is_protected)

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """The values of epsilon that were tested, the most private first."""
        tested = {float(setting.epsilon) for setting in self.protected if setting.epsilon is not None}
        return tuple(sorted(tested))

    @cached_property
    def nearest_epsilon(self) -> Fraction | None:
        """The epsilon that is nearest to 1 by ratio; of two as near, the smaller."""
        tested = {setting.epsilon for setting in self.protected if setting.epsilon is not None}
        return min(tested, key=lambda epsilon: (abs(math.log(epsilon)), epsilon), default=None)

    @cached_property
    def epsilon(self) -> Fraction | None:
        """The epsilon at which settings are set side by side."""
        return self.nearest_epsilon if self.chosen.epsilon is None else self.chosen.epsilon

    def at_epsilon(self, epsilon: Fraction | None) -> tuple[Setting, ...]:
        """Return the protected settings at an epsilon, and those that have none."""
        return tuple(setting for setting in self.protected if setting.epsilon in {None, epsilon})

    @cached_property
    def beside(self) -> tuple[Setting, ...]:
        """The settings that are set side by side, the chosen one among them."""
        return self.at_epsilon(self.epsilon)

    @property
    def at(self) -> str:
        """The epsilon of the chosen setting, as in a sentence."""
        return epsilon_words(self.chosen.epsilon)

    @property
    def groups(self) -> tuple[str, ...]:
        """Labels of the groups, in the schema's order."""
        return self.results.facts.groups

    def named(self, group: str) -> str:
        """Return a group as in a sentence."""
        return group_name(self.results.facts, group)

    def shorten_name(self, group: str, longest: int) -> str:
        """Return a group as the head of a column, cut if it is long; a combination has room for each part."""
        parts = max(len(self.results.facts.schema.protected_columns), 1)
        return plain(self.named(group), longest=longest * parts)

    def names(self, groups: Sequence[str], *, most: int = 3, rest: str = "") -> str:
        """Return several groups as in a sentence."""
        rest = rest or self.sentences.say("study.other_groups")
        return listed([self.named(group) for group in groups], most=most, rest=rest)

    def colour(self, group: str) -> int | None:
        """Return the place of a group, for its colour; None where there are too many for that."""
        return self.groups.index(group) if len(self.groups) <= MOST_COLOURS else None

    def outcome(self, setting: Setting | None = None) -> Outcome | None:
        """Return the first finished outcome of a setting, of the chosen one unless another is named."""
        done = (outcome for outcome in self.results.outcomes if outcome.failure is None)
        return next((outcome for outcome in done if outcome.cell.setting == (setting or self.chosen)), None)

    # --- estimates --------------------------------------------------------------------------------

    def value(self, measure: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a measure, of the chosen setting unless another is named."""
        return estimate(self.results, setting or self.chosen, measure, level=LEVEL)

    def before(self, measure: str) -> Estimated:
        """Return the mean of a measure where nothing is protected."""
        return self.value(measure, BASELINE)

    def change(
        self,
        measure: str,
        setting: Setting | None = None,
        *,
        against: Setting = BASELINE,
        comparisons: int = 1,
    ) -> Estimated:
        """Return the change of a measure within repeats, against the baseline unless another is named."""
        level = strict(comparisons)
        return paired_change(self.results, setting or self.chosen, measure, against=against, level=level)

    def rate(self, group: str, rate: str, setting: Setting | None = None) -> Estimated:
        """Return the mean of a rate of a group."""
        return group_estimate(self.results, setting or self.chosen, group, rate, level=LEVEL)

    def moved(self, group: str, rate: str, setting: Setting | None = None) -> Estimated:
        """Return how far a rate of a group moves from the baseline to the chosen setting, or to another.

        The intervals of all groups hold together with :data:`LEVEL`.
        """
        level = strict(len(self.groups))
        return group_change(self.results, setting or self.chosen, group, rate, level=level)

    def pair(self, measure: str) -> tuple[Estimated, Estimated]:
        """Return the mean of a measure in the baseline and the chosen setting, over repeats that both have.

        Their difference is the change; means over other repeats could even contradict its sign.
        """
        runs = [self.runs(setting, measure) for setting in (BASELINE, self.chosen)]
        known = self.task.measure(measure)
        return self._pair(*runs, within=known.limits, spreads=(known.spread, known.spread))

    def rate_pair(self, group: str, rate: str) -> tuple[Estimated, Estimated]:
        """Return the same for a rate of a group."""
        runs = [self.group_runs(setting, group, rate) for setting in (BASELINE, self.chosen)]
        known = self.task.group_number(rate)
        spreads = (known.spread_of("unprotected"), known.spread_of("protected"))
        return self._pair(*runs, within=known.limits, spreads=spreads)

    def _pair(
        self, before: Runs, after: Runs, *, within: tuple[float, float], spreads: Sequence[Spread]
    ) -> tuple[Estimated, Estimated]:
        both = np.isfinite(before) & np.isfinite(after)
        if both.any():
            before, after = np.where(both, before, np.nan), np.where(both, after, np.nan)
        first, second = (
            self.tested(runs, within=within, spread=spread)
            for runs, spread in zip((before, after), spreads, strict=True)
        )
        return first, second

    def tested(
        self,
        runs: Runs,
        *,
        within: tuple[float, float],
        level: float = LEVEL,
        spread: Spread = "even",
        is_computed: bool = False,
    ) -> Estimated:
        """Return the estimate from one number per repeat, its limits cut to the values that are possible."""
        asked: dict[str, Any] = {"kind": "seeds", "owner": "page_of", "within": within, "spread": spread}
        return estimated(self.results, runs, level=level, is_computed=is_computed, **asked)

    def mean(self, measure: str, setting: Setting | None = None) -> float:
        """Return the mean of a measure over repeats without an interval; NaN if no cell is done."""
        return mean_of(self.runs(setting or self.chosen, measure))

    def largest(self, measure: str, setting: Setting | None = None) -> float:
        """Return the largest value of a measure in any repeat; NaN if there is none."""
        runs = self.runs(setting or self.chosen, measure)
        known = runs[np.isfinite(runs)]
        return float(known.max()) if known.size else math.nan

    def runs(self, setting: Setting, measure: str) -> Runs:
        """Return a measure in each repeat."""
        arrays = self.results.arrays
        runs: Runs = arrays.of_measures[self.results.place(setting), :, arrays.measures.index(measure)]
        return runs

    def group_runs(self, setting: Setting, group: str, rate: str) -> Runs:
        """Return a rate of a group in each repeat."""
        arrays = self.results.arrays
        at = arrays.groups.index(group), arrays.rates.index(rate)
        runs: Runs = arrays.of_groups[self.results.place(setting), :, at[0], at[1]]
        return runs

    def data_runs(self, setting: Setting, name: str) -> Runs:
        """Return a number of the data in each repeat."""
        arrays = self.results.arrays
        runs: Runs = arrays.of_data[self.results.place(setting), :, arrays.data.index(name)]
        return runs

    # --- numbers of the head ----------------------------------------------------------------------

    def changed_number(
        self, label: str, pair: tuple[Estimated, Estimated], moved: Estimated, group: int | None = None
    ) -> KeyNumber:
        """Return a share with what it was in the baseline and how it changed; the three agree as shown."""
        before, after = pair[0].value, pair[1].value
        digits = digits_that_agree(before, after, moved.value, fewest=digits_shown(moved))
        detail = change(moved, digits=digits)
        if digits is None:  # then the interval alone says it
            detail = "" if moved.low is None else detail[detail.index("(") :]
        elif math.isfinite(moved.value) and not moved.has_interval:
            detail = self.sentences.say("head.no_interval", change=detail)
        return KeyNumber(label, points(after, digits or 1), points(before, digits or 1), detail, group)


def mean_of(runs: Runs) -> float:
    """Return the mean of the numbers that are known; NaN if none is."""
    known = runs[np.isfinite(runs)]
    return float(known.mean()) if known.size else math.nan
