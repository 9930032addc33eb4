"""Sentences on decisions claim no more than the numbers carry."""

import math

import pytest

from evenhand._notes import Note
from evenhand.report.drawing import Drawing
from evenhand.study.page.page import answers, page_of
from evenhand.study.tasks.decide.choice import helps_answer
from evenhand.study.tasks.decide.reading import DecideReading
from evenhand.study.tasks.decide.wording import few_text
from unit.study._decide_studies import (
    MONEY,
    RIGHTS,
    always,
    done_besides,
    entity,
    made,
    money,
    money_task,
    rights,
    rule_task,
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out turning drawings into pictures, which takes long and has tests of its own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: '<svg width="10" height="10"></svg>')


def test_a_heading_by_size_is_hedged_where_an_entity_goes_the_other_way():
    """A class that loses in all may hold an entity that gains: a reader from there would be misled."""
    mixed = {**MONEY, "entities": [*MONEY["entities"], entity("Fen", 2, 0.1, -1e-4)]}

    assert answers(money(mixed))[0].startswith(
        "**On the whole, towns of fewer than 1,000 poor gain and larger ones lose.**"
    )


def test_entities_of_one_name_are_told_apart_by_their_row():
    """'A gains and A loses' says nothing."""
    twice = [entity("Elm", 12_000, 0.6, -3e-4, place=4.0), entity("Elm", 2, 0.1, 2e-4, place=0.0)]
    told = answers(money({**MONEY, "entities": [*twice, entity("Bay", 400, 0.3, 0.0)]}))[0]

    assert "Elm (row 1) gains $200 and Elm (row 5) loses $300;" in told


def test_a_small_error_of_a_share_is_an_error():
    """Of a budget that nobody has named even a tiny share is money: no award is said to be exact."""
    tiny = {"moved": 0.0, "mean_error": 1e-11, "largest_error": 1e-10, "largest_misallocation": 0.0}
    for budget, is_paid in ((None, True), (1e6, False)):
        results = money({**MONEY, "measures": {**MONEY["measures"], **tiny}}, groups=(), budget=budget)
        who, release, _ = answers(results)

        assert ("whatever is published" in who) != is_paid
        assert ("No award is ever off" in release) != is_paid


def test_one_release_is_not_said_to_be_far_off_where_it_is_not():
    """With one entity every release gives it all; nothing is off."""
    nothing = {
        **MONEY,
        "measures": {**MONEY["measures"], "moved": 0.0, "mean_error": 0.0, "largest_error": 0.0},
    }
    little = {**MONEY, "measures": {**MONEY["measures"], "mean_error": 70.0, "largest_error": 90.0}}

    assert answers(money(nothing, groups=()))[1] == "**No award is ever off, whatever is published.**"
    assert answers(money(little, groups=()))[1].evidence == "(In either direction.)"


def test_money_moves_between_groups_only_where_one_gains_and_another_loses():
    """Where nobody of the groups lives in the entities that lose, all groups gain, and none from another."""

    def groups(*gains):
        told = {"people": 100.0, "due": 1e3}
        both = zip(("young", "old"), gains, strict=True)
        return {**MONEY, "groups": {g: {**told, "gain": v, "gain_per_head": v / 100} for g, v in both}}

    assert answers(money(groups(30.0, 20.0)))[1] == (
        "**Per head, young gains most: $0.30.** (If all people of a town share alike.)"
    )
    assert "$10.00 moves between groups" in answers(money(groups(-10.0, 20.0)))[1]
    assert answers(money(groups(0.0, 0.0)))[1].startswith("**Per head, nobody gains or loses on average.**")
    assert answers(money(groups(math.nan, math.nan)))[1] == "**No group has people in any town.**"


def test_one_group_alone_is_not_compared():
    """'All groups are refused alike' of one group is empty; 'gains most' of one is too."""
    young = {"groups": {"young": RIGHTS["groups"]["young"]}}
    gains = {"groups": {"young": {"people": 10.0, "due": 3e5, "gain": 5.0, "gain_per_head": 0.5}}}

    assert answers(rights({**RIGHTS, **young}, groups=["young"]))[1].startswith(
        "**Of young, about 40 of 1,000 people who are entitled are refused by error.**"
    )
    assert answers(money({**MONEY, **gains}, groups=["young"]))[1].startswith(
        "**Per head, young gains $0.50.**"
    )


