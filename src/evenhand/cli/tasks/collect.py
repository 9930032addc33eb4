"""evenhand audit collect: people randomise their answers, and a model learns from what they report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evenhand.cli import options as shared
from evenhand.cli.options import design_option, is_typed, protection_option, split_list
from evenhand.cli.roles import assign_roles, open_people
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import (
    TaskCommand,
    defaults_of,
    hundredths,
    numbers_of,
    value_cells,
    value_columns,
)
from evenhand.cli.terminal.console import WIDEST, Column, Terminal
from evenhand.report.language import language_now
from evenhand.report.words import epsilon_of
from evenhand.study.intake.setup import without_columns
from evenhand.study.page.comparing import LEVEL
from evenhand.study.page.wording import outcome_name
from evenhand.study.results.estimates import group_change
from evenhand.study.tasks.collect.prepare import fit_protocols
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import protocol_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.collect.reading import CollectReading

_MOST_ROWS = 24
_MEASURES = ("acc", "sp_gap")
_NARROW = 60
_PARAMETERS = 24
_NUMBERS, _SPLIT, _GROUP, _LONGEST = 60, 13, 5, 18
_GRID = ("protocols", "epsilons", "splits", "strategies")
_CHOSEN = ("model", "encoder", *shared.READING_OPTIONS)

Protocols = Annotated[
    list[str] | None,
    protection_option("LIST", "Of {protocols}. [{default}]", "--protocol", choices="protocols"),
]
Splits = Annotated[
    list[str] | None, protection_option("LIST", "Of {splits}. [{default}]", "--split", choices="splits")
]
Strategies = Annotated[
    list[str] | None,
    protection_option("LIST", "Of {strategies}. [{default}]", "--strategy", choices="strategies"),
]
Model = Annotated[str | None, design_option("NAME", "Of {models}. [{default}]", choices="models")]
Encoder = Annotated[str | None, design_option("NAME", "Of {encoders}. [{default}]", choices="encoders")]


class CollectCommand(TaskCommand):
    """Who is predicted worse when people randomise their answers.

    Trains on protected rows, predicts for clean ones, compares the groups, and writes report.html, the plan
    and every number to a folder. What it computes comes from the true data and is itself not private.
    """

    kind = "collect"
    example = """\
  evenhand audit collect people.csv --target hired --positive yes \\
      --protected sex --privileged male --sensitive sex,age
  evenhand audit people.csv --guess --epsilon 0.5,1,2 --protocol grr,oue
  evenhand audit collect people.csv --guess --strategy independent,combined \\
      --split uniform,k-based --model logistic --repeats 20
"""
    options: ClassVar[Mapping[str, Any]] = {
        "schema": shared.SchemaFile, "rows": shared.Rows, **shared.ROLE_OPTIONS, "epsilons": shared.Epsilons,
        "protocols": Protocols, "splits": Splits, "strategies": Strategies, "model": Model,
        "encoder": Encoder, **shared.READING_OPTIONS, "repeats": shared.Repeats,
    }  # fmt: skip
    applied = (*_GRID, *_CHOSEN, "drop")

    def defaults(self) -> dict[str, str]:
        """Return what is tried where an option is left out."""
        own = {
            "protocols": f"{','.join(CollectTask.audit_mechanisms)}; optimal where it fits",
            "epsilons": ",".join(CollectTask.audit_epsilons),
        }
        return {**defaults_of(CollectTask(), self.options), **own}

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
        """Return the study of a file or data set and the roles that were typed."""
        grid = {
            "protocols": CollectTask.audit_mechanisms,
            "epsilons": CollectTask.audit_epsilons,
            **_typed_parts(typed),
        }
        task = CollectTask(**grid)
        opened = open_people(terminal, typed)
        bins_only = task.encoder == "one-hot" or task.model == "logistic"
        setup = assign_roles(terminal, opened, typed, command="audit", bins_only=bins_only)
        if not typed["protocols"]:
            task = fit_protocols(task, setup.schema)
        return build_plan(opened, task, typed, setup), opened.frame

    def change_plan(self, plan: Plan, typed: dict[str, Any]) -> Plan:
        """Return the plan with what was typed of its grid and its model, without the columns to leave out."""
        changed, schema = plan.with_(task=plan.task.with_(**_typed_parts(typed))), plan.schema
        if schema is None or not typed["drop"]:
            return changed
        return changed.with_(schema=without_columns(schema, split_list(typed["drop"], schema.names)))

    def summarize_groups(self, results: Results, setting: Setting) -> dict[str, dict[str, Any]]:
        """Return how the selection of each group changes."""
        return {
            label: {"selection_change": numbers_of(group_change(results, setting, label, "selection"))}
            for label in results.facts.groups
        }

    def show_table(self, terminal: Terminal, results: Results) -> None:
        """Show one row for each setting: changes in points with their intervals."""
        reading: Any = results.plan.task.read(results, language=language_now())
        say, settings = reading.sentences.under("terminal"), choose_settings(results)
        groups, total = choose_groups(terminal, reading), len(reading.protected)
        repeats = results.plan.repeats
        interval = say("interval", level=LEVEL, repeats=repeats) if repeats > 1 else say("one_repeat")
        title = "title" if len(settings) == total else "title_cut"
        terminal.show()
        terminal.sentence(say(title, interval=interval, shown=len(settings), count=total))
        if groups:
            terminal.sentence(say("groups", outcome=outcome_name(results.facts.schema)))
        beside = min(terminal.results.width, WIDEST) >= _NARROW
        columns = _columns(reading, settings, list(groups.values()), beside=beside)
        terminal.table(
            columns, [_cells(reading, setting, list(groups), beside=beside) for setting in settings]
        )


def _typed_parts(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the task that were typed, by their names in a plan."""
    grid = {name: split_list(typed[name]) for name in _GRID if typed[name]}
    return {**grid, **{name: typed[name] for name in _CHOSEN if is_typed(typed.get(name))}}


