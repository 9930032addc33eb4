"""Default of credit card clients in Taiwan, 2005 (UCI), as used by ghoukasian2024."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import read_rows, write_rows
from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

_MONTHS = ("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
_BILLS = tuple(f"BILL_AMT{month}" for month in range(1, 7))
_PAID = tuple(f"PAY_AMT{month}" for month in range(1, 7))
_AMOUNTS = ("LIMIT_BAL", *_BILLS, *_PAID)
_TARGET = "default.payment.next.month"


def plain_numbers(raw: bytes) -> bytes:
    """Write amounts such as 5.00E+05 as 500000.0; leave codes as they are."""
    header, *rows = read_rows(raw)
    amounts = [name in _AMOUNTS for name in header]
    written = (
        [str(float(cell)) if is_amount else cell for cell, is_amount in zip(row, amounts, strict=True)]
        for row in rows
    )
    return write_rows([header, *written])


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    codes = ("SEX", "EDUCATION", "MARRIAGE", "AGE", *_MONTHS, _TARGET)
    columns = read.columns(FILE, integers=codes, numbers=_AMOUNTS)
    columns |= {name: columns[name].astype(np.int64) for name in _AMOUNTS}
    steps: tuple[str, ...] = ("amounts read as whole New Taiwan dollars",)
    merged = options["unnamed_codes"] == "merge"
    if merged:
        education, marriage = columns["EDUCATION"], columns["MARRIAGE"]
        columns["EDUCATION"] = np.where(np.isin(education, (1, 2, 3)), education, 4)
        columns["MARRIAGE"] = np.where(marriage == 0, 3, marriage)
        steps = (*steps, "EDUCATION 0, 5 and 6 made 4 (others), MARRIAGE 0 made 3 (others)")
    domains = {
        "SEX": Domain.integers(1, 2),
        "EDUCATION": Domain.integers(1, 4) if merged else Domain.integers(0, 6),
        "MARRIAGE": Domain.integers(1, 3) if merged else Domain.integers(0, 3),
        "AGE": Domain.integers(18, 100),
        _TARGET: Domain.integers(0, 1),
    }
    domains |= dict.fromkeys(_MONTHS, Domain.integers(-2, 8))
    domains |= dict.fromkeys(_BILLS, Domain.integers(-1_000_000, 2_000_000))
    domains |= dict.fromkeys(("LIMIT_BAL", *_PAID), Domain.integers(0, 2_000_000))
    schema = Schema(
        tuple(Column(name, domains[name]) for name in columns),
        sensitive=("SEX",),
        protected="SEX",
        privileged=1,
        target=_TARGET,
        positive=1,
    )
    note = "SEX 1 is male, 2 is female. A positive label is a default, which nobody hopes for."
    return Cleaned(columns=columns, schema=schema, rows=30_000, cleaning=steps, note=note)


ENTRY = read_entry("credit_default", build=_build, converters=(plain_numbers,))
(FILE,) = ENTRY.files
