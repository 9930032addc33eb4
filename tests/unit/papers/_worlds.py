"""Made-up evidence of every paper, and what changes it or the paper's own side of a comparison."""

import math
import sys
import zlib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import is_dataclass, replace
from importlib import import_module
from itertools import count
from numbers import Real
from types import FunctionType, ModuleType

import numpy as np

from evenhand.papers import rules
from evenhand.papers.claims import AGREES, CONTRADICTED, Evidence, agree_if
from evenhand.papers.paper import list_entries, read_toml
from evenhand.papers.rules import fact, shift_estimate
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results


def package_of(paper):
    """Return the package of a paper by its key."""
    return f"evenhand.papers.{paper.replace('-', '_')}"


def entries_of(paper):
    """Return the entries of a paper's claims by their id."""
    return {entry["id"]: entry for entry in list_entries(read_toml(package_of(paper), "claims.toml"))}


# --- evidence as the paper tells it ---------------------------------------------------------------


def _arcolezi():
    return import_module("unit.papers.arcolezi2023.test_paper").evidence_of()


def _makhlouf():
    module = import_module("unit.papers.makhlouf2024.test_paper")
    return Evidence(import_module("unit.papers._made_up_groups").world(module.as_in_the_paper))


def _central():
    module = import_module("unit.papers.ghoukasian2024_central.test_paper")
    return Evidence({}, None, {**module.evidence().trials, module.ACCOUNTING: module.accounts()})


def _local():
    made_up = import_module("unit.papers._made_up_local")
    paper = import_module("evenhand.papers.ghoukasian2024_local.plans")
    projection = import_module("evenhand.papers.ghoukasian2024_local.projection")
    mechanisms = import_module("evenhand.papers.ghoukasian2024_local.plans")
    studies = {name: made_up.made(name, made_up.as_told, made_up.same_use) for name in paper.DATA}
    trials = {name: made_up.printed_records(name, slow=10.0) for name in projection.SETS}
    trials[projection.GRR_TRIALS] = {0: {epsilon: {"test": {"sp": 0.22}} for epsilon in projection.EPSILONS}}
    return Evidence(studies, None, {**trials, mechanisms.MECHANISMS: made_up.mechanism_records()})


