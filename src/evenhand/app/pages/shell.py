"""The one page of the workbench: its frame, which page stands in it, and what its controls do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from htmltools import Tag, TagList, tags
from shiny import reactive, render
from shiny.html_dependencies import jquery_deps, shiny_deps

from evenhand.app.pages import apply, data, home, question, result, run, schema, tutorial
from evenhand.app.pages import help as help_pages
from evenhand.app.pages.address import HOME, Address, help_address
from evenhand.app.pages.glossary import word_list
from evenhand.app.pages.parts import brand, control, error_note, live
from evenhand.app.pages.side import draw_past, draw_steps
from evenhand.app.pages.visit import Problem, Visit, count
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shiny import Inputs, Outputs, Session
    from starlette.requests import Request

    from evenhand.app.state.workbench import Workbench

_STEPS = {"data": data, "schema": schema, "question": question, "run": run, "result": result, "apply": apply}
_ROOMS = (home, *_STEPS.values(), help_pages, tutorial)
_ACTIONS = {name: handler for room in _ROOMS for name, handler in getattr(room, "ACTIONS", {}).items()}
_FAULT = "Something went wrong in the workbench itself. Hint: load the page again; finished runs are kept."


# --- the document ----------------------------------------------------------------------------------


def build_ui(request: Request | None = None) -> Tag:  # noqa: ARG001 - the document is the same for everybody
    """Return the document: a frame that Shiny fills, with no script and no style inside it."""
    return tags.html(
        tags.head(
            tags.meta(charset="utf-8"),
            tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
            tags.meta(name="color-scheme", content="light dark"),
            tags.title("evenhand"),
            tags.link(rel="icon", href="static/icon.svg", type="image/svg+xml"),
            tags.link(rel="stylesheet", href="static/report.css"),
            tags.link(rel="stylesheet", href="static/app.css"),
            jquery_deps(),
            shiny_deps(include_css=False)[0],
            tags.script(src="static/app.js", defer=""),
        ),
        tags.body(
            tags.a("Skip to the page", class_="skip", href="#main"),
            tags.div(tags.span(id="banner-words"), id="banner", class_="banner", role="alert", hidden=""),
            tags.div(_side(), tags.main(_opening(), id="main", class_="main", tabindex="-1"), class_="app"),
            tags.div(id="tip", hidden="", role="presentation"),
            word_list(),
        ),
        lang="en",
    )


def _opening() -> Tag:
    start = tags.p("Opening the workbench.", class_="waiting", role="status")
    return tags.div(live("page", "div", start), class_="inner")


def _side() -> Tag:
    learn = {"": "Help", "mechanisms": "What each mechanism does", "report": "How to read a report"}
    themes = {"": "as the system", "light": "light", "dark": "dark"}
    return tags.aside(
        brand(HOME),
        tags.a("Help", href=help_address(), class_="phone-help"),
        tags.nav(live("steps"), aria_label="Steps of the study"),
        tags.div(live("past"), class_="group"),
        tags.div(
            tags.h2("Learn"),
            tags.ul(*(tags.li(tags.a(words, href=help_address(page))) for page, words in learn.items())),
            class_="group side-list",
        ),
        tags.div(
            tags.label("Theme", for_="theme"),
            control(
                "select", *(tags.option(words, value=name) for name, words in themes.items()), id="theme"
            ),
            class_="theme",
        ),
        tags.p("Runs on this computer. Nothing you open here leaves it.", class_="local"),
        class_="side",
        aria_label="Workbench",
    )


# --- what stands in it -----------------------------------------------------------------------------


def build_server(workbench: Workbench) -> Callable[[Inputs, Outputs, Session], None]:
    """Return Shiny's server function: what one browser tab shows and does."""

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002, ARG001 - Shiny's names
        visit = Visit(workbench, session)
        order = asyncio.Lock()
        tasks: set[asyncio.Task[None]] = set()

        @render.ui
        def page() -> Tag:
            return draw_page(visit)

        @render.ui
        def steps() -> TagList:
            return draw_steps(visit)

        @render.ui
        def past() -> TagList:
            return draw_past(visit)

        for room in _STEPS.values():
            getattr(room, "add_outputs", lambda _: None)(visit)

        @reactive.effect
        @reactive.event(input.act)
        def _() -> None:
            task = asyncio.create_task(_do_in_order(visit, dict(input.act()), order))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    return server


def draw_page(visit: Visit) -> Tag:
    """Return the page of the address, with what went wrong above it."""
    visit.drawn()
    address = visit.address
    problem = visit.problem()
    try:
        content = _draw(visit, address)
    except EvenhandError as error:
        content = _lost(str(error))
    above = error_note(problem.text, id="problem") if problem and not problem.field else None
    coach = tutorial.draw(visit, address)
    return tags.div(coach, above, content, data_address=str(address))


def _draw(visit: Visit, address: Address) -> TagList:
    if address.place == "help":
        return help_pages.draw(visit, address.page)
    if address.place == "study":
        if address.page not in _STEPS:
            raise EvenhandError(f"There is no step '{address.page[:40]}'. Hint: choose a step on the left.")
        step: TagList = _STEPS[address.page].draw(visit, address.study)
        return step
    return home.draw(visit)


def _lost(text: str) -> TagList:
    return TagList(
        tags.h1("This page cannot be shown"),
        error_note(text),
        tags.div(tags.a("Go to all studies", href=HOME, class_="btn primary"), class_="actions"),
    )


# --- what controls do ------------------------------------------------------------------------------


async def _do_in_order(visit: Visit, event: Mapping[str, Any], order: asyncio.Lock) -> None:
    """Do one action after the other, outside of Shiny's lock, so that other tabs never wait for this one."""
    async with order:
        try:
            await _do(visit, event)
        except EvenhandError as error:
            visit.problem.set(Problem(str(error)))
        except Exception:  # noqa: BLE001 - a person is told one sentence, and the tab goes on
            visit.problem.set(Problem(_FAULT))
        async with reactive.lock():
            await reactive.flush()


async def _do(visit: Visit, event: Mapping[str, Any]) -> None:
    name = str(event.get("do", ""))
    if name == "awake":
        count(visit.drawn)
        return
    handler = _ACTIONS.get(name)
    if handler is not None:
        visit.problem.set(None)
        await handler(visit, event)
