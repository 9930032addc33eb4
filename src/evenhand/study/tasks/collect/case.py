"""Say what stands around the table of a collection: question, names, the promise, commands."""

from __future__ import annotations

import shlex
import warnings
from typing import TYPE_CHECKING

from evenhand.answer.case import Command, OptionName, Promise
from evenhand.errors import PrivacyWarning
from evenhand.privacy.rational import text_above
from evenhand.report.language import in_language, written_in
from evenhand.report.page import Fact
from evenhand.report.words import epsilon_words, listed, plain
from evenhand.study.page.around import state_facts, warned
from evenhand.study.page.wording import odds_factor, outcome_name
from evenhand.study.page.words import words_in
from evenhand.study.tasks.collect.effects import effects, find_twins, reports_of
from evenhand.study.tasks.collect.prepare import telling_columns
from evenhand.study.tasks.collect.task import privatize_command
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.protection import promise_of, state_rows, strategy_of
from evenhand.study.tasks.shared.report_settings import (
    NAME,
    OptimalWay,
    drop_parity,
    has_parity,
    protocol_parameters,
)
from evenhand.study.tasks.shared.side_by_side import classifier_case

if TYPE_CHECKING:
    from evenhand.answer.case import Case, Warned
    from evenhand.answer.effects import EffectTable
    from evenhand.answer.words import Words
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.collect.task import CollectTask

_SCHEMA_FILE, _OUTCOMES_FILE = "schema.toml", "outcomes.toml"
_JOINT, _SINGLE = "combined", "single"


def case(
    task: CollectTask, results: ResultData, *, page: Setting | None = None, language: str = "en"
) -> Case:
    """Return the table of a collection with what its page says around it.

    `page` is the setting that the page is about, if not the one of the rule; `language` is "en" or "de".
    """
    words, schema = words_in(language), results.facts.schema
    with written_in(language):
        table = effects(task, results, page=page)
        chosen = next(each for each in results.settings if str(each) == table.page)
        names = name_settings(results.settings, chosen, schema, words)
        twins = find_twins(results.settings[1:], chosen, schema)
        tried = {setting: name for setting, name in names.items() if setting not in twins}
        columns = [plain(name) for name in strategy_of(chosen, schema).columns]
        guarantee = _guarantee(results, chosen)
        return classifier_case(
            results,
            table,
            tried,
            chosen,
            own=_warnings(chosen, guarantee, language),
            method=[_method(task, results, words)],
            language=language,
            kind=words.say("collect.kind"),
            question=words.say(
                "collect.question", n=len(columns), columns=columns, target=plain(schema.target)
            ),
            options=_name_options(names, table, words),
            protection=words.say("collect.protection"),
            promise=_promise(results, chosen, guarantee, words),
            commands=_commands(task, results, table, words),
        )


# --- names ----------------------------------------------------------------------------------------


def name_settings(
    settings: tuple[Setting, ...], page: Setting, schema: Schema, words: Words
) -> dict[Setting, str]:
    """Return how settings are called without their epsilon: by what differs from the page's own.

    The page's is called by its protocol, such as "GRR"; another by its protocol ("Optimal"), by how it
    reports several columns ("answers together"), or by both; after the same reports by what follows them.
    """
    own_protocol, own_columns = _way_of(page, schema, words)
    names = {}
    for setting in settings:
        if not setting.is_protected:
            names[setting] = words.say("collect.without")
            continue
        protocol, columns = _way_of(setting, schema, words)
        differs = columns if columns != own_columns else ""
        is_named = protocol != own_protocol or not differs
        name = ", ".join(part for part in (protocol if is_named else "", differs) if part)
        if has_parity(setting):
            parity = words.say("learn.parity")
            name = parity if drop_parity(setting).label == page.label else f"{name} + {parity}"
        names[setting] = name
    return _tell_apart(names, schema)


def _tell_apart(names: dict[Setting, str], schema: Schema) -> dict[Setting, str]:
    """Return names of which no two are the same, but for settings that draw the same reports."""
    reports: dict[tuple[object, str], list[object]] = {}
    told = {}
    for setting, name in names.items():
        alike = reports.setdefault((setting.epsilon, name), [])
        own = reports_of(setting, schema) if setting.is_protected else ""
        if own not in alike:
            alike.append(own)
        place = alike.index(own)
        told[setting] = f"{name} ({place + 1})" if place else name
    return told


def _way_of(setting: Setting, schema: Schema, words: Words) -> tuple[str, str]:
    """Return by which protocol a setting reports, and how it reports several columns."""
    strategy = strategy_of(setting, schema)
    kinds = sorted({protocol.name for protocol in strategy.protocols.values()})
    is_one = setting.mechanism == NAME or setting.option("strategy") == _JOINT
    titles = [setting.mechanism] if is_one else kinds
    protocol = listed(["Optimal" if title == NAME else title.upper() for title in titles])
    switches = [
        plain(name.replace("_", " ") if value is True or isinstance(value, dict) else f"{name} {value}")
        for name, value in sorted(protocol_parameters(setting).items())
    ]
    protocol = f"{protocol} ({', '.join(switches)})" if switches else protocol
    if len(schema.sensitive) == 1:
        return protocol, ""
    how, split = str(setting.option("strategy")), str(setting.option("split"))
    if how in (_JOINT, _SINGLE):
        return protocol, words.say(f"collect.way_{how}", column=plain(schema.protected_name))
    return protocol, words.say(f"collect.way_{split}")


