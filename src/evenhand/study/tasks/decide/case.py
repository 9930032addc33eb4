"""What a page on decisions says around its effects: names, the promise, warnings and places one by one."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.answer.case import Case, Name, OptionName, Promise, Warned
from evenhand.answer.harm import MEANINGLESS_DELTA
from evenhand.report.language import in_language, written_in
from evenhand.report.page import Fact
from evenhand.report.words import epsilon_words, listed, plain
from evenhand.study.page.around import limits_of, meta_of, sources_of, warned, warnings_of
from evenhand.study.page.around import method_of as method_lines
from evenhand.study.page.wording import delta_text, odds_factor
from evenhand.study.page.words import words_in
from evenhand.study.tasks.decide.effects import MILLION, effects
from evenhand.study.tasks.decide.methods import method_of
from evenhand.study.tasks.decide.names import ENTITY_SIZES
from evenhand.study.tasks.decide.places import places_section
from evenhand.study.tasks.shared.table_mechanisms import UNITS
from evenhand.study.tasks.shared.wording import name_mechanism, tell_apart

if TYPE_CHECKING:
    from evenhand.answer.effects import EffectTable
    from evenhand.answer.words import Words
    from evenhand.decide.mitigate.registry import Problem
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.decide.task import DecideTask

_LONGEST_RULE = 90
_UNFIT = frozenset({"name", "names", "id", "label", "title", "geoid", "fips", "code", "place", "region"})
_CHILDREN = ("child", "children")


class _Study(NamedTuple):
    """A study with its table, its page's setting, and what settings and entities are called."""

    task: DecideTask
    results: ResultData
    words: Words
    table: EffectTable
    page: Setting
    names: dict[Setting, str]
    nouns: tuple[str, str]
    heads: tuple[str, str]

    @property
    def outcome(self) -> Outcome | None:
        """What came of the page's setting."""
        done = (each for each in self.results.outcomes if each.failure is None)
        return next((each for each in done if each.cell.setting == self.page), None)


def case(task: DecideTask, results: ResultData, *, page: Setting | None = None, language: str = "en") -> Case:
    """Return the effects of decisions from noisy counts with what a page says around them.

    Parameters
    ----------
    task : DecideTask
    results : Results
    page : Setting, optional
        The setting that the page is about; by default the one that the plan fixes.
    language : str
    """
    table, words = effects(task, results, page=page), words_in(language)
    keys = {setting: str(setting) for setting in results.settings}  # which a language would change
    chosen = next(setting for setting, key in keys.items() if key == table.page)
    with written_in(language):
        names = name_settings(task, results, chosen, words)
        nouns, heads = _nouns(task, words)
        study = _Study(task, results, words, table, chosen, names, nouns, heads)
        counted = f"{in_language(f'{results.facts.rows:,}')} {nouns[results.facts.rows != 1]}"
        noise = words.say("release.noise")
        about: dict[str, Any] = {"is_exact": True, "language": language}
        section = places_section(table, words, title=words.say("decide.places", entities=nouns[1]))
        return Case(
            table=table,
            kind=words.say("decide.kind"),
            question=_question(study),
            groups=_groups(study),
            options={keys[each]: _option(words, each, name) for each, name in names.items()},
            protection=f"{noise[:1].upper()}{noise[1:]}",
            heads=heads,
            entities=nouns,
            currency=_currency(task),
            meta=meta_of(results, counted=counted, **about),
            warnings=warnings_of(results, own=_warnings(study), **about),
            promise=_promise(study),
            evidence=() if section is None else (section,),
            method=method_lines(results, *_method(study), counted=counted, **about),
            limits=limits_of(results, words.say("decide.limits"), words.say("release.choice"), **about),
            sources=sources_of(results, language=language),
            language=language,
        )


# --- names ----------------------------------------------------------------------------------------


def name_settings(task: DecideTask, results: ResultData, page: Setting, words: Words) -> dict[Setting, str]:
    """Return how each setting is called in a sentence; those at another epsilon than the page's name it."""
    names = {
        setting: _name_setting(setting, page, words, several=len(task.mechanisms) > 1)
        if setting.is_protected
        else words.say("release.true_table")
        for setting in results.settings
    }
    return tell_apart(names, page)


def _name_setting(setting: Setting, page: Setting, words: Words, *, several: bool) -> str:
    steps, mitigation = method_of(setting)
    if mitigation is None:
        return name_mechanism(words, setting, steps, was=method_of(page)[0])
    key = f"decide.{mitigation.name}"
    name = words.say(key) if words.has(key) else plain(mitigation.kind.title)
    return f"{name}, {name_mechanism(words, setting)}" if several else name


def _option(words: Words, setting: Setting, name: str) -> OptionName:
    if not setting.is_protected:
        return OptionName(name, column=words.say("decide.due"))
    return OptionName(name, column=name, use=words.say("release.use", name=name))


