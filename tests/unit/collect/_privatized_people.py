"""A schema and people for the tests of the scikit-learn transformer."""

import numpy as np
import pandas as pd

from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.privacy.randomness import Source
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [
        Column("gender", Domain.categorical(["Female", "Male"]), outside="other", nulls="other"),
        Column("race", Domain.categorical(["a", "b", "c"])),
        Column("county", Domain.categorical(["north", "south"])),
        Column("age", Domain.integers(17, 90)),
        Column("income", Domain.categorical(["<=50K", ">50K"])),
    ],
    sensitive=["gender", "race"],
    protected="gender",
    privileged="Male",
    target="income",
    positive=">50K",
)
NAMES = [
    *("gender_Female", "gender_Male", "gender_other", "race_a", "race_b", "race_c"),
    *("county_north", "county_south", "age"),
]
N = 300


def people_frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "gender": rng.choice(["Female", "Male"], N),
            "race": rng.choice(["a", "b", "c"], N),
            "county": rng.choice(["north", "south"], N),
            "age": rng.integers(17, 91, N),
        },
        index=np.arange(N) + 1000,
    )


def made(**given):
    return LocalPrivatizer(**{"schema": SCHEMA, "epsilon": 2, "rng": 7, **given})


def by_hand(frame):
    """The clean columns, one value after the other."""
    columns = [frame["gender"] == "Female", frame["gender"] == "Male", frame["gender"] == "nobody"]
    columns += [frame["race"] == each for each in "abc"]
    columns += [frame["county"] == each for each in ("north", "south")]
    return np.column_stack([*(np.asarray(each, dtype=float) for each in columns), frame["age"]])


class Broken(Source):
    kind = "seeded"

    def words(self, count):
        raise RuntimeError("no words today")
