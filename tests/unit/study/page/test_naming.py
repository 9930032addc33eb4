"""How groups are called: by their label where it says something alone, by their column elsewhere."""

import pytest

from evenhand.answer.case import Name
from evenhand.schema import Column, Domain, Schema
from evenhand.study.page.naming import name_groups
from unit.study._page_studies import facts_of


def named(column, labels, language="en"):
    """Return the names of the groups of one column."""
    columns = (Column(column, Domain.categorical([*labels])), Column("job", Domain.categorical(["a", "b"])))
    schema = Schema(columns, protected=column, privileged=labels[-1])
    return name_groups(facts_of(schema, labels), language)


def crossed(race, sex, language="en"):
    columns = (Column("race", Domain.categorical(race)), Column("sex", Domain.categorical(sex)))
    schema = Schema(columns, protected=["race", "sex"])
    return name_groups(facts_of(schema, schema.group_column.labels), language)


@pytest.mark.parametrize(
    ("column", "label", "words", "alone"),
    [
        ("sex", "women", "women", "Women"),
        ("sex", "Men", "men", "Men"),
        ("sex", "Female", "female people", "Female"),
        ("race", "Asian", "Asian people", "Asian"),
        ("race", "African-American", "African-American people", "African-American"),
        ("race", "Two or more races", "people with race = Two or more races", "Two or more races"),
        ("origin", "moved here", "people with origin = moved here", "Moved here"),
        ("status", "young adults", "young adults", "Young adults"),
        ("race", "2", "people with race = 2", "race = 2"),
        ("black", "yes", "people with black = yes", "black = yes"),
        ("black", "Black", "Black people", "Black"),
        ("class", "1st class", "people with class = 1st class", "class = 1st class"),
        ("sex", "f", "people with sex = f", "sex = f"),
        ("age", "25 to 34", "people with age = 25 to 34", "age = 25 to 34"),
        ("age", "under 25", "people with age = under 25", "age = under 25"),
        ("age", ">= 65", "people with age >= 65", "age >= 65"),
        ("status", "veterans", "veterans", "Veterans"),
    ],
)
def test_a_label_stands_alone_where_it_says_something(column, label, words, alone):
    """A reader who meets "Of 1,000 2" or "Of 1,000 Asian" does not know who is meant."""
    assert named(column, [label, "another one"])[label] == Name(words, alone)


def test_labels_that_would_read_the_same_have_their_column():
    """If not, a page would compare men with men."""
    found = named("case", ["man", "Man", "women"])

    assert [found[label].words for label in ("man", "Man", "women")] == [
        "people with case = man",
        "people with case = Man",
        "women",
    ]


def test_a_crossing_joins_words_and_names_columns_elsewhere():
    """ "women Asian" is no English, and "1 women" says nothing."""
    words, mixed = crossed(["Asian", "Black"], ["women", "men"]), crossed(["1", "2"], ["women", "men"])

    assert words["Asian, women"] == Name("Asian women", "Asian women")
    assert words["Black, men"].label == "Black men"
    assert mixed["race = 1, women"].words == "people with race = 1 and sex = women"
    assert mixed["race = 1, women"].label == "race = 1, women"
    assert words["sex = men"] == Name("men", "Men")
    assert mixed["race = 2"] == Name("people with race = 2", "race = 2")


def test_german_names_are_labels_without_articles_or_endings():
    """A label of the data cannot be declined: it stands first, before a colon."""
    assert named("race", ["Asian", "2"], "de") == {
        "Asian": Name("Asian", "Asian"),
        "2": Name("race = 2", "race = 2"),
    }
    assert crossed(["1", "2"], ["women", "men"], "de")["race = 1, men"].words == "race = 1 und sex = men"


def test_a_long_label_fills_no_page():
    """A label comes from a file, and may be as long as its author likes."""
    long = "x" * 5000

    assert len(named("race", [long, "b c d"])[long].words) < 100