def _fioretto():
    evidence = import_module("unit.papers._made_up_decisions").evidence()
    allotment = import_module("evenhand.papers.fioretto2021.allotment")
    data = import_module("evenhand.papers.fioretto2021.data")
    record = evidence.trials["allotment"][0]
    record["districts"] = 16_441
    middle = sorted(record["sizes"])[len(record["sizes"]) // 2]
    for text, found in record["epsilons"].items():
        summary = found["summary"]
        summary[allotment.AS_PRINTED]["alpha"] = summary[data.PLAIN]["alpha"] = float(
            data.BOUNDS.get(text, 1)
        )
        summary[data.CLAMP] |= {"average": float(data.AVERAGE.get(text, 1)), "alpha": 2.0}
        summary[f"T = {allotment.STRENGTHS[0]:g} b^2"]["alpha"] = 1.9
        favoured = [float(middle - size) for size in record["sizes"]]
        found["bias"] |= {data.CLAMP: favoured, data.PLAIN: favoured}
    for number, proxies in evidence.trials["proxies"].items():
        for rows in proxies["epsilons"].values():
            for place, row in enumerate(rows):
                wobble = 0.001 * (number % 3) + 0.01 * place
                row["original"]["alpha"] = 0.9 - wobble
                row["regression"] |= {"alpha": 0.5 - 1.1 * wobble, "right": 0.8 + wobble}
                row["svm"] |= {"alpha": 0.4 - 1.2 * wobble, "right": 0.9 + 1.1 * wobble}
    return evidence


WORLDS = {
    "arcolezi2023": _arcolezi,
    "makhlouf2024": _makhlouf,
    "ghoukasian2024-central": _central,
    "ghoukasian2024-local": _local,
    "zhu2023": lambda: import_module("unit.papers._made_up_tables").evidence(),
    "fioretto2021": _fioretto,
}
"""From a paper's key to evidence in which most of what it states holds."""


# --- our side -------------------------------------------------------------------------------------


def scramble(evidence, change):
    """Return evidence in which `change(path, number)` took the place of every number."""
    studies = {
        name: Results(
            results.plan,
            replace(results.facts, rows=results.facts.rows + 1, schema=_wider(results.facts.schema)),
            [_scrambled(each, change) for each in results.outcomes],
        )
        for name, results in evidence.studies.items()
    }
    trials = {
        name: {number: _walk(record, change, (name,)) for number, record in records.items()}
        for name, records in evidence.trials.items()
    }
    return Evidence(studies, evidence.published, trials)


def _adult_as_stated(evidence):
    """Return evidence of makhlouf2024 whose Adult has the features and the threshold that the text states."""
    entries, own = entries_of("makhlouf2024"), evidence.studies["adult-27260"]
    features, threshold = (entries[name]["with"]["paper"] for name in ("adult-features", "adult-middle"))
    columns = [Column(name, Domain.integers(0, 1)) for name in (*features, "target")]
    schema = Schema(columns, target="target", positive=1, protected="gender", privileged=1)
    options = {**own.plan.data.options, "threshold": threshold}
    plan = own.plan.with_(data=DataSource(dataset=own.plan.data.dataset, options=options))
    stated = Results(plan, replace(own.facts, schema=schema), own.outcomes)
    return replace(evidence, studies={**evidence.studies, "adult-27260": stated})


STATED = {"makhlouf2024": _adult_as_stated}
"""From a paper's key to evidence of ours as its text states it, where made-up evidence is not."""


def _wider(schema):
    """Return a schema in which every column but the target has one more value, a step above the last."""
    return schema.with_columns(
        *(Column(each.name, _wider_domain(each.domain)) for each in schema if each.name != schema.target)
    )


def _wider_domain(domain):
    if not domain.values:
        return Domain.integers(domain.low, domain.high + 1)
    *_, before, last = domain.values
    return Domain.categorical([*domain.values, f"not {last}" if isinstance(last, str) else 2 * last - before])


def _scrambled(outcome, change):
    path = (outcome.cell.setting.id,)
    return replace(
        outcome,
        measures=_walk(outcome.measures, change, path),
        groups=_walk(outcome.groups, change, path),
        data=_walk(outcome.data, change, path),
    )


def _walk(value, change, path):
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, Real):
        return type(value)(change(path, value))
    if isinstance(value, Mapping):
        return {key: _walk(part, change, (*path, key)) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(part, change, (*path, place)) for place, part in enumerate(value)]
    return deepcopy(value)


def _of_path(path, seed, many):
    return zlib.crc32(repr((seed, *path)).encode()) % many


CHANGES = {
    "times 3": lambda _, value: value * 3,
    "a third": lambda _, value: value / 3,
    "none": lambda _, value: value * 0,
    "turned round": lambda _, value: -value,
    "from 1": lambda _, value: 1 - value,
    **{
        f"mixed {seed}": lambda path, value, seed=seed: value * (1 + _of_path(path, seed, 5))
        for seed in range(4)
    },
    **{
        f"mixed up {seed}": lambda path, value, seed=seed: value + 0.3 * _of_path(path, seed, 4)
        for seed in range(4)
    },
    "T* is best": lambda path, value: value * (0 if "T*" in path else 3),
}
"""What may happen to our numbers, by name."""


def computed_names(paper):
    """Return what the checks of a paper compute with: functions, and the modules `math` and `numpy`."""
    package = package_of(paper)
    checks = {entry.get("check") for entry in entries_of(paper).values()}
    known = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(package) and name.endswith("checks"):
            for key, value in vars(module).items():
                if (_is_computed(value) and key not in checks) or value is math or value is np:
                    known[name, key] = (module, key)
                    known["numpy.linalg", "lstsq"] = (np.linalg, "lstsq")
                elif isinstance(value, ModuleType) and value.__name__.startswith("evenhand"):
                    own = [each for each, part in vars(value).items() if _is_computed(part)]
                    known |= {(value.__name__, each): (value, each) for each in own}
    used = _names_used(paper)
    return sorted(known.values(), key=lambda place: place[1] not in used)


