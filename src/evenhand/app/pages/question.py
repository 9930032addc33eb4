"""The third step: what is asked, with what it takes and what people are promised beside it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, render

from evenhand.app.flow.messages import say_in_browser
from evenhand.app.pages.address import study_address
from evenhand.app.pages.glossary import WORDS, term
from evenhand.app.pages.kinds import LIST_KINDS
from evenhand.app.pages.parts import (
    actions,
    bold,
    button,
    chips,
    code_block,
    command_block,
    control,
    error_note,
    hint,
    icon,
    label,
    lede,
    link,
    live,
    look_note,
    note,
    panel,
    problem_place,
    select,
    text_input,
    tick,
    waiting,
)
from evenhand.app.pages.visit import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.app.flow.views import Odds, Question
    from evenhand.app.pages.kinds import Kind
    from evenhand.app.pages.visit import Answer, Visit
    from evenhand.app.state.record import StudyRecord
    from evenhand.app.tasks.base import Field

_MOST_PILLS = 5
_USUAL_EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4", "8", "10")
_NO_PROMISE = "None of the ways that are tried promises anything."
_IN_BRACKETS = {
    "epsilon": "epsilon",
    "pure": "pure or approximate",
    "neighbours": "unit",
    "trust": "trust",
    "bound": "tight or bound",
}
_REPLACING = "Reading what this question asks."
_TIMING = "A few runs are timed now. This becomes more exact by itself when that is done."


def draw(visit: Visit, study: str) -> TagList:
    """Return the page where the question is asked."""
    record = visit.record(study)
    top = [
        tags.h1("What do you want to know?"),
        lede("When is the data protected, and what happens to it afterwards?"),
    ]
    if record.data is None or not record.described:
        step, words = ("data", "Choose data") if record.data is None else ("schema", "Describe the data")
        first = note("plain", tags.p("The columns are not described yet, and a question is about columns."))
        return TagList(
            *top, first, actions(link(words, study_address(study, step), look="primary", id="back"))
        )
    busy = (
        note("warn", tags.p("This study runs now. Stop it before you change the question."))
        if visit.jobs.state(study).is_busy
        else None
    )
    return TagList(
        *top,
        busy,
        _cards(visit, record),
        tags.div(
            panel(
                tags.p(id="form-status", class_="hint", role="status", data_words=_REPLACING),
                live("question_form", "div", waiting("Reading the columns.")),
            ),
            tags.div(
                live("estimate", "div", waiting("Working it out."), aria_live="polite"), class_="column-right"
            ),
            class_="columns",
        ),
        live("commands"),
        actions(
            button("Run", "question.run", look="primary", id="run", data_study=study, data_plan=""),
            button(
                "Save plan.toml",
                "question.save",
                id="save-plan",
                data_save="plan-text",
                data_name="plan.toml",
                data_plan="",
            ),
            link("Back", study_address(study, "schema"), id="back"),
        ),
    )


def _cards(visit: Visit, record: StudyRecord) -> Tag:
    answer = visit.inquiry(LIST_KINDS).read("kinds")
    if answer.value is None:
        return error_note(answer.error) if answer.error else waiting("Reading which questions there are.")
    cards = [_card(kind, record) for kind in answer.value]
    legend = tags.legend("Four questions", class_="hidden")
    return tags.fieldset(
        legend,
        tags.div(*cards, class_="tiles kinds"),
        data_do="question.kind",
        data_study=record.id,
        id="kind",
        class_="part",
    )


def _card(kind: Kind, record: StudyRecord) -> Tag:
    box = control(
        "input",
        type="radio",
        name="kind",
        value=kind.name,
        id=f"kind-{kind.name}",
        checked="" if kind.name == record.kind else None,
    )
    return tags.label(
        box, tags.b(kind.verb), tags.span(kind.title), tags.span(kind.sentence, class_="meta"), class_="tile"
    )


# --- the form --------------------------------------------------------------------------------------


def add_outputs(visit: Visit) -> None:
    """Add the parts of the page that change while it stays: the form, the estimate, the commands."""
    shape: reactive.Value[tuple[Any, ...]] = reactive.Value((), name="shape")

    @reactive.effect
    async def _() -> None:
        record = _record_on_show(visit)
        if record is None:
            return
        answer = read_question(visit, record)
        with reactive.isolate():
            shown = shape()
        wanted = choose_shape(record, answer, shown)
        if wanted != shown:
            shape.set(wanted)
        if answer.value is not None and not answer.waiting:
            await show_problem(visit, answer.value.field, error_words(answer.value))

    @render.ui
    def question_form() -> Tag | None:
        visit.drawn()
        _, kind, fields = shape() or ("", "", ())
        with reactive.isolate():
            record = _record_on_show(visit)
            if record is None or kind != record.kind:
                return waiting("Reading the columns.")
            answer = read_question(visit, record)
        values = answer.value.values if answer.value else {}
        return draw_form(record, fields, {**values, **record.form.get(kind, {})})

    @render.ui
    def estimate() -> TagList | Tag | None:
        record = _record_on_show(visit)
        return None if record is None else draw_estimate(read_timed(visit, record), record.id)

    @render.ui
    def commands() -> TagList | None:
        record = _record_on_show(visit)
        answer = None if record is None else read_question(visit, record)
        return None if answer is None or answer.value is None else draw_commands(answer.value)


def choose_shape(record: StudyRecord, answer: Answer[Any], shown: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return study, question and fields of the form to show: the one on show until those are known.

    Where a question cannot be read at all, the form of another one would be taken for its own.
    """
    mine = (record.id, record.kind)
    if answer.value is not None and not answer.waiting:
        return (*mine, answer.value.fields)
    return (*mine, ()) if answer.error and shown[:2] != mine else shown


