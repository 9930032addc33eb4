"""A sensitive outcome: people randomise the answer that the model learns, and it is tested on true ones."""

import itertools
import math
import shlex
from fractions import Fraction
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from evenhand.answer.harm import find_payers
from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Sampled
from evenhand.engine.choices import strategy_of as privatize_strategy
from evenhand.errors import PlanError
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.plan import Plan
from evenhand.study.profile.profiling import profile
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.tasks.collect.case import case
from evenhand.study.tasks.collect.effects import effects
from evenhand.study.tasks.collect.prepare import fit_protocols
from evenhand.study.tasks.collect.remedies import remedies
from evenhand.study.tasks.collect.task import CollectTask, privatize_command
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.shared.protection import promise_of, strategy_of
from evenhand.study.tasks.shared.report_settings import report_setting as reports
from evenhand.study.tasks.shared.reported import NOT_ASKED, fair_cut, label_disparities, reported_columns
from statistical._exact import ALPHA, exact_events_pvalue
from unit.study._page_studies import made, schema_of, two

ANSWERS = ("yes", "no", "unsure")
PROTOCOLS = ("grr", "oue", "ss", "rappor", "olh", "auto")
PUBLIC = {"outcomes": {"weights": [0.5, 0.5], "rates": [0.2, 0.6], "source": "census"}}


def schema(answers=2, sensitive=("view", "sex")):
    """Return a survey on a view of two or three answers."""
    view = Column("view", Domain.categorical(ANSWERS[:answers]))
    sex, age = Column("sex", Domain.categorical(["f", "m"])), Column("age", Domain.integers(0, 4))
    return Schema(
        [age, sex, view], sensitive=sensitive, protected="sex", privileged="m", target="view", positive="yes"
    )


def rows(people=3_000, *, answers=2, seed=3):
    """Return people of whom the old and the men say yes more often."""
    draws = np.random.default_rng(seed)
    sex, age = draws.integers(0, 2, people), draws.integers(0, 5, people)
    says = draws.random(people) < 0.15 + 0.15 * age + 0.1 * sex
    other = draws.integers(1, answers, people)
    views = np.array(ANSWERS)[np.where(says, 0, other)]
    return pa.table({"age": age, "sex": np.array(["f", "m"])[sex], "view": views})


def outcome(task, setting, *, frame=None, declared=None, repeat=1):
    """Return what came of one cell of a study."""
    plan = Plan(task=task, schema=declared or schema(), seed=7)
    prepared = prepare(plan, frame=rows() if frame is None else frame)
    return execute(Cell(setting, repeat), plan=plan, prepared=prepared)


def setting_of(protocol="grr", split="uniform", strategy="independent", *, epsilon=1, **parameters):
    """Return a setting of one way to report."""
    return reports(protocol, Fraction(epsilon), split, strategy, parameters)


# --- what a report tells --------------------------------------------------------------------------


def _law(strategy, codes):
    """Return the probability of every report that a person of these codes may send."""
    if strategy.name == "combined":
        return strategy.product.matrix(exact=True)[np.ravel_multi_index(codes, strategy.shape)]
    laws = [law.matrix(exact=True)[code] for law, code in zip(strategy.senders, codes, strict=True)]
    if isinstance(strategy, Sampled):
        return np.concatenate([share * law for share, law in zip(strategy.shares, laws, strict=True)])
    return reduce(np.multiply.outer, laws).reshape(-1)


WAYS = [
    *itertools.product(("grr", "oue", "ss", "auto"), ("uniform", "k-based", "optimal"), ("independent",)),
    ("grr", "none", "combined"),
    ("oue", "sample", "independent"),
]


@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize(("protocol", "split", "strategy"), WAYS)
def test_no_pair_of_people_is_told_apart_by_more_than_epsilon(protocol, split, strategy, answers):
    """The outcome would be given away beside the other answers, on top of the epsilon that is promised."""
    declared = schema(answers)
    made = strategy_of(setting_of(protocol, split, strategy), declared)
    people = list(itertools.product(*(range(declared[name].size) for name in made.columns)))
    laws = [_law(made, codes) for codes in people]

    worst = max(
        (one / two).max() for one, two in itertools.permutations(laws, 2)
    )  # every probability is above 0
    assert set(made.columns) == {"view", "sex"}
    assert all(law.sum() == 1 for law in laws)
    assert math.e * (1 - 1e-9) < worst <= math.e
    assert promise_of(setting_of(protocol, split, strategy), declared).epsilon == 1


