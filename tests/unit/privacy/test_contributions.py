"""At most so many rows of one person count, and what is promised then."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import ColumnNotFoundError, OutsideDomainError
from evenhand.privacy.contributions import assumed_rows, bound_rows, promise_to_people, rows_to_keep
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))], person="id", rows_per_person=2)
FRAME = pa.table({"sex": list("fmfmf"), "id": ["a", "a", "a", "b", "c"]})


@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_nobody_has_more_rows_than_allowed_and_nobody_loses_others(most):
    people = np.array([5, 5, 1, 5, 2, 2, 5, 1])
    kept = rows_to_keep(people, most, source=SeededSource(3))

    assert Counter(people[kept].tolist()) == {
        person: min(count, most) for person, count in Counter(people.tolist()).items()
    }
    assert kept.tolist() == sorted(kept.tolist())


def test_every_choice_of_rows_is_as_likely_as_another():
    people = np.repeat(np.arange(30_000), 4)
    kept = rows_to_keep(people, 2, source=SeededSource(8))
    pairs = Counter(map(tuple, (kept % 4).reshape(-1, 2).tolist()))

    assert len(pairs) == 6
    assert all(abs(count - 5_000) < 6 * 65 for count in pairs.values())  # six standard deviations


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_pandas(), pl.from_arrow(FRAME)])
def test_frames_of_every_library_are_bounded(frame):
    bounded = bound_rows(frame, SCHEMA, source=SecureSource(), owner="example")

    assert type(bounded) is type(frame)
    assert Counter(list(pa.table({"id": bounded["id"]})["id"].to_pylist())) == {"a": 2, "b": 1, "c": 1}


def test_without_a_person_nothing_is_left_out():
    alone = SCHEMA.with_roles(person=None)

    assert bound_rows(FRAME, alone, source=SecureSource(), owner="example") is FRAME
    assert assumed_rows(alone.person, alone.rows_per_person) == "each person is one row"


@pytest.mark.parametrize("ids", [["a", None, "b", "b", "c"], [1.0, float("nan"), 2.0, 2.0, 3.0]])
def test_a_row_without_a_person_is_refused_without_a_value(ids):
    with pytest.raises(OutsideDomainError) as caught:
        bound_rows(FRAME.set_column(1, "id", pa.array(ids)), SCHEMA, source=SecureSource(), owner="example")

    assert str(caught.value) == (
        "Column 'id' holds no person in some rows. "
        "Hint: write whose row it is into each of them, or leave such rows out."
    )


def test_persons_of_several_types_and_no_persons_are_refused():
    mixed = pd.DataFrame({"sex": ["f", "m"], "id": pd.Series([1, "secret"], dtype=object)})
    with pytest.raises(OutsideDomainError, match="several types") as caught:
        bound_rows(mixed, SCHEMA, source=SecureSource(), owner="example")
    with pytest.raises(ColumnNotFoundError, match="'id' is not in the frame"):
        bound_rows(FRAME.drop(["id"]), SCHEMA, source=SecureSource(), owner="example")

    assert "secret" not in str(caught.value)


def test_a_promise_about_rows_becomes_one_about_people():
    rows = Guarantee(
        epsilon=1, unit="replace one", trust="central", assumptions=["each person is one row", "x"]
    )
    people = promise_to_people(rows, "id", 2)

    assert (people.epsilon, str(people.unit)) == (1, "one person")
    assert people.assumptions == (
        (
            "rows with the same 'id' are those of one person, of whom at most 2 rows drawn at random count; "
            "numbers are compared as numbers and blanks around them do not count"
        ),
        "x",
    )
    assert str(
        promise_to_people(Guarantee(epsilon=1, unit="add or remove one", trust="central"), "id", 2).unit
    ) == ("add or remove one")
    nothing = Guarantee.no_guarantee(unit="replace one")
    assert promise_to_people(nothing, "id", 2) is nothing
    assert promise_to_people(rows, None, None) is rows
