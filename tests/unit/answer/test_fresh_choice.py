"""A remedy is judged by fresh repeats where it was run in such."""

from dataclasses import replace

import pytest

from evenhand.answer.choice import choose_remedy
from evenhand.answer.compose import compose
from evenhand.answer.harm import find_payers
from unit.answer._tables import make, qualified, remedy, see


def _table(*seen, **more):
    return make(*seen, **more).table


def _confirmed(first, again, *, other=300):
    tables = [
        _table(
            see("a", "selected", 200, 300), see("b", "selected", 300, 300),
            see("a", "selected", cure, 300, option="cure"), see("b", "selected", side, 300, option="cure"),
            options=(remedy(),),
        )
        for cure, side in ((first, 300), (again, other))
    ]  # fmt: skip
    made = replace(tables[0], fresh=tables[1])
    return choose_remedy(made, find_payers(made))


def test_what_is_recommended_has_the_figures_of_fresh_repeats():
    """The best of many looks better than it is: on its own repeats its figures are too good."""
    choice = _confirmed(290, 250)

    assert choice.again == "cure"
    assert choice.first.relief.mean == pytest.approx(50)
    assert not choice.misled


@pytest.mark.parametrize(
    ("again", "other", "tag"),
    [(201, 300, "no clear help"), (290, 270, "trade-off"), (180, 300, "no clear help")],
)
def test_a_remedy_that_fails_on_fresh_repeats_is_not_recommended(again, other, tag):
    """Whoever follows a first look that misled harms people for nothing."""
    choice = _confirmed(290, again, other=other)

    assert choice.first is None
    assert choice.misled
    assert [trial.tag for trial in choice.trials] == [tag]


def test_what_passed_at_first_and_was_not_run_again_is_not_called_recommended():
    """If it were, the list of remedies would recommend what the sentence above it does not."""
    names = {"cure": (300, 201), "second": (280, None)}
    first, fresh = (
        _table(
            see("a", "selected", 200, 300),
            *(see("a", "selected", each[at], 300, option=name) for name, each in names.items() if each[at]),
            options=tuple(map(remedy, names)),
        )
        for at in (0, 1)
    )
    choice = choose_remedy(replace(first, fresh=fresh), find_payers(first))

    assert (choice.first, choice.misled) == (None, True)
    assert [trial.tag for trial in choice.trials] == ["no clear help", "not confirmed"]
    assert [trial.tag for trial in choose_remedy(first, find_payers(first)).trials] == ["recommended"] * 2


def test_the_figures_of_fresh_repeats_start_from_what_was_due_at_first():
    """If not, a table would go from 173 to 125 and call that 45 fewer."""
    case = make(
        see("women", "selected", 52, 173), see("women", "selected", 139, 173, option="cure"),
        qualified("women", 640, 360, base=300), qualified("women", 400, 360, base=300, option="cure"),
        fresh=(
            see("women", "selected", 50, 170), see("women", "selected", 125, 170, option="cure"),
            qualified("women", 650, 380, base=310), qualified("women", 440, 380, base=310, option="cure"),
        ),
        options=(remedy(),),
    )  # fmt: skip
    view = compose(case)
    rows = {row.effect: row for row in view.rows if row.setting == "cure"}
    selected = view.panels[0].lines[0]

    numbers = ("due", "before", "after", "change")
    assert [getattr(rows["selected"], name) for name in numbers] == pytest.approx([173, 53, 128, 75])
    assert rows["wrongly_refused"].rate - 360 == pytest.approx(60 * 310 / 300)
    assert (selected.due_shown, selected.remedy.shown, selected.remedy.change) == ("173", "128", "−45")


def test_a_trade_off_stays_one_whatever_fresh_repeats_say():
    """It harmed somebody at first: to pass once of twice is no proof that it harms nobody."""
    tables = [
        _table(
            see("a", "selected", 200, 300), see("b", "selected", 300, 300),
            see("a", "selected", 290, 300, option="cure"), see("b", "selected", side, 300, option="cure"),
            options=(remedy(),),
        )
        for side in (270, 300)
    ]  # fmt: skip
    made = replace(tables[0], fresh=tables[1])
    choice = choose_remedy(made, find_payers(made))

    assert (choice.first, choice.again, choice.misled) == (None, "", False)
    assert choice.find_least("trade-off") is not None


def test_repeats_in_which_the_remedy_was_not_run_confirm_nothing():
    first = _table(
        see("a", "selected", 200, 300), see("a", "selected", 290, 300, option="cure"), options=(remedy(),)
    )
    made = replace(first, fresh=_table(see("a", "selected", 200, 300), options=(remedy(),)))

    assert choose_remedy(made, find_payers(made)).again == ""
