"""Two settings, pair by pair."""

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure.repeat_means import NO_INTERVAL
from unit._study_results import NOTHING, grr, study
from unit.study._decide_studies import money

VALUES = {
    NOTHING: {"acc": [0.80, 0.90, 0.70], "sp_gap": [0.10, 0.12, 0.11]},
    grr(1): {"acc": [0.788, 0.8885, 0.6881], "sp_gap": [0.11, 0.10, 0.1201]},
    grr(2): {"acc": [0.795, 0.9, None], "sp_gap": [0.11, 0.10, None]},
    grr(4): {"acc": [0.795, None, None], "sp_gap": [0.11, None, None]},
    grr(8): {"acc": [None, None, None], "sp_gap": [None, None, None]},
}


@pytest.fixture(name="results", scope="module")
def _results():
    return study(VALUES)


def test_a_clear_difference_is_said_with_its_way_and_interval(results):
    found = results.compare("grr 1", NOTHING, measure="accuracy")

    assert found.measure == "acc"
    assert found.pairs == 3
    assert found.is_clear
    assert found.low < found.difference < found.high < 0
    assert str(found) == (
        "The accuracy is lower with GRR, uniform split, ε = 1 than with unprotected, by 0.0118 "
        "(95 % interval 0.0086 to 0.0123, 3 paired repeats, seeds): the interval excludes no difference."
    )
    assert "is higher with unprotected" in results.compare(NOTHING, "grr 1", measure="acc").sentence


def test_what_may_be_chance_is_not_called_a_difference(results):
    """A report that names a winner within its interval misleads."""
    found = results.compare("grr 1")

    assert not found.is_clear
    assert "does not differ clearly" in found.sentence
    assert found.sentence.endswith("the interval includes no difference.")


def test_the_words_say_how_many_pairs_there_are(results):
    assert "2 paired repeats" in results.compare("grr 2", measure="acc").sentence
    assert "1 paired repeat;" in results.compare("grr 4").sentence


def test_a_single_pair_has_no_interval(results):
    found = results.compare({"epsilon": 4})

    assert (found.low, found.high) == (None, None)
    assert not found.is_clear
    assert "may be chance" in found.sentence


def test_what_was_computed_once_is_not_called_chance():
    """A study of decisions has one repeat, since its numbers are computed and not drawn."""
    results = money()
    found = results.compare(results.settings[1], results.settings[2], measure="moved")
    [note] = set(results.summary(["moved"], shape="long", backend="pyarrow")["note"].to_pylist())

    assert note == "It was computed once and nothing was repeated: no interval."
    assert found.sentence.endswith(f"differs by +0.0000. {note}")


def test_a_ratio_is_compared_without_an_interval_and_says_why():
    results = study({NOTHING: {"di": [0.5, 0.6, 0.4]}, grr(1): {"di": [0.7, 0.9, 1.4]}})
    found = results.compare("grr 1", measure="di")

    assert not found.is_clear
    assert found.sentence.endswith(f"in 3 paired repeats, which may be chance. {NO_INTERVAL}")


def test_without_a_pair_there_is_no_comparison(results):
    found = results.compare("grr 8")

    assert found.pairs == 0
    assert "cannot be compared" in found.sentence


def test_a_setting_does_not_differ_from_itself(results):
    found = results.compare(NOTHING, NOTHING)

    assert (found.difference, found.low, found.high) == (0, 0, 0)
    assert not found.is_clear


def test_the_faulty_side_is_named(results):
    with pytest.raises(InvalidParameterError, match="'b' parameter of compare"):
        results.compare("grr 1", "oue 1")
    with pytest.raises(InvalidParameterError, match="'measure' parameter of compare"):
        results.compare("grr 1", measure="loss")