def test_a_report_that_gives_the_outcome_away_is_found():
    """The twin: with the outcome reported outside the split, the same check must fail."""
    declared = schema()
    both = [strategy_of(setting_of(), declared.with_roles(sensitive=[name])) for name in ("view", "sex")]
    laws = [
        np.multiply.outer(*(each.senders[0].matrix()[code] for each, code in zip(both, codes, strict=True)))
        for codes in itertools.product((0, 1), (0, 1))
    ]
    assert max((one / two).max() for one, two in itertools.permutations(laws, 2)) > math.e * 2


@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize(("protocol", "split", "strategy"), WAYS)
def test_labels_are_drawn_by_the_law_that_corrects_them(protocol, split, strategy, answers):
    """The cut-off of the scores would be that of another law, and everybody would be decided on wrongly."""
    declared, setting, people = schema(answers), setting_of(protocol, split, strategy), 20_000
    law = strategy_of(setting, declared).protocols["view"]
    for true, chance, twin in ((0, law.p, law.q), (1, law.q, law.p)):
        codes = {"view": np.full(people, true), "sex": np.arange(people) % 2}
        told = reported_columns(
            codes, setting=setting, schema=declared, encoder="narrow", source=SeededSource(5)
        )["view"]
        told = told[told != NOT_ASKED]
        assert people / 10 < told.size <= people
        assert exact_events_pvalue(told, [1 - chance, chance]) > ALPHA
        assert exact_events_pvalue(told, [1 - twin, twin]) < ALPHA


# --- from which score on an outcome is likely -----------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_outcome_of_two_values_is_likely_where_its_report_is(protocol, epsilon):
    """A false yes and a false no must be as likely, else whoever is near one half is decided on wrongly."""
    for split, strategy in (("optimal", "independent"), ("sample", "independent"), ("none", "combined")):
        setting = setting_of("grr" if strategy == "combined" else protocol, split, strategy, epsilon=epsilon)
        assert fair_cut(setting, schema()) is None
        law = strategy_of(setting, schema()).protocols["view"]
        assert law.name.startswith("grr")
        assert law.p_exact + law.q_exact == 1


@pytest.mark.parametrize("true", [0.4999, 0.5001, 0.05, 0.95])
@pytest.mark.parametrize("protocol", ["grr", "oue", "ss", "rappor", "auto"])
def test_the_cut_off_is_where_the_true_outcome_is_likelier_than_not(protocol, true):
    """More than two answers are not reported evenly, and one half would refuse nearly everybody."""
    declared, setting = schema(3), setting_of(protocol)
    law = strategy_of(setting, declared).protocols["view"]
    outputs = law.outputs()
    supports = law.indicators(outputs)[:, 0].astype(bool)
    by_view = law.matrix()[:, supports].sum(axis=1)  # by the law of the whole report, not from p and q
    supported = true * by_view[0] + (1 - true) * by_view[1]

    assert by_view[1] == pytest.approx(by_view[2], abs=1e-12)
    assert (supported > (fair_cut(setting, declared) or 1 / 2)) == (true > 1 / 2)


def test_an_outcome_in_the_clear_has_no_cut_off_of_its_own():
    """Plans whose outcome is in the clear would be decided otherwise than before."""
    assert fair_cut(setting_of("oue"), schema(3, sensitive=("sex",))) is None
    assert fair_cut(setting_of("grr", "none", "single"), schema(3)) is None
    assert fair_cut(Setting("none"), schema(3)) is None


@pytest.mark.parametrize("protocol", ["grr", "oue"])
def test_the_cut_off_keeps_the_number_of_people_selected(protocol, monkeypatch):
    """Without it a model that learnt the right chances would select nobody, and blame privacy."""
    task, declared = (
        CollectTask("grr", 1, model="logistic", encoder="one-hot"),
        schema(3, sensitive=("view",)),
    )
    frame = rows(40_000, answers=3)
    selected = {}
    for name, setting in (("true", Setting("none")), ("told", setting_of(protocol))):
        found = outcome(task, setting, frame=frame, declared=declared)
        selected[name] = np.mean([found.groups[group]["selection"] for group in ("f", "m")])
    monkeypatch.setattr("evenhand.study.tasks.collect.execute.fair_cut", lambda *_: None)
    found = outcome(task, setting_of(protocol), frame=frame, declared=declared)
    uncorrected = np.mean([found.groups[group]["selection"] for group in ("f", "m")])

    assert selected["told"] == pytest.approx(selected["true"], abs=0.12)  # one cell of ten people
    assert selected["true"] > 0.4
    assert uncorrected < 0.15  # only the cell in which more than 79 % say yes, at most


