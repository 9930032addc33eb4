"""Reports on decisions: sentences and sections hold for the numbers that they are made from."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from evenhand._notes import Note
from evenhand.errors import InvalidParameterError
from evenhand.report.drawing import Drawing
from evenhand.report.html import render
from evenhand.study.page.page import answers, page_of
from evenhand.study.results.results import Results
from evenhand.study.tasks.decide.reading import DecideReading
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
    study,
)

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out turning drawings into pictures, which takes long and has tests of its own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)


def test_nobody_is_named_where_no_place_is_decided_wrongly():
    """Of places that are all far from the line, the first of the file is not the most likely to lose."""
    far = {**RIGHTS, "entities": [entity("Elm", 12_000, 1.0, 0.0), entity("Ash", 100, 0.0, 0.0)]}
    page = page_of(rights({**far, "measures": {**RIGHTS["measures"], "largest_flip": 0.0}}))

    assert heading(page, "entities") == "No town is decided wrongly"
    assert heading(page_of(rights()), "entities").startswith("Most likely to be decided wrongly: Elm, ")


def heading(page, anchor):
    return next(section.heading for section in page.sections if section.anchor == anchor)


# --- sentences --------------------------------------------------------------------------------------


def test_money_is_said_in_three_sentences():
    who, pays, helps = answers(money())

    assert who.finding == "Towns of fewer than 1,000 poor gain $400 in all from larger ones."
    assert who.evidence == (
        "(Of $1.0 million; Ash gains $200 and Elm loses $300; Laplace noise at ε = 1; exact.)"
    )
    assert pays.finding == "Per head, young loses $0.20 and old gains $0.05."
    assert "$200 moves between groups" in pays.evidence
    assert helps.finding == "Compare mitigations before you decide: none was tried."
    assert helps.evidence == ("To make up for every expected loss costs $400 at ε = 1, and $400 at ε = 0.5.")


def test_rights_are_said_in_three_sentences():
    who, pays, helps = answers(rights())

    assert who.finding == "On average 2.5 towns lose a right they have, and 1.0 gain one they do not have."
    assert who.evidence == "(Of 5 towns, Elm loses it most often, 42.0%; Laplace noise at ε = 1; exact.)"
    assert pays.finding == (
        "It costs young most: about 40 of 1,000 people who are entitled are refused by error, "
        "and 10 of 1,000 of old."
    )
    assert "60.0 people lose a right" in pays.evidence
    assert helps.evidence == "Wrong decisions on average: 3.5 at ε = 1, and 3.5 at ε = 0.5."


def test_numbers_of_one_release_and_of_many_are_told_apart():
    """Of "45 in 100 releases, and 10.2" nobody knows that 10.2 are the wrong ones of a single release."""

    def outcome(setting):
        wrong = 10.2 if setting.epsilon == Fraction(1, 2) else 0.45
        return always(RIGHTS, expected_wrong=wrong)(setting)

    results = made(rule_task(), outcome)

    assert answers(results)[2].evidence == (
        "Wrong decisions on average: 45 in 100 releases at ε = 1, and 10.2 in each release at ε = 0.5."
    )
    assert heading(page_of(results), "cost") == (
        "Wrong decisions: 10.2 in each release at ε = 0.5, 45 in 100 releases at ε = 1"
    )


def test_without_groups_the_second_sentence_is_about_one_release():
    assert answers(money(groups=()))[1].finding == (
        "One release is typically $5,000 off for a town, and $90,000 for the worst."
    )
    assert answers(rights(groups=()))[1].finding == (
        "2 towns are each decided wrongly in 5 of 100 releases or more."
    )
    nobody = {**RIGHTS, "measures": {**RIGHTS["measures"], "at_risk": 0.0}}
    assert answers(rights(nobody, groups=()))[1].startswith("**No town is decided wrongly in as many as 5")
    unknown = {**MONEY, "measures": {**MONEY["measures"], "mean_error": math.nan}}
    assert "not known" in answers(money(unknown, groups=()))[1]


def test_another_method_is_named_only_if_it_needs_less():
    def given(setting):
        cost = {"none": 400.0, "nonnegative": 900.0, "linear-proxy": 0.0}[done_besides(setting)]
        over = 100.0 if done_besides(setting) == "linear-proxy" else 0.0
        return {**MONEY, "measures": {**MONEY["measures"], "cost_of_privacy": cost, "overspent": over}}

    task = money_task(post="nonnegative", mitigations=["linear-proxy"])
    lowered = answers(made(task, given))[2]
    kept = answers(made(task, given), chosen="laplace linear-proxy 1")[2]

    assert lowered.finding == (
        "Use “Linear proxy”: to make up for every loss costs $100 with it, and $900 without."
    )
    assert kept.finding == "You can use Laplace noise at ε = 1, linear proxy: no town loses on average."


def test_a_method_that_was_drawn_says_so_beside_its_number():
    def given(setting):
        drawn = done_besides(setting) == "shrink"
        return {
            **RIGHTS,
            "measures": {**RIGHTS["measures"], "exact": 1.0 - drawn, "expected_wrong": 3.0 - drawn},
        }

    lowered = answers(made(rule_task(mitigations=["shrink"]), given), chosen="laplace 1")[2]

    assert lowered.finding == (
        "Use “Lowered after the clamp”: wrong decisions fall from 3.0 to 2.0 in a release."
    )
    assert "It was drawn, not computed exactly." in lowered.evidence


def test_nothing_is_called_moved_where_draws_cannot_tell():
    """A gain within twice its standard error may be chance."""
    drawn = made(money_task(), always(MONEY, exact=0.0, error_bound=400.0))
    who = answers(drawn)[0]

    assert who.startswith("**No town clearly gains or loses on average.**")
    assert "a standard error of up to $400" in who
    assert "gains $" not in who


def test_no_line_between_sizes_is_invented():
    mixed = {**MONEY, "gains": {1: 5.0, 3: -5.0, 7: 5.0}}

    assert answers(money(mixed))[0].startswith("**Some towns gain and others lose: $400 ")
    turned = [(name, {**each, "bias": -each["bias"]}) for name, each in MONEY["entities"]]
    upside = {**MONEY, "gains": {1: -5.0, 7: 5.0}, "entities": turned}
    assert answers(money(upside))[0].finding == (
        "Towns of fewer than 1,000 poor lose $400 in all to larger ones."
    )


def test_what_changes_nothing_says_so():
    still = {**MONEY, "measures": dict.fromkeys((*MONEY["measures"], "largest_misallocation"), 0.0)}
    fixed = {**RIGHTS, "measures": dict.fromkeys(RIGHTS["measures"], 0.0)}

    assert answers(money(still))[0].startswith("**Nobody gains or loses, whatever is published.**")
    assert answers(rights(fixed))[0].startswith("**No town is decided wrongly.**")


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ((-0.2, -0.1), "**Per head, young loses most: $0.20.**"),
        ((0.2, 0.3), "**Per head, old gains most: $0.30.**"),
        ((math.nan, math.nan), "**No group has people in any town.**"),
    ],
)
def test_groups_that_all_lose_or_all_gain_are_not_set_against_each_other(heads, said):
    groups = {
        name: {**MONEY["groups"][name], "gain_per_head": each}
        for name, each in zip(("young", "old"), heads, strict=True)
    }

    assert answers(money({**MONEY, "groups": groups}))[1].startswith(said)


def test_groups_that_are_refused_alike_are_said_to_be():
    alike = {name: {**RIGHTS["groups"]["old"]} for name in ("young", "old")}
    nobody = {name: {**RIGHTS["groups"]["old"], "due": 0.0} for name in ("young", "old")}

    assert "refused alike" in answers(rights({**RIGHTS, "groups": alike}))[1]
    assert "Nobody of any group is entitled" in answers(rights({**RIGHTS, "groups": nobody}))[1]


def test_failures_leave_nothing_known():
    tasks = ((money_task(), MONEY), (rule_task(), RIGHTS))
    for results in (made(task, always(said), failures=range(3)) for task, said in tasks):
        found = answers(results)
        page = page_of(results)

        assert all("Nothing is known" in each for each in found)
        assert any("**3 of 3 runs failed.**" in note.text for note in page.notes)


# --- which setting ----------------------------------------------------------------------------------


def test_the_page_is_about_what_would_be_done():
    """Whoever says that negatives are set to 0 wants to know what that does."""
    assert done_besides(DecideReading.of(money(post="nonnegative")).chosen) == "nonnegative"
    assert float(DecideReading.of(money(epsilons=["0.01", "0.5", "4"])).chosen.epsilon) == 0.5
    assert DecideReading.of(money(), chosen="laplace 0.5").chosen.epsilon.denominator == 2
    with pytest.raises(InvalidParameterError, match="chosen"):
        DecideReading.of(money(), chosen="unprotected")


# --- pages ------------------------------------------------------------------------------------------


def test_a_page_on_money_has_every_part():
    results = money(post="nonnegative", mitigations=["linear-proxy", "shrink", "fairness-payment"])
    page = page_of(results, command="evenhand audit --plan plan.toml")

    assert [section.anchor for section in page.sections] == [
        "promise", "gains", "sizes", "groups", "entities", "mitigations", "cost", "numbers",
    ]  # fmt: skip
    assert (
        page.question == "If $1.0 million is shared out by protected counts of poor, who gains and who loses?"
    )
    assert page.notes[0].text.startswith("**Computed from the true data, not for publication.**")
    assert "not for shares" in page.sections[5].notes[1].text
    assert "not covered by the guarantee" in page.sections[5].notes[2].text
    assert [each.value for each in page.numbers] == ["$400", "−$300", "+$200", "$5,000"]
    assert heading(page, "entities") == "Elm loses most on average: $300"


def test_a_page_on_rights_has_every_part():
    page = page_of(rights(post="nonnegative"))

    assert [section.anchor for section in page.sections] == [
        "promise", "flips", "groups", "entities", "mitigations", "cost", "numbers",
    ]  # fmt: skip
    assert heading(page, "promise") == "One person is promised ε = 1, for 2 counts together"
    assert heading(page, "flips").startswith("2 towns have a chance of 5% or more")
    assert heading(page, "mitigations") == ("All methods come to the same: 3.5 wrong decisions on average")
    assert [each.value for each in page.numbers] == ["3.5", "2.5", "1.0", "42.0%"]


def test_one_setting_without_groups_has_fewer_parts():
    page = page_of(money(groups=(), epsilons=[1]))

    assert [section.anchor for section in page.sections] == [
        "promise",
        "gains",
        "sizes",
        "entities",
        "numbers",
    ]
    assert heading(page, "numbers") == "The one setting that was tried"


@pytest.mark.parametrize(("epsilon", "factor"), [(0.2, "1.23"), (8, "2,981")])
def test_the_factor_of_the_promise_is_never_rounded_down(epsilon, factor):
    page = page_of(made(money_task(epsilons=[epsilon]), always(MONEY, claimed_epsilon=epsilon)))
    lead = next(section.lead for section in page.sections if section.anchor == "promise")

    assert f"by at most a factor of {factor}. " in lead


def test_shares_without_a_budget_are_shares():
    page = page_of(made(money_task(budget=None), always(MONEY, moved=1e-5)))

    assert page.question.startswith("If money is shared out")
    assert "0.0010% of the budget" in page.answers[0]


def test_large_epsilons_and_leaks_and_draws_are_warned_of():
    results = made(
        money_task(epsilons=[20]),
        always(MONEY, exact=0.0),
        notes=(Note("privacy", "was read from the rows"),),
    )
    said = " ".join(note.text for note in page_of(results).notes)

    assert "ε above 10 is for comparison only" in said
    assert "was read from the rows" in said
    assert "Drawn, not exact." in said


def test_a_mechanism_without_epsilon_has_a_page_too():
    task = money_task(mechanisms=[{"name": "discrete-gaussian", "rho": "1/8"}])
    page = page_of(made(task, always(MONEY, delta=1e-9)))

    assert "δ = 1.0" in heading(page, "promise")
    assert "at this setting" not in page.answers[2]
    none = page_of(made(task, always(MONEY, claimed_epsilon=math.nan, delta=1.0)))
    assert heading(none, "promise") == "Nothing is promised to anybody"


def test_methods_are_ranked_and_a_missing_one_is_unknown():
    def given(setting):
        moved = {"none": 400.0, "nonnegative": 900.0, "shrink": math.nan}[done_besides(setting)]
        return {**MONEY, "measures": {**MONEY["measures"], "moved": moved}}

    page = page_of(made(money_task(post="nonnegative", mitigations=["shrink"]), given))
    section = next(each for each in page.sections if each.anchor == "mitigations")

    assert section.heading.startswith(
        "Least money misallocated with “Plain release”: $400; most with “Negatives set"
    )
    assert section.tables[0].rows[2][2] == "unknown"
    assert section.tables[0].chosen == 1
    assert "Not drawn for want of a value: 1 bar" in section.charts[0].caption


def test_a_method_that_is_ahead_by_chance_is_not_called_best():
    """2.3 of draws beside an exact 2.4 is no difference."""

    def given(setting):
        drawn = done_besides(setting) == "shrink"
        return always(RIGHTS, expected_wrong=3.4, exact=0.0, error_bound=0.1)(setting) if drawn else RIGHTS

    page = page_of(made(rule_task(mitigations=["shrink", "piecewise-proxy"]), given))

    assert heading(page, "mitigations") == (
        "No method makes clearly fewer wrong decisions than “Plain release”: 3.5 on average"
    )


def test_who_loses_most_stands_beside_each_method():
    """What a method costs is one thing, and who pays it another."""
    page = page_of(money(mitigations=["linear-proxy", "shrink"]))
    table = next(section for section in page.sections if section.anchor == "mitigations").tables[0]

    assert [title.split("\n")[0] for title in table.header[-2:]] == ["Loses most", "Loses most"]
    assert table.rows[0][-2:] == ["Elm\n−$300", "young\n−$0.20"]
    rule = page_of(rights(mitigations=["shrink"]), chosen="laplace 1")
    rows = next(section for section in rule.sections if section.anchor == "mitigations").tables[0].rows
    assert rows[0][-2:] == ["Elm\n42.0%", "young\n40 of 1,000"]


def test_no_method_with_a_result_says_so():
    def given(setting):
        return {**MONEY, "measures": {**MONEY["measures"], "moved": math.nan}}

    assert heading(page_of(made(money_task(post="integral"), given)), "mitigations").startswith(
        "None of the methods"
    )


def test_sizes_that_err_alike_are_not_set_against_each_other():
    one = {**MONEY, "gains": {3: 5.0}}

    assert heading(page_of(money(one)), "sizes") == "How far one release is off, town by town"


def test_nobody_at_risk_is_a_heading_too():
    calm = {**RIGHTS, "measures": {**RIGHTS["measures"], "at_risk": 0.0, "largest_flip": 0.03}}

    assert heading(page_of(rights(calm)), "flips") == "No town has a chance above 3.0% of a wrong decision"


def test_what_the_plan_says_of_one_person_is_said():
    facts = next(
        each for each in page_of(rights(touches="one input")).sections if each.anchor == "promise"
    ).facts

    assert "each has the whole ε" in facts[1].text
    assert "up to 2 counts by 1" in facts[2].text


def test_large_places_that_err_more_are_not_called_small():
    def given(_):
        return MONEY

    results = made(money_task(), given)
    outcomes = []
    for outcome in results.outcomes:
        data = {**outcome.data, "relative_1_2": 0.01, "relative_1000_2999": 0.5, "relative_10_29": math.nan}
        outcomes.append(replace(outcome, data=data))
    page = page_of(Results(results.plan, results.facts, outcomes))

    assert heading(page, "sizes") == "Large towns are off by 50.0% of their award, small ones by 1.0%"


def test_a_method_that_was_drawn_or_has_failed_is_marked():
    def given(setting):
        return always(MONEY, exact=0.0)(setting) if done_besides(setting) == "shrink" else MONEY

    results = made(money_task(epsilons=[1], post="integral", mitigations=["shrink"]), given, failures=[2])
    page = page_of(results, chosen="laplace shrink 1")
    table = next(each for each in page.sections if each.anchor == "mitigations").tables[0]

    assert "Exact, but for “Lowered after the clamp”, which were drawn." in table.caption
    assert table.rows[1][1] == "unknown"
    assert page_of(
        made(money_task(epsilons=[1], mitigations="shrink"), always(MONEY, claimed_epsilon=math.nan))
    )


def test_the_table_can_be_sorted_without_a_script():
    page = page_of(money())
    table = next(each for each in page.sections if each.anchor == "entities").tables[0]
    text = render(page)

    assert [name for name, _ in table.orders][:3] == ["gain or loss", "losses first", "gains first"]
    assert [table.rows[place][0] for place in dict(table.orders)["gains first"]] == ["Ash", "Void", "Elm"]
    assert [table.rows[place][0] for place in dict(table.orders)["name"]] == ["Ash", "Elm", "Void"]
    assert "<script" not in text
    assert text.count('type="radio"') == len(table.orders)
    assert text.count("checked") == text.count(":checked") + 1


def test_the_chances_can_be_sorted_too():
    table = next(each for each in page_of(rights()).sections if each.anchor == "entities").tables[0]

    assert [table.rows[place][0] for place in dict(table.orders)["distance"]] == ["Elm", "Ash"]
    assert [table.rows[place][0] for place in dict(table.orders)["losses first"]] == ["Elm", "Ash"]
    quiet = {**RIGHTS, "entities": [entity("Bay", 400, 1.0, 0.0)]}
    assert next(each for each in page_of(rights(quiet)).sections if each.anchor == "entities").tables[0].rows


def test_numbers_are_in_the_page_as_csv():
    names = set(re.findall(r'download="([^"]+)"', render(page_of(money()))))

    assert {"most-affected.csv", "gain-by-size.csv", "misallocation-by-size.csv", "all-cells.csv"} <= names


def test_names_from_data_stay_text():
    """A town may be called anything."""
    bad = "<script>alert(1)</script>**x**"

    found = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append(tag)

    odd = {**MONEY, "entities": [entity(bad, 12_000, 0.6, -3e-4), entity("=1+1", 5, 0.1, 2e-4)]}
    parser = Tags()
    parser.feed(render(page_of(money(odd))))

    assert "h1" in found
    assert "script" not in found


def test_a_real_study_of_each_kind_has_a_page():
    for task in (rule_task(post="nonnegative"), money_task(post="nonnegative")):
        page = page_of(study(task))

        assert len(page.answers) == 3
        assert "<h1>" in render(page)


def test_an_unknown_number_of_entities_is_told():
    results = made(rule_task(), always(RIGHTS), people=9_000)
    section = next(each for each in page_of(results).sections if each.anchor == "flips")

    assert "3 of 9,000 towns are shown" in section.charts[0].caption
