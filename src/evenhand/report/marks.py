"""What charts draw: estimates with their intervals, in the words and order in which they are shown."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from evenhand.report.language import fixed_word, money_in_language

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; without one, `low` and `high` are None."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def is_finite(self) -> bool:
        """Whether the value can be drawn."""
        return math.isfinite(self.value)

    @property
    def ends(self) -> tuple[float, ...]:
        """The value and the ends of its interval, as far as they can be drawn."""
        known = (self.value, self.low, self.high)
        return tuple(end for end in known if end is not None and math.isfinite(end))

    def span(self, times: float = 1.0) -> tuple[float, float] | None:
        """Return the interval in the unit of an axis, or None if there is none to draw."""
        low, high = self.low, self.high
        if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
            return None
        return low * times, high * times


@dataclass(frozen=True)
class Axis:
    """An axis: its name, its unit, and by what values are multiplied to have that unit."""

    title: str
    unit: str = ""
    times: float = 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values it may lie: shares in percent, and their differences, have ends.

        >>> Axis("accuracy", "%", 100.0).limits, Axis("loss").limits
        ((-100.0, 100.0), (-inf, inf))
        """
        is_share = self.times == 100 and self.unit.startswith(("%", fixed_word("form.points")))
        return (-100.0, 100.0) if is_share else (-math.inf, math.inf)

    def heading(self, *, cut: bool = False) -> str:
        """Return its title in one line, with its unit and whether it is cut."""
        unit = f", {self.unit}" if self.unit else ""
        end = f" ({fixed_word('chart.axis_cut')})" if cut else ""
        return f"{self.title}{unit}{end}"

    def column(self, *, otherwise: str) -> str:
        """Return a name of small letters, figures and underscores for its values.

        >>> Axis("selection gap", "points", 100).column(otherwise="y")
        'selection_gap_points'
        >>> Axis("精度").column(otherwise="y")
        'y'
        """
        words = f"{self.title} {self.unit}".lower().replace("%", " percent ")
        return "_".join(re.findall(r"[a-z0-9]+", words))[:60] or otherwise


@dataclass(frozen=True)
class Point:
    """One setting of a frontier.

    Parameters
    ----------
    label : str
    epsilon : float, optional
        None for the unprotected result.
    shape : str
        What its shape stands for, such as the split.
    x, y : Estimate
    undominated : bool
        Whether no other setting is better in both, as the study judged it.
    """

    label: str
    epsilon: float | None
    shape: str
    x: Estimate
    y: Estimate
    undominated: bool = False


@dataclass(frozen=True)
class Line:
    """Estimates of one protocol against epsilon."""

    label: str
    epsilons: Sequence[float]
    estimates: Sequence[Estimate]


@dataclass(frozen=True)
class Panel:
    """One small multiple: a measure in one row, such as a split, with its unprotected value."""

    row: str
    axis: Axis
    lines: Sequence[Line]
    baseline: Estimate | None = None


@dataclass(frozen=True)
class Bar:
    """A bar from zero."""

    label: str
    estimate: Estimate
    strong: bool = False


@dataclass(frozen=True)
class Moment:
    """A sum from some time on.

    Parameters
    ----------
    at : float
        Seconds since 1970, in UTC.
    value : float
        The sum, in the unit of its axis.
    tip : str
    kind : str
        What happened: ``""`` for an ordinary step, else the key of a mark.
    """

    at: float
    value: float
    tip: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Sums:
    """A sum over time and the limit that it must not pass.

    Parameters
    ----------
    axis : Axis
    moments : sequence of Moment
        In order; the first says where the sum begins.
    limit : float
        In the unit of the axis.
    limit_label : str
    breaks : sequence of (float, str)
        When the sum begins anew, in seconds since 1970, and what begins then.
    """

    axis: Axis
    moments: Sequence[Moment]
    limit: float
    limit_label: str
    breaks: Sequence[tuple[float, str]] = ()


Scale = Literal["of 1,000", "people", "dollars", "percent", "of 100 releases"]
LARGEST = {"of 1,000": 1000.0, "of 100 releases": 100.0}
"""The largest value there can be on a scale that has one."""


class Stage(NamedTuple):
    """What a group has after a step: its value and limits on the axis, NaN where there are none.

    `words` tell its change, such as "121 fewer hired"; `shown` is the value, `change` and `limits` are the
    change and its limits, as a table writes them.
    """

    value: float
    low: float
    high: float
    is_harm: bool
    words: str
    shown: str
    change: str = ""
    limits: str = ""


class EffectRow(NamedTuple):
    """A group: what is due to it (the upright bar), what it has after (the dot), and with a remedy.

    `state` is "few" where the group cannot be judged: it is drawn hollow and without numbers.
    """

    group: str
    label: str
    note: str
    due: float
    due_shown: str
    after: Stage
    remedy: Stage | None
    state: Literal["harm", "calm", "few"]

    @property
    def is_few(self) -> bool:
        """Whether there are too few people to judge the group."""
        return self.state == "few"


class EffectPanel(NamedTuple):
    """One effect on all groups, the most harmed first.

    `names` are those of bar, dot and diamond; the last is empty without a remedy. `matters` is the least
    amount that matters (0 where it differs between groups); `is_more_harm` is None where either way hurts.
    `rest` tells of the groups that are not drawn.
    """

    effect: str
    title: str
    unit: str
    scale: Scale
    names: tuple[str, str, str]
    lines: tuple[EffectRow, ...]
    matters: float = 0.0
    is_more_harm: bool | None = None
    rest: str = ""
    currency: str = "$"

    @property
    def most(self) -> float:
        """The largest value there can be."""
        return LARGEST.get(self.scale, math.inf)

    def show(self, number: str) -> str:
        """Return a number, which is written already and without its sign, with the currency of money."""
        return money_in_language(number, self.currency) if self.scale == "dollars" else number


class Lacking(NamedTuple):
    """What the worst-off lack at each epsilon under one option, with limits at the page's epsilon.

    `role` is "page" for the page's own method, "recommended", or "other"; `shown` are the lacks as they are
    written; limits are NaN where there are none.
    """

    name: str
    role: Literal["page", "recommended", "other"]
    epsilons: tuple[float, ...]
    lacks: tuple[float, ...]
    low: float
    high: float
    shown: tuple[str, ...] = ()


class LackCurve(NamedTuple):
    """The trade-off over epsilon: its lines, the page's epsilon, and the least amount that matters."""

    title: str
    unit: str
    lines: tuple[Lacking, ...]
    chosen: float
    matters: float
    matters_words: str
    alt: str
