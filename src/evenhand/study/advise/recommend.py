r"""Which setting to use under limits, and when not to say.

**Candidates** are the settings that protect every sensitive column with an epsilon within the limit. One
*keeps* the limits if the far end of the interval of its gap, and of its loss of accuracy against the
unprotected runs, is within them; it *breaks* them if a near end is beyond; else it is *open*. Without limits
on either, one *costs no more* if its accuracy is within two points of that with the largest epsilon, by the
whole interval of their difference, and its gap is not clearly wider. Never recommended is a model that is not
clearly right more often than the same answer for everybody, nor a setting of which an interval is so long
that it says nothing, nor one without an interval because most repeats gave the same value, nor one of which
too few repeats are done to say who pays. Groups that are too small are left out of the gap.

Of what is left the smallest epsilon is preferred; epsilon is known, so no chance is in this. Among the
settings of that epsilon one *beats* another if its gap is clearly smaller, or if the gaps cannot be told
apart and its accuracy is clearly higher: by paired intervals that leave out no difference. A setting that
beats all others is *singled out*. Else the one with the shortest report is recommended of those that none
beats, and advice says that the others do as well.

**What is claimed, and how often it is false.** Each of :math:`m` candidates is judged by intervals with the
level :math:`1 - \alpha / 3m`.

- *It keeps your limits*: false of any candidate with a chance of at most :math:`\alpha / 3`, since there are
  two limits and each is missed on one side with half of :math:`\alpha / 3m`.
- *It is better than the others*, which is said only of a setting that is singled out. The best of many equal
  settings looks good by chance, so this is said only if it also differs clearly in gap or accuracy from every
  open one: without that, one of several equal settings could be singled out because it alone, by chance,
  seems to keep a limit. Take a setting that is the equal of some rival. It differs clearly from it in one of
  two measures with a chance of at most :math:`2 \alpha / 3m`. If both keep the limits, the rival seems to
  break one of two with a chance of at most :math:`\alpha / 3m`; if both break one, the setting seems to keep
  it with half of that. Over all candidates that makes :math:`\alpha` (Bonferroni). So where all settings of
  an epsilon are equal, one of them is called better in at most 5 of 100 studies at the usual level, as far as
  intervals hold: settings whose difference is the same in most repeats are not told apart, but a rare repeat
  far from others that differ a little is not foreseen before one is seen. That none is called better where
  one is happens more often; more repeats help.
- *It costs no more than the largest epsilon*: each protocol and split is followed from the largest epsilon
  down, and left at the first that fails, so that within it no correction is needed. With :math:`s` of them
  the intervals have the level :math:`1 - \alpha / 2s`, and the sentence is false with a chance of at most
  :math:`\alpha / 4`.

That one of several equal settings is recommended claims nothing: the choice among them is by the length of
reports, which is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.measure.repeat_means import means
from evenhand.privacy.rational import exact
from evenhand.study.advise.verdicts import full_settings
from evenhand.study.page.comparing import ENOUGH_REPEATS, clearly
from evenhand.study.page.reading import ACCURACY, BASELINE, CHANGE, GAP
from evenhand.study.tasks.collect.reading import CollectReading
from evenhand.study.tasks.collect.wording import protocol_name, way_name
from evenhand.study.tasks.shared.classifier import LITTLE
from evenhand.study.tasks.shared.optimal_setting import NAME as OPTIMAL
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated

SAYS_NOTHING = 0.3
"""An interval that is longer than 30 points says nothing."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a setting must keep to.

    Parameters
    ----------
    max_gap : float, optional
        The widest gap in selection rates, from 0 to 1.
    max_accuracy_loss : float, optional
        How much accuracy may be lost against the unprotected runs, from 0 to 1.
    epsilon : number, optional
        The largest epsilon.
    """

    max_gap: float | None = None
    max_accuracy_loss: float | None = None
    epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        for name in ("max_gap", "max_accuracy_loss"):
            given = getattr(self, name)
            if given is None:
                continue
            number = isinstance(given, int | float) and not isinstance(given, bool)
            if not number or not 0 <= given <= 1:
                raise InvalidParameterError(
                    name, owner="advise", must_be="a share from 0 to 1, such as 0.05", got=given
                )
            object.__setattr__(self, name, float(given))
        if self.epsilon is not None:
            amount = exact(self.epsilon, name="epsilon", owner="advise", above=0, most=1_000_000)
            object.__setattr__(self, "epsilon", amount)

    @property
    def are_set(self) -> bool:
        """Whether there is a limit on what protection may cost."""
        return self.max_gap is not None or self.max_accuracy_loss is not None

    @property
    def which(self) -> str:
        """Which of the two limits are set: ``"both"``, ``"gap"`` or ``"loss"``."""
        if self.max_gap is not None and self.max_accuracy_loss is not None:
            return "both"
        return "gap" if self.max_gap is not None else "loss"

    @property
    def typed(self) -> str:
        """The limits as options of a command.

        >>> Limits(max_gap=0.1, epsilon=2.1234567).typed
        ' --max-gap 0.1 --epsilon 2.1234567'
        """
        asked = {
            "max-gap": self.max_gap, "max-accuracy-loss": self.max_accuracy_loss, "epsilon": self.epsilon
        }  # fmt: skip
        return "".join(f" --{name} {float(value):.15g}" for name, value in asked.items() if value is not None)


@dataclass(frozen=True)
class Candidate:
    """A setting with what the limits are about.

    Parameters
    ----------
    setting : Setting
    gap : Estimated
        Its gap in selection rates, between the groups that are large enough.
    change : Estimated
        The change of accuracy against the unprotected runs, below zero where some is lost.
    gap_excess, loss_excess : float
        How far the far end of the interval is beyond the limit; at most zero where it is met, or not set.
    breaks : bool
        Whether a near end is beyond its limit too.
    is_useful : bool
        Whether it is clearly right more often than the same answer for everybody.
    costs_no_more : bool
        Without limits, whether it costs no more than the largest epsilon.
    against_largest : Estimated, optional
        Without limits, its accuracy less that of the same protocol and split at the largest epsilon.
    """

    setting: Setting
    gap: Estimated
    change: Estimated
    gap_excess: float
    loss_excess: float
    breaks: bool = False
    is_useful: bool = True
    costs_no_more: bool = True
    against_largest: Estimated | None = None

    @property
    def excess(self) -> float:
        """How far it is beyond the limit that it breaks most."""
        return max(self.gap_excess, self.loss_excess)

    @property
    def has_intervals(self) -> bool:
        """Whether both of its numbers have an interval."""
        return self.gap.has_interval and self.change.has_interval

    @property
    def keeps(self) -> bool:
        """Whether it keeps the limits at the far end of its intervals."""
        return self.has_intervals and self.excess <= 0

    @property
    def has_enough_repeats(self) -> bool:
        """Whether it has as many repeats as it takes to say who pays."""
        return self.change.runs >= ENOUGH_REPEATS

    @property
    def meets(self) -> bool:
        """Whether it may be recommended."""
        return self.keeps and self.is_useful and self.costs_no_more and self.has_enough_repeats


@dataclass(frozen=True)
class Choice:
    """What comes of choosing.

    Parameters
    ----------
    outcome : str
        ``"chosen"`` (one is better than all others), ``"alike"`` (no difference between several is clear),
        ``"none"`` (no candidate keeps the limits), ``"useless"`` (none that does tells people apart),
        ``"no-model"`` (not even the unprotected model does), ``"few-repeats"``, ``"too-wide"``, ``"too-few"``
        (people), ``"no-candidates"`` (the study has none within the limit of epsilon), or ``"no-intervals"``.
    candidates : tuple of Candidate
        In the study's order, those with several repeats.
    picked : Candidate, optional
        The one that is recommended; with ``"too-wide"`` the one that would be.
    alike : tuple of Candidate
        Those of its epsilon that cannot be told apart, itself among them; none where it is singled out.
    equal : tuple of Candidate
        Those that may be recommended and cannot be told from the one that is.
    level : float
        Of each interval.
    """

    outcome: str
    candidates: tuple[Candidate, ...] = ()
    picked: Candidate | None = None
    alike: tuple[Candidate, ...] = ()
    equal: tuple[Candidate, ...] = ()
    level: float = 0.95

    @property
    def chosen(self) -> Candidate | None:
        """The one that is singled out."""
        return self.picked if self.outcome == "chosen" else None

    @property
    def beside(self) -> tuple[Candidate, ...]:
        """The other candidates at the epsilon of the one that is recommended."""
        if self.picked is None:
            return ()
        epsilon = self.picked.setting.epsilon
        return tuple(
            each for each in self.candidates if each.setting.epsilon == epsilon and each is not self.picked
        )


def choose(results: ResultData, limits: Limits, *, level: float = 0.95) -> Choice:
    """Return the setting to use, if one can be named; see the module for the rule."""
    within = [
        each
        for each in full_settings(results)
        if limits.epsilon is None or (each.epsilon is not None and each.epsilon <= limits.epsilon)
    ]
    strict = 1 - (1 - level) / (3 * max(1, len(within)))
    if not within:
        return Choice("no-candidates", level=strict)
    reading = CollectReading(results, within[0])
    if len(reading.judged) < 2:
        return Choice("too-few", level=strict)
    judged = [_candidate(reading, each, limits, level=strict) for each in within]
    candidates = tuple(each for each in judged if each.change.runs > 1 and each.gap.runs > 1)
    refused = _nothing_works(reading, candidates)
    if not refused and not limits.are_set:
        candidates = _as_cheap(reading, candidates, level=level)
    fitting = [each for each in candidates if each.meets]
    if refused or not fitting:
        return Choice(refused or "none", candidates, level=strict)
    return _among(reading, candidates, fitting, level=level, strict=strict)


def _nothing_works(reading: CollectReading, candidates: tuple[Candidate, ...]) -> str:
    """Return why no candidate can be judged, if so; an empty text if one can."""
    if not candidates:
        return "no-intervals"
    if not any(each.has_enough_repeats for each in candidates):
        return "few-repeats"
    if not reading.is_useful(BASELINE):
        return "no-model"
    if not any(each.is_useful for each in candidates):
        return "useless"
    return "" if any(each.has_intervals for each in candidates) else "no-intervals"


def _among(
    reading: CollectReading,
    candidates: tuple[Candidate, ...],
    fitting: Sequence[Candidate],
    *,
    level: float,
    strict: float,
) -> Choice:
    """Return the choice among those of the smallest epsilon that fits."""
    epsilon = min(each.setting.epsilon for each in fitting if each.setting.epsilon is not None)
    beside = [each for each in candidates if each.setting.epsilon == epsilon and not each.breaks]
    (gap, gap_known), (accuracy, accuracy_known) = (
        _signs(reading, beside, name, level=strict) for name in (GAP, ACCURACY)
    )
    meets = np.array([each.meets for each in beside])
    best = _unbeaten((gap < 0) | ((gap == 0) & (accuracy > 0)), meets)
    same = (gap == 0) & (accuracy == 0)
    alike = best | (~meets & same[:, best].any(axis=1))
    named = tuple(each for each, is_named in zip(beside, alike, strict=True) if is_named)
    schema = reading.results.facts.schema
    picked = min(
        (each for each in named if each.meets),
        key=lambda each: (message_bits(each.setting, schema), each.setting.mechanism == OPTIMAL),
    )
    if _says_nothing(reading, picked.setting, level=level):
        return Choice("too-wide", candidates, picked, named, level=strict)
    if len(named) == 1:
        return Choice("chosen", candidates, picked, level=strict)
    as_good = (same & gap_known & accuracy_known)[beside.index(picked)] & meets
    equal = [each for each, is_equal in zip(beside, as_good, strict=True) if is_equal and each is not picked]
    return Choice("alike", candidates, picked, named, tuple(equal), strict)


def _as_cheap(
    reading: CollectReading, candidates: tuple[Candidate, ...], *, level: float
) -> tuple[Candidate, ...]:
    """Return the candidates with whether each costs no more than the largest epsilon of a useful one."""
    largest = max(each.setting.epsilon or 0 for each in candidates if each.is_useful)
    series: dict[tuple[str, str], list[Candidate]] = {}
    for each in sorted(candidates, key=lambda each: -(each.setting.epsilon or 0)):
        if each.setting.epsilon is not None and each.setting.epsilon <= largest:
            series.setdefault((protocol_name(each.setting), way_name(each.setting)), []).append(each)
    strict = 1 - (1 - level) / (2 * max(1, len(series)))
    judged = {each.setting: replace(each, costs_no_more=False) for each in candidates}
    for first, *smaller in series.values():
        is_cheap = first.setting.epsilon == largest and first.is_useful
        judged[first.setting] = replace(first, costs_no_more=is_cheap)
        for each in smaller:
            accuracy, gap = (
                paired(reading, each.setting, first.setting, name, level=strict) for name in (ACCURACY, GAP)
            )
            worse = clearly(accuracy, -1) or clearly(gap, 1) or not each.is_useful
            is_cheap = is_cheap and not worse and accuracy.low is not None and accuracy.low >= -LITTLE
            judged[each.setting] = replace(each, costs_no_more=is_cheap, against_largest=accuracy)
    return tuple(judged[each.setting] for each in candidates)


def paired(
    reading: CollectReading, setting: Setting, other: Setting, measure: str, *, level: float
) -> Estimated:
    """Return by how much a measure of a setting is above that of another, within repeats."""
    runs = reading.runs(setting, measure) - reading.runs(other, measure)
    return reading.tested(runs, within=CHANGE, level=level, spread=reading.task.measure(measure).spread)


def _says_nothing(reading: CollectReading, setting: Setting, *, level: float) -> bool:
    """Return whether an interval of a setting is so long that it says nothing."""
    gap = _alone(reading, setting, GAP, level=level)
    changed = paired(reading, setting, BASELINE, ACCURACY, level=level)
    return any(
        found.low is not None and found.high is not None and found.high - found.low > SAYS_NOTHING
        for found in (gap, changed)
    )


def _alone(reading: CollectReading, setting: Setting, measure: str, *, level: float) -> Estimated:
    known = reading.task.measure(measure)
    return reading.tested(
        reading.runs(setting, measure), within=known.limits, level=level, spread=known.spread
    )


def _signs(
    reading: CollectReading, candidates: Sequence[Candidate], measure: str, *, level: float
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return 1 where the candidate of a row is clearly above that of a column, -1 where below, else 0.

    The second array says where there is an interval of the difference.
    """
    runs = np.array([reading.runs(each.setting, measure) for each in candidates])
    spread = reading.task.measure(measure).spread
    found = means(runs[:, None] - runs[None], level=level, spread=spread)
    return (found.low > 0).astype(np.intp) - (found.high < 0), np.isfinite(found.low)


