"""The last few answers, so that asking again costs nothing; nothing is ever written to disk."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["Recent"]

Answer = TypeVar("Answer")


class Recent(Generic[Answer]):
    """Keeps the answers that were asked for last; they must be immutable, because everybody gets the same.

    Parameters
    ----------
    size : int
        How many answers are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """Return the answer that belongs to `key`, made by `make` if it is not at hand."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        answer = make()  # without the lock: two threads may do the same work, but none waits for the other
        with self._lock:
            self._answers[key] = answer
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        return answer

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._answers.clear()
