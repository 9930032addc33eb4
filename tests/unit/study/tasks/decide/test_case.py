"""What a page on decisions says around its effects: names, promise, warnings, in both languages."""

import re
from dataclasses import replace

import pytest

from evenhand.answer.compose import compose
from evenhand.decide.mitigate import linear
from evenhand.study.results.results import Results
from evenhand.study.store.outcome import Failure, Outcome
from unit.study import _decide_studies as decide

MITIGATIONS = ["linear-proxy", "fairness-payment", "shrink", {"name": "sum-constraint", "total": 2_639}]
FEW = {"town": ["Ash", "Bay"], "poor": [2, 1], "cost": [1.0, 1.0], "young": [1, 1], "old": [1, 0]}


@pytest.fixture(scope="module", name="money")
def _money():
    return decide.study(decide.money_task(epsilons=[0.5, 1], post=["nonnegative"], mitigations=MITIGATIONS))


@pytest.fixture(scope="module", name="rights")
def _rights():
    return decide.study(decide.rule_task(epsilons=[0.5, 1], mitigations=["shrink"]))


def _texts(view):
    """Return every text of a view that people read."""
    yield from (view.kind, view.question, view.meta, view.verdict, view.heading, view.caption)
    for sentence in (view.who, view.how_much, view.what_to_do):
        yield from (sentence.text, *sentence.details)
    for line in view.remedies:
        yield from (line.name, line.left, line.price)
    for warned in view.warnings:
        yield from warned
    yield from (*view.method, *view.limits)


# --- names ----------------------------------------------------------------------------------------


def test_the_question_says_what_is_decided(money, rights):
    assert money.view().question == "If towns share money by poor * cost from noisy counts, who pays?"
    assert decide.RULE in rights.view().question


def test_settings_are_called_in_plain_words(money):
    """If a program's word stood on the page, nobody would know what to do."""
    case = money.plan.task.case(money)
    names = {option.words for option in case.options.values()}

    assert "Laplace noise, none below 0" in names
    assert {"a total measured apart", "a payment to those who lose", "a known total"} <= names
    for name in names:
        assert not re.search(r"nonnegative|proxy|shrink|clamp|AUTO", name)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_whole_page_is_made_in_each_language(money, rights, language):
    """If a word were missing, the page would fail on the day that somebody asks for it."""
    for results in (money, rights):
        assert results.report(language=language).startswith("<!doctype html>")
        texts = list(_texts(results.view(language=language)))
        assert all(texts[:5])
        assert not any("{" in text for text in texts)


def test_the_three_sentences_are_short(money, rights):
    for results in (money, rights):
        view = results.view()
        for sentence in (view.who, view.how_much, view.what_to_do):
            assert len(sentence.text.split()) <= 20


def test_names_of_places_stay_words():
    """If not, a file could write to the page or fill it."""
    frame = {**decide.PLACES, "town": ["<b>Ash</b>", "B" * 900, "Cove\n\u202e", "Dale", "Elm"]}
    page = decide.study(decide.rule_task(epsilons=[1]), frame=frame).report()

    assert "<b>Ash" not in page
    assert "B" * 200 not in page
    assert "\u202e" not in page


def test_entities_without_a_name_are_numbered():
    results = decide.study(decide.rule_task(name=None, epsilons=[1]))

    assert results.view().verdict.startswith("Place 1 pays")


@pytest.mark.parametrize(("name", "noun"), [("town", "towns"), ("county", "counties"), ("bcode", "places")])
def test_only_a_word_for_places_is_their_noun(name, noun):
    """ "If bcodes share money" tells nobody who shares it."""
    frame = {name: decide.PLACES["town"], "poor": [210, 600, 540, 180, 2_000]}
    task = decide.money_task(name=name, weight=None, groups=[], epsilons=[1])

    assert decide.study(task, frame=frame).view().question.startswith(f"If {noun} share money")


# --- what is said around it -------------------------------------------------------------------------


def test_money_below_zero_stops_and_says_how_often_for_anybody():
    """If only single places were told, 95 of 100 releases would seem rare.

    Two places with a chance of 23 and one with 14 in 100 make 49 in 100.
    """
    frame = {**decide.PLACES, "poor": [1, 2, 540, 1, 2_000]}
    view = decide.study(decide.money_task(groups=[], epsilons=[1]), frame=frame).view()

    assert view.state == "stop"
    assert view.how_much.text.startswith("Somebody is charged instead of paid in ")
    assert view.how_much.text.endswith("in 49 of 100 releases.")
    assert "Ash is charged instead of paid in 23 of 100 releases." in view.how_much.details
    assert view.what_to_do.text == "Do not use this result."


