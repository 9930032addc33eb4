"""What a kind of study asks on the question page, and how the answers become a task."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.schema import Schema
    from evenhand.study.intake.opening import Opened
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Task

FieldKind = Literal["chips", "choice", "number", "text", "columns", "lines", "switch"]


@dataclass(frozen=True)
class Choice:
    """One of the values that a field may have.

    Parameters
    ----------
    value : str
        As the record keeps it.
    label : str
        As people read it.
    sentence : str
        What it does.
    """

    value: str
    label: str
    sentence: str = ""


@dataclass(frozen=True)
class Field:
    """One question of a form.

    Parameters
    ----------
    name : str
        As the record keeps it.
    label : str
    kind : {"chips", "choice", "number", "text", "columns", "lines", "switch"}
        Several of the choices; one of them; a number as text; a line; several columns of the data; several
        lines; yes or no.
    choices : tuple of Choice
    default : object
        A tuple of values for chips and columns, a text or a flag for the others.
    help : str
        A sentence below it.
    term : str
        A word of the glossary.
    advanced : bool
        Whether it is folded under "More choices".
    when : tuple of (str, str), optional
        Another question and the answer with which alone this one is asked.
    """

    name: str
    label: str
    kind: FieldKind
    choices: tuple[Choice, ...] = ()
    default: Any = None
    help: str = ""
    term: str = ""
    advanced: bool = False
    when: tuple[str, str] | None = None


READING = (
    Field(
        "called",
        "What a positive decision is called",
        "text",
        default="",
        help="As in: of 1,000 women, 52 are hired. Leave it empty for selected.",
    ),
    Field("unwanted", "It hurts to be selected, as by a flag or a denial", "switch", default=False),
)
"""How results of a classifier are told, which changes no run."""


def read_reading(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers to :data:`READING` as a task takes them."""
    called = str(values.get("called") or "").strip()
    return ({"called": called} if called else {}) | ({"unwanted": True} if values.get("unwanted") else {})


@dataclass(frozen=True)
class Applying:
    """What doing a setting for real is.

    Parameters
    ----------
    command : tuple of str
        The words of the command line after ``evenhand``; empty where there is none to run.
    guarantee : Guarantee, optional
        What is promised and charged.
    sentences : tuple of str
        What it does and what it leaves as it is.
    in_clear : tuple of str
        The columns that are written as they are.
    keepable : tuple of str
        The columns that are left out, and may be written as they are if somebody names them.
    script : str
        Python to run instead, where there is no command.
    why_not : str
        Why it cannot be done from here; empty where it can.
    """

    command: tuple[str, ...] = ()
    guarantee: Guarantee | None = None
    sentences: tuple[str, ...] = ()
    in_clear: tuple[str, ...] = ()
    keepable: tuple[str, ...] = ()
    script: str = ""
    why_not: str = ""


UNPROTECTED = "Choose a setting that protects."
"""Why nothing is done for real of the unprotected setting."""


def command_words(setting: Setting, plan: Plan, *, data: str) -> list[str]:
    """Return what is typed after ``evenhand`` to do a setting; none where the command line has no option."""
    if plan.schema is None:
        return []
    return shlex.split(plan.task.next_command(setting, plan.schema, data=data, file="schema.toml"))[1:]


class TaskForm(ABC):
    """The question form of one kind of study.

    Attributes
    ----------
    kind : str
    title, sentence : str
        What is asked, in a few words and in one sentence.
    verb : str
        One word for it, such as "Collect".
    deed : str
        What the button does that does it for real; empty where there is none.
    roles : tuple of str
        The roles of columns that it needs.
    needs_people : bool
        Whether each row is a person, and not an entity with counts.
    datasets : mapping
        Data sets that were made for it, each with answers that fit.
    seconds_per_run : tuple of float and float
        What one run takes for up to 10,000 rows where nothing was timed: a rule of thumb.
    can_be_timed : bool
        Whether runs on a part of the rows tell how long all take.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    sentence: ClassVar[str]
    verb: ClassVar[str]
    deed: ClassVar[str] = ""
    roles: ClassVar[tuple[str, ...]] = ()
    needs_people: ClassVar[bool] = True
    datasets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    seconds_per_run: ClassVar[tuple[float, float]] = (0.1, 3.0)
    can_be_timed: ClassVar[bool] = True

    def crossed(self, values: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002 - for subclasses
        """Return the columns of a table that is published, whose domains are as those that people report."""
        return ()

    def guess_answers(self, opened: Opened, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        """Return answers that the file suggests; nothing where those that are given fit it."""
        return {}

    def needs_bins(self, values: Mapping[str, Any]) -> bool:  # noqa: ARG002 - for subclasses
        """Whether numbers in the clear need bins, because each value would become a feature."""
        return False

    def needed_roles(self, values: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG002 - for subclasses
        """Return the roles that are needed for the answers."""
        return self.roles

    def prepare_schema(self, schema: Schema, values: Mapping[str, Any]) -> Schema:  # noqa: ARG002 - for subclasses
        """Return the schema as the plan has it."""
        return schema

    def advise(self, results: Any, values: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return what keeps the limits that were answered, in one sentence; nothing where there are none."""
        return ""

    @abstractmethod
    def fields(self, schema: Schema | None, names: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """Return the questions, with choices that fit the schema; `names` are all columns of the data."""

    @abstractmethod
    def task(self, values: Mapping[str, Any], schema: Schema | None, **known: Any) -> Task:
        """Return the task of the answers; refuse what cannot be.

        Raises
        ------
        InvalidParameterError
            Whose ``parameter`` is the field's name.
        """

    @abstractmethod
    def options(self, task: Task) -> list[str]:
        """Return what is typed after the data and the schema to have this task on the command line."""

    @abstractmethod
    def promise(self, task: Task, schema: Schema | None, *, epsilon: str) -> Guarantee | None:
        """Return what one person is promised at an epsilon; None where nothing is."""

    @abstractmethod
    def applying(self, setting: Setting | None, plan: Plan, *, data: str) -> Applying:
        """Return what doing a setting for real is; `data` is the file as it is typed."""
