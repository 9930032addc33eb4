"""What the catalogue knows of each entry: what the registries say, and when to use it and when not.

The registries say which entries there are and, as far as they do, what each is and promises. The files of
``docs/catalogue/entries`` say when to use it and when not, with a line of code. A registered entry that is
missing there, one there that is registered nowhere, or an empty answer is an error, and ends the build.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.app.tasks.answers import choice_words
from evenhand.collect.joint.build import STRATEGIES
from evenhand.collect.joint.split import SPLITS
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.decide.mitigate.registry import mitigation_kinds
from evenhand.measure import MEASURES
from evenhand.measure.disparities import COMPARED_RATES, COMPARISONS, OTHER_NAMES
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.release.postprocess.registry import STEPS
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.privacy.guarantees.guarantee import Guarantee

__all__ = [
    "FAMILIES",
    "Entry",
    "comparison_rows",
    "example_of",
    "list_entries",
    "read_setup",
    "short_guarantee",
]

FOLDER = Path(__file__).parents[1] / "catalogue" / "entries"
MEANINGLESS = 0.01  # a delta from which on a guarantee says nothing
_FORMULA = re.compile(r":? :math:`[^`]*`")
OF_TABLES = ("data_unfairness", "alpha_fairness", "l1_bias")
"""Measures that no report of a classifier has."""


@dataclass(frozen=True)
class Entry:
    """Something of the catalogue: what it is, what it promises, when to use it and when not."""

    family: str
    name: str
    title: str
    does: str
    guarantee: str
    promise: str
    use: str
    avoid: str
    code: str
    reference: str
    page: str


def short_guarantee(guarantee: Guarantee) -> str:
    """Return a guarantee in the few words that a table has room for."""
    if guarantee.trust == "none":
        return "none"
    if guarantee.rho is not None:
        return f"ρ = {float(guarantee.rho):.3g} (zCDP)"
    epsilon, delta = float(guarantee.epsilon or 0), float(guarantee.delta)
    if delta >= MEANINGLESS:
        return f"no meaningful one: δ = {delta:.2f}"
    return f"ε = {epsilon:.3g}" + (f", δ = {delta:.0e}" if delta else ", pure")


def example_of(family: str, name: str) -> Any:
    """Return a protocol or a mechanism with the parameters that the catalogue shows it with."""
    if family == "release":
        parameters = _read("release")["entry"][name].get("example")
        return MECHANISMS[name](**parameters) if parameters else MECHANISMS[name].example()
    if name == "optimal":
        return PROTOCOLS[name]([0.25] * 4, [0.5, 0.4, 0.3, 0.2], epsilon=1)  # type: ignore[call-arg]
    return PROTOCOLS[name](k=4, epsilon=1)


@cache
def _read(file: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{file}.toml").read_text(encoding="utf-8"))


def _section(family: str) -> dict[str, Any]:
    file, _, stage = family.partition("/")
    section: dict[str, Any] = _read(file)[stage] if stage else _read(file)
    return section


def read_setup(family: str) -> str:
    """Return the code that the lines of a family start from."""
    return str(_section(family)["setup"]).strip()


def _protocol(name: str) -> Mapping[str, str]:
    kind, made = PROTOCOLS[name], example_of("protocols", name)
    guarantee = f"{short_guarantee(made.guarantee)}, local"
    if made.guarantee.epsilon != 1:
        guarantee += ", where 1 was asked for"
    return {
        "title": kind.__name__,
        "does": choice_words("protocols", name)[0],
        "guarantee": guarantee,
        "promise": str(made.guarantee),
        "reference": f"evenhand.collect.{kind.__name__}",
        "page": f"protocols/{name}",
    }


def _mechanism(name: str) -> Mapping[str, str]:
    from evenhand.app.pages.pictures import small_table  # noqa: PLC0415 - it takes time to import

    kind, made = MECHANISMS[name], example_of("release", name)
    guarantee = made.guarantee_for(small_table()[0])
    return {
        "title": kind.label,
        "does": choice_words("mechanisms", name)[0],
        "guarantee": short_guarantee(guarantee),
        "promise": f"As `{made!r}`: {guarantee}",
        "reference": f"evenhand.release.{kind.__name__}",
    }


def _joint(name: str) -> Mapping[str, str]:
    kind = "split_budget" if name in SPLITS and name != "sample" else "strategy_for"
    return {"reference": f"evenhand.collect.{kind}"}


def _step(name: str) -> Mapping[str, str]:
    kind = STEPS[name]
    does = " ".join(_FORMULA.sub("", (getdoc(kind) or "").split("\n\n")[0]).split())
    return {"does": does, "reference": f"evenhand.release.postprocess.{kind.__name__}"}


def _mitigation(name: str) -> Mapping[str, str]:
    kind = next(kind for kind in mitigation_kinds() if kind.name == name)
    problems = " and ".join(f"{problem}s" for problem in kind.problems)
    return {
        "title": kind.title,
        "does": f"{kind.does[:1].upper()}{kind.does[1:]}; for {problems}. The cost: {kind.cost}.",
        "guarantee": re.sub("^the same(?! epsilon)", "that of the plain release", kind.guarantee),
        "reference": f"evenhand.decide.mitigate.{kind.decide.__name__}",
        "page": "decide",
    }


def _method(name: str) -> Mapping[str, str]:
    words = METHODS[name].words
    return {"title": METHODS[name].title, "does": f"{words[:1].upper()}{words[1:]}."}


def _measure(name: str) -> Mapping[str, str]:
    if name in OF_TABLES:
        return {"reference": f"evenhand.measure.{name}"}
    return {"title": name, "reference": "evenhand.measure.group_report"}


FAMILIES: Mapping[str, tuple[tuple[str, ...], Callable[[str], Mapping[str, str]]]] = {
    "protocols": (tuple(PROTOCOLS), _protocol),
    "release": (tuple(MECHANISMS), _mechanism),
    "mitigations/collect": ((*STRATEGIES, *SPLITS), _joint),
    "mitigations/release": (tuple(STEPS), _step),
    "mitigations/decide": (tuple(kind.name for kind in mitigation_kinds()), _mitigation),
    "mitigations/learn": (tuple(METHODS), _method),
    "measures": ((*MEASURES, *OF_TABLES), _measure),
}
"""The names of each family, from its registry, and what reads an entry of it."""


def check_names(family: str, registered: tuple[str, ...], written: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse a family in which an entry has no answer, or an answer no entry."""
    wanted = [(name, key) for name in registered for key in ("use", "avoid")]
    missing = [f"{name} ({key})" for name, key in wanted if not written.get(name, {}).get(key)]
    unknown = sorted(set(written) - set(registered))
    if missing or unknown:
        message = f"Catalogue of {family}: missing {missing}, registered nowhere {unknown}."
        raise LookupError(message)


