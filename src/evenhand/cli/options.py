"""Options that several commands share: their names, their panels in help, and how their lists are read.

A word in braces in a help text, such as ``{protocols}``, is filled from the registry of that name when help
is shown; ``{default}`` is filled with what the command does without the option.
"""

from __future__ import annotations

import csv
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from evenhand._registry import Registry
    from evenhand.cli.terminal.console import Terminal

DATA, ROLES, PROTECTION, DESIGN, OUTPUT = PANELS = ("Data", "Roles", "Protection", "Design", "Output")
"""The panels of a help text, in their order."""

REGISTRIES = {
    "datasets": "evenhand.datasets:DATASETS",
    "designs": "evenhand.papers:DESIGNS",
    "endings": "evenhand.table.read:ENDINGS",
    "encoders": "evenhand.study.tasks.collect.task:ENCODERS",
    "kinds": "evenhand.study.tasks.registry:KINDS",
    "languages": "evenhand.report.language:LANGUAGES",
    "measures": "evenhand.measure.added:ADDED_MEASURES",
    "mechanisms": "evenhand.release:MECHANISMS",
    "methods": "evenhand.study.tasks.learn.methods:METHODS",
    "mitigations": "evenhand.decide.mitigate.registry:MITIGATIONS",
    "models": "evenhand.learn.models:MODELS",
    "noises": "evenhand.study.tasks.decide.task:NOISES",
    "papers": "evenhand.papers:PAPERS",
    "protocols": "evenhand.collect:PROTOCOLS",
    "splits": "evenhand.collect.joint.split:SPLITS",
    "steps": "evenhand.release.postprocess.registry:STEPS",
    "strategies": "evenhand.collect.joint.build:STRATEGIES",
    "touches": "evenhand.study.tasks.decide.task:TOUCHES",
    "units": "evenhand.study.tasks.shared.table_mechanisms:UNITS",
}
"""Where the names that an option may have are registered; loaded when help or the shell asks for them."""


def names_in(registry: str) -> list[str]:
    """Return the names in one of :data:`REGISTRIES`, as they are now."""
    return list(registry_named(registry))


def registry_named(name: str) -> Any:
    """Return one of :data:`REGISTRIES` itself."""
    module, _, attribute = REGISTRIES[name].partition(":")
    return getattr(import_module(module), attribute)


def join_names(registry: str) -> str:
    """Return the names in one of :data:`REGISTRIES`, with commas; those with blanks are quoted."""
    return ", ".join(f"'{name}'" if " " in name else name for name in names_in(registry))


def warn_of_other_packages(
    terminal: Terminal, registry: Registry[Any], names: Iterable[object]
) -> tuple[str, ...]:
    """Say whose word a promise is, where a protocol or mechanism comes from another package; return that."""
    said = tuple(
        f"What is promised is the word of the package '{package}'; evenhand has not tested it."
        for package in registry.packages(names)
    )
    for sentence in said:
        terminal.warn(sentence)
    return said


def complete_name(registry: str) -> Callable[[str], list[str]]:
    """Return a function that completes the last of several names with commas between them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names_in(registry) if name.startswith(last)]

    return complete


def complete_data(incomplete: str) -> list[str]:
    """Return the files and folders, and the data sets, whose names begin like this."""
    where = Path(incomplete if incomplete.endswith("/") else incomplete + "*")
    folder, start = where.parent, incomplete.rpartition("/")[2]
    if incomplete.endswith("/"):
        folder = where
    try:
        files = sorted(
            f"{path}/" if path.is_dir() else str(path)
            for path in folder.iterdir()
            if path.name.startswith(start)
            and (path.is_dir() or path.name.lower().endswith(tuple(names_in("endings"))))
        )
    except OSError:
        files = []
    return files + [name for name in names_in("datasets") if name.startswith(incomplete)]


def split_list(given: Sequence[str] | None, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the words of an option that may be given several times, each time with commas.

    A name with a comma in it is put in quotation marks, unless it is one of `known` as it stands.

    >>> split_list(["age, sex", "race"]), split_list(["rent, monthly"], {"rent, monthly"})
    (('age', 'sex', 'race'), ('rent, monthly',))
    >>> split_list(['a,"b, c"'])
    ('a', 'b, c')
    """
    words: list[str] = []
    for text in given or ():
        if text in known:
            words.append(text)
            continue
        row = next(csv.reader([text], skipinitialspace=True), [])
        words += [word if word in known else word.strip() for word in row if word.strip()]
    return tuple(words)


def is_typed(value: object) -> bool:
    """Whether an option was typed: 0 and an empty text were, None and a flag that was left out were not."""
    return value is not None and value is not False


def option_flag(name: str, annotation: Any) -> str:
    """Return how an option is typed.

    >>> option_flag("epsilons", Epsilons), option_flag("target", Target)
    ('--epsilon', '--target')
    """
    declared = get_args(annotation)[1].default
    return declared.partition("/")[0] if isinstance(declared, str) else f"--{name.replace('_', '-')}"


