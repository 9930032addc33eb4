"""Settings by a few words."""

from fractions import Fraction

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.plan.cells import Setting
from evenhand.study.results.lookup import setting_of
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import report_setting

SETTINGS = (
    Setting(),
    *CollectTask(
        ["grr", "olh", {"name": "olh", "as_printed": True}],
        ["1/3", "1/2", 1],
        splits=["uniform", "k-based"],
        strategies=["independent", "combined"],
    ).settings(),
)


def found(given):
    return setting_of(given, SETTINGS, owner="compare", parameter="a")


@pytest.mark.parametrize("setting", [each for each in SETTINGS if "as_printed" not in each.options], ids=str)
def test_what_is_shown_can_be_typed(setting):
    """A person copies the words of a table into compare()."""
    assert found(str(setting)) == setting
    assert found(setting) == setting


def made(protocol, epsilon, split="uniform", strategy="independent", **parameters):
    return report_setting(protocol, Fraction(epsilon), split, strategy, parameters)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("unprotected", Setting()),
        ("NONE", Setting()),
        ({"mechanism": "none"}, Setting()),
        ({"epsilon": None}, Setting()),
        ("grr uniform 1", made("grr", 1)),
        ("1/3, K-based, GRR", made("grr", "1/3", "k-based")),
        ("grr split=uniform eps = .5", made("grr", "1/2")),
        ("grr combined epsilon=0.5", made("grr", "1/2", "none", "combined")),
        (
            {"mechanism": "GRR", "strategy": "combined", "epsilon": 0.5},
            made("grr", "1/2", "none", "combined"),
        ),
        ({"mechanism": "grr", "split": "uniform", "epsilon": float(Fraction("1/3"))}, made("grr", "1/3")),
        ("olh uniform 1", made("olh", 1)),
        ("olh as_printed uniform 1", made("olh", 1, as_printed=True)),
        ("olh as_printed=true uniform 1", made("olh", 1, as_printed=True)),
        (
            {"mechanism": "olh", "split": "uniform", "epsilon": "1/2", "as_printed": True},
            made("olh", "1/2", as_printed=True),
        ),
    ],
)
def test_a_few_words_are_enough(given, expected):
    assert found(given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("grr", "one setting, not several.*these fit: 'GRR"),
        ("as_printed", "one setting, not several"),
        ("", "a setting of the study"),
        ("grr uniform 2", "a setting of the study.*there are: 'unprotected'"),
        ("grr uniform high", "a setting of the study"),
        ("grr colour=red", "a setting of the study"),
        ({"mechanism": "grr", "epsilon": "much"}, "a setting of the study"),
        ({"mechanism": 5}, "a setting of the study"),
        ({"as_printed": "never"}, "a setting of the study"),
        ({"protocols": "grr"}, "a mapping with keys of mechanism, epsilon"),
        (report_setting("grr", Fraction(9), "uniform", "independent"), "a setting of the study"),
        (3, "a Setting, a mapping of some of its fields, or words"),
    ],
)
def test_what_fits_none_or_several_is_refused_with_what_there_is(given, message):
    """Taking the first that fits would compare something else than was meant."""
    with pytest.raises(InvalidParameterError, match=rf"'a' parameter of compare must be ({message})"):
        found(given)


def test_a_long_list_of_settings_is_cut():
    with pytest.raises(InvalidParameterError, match=r"; \d+ more\.$"):
        found("oue")