def _record_on_show(visit: Visit) -> StudyRecord | None:
    """Return the record of the study whose question page is on show, and follow its changes."""
    address = visit.address
    visit.saved()
    if address.place != "study" or address.page != "question":
        return None
    record = visit.record(address.study)
    return record if record.data is not None and record.described else None


def read_question(visit: Visit, record: StudyRecord) -> Answer[Any]:
    """Return the plan of a study in words, asked anew when the record changes."""
    key = (record.id, record.with_(name="", tutorial=False).to_json())
    return visit.inquiry("question:ask").read(key, visit.folder(record.id), record)


def read_timed(visit: Visit, record: StudyRecord) -> Answer[Any]:
    """Return the same with a few runs timed, which takes longer and is asked when the answers fit."""
    quick = read_question(visit, record)
    if quick.value is None or quick.waiting or quick.value.error:
        return quick
    key = (record.id, record.with_(name="", tutorial=False).to_json())
    inquiry = visit.inquiry("question:ask", "timed", is_provisional=lambda question: question.is_timing)
    timed = inquiry.read(key, visit.folder(record.id), record, time=True)
    if timed.error:
        return replace(quick, value=replace(quick.value, is_timing=False))
    return quick if timed.waiting or timed.value is None else timed


def draw_form(record: StudyRecord, fields: Sequence[Field], values: Mapping[str, Any]) -> Tag:
    """Return the questions of a kind, the rarer ones folded."""
    shown = [
        draw_field(record, field, values.get(field.name, field.default))
        for field in fields
        if not field.advanced
    ]
    folded = [
        draw_field(record, field, values.get(field.name, field.default)) for field in fields if field.advanced
    ]
    more = (
        tags.details(tags.summary("More choices"), tags.div(*folded, class_="form"), id="more", class_="more")
        if folded
        else None
    )
    return tags.div(tags.div(*shown, class_="form"), problem_place("form"), more, data_form_kind=record.kind)


def draw_field(record: StudyRecord, field: Field, value: Any) -> Tag:
    """Return one question with its control, its help and the place of its error."""
    name = f"field-{field.name}"
    word = field.term if field.term in WORDS else ""
    known: dict[str, Any] = {"do": "question.field", "data_study": record.id, "data_name": field.name}
    options = [(choice.value, choice.label, choice.sentence) for choice in field.choices]
    if field.term == "epsilon" and field.kind == "text":
        return _epsilon_field(field, str(value or ""), known)
    below = [hint(field.help) if field.help else None, problem_place(field.name)]
    if field.kind in {"chips", "columns"} or (field.kind == "choice" and len(options) <= _MOST_PILLS):
        legend = TagList(field.label, term(word) if word else None)
        chosen = [value] if isinstance(value, str) else list(value or ())
        single = field.kind == "choice"
        return tags.div(
            chips(name, legend, options, [str(one) for one in chosen], single=single, **known),
            *below,
            _what_they_do(name, options),
        )
    if field.kind == "switch":
        return tags.div(
            tick(
                name,
                field.label,
                needed=False,
                checked="" if value else None,
                data_do="question.field",
                data_study=record.id,
                data_name=field.name,
            ),
            *below,
        )
    return tags.div(label(field.label, name, word), _control(field, name, value, known), *below)


