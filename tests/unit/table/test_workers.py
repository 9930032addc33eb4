"""Pieces of a file in several threads: results in order, errors in place, short files without threads."""

import threading

import pytest

from evenhand.table import workers
from evenhand.table.workers import map_in_order, read_ahead


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    hands = [0.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: hands[0])
    return hands


def _is_caller(_item):
    return threading.current_thread() is threading.main_thread()


@pytest.mark.parametrize("threads_after", [0.0, 0.001, 60.0])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_stand_in_the_order_of_the_items(threads_after, count):
    items = read_ahead(iter(range(50)), thread_after=threads_after)

    assert [3 * item for item in range(50)] == list(
        map_in_order(lambda item: 3 * item, items, count, threads_after=threads_after)
    )


def test_a_short_file_is_done_without_threads(clock):
    """Threads of a file of a tenth of a second cost more than they bring."""
    assert list(map_in_order(_is_caller, range(9), 2, threads_after=1.0)) == [True] * 9


def test_threads_start_when_the_time_is_over(clock):
    """Otherwise a long file would have one core of many."""
    results = map_in_order(_is_caller, range(9), 2, threads_after=1.0)
    first = [next(results), next(results)]
    clock[0] = 1.0

    assert first == [True, True]
    assert list(results) == [False] * 7


def test_threads_start_at_once_for_whole_files():
    """The first of two long files must not be done before the second begins."""
    assert list(map_in_order(_is_caller, range(3), 2)) == [False] * 3


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_items_are_taken_ahead_by_another_thread_after_the_time(clock, seconds):
    items = read_ahead(map(_is_caller, range(4)), thread_after=1.0)
    first = next(items)
    clock[0] = seconds
    rest = list(items)

    assert first
    assert [seconds == 0.0] * 3 == rest


@pytest.mark.parametrize("threads_after", [0.0, 60.0])
def test_an_error_comes_at_its_place_and_nothing_is_begun_after_it(threads_after):
    begun = []

    def work(item):
        begun.append(item)
        if item == 3:
            raise ValueError("3")
        return item

    results = map_in_order(work, range(100), 2, threads_after=threads_after)

    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="3"):
        next(results)
    assert len(begun) <= 7
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("evenhand")]
