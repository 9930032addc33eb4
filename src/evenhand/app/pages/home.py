"""The first page: what to do, and past studies to reopen, rename or delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, TagList, tags

from evenhand.app.pages.address import help_address, study_address
from evenhand.app.pages.data import guess_roles
from evenhand.app.pages.kinds import LIST_KINDS
from evenhand.app.pages.parts import actions, button, control, lede, link, note, panel
from evenhand.app.pages.side import day_words, next_step, state_words
from evenhand.app.pages.visit import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.app.pages.visit import Visit
    from evenhand.app.state.record import StudyRecord

_FLOW = (
    ("1. Bring data", "A file of yours, or a data set that is built in."),
    ("2. Ask one of four questions", "Collect, publish, learn or decide: what does privacy cost, and whom?"),
    ("3. Take the answer along", "Three sentences, a report, and the command that repeats it."),
)
_BUSY = "It runs now. Stop it first, on its page, then delete it."
_BUSY_AND_DAMAGED = "It runs now. Delete it when its run has ended: end the workbench to stop it sooner."


def draw(visit: Visit) -> TagList:
    """Return the first page."""
    visit.saved()
    studies = visit.workspace.studies()
    faults = [_damaged(visit, study, why) for study, why in visit.workspace.damaged.items()]
    return _list_studies(visit, studies, faults) if studies or faults else _empty()


def _empty() -> TagList:
    return TagList(
        tags.h1("Who pays for privacy?"),
        lede(
            "Protecting people costs accuracy, and rarely costs everybody the same. Find out who pays in "
            "your data, without programming."
        ),
        panel(
            tags.h2("No study yet"),
            tags.p("Start with the demo, about a minute, or open a file of your own.", class_="lede"),
            actions(
                button("Try the demo", "home.demo", look="primary", id="demo"),
                button("Open a file", "home.new", id="new-study"),
                link("What is this about?", help_address("about"), id="about"),
            ),
        ),
        tags.div(*(tags.div(tags.b(name), text) for name, text in _FLOW), class_="feature"),
    )


def _list_studies(visit: Visit, studies: list[StudyRecord], faults: list[Tag]) -> TagList:
    return TagList(
        tags.h1("Which study do you want to go on with?"),
        lede("Everything you did is kept on this computer, also while the workbench is closed."),
        *faults,
        actions(
            button("New study", "home.new", look="primary", id="new-study"),
            button("Try the demo", "home.demo", id="demo"),
            link("Help", help_address(), id="help"),
        ),
        panel(tags.div(*(_study(visit, record) for record in studies), class_="studies"))
        if studies
        else None,
    )


def _damaged(visit: Visit, study: str, why: str) -> Tag:
    """Return what is wrong with a study that cannot be read, with the button to delete it."""
    day = day_words(visit.workspace.last_change(study))
    where = tags.p(f"Its folder is called {study}, and was last changed {day}.", class_="hint")
    delete = button(
        "Delete",
        "home.open",
        look="small",
        data_part="delete",
        data_study=study,
        id=f"delete-{study}",
        aria_label=f"Delete the study that cannot be read, {study}",
    )
    told = note("warn", tags.p(tags.b("One study cannot be read. "), why), where, actions(delete))
    opened = visit.open_part() == ("delete", study)
    asked = _delete(visit, study, "the study that cannot be read", busy=_BUSY_AND_DAMAGED) if opened else None
    return tags.div(told, asked, data_testid="damaged")


def _study(visit: Visit, record: StudyRecord) -> Tag:
    state = visit.jobs.state(record.id)
    part, of_study = visit.open_part()
    opened = part if of_study == record.id else ""
    data = f"{record.data.label}: " if record.data else ""
    rows: list[Any] = [
        tags.div(
            tags.a(
                record.name,
                class_="name",
                href=study_address(record.id, next_step(record, state)),
                id=f"open-{record.id}",
            ),
            tags.small(_asked_words(visit, record) + data + state_words(record, state)),
        ),
        tags.div(
            button(
                "Rename",
                "home.open",
                look="small",
                data_part="rename",
                data_study=record.id,
                id=f"rename-{record.id}",
                aria_label=f"Rename {record.name}",
            ),
            button(
                "Delete",
                "home.open",
                look="small",
                data_part="delete",
                data_study=record.id,
                id=f"delete-{record.id}",
                aria_label=f"Delete {record.name}",
            ),
            class_="buttons",
        ),
    ]
    if opened == "rename":
        rows.append(_rename(record))
    if opened == "delete":
        rows.append(_delete(visit, record.id, f"“{record.name}”"))
    return tags.div(*rows, class_="study", data_testid="study")


def _asked_words(visit: Visit, record: StudyRecord) -> str:
    """Return the word of the question that is asked; empty until somebody came to it."""
    kinds = visit.inquiry(LIST_KINDS).read("kinds").value or ()
    verb = next((kind.verb for kind in kinds if kind.name == record.kind), "")
    return f"{verb}, " if verb and record.described else ""


def _rename(record: StudyRecord) -> Tag:
    name = f"name-{record.id}"
    return tags.div(
        tags.div(
            tags.label("New name", for_=name, class_="label"),
            control("input", type="text", id=name, value=record.name, maxlength="120"),
        ),
        button("Rename", "home.rename", data_study=record.id, data_from=name, id=f"rename-now-{record.id}"),
        button("Leave it", "home.open", data_part="", data_study="", id=f"rename-not-{record.id}"),
        class_="wide-row rename",
    )


def _delete(visit: Visit, study: str, words: str, *, busy: str = _BUSY) -> Tag:
    """Return what deleting a study deletes, and the button that does it.

    Parameters
    ----------
    visit : Visit
    study : str
        Its id.
    words : str
        How it is called.
    busy : str
        What is said while it waits or runs, when it cannot be deleted.
    """
    leave = button("Keep it", "home.open", data_part="", data_study="", id=f"delete-not-{study}")
    if visit.jobs.state(study).is_busy:
        return tags.div(note("warn", tags.p(busy), actions(leave)), class_="wide-row")
    return tags.div(
        note(
            "bad",
            tags.p(tags.b(f"Deleting {words} deletes this for good:")),
            tags.ul(*(tags.li(sentence) for sentence in visit.workspace.deletion(study))),
            actions(
                button(
                    "Delete it for good",
                    "home.delete",
                    look="danger",
                    data_study=study,
                    id=f"delete-now-{study}",
                ),
                leave,
            ),
        ),
        class_="wide-row",
    )


# --- what its controls do --------------------------------------------------------------------------


async def _new(visit: Visit, event: Mapping[str, Any]) -> None:  # noqa: ARG001
    record = visit.workspace.create()
    await visit.go(study_address(record.id, "data"))


async def _demo(visit: Visit, event: Mapping[str, Any]) -> None:  # noqa: ARG001
    demo = next(entry for entry in await visit.ask_once("data:built_in") if entry.is_demo)
    changes = await visit.ask_once("data:choose_dataset", demo.name)
    taken = {record.name for record in visit.workspace.studies()}
    name = next(
        name for name in ("Demo", *(f"Demo {n}" for n in range(2, len(taken) + 3))) if name not in taken
    )
    record = visit.workspace.create(name, tutorial=True)
    visit.change(record.id, draw=True, **changes)
    await guess_roles(visit, record.id)
    await visit.go(study_address(record.id, "data"))


async def _open(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.open_part.set((str(event.get("part", "")), str(event.get("study", ""))))


async def _rename_now(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.workspace.rename(str(event["study"]), str(event.get("text", "")))
    visit.open_part.set(("", ""))
    count(visit.saved)


async def _delete_now(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.workspace.delete(str(event["study"]))
    visit.open_part.set(("", ""))
    count(visit.saved)


ACTIONS = {
    "home.new": _new,
    "home.demo": _demo,
    "home.open": _open,
    "home.rename": _rename_now,
    "home.delete": _delete_now,
}
"""What the controls of this page do."""
