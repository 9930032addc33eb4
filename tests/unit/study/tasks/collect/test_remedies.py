"""Which other ways to collect are tried as remedies, what their cells do, and what a page says of them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

from evenhand.answer.choice import choose_remedy
from evenhand.answer.compose import compose
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.whole import run
from evenhand.study.tasks.collect.case import case
from evenhand.study.tasks.collect.effects import effects
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.protection import promise_of
from evenhand.study.tasks.shared.report_settings import add_parity, has_parity
from unit.study import _small_studies as small
from unit.study._page_studies import crossed_schema, made, remedies_of, schema_of, setting, two

pytestmark = pytest.mark.usefixtures("undrawn")

SPLIT, JOINT, OPTIMAL = "GRR, optimal split", "GRR, combined", "OPTIMAL, uniform split"
PAGE, PARITY = "GRR, uniform split", "GRR, uniform split, parity"


def names(found):
    """Return the settings without their epsilon."""
    return [each.label for each in found]


def wide_schema():
    """Return a schema whose sensitive columns have 66 combinations."""
    schema = schema_of()
    many = Column("region", Domain.categorical([f"r{each}" for each in range(33)]))
    return replace(schema, columns=tuple(many if each.name == "region" else each for each in schema.columns))


CASES = {
    "several columns, split evenly": ({"splits": "uniform"}, schema_of(), [SPLIT, JOINT, OPTIMAL, PARITY]),
    "split for least error already": (
        {"splits": "optimal"},
        schema_of(),
        [JOINT, "OPTIMAL, optimal split", "GRR, optimal split, parity"],
    ),
    "one column": (
        {"splits": "uniform"},
        schema_of(sensitive=("sex",)),
        [OPTIMAL, PARITY],
    ),
    "the group is not reported": ({"splits": "uniform"}, schema_of(sensitive=("region",)), [PARITY]),
    "crossed groups of equal columns": ({"splits": "uniform"}, crossed_schema(), [JOINT, PARITY]),
    "too many combinations": ({"splits": "uniform"}, wide_schema(), [SPLIT, OPTIMAL, PARITY]),
    "joint reports": (
        {"strategies": "combined"},
        schema_of(),
        ["OPTIMAL, combined", "GRR, combined, parity"],
    ),
    "the group alone": (
        {"strategies": "single"},
        schema_of(),
        ["OPTIMAL, single", "GRR, single, parity"],
    ),
    "one question per person": (
        {"splits": "sample"},
        schema_of(),
        [SPLIT, JOINT, "OPTIMAL, sample split", "GRR, sample split, parity"],
    ),
    "all of it is asked for": (
        {
            "protocols": ["grr", "optimal"],
            "splits": ["uniform", "optimal"],
            "strategies": ["independent", "combined"],
        },
        schema_of(),
        [PARITY],
    ),
    "the optimal protocol": (
        {"protocols": "optimal", "splits": "optimal"},
        schema_of(),
        [JOINT, "OPTIMAL, optimal split, parity"],
    ),
}


@pytest.mark.parametrize("known", CASES, ids=str)
def test_remedies_are_those_that_apply_and_are_not_asked_for(known):
    """A remedy would be missing, or the same reports would be drawn a second time as their own remedy."""
    grid, schema, expected = CASES[known]
    task = CollectTask(**{"protocols": "grr", "epsilons": [1, 2], **grid})
    found = remedies_of(task, schema)
    assert names(found) == expected
    assert not set(found) & set(task.settings())
    assert {each.epsilon for each in found} == {Fraction(1)}


def test_no_remedy_promises_less_than_the_page():
    """A smaller loss would be bought with privacy and called a remedy."""
    for grid, schema, _ in CASES.values():
        task = CollectTask(**{"protocols": "grr", "epsilons": ["1/2"], **grid})
        page = next(task.settings())
        own = promise_of(page, schema)
        for remedy in remedies_of(task, schema, page):
            promise = promise_of(remedy, schema)
            assert promise.epsilon <= own.epsilon
            assert promise.delta <= own.delta
            assert promise.trust == own.trust
            assert set(own.protects) <= set(promise.protects)


def test_one_group_has_no_parity():
    """Everybody of a single group would be evened out with themselves."""
    schema = schema_of(sensitive=("region",))
    assert not remedies_of(CollectTask("grr", splits="uniform"), schema, groups=("men",))


def test_a_remedy_that_its_encoder_cannot_read_is_left_out():
    """A study would fail in the cells that nobody asked for."""
    task = CollectTask("grr", splits="sample", encoder="narrow")
    assert "OPTIMAL, sample split" in names(remedies_of(task, schema_of()))
    assert "OPTIMAL, sample split" not in names(remedies_of(replace(task, encoder="codes"), schema_of()))


# --- cells ------------------------------------------------------------------------------------------


def small_task(**parts):
    """Return a task of a moment."""
    return CollectTask("grr", [1], **{"splits": "uniform", "model": "logistic", **parts})


def outcomes(task, settings, *, seed=11, rows=None):
    """Return the outcome of the first repeat of settings."""
    plan = small.plan(task=task, seed=seed)
    prepared = task.prepare(plan, frame=rows or small.people(900))
    return [task.execute(Cell(each, 0), plan=plan, prepared=prepared) for each in settings]


def test_remedies_run_the_same_twice_and_leave_asked_cells_as_they_are():
    """What was asked for would depend on what is tried beside it."""
    task = small_task()
    asked = [Setting(), *task.settings()]
    plan = Plan(data=DataSource(dataset="causal", options={"n": 400}), task=task, repeats=1)
    rows = task.prepare(plan)
    found = task.remedies(asked[-1], rows.facts)
    assert len(found) == 4

    def told(settings):
        cells = (task.execute(Cell(each, 0), plan=plan, prepared=rows) for each in settings)
        return {
            str(each.cell.setting): (each.failure, each.measures, each.groups, each.data) for each in cells
        }

    alone, first, again = told(asked), told([*found, *asked]), told([*asked, *reversed(found)])
    assert not [name for name, outcome in first.items() if outcome[0] is not None]
    assert {name: repr(first[name]) for name in again} == {name: repr(again[name]) for name in again}
    assert {name: repr(first[name]) for name in alone} == {name: repr(alone[name]) for name in alone}


def test_parity_trains_the_same_model_on_the_same_reports():
    """Its effect would be mixed up with that of other draws."""
    recorder = small.Recorder()
    task = small_task(model=recorder)
    page = next(task.settings())
    outcomes(task, [page, add_parity(page)])
    (features, target), (evened, same_target) = recorder.memory.trained
    assert np.array_equal(features, evened)
    assert np.array_equal(target, same_target)
    assert len(recorder.memory.asked) == 3  # the test rows twice, and the training rows


@pytest.mark.figures
def test_parity_selects_true_groups_alike():
    """The page would show the price of a parity that is none."""
    task = small_task()
    page = next(task.settings())
    plain, even = outcomes(task, [page, add_parity(page)], rows=small.people(30_000))
    gap = [
        max(rates) - min(rates)
        for rates in ([each["selection"] for each in found.groups.values()] for found in (plain, even))
    ]
    assert gap[0] > 0.2
    assert gap[1] < 0.05  # six times the standard error of the difference of two groups
    assert even.measures["auc"] == plain.measures["auc"]


# --- what a page says -------------------------------------------------------------------------------


def study(rates, **parts):
    """Return a made-up study of a page's setting and its remedies."""
    task = CollectTask("grr", [1], splits="uniform")
    return made(rates, collect=task, repeats=8, plan={"remedies": remedies_of(task, schema_of())}, **parts)


