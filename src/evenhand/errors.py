"""Every exception and warning that evenhand raises.

Each error derives from :class:`EvenhandError` and from the builtin a caller would expect.
A message says what is wrong and where, what it must be, what was given, and the next action.
A message never holds a cell value, a row or a count of private rows; facts that are public
(names of parameters and columns, amounts of budget) are also attributes of the exception.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BudgetExceededError",
    "ChecksumError",
    "ClusterError",
    "ColumnNotFoundError",
    "DataSetNotFoundError",
    "DomainInferredWarning",
    "EngineError",
    "EvenhandError",
    "EvenhandWarning",
    "GuaranteeError",
    "IndependenceWarning",
    "InvalidParameterError",
    "LedgerError",
    "LimitExceededError",
    "MissingExtraError",
    "OtherRowsError",
    "OutsideDomainError",
    "PlanError",
    "PluginError",
    "PrivacyWarning",
    "RandomSourceError",
    "RuleError",
    "SchemaError",
    "StudyStoreError",
    "UnknownNameError",
    "UnreadableFileError",
    "UnwritableFileError",
    "WorkbenchError",
]

_LONGEST_SHOWN = 80
_LONGEST_DESCRIPTION = 400


class EvenhandError(Exception):
    """Base of every error that evenhand raises."""

    def __str__(self) -> str:
        # KeyError and OSError print something else than their message; we always print the message.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with the message alone; an error must survive the way from a worker.
        return _rebuild, (type(self), self.args, self.__dict__)


class InvalidParameterError(EvenhandError, ValueError):
    """A parameter has a value or a type that it cannot have.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    owner : str
        The function or class it belongs to.
    must_be : str
        What it must be, as the end of the sentence "must be ...".
    got : object
        What was given. Parameters are public; never pass private data here.
    hint : str, optional
        The next action.
    """

    def __init__(self, parameter: str, *, owner: str, must_be: str, got: object, hint: str = "") -> None:
        self.parameter = parameter
        self.owner = owner
        self.must_be = must_be
        self.complaint = f"must be {must_be}. Got {_shorten(got)} instead.{f' Hint: {hint}' if hint else ''}"
        super().__init__(f"The '{parameter}' parameter of {owner} {self.complaint}")

    def renamed(self, parameter: str, *, owner: str) -> InvalidParameterError:
        """Return the same complaint about a parameter as its caller knows it."""
        names = {"parameter": parameter, "owner": owner}
        message = f"The '{parameter}' parameter of {owner} {self.complaint}"
        return _rebuild(type(self), (message,), {**self.__dict__, **names})  # type: ignore[return-value]


class UnknownNameError(EvenhandError, KeyError):
    """A name is not one of those that exist; the message lists them, with a guess.

    Parameters
    ----------
    kind : str
        What was looked for, such as ``"Data set"``.
    name : str
        The name that was given.
    known : iterable of str
        The names that exist.
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], *, place: str = "known") -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(
            f"{kind} {name!r} is not {place}. Hint: {_guess(name, self.known)}{_listing(self.known)}"
        )


class ColumnNotFoundError(UnknownNameError):
    """A column is not in the schema or the frame."""

    def __init__(self, name: object, known: Iterable[str], *, place: str = "in the schema") -> None:
        super().__init__("Column", name, known, place=place)


class SchemaError(EvenhandError, ValueError):
    """A schema contradicts itself, or a schema file cannot be understood.

    Parameters
    ----------
    message : str
        The whole message.
    field : str
        The part of the schema at fault, such as ``"columns.age.domain"``.
    why : str
        What is wrong with a column that cannot be used, as the end of "it ...".
    """

    def __init__(self, message: str, *, field: str, why: str = "") -> None:
        self.field = field
        self.why = why
        super().__init__(message)


class PlanError(EvenhandError, ValueError):
    """A plan contradicts itself, or a plan file cannot be understood.

    Parameters
    ----------
    message : str
        The whole message.
    field : str
        The part of the plan at fault, such as ``"collect.epsilons"``.
    """

    def __init__(self, message: str, *, field: str) -> None:
        self.field = field
        super().__init__(message)


class RuleError(EvenhandError, ValueError):
    """The text of a rule cannot be understood; the message points at the place.

    Parameters
    ----------
    message : str
        The whole message, with the text and a caret below the place.
    column : int
        The place in the text, counted from 1.
    expected : str
        What was expected there.
    """

    def __init__(self, message: str, *, column: int, expected: str) -> None:
        self.column = column
        self.expected = expected
        super().__init__(message)


class StudyStoreError(EvenhandError, RuntimeError):
    """A folder does not hold the study it should, or its store is damaged."""


class WorkbenchError(EvenhandError, RuntimeError):
    """The workbench cannot do now what it was asked: something is in use, or a process of it ended."""


class ClusterError(EvenhandError, RuntimeError):
    """A cluster does not answer, or cannot do what this machine would."""


class OutsideDomainError(EvenhandError, ValueError):
    """A column holds a value outside its declared domain and the rule says ``error``.

    Neither the value nor how many rows hold it is told: both would be private.
    """

    def __init__(self, column: str, *, what: str, hint: str) -> None:
        self.column = column
        super().__init__(f"Column '{column}' holds {what}. Hint: {hint}")


