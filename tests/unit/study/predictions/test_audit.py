"""The numbers of an audit: rates of groups, rules, everything for machines."""

import json
import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure.disparities import COMPARISONS
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
    found = audit(truth, predicted, group)

    assert math.isnan(found.rate(1, "tpr").value)
    assert found.rate(1, "tpr").low is None
    assert found.disparities["tpr_gap"].reason == "too_few"
    assert found.disparities["tpr_gap"].too_few == (1,)


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