def rates(*, optimal=(0.18, 0.60), even=(0.18, 0.60)):
    """Return rates under which women pay, and perhaps less with a remedy."""

    def of(each):
        if not each.is_protected:
            return two(0.30, 0.60)
        if has_parity(each):
            return two(*even)
        return two(*optimal) if each.mechanism == "optimal" else two(0.18, 0.60)

    return of


def tags(results):
    """Return how each remedy is tagged."""
    table = effects(results.plan.task, results)
    rows = judge(table)
    return {each.option.name: each.tag for each in choose_remedy(table, find_payers(table, rows)).trials}


def test_a_remedy_is_marked_with_its_step_and_its_simplicity():
    """Parity would be compared with no protection at all, or named before a simpler way."""
    table = effects(study(rates()).plan.task, study(rates()))
    found = {each.name.removesuffix(", ε = 1"): each for each in table.options}
    assert [found[name].simplicity for name in (SPLIT, JOINT, OPTIMAL, PARITY)] == [0, 1, 2, 4]
    assert all(found[name].is_remedy for name in (SPLIT, JOINT, OPTIMAL, PARITY))
    assert {found[name].reference for name in (SPLIT, JOINT, OPTIMAL)} == {"unprotected"}
    assert found[PARITY].reference == table.page
    assert [name for name, option in found.items() if option.needs_group] == [PARITY]


def test_parity_that_would_help_needs_the_true_group():
    """It would be recommended to somebody who does not hold the groups."""
    found = tags(study(rates(even=(0.30, 0.60))))
    assert found[f"{PARITY}, ε = 1"] == "needs the true group"
    assert set(found.values()) == {"needs the true group", "no clear help"}
    assert set(tags(study(rates())).values()) == {"no clear help"}


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_page_tells_remedies_in_plain_words(language):
    """People would read code names, or be told to use what they cannot."""
    results = study(rates(even=(0.30, 0.60)))
    told = case(results.plan.task, results, language=language)
    words = [part for each in told.options.values() for part in each]
    split = {"en": "a split of ε for least error", "de": "Aufteilung von ε für den kleinsten Fehler"}
    joint = {"en": "answers together", "de": "Antworten gemeinsam"}
    parity = {"en": "parity", "de": "Parität"}
    names = [split[language], joint[language], "Optimal", parity[language]]
    assert [each.words for each in told.options.values()][2:] == names
    assert not [each for each in words if "post" in each or "_" in each or "OPTIMAL" in each]
    assert told.options[f"{PARITY}, ε = 1"].use == ""
    sentence = {"en": "Parity would help, but would need everybody's true group.",
                "de": "Parität würde helfen, bräuchte aber die wahre Gruppe aller."}  # fmt: skip
    assert compose(told).what_to_do.text == sentence[language]