@cache
def list_entries(family: str) -> tuple[Entry, ...]:
    """Return the entries of a family in the order of its registry, or refuse one that is not written up."""
    registered, read = FAMILIES[family]
    written = _section(family)["entry"]
    check_names(family, registered, written)
    found = []
    for name in registered:
        known = {"code": "", "page": "", "promise": "", **read(name)}
        known |= {key: str(value).strip() for key, value in written[name].items() if key != "example"}
        known["promise"] = known["promise"] or f"{known['guarantee'][:1].upper()}{known['guarantee'][1:]}."
        if family == "measures" and name not in OF_TABLES:
            cover = "../how-to/audit-your-own-model.md#do-they-cover"
            known["promise"] += f" [How often such intervals hold]({cover}) was simulated."
        found.append(Entry(family=family, name=name, **known))
    return tuple(found)


_RATES = {
    "selection": "The selection rate is the share of a group that is predicted positive.",
    "tpr": "The true positive rate is the share that is predicted positive among people with the outcome.",
    "fnr": "The false negative rate is the share that is missed among people with the outcome.",
    "fpr": "The false positive rate is the share that is predicted positive among people "
    "without the outcome.",
    "tnr": "The true negative rate is the share that is predicted negative among people without the outcome.",
    "precision": "Precision is the share with the outcome among people who are predicted positive.",
    "fdr": "The false discovery rate is the share without the outcome among people who are "
    "predicted positive.",
    "npv": "The negative predictive value is the share without the outcome among people who are predicted "
    "negative.",
    "for": "The false omission rate is the share with the outcome among people who are predicted negative.",
    "accuracy": "Accuracy is the share of a group that is predicted correctly.",
    "error": "The error rate is the share of a group that is predicted wrongly.",
    "odds": "The true and the false positive rate together.",
}


def comparison_rows() -> list[tuple[str, ...]]:
    """Return the comparisons of somebody's own predictions: each rate with its names, from the registry."""
    rows = []
    for rate in (*COMPARED_RATES, "odds"):
        names = [name for name in (f"{rate}_gap", f"{rate}_ratio") if name in COMPARISONS]
        others = [other for other, name in OTHER_NAMES.items() if name in names]
        rows.append((_RATES[rate], _in_code(names), _in_code(others)))
    return rows


def _in_code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
