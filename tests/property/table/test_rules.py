"""Unknown and missing values follow the declared rule, and nobody's value decides about success."""

import datetime as dt
import io
import random
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import EvenhandError, OutsideDomainError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, read_csv

PAIRS = {
    "natural_pandas": 400,
    "polars_objects": 2_200,
    "arrow_of_whatever_type_fits": 2_000,
    "csv_file": 400,
}
ODD = [
    None,
    "f",
    "m",
    "x",
    "",
    "1",
    "true",
    "\ud800",
    b"f",
    0,
    1,
    5,
    -1,
    2**63,
    2**70,
    1.0,
    1.5,
    -0.0,
    5e-324,
    1e308,
    float("nan"),
    float("inf"),
    True,
    False,
    Decimal(1),
    Decimal("1.5"),
    Decimal("NaN"),
    dt.date(1, 1, 1),
    dt.timedelta(1),
    [1],
    {"a": 1},
    (),
    object(),
    np.float32(1),
    np.datetime64("NaT", "s"),
    pd.NaT,
    pd.NA,
    1j,
]
CELLS = [
    "",
    '""',
    "f",
    "m",
    "x",
    "1",
    "01",
    " 5 ",
    "1.5",
    "-0",
    "nan",
    "inf",
    "1e999",
    "9" * 30,
    "true",
    "=1",
    '"a,b"',
    '"a""b"',
    '"a\nb"',
    "ü",
]
DOMAINS = [
    Domain.categorical(["f", "m"]),
    Domain.integers(0, 5),
    Domain.categorical([True, False]),
    Domain.categorical([0.0, 1.5]),
    Domain.binned([0, 1, 2]),
]


def schema_with(outside, nulls):
    return Schema(
        [Column(f"c{place}", domain, outside=outside, nulls=nulls) for place, domain in enumerate(DOMAINS)]
    )


def outcome_type(action):
    """Return the type of what comes out: a table, or an error."""
    try:
        return type(action())
    except Exception as error:  # noqa: BLE001 - any error is a different outcome
        return type(error)


def neighbours(rows, draw, odd):
    """Return the rows with one of them added, taken away or replaced."""
    changed = list(rows)
    width = len(DOMAINS)
    kind = draw.choice([0, 1, 2] if len(rows) < 6 else [1, 2])
    place = draw.randrange(len(rows) + 1)
    if kind == 0 or not rows:
        changed.insert(place, draw.choices(odd, k=width))
    elif kind == 1:
        del changed[min(place, len(rows) - 1)]
    else:
        changed[min(place, len(rows) - 1)] = draw.choices(odd, k=width)
    return changed


def as_columns(rows):
    return [[row[place] for row in rows] for place in range(len(DOMAINS))]


def natural_pandas(rows):
    frame = pd.DataFrame(
        {f"c{place}": pd.Series(column, dtype=object) for place, column in enumerate(as_columns(rows))}
    )
    try:
        return frame.infer_objects()
    except UnicodeError:  # pandas keeps text that UTF-8 cannot write as objects only
        return frame


def polars_objects(rows):
    return pl.DataFrame(
        {f"c{place}": pl.Series(column, dtype=pl.Object) for place, column in enumerate(as_columns(rows))}
    )


def arrow_of_whatever_type_fits(rows):
    """Return Arrow columns whose type depends on the rows, as that of a file may."""
    columns = {}
    for place, values in enumerate(as_columns(rows)):
        # pyarrow 26 itself crashes on NumPy scalars of several kinds in one list
        column = [value.item() if isinstance(value, np.generic) else value for value in values]
        try:
            columns[f"c{place}"] = pa.array(column, from_pandas=True)
        except Exception:  # noqa: BLE001 - no Arrow type holds these values together
            columns[f"c{place}"] = pa.array(
                [None if value is None else str(type(value)) for value in column], pa.string()
            )
    return pa.table(columns)


def csv_file(rows):
    lines = [",".join(f"c{place}" for place in range(len(DOMAINS)))] + [",".join(row) for row in rows]
    return io.BytesIO("\n".join(lines).encode())


def test_the_pairs_below_are_as_many_as_promised():
    assert sum(PAIRS.values()) == 5_000