def test_parity_that_takes_from_somebody_is_not_said_to_help():
    """Men would lose as many places as women gain, and the page would only regret that nobody knows sex."""
    results = study(rates(even=(0.30, 0.45)))
    told = [compose(case(results.plan.task, results, language=each)).what_to_do.text for each in ("en", "de")]
    assert told == [
        "Parity would need everybody's true group, and men are worse off by 149 of 1,000.",
        "Parität bräuchte die wahre Gruppe aller, und men stehen um 149 von 1.000 schlechter.",
    ]


def test_short_words_mean_what_was_asked_for_and_a_remedy_only_if_nothing_else_fits():
    """Words that fitted one setting would fit several as soon as remedies are tried."""
    results = study(rates())
    assert str(results.setting("grr 1")) == str(results.setting({"mechanism": "grr"})) == f"{PAGE}, ε = 1"
    assert str(results.setting("optimal uniform")) == f"{OPTIMAL}, ε = 1"
    assert str(results.setting("parity")) == f"{PARITY}, ε = 1"
    assert results.compare("grr", "optimal uniform").pairs == 8


def test_parity_promises_nothing_and_has_no_command():
    """A page about it would repeat the promise of reports that it goes around."""
    results = study(rates())
    page = results.setting(add_parity(setting()))
    assert case(results.plan.task, results, page=page).promise.text.startswith("Nobody is promised anything")
    assert results.plan.task.next_command(page, schema_of(), data="people.csv", file="schema.toml") == ""


# --- worlds in which the truth is known -------------------------------------------------------------


def applicants(hired, *, n=5_000, seed=1):
    """Return people of whom only women with a degree are often hired, a share `hired`, and all who test well.

    Told apart, both answers at ε = 2 name such women in 53 of 100 reports, told together in 71. A model that
    learns from what is reported then sees a chance of 0.10 + 0.53 `hired` or of 0.07 + 0.71 `hired`.
    """
    draws = np.random.default_rng(seed)
    sex, degree, test = draws.integers(0, 2, n), draws.integers(0, 2, n), draws.random(n) < 0.3
    chance = np.where(sex == 1, 0.3, np.where(degree == 1, hired, 0.1))
    chosen = draws.random(n) < np.where(test, 0.9, chance)
    rows = {"sex": sex, "degree": degree, "test": test, "hired": chosen}
    words = {
        "sex": ["women", "men"],
        "degree": ["no", "yes"],
        "test": ["low", "high"],
        "hired": ["no", "yes"],
    }
    columns = [Column(name, Domain.categorical(values)) for name, values in words.items()]
    roles = {"sensitive": ["sex", "degree"], "protected": "sex", "privileged": "men"}
    schema = Schema(columns, **roles, target="hired", positive="yes")
    return schema, pa.table({name: np.array(words[name])[rows[name].astype(int)] for name in words})


def trials(hired, *, seed):
    """Run such a collection with its remedies; return what is tagged how, and what women then lack."""
    task = CollectTask("grr", [2], splits="uniform", model=DecisionTreeClassifier(max_depth=3))
    schema, rows = applicants(hired)
    plan = Plan(schema=schema, task=task, repeats=10, seed=seed)
    found = task.remedies(next(task.settings()), task.prepare(plan, frame=rows).facts)
    results = run(replace(plan, remedies=found), frame=rows, workers=1, progress=False)
    table = effects(task, results)
    lost = table.by_key["GRR, combined, ε = 2", "women", "selected"]
    return tags(results), lost.mean_due - lost.mean_after


@pytest.mark.figures
def test_answers_together_are_recommended_where_they_help_and_only_there():
    """A remedy that works would not be found, or one that does nothing would be sold."""
    found, lost = trials(0.7, seed=1)
    assert found == {
        "GRR, combined, ε = 2": "recommended",
        "OPTIMAL, uniform split, ε = 2": "no clear help",
        "GRR, uniform split, parity, ε = 2": "no clear help",
    }
    assert lost < 10
    assert trials(0.7, seed=101)[1] < 10  # with other draws as well
    twin, still_lost = trials(0.55, seed=1)
    assert set(twin.values()) == {"no clear help"}
    assert still_lost > 300
