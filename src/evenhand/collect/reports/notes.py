"""What a file of reports says about itself: the form, the protocol, the guarantee, the randomness."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from evenhand._validate import boolean, one_of
from evenhand.collect.protocols.registry import PROTOCOLS, protocol_from
from evenhand.errors import EvenhandError, GuaranteeError, InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ROW_ORDER, Trust, Unit
from evenhand.privacy.randomness import SecureSource
from evenhand.privacy.sampling import permutation
from evenhand.table.source import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.collect.protocols.base import Protocol
    from evenhand.collect.reports.reports import Reports

__all__ = ["FORMAT", "FORMAT_NAME", "NOTES", "in_written_order", "note_of", "parsed", "read_note"]

FORMAT_NAME = "evenhand reports"
FORMAT = f"{FORMAT_NAME} 1"
"""The form of the file; another number means another form."""

NOTES = ("format", "evenhand", "rng", "protocol", "guarantee")
"""The names of what is said. Only simulated reports have no guarantee."""

_RNG = {False: "secure", True: "seeded"}
_LONGEST_VERSION = 80


def note_of(reports: Reports, *, simulated: str, keep_order: bool, owner: str) -> dict[str, Any]:
    """Return what a file of these reports says about itself, or refuse to write simulated ones."""
    boolean("keep_order", keep_order, owner=owner)
    if one_of("simulated", simulated, ("refuse", "allow"), owner=owner) == "refuse" and reports.simulated:
        raise GuaranteeError(
            "Simulated reports were not written: they were drawn with a seed, and whoever has it can take "
            "the noise off, so no guarantee holds for them. Hint: give privatize no rng to collect reports; "
            "pass simulated='allow' to keep these for a study, marked 'rng: seeded'."
        )
    protocol = reports.protocol
    if PROTOCOLS.get(protocol.name) is not type(protocol):
        raise InvalidParameterError(
            "reports",
            owner=owner,
            must_be=f"reports of one of the protocols {', '.join(PROTOCOLS)}",
            got=f"reports of {protocol!r}",
            hint="a column decoded from a joint report is not sent alone: write the whole reports.",
        )
    note = {
        "format": FORMAT,
        "evenhand": import_module("evenhand").__version__,  # it stands above all layers
        "rng": _RNG[reports.simulated],
        "protocol": protocol.to_dict(),
    }
    if reports.simulated:
        return note
    promise = protocol.guarantee_for(in_clear=[ROW_ORDER] if keep_order else ())
    return note | {"guarantee": promise.to_dict()}


def in_written_order(reports: Reports, *, keep_order: bool) -> Reports:
    """Return the reports as they are written: in a uniform order from the secure source, unless told."""
    if keep_order:
        return reports
    shuffled: Reports = reports[permutation(len(reports), source=SecureSource())]
    return shuffled


def read_note(note: Mapping[str, Any], name: str) -> tuple[Protocol, bool]:
    """Return the protocol, and whether the reports are simulated, from what the file `name` says."""
    form = note.get("format")
    if not isinstance(form, str) or not form.startswith(f"{FORMAT_NAME} "):
        refuse(name, "it holds no reports of evenhand, or does not say so.")
    if form != FORMAT:
        refuse(name, "its reports are in a form of another version. Hint: update evenhand.")
    version = note.get("evenhand")
    if not isinstance(version, str) or len(version) > _LONGEST_VERSION:
        refuse(name, "it does not say which version of evenhand wrote it.")
    rng = note.get("rng")
    if not isinstance(rng, str) or rng not in _RNG.values():
        refuse(name, "it does not say whether its reports are 'secure' or 'seeded'.")
    simulated = rng == _RNG[True]
    if simulated != (note.get("guarantee") is None):
        refuse(name, "collected reports state a guarantee, simulated ones none; here it is otherwise.")
    protocol = _understood(protocol_from, note.get("protocol"), name, "protocol")
    if not simulated:
        _check_claim(_understood(Guarantee.from_dict, note["guarantee"], name, "guarantee"), protocol, name)
    return protocol, simulated


def parsed(text: str | bytes) -> Any:
    """Return what a JSON text holds; ValueError if it is none, or says something twice."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("too deep") from None


def _understood(reader: Callable[[Any], Any], record: Any, name: str, what: str) -> Any:
    if not isinstance(record, Mapping):
        refuse(name, f"its {what} is not a record.")
    try:
        return reader(record)
    except EvenhandError:
        refuse(name, f"its {what} cannot be understood: a field is missing, unknown or of a wrong value.")


def _check_claim(claimed: Guarantee, protocol: Protocol, name: str) -> None:
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a name twice")
    return record


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
