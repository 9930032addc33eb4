"""Say what stands around the table of private training: question, names, the promise, commands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand._notes import Note
from evenhand.answer.case import Command, OptionName, Promise
from evenhand.privacy.rational import as_text
from evenhand.report.language import written_in
from evenhand.report.words import epsilon_words, number, plain
from evenhand.study.page.around import state_facts, warned
from evenhand.study.page.wording import delta_text, odds_factor, outcome_name
from evenhand.study.page.words import words_in
from evenhand.study.tasks.effects.options import largest_run
from evenhand.study.tasks.learn.effects import effects
from evenhand.study.tasks.learn.methods import METHODS, PLAIN
from evenhand.study.tasks.learn.prepare import reported_inputs
from evenhand.study.tasks.shared.protection import asks_whose_rows
from evenhand.study.tasks.shared.side_by_side import classifier_case

if TYPE_CHECKING:
    from evenhand.answer.case import Case, Warned
    from evenhand.answer.effects import EffectTable, Option
    from evenhand.answer.words import Words
    from evenhand.report.page import Fact
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.learn.methods import Method
    from evenhand.study.tasks.learn.task import LearnTask

_PYTHON = "Python, evenhand.learn"
_CLASSES = {"plain": "LogisticRegression", "dp": "DPLogisticRegression", "fermi": "DPFermi"}


def case(task: LearnTask, results: ResultData, *, page: Setting | None = None, language: str = "en") -> Case:
    """Return the table of private training with what its page says around it.

    `page` is the setting that the page is about, if not the one of the rule; `language` is "en" or "de".
    """
    words, schema = words_in(language), results.facts.schema
    with written_in(language):
        table = effects(task, results, page=page)
        chosen = next(each for each in results.settings if str(each) == table.page)
        names = {setting: _name(_method(setting), _method(chosen), words) for setting in results.settings}
        option = table.by_name[table.page]
        return classifier_case(
            results,
            table,
            names,
            chosen,
            own=_warnings(results, option, language),
            method=_explain(task, schema, words),
            language=language,
            kind=words.say("learn.kind"),
            question=words.say(
                "learn.question", target=plain(schema.target), method=_whole_name(_method(chosen), words)
            ),
            options=_name_options(names, table, words),
            protection=words.say("learn.protection") if math.isfinite(option.epsilon) else names[chosen],
            promise=_promise(task, results, chosen, option, words),
            commands=_commands(task, results, table, words),
        )


# --- names ----------------------------------------------------------------------------------------


def _method(setting: Setting) -> Method:
    return METHODS[setting.mechanism if setting.is_protected else PLAIN]


def _name(method: Method, page: Method, words: Words) -> str:
    """Return how a method is called beside the page's: after the same training, by what follows it."""
    if method.then and method.base == page.base and not page.then:
        return words.say(f"learn.{method.then}")
    return _whole_name(method, words)


def _whole_name(method: Method, words: Words) -> str:
    base = words.say(f"learn.{method.base}")
    if not method.then:
        return base
    return f"{base} + {words.say(f'learn.{method.then}')}"


def _name_options(names: dict[Setting, str], table: EffectTable, words: Words) -> dict[str, OptionName]:
    page, options = table.by_name[table.page], {}
    for setting, name in names.items():
        option = table.by_name[str(setting)]
        said, column = name, ""
        if setting.epsilon is not None and float(setting.epsilon) != page.epsilon:
            said = words.say("classifier.at", name=name, epsilon=setting.epsilon)
        if not setting.is_protected:
            column = words.say("learn.without")
        elif option == page and setting.epsilon is not None:
            column = f"{name}, {epsilon_words(setting.epsilon)}"
        options[option.name] = OptionName(
            said,
            column or said,
            use=words.say("classifier.use", name=name) if option.is_remedy else "",
            note=words.say("learn.group") if _method(setting).needs_group else "",
        )
    return options


# --- the promise ----------------------------------------------------------------------------------


def _warnings(results: ResultData, option: Option, language: str) -> list[Warned]:
    """Return that delta allows one person's row to be given away, where it does."""
    if not math.isfinite(option.epsilon) or option.delta * max(results.facts.rows, 1) < 1:
        return []
    return [warned(language, "learn.delta", delta=delta_text(option.delta))]


