"""The map of crossed groups of a published table: who may be miscounted most, and what columns hide."""

import numpy as np
import pyarrow as pa
import pytest

from evenhand.schema import Column, Domain, Schema
from evenhand.study import Plan, ReleaseTask
from evenhand.study.run.whole import run
from evenhand.study.tasks.release.page.crossed import crossed_section
from evenhand.study.tasks.release.reading import ReleaseReading

SIZES = {("women", "black"): 40, ("women", "white"): 400, ("men", "black"): 400, ("men", "white"): 5}


def published(sizes):
    columns = [Column("sex", Domain.categorical(["women", "men"]))]
    columns += [Column("race", Domain.categorical(["black", "white"])), Column("job", Domain.integers(0, 2))]
    people = [pair for pair, size in sizes.items() for _ in range(size)]
    frame = pa.table(
        {
            "sex": [sex for sex, _ in people],
            "race": [race for _, race in people],
            "job": np.arange(len(people)) % 3,
        }
    )
    task = ReleaseTask(["sex", "race", "job"], "laplace", 1, classify=False)
    schema = Schema(columns, protected=["sex", "race"])
    return run(Plan(schema=schema, task=task, repeats=2), frame=frame, workers=1)


def section(sizes):
    return crossed_section(ReleaseReading.of(published(sizes)))


def test_the_group_whose_count_may_be_furthest_off_comes_first_and_is_hidden_by_its_columns():
    part = section(SIZES)
    data = part.charts[0].data
    order = [label.replace("\u00a0", " ") for label in data["group"][:4]]

    assert order == ["women, black", "men, black", "women, white", "men, white"]
    assert data["too_few"][:4] == [False, False, False, True]
    assert "women, black" in part.heading.replace("\u00a0", " ")
    assert "hide it" in part.notes[0].text
    kept = np.exp(-1 / 2)  # replacing one person moves two counts by one
    spread = np.sqrt(3 * 2 * kept / (1 - kept) ** 2)
    assert data["rate"][0] == pytest.approx(100 * 1.959964 * spread / 40)


def test_a_column_that_shows_it_hides_nothing():
    part = section(
        {("women", "black"): 20, ("women", "white"): 20, ("men", "black"): 400, ("men", "white"): 400}
    )

    assert not part.notes


def test_groups_of_few_people_alone_carry_no_heading():
    assert "too small" in section(dict.fromkeys(SIZES, 9)).heading