def option(panel: str, metavar: str, text: str, *flags: str, choices: str = "", **extra: Any) -> Any:
    """Return an option in a panel of help; the shell completes its values from the registry `choices`."""
    complete = complete_name(choices) if choices else None
    return typer.Option(
        *flags, metavar=metavar or None, help=text, rich_help_panel=panel, autocompletion=complete, **extra
    )


def argument(panel: str, metavar: str, text: str, complete: Callable[[str], list[str]] | None = None) -> Any:
    """Return an argument in a panel of help, which the shell completes by a function."""
    return typer.Argument(metavar=metavar, help=text, rich_help_panel=panel, autocompletion=complete)


data_option, role_option, protection_option, design_option, output_option = (
    partial(option, panel) for panel in PANELS
)

# --- data and roles -------------------------------------------------------------------------------

Data = Annotated[
    str | None,
    argument(DATA, "DATA", "A CSV, Excel or Parquet file, or a data set: {datasets}.", complete_data),
]
Delimiter = Annotated[
    str | None, data_option("MARK", "What separates fields: comma, semicolon, tab, pipe. [found out]")
]
Encoding = Annotated[str | None, data_option("NAME", "Of the text, such as windows-1252. [found out]")]
Decimal = Annotated[str | None, data_option("MARK", "Before decimals: point or comma. [found out]")]
Sheet = Annotated[str | None, data_option("NAME", "Of an Excel file: a sheet or its place. [the only one]")]
FORMAT_OPTIONS: Mapping[str, Any] = {
    "delimiter": Delimiter, "encoding": Encoding, "decimal": Decimal, "sheet": Sheet,
}  # fmt: skip
"""How a file is written."""

SchemaFile = Annotated[Path | None, data_option("FILE", "Declared domains and roles (TOML).", "--schema")]
InferSchema = Annotated[
    bool, data_option("", "Read the domains of --columns from the rows, which leaks.", "--infer-schema")
]
Band = Annotated[
    list[str] | None,
    data_option("COLUMN=WIDTH", "Band dates (10y, 1q, 6m, or 10y:dd/mm/yyyy) or numbers (10).", "--band"),
]
PlanFile = Annotated[Path | None, data_option("FILE", "A plan that was written before.", "--plan")]
Rows = Annotated[int | None, data_option("N", "Use N rows, drawn at random. [all]")]
Target = Annotated[str | None, role_option("COLUMN", "The column that is predicted.")]
Positive = Annotated[str | None, role_option("VALUE", "What people hope for: a value, or '>= 50000'.")]
Protected = Annotated[
    str | None, role_option("COLUMNS", "Whose groups are compared; several, with commas, are crossed.")
]
Privileged = Annotated[
    str | None, role_option("VALUE", "The group that others are compared with; Male,White if crossed.")
]
PoolBelow = Annotated[
    int | None, role_option("N", "Compare groups of fewer than N people as one. [none]", "--pool-below")
]
Sensitive = Annotated[list[str] | None, role_option("COLUMNS", "What people randomise, with commas.")]
Drop = Annotated[list[str] | None, role_option("COLUMNS", "Columns to leave out.")]
MissingGroup = Annotated[
    bool, role_option("", "Compare people whose --protected is missing, as a group.", "--missing-group")
]
Labels = Annotated[
    list[str] | None,
    role_option("TEXT", "What people read for a value: white=1:White. Repeatable.", "--label"),
]
GuessRoles = Annotated[bool, role_option("", "Guess the roles that are missing, with reasons.", "--guess")]
Weight = Annotated[str | None, role_option("COLUMN", "Survey weights, which measures are weighted by.")]
Person = Annotated[
    str | None, role_option("COLUMN", "Whose row it is, where a person has several: 7, 07 and 7.0 are one.")
]
RowsPerPerson = Annotated[
    int | None, role_option("N", "Rows of one --person that count, drawn at random. [1]", "--rows-per-person")
]
Quasi = Annotated[list[str] | None, role_option("COLUMNS", "What others may know. [the schema's]")]
ROLE_OPTIONS: Mapping[str, Any] = {
    "target": Target, "positive": Positive, "protected": Protected, "privileged": Privileged,
    "sensitive": Sensitive, "drop": Drop, "band": Band, "missing_group": MissingGroup, "labels": Labels,
    "guess": GuessRoles, "weight": Weight, "pool_below": PoolBelow,
}  # fmt: skip
"""The roles of a study of people."""
PERSON_OPTIONS: Mapping[str, Any] = {"person": Person, "rows_per_person": RowsPerPerson}
"""The roles of a study in which several rows may be of one person."""

# --- protection -----------------------------------------------------------------------------------

