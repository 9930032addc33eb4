"""What a person should know before a study runs, most important first, with what to type instead.

What is found is about the true rows: it is for whoever holds them, on their terminal or page, and stands in
no note, record, log or exception. Kinds of study say in :attr:`Task.checks` what is looked at.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.answer.effects import FEWEST_PEOPLE
from evenhand.report.language import language_now
from evenhand.report.words import number
from evenhand.schema.infer import open_frame
from evenhand.schema.text import brief
from evenhand.study.page.naming import name_groups
from evenhand.study.page.words import words_in
from evenhand.study.profile.leakage import leak_of
from evenhand.study.tasks.base import Prepared
from evenhand.study.tasks.effects.classifiers import is_unwanted
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.table.repeated_people import find_repeated_people, is_numbered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.plan.facts import Facts, Leak
    from evenhand.study.plan.plan import Plan

LOOKED_AT = ("privacy", "target", "unit")
"""Kinds of notes on what a first look tells with its figures."""

MOST_ROWS = 200_000
"""Of more rows so many are looked at; of many columns fewer."""

_MOST_NUMBERS = 20_000_000
_MOST_NAMED = 5
_EQUAL = 0.99  # of people held out: what is wrong beyond is bins, or a slip of the pen
_TELLS, _HALF = 0.9, 0.5  # of people, and of the errors without the column
_FEWEST_OF_VALUE = 30
_CHANCE = 1e-9
_SETTLED = 0.2  # of all with an outcome
_BINS = 20
_USUAL_REPEATS = 10
_ROUND: tuple[int, ...] = tuple(lead * 10**power for power in range(1, 6) for lead in (1, 2, 3, 5))
_PERCENT = re.compile(r"(?<![a-z])(pct|perc|percent|prct|share|rate|prop|ratio)|%", re.IGNORECASE)
_FEWEST_ENTITIES, _FEWEST_LETTERS = 20, 4
_COUNTED = re.compile(
    r"(?<![a-z])((?P<sure>freq|frequency)|n|counts?|number|total|cases|persons|people|population)(?![a-z])"
)
_MOST_CELLS = 10_000


@dataclass(frozen=True)
class Finding:
    """One thing to know before a study runs: what was found, what to do about it, and what to type.

    `options` are to be typed besides, and names of columns `renamed` in options that hold formulas or lists.
    It `stops` where the study could not answer, or would answer another question.
    """

    name: str
    text: str
    todo: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    stops: bool = False

    def __repr__(self) -> str:
        return f"<Finding: {self.name}>"  # no figure of the rows


def preflight(plan: Plan, frame: Any, prepared: Prepared | None = None) -> tuple[Finding, ...]:
    """Return what stops a study and what it should warn of, what stops first; built-in data never stops.

    Parameters
    ----------
    plan : Plan
    frame : frame
        Its rows.
    prepared : Prepared, optional
        The same rows as codes, for kinds whose rows are people.
    """
    found: list[Finding] = []
    if "counts" in plan.task.checks:
        found += _look_at_counts(plan, frame)
    if "people" in plan.task.checks:
        found += _look_at_people(plan, frame)
    if prepared is not None and len(prepared.group):  # rows of entities have neither group nor target
        rows = _draw_evenly(prepared)
        looks = {"outcomes": _look_at_outcomes, "secrets": _look_at_secrets, "proxies": _look_at_proxies}
        found += _look_at_groups(plan, prepared) if "groups" in plan.task.checks else ()
        found += [each for name in looks if name in plan.task.checks for each in looks[name](rows)]
        found += _look_at_ids(rows, frame) if "outcomes" in plan.task.checks else ()
    if plan.data is not None and plan.data.dataset is not None:
        found = [replace(each, stops=False) for each in found]
    return tuple(sorted(found, key=lambda each: not each.stops))


def _draw_evenly(prepared: Prepared) -> Prepared:
    """Return evenly spaced rows of what is looked at, without the features of a model."""
    places, most = np.arange(prepared.facts.rows), _most_rows(len(prepared.codes))
    if len(places) > most:
        places = np.linspace(0, len(places) - 1, most).astype(np.intp)
    codes = {name: values[places] for name, values in prepared.codes.items()}
    return Prepared(prepared.facts, codes, prepared.target[places], prepared.group[places])


def _most_rows(columns: int) -> int:
    return min(MOST_ROWS, _MOST_NUMBERS // max(columns, 1))


def _say(key: str, /, **slots: Any) -> str:
    return words_in(language_now()).say(f"preflight.{key}", **slots)


def _quoted(names: Iterable[str]) -> list[str]:
    return [f"'{brief(name)}'" for name in names]


def _leave_out(name: str, names: Sequence[str], text: str, *, todo: str, stops: bool = False) -> Finding:
    todo = _say(todo, columns=_quoted(names), n=len(names))
    return Finding(name, text, todo, {"--drop": typed_list(names)}, stops=stops)


# --- whose rows, and how many ----------------------------------------------------------------------


def _look_at_people(plan: Plan, frame: Any) -> Iterator[Finding]:
    """Yield that rows are counts of people, or one person's where nobody said whose they are."""
    if plan.schema is not None and plan.schema.person is not None:
        return
    rows = open_frame(frame)
    rows = rows.head(_most_rows(len(rows.columns))).to_arrow()
    if plan.schema is not None and (counted := _find_counts(plan.schema, rows)):
        text = _say("counted", column=_quoted([counted])[0])
        yield Finding("counted", text, _say("one_each"), stops=True)
        return
    found = find_repeated_people(rows)
    if found is not None:
        slots = {"column": _quoted([found.column])[0], "constant": _quoted(found.constant[:3])}
        text = _say("people", rows=f"{found.rows_each:g}", n=len(found.constant[:3]), **slots)
        yield Finding("people", text, _say("one_row", **slots), {"--person": found.column}, stops=True)


