"""A tab asks the desk again when its question changes, and shows the newest answer alone."""

import asyncio

from shiny import reactive

from evenhand.app.pages import visit
from evenhand.app.pages.visit import Inquiry, flow_function
from evenhand.errors import EvenhandError


class SlowDesk:
    """A desk that answers when it is told to."""

    def __init__(self):
        self.asked = []

    async def ask(self, function, *arguments, **options):
        answer = asyncio.get_running_loop().create_future()
        self.asked.append((arguments, answer))
        return await answer


def read(inquiry, *key):
    with reactive.isolate():
        return inquiry.read(key, *key)


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


def test_an_answer_to_an_older_question_is_not_shown():
    """Somebody who types quickly must not see the estimate of what stood there before."""

    async def ask_twice():
        desk = SlowDesk()
        inquiry = Inquiry(desk, flow_function("question:ask"))
        first = read(inquiry, "study", 1)
        await settle()
        read(inquiry, "study", 2)
        desk.asked[0][1].set_result("old")
        await settle()
        between = read(inquiry, "study", 2)
        desk.asked[1][1].set_result("new")
        await settle()
        return first, between, read(inquiry, "study", 2), [arguments for arguments, _ in desk.asked]

    first, between, last, calls = asyncio.run(ask_twice())

    assert first.waiting
    assert between.value is None
    assert between.waiting
    assert (last.value, last.waiting) == ("new", False)
    assert calls == [("study", 1), ("study", 2)]


def test_the_last_answer_about_a_study_stays_until_the_next_one_comes():
    async def ask_again():
        desk = SlowDesk()
        inquiry = Inquiry(desk, flow_function("question:ask"))
        read(inquiry, "study", 1)
        await settle()
        desk.asked[0][1].set_result("one")
        await settle()
        return read(inquiry, "study", 2), read(inquiry, "other", 2)

    same, other = asyncio.run(ask_again())

    assert (same.value, same.waiting) == ("one", True)
    assert other.value is None


def test_what_the_desk_refuses_is_said():
    async def ask_wrongly():
        desk = SlowDesk()
        inquiry = Inquiry(desk, flow_function("question:ask"))
        read(inquiry, "study")
        await settle()
        desk.asked[0][1].set_exception(EvenhandError("It cannot be. Hint: change it."))
        await settle()
        return read(inquiry, "study")

    assert asyncio.run(ask_wrongly()).error == "It cannot be. Hint: change it."


def test_a_provisional_answer_is_asked_again_until_it_is_final(monkeypatch):
    """Otherwise the page keeps a wide range although the timing has ended meanwhile."""
    monkeypatch.setattr(visit, "_AGAIN_SECONDS", 0.01)

    async def ask_until_known():
        desk = SlowDesk()
        inquiry = Inquiry(desk, flow_function("question:ask"), lambda value: value == "about")
        read(inquiry, "study", 1)
        await settle()
        desk.asked[0][1].set_result("about")
        await settle()
        between = read(inquiry, "study", 1)
        await asyncio.sleep(0.05)
        desk.asked[1][1].set_result("exactly")
        await settle()
        last = read(inquiry, "study", 1)
        await asyncio.sleep(0.05)
        return between, last, len(desk.asked)

    between, last, calls = asyncio.run(ask_until_known())

    assert (between.value, between.waiting) == ("about", False)
    assert (last.value, last.waiting) == ("exactly", False)
    assert calls == 2


def test_another_question_does_not_wait_for_a_provisional_answer():
    async def ask_twice():
        desk = SlowDesk()
        inquiry = Inquiry(desk, flow_function("question:ask"), lambda value: value == "about")
        read(inquiry, "study", 1)
        await settle()
        desk.asked[0][1].set_result("about")
        await settle()
        read(inquiry, "study", 2)
        await asyncio.sleep(0.02)
        return [arguments for arguments, _ in desk.asked]

    assert asyncio.run(ask_twice()) == [("study", 1), ("study", 2)]