@pytest.mark.parametrize(("answers", "holds"), [(2, True), (3, False)])
def test_answers_together_keep_one_half_for_two_values_and_for_no_more(answers, holds):
    """One report of all answers ties the label's noise to the features': three values have no one cut-off."""
    draws, groups = np.random.default_rng(2), 4
    made = Combined({"view": answers, "town": groups}, 1)
    law, view = made.product.matrix(), made.protocols["view"]
    found = []
    for _ in range(300):
        true = draws.dirichlet(np.full(answers * groups, 0.4))
        told = (true @ law).reshape(answers, groups)
        true = true.reshape(answers, groups)
        chance, seen = true[0] / true.sum(axis=0), told[0] / told.sum(axis=0)
        sure = abs(chance - 1 / 2) > 1e-6
        found.append(((chance > 1 / 2) == (seen > (view.p + view.q) / 2))[sure].all())
    assert all(found) == holds


# --- a cell ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "strategy", "encoder"),
    [
        ("uniform", "independent", "one-hot"),
        ("uniform", "independent", "codes"),
        ("none", "combined", "one-hot"),
        ("none", "combined", "codes"),
        ("sample", "independent", "one-hot"),
    ],
)
def test_a_cell_is_the_same_by_hand(split, strategy, encoder):
    """A model would learn true outcomes, or be tested on reported ones, and nobody would see it."""
    task = CollectTask("grr", 1, splits="uniform", model="logistic", encoder=encoder)
    setting, frame = setting_of("grr", split, strategy), rows()
    found = outcome(task, setting, frame=frame)

    codes = {name: np.array(frame[name]) for name in ("age", "sex", "view")}
    codes = codes | {"sex": (codes["sex"] == "m") * 1, "view": (codes["view"] == "no") * 1}
    says = 1 - codes["view"]
    train, test = train_test_split(np.arange(len(says)), test_size=0.2, stratify=says, random_state=8)
    strategy_ = strategy_of(setting, schema())
    source = SeededSource(7).for_cell(draw_text(Cell(setting, 1)))
    sent = strategy_.privatize({name: codes[name][train] for name in strategy_.columns}, rng=source)
    label, sex = (strategy_.indicators(sent)[name] for name in ("view", "sex"))
    kept = np.ones(len(train), bool) if sent.asked is None else label.sum(axis=1) == 1
    ages = np.eye(5)[codes["age"]]
    if encoder == "codes":
        learnt, clean = (np.c_[codes["age"][train], sex[:, 1]], np.c_[codes["age"], codes["sex"]][test])
    else:
        learnt, clean = (np.c_[ages[train], sex], np.c_[ages, np.eye(2)[codes["sex"]]][test])
    model = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=5000, random_state=8))
    guessed = model.fit(learnt[kept], label[kept, 0]).predict(clean)

    for place, group in enumerate(("f", "m")):
        own = codes["sex"][test] == place
        assert found.groups[group]["selection"] == pytest.approx(guessed[own].mean(), abs=1e-12)
        assert found.groups[group]["base_rate"] == pytest.approx(says[test][own].mean(), abs=1e-12)
    assert found.measures["acc"] == pytest.approx((guessed == says[test]).mean(), abs=1e-12)
    if split == "sample":
        assert math.isnan(found.data["reported"])  # nobody reports both
    else:
        man = sex[:, 1] == 1
        assert found.data["reported"] == pytest.approx(label[man, 0].mean() - label[~man, 0].mean())
    man = codes["sex"][train] == 1
    assert found.data["true"] == pytest.approx(says[train][man].mean() - says[train][~man].mean())


