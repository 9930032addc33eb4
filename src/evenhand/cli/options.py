"""Options that several commands share: what they are called, what they say, how their lists are read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = [
    "MECHANISMS", "AsJson", "Bound", "Data", "Delta", "Drop", "Encoder", "Epsilon", "Fraction",
    "GuessRoles", "Mechanism", "Model", "OneMechanism", "OpenPage", "Out", "PlanFile", "Positive", "Post",
    "Privileged", "Protected", "Protocol", "Quasi", "Quiet", "Repeats", "Resume", "Rho", "Rows",
    "SchemaFile", "Seed", "Sensitive", "SmallestGroup", "Split", "Strategy", "TableColumns", "Target",
    "Task", "Threshold", "UnitAsked", "UnitOfPrivacy", "Workers", "Yes", "listed",
]  # fmt: skip

_PROTOCOLS = ("grr", "blh", "olh", "rappor", "oue", "ss", "the", "optimal")
_SPLITS = ("uniform", "k-based", "optimal", "sample")
_STRATEGIES = ("independent", "combined", "single")
_MODELS = ("gradient-boosting", "lightgbm", "random-forest", "logistic")
_ENCODERS = ("narrow", "one-hot", "codes")
MECHANISMS = (
    "laplace", "discrete-gaussian", "thresholded-laplace", "record-swapping", "generalized-sampling",
    "suppression", "swapping", "k-anonymity", "noisy-suppression", "random-swapping", "sampled-k-anonymity",
)  # fmt: skip
"""The mechanisms of a release, those with a guarantee first."""

_DATASETS = ("acs_coverage", "adult", "causal", "compas", "credit_default", "lsac")


def _completed(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what completes the last of several words with commas between them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{choice}" for choice in choices if choice.startswith(last)]

    return complete


def _data(incomplete: str) -> list[str]:
    """Return the files and folders, and the data sets, whose names begin like this."""
    where = Path(incomplete if incomplete.endswith("/") else incomplete + "*")
    folder, start = where.parent, incomplete.rpartition("/")[2]
    if incomplete.endswith("/"):
        folder = where
    try:
        files = sorted(
            f"{each}/" if each.is_dir() else str(each)
            for each in folder.iterdir()
            if each.name.startswith(start)
            and (each.is_dir() or each.suffix in {".csv", ".gz", ".parquet", ".pq"})
        )
    except OSError:
        files = []
    return files + [name for name in _DATASETS if name.startswith(incomplete)]


def listed(given: Sequence[str] | None, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the words of an option that may be given several times, each time with commas.

    A name with a comma in it is put in quotation marks, unless it is one of `known` as it stands.

    >>> listed(["age, sex", "race"]), listed(["rent, monthly"], {"rent, monthly"}), listed(['a,"b, c"'])
    (('age', 'sex', 'race'), ('rent, monthly',), ('a', 'b, c'))
    """
    words: list[str] = []
    for each in given or ():
        if each in known:
            words.append(each)
            continue
        row = next(csv.reader([each], skipinitialspace=True), [])
        words += [word if word in known else word.strip() for word in row if word.strip()]
    return tuple(words)


Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA", help="A CSV or Parquet file, or a data set by name.", autocompletion=_data
    ),
]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that is predicted.")]
Positive = Annotated[str | None, typer.Option(metavar="VALUE", help="Its value that people hope for.")]
Protected = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column whose groups are compared.")
]
Privileged = Annotated[
    str | None, typer.Option(metavar="VALUE", help="The group that others are compared with.")
]
Sensitive = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="What people randomise, with commas.")
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to leave out.")]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", metavar="FILE", help="Declared domains and roles (TOML).")
]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="A plan that was written before.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the study in --out.")]
GuessRoles = Annotated[bool, typer.Option("--guess", help="Guess the roles that are missing, with reasons.")]
Epsilon = Annotated[
    list[str] | None,
    typer.Option(
        "--epsilon",
        "--epsilons",
        metavar="LIST",
        help="Privacy parameters of a whole report. [0.5,1,2,4; learn: 1,3]",
    ),
]
Protocol = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST", help=f"Of {', '.join(_PROTOCOLS)}. [grr,oue]", autocompletion=_completed(_PROTOCOLS)
    ),
]
Split = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST", help=f"Of {', '.join(_SPLITS)}. [uniform]", autocompletion=_completed(_SPLITS)
    ),
]
Strategy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST",
        help=f"Of {', '.join(_STRATEGIES)}. [independent]",
        autocompletion=_completed(_STRATEGIES),
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help=f"Of {', '.join(_MODELS)}. [the first]", autocompletion=_completed(_MODELS)
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help=f"Of {', '.join(_ENCODERS)}. [narrow]", autocompletion=_completed(_ENCODERS)
    ),
]
Repeats = Annotated[int | None, typer.Option(metavar="N", help="Runs of each setting. [10; learn: 5]")]
Rows = Annotated[int | None, typer.Option(metavar="N", help="Use N rows, drawn at random. [all]")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="What everything drawn derives from. [0]")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="Cells at a time. [one per processor]")]
Out = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where results go. [study]")]
OpenPage = Annotated[
    bool, typer.Option("--open/--no-open", help="Show the report in the browser.", show_default=False)
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the paths of what was written.")]

# --- a table that is published --------------------------------------------------------------------

Task = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="collect (train on protected rows), release (publish a table) or learn (train a private "
        "classifier). [collect]",
        autocompletion=_completed(("collect", "release", "learn")),
    ),
]
TableColumns = Annotated[
    list[str] | None, typer.Option("--columns", metavar="COLUMNS", help="Release: what is crossed.")
]
Mechanism = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST",
        help="Release: mechanisms, see 'evenhand release --help'.",
        autocompletion=_completed(MECHANISMS),
    ),
]
OneMechanism = Annotated[
    str,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help=f"Of {', '.join(MECHANISMS)}.",
        autocompletion=_completed(MECHANISMS),
    ),
]
UnitOfPrivacy = Annotated[
    str, typer.Option("--unit", metavar="WORDS", help="'replace one' or 'add or remove one'.")
]
UnitAsked = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="WORDS",
        help="'replace one' or 'add or remove one'. [the first; learn: the second]",
    ),
]
Threshold = Annotated[
    int | None, typer.Option(metavar="N", help="Of suppression: smaller counts are not published.")
]
SmallestGroup = Annotated[
    int | None, typer.Option("--k", metavar="N", help="Of k-anonymity: people who look alike.")
]
Fraction = Annotated[float | None, typer.Option(metavar="SHARE", help="Of swapping: records swapped.")]
Delta = Annotated[str | None, typer.Option(metavar="NUMBER", help="Of Gaussian noise, sampling and learn.")]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="Of Gaussian noise, instead of epsilon.")]
Bound = Annotated[
    int | None, typer.Option(metavar="N", help="A public bound on the count of a cell, never from the rows.")
]
Post = Annotated[
    list[str] | None,
    typer.Option(metavar="LIST", help="Then: nonnegative, integral, sum_to=TOTAL, shrink=T."),
]
Quasi = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="What others may know. [the schema's]")
]
