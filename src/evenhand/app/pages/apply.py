"""The last step: do it for real, once, with what it spends said before."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from htmltools import HTML, Tag, TagList, tags

from evenhand.app.flow.command import find_done
from evenhand.app.pages.address import study_address
from evenhand.app.pages.glossary import term
from evenhand.app.pages.parts import (
    actions,
    bold,
    button,
    chips,
    code_block,
    command_block,
    error_note,
    facts,
    hint,
    label,
    lede,
    link,
    note,
    panel,
    select,
    text_input,
    tick,
    waiting,
)
from evenhand.app.pages.visit import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.app.flow.views import Applied, ApplyView, LedgerView, Tick
    from evenhand.app.pages.visit import Visit

_WRITTEN = {
    ".guarantee.json": "What is promised, for whoever uses it.",
    ".schema.toml": "What the columns hold. It is public.",
    ".csv.json": "What is promised and how the table was made, for whoever uses it.",
}
_GIVEN_AWAY = "What you may give away."
_KEPT_BACK = "Not for publication: its columns in the clear link rows to people."
_NOT_MEASURED = (
    "An earlier evenhand wrote this, and did not measure whether its columns in the clear link rows to "
    "people. Do not publish it before you know."
)
_KEEP = "Columns to pass on as they are"
_KEEP_HELP = "None is passed on unless you choose it. Whoever knows these of a person may find the row."
_AFTERWARDS = (
    "**Delete or lock away the original afterwards.** The promise covers what is written here only; whoever "
    "has both has everything."
)
_LEAD = "This uses the {} of your system. It cannot be repeated or undone, and it spends privacy budget."
_LEAD_OF_A_SCRIPT = (
    "Nothing is done on this page. What you run yourself uses the {} of that computer, cannot be repeated or "
    "undone, and spends privacy budget."
)
_CANNOT_TICK = (
    "The button is off because one of the boxes cannot be ticked. What to do is said below that box."
)
_RUN_IT_YOURSELF = "There is no button for this setting: run it yourself as shown below."
_NO_BUTTON_HERE = "With a file of your own there are boxes to tick here, and the button."
_BUTTON_RUNS = "The button runs exactly this"
_BUTTON_WOULD_RUN = "With a file of your own the button would run this, with its name"
_ERROR_FIRST = "The button is off until what is said above is corrected."


def draw(visit: Visit, study: str) -> TagList:
    """Return the page where a setting is done for real."""
    record = visit.record(study)
    options = dict(visit.choices().get((study, "apply"), {}))
    chosen, ledger = str(options.pop("chosen", "")), str(options.pop("ledger", ""))
    state = visit.jobs.state(study)
    if not state.has_results or state.state == "failed":
        return TagList(
            tags.h1("Do it for real"),
            lede("There is no result yet, so there is no setting to choose."),
            actions(link("Go to the run", study_address(study, "run"), look="primary", id="to-run")),
        )
    done: Applied | None = visit.choices().get((study, "applied"))
    done = done or find_done(visit.folder(study))
    if done is not None:
        return _done(study, done)
    key = (
        study,
        state.done,
        chosen,
        ledger,
        tuple(sorted(options.items())),
        visit.choices().get((study, "tries"), 0),
    )
    answer = visit.inquiry("apply:prepare_applying").read(
        key, visit.folder(study), record, chosen=chosen, ledger=ledger, options=options
    )
    if answer.value is None:
        said = error_note(answer.error) if answer.error else waiting("Reading what this would spend.")
        return TagList(tags.h1("Do it for real"), said)
    return _show(study, answer.value, ledger, options, busy=bool(visit.choices().get((study, "applying"))))


def _show(study: str, view: ApplyView, ledger: str, options: Mapping[str, Any], *, busy: bool) -> TagList:
    before, after = (_LEAD if view.button else _LEAD_OF_A_SCRIPT).split("{}")
    return TagList(
        tags.h1(view.heading or "Do it for real"),
        lede(before, term("secure", "secure random source"), after),
        _problem(view),
        tags.div(
            panel(_what(study, view), note("warn", tags.p(bold(_AFTERWARDS))) if view.button else None),
            tags.div(_ledger(study, view, ledger, options), class_="column-right"),
            class_="columns",
        ),
        panel(_ticks(study, view, busy=busy), _commands(view)),
        actions(link("Back to the answer", study_address(study, "result"), id="back")),
    )


def _problem(view: ApplyView) -> Tag | None:
    """Return why it cannot be done now; that a data set is built in is no fault."""
    if not view.error:
        return None
    if view.command and not view.button:
        return note("plain", tags.p(view.error), id="apply-problem")
    return error_note(view.error, id="apply-problem")


def _what(study: str, view: ApplyView) -> Tag:
    settings = [(setting.key, setting.label) for setting in view.settings]
    return tags.div(
        tags.div(
            label("Setting", "apply-chosen", "setting"),
            select(
                "apply-chosen", settings, view.chosen, do="apply.choose", data_study=study, data_key="chosen"
            ),
        ),
        tags.div(*(tags.p(bold(sentence), class_="lede") for sentence in view.sentences)),
        _keeping(study, view),
        facts(
            (
                ("What people are promised", bold(view.promise) if view.promise else "nothing"),
                ("Left as they are", ", ".join(view.in_clear) if view.in_clear else "no column"),
            )
        ),
        class_="form",
    )


def _keeping(study: str, view: ApplyView) -> TagList | None:
    """Return the columns that may be passed on, and how many rows link by those that are."""
    if not view.keepable:
        return None
    options = [(name, name, "") for name in view.keepable]
    known: Any = {"data_study": study, "data_key": "keep"}
    return TagList(
        tags.div(
            chips("apply-keep", _KEEP, options, view.in_clear, do="apply.choose", **known), hint(_KEEP_HELP)
        ),
        _links(view),
    )


def _links(view: ApplyView | Applied) -> Tag | None:
    tone = "plain" if view.is_for_publication else "warn"
    return note(tone, tags.p(view.links), id="links") if view.links else None


# --- the ledger ------------------------------------------------------------------------------------


def _ledger(study: str, view: ApplyView, ledger: str, options: Mapping[str, Any]) -> Tag:
    known = {"do": "apply.choose", "data_study": study}
    picker = (
        tags.div(
            label("Which ledger pays?", "apply-ledger", "ledger"),
            select("apply-ledger", view.ledgers, ledger, data_key="ledger", **known),
        )
        if view.ledgers
        else None
    )
    new = [
        tags.div(
            label(words, f"ledger-{key}"),
            text_input(f"ledger-{key}", str(options.get(key, "")), data_key=key, **known),
        )
        for key, words in (
            ("name", "Name of the new ledger"),
            ("limit", "The most ε that these people may ever pay"),
        )
    ]
    return panel(
        tags.h2("What is spent?"),
        tags.p(view.spends or "no ε", class_="big", id="spends"),
        tags.div(
            picker,
            *(new if ledger == "new" else ()),
            tags.div(_bar(view.ledger, ledger)) if view.ledgers else None,
            class_="form",
        ),
    )


def _bar(ledger: LedgerView | None, key: str) -> TagList | Tag | None:
    if ledger is None and key:
        return None  # what is missing is said above, or beside the button
    if ledger is None:
        return hint("Without a ledger nobody adds up what the same people have paid already.")
    spent, this, limit = (_number(text) for text in (ledger.spent, ledger.this, ledger.limit))
    whole = max(limit, spent + this, 1e-9)
    first, second = 300 * spent / whole, 300 * this / whole
    picture = HTML(
        '<svg class="ledger" viewBox="0 0 300 16" preserveAspectRatio="none" '
        'aria-hidden="true" focusable="false"><defs>'
        '<pattern id="hatch" width="9" height="9" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="hatch-ground" width="9" height="9"/>'
        '<line class="hatch-line" x1="0" y1="0" x2="0" y2="9"/></pattern></defs>'
        f'<rect class="spent" width="{first:.2f}" height="16"/>'
        f'<rect class="this" x="{first:.2f}" width="{second:.2f}" height="16"/></svg>'
    )  # numbers alone
    return TagList(
        tags.h3(f"Ledger: {ledger.name}"),
        picture,
        tags.p(
            f"Of ε = {ledger.limit} in all: spent {ledger.spent}, this {ledger.this}, "
            f"left after it {ledger.left}.",
            id="ledger-words",
        ),
        None if ledger.fits else error_note(ledger.sentence),
    )


def _number(text: str) -> float:
    kept = "".join(letter for letter in text if letter in "0123456789./")
    try:
        return float(Fraction(kept))
    except (ValueError, ZeroDivisionError):
        return 0.0


# --- the ticks and the button ----------------------------------------------------------------------


def _ticks(study: str, view: ApplyView, *, busy: bool) -> TagList:
    if not view.button:
        return TagList(hint(_NO_BUTTON_HERE if view.command else _RUN_IT_YOURSELF))
    blocked = bool(view.error or view.needs) or not all(box.can_be_set for box in view.ticks)
    press = button(
        view.button,
        "apply.now",
        look="primary",
        id="apply-now",
        data_study=study,
        data_waits="",
        disabled="",
        **({"data_blocked": ""} if blocked or busy else {}),
    )
    said = hint("Tick all boxes to go on.", data_waiting_words="")
    if blocked:
        said = hint(_ERROR_FIRST if view.error else view.needs or _CANNOT_TICK)
    if busy:
        said = waiting("Writing. Do not close the workbench.")
    return TagList(*(_tick(box) for box in view.ticks), actions(press, said))


def _tick(box: Tick) -> TagList:
    return TagList(
        tick(f"tick-{box.name}", box.text, disabled=None if box.can_be_set else ""),
        hint(box.why_not) if not box.can_be_set else None,
    )


def _commands(view: ApplyView) -> TagList:
    return TagList(
        command_block("apply-command", _BUTTON_RUNS if view.button else _BUTTON_WOULD_RUN, view.command)
        if view.command
        else None,
        code_block("apply-script", "Python to run yourself", view.script) if view.script else None,
    )


def _done(study: str, applied: Applied) -> TagList:
    if not applied.ok:
        return TagList(
            tags.h1("It was not done"),
            error_note(" ".join(applied.said) or "The command did not finish. Hint: try it again."),
            actions(
                button("Try again", "apply.again", look="primary", id="try-again", data_study=study),
                link("Back to the answer", study_address(study, "result"), id="back"),
            ),
        )
    return TagList(
        tags.h1("It is done"),
        _links(applied),
        lede(bold(applied.promise)) if applied.promise else None,
        note("ok", tags.p(tags.b(applied.charged or "The files are written.")), id="charged"),
        panel(
            tags.h2("What was written"),
            tags.ul(*(_written(study, applied, name) for name in applied.files), class_="download"),
            tags.pre("\n".join(applied.said)) if applied.said else None,
        ),
        note("warn", tags.p(bold(_AFTERWARDS))),
        actions(link("Back to the answer", study_address(study, "result"), id="back")),
    )


# --- what its controls do --------------------------------------------------------------------------


def _written(study: str, applied: Applied, name: str) -> Tag:
    address = f"studies/{study}/applied/{quote(name)}"
    given = _GIVEN_AWAY if applied.is_for_publication else _KEPT_BACK
    if applied.links is None and f"{name}.guarantee.json" in applied.files:
        given = _NOT_MEASURED
    what = next((words for ending, words in _WRITTEN.items() if name.endswith(ending)), given)
    return tags.li(tags.a(name, href=address, download=name, id=f"download-{name}"), tags.br(), what)


def _options(visit: Visit, study: str) -> dict[str, Any]:
    return dict(visit.chosen((study, "apply")) or {})


async def _choose(visit: Visit, event: Mapping[str, Any]) -> None:
    study, given = str(event["study"]), event.get("value", "")
    value = tuple(map(str, given)) if isinstance(given, list) else str(given)
    visit.choose({(study, "apply"): {**_options(visit, study), str(event["key"]): value}})


async def _now(visit: Visit, event: Mapping[str, Any]) -> None:
    study = str(event["study"])
    if visit.chosen((study, "applied")) is not None:  # the button was pressed twice
        return
    options = _options(visit, study)
    chosen, ledger = str(options.pop("chosen", "")), str(options.pop("ledger", ""))
    visit.choose({(study, "applying"): True})
    await visit.show_now()
    try:
        applied = await visit.ask_once(
            "apply:apply",
            visit.folder(study),
            visit.record(study),
            chosen=chosen,
            ledger=ledger,
            options=options,
            ticks=[str(name) for name in event.get("ticks") or ()],
        )
    finally:
        visit.choose({(study, "applying"): False})
    visit.choose({(study, "applied"): applied})


async def _again(visit: Visit, event: Mapping[str, Any]) -> None:
    study = str(event["study"])
    visit.choose({(study, "applied"): None, (study, "tries"): (visit.chosen((study, "tries")) or 0) + 1})
    count(visit.drawn)


ACTIONS = {"apply.choose": _choose, "apply.now": _now, "apply.again": _again}
"""What the controls of this page do."""
