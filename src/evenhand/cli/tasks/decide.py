"""evenhand audit decide: a right or money follows from protected counts."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evenhand.cli import options as shared
from evenhand.cli.files import open_typed, typed_format
from evenhand.cli.options import (
    DATA,
    argument,
    complete_data,
    data_option,
    design_option,
    is_typed,
    output_option,
    protection_option,
    split_list,
)
from evenhand.cli.proposals import settle_options
from evenhand.cli.roles import refuse_empty_table, report_reading
from evenhand.cli.study import StudyRun, announce_remedies, build_plan, look_first, plan_remedies
from evenhand.cli.tasks.base import TaskCommand, defaults_of
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.decide.language.parse import parse, parse_weight
from evenhand.decide.language.weights import split_count
from evenhand.decide.mitigate.registry import (
    MITIGATIONS,
    MitigationParameter,
    free_mitigations,
    mitigation_kind,
)
from evenhand.errors import EvenhandError
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.study.intake.guess_counts import guess_decision
from evenhand.study.intake.setup import column_named
from evenhand.study.plan.cells import Cell
from evenhand.study.run.prepare import prepare
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.decide.task import NOISES, DecideTask, method_title, setting_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evenhand.study.intake.opening import Opened
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

_MOST_WARNINGS = 3
_METHOD_KINDS = ("method", "estimated error", "uncertified")
_MOST_AFFECTED = 10
_DELTA_TAKER = "discrete-gaussian"
_OF_MONEY = ("allot", "count", "weight", "budget", "currency", "smallest")
_NEEDED = {
    "rule": "who has the right; where money follows, give --allot, or --count and --weight",
    "count": "the column of counts that money follows; where a right follows, give --rule instead",
}
_THOUSANDS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_NOT_ONE_COUNT = (
    "--allot must be {} times a public weight, such as 'students * (index + 20) / 100'. "
    "The weight may have columns and numbers with + - * / and brackets. What is no such product, as a sum of "
    "two counts or a count with a number added, has to be a column of its own, which is then published."
)

Counts = Annotated[
    str | None,
    argument(
        DATA, "DATA", "A CSV or Parquet file of counts, one row per entity, or a data set.", complete_data
    ),
]
Rule = Annotated[
    str | None, data_option("FORMULA", "Who has the right: comparisons of counts, with and, or, xor, not.")
]
Allot = Annotated[
    str | None, data_option("FORMULA", "What money follows, such as 'students * (index + 20) / 100'.")
]
Count = Annotated[str | None, data_option("COLUMN", "Instead: the count that money follows,")]
Weight = Annotated[str | None, data_option("COLUMN", "and a public weight. [all the same]")]
Budget = Annotated[str | None, data_option("MONEY", "What is shared out. [shares are compared]")]
Name = Annotated[str | None, data_option("COLUMN", "The names of the entities. [numbered]")]
Groups = Annotated[
    list[str] | None, data_option("COLUMNS", "People of each group in an entity: who pays, per head.")
]
Guessed = Annotated[bool, data_option("", "Guess these where they are missing, with reasons.", "--guess")]
Noises = Annotated[
    list[str] | None, protection_option("LIST", "Of {noises}. [{default}]", "--mechanism", choices="noises")
]
Touches = Annotated[
    str | None,
    protection_option(
        "WORDS",
        "The counts that a person is in, of {touches}; those of every input share epsilon. [{default}]",
    ),
]
Mitigations = Annotated[
    list[str] | None,
    protection_option(
        "LIST",
        "Beside it, of {mitigations}; NAME=VALUE where one is needed; or none. [those without]",
        "--mitigate",
        choices="mitigations",
    ),
]
Draws = Annotated[
    int | None, design_option("N", "Simulated releases where no exact method applies. [{default}]")
]
Currency = Annotated[str | None, output_option("SIGN", "How money is written. [{default}]")]
Smallest = Annotated[
    str | None, output_option("MONEY", "Amounts below are told as nobody's gain or loss. [{default}]")
]
Workers = Annotated[int | None, design_option("N", "Runs at a time. [{default}]")]


class DecideCommand(TaskCommand):
    """Who loses and who gains when rights or money follow noisy counts.

    Decides for every entity from its true counts and from counts with noise, exactly where that can be done,
    and writes report.html, every entity and the plan to a folder. With --rule a right follows; with --allot,
    or --count and --weight, every entity has the share that its count times its weight has in the sum. What
    it computes comes from the true data and is itself not private.
    """

    kind = "decide"
    example = """\
  evenhand audit decide counties.csv --name county --epsilon 0.1,1 \\
      --rule "(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131"
  evenhand audit decide districts.csv --count students --weight cost_index \\
      --budget 6.5e9 --name district --epsilon 0.1,1 --post nonnegative
  evenhand audit decide districts.csv --allot "students * cost_index / 100" \\
      --budget 6.5e9 --name district --groups white,black,hispanic \\
      --mitigate linear-proxy,shrink --out folder