def _name_options(names: dict[Setting, str], table: EffectTable, words: Words) -> dict[str, OptionName]:
    page, options = table.by_name[table.page], {}
    for setting, name in names.items():
        option = table.by_name[str(setting)]
        said, use = name, ""
        if setting.epsilon is not None and float(setting.epsilon) != page.epsilon:
            said = words.say("classifier.at", name=name, epsilon=setting.epsilon)
        column = words.say("collect.column", epsilon=setting.epsilon) if option == page else said
        if option.is_remedy and not option.needs_group:
            ways = (each for each in (_JOINT, "optimal") if name == words.say(f"collect.way_{each}"))
            way = next(ways, "")
            use = words.say(f"collect.use_{way}" if way else "classifier.use", name=name)
        note = words.say("collect.outcomes") if setting.mechanism == NAME else ""
        note = words.say("learn.group") if option.needs_group else note
        options[option.name] = OptionName(said, column, use, note)
    return options


# --- the promise ----------------------------------------------------------------------------------


def _guarantee(results: ResultData, page: Setting) -> Guarantee:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # the page says it, see _warnings
        return state_rows(promise_of(page, results.facts.schema), results.facts.notes)


def _warnings(page: Setting, guarantee: Guarantee, language: str) -> list[Warned]:
    """Return in what the promise of the page's setting is weaker than it looks."""
    said = list(guarantee.cautions)
    if page.mechanism == NAME and OptimalWay.of(page).outcomes in ("exact", "noisy"):
        said += guarantee.assumptions[-1:]
    return [warned(language, "study.weaker", note=plain(text, longest=400)) for text in said]


def _promise(results: ResultData, page: Setting, guarantee: Guarantee, words: Words) -> Promise:
    schema = results.facts.schema
    if has_parity(page):
        return Promise(words.say("collect.nothing"))
    strategy = strategy_of(page, schema)
    columns, target = [plain(name) for name in strategy.columns], plain(schema.target)
    hidden = {*strategy.columns, schema.target}
    clear = [plain(name) for name in (*schema.names, schema.weight) if name and name not in hidden]
    delta = in_language(text_above(guarantee.delta, digits=2)) if guarantee.delta else "0"
    text = words.say(
        "collect.promise",
        n=len(columns),
        columns=columns,
        factor=odds_factor(float(guarantee.epsilon or 0)),
    )
    is_told = schema.target in strategy.columns
    outcome = words.say("collect.outcome_told" if is_told else "collect.outcome_clear", target=target)
    trusted = words.say("collect.trust") if str(guarantee.trust) == "local" else ""
    facts = state_facts(
        words,
        f"{epsilon_words(guarantee.epsilon)}, δ = {delta}, {guarantee.trust}",
        unit=str(guarantee.unit),
        mechanism=plain(guarantee.proof, longest=200),
        assumes=plain("; ".join(guarantee.assumptions), longest=1_000),
    )
    open_columns = words.say("collect.open", columns=clear if is_told else [target, *clear])
    return Promise(
        f"{text} {outcome} {trusted}".strip(),
        (*facts, Fact(words.say("collect.not_protected"), open_columns)),
    )


# --- what to type, and how it was done --------------------------------------------------------------


def _commands(
    task: CollectTask, results: ResultData, table: EffectTable, words: Words
) -> tuple[Command, ...]:
    """Return the study without columns that give others away, and what the optimal protocol takes.

    Every other setting has its command from :meth:`CollectTask.next_command`.
    """
    data, found = results.plan.data, []
    shown = {table.page, *(option.name for option in table.candidates)}
    for setting in results.settings:
        is_shown = str(setting) in shown and setting.mechanism == NAME and _takes_public_rates(setting)
        if not is_shown or data is None or data.path is None:
            continue
        files = {"data": data.label, "file": _SCHEMA_FILE, "outcomes": _OUTCOMES_FILE}
        line = " ".join([privatize_command(setting, results.facts.schema, **files), *data.format_options])
        label, note = words.say("default.do"), words.say("collect.outcomes")
        found.append(Command(label, note, line, str(setting)))
    again = "" if data is None else task.command(results.plan)
    return (*_leave_out(results, again, words), *found)


def _leave_out(results: ResultData, again: str, words: Words) -> list[Command]:
    """Return the command that runs the study without columns that give a randomised one away, if any do."""
    full = [leak for leak in results.facts.leaks if leak.is_full]
    by = telling_columns(full, results.facts.schema)
    if not by or not again:
        return []
    label = words.say("collect.leave_out", columns=[plain(name) for name in by])
    return [Command(label, "", f"{again} --drop {shlex.quote(typed_list(by))}")]


def _takes_public_rates(setting: Setting) -> bool:
    """Return whether the command can do what the optimal protocol of a setting does, from public rates."""
    way = OptimalWay.of(setting)
    is_usual = (way.error, way.kind, way.as_printed, way.target) == ("grr", "ratio", False, None)
    is_public = way.outcomes == "pilot" or way.known_outcomes is not None
    return is_usual and is_public and setting.option("strategy") != _JOINT


def _method(task: CollectTask, results: ResultData, words: Words) -> str:
    test = task.test if task.folds is None else 1 / task.folds
    outcome = outcome_name(results.facts.schema)
    return words.say("classifier.model", model=plain(task.model_name), train=1 - test, outcome=outcome)
