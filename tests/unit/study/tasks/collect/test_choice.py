"""What a study of collection recommends, and when it says what would let one choose."""

import pytest

from evenhand.study.page.page import answers
from evenhand.study.tasks.shared.classifier import OpenLoss
from unit.study._golden_collect import alike, costs, with_people
from unit.study._page_studies import MEN, WOMEN


@pytest.mark.parametrize("study", [alike(0.06), costs(0.79, 0.81, noise=0.03)])
def test_nothing_is_recommended_as_harmless_while_a_group_may_lose_much(study):
    """Equal settings would be recommended though one group may lose many points with each of them."""
    who, _, choice = answers(study)

    assert "cannot be ruled out" in who.finding
    assert choice.finding.startswith("Run about ")
    assert choice.finding.split(": ")[1].split()[0] in {WOMEN, MEN}
    assert choice.action.startswith("evenhand audit collect --plan plan.toml --repeats ")
    assert int(choice.action.split()[-1]) > 10


@pytest.mark.parametrize(
    ("loss", "finding", "evidence", "action"),
    [
        (
            OpenLoss(WOMEN, 0.1, 40, 12.4),
            "Run about 40 repeats",
            ", or about 12 times as many people. ",
            True,
        ),
        (OpenLoss(WOMEN, 0.1, 40, None), "Run about 40 repeats", "That many should tell. ", True),
        (OpenLoss(WOMEN, 0.1, None, 3.26), "Collect more people", "About 3.3 times as many people", False),
        (OpenLoss(WOMEN, 0.1, None, None), "Collect more people", "It takes far more than these", False),
    ],
)
def test_it_is_said_what_would_tell(monkeypatch, loss, finding, evidence, action):
    monkeypatch.setattr("evenhand.study.tasks.collect.reading.CollectReading.open_loss", lambda *_: loss)
    choice = answers(alike(0.001))[2]

    assert choice.finding == f"{finding} before you choose: {WOMEN} may lose 10.0 points."
    assert evidence in choice.evidence
    assert "If you choose now: Use GRR" in choice.evidence
    assert bool(choice.action) == action


def test_a_setting_with_which_nobody_can_lose_much_is_recommended():
    """The twin of the test above."""
    assert answers(alike(0.001))[2].finding.startswith("Use ")


def test_a_loss_that_is_clear_does_not_ask_for_more_repeats():
    """It is told as the cost; what to use is then the least costly."""
    assert "Run about" not in answers(costs(0.70, 0.81, noise=0.02))[2].finding


def test_groups_that_are_too_small_are_told_how_many_people_it_takes():
    study = with_people(alike(0.001), {WOMEN: 12.0, MEN: 12.0})

    assert "It takes about 5,000 people in all" in answers(study)[2].evidence


def test_a_small_loss_is_not_told_as_one_that_cannot_be_ruled_out():
    """A long interval on the side of gains is no risk."""
    found = answers(alike(0.03))[0].finding

    assert found == "Nobody clearly pays: no group's loss reaches 1.9 points."
