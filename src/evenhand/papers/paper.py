"""The papers by name, what a paper is, and papers as data: files beside the code of each.

Each paper has a folder with

- ``paper.toml``: its citation, what each design runs, and where the reproduction departs from it;
- ``claims.toml``: every statement with its place, its rule, what it needs and the function that checks it,
  and under ``why`` the sentence that tells what came of it, by the name of that function;
- ``figures.toml``: captions, labels, colours and marks;
- ``printed/*.csv``: the numbers as printed.
"""

from __future__ import annotations

import csv
import importlib
import string
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnknownNameError
from evenhand.papers.claims import CONTRADICTED, UNCHECKED, Checked, Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from evenhand.papers.claims import Evidence
    from evenhand.papers.published import Published
    from evenhand.papers.trials import Trials
    from evenhand.report.page import Chart
    from evenhand.study.plan.plan import Plan

PAPERS: Mapping[str, str] = MappingProxyType(
    {
        "arcolezi2023": "(Local) Differential Privacy has NO Disparate Impact on Fairness",
        "makhlouf2024": "On the Impact of Multi-dimensional Local Differential Privacy on Fairness",
        "ghoukasian2024-central": "Central DP and Fairness in Classification",
        "ghoukasian2024-local": "Local DP as a Pre-processing Technique for Fairness in Classification",
        "zhu2023": "Privacy and Bias Analysis of Disclosure Avoidance Systems",
        "fioretto2021": "Decision Making with Differential Privacy under a Fairness Lens",
    }
)
"""The papers that can be reproduced, by key, with their titles."""

DESIGNS = ("quick", "reduced", "full")
"""How much of a paper is run: for a look, for the documentation, or all of it."""


@dataclass(frozen=True)
class Study:
    """One study of a paper.

    Parameters
    ----------
    name : str
        Also the name of its folder.
    plan : Plan
        What the results are results of.
    parts : callable, optional
        If the study is not one plan: returns a plan of a single repeat for each repeat, with the same grid.
        Their cells become those of `plan`, part r being repeat r. It is called when the study is run, for it
        may need data.
    completed : callable, optional
        If the study has other columns or roles than the data set brings: from `plan` to the same plan with
        its schema, and the frame, or None for that of the plan. It is called when the study is run.
    """

    name: str
    plan: Plan
    parts: Callable[[], tuple[Plan, ...]] | None = field(default=None, repr=False)
    completed: Callable[[Plan], tuple[Plan, Any]] | None = field(default=None, repr=False)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.plan.cells())


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What is needed to reproduce a paper.

    Parameters
    ----------
    name, title, citation : str
        Its key, such as ``"arcolezi2023"``, and what it is.
    claims : tuple of Claim
    tables, figures : callable
        From the evidence to tables by name, each of columns, and to charts.
    designs : mapping of str to str
        What each design runs and how long it takes, in a sentence.
    departures : tuple of str
        Where the reproduction departs from the paper or its code, and why, in sentences.
    studies : callable
        From a design of :data:`DESIGNS` and a keyword `search` to the studies that it runs; by default none.
    published : callable
        Returns the authors' runs, or None if they are not on this machine.
    trials : callable
        From a design to what is computed besides the studies.
    """

    name: str
    title: str
    citation: str
    claims: tuple[Claim, ...] = field(repr=False)
    tables: Callable[[Evidence], Mapping[str, dict[str, list[Any]]]] = field(repr=False)
    designs: Mapping[str, str] = field(repr=False)
    departures: tuple[str, ...] = field(default=(), repr=False)
    studies: Callable[..., tuple[Study, ...]] = field(default=lambda *_, **__: (), repr=False)
    published: Callable[[], Published | None] = field(default=lambda: None, repr=False)
    figures: Callable[[Evidence], Sequence[Chart]] = field(default=lambda _: (), repr=False)
    trials: Callable[[str], tuple[Trials, ...]] = field(default=lambda _: (), repr=False)


def paper_named(name: str) -> Paper:
    """Return a paper by its key.

    >>> paper_named("arcolezi2023").name
    'arcolezi2023'
    """
    found: Paper = importlib.import_module(_package_of(name)).PAPER
    return found


def _package_of(name: str) -> str:
    if not isinstance(name, str) or name not in PAPERS:
        raise UnknownNameError("Paper", name, PAPERS)
    return f"evenhand.papers.{name.replace('-', '_')}"


def read_designs(name: str) -> dict[str, str]:
    """Return what each design of a paper runs and how long it takes, without loading the paper.

    >>> read_designs("zhu2023")["quick"]
    'Table 1 with 5 experiments of 200 repetitions, its figures with 2, ... about 20 seconds of one core.'
    """
    stored = files("evenhand.papers").joinpath(_package_of(name).rpartition(".")[2], "paper.toml")
    designs: dict[str, str] = tomllib.loads(stored.read_text(encoding="utf-8"))["designs"]
    return designs


# --- papers as data -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def read_toml(package: str, name: str) -> dict[str, Any]:
    """Return what is in a TOML file of a paper, given the name of its package."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def read_entries(package: str, table: str) -> dict[str, Any]:
    """Return the entries of a table of ``paper.toml`` by name, the fields of each as attributes.

    What the fields are is said there.
    """
    return {name: SimpleNamespace(**entry) for name, entry in read_toml(package, "paper.toml")[table].items()}