def test_reports_of_the_other_columns_stay_as_they_were():
    """Columns have streams of their own: a sensitive outcome must not draw the others anew."""
    codes = {"view": np.arange(50) % 2, "sex": np.arange(50) % 2}
    told = {
        sensitive: reported_columns(
            codes, setting=setting_of(epsilon=epsilon), schema=schema(sensitive=sensitive),
            encoder="codes", source=SeededSource(1),
        )
        for sensitive, epsilon in ((("view", "sex"), 2), (("sex",), 1))
    }  # fmt: skip
    assert told["view", "sex"]["sex"].tolist() == told["sex",]["sex"].tolist()
    assert "view" not in told["sex",]


def test_a_part_in_which_everybody_reports_the_same_selects_them_alike(monkeypatch):
    """A model cannot learn from one label, and the study would stop after hours."""
    task = CollectTask("grr", 1, model="logistic")
    for label in (0, 1):
        monkeypatch.setattr(
            "evenhand.study.tasks.collect.execute.reported_columns",
            lambda codes, label=label, **_: {"view": np.full(len(codes["view"]), label, np.uint8)},
        )
        found = outcome(task, setting_of())
        assert {found.groups[group]["selection"] for group in ("f", "m")} == {label}


def test_folds_and_weights_go_with_a_sensitive_outcome():
    """The usual designs would be closed to surveys, which have weights more often than anybody."""
    frame = rows(400).append_column("w", pa.array(np.linspace(1, 3, 400)))
    declared = schema().with_roles(weight="w")
    found = outcome(
        CollectTask("grr", 1, model="logistic", folds=3), setting_of(), frame=frame, declared=declared
    )
    assert sum(found.groups[group]["people"] for group in ("f", "m")) == 400


def test_labels_of_some_people_are_compared_among_those_alone():
    """People who were not asked would count as refused."""
    true, group = np.array([1, 0, 1, 0], np.uint8), np.array([1, 1, 0, 0])
    told = np.array([1, NOT_ASKED, 0, NOT_ASKED], np.uint8)
    found = label_disparities(true, group, privileged=1, reported=None, told=told)
    assert found == {"true": 0.0, "reported": 1.0}


# --- what does not fit ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "task", "field"),
    [
        (schema(3), CollectTask("grr", 1, strategies="combined"), "task.strategies"),
        (schema(3), CollectTask("grr", 1, model=RidgeClassifier()), "task.model"),
        (schema(), CollectTask("optimal", 1, splits="uniform"), "task.protocols"),
        (schema(), CollectTask("optimal", 1, strategies="combined"), "task.protocols"),
    ],
)
def test_what_does_not_fit_a_sensitive_outcome_is_refused_before_anything_runs(declared, task, field):
    """The optimal channel would read true outcomes; others would be cut off at a wrong score."""
    with pytest.raises(PlanError, match=r"'view'.* Hint: ") as caught:
        prepare(Plan(task=task, schema=declared), frame=rows(300, answers=declared["view"].size))
    assert caught.value.field == field


def test_optimal_works_from_public_rates_and_is_not_tried_unless_asked():
    """The fairest channel needs outcomes by group; here nobody has them but the public."""
    task = CollectTask([{"name": "optimal", **PUBLIC}], 1, splits="uniform", model="logistic")
    [setting] = task.settings()
    assert set(strategy_of(setting, schema()).columns) == {"view", "sex"}
    assert not math.isnan(outcome(task, setting).measures["acc"])
    fitted = fit_protocols(CollectTask(["auto", "grr", "oue"], 1), schema())
    assert [each.name for each in fitted.protocols] == ["auto", "oue"]


def test_a_model_without_probabilities_learns_an_outcome_of_two_values():
    """Only the labels are needed there, and nothing should be refused without need."""
    assert (
        outcome(CollectTask("grr", 4, model=RidgeClassifier()), setting_of(epsilon=4)).measures["acc"] > 0.5
    )


def test_rows_of_any_kind_are_profiled_with_a_sensitive_outcome():
    """A trusted curator has the true outcome; naming it sensitive changes nothing there and must not fail."""
    for task, pairs in ((CollectTask("grr", 1), 1), (LearnTask(), 0)):
        prepared = prepare(Plan(task=task, schema=schema()), frame=rows(300))
        assert len(profile(prepared).among_sensitive) == pairs


# --- who pays, and what is said -------------------------------------------------------------------


