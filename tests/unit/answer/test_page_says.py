"""What a page must say, and must not say, of tables on which earlier pages misled."""

import math
import re

import numpy as np
import pytest

from evenhand.answer.compose import compose
from evenhand.answer.effects import EVERYBODY, Observation, Option
from evenhand.answer.limits import AskedLimits, Kept, find_nearest
from evenhand.answer.terminal import render_terminal
from unit.answer._cases import cases
from unit.answer._tables import (
    PAGE,
    PLAIN,
    exact,
    in_all,
    in_rows,
    make,
    measure,
    money,
    release,
    remedy,
    right,
    rows,
    runs,
    see,
)

CASES = cases()


def everything(view):
    """Return every sentence and detail of a view as one text."""
    parts = (view.who, view.how_much, view.what_to_do)
    texts = [view.verdict, view.heading, *(text for part in parts for text in (part.text, *part.details))]
    return " ".join(texts)


def test_people_who_are_no_longer_hired_come_before_accuracy():
    """If accuracy spoke, a group of whom two in three are no longer hired would lose 0.4 points."""
    view = compose(
        make(
            rows("selected", women=(53, 173), men=(610, 600)),
            rows("wrong", women=(304, 300), men=(340, 300)), in_all("wrong", 300, noise=320),
        )
    )  # fmt: skip

    assert view.verdict == "Women pay."
    assert "53 are hired instead of 173" in view.how_much.text
    assert not {"accuracy", "points", "wrong"} & set(everything(view).split())


def test_an_exact_count_of_two_people_is_told():
    """If sample size spoke, two people counted as nine would be too few to say."""
    view = compose(CASES["two people are counted as nine"])

    assert view.how_much.text == "2 Asian people are counted as 9.1."
    assert "small" not in everything(view)
    assert "few to judge" not in everything(view)


def test_a_payment_below_zero_stops_whatever_is_lost_on_average():
    """If averages spoke, a release that charges districts would be recommended because none loses."""
    billed = exact("billed", Ash_County=(12, 0, 40), Oak_County=(0, 0, 200))
    even = exact("short", Ash_County=(40_000, 40_000, 40), Oak_County=(200_000, 200_000, 200))
    view = compose(money(billed, even, entities=frozenset({"Ash County", "Oak County"})))

    assert (view.state, view.verdict) == ("stop", "Stop: somebody is charged instead of paid.")
    assert view.how_much.text == "Ash County is charged instead of paid in 12 of 100 releases."
    assert view.what_to_do.text == "Do not use this result."


def test_fewer_errors_in_all_do_not_make_up_for_more_refusals():
    """If wrong decisions were added up, one county's refusals could rise from 44 to 66 of 100."""
    view = compose(CASES["fewer wrong decisions, but more wrongly refused"])

    assert view.recommended == ""
    assert "Lower the threshold" not in everything(view)
    assert "Ash County is worse off by 22 of 100 releases" in view.remedies[1].price


def test_what_parity_costs_is_not_told_as_the_price_of_privacy():
    """If steps were added up, privacy would be said to cost 126 people of whom parity costs 111."""
    view = compose(CASES["privacy costs little, parity much"])

    assert "285 are hired instead of 300" in view.how_much.text
    assert "174" not in everything(view)
    assert view.recommended == ""


def test_one_even_rate_does_not_speak_for_another():
    """If it did, "nobody" would stand above a gap of 279 of 1,000."""
    groups = ("Black people", "white people")
    even = [in_rows(group, "selected", 300, 300, error=2) for group in groups]
    gap = [in_rows("Black people", "wrongly_selected", 412, 133, error=30)]
    gap += [in_rows("white people", "wrongly_selected", 133, 412, error=30)]
    view = compose(measure(*even, *gap, unwanted=True, called="stopped"))

    assert view.verdict == "Black people fare worse than others."
    assert view.how_much.text == (
        "Of 1,000 Black people who should not be stopped, 412 were; of 1,000 others 133."
    )


def test_a_remedy_for_another_gap_is_not_offered():
    """If it were, parity of selection would be advised where selection is equal already."""
    page = [see("women", "wrongly_selected", 90, 40), see("men", "wrongly_selected", 41, 40)]
    page += rows("selected", women=(205, 200), men=(200, 200))
    parity = [see("women", "wrongly_selected", 91, 40, option="parity")]
    parity += [see("men", "wrongly_selected", 41, 40, option="parity")]
    parity += rows("selected", option="parity", women=(200, 200), men=(200, 200))
    view = compose(make(page, parity, options=(remedy("parity"),), unwanted=True, called="stopped"))

    assert view.recommended == ""
    assert "arity" not in everything(view)
    assert view.remedies[1].tag == "no clear help"