def _find_counts(schema: Schema, rows: pa.Table) -> str:
    """Return the column that says how many people a row stands for; empty if rows seem to be people.

    Then no two rows are alike but for it, and most combinations of the other columns have a row, or the
    name is that of frequencies.
    """
    for name in rows.column_names:
        values, has_name = rows.column(name), _COUNTED.search(name.lower())
        if not has_name or not pa.types.is_integer(values.type) or not (pc.max(values).as_py() or 0) > 1:
            continue
        crossed = {column: size for column, size in schema.sizes.items() if column != name}
        others = [column for column in rows.column_names if column != name]
        if has_name["sure"] is None:
            others = list(crossed)
            if math.prod(crossed.values()) > min(2 * len(rows), _MOST_CELLS):
                continue
        if others and set(others) <= set(rows.column_names) and _are_apart(rows.select(others)):
            return str(name)
    return ""


def _are_apart(rows: pa.Table) -> bool:
    """Return whether no two rows are alike, though no column alone tells them apart."""
    if len(rows) < 2 or any(
        2 * pc.count_distinct(rows.column(name)).as_py() > len(rows) for name in rows.column_names
    ):
        return False
    return len(rows.group_by(rows.column_names).aggregate([])) == len(rows)


@dataclass(frozen=True)
class Group:
    """A group that a classifier is judged on: its people, and how many of them have the positive outcome."""

    label: str
    people: int
    qualified: float

    def is_judged(self, seen: float) -> bool:
        """Return whether every harm can be judged where a share of people is tested."""
        return self.qualified * seen >= FEWEST_PEOPLE


def share_seen(plan: Plan) -> float:
    """Return the share of people that the test part of some repeat holds."""
    task: Any = plan.task
    return 1.0 if getattr(task, "folds", None) else 1 - (1 - task.test) ** plan.repeats


def people_to_judge(base: float, *, seen: float) -> float:
    """Return how many people a group takes for every harm to be judged; infinite where nobody qualifies.

    `seen` is the share of people that some test part holds, `base` the share of those who qualify.

    >>> round(people_to_judge(0.5, seen=0.9))
    67
    """
    return FEWEST_PEOPLE / (seen * base) if base > 0 else math.inf


