"""Options are checked before any file is touched."""

import numpy as np
import pytest

from evenhand.datasets.entry import Option, choose_options
from evenhand.errors import InvalidParameterError, UnknownNameError

VERSION = Option(name="version", default="old", choices=("old", "new"), meaning="Which one.")
YEAR = Option(
    name="year", default=2019, low=2015, high=2020, meaning="Which year.", only_with=("version", ("new",))
)
SHARE = Option(name="share", default=0.5, choices=(0.25, 0.5), meaning="How much.")
GROUP = Option(name="group", default=1, choices=(1, 0), meaning="Which group.")
FLAG = Option(name="flag", default=False, choices=(False, True), meaning="Whether.")


def test_defaults_fill_in_what_applies():
    assert choose_options("example", (VERSION, YEAR), {}) == {"version": "old"}
    assert choose_options("example", (VERSION, YEAR), {"version": "new"}) == {"version": "new", "year": 2019}


def test_a_whole_number_of_any_library_is_taken():
    chosen = choose_options("example", (VERSION, YEAR), {"version": "new", "year": np.int64(2016)})

    assert chosen["year"] == 2016
    assert type(chosen["year"]) is int


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        (GROUP, np.int64(0), 0),
        (GROUP, np.uint8(1), 1),
        (SHARE, np.float64(0.25), 0.25),
        (SHARE, np.float32(0.25), 0.25),
        (FLAG, np.bool_(1), True),
        (VERSION, np.str_("new"), "new"),
    ],
)
def test_a_choice_may_be_a_scalar_of_numpy(option, value, expected):
    """A loop over an array of thresholds hands out such scalars."""
    chosen = choose_options("example", (option,), {option.name: value})[option.name]

    assert chosen == expected
    assert type(chosen) is type(expected)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (GROUP, True),
        (GROUP, np.bool_(1)),
        (GROUP, "1"),
        (GROUP, np.str_("1")),
        (GROUP, 1.0),
        (GROUP, np.float64(1)),
        (GROUP, np.int64(2)),
        (GROUP, np.array([1])),
        (FLAG, np.int64(1)),
        (SHARE, "0.5"),
    ],
)
def test_a_value_of_another_kind_is_no_choice(option, value):
    with pytest.raises(InvalidParameterError):
        choose_options("example", (option,), {option.name: value})


def test_an_unknown_option_gets_a_guess():
    with pytest.raises(UnknownNameError) as caught:
        choose_options("example", (VERSION, YEAR), {"versoin": "new"})

    assert str(caught.value) == (
        "Option 'versoin' is not known to data set 'example'. Hint: did you mean 'version'? "
        "There are: version, year."
    )


@pytest.mark.parametrize("value", ["newer", None, 1, ["new"], b"new"])
def test_a_choice_must_be_one_of_the_choices(value):
    with pytest.raises(InvalidParameterError) as caught:
        choose_options("example", (VERSION,), {"version": value})

    assert "The 'version' parameter of load('example') must be one of 'old', 'new'. Got" in str(caught.value)


@pytest.mark.parametrize("value", [0, 1, "True", None])
def test_a_truth_value_is_not_a_number(value):
    """If 1 passed for True, 0.5 or "yes" would be next."""
    with pytest.raises(InvalidParameterError):
        choose_options("example", (FLAG,), {"flag": value})


@pytest.mark.parametrize("value", [2014, 2021, 2016.5, True, np.bool_(1), np.float64(2016), "2016", None])
def test_a_whole_number_must_lie_between_its_ends(value):
    with pytest.raises(InvalidParameterError):
        choose_options("example", (VERSION, YEAR), {"version": "new", "year": value})


def test_an_option_that_does_not_apply_is_refused_not_ignored():
    """Somebody who asks for a year must not get a table of another one."""
    with pytest.raises(InvalidParameterError) as caught:
        choose_options("example", (VERSION, YEAR), {"year": 2016})

    assert "must be left out when version = 'old'" in str(caught.value)


def test_an_option_reads_as_one_line():
    assert str(YEAR) == "year = 2019 (2015 to 2020): Which year. Only with version = 'new'."
    assert str(FLAG) == "flag = False (False | True): Whether."