class UnreadableFileError(EvenhandError, ValueError):
    """A file is not what its name or place says, or is damaged."""


class UnwritableFileError(EvenhandError, OSError):
    """A file cannot be written where it should go; what was there before is as it was."""


class LimitExceededError(EvenhandError, ValueError):
    """A file or a request is larger than the limit set for it.

    Parameters
    ----------
    message : str
        The whole message.
    limit : str
        Name of the limit that was passed, which is also the argument that raises it.
    """

    def __init__(self, message: str, *, limit: str) -> None:
        self.limit = limit
        super().__init__(message)


class EngineError(EvenhandError, RuntimeError):
    """An engine, such as Spark or DuckDB, failed at what it was asked to do.

    Its own message may quote a row, so it is neither shown nor kept.

    Parameters
    ----------
    message : str
        The whole message.
    engine : str
        What people call the engine.
    """

    def __init__(self, message: str, *, engine: str) -> None:
        self.engine = engine
        super().__init__(message)


class GuaranteeError(EvenhandError, ValueError):
    """A guarantee cannot be composed or converted as asked, or does not hold for what was drawn."""


class LedgerError(EvenhandError, RuntimeError):
    """A ledger cannot be read or written, was changed, or is older than its anchor; nothing may be drawn."""


class BudgetExceededError(EvenhandError, ValueError):
    """A charge is more than a ledger has left. Nothing was charged and nothing may be drawn.

    Parameters
    ----------
    message : str
        The whole message.
    requested, remaining : Amount
        Epsilon and delta of the charge, and what is left.
    ledger : str
        The name of the ledger's file.
    """

    def __init__(self, message: str, *, requested: Any, remaining: Any, ledger: str) -> None:
        self.requested = requested
        self.remaining = remaining
        self.ledger = ledger
        super().__init__(message)


class OtherRowsError(EvenhandError, RuntimeError):
    """A partition gave other rows than when it was checked, or the same in another order.

    Reports of both would be two reports of the same people, so nothing is drawn.

    Parameters
    ----------
    partition : int
        The number of the partition.
    """

    def __init__(self, partition: int) -> None:
        self.partition = partition
        super().__init__(
            f"Partition {partition} has other rows than when it was checked, or the same rows in another "
            "order. To draw for them would report people twice, so nothing was written. Hint: "
            "materialize=True keeps the rows beside the output while it is written; or sort the rows of each "
            "partition by a column that has no value twice."
        )


class RandomSourceError(EvenhandError, RuntimeError):
    """A random source gives words that no random source would give, so nothing may be drawn from it."""


class DataSetNotFoundError(EvenhandError, FileNotFoundError):
    """A data set is neither on this machine nor to be had from its source."""


class ChecksumError(EvenhandError, ValueError):
    """A data file is not the one whose checksum is on record."""


class MissingExtraError(EvenhandError, ImportError):
    """A feature needs a package that is not installed.

    Parameters
    ----------
    package : str
        The package that is missing.
    feature : str
        What needs it, as the start of a sentence.
    extra : str, optional
        The extra of evenhand that brings it; without one the package itself is to be installed.
    """

    def __init__(self, package: str, *, feature: str, extra: str | None = None) -> None:
        self.package = package
        self.extra = extra
        wanted = f"'evenhand[{extra}]'" if extra else package
        super().__init__(f"{feature} needs the package '{package}'. Hint: pip install {wanted}")


class PluginError(EvenhandError, RuntimeError):
    """Something that another package adds to evenhand cannot be used; the message names the package.

    Parameters
    ----------
    message : str
        The whole message.
    package : str
        The package that adds it.
    plugin : str
        The name under which it does.
    """

    def __init__(self, message: str, *, package: str, plugin: str) -> None:
        self.package = package
        self.plugin = plugin
        super().__init__(message)


class EvenhandWarning(UserWarning):
    """Base of every warning that evenhand gives."""


class DomainInferredWarning(EvenhandWarning):
    """A domain was read from the rows, which tells who is in them."""


class IndependenceWarning(EvenhandWarning):
    """An outcome was made from the reports it is set against, or may have been: rates of both are wrong."""


class PrivacyWarning(EvenhandWarning):
    """A guarantee is so weak that a reader would misjudge it."""


def _shorten(got: object) -> str:
    """Return what was given in few characters; a text with spaces is a description and stays as it is."""
    if isinstance(got, str) and " " in got:
        return got if len(got) <= _LONGEST_DESCRIPTION else f"{got[:_LONGEST_DESCRIPTION]}..."
    try:
        text = repr(got[: _LONGEST_SHOWN + 1] if isinstance(got, str) else got)
    except Exception:  # noqa: BLE001 - whatever a stranger's repr raises, the refusal itself must arrive
        text = f"a value of type {type(got).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _rebuild(kind: type[EvenhandError], args: tuple[Any, ...], state: dict[str, Any]) -> EvenhandError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def _guess(name: object, known: tuple[str, ...]) -> str:
    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(str(name).lower(), lowered, n=1)
    return f"did you mean '{lowered[close[0]]}'? " if close else ""


def _listing(known: tuple[str, ...]) -> str:
    shown = ", ".join(known[:20])
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return f"There are: {shown}{more}." if known else "There are none."
