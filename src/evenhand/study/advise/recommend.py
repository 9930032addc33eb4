r"""Which setting to use under limits, and when not to say.

**Candidates** are the settings that protect every sensitive column with an epsilon within the limit. One
*meets* the limits if the far end of the interval of its gap, and of its loss of accuracy against the
unprotected runs, is within them; it *breaks* them if a near end is beyond; else it is *open*. Of those that
meet them, the ones with the smallest epsilon are preferred; epsilon is known, so no chance is in this.

Among the settings of that epsilon one *beats* another if its gap is clearly smaller, or if the gaps cannot be
told apart and its accuracy is clearly higher: by paired intervals that leave out no difference. A setting is
recommended only if it meets the limits, beats every other that meets them, and differs clearly in gap or
accuracy from every open one. Without the last, one of several equal settings could be singled out because it
alone, by chance, seems to meet a limit.

**Picking the best of many.** The best of many equal settings looks good by chance. With :math:`m` candidates
and a level of :math:`1 - \alpha`, each interval has the level :math:`1 - \alpha / 3m`. Take a setting that
is the equal of some rival. It differs clearly from it in one of two measures with a chance of at most
:math:`2 \alpha / 3m`. If both keep the limits, the rival seems to break one of two with a chance of at most
:math:`\alpha / 3m`; if both break one, the setting seems to keep it with half of that. Over all candidates
that makes :math:`\alpha` (Bonferroni). So where all settings of an epsilon are equal, one of them is
recommended in at most 5 of 100 studies at the usual level. That none is recommended where one is better
happens more often; more repeats help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact
from evenhand.study.advise.verdicts import full_settings
from evenhand.study.results.estimates import estimate, paired_change
from evenhand.study.results.intervals import means
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated

__all__ = ["Candidate", "Choice", "Limits", "choose", "message_bits"]

GAP, ACCURACY = "sp_gap", "acc"


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


@dataclass(frozen=True)
class Candidate:
    """A setting with what the limits are about.

    Parameters
    ----------
    setting : Setting
    gap : Estimated
        Its gap in selection rates.
    change : Estimated
        The change of accuracy against the unprotected runs, below zero where some is lost.
    gap_excess, loss_excess : float
        How far the far end of the interval is beyond the limit; at most zero where it is met, or not set.
    breaks : bool
        Whether a near end is beyond its limit too.
    """

    setting: Setting
    gap: Estimated
    change: Estimated
    gap_excess: float
    loss_excess: float
    breaks: bool = False

    @property
    def excess(self) -> float:
        """How far it is beyond the limit that it breaks most."""
        return max(self.gap_excess, self.loss_excess)

    @property
    def meets(self) -> bool:
        """Whether it meets the limits at the far end of its intervals."""
        return self.excess <= 0


@dataclass(frozen=True)
class Choice:
    """What comes of choosing.

    Parameters
    ----------
    outcome : str
        ``"chosen"``, ``"alike"`` (candidates cannot be told apart), ``"none"`` (no candidate meets the
        limits), ``"no-candidates"`` (the study has none within the limit of epsilon), or ``"no-intervals"``.
    candidates : tuple of Candidate
        In the study's order, those with intervals.
    chosen : Candidate, optional
    alike : tuple of Candidate
        Those of the preferred epsilon that cannot be told apart.
    level : float
        Of each interval.
    """

    outcome: str
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    alike: tuple[Candidate, ...]
    level: float


def choose(results: ResultData, limits: Limits, *, level: float = 0.95) -> Choice:
    """Return the setting to use, if one can be named; see the module for the rule."""
    within = [
        each
        for each in full_settings(results)
        if limits.epsilon is None or (each.epsilon is not None and each.epsilon <= limits.epsilon)
    ]
    strict = 1 - (1 - level) / (3 * max(1, len(within)))
    if not within:
        return Choice("no-candidates", (), None, (), strict)
    judged = [_candidate(results, each, limits, level=strict) for each in within]
    candidates = tuple(each for each in judged if each.gap.has_interval and each.change.has_interval)
    if not candidates:
        return Choice("no-intervals", (), None, (), strict)
    fitting = [each for each in candidates if each.meets]
    if not fitting:
        return Choice("none", candidates, None, (), strict)
    epsilon = min(each.setting.epsilon for each in fitting if each.setting.epsilon is not None)
    beside = [each for each in candidates if each.setting.epsilon == epsilon and not each.breaks]
    gap, accuracy = (_signs(results, beside, name, level=strict) for name in (GAP, ACCURACY))
    meets = np.array([each.meets for each in beside])
    best = _unbeaten((gap < 0) | ((gap == 0) & (accuracy > 0)), meets)
    same = (gap == 0) & (accuracy == 0)
    alike = best | (~meets & same[:, best].any(axis=1))
    named = tuple(each for each, is_named in zip(beside, alike, strict=True) if is_named)
    if len(named) == 1:
        return Choice("chosen", candidates, named[0], (), strict)
    return Choice("alike", candidates, None, named, strict)


def _signs(
    results: ResultData, candidates: Sequence[Candidate], measure: str, *, level: float
) -> NDArray[np.intp]:
    """Return 1 where the candidate of a row is clearly above that of a column, -1 where below, else 0."""
    arrays = results.arrays
    places = [results.place(each.setting) for each in candidates]
    runs = arrays.of_measures[places, :, arrays.measures.index(measure)]
    spread = results.plan.task.measure(measure).spread
    found = means(runs[:, None] - runs[None], level=level, spread=spread)
    return (found.low > 0).astype(np.intp) - (found.high < 0)


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


def _candidate(results: ResultData, setting: Setting, limits: Limits, *, level: float) -> Candidate:
    gap = estimate(results, setting, GAP, level=level)
    changed = paired_change(results, setting, ACCURACY, level=level)
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
    )
