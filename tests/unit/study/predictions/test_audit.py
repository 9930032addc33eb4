"""The numbers of an audit: judged groups, verdicts, thresholds, everything for machines."""

import json
import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure.disparities import COMPARISONS
from evenhand.study.predictions.answers import answers
from unit.study.predictions._cases import audit, people


def test_every_number_is_in_the_dictionary():
    truth, predicted, group = people()
    numbers = audit(truth, predicted, group, rules=["80%"]).to_dict()

    assert set(numbers["comparisons"]) == set(COMPARISONS)
    assert numbers["groups"]["men"]["selection"]["value"] == 0.55
    assert numbers["groups"]["women"]["share_of_selected"] == pytest.approx(120 / 340)
    assert numbers["groups"]["women"]["balanced_accuracy"]["value"] == pytest.approx(
        (90 / 200 + 170 / 200) / 2
    )
    assert numbers["groups"]["women"]["against_reference"]["selection"]["ratio"]["value"] == pytest.approx(
        6 / 11
    )
    assert numbers["rules"][0]["verdict"] == "fail"
    assert numbers["reference"] == "men"
    json.dumps(numbers)


def test_people_without_a_group_are_counted_apart():
    truth, predicted, group = people()
    group[:50] = [None] * 50
    found = audit(truth, predicted, group)
    numbers = found.to_dict()

    assert found.people == (350, 400)
    assert numbers["people"] == 800
    assert numbers["not_stated"]["people"] == 50
    assert numbers["not_stated"]["selection"]["value"] == 1
    assert numbers["overall"]["selection"]["value"] == pytest.approx(340 / 800)


def test_a_group_without_positive_outcomes_has_no_true_positive_rate():
    truth, predicted, group = people(women=(0, 0, 30, 170))
    found = audit(truth, predicted, group, headline="tpr_gap")

    assert math.isnan(found.rate(1, "tpr").value)
    assert found.rate(1, "tpr").low is None
    assert found.head.reason == "too_few"
    assert found.head.too_few == (1,)


def test_who_pays_follows_what_the_rate_means():
    rows = people()

    assert audit(*rows).payer == (1, 0)
    assert audit(*rows, unwanted=True).payer == (0, 1)
    assert audit(*rows, headline="fnr_gap").payer == (1, 0)
    assert audit(*rows, headline="fpr_gap").payer == (0, 1)
    assert audit(*rows, headline="odds_gap").head_rate == "tpr"


def test_thresholds_select_every_group_about_as_often_as_everybody_now():
    generator = np.random.default_rng(1)
    group = ["a"] * 500 + ["b"] * 500
    scores = np.concatenate([generator.normal(0, 1, 500), generator.normal(1, 1, 500)])
    truth = (generator.random(1000) < 0.5).astype(int)
    found = audit(truth, None, group, scores=scores, threshold=0.5)
    share = found.rows.predicted.mean()
    for place, threshold in found.thresholds.items():
        chosen = scores[np.asarray(group) == "ab"[place]]

        assert (chosen >= threshold).mean() == pytest.approx(share, abs=1 / 500)


def test_weights_change_the_rates_as_repeated_rows_do():
    truth, predicted, group = people()
    weights = np.where(np.arange(800) % 3 == 0, 2.0, 1.0)
    weighted = audit(truth, predicted, group, weights=weights)
    times = weights.astype(int)
    repeated = audit(np.repeat(truth, times), np.repeat(predicted, times), list(np.repeat(group, times)))
    for rate in ("selection", "tpr", "precision", "for"):
        assert weighted.rate(0, rate).value == pytest.approx(repeated.rate(0, rate).value)


def test_scores_from_0_to_1_are_calibrated_and_others_are_only_ranked():
    truth, predicted, group = people()
    shares = np.linspace(0, 1, 800)

    assert len(audit(truth, predicted, group, scores=shares).calibrations) == 2
    assert audit(truth, predicted, group, scores=10 * shares).calibrations == ()
    assert len(audit(truth, predicted, group, scores=10 * shares).rankings) == 2


@pytest.mark.parametrize(
    "options", [{"privileged": "children"}, {"fewest": 0}, {"level": 1.5}, {"fewest": 1.5}]
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(InvalidParameterError):
        audit(*people(), **options)


@pytest.mark.parametrize(
    ("counts", "useless"),
    [
        ({}, ""),
        ({"men": (0, 100, 0, 100), "women": (0, 100, 0, 100)}, "constant"),
        ({"men": (90, 0, 10, 0), "women": (60, 0, 40, 0)}, "constant"),
        ({"men": (3, 27, 1, 969), "women": (2, 28, 1, 969)}, "almost_constant"),
        ({"men": (60, 40, 59, 41), "women": (30, 70, 31, 69)}, "no_better"),
        ({"men": (18, 2, 80, 900), "women": (16, 4, 200, 780)}, ""),  # alarms: fewer right than with none
    ],
)
def test_predictions_that_do_not_tell_people_apart_are_called_that_first(counts, useless):
    """Else a classifier that says no to everybody is praised for its parity."""
    found = audit(*people(**counts))
    who, _, fairer = (answer.finding for answer in answers(found))

    assert found.useless == useless
    assert who.startswith("These predictions") == bool(useless)
    assert fairer.startswith("First get predictions") == bool(useless)


@pytest.mark.parametrize("headline", list(COMPARISONS))
def test_a_gap_that_is_not_clear_is_not_stated_as_one(headline):
    counts = {"men": (60, 40, 30, 70), "women": (62, 38, 28, 72)}
    _, much, _ = answers(audit(*people(**counts), headline=headline))

    assert much.finding.startswith("There is no clear gap in ")
    assert not any(letter.isdigit() for letter in much.finding)


def test_too_few_people_are_said_once():
    said = " ".join(map(str, answers(audit(*people(women=(5, 4, 3, 8))))))

    assert said.count("too few") == 1
