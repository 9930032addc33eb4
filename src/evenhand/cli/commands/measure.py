"""evenhand measure: what each group gets from somebody's own predictions."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from evenhand import __version__
from evenhand._validate import one_of
from evenhand.answer.compose import compose
from evenhand.answer.effects import FEWEST_PEOPLE
from evenhand.answer.page import build_page
from evenhand.answer.view import to_json
from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.files import open_typed, typed_format
from evenhand.cli.help import name_option
from evenhand.cli.options import (
    DATA,
    argument,
    complete_data,
    design_option,
    output_option,
    role_option,
    split_list,
)
from evenhand.cli.roles import read_bands, refuse_empty_table, repeat_options, report_reading
from evenhand.cli.study import shorten_path
from evenhand.cli.terminal.console import Terminal, as_json_types, quote_names, wrong_use
from evenhand.cli.terminal.ending import FAILED, UNCLEAR
from evenhand.cli.terminal.refusals import refuse_empty, refuse_existing, refuse_overwritten
from evenhand.errors import InvalidParameterError, MissingExtraError
from evenhand.report import write
from evenhand.report.language import LANGUAGES, written_in
from evenhand.schema import Schema
from evenhand.schema.crossing import BETWEEN_VALUES, NOT_STATED
from evenhand.schema.infer import open_frame
from evenhand.schema.text import brief
from evenhand.schema.typed_values import label_values
from evenhand.study.intake.draft import draft_column
from evenhand.study.intake.setup import column_named
from evenhand.study.page.wording import counted
from evenhand.study.page.words import words_in
from evenhand.study.predictions.audit import PredictionAudit
from evenhand.study.predictions.case import VERDICTS, case, show_estimate, tell_reading
from evenhand.study.predictions.columns import encode_group, read_predictions
from evenhand.study.predictions.effects import cut_offs
from evenhand.study.predictions.rules import Rule
from evenhand.table import Table
from evenhand.table.repeated_people import notice_people_in_frame
from evenhand.table.write import replacing_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.answer.view import View
    from evenhand.study.intake.opening import Opened

EXAMPLE = """\
  evenhand measure predictions.csv --outcome repaid --prediction approved --protected sex
  evenhand measure predictions.csv --outcome repaid --positive yes --score risk --threshold 0.5 \\
      --protected race,sex --called approved --rule 80% --rule "odds_gap <= 0.1"
  evenhand measure predictions.csv --prediction approved --protected sex --rule 80% --check --json
