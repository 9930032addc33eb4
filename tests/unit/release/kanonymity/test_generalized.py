"""Generalised tables: what stands in place of values, who is counted where, and the frame."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity.generalized import Merged, generalize
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

AGE = Column("age", Domain.integers(20, 29))
RACE = Column("race", Domain.categorical(["a", "b", "c"]))
HOME = Column("home", Domain.categorical(["own", "rent"]))


def _table(seed=1, people=60, quasi=("age", "race")):
    schema = Schema([AGE, HOME, RACE], quasi_identifiers=quasi)
    counts = SeededSource(seed).generator().multinomial(people, np.full(60, 1 / 60))
    return Histogram.of(counts, schema)


def _people(table):
    """Return every person as a tuple of codes."""
    return [
        tuple(cell) for cell in np.argwhere(table.counts).tolist() for _ in range(table.counts[tuple(cell)])
    ]


@pytest.mark.parametrize("k", [1, 2, 5, 20, 60])
def test_projected_to_the_quasi_identifiers_every_row_appears_k_times(k):
    """This is Definition 4: the only thing that k-anonymity promises."""
    rows = generalize(_table(), k).to_frame("pyarrow").to_pylist()
    times = {}
    for row in rows:
        key = (row["age"], row["race"])
        times[key] = times.get(key, 0) + row["count"]

    assert min(times.values()) >= k
    assert sum(times.values()) == 60


@pytest.mark.parametrize("k", [1, 3, 8])
def test_everybody_is_in_one_class_that_holds_their_values(k):
    """A person whose value is not in the set of the class is published wrongly."""
    table = _table()
    found = generalize(table, k)
    age, race = found.merged
    counted = np.zeros((len(found), 2), np.int64)
    for code_age, code_home, code_race in _people(table):
        inside = [
            number
            for number in range(len(found))
            if age.of_class(number)[0] <= code_age <= age.of_class(number)[1]
            and code_race in race.of_class(number)
        ]
        assert len(inside) == 1
        counted[inside[0], code_home] += 1

    assert {(c, h): int(n) for (c, h), n in np.ndenumerate(counted) if n} == {
        (int(c), int(h)): int(n)
        for c, h, n in zip(found.classes, found.combinations, found.counts, strict=True)
    }
    assert counted.sum(axis=1).tolist() == found.people.tolist()


def test_the_other_columns_are_published_as_they_are():
    """Their margin is in the clear; whoever reads the table relies on it being the true one."""
    table = _table()
    rows = generalize(table, 5).to_frame("pyarrow").to_pylist()

    assert table.margin(["home"]).counts.tolist() == [
        sum(row["count"] for row in rows if row["home"] == home) for home in ("own", "rent")
    ]


def test_without_quasi_identifiers_every_column_is_merged():
    """Nobody said what others may know, so everything may be known."""
    found = generalize(_table(quasi=()), 5)

    assert found.quasi_identifiers == ("age", "home", "race")
    assert found.others == ()
    assert found.counts.tolist() == found.people.tolist()


@pytest.mark.parametrize(
    ("column", "counts", "texts"),
    [
        (AGE, [8, 0, 1, 3, 0, 0, 0, 0, 0, 0], ["20", "22 to 23"]),
        (
            Column("age", AGE.domain, nulls="other"),
            [4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3],
            ["20", "29 | not stated"],
        ),
        (RACE, [3, 1, 4], ["a | b", "c"]),
        (Column("bin", Domain.binned([0, 10, 20, 30])), [3, 1, 4], ["[0, 10) | [10, 20)", "[20, 30]"]),
        (Column("flag", Domain.categorical([False, True])), [2, 9], ["False | True"]),
    ],
)
def test_sets_and_intervals_are_written_with_the_labels_of_the_schema(column, counts, texts):
    """Numbers become intervals; where "other" is a value too, distances mean nothing, so it is a set."""
    found = generalize(Histogram.of(counts, Schema([column])), 4)

    assert texts == found.to_frame("pyarrow")[column.name].to_pylist()


def test_sets_of_many_values_are_written_like_those_of_few():
    """Sets of up to 64 values are told apart by bits, larger ones another way; readers see no difference."""
    few, many = (
        Column("code", Domain.categorical([f"v{code:02}" for code in range(size)])) for size in (64, 65)
    )
    counts = [1] * 64
    frames = [
        generalize(Histogram.of(each, Schema([column])), 7).to_frame("pyarrow").to_pylist()
        for each, column in ((counts, few), ([*counts, 0], many))
    ]

    assert frames[0] == frames[1]
    assert frames[0][-1]["code"].endswith("v62 | v63")


@pytest.mark.parametrize("quasi", [(), ("age", "race"), ("home",)])
def test_fewer_than_k_people_give_an_empty_table(quasi):
    """No error may tell that there are fewer than k people; the empty table has the same columns."""
    found = generalize(_table(quasi=quasi), 61)
    frame = found.to_frame("pyarrow")

    assert len(found) == frame.num_rows == 0
    assert frame.column_names == ["age", "home", "race", "count"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_frame_comes_in_the_library_asked_for(backend):
    """Other columns keep their type; merged ones are text."""
    frame = generalize(_table(), 5).to_frame(backend)

    assert type(frame).__module__.partition(".")[0] == backend


def test_a_table_kept_as_its_filled_cells_gives_the_same_classes():
    """A large table is generalised from its filled cells, without ever holding the others."""
    wide = Column("income", Domain.integers(0, 10**9))
    narrow = Column("income", Domain.integers(0, 9))
    dense = Histogram.of([[2, 0], [0, 3], [1, 1], *[[0, 0]] * 7], Schema([narrow, HOME]))
    sparse = Histogram.of_cells([0, 3, 4, 5], [2, 3, 1, 1], Schema([wide, HOME]))
    frames = [generalize(table, 2).to_frame("pyarrow").to_pylist() for table in (dense, sparse)]

    assert sparse.is_sparse
    assert frames[0] == frames[1]


def test_negative_counts_mean_nobody():
    """A table that noise was added to may hold some; they are no people."""
    found = generalize(Histogram.of([5, -3, 5], Schema([RACE])), 3)

    assert found.people.tolist() == [5, 5]
    assert found.to_frame("pyarrow")["race"].to_pylist() == ["a", "c"]


def test_fractions_and_a_column_named_count_are_refused():
    """There is no part of a person, and no second column of that name."""
    with pytest.raises(InvalidParameterError, match="whole numbers of people"):
        generalize(Histogram.of([0.5, 1.5, 1.0], Schema([RACE])), 2)
    table = Histogram.of([5, 5], Schema([Column("count", Domain.categorical(["x", "y"]))]))
    with pytest.raises(InvalidParameterError, match="without a column of that name"):
        generalize(table, 2).to_frame()


def test_the_table_cannot_be_written_to_and_shows_no_count():
    """What was made of private rows is not changed by accident, nor told by a log line."""
    found = generalize(_table(), 5)
    with pytest.raises(ValueError, match="read-only"):
        found.people[0] = 1

    assert repr(found) == f"<GeneralizedTable of age × race: {len(found)} classes of at least 5 people>"


@pytest.mark.parametrize("values", [3, 63, 64, 65])
def test_sets_out_of_many_values_are_told_apart(values):
    """Up to 64 values are the bits of one number, and its last bit counts like any other."""
    column = Column("race", Domain.categorical([f"v{place:02}" for place in range(values)]))
    last = values - 1
    codes, ends = np.array([0, last, 1, 0, last, last]), np.array([2, 3, 5, 6])
    texts, places = Merged(column, False, codes, ends).texts()  # noqa: FBT003 - as in the module

    both, alone = f"v00 | v{last:02}", f"v{last:02}"
    assert [texts[place] for place in places] == [both, "v01", both, alone]
    assert texts == (["v01", alone, both] if values <= 64 else [both, "v01", alone])
