r"""A result for classes of entities, small and large ones, or for groups of people.

Noise is added to entities, but people pay. Here every person of an entity has an equal part in what happens
to it. So a group pays more per head than another where its people live in the entities that lose.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._notebook import aligned, html_table
from evenhand.decide.result.figures import BANNER, EntityFigures, money_of
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.table.frames import Backend

    Values = NDArray[np.float64]

_MOST_BINS = 1_000


class _BannerTable:
    """A table with one row for each class of entities, or group of people, under the banner."""

    banner: str

    @property
    def _parts(self) -> tuple[Any, ...]:
        """The classes or the groups."""
        raise NotImplementedError

    def _rows(self) -> list[list[str]]:
        """Return the cells as texts, the header first."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._parts)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each class or group; the banner is a column."""
        from evenhand.table.frames import make_frame  # noqa: PLC0415 - starts pyarrow

        names = [column.name for column in fields(self._parts[0])] if self._parts else []
        columns = {name: [getattr(part, name) for part in self._parts] for name in names}
        known = {name: values for name, values in columns.items() if values[0] is not None}
        return make_frame(known | {"banner": [self.banner] * len(self)}, backend=backend)

    def __str__(self) -> str:
        return "\n".join([self.banner, "", *aligned(self._rows())])

    def _repr_html_(self) -> str:
        banner = f'<p role="note"><strong>{escape(self.banner)}</strong></p>'
        return f"<div>{banner}{html_table(self._rows())}</div>"


@dataclass(frozen=True)
class EntityClass:
    """Some entities and what noise does to them on average.

    Parameters
    ----------
    label : str
        Which entities.
    entities : int
        How many.
    mean_truth : float
        Their average true share, or the part of them for which the rule holds.
    mean_bias : float
        Their average bias.
    mean_error : float
        Their average absolute bias; for a rule, their average probability of flipping.
    greatest_error : float
        The greatest absolute bias among them.
    total_bias : float
        The sum of their biases: for shares, the part of the budget that moves to them.
    money : float or None
        `total_bias` in money; None without a budget.
    standard_error : float or None
        That of `mean_bias`; an upper limit where the entities share noise. None where exact.
    """

    label: str
    entities: int
    mean_truth: float
    mean_bias: float
    mean_error: float
    greatest_error: float
    total_bias: float
    money: float | None
    standard_error: float | None


@dataclass(frozen=True)
class Breakdown(_BannerTable):
    """The classes of a result, see :meth:`~evenhand.decide.result.decided.Decided.by`.

    Parameters
    ----------
    what : str
        What the classes are made of.
    kind : {"rule", "allotment"}
        What was decided.
    classes : tuple of EntityClass
        The classes that hold entities, in order.
    """

    what: str
    kind: Literal["rule", "allotment"]
    classes: tuple[EntityClass, ...]
    banner: str = BANNER

    @property
    def _parts(self) -> tuple[EntityClass, ...]:
        return self.classes

    def _rows(self) -> list[list[str]]:
        flips = self.kind == "rule"
        heads = (
            ["true yes", "mean flip", "greatest flip"] if flips else ["mean share", "mean bias", "greatest"]
        )
        money = [] if flips or not self.classes or self.classes[0].money is None else ["money"]
        rows = [[self.what, "entities", *heads, *money]]
        for part in self.classes:
            middle = part.mean_error if flips else part.mean_bias
            numbers = [f"{value:.4g}" for value in (part.mean_truth, middle, part.greatest_error)]
            rows.append(
                [part.label, f"{part.entities:,}", *numbers, *([f"{part.money:,.0f}"] if money else [])]
            )
        return rows


def break_down(
    decided: EntityFigures, what: str | Sequence[Any], *, bins: int | Sequence[float] = 5
) -> Breakdown:
    """Return the classes of a result; see :meth:`~evenhand.decide.result.decided.Decided.by`."""
    if isinstance(what, str):
        labels, places = _bin_entities(_counts(decided, what), bins)
        named = what
    else:
        labels, places = _label_entities(what, len(decided))
        named = "label"
    inside = [(label, places == number) for number, label in enumerate(labels)]
    classes = tuple(_summarize_class(decided, label, which) for label, which in inside if which.any())
    return Breakdown(visible(named), decided.kind, classes)


def _counts(decided: EntityFigures, what: str) -> NDArray[Any]:
    if what in decided.counts:
        return decided.counts[what]
    if what == "size" and decided.counts:
        return decided.sizes
    listed = ", ".join(f"'{name}'" for name in ("size", "group", *decided.counts))
    must_be = f"one of {listed}, or one label for each entity"
    raise InvalidParameterError("what", owner="Decided.by", must_be=must_be, got=what)