def test_expected_numbers_below_what_is_computed_are_not_spelled_out():
    """Chances carry errors of up to 1e-9; figures below are noise of the computation."""
    assert few_text(9e-12) == "fewer than 1 in 1,000,000 releases"
    assert few_text(0.0000042) == "4 in 1,000,000 releases"


def test_what_groups_gain_is_called_drawn_where_it_is():
    """Differences between groups that were drawn may be chance: their standard errors are not kept."""
    drawn = made(money_task(), always(MONEY, exact=0.0, error_bound=1.0))
    refused = made(rule_task(), always(RIGHTS, exact=0.0, error_bound=0.01))

    for each in (drawn, refused):
        assert answers(each)[1].endswith(" Drawn, not exact: small differences may be chance.")


def test_one_entity_at_risk_is_not_a_part_of_itself():
    """'1 of them' of one is no sentence."""

    def at_risk(lose):
        return {**RIGHTS, "measures": {**RIGHTS["measures"], "at_risk": 1.0, "at_risk_of_loss": lose}}

    lost, gained = (answers(rights(at_risk(each), groups=()))[1] for each in (1.0, 0.0))

    assert lost == (
        "**One town is decided wrongly in 5 of 100 releases or more: Elm.** "
        "(It may lose a right that it has.)"
    )
    assert gained.evidence == "(It may gain a right that it does not have.)"


@pytest.mark.parametrize(
    ("cost", "exact", "said"),
    [(399.9, 1.0, False), (300.0, 1.0, True), (390.0, 0.0, False), (300.0, 0.0, True)],
)
def test_another_method_must_need_less_by_more_than_is_shown_or_drawn(cost, exact, said):
    """'$400, and another way would bring it to $400' is no help; less by a standard error is chance."""

    def given(setting):
        other = {"cost_of_privacy": cost, "exact": exact, "error_bound": 0.0 if exact else 5.0}
        more = other if done_besides(setting) == "linear-proxy" else {}
        return {**MONEY, "measures": {**MONEY["measures"], "overspent": 0.0, **more}}

    told = answers(made(money_task(mitigations=["linear-proxy"]), given), chosen="laplace 1")[2]

    assert told.finding.startswith("Use “Linear proxy”") == said
    assert told.finding.startswith("No mitigation that was tried clearly helps") != said


def test_what_is_paid_beyond_the_budget_is_not_said_to_move():
    """Where every entity gains, as with a linear proxy, nothing is taken from any."""
    up = [entity("Elm", 12_000, 0.6, 3e-4), entity("Ash", 2, 0.1, 2e-4)]
    measures = {**MONEY["measures"], "moved": 250.0, "cost_of_privacy": 0.0, "overspent": 500.0}
    told = answers(money({**MONEY, "measures": measures, "gains": {1: 200.0, 7: 300.0}, "entities": up}))[0]

    assert told == (
        "**No town loses on average; $500 is paid beyond the budget.** (Elm gains $300; Laplace noise at "
        "ε = 1; exact.)"
    )


def helps(error, error_then):
    """Return what is said of a mitigation that takes all losses away and changes the typical error."""

    def given(setting):
        other = done_besides(setting) == "linear-proxy"
        measures = {"cost_of_privacy": 0.0, "mean_error": error_then} if other else {"mean_error": error}
        return {**MONEY, "measures": {**MONEY["measures"], **measures}}

    results = made(money_task(mitigations=["linear-proxy"], epsilons=[1]), given)
    return helps_answer(DecideReading.of(results, chosen="laplace 1"))


def test_a_method_with_a_larger_error_of_one_release_says_so():
    """Less bias at the price of more noise is no gift."""
    told = helps(200.0, 400.0)

    assert told.finding == (
        "The method “Linear proxy” removes every loss on average, at 2.0 times the typical error of one "
        "release."
    )
    assert "One release is then typically $400 off, and $200 without it." in told.evidence
    assert told.evidence.endswith("Its price: noisier counts; shares do not add up to 1.")
    assert told.action.endswith("--epsilon 1 --mitigate linear-proxy")
    assert helps(200.0, 201.0).finding == "Use “Linear proxy”: with it no town loses on average."


