"""The table of effects beside numbers that were found by other means: pandas, enumeration, sums of a law."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evenhand.answer.choice import list_steps
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from evenhand.study.run.whole import run
from evenhand.study.tasks.release.task import ReleaseTask
from unit.study import _decide_studies as decide
from unit.study import _learn_studies as learn
from unit.study import _release_studies as release


def _laplace_law(scale, reach=400):
    """Return the values and probabilities of a discrete Laplace law."""
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(values) / scale)
    return values, weights / weights.sum()


def _row(frame, **where):
    for name, value in where.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


# --- classifiers --------------------------------------------------------------------------------


def test_effects_of_classifiers_are_those_of_their_rates():
    """If not, the people on the page would not be those of the study."""
    results = learn.small_study()
    effects, groups = results.effects(backend="pandas"), results.groups(backend="pandas")
    rates = groups[(groups["mechanism"] == "dp") & (groups["group"] == "0")]
    plain = groups[(groups["mechanism"] == "none") & (groups["group"] == "0")]
    missed = 1000 * (rates["base_rate"] * (1 - rates["tpr"])).mean()

    row = _row(effects, setting="DP, ε = 3", group="0", effect="wrongly_refused")
    assert row["after"] == pytest.approx(missed)
    assert row["rate"] == pytest.approx(missed / rates["base_rate"].mean())
    selected = _row(effects, setting="DP, ε = 3", group="0", effect="selected")
    assert selected["due"] == pytest.approx(1000 * plain["selection"].mean())
    wrong = _row(effects, setting="DP, ε = 3", group="0", effect="wrong")
    assert wrong["after"] == pytest.approx(1000 * (1 - rates["accuracy"].mean()))


def test_parity_is_compared_with_training_and_not_with_the_plain_model():
    """If not, what parity costs would be called the price of privacy."""
    effects = learn.small_study().effects(backend="pandas")
    private, parity = (
        _row(effects, setting=f"{name}, ε = 3", group="1", effect="selected")
        for name in ("DP", "DP + parity")
    )

    assert parity["reference"] == "DP, ε = 3"
    assert parity["before"] == pytest.approx(private["after"])
    assert parity["due"] == pytest.approx(private["due"])


def test_everybody_is_the_mean_of_the_groups_by_their_people():
    """If not, what a remedy gives in all would be off."""
    results = learn.small_study()
    groups = results.groups(backend="pandas")
    own = groups[groups["mechanism"] == "dp"]
    by_repeat = [np.average(part["selection"], weights=part["people"]) for _, part in own.groupby("repeat")]

    row = _row(results.effects(backend="pandas"), setting="DP, ε = 3", group="", effect="selected")
    assert row["after"] == pytest.approx(1000 * np.mean(by_repeat))


# --- releases -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", name="released")
def _released():
    task = ReleaseTask(
        ["sex", "job", "hired"], ["laplace", "suppression"], [1], post=["nonnegative"], classify=False
    )
    frame = release.people()
    return frame.to_pandas(), run(release.plan(task), frame=frame, workers=1, progress=False)


def test_people_whom_a_clamp_invents_are_those_of_the_law(released):
    """If not, two people counted as nine would pass for a small sample."""
    people, results = released
    counts = (
        people.groupby(["sex", "job", "hired"])
        .size()
        .reindex(
            pd.MultiIndex.from_product([["women", "men"], ["clerk", "nurse", "cook"], ["no", "yes"]]),
            fill_value=0,
        )
    )
    noise, weights = _laplace_law(2.0)  # one person who is replaced changes two cells
    effects = results.effects(backend="pandas")

    for sex in ("women", "men"):
        own = counts[sex].to_numpy()
        expected = [float((np.maximum(count + noise, 0) * weights).sum()) for count in own]
        counted = _row(effects, setting="Laplace noise, ε = 1", group=sex, effect="counted")
        assert counted["after"] == pytest.approx(sum(expected))
        assert (counted["basis"], counted["low"]) == ("exact", counted["change"])
        invented = _row(effects, setting="Laplace noise, ε = 1", group=sex, effect="invented")
        empty = sum(value for value, count in zip(expected, own, strict=True) if count == 0)
        assert invented["after"] == pytest.approx(empty)


def test_people_in_blanks_are_counted_as_hidden(released):
    """If not, a table with blanks would lose people whom nobody misses."""
    people, results = released
    counts = people.groupby(["sex", "job", "hired"]).size()
    effects = results.effects(backend="pandas")

    for sex in ("women", "men"):
        own = counts[sex]
        row = _row(effects, setting="Suppression, threshold=6", group=sex, effect="hidden")
        assert row["after"] == own[own < 6].sum()


def test_exact_effects_of_two_people_are_judged():
    """If not, sample size would be a reason where nothing is sampled."""
    task = ReleaseTask(["sex", "job"], ["laplace"], ["1/4"], post=["nonnegative"], classify=False)
    frame = release.people().to_pandas()
    frame = pd.concat([frame[frame["sex"] == "men"], frame[frame["sex"] == "women"].head(2)])
    results = run(release.plan(task), frame=frame, workers=1, progress=False)
    table = results.plan.task.effects(results)
    verdict = find_payers(table)

    assert verdict.state == "pays"
    assert verdict.payers[0].row.group == "women"
    assert verdict.payers[0].row.people == 2


def test_an_epsilon_of_the_same_mechanism_is_a_point_of_the_curve_and_no_remedy():
    """If not, "use more privacy" would be tried as a remedy, and the curve over epsilon would be empty."""
    task = ReleaseTask(
        ["sex", "job"],
        ["laplace", "thresholded-laplace"],
        [1, 2, 4],
        compare_post="nonnegative",
        classify=False,
    )
    results = run(release.plan(task), frame=release.people(), workers=1, progress=False)
    table = task.effects(results)

    assert {option.name for option in table.options if option.is_remedy} == {
        "Laplace noise, post=nonnegative, ε = 1",
        "Threshold after noise, threshold=6, ε = 1",
    }
    assert [step.epsilon for step in list_steps(table, judge(table))] == [1, 2, 4]


def test_people_whom_noise_blanks_are_those_of_the_law():
    """If not, the blanks of one draw would be told as certain, and those of few people as unknown."""
    task = ReleaseTask(["sex", "job"], ["thresholded-laplace", "noisy-suppression"], [1], classify=False)
    frame = release.people().to_pandas()
    frame = pd.concat([frame[frame["sex"] == "men"], frame[frame["sex"] == "women"].head(10)])
    results = run(release.plan(task), frame=frame, workers=1, progress=False)
    effects = results.effects(backend="pandas")
    counts = frame[frame["sex"] == "women"].groupby("job").size().to_numpy()
    noise, weights = _laplace_law(2.0)
    hidden = sum(count * float(weights[count + noise < 6].sum()) for count in counts)

    row = _row(effects, setting="Threshold after noise, threshold=6, ε = 1", group="women", effect="hidden")
    assert row["after"] == pytest.approx(hidden)
    assert (row["basis"], row["status"]) == ("exact", "clear")
    noisy = "Noisy suppression, noise=count, threshold=6, ε = 1"
    assert _row(effects, setting=noisy, group="women", effect="hidden")["basis"] == "exact"


def test_blanks_of_a_sample_are_drawn_and_not_exact():
    """If not, the blanks of the first draw would be told as certain."""
    task = ReleaseTask(["sex", "job"], [{"name": "generalized-sampling", "k": 12}], [1], classify=False)
    results = run(release.plan(task, repeats=6), frame=release.people(), workers=1, progress=False)
    effects = results.effects(backend="pandas")

    hidden = effects[(effects["effect"] == "hidden") & (effects["group"] == "women")]
    assert set(hidden["basis"]) == {"draws (6)"}


def test_blanks_that_a_study_fills_hide_people_and_invent_none(released):
    """If not, empty cells that are left blank would be told as people who were made up."""
    effects = released[1].effects(backend="pandas")
    told = effects[effects["setting"] == "Suppression, threshold=6"]

    assert set(told["effect"]) == {"hidden", "off"}


def test_a_group_of_nobody_is_told_in_people_only():
    """If not, its error has no share, which would forbid to say that nobody pays."""
    task = ReleaseTask(["sex", "job"], ["laplace"], [20], post=["nonnegative"], classify=False)
    frame = release.people().to_pandas()
    frame = frame[frame["sex"] == "men"]
    results = run(release.plan(task), frame=frame, workers=1, progress=False)
    effects = results.effects(backend="pandas")

    women = effects[effects["group"] == "women"]
    assert set(women["effect"]) == {"counted", "hidden", "invented"}
    assert set(women["status"]) == {"none"}
    assert find_payers(task.effects(results)).state == "nobody"


# --- decisions ----------------------------------------------------------------------------------


def test_rights_are_refused_as_often_as_the_law_says():
    """If not, the people of a county would be told a wrong chance."""
    task = decide.rule_task(rule="poor >= 20", groups=["young"], epsilons=[1])
    results = decide.study(task)
    noise, weights = _laplace_law(2.0)
    poor, young = (decide.PLACES[name] for name in ("poor", "young"))
    holding = [place for place, count in enumerate(poor) if count >= 20]
    refused = sum(young[place] * float(weights[poor[place] + noise < 20].sum()) for place in holding)
    people = sum(young[place] for place in holding)

    row = _row(results.effects(backend="pandas"), group="young", effect="refused")
    assert row["after"] == pytest.approx(1000 * refused / people)
    assert row["people"] == people


def test_money_is_short_by_what_is_expected_to_be_lost():
    """If not, dollars on the page would not be those of the study."""
    results = decide.study(decide.money_task(epsilons=[1]))
    groups = results.groups(backend="pandas")
    effects = results.effects(backend="pandas")

    for group in ("young", "old"):
        numbers = groups[(groups["group"] == group) & (groups["mechanism"] != "none")].iloc[0]
        row = _row(effects, group=group, effect="short")
        assert row["due"] == pytest.approx(numbers["due"])
        assert row["change"] == pytest.approx(numbers["gain"])
    ash = _row(effects, group="Ash", effect="short")
    assert math.isfinite(ash["after"])
    assert Fraction(1) == results.settings[-1].epsilon