"""
    options: ClassVar[Mapping[str, Any]] = {
        "data": Counts, "rule": Rule, "allot": Allot, "count": Count, "weight": Weight, "budget": Budget,
        "name": Name, "groups": Groups, "guess": Guessed, "epsilons": shared.Epsilons, "mechanisms": Noises,
        "delta": shared.Delta, "unit": shared.Unit, "touches": Touches, "post": shared.Post,
        "mitigations": Mitigations, "draws": Draws, "workers": Workers, "currency": Currency,
        "smallest": Smallest,
    }  # fmt: skip
    workers = 1
    units_studied = "entities"

    def defaults(self) -> dict[str, str]:
        """Return what is tried where an option is left out."""
        task = DecideTask(count="count")
        own = {"epsilons": ",".join(DecideTask.audit_epsilons), "workers": str(self.workers)}
        return {**defaults_of(task, self.options), **own}

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
        """Return the study of a file of counts, and its rows."""
        _refuse_contradictions(typed)
        if typed["rule"] is not None:
            parse(typed["rule"])  # before any row is read
        _read_money("--budget", typed["budget"])
        opened = open_typed(terminal, typed["data"], typed_format(typed))
        report_reading(terminal, opened)
        refuse_empty_table(opened)
        typed = self._propose(terminal, opened, typed)
        rule = None if typed["rule"] is None else parse(typed["rule"]).inputs
        budget = _read_money("--budget", typed["budget"])
        if rule is not None:
            _check_rule(rule, opened.names)
            what: dict[str, Any] = {"rule": typed["rule"]}
        else:
            count, weight = _read_share(typed, opened)
            what = {"count": count, "weight": weight, "budget": budget}
            smallest = _read_money("--smallest", typed["smallest"])
            what |= {} if smallest is None else {"smallest": smallest}
        if typed["mitigations"] is None:
            what["mitigations"] = free_mitigations(len(opened.frame), is_rule=rule is not None)
        else:
            what["mitigations"] = read_mitigations(typed["mitigations"])
        task = DecideTask(**what, **_shared_parts(typed, opened))
        if task.is_rule:
            terminal.say("Rule", str(task.rule))
        else:
            terminal.say("Shares", f"{task.formula}, of the sum over all entities")
        return build_plan(opened, task, typed), opened.frame

    def _propose(self, terminal: Terminal, opened: Opened, typed: dict[str, Any]) -> dict[str, Any]:
        """Return what was typed, with what is proposed where neither a right nor a count is given."""
        decided = typed["rule"] is not None or typed["allot"] is not None
        if not typed["guess"] and (decided or typed["count"] is not None):
            return typed
        proposed, problem = guess_decision(opened, typed)
        what = "rule" if "rule" in proposed else "count"
        return settle_options(
            terminal,
            typed,
            proposed,
            needed={} if decided else {what: _NEEDED[what]},
            command=self.spell(typed),
            names=opened.names,
            problem=problem,
        )

    def announce(self, run: StudyRun) -> Plan:
        """Say how many settings there are; most of them take a moment."""
        facts = prepare(run.plan, frame=run.frame).facts
        plan = plan_remedies(run, facts)
        settings = len(plan.settings()) - len(plan.remedies) - 1
        entities = "1 entity" if len(run.frame) == 1 else f"{len(run.frame):,} entities"
        many = "" if settings == 1 else "s"
        run.terminal.say("Plan", f"{settings:,} setting{many} for {entities}")
        look_first(run)
        announce_remedies(run, plan, facts)
        return plan

    def write_more(self, run: StudyRun, results: Results) -> dict[str, Path]:
        """Write every entity under the setting of the report, and warn of totals that may be 0 or less."""
        totals: dict[str, Setting] = {}
        for outcome in results.outcomes:
            for note in outcome.notes:
                if getattr(note, "kind", "") == "total":
                    totals.setdefault(note, outcome.cell.setting)
        for note, setting in list(totals.items())[:_MOST_WARNINGS]:
            run.terminal.warn(f"{setting_words(setting)}: {note}")
        if len(totals) > _MOST_WARNINGS:
            run.terminal.warn(f"and so in {len(totals) - _MOST_WARNINGS:,} other settings.")
        return super().write_more(run, results)

    def summarize(self, results: Results) -> list[dict[str, Any]]:
        """Return one object for each protected setting: measures, groups of people, and the most affected."""
        done = {outcome.cell.setting: outcome for outcome in results.outcomes if not outcome.cell.repeat}
        rows = []
        for setting in results.settings:
            if not setting.is_protected:
                continue
            outcome = done.get(setting) or Outcome(Cell(setting, 0))
            how = next((note for note in outcome.notes if note.kind in _METHOD_KINDS), None)  # type: ignore[attr-defined]
            row: dict[str, Any] = {"setting": str(setting), **setting.key, "method": method_title(setting)}
            row |= {measure: outcome.measures.get(measure, math.nan) for measure in results.plan.measures}
            row["computed_by"] = how
            row["notes"] = [note for note in outcome.notes if note is not how]
            row["groups"] = {
                group: {
                    name: outcome.groups.get(group, {}).get(name, math.nan) for name in results.arrays.rates
                }
                for group in results.facts.groups
            }
            entities = outcome.entities[:_MOST_AFFECTED]
            row["most_affected"] = [{"name": name, **numbers} for name, numbers in entities]
            rows.append(row)
        return rows


# --- from options to a task -----------------------------------------------------------------------


def _refuse_contradictions(typed: dict[str, Any]) -> None:
    """Refuse a rule that is empty or missing, and options of money beside a rule."""
    money = [f"--{name}" for name in _OF_MONEY if is_typed(typed[name])]
    if typed["rule"] is not None and not typed["rule"].strip():
        wrong_use(
            "--rule is missing: who has the right, such as --rule 'poor / people > 0.2 and poor > 100'. "
            "Hint: where money follows, give --allot, or --count and --weight."
        )
    if typed["rule"] is not None and money:
        wrong_use(
            f"--rule and {', '.join(money)} contradict each other: a rule divides no money. "
            "Hint: leave out one or the other."
        )
    if typed["rule"] is None and typed["touches"] is not None:
        wrong_use("--touches belongs to --rule: money follows one count. Hint: leave it out.")
    if typed["allot"] is not None and typed["weight"] is not None:
        wrong_use(
            "--allot and --weight contradict each other: the formula has the weight in it. "
            "Hint: leave --weight out."
        )


def _check_rule(inputs: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a rule that names columns that are not there, or not as the file has them."""
    for column in inputs:
        if column not in known:
            there = _find_column("--rule", column, known)
            wrong_use(f"--rule: write `{there}`, in backquotes and with the blanks that the file has.")


