"""One person with several rows is noticed, and a place with several people is not taken for one."""

import numpy as np
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.datasets.registry import DATASETS
from evenhand.schema.infer import open_frame
from evenhand.table.repeated_people import find_repeated_people

PEOPLE = 60


def panel(counts, *, seed=3, name="nr", shuffled=False, **beside):
    """Return people with as many rows each: sex and school stay the same, wages do not."""
    draws = np.random.default_rng(seed)
    who = np.repeat(np.arange(len(counts)), counts)
    order = draws.permutation(len(who)) if shuffled else np.arange(len(who))
    columns = {
        name: draws.permutation(10_000)[: len(counts)][who],
        "sex": np.array(["f", "m"])[draws.integers(0, 2, len(counts))][who],
        "school": draws.integers(8, 18, len(counts))[who],
        "wage": draws.integers(0, 500, len(who)),
        **{each: np.asarray(values)[who] for each, values in beside.items()},
    }
    return pa.table({each: values[order] for each, values in columns.items()})


def uneven(most=9, seed=4):
    return np.random.default_rng(seed).integers(1, most, PEOPLE)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("counts", [[8] * PEOPLE, uneven()], ids=["even", "uneven"])
def test_people_with_several_rows_are_noticed(counts, shuffled):
    """If this is false, a person is promised what holds for one of their rows."""
    found = find_repeated_people(panel(counts, shuffled=shuffled))

    assert found.column == "nr"
    assert found.constant == ("sex", "school")
    assert found.rows_each == round(sum(counts) / PEOPLE, 1)
    assert found.is_even == (len(set(counts)) == 1)


def test_a_number_of_texts_is_noticed_like_one_of_numbers():
    rows = panel([4] * PEOPLE)
    rows = rows.set_column(
        0, "nr", pa.array([f"p{each}" for each in rows["nr"].to_pylist()]).dictionary_encode()
    )

    assert find_repeated_people(rows).column == "nr"


def test_a_slip_of_the_pen_does_not_hide_a_person():
    """One of many people is once down as of the other sex."""
    rows = panel([8] * 200)
    sexes = rows["sex"].to_pylist()
    sexes[5] = {"f": "m", "m": "f"}[sexes[5]]
    rows = rows.set_column(1, "sex", pa.array(sexes))

    assert find_repeated_people(rows).column == "nr"


def place_of_people(name, counts, seed=5):
    """Return people of places, one row each: what a place is stays the same, what people are does not."""
    draws = np.random.default_rng(seed)
    where = np.repeat(np.arange(len(counts)), counts)
    return pa.table(
        {
            name: where,
            "region": np.array(["n", "s", "e", "w"])[where % 4],
            "rent": (where * 37) % 101,
            "sex": np.array(["f", "m"])[draws.integers(0, 2, len(where))],
            "age": draws.integers(18, 80, len(where)),
        }
    )


@pytest.mark.parametrize("counts", [[6] * 80, uneven(most=6), [40] * 50], ids=["even", "uneven", "large"])
@pytest.mark.parametrize("name", ["household_id", "state", "school"])
def test_a_place_with_several_people_is_not_taken_for_a_person(name, counts):
    """Its people differ in sex; a false alarm teaches people to read past the true ones."""
    assert find_repeated_people(place_of_people(name, counts)) is None


def test_a_code_that_repeats_unevenly_is_not_taken_for_a_person():
    """Without a column that tells what people are, a state looks like any code with a group."""
    rows = place_of_people("state", uneven(most=30)).drop_columns(["sex"])

    assert find_repeated_people(rows) is None
    assert find_repeated_people(rows.rename_columns({"state": "person_id"})).column == "person_id"


@pytest.mark.parametrize("name", ["year", "age", "survey_month"])
def test_the_times_of_a_panel_are_not_its_people(name):
    """Whatever holds for a whole year, such as a price index, stays the same within it."""
    rows = panel([8] * PEOPLE, name=name)

    assert find_repeated_people(rows) is None


def test_rows_without_repeats_and_columns_of_few_values_say_nothing():
    assert find_repeated_people(panel([1] * 200)) is None
    assert find_repeated_people(panel([50] * 10)) is None
    assert (
        find_repeated_people(pa.table({"id": pa.array([], pa.int64()), "sex": pa.array([], pa.string())}))
        is None
    )
    assert find_repeated_people(pa.table({})) is None


def test_rows_that_are_the_same_throughout_are_copies_and_no_panel():
    rows = panel([4] * PEOPLE).select(["nr", "sex", "school"])

    assert find_repeated_people(rows) is None


def test_a_column_of_lists_is_passed_over():
    rows = panel([4] * PEOPLE)

    assert find_repeated_people(rows.append_column("marks", pa.array([[1]] * rows.num_rows))).column == "nr"


@pytest.mark.figures
@pytest.mark.parametrize("name", DATASETS)
def test_no_built_in_data_set_gives_a_false_alarm(name):
    """Each of their rows is a person, a place or a case of its own."""
    try:
        frame = eh.datasets.load(name).frame
    except eh.errors.DataSetNotFoundError:
        pytest.skip(f"{name} is not on this machine")

    assert find_repeated_people(open_frame(frame).to_arrow()) is None
