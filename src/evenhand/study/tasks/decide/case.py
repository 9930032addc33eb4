"""Say what stands around the effects of decisions: names, the promise, warnings and places one by one."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.answer.case import Case, Name, OptionName, Promise, Warned
from evenhand.answer.effects import per_head
from evenhand.answer.harm import MEANINGLESS_DELTA, lacks
from evenhand.decide.exact.noise import noise_of
from evenhand.decide.mitigate.margin import CHANCE, move_thresholds
from evenhand.report.language import in_language, money_in_language, written_in
from evenhand.report.page import Section, Table
from evenhand.report.words import listed, number, plain
from evenhand.study.page.around import say_around, warned
from evenhand.study.page.wording import digits_of
from evenhand.study.page.words import words_in
from evenhand.study.store.canonical import unpack
from evenhand.study.tasks.decide.effects import MILLION, effects
from evenhand.study.tasks.decide.task import ENTITY_SIZES, method_of
from evenhand.study.tasks.shared.wording import name_mechanism, say_promise, tell_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from evenhand.answer.effects import EffectTable, Observation
    from evenhand.answer.words import Words
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.decide.task import DecideTask

_LONGEST_RULE = 90
_NOUNS = frozenset({
    "agency", "area", "authority", "block", "borough", "campus", "canton", "church", "city",
    "clinic", "college", "commune", "community", "company", "constituency", "council", "country",
    "county", "department", "district", "division", "facility", "firm", "hospital", "institution",
    "library", "municipality", "nation", "neighborhood", "neighbourhood", "office", "parish",
    "plant", "precinct", "prefecture", "province", "school", "settlement", "site", "state",
    "station", "store", "territory", "town", "township", "tract", "university", "village", "ward",
    "zone",
})  # fmt: skip
_CHILDREN = ("child", "children")
_SHOWN = 20  # places one by one; all are in the data behind the table
_SMALL = 0.05
_HARDLY_ANY, _FEWEST = 0.05, 20  # places without a right, among so many


class _Study(NamedTuple):
    """A study with its table, the setting and cell of its page, and what things are called."""

    task: DecideTask
    words: Words
    table: EffectTable
    page: Setting
    outcome: Outcome | None
    rights: NDArray[np.float64]
    names: dict[Setting, str]
    nouns: tuple[str, str]
    heads: tuple[str, str]
    currency: str


def case(task: DecideTask, results: ResultData, *, page: Setting | None = None, language: str = "en") -> Case:
    """Return the effects of decisions from noisy counts with what a page says around them.

    The page is about the setting that the plan fixes, unless another is named.
    """
    table, words = effects(task, results, page=page), words_in(language)
    keys = {setting: str(setting) for setting in results.settings}  # which a language would change
    chosen = next(setting for setting, key in keys.items() if key == table.page)
    done = (each for each in results.outcomes if each.failure is None and each.cell.setting == chosen)
    with written_in(language):
        named = {each: _name_setting(task, each, chosen, words) for each in results.settings}
        names, (nouns, heads) = tell_apart(named, chosen), _nouns(task, words)
        currency = _currency(task)
        study = _Study(
            task, words, table, chosen, next(done, None), _rights(results), names, nouns, heads, currency
        )
        counted = f"{in_language(f'{results.facts.rows:,}')} {nouns[results.facts.rows != 1]}"
        noise = words.say("release.noise")
        asked = "decide.question_rule" if task.is_rule else "decide.question_money"
        return Case(
            table=table,
            kind=words.say("decide.kind"),
            question=words.say(asked, entities=nouns[1], formula=plain(task.formula, longest=_LONGEST_RULE)),
            groups=_groups(study),
            options={
                keys[each]: OptionName(name, column=name, use=words.say("decide.use", name=name))
                if each.is_protected
                else OptionName(name, column=words.say("decide.due"))
                for each, name in names.items()
            },
            protection=f"{noise[:1].upper()}{noise[1:]}",
            heads=heads,
            entities=nouns,
            currency=currency,
            promise=_promise(study),
            evidence=_places(study),
            **say_around(
                results,
                warnings=list(_warnings(study)),
                method=_method(study),
                limits=[words.say("decide.limits")],
                counted=counted,
                is_exact=True,
                language=language,
            ),
        )


def _rights(results: ResultData) -> NDArray[np.float64]:
    """Return which entities have the right by their true counts; nothing where a folder has not kept that."""
    plain = (each for each in results.outcomes if each.failure is None and not each.cell.setting.is_protected)
    truth = (each.columns.get("truth") for each in plain)
    return next((unpack(each) for each in truth if each is not None), np.empty(0))


# --- names ----------------------------------------------------------------------------------------


def _name_setting(task: DecideTask, setting: Setting, page: Setting, words: Words) -> str:
    if not setting.is_protected:
        return words.say("release.true_table")
    steps, mitigation = method_of(setting)
    if mitigation is None:
        return name_mechanism(words, setting, steps, was=method_of(page)[0])
    key = f"decide.{mitigation.name}"
    name = words.say(key, **_slots(task, setting)) if words.has(key) else plain(mitigation.kind.title)
    return f"{name}, {name_mechanism(words, setting)}" if len(task.mechanisms) > 1 else name


def _slots(task: DecideTask, setting: Setting) -> dict[str, str]:
    """Return what is said of a mitigation: of a margin its rule, and in how many releases it fails once."""
    mitigation = method_of(setting)[1]
    if mitigation is None or mitigation.name != "margin":
        return {}
    chance = mitigation.parameters.get("chance", CHANCE)
    rule, noise = task.parsed(), task.noise_of_a_count(setting)
    moved = move_thresholds(rule, noise_of(noise, inputs=rule.inputs), chance)
    return {"odds": number(1 / chance, 0), "rule": plain(moved, longest=300)}


def _nouns(task: DecideTask, words: Words) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return one and several of the entities, and of those whom the table counts.

    In English a column that is named so is the noun: "county", "students".
    """
    one, _, many = words.say("decide.entities").partition("|")
    entities, people = (one, many), (words.say("default.person"), words.say("default.people"))
    if words.language != "en":
        return entities, people
    word = (task.name or "").strip()
    if word in _NOUNS:
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


