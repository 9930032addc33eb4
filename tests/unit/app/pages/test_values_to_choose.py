"""The schema page: values are chosen from a list where it is short, and written where they may be amounts."""

import pytest

from evenhand.app.pages.schema import _choose_or_write


def draw(choices, value=""):
    return str(_choose_or_write("positive", value, choices, do="schema.value"))


@pytest.mark.parametrize(
    ("choices", "value"),
    [(("0", "1"), ""), (("0", "1"), "1"), (("no", "yes"), "yes"), (tuple("abcdefghijkl"), "")],
)
def test_a_short_list_is_chosen_from(choices, value):
    """Nobody should have to guess how a value is written in the file."""
    drawn = draw(choices, value)

    assert drawn.startswith("<select")
    assert all(f'<option value="{choice}"' in drawn for choice in choices)


@pytest.mark.parametrize(
    ("choices", "value"),
    [
        ((), ""),
        (("1",), ""),
        (("1", "2", "3"), ""),
        (("[35, 40)", "[40, 45)", "[45, 50]"), ""),
        (("no", "yes"), "other"),
        (tuple("abcdefghijklm"), ""),
    ],
)
def test_amounts_long_lists_and_other_values_are_written(choices, value):
    """Of numbers somebody may want all from one on, such as 50000 or more."""
    assert draw(choices, value).startswith("<input")
