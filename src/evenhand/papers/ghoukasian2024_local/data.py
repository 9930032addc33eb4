"""The people of ghoukasian2024, chapter 5: which data, which attribute is private, who has which outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from evenhand import datasets
from evenhand.papers.stored import read_entries
from evenhand.schema import Column, Domain, Schema

__all__ = ["BOTH", "DATA", "Population", "load_experiment", "population"]

BOTH = "race-gender"
"""The attribute that stands for race and gender together."""


DATA = read_entries(__package__, "data")
"""The experiments by the name of their study."""


@dataclass(frozen=True)
class Population:
    """How many people have each value of the private attribute, and how many of them a positive label.

    Parameters
    ----------
    values : tuple of str
    people, positive : tuple of int
    """

    values: tuple[str, ...]
    people: tuple[int, ...]
    positive: tuple[int, ...]

    @property
    def weights(self) -> tuple[float, ...]:
        """The share of people with each value."""
        return tuple(count / sum(self.people) for count in self.people)

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of positive labels among them."""
        return tuple(good / count for good, count in zip(self.positive, self.people, strict=True))

    @property
    def rate(self) -> float:
        """The share of positive labels among everybody."""
        return sum(self.positive) / sum(self.people)


def load_experiment(name: str) -> tuple[Any, Schema]:
    """Return the rows of an experiment as an Arrow table, and their schema with its roles.

    The code of race and gender together is that of race times two and that of gender; the two columns are
    taken away.

    Raises
    ------
    DataSetNotFoundError
        If the data set is not on this machine.
    """
    source = DATA[name]
    dataset = datasets.load(source.dataset, backend="pyarrow", **source.options)
    frame, schema = dataset.frame, dataset.schema
    if source.attribute == BOTH:
        frame, schema = _join_race_and_gender(frame, schema)
    return frame, schema.with_roles(
        sensitive=(source.attribute,), protected=source.attribute, privileged=source.privileged
    )


def _join_race_and_gender(frame: Any, schema: Schema) -> tuple[Any, Schema]:
    races, genders = (tuple(schema[name].domain.values) for name in ("race", "gender"))
    labels = [f"{race}, {gender}" for race in races for gender in genders]
    pairs = zip(frame["race"].to_pylist(), frame["gender"].to_pylist(), strict=True)
    values = [f"{race}, {gender}" for race, gender in pairs]
    target = str(schema.target)
    kept = [schema[name] for name in schema.names if name not in {"race", "gender", target}]
    joined = Schema(
        (*kept, Column(BOTH, Domain.categorical(labels)), schema[target]),
        target=target,
        positive=schema.positive,
    )
    rows = frame.drop_columns(["race", "gender"]).append_column(BOTH, pa.array(values))
    return rows.select(list(joined.names)), joined


def population(name: str) -> Population:
    """Return the counts of all rows of an experiment, test rows included, as the thesis used them."""
    frame, schema = load_experiment(name)
    column = schema[str(schema.protected)]
    group = np.asarray([column.domain.code(value) for value in frame[column.name].to_pylist()])
    positive = np.asarray(frame[str(schema.target)].to_pylist()) == schema.positive
    return Population(
        tuple(column.labels),
        tuple(int(count) for count in np.bincount(group, minlength=column.size)),
        tuple(int(count) for count in np.bincount(group[positive], minlength=column.size)),
    )
