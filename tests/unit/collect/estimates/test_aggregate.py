"""Sums of reports: what is not merged, and what is not read."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.collect import GRR, OUE, Aggregate, Independent, Sampled, strategy_for
from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    UnreadableFileError,
    UnwritableFileError,
)
from evenhand.schema import Column, Domain, Schema

REPORTS = GRR(3, 1).privatize([0, 1, 2, 2], rng=1)
SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))])


def merge_with(other, **options):
    return Aggregate.of(REPORTS, **options) + other


def test_the_same_part_is_not_counted_twice():
    """If this is false, people of a part that is sent twice count twice."""
    once = Aggregate.of(REPORTS)

    with pytest.raises(InvalidParameterError, match="each part is merged once"):
        once + once
    with pytest.raises(InvalidParameterError, match="each part is merged once"):
        (once + Aggregate.of(REPORTS)) + once
    with pytest.raises(InvalidParameterError, match="each part is merged once"):
        merge_with(Aggregate.of(REPORTS[:1], part="north"), part="north")


@pytest.mark.parametrize(
    "other",
    [
        GRR(3, 2).privatize([0], rng=1),
        GRR(4, 1).privatize([0], rng=1),
        OUE(3, 1).privatize([0], rng=1),
        Independent({"sex": GRR(3, 1)}).privatize({"sex": [0]}, rng=1),
    ],
)
def test_sums_of_other_laws_are_not_merged(other):
    with pytest.raises(InvalidParameterError, match="same protocols"):
        merge_with(Aggregate.of(other))


def test_simulated_and_collected_are_not_merged():
    with pytest.raises(InvalidParameterError, match="simulated reports too"):
        merge_with(Aggregate.of(GRR(3, 1).privatize([0])))
    with pytest.raises(InvalidParameterError, match="collected reports too"):
        Aggregate.of(GRR(3, 1).privatize([0])) + Aggregate.of(REPORTS)


def test_other_schemas_outcomes_and_columns_are_not_merged():
    joint = Independent({"sex": GRR(2, 1)}).privatize({"sex": [0, 1]}, rng=1)
    turned = Schema([Column("sex", Domain.categorical(["m", "f"]))])

    with pytest.raises(InvalidParameterError, match="same schema"):
        Aggregate.of(joint, schema=SCHEMA) + Aggregate.of(joint, schema=turned)
    with pytest.raises(InvalidParameterError, match="same outcome"):
        Aggregate.of(joint, outcome=[0, 1]) + Aggregate.of(joint)
    with pytest.raises(InvalidParameterError, match="columns and combinations"):
        Aggregate.of(joint, crossed=False) + Aggregate.of(joint, crossed=True)
    with pytest.raises(InvalidParameterError, match="an Aggregate"):
        Aggregate.of(joint) + 3


def test_labels_come_from_the_schema():
    joint = Independent({"sex": GRR(2, 1)}).privatize({"sex": [0, 1]}, rng=1)

    assert list(Aggregate.of(joint, schema=SCHEMA).estimate()["sex"].labels) == ["f", "m"]
    alone = Aggregate.of(GRR(2, 1).privatize([0], rng=1), schema=SCHEMA)
    assert list(alone.estimate().labels) == ["f", "m"]


def test_what_was_not_counted_is_not_estimated():
    joint = Sampled({"sex": GRR(2, 1), "race": OUE(4, 1)}).privatize({"sex": [0, 1], "race": [0, 1]}, rng=1)
    total = Aggregate.of(joint, outcome=[1, 0])

    with pytest.raises(InvalidParameterError, match="crossed=True"):
        total.estimate_joint()
    with pytest.raises(InvalidParameterError, match="name one value"):
        Aggregate.of(joint, crossed=True)
    with pytest.raises(InvalidParameterError, match="counted by an outcome"):
        Aggregate.of(REPORTS).group_rates()
    with pytest.raises(ColumnNotFoundError, match="among those counted"):
        total.group_rates("age")
    with pytest.raises(InvalidParameterError, match="0 or 1 for each person"):
        Aggregate.of(joint, outcome=[1, 2])
    with pytest.raises(InvalidParameterError, match="Reports or JointReports"):
        Aggregate.of([0, 1])


def test_a_sum_of_collected_reports_is_kept_as_such(tmp_path):
    Aggregate.of(GRR(3, 1).privatize([0, 1])).save(tmp_path / "sum.json")

    assert not Aggregate.load(tmp_path / "sum.json").simulated


def test_files_are_not_written_over_unless_told(tmp_path):
    total = Aggregate.of(REPORTS)
    total.save(tmp_path / "sum.json")

    with pytest.raises(UnwritableFileError, match="there is a file"):
        total.save(tmp_path / "sum.json")
    total.save(tmp_path / "sum.json", overwrite=True)
    with pytest.raises(InvalidParameterError, match="ends with"):
        total.save(tmp_path / "sum.txt")


def damage(path, **changes):
    fields = json.loads(path.read_text())
    fields.update(changes)
    path.write_text(json.dumps(fields))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": "evenhand aggregate 3"}, "another version"),
        ({"format": "evenhand reports 1"}, "holds no sum"),
        ({"people": 5}, "its hash"),
        ({"more": 5}, "its hash"),
    ],
)
def test_a_changed_file_is_refused(tmp_path, changes, why):
    Aggregate.of(REPORTS).save(tmp_path / "sum.json")
    damage(tmp_path / "sum.json", **changes)

    with pytest.raises(UnreadableFileError, match=why):
        Aggregate.load(tmp_path / "sum.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"people": -1},
        {"people": True},
        {"parts": []},
        {"parts": ["a", "a"]},
        {"parts": [1, "1"]},
        {"parts": "north"},
        {"inferred": "abc"},
        {"rng": "none"},
        {"maker": {"protocol": "grr", "k": 3}},
        {"tables": []},
        {"tables": [{"kind": "counts", "column": "", "reports": 4, "cells": [0, 9], "numbers": [1, 3]}]},
        {"tables": [{"kind": "counts", "column": "", "reports": 4, "cells": [1, 0], "numbers": [1, 3]}]},
        {"tables": [{"kind": "counts", "column": "", "reports": 4, "cells": [0], "numbers": [3]}]},
        {"tables": [{"kind": "other", "column": "", "reports": 4, "cells": [0], "numbers": [4]}]},
        {"schema": "x"},
    ],
)
def test_a_file_that_contradicts_itself_is_refused_with_its_hash_right(tmp_path, changes):
    """If this is false, a hostile file with a hash of its own makes an estimate of nothing."""
    from evenhand.collect.estimates import aggregate_files

    Aggregate.of(REPORTS).save(tmp_path / "sum.json")
    fields = json.loads((tmp_path / "sum.json").read_text()) | changes
    del fields["sha256"]
    fields["sha256"] = aggregate_files._digest(fields)
    (tmp_path / "sum.json").write_text(json.dumps(fields))

    with pytest.raises(UnreadableFileError, match="it is damaged"):
        Aggregate.load(tmp_path / "sum.json")


CODES = {"a": np.arange(600) % 2, "b": np.arange(600) % 3}
TOLD = {"outcome": np.arange(600) % 5 < 2, "part": "north", "protected": ["a", "b"]}


@pytest.mark.parametrize("strategy", ["independent", "combined"])
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("outcome", {"people": [5, 5]}),
        ("outcome", {"cells": [0], "numbers": [10**9]}),
        ("outcome", {"cells": [1], "numbers": [7]}),
        ("crossed", {"cells": [0], "numbers": [600]}),
        ("crossed outcome", {"people": [300, 300]}),
        ("crossed outcome", {"cells": [0], "numbers": [10**9]}),
    ],
)
def test_tables_that_contradict_each_other_are_refused(tmp_path, strategy, kind, changes):
    """If this is false, a table that nobody could have counted makes rates of its own."""
    from evenhand.collect.estimates import aggregate_files

    made = strategy_for({"a": 2, "b": 3}, epsilon=2, protocol="grr", strategy=strategy)
    Aggregate.of(made.privatize(CODES, rng=1), **TOLD).save(tmp_path / "sum.json")
    Aggregate.load(tmp_path / "sum.json")
    fields = json.loads((tmp_path / "sum.json").read_text())
    del fields["sha256"]
    next(table for table in fields["tables"] if table["kind"] == kind).update(changes)
    fields["sha256"] = aggregate_files._digest(fields)
    (tmp_path / "sum.json").write_text(json.dumps(fields))

    with pytest.raises(UnreadableFileError, match="it is damaged"):
        Aggregate.load(tmp_path / "sum.json")


def test_an_outcome_that_is_counted_but_not_named_is_refused(tmp_path):
    from evenhand.collect.estimates import aggregate_files

    for outcome in (None, {"column": 5, "positive": None}, {"column": "y", "positive": [1]}):
        Aggregate.of(REPORTS, outcome=[0, 1, 0, 1]).save(tmp_path / "sum.json", overwrite=True)
        fields = json.loads((tmp_path / "sum.json").read_text()) | {"outcome": outcome}
        del fields["sha256"]
        fields["sha256"] = aggregate_files._digest(fields)
        (tmp_path / "sum.json").write_text(json.dumps(fields))
        with pytest.raises(UnreadableFileError, match="it is damaged"):
            Aggregate.load(tmp_path / "sum.json")


def test_sums_of_too_many_people_are_not_merged():
    """If this is false, counts wrap around below zero without a word."""
    one = replace(Aggregate.of(REPORTS, part="a"), people=2**52)
    with pytest.raises(InvalidParameterError, match=r"fewer than 2\*\*53 in all"):
        one + replace(one, parts=frozenset(["b"]))


def test_no_sums_are_not_merged():
    with pytest.raises(InvalidParameterError, match="'aggregates' parameter"):
        Aggregate.merged([])


def test_files_that_are_no_sums_are_refused(tmp_path):
    (tmp_path / "a.json").write_text("{")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "b.parquet")
    note = {b"aggregate": b"{}"}
    schema = pa.schema([(name, pa.int64()) for name in ("table", "cell", "number")], note)
    pq.write_table(
        pa.table({name: np.zeros(1, int) for name in schema.names}, schema=schema), tmp_path / "c.pq"
    )

    for name, why in {"a.json": "not JSON", "b.parquet": "no sum", "c.pq": "damaged"}.items():
        with pytest.raises(UnreadableFileError, match=why):
            Aggregate.load(tmp_path / name)


def test_a_sum_shows_no_counts():
    assert repr(Aggregate.of(REPORTS)) == "<sum of 4 reports of GRR(k=3, epsilon=1), simulated>"
    assert "GRR(k=3" in Aggregate.of(REPORTS)._repr_html_()


@pytest.mark.parametrize(
    ("column", "privileged"), [("a", 9), (("a", "b"), 0), (("a", "b"), (0,)), (("a", "b"), (0, 9))]
)
def test_a_privileged_group_that_is_none_is_refused(column, privileged):
    codes = {"a": np.arange(60) % 2, "b": np.arange(60) % 3}
    reports = Independent({"a": GRR(2, 3), "b": GRR(3, 3)}).privatize(codes, rng=1)
    counted = Aggregate.of(reports, outcome=np.arange(60) % 2, protected=["a", "b"])
    with pytest.raises(InvalidParameterError, match="'privileged' parameter of group_rates must be"):
        counted.group_rates(column, privileged=privileged)