def _unbeaten(beats: NDArray[np.bool_], meets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of those that meet the limits beats all others of them.

    If none does, those that no other of them beats; in a circle, where each is beaten, all of them.
    """
    beats = beats & meets[:, None] & meets[None]
    winner = meets & (beats.sum(axis=1) == meets.sum() - 1)
    if winner.any():
        return np.asarray(winner)
    unbeaten = meets & ~beats.any(axis=0)
    return np.asarray(unbeaten if unbeaten.any() else meets)


def message_bits(setting: Setting, schema: Schema) -> int:
    """Return how many bits a person sends.

    With the split ``"sample"`` people send one column each: the largest counts.

    >>> from fractions import Fraction
    >>> import evenhand as eh
    >>> from evenhand.study.tasks.shared.report_settings import report_setting
    >>> schema = eh.datasets.load("causal", n=10).schema
    >>> message_bits(report_setting("oue", Fraction(1), "uniform", "independent"), schema)
    7
    >>> message_bits(report_setting("grr", Fraction(1), strategy="combined"), schema)
    4
    """
    bits = [protocol.bits_per_report for protocol in strategy_of(setting, schema).senders]
    return max(bits) if setting.option("split") == "sample" else sum(bits)


def _candidate(reading: CollectReading, setting: Setting, limits: Limits, *, level: float) -> Candidate:
    gap = _alone(reading, setting, GAP, level=level)
    changed = paired(reading, setting, BASELINE, ACCURACY, level=level)
    far_gap = gap.value if gap.high is None else gap.high
    far_loss = -(changed.value if changed.low is None else changed.low)
    near_gap, near_loss = gap.low or 0.0, -(changed.high or 0.0)
    wide = limits.max_gap is not None and near_gap > limits.max_gap
    costly = limits.max_accuracy_loss is not None and near_loss > limits.max_accuracy_loss
    return Candidate(
        setting,
        gap,
        changed,
        gap_excess=0.0 if limits.max_gap is None else far_gap - limits.max_gap,
        loss_excess=0.0 if limits.max_accuracy_loss is None else far_loss - limits.max_accuracy_loss,
        breaks=wide or costly,
        is_useful=reading.is_useful(setting),
    )
