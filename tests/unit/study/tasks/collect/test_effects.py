"""Which ways to report are remedies of which: what the table of effects of a collection compares."""

import math

import pytest

from evenhand.study.tasks.collect.effects import effects
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import against, made, schema_of, two


def table(*protocols, page=None, sensitive=("sex", "region"), **grid):
    """Return the table of a study that tries these protocols."""
    task = CollectTask(list(protocols), grid.pop("epsilons", [1]), **grid)
    schema = schema_of(sensitive=sensitive)
    results = made(against(two(0.3, 0.6), two(0.2, 0.6)), collect=task, schema=schema, repeats=2)
    chosen = None if page is None else results.setting(page)
    return effects(results.plan.task, results, page=chosen)


def remedies(found):
    """Return the names of the remedies."""
    return [option.name for option in found.options if option.is_remedy]


def test_other_ways_at_the_same_epsilon_are_remedies():
    """Otherwise the page could not say what to do, or would sell a larger epsilon as a remedy."""
    found = table(
        "grr", "optimal", epsilons=[0.5, 1, 4], splits="uniform", strategies=["independent", "combined"]
    )
    assert found.page == "GRR, uniform split, ε = 1"
    assert remedies(found) == [
        "OPTIMAL, uniform split, ε = 1",
        "GRR, combined, ε = 1",
        "OPTIMAL, combined, ε = 1",
    ]
    assert [option.name for option in found.candidates] == remedies(found)


def test_the_simplest_way_comes_first():
    """Of two that do as well, the one that takes outcome rates of groups would be named."""
    found = table("grr", "oue", "optimal", strategies=["independent", "combined"], splits="uniform")
    order = sorted((option for option in found.options if option.is_remedy), key=lambda each: each.simplicity)
    assert [option.name.split(", uni")[0].removesuffix(", ε = 1") for option in order] == [
        "OUE",
        "GRR, combined",
        "OPTIMAL",
        "OPTIMAL, combined",
    ]


@pytest.mark.parametrize("sensitive", [("sex",), ("sex", "region")])
def test_the_same_reports_are_no_remedy_of_themselves(sensitive):
    """GRR would be advised against the same GRR, drawn with other seeds."""
    assert remedies(table("auto", "grr", "oue", splits="optimal", sensitive=sensitive)) == [
        "OUE, optimal split, ε = 1"
    ]


def test_splits_of_a_single_column_are_one_way():
    """One column would have two splits to choose from."""
    assert not remedies(table("grr", splits=["uniform", "optimal"], sensitive=("sex",)))
    assert remedies(table("grr", splits=["uniform", "k-based"])) == ["GRR, k-based split, ε = 1"]


def test_a_way_that_leaves_a_column_in_the_clear_is_no_remedy():
    """It would be recommended for what it does not protect."""
    found = table("grr", splits="uniform", strategies=["independent", "single"])
    assert not remedies(found)
    turned = table("grr", splits="uniform", strategies=["single", "independent"])
    assert turned.page == "GRR, single, ε = 1"
    assert remedies(turned) == ["GRR, uniform split, ε = 1"]


def test_counting_groups_is_part_of_epsilon():
    """An optimal protocol that looks at the outcomes would pass for as private as one that does not."""
    noisy = {"name": "optimal", "outcomes": "noisy", "budget": 0.5}
    exact = {"name": "optimal", "outcomes": "exact"}
    found = table("grr", noisy, exact, splits="uniform")
    epsilons = {option.name: option.epsilon for option in found.options}
    assert [epsilon for name, epsilon in epsilons.items() if "noisy" in name] == [1.5]
    assert not remedies(found)


def test_a_setting_that_is_asked_for_is_the_pages():
    """The remedies would be those of another epsilon."""
    found = table("grr", "oue", epsilons=[1, 4], splits="uniform", page="oue 4")
    assert found.page == "OUE, uniform split, ε = 4"
    assert remedies(found) == ["GRR, uniform split, ε = 4"]
    assert math.isinf(found.by_name["unprotected"].epsilon)
