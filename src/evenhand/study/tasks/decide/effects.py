"""Tell what a decision from noisy counts does to groups of people, to entities by size, and one by one."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.answer.effects import EFFECTS, EVERYBODY, EffectTable, Observation, read_matters
from evenhand.study.store.canonical import unpack
from evenhand.study.tasks.decide.task import ENTITY_SIZES, entity_size_of
from evenhand.study.tasks.effects.options import options_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.answer.effects import Basis
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.decide.task import DecideTask

    Values = NDArray[np.float64]

MILLION = 1e6
"""Amounts of an allotment without a budget are told as of one of a million."""

_MONEY = ("due", "gain", "gain_error", "worst")
_SUMMED = ("people", "due", "gain", "refused", "granted")
_EXPECTED = {"wrong": "expected_wrong", "granted": "expected_granted"}
_STORED = ("gain_error", "refused_error", "granted_error", "worst")  # of classes, whose sums have their own
_MOST_ROWS = 20_000  # rows of entities, all settings together; beyond it those that can decide anything
_WORST_OFF = 100


def effects(task: DecideTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; mitigations and other steps at the page's guarantee are remedies.

    Rows are groups of people, or else classes of entities by size, and entities. Where there are very many
    entities, those have rows that lack most under the page's setting or a remedy, or that a remedy makes lack
    more; under other settings those that lack most. Nobody else could change an answer.
    """
    page = page or task.find_page(results.settings)
    options = options_of(results, page, is_remedy=lambda setting: setting.epsilon == page.epsilon)
    outcomes = [each for each in results.outcomes if each.failure is None and not each.cell.repeat]
    plain = next((each for each in outcomes if not each.cell.setting.is_protected), None)
    cells = {str(each.cell.setting): _read(task, each, plain, results.facts.rows) for each in outcomes}
    asked = [str(page), *(option.name for option in options if option.is_remedy)]
    chosen = _choose_entities(cells, [name for name in asked if name in cells])
    matters = read_matters(results.plan.matters, owner="Plan")
    if not task.is_rule and task.budget is not None:  # less than anybody can be paid is nobody's loss
        matters = {"short": (task.smallest, EFFECTS["short"].share), **matters}
    return EffectTable(
        options,
        tuple(seen for name, cell in cells.items() for seen in _observe(name, cell, chosen[name])),
        str(page),
        entities=frozenset(name for cell in cells.values() for name in cell.names),
        matters=matters,
    )


class _Cell(NamedTuple):
    """Hold what a cell says of groups or classes by size, by their names, and of entities, as columns.

    Numbers are people, due and either refused and granted (people), or gain, worst and billed; those with
    ``_error`` behind their name are standard errors. What is not stored is not there.
    """

    is_rule: bool
    exact: bool
    groups: Mapping[str, Mapping[str, float]]
    names: Sequence[str]
    columns: Mapping[str, Values]
    data: Mapping[str, float]


def _read(task: DecideTask, outcome: Outcome, plain: Outcome | None, entities: int) -> _Cell:
    """Return the numbers of a cell; an older one has fewer entities, and less of each."""
    exact = outcome.measures.get("exact") == 1
    columns = {name: unpack(text) for name, text in outcome.columns.items()}
    names: Sequence[str] = ()
    if plain is not None and plain.names:
        names = plain.names
        columns = {name: unpack(text) for name, text in plain.columns.items()} | columns
        columns.setdefault("bias", np.zeros(len(names)))
    elif outcome.entities:
        names = [name for name, _ in outcome.entities]
        columns = {
            name: np.array([each[name] for _, each in outcome.entities]) for name in ("size", "truth", "bias")
        }
        if not exact:
            columns["standard_error"] = np.full(len(names), outcome.measures.get("error_bound", math.inf))
    if any(len(values) != len(names) for values in columns.values()):
        names, columns = (), {}
    own: dict[str, Any] = _in_units(task, columns) if names else {}
    groups: dict[str, dict[str, Any]] = {
        label: dict(numbers) for label, numbers in outcome.groups.items() if numbers
    }
    if not groups and len(names) == entities:
        groups = _classes(outcome, own)
    if not task.is_rule and task.budget is None:
        for amounts in (*groups.values(), own):
            amounts.update({name: MILLION * amounts[name] for name in _MONEY if name in amounts})
    times = Counter([*names, *groups, EVERYBODY])  # each name is there once, with its row where needed
    apart = [name if times[name] == 1 else f"{name} (row {row})" for row, name in enumerate(names, start=1)]
    data = {**outcome.data, "places": float(entities), "draws": task.draws}
    data |= {name: outcome.measures[name] for name in _EXPECTED.values() if name in outcome.measures}
    return _Cell(task.is_rule, exact, groups, apart, own, data)


def _in_units(task: DecideTask, columns: Mapping[str, Values]) -> dict[str, Values]:
    """Return the numbers of entities in the form of those of a group."""
    people, truth, bias = columns["size"], columns["truth"], columns["bias"]
    error = columns.get("standard_error", np.zeros(len(people)))
    if task.is_rule:
        own = {"people": people, "due": people * truth}
        for name, who in (("refused", truth), ("granted", 1 - truth)):
            own |= {name: people * np.abs(bias) * who, f"{name}_error": people * error * who}
        return own
    money = 1.0 if task.budget is None else task.budget
    own = {"people": people, "due": money * truth, "gain": money * bias, "gain_error": money * error}
    if "billed" in columns:
        own |= {"billed": columns["billed"], "worst": money * columns["worst"]}
    return own


