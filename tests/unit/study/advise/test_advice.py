"""Advice on made-up results whose gaps and losses are known."""

import json
from fractions import Fraction

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.advise import Advice, advice_plan, advise
from evenhand.study.advise.advice import Limits
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.release.task import ReleaseTask
from unit.study._advice_cases import NOTHING, grid, results, setting


def level(gap, acc=0.8):
    """Return figures of a setting: half are selected, with a gap between women and men."""
    rates = (("tpr", acc), ("fpr", 1 - acc))
    right = {f"{group} {rate}": value for group in ("women", "men") for rate, value in rates}
    return {"acc": acc, "women selection": 0.5 - gap / 2, "men selection": 0.5 + gap / 2, **right}


def made(**more):
    """Return results in which the gap narrows with epsilon: 20 points at 1, 9 at 2 and 1 at 4."""
    values = {
        NOTHING: level(0.01),
        setting("grr", 1): level(0.20, acc=0.75),
        setting("grr", 2): level(0.09, acc=0.79),
        setting("grr", 4): level(0.01),
    }
    return results(values, collect=grid(("grr",), (1, 2, 4)), columns=1, **more)


def test_the_smallest_epsilon_within_the_limit_on_gaps_is_advised():
    """If not, people would be protected less than their limits allow, or a limit would be broken."""
    by_limit = {
        limit: float(made().advise(max_gap=limit).recommendation.epsilon) for limit in (0.3, 0.15, 0.05)
    }

    assert by_limit == {0.3: 1, 0.15: 2, 0.05: 4}


def test_the_limit_on_accuracy_is_kept():
    """If not, accuracy would be lost beyond what was asked."""
    found = made().advise(max_accuracy_loss=0.02)

    assert found.recommendation.epsilon == 2
    assert [each.option.epsilon for each in found.kept if "wrong" in each.broken] == [1]


def test_without_limits_it_is_the_smallest_epsilon_at_which_nobody_pays():
    """If not, advice and the page would answer the same question in two ways."""
    found = made().advise()

    assert found.recommendation.epsilon == 4
    assert found.view.question == "Which is the smallest ε at which nobody pays?"


def test_the_largest_epsilon_is_a_limit_too():
    """If not, a setting with less protection than accepted would be advised."""
    found = made().advise(max_gap=0.05, epsilon=2)

    assert found.recommendation is None
    assert found.view.verdict == "None of the settings tried."
    assert found.view.what_to_do.text.startswith("Nearest comes GRR at ε = 2. Of 1,000: a gap of at most ")
    assert {each.option.epsilon for each in found.kept} == {1, 2}


def test_no_setting_within_the_limits_is_said():
    """If an empty choice ended in an error, a strict limit could not be asked about."""
    found = made().advise(epsilon="1/2")

    assert found.recommendation is None
    assert found.kept == ()
    assert found.view.what_to_do.text == "No setting was tried that is usable within these limits."


def test_a_setting_that_leaves_a_sensitive_column_in_the_clear_is_never_advised():
    """If it were, half of what people were promised would be given away."""
    task = grid(protocols=("grr",), epsilons=(1, 4), strategies=("independent", "single"))
    values = {"all": level(0.20), setting("grr", 1, strategy="single"): level(0.01), NOTHING: level(0.01)}
    found = results(values, collect=task).advise(max_gap=0.1)

    assert found.recommendation is None
    assert all("single" not in each.option.name for each in found.kept)


def test_one_repeat_advises_nothing():
    """If it did, chance would be taken for a gap."""
    assert made(repeats=1).advise(max_gap=0.9).recommendation is None


def test_the_advice_shows_its_setting_and_who_pays_with_it():
    """If the page were about another setting, it could say the opposite of the advice."""
    found = made().advise(max_gap=0.15)

    assert isinstance(found, Advice)
    assert found.view.page == found.view.recommended == str(found.recommendation)
    assert found.view.verdict == "Use GRR at ε = 2."
    assert found.sentence.startswith("**Use GRR at ε = 2.** No smaller ε tried will do. Of 1,000: a gap of")
    assert "omen" in found.view.who.text
    assert str(found) == repr(found)
    assert "Use GRR at ε = 2." in found._repr_html_()


def test_advice_in_german_is_german():
    """If a part stayed English, half of a page could not be read."""
    assert made().advise(max_gap=0.15, language="de").view.verdict == "GRR bei ε = 2 nutzen."


def test_advice_for_programs_is_json_and_has_every_setting():
    """If a number were NaN, a strict reader would refuse it."""
    told = made().advise(max_gap=0.15).to_dict()

    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["recommendation"]["epsilon"] == "2"
    assert told["limits"] == {"max_gap": 0.15, "max_accuracy_loss": None, "epsilon": None}
    assert {(each["epsilon"], tuple(each["breaks"])) for each in told["tried"]} == {
        (1, ("gap",)), (2, ()), (4, ()),
    }  # fmt: skip


def test_the_command_does_what_is_advised():
    """If it did something else, the advice would be worth nothing."""
    (command,) = made().advise(max_gap=0.15, data="people.csv", schema="s.toml").view.commands

    assert command.line.startswith("evenhand privatize people.csv reports.csv --schema s.toml")
    assert "--epsilon 2 --protocol grr" in command.line


@pytest.mark.parametrize("name", ["max_gap", "max_accuracy_loss"])
@pytest.mark.parametrize("value", [-0.1, 1.1, 5, True, "much"])
def test_a_limit_that_is_no_share_is_refused(name, value):
    """If 5 were read as 5 points, somebody would ask for 500."""
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of advise must be a share"):
        Limits(**{name: value})


def test_other_results_and_other_kinds_are_refused():
    """If not, advice on something else would end in an error that says nothing."""
    with pytest.raises(InvalidParameterError, match="must be Results"):
        advise("results")
    with pytest.raises(InvalidParameterError, match="must be a Plan"):
        advice_plan("plan")
    with pytest.raises(InvalidParameterError, match="must be of a collection"):
        advice_plan(Plan(task=ReleaseTask(columns=["a"])))


def test_the_small_study_tries_a_few_epsilons_and_every_way_to_report():
    """If the ends were left out, the smallest epsilon that passes could not be found."""
    small = advice_plan(Plan(task=grid(epsilons=("1/4", "1/2", 1, 2, 4, 8)), repeats=30))

    first, *between, last = small.task.epsilons
    assert (first, last, len(between)) == (Fraction(1, 4), 8, 2)
    assert small.repeats == 8