"""
_ENDINGS = {".html": "html", ".json": "json"}
_FORMAT = "evenhand measure 2"
_STYLES = {"pass": "green", "fail": "bold red", "unclear": "yellow"}
_PAGE = Path("measure.html")
_ROLES = ("outcome", "prediction", "score", "weight", "person")


def measure(  # noqa: PLR0913 - one option each
    data: Annotated[
        str, argument(DATA, "FILE", "A CSV, Excel or Parquet file with predictions.", complete_data)
    ],
    *,
    delimiter: shared.Delimiter = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = None,
    sheet: shared.Sheet = None,
    band: shared.Band = None,
    protected: Annotated[
        list[str], role_option("COLUMNS", "The column whose groups are compared; several are crossed.")
    ],
    outcome: Annotated[str | None, role_option("COLUMN", "What truly happened.")] = None,
    prediction: Annotated[str | None, role_option("COLUMN", "What was predicted or decided.")] = None,
    score: Annotated[str | None, role_option("COLUMN", "Scores, for calibration and ranking.")] = None,
    threshold: Annotated[
        float | None, role_option("NUMBER", "Without --prediction: the score from which on it is positive.")
    ] = None,
    positive: Annotated[
        str | None,
        role_option("VALUE", "The value that counts, or '>= 50000'; all others are negative. [1]"),
    ] = None,
    predicted: Annotated[
        str | None, role_option("VALUE", "That of --prediction, where it is another. [as --positive]")
    ] = None,
    privileged: Annotated[
        str | None, role_option("GROUP", "The group that others are compared with. [the largest]")
    ] = None,
    labels: shared.Labels = None,
    weight: shared.Weight = None,
    person: Annotated[
        str | None,
        role_option("COLUMN", "Whose row it is; one row of each, drawn at random, counts: 7 and 07 are one."),
    ] = None,
    missing_group: shared.MissingGroup = False,
    pool_below: shared.PoolBelow = None,
    unwanted: Annotated[
        bool | None,
        role_option(
            "",
            "The prediction hurts people, as a flag does; or is good. [asked, else good]",
            "--unwanted/--wanted",
        ),
    ] = None,
    called: shared.Called = None,
    schema: shared.SchemaFile = None,
    rules: Annotated[
        list[str] | None,
        design_option("RULE", "80%, or such as 'odds_gap <= 0.1'; may be given several times.", "--rule"),
    ] = None,
    measures: Annotated[
        list[str] | None,
        design_option(
            "NAME",
            "Also one that another package adds; several times.",
            "--measure",
            choices="measures",
        ),
    ] = None,
    matters: shared.Matters = None,
    check: Annotated[
        bool, design_option("", "End with 1 if a rule is broken, with 3 if it cannot be told.", "--check")
    ] = False,
    fewest: Annotated[
        int, design_option("N", "People whom a rate that is compared rests on.")
    ] = FEWEST_PEOPLE,
    level: Annotated[float, design_option("LEVEL", "The level of intervals.")] = 0.95,
    out: Annotated[
        Path, output_option("FILE", "The page; or every number, where it ends with .json.")
    ] = _PAGE,
    file_format: Annotated[
        str | None, output_option("NAME", "html or json. [by the ending of --out]", "--format")
    ] = None,
    overwrite: shared.Overwrite = False,
    open_page: shared.OpenPage = False,
    language: shared.Language = None,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Audit predictions that you have: who fares worse.

    Compares each group with everybody outside it, and writes one page that opens anywhere, with every usual
    measure behind the answer. What it computes comes from the true data and is itself not private.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed = dict(locals())
    refuse_empty({"--protected": protected, "--rule": rules, "--measure": measures, "--matters": matters})
    form = _format_of(out, file_format)
    _refuse_early(typed)
    parsed = tuple(Rule.parse(rule) for rule in rules or ())
    if check and not parsed:
        wrong_use("--check needs a rule. Hint: add --rule 80%, for example.")
    spoken = one_of("language", language or LANGUAGES[0], tuple(LANGUAGES), owner="evenhand measure")
    opened = open_typed(terminal, data, typed_format(typed))
    report_reading(terminal, opened)
    refuse_empty_table(opened)
    typed |= {role: column_named(typed[role], opened.names) for role in _ROLES if typed[role] is not None}
    audit = _audit(terminal, opened, typed, parsed)
    again, other = _again(typed, _replace_page(typed)), f"{_again(typed)} {_ask_other(typed)}"
    asked = case(audit, command=again, other=other, language=spoken)
    view = compose(asked)
    cuts = {
        name: {audit.rows.labels[place]: score for place, score in found.items()}
        for name, found in cut_offs(audit, asked.table).items()
    }
    numbers = {**audit.to_dict(), "cut_offs": cuts, "answer": to_json(view)}
    files = _write(terminal, view, numbers, out, form)
    with written_in(spoken):
        _show(terminal, audit, view)
    code = _exit_code(audit) if check else 0
    terminal.files({word: shorten_path(path) for word, path in files.items()})
    paths = {word.lower(): str(path.resolve()) for word, path in files.items()}
    sentences = [sentence.text for sentence in (view.who, view.how_much, view.what_to_do)]
    told = {"command": "measure", "answers": sentences, "next": [each.line for each in view.commands]}
    terminal.object({**told, **numbers, "files": paths, "exit": code})
    if open_page and "Report" in files and not as_json:
        typer.launch(str(files["Report"].resolve()))
    raise typer.Exit(code)


def _format_of(out: Path, typed: str | None) -> str:
    form = typed or _ENDINGS.get(out.suffix.lower())
    if form not in _ENDINGS.values():
        wrong_use(
            "--out must end with .html or .json, or --format must be html or json. Hint: --out page.html"
        )
    return str(form)


def _refuse_early(typed: dict[str, Any]) -> None:
    """Refuse what can be refused before the rows are read."""
    if typed["prediction"] is None and (typed["score"] is None or typed["threshold"] is None):
        wrong_use(
            "--prediction is missing: the column of what was predicted or decided. Hint: with scores alone "
            "say from which score on it is positive: --score COLUMN --threshold 0.5"
        )
    if typed["prediction"] is not None and typed["threshold"] is not None:
        wrong_use(
            "--threshold goes with --score alone, not with --prediction. Hint: leave out one of the two."
        )
    source = Path(typed["data"])
    refuse_overwritten({"FILE": source if source.exists() else None}, [typed["out"]], other="--out")
    if not typed["out"].absolute().parent.is_dir():
        wrong_use("The folder of --out is not there. Hint: make it, or name another place.")
    refuse_existing(typed["out"], overwrite=typed["overwrite"])


# --- from the file to numbers -----------------------------------------------------------------------


def _audit(
    terminal: Terminal, opened: Opened, typed: dict[str, Any], rules: tuple[Rule, ...]
) -> PredictionAudit:
    """Return the numbers of the rows; whether a prediction hurts is asked, and counts as typed."""
    names = {role: typed[role] for role in _ROLES if typed[role] is not None}
    protected, notes = _protected(opened, typed)
    if typed["person"] is None and (whose := notice_people_in_frame(opened.frame, owner="evenhand measure")):
        notes.append(
            f"One person may have several rows: values of '{whose}' repeat. If they say whose row it is, "
            "name the column with --person; until then each row counts as a person."
        )
    groups = {name: _encode(opened, name, protected) for name in protected.names}
    columns = {role: opened.frame.column(name) for role, name in names.items()}
    try:
        rows = read_predictions(
            columns,
            groups,
            positive=typed["positive"],
            predicted=typed["predicted"],
            threshold=typed["threshold"],
            names=names,
            source=opened.source.label,
            notes=notes,
            missing_group=NOT_STATED if typed["missing_group"] else "",
            pool_below=typed["pool_below"],
        )
    except InvalidParameterError as error:
        if error.parameter not in {"positive", "predicted"}:
            raise
        wrong_use(_with_values(opened, names, error))
    privileged = typed["privileged"]
    if privileged is not None and privileged not in rows.labels:
        meant = {privileged.strip().casefold(), _label_of(privileged, protected).strip().casefold()}
        near = [label for label in rows.labels if label.strip().casefold() in meant]
        if not near:
            shown = quote_names(rows.labels)
            wrong_use(f"--privileged must be one of the groups. Got another value instead.\nGroups: {shown}.")
        privileged = near[0]
    if typed["unwanted"] is None and terminal.is_interactive:
        asked = f"Does it hurt people to be predicted {brief(rows.decision)}, as a flag does?"
        typed["unwanted"] = terminal.ask(asked)
    return PredictionAudit(
        rows=rows,
        rules=rules,
        privileged=privileged,
        measures=split_list(typed["measures"]),
        matters=split_list(typed["matters"]),
        called=typed["called"] or "",
        **{name: typed[name] for name in ("fewest", "level", "unwanted")},
    )


def _protected(opened: Opened, typed: dict[str, Any]) -> tuple[Schema, list[str]]:
    """Return the protected columns with labels of their groups; numbers of many values are put into bands."""
    declared = None if typed["schema"] is None else Schema.load(typed["schema"])
    bands = read_bands(typed["band"], opened.names)
    columns, notes = [], []
    for typed_name in split_list(typed["protected"], opened.names):
        name = column_named(typed_name, opened.names)
        band = bands.pop(name, "")
        column = None
        if declared is not None and name in declared:
            column = replace(declared[name], inferred=False)
        if column is not None and band:
            wrong_use(f"Column '{name}' is declared in the schema, bands and all. Hint: leave --band out.")
        if column is None:
            draft = draft_column(open_frame(opened.frame), name, "protected", band=band)
            if draft.column is None:
                wrong_use(f"--protected names '{name}', which cannot be used: it {draft.why_not}.")
            column = draft.column
            notes += [f"Numbers of '{name}' are put into bands."] if draft.binned else []
        columns.append(column)
    if bands:
        wrong_use("--band goes with columns of --protected. Hint: leave other columns out of it.")
    return label_values(Schema(columns), typed["labels"] or ()), notes


def _encode(opened: Opened, name: str, protected: Schema) -> tuple[NDArray[np.intp], list[str]]:
    """Return the place of each row's group, -1 where it is missing, and what the groups are called."""
    column = protected[name]
    domain = column.domain
    if column.inferred and domain.kind == "categorical":
        codes, values = encode_group(opened.frame.column(name), name)
        return codes, [column.named_values.get(value, value) for value in values]
    codes = Table.encode(opened.frame.select([name]), Schema([column]))[name].astype(np.intp)
    codes[codes >= domain.size] = -1
    return codes, list(column.display_labels[: domain.size])