def world(people=8_000):
    """Return a world in which 9 of 10 women and old men say yes, 2 of 10 other men; 1 in 10 is a woman."""
    place = np.arange(people)
    is_woman, tenth, age = place % 10 == 0, place // 10 % 10, place // 100 % 5
    says = np.where(is_woman | (age == 4), tenth < 9, tenth < 2)
    return pa.table({"age": age, "sex": np.where(is_woman, "f", "m"), "view": np.where(says, "yes", "no")})


@pytest.mark.figures
@pytest.mark.parametrize(("sensitive", "payers"), [(("view", "sex"), ["f"]), (("view",), [])])
def test_women_pay_where_their_group_is_randomised_and_nobody_where_only_the_outcome_is(sensitive, payers):
    """By hand, at epsilon 1: of reports that say woman 10 * .62 / (10 * .62 + 90 * .38) = 15 % are women's.

    Of the young among them .15 * .9 + .85 * .2 = 31 % say yes, fewer than one half, so no young woman is
    selected. With the outcome alone randomised women report yes in .27 + .46 * .9 = 69 %, and all still are.
    """
    task = CollectTask("grr", 1, splits="uniform", parameters={"max_iter": 30})
    plan = Plan(task=task, schema=schema(sensitive=sensitive), repeats=5, seed=3)
    results = run(plan, frame=world(), workers=1)
    table = effects(results.plan.task, results)
    told = results.arrays.of_groups[1, :, 0, results.arrays.rates.index("selection")]

    assert [payer.row.group for payer in find_payers(table).payers] == payers
    assert told.mean() == pytest.approx(0.2 if payers else 1, abs=0.05)


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_that_the_outcome_is_randomised_too():
    """People would read that the outcome is not protected, or that it is where it is not."""
    told, clear = (
        case(results.plan.task, results)
        for results in (
            made(study_rates, collect=CollectTask(way, 1, strategies=strategy), schema=survey(), repeats=2)
            for way, strategy in (("oue", "independent"), ("grr", "single"))
        )
    )
    assert told.question.startswith("If people's answers to sex and hired are randomised")
    assert "The outcome hired is randomised too: the model learns from" in told.promise.text
    assert "between any two sets of answers to sex and hired by a factor of 2.72" in told.promise.text
    assert told.promise.facts[-1].text == "region and job; people who are decided on later"
    assert "GRR and OUE" in [option[0] for option in told.options.values()]
    assert "The outcome hired is not protected." in clear.promise.text
    assert clear.promise.facts[-1].text.startswith("hired, region and job")


def study_rates(setting):
    """Return rates under which women pay."""
    return two(0.18, 0.60) if setting.is_protected else two(0.30, 0.60)


def survey():
    """Return a schema whose outcome is sensitive."""
    return schema_of().with_roles(sensitive=["sex", "hired"])


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sensitive", [("view", "sex"), ("view",)])
@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_command_reports_as_the_study_tested(protocol, answers, sensitive):
    """People would be asked by another protocol than the one whose price the page shows."""
    declared = schema(answers, sensitive)
    setting = setting_of(protocol, "optimal")
    words = shlex.split(privatize_command(setting, declared, data="people.csv", file="schema.toml"))
    typed = words[words.index("--protocol") + 1]
    named = dict(pair.split("=") for pair in typed.split(",")) if "=" in typed else typed
    asked = words[words.index("--columns") + 1].split(",")
    made = privatize_strategy(
        declared, asked, epsilon="1", protocol=named, split="optimal", strategy="independent"
    )
    assert made.protocols == strategy_of(setting, declared).protocols


# --- remedies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers", [2, 3])
def test_remedies_of_a_sensitive_outcome_can_be_run(answers):
    """A remedy that reads true outcomes, or cuts off at a wrong score, would be tried and recommended."""
    task = CollectTask("oue", 1, splits="uniform", model="logistic")
    [page] = task.settings()
    prepared = prepare(Plan(task=task, schema=schema(answers)), frame=rows(600, answers=answers))
    found = remedies(task, page, prepared.facts)

    assert ("combined" in [each.option("strategy") for each in found]) == (answers == 2)
    assert "optimal" not in [each.mechanism for each in found]
    for setting in found:
        measures = outcome(task, setting, frame=rows(600, answers=answers), declared=schema(answers)).measures
        assert not math.isnan(measures["acc"])