def test_an_epsilon_at_which_somebody_is_charged_says_so():
    """Else nobody would see why an epsilon at which $0.01 is lacking is not good enough."""
    frame = {"town": [f"t{place}" for place in range(40)], "poor": [60 + place for place in range(40)]}
    task = decide.money_task(weight=None, groups=[], epsilons=[0.1, 1])
    view = decide.study(task, frame=frame).view()
    [page] = [line for line in view.curve.lines if line.role == "page"]

    assert view.state == "nobody"
    assert page.shown[0] == "charged"
    assert "charged" not in page.shown[1]
    told = [line for line in view.what_to_do.details if line.startswith("At ε = 0.1 somebody is charged")]
    assert re.fullmatch(r"At ε = 0.1 somebody is charged instead of paid in [1-9]\d* of 100 releases.", *told)


def test_all_places_are_counted_where_some_are_left_out(monkeypatch):
    """Of very many places some have rows: "14 others" of 16,641 would deny that the rest exist."""
    monkeypatch.setattr("evenhand.study.tasks.decide.effects._MOST_ROWS", 10)
    monkeypatch.setattr("evenhand.study.tasks.decide.effects._WORST_OFF", 35)
    frame = {"town": [f"t{place}" for place in range(60)], "poor": [1 + place for place in range(60)]}
    view = decide.study(decide.money_task(weight=None, groups=[], epsilons=[1]), frame=frame).view()
    [panel] = view.panels

    assert panel.effect == "billed"
    assert panel.rest.startswith(f"{60 - len(panel.lines)} others: at most ")


@pytest.mark.parametrize(
    ("task", "verdict"),
    [
        (
            decide.rule_task(rule="poor > 20", groups=[], epsilons=[1]),
            "Nobody is refused a right in more than ",
        ),
        (decide.money_task(weight=None, groups=[], epsilons=[1]), "Nobody is charged in more than "),
    ],
    ids=["right", "money"],
)
def test_a_chance_is_not_said_to_be_paid(task, verdict):
    """ "Nobody pays more than 1 of 100 releases" is no sentence."""
    frame = {"town": [f"t{place}" for place in range(40)], "poor": [29, *[60] * 39]}
    if not task.is_rule:
        frame["poor"][0] = 9
    view = decide.study(task, frame=frame).view()

    assert view.state == "nobody"
    assert view.verdict.startswith(verdict)


@pytest.mark.parametrize(("poor", "warns"), [(21, True), (18, False)])
def test_a_file_of_those_who_have_the_right_is_not_taken_for_the_whole_country(poor, warns):
    """There a lower threshold would seem to cost nothing."""
    frame = {"town": [f"t{place}" for place in range(40)], "poor": [18, *[poor] * 4, *[90] * 35]}
    task = decide.rule_task(rule="poor > 20", groups=[], epsilons=[1])
    heads = [warned.head for warned in decide.study(task, frame=frame).view().warnings]

    assert ("Hardly any of these towns lack the right:" in heads) is warns


def test_chances_are_drawn_as_they_are_told(rights):
    """If the axis went to 1,000, 42 of 100 releases would stand at 420."""
    view = rights.view()
    [ash] = [line for line in view.panels[0].lines if line.group == "Ash"]

    assert (ash.after.value, ash.after.shown) == (pytest.approx(42.1, abs=0.1), "42")
    assert view.panels[0].scale == "of 100 releases"
    assert view.panels[0].matters == pytest.approx(1)
    [page] = [line for line in view.curve.lines if line.role == "page"]
    assert page.lacks[-1] == pytest.approx(ash.after.value)
    assert view.curve.matters == pytest.approx(1)


def test_the_worst_release_stands_in_the_details():
    frame = {**decide.PLACES, "poor": [30, 60, 540, 45, 900]}
    task = decide.money_task(groups=[], epsilons=["1/50"], post=["nonnegative"])
    view = decide.study(task, frame=frame).view()

    assert view.state == "pays"
    assert any(line.startswith("In 1 of 20 releases") for line in view.how_much.details)


def test_a_total_that_may_be_nought_is_a_warning():
    """Where noise can swallow the total, shares mean nothing, whatever their averages are."""
    view = decide.study(decide.money_task(epsilons=[0.5]), frame=FEW).view()

    assert any(warned.head == "The total may be 0." for warned in view.warnings)