def _label_of(privileged: str, protected: Schema) -> str:
    """Return a group that is typed by values as it is called by labels."""
    ways = (privileged.split(BETWEEN_VALUES), split_list([privileged]))
    values = next((way for way in ways if len(way) == len(protected)), None)
    if values is None:
        return privileged
    pairs = zip(values, protected, strict=True)
    return BETWEEN_VALUES.join(column.named_values.get(value.strip(), value) for value, column in pairs)


def _with_values(opened: Opened, names: dict[str, str], error: InvalidParameterError) -> str:
    """Return what is wrong with --positive, and the values that the person's own columns hold."""
    lines = [name_option(error, {"positive": "--positive", "predicted": "--predicted"})]
    for role in ("outcome", "prediction"):
        if role in names:
            values = opened.frame.column(names[role]).unique().drop_null().to_pylist()
            if len(values) <= 20:
                lines.append(
                    f"Values of {quote_names([names[role]])}: {quote_names(sorted(map(str, values)))}."
                )
    return "\n".join(lines)


# --- what is written and shown ----------------------------------------------------------------------


def _again(typed: dict[str, Any], where: Sequence[str] = ()) -> str:
    """Return the command that makes the page again; `where` says where it is written."""
    words = ["evenhand", "measure", typed["data"], *where, *repeat_options(typed)]
    for name in (
        "outcome",
        "prediction",
        "score",
        "threshold",
        "positive",
        "predicted",
        "protected",
        "privileged",
        "schema",
    ):
        value = typed[name]
        if value is not None:
            words += [f"--{name}", ",".join(value) if isinstance(value, list) else str(value)]
    words += [word for rule in typed["rules"] or () for word in ("--rule", rule)]
    words += [word for name in typed["measures"] or () for word in ("--measure", name)]
    words += ["--fewest", str(typed["fewest"])] if typed["fewest"] != FEWEST_PEOPLE else []
    words += ["--level", f"{typed['level']:.15g}"] if typed["level"] != 0.95 else []
    words += [] if typed["unwanted"] is None else ["--unwanted" if typed["unwanted"] else "--wanted"]
    words += [word for amount in typed["matters"] or () for word in ("--matters", amount)]
    words += [word for name in ("called", "language") if typed[name] for word in (f"--{name}", typed[name])]
    return shlex.join(words)