def test_each_open_group_has_its_own_number_of_people():
    """If one number stood for all, two of three groups would be asked far too few."""
    groups = {"women": 9.0, "men": 20.0, "nonbinary people": 60.0}
    view = compose(
        measure(
            *(in_rows(group, "selected", 300, 302, error=error) for group, error in groups.items()),
        )
    )

    assert view.what_to_do.text == "To tell, about 76,000 nonbinary people are needed."
    assert view.what_to_do.details[:2] == ("Men: about 8,500 to tell.", "Women: about 1,700 to tell.")


def test_a_costly_epsilon_is_not_recommended_because_it_was_asked_for():
    """If it were, the page would advise a loss that a larger epsilon it has run does not have."""
    view = compose(CASES["a larger epsilon would spare everybody"])

    assert (view.recommended, view.verdict) == ("", "Women pay.")
    assert view.what_to_do.text == "Less privacy would help: at ε = 4 no loss matters."
    assert view.settling == {"--epsilon": "4"}


def test_repeats_on_one_side_get_no_interval_that_crosses_zero():
    """If they did, five losses in five repeats would be told as a possible gain."""
    view = compose(CASES["all repeats on one side"])

    assert view.how_much.text == "Each repeat has under 1 to 4 fewer hired, of 1,000 women."
    assert "gain" not in everything(view)
    assert not [line for line in view.who.details if line.startswith("Women") and "(" in line]


def few_repeats(women, men, effect="selected", **more):
    """Return the view of three repeats that give no limits, from changes of 500 of 1,000."""
    spread = {"spread": "none"}
    groups = {"women": women, "men": men}
    seen = [
        runs(group, effect, [500 + each for each in changes], 500, **spread)
        for group, changes in groups.items()
    ]
    return compose(make(*seen, **more))


def test_the_page_is_about_who_may_lose_and_not_about_the_largest_gain():
    """If size alone spoke, the group that gains most would be told under "a loss is possible"."""
    for more, sign in (({}, -1), ({"unwanted": True, "called": "flagged"}, 1)):
        lost, gained = [sign * each for each in (20, -5, 30)], [-sign * each for each in (110, 230, 390)]
        view = few_repeats(lost, gained, **more)

        assert view.verdict == "Cannot say yet: a loss is possible, and so is none."
        assert view.how_much.text == "For women the repeats are too few to give limits."


def rare_losses(repeats):
    """Return the view of repeats of which one in ten loses 2 of 1,000, and no other one anything."""
    spread = {"spread": "wrongly refused, change", "people": 2_000.0}
    values = [12.0 if place % 10 == 0 else 10.0 for place in range(repeats)]
    return compose(
        make(*(runs(group, "wrongly_refused", values, 10, **spread) for group in ("women", "men")))
    )


