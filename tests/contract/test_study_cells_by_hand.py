"""Cells computed a second time, from the raw rows, with nothing of the study but its seeds and protocols."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from evenhand.collect.joint.build import strategy_for
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.plan import Plan
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import report_setting as reports

EDGES = (0, 20, 40, 60, 100)
SEED, REPEAT = 17, 3
NAMES = {"race": ("b", "a", "w"), "sex": ("m", "f", "x")}
TARGETS = {"truth": (True, False), "text": (">50K", "<=50K"), "number": (7, 3)}
SIZES = {"income": 4, "race": 3, "sex": 3, "age": 52}


def _people(target, count=700):
    draws = np.random.default_rng(5)
    race, sex = draws.choice(NAMES["race"], count), draws.choice(["f", "m", "x"], count, p=[0.47, 0.48, 0.05])
    age, income = draws.integers(18, 70, count), draws.normal(50, 20, count).clip(0, 99.9)
    score = (race == "w") + (sex == "m") / 2 + (age - 40) / 30 + draws.normal(0, 1, count)
    yes, no = TARGETS[target]
    labels = [yes if each else no for each in score > 0.8]
    return {"income": income, "race": race, "label": labels, "sex": sex, "age": age}


def _schema(order, sensitive, protected, target):
    yes, no = TARGETS[target]
    columns = {
        "income": Column("income", Domain.binned(EDGES)),
        "race": Column("race", Domain.categorical(NAMES["race"])),
        "label": Column("label", Domain.categorical([yes, no])),
        "sex": Column("sex", Domain.categorical(["m", "f"]), outside="other"),
        "age": Column("age", Domain.integers(18, 69)),
    }
    return Schema(
        [columns[name] for name in order], sensitive=sensitive, protected=protected,
        privileged={"race": "w", "sex": "m"}[protected], target="label", positive=yes,
    )  # fmt: skip


def _codes(rows):
    return {
        "income": np.digitize(rows["income"], EDGES[1:-1]),
        "race": np.array([NAMES["race"].index(each) for each in rows["race"]]),
        "sex": np.array([NAMES["sex"].index(each) for each in rows["sex"]]),
        "age": rows["age"] - 18,
    }


def _share(hits, of):
    return float(hits.sum() / of.sum()) if of.sum() else math.nan


def _rates(true, said, who):
    yes, chosen = who & (true == 1), who & (said == 1)
    return {
        "selection": _share(chosen, who),
        "tpr": _share(yes & chosen, yes),
        "fpr": _share(chosen & (true == 0), who & (true == 0)),
        "accuracy": _share(who & (true == said), who),
        "precision": _share(yes & chosen, chosen),
        "base_rate": _share(yes, who),
        "people": float(who.sum()),
    }


def _measures(true, said, scores, group, privileged):
    groups = [_rates(true, said, group == each) for each in range(3)]
    first, second = _rates(true, said, group == privileged), _rates(true, said, group != privileged)
    pairs = list(itertools.combinations(groups, 2))
    tpr, fpr, rate = ([abs(a[name] - b[name]) for a, b in pairs] for name in ("tpr", "fpr", "selection"))
    found = {
        "acc": np.mean(true == said),
        "f1": f1_score(true, said),
        "recall": recall_score(true, said),
        "balanced_accuracy": balanced_accuracy_score(true, said),
        "auc": roc_auc_score(true, scores),
        "di": second["selection"] / first["selection"],
        "sp_gap": np.max(rate),
        "eo_gap": np.max(tpr + fpr),
        "meo_gap": np.max([(a + b) / 2 for a, b in zip(tpr, fpr, strict=True)]),
    }
    named = {"spd": "selection", "eod": "tpr", "ped": "fpr", "oad": "accuracy", "prd": "precision"}
    return found | {name: first[rate] - second[rate] for name, rate in named.items()}, groups


def _by_hand(rows, schema, setting, *, encoder, folds, model):
    codes, protected = _codes(rows), schema.protected
    label = np.array([each == schema.positive for each in rows["label"]]).astype(int)
    privileged = NAMES[protected].index(schema.privileged)
    sizes = {name: SIZES[name] for name in schema.names if name in schema.sensitive}
    strategy = None
    if setting.is_protected:
        split = "uniform" if setting.option("split") == "none" else setting.option("split")
        more = {"protocol": setting.mechanism, "strategy": setting.option("strategy"), "protected": protected}
        strategy = strategy_for(sizes, epsilon=setting.epsilon, split=split, **more)
    state, everybody = SEED + REPEAT, np.arange(len(label))
    parts = [train_test_split(everybody, test_size=0.25, stratify=label, random_state=state)]
    if folds:
        parts = list(StratifiedKFold(folds, shuffle=True, random_state=state).split(everybody, label))

    def features(people, reported):
        blocks = []
        for name in (each for each in schema.names if each != "label"):
            one = encoder == "codes" or (
                encoder == "narrow" and name in {"age", "income"} and name not in sizes
            )
            block = reported.get(name, np.eye(SIZES[name])[codes[name][people]])
            blocks.append(np.asarray(block.argmax(axis=1)[:, None] if one else block, dtype=float))
        return np.hstack(blocks)

    found = []
    for number, (train, test) in enumerate(parts):
        source = SeededSource(SEED).for_cell(draw_text(Cell(setting, REPEAT)))
        source = source.for_cell(f"fold {number}") if folds else source
        reported = {}
        if strategy is not None:
            sent = {name: codes[name][train].astype(np.uint8) for name in strategy.columns}
            reported = dict(strategy.indicators(strategy.privatize(sent, rng=source)))
        fitted = model(state).fit(features(train, reported), label[train])
        clean = features(test, {})
        scores = fitted.predict_proba(clean)[:, 1]
        measures, groups = _measures(
            label[test], fitted.predict(clean), scores, codes[protected][test], privileged
        )
        data = {"true": _gap(label[train], np.eye(3)[codes[protected][train]], privileged)}
        seen = reported.get(protected)
        data["reported"] = math.nan if seen is None else _gap(label[train], seen.astype(float), privileged)
        data["tested"] = _gap(label[test], np.eye(3)[codes[protected][test]], privileged)
        found.append((measures, groups, data))
    return _averaged(found)


def _gap(label, named, privileged):
    own, others = named[:, privileged], np.delete(named, privileged, axis=1).sum(axis=1)
    return own @ label / own.sum() - others @ label / others.sum()


def _averaged(found):
    def mean(values):
        defined = [each for each in values if not math.isnan(each)]
        return sum(defined) / len(defined) if defined else math.nan

    measures, groups, data = zip(*found, strict=True)
    rates = [{name: mean([part[at][name] for part in groups]) for name in groups[0][at]} for at in range(3)]
    for at in range(3):
        rates[at]["people"] = sum(part[at]["people"] for part in groups)
    return (
        {name: mean([part[name] for part in measures]) for name in measures[0]},
        rates,
        {name: mean([part[name] for part in data]) for name in data[0]},
    )


def _logistic(state):
    return make_pipeline(MaxAbsScaler(), LogisticRegression(random_state=state, max_iter=5000))


def _tree(state):
    return DecisionTreeClassifier(max_depth=4, random_state=state)


WAY = "independent"
FIRST, SECOND = ("income", "race", "label", "sex", "age"), ("label", "age", "sex", "race", "income")
TWO, THREE = ("race", "sex"), ("sex", "race", "age")
CASES = [
    (FIRST, TWO, "race", "text", Setting(), "narrow", None, _logistic),
    (SECOND, THREE, "sex", "truth", reports("grr", Fraction(2), "k-based", WAY), "codes", 3, _tree),
    (FIRST, THREE, "race", "number", reports("oue", Fraction(4), "uniform", WAY), "narrow", 3, _logistic),
    (SECOND, TWO, "sex", "text", reports("grr", Fraction(3), "none", "combined"), "one-hot", None, _tree),
    (FIRST, THREE, "sex", "number", reports("ss", Fraction(1), "sample", WAY), "one-hot", None, _logistic),
    (SECOND, TWO, "race", "truth", reports("olh", Fraction(1, 2), "none", "single"), "narrow", None, _tree),
    (FIRST, TWO, "race", "truth", reports("the", Fraction(2), "optimal", WAY), "narrow", None, _tree),
]  # fmt: skip


@pytest.mark.parametrize(
    ("order", "sensitive", "protected", "target", "setting", "encoder", "folds", "model"),
    CASES,
    ids=[f"{case[4]}, {case[5]}" for case in CASES],
)
def test_a_cell_is_what_comes_out_by_hand(
    order, sensitive, protected, target, setting, encoder, folds, model
):
    """Every table, figure and sentence of a study is made of these numbers."""
    rows, schema = _people(target), _schema(order, sensitive, protected, target)
    named = "logistic" if model is _logistic else _tree(0)
    task = _task(setting, model=named, encoder=encoder, test=0.25, folds=folds)
    plan = Plan(schema=schema, task=task, seed=SEED, repeats=4)
    outcome = execute(Cell(setting, REPEAT), plan=plan, prepared=prepare(plan, frame=pa.table(rows)))
    measures, rates, data = _by_hand(rows, schema, setting, encoder=encoder, folds=folds, model=model)

    assert outcome.measures == pytest.approx(measures, abs=1e-12, nan_ok=True)
    assert outcome.data == pytest.approx(data, abs=1e-12, nan_ok=True)
    for found, expected in zip(outcome.groups.values(), rates, strict=True):
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def _task(setting, **how):
    if not setting.is_protected:
        return CollectTask(**how)
    split = "uniform" if setting.option("split") == "none" else setting.option("split")
    return CollectTask(
        setting.mechanism, setting.epsilon, splits=split, strategies=setting.option("strategy"), **how
    )