def _what_they_do(name: str, options: Sequence[tuple[str, str, str]]) -> Tag | None:
    """Return what each choice does, folded; the same is said where a mouse rests on it."""
    pairs = [TagList(tags.dt(words), tags.dd(sentence)) for _, words, sentence in options if sentence]
    if not pairs:
        return None
    return tags.details(
        tags.summary("What each of them does"),
        tags.dl(*pairs, class_="what"),
        id=f"what-{name}",
        class_="fold",
    )


def _epsilon_field(field: Field, value: str, known: Mapping[str, Any]) -> Tag:
    """Return a scale of usual values, from more to less private, and a line for all others."""
    written = [part.strip() for part in value.split(",") if part.strip()]
    options = [(usual, usual, f"ε = {usual}") for usual in _USUAL_EPSILONS]
    name = f"field-{field.name}"
    legend = TagList(field.label, term("epsilon"))
    pills = chips(f"{name}-usual", legend, options, written, **{**known, "do": "question.epsilons"})
    line = text_input(name, value, aria_label=f"{field.label}, as a list with commas", **known)
    return tags.div(
        pills,
        hint("← more private. Smaller values promise more and cost more."),
        tags.div(line, class_="epsilon-line"),
        hint(field.help),
        problem_place(field.name),
    )


def _control(field: Field, name: str, value: Any, known: Mapping[str, Any]) -> Tag:
    text = (
        "" if value is None else "\n".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    )
    if field.kind == "choice":
        return select(name, [(choice.value, choice.label) for choice in field.choices], text, **known)
    if field.kind == "lines":
        return control(
            "textarea",
            text,
            id=name,
            rows="4",
            spellcheck="false",
            data_do=known["do"],
            data_study=known["data_study"],
            data_name=known["data_name"],
        )
    return text_input(name, text, inputmode="decimal" if field.kind == "number" else None, **known)


# --- beside and below the form ---------------------------------------------------------------------


def draw_estimate(answer: Answer[Any], study: str = "") -> TagList | Tag:
    """Return how long it takes and what people are promised, or what to mend first."""
    question: Question | None = answer.value
    if question is None:
        return error_note(answer.error) if answer.error else waiting("Working it out.")
    if question.error:
        return panel(
            tags.h2("This cannot be run yet"),
            tags.p(
                icon("bad"), " ", error_words(question), id="estimate-error", class_="problem", tabindex="-1"
            ),
            actions(link("Describe the columns", study_address(study, "schema"), id="to-schema"))
            if question.field.startswith("roles.")
            else None,
            aria_busy="true" if answer.waiting else None,
        )
    how_long, _, how_known = question.minutes_words.partition(", ")
    return TagList(
        panel(
            tags.h2("This will take"),
            tags.p(how_long or "a while", class_="big", id="minutes"),
            hint(f"{how_known.capitalize()}." if how_known else None),
            hint(_TIMING, id="timing") if question.is_timing else None,
            hint(question.runs, id="runs"),
        ),
        panel(
            tags.h2("What people are promised"),
            tags.p(bold(question.promise or _NO_PROMISE), id="promise", class_="hint"),
            hint("In brackets: ", *_promise_words()) if question.promise else None,
        ),
        panel(tags.h2("What ", term("epsilon", "ε"), " means in odds"), _scale(question.odds))
        if question.odds
        else None,
        *(look_note(look) for look in question.notes),
    )


def _promise_words() -> list[TagChild]:
    """Return the words that stand in the brackets of a promise, each with its definition behind it."""
    words: list[TagChild] = []
    for key, text in _IN_BRACKETS.items():
        words += [term(key, text), ", "]
    return [*words[:-1], "."]