def test_repeats_without_limits_are_asked_for_until_they_settle():
    """If not, a page asks for ten more, then for twenty more, and is never done."""
    few = rare_losses(10)
    asked = int(few.settling["--repeats"])

    assert few.state == "unsure"
    assert few.how_much.text.endswith(" the repeats are too few to give limits.")
    assert few.what_to_do.text == f"Run about {asked - 10} more repeats."
    assert rare_losses(asked // 2).state == "unsure"  # the twin: half of them are not enough
    assert rare_losses(round(1.25 * asked)).state == "nobody"


def test_who_lost_in_every_repeat_comes_before_who_has_limits():
    """If limits came first, the page would tell of a group to which nothing happens."""
    women = runs("women", "selected", [480, 470, 475], 500, spread="none")
    view = compose(make(women, runs("men", "selected", [380, 620, 505], 500)))

    assert view.verdict == "Not certain yet: women lost in every repeat."
    assert view.how_much.text == "Each repeat has 20 to 30 fewer hired, of 1,000 women."
    assert view.what_to_do.text == "Run about 10 more repeats."
    assert view.settling == {"--repeats": str(10 + make(women).repeats)}


def test_fewer_flags_in_every_repeat_are_a_gain():
    """If they were not, a page would speak of a loss where every repeat spares the group."""
    view = few_repeats([-20, -5, -30], [-110, -230, -390], unwanted=True, called="flagged")

    assert view.verdict == "Not certain yet: women gained in every repeat."
    assert view.how_much.text == "Each repeat has 5 to 30 fewer flagged, of 1,000 women."
    assert "loss" not in everything(view)


def test_more_flags_in_every_repeat_are_a_loss():
    """If they were not, the page would tell nobody of a group that every repeat flags more often."""
    view = few_repeats([20, 5, 30], [-110, -230, -390], unwanted=True, called="flagged")

    assert view.verdict == "Not certain yet: women lost in every repeat."


def test_repeats_that_change_nothing_ask_for_people():
    """If they asked for repeats, nobody would ever be told: limits of no change go by people alone."""
    still = [500.0] * 10
    women, men = (runs(group, "selected", still, 500, people=77) for group in ("women", "men"))
    view = compose(make(women, men))

    assert view.what_to_do.text == "To tell, about 300 men are needed."


@pytest.mark.parametrize(
    ("repeats", "said"), [(2, "Run about 10 more repeats."), (10, "To tell, about 120,000 men are needed.")]
)
def test_few_repeats_do_not_tell_how_many_people_it_takes(repeats, said):
    """If they did, a file would be said to lack millions because it was run a few times."""
    women, men = (
        runs(group, "selected", ([300, 700] * repeats)[:repeats], 520, spread="wrongly refused, change")
        for group in ("women", "men")
    )
    view = compose(make(women, men))

    assert view.what_to_do.text == said
    assert view.settling.get("--repeats", "") == ("12" if repeats == 2 else "")


def test_a_tiny_part_of_the_budget_is_not_repaired():
    """If it were, shares would no longer add up, for 3 cents a child."""
    view = compose(CASES["a tiny part of the budget"])

    assert (view.state, view.verdict) == ("nobody", "Nobody pays more than $0.03 per child.")
    assert (view.what_to_do.text, view.remedies) == ("Go ahead as planned.", ())


# --- further ways to mislead ------------------------------------------------------------------------


def test_a_bound_is_never_rounded_down():
    """If it were, "nobody pays more than 3" would be said where 3.4 is possible."""
    view = compose(make(exact("selected", women=(169.6, 173, 500), men=(231, 231, 500))))

    assert view.verdict == "Nobody pays more than 4 of 1,000."


def test_a_loss_near_what_matters_takes_more_repeats_than_a_gain():
    """If both took the same, the repeats asked for would not settle the loss."""
    loss, gain = (
        compose(make(see("women", "selected", after, 173, wiggle=25), see("men", "selected", 231, 231)))
        for after in (169, 177)
    )
    repeats = [int(view.what_to_do.text.split()[2]) for view in (loss, gain)]

    assert all(view.what_to_do.text.startswith("Run about ") for view in (loss, gain))
    assert repeats[0] > 2 * repeats[1]


def test_a_small_group_forbids_to_say_that_nobody_else_pays():
    view = compose(CASES["one group is too small to judge"])

    assert view.who.text == "Women pay; 1 group is too small to judge."


def test_a_crossing_that_loses_is_not_said_to_stay_below_what_matters():
    view = compose(CASES["a crossing is like its margins"])

    assert "below" not in view.who.text


def test_a_remedy_that_needs_the_true_group_is_not_said_to_be_of_no_help():
    view = compose(CASES["a remedy needs the true group"])

    assert (view.verdict, view.recommended) == ("Women pay.", "")


def test_who_is_stopped_more_is_not_said_to_lack_anything():
    view = compose(CASES["people are stopped more often, and a remedy helps"])

    assert view.what_to_do.text.endswith("of 1,000 Black people, 220 are stopped instead of 200.")
    assert " lack" not in everything(view)


def test_the_harm_of_qualified_people_has_one_denominator():
    """If not, 221 of 1,000 in a sentence would be 66 of 1,000 below it."""
    view = compose(CASES["qualified people are refused, and a remedy helps"])

    assert [line.left for line in view.remedies] == ["221 of 1,000 qualified", "41 of 1,000 qualified"]
    assert "66" not in everything(view)


def test_a_group_that_lacks_nothing_has_no_limits_of_a_lack():
    view = compose(CASES["with the remedy the group lacks nothing"])

    assert (view.remedies[1].left, view.remedies[1].limits) == ("nothing", "")


def test_numbers_stand_where_they_say_on_the_axis():
    """If the axis had another unit than the numbers, 13 of 100 releases would be drawn at 130."""
    checked = set()
    for case in CASES.values():
        for panel in compose(case).panels:
            marks = [mark for line in panel.lines for mark in (line.after, line.remedy) if mark]
            pairs = [(mark.shown, mark.value) for mark in marks]
            for shown, value in (*pairs, *((line.due_shown, line.due) for line in panel.lines)):
                figures = re.sub(r"[^0-9.−]", "", shown).replace("−", "-")
                if re.fullmatch(r"-?[0-9.]+", figures) and not shown.startswith("under"):
                    assert abs(float(figures) - value) <= max(1.0, 0.01 * abs(value)), (
                        panel.effect,
                        shown,
                        value,
                    )
                    checked.add(panel.effect)

    assert {"selected", "refused", "counted", "short"} <= checked


def test_a_place_that_loses_less_is_not_said_to_stay_below_what_matters():
    """If groups alone were looked at, a page would deny the loss of every place but the worst."""
    places = exact("refused", Ash_County=(266, 0, 70_000), Oak_County=(13, 0, 50_000))
    groups = exact("refused", women=(1, 0, 900_000), men=(1, 0, 900_000))
    view = compose(right(places, groups, entities=frozenset({"Ash County", "Oak County"})))

    assert view.who.text == "Ash County pays; Oak County too, but less."
    assert [line.label for line in view.panels[0].lines][:2] == ["Ash County", "Oak County"]


def test_a_remedy_that_cannot_be_used_is_told_by_what_is_wrong_with_it():
    """If only groups were told, a remedy that charges people would stand beside "no new harm"."""
    paid = (40_000, 40_000, 40)
    charged = [see(EVERYBODY, "billed", 75, 0, option=option, basis="exact") for option in (PAGE, "cure")]
    billed = exact("billed", Ash_County=(38, 0, 40)), exact("billed", option="cure", Ash_County=(38, 0, 40))
    even = exact("short", Ash_County=paid), exact("short", option="cure", Ash_County=paid)
    case = money(*billed, *even, charged, options=(remedy(),), entities=frozenset({"Ash County"}))

    assert compose(case).remedies[1].price == "somebody is charged instead of paid in 75 of 100 releases"


def test_new_harm_to_the_group_that_pays_is_not_called_harm_to_another():
    """If it were, readers would look for a group that does not exist."""
    off = exact("off", women=(77, 0, 100), men=(8, 0, 960)), exact("off", option="cure", women=(55, 0, 100))
    more = exact("counted", women=(100, 100, 100)), exact("counted", option="cure", women=(122, 100, 100))
    view = compose(release(*off, *more, options=(remedy(),)))

    assert "does new harm" in " ".join(view.what_to_do.details)
    assert "another group" not in everything(view)


def test_percent_and_people_are_not_compared():
    """If they were, a verdict would call a remedy worse than noise that it makes four times better."""
    off = exact("off", women=(20, 0, 100), men=(1, 0, 960)), exact("off", option="cure", women=(5, 0, 100))
    more = exact("counted", women=(100, 100, 100)), exact("counted", option="cure", women=(9_000, 100, 100))
    view = compose(release(*off, *more, options=(remedy(),)))

    assert "more" not in view.verdict


def test_what_hurts_nobody_is_not_shaded_as_harmless_on_one_side():
    """If it were, the picture of a context would say that to be selected less does no harm."""
    groups = ("Black people", "white people")
    even = [in_rows(group, "selected", 300, 300, error=2) for group in groups]
    missed = [in_rows("Black people", "wrongly_refused", 412, 133, error=30)]
    missed += [in_rows("white people", "wrongly_refused", 133, 412, error=30)]
    view = compose(measure(*even, *missed, context=frozenset({"selected"})))

    assert [panel.is_more_harm for panel in view.panels if panel.effect == "selected"] == [None]


def test_no_more_people_gain_than_there_are():
    """If limits were not cut at what is possible, 1,526 of 1,000 could gain."""
    few = runs("women", "wrongly_refused", [20, 60, 230, 42], 119, people=172, due_rate=202, rate=149)
    view = compose(make([few], rows("selected", men=(600, 600))))

    assert max(int(n.replace(",", "")) for n in re.findall(r"[\d,]+\d|\d", view.how_much.text)) == 1000
    row = next(row for row in view.rows if row.group == "women")
    assert -119 <= row.low <= row.high <= 1000 * 119 / 202 - 119


def test_a_model_that_hardly_flags_anybody_is_not_simply_used():
    """If harm to the flagged alone counted, a model that misses 99 of 100 would be used as planned."""
    fewer = rows("selected", women=(10, 90), men=(5, 62))
    view = compose(make(fewer, in_all("in_all", 181, noise=16), unwanted=True, called="flagged"))

    assert view.state == "nobody"
    assert view.what_to_do.text == "Go ahead only if you accept that 91% fewer people are flagged."


def test_a_group_of_whom_too_few_were_tested_is_not_said_to_leave_too_few_others():
    """If it were, a page would deny thousands of people outside a group of forty."""
    few = see("women", "selected", 100, 120, people=40, tested=24)
    view = compose(make([few], rows("selected", men=(600, 600))))

    assert "Women: 24 people; 30 are needed to judge." in view.who.details
    assert "outside" not in everything(view)


def test_a_chance_under_one_of_100_has_no_change_of_one():
    """If it had, a line would say "under 1" and "+1" at once."""
    granted = exact("granted", women=(7, 0, 900_000), men=(2, 0, 900_000))
    view = compose(right(exact("refused", women=(30, 0, 900_000), men=(0, 0, 900_000)), granted))

    assert [line.after.change for line in view.panels[1].lines] == ["0", "0"]


def test_larger_errors_are_called_so():
    """If people were "worse off by 123%", nobody would know of what."""
    counted = exact("counted", women=(11, 5, 5)), exact("counted", option="cure", women=(5, 5, 5))
    off = exact("off", women=(300, 0, 5)), exact("off", option="cure", women=(423, 0, 5))
    view = compose(release(*counted, *off, options=(remedy(),)))

    assert view.remedies[1].price == "counts of women are off by 123% more"


def test_nothing_comes_nearest_where_no_harm_is_bounded():
    """If it did, the smallest epsilon would be offered because nothing is known of any."""
    unknown = Kept(remedy(), ("harm",), math.nan, 9.0, math.inf)
    known = unknown._replace(option=remedy("parity"), lack=3.0)

    assert find_nearest((unknown,), AskedLimits()) is None
    assert find_nearest((unknown, known), AskedLimits()) is known


def test_what_the_worst_off_lack_is_one_number():
    """If a table said 127 of 1,000 and the curve below it 128, a reader would trust neither."""
    other = Option("noise 4", PLAIN, epsilon=4.0, method="noise")
    seen = {PAGE: (45.6, 173.4), "noise 4": (168.5, 173.4), "cure": (102.6, 173.4)}
    cases = {
        "odd": make(
            *(rows("selected", option=name, women=pair, men=(231, 231)) for name, pair in seen.items()),
            options=(other, remedy(method="Optimal")),
        ),
        **CASES,
    }
    checked = set()
    for name, case in cases.items():
        view = compose(case)
        lines = [] if view.curve is None else [line for line in view.curve.lines if line.role == "page"]
        for line in lines if view.remedies else []:
            at = dict(zip(line.epsilons, line.shown, strict=True))
            told = view.remedies[0].left.split(" ")[0]
            assert at[view.curve.chosen] == told, name
            assert told in view.curve.alt
            assert re.search(rf"\b{told}\b", render_terminal(view).partition(view.epsilon_heading)[2])
            checked.add(name)
    assert "odd" in checked


def test_a_remedy_that_does_another_harm_is_not_said_to_leave_nothing():
    """If it were, "nothing" would stand beside larger errors of the same people."""
    hidden = exact("hidden", women=(40, 0, 100)), exact("hidden", option="cure", women=(0, 0, 100))
    off = exact("off", women=(10, 0, 100)), exact("off", option="cure", women=(30, 0, 100))
    view = compose(release(*hidden, *off, options=(remedy(),)))

    assert (view.remedies[1].left, view.remedies[1].tag) == ("none of it", "trade-off")
    assert view.remedies[1].price == "counts of women are off by 20% more"
    assert compose(CASES["with the remedy the group lacks nothing"]).remedies[1].left == "nothing"


def test_whole_people_have_no_digits():
    """If they had, "22.0 of 100 people" would pretend to tell tenths of a person."""
    hidden = exact("hidden", women=(40, 0, 100), men=(2.24, 0, 100))
    cured = exact("hidden", option="cure", women=(0, 0, 100), men=(24.0, 0, 100))
    texts = [compose(release(hidden, cured, options=(remedy(),))).remedies[1].price]
    views = [compose(case) for case in CASES.values()]
    texts += [remedy.price for view in views for remedy in view.remedies]
    lines = [line for view in views for panel in view.panels for line in panel.lines]
    texts += [text for line in lines for text in (line.due_shown, *line.after[4:])]

    assert texts[0] == "24 of 100 men are hidden"
    assert not [text for text in [*texts, *map(everything, views)] if re.search(r"\d[.,]0\b(?!\d)", text)]


def test_a_line_of_details_stands_once():
    """If two effects of a group are not stored, or open alike, one line tells it."""
    nothing = np.array([])
    unknown = [
        Observation(PAGE, "women", effect, nothing, nothing, 200.0)
        for effect in ("selected", "wrongly_refused")
    ]

    assert compose(make(unknown)).who.details == ("Women: not stored.",)
