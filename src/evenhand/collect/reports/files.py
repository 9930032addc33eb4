"""Reports in Parquet files and JSON texts, each with a note: form, protocol, guarantee, randomness."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand._formats import format_number, parse_json, version_fault
from evenhand._validate import boolean, one_of
from evenhand.collect.protocols.homes import CLASSES
from evenhand.errors import (
    EvenhandError,
    GuaranteeError,
    InvalidParameterError,
    LimitExceededError,
    UnreadableFileError,
)
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ROW_ORDER, Trust, Unit
from evenhand.privacy.records import build_from_record
from evenhand.table.limits import DEFAULT_LIMITS, Limits
from evenhand.table.parquet.read import read_parquet
from evenhand.table.source import Source, blocks, open_source, over_limit, refuse
from evenhand.table.write import replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from types import UnionType

    import numpy.typing as npt

    from evenhand.collect.reports.layouts import Layout
    from evenhand.table.source import ReadableBuffer

FORMAT_NAME, FORMAT_NUMBER = "evenhand reports", 1
FORMAT = f"{FORMAT_NAME} {FORMAT_NUMBER}"
"""The form of the file; another number means another form."""

NOTES = ("format", "evenhand", "rng", "protocol", "guarantee")
"""The names of what is said. Only simulated reports have no guarantee."""

_RNG = {False: "secure", True: "seeded"}
_LONGEST_VERSION = 80


def describe_reports(reports: Any, *, allowed: str, keep_order: bool, owner: str) -> dict[str, Any]:
    """Return what a file of reports says about itself, or refuse to write simulated ones.

    Parameters
    ----------
    reports : Reports
        What is written.
    allowed : {"refuse", "allow"}
        Whether simulated reports may be written; the parameter ``simulated`` of the caller.
    keep_order : bool
        Whether they are written in the order in which they were made.
    owner : str
        Who asks, for messages.
    """
    boolean("keep_order", keep_order, owner=owner)
    protocol, simulated = reports.protocol, reports.simulated
    if one_of("simulated", allowed, ("refuse", "allow"), owner=owner) == "refuse" and simulated:
        raise GuaranteeError(
            "Simulated reports were not written: they were drawn with a seed, and whoever has it can take "
            "the noise off, so no guarantee holds for them. Hint: give privatize no rng to collect reports; "
            "pass simulated='allow' to keep these for a study, marked 'rng: seeded'."
        )
    if CLASSES.get(protocol.name) is not type(protocol):
        raise InvalidParameterError(
            "reports",
            owner=owner,
            must_be=f"reports of one of the protocols {', '.join(CLASSES)}",
            got=f"reports of {protocol!r}",
            hint="a column decoded from a joint report is not sent alone: write the whole reports.",
        )
    note = {
        "format": FORMAT,
        "evenhand": import_module("evenhand").__version__,  # it stands above all layers
        "rng": _RNG[simulated],
        "protocol": protocol.to_dict(),
    }
    if simulated:
        return note
    promise = protocol.guarantee_for(in_clear=[ROW_ORDER] if keep_order else ())
    return note | {"guarantee": promise.to_dict()}


def read_note(note: Mapping[str, Any], name: str) -> tuple[Any, bool]:
    """Return the protocol, and whether the reports are simulated, from what the file `name` says."""
    number, version = format_number(note.get("format"), FORMAT_NAME), note.get("evenhand")
    if number is None:
        refuse(name, "it holds no reports of evenhand, or does not say so.")
    fault = version_fault(number, newest=FORMAT_NUMBER, writer=version)
    if fault:
        refuse(name, f"it {fault}")
    if not isinstance(version, str) or len(version) > _LONGEST_VERSION:
        refuse(name, "it does not say which version of evenhand wrote it.")
    rng = note.get("rng")
    if not isinstance(rng, str) or rng not in _RNG.values():
        refuse(name, "it does not say whether its reports are 'secure' or 'seeded'.")
    simulated = rng == _RNG[True]
    if simulated != (note.get("guarantee") is None):
        refuse(name, "collected reports state a guarantee, simulated ones none; here it is otherwise.")
    protocol = _read_record(_protocol_from, note.get("protocol"), name, "protocol")
    if not simulated:
        guarantee = _read_record(Guarantee.from_dict, note["guarantee"], name, "guarantee")
        _check_guarantee(guarantee, protocol, name)
    return protocol, simulated


def _protocol_from(record: Mapping[str, Any]) -> Any:
    return build_from_record(record, CLASSES, kind="Protocol", owner="protocol_from")


def _read_record(read: Callable[[Any], Any], record: Any, name: str, part: str) -> Any:
    if not isinstance(record, Mapping):
        refuse(name, f"its {part} is not a record.")
    try:
        return read(record)
    except EvenhandError:
        refuse(name, f"its {part} cannot be understood: a field is missing, unknown or of a wrong value.")


def _check_guarantee(claimed: Guarantee, protocol: Any, name: str) -> None:
    """Refuse a file that promises what its protocol does not keep."""
    try:
        least = protocol.realised_epsilon
    except (EvenhandError, ArithmeticError, ValueError):
        refuse(name, "its protocol cannot make reports.")
    kept = (
        claimed.epsilon is not None
        and claimed.epsilon >= least
        and claimed.unit is Unit.ONE_REPORT
        and claimed.trust is Trust.LOCAL
        and claimed.group_size == 1
    )
    if not kept:
        refuse(name, "it states a guarantee that its protocol does not keep.")


_TEXT = "The text"
_TEXT_LIMITS = Limits(bytes=20_000_000)  # parsed, a hostile text takes twenty times its size


def read_json_text(text: str | bytes, *, limits: Limits | None = None) -> tuple[npt.NDArray[Any], Any, bool]:
    """Return the reports of a JSON text, the protocol that made them, and whether they are simulated."""
    limits = _TEXT_LIMITS if limits is None else limits
    _check_type("limits", limits, Limits, "a Limits")
    _check_type("text", text, str | bytes, "a text or its bytes in UTF-8")
    if len(text) > limits.bytes:
        over_limit(_TEXT, f"it is longer than {limits.bytes:,} bytes.", limit="bytes")
    try:
        record = parse_json(text if isinstance(text, str) else text.decode("utf-8"))
    except ValueError:
        refuse(_TEXT, "it is not JSON, or says something twice.")
    if not isinstance(record, dict):
        refuse(_TEXT, "it is not a JSON object.")
    protocol, simulated = read_note(record, _TEXT)
    if "reports" not in record or record.keys() - {*NOTES, "reports"}:
        refuse(_TEXT, "it has no reports, or more than reports and what they are.")
    try:
        values = protocol.layout.from_json(record["reports"])
    except InvalidParameterError as error:
        refuse(_TEXT, f"its reports are not {error.must_be}.")
    return values, protocol, simulated


def _check_type(name: str, value: object, kind: type | UnionType, must_be: str) -> None:
    if not isinstance(value, kind):
        got = f"a value of type {type(value).__name__}"
        raise InvalidParameterError(name, owner="Reports.from_json", must_be=must_be, got=got)


_GROUP_BYTES = 64 << 20
_GROUP_ROWS = 1 << 20
_RECORDS = ("protocol", "guarantee")  # written as JSON, the others as they are
_LONGEST_NOTE = 1 << 16


def write_reports(
    values: npt.NDArray[Any], layout: Layout, note: Mapping[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write reports and the note of what they are to a file, whole or not at all."""
    metadata = {name: json.dumps(text) if name in _RECORDS else text for name, text in note.items()}
    table = pa.table(layout.to_columns(values))
    rows = max(1, min(_GROUP_ROWS, _GROUP_BYTES // layout.bytes_per_report))
    plain = {"store_schema": False, "write_statistics": False, "use_dictionary": False}
    with (
        replacing(path) as file,
        pq.ParquetWriter(file, table.schema, compression="zstd", write_page_checksum=True, **plain) as writer,
    ):
        writer.write_table(table, row_group_size=rows)
        writer.add_key_value_metadata(metadata)


def read_reports(
    path_or_buffer: str | os.PathLike[str] | ReadableBuffer, *, limits: Limits | None = None
) -> tuple[npt.NDArray[Any], Any, bool]:
    """Return the reports of a file, the protocol that made them, and whether they are simulated."""
    limits = DEFAULT_LIMITS if limits is None else limits
    with (
        open_source(path_or_buffer, limits=limits, owner="Reports.read_parquet") as given,
        _naming_the_file(given),
    ):
        source = _seekable(given, limits)
        table = read_parquet(source.stream, limits=limits)
        protocol, simulated = read_note(_note(source), source.name)
        columns = dict(zip(table.column_names, table.columns, strict=True))
        try:
            values = protocol.layout.from_columns(columns)
        except InvalidParameterError as error:
            refuse(source.name, f"its reports are not {error.must_be}.")
    return values, protocol, simulated


def _seekable(given: Source, limits: Limits) -> Source:
    """Return a source that can be read twice."""
    stream = given.stream
    if given.size is None and not (hasattr(stream, "seekable") and stream.seekable()):
        stream = io.BytesIO(b"".join(blocks(given, limits)))
    return Source(given.name, stream, given.size)


def _note(source: Source) -> Mapping[str, Any]:
    """Return what the metadata of a file says, after :func:`read_parquet` found the file in order."""
    source.stream.seek(0)
    file = pq.ParquetFile(source.stream)
    metadata, schema_metadata = file.metadata.metadata or {}, file.schema_arrow.metadata or {}
    texts = {name: metadata[name.encode()] for name in NOTES if name.encode() in metadata}
    keys = [name.encode() for name in NOTES]
    if any(metadata.get(key) != schema_metadata.get(key) for key in keys) or _has_duplicate_key(
        keys, file.metadata
    ):
        refuse(source.name, "it says something about itself twice.")
    if any(len(text) > _LONGEST_NOTE for text in texts.values()):
        refuse(source.name, "what it says about itself is too long.")
    try:
        return {
            name: parse_json(text) if name in _RECORDS else text.decode("utf-8")
            for name, text in texts.items()
        }
    except ValueError:
        refuse(source.name, "what it says about itself cannot be understood.")


def _has_duplicate_key(keys: list[bytes], metadata: Any) -> bool:
    """Whether the footer has one of the keys twice: readers differ in which of the two they believe.

    Arrow shows only one of them. So it writes the footer again, in the one form it has for a text: the byte
    0x18 (the next field, a text), the length, and the text. A column called like a key counts too.
    """
    footer = io.BytesIO()
    metadata.write_metadata_file(footer)
    return any(footer.getvalue().count(bytes([0x18, len(key)]) + key) > 1 for key in keys)


@contextmanager
def _naming_the_file(source: Source) -> Iterator[None]:
    """Name the file in messages of a reader that was given its stream."""
    try:
        yield
    except UnreadableFileError as error:
        raise UnreadableFileError(_with_name(error, source)) from None
    except LimitExceededError as error:
        raise LimitExceededError(_with_name(error, source), limit=error.limit) from None


def _with_name(error: Exception, source: Source) -> str:
    return str(error).replace("The buffer was", f"{source.name} was", 1)