def _scale(odds: Sequence[Odds]) -> TagChild:
    dots = "".join(
        f'<circle cx="{8 + 284 * min(max(entry.place, 0), 1):.1f}" cy="10" r="6" '
        f'class="solid c-p{_tone(entry.place)}"/>'
        for entry in odds
    )
    picture = HTML(
        '<svg viewBox="0 0 300 20" width="100%" aria-hidden="true" focusable="false">'
        f'<line x1="8" x2="292" y1="10" y2="10" class="line c-ghost"/>{dots}</svg>'
    )
    rows = [tags.li(tags.b(f"ε = {entry.epsilon}"), tags.span(entry.words)) for entry in odds]
    return TagList(picture, hint("← more private"), tags.ul(*rows, class_="scale"))


def _tone(place: float) -> int:
    """Return the tone of the ramp of privacy, 1 for the most private."""
    return min(4, 1 + int(4 * min(max(place, 0), 0.999)))


def draw_commands(question: Question) -> TagList:
    """Return the command line and the Python that repeat the study, and the plan to save."""
    if question.error:
        return TagList(tags.pre("", id="plan-text", hidden=""))
    python = (
        tags.details(
            tags.summary("The same in Python"),
            code_block("python-text", "Python", question.python),
            id="python-fold",
        )
        if question.python
        else None
    )
    return TagList(
        command_block("command-text", "The same on the command line", question.command),
        python,
        tags.pre(question.plan_toml, id="plan-text", hidden=""),
    )


def error_words(question: Question) -> str:
    """Return what is wrong, with the answers called what the form calls them."""
    return say_in_browser(question.error, {field.name: field.label for field in question.fields})


async def show_problem(visit: Visit, field: str, text: str) -> None:
    """Show an error beside the field that it is about, or take it away."""
    await visit.session.send_custom_message("problem", {"field": field if text else "", "text": text})


# --- what its controls do --------------------------------------------------------------------------


async def _kind(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.change(str(event["study"]), kind=str(event.get("value", "")))


async def _field(visit: Visit, event: Mapping[str, Any]) -> None:
    record = visit.record(str(event["study"]))
    value = event.get("value")
    value = list(value) if isinstance(value, tuple | list) else value
    answers = {**record.form.get(record.kind, {}), str(event["name"]): value}
    visit.change(record.id, form={**record.form, record.kind: answers})


async def _epsilons(visit: Visit, event: Mapping[str, Any]) -> None:
    """Put the chosen values of the scale among those that were written."""
    record = visit.record(str(event["study"]))
    question = visit.inquiry("question:ask").newest(record.id)
    name = str(event["name"])
    answers = {**(question.values if question else {}), **record.form.get(record.kind, {})}
    written = [part.strip() for part in str(answers.get(name) or "").split(",") if part.strip()]
    chosen = {str(value) for value in event.get("value") or ()} & set(_USUAL_EPSILONS)
    kept = [value for value in written if value not in _USUAL_EPSILONS]
    text = ",".join(sorted({*kept, *chosen}, key=_as_number))
    answers = {**record.form.get(record.kind, {}), name: text}
    visit.change(record.id, draw=True, form={**record.form, record.kind: answers})


def _as_number(text: str) -> float:
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        return math.inf


async def _run(visit: Visit, event: Mapping[str, Any]) -> None:
    record = visit.record(str(event["study"]))
    folder = visit.folder(record.id)
    if visit.jobs.state(record.id).is_busy:  # its plan must stay the one that is run
        await visit.go(study_address(record.id, "run"))
        return
    question = await visit.ask_once("question:ask", folder, record)
    if question.error:
        asked = {field.name for field in question.fields}
        place = question.field if question.field in asked else "form"
        await show_problem(visit, place, error_words(question))
        return
    await visit.ask_once("question:write_plan", folder, record)
    visit.jobs.enqueue(record.id)
    count(visit.saved)
    await visit.go(study_address(record.id, "run"))


ACTIONS = {
    "question.kind": _kind,
    "question.field": _field,
    "question.epsilons": _epsilons,
    "question.run": _run,
}
"""What the controls of this page do."""
