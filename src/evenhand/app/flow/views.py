"""What the functions of the steps return, ready to be shown: texts and small tuples that pickle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.app.tasks.base import Field

Tone = Literal["ok", "warn", "bad", "plain"]


@dataclass(frozen=True)
class BuiltIn:
    """A data set that needs no upload.

    Parameters
    ----------
    name, title, sentence : str
    rows : str
        How many rows it has, in words.
    here : bool
        Whether its files are on this machine; others are downloaded or got by hand.
    where : str
        The same in words.
    kinds : tuple of str
        The kinds of study that it suits.
    is_demo : bool
        Whether it is the one to begin with.
    """

    name: str
    title: str
    sentence: str
    rows: str
    here: bool
    where: str
    kinds: tuple[str, ...] = ()
    is_demo: bool = False


@dataclass(frozen=True)
class Opening:
    """What the beginning of a file tells: that it can be read, and how.

    Parameters
    ----------
    label : str
    columns : tuple of str
    rows : int
        How many rows were read.
    drawn : bool
        Whether these were drawn at random because the file is too large for memory.
    file_format : mapping
        How it was found to be written.
    sentences : tuple of str
        The same in words.
    """

    label: str
    columns: tuple[str, ...]
    rows: int
    drawn: bool = False
    file_format: Mapping[str, object] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """A word about a column or a study that stands out.

    Parameters
    ----------
    tone : {"ok", "warn", "bad", "plain"}
    text : str
        A few words.
    detail : str
        A sentence that says what to do.
    columns : tuple of str
        What it is about.
    """

    tone: Tone
    text: str
    detail: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnRow:
    """One column of the data as the schema page shows it.

    Parameters
    ----------
    name : str
    type_words : str
        Such as "text, 5 values".
    kind : {"categories", "whole numbers", "bands", ""}
        What kind of domain it has; empty if it has none.
    domain_words : str
        The domain in one line.
    values : tuple of str
        To edit, at most 60.
    value_count : int
        How many values there are in all.
    low, high, width : str
        Of whole numbers and bands; no width if the bands have different ones.
    edges : str
        Of bands with different widths: where they begin and end.
    bands : tuple of (str, str)
        Of dates: the bands that can be chosen, each with its words.
    band : str
        Of dates: the band that is chosen, or none.
    labels : mapping of str to str
        What people read for values, by value.
    missing_share : str
        Such as "3.1%", or "none".
    unknown, missing : {"error", "drop", "other"}
        The rules for values outside the domain and for none at all.
    role : str
        One of "target", "protected", "sensitive", "weight", "person", "clear" and "left out"; a column may
        be protected or the target, and sensitive: "protected, sensitive".
    reason : str
        Why the role was guessed, or why the column is left out.
    inferred, edited : bool
        Whether its domain was read from the rows; whether a person changed it.
    looks : tuple of Look
    """

    name: str
    type_words: str = ""
    kind: str = ""
    domain_words: str = ""
    values: tuple[str, ...] = ()
    value_count: int = 0
    low: str = ""
    high: str = ""
    width: str = ""
    edges: str = ""
    bands: tuple[tuple[str, str], ...] = ()
    band: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    missing_share: str = "none"
    unknown: str = "error"
    missing: str = "error"
    role: str = "clear"
    reason: str = ""
    inferred: bool = False
    edited: bool = False
    looks: tuple[Look, ...] = ()


@dataclass(frozen=True)
class MissingRole:
    """A role that is still needed.

    Parameters
    ----------
    role : str
    question : str
        To ask.
    choices : tuple of str
        What may be answered: columns, or values of the column.
    """

    role: str
    question: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Described:
    """The data of a study as the schema page shows it.

    Parameters
    ----------
    columns : tuple of ColumnRow
    rows : int
    drawn : bool
        Whether the rows were drawn from a larger file.
    roles : mapping
        The roles that hold: what the person said, and what a declared schema says.
    choices : mapping of str to tuple of str
        For ``positive`` and ``privileged``: the values of the column.
    reasons : mapping of str to str
        Why a role was guessed, by role.
    warnings : tuple of Look
    missing : tuple of MissingRole
    schema_text : str
        The schema as TOML; empty where there is an error.
    error, field : str
        What is wrong, and the column or role that it is about.
    """

    columns: tuple[ColumnRow, ...] = ()
    rows: int = 0
    drawn: bool = False
    roles: Mapping[str, object] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Look, ...] = ()
    missing: tuple[MissingRole, ...] = ()
    schema_text: str = ""
    error: str = ""
    field: str = ""

    @property
    def inferred(self) -> tuple[str, ...]:
        """The columns whose domain was read from the rows."""
        return tuple(row.name for row in self.columns if row.inferred)


@dataclass(frozen=True)
class Odds:
    """What one epsilon means.

    Parameters
    ----------
    epsilon : str
        As typed.
    place : float
        On a scale from 0 (most private) to 1, logarithmic.
    words : str
        Such as "at most a factor of 2.7".
    tone : {"ok", "warn", "bad", "plain"}
    """

    epsilon: str
    place: float
    words: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Question:
    """The plan of a study as the question page shows it.

    Parameters
    ----------
    fields : tuple of Field
        The questions of the kind that is chosen.
    values : mapping
        The answers, defaults filled in.
    plan_toml : str
        The plan; empty where there is an error.
    runs : str
        How many settings, repeats and runs there are, in words.
    count : int
        Of runs.
    seconds : tuple of float and float, optional
        How long all take; None if nothing can be said.
    minutes_words : str
        The same in words, with how it was found out.
    is_timing : bool
        Whether a better answer comes when a few runs were timed, for which one asks again.
    promise, promise_more : str
        What one person is promised, in one sentence, and what it rests on.
    odds : tuple of Odds
    command, python : str
        What repeats it.
    notes : tuple of Look
    error, field : str
        What is wrong, and the field that it is about.
    place : int
        The place in a formula where it is wrong, counted from 1; 0 if there is none.
    """

    fields: tuple[Field, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    plan_toml: str = ""
    runs: str = ""
    count: int = 0
    seconds: tuple[float, float] | None = None
    minutes_words: str = ""
    is_timing: bool = False
    promise: str = ""
    promise_more: str = ""
    odds: tuple[Odds, ...] = ()
    command: str = ""
    python: str = ""
    notes: tuple[Look, ...] = ()
    error: str = ""
    field: str = ""
    place: int = 0


@dataclass(frozen=True)
class SettingChoice:
    """A setting of a finished study to choose: its key and what people read."""

    key: str
    label: str


@dataclass(frozen=True)
class ResultView:
    """A finished study as the result page shows it.

    Parameters
    ----------
    answer_html, findings_html : str
        The report itself, rendered and escaped.
    settings : tuple of SettingChoice
        The protected ones.
    chosen : str
        The key of the setting that the page is about.
    recommended : str
        The setting that is recommended, in words; empty if none is.
    commands : tuple of (str, str)
        What each does, and its line.
    advice : str
        Which setting keeps the limits that the person answered; empty where there are none.
    files : tuple of str
        The downloads that are there, see :data:`evenhand.app.flow.files.DOWNLOADS`.
    done, total, failed : int
        Runs.
    """

    answer_html: str
    findings_html: str
    settings: tuple[SettingChoice, ...]
    chosen: str
    recommended: str = ""
    commands: tuple[tuple[str, str], ...] = ()
    advice: str = ""
    files: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    failed: int = 0


@dataclass(frozen=True)
class LedgerView:
    """A ledger and what a charge would do to it, with exact amounts as text.

    Parameters
    ----------
    name : str
        Of the ledger, never its path.
    limit, spent, this, left : str
        The limit, what is spent, what this costs, and what is left after it.
    fits : bool
        Whether there is room for it.
    sentence : str
        The same in words, or why it is refused.
    """

    name: str
    limit: str
    spent: str
    this: str
    left: str
    fits: bool
    sentence: str


@dataclass(frozen=True)
class Tick:
    """A box to tick before anything is spent; one that cannot be truthfully ticked says why."""

    name: str
    text: str
    can_be_set: bool = True
    why_not: str = ""


@dataclass(frozen=True)
class ApplyView:
    """What doing a setting for real means. Of the rows it tells how many link to one person each, no more.

    Parameters
    ----------
    settings : tuple of SettingChoice
    chosen : str
    heading : str
    sentences : tuple of str
    command : str
        The command line that the button runs, or that a person runs.
    script : str
        Python to run instead, where there is no command.
    promise : str
        The guarantee in one sentence.
    spends : str
        The exact amount, such as "ε = 1".
    in_clear : tuple of str
        The columns that are written as they are.
    keepable : tuple of str
        Columns that may be written as they are, if somebody names them.
    links : str
        How many rows link to one person each by those that are.
    is_for_publication : bool
        Whether few enough rows link.
    ledger : LedgerView, optional
    ledgers : tuple of (str, str)
        Those that may be chosen: key and words; the last makes a new one.
    ticks : tuple of Tick
    button : str
        Names the amount; empty where there is nothing to press.
    needs : str
        What has to be written first, without which nothing is done; empty where nothing is missing.
    error, field : str
        Why it cannot be done now.
    """

    settings: tuple[SettingChoice, ...] = ()
    chosen: str = ""
    heading: str = ""
    sentences: tuple[str, ...] = ()
    command: str = ""
    script: str = ""
    promise: str = ""
    spends: str = ""
    in_clear: tuple[str, ...] = ()
    keepable: tuple[str, ...] = ()
    links: str = ""
    is_for_publication: bool = True
    ledger: LedgerView | None = None
    ledgers: tuple[tuple[str, str], ...] = ()
    ticks: tuple[Tick, ...] = ()
    button: str = ""
    needs: str = ""
    error: str = ""
    field: str = ""


@dataclass(frozen=True)
class Applied:
    """What came of it.

    Parameters
    ----------
    ok : bool
    files : tuple of str
        Names in the folder ``applied`` of the study, for download.
    promise, charged : str
        The guarantee, and what was charged to which ledger.
    links : str, optional
        How many rows link to one person each by the columns in the clear, if there are any; None where an
        earlier evenhand did it, which did not measure that.
    is_for_publication : bool
        Whether few enough rows link.
    said : tuple of str
        What the command said, line by line; or its error.
    """

    ok: bool
    files: tuple[str, ...] = ()
    promise: str = ""
    charged: str = ""
    links: str | None = ""
    is_for_publication: bool = True
    said: tuple[str, ...] = ()