def _look_at_groups(plan: Plan, prepared: Prepared) -> Iterator[Finding]:
    """Yield that no group can be judged, or which cannot wholly, with the number that each would take."""
    seen, groups = share_seen(plan), list(_groups_of(prepared, everybody=is_unwanted(plan)))
    small = [each for each in groups if not each.is_judged(seen)]
    if not small:
        return
    names = name_groups(prepared.facts, language_now())
    sizes = [_say_size(each, names[each.label].label, seen) for each in small[:_MOST_NAMED]]
    more = len(small) - len(sizes)
    slots = {"groups": "; ".join([*sizes, *([_say("more", n=more)] if more else [])]), "n": len(small)}
    stops = all(each.people * seen < FEWEST_PEOPLE for each in groups)
    options, todo = _propose_more(plan, groups, prepared)
    if stops and not options:  # what judges a group at all
        anybody = [replace(each, qualified=each.people) for each in groups]
        options, todo = _propose_more(plan, anybody, prepared)
    yield Finding("groups", _say("none" if stops else "few", **slots), todo, options, stops=stops)


def _groups_of(prepared: Prepared, *, everybody: bool) -> Iterator[Group]:
    """Yield every group and margin of a crossing; everybody counts where refusals are no harm."""
    facts, share = prepared.facts, len(prepared.facts.groups)
    stated = prepared.group < share
    codes, hopeful = (
        prepared.group[stated],
        np.ones(int(stated.sum())) if everybody else prepared.target[stated],
    )
    weights = np.ones(len(codes)) if prepared.survey_weights is None else prepared.survey_weights[stated]
    whole = np.bincount(codes, weights, minlength=share)
    part = np.bincount(codes, weights * hopeful, minlength=share)
    sums: dict[str, list[float]] = {}
    for place, label in enumerate(facts.groups):
        for name in (label, *facts.group_margins.get(label, ())):
            of = sums.setdefault(name, [0, 0.0, 0.0])
            of[0] += facts.people[place]
            of[1] += float(whole[place])
            of[2] += float(part[place])
    return (Group(name, int(of[0]), of[0] * of[2] / of[1] if of[1] else 0.0) for name, of in sums.items())


def _say_size(group: Group, label: str, seen: float) -> str:
    needed = people_to_judge(group.qualified / group.people if group.people else 0, seen=seen)
    if math.isinf(needed):
        return _say("nobody", group=label, people=group.people)
    return _say("size", group=label, people=group.people, needed=number(float(f"{needed:.2g}"), 0))


def _propose_more(plan: Plan, groups: list[Group], prepared: Prepared) -> tuple[dict[str, str], str]:
    """Return the options by which every group could be judged, and what they do: repeats, a pool, or both."""
    most = max(plan.repeats, _USUAL_REPEATS)
    for repeats, below in ((most, 0), (plan.repeats, None), (most, None)):
        seen = share_seen(plan.with_(repeats=repeats))
        joined = propose_pool(groups, prepared.facts, seen=seen) if below is None else 0
        if joined is None or (not joined and not all(each.is_judged(seen) for each in groups)):
            continue
        more = repeats > plan.repeats
        options = {"--repeats": str(repeats)} if more else {}
        options |= {"--pool-below": str(joined)} if joined else {}
        todo = [_say("repeats", n=repeats)] * more + [_say("pool", n=joined)] * bool(joined)
        return options, " ".join(todo)
    return {}, ""


def propose_pool(groups: Sequence[Group], facts: Facts, *, seen: float) -> int | None:
    """Return the least round number below which joined groups are all judged; None where none does."""
    if facts.schema.crossing is not None:
        return None
    sizes = {place: size for place, size in enumerate(facts.sizes) if place != facts.privileged}
    for below in (each for each in _ROUND if each > (facts.schema.pool_below or 0)):
        joined = [groups[place] for place, size in sizes.items() if size < below]
        left = [each for each in groups if each not in joined]
        pool = Group("", sum(each.people for each in joined), sum(each.qualified for each in joined))
        if len(joined) > 1 and all(each.is_judged(seen) for each in (pool, *left)):
            return below
    return None


# --- columns that tell too much --------------------------------------------------------------------


