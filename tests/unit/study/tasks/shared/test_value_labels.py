"""Labels reach whoever reads a study, and change none of its numbers."""

import pyarrow as pa
import pytest

from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, Plan
from evenhand.study.run.whole import run

BIT = Domain.categorical([0, 1])
PEOPLE = pa.table({
    "white": [row % 2 for row in range(200)],
    "job": [row % 3 for row in range(200)],
    "approve": [int(row % 10 < (7 if row % 2 else 4)) for row in range(200)],
})  # fmt: skip
SCHEMA = Schema(
    [Column("white", BIT), Column("job", Domain.integers(0, 2)), Column("approve", BIT)],
    sensitive="white", protected="white", privileged=1, target="approve", positive=1,
)  # fmt: skip
LABELS = {"white": {0: "Black", 1: "White"}, "approve": {1: "granted", 0: "refused"}}


@pytest.mark.figures
def test_labels_are_read_and_numbers_stay():
    """A label that moved a draw would make two reports of one study contradict each other."""
    task = CollectTask("grr", [1], model="logistic")
    plain, named = (
        run(Plan(schema=schema, task=task, repeats=2), frame=PEOPLE, workers=1, progress=False)
        for schema in (SCHEMA, SCHEMA.with_labels(LABELS))
    )
    page, view = str(named.report()), named.view()
    words = " ".join(said.text for said in (view.who, view.how_much, view.what_to_do))

    assert (plain.frame("pandas").fillna(0) == named.frame("pandas").fillna(0)).all(axis=None)
    assert named.facts.groups == ("Black", "White")
    assert set(named.groups("pandas")["group"]) == {"Black", "White"}
    assert "White people" in words
    assert "approve = granted" in page
    assert "white = 0" not in page
