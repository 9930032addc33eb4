"""Public health coverage in Texas, 2018: the task ACSPublicCoverage as arcolezi2023 used it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.datasets.download.parsing import read_rows, write_rows
from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

# First and last code of each column; a published code is the difference to the first one.
_CODES = {
    "AGEP": (15, 64), "SCHL": (1, 24), "MAR": (1, 5), "SEX": (0, 1), "DIS": (0, 1), "ESP": (0, 8),
    "CIT": (1, 5), "MIG": (1, 3), "MIL": (0, 4), "ANC": (1, 4), "NATIVITY": (1, 2), "ESR": (0, 6),
    "ST": (48, 48), "FER": (0, 2), "RAC1P": (0, 1), "PUBCOV": (0, 1),
}  # fmt: skip


def decode(raw: bytes) -> bytes:
    """Turn the label-encoded file of arcolezi2023 back into survey codes."""
    header, *rows = read_rows(raw)
    lows = [_CODES[name][0] for name in header]
    decoded = ([str(int(cell) + low) for cell, low in zip(row, lows, strict=True)] for row in rows)
    return write_rows([header, *decoded])


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    columns = read.columns(FILE, integers=_CODES)
    steps = ["DEAR, DEYE, DREM and PINCP removed, and missing answers coded 0, upstream"]
    if not options["keep_state"]:
        del columns["ST"]
        steps.append("ST removed: it is 48, Texas, in every row")
    schema = Schema(
        tuple(Column(name, Domain.integers(*_CODES[name])) for name in columns),
        sensitive=("DIS", "AGEP", "SEX", "SCHL"),
        protected="DIS",
        privileged=1,
        target="PUBCOV",
        positive=1,
    )
    note = (
        "DIS, SEX and RAC1P were made 0/1 upstream without a code list. Judging by their means (0.140, "
        "0.426, 0.113) 1 is: with a disability, male, Black. So the group called privileged, DIS = 1, is "
        "the people with a disability, who are covered more often."
    )
    return Cleaned(columns=columns, schema=schema, rows=98_739, cleaning=tuple(steps), note=note)


ENTRY = read_entry("acs_coverage", build=_build, converters=(decode,))
(FILE,) = ENTRY.files