def _currency(task: DecideTask) -> str:
    """Return what stands before an amount; a word has a blank after it, and shares have none."""
    if task.is_rule or task.budget is None:
        return ""
    currency = plain(task.currency)
    return f"{currency} " if re.fullmatch(r"\w{2,}.*", currency) else currency


# --- the promise, warnings, method ----------------------------------------------------------------


def _promise(study: _Study) -> Promise | None:
    """Return what is promised to one person by all counts together."""
    task, words, outcome = study.task, study.words, study.outcome
    if outcome is None:
        return None
    weight = [] if task.weight is None else [plain(task.weight)]
    public = [plain(task.name) if task.name else study.nouns[1], *weight, *map(plain, task.groups)]
    return say_promise(
        words,
        epsilon=outcome.measures["claimed_epsilon"],
        delta=study.table.by_name[study.table.page].delta,
        unit=task.unit,
        mechanism=study.names[study.page],
        assumes=words.say("decide.assumes", counts=task.counts_touched, public=public),
    )


def _warnings(study: _Study) -> Iterator[Warned]:
    """Yield what the page's method leaves open, that remedies promise nothing, and who is not in the file."""
    language, page = study.words.language, study.page
    lacking, everywhere = int((study.rights == 0).sum()), len(study.rights)
    if study.task.is_rule and everywhere >= _FEWEST and lacking <= _HARDLY_ANY * everywhere:
        slots = {"n": lacking, "m": in_language(f"{everywhere:,}"), "entities": study.nouns[1]}
        yield warned(language, "decide.all_have", **slots)
    notes = () if study.outcome is None else study.outcome.notes
    total = next((note for note in notes if getattr(note, "kind", "") == "total"), None)
    if total is not None:
        yield warned(language, "decide.total", why=plain(total, longest=400))
    beside = [each for each in study.names if each.is_protected and each.epsilon == page.epsilon]
    bad = [study.names[each] for each in beside if study.table.by_name[str(each)].delta >= MEANINGLESS_DELTA]
    if bad:
        yield warned(language, "release.suppression", names=listed(bad, most=3), delta="1")
    yield from _cautions(study, [page])


