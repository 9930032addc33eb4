"""Reports of several attributes of each person, kept together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.reports.reports import Reports
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.joint.strategy import Strategy

__all__ = ["JointReports"]


class JointReports:
    """What each person sent about several attributes.

    ``reports["race"]`` gives the reports of one column. Slices, masks and positions take people and give
    joint reports again. The length is the number of people.

    Parameters
    ----------
    sent : sequence of Reports
        What was sent: one item for each column, or a single one where the columns were combined.
    strategy : Strategy
        What made them.
    asked : array of int, optional
        Which column each person was asked, as a position in ``strategy.columns``, where everybody was asked
        only one. An item of `sent` then holds the reports of those who were asked, in order.

    Examples
    --------
    >>> from evenhand.collect.joint.build import strategy_for
    >>> strategy = strategy_for({"gender": 2, "race": 5}, epsilon=1)
    >>> reports = strategy.privatize({"gender": [0, 1, 1], "race": [4, 0, 2]}, rng=7)
    >>> reports
    <3 joint reports of gender, race, simulated>
    >>> reports["race"]
    <3 reports of GRR(k=5, epsilon=0.5), simulated>
    >>> reports[1:]
    <2 joint reports of gender, race, simulated>
    """

    def __init__(
        self, sent: Sequence[Reports], *, strategy: Strategy, asked: npt.NDArray[Any] | None = None
    ) -> None:
        self.sent = strategy.checked_sent(sent, asked)
        self.strategy = strategy
        self.asked = asked

    @property
    def simulated(self) -> bool:
        """Whether any of it was drawn with a seed."""
        return any(part.simulated for part in self.sent)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are reported."""
        return self.strategy.columns

    @cached_property
    def by_column(self) -> dict[str, Reports]:
        """The reports of each column. Where everybody was asked one column: of those who were asked it."""
        return self.strategy.decoded(self.sent)

    @classmethod
    def concat(cls, parts: Sequence[JointReports]) -> JointReports:
        """Return the reports of several batches of one strategy as one."""
        if not parts:
            raise InvalidParameterError(
                "parts", owner="JointReports.concat", must_be="not empty", got="no reports"
            )
        strategy = parts[0].strategy
        own = [strategy.own(part) for part in parts]
        sent = [Reports.concat(each) for each in zip(*(part.sent for part in own), strict=True)]
        asked = [part.asked for part in own if part.asked is not None]
        return cls(sent, strategy=strategy, asked=np.concatenate(asked) if asked else None)

    def to_arrow(self) -> dict[str, Any]:
        """Return the reports of each column as Arrow data, as :meth:`Reports.to_arrow` makes it."""
        return {column: part.to_arrow() for column, part in self.by_column.items()}

    def __len__(self) -> int:
        return len(self.sent[0]) if self.asked is None else len(self.asked)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            if which not in self.columns:
                raise ColumnNotFoundError(which, self.columns, place="among those reported")
            return self.by_column[which]
        if np.ndim(which) == 0 and not isinstance(which, slice):
            raise InvalidParameterError(
                "which",
                owner="JointReports",
                must_be="a column, a slice, a mask or an array of positions",
                got=which,
                hint="reports[3:4] gives the reports of one person.",
            )
        if self.asked is None:
            return JointReports([part[which] for part in self.sent], strategy=self.strategy)
        return self._of_those(which, self.asked)

    def _of_those(self, which: Any, asked: npt.NDArray[Any]) -> JointReports:
        """Take people where each of them is in one item of `sent` only."""
        people = np.arange(len(asked))[which]
        taken = asked[people]
        sent = []
        for position, part in enumerate(self.sent):
            place = np.cumsum(asked == position) - 1
            sent.append(part[place[people[taken == position]]])
        return JointReports(sent, strategy=self.strategy, asked=taken)

    def __repr__(self) -> str:
        kind = ", simulated" if self.simulated else ""
        return f"<{len(self):,} joint reports of {', '.join(self.columns)}{kind}>"
