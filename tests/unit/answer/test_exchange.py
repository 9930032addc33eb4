"""An answer as JSON."""

import json
import math

from evenhand.answer.status import EFFECT_COLUMNS
from evenhand.answer.view import to_json
from unit.answer._terminal_views import NAN, ROW, line, mark, panel, view


def test_an_answer_comes_back_from_json_as_it_was():
    """If not, a program would not read the numbers that a person sees."""
    answer = to_json(view())

    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    assert answer["sentences"]["who"]["details"] == ["Men: 7 fewer."]
    assert answer["panels"][0]["lines"][0]["after"]["value"] == 52
    assert [row["tag"] for row in answer["remedies"]][2] == "recommended"
    assert (answer["state"], answer["recommended"]) == ("pays", "Optimal")


def test_every_column_of_the_rows_is_told_and_what_is_no_number_is_null():
    """If NaN were written, strict readers of JSON would refuse the whole object."""
    (row,) = to_json(view())["effects"]

    assert tuple(row) == EFFECT_COLUMNS
    for name, value in row.items():
        written = getattr(ROW, name)
        assert value is None if isinstance(written, float) and math.isnan(written) else value == written


def test_limits_that_are_not_there_are_null_in_pictures_too():
    """If not, one group without an interval would make the answer unreadable."""
    made = view(
        panels=(panel(line("a", NAN, mark(NAN, NAN, shown="-", change="-"))),), curve=None, promise=None
    )

    answer = to_json(made)
    json.dumps(answer, allow_nan=False)
    assert answer["panels"][0]["lines"][0]["due"] is None
    assert (answer["curve"], answer["promise"]) == (None, None)
