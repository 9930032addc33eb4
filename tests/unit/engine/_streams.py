"""Small files of people, and the schema that goes with them."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from evenhand.schema import Column, Domain, Schema

RACES = ["white", "black", "=other", "two, or more", 'a "quote"']
SCHEMA = Schema(
    [
        Column("race", Domain.categorical(RACES), nulls="other"),
        Column("age", Domain.integers(-5, 14)),
        Column("wage", Domain.binned([0, 10, 20, 40])),
        Column("hired", Domain.categorical(["no", "yes"])),
    ],
    sensitive=["race", "age"],
    protected="race",
    privileged="white",
    target="hired",
    positive="yes",
)


def people(rows=1_000, seed=7):
    """Return a table in which each race is hired at a rate of its own."""
    draw = np.random.default_rng(seed)
    race = draw.choice(5, rows, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    hired = draw.random(rows) < np.where(race == 0, 0.6, 0.3)
    return pa.table(
        {
            "id": [f"-{place}" for place in range(rows)],
            "race": np.array(RACES)[race],
            "age": draw.integers(-5, 15, rows),
            "wage": draw.random(rows) * 40,
            "note": pa.array([["=1+1", None, "", "x\ny"][place % 4] for place in range(rows)]),
            "hired": np.where(hired, "yes", "no"),
        }
    )


def write(table, path):
    """Write a table to a file of the form that its name says."""
    (pq.write_table if path.name.endswith("parquet") else arrow_csv.write_csv)(table, path)
    return path
