"""What a task tells the driver: one line of JSON, without a value of any person."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand import errors
from evenhand.errors import ClusterError, EvenhandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Note:
    """What a task did.

    Parameters
    ----------
    number : int
        The partition, or the part of the output.
    rows : int
        How many rows it has.
    digests : tuple of str
        The digest of each block of rows, in hexadecimal; it means nothing without the key of the run.
    relations : dict of str to str
        What is said of the columns in the clear that follow the order of the rows.
    sample : str
        The first rows of the columns in the clear, which the output has too, as Arrow in base64.
    links : str
        What was counted of rows that are unique on the columns in the clear, in base64; it means nothing
        without the key of the run.
    error : dict, optional
        Why the rows are refused.
    """

    number: int
    rows: int = 0
    digests: tuple[str, ...] = ()
    relations: dict[str, str] = field(default_factory=dict)
    sample: str = ""
    links: str = ""
    error: dict[str, Any] | None = None

    def to_json(self) -> str:
        """Return the note as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Note:
        """Return the note that a line holds."""
        fields: dict[str, Any] = json.loads(text)
        return cls(**fields | {"digests": tuple(fields["digests"])})

    @classmethod
    def of_error(cls, number: int, error: EvenhandError) -> Note:
        """Return the note that carries an error, whose message holds no value, to the driver."""
        state = {name: value for name, value in vars(error).items() if isinstance(value, str | int)}
        return cls(number, error={"kind": type(error).__name__, "message": str(error), "state": state})


def raise_first_error(notes: Iterable[Note]) -> None:
    """Raise the error of the first partition that has one: one error, however many partitions have it."""
    refused = [note for note in notes if note.error is not None]
    if not refused:
        return
    told: dict[str, Any] = min(refused, key=lambda note: note.number).error or {}
    kind = getattr(errors, told["kind"], ClusterError)
    error = kind.__new__(kind, told["message"])
    error.args = (told["message"],)
    error.__dict__.update(told["state"])
    raise error


def pack_sample(rows: pa.RecordBatch) -> str:
    """Return rows as text."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return base64.b64encode(sink.getvalue()).decode("ascii")


def unpack_samples(samples: Sequence[str]) -> pa.RecordBatch | None:
    """Return the rows of all samples, one after the other."""
    batches = [batch for text in samples if text for batch in pa.ipc.open_stream(base64.b64decode(text))]
    return pa.concat_batches(batches) if batches else None