def _names_used(paper):
    """Return the names in the functions that check claims, which are worth trying first."""
    checks = {entry.get("check") for entry in entries_of(paper).values()}
    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith(package_of(paper)):
            own = [vars(module)[each] for each in checks & set(vars(module))]
            found |= {
                used for each in own if isinstance(each, FunctionType) for used in each.__code__.co_names
            }
    return found


def _is_computed(value):
    """Return whether it gives numbers: a protocol, or a function that does not judge or read them."""
    home = getattr(value, "__module__", "") or ""
    if isinstance(value, type):
        return home.startswith("evenhand.collect.protocols")
    return isinstance(value, FunctionType) and home.startswith("evenhand") and home not in _JUDGES


_JUDGES = {f"evenhand.papers.{name}" for name in ("claims", "rules", "paper", "trials", "tables")}


class _Distorted:
    """A module whose functions give other numbers."""

    def __init__(self, module, change):
        self._module, self._change, self._made = module, change, {}

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if isinstance(value, ModuleType):
            return self._made.setdefault(name, _Distorted(value, self._change))
        if not callable(value) or isinstance(value, type):
            return value
        return self._made.setdefault(name, distort(value, self._change))


class _DistortedThing:
    """A thing of evenhand, such as a protocol or a channel, whose attributes are other numbers."""

    def __init__(self, thing, change, call):
        self._thing, self._change, self._calls = thing, change, count(call)

    def __getattr__(self, name):
        return _walk_numbers(getattr(self._thing, name), self._change, next(self._calls))


def distort(function, change):
    """Return a function, or a module of functions, that gives other numbers."""
    if isinstance(function, ModuleType):
        return _Distorted(function, change)
    calls = count(1)

    def distorted(*given, **more):
        return _walk_numbers(function(*given, **more), change, next(calls))

    return distorted


def _has_numbers(value):
    return type(value).__module__.startswith(
        ("evenhand.collect", "evenhand.measure", "evenhand.study.profile")
    )


def _walk_numbers(value, change, call):
    if isinstance(value, np.ndarray) and value.dtype.kind in "fi":
        return change(value.astype(float), call)
    if isinstance(value, type) and _is_computed(value):
        return distort(value, change)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(_walk_numbers(part, change, call) for part in value)
    if is_dataclass(value) and not isinstance(value, type) and _has_numbers(value):
        return _DistortedThing(value, change, call)
    if isinstance(value, bool) or not isinstance(value, Real | Mapping | list | tuple):
        return value
    if isinstance(value, Real):
        return change(float(value), call)
    if isinstance(value, Mapping):
        return {key: _walk_numbers(part, change, call) for key, part in value.items()}
    return type(value)(_walk_numbers(part, change, call) for part in value)


DISTORTIONS = {
    "a tenth more": lambda value, _: value * 1.1 + 0.01,
    "much more": lambda value, _: value * 5 + 5,
    "none": lambda value, _: value * 0.0,
    "other in each call": lambda value, call: value + 0.2 * call,
    "fewer in each call": lambda value, call: value / 3**call,
    "the same for all": lambda value, _: value * 0.0 + 1.0,
    "a sixth": lambda value, _: value / 6,
    "endless": lambda value, _: value + math.inf,
    "a thousandfold in each call": lambda value, call: value * 1000.0**call,
}
"""What may happen to a number that is computed without evidence, by name."""


def constants_of(paper):
    """Return the constants of a paper's modules that hold numbers or texts, with every place of each.

    They are what its files print, the settings of its studies and the sizes of its examples.
    """
    known = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(package_of(paper)):
            for key, value in vars(module).items():
                if key.isupper() and isinstance(value, tuple | list | Mapping) and value:
                    known.setdefault(id(value), (value, []))[1].append((module, key))
    return list(known.values())


