"""Models that are of no use and groups that are too small: what stands first, and what is left out."""

from evenhand.study.page.page import answers, page_of
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import BEFORE, against, made, two


def _with_base_rate(results, base, *, auc=(0.9, 0.6)):
    """Return results of which so many people have the outcome, with areas under the ROC curve."""
    for each in results.outcomes:
        for rates in each.groups.values():
            rates["base_rate"] = base + 1e-5 * each.cell.repeat  # equal repeats have no interval
        each.measures["auc"] = auc[each.cell.setting.is_protected]
    return type(results)(results.plan, results.facts, results.outcomes)


def test_a_model_that_gives_everyone_the_same_answer_is_said_to_be_of_no_use_first():
    """Its accuracy is the base rate and its gap is zero, which read like a small cost and a success."""
    before, after = two(0.90, 0.97, accuracy=(0.98, 0.98)), two(1.0, 1.0, accuracy=(0.967, 0.967))
    results = _with_base_rate(made(against(before, after), noise=0.0, repeats=7), 0.967)
    first, second, third = answers(results)

    assert first.finding == "At ε = 1 the model no longer tells people apart: it predicts “yes” for everyone."
    assert "right for 96.7%" in first.evidence
    assert "AUC falls from 0.90 to 0.60" in first.evidence
    assert second.finding == "The gap disappears only because everyone gets the same answer."
    assert third.finding.startswith("No tested setting works: allow a larger ε than 1")


def test_a_model_that_is_of_use_is_not_called_useless():
    """The twin of the test above: the same rates, and an outcome that not nearly everyone has."""
    before, after = two(0.90, 0.97, accuracy=(0.98, 0.98)), two(1.0, 1.0, accuracy=(0.967, 0.967))
    results = _with_base_rate(made(against(before, after), noise=1e-5, repeats=7), 0.6)

    assert "pay" in answers(results)[0].finding
    assert answers(results)[1].finding.startswith("The selection gap narrows")


def test_a_model_that_is_as_much_better_in_every_repeat_is_of_use():
    """One that is always right has no interval, since splits hold the outcome's share; it is not unproved."""
    results = made(against(BEFORE, BEFORE), noise=0.0, repeats=7)

    assert results.plan.task.read(results).usefulness() == "useful"
    assert answers(results)[0].finding.startswith("Accuracy is the same with and without protection")


def test_scores_that_still_rank_people_are_said_to():
    before, after = two(0.90, 0.97, accuracy=(0.98, 0.98)), two(0.99, 0.99, accuracy=(0.967, 0.967))
    first = answers(
        _with_base_rate(made(against(before, after), noise=0.0, repeats=7), 0.967, auc=(0.9, 0.84))
    )[0]

    assert first.finding.endswith("it predicts “yes” for 99.0% of people.")
    assert "scores still rank people: AUC is 0.84, after 0.90" in first.evidence


def test_a_model_that_was_of_no_use_before_protection_is_said_to():
    results = _with_base_rate(made(against(BEFORE, BEFORE), repeats=7), 0.1)
    first, second, third = answers(results)

    assert first.finding == (
        "Even without protection the model is not clearly right more often than saying “no” to everyone."
    )
    assert second.finding.startswith("The gap says little here")
    assert third.finding.startswith("First find a model that works without protection")


def test_runs_that_vary_too_much_are_not_called_useless():
    """ "No more often" would be a finding from an interval that leaves room for thirty points."""
    first, second, third = answers(made(against(BEFORE, BEFORE), noise=0.08, repeats=5))

    assert first.finding == "These runs cannot show that the model does better than saying “yes” to everyone."
    assert second.finding.startswith("The gap says little here")
    assert third.finding == "Run more repeats before choosing."


def test_the_smallest_epsilon_at_which_the_model_works_is_recommended():
    def rates(where):
        works = not where.is_protected or where.epsilon >= 2
        return two(0.3, 0.6, accuracy=(0.8, 0.8) if works else (0.6, 0.6))

    results = _with_base_rate(made(rates, repeats=7, collect=CollectTask(["grr", "oue"], [1, 2, 4])), 0.6)
    third = answers(results)[2]

    assert third.finding == "Use ε = 2: that is where the model starts to work."
    assert "more often than the same answer for everyone (60.0%)" in third.evidence


# --- groups too small to say ------------------------------------------------------------------------


def test_neither_the_head_nor_the_gap_rests_on_a_group_of_six_people():
    """Six people in a test can be selected anywhere between never and always."""
    groups = ("north", "south", "tiny")

    def rates(where):
        swing = 0.9 if where.is_protected else 0.1
        return {"north": (0.3, 0.5, 0.8), "south": (0.5, 0.5, 0.8), "tiny": (swing, 0.5, 1 - swing)}

    results = made(rates, groups=groups, repeats=7)
    seen = answers(results)
    for each in results.outcomes:
        each.groups["tiny"]["people"] = 6.0
    small = answers(type(results)(results.plan, results.facts, results.outcomes))

    assert "tiny" in seen[0].finding  # so the test can see: with 200 people it is named first
    assert "tiny" not in f"{small[0].finding} {small[1]}"
    assert small[0].evidence.endswith("Too few people to say: tiny (6 in a test).")
    assert "20." in small[1]


def test_groups_that_are_all_too_small_leave_no_gap_to_tell():
    results = made(against(BEFORE, BEFORE), repeats=7)
    for each in results.outcomes:
        for rates in each.groups.values():
            rates["people"] = 12.0
    first, second, third = answers(type(results)(results.plan, results.facts, results.outcomes))

    assert first.finding.endswith("and the groups are too small to say who pays.")
    assert first.evidence.endswith("On average a test has 12 of women and 12 of men.")
    assert second == "**To measure a gap takes two groups of 30 people or more in a test.**"
    assert third.finding == "Collect more people, or join small groups, before you choose."
    assert third.evidence.startswith("It takes about 5,000 people in all, or small groups ")


def test_a_small_difference_on_few_repeats_is_not_called_none():
    """Two repeats cannot say that a model is no better than one answer for everyone."""
    few, enough = (
        answers(_with_base_rate(made(against(BEFORE, BEFORE), repeats=repeats, noise=0.02), 0.195))
        for repeats in (2, 7)
    )

    assert few[0].finding.startswith("These runs cannot show that the model does better than saying “no”")
    assert few[2].finding == "Run more repeats before choosing."
    assert enough[2].finding.startswith("First find a model that works without protection")


def test_the_head_shows_the_groups_that_lose_most_whatever_their_order():
    """The first two of the schema would hide a third that loses more."""
    groups = ("north", "south", "west")

    def rates(where):
        lost = (0.01, 0.0, 0.1) if where.is_protected else (0.0, 0.0, 0.0)
        return {group: (0.4, 0.5, 0.8 - less) for group, less in zip(groups, lost, strict=True)}

    labels = [number.label for number in page_of(made(rates, groups=groups, repeats=7)).numbers]

    assert labels[-2:] == ["Accuracy for north, %", "Accuracy for west, %"]