def _classes(outcome: Outcome, own: Mapping[str, Values]) -> dict[str, dict[str, float]]:
    """Return the sums of entities by their size; errors and worst releases of sums are stored."""
    places = entity_size_of(own["people"])
    found: dict[str, dict[str, float]] = {}
    for place in sorted(set(places.tolist())):
        size, here = ENTITY_SIZES[place], places == place
        stored = {name: outcome.data.get(f"{name}_{size.key}") for name in _STORED}
        found[size.label] = {
            **{name: math.fsum(own[name][here]) for name in _SUMMED if name in own},
            **{name: value for name, value in stored.items() if value is not None},
        }
    return found


# --- which entities -------------------------------------------------------------------------------


def _choose_entities(cells: Mapping[str, _Cell], asked: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of the entities that have rows under each setting; `asked` has the page's first."""
    most = max((len(cell.names) for cell in cells.values()), default=0)
    if most * len(cells) <= _MOST_ROWS:
        return {name: list(range(len(cell.names))) for name, cell in cells.items()}
    page = _scores(cells[asked[0]]) if asked else []
    kept: set[int] = set()
    for name in asked:
        own = _scores(cells[name])
        with np.errstate(invalid="ignore"):  # what lacks all of nothing under both
            rises = [after - before for after, before in zip(own, page, strict=False)]
        kept.update(*(_largest(score, _WORST_OFF) for score in (*own, *rises)))
    return {
        name: sorted(kept if name in asked else set().union(*(_largest(each, 1) for each in _scores(cell))))
        for name, cell in cells.items()
    }


def _scores(cell: _Cell) -> list[Values]:
    """Return how much each entity lacks, by effect: beside what is due to it, and per head."""
    own = cell.columns
    if not own:
        return []
    with np.errstate(invalid="ignore", divide="ignore"):
        if cell.is_rule:
            return [own["refused"] / own["due"]]
        scores = [-own["gain"] / own["due"], -own["gain"] / own["people"]]
    return [*scores, own["billed"]] if "billed" in own else scores


def _largest(score: Values, number: int) -> list[int]:
    order = np.argsort(-np.nan_to_num(score, nan=-math.inf), kind="stable")
    return [int(place) for place in order[:number]]


# --- rows -----------------------------------------------------------------------------------------


def _observe(name: str, cell: _Cell, chosen: Sequence[int]) -> Iterator[Observation]:
    """Yield the effects of one cell, which is computed once.

    They are how many of 1,000 who hold a right lose it by error and of 1,000 others gain it, or what is paid
    beside what is due and the chance of a payment below zero; and what is given in all.
    """
    exact, draws, billed_draws = cell.exact, int(cell.data["draws"]), cell.data.get("billed_draws", math.nan)

    def tell(
        group: str, effect: str, after: float, due: float, people: float, *, exact: bool, **more: Any
    ) -> Observation:
        values, owed = (np.array([] if math.isnan(after) else [each]) for each in (after, due))
        basis: Basis = "exact" if exact else "draws"
        return Observation(name, group, effect, values, owed, people, basis, **{"draws": draws, **more})

    def error_of(number: str, numbers: Mapping[str, float]) -> float:
        return 0.0 if exact else numbers.get(f"{number}_error", math.inf)  # which an older cell has not

    one_by_one = {
        cell.names[place]: {number: float(values[place]) for number, values in cell.columns.items()}
        for place in chosen
    }
    for group, numbers in {**cell.groups, **one_by_one}.items():
        people, due = numbers["people"], numbers["due"]
        if not cell.is_rule:
            after, worst = due + numbers["gain"], numbers.get("worst", math.nan)
            error = error_of("gain", numbers)
            yield tell(group, "short", after, due, people, exact=exact, error=error, worst=worst)
            continue
        for effect, those in (("refused", due), ("granted", people - due)):
            if those > 0:
                after, error = (1000 * each / those for each in (numbers[effect], error_of(effect, numbers)))
                yield tell(group, effect, after, 0.0, those, exact=exact, error=error)
    everybody = cell.groups.values()  # none where an older cell kept some of many entities
    sums = {number: math.fsum(each.get(number, 0.0) for each in everybody) for number in _SUMMED}
    if not cell.is_rule:
        whole = {"people": sums["people"], "billed": cell.data.get("billed_any", math.nan)}
        for group, numbers in {**one_by_one, EVERYBODY: whole}.items():
            billed, drawn = numbers.get("billed", math.nan), {}
            if billed_draws > 0:  # one more release with a bill and one without, so that it is never 0
                padded = (billed * billed_draws + 1) / (billed_draws + 2)
                error = 100 * math.sqrt(padded * (1 - padded) / billed_draws)
                drawn = {"error": error, "draws": int(billed_draws)}
            after, people = 100 * billed, numbers["people"]
            yield tell(group, "billed", after, 0.0, people, exact=billed_draws == 0, **drawn)
    yield from _observe_wrong(name, cell)
    given = sums["due"] + sums["gain"] + sums["granted"] - sums["refused"]
    after = given if everybody else math.nan
    yield tell(EVERYBODY, "in_all", after, sums["due"], sums["people"], exact=exact)


def _observe_wrong(name: str, cell: _Cell) -> Iterator[Observation]:
    """Yield how many of 1,000 places a rule is expected to decide wrongly, and to give a right they lack."""
    basis: Basis = "exact" if cell.exact else "draws"
    draws = int(cell.data["draws"])
    for effect, expected in _EXPECTED.items():
        if cell.is_rule and expected in cell.data:
            places = cell.data["places"]
            after = np.array([1000 * cell.data[expected] / places])
            yield Observation(name, EVERYBODY, effect, after, 0 * after, places, basis, draws=draws)