def change_constants(paper, change):
    """Return every place of a paper's constants with their other numbers."""
    return [(place, _walk_texts(value, change)) for value, places in constants_of(paper) for place in places]


def other_constants(value):
    """Yield a constant with other numbers, and without each of its parts."""
    for change in DISTORTIONS.values():
        yield _walk_texts(value, change)
    for left_out in range(len(value)):
        if isinstance(value, Mapping):
            yield {key: part for place, (key, part) in enumerate(value.items()) if place != left_out}
        elif type(value) in (tuple, list):
            yield type(value)(part for place, part in enumerate(value) if place != left_out)


def _walk_texts(value, change):
    """Return a constant with other numbers, those that are told as texts among them."""
    if isinstance(value, str):
        try:
            return f"{change(float(value), 1):.9g}"
        except ValueError:
            return value
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(_walk_texts(part, change) for part in value)
    if isinstance(value, Mapping):
        return {key: _walk_texts(part, change) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_walk_texts(part, change) for part in value)
    return change(float(value), 1) if isinstance(value, Real) and not isinstance(value, bool) else value


# --- the paper's side -----------------------------------------------------------------------------


def _flipped(checked):
    turned = {AGREES: CONTRADICTED, CONTRADICTED: AGREES}
    return replace(checked, verdict=turned.get(checked.verdict, checked.verdict))


def opposite_rules():
    """Return every rule by its name, for a paper that states the opposite or prints another number."""
    mostly, below, alike = rules.mostly, rules.below, rules.alike
    quoted, published_mean, same = rules.quoted, rules.published_mean, rules.same
    majority = rules.majority
    return {
        "mostly": lambda found, **more: mostly([shift_estimate(each, sign=-1) for each in found], **more),
        "below": lambda found, *, limit, **more: _flipped(below(found, limit=limit, **more)),
        "alike": lambda found, **more: _flipped(alike(found, **more)),
        "quoted": lambda ours, paper, **more: quoted(ours, paper * 2 + 1, **more),
        "published_mean": lambda ours, theirs, **more: published_mean(ours, theirs * 2 + 1, **more),
        "same": lambda ours, paper, **more: same(ours, paper * 2 + 1, **more),
        "fact": lambda ours, paper, **more: fact(ours, (paper, "other") if ours == paper else ours, **more),
        "agree_if": lambda holds, **more: agree_if(not holds, **more),
        "majority": lambda above, below, number: majority(below, above, number),
    }


PRINTED = {
    "printed_number": lambda own: lambda *given: _other_number(own(*given)),
    "check_number": lambda own: lambda ours, paper: own(ours, f"{float(paper) * 3 + 1:.9f}"),
    "check_amount": lambda own: lambda ours, paper: own(ours, paper * 3 + 1),
}
"""From a function that reads or checks a printed number to the same with another number."""


def _other_number(printed):
    text, value, unit = printed
    return text, value * 3 + 1, unit


def state_the_opposite(monkeypatch, paper):
    """Let every module of a paper compare with the opposite of what it states."""
    opposite = opposite_rules()
    for name, module in list(sys.modules.items()):
        if name.startswith(package_of(paper)):
            for rule, changed in opposite.items():
                if rule in vars(module):
                    monkeypatch.setattr(module, rule, changed)
            for reader, change in PRINTED.items():
                if reader in vars(module):
                    monkeypatch.setattr(module, reader, change(getattr(module, reader)))
    for rule in list(rules.RULES):
        monkeypatch.setitem(rules.RULES, rule, opposite[rule])


TWO_SIDED = {
    "arcolezi2023": {"rq2-utility"},
    "ghoukasian2024-central": {"table-3.1-private", "table-3.2-private"},
}
"""Claims whose opposite may come out the same: of a paper that contradicts itself, or readings disagree."""