def read_printed(package: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file in a paper's folder ``printed``, cells as the texts that are printed."""
    text = files(package).joinpath("printed", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def read_studies(package: str, build: Callable[..., Study]) -> Callable[..., tuple[Study, ...]]:
    """Return the function `studies` of a paper that has no search.

    `build` takes the name of a study, and what ``paper.toml`` has of it for a design: epsilons and repeats.
    """

    def studies(design: str, *, search: bool | int = False) -> tuple[Study, ...]:  # noqa: ARG001
        chosen = read_toml(package, "paper.toml")["studies"][design]
        return tuple(build(name, **sizes) for name, sizes in chosen.items())

    return studies


class _Sentence(string.Formatter):
    """Fills sentences: lists with commas, lists of lists with semicolons, true minus signs, and "5 %"."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Iterable):
            parts = list(value)
            nested = any(isinstance(part, Iterable) and not isinstance(part, str) for part in parts)
            return ("; " if nested else ", ").join(self.format_field(part, format_spec) for part in parts)
        text = format(value, format_spec)
        signed = f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text
        return signed.replace("%", " %")


_SENTENCE = _Sentence()


def fill(sentence: str, **values: Any) -> str:
    """Return a sentence with values in the place of their names.

    >>> fill("Alpha is {alphas:.2f}, {share:.0%} of it at {name}.", alphas=[0.5, -1], share=0.2, name="T*")
    'Alpha is 0.50, \u22121.00, 20 % of it at T*.'
    """
    return _SENTENCE.vformat(sentence, (), values)


def fill_caption(stored: Mapping[str, Any], **values: Any) -> tuple[str, str]:
    """Return a figure's alt and its caption, which ends with what to compare where that is told.

    >>> fill_caption({"alt": "Alpha", "caption": "As figure {n}.", "compare": "it falls."}, n=3)
    ('Alpha', 'As figure 3. To compare: it falls.')
    """
    alt, caption = (fill(stored[key], **values) for key in ("alt", "caption"))
    compare = f" To compare: {fill(stored['compare'], **values)}" if "compare" in stored else ""
    return alt, caption + compare


def read_claims(package: str, *modules: ModuleType) -> tuple[Claim, ...]:
    """Return the claims of a paper in their order; `modules` have the functions that check them.

    Besides its id, text, place, words, rule and function, an entry may have

    - ``each``: names of tables under ``lists``; the entry then stands for one claim for each combination of
      their rows, whose fields take the place of their names in braces;
    - ``otherwise``: what it is read as where the check finds it contradicted, such as ``"slip"``;
    - ``verdict``: what it is read as whatever its numbers are, such as ``"method unknown"``. A function that
      returns only numbers for the sentence needs it: then the statement is argued.
    """
    stored = read_toml(package, "claims.toml")
    checks = {name: check for module in modules for name, check in vars(module).items()}
    sentences = stored.get("why", {})
    return tuple(_read_claim(entry, checks, sentences) for entry in list_entries(stored))


def list_entries(stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of ``claims.toml``, one for each claim.

    >>> lists = {"data": [{"name": "ma"}, {"name": "tx"}]}
    >>> list_entries({"lists": lists, "claim": [{"id": "{name}-bias", "each": ["data"]}, {"id": "rows"}]})
    [{'id': 'ma-bias'}, {'id': 'tx-bias'}, {'id': 'rows'}]
    """
    entries = []
    for entry in stored["claim"]:
        lists = [stored["lists"][name] for name in entry.get("each", ())]
        for rows in product(*lists):
            fields = {name: value for row in rows for name, value in row.items()}
            entries.append(
                {
                    key: value if key == "why" or not rows else _fill_names(value, fields)
                    for key, value in entry.items()
                    if key != "each"
                }
            )
    return entries


def _fill_names(value: Any, fields: Mapping[str, str]) -> Any:
    """Return a value of an entry with the fields of a row in the place of their names."""
    if isinstance(value, str):
        return value.format_map(fields)
    if isinstance(value, list):
        return [_fill_names(part, fields) for part in value]
    if isinstance(value, dict):
        return {key: _fill_names(part, fields) for key, part in value.items()}
    return value


def _read_claim(entry: Mapping[str, Any], checks: Mapping[str, Any], sentences: Mapping[str, str]) -> Claim:
    name = entry.get("check", "")
    run = checks[name] if name else lambda _: {}
    parameters = entry.get("with", {})

    def check(evidence: Evidence) -> Checked:
        returned = run(evidence, **parameters)
        if isinstance(returned, Mapping):
            returned = Checked(entry["verdict"], paper=entry.get("paper", ""), values=returned)
        fixed = returned.verdict if returned.verdict == UNCHECKED else entry.get("verdict", returned.verdict)
        otherwise = entry.get("otherwise", fixed) if fixed == CONTRADICTED else fixed
        checked: Checked = replace(returned, verdict=otherwise)
        keys = (f"{name}.{checked.case}", f"{name}.{checked.verdict}", name)
        sentence = entry.get("why") or next((sentences[key] for key in keys if key in sentences), None)
        if sentence is None:
            return checked
        return replace(checked, why=fill(sentence, why=checked.why, **parameters | dict(checked.values)))

    needs, words = tuple(entry.get("needs", ())), entry.get("words", "")
    return Claim(entry["id"], entry["text"], entry["where"], check, entry.get("rule", ""), needs, words)


def read_paper(package: str, *checks: ModuleType, **parts: Any) -> Paper:
    """Return the paper whose files are in a package, ready to run.

    `checks` are as in :func:`read_claims`; `parts` are the functions of :class:`Paper`: tables, figures,
    studies and published. `trials` takes what a design has under ``sizes`` in ``paper.toml``.
    """
    name = package.rpartition(".")[2].replace("_", "-")
    stored = read_toml(package, "paper.toml")
    if "trials" in parts:
        of_sizes = parts["trials"]
        parts["trials"] = lambda design: of_sizes(stored["sizes"][design])
    return Paper(
        name=name,
        title=PAPERS[name],
        citation=stored["citation"],
        claims=read_claims(package, *checks),
        designs=stored["designs"],
        departures=tuple(stored["departures"]),
        **parts,
    )