def _find_column(flag: str, name: str, known: Sequence[str]) -> str:
    """Return the column that was meant, or refuse it with a guess."""
    try:
        return column_named(name, known)
    except EvenhandError as error:
        wrong_use(f"{flag}: {error}")


def _shared_parts(typed: dict[str, Any], opened: Opened) -> dict[str, Any]:
    """Return the parts that a task has whether a right or money follows."""
    known, name = opened.names, typed["name"]
    chosen = {
        field: typed[field] for field in ("unit", "touches", "draws", "currency") if is_typed(typed[field])
    }
    return {
        "name": None if name is None else _find_column("--name", name, known),
        "groups": tuple(
            _find_column("--groups", group, known) for group in split_list(typed["groups"], known)
        ),
        "mechanisms": _read_mechanisms(typed),
        "epsilons": split_list(typed["epsilons"]) or DecideTask.audit_epsilons,
        "post": split_list(typed["post"]),
        **chosen,
    }


def _read_mechanisms(typed: dict[str, Any]) -> Any:
    """Return the mechanisms with the delta that was typed."""
    names = split_list(typed["mechanisms"]) or NOISES[:1]
    unknown = [name for name in names if name not in NOISES]
    if unknown:
        wrong_use(f"--mechanism must be of {', '.join(NOISES)}. Got {quote_names(unknown)} instead.")
    if _DELTA_TAKER not in names and typed["delta"] is not None:
        wrong_use(f"--delta belongs to {_DELTA_TAKER}, which is not among --mechanism.")
    delta = {} if typed["delta"] is None else {"delta": typed["delta"]}
    return [TableMechanism(name, delta if name == _DELTA_TAKER else {}) for name in names]


