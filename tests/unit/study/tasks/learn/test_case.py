"""What a page on private training says around its table: question, names, promise, estimators."""

import math
import re
from dataclasses import replace

import pytest
from sklearn.linear_model import LogisticRegression

from evenhand import learn
from evenhand._notes import Note
from evenhand.answer.compose import compose
from evenhand.study.results.results import Results
from evenhand.study.tasks.learn.case import case
from evenhand.study.tasks.learn.methods import METHODS
from unit.study._learn_studies import made, measures, of_group

pytestmark = pytest.mark.usefixtures("undrawn")

NOTES = (
    Note("unit", "add or remove one"),
    Note("trust", "central"),
    Note("assumption", "classes are public"),
)
PRIVATE = ("dp", "dp+parity", "fermi", "fermi+parity", "dp+projection")


def given(setting, _):
    """Return numbers under which private training costs women, and parity gives it back."""
    method = METHODS.get(setting.mechanism, METHODS["plain"])
    rate = {"plain": 0.40, "dp": 0.25, "fermi": 0.30, "local": 0.20}[method.base]
    women = 0.39 if method.then == "parity" else rate
    delta = 0.0 if method.base == "local" else None
    private = setting.epsilon if method.takes_epsilon and not method.voids else None
    found = measures(
        epsilon=private, delta=delta, auc=0.8, bound=0.04 if method.then == "parity" else math.nan
    )
    missed = {"tpr": 0.4 + women, "fpr": 0.1}
    return found, {"f": of_group(women, **missed), "m": of_group(0.5)}


def study(methods=PRIVATE, epsilons=(1, 3), **parts):
    """Return results in which women pay for privacy."""
    return made(given, methods=methods, epsilons=epsilons, notes=NOTES, **parts)


def case_of(results, **asked):
    """Return the case of results."""
    return case(results.plan.task, results, **asked)


def promise_of(results):
    """Return the promise of the page."""
    return case_of(results).promise.text


def test_the_question_says_what_is_done_to_the_model():
    """People would read the name of a method."""
    assert (
        case_of(study()).question == "If a model that predicts hired comes from private training, who pays?"
    )
    assert "comes from randomised reports" in case_of(study(("local",))).question


def test_options_are_called_by_what_differs_from_the_pages():
    """Beside private training, "DP + parity" is parity and nothing else."""
    options = case_of(study(tuple(METHODS), (1,))).options
    assert {name: option.words for name, option in options.items()} == {
        "unprotected": "training without privacy",
        "Plain + parity": "training without privacy + parity",
        "DP, ε = 1": "private training",
        "DP + parity, ε = 1": "parity",
        "Fermi, ε = 1": "FERMI",
        "Fermi + parity, ε = 1": "FERMI + parity",
        "DP + projection, ε = 1": "projection (not private)",
        "Local, ε = 1": "randomised reports",
    }
    assert {name for name, option in options.items() if option.use} == {
        "DP + parity, ε = 1",
        "Fermi, ε = 1",
        "Fermi + parity, ε = 1",
    }
    assert options["DP + parity, ε = 1"].note == "needs everybody's group when deciding"


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_slot_is_left_and_names_are_the_same_in_every_language(language):
    """A table is keyed by the names of its options."""
    found = case_of(study(epsilons=(0.5, 3)), language=language)
    texts = [found.question, *found.method, *found.limits, found.promise.text]
    assert not any(re.search(r"[{}]", text) for text in texts)
    assert "DP, ε = 0.5" in found.options
    assert compose(found).verdict


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (study(), "Whether one person's row is among the training rows changes"),
        (study(unit="replace one"), "Another row in the place of one person's row changes"),
        (study(facts_notes=(Note("unit", "Whose rows?"),)), "Whether one row is among the training rows"),
        (study(("local",)), "Another answer in one report changes"),
    ],
)
def test_the_promise_says_what_may_change(results, said):
    """To one row is promised less than to one person, and a report is not a row."""
    assert promise_of(results).startswith(said)