def _look_at_outcomes(prepared: Prepared) -> Iterator[Finding]:
    """Yield the columns that equal the target, and those that partly reveal it."""
    full = prepared.facts.target_leaks
    target = _quoted([str(prepared.facts.schema.target)])[0]
    if full:
        names, least = [leak.by[0] for leak in full], min(leak.guessed for leak in full)
        equal = max(leak.guessed for leak in full) >= _EQUAL
        text = _say("equal", columns=_quoted(names), n=len(names), target=target, guessed=least)
        yield _leave_out("equal", names, text, todo="known_late", stops=equal)
    partly = list(_find_partial(prepared, without={leak.by[0] for leak in full}))[:_MOST_NAMED]
    if partly:
        texts = " ".join(text for _, text in partly)
        yield _leave_out("reveal", [name for name, _ in partly], texts, todo="known_late")


def _find_partial(prepared: Prepared, *, without: set[str]) -> Iterator[tuple[str, str]]:
    """Yield columns that settle the target for many, or tell it for nearly all, each with its sentence."""
    schema, target = prepared.facts.schema, prepared.target
    rate = float(target.mean()) if target.size else 0.0
    fixed = {*without, schema.target, *schema.protected_columns, *schema.sensitive}
    for name, codes in prepared.codes.items():
        if name in fixed or not 0 < rate < 1:
            continue
        people, hopeful, is_ranged = _count_by_value(codes, target)
        right = float(np.maximum(hopeful, people - hopeful).sum() / target.size)
        slots = {"column": _quoted([name])[0], "target": _quoted([str(schema.target)])[0]}
        settled = _count_settled(people, hopeful, rate, is_ranged=is_ranged)
        if settled:
            yield name, _say("settles", **slots, share=settled / target.size)
        elif right >= _TELLS and 1 - right <= _HALF * min(rate, 1 - rate):
            found = leak_of(str(schema.target), target, {name: codes})
            if found is not None and found.guessed >= _TELLS:
                yield name, _say("tells", **slots, guessed=found.guessed)


