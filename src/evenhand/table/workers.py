"""Work on pieces of a file in several threads, with results in the order of the pieces."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from evenhand._validate import integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")

_END: Any = object()

MOST_WORKERS = 64
_USUAL = 8  # more threads take more memory and wait for one another

SHORT_SECONDS = 0.25
"""For so long one thread does the work on pieces of a file: a short file is done sooner without others."""


def count_workers(workers: int | None, *, owner: str) -> int:
    """Return how many threads work: what was asked for, else one for each core, and eight at most.

    >>> count_workers(3, owner="example")
    3
    """
    if workers is not None:
        return integer("workers", workers, owner=owner, low=1, high=MOST_WORKERS)
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # a system that does not say which cores this process may use
        cores = os.cpu_count() or 1
    return max(1, min(cores, _USUAL))


def map_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, *, threads_after: float = 0.0
) -> Iterator[Result]:
    """Yield what `work` makes of each item, in their order.

    At most one more item than there are workers is on its way, so memory does not depend on how many there
    are. After an error no further item is begun, and all threads have ended when it reaches the caller.
    For the first `threads_after` seconds the caller's own thread works.

    >>> list(map_in_order(str, range(4), workers=2))
    ['0', '1', '2', '3']
    """
    if workers == 1:
        yield from map(work, items)
        return
    items = iter(items)
    yield from map(work, _take_for(items, threads_after))
    waiting: deque[Future[Any]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="evenhand")
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _take_for(items: Iterator[Item], seconds: float) -> Iterator[Item]:
    """Yield items for so many seconds; none for 0 of them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (item := next(items, _END)) is not _END:
        yield item


def read_ahead(items: Iterable[Item], *, most: int = 2, thread_after: float = 0.0) -> Iterator[Item]:
    """Yield items that another thread takes from their iterator, at most `most` of them ahead.

    An error of the iterator reaches the caller at its place; when the caller stops, so does the thread.
    For the first `thread_after` seconds the caller's own thread takes them.

    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
    items = iter(items)
    yield from _take_for(items, thread_after)
    reader = _Reader(items, most)
    reader.start()
    try:
        while (item := reader.take()) is not _END:
            yield item
    finally:
        reader.stop()


class _Reader(threading.Thread):
    """A thread that goes through an iterator, and waits where too many items are ready."""

    def __init__(self, items: Iterable[Any], most: int) -> None:
        super().__init__(name="evenhand reader", daemon=True)
        self._items = items
        self._ready: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(most)
        self._stopped = threading.Event()

    def run(self) -> None:
        try:
            for item in self._items:
                self._put(item, None)
                if self._stopped.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are used
            self._put(_END, error)
        else:
            self._put(_END, None)

    def _put(self, item: Any, error: BaseException | None) -> None:
        while not self._stopped.is_set():
            try:
                self._ready.put((item, error), timeout=0.1)
            except queue.Full:
                continue
            return

    def take(self) -> Any:
        item, error = self._ready.get()
        if error is not None:
            raise error
        return item

    def stop(self) -> None:
        self._stopped.set()
        self.join()
