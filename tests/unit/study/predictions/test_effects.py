"""The table of effects of somebody's own predictions."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from evenhand.answer.choice import choose_remedy
from evenhand.answer.effects import EVERYBODY
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from evenhand.errors import InvalidParameterError
from evenhand.study.predictions.audit import PredictionAudit
from evenhand.study.predictions.columns import read_predictions
from evenhand.study.predictions.effects import ALL, DECISIONS, LACKING, effects
from unit.study.predictions._cases import HIDDEN, SHOWN, audit, crossed_people, people

WRONG = {
    "wrongly_refused": (lambda rows: rows.truth == 1, lambda rows: rows.predicted == 0),
    "wrongly_selected": (lambda rows: rows.truth == 0, lambda rows: rows.predicted == 1),
    "wrong": (lambda rows: rows.truth >= 0, lambda rows: rows.truth != rows.predicted),
    "selected": (lambda rows: rows.truth >= 0, lambda rows: rows.predicted == 1),
}


def rows_of(made, option=DECISIONS):
    """Return the rows of an option by group and effect."""
    return {(row.group, row.effect): row for row in judge(made) if row.setting == option}


def payers(made):
    """Return the groups that are named."""
    return [payer.row.group for payer in find_payers(made).payers]


def draw(seed, n=900, groups=("a", "b", "c"), *, gap=0.8, base=0.5):
    """Return outcomes, decisions, groups and scores of people; the scores of the last group are too low."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, size=n)
    truth = (rng.random(n) < base).astype(int)
    scores = rng.normal(1.5 * truth - gap * (group == groups[-1]), 1)
    return truth, (scores > 0.75).astype(int), list(group), scores


def rate(frame, effect):
    """Return successes and trials of an effect."""
    reached, hit = WRONG[effect]
    return int((reached(frame) & hit(frame)).sum()), int(reached(frame).sum())


# --- the numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", list(WRONG))
def test_a_group_is_compared_with_everybody_outside_it(effect):
    """If it were compared with all, or with the best group alone, its own people would hide its lack."""
    truth, predicted, group, _ = draw(1)
    frame = pd.DataFrame({"truth": truth, "predicted": predicted, "group": group})
    found = rows_of(effects(audit(truth, predicted, group)))

    for name in "abc":
        (x, n), (y, m) = (
            rate(part, effect) for part in (frame[frame.group == name], frame[frame.group != name])
        )
        row = found[name, effect]
        assert (row.after, row.due, row.before) == pytest.approx((1000 * x / n, 1000 * y / m, 1000 * y / m))
        assert (row.people, row.basis) == (n, f"rows ({n})")
        assert (row.rate, row.due_rate) == (row.after, row.due)
        level = 1 - 0.05 / 3  # three looks: groups, by the one effect that hurts
        own, other = (
            binomtest(hits, of).proportion_ci(level, method="exact") for hits, of in ((x, n), (y, m))
        )
        change = x / n - y / m
        low = change - math.hypot(x / n - own.low, other.high - y / m)
        high = change + math.hypot(own.high - x / n, y / m - other.low)
        assert (row.low, row.high) == pytest.approx((1000 * low, 1000 * high))


def test_weights_count_people_as_often_as_they_stand_for_and_no_more_surely():
    """If a weight of 50 were 50 people, a survey of 60 would be as sure as a census."""
    _, predicted, group, _ = draw(2, n=300)
    weights = np.where(np.arange(300) % 3 == 0, 50.0, 1.0)
    frame = pd.DataFrame({"p": predicted, "w": weights, "g": group})
    plain, weighted = (
        rows_of(effects(audit(None, predicted, group, weights=each)))["a", "selected"]
        for each in (None, weights)
    )

    own, others = frame[frame.g == "a"], frame[frame.g != "a"]
    expected = [1000 * np.average(part.p, weights=part.w) for part in (own, others)]
    assert [weighted.after, weighted.due] == pytest.approx(expected)
    assert weighted.high - weighted.low > plain.high - plain.low
    assert weighted.people == len(own)


def test_a_weight_that_all_share_changes_nothing():
    truth, predicted, group, _ = draw(3)
    plain, doubled = (
        rows_of(effects(audit(truth, predicted, group, weights=each)))["c", "wrongly_refused"]
        for each in (None, np.full(len(truth), 2.0))
    )

    assert (doubled.change, doubled.low, doubled.high) == pytest.approx((plain.change, plain.low, plain.high))


def test_those_who_do_not_state_their_group_are_outside_no_group():
    """They may be of the group itself."""
    truth, predicted, group, _ = draw(4)
    silent = [None if place % 7 == 0 else name for place, name in enumerate(group)]
    kept = [place for place, name in enumerate(silent) if name]
    whole = effects(audit(truth, predicted, silent))
    stated = effects(audit(truth[kept], predicted[kept], [group[place] for place in kept]))

    groups = [(row.group, row.change, row.low) for row in judge(whole) if row.group]
    assert groups == [(row.group, row.change, row.low) for row in judge(stated) if row.group]
    assert whole.by_key[DECISIONS, EVERYBODY, "in_all"].after[0] == predicted.sum()


