"""Randomised reports in the place of a true column: whatever asks for true values refuses them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand.collect import (
    GRR,
    OUE,
    Aggregate,
    GroupOutcomes,
    LocalPrivatizer,
    Memo,
    group_rates,
    strategy_for,
)
from evenhand.decide import Allotment, Entities, count, rule_probability
from evenhand.errors import InvalidParameterError
from evenhand.learn import (
    DPFermi,
    DPLogisticRegression,
    FairProjection,
    ParityPostProcessor,
    PrivateTraining,
)
from evenhand.measure import (
    alpha_fairness,
    count_table,
    data_unfairness,
    group_report,
    noise_parts,
)
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.release import Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

PEOPLE = 2_000
GROUP = np.repeat([0, 1], PEOPLE // 2)
OUTCOME = (np.random.default_rng(3).random(PEOPLE) < np.where(GROUP == 1, 0.6, 0.25)).astype(int)
FEATURES = np.column_stack([GROUP, np.random.default_rng(4).random(PEOPLE)])
CODES = {"sex": GROUP, "race": GROUP}
GRR2 = GRR(k=2, epsilon=1)
GROUPS = GRR2.privatize(GROUP, rng=1)
OUTCOMES = GRR2.privatize(OUTCOME, rng=2)
WIDE = OUE(k=8, epsilon=1).privatize(GROUP, rng=3)  # an array of two dimensions
SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))])
MODEL = LogisticRegression().fit(FEATURES, OUTCOME)
PARITY = {"prefit": True, "held_out": True, "rng": 1}


def _privatizer():
    schema = Schema([Column("x", Domain.integers(0, 1)), Column("z", Domain.integers(0, 1))])
    return LocalPrivatizer("grr", epsilon=1, columns="x", schema=schema, rng=1)


CASES = {
    "group_rates, outcome": lambda: group_rates(OUTCOMES, GROUPS),
    "group_rates of columns, outcome": lambda: group_rates(OUTCOMES, {"sex": GROUPS}),
    "Aggregate.of, outcome": lambda: Aggregate.of(GROUPS, outcome=OUTCOMES),
    "GroupOutcomes, outcome": lambda: GroupOutcomes.exact(OUTCOMES, GROUP, k=2),
    "GroupOutcomes, group": lambda: GroupOutcomes.exact(OUTCOME, GROUPS, k=2),
    "Protocol.privatize": lambda: GRR2.privatize(GROUPS, rng=1),
    "Strategy.privatize": lambda: strategy_for({"sex": 2, "race": 2}, epsilon=1).privatize(
        {**CODES, "race": GROUPS}, rng=1
    ),
    "Memo.answer": lambda: Memo(GRR2).answer(np.arange(PEOPLE), GROUPS, rng=1),
    "LocalPrivatizer.fit": lambda: LocalPrivatizer("grr", epsilon=1, rng=1).fit(WIDE),
    "LocalPrivatizer.fit_transform": lambda: _privatizer().fit_transform(WIDE),
    "group_report, group": lambda: group_report(OUTCOME, OUTCOME, GROUPS),
    "group_report, crossed": lambda: group_report(OUTCOME, OUTCOME, {"a": GROUP, "b": GROUPS}),
    "group_report, y_true": lambda: group_report(OUTCOMES, OUTCOME, GROUP),
    "group_report, y_pred": lambda: group_report(OUTCOME, OUTCOMES, GROUP),
    "group_report, weights": lambda: group_report(OUTCOME, OUTCOME, GROUP, weights=GROUPS),
    "group_report, scores": lambda: group_report(OUTCOME, OUTCOME, GROUP, scores=GROUPS),
    "count_table": lambda: count_table(OUTCOME, OUTCOME, GROUPS),
    "data_unfairness, outcome": lambda: data_unfairness(OUTCOMES, GROUP),
    "data_unfairness, group": lambda: data_unfairness(OUTCOME, GROUPS),
    "noise_parts": lambda: noise_parts(GROUPS, split=GROUP),
    "alpha_fairness": lambda: alpha_fairness(GROUPS),
    "DPLogisticRegression, X": lambda: DPLogisticRegression(noise=1, epochs=1, rng=1).fit(WIDE, OUTCOME),
    "DPLogisticRegression, y": lambda: DPLogisticRegression(noise=1, epochs=1, rng=1).fit(FEATURES, OUTCOMES),
    "DPLogisticRegression, person": lambda: DPLogisticRegression(noise=1, epochs=1, rng=1).fit(
        FEATURES, OUTCOME, person=GROUPS
    ),
    "DPFermi, y": lambda: DPFermi(rng=1).fit(FEATURES, OUTCOMES, group=GROUP),
    "DPFermi, group": lambda: DPFermi(rng=1).fit(FEATURES, OUTCOME, group=GROUPS),
    "FairProjection, y": lambda: FairProjection(LogisticRegression()).fit(FEATURES, OUTCOMES, group=GROUP),
    "FairProjection, group": lambda: FairProjection(LogisticRegression()).fit(
        FEATURES, OUTCOME, group=GROUPS
    ),
    "FairProjection.predict": lambda: (
        FairProjection(LogisticRegression())
        .fit(FEATURES, OUTCOME, group=GROUP)
        .predict(FEATURES, group=GROUPS)
    ),
    "ParityPostProcessor, y": lambda: ParityPostProcessor(MODEL, kind="odds", **PARITY).fit(
        FEATURES, OUTCOMES, group=GROUP
    ),
    "ParityPostProcessor, group": lambda: ParityPostProcessor(MODEL, **PARITY).fit(FEATURES, group=GROUPS),
    "ParityPostProcessor.predict": lambda: (
        ParityPostProcessor(MODEL, **PARITY).fit(FEATURES, group=GROUP).predict(FEATURES, group=GROUPS)
    ),
    "PrivateTraining, X": lambda: PrivateTraining(LogisticRegression(), _privatizer()).fit(WIDE, OUTCOME),
    "PrivateTraining, y": lambda: PrivateTraining(LogisticRegression(), _privatizer()).fit(
        FEATURES.round().astype(int), OUTCOMES
    ),
    "Table": lambda: Table(SCHEMA, {"sex": GROUPS}),
    "Table.encode": lambda: Table.encode(GROUPS, SCHEMA),
    "Histogram.count": lambda: Histogram.count(GROUPS, SCHEMA),
    "Rule": lambda: (count("a") > 0).holds({"a": GROUPS}),
    "rule_probability": lambda: rule_probability(count("a") > 0, {"a": GROUPS}, DiscreteLaplace(1)),
    "Entities": lambda: Entities.read({"a": GROUPS}, counts="a"),
    "Allotment": lambda: Allotment(np.ones(PEOPLE)).shares(GROUPS),
}


@pytest.mark.parametrize("case", CASES)
def test_reports_are_refused_where_true_values_are_asked_for(case):
    """A gap of .36 was given as .18 with a narrow interval: reports were taken for the truth."""
    with pytest.raises(InvalidParameterError, match="randomised reports"):
        CASES[case]()
