"""Guesses for tables and for files of places, each with its reason."""

import pyarrow as pa
import pytest

from evenhand.app.tasks.decide import DecideForm
from evenhand.datasets import describe
from evenhand.study.intake.guess_counts import guess_decision, guess_table
from evenhand.study.intake.opening import Opened
from evenhand.study.intake.setup import RoleOptions
from evenhand.study.plan.source import DataSource


def opened(**columns):
    return Opened(DataSource(path="file.csv"), pa.table(columns))


def values(reasons):
    return {option: reason.value for option, reason in reasons.items()}


PEOPLE = {
    "rank": ["a", "b", "c"] * 100,
    "sex": ["f", "m"] * 150,
    "school": [row % 79 for row in range(300)],
    "pay": [row / 7 for row in range(300)],
    "married": [row // 7 % 2 for row in range(300)],
}
PLACES = {
    "town": [f"town {row}" for row in range(40)],
    "poptotal": [1000 + row * 37 for row in range(40)],
    "popwhite": [600 + row * 20 for row in range(40)],
    "popblack": [100 + row for row in range(40)],
    "perc_poor": [row % 9 for row in range(40)],
    "popdensity": [row * 1.5 for row in range(40)],
    "teachers": [9 + row for row in range(40)],
}


# --- tables -----------------------------------------------------------------------------------------


def test_a_table_crosses_groups_first_and_columns_of_few_values():
    assert values(guess_table(opened(**PEOPLE), RoleOptions())) == {
        "columns": "sex,married,rank", "protected": "sex",
    }  # fmt: skip


def test_a_table_of_few_people_has_few_cells():
    """A cell with one person each tells nothing but who is there."""
    few = {name: column[:40] for name, column in PEOPLE.items()}

    assert values(guess_table(opened(**few), RoleOptions()))["columns"] == "sex,married"


def test_of_one_variable_a_table_has_one_column():
    regions = {name: [int(row % 4 == at) for row in range(300)] for at, name in enumerate(("north", "south"))}
    found = values(guess_table(opened(sex=PEOPLE["sex"], **regions), RoleOptions()))

    assert found["columns"] == "sex,north"


def test_a_column_that_others_tell_is_none_of_a_table():
    both = [int(a == "f" and b == 1) for a, b in zip(PEOPLE["sex"], PEOPLE["married"], strict=True)]
    people = opened(sex=PEOPLE["sex"], married=PEOPLE["married"], both=both)
    found = values(guess_table(people, RoleOptions()))

    assert found["columns"] == "sex,married"


def test_columns_that_are_given_stay_and_hold_the_groups():
    assert values(guess_table(opened(**PEOPLE), RoleOptions(), ("rank", "married"))) == {
        "protected": "married"
    }
    assert values(guess_table(opened(**PEOPLE), RoleOptions(protected="rank")))["columns"].startswith("rank,")


def test_a_person_with_several_rows_is_proposed_for_a_table():
    panel = {
        **PEOPLE,
        "nr": [row // 4 for row in range(300)],
        "sex": ["fm"[row // 4 % 2] for row in range(300)],
    }
    panel["married"] = [row // 8 % 2 for row in range(300)]

    assert values(guess_table(opened(**panel), RoleOptions()))["person"] == "nr"


def test_no_table_is_made_of_numbers_alone():
    assert guess_table(opened(pay=PEOPLE["pay"], other=PEOPLE["pay"]), RoleOptions()) == {}


# --- places -----------------------------------------------------------------------------------------


def test_money_follows_the_count_of_all_people():
    found, problem = guess_decision(opened(**PLACES), {})

    assert values(found) == {
        "count": "poptotal", "budget": "1e7", "groups": "popwhite,popblack", "name": "town",
    }  # fmt: skip
    assert problem == ""


def test_what_is_given_is_not_guessed():
    given = {"count": "teachers", "budget": "5", "groups": ["popblack"], "name": "town"}

    assert guess_decision(opened(**PLACES), given) == ({}, "")
    assert set(values(guess_decision(opened(**PLACES), {"rule": "teachers > 3"})[0])) == {"groups", "name"}


@pytest.mark.parametrize("name", ["counties", "section203"])
def test_the_rule_of_built_in_data_is_proposed(name):
    """What the data is about is known; to ask for a count of money would lead away from it."""
    source, columns = DataSource(dataset=name), {"geoid": ["01", "02"], "area": ["A, B", "C, D"], "s": [9, 8]}
    found, _ = guess_decision(Opened(source, pa.table(columns)), {})

    assert found["rule"].value == describe(name).rule == DecideForm.datasets[name]["rule"]
    assert "count" not in found
    assert found["name"].value == "area"
    assert "rule" not in guess_decision(Opened(source, pa.table(columns)), {"count": "s"})[0]


def test_places_are_named_by_words_rather_than_codes():
    """ "48173 is refused a right" tells nobody who that is."""
    codes, towns = [f"{row:05}" for row in range(40)], [f"town {row % 38}" for row in range(40)]

    assert values(guess_decision(opened(fips=codes, area=towns), {})[0])["name"] == "area"
    assert values(guess_decision(opened(fips=codes), {})[0])["name"] == "fips"


def test_a_right_follows_where_people_in_need_are_counted():
    """About half of the places are above, so that some have the right and some have not."""
    poor = [round(each * (0.05 + row / 100)) for row, each in enumerate(PLACES["poptotal"])]
    found, _ = guess_decision(opened(**PLACES, poor=poor), {})

    assert found["rule"].value == "poor / poptotal > 0.2"
    assert "count" not in found
    named, _ = guess_decision(opened(**{"all people": PLACES["poptotal"], "poor ones": poor}), {})
    assert named["rule"].value == "`poor ones` / `all people` > 0.2"
    assert "rule" not in guess_decision(opened(**PLACES, poor=poor), {"budget": "5"})[0]


def test_a_column_named_like_a_weight_is_the_weight():
    found, _ = guess_decision(opened(pupils=[4, 5, 6], **{"cost index": [1.5, 2.0, 0.5]}), {})

    assert found["weight"].value == "cost index"


@pytest.mark.parametrize("column", [[1.5, 2.0, 3.0], [-1, 2, 3], [None, 2, 3], ["1", "2", "x"]])
def test_what_counts_nobody_is_no_count(column):
    assert "count" not in guess_decision(opened(pupils=column, spent=[900, 800, 100]), {})[0]


def test_numbers_of_places_name_them_where_no_text_does():
    assert guess_decision(opened(bcode=[5, 17, 3], pupils=[1, 2, 3]), {})[0]["name"].value == "bcode"
    assert "name" not in guess_decision(opened(kind=["a", "a", "b"], pupils=[1, 2, 3]), {})[0]


def test_a_place_with_a_row_for_each_year_is_noticed():
    """Each row would be a place of its own, and the years of one place would share the money."""
    panel = opened(fips=[1, 1, 2, 2], year=[1, 2, 1, 2], pupils=[4, 5, 6, 7])

    assert "one for each 'year': keep those of one" in guess_decision(panel, {})[1]
    assert guess_decision(opened(fips=[1, 2, 3, 4], year=[1, 2, 1, 2], pupils=[4, 5, 6, 7]), {})[1] == ""
