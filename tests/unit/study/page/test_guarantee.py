"""The section on the guarantee: what is promised, and what stays in the clear."""

import pytest

from evenhand.study.page.page import page_of
from evenhand.study.tasks.collect.page import guarantee as page_guarantee
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import BEFORE, against, made, schema_of, section


def facts(part):
    return {fact.term: fact.text for fact in part.facts}


def test_the_guarantee_says_what_is_and_what_is_not_protected(full):
    """Readers take "private" for everything; the label, other columns and people scored later are not."""
    part = section(page_of(full), "guarantee")
    said = facts(part)

    assert part.heading == "Seeing somebody's report changes the odds by a factor of 2.72 at most"
    assert said["Guarantee"] == "ε = 1, δ = 0 (pure), attained"
    assert said["Randomness"] == "simulated with seed 0: for study only, not a release"
    assert said["Not protected"] == (
        "the label, hired, 1 other column (job) and people scored later, "
        "whose answers the model gets as they are"
    )
    assert said["May reveal it"].startswith("columns in the clear that go together with a protected one")
    assert said["Trust"] == "nobody: the noise is added before anything is sent"
    assert "their ε add up" in said["Proof"]


def test_each_column_has_its_share_of_epsilon_and_the_chance_of_the_truth(full):
    table = section(page_of(full), "guarantee").tables[0]

    assert table.header == [
        "Column",
        "Values",
        "ε within the report",
        "Report is true",
        "Report is a given other value",
    ]
    assert table.rows[0] == ["sex", "2", "0.5", "62.2%", "37.8%"]
    assert table.rows[1] == ["region", "3", "0.5", "45.2%", "27.4%"]
    assert table.data["epsilon_within_report"] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("strategy", "shares", "words"),
    [
        ("combined", ["1", "1"], "all columns are reported as one combination, by one draw"),
        ("single", ["1"], "one column is reported"),
    ],
)
def test_strategies_spend_epsilon_their_own_way(drawn, strategy, shares, words):
    page = page_of(
        made(against(BEFORE, BEFORE), collect=CollectTask("grr", 1, strategies=strategy, splits="uniform"))
    )
    part = section(page, "guarantee")

    assert [row[2] for row in part.tables[0].rows] == shares
    assert words in facts(part)["Proof"]
    if strategy == "single":
        assert "2 other columns (region and job)" in facts(part)["Not protected"]
        assert page.question.startswith("If people randomise sex before")
    else:
        assert part.notes[0].text.startswith("Every column is told apart with the whole ε")


def test_a_share_close_to_chance_is_warned_of(drawn):
    """A guarantee that leaves nothing to learn from explains results that do not follow epsilon."""
    small = page_of(made(against(BEFORE, BEFORE), collect=CollectTask("oue", 0.1, splits="uniform")))
    single = page_of(
        made(against(BEFORE, BEFORE), collect=CollectTask("grr", 0.05, strategies="single", splits="uniform"))
    )
    tiny = page_of(
        made(
            against(BEFORE, BEFORE), collect=CollectTask("grr", 0.0005, strategies="single", splits="uniform")
        )
    )

    assert (
        section(small, "guarantee")
        .notes[0]
        .text.startswith("**What is reported of sex and region is close to chance.**")
    )
    assert "sex a factor of 1.06 and region a factor of 1.06" in section(small, "guarantee").notes[0].text
    assert (
        "**What is reported of sex is close to a coin toss.**" in section(single, "guarantee").notes[0].text
    )
    assert section(tiny, "guarantee").tables[0].rows[0][2] == "0.0005"
    assert section(small, "guarantee").tables[0].header[3] == "Report supports the true value"


def test_a_large_epsilon_is_cautioned_where_it_is_promised(drawn):
    page = page_of(made(against(BEFORE, BEFORE), collect=CollectTask("grr", 30, splits="uniform")))
    part = section(page, "guarantee")

    assert part.heading == "Seeing somebody's report changes the odds by a factor of e^30 at most"
    assert any(note.text.startswith("Caution: epsilon = 30") for note in part.notes)


def test_everything_sensitive_leaves_nothing_that_may_reveal_it(drawn):
    schema = schema_of().select(["sex", "region", "hired"])
    page = page_of(made(against(BEFORE, BEFORE), schema=schema))

    assert "May reveal it" not in facts(section(page, "guarantee"))


def test_factors_of_odds_are_rounded_up():
    """A promise rounded down would be broken by the second digit."""
    assert page_guarantee.odds_factor(0.5) == "1.65"
    assert page_guarantee.odds_factor(4.6052) == "101"
