"""What charts draw: estimates with their intervals, in the words and order in which they are shown."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from evenhand.report.language import fixed_word

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


class Stage(NamedTuple):
    """What a group has after a step: its value and limits on the axis, NaN where there are none.

    `words` tell the change, `shown` the value.
    """

    value: float
    low: float
    high: float
    is_harm: bool
    words: str
    shown: str


class EffectRow(NamedTuple):
    """A group: what is due to it, what it has after, and with a remedy. `is_few` forbids a judgement."""

    label: str
    note: str
    due: float
    due_shown: str
    after: Stage
    remedy: Stage | None = None
    is_few: bool = False


class EffectPanel(NamedTuple):
    """One effect on all groups, in the order in which they are drawn.

    `names` are those of bar, dot and diamond. `most` is the largest value there can be. `matters` is the
    least amount that matters, 0 where it differs; `is_more_harm` is None where either way hurts.
    """

    title: str
    unit: str
    names: tuple[str, str, str]
    rows: tuple[EffectRow, ...]
    is_count: bool = False
    most: float = math.inf
    matters: float = 0.0
    is_more_harm: bool | None = None
    rest: str = ""
    before_number: str = ""
    after_number: str = ""


class Lacking(NamedTuple):
    """What the worst-off lack at each epsilon under one option, with limits at the page's epsilon.

    `role` is "page" for the page's own method, "recommended", or "other".
    """

    name: str
    role: Literal["page", "recommended", "other"]
    epsilons: Sequence[float]
    lacks: Sequence[float]
    low: float = math.nan
    high: float = math.nan


class LackCurve(NamedTuple):
    """The lines, the page's epsilon, and the least amount that matters with its words."""

    title: str
    unit: str
    lines: Sequence[Lacking]
    chosen: float
    matters: float
    matters_words: str
    alt: str