def _count_by_value(codes: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """Return people and positive outcomes of each value of a column; of many values, of ranges of them."""
    people, hopeful = np.bincount(codes), np.bincount(codes, weights=target)
    is_there = people > 0
    people, hopeful = people[is_there], hopeful[is_there]
    if len(people) <= _BINS:
        return people, hopeful, False
    below = np.cumsum(people)
    cuts = np.linspace(0, 1, _BINS + 1)[1:-1] * (below[-1] - 1)
    edges = np.unique(np.searchsorted(below, np.floor(cuts), side="right"))
    places = np.searchsorted(edges, np.arange(len(people)), side="left")
    return np.bincount(places, people).astype(int), np.bincount(places, hopeful), True


def _count_settled(people: NDArray[Any], hopeful: NDArray[Any], rate: float, *, is_ranged: bool) -> int:
    """Return how many people have a value that always comes with one outcome; 0 if few of that outcome have.

    Of ranges of numbers only the rarer outcome counts: a number may well tell who has the usual one.
    """
    settled, is_many = 0, False
    for whole, share in ((people, rate), (0, 1 - rate)):
        is_pure = (hopeful == whole) & (people >= _FEWEST_OF_VALUE)
        is_pure &= people * math.log(share) < math.log(_CHANCE)
        if not is_ranged or share <= _HALF:
            settled += int(people[is_pure].sum())
            is_many |= bool(people[is_pure].sum() >= _SETTLED * share * people.sum())
    return settled if is_many else 0


def _look_at_secrets(prepared: Prepared) -> Iterator[Finding]:
    """Yield what columns in the clear give away of those that people randomise."""
    for leak in prepared.facts.leaks:
        yield _say_leak(leak, prepared, key="secret" if leak.is_full else "secret_part")


def _look_at_proxies(prepared: Prepared) -> Iterator[Finding]:
    """Yield features that give a protected column away, which the model is not to see."""
    schema, codes = prepared.facts.schema, prepared.codes
    inputs = {name: codes[name] for name in codes if name not in schema.protected_columns}
    for name in schema.protected_columns:
        leak = leak_of(name, codes[name], inputs)
        if leak is not None and leak.is_full:
            yield _say_leak(leak, prepared, key="proxy")


def _say_leak(leak: Leak, prepared: Prepared, *, key: str) -> Finding:
    schema = prepared.facts.schema
    fixed = {schema.target, schema.weight, *schema.protected_columns, *schema.sensitive}
    free = [name for name in leak.by if name not in fixed]
    slots = {"column": _quoted([leak.column])[0], "by": _quoted(leak.by), "n": len(leak.by)}
    text = _say(key, guessed=leak.guessed, base=leak.base, **slots)
    return _leave_out(key, free, text, todo=f"{key}_todo") if free and leak.is_full else Finding(key, text)


def _look_at_ids(prepared: Prepared, frame: Any) -> Iterator[Finding]:
    """Yield columns in which every row has another value, and which look like names or numbers of rows."""
    schema, rows = prepared.facts.schema, open_frame(frame).head(MOST_ROWS).to_arrow()
    roles = {schema.target, *schema.protected_columns, *schema.sensitive}
    names = [
        name
        for name in prepared.codes
        if name not in roles and name in rows.column_names and _numbers_rows(name, rows.column(name))
    ]
    if names:
        yield _leave_out("ids", names, _say("ids", columns=_quoted(names)), todo="ids_todo")


def _numbers_rows(name: str, values: Any) -> bool:
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if len(values) < _FEWEST_OF_VALUE or not (
        is_text or (pa.types.is_integer(values.type) and is_numbered(name))
    ):
        return False
    return bool(pc.count_distinct(values).as_py() == len(values))


# --- counts of entities ----------------------------------------------------------------------------


def _look_at_counts(plan: Plan, frame: Any) -> Iterator[Finding]:
    """Yield columns of percentages where counts of people are needed, with counts in their place."""
    task: Any = plan.task
    rows = open_frame(frame).head(MOST_ROWS)
    counts = [name for name in rows.columns if _holds_counts(name, rows.get_column(name))]
    for name in dict.fromkeys((*task.inputs, *task.groups)):
        values = rows.get_column(name).drop_nulls() if name in rows.columns else None
        if values is None or not len(values) or not values.dtype.is_numeric():
            continue
        numbers = values.to_numpy().astype(np.float64)
        is_within, most = bool(numbers.min() >= 0 and numbers.max() <= 100), float(numbers.max())
        is_whole = bool((numbers == np.floor(numbers)).all())
        if is_within and (_PERCENT.search(name) or not is_whole):
            twin = max(counts, key=lambda each: _common_end(each, name), default="")
            twin = twin if _common_end(twin, name) >= _FEWEST_LETTERS else ""
            total = max(counts, key=lambda each: float(rows.get_column(each).sum()), default="")
            new = f"`{twin}` / `{total}`" if most <= 1 else f"100 * `{twin}` / `{total}`"
            new = twin if name in task.groups or not task.is_rule else new if twin else ""
            new = new or ("" if task.is_rule or name in task.groups else total)
            todo = _say("counts" if counts else "no_counts", columns=_quoted(counts[:8]))
            renamed = {name: new} if new or name in task.groups else {}
            text = _say("percent", column=_quoted([name])[0])
            yield Finding("percent" if is_whole else "fraction", text, todo, renamed=renamed, stops=True)
        elif is_within and len(numbers) >= _FEWEST_ENTITIES and float(np.median(numbers)) > _FEWEST_ENTITIES:
            yield Finding("percent", _say("maybe_percent", column=_quoted([name])[0]))


def _holds_counts(name: str, values: Any) -> bool:
    if not values.dtype.is_integer() or values.null_count() or _PERCENT.search(name) or is_numbered(name):
        return False
    return bool(len(values) and values.min() >= 0 and values.max() > 100)


def _common_end(one: str, other: str) -> int:
    """Return how many letters two names end with alike.

    >>> _common_end("popblack", "percblack")
    5
    """
    pairs = zip(reversed(one.lower()), reversed(other.lower()), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
