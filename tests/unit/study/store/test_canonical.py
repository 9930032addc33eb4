"""The canonical table is one sequence of bytes for one study."""

import hashlib
import json

from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.store.canonical import canonical_table, table_hash
from evenhand.study.store.outcome import Failure, Outcome

OUTCOMES = [
    Outcome(Cell(Setting(), repeat), {"accuracy": repeat / 3}, {"b": {"people": 1.0}}, {}, {"train": repeat})
    for repeat in range(12)
]


def test_the_order_of_outcomes_does_not_matter():
    """Workers finish in any order."""
    assert canonical_table(OUTCOMES) == canonical_table(reversed(OUTCOMES))


def test_times_are_not_part_of_the_table():
    slower = [Outcome(each.cell, each.measures, each.groups, each.data, {"train": 9.0}) for each in OUTCOMES]

    assert canonical_table(slower) == canonical_table(OUTCOMES)


def test_one_bit_of_one_number_changes_the_hash():
    """A table that forgave a rounding would hide that a rerun differs."""
    changed = [*OUTCOMES[1:], Outcome(OUTCOMES[0].cell, {"accuracy": 5e-324}, OUTCOMES[0].groups)]

    assert table_hash(changed) != table_hash(OUTCOMES)


def test_failures_are_part_of_the_table():
    failed = [*OUTCOMES[1:], Outcome(OUTCOMES[0].cell, failure=Failure("ValueError", "Raised at a.py:1."))]

    assert table_hash(failed) != table_hash(OUTCOMES)


def test_each_line_is_json_that_names_its_cell():
    lines = canonical_table(OUTCOMES).decode("ascii").splitlines()

    assert len(lines) == 12
    assert sorted(json.loads(line)["cell"]["repeat"] for line in lines) == list(range(12))


def test_the_hash_is_that_of_the_table():
    assert table_hash(OUTCOMES) == hashlib.sha256(canonical_table(OUTCOMES)).hexdigest()