# --- who is harmed --------------------------------------------------------------------------------


def test_more_of_the_qualified_refused_is_the_harm_and_fewer_selected_is_context():
    """Where fewer of a group qualify, fewer are selected by decisions that treat all alike."""
    alike = audit(*people(men=(160, 40, 20, 180), women=(80, 20, 30, 270)))
    found = rows_of(effects(alike))

    assert (found["women", "selected"].harm, found["women", "selected"].status) == ("", "clear")
    assert found["women", "wrongly_refused"].change == 0
    assert payers(effects(alike)) == []
    assert payers(effects(audit(*people()))) == ["women"]


def test_unwanted_decisions_harm_those_who_are_selected_wrongly():
    made = effects(audit(*people(), unwanted=True))

    assert payers(made) == ["men"]
    assert {row.effect: row.harm for row in judge(made) if row.group == "men"} == {
        "wrongly_refused": "cost", "wrongly_selected": "more", "wrong": "cost", "selected": "",
    }  # fmt: skip


def test_without_outcomes_to_be_selected_less_is_the_harm_and_more_where_it_is_unwanted():
    _, predicted, group = people()

    assert payers(effects(audit(None, predicted, group))) == ["women"]
    assert payers(effects(audit(None, predicted, group, unwanted=True))) == ["men"]
    assert {row.effect for row in judge(effects(audit(None, predicted, group))) if row.group} == {"selected"}


def test_a_crossing_is_named_only_if_it_is_worse_than_its_margins():
    """If not, both halves of a group that pays as a whole would be blamed on their crossing."""
    hidden, shown = (effects(audit(*crossed_people(rates))) for rates in (HIDDEN, SHOWN))

    assert set(payers(hidden)) == {"men, black", "women, white"}
    assert payers(shown) == ["sex = women"]
    assert hidden.margins["men, black"] == ("sex = men", "race = black")


def test_pooled_groups_stay_in_their_margins():
    _, predicted, groups = crossed_people(HIDDEN)
    groups = {name: list(values) for name, values in groups.items()}
    groups["race"][:150] = ["rare"] * 150
    made = effects(audit(None, predicted, groups, pool_below=180))

    women = np.array(groups["sex"]) == "women"
    row = rows_of(made)["sex = women", "selected"]
    assert (row.people, row.after) == (women.sum(), pytest.approx(1000 * predicted[women].mean()))
    assert "other groups" not in made.margins


def test_too_few_people_are_named_and_not_judged():
    """If they were judged, three people would speak for a group; if left out, nobody would see them."""
    few = audit(*people(women=(5, 24, 100, 100)))
    row = rows_of(effects(few))["women", "wrongly_refused"]

    assert (row.status, row.people) == ("unjudged", 29)
    assert rows_of(effects(few))["men", "wrongly_refused"].status == "unjudged"
    assert [each.group for each in find_payers(effects(few)).unjudged] == ["men", "women"]
    enough = audit(*people(women=(5, 25, 100, 100)))
    assert rows_of(effects(enough))["women", "wrongly_refused"].status == "clear"
    assert rows_of(effects(audit(*people(), fewest=201)))["women", "wrongly_refused"].status == "unjudged"


def test_what_matters_can_be_said():
    made = people(men=(160, 40, 60, 140), women=(120, 80, 60, 140))

    assert payers(effects(audit(*made))) == ["women"]
    assert payers(effects(audit(*made, matters=("300",)))) == []
    assert payers(effects(audit(*made, matters=("wrong=300",)))) == ["women"]


# --- useless predictions --------------------------------------------------------------------------


def test_decisions_that_are_the_same_for_all_stop():
    truth, predicted, group = people()

    for same in (np.zeros_like(predicted), np.ones_like(predicted)):
        assert find_payers(effects(audit(truth, same, group))).trouble == ("dead",)
        assert find_payers(effects(audit(None, same, group))).trouble == ("dead",)


def test_almost_the_same_for_all_stops_only_where_people_are_not_told_apart():
    """A rare disease found in the few who have it is no useless answer; without outcomes nobody knows."""
    truth, predicted, group = np.repeat([0, 1], [1990, 10]), np.zeros(2000, int), ["a", "b"] * 1000
    found, blind = predicted.copy(), predicted.copy()
    found[-10:], blind[:10] = 1, 1

    assert find_payers(effects(audit(truth, found, group))).trouble == ()
    assert find_payers(effects(audit(truth, blind, group))).trouble == ("dead",)
    assert find_payers(effects(audit(None, blind, group))).trouble == ()
    scores = truth + np.linspace(0, 0.1, 2000)
    assert find_payers(effects(audit(truth, blind, group, scores=scores))).trouble == ()


# --- cut-offs -------------------------------------------------------------------------------------


def test_cut_offs_even_out_the_harm_that_was_found():
    truth, predicted, group, scores = draw(5, n=6_000)
    made = effects(audit(truth, predicted, group, scores=scores))

    before, lacking, every = (
        rows_of(made, option)["c", "wrongly_refused"] for option in (DECISIONS, LACKING, ALL)
    )
    assert before.change > 100
    assert abs(lacking.after - lacking.due) < 30
    assert abs(every.after - rows_of(made, ALL)["a", "wrongly_refused"].after) < 50
    assert rows_of(made, LACKING)["a", "wrongly_refused"].change == 0


