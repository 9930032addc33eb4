"""Guesses of roles: made only from what is there, each with its reason."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from evenhand.datasets import load
from evenhand.schema import Domain, Schema
from evenhand.study.intake.guess import guess
from evenhand.study.intake.opening import Opened
from evenhand.study.intake.setup import RoleOptions
from evenhand.study.plan.source import DataSource


def opened(schema=None, **columns):
    return Opened(DataSource(path="people.csv"), pa.table(columns), schema)


def many(*values):
    return list(values) * (60 // len(values))


def test_a_plain_file_is_guessed_whole():
    found = guess(
        opened(
            Gender=many("f", "m"), age=list(range(20, 50)) * 2, job=many("a", "b", "c"),
            approved=many("no", "yes", "yes", "yes"),
        )
    )  # fmt: skip

    assert found.words == RoleOptions(
        target="approved", positive="yes", protected="Gender", privileged="m", sensitive=("Gender", "age")
    )
    assert [reason.split()[0] for reason in found.reasons] == [
        "target", "positive", "protected", "privileged", "sensitive",
    ]  # fmt: skip


def test_what_is_given_stays_and_is_no_guess():
    given = RoleOptions(target="b", positive="0", protected="c", privileged="y", sensitive=("a",))
    found = guess(opened(a=many(1, 2), b=many(0, 1), c=many("x", "y")), given)

    assert found.words == given
    assert found.reasons == ()


@pytest.mark.parametrize(
    ("name", "values", "positive"),
    [
        ("hired", ("no", "yes"), "yes"),
        ("outcome", (0, 1), "1"),
        ("default", (0, 1), "0"),
        ("two_year_recid", (0, 1), "0"),
        ("loanStatus", ("Rejected", "Approved"), "Approved"),
        ("income", ("<=50K", ">50K"), ">50K"),
        ("class", ("bad", "good"), "good"),
        ("result", ("fail", "with honours"), "with honours"),
        ("y", (False, True), "True"),
        ("label", ("red", "blue"), None),
    ],
)
def test_the_welcome_value_is_read_from_words(name, values, positive):
    found = guess(opened(age=list(range(60)), **{name: many(*values)}))

    assert found.words.target == name
    assert found.words.positive == positive


def test_names_are_taken_as_a_person_means_them():
    found = guess(
        opened(sex=many("f", "m"), **{"Hired ": many("no", "yes", "yes")}), RoleOptions(target="Hired")
    )

    assert found.words.target == "Hired "
    assert found.words.positive == "yes"


def test_bins_have_no_positive_value_that_could_be_guessed():
    found = guess(
        opened(sex=many("f", "m"), pay=[row / 7 for row in range(60)]),
        RoleOptions(target="pay", positive="5"),
    )

    assert found.words.protected == "sex"
    assert found.words.privileged == "m"
    assert "the highest 'pay' on average" in " ".join(found.reasons)


def test_the_last_column_is_the_target_if_no_name_says_more():
    assert guess(opened(a=many(1, 2), b=many(1, 2))).words.target == "b"
    assert guess(opened(a=many(1, 2), sex=many("f", "m"))).words.target is None
    assert guess(opened(a=many(1, 2), b=many(1, 2, 3))).words.target is None


def test_nothing_is_guessed_from_nothing():
    """A guess out of the blue would be believed."""
    found = guess(opened(a=many(1, 2, 3), b=many(1, 2, 3, 4)))

    assert found.words == RoleOptions()
    assert found.reasons == ()


def test_the_privileged_group_has_the_most_positive_outcomes_and_is_not_tiny():
    race = ["a"] * 30 + ["b"] * 29 + ["c"]
    hired = ["no", "yes"] * 15 + ["no"] * 20 + ["yes"] * 9 + ["yes"]
    found = guess(opened(race=race, hired=hired))

    assert found.words.privileged == "a"


def test_a_column_that_is_left_out_is_not_guessed():
    found = guess(
        opened(sex=many("f", "m"), race=many("x", "y"), hired=many(0, 1, 1, 1)), RoleOptions(drop=("sex",))
    )

    assert found.words.protected == "race"
    assert found.words.sensitive == ("race",)


def test_many_groups_or_bins_have_no_privileged_one():
    found = guess(opened(age=list(range(60)), ok=many("no", "yes")), RoleOptions(protected="age"))

    assert found.words.privileged is None


def test_what_a_schema_declares_is_no_guess():
    people = load("causal", n=200, backend="pyarrow")
    found = guess(Opened(DataSource(dataset="causal"), people.frame, people.schema), RoleOptions(target="Y"))

    assert found.reasons == ()
    assert (found.words.protected, found.words.privileged, found.words.positive) == ("A", "1", "1")


def test_a_schema_without_roles_is_guessed_from():
    schema = Schema.infer(pa.table({"sex": [True, False], "ok": [True, False]}))
    found = guess(opened(schema, sex=[True, False] * 30, ok=[True, True, False] * 20))

    assert found.words.target == "ok"
    assert found.words.protected == "sex"
    assert Domain.categorical([False, True]) == schema["ok"].domain


def test_a_group_with_all_the_rows_is_compared_with_nobody():
    found = guess(opened(sex=["m"] * 59 + ["f"], hired=many(0, 1)))

    assert found.words.protected == "sex"
    assert found.words.privileged is None


def test_dummies_are_groups_and_no_outcomes():
    found = guess(opened(reject=many(0, 1), approve=many(1, 0), dep=many(1, 2, 3), white=many(0, 1)))

    assert found.words.target == "approve"
    assert found.words.protected == "white"
    assert found.words.sensitive == ("white",)
    assert "named after a group of people" in " ".join(found.reasons)


def test_a_column_that_says_the_same_as_the_target_is_left_out():
    """A model that reads the refusal predicts the approval without an error, and nobody learns anything."""
    found = guess(opened(reject=many(0, 1), approve=many(1, 0), action=many(1, 3), male=many(0, 0, 1, 1)))

    assert found.words.drop == ("reject", "action")
    assert "drop is 'reject, action'" in found.reasons[-1]


def test_an_amount_is_a_target_that_needs_a_threshold():
    found = guess(opened(wage=[row / 7 for row in range(60)], female=[1] * 30 + [0] * 30, y2=many(1, 2, 3)))

    assert (found.words.target, found.words.positive) == ("wage", None)
    assert (found.words.protected, found.words.privileged) == ("female", "0")
    assert "it is the first column" in found.reasons[0]


def test_a_welcome_outcome_goes_before_an_unwelcome_one_and_two_values_before_numbers():
    numbers = [row / 7 for row in range(60)]

    assert guess(opened(approve=many(0, 1), denied=many(0, 0, 1))).words.target == "approve"
    assert guess(opened(balance=numbers, income=numbers, sex=many("f", "m"))).words.target == "income"
    assert guess(opened(default=many("No", "Yes"), income=numbers)).words.target == "default"


def test_bands_are_groups_and_a_threshold_has_two_sides():
    """The average is highest for the young, one of whom earns most; more of the old earn 10."""
    age = [21] * 30 + [25] * 30 + [41] * 30 + [45] * 30
    wage = [1000 + row if row < 9 else 5 + row / 60 if row < 60 else 9 + row / 60 for row in range(120)]
    rich = [int(amount >= 10) for amount in wage]
    people = opened(age=age, wage=wage, rich=rich, town=many("a", "b") * 2)
    given = RoleOptions(target="wage", positive=">=10", protected="age", bands={"age": "20"})
    found = guess(people, given)

    assert found.words.privileged == "[40, 60]"
    assert found.words.drop == ("rich",)
    assert "the most positive outcomes" in found.reasons[0]
    assert guess(people, replace(given, positive=None)).words.privileged == "[20, 40)"
    assert guess(people, replace(given, bands={})).words.privileged == "41"


def test_weights_and_persons_are_no_guess():
    people = opened(sex=many("f", "m"), hired=many(0, 1), approved=many(0, 1))

    assert guess(people).words.target == "approved"
    assert guess(people, RoleOptions(weight="approved")).words.target == "hired"
    assert guess(people, RoleOptions(person="sex")).words.protected is None


# --- one variable, numbers of people, and what gives a role away -----------------------------------


def one_of(*names, rows=300):
    """Return columns of 0 and 1, of which a row has at most one: those of a variable with one value more."""
    return {name: [int(row % (len(names) + 1) == at) for row in range(rows)] for at, name in enumerate(names)}


def mixed(rows=300, step=7, below=3):
    return [int(row * step % 11 < below) for row in range(rows)]


def test_an_outcome_by_name_goes_before_the_last_column_and_before_numbers():
    """A price has many values, and the last column may be one of several values of a variable."""
    numbers = [row / 7 for row in range(60)]
    bought = opened(Purchase=many("CH", "MM"), PriceDiff=numbers, Store7=many("No", "Yes", "No"))
    other = opened(male=mixed(), affair=mixed(step=5), **one_of("very", "some", "slightly", "notrel"))

    assert guess(bought).words.target == "Purchase"
    assert guess(other).words.target == "affair"


def test_a_value_of_a_variable_is_no_outcome_by_its_place():
    """Whether somebody lives in the west is where they live, and no outcome."""
    regions = one_of("northcen", "south", "west")

    assert guess(opened(female=mixed(), **regions)).words.target is None
    alone = opened(female=mixed(), west=regions["west"])  # without its siblings nothing tells that
    assert guess(alone).words.target == "west"


def test_a_named_outcome_of_a_few_values_goes_before_the_place_of_another_column():
    """What became of people has three values here; the last column is a finding before it."""
    found = guess(opened(sex=many("f", "m"), status=many(1, 2, 3), ulcer=mixed(60)))
    other = guess(opened(sex=many("f", "m"), marital_status=many(1, 2, 3), ulcer=mixed(60)))

    assert (found.words.target, found.words.positive) == ("status", None)
    assert other.words.target == "ulcer"


def test_a_column_that_is_another_in_short_is_no_outcome_by_its_place():
    """Whether somebody is in class 3 is read off the class; one who is low has a name of an outcome."""
    grade, weight = many(1, 2, 3), list(range(60))
    is_low = [int(each < 20) for each in weight]
    is_third = [int(each == 3) for each in grade]

    assert guess(opened(sex=mixed(60), kind=grade, kind3=is_third)).words.target is None
    assert guess(opened(low=is_low, sex=mixed(60), job=mixed(60, 5), weight=weight)).words.target == "low"
    assert guess(opened(sex=mixed(60), job=mixed(60, 5), weight=weight, light=is_low)).words.target is None


def test_a_column_that_is_two_others_at_once_is_no_outcome_by_its_place():
    """Who is both married and black is read off two columns; who joined of those who may, off none."""
    draws = np.random.default_rng(3)
    one, other, may, sex = draws.integers(0, 2, (4, 300))
    joined = may * draws.integers(0, 2, 300)

    assert guess(opened(sex=sex, one=one, other=other, both=one * other)).words.target is None
    assert guess(opened(sex=sex, one=one, may=may, joined=joined)).words.target == "joined"


def test_the_first_column_is_an_outcome_if_it_reads_like_one():
    assert guess(opened(low=mixed(60), age=many(20, 30, 40), race=many(1, 2, 3))).words.positive == "0"
    assert guess(opened(low=many("a", "b"), age=many(20, 30, 40), race=many(1, 2, 3))).words.target is None


def test_siblings_of_the_protected_column_are_left_out():
    """Who is hispanic is not black here: a model that reads one knows much of the other."""
    found = guess(opened(hired=mixed(step=5), school=mixed(step=3), **one_of("black", "hispan")))

    assert found.words.protected == "black"
    assert found.words.drop == ("hispan",)
    assert found.words.sensitive == ("black",)
    assert "of the same variable as 'black'" in found.reasons[-1]


def test_siblings_of_what_people_randomise_are_randomised_too():
    found = guess(opened(hired=mixed(step=5), sex=many("f", "m") * 5, **one_of("married", "widowed")))

    assert found.words.sensitive == ("sex", "married", "widowed")


def test_columns_that_meet_or_are_rare_are_no_siblings():
    """Two rare columns may never meet by chance, and two that meet once are two variables."""
    columns = one_of("black", "union")
    meeting = {**columns, "union": [1 if row == 0 else one for row, one in enumerate(columns["union"])]}
    rare = {"black": [int(row < 20) for row in range(300)], "union": [int(row >= 280) for row in range(300)]}

    for pair in (meeting, rare):
        found = guess(opened(hired=mixed(step=5), school=mixed(step=3), **pair))
        assert found.words.protected == "black"
        assert found.words.drop == ()


def test_a_number_of_people_is_no_feature():
    """It says nothing of anybody but who they are."""
    people = opened(
        hhid=[row * 977 for row in range(300)], sex=many("f", "m") * 5, hired=mixed(), paid=list(range(300))
    )
    found = guess(people)

    assert found.words.drop == ("hhid",)
    assert "a number is no feature" in found.reasons[-1]


def test_a_person_with_several_rows_is_proposed():
    """What is promised for a row is not promised for a person."""
    panel = opened(
        nr=[row // 4 for row in range(300)], sex=["fm"[row // 4 % 2] for row in range(300)],
        year=many(1, 2, 3, 4) * 5, hired=mixed(),
    )  # fmt: skip

    assert guess(panel, person=True).words.person == "nr"
    assert guess(panel).words.person is None
    assert guess(panel, RoleOptions(person="year"), person=True).words.person == "year"


def test_numbers_that_order_the_target_are_left_out():
    """A weight at birth says who is born light, and the logarithm of a wage says the wage."""
    weight = [1000 + row * 7919 % 3000 for row in range(300)]
    low = [int(each < 2000) for each in weight]
    light = opened(
        low=low,
        race=many(1, 2, 3) * 5,
        bwt=weight,
        near=[each + row % 2 * 900 for row, each in enumerate(weight)],
    )
    paid = opened(wage=[each / 7 for each in weight], lwage=[each**0.5 for each in weight], female=mixed())

    assert guess(light).words.drop == ("bwt",)
    assert (guess(paid).words.target, guess(paid).words.drop) == ("wage", ("lwage",))


def test_others_that_could_be_meant_are_named():
    found = guess(opened(sex=many("f", "m"), hired=many(0, 1), offer=many(0, 1, 1), denied=many(0, 1, 0)))

    assert found.reasons[0].endswith("named like an outcome; so could be 'hired'.")
