"""The second sentence of more than two groups: the widest gap is not that of one pair."""

import re

import pytest

from evenhand.study.page.page import answers
from evenhand.study.tasks.collect.reading import CollectReading
from unit.study._page_studies import NEVER, NOTHING, against, interval, made


def measured_rate(results, where, group, rate="selection"):
    arrays = results.arrays
    at = arrays.groups.index(group), arrays.rates.index(rate)
    return arrays.of_groups[results.place(where), :, at[0], at[1]]


def test_of_many_groups_the_two_furthest_apart_are_named():
    groups = ("north", "south", "west")

    def rates(selections):
        return {group: (selection, 0.5, 0.8) for group, selection in zip(groups, selections, strict=True)}

    same = answers(made(against(rates((0.2, 0.5, 0.3)), rates((0.25, 0.5, 0.3))), groups=groups))[1]
    other = answers(made(against(rates((0.2, 0.5, 0.3)), rates((0.35, 0.5, 0.3))), groups=groups))[1]

    assert same.finding.startswith("The widest gap between two groups narrows from 30")
    assert "by mean rates south and north are furthest apart unprotected, by 30" in same
    assert other.endswith("At ε = 1, “south” and “west” are furthest apart.")
    assert "At ε = 1, “south”" not in same


def test_of_many_groups_the_widest_gap_is_not_told_as_that_of_one_pair():
    """The widest gap may be between other groups in each repeat, and is then wider than that of any pair."""
    groups = ("north", "south", "tiny")
    swing = (0.3, -0.3, 0.28, -0.28, 0.3)
    results = made(
        against(
            {"north": (0.2, 0.5, 0.8), "south": (0.7, 0.5, 0.8), "tiny": (0.45, 0.5, 0.8)},
            {"north": (0.5, 0.5, 0.8), "south": (0.5001, 0.5, 0.8), "tiny": (0.5, 0.5, 0.8)},
        ),
        groups=groups,
    )
    for each in results.outcomes:
        if each.cell.setting.is_protected:
            each.groups["tiny"]["selection"] += swing[each.cell.repeat]
            each.measures["sp_gap"] = abs(swing[each.cell.repeat])
    second = answers(type(results)(results.plan, results.facts, results.outcomes))[1]

    assert re.fullmatch(
        r"The widest gap between two groups narrows from 50\.\d to 29\.2 points\.", second.finding
    )
    assert re.search(r"at ε = 1 these two are [+−]?0\.\d+ points apart", second)


def test_one_repeat_of_many_groups_claims_nothing():
    groups = ("north", "south", "west")
    results = made(lambda where: dict.fromkeys(groups, (0.3, 0.5, 0.8)), groups=groups, repeats=1)

    assert answers(results)[1].finding == "One repeat cannot say what happens to the gap."


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ((0.2, 0.65, 0.3), "grows from 3"),
        ((0.2001, 0.5001, 0.3), "does not clearly change"),
    ],
)
def test_the_widest_gap_is_told_by_its_interval(after, words):
    groups = ("north", "south", "west")

    def rates(selections):
        return {group: (selection, 0.5, 0.8) for group, selection in zip(groups, selections, strict=True)}

    second = answers(made(against(rates((0.2, 0.5, 0.3)), rates(after)), groups=groups))[1]

    assert second.finding.startswith(f"The widest gap between two groups {words}")


def test_groups_that_are_alike_are_not_called_furthest_apart_clearly():
    """The two are picked from all pairs for being apart, which chance alone brings about."""
    groups = tuple(f"group {place}" for place in range(7))
    results = made(
        lambda where: {group: (0.3 + 1e-6 * place, 0.5, 0.8) for place, group in enumerate(groups)},
        groups=groups,
    )
    reading = CollectReading.of(results)
    picked = [measured_rate(results, NOTHING, group) for group in (reading.high, reading.low)]
    same = made(lambda where: dict.fromkeys(groups, (0.3, 0.5, 0.8)), groups=groups)

    assert reading.apart(NOTHING).level == pytest.approx(1 - 0.05 / 21)
    assert reading.apart(NOTHING).low == pytest.approx(interval(picked[0] - picked[1], 1 - 0.05 / 21)[1])
    assert "does not clearly change" in answers(results)[1]
    assert "At ε = 1, “group" not in answers(same)[1]


def test_a_group_without_a_rate_is_not_said_to_be_furthest_apart():
    groups = ("north", "south", "west")

    def rates(where):
        return {"north": (0.2, 0.5, 0.8), "south": (0.5, 0.5, 0.8), "west": (0.3, 0.5, 0.8)}

    results = made(rates, groups=groups)
    for each in results.outcomes:
        if each.cell.setting.is_protected:
            for group in ("north", "south"):
                each.groups[group]["selection"] = float("nan")
    second = answers(type(results)(results.plan, results.facts, results.outcomes))[1]

    assert "At ε = 1, “west" not in second
    assert not NEVER.search(second)
