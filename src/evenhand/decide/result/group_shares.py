r"""What each group of people gains or loses, from how many of them live in each entity.

Noise is added to entities, but people pay. Here every person of an entity has an equal part in what happens
to it. So a group pays more per head than another where its people live in the entities that lose.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.decide.result.decided import BANNER, money_of
from evenhand.errors import InvalidParameterError
from evenhand.measure.text_tables import aligned, html_table
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.result.decided import Decided
    from evenhand.table.frames import Backend

    Values = NDArray[np.float64]

__all__ = ["GroupGain", "GroupShares", "group_shares"]


@dataclass(frozen=True)
class GroupGain:
    """What one group of people gains or loses on average.

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
class GroupShares:
    """What each group gains or loses; made by :func:`group_shares`.

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

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, group: str) -> GroupGain:
        from evenhand.errors import UnknownNameError  # noqa: PLC0415 - only to refuse

        for each in self.groups:
            if each.group == group:
                return each
        raise UnknownNameError("Group", group, [each.group for each in self.groups])

    @property
    def gap(self) -> float:
        """The greatest gain per head of a group minus the least; NaN with fewer than one group of people."""
        heads = np.array([each.gain_per_head for each in self.groups if each.people > 0])
        return float(np.ptp(heads)) if heads.size else float("nan")

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each group; the banner is a column."""
        from evenhand.table.frames import make_frame  # noqa: PLC0415 - only when asked for

        names = list(GroupGain.__dataclass_fields__)
        columns = {name: [getattr(each, name) for each in self.groups] for name in names}
        kept = {name: values for name, values in columns.items() if values and values[0] is not None}
        return make_frame(kept | {"banner": [self.banner] * len(self.groups)}, backend=backend)

    def __str__(self) -> str:
        return "\n".join([self.banner, "", *aligned(self._rows())])

    def _repr_html_(self) -> str:
        banner = f'<p role="note"><strong>{escape(self.banner)}</strong></p>'
        return f"<div>{banner}{html_table(self._rows())}</div>"

    def _rows(self) -> list[list[str]]:
        if self.kind == "rule":
            rows = [["group", "people", "entitled", "wrongly refused", "wrongly granted", "gain per head"]]
            return rows + [
                [
                    visible(each.group),
                    *(f"{value or 0:,.0f}" for value in (each.people, each.due)),
                    *(f"{value or 0:,.1f}" for value in (each.refused, each.granted)),
                    f"{each.gain_per_head:+.4f}",
                ]
                for each in self.groups
            ]
        form = "{:,.2f}" if self.in_money else "{:.3e}"
        sign = "{:+,.4f}" if self.in_money else "{:+.3e}"
        rows = [["group", "people", "due", "gain", "gain per head"]]
        return rows + [
            [
                visible(each.group),
                f"{each.people:,.0f}",
                form.format(each.due),
                form.format(each.gain),
                sign.format(each.gain_per_head),
            ]
            for each in self.groups
        ]


def group_shares(decided: Decided, *, budget: float | None = None) -> GroupShares:
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
        What is divided; that of the allotment unless told. Without any, gains are parts of the whole.

    Examples
    --------
    >>> from evenhand.decide.result.decided import Decided
    >>> decided = Decided(
    ...     kind="rule", problem="x >= 10", noise="made up", names=["North", "South"], truth=[True, False],
    ...     bias=[-0.25, 0.1], variance=[0.1875, 0.09], method="made up",
    ...     populations={"young": [40, 100], "old": [60, 20]},
    ... )
    >>> for each in group_shares(decided).groups:
    ...     print(each.group, each.refused, each.granted)
    young 10.0 10.0
    old 15.0 2.0
    """
    if not decided.populations:
        hint = "name the columns of people by group when the entities are read."
        must_be = "a result whose entities carry populations by group"
        raise InvalidParameterError(
            "decided", owner="group_shares", must_be=must_be, got="one without", hint=hint
        )
    people = np.stack([np.asarray(each, dtype=np.float64) for each in decided.populations.values()])
    groups = list(decided.populations)
    if decided.kind == "rule":
        made = [_counted(decided, name, row) for name, row in zip(groups, people, strict=True)]
        return GroupShares("rule", tuple(made), in_money=False)
    given = decided.budget if budget is None else budget
    money = 1.0 if given is None else money_of(given, owner="group_shares")
    total = people.sum(axis=0)
    parts = np.divide(people, total, out=np.zeros_like(people), where=total > 0)
    made = [
        _paid(decided, name, row, part, money) for name, row, part in zip(groups, people, parts, strict=True)
    ]
    nobody = float(decided.bias[total <= 0].sum() * money)
    return GroupShares("allotment", tuple(made), in_money=given is not None, nobody=nobody)


def _paid(decided: Decided, group: str, people: Values, part: Values, money: float) -> GroupGain:
    gain, heads = float(decided.bias @ part) * money, float(people.sum())
    return GroupGain(
        group=group,
        people=heads,
        due=float(decided.truth @ part) * money,
        gain=gain,
        gain_per_head=gain / heads if heads > 0 else float("nan"),
        standard_error=_spread(decided, part * money),
        error_bound=_bound(decided, part * money),
    )


def _counted(decided: Decided, group: str, people: Values) -> GroupGain:
    holds, heads = decided.truth, float(people.sum())
    refused = float(decided.flip[holds] @ people[holds])
    granted = float(decided.flip[~holds] @ people[~holds])
    return GroupGain(
        group=group,
        people=heads,
        due=float(people[holds].sum()),
        gain=granted - refused,
        gain_per_head=(granted - refused) / heads if heads > 0 else float("nan"),
        refused=refused,
        granted=granted,
        standard_error=_spread(decided, people),
        error_bound=_bound(decided, people),
    )


def _spread(decided: Decided, weights: Values) -> float | None:
    """Return the standard error of a weighted sum of biases, or what it is at most."""
    if decided.standard_error is None:
        return None
    each = np.abs(weights) * decided.standard_error
    return float(each.sum()) if decided.coupled else float(np.sqrt((each**2).sum()))


def _bound(decided: Decided, weights: Values) -> float | None:
    if decided.standard_error is not None or decided.error_bound is None:
        return None
    bound = float(np.abs(weights) @ decided.error_bound)
    return bound if np.isfinite(bound) else None
