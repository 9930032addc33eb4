"""What was collected so far, and what it costs a person who was in all of it."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Any

from evenhand.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collect.strategy import Strategy

__all__ = ["Collections"]


class Collections:
    """A count of collections by strategy; it only ever grows.

    Two threads that add at the same time get different numbers.
    """

    def __init__(self) -> None:
        self._kinds: list[tuple[Strategy, tuple[str, ...]]] = []
        self._counts: list[int] = []
        self.simulated = False
        self._lock = Lock()

    def __len__(self) -> int:
        return sum(self._counts)

    def add(self, strategy: Strategy, in_clear: Sequence[str]) -> int:
        """Count a collection, before anything is drawn for it, and return its number, from 0 on."""
        with self._lock:
            number = len(self)
            if not self._kinds or self._kinds[-1][0] is not strategy:
                self._kinds.append((strategy, tuple(in_clear)))
                self._counts.append(0)
            self._counts[-1] += 1
            return number

    @property
    def epsilon(self) -> Fraction:
        """The sum over all collections."""
        kinds = zip(self._kinds, self._counts, strict=True)
        return sum((count * strategy.epsilon for (strategy, _), count in kinds), Fraction(0))

    def total(
        self, *, protects: Sequence[str], in_clear: Sequence[str], beside: Sequence[str] = ()
    ) -> Guarantee:
        """Return what a person is promised who was in every collection.

        Parameters
        ----------
        protects, in_clear : sequence of str
            What the next collection would protect and leave in the clear, for the statement when there was
            none yet.
        beside : sequence of str
            What is in the clear besides the columns.
        """
        if not self._kinds:
            return Guarantee(
                epsilon=0,
                unit="one person",
                trust="local",
                protects=protects,
                in_clear=tuple(dict.fromkeys((*in_clear, *beside))),
                tight=True,
                proof="nothing was collected",
            )
        parts = [
            strategy.guarantee_for(in_clear=tuple(dict.fromkeys((*clear, *beside))))
            for strategy, clear in self._kinds
        ]
        return sum(  # type: ignore[return-value]
            part.as_unit("one person", reports=count) for part, count in zip(parts, self._counts, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())
