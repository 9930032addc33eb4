"""What a study of decisions tries beside what was asked: margins for a right, cuts for money."""

from fractions import Fraction

import pytest

from evenhand.answer.choice import choose_remedy
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from evenhand.study.page.words import words_in
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.decide.task import method_of, noise_mechanism
from unit.study._decide_studies import PLACES, money_task, rule_task, study

MARGIN = {"name": "margin"}


def page_of(task):
    """Return the setting that a page is about: at an epsilon of 1, with the steps typed."""
    fitting = [each for each in task.settings() if each.epsilon == 1 and method_of(each)[1] is None]
    return fitting[-1] if task.post else fitting[0]


def names(task):
    facts = task.prepare(Plan(task=task), frame=PLACES).facts
    return [str(each) for each in task.remedies(page_of(task), facts)]


def test_a_right_gets_margins_at_the_epsilon_of_the_page_alone():
    assert names(rule_task()) == [
        "Laplace noise, margin, ε = 1",
        "Laplace noise, chance=0.05, margin, ε = 1",
        "Laplace noise, chance=0.1, margin, ε = 1",
    ]


def test_a_margin_that_was_asked_for_is_no_remedy_again():
    """It would be run twice, and stand twice on the page."""
    assert names(rule_task(mitigations=MARGIN)) == [
        "Laplace noise, chance=0.05, margin, ε = 1",
        "Laplace noise, chance=0.1, margin, ε = 1",
    ]


@pytest.mark.parametrize(
    ("post", "wanted"),
    [((), ["nonnegative", "cut=5"]), ("nonnegative", ["cut=5"]), ("shrink=4", []), ("sum_to=2639", [])],
)
def test_money_gets_no_payment_below_zero_and_nothing_for_noise_alone(post, wanted):
    assert names(money_task(post=post)) == [f"Laplace noise, {each}, ε = 1" for each in wanted]


def test_remedies_keep_the_noise_of_the_page_with_its_parameters():
    gaussian = {"name": "discrete-gaussian", "delta": "1e-6"}
    task = rule_task(mechanisms=[gaussian], epsilons=[1])
    page = page_of(task)
    made = task.remedies(page, task.prepare(Plan(task=task), frame=PLACES).facts)

    assert {noise_mechanism(each) for each in made} == {noise_mechanism(page)}
    assert {each.epsilon for each in made} == {Fraction(1)}


def test_what_remedies_promise_is_what_the_page_promises():
    """They look at noisy counts alone: epsilon and delta of every cell are the page's."""
    for task in (rule_task(), money_task(post="nonnegative")):
        plan = Plan(task=task)
        prepared = task.prepare(plan, frame=PLACES)
        page = page_of(task)
        for each in (page, *task.remedies(page, prepared.facts)):
            measures = task.execute(Cell(each, 0), plan=plan, prepared=prepared).measures

            assert measures["claimed_epsilon"] == pytest.approx(1)
            assert measures["delta"] == 0
            assert measures["exact"] == 1


def test_asked_cells_are_the_same_to_the_byte_beside_remedies():
    asked, beside = rule_task(), rule_task(mitigations=[MARGIN, {**MARGIN, "chance": 0.05}])
    alone, together = study(asked), study(beside)

    known = {each.cell.id: each for each in together.outcomes}
    for outcome in alone.outcomes:
        other = known[outcome.cell.id]
        assert (outcome.measures, outcome.groups, outcome.columns) == (
            other.measures,
            other.groups,
            other.columns,
        )


def study_margin(far):
    """Return a study of two towns at the line and so many that are far above it, with a margin."""
    frame = {"town": ["Ash", "Dale", *(f"t{k}" for k in range(far))], "poor": [21, 18, *[4_000] * far]}
    return study(rule_task(rule="poor > 20", epsilons=[1], groups=[], mitigations=[MARGIN]), frame=frame)


def choose_margin(far):
    """Return its table and choice."""
    results = study_margin(far)
    table = results.plan.task.effects(results)
    return table, choose_remedy(table, find_payers(table, judge(table)))


def test_a_margin_is_recommended_where_its_cost_is_small_and_tells_who_gains():
    """Ash is one person above the line: it loses its right in 2 of 5 releases without a margin."""
    table, choice = choose_margin(300)
    made = "Laplace noise, margin, ε = 1"

    assert table.by_key[table.page, "Ash", "refused"].mean_after > 300
    assert table.by_key[made, "Ash", "refused"].mean_after <= 10
    assert table.by_key[made, "Ash", "refused"].basis == "exact"
    assert table.by_key[made, "Dale", "granted"].mean_after > 900
    assert choice.first.option.name == made


def test_a_margin_that_is_recommended_tells_its_price():
    """Dale gains a right by error more often; fewer refusals elsewhere do not make that "no new harm"."""
    view = study_margin(300).view()
    [line] = [each for each in view.remedies if each.tag == "recommended"]

    assert line.price == "3 more of 1,000 places are given a right they lack"


def test_rights_granted_to_many_places_by_error_are_a_price():
    """Places are counted, however few people live there: else thousands of small ones cost nothing."""
    _, choice = choose_margin(10)
    [trial] = choice.trials

    assert trial.tag == "trade-off"
    assert trial.costs == ("wrong",)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_page_says_the_chance_and_the_rule_that_decides(language):
    """ "margin" alone would tell nobody how sure a right is, nor by what it is decided."""
    task = rule_task(rule="poor > 20", epsilons=[1], mitigations=[{**MARGIN, "chance": 0.05}])
    results = study(task)
    case = task.case(results, language=language)
    said = [name.words for key, name in case.options.items() if "margin" in key]

    assert said == [words_in(language).say("decide.margin", odds="20")]
    assert any("poor > 15" in line and "20" in line for line in case.method)


def test_a_cut_pays_nobody_for_noise_alone_and_no_payment_is_below_zero():
    """Twenty empty places take a large part of the budget where counts below 0 are raised to 0."""
    frame = {"place": [f"p{k}" for k in range(23)], "poor": [0] * 20 + [40, 60, 100]}
    task = money_task(groups=[], weight=None, name="place", post="nonnegative", epsilons=[1])
    cut = next(iter(task.remedies(page_of(task), task.prepare(Plan(task=task), frame=frame).facts)))
    shares = {}
    for setting in (page_of(task), cut):
        plan = Plan(task=task)
        prepared = task.prepare(plan, frame=frame)
        outcome = task.execute(Cell(setting, 0), plan=plan, prepared=prepared)
        shares[setting] = dict(outcome.entities)
        assert outcome.data["billed_any"] == 0

    assert shares[page_of(task)]["p22"]["bias"] < -0.04
    assert abs(shares[cut]["p22"]["bias"]) < 0.4 * abs(shares[page_of(task)]["p22"]["bias"])