def test_the_promise_has_its_numbers():
    """A page would promise without epsilon and delta."""
    found = case_of(study()).promise
    facts = {fact.term: fact.text.replace("\xa0", " ") for fact in found.facts}
    assert "at most a factor of 2.72 plus 1.0" in found.text
    assert found.text.endswith("Whoever trains sees the rows.")
    assert facts["Guarantee"] == "ε = 1, δ = 1.0 × 10⁻⁵, central"
    assert facts["Mechanism"] == "DP logistic regression, σ = 1.500, n = 900"
    assert facts["Assumes"] == "classes are public"
    assert "plus" not in promise_of(study(("local",)))


def test_what_no_noise_covers_is_said_with_the_promise():
    """The label of local reports is in the clear, and survey weights are in every method."""
    local = promise_of(study(("local",)))
    plain = study()
    facts = replace(plain.facts, schema=plain.facts.schema.with_roles(weight="w"))

    assert local.endswith("Not protected: sex, age and hired.")
    assert "Not protected" not in promise_of(plain)
    assert promise_of(Results(plain.plan, facts, plain.outcomes)).endswith("Not protected: w.")


def test_nothing_is_promised_where_nothing_is():
    """Projection reads the private rows again; parity alone claims nothing."""
    void = study(("dp+projection",))
    assert promise_of(void).startswith("Nobody is promised anything")
    assert case_of(study(("plain+parity",))).promise is None


def test_a_delta_that_gives_one_row_away_is_a_warning():
    """One row in all may then be published as it is."""
    few = case_of(study(sizes=(400, 400))).warnings
    many = case_of(study(sizes=(100_000, 100_000))).warnings
    assert not any("δ" in warned.head for warned in few)
    assert any("δ" in warned.head for warned in many)


def test_the_estimators_can_be_made():
    """A line that Python refuses helps nobody."""
    names = {name: getattr(learn, name) for name in learn.__all__} | {
        "LogisticRegression": LogisticRegression
    }
    found = case_of(study(strength=5.0, epochs=3, unit="replace one", gap=0.05)).commands
    assert [command.option for command in found] == [
        "DP, ε = 1",
        "DP + parity, ε = 1",
        "Fermi, ε = 1",
        "Fermi + parity, ε = 1",
    ]
    made_of = [eval(command.line, dict(names)) for command in found]
    assert (made_of[1].epsilon, made_of[1].gap, made_of[1].estimator.unit) == ("1", 0.05, "replace one")
    assert (made_of[2].strength, made_of[2].epochs, made_of[2].delta) == (5, 3, "1/100000")


def test_the_evidence_has_every_method_with_its_bound():
    """Researchers compare methods by accuracy, gap and what is proved of it."""
    section = case_of(study(tuple(METHODS), (1,))).evidence[0]
    rows = {row[0]: row for row in section.tables[0].rows}
    assert len(rows) == len(METHODS)
    assert rows["parity"][-1] == "4.0"
    assert not rows["private training"][-1]
    assert section.tables[0].header[-1] == "Proved bound\npoints"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            (
                "Parity: people with sex = m are worse off by 50 of 1,000"
                " and 25 more of 1,000 decisions are wrong."
            ),
        ),
        (
            "de",
            "Parität: sex = m stehen um 50 von 1.000 schlechter und 25 von 1.000 Urteilen mehr sind falsch.",
        ),
    ],
)
def test_where_nobody_pays_for_privacy_the_price_of_parity_is_said(language, said):
    """A page would say nothing of the step that was run, and parity would seem as free as privacy."""

    def harmless(setting, repeat):
        method = METHODS.get(setting.mechanism, METHODS["plain"])
        found = measures(epsilon=setting.epsilon if method.takes_epsilon else None, auc=0.8)
        near = (repeat % 3 - 1) / 2_000 if setting.is_protected else 0.0
        refused = 0.1 if method.then == "parity" else 0.0
        rates = {"tpr": 0.7 + near - refused, "fpr": 0.2 + near}
        men = of_group(0.5 + near - refused / 2, **rates)
        return found, {"f": of_group(0.4 + near, tpr=0.7 + near, fpr=0.2 + near), "m": men}

    results = made(harmless, methods=("dp", "dp+parity"), epsilons=(1,), notes=NOTES)
    view = compose(case_of(results, language=language))
    assert view.state == "nobody"
    assert said in view.what_to_do.details