@pytest.mark.figures
@pytest.mark.parametrize("make", [natural_pandas, polars_objects, arrow_of_whatever_type_fits, csv_file])
def test_success_does_not_depend_on_a_person(make):
    """If one person's value can make a release fail, its failing tells about that person."""
    draw = random.Random(20261115)
    odd = CELLS if make is csv_file else ODD
    rules = [schema_with(outside, nulls) for outside in ("other", "drop") for nulls in ("other", "drop")]
    schema, rows, outcomes = rules[0], [], []
    for step in range(PAIRS[make.__name__] + 1):  # each table is the neighbour of the one before
        if step % 50 == 0:
            schema = draw.choice(rules)
        given = make(rows)
        frame = read_csv(given, schema=schema) if make is csv_file else given
        outcomes.append(outcome_type(lambda frame=frame, schema=schema: Table.encode(frame, schema)))
        rows = neighbours(rows, draw, odd)

    assert len(outcomes) == PAIRS[make.__name__] + 1
    assert set(outcomes) == {Table}


def test_the_comparison_of_neighbours_can_see():
    """The twin: under the rule "error" one person's value does decide."""
    frame, neighbour = natural_pandas([["f", 1, True, 0.0, 1]]), natural_pandas([["x", 1, True, 0.0, 1]])
    schema = schema_with("error", "error")

    assert outcome_type(lambda: Table.encode(frame, schema)) is Table
    assert outcome_type(lambda: Table.encode(neighbour, schema)) is OutsideDomainError


def cells_of(table):
    """Count every declared cell, also the empty ones."""
    sizes = [column.size for column in table.schema]
    places = np.ravel_multi_index([table[name].astype(np.int64) for name in table.schema.names], sizes)
    counts = np.bincount(places, minlength=int(np.prod(sizes)))
    return {np.unravel_index(cell, sizes) for cell in range(len(counts))}, counts


@pytest.mark.parametrize("rule", ["other", "drop"])
def test_a_thousand_records_of_unknown_values_add_no_cell(rule):
    """A cell that appears only when somebody is in the data tells that they are."""
    schema = Schema(
        [
            Column("a", Domain.categorical(["f", "m"]), outside=rule, nulls=rule),
            Column("b", Domain.integers(0, 4), outside=rule, nulls=rule),
        ]
    )
    draw = random.Random(7)
    rows = [["f", 0], ["m", 4]]
    before, _ = cells_of(Table.encode(pd.DataFrame(rows, columns=["a", "b"]), schema))
    unknown = ["f", "q", None], [1, 99, None, "x"]
    rows += [
        [draw.choice([*unknown[0], f"new {place}"]), draw.choice([*unknown[1], draw.random()])]
        for place in range(1_000)
    ]
    after, counts = cells_of(Table.encode(pd.DataFrame(rows, columns=["a", "b"]).astype(object), schema))
    sizes = [column.size for column in schema]

    assert after == before
    assert len(after) == len(counts) == int(np.prod(sizes)) == (18 if rule == "other" else 10)


@pytest.mark.parametrize("rule", ["error", "other", "drop"])
@pytest.mark.parametrize("side", ["outside", "nulls"])
def test_each_rule_does_what_it_says_for_each_side(rule, side):
    column = Column("x", Domain.categorical(["a", "b"]), **{side: rule})
    frame = pa.table({"x": ["b", "?" if side == "outside" else None, "a"]})
    if rule == "error":
        with pytest.raises(OutsideDomainError):
            Table.encode(frame, Schema([column]))
        return
    table = Table.encode(frame, Schema([column]))

    assert table["x"].tolist() == ([1, 2, 0] if rule == "other" else [1, 0])
    assert (table.kept is None) if rule == "other" else (table.kept.tolist() == [0, 2])


def test_no_error_of_encoding_holds_a_value():
    """A message is seen by people who may not see the data."""
    secret = "S3CRET"
    schema = Schema([Column("x", Domain.integers(0, 3))])
    messages = []
    for values in ([secret], [secret, 1], [b"S3CRET"], [[secret]], [{secret: 1}], [1, None, secret]):
        for frame in (
            pd.DataFrame({"x": pd.Series(values, dtype=object)}),
            pl.DataFrame({"x": pl.Series(values, dtype=pl.Object)}),
        ):
            with pytest.raises(EvenhandError) as caught:
                Table.encode(frame, schema)
            messages.append(str(caught.value))

    assert [message for message in messages if secret in message] == []


def test_the_search_for_values_in_messages_can_see():
    """The twin: what pyarrow says by itself holds the value."""
    with pytest.raises(pa.ArrowInvalid) as caught:
        pa.array([1, "S3CRET"])

    assert "S3CRET" in str(caught.value)