def _replace_page(typed: dict[str, Any]) -> list[str]:
    """Return the options that write the page again where it is."""
    out, form = typed["out"], typed["file_format"]
    named = ["--out", str(out)] if out != _PAGE else []
    return ["--overwrite", *named, *(["--format", form] if form else [])]


def _ask_other(typed: dict[str, Any]) -> str:
    """Return the options that read predictions as bad, on a page of its own."""
    out, form = typed["out"], typed["file_format"]
    words = ["--unwanted", "--out", str(out.with_stem(f"{out.stem}-unwanted"))]
    return shlex.join([*words, *(["--format", form] if form else [])])


def _write(terminal: Terminal, view: View, numbers: dict[str, Any], out: Path, form: str) -> dict[str, Path]:
    if form == "json":
        told = {"format": _FORMAT, "evenhand": __version__, **numbers}
        text = json.dumps(as_json_types(told), ensure_ascii=True, allow_nan=False, indent=2)
        with replacing_together(out) as (file,):
            file.write(f"{text}\n".encode())
        return {"Numbers": out}
    try:
        write(build_page(view), out)
    except MissingExtraError as error:
        terminal.warn(f"No page was written. {error}")
        return {}
    return {"Report": out}


def _show(terminal: Terminal, audit: PredictionAudit, view: View) -> None:
    for note in audit.rows.notes:
        terminal.say("Note", note)
    if audit.rows.left_out:
        rows = [f"{counted(count, 'row')} without {name}" for name, count in audit.rows.left_out.items()]
        terminal.say("Left out", "; ".join(rows))
    if unknown := audit.unknown:
        do = "does" if unknown == 1 else "do"
        people = counted(unknown, "person", "people")
        terminal.say(
            "Note", f"{people} {do} not state {audit.rows.protected}, and {do} not count in any group."
        )
    words = words_in(view.language)
    if audit.unwanted is None:
        terminal.say("Note", " ".join(tell_reading(audit, words)))
    terminal.answer(replace(view, commands=()))  # it was just typed
    say = words.say
    for rule, verdict in audit.verdicts:
        text = f"{rule.text}: {rule.comparison} {show_estimate(audit.compared(rule.comparison))}"
        terminal.mark(say(f"measure.{VERDICTS[verdict]}"), text, style=_STYLES[verdict], width=13)
    for kind, value, reason in audit.added.values():
        terminal.fact("Also", f"{kind.words}: {reason or show_estimate(value, 3)}")


def _exit_code(audit: PredictionAudit) -> int:
    verdicts = {verdict for _, verdict in audit.verdicts}
    return FAILED if "fail" in verdicts else UNCLEAR if "unclear" in verdicts else 0