def _bin_entities(sizes: NDArray[Any], bins: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels of the classes and the class of each entity."""
    number = int(bins) if isinstance(bins, int | np.integer) and not isinstance(bins, bool) else 0
    if 1 <= number <= _MOST_BINS:
        ranks = (np.arange(1, number) * len(sizes)) // number
        starts = np.unique(np.sort(sizes)[ranks]) if len(sizes) else np.zeros(0)
    else:
        starts = _starts(bins)
    places = np.searchsorted(starts, sizes, side="right").astype(np.int64)
    labels = []
    for place in range(len(starts) + 1):
        inside = sizes[places == place]
        low, high = (f"{end:,}" for end in (inside.min(), inside.max())) if inside.size else ("", "")
        labels.append(low if low == high else f"{low} to {high}")
    return labels, places


def _starts(bins: Any) -> NDArray[np.float64]:
    array = np.asarray(bins if isinstance(bins, list | tuple | np.ndarray) else [])
    good = array.ndim == 1 and array.size and array.dtype.kind in "fiu" and bool((np.diff(array) > 0).all())
    if not good or not np.isfinite(array).all():
        must_be = f"a whole number from 1 to {_MOST_BINS}, or rising numbers at which classes begin"
        raise InvalidParameterError("bins", owner="Decided.by", must_be=must_be, got="something else")
    return array.astype(np.float64)


def _label_entities(what: Sequence[Any], size: int) -> tuple[list[str], NDArray[np.int64]]:
    texts = [str(label) for label in what]
    if len(texts) != size:
        must_be = "one label for each entity"
        raise InvalidParameterError("what", owner="Decided.by", must_be=must_be, got="another number of them")
    order = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [visible(text) for text in order], np.array([order[text] for text in texts], dtype=np.int64)


def _summarize_class(decided: EntityFigures, label: str, inside: NDArray[np.bool_]) -> EntityClass:
    number = int(inside.sum())
    bias, errors = decided.bias[inside], decided.standard_error
    total = float(bias.sum())
    spread = None if errors is None else error_of_sum(errors[inside], coupled=decided.coupled) / number
    return EntityClass(
        label=label,
        entities=number,
        mean_truth=float(decided.truth[inside].mean()),
        mean_bias=total / number,
        mean_error=float(np.abs(bias).mean()),
        greatest_error=float(np.abs(bias).max()),
        total_bias=total,
        money=None if decided.budget is None else total * decided.budget,
        standard_error=spread,
    )


@dataclass(frozen=True)
class GroupGain:
    """Hold what one group of people gains or loses on average.

    For an allotment the amounts are money (or parts of the whole, without a budget); for a rule they are
    numbers of people. What does not apply is None.

    Parameters
    ----------
    group : str
        Which people.
    people : float
        How many.
    due : float
        Allotment: what they get together on the true counts. Rule: how many live where it truly holds.
    gain : float
        Allotment: what they get more (above 0) or less, together. Rule: wrongly granted less wrongly refused.
    gain_per_head : float
        The gain of one of them on average; NaN for a group of nobody.
    refused, granted : float or None
        Rule: how many are expected to be refused, or granted, wrongly.
    standard_error : float or None
        That of the gain; an upper limit where entities share noise. None where exact.
    error_bound : float or None
        How far an exact gain may be off; None where no bound is proved.
    """

    group: str
    people: float
    due: float
    gain: float
    gain_per_head: float
    refused: float | None = None
    granted: float | None = None
    standard_error: float | None = None
    error_bound: float | None = None


@dataclass(frozen=True)
class GroupShares(_BannerTable):
    """Hold what each group gains or loses; made by :func:`group_shares`.

    Parameters
    ----------
    kind : {"rule", "allotment"}
        What was decided.
    groups : tuple of GroupGain
        The groups, in the order they were given.
    in_money : bool
        Whether amounts are money, rather than parts of the whole or people.
    nobody : float
        Gain of the entities in which nobody of any group lives.
    """

    kind: Literal["rule", "allotment"]
    groups: tuple[GroupGain, ...]
    in_money: bool
    nobody: float = 0.0
    banner: str = BANNER

    @property
    def _parts(self) -> tuple[GroupGain, ...]:
        return self.groups

    def __getitem__(self, group: str) -> GroupGain:
        for part in self.groups:
            if part.group == group:
                return part
        raise UnknownNameError("Group", group, [part.group for part in self.groups])

    @property
    def gap(self) -> float:
        """The greatest gain per head of a group minus the least; NaN with fewer than one group of people."""
        heads = np.array([part.gain_per_head for part in self.groups if part.people > 0])
        return float(np.ptp(heads)) if heads.size else float("nan")

    def _rows(self) -> list[list[str]]:
        if self.kind == "rule":
            rows = [["group", "people", "entitled", "wrongly refused", "wrongly granted", "gain per head"]]
            return rows + [
                [
                    visible(part.group),
                    *(f"{value or 0:,.0f}" for value in (part.people, part.due)),
                    *(f"{value or 0:,.1f}" for value in (part.refused, part.granted)),
                    f"{part.gain_per_head:+.4f}",
                ]
                for part in self.groups
            ]
        form = "{:,.2f}" if self.in_money else "{:.3e}"
        sign = "{:+,.4f}" if self.in_money else "{:+.3e}"
        rows = [["group", "people", "due", "gain", "gain per head"]]
        return rows + [
            [
                visible(part.group),
                f"{part.people:,.0f}",
                form.format(part.due),
                form.format(part.gain),
                sign.format(part.gain_per_head),
            ]
            for part in self.groups
        ]


def group_shares(decided: EntityFigures, *, budget: float | None = None) -> GroupShares:
    r"""Return what each group of people gains or loses, from the populations the entities carry.

    With :math:`n_{ig}` people of group :math:`g` in entity :math:`i`, and :math:`n_i` people in all:

    .. math:: G_g = M \sum_i B_i \frac{n_{ig}}{n_i}, \qquad
              R_g = \sum_{i \text{ holds}} n_{ig} \Pr[\text{flip}_i], \qquad
              W_g = \sum_{i \text{ does not}} n_{ig} \Pr[\text{flip}_i]

    are the money :math:`G_g` that a group gains from a budget :math:`M`, and the people :math:`R_g` wrongly
    refused and :math:`W_g` wrongly granted by a rule. The groups must not overlap and should cover everybody
    who has a part in what the entity gets: a district's money is divided among all people counted in it.

    Parameters
    ----------
    decided : Decided
        A result whose entities carry populations.
    budget : float, optional
        What is divided; that of the allotment by default. Without any, gains are parts of the whole.

    Examples
    --------
    >>> from evenhand.decide.result.decided import Decided
    >>> decided = Decided(
    ...     kind="rule", problem="x >= 10", noise="made up", names=["North", "South"], truth=[True, False],
    ...     bias=[-0.25, 0.1], variance=[0.1875, 0.09], method="made up",
    ...     populations={"young": [40, 100], "old": [60, 20]},
    ... )
    >>> for gain in group_shares(decided).groups:
    ...     print(gain.group, gain.refused, gain.granted)
    young 10.0 10.0
    old 15.0 2.0
    """
    if not decided.populations:
        hint = "name the columns of people by group when the entities are read."
        must_be = "a result whose entities carry populations by group"
        raise InvalidParameterError(
            "decided", owner="group_shares", must_be=must_be, got="one without", hint=hint
        )
    people = np.stack([np.asarray(column, dtype=np.float64) for column in decided.populations.values()])
    groups = list(decided.populations)
    if decided.kind == "rule":
        gains = [_people_gain(decided, name, row) for name, row in zip(groups, people, strict=True)]
        return GroupShares("rule", tuple(gains), in_money=False)
    chosen = decided.budget if budget is None else budget
    money = 1.0 if chosen is None else money_of(chosen, owner="group_shares")
    gains = [
        _money_gain(decided, name, row, part, money)
        for name, row, part in zip(groups, people, parts_of_groups(people), strict=True)
    ]
    nobody = float(decided.bias[people.sum(axis=0) <= 0].sum() * money)
    return GroupShares("allotment", tuple(gains), in_money=chosen is not None, nobody=nobody)


def parts_of_groups(people: Values) -> Values:
    """Return the part of what an entity gets that each group has, in rows; 0 where nobody lives."""
    total = people.sum(axis=0)
    parts: Values = np.divide(people, total, out=np.zeros_like(people), where=total > 0)
    return parts


def error_of_sum(errors: Values, *, coupled: bool) -> float:
    """Return the standard error of a sum from those of its parts; an upper limit where they share noise."""
    return float(errors.sum() if coupled else np.sqrt((errors**2).sum()))


def _money_gain(decided: EntityFigures, group: str, people: Values, part: Values, money: float) -> GroupGain:
    gain, due = (float((each * part).sum()) * money for each in (decided.bias, decided.truth))
    return _group_gain(decided, group, people, part * money, due=due, gain=gain)


def _people_gain(decided: EntityFigures, group: str, people: Values) -> GroupGain:
    holds = decided.truth
    refused = float((decided.flip[holds] * people[holds]).sum())
    granted = float((decided.flip[~holds] * people[~holds]).sum())
    due, wrong = float(people[holds].sum()), {"refused": refused, "granted": granted}
    return _group_gain(decided, group, people, people, due=due, gain=granted - refused, **wrong)


def _group_gain(
    decided: EntityFigures, group: str, people: Values, weights: Values, *, gain: float, **amounts: float
) -> GroupGain:
    """Return the gain of a group, with the errors of a sum of biases with these weights."""
    heads = float(people.sum())
    return GroupGain(
        group=group,
        people=heads,
        gain=gain,
        gain_per_head=gain / heads if heads > 0 else float("nan"),
        standard_error=_spread(decided, weights),
        error_bound=_bound(decided, weights),
        **amounts,
    )


def _spread(decided: EntityFigures, weights: Values) -> float | None:
    """Return the standard error of a weighted sum of biases, or what it is at most."""
    if decided.standard_error is None:
        return None
    return error_of_sum(np.abs(weights) * decided.standard_error, coupled=decided.coupled)


def _bound(decided: EntityFigures, weights: Values) -> float | None:
    if decided.standard_error is not None or decided.error_bound is None:
        return None
    bound = float(np.abs(weights) @ decided.error_bound)
    return bound if np.isfinite(bound) else None
