"""Small tables that try to make an engine and the encoder disagree, with schemas that count them."""

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

from evenhand.schema import Column, Domain, Schema

TEXTS = [
    "a", "A", "a ", " a", "b", "", "ä", "a\u0308", "true", "False", "0", "1", "1.0", "NaN", "null", "x'y\"z",
    "\\x41", "日本", "2000-01-31", "31.12.1999", "2000-02-30", "1999-12-31T10:00",
]  # fmt: skip
WHOLE = [0, 1, -1, 2, 5, 7, 10, 90, 100, 127, -128]
LARGE = [2**31, -(2**31) - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
SMALL = [0.0, -0.0, 1.0, 0.5, 2.5, 0.1, -1.0, 10.0, 2.0**24, 2.0**24 + 2, math.inf, -math.inf, math.nan]
REALS = [*SMALL, 1e-300, 1e300, 2.0**53]
DAYS = [
    dt.date(*day)
    for day in (
        (1970, 1, 1), (1969, 12, 31), (1999, 12, 31), (2000, 1, 1), (2000, 2, 29), (1980, 6, 15), (1, 1, 1),
        (9999, 12, 31),
    )
]  # fmt: skip
TIMES = [dt.datetime.combine(day, dt.time(hour)) for day in DAYS[:6] for hour in (0, 23)]

VALUES = {
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.dictionary(pa.int32(), pa.string()): TEXTS,
    pa.bool_(): [True, False],
    pa.int8(): WHOLE,
    pa.int32(): WHOLE,
    pa.int64(): WHOLE + LARGE,
    pa.uint8(): [0, 1, 2, 5, 200],
    pa.uint64(): [0, 1, 5, 2**53 + 1, 2**63, 2**64 - 1],
    pa.float32(): SMALL,
    pa.float64(): REALS,
    pa.decimal128(10, 2): [
        Decimal("0.00"),
        Decimal("1.00"),
        Decimal("0.50"),
        Decimal("0.10"),
        Decimal("10.01"),
    ],
    pa.date32(): DAYS,
    pa.timestamp("us"): TIMES,
    pa.timestamp("ns"): TIMES,
    pa.timestamp("us", "America/New_York"): TIMES,
    pa.binary(): [b"a", b""],
    pa.time64("us"): [dt.time(1, 2)],
}
"""Values of each type of column; None is among all of them."""

DOMAINS = [
    Domain.categorical(["a", "b", "ä", "", "x'y\"z", "\\x41"]),
    Domain.categorical(["A", "0", "true", "1"]),
    Domain.categorical([False, True]),
    Domain.categorical([True]),
    Domain.categorical([0, 1, 7, 2**53 + 1]),
    Domain.categorical([-(2**63), 300, 2**63 - 1]),
    Domain.categorical([0.0, 1.0, 0.5, 0.1, 1e300]),
    Domain.categorical([2.0**53, 1.5, 2.0**62]),
    Domain.integers(0, 10),
    Domain.integers(-128, 127),
    Domain.integers(1000, 2000),
    Domain.integers(-(2**53) - 5, 2**53 + 5),
    Domain.integers(2**63 - 10, 2**63 - 1),
    Domain.integers(-(2**63), -(2**63) + 10),
    Domain.binned([0, 1, 2.5, 10]),
    Domain.binned([0.1, 0.2, 0.3, 5]),
    Domain.binned([-1e300, 0.0, 2.0**63, 1e300]),
    Domain.binned([float(edge) for edge in range(-150, 151)]),
    Domain.threshold("> 0.1"),
    Domain.threshold("<= 1"),
    Domain.dates("1969-05-01", "2000-01-01", band="10y"),
    Domain.dates("1970-01-01", "2000-02-01", band="1m"),
    Domain.dates("1990-01-01", "2001-01-01", band="1q", written="dd.mm.yyyy"),
]

RULES = st.sampled_from(["error", "other", "other", "drop"])


def make_array(values, kind):
    """Return values as an Arrow array of a type."""
    return (
        pa.array(values, pa.string()).cast(kind) if pa.types.is_dictionary(kind) else pa.array(values, kind)
    )


@st.composite
def tables(draw, types=tuple(VALUES)):
    """Return a table of one to three columns and a schema of them."""
    n_rows = draw(st.integers(0, 6))
    arrays, columns = {}, []
    for place in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(types))
        values = [*VALUES[kind], None] if draw(st.booleans()) else VALUES[kind]
        rows = draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))
        arrays[f"c{place}"] = make_array(rows, kind)
        rules = {"outside": draw(RULES), "nulls": draw(RULES)}
        columns.append(Column(f"c{place}", draw(st.sampled_from(DOMAINS)), **rules))
    return pa.table(arrays), Schema(columns)