def read_mitigations(words: list[str]) -> list[Any]:
    """Return mitigations as a plan has them; what follows ``=`` is the parameter that matters most.

    >>> read_mitigations(["linear-proxy,sum-constraint=5000"]), read_mitigations(["none"])
    (['linear-proxy', {'name': 'sum-constraint', 'total': 5000.0}], [])
    """
    mitigations: list[Any] = []
    if split_list(words) == ("none",):
        return mitigations
    for word in split_list(words):
        name, equals, amount = (part.strip() for part in word.partition("="))
        parameters = mitigation_kind(name).parameters if name in MITIGATIONS else ()
        if not equals or not parameters:
            mitigations.append(word)
            continue
        mitigations.append({"name": name, parameters[0].name: _read_value(parameters[0], word, amount)})
    return mitigations


def _read_value(parameter: MitigationParameter, word: str, amount: str) -> str | float | int:
    try:
        return parameter.parse(amount)
    except ValueError:
        wrong_use(f"--mitigate must have a {parameter.value} after '='. Got {word!r} instead.")


def _read_money(flag: str, typed: str | None) -> float | None:
    if typed is None:
        return None
    plain = typed.strip()
    if "," in plain:  # 6,5 may be six and a half
        plain = plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else ""
    try:
        return float(plain)
    except ValueError:
        wrong_use(f"{flag} must be a number, such as 6.5e9 or 6,500,000.50. Got {typed!r} instead.")


def _read_share(typed: dict[str, Any], opened: Opened) -> tuple[str, str | None]:
    """Return the count and the weight, from two options or from a formula."""
    known, count, weight = opened.names, typed["count"], typed["weight"]
    if typed["allot"] is None:
        column = None if weight is None else f"`{_find_column('--weight', weight, known)}`"
        return _find_column("--count", count, known), column
    formula = parse_weight(typed["allot"], parameter="allot", owner="DecideTask")
    for name in formula.names:
        _find_column("--allot", name, known)
    asked = "" if count is None else _find_column("--count", count, known)
    chosen, weight = split_count(formula, count=asked)
    if not chosen:
        counts = f"a column of counts, {quote_names([asked])}," if asked else "one column of counts"
        wrong_use(_NOT_ONE_COUNT.format(counts))
    return chosen, weight