def test_what_promises_nothing_is_never_recommended(money):
    case = money.plan.task.case(money)
    view = compose(case)
    paid = [name for name in case.options if "fairness-payment" in name]

    assert {case.table.by_name[name].delta for name in paid} == {1}
    assert view.recommended not in paid
    assert any("no measurable promise" in warned.head for warned in view.warnings)


@pytest.mark.parametrize(("language", "head"), [("en", "made for counts"), ("de", "für Zahlen gemacht")])
def test_a_page_about_a_remedy_says_what_it_takes(money, language, head):
    """If a language left it out, its readers would trust what the others are warned of."""
    setting = next(each for each in money.settings if "shrink" in str(each) and each.epsilon == 1)
    view = money.view(chosen=setting, language=language)

    assert view.page == str(setting)
    assert any(head in warned.head for warned in view.warnings)
    assert view.promise.facts[0].text == "ε = 1, δ = 0"


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_another_package_warns_of_is_said_in_its_own_words(money, language, monkeypatch):
    """If a page left out what it cannot translate, nobody would know what a remedy takes."""
    cautions = {"allotment": "**Totals are old.** They are those of last year."}
    monkeypatch.setattr(linear, "MITIGATION", replace(linear.MITIGATION, cautions=cautions))
    fresh = Results(money.plan, money.facts, money.outcomes)  # whose answer nobody has read yet
    setting = next(each for each in fresh.settings if "linear-proxy" in str(each) and each.epsilon == 1)
    page, other = fresh.view(chosen=setting, language=language), fresh.view(language=language)

    assert ("Totals are old.", "They are those of last year.") in page.warnings
    assert "Totals are old. They are those of last year." in other.method


@pytest.mark.parametrize(("language", "words"), [("en", "true counts"), ("de", "wahren Zahlen")])
def test_what_other_remedies_take_stands_in_the_method(money, language, words):
    """If not, whoever pays by the true counts would not know that nothing covers it."""
    assert any(words in line for line in money.view(language=language).method)


def test_places_stand_one_by_one_below_the_page(money, rights):
    [section] = money.view().evidence
    [table] = section.tables
    assert section.heading == "Towns one by one"
    assert {row[0] for row in table.rows} == set(decide.PLACES["town"])
    assert set(table.data) >= {"entity", "due", "after", "worst", "billed"}
    [section] = rights.view().evidence
    assert section.tables[0].rows[0][:1] == ["Ash"]


@pytest.mark.parametrize(
    ("budget", "shown"), [(1e6, ["Due, €", "Paid on average, €"]), (None, ["Due", "Paid on average"])]
)
def test_the_table_of_places_says_in_which_money(budget, shown):
    """If not, euros would be read as dollars; shares are of no money."""
    results = decide.study(decide.money_task(epsilons=[1], budget=budget, currency="€"))
    [section] = results.view().evidence

    assert section.tables[0].header[2:4] == shown


def test_a_page_without_its_result_says_so(money):
    """If not, a study whose main run failed would not open."""
    failed = [
        Outcome(each.cell, failure=Failure("ValueError", "Raised at some.py:1."))
        if str(each.cell.setting) == money.view().page
        else each
        for each in money.outcomes
    ]
    view = Results(money.plan, money.facts, failed).view()

    assert view.state == "unsure"
    assert view.promise is None


def test_amounts_without_a_budget_are_those_of_a_million():
    """If shares were told as money, every place would seem to get nothing."""
    shares, money = (
        decide.study(decide.money_task(groups=[], epsilons=[1], budget=budget, post=["nonnegative"]))
        for budget in (None, 1e6)
    )
    one, other = (
        {row.group: (row.due, row.after, row.worst) for row in each.view().rows if row.effect == "short"}
        for each in (shares, money)
    )

    assert one == {group: pytest.approx(numbers) for group, numbers in other.items()}


def test_less_than_can_be_paid_is_nobody_s_loss():
    """If not, a hundredth of a cent would be a harm."""
    task = decide.money_task(groups=[], epsilons=["1/50"], post=["nonnegative"])
    frame = {**decide.PLACES, "poor": [30, 60, 540, 45, 900]}
    results = decide.study(task, frame=frame)
    large = Results(replace(results.plan, task=task.with_(smallest=1e6)), results.facts, results.outcomes)

    assert results.view().state == "pays"
    assert large.view().state == "nobody"