def _nouns(task: DecideTask, words: Words) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return one and several of the entities, and of those whom the table counts.

    In English a column that is one plain word is the noun: "county", "students".
    """
    one, _, many = words.say("decide.entities").partition("|")
    entities, people = (one, many), (words.say("default.person"), words.say("default.people"))
    if words.language != "en":
        return entities, people
    word = (task.name or "").strip()
    if re.fullmatch(r"[a-z]{3,20}", word) and word not in _UNFIT:
        entities = word, _plural(word)
    counted = "" if task.groups else (task.count or "").strip()
    if counted in _CHILDREN:
        people = _CHILDREN
    elif re.fullmatch(r"[a-z]{3,19}[a-rt-z]s", counted):
        people = counted[:-1], counted
    return entities, people


def _plural(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search(r"(?:s|x|z|ch|sh)$", word) else f"{word}s"


def _groups(study: _Study) -> dict[str, Name]:
    """Return the names of groups of people, of classes by size, and of single entities."""
    task, words = study.task, study.words
    found = {}
    for size in ENTITY_SIZES:
        shown = f"{size.least:,}+" if size.most is None else f"{size.least:,}–{size.most:,}"
        label = f"{in_language(shown) if size.most != size.least else size.least} {study.heads[1]}"
        found[size.label] = Name(words.say("decide.size", entities=study.nouns[1], size=label), label)
    for entity in {seen.group for seen in study.table.observations} & study.table.entities:
        name = plain(entity) if task.name is not None else f"{study.nouns[0]} {plain(entity)}"
        found[entity] = Name(name, name, is_one=True)
    for group in task.groups:
        label = plain(group)
        found[group] = Name(words.say("group.people", label=label), label)
    return found


# --- the question, the promise, warnings, method ----------------------------------------------------


def _question(study: _Study) -> str:
    task, words = study.task, study.words
    if task.is_rule:
        rule = plain(task.rule, longest=_LONGEST_RULE)
        return words.say("decide.question_rule", rule=rule)
    formula = plain(task.formula, longest=_LONGEST_RULE)
    return words.say("decide.question_money", entities=study.nouns[1], formula=formula)


def _currency(task: DecideTask) -> str:
    """Return what stands before an amount; a word has a blank after it, and shares have none."""
    if task.is_rule or task.budget is None:
        return ""
    currency = plain(task.currency)
    return f"{currency} " if re.fullmatch(r"\w{2,}.*", currency) else currency


def _promise(study: _Study) -> Promise | None:
    """Return what is promised to one person by all counts together."""
    task, words, outcome = study.task, study.words, study.outcome
    if outcome is None:
        return None
    delta = study.table.by_name[study.table.page].delta
    epsilon, shown = outcome.measures["claimed_epsilon"], delta_text(delta)
    if delta >= MEANINGLESS_DELTA or not math.isfinite(epsilon):
        return Promise(words.say("release.promise_none", delta=shown))
    unit = words.say("release.replace_one" if task.unit == UNITS[0] else "release.add_or_remove_one")
    fails = words.say("release.promise_delta", delta=shown) if delta else ""
    weight = [] if task.weight is None else [plain(task.weight)]
    public = [plain(task.name) if task.name else study.nouns[1], *weight, *map(plain, task.groups)]
    assumes = words.say("decide.assumes", counts=task.counts_touched, public=public)
    facts = (
        Fact(words.say("study.guarantee"), f"{epsilon_words(epsilon)}, δ = {shown}"),
        Fact(words.say("study.unit"), unit),
        Fact(words.say("study.mechanism"), study.names[study.page]),
        Fact(words.say("study.assumes"), assumes),
    )
    return Promise(words.say("release.promise", unit=unit, factor=odds_factor(epsilon), delta=fails), facts)


def _warnings(study: _Study) -> list[Warned]:
    """Return that a total may be 0, that remedies promise nothing, and what the page's remedy takes."""
    found, language = [], study.words.language
    notes = () if study.outcome is None else study.outcome.notes
    total = next((note for note in notes if getattr(note, "kind", "") == "total"), None)
    if total is not None:
        found.append(warned(language, "decide.total", why=plain(total, longest=400)))
    page = study.page
    beside = [each for each in study.names if each.is_protected and each.epsilon == page.epsilon]
    bad = [study.names[each] for each in beside if study.table.by_name[str(each)].delta >= MEANINGLESS_DELTA]
    if bad:
        found.append(warned(language, "release.suppression", names=listed(bad, most=3), delta="1"))
    for caution in _cautions(study, [page]):
        head, _, text = caution.removeprefix("**").partition("** ")
        found.append(Warned(head, text))
    return found


def _cautions(study: _Study, settings: list[Setting]) -> list[str]:
    """Return what the mitigations of some settings assume or leave open, which is written in English."""
    problem: Problem = "rule" if study.task.is_rule else "allotment"
    kinds = [mitigation.kind for each in settings if (mitigation := method_of(each)[1])]
    found = dict.fromkeys(kind.cautions[problem] for kind in kinds if problem in kind.cautions)
    return list(found) if study.words.language == "en" else []


def _method(study: _Study) -> list[str]:
    """Return what is decided, and how it was computed."""
    task, words, outcome = study.task, study.words, study.outcome
    if task.is_rule:
        lines = [plain(task.rule, longest=600)]
    else:
        budget = MILLION if task.budget is None else task.budget
        amount = f"{_currency(task)}{in_language(f'{budget:,.0f}')}"
        lines = [words.say("decide.method_money", budget=amount, formula=plain(task.formula, longest=300))]
        lines.append(words.say("decide.worst"))
    notes = () if outcome is None else (plain(note, longest=500).rstrip(".") for note in outcome.notes)
    remedies = [each for each in study.names if each != study.page]
    lines += [caution.replace("**", "") for caution in _cautions(study, remedies)]
    return [*lines, *(f"{note[:1].upper()}{note[1:]}." for note in notes)]