def choose_settings(results: Results) -> tuple[Setting, ...]:
    """Return the protected settings that fit a screen."""
    protected = _protected(results)
    if len(protected) <= _MOST_ROWS:
        return tuple(protected)
    epsilons = [setting.epsilon for setting in protected if setting.epsilon]
    middle = min(epsilons, key=lambda epsilon: abs(math.log(epsilon)))
    return tuple([setting for setting in protected if setting.epsilon == middle][:_MOST_ROWS])


def choose_groups(terminal: Terminal, reading: CollectReading) -> dict[str, str]:
    """Return the groups that fit beside the numbers, each with the title of its column; empty if not all do.

    A title names the column too, in two lines where there is no room for one: a 0 alone tells nobody what
    it is. Labels that say it themselves may stand alone.
    """
    groups, results = reading.groups, reading.results
    room = min(terminal.results.width, WIDEST) - _NUMBERS
    room -= _SPLIT if _has_several_splits(reading.protected) else 0
    room -= _PARAMETERS if any(protocol_parameters(setting) for setting in results.settings) else 0
    protected = results.facts.schema.protected_name.strip()
    narrowest = {group: len(_too_few(reading)) if group in reading.too_few else _GROUP for group in groups}
    labels = set(results.facts.schema.group_column.named_values.values())
    ways = [
        [label if label in labels else f"{protected}{blank}= {label}" for label in groups]
        for blank in (" ", "\n")
    ]
    ways += [list(groups)] if all(reading.named(label) == label for label in groups) else []
    for titles in ways:
        lengths = [max(map(len, title.split("\n"))) for title in titles]
        longest = max(lengths)
        widths = [max(length, narrowest[group]) + 2 for group, length in zip(groups, lengths, strict=True)]
        if longest <= _LONGEST and sum(widths) <= room:
            return dict(zip(groups, titles, strict=True))
    return {}


def _too_few(reading: CollectReading) -> str:
    return reading.sentences.say("terminal.too_few")


def _columns(
    reading: CollectReading, settings: Sequence[Setting], groups: Sequence[str], *, beside: bool
) -> list[Column]:
    say = reading.sentences.under("terminal")
    protocol = say("protocol")
    columns = [Column(protocol, wraps=True, min_width=len(protocol))]  # parameters take the lines they need
    columns += [Column(say("split"))] if _has_several_splits(settings) else []
    columns += [Column("ε", numeric=True)]
    for measure in _MEASURES:
        columns += value_columns(say(measure), beside=beside)
    return columns + [Column(title, numeric=True) for title in groups]


def _cells(
    reading: CollectReading, setting: Setting, groups: Sequence[str], *, beside: bool
) -> list[tuple[str, str]]:
    """Return the row of a setting; of a group of which a test has few people it says so, and no number."""
    cells = [(reading.protocol_name(setting), "")]
    if _has_several_splits(reading.protected):
        cells.append((str(setting.option("split", setting.option("strategy"))), ""))
    cells.append((epsilon_of(setting.epsilon), ""))
    for measure in _MEASURES:
        change = reading.change(measure, setting)
        cells += value_cells(change, "bold" if change.is_clear else "", beside=beside, sign=True)
    for label in groups:
        if label in reading.too_few:
            cells.append((_too_few(reading), "dim"))
            continue
        change = group_change(reading.results, setting, label, "selection")
        cells.append((hundredths(change.value, sign=True), "bold" if change.is_clear else ""))
    return cells


def _protected(results: Results) -> list[Setting]:
    return [setting for setting in results.settings if setting.is_protected]


def _has_several_splits(settings: Sequence[Setting]) -> bool:
    return len({(setting.option("split"), setting.option("strategy")) for setting in settings}) > 1