def _promise(
    task: LearnTask, results: ResultData, page: Setting, option: Option, words: Words
) -> Promise | None:
    """Return what the page's method promises; nothing where none is claimed."""
    method = _method(page)
    if not method.takes_epsilon:
        return None
    if not math.isfinite(option.epsilon):
        return Promise(words.say("learn.nothing"))
    epsilon = largest_run(results, page, "claimed_epsilon")
    epsilon = option.epsilon if math.isnan(epsilon) else epsilon
    text = words.say(
        "learn.promise",
        change=_neighbours(task, results, method, words),
        factor=odds_factor(epsilon),
        delta=words.say("learn.plus", delta=delta_text(option.delta)) if option.delta else "",
    )
    trust = "" if method.base == "local" else words.say("learn.trust")
    columns = _open_columns(task, results, method)
    clear = words.say("learn.open", columns=[plain(name) for name in columns]) if columns else ""
    said = " ".join(part for part in (text, trust, clear) if part)
    return Promise(said, _facts(results, page, epsilon, option.delta, words))


def _open_columns(task: LearnTask, results: ResultData, method: Method) -> list[str]:
    """Return what no noise covers: survey weights, and all that people do not report by randomising it."""
    schema = results.facts.schema
    hidden = reported_inputs(task, schema) if method.base == "local" else schema.names
    return [name for name in (*schema.names, schema.weight) if name and name not in hidden]


def _neighbours(task: LearnTask, results: ResultData, method: Method, words: Words) -> str:
    """Return what may change: a report, a row, or the rows of one person."""
    if method.base == "local":
        return words.say("learn.report")
    rows = results.facts.schema.rows_per_person or 1
    whose = "row" if asks_whose_rows(results.facts.notes) else "person"
    key = "replaced" if task.unit == "replace one" else "added"
    return words.say(f"learn.{key}", n=rows, rows=words.say(f"learn.{whose}", n=rows))


def _facts(
    results: ResultData, page: Setting, epsilon: float, delta: float, words: Words
) -> tuple[Fact, ...]:
    outcome = next(
        (each for each in results.outcomes if each.failure is None and each.cell.setting == page), None
    )
    notes = [] if outcome is None else [Note.of(note) for note in outcome.notes]
    told = {note.kind: str(note) for note in notes if note.kind in ("unit", "trust")}
    trust = f", {told['trust']}" if "trust" in told else ""
    assumed = "; ".join(str(note).rstrip(".") for note in notes if note.kind == "assumption")
    noise, rows = (largest_run(results, page, name) for name in ("noise", "trained_on"))
    mechanism = plain(_method(page).words)
    if math.isfinite(noise):
        mechanism = f"{mechanism}, σ = {number(noise, 3)}, n = {number(rows, 0)}"
    return state_facts(
        words,
        f"{epsilon_words(epsilon)}, δ = {delta_text(delta)}{trust}",
        unit=told.get("unit", ""),
        mechanism=mechanism,
        assumes=plain(assumed, longest=1_000),
    )


# --- what to type, and how it was done --------------------------------------------------------------


def _commands(task: LearnTask, results: ResultData, table: EffectTable, words: Words) -> tuple[Command, ...]:
    """Return the estimator of the page's option and of each remedy."""
    shown = {table.page, *(option.name for option in table.candidates)}
    most = results.facts.schema.rows_per_person or 1
    return tuple(
        Command(words.say("default.do"), _PYTHON, line, str(setting))
        for setting in results.settings
        if str(setting) in shown and (line := _estimator(task, setting, most))
    )


def _estimator(task: LearnTask, setting: Setting, rows_per_person: int) -> str:
    """Return the Python that makes the estimator of a setting; nothing for local reports and projection."""
    method = _method(setting)
    if method.base == "local" or method.then == "projection":
        return ""
    options = []
    if setting.epsilon is not None:
        options = [f'epsilon="{as_text(setting.epsilon)}"', f'delta="{as_text(task.delta)}"']
        options += [f'unit="{task.unit}"'] if task.unit != "add or remove one" else []
        options += [f"rows_per_person={rows_per_person}"] if rows_per_person > 1 else []
        options += [f"epochs={task.epochs}"] if task.epochs is not None else []
        options += [f"strength={task.strength:g}"] if method.base == "fermi" and task.strength else []
    line = f"{_CLASSES[method.base]}({', '.join(options)})"
    if method.then == "parity":
        own = [each for each in options if each.startswith(("epsilon", "unit", "rows"))]
        settings = [f"gap={task.gap:g}", *own, "prefit=False", f"holdout={task.holdout:g}"]
        line = f"ParityPostProcessor({line}, {', '.join(settings)})"
    return line


def _explain(task: LearnTask, schema: Schema, words: Words) -> list[str]:
    slots = {"model": _CLASSES["plain"], "train": 1 - task.test, "outcome": outcome_name(schema)}
    return [words.say("classifier.model", **slots), words.say("learn.how", gap=100 * task.gap)]
