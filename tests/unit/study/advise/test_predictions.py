"""Predictions follow the claims, turn round with the data, and are not made where intervals do not decide."""

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.advise.predictions import NO_GAP, STRONG, UNSURE, WEAK, predict
from evenhand.study.profile.dependence import Dependence
from unit.study._advice_cases import bounded, made_profile


def expected(profile):
    """Return what is expected, by what it is about."""
    return {each.about: each.expects for each in predict(profile)}


def test_everything_is_predicted_where_the_evidence_decides():
    """The whole table of claims, on people with mostly positive labels and dependent columns."""
    found = expected(made_profile())

    assert found == {
        "gap": "narrower",
        "reports": "no wider",
        "accuracy": "behind",
        "rates": "behind",
        "several": "several",
        "combined": "combined",
        "small-epsilon": "alike",
    }


def test_the_group_that_moves_turns_round_when_labels_are_mirrored():
    """Recommendation D: with mostly positive labels the group with fewer of them, else the one ahead."""
    mostly = {each.about: each for each in predict(made_profile(men=0.9, women=0.7, share=0.8))}
    seldom = {each.about: each for each in predict(made_profile(men=0.3, women=0.1, share=0.2))}

    for about in ("accuracy", "rates"):
        assert (mostly[about].expects, seldom[about].expects) == ("behind", "ahead")
        assert mostly[about].groups == seldom[about].groups == ("men", "women")
    assert mostly["accuracy"].sentence.startswith("The group women is expected to lose more accuracy")
    assert seldom["accuracy"].sentence.startswith("The group men is expected to lose more accuracy")
    assert "which should rise" in mostly["rates"].sentence
    assert "which should fall" in seldom["rates"].sentence


def test_the_group_ahead_is_read_from_labels_and_not_from_the_schema():
    """The claim is about the group with the most positive labels; a schema may name the other privileged."""
    turned = {each.about: each for each in predict(made_profile(men=0.7, women=0.9))}

    assert turned["rates"].groups == ("women", "men")
    assert turned["rates"].sentence.startswith("The gap is expected to move mostly by the selection rate of")
    assert (
        "The schema calls the group men privileged, though the group women has more"
        in turned["rates"].evidence
    )
    assert "though" not in predict(made_profile())[3].evidence


@pytest.mark.parametrize("share", [0.46, 0.5, 0.545])
def test_balanced_labels_decide_nothing_about_groups(share):
    """A guess here would be a coin."""
    found = {each.about: each for each in predict(made_profile(share=share))}

    assert found["accuracy"].expects == found["rates"].expects == UNSURE
    assert "about as frequent" in found["rates"].sentence


def test_groups_whose_order_is_not_clear_decide_nothing():
    """Without knowing who is ahead nobody can be said to move."""
    found = {each.about: each for each in predict(made_profile(men=0.81, women=0.80, reach=0.03))}

    assert found["accuracy"].expects == UNSURE
    assert "not clear which group" in found["accuracy"].sentence


@pytest.mark.parametrize(
    ("women", "reach", "expects"),
    [(0.895, 0.005, "wider"), (0.7, 0.01, "narrower"), (0.89, 0.02, UNSURE), (0.865, 0.01, UNSURE)],
)
def test_a_gap_is_created_only_where_the_whole_interval_says_there_is_none(women, reach, expects):
    """Obs8 asks for a fair baseline; a gap that merely looks small is not one."""
    made = made_profile(men=0.9, women=women, reach=reach)

    assert expected(made)["gap"] == expects
    assert (made.gap.high <= NO_GAP) == (expects == "wider")
    assert expected(made)["several"] == ("several" if expects == "narrower" else UNSURE)


@pytest.mark.parametrize(
    ("strongest", "expects"), [(0.5, "combined"), (0.1, "independent"), (0.3, UNSURE), (0.345, UNSURE)]
)
def test_combined_or_independent_turns_with_dependence(strongest, expects):
    """Recommendation C, only where the interval is on one side."""
    found = {each.about: each for each in predict(made_profile(strongest=strongest))}

    assert found["combined"].expects == expects
    assert found["combined"].sentence.startswith("At a large epsilon, 4 or more,")
    assert WEAK < STRONG


def test_unknown_dependence_decides_nothing():
    """A profile from results alone does not know it."""
    made = made_profile()
    unknown = type(made)(**{**vars(made), "among_sensitive": (), "has_rows": False})
    undefined = type(made)(
        **{**vars(made), "among_sensitive": (Dependence("sex", "age", bounded(float("nan"))),)}
    )

    assert expected(unknown)["combined"] == expected(undefined)["combined"] == UNSURE


def test_one_sensitive_column_has_nothing_to_combine():
    """No prediction about several columns where there is one."""
    assert set(expected(made_profile(columns=1))) == {"gap", "reports", "accuracy", "rates"}


def test_each_prediction_says_what_why_and_whose_claim_it_is():
    """A reader must be able to look it up."""
    for each in predict(made_profile()):
        text = str(each)

        assert each.sentence.endswith(".")
        assert each.evidence in text
        assert each.is_sure
        assert f"[{each.source}]" in text
        assert "makhlouf2024" in each.source or each.about == "reports"


def test_short_labels_are_named_with_their_column():
    """'The group 1' would say nothing."""
    made = made_profile()
    groups = tuple(type(each)(str(i), each.people, each.positive) for i, each in enumerate(made.groups))
    renamed = type(made)(**{**vars(made), "groups": groups})

    assert "The group sex = 0 is expected" in predict(renamed)[2].sentence


def test_only_a_profile_is_taken():
    """Results are a likely slip."""
    with pytest.raises(InvalidParameterError, match="'profile' parameter of predict must be a Profile"):
        predict({"gap": 0.1})