def _cautions(study: _Study, settings: Iterable[Setting]) -> list[Warned]:
    """Return what the mitigations of some settings assume or leave open; another package says it itself."""
    problem, words = study.task.problem, study.words
    found = []
    for setting, mitigation in ((each, method_of(each)[1]) for each in settings):
        if mitigation is None:
            continue
        key = f"decide.{mitigation.name}_{problem}"
        slots = _slots(study.task, setting)
        said = words.say(key, **slots) if words.has(key) else mitigation.kind.cautions.get(problem, "")
        head, _, text = said.removeprefix("**").partition("** ")
        found.append(Warned(head, text))
    return [caution for caution in dict.fromkeys(found) if caution.head]


def _method(study: _Study) -> list[str]:
    """Return what is decided, and how it was computed."""
    task, outcome = study.task, study.outcome
    if task.is_rule:
        lines = [plain(task.rule, longest=600)]
    else:
        budget = in_language(f"{MILLION if task.budget is None else task.budget:,.0f}")
        slots = {
            "budget": money_in_language(budget, study.currency),
            "formula": plain(task.formula, longest=300),
        }
        lines = [study.words.say("decide.method_money", **slots)]
    notes = () if outcome is None else (plain(note, longest=500).rstrip(".") for note in outcome.notes)
    remedies = [each for each in study.names if each != study.page]
    lines += [" ".join(caution) for caution in _cautions(study, remedies)]
    return [*lines, *(f"{note[:1].upper()}{note[1:]}." for note in notes)]


# --- places one by one ----------------------------------------------------------------------------


def _places(study: _Study) -> tuple[Section, ...]:
    """Return a table of the entities that lack most under the page's option, if any was kept."""
    table, words, is_rule = study.table, study.words, study.task.is_rule
    told = ("refused", "granted") if is_rule else ("short",)
    rows = [
        seen
        for seen in table.by_option[table.page]
        if seen.group in table.entities and seen.effect in told and seen.is_stored
    ]
    if not rows:
        return ()
    rows.sort(key=lambda seen: -float(per_head(seen, lacks(table, seen)[0])))
    rows.sort(key=lambda seen: seen.effect == "granted")  # to gain a right is less than to lose one
    money = f", {study.currency.strip()}" if study.currency else ""
    key = "decide.header_rule" if is_rule else "decide.header_money"
    header = words.say(key, money=money).split("|")
    billed = [table.by_key.get((seen.option, seen.group, "billed")) for seen in rows]
    chances: list[Any] = [math.nan if each is None else each.mean_after for each in billed]
    data: dict[str, list[object]] = {
        "entity": [plain(seen.group) for seen in rows],
        "people": [seen.people for seen in rows],
        "effect": [seen.effect for seen in rows],
        "due": [seen.mean_due for seen in rows],
        "after": [seen.mean_after for seen in rows],
        "worst": [seen.worst for seen in rows],
        **({"billed": chances} if any(billed) else {}),
    }
    made = Table(
        header=header,
        rows=[_tell(seen, chance) for seen, chance in zip(rows[:_SHOWN], chances, strict=False)],
        numeric=[False, *[True] * (len(header) - 1)],
        name="places",
        data=data,
    )
    return (Section(words.say("decide.places", entities=study.nouns[1]), tables=(made,), anchor="places"),)


def _tell(seen: Observation, billed: float) -> list[str]:
    """Return the row of an entity: chances of a right to be lost or gained, or amounts."""
    numbers = [seen.mean_due, seen.mean_after, seen.worst, billed]
    if seen.effect != "short":
        numbers = [seen.mean_after / 10, math.nan]
        numbers = numbers if seen.effect == "refused" else numbers[::-1]
    return [plain(seen.group), number(seen.people, 0), *map(_amount, numbers)]


def _amount(value: float) -> str:
    return number(value, 0 if abs(value) < _SMALL else digits_of(value)) if math.isfinite(value) else "–"
