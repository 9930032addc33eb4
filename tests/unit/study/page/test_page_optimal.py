"""A report about the optimal channel says what it promises, what it cost, and what it does not change."""

import pytest

from evenhand.study.page.page import page_of
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import BEFORE, against, made, section

TABLE = {"weights": [1, 3], "rates": [0.2, 0.4], "source": "census 2020"}


def page(strategy="independent", **parameters):
    mechanism = {"name": "optimal", **parameters}
    return page_of(made(against(BEFORE, BEFORE), collect=CollectTask([mechanism], 1, strategies=strategy)))


def facts(part):
    return {fact.term: fact.text for fact in part.facts}


def words(part):
    return " ".join(note.text for note in part.notes)


def test_the_true_groups_are_said_to_be_as_they_were(drawn):
    """A small bar for the reports would else pass for a fairer world."""
    whole = page()

    assert "the true groups are as they were" in words(section(whole, "guarantee"))
    assert "small by design" in words(section(whole, "data"))


def test_other_protocols_say_nothing_of_it(drawn, full):
    whole = page_of(full)

    assert "as they were" not in words(section(whole, "guarantee"))
    assert "by design" not in words(section(whole, "data"))


def test_a_pilot_is_described_and_costs_nothing_more(drawn):
    part = section(page(), "guarantee")

    assert facts(part)["Guarantee"] == "ε = 1, δ = 0 (pure), a bound"
    assert facts(part)["Trust"].startswith("nobody")
    assert "fairness-optimal randomized response and generalized" in facts(part)["Proof"]
    assert "everybody reports once" in words(part)


def test_noise_is_added_to_what_the_report_costs(drawn):
    part = section(page(outcomes="noisy", budget="1/4"), "guarantee")

    assert "factor of 2.72 at most" in part.heading  # what is sent
    assert facts(part)["Guarantee"].startswith("ε = 1.25,")
    assert facts(part)["Unit"].startswith("replace one")
    assert "who sees those rows" in facts(part)["Trust"]
    assert "costs ε = 0.25 more" in words(part)


def test_exact_counts_void_the_guarantee_unless_they_are_public(drawn):
    part = section(page(outcomes="exact"), "guarantee")

    assert "holds only if the exact counts" in words(part)
    assert "only if the exact shares" in facts(part)["Assumes"]


def test_a_table_names_who_published_it(drawn):
    part = section(page(outcomes=TABLE), "guarantee")

    assert "census 2020" in facts(part)["Assumes"]


@pytest.mark.parametrize(
    ("strategy", "known"), [("independent", [False, True]), ("combined", [False, False])]
)
def test_chances_that_depend_on_the_group_are_not_made_up(drawn, strategy, known):
    table = section(page(strategy), "guarantee").tables[0]

    assert [row[3] != "depends on the group" for row in table.rows] == known


def test_a_column_of_a_combination_is_not_called_closer_to_chance_than_it_is(drawn):
    """GRR over combinations tells less of one column than its whole epsilon; the optimal channel may not."""
    part = section(page(strategy="combined"), "guarantee")

    assert set(part.tables[0].data["epsilon_if_seen_alone"]) == {1.0}