def test_what_cut_offs_take_from_a_group_is_a_price():
    """If not, refusing as many qualified men as women would be recommended."""
    truth, predicted, group, scores = draw(5, n=6_000)
    made = effects(audit(truth, predicted, group, scores=scores))
    trials = {trial.option.name: trial for trial in choose_remedy(made, find_payers(made)).trials}

    assert trials[ALL].tag == "trade-off"
    assert {harmed.lead.group for harmed in trials[ALL].harmed} == {"a", "b"}
    assert trials[LACKING].harmed == ()


def test_a_small_group_gets_its_own_cut_off_without_harm_to_others():
    truth, predicted, group, scores = draw(6, n=12_000, groups=("a", "b", "c", "d", "e", "f"), gap=1.0)
    made = effects(audit(truth, predicted, group, scores=scores))

    assert [trial.option.name for trial in choose_remedy(made, find_payers(made)).recommended] == [LACKING]


def test_a_clear_gap_in_precision_is_not_called_no_gap():
    """Of those selected, 28 of 100 more women do not qualify: to say that nothing is unequal is wrong."""
    uneven = audit(*people(men=(160, 40, 20, 180), women=(160, 40, 110, 90)))
    found = rows_of(effects(uneven))

    assert uneven.disparities["precision_gap"].low > 0
    assert not uneven.disparities["tpr_gap"].is_clear
    assert found["women", "wrongly_selected"].status == "clear"
    assert found["women", "wrongly_refused"].status == "open"
    assert find_payers(effects(uneven)).state == "unsure"


def test_no_cut_off_is_tried_for_selection_where_another_gap_was_found():
    """If selection was equal already, to even it out would take from one what the other does not lack."""
    rng = np.random.default_rng(7)
    truth, predicted, group = people(men=(100, 100, 100, 100), women=(160, 40, 40, 160))
    scores = predicted + rng.random(len(predicted))
    made = effects(audit(truth, predicted, group, scores=scores))

    found = rows_of(made)
    assert found["men", "selected"].change == 0
    assert payers(made) == ["men"]
    for name in (LACKING, ALL):
        changed = rows_of(made, name)["men", "wrongly_refused"]
        assert changed.change < -100
    equal = effects(audit(None, predicted, group, scores=scores))
    assert [option.name for option in equal.options if option.is_remedy] == []


def test_cut_offs_are_judged_on_people_they_were_not_found_on():
    """Scores that say nothing can be cut so that this file looks even; others would not be."""
    rng = np.random.default_rng(8)
    truth, predicted, group = people(men=(40, 5, 40, 5), women=(15, 30, 15, 30))
    made = effects(audit(truth, predicted, group, scores=rng.random(len(truth))))

    row = rows_of(made, LACKING)["women", "wrongly_refused"]
    assert row.after != pytest.approx(row.due, abs=1)


# --- what people may hand over --------------------------------------------------------------------


def test_a_group_that_is_everybody_has_nobody_to_be_compared_with():
    truth, predicted, _ = people()

    for group in (["all"] * 800, ["all"] * 700 + [None] * 100):
        with pytest.raises(InvalidParameterError, match="people of two groups or more"):
            audit(truth, predicted, group)


def test_a_column_without_any_group_is_refused():
    truth, predicted, _ = people()

    with pytest.raises(InvalidParameterError, match="group"):
        audit(truth, predicted, [None] * len(truth))


@pytest.mark.parametrize("outcome", [0, 1])
def test_an_outcome_that_all_share_leaves_the_rates_of_others_unjudged(outcome):
    """Nobody qualifies, or everybody does: one of the two kinds of error cannot occur."""
    _, predicted, group = people()
    found = rows_of(effects(audit(np.full(len(predicted), outcome), predicted, group)))
    empty, full = ("wrongly_refused", "wrongly_selected")[:: 1 - 2 * outcome]

    assert found["women", empty].status == "unjudged"
    assert found["women", full].status == "clear"


def test_groups_of_no_name_and_of_one_name_stay_apart():
    """The table knows everybody by an empty name."""
    truth, predicted, group = people()
    silent = ["" if name == "women" else name for name in group]

    assert payers(effects(audit(truth, predicted, silent))) == ["'' (1)"]
    alike = {"sex": (np.arange(800) // 400, ["people", "people"]), "half": (np.arange(800) % 2, ["x", "x"])}
    rows = read_predictions({"prediction": predicted}, alike, names={"prediction": "offer"})
    found = rows_of(effects(PredictionAudit(rows=rows)))
    assert found["sex = people", "selected"].people == 800
    assert found["'people, x' (1)", "selected"].people == 200


@pytest.mark.parametrize(
    "option", [{"matters": ("0",)}, {"matters": ("much",)}, {"called": "2"}, {"called": "<b>"}]
)
def test_what_matters_and_what_it_is_called_are_checked(option):
    with pytest.raises(InvalidParameterError, match=next(iter(option))):
        audit(*people(), **option)