Epsilons = Annotated[
    list[str] | None,
    protection_option("LIST", "What one person is promised. [{default}]", "--epsilon", "--epsilons"),
]
Unit = Annotated[str | None, protection_option("WORDS", "Of {units}. [{default}]", "--unit")]
Threshold = Annotated[int | None, protection_option("N", "Of suppression: smaller counts are not published.")]
Fill = Annotated[
    str | None, protection_option("NAME", "Of suppression: blank, zero or half-threshold. [blank]")
]
SmallestGroup = Annotated[int | None, protection_option("N", "Of k-anonymity: people who look alike.", "--k")]
Fraction = Annotated[float | None, protection_option("SHARE", "Of swapping: records swapped.")]
Delta = Annotated[str | None, protection_option("NUMBER", "Of Gaussian noise and of sampling.")]
Rho = Annotated[str | None, protection_option("NUMBER", "Of Gaussian noise, instead of epsilon.")]
Bound = Annotated[
    int | None, protection_option("N", "A public bound on the count of a cell, never from the rows.")
]
Post = Annotated[list[str] | None, protection_option("LIST", "Then, in order: {steps}.")]

# --- design and output ----------------------------------------------------------------------------

Repeats = Annotated[int | None, design_option("N", "Runs of each setting. [{default}]")]
Seed = Annotated[int | None, design_option("N", "What everything drawn derives from. [0]")]
Matters = Annotated[
    list[str] | None,
    design_option("AMOUNT", "What counts: 50 of 1,000 people, short=2%. Repeatable. [10; 1 % of money]"),
]
Unwanted = Annotated[bool, design_option("", "To be selected hurts, as a flag does.", "--unwanted")]
Called = Annotated[
    str | None, design_option("WORD", "What those who are selected are called, such as hired.")
]
READING_OPTIONS: Mapping[str, Any] = {"unwanted": Unwanted, "called": Called}
"""How the decisions of a classifier are read."""
Workers = Annotated[int | None, design_option("N", "Runs at the same time. [one per processor]")]
Engine = Annotated[str | None, design_option("NAME", "Where runs are computed: local or dask. [local]")]
Scheduler = Annotated[
    str | None, design_option("ADDRESS", "Of the Dask cluster, such as tcp://127.0.0.1:8786.")
]
TlsCa = Annotated[Path | None, design_option("FILE", "Certificate of the authority, for tls:// addresses.")]
TlsCert = Annotated[Path | None, design_option("FILE", "Our certificate.")]
TlsKey = Annotated[Path | None, design_option("FILE", "Its key.")]
FileWorkers = Annotated[
    int | None, design_option("N", "Threads. [one per processor, 8 at most]", "--workers")
]
Resume = Annotated[bool, design_option("", "Go on with the study in --out.", "--resume")]
NoRemedies = Annotated[
    bool, design_option("", "Run only what is asked for: try nothing fairer.", "--no-remedies")
]
Quick = Annotated[
    bool, design_option("", "Stop after who pays and remedies; --resume runs the rest.", "--quick")
]
Yes = Annotated[bool, design_option("", "Ask nothing.", "--yes", "-y")]
Anyway = Annotated[bool, design_option("", "Run it though the first look says stop.", "--anyway")]
Out = Annotated[Path | None, output_option("FOLDER", "Where results go. [study]")]
SaveScript = Annotated[
    Path | None, output_option("FILE", "Write Python that gives the same numbers: .py or .ipynb.")
]
OpenPage = Annotated[
    bool, output_option("", "Show the report in the browser.", "--open/--no-open", show_default=False)
]
Overwrite = Annotated[bool, output_option("", "Replace a file that is there.", "--overwrite")]
LedgerFile = Annotated[
    Path | None,
    protection_option(
        "FILE", "Charge this ledger. [EVENHAND_LEDGER, or evenhand-ledger.db beside IN]", "--ledger"
    ),
]
Purpose = Annotated[str | None, protection_option("TEXT", "What the ledger is told.", "--purpose")]
SignFile = Annotated[
    Path | None, output_option("KEY", "Sign the note with this private key, see evenhand keys.", "--sign")
]
AsJson = Annotated[bool, output_option("", "One JSON object on standard output.", "--json")]
Language = Annotated[
    str | None,
    output_option(
        "NAME",
        "Of what people read: {languages}, if the kind of study has it. [en]",
    ),
]
Quiet = Annotated[bool, output_option("", "Only the paths of what was written.", "--quiet", "-q")]
RUN_OPTIONS: Mapping[str, Any] = {
    "data": Data, **FORMAT_OPTIONS, "plan": PlanFile, "seed": Seed, "matters": Matters, "workers": Workers,
    "engine": Engine, "scheduler": Scheduler, "tls_ca": TlsCa, "tls_cert": TlsCert, "tls_key": TlsKey,
    "no_remedies": NoRemedies, "quick": Quick, "resume": Resume, "yes": Yes, "anyway": Anyway,
    "out": Out, "save_script": SaveScript, "open_page": OpenPage, "language": Language,
    "as_json": AsJson, "quiet": Quiet,
}  # fmt: skip
"""What every audit has, whatever its kind."""