def test_a_method_that_adds_more_error_than_anybody_loses_is_not_advised():
    """To take away a loss of $300 by $4,000 more error of every release makes nobody better off."""
    told = helps(5_000.0, 9_000.0)

    assert told.finding == (
        "Keep “Plain release”: one release is off by far more than anybody loses on average."
    )
    assert told.evidence.endswith("but one release is typically $9,000 off, and $5,000 without it.")
    assert told.action == ""


def test_a_total_that_may_be_nought_stands_above_everything():
    """At the most private setting at which it may be, wherever the page is about."""
    note = "The noisy total is 0 or less with probability 0.31, by a Fourier sum, where shares mean nothing."

    def given(setting):
        few = setting.epsilon is not None and setting.epsilon < 1
        return {**MONEY, "notes": ["series", *([Note("total", note)] if few else [])]}

    page = page_of(made(money_task(epsilons=["0.1", "0.5", 1]), given))
    told = [each.text for each in page.notes if "may be 0 or less" in each.text]

    assert told == [f"**The noisy total may be 0 or less.** Laplace noise at ε = 0.1: {note}"]
    assert not any("may be 0 or less" in each.text for each in page_of(money()).notes)


def test_a_method_that_promises_nothing_is_never_recommended():
    """A payment from the true counts may need the least; whoever reads that must read the rest."""

    def given(setting):
        other = done_besides(setting) == "shrink"
        measures = {"cost_of_privacy": 10.0, "claimed_epsilon": math.nan} if other else {}
        return {**MONEY, "measures": {**MONEY["measures"], **measures}}

    results = made(money_task(mitigations=["shrink"], epsilons=[1]), given)

    told = helps_answer(DecideReading.of(results, chosen="laplace 1"))
    about_it = answers(results)

    assert told.finding == "No mitigation that was tried clearly helps."
    assert "“Lowered after the clamp” would bring it to $10.00, with no promise to anybody." in told.evidence
    assert about_it[0].finding.startswith("Nothing is promised to anybody")
    assert about_it[2].finding.endswith("it promises nothing to anybody.")


def test_an_error_that_is_estimated_is_not_called_a_bound():
    """Some exact methods prove how far they are off at most, others only estimate it."""
    estimated = {
        **MONEY,
        "notes": [Note("estimated error", "Fourier sum over all totals, error estimated"), "It may be 0."],
    }
    proved = {**MONEY, "notes": ["series with a certified error"]}

    def method(said):
        page = page_of(made(money_task(), always(said, error_bound=1e-9)))
        return " ".join(page.method)

    assert "estimated; It may be 0. Expected values above are off by less than $0.01" in method(estimated)
    assert "as the method estimates." in method(estimated)
    assert "less than $0.01, by the bound of the method." in method(proved)


def test_draws_that_leave_open_who_loses_claim_no_group_and_advise_nothing():
    """The first answer says that no town clearly gains or loses; the others must not know better."""
    open_, clear = (
        answers(made(money_task(), always(MONEY, exact=0.0, error_bound=error))) for error in (400.0, 5.0)
    )

    assert [answer.finding for answer in open_] == [
        "No town clearly gains or loses on average.",
        "Per head, no group clearly gains or loses on average.",
        "Draw more often before you decide: a loss of $1,100 for a town cannot be ruled out.",
    ]
    assert clear[1].finding == "Per head, young loses $0.20 and old gains $0.05."
    assert clear[2].finding == "Compare mitigations before you decide: none was tried."


def test_draws_that_cannot_tell_groups_apart_name_none_that_loses_most():
    vague, sharp = (
        answers(made(rule_task(), always(RIGHTS, exact=0.0, error_bound=error)))[1] for error in (0.02, 0.003)
    )

    assert vague.finding == "No group is clearly refused more often than another."
    assert sharp.finding.startswith("It costs young most: about 40 of 1,000 people")
