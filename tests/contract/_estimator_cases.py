"""Every estimator, how it is fitted and used, and other values of its parameters."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import PrivacyWarning
from evenhand.learn.encoding.encoder import PublicEncoder
from evenhand.learn.fermi.classifier import DPFermi
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.learn.projection.classifier import FairProjection
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.learn.training.private_training import PrivateTraining
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema

_draws = SeededSource(21).generator()
ROWS = 240
FRAME = pd.DataFrame(
    {"a": _draws.integers(0, 2, ROWS), "b": _draws.integers(0, 3, ROWS), "c": _draws.integers(0, 9, ROWS)}
)
GROUP = FRAME["a"].to_numpy()
LABEL = (FRAME["c"].to_numpy() + 3 * GROUP + _draws.normal(size=ROWS) > 5).astype(int)
SCHEMA = Schema(
    [
        Column("a", Domain.integers(0, 1)),
        Column("b", Domain.integers(0, 2)),
        Column("c", Domain.integers(0, 8)),
        Column("y", Domain.integers(0, 1)),
    ],
    sensitive=["a", "b"],
    protected="a",
    privileged=1,
    target="y",
    positive=1,
)
OTHER_SCHEMA = Schema(list(SCHEMA), sensitive=["b"], target="c")
QUICK = {"epochs": 1, "batch": 60, "rng": 7, "classes": [0, 1], "rows": ROWS}
PREFIT = FrozenEstimator(LogisticRegression().fit(FRAME, LABEL))


@dataclass(frozen=True)
class Case:
    """An estimator, how it is fitted and used, and other values of its parameters."""

    name: str
    make: Any
    fit: Any
    use: Any
    others: dict[str, Any]


def told_by(model):
    names = ("guarantee_", "guarantee_per_fit_", "guarantee_per_collection_", "rates_guarantee_")
    names += ("simulated_", "collections_", "assumptions")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def fit_with_groups(model):
    return model.fit(FRAME, LABEL, group=GROUP)


CASES = [
    Case(
        "LocalPrivatizer",
        lambda: LocalPrivatizer(epsilon="1/10", split="uniform", schema=SCHEMA, rng=7),
        lambda model: model.fit(FRAME),
        lambda model: (model.transform(FRAME), model.encode(FRAME), list(model.get_feature_names_out())),
        {
            "epsilon": 8,
            "protocol": "oue",
            "split": "sample",
            "strategy": "combined",
            "columns": "b",
            "schema": OTHER_SCHEMA,
            "others": "passthrough",
            "keep_index": True,
            "rng": 99,
            "ledger": "ledger.db",
        },
    ),
    Case(
        "PrivateTraining",
        lambda: PrivateTraining(
            LogisticRegression(), LocalPrivatizer(epsilon="1/10", split="uniform", schema=SCHEMA, rng=7)
        ),
        lambda model: model.fit(FRAME, LABEL),
        lambda model: model.predict_proba(FRAME),
        {
            "estimator": LogisticRegression(C=1e-4),
            "privatizer": LocalPrivatizer(epsilon=8, schema=OTHER_SCHEMA),
            "estimator__C": 1e-4,
            "privatizer__epsilon": 8,
            "privatizer__schema": OTHER_SCHEMA,
            "privatizer__rng": None,
        },
    ),
    Case(
        "DPLogisticRegression",
        lambda: DPLogisticRegression(1, "1e-6", **QUICK),
        lambda model: model.fit(FRAME, LABEL),
        lambda model: model.predict_proba(FRAME),
        {
            "epsilon": 8,
            "delta": "1e-3",
            "noise": 9,
            "unit": "replace one",
            "clip": 7.0,
            "epochs": 3,
            "batch": 10,
            "rate": 9.0,
            "average": False,
            "fit_intercept": False,
            "rows": 999,
            "classes": [1, 2],
            "preprocessing": ["nobody looked"],
            "rng": None,
            "progress": print,
            "rows_per_person": 2,
            "ledger": "ledger.db",
        },
    ),
    Case(
        "DPFermi",
        lambda: DPFermi(1, "1e-6", group_epsilon="1/10", groups=[0, 1], **QUICK),
        fit_with_groups,
        lambda model: model.predict_proba(FRAME),
        {
            "epsilon": 8,
            "delta": "1e-3",
            "unit": "replace one",
            "strength": 0.0,
            "group_epsilon": 1,
            "share": 0.1,
            "clip": 7.0,
            "matrix_clip": 7.0,
            "radius": 1.0,
            "epochs": 3,
            "batch": 10,
            "rate": 1.0,
            "matrix_rate": 1.0,
            "average": False,
            "kind": "odds",
            "as_printed": True,
            "rows": 999,
            "groups": [0, 1, 2],
            "classes": [1, 2],
            "preprocessing": ["nobody looked"],
            "rng": None,
            "progress": print,
            "rows_per_person": 2,
            "ledger": "ledger.db",
        },
    ),
    Case(
        "ParityPostProcessor",
        lambda: ParityPostProcessor(PREFIT, epsilon="1/10", held_out=True, groups=[0, 1], rng=7),
        lambda model: model.fit(FRAME[:100].copy(), LABEL[:100], group=GROUP[:100]),
        lambda model: (model.predict(FRAME, group=GROUP), model.predict_proba(FRAME, group=GROUP)),
        {
            "estimator": LogisticRegression(C=1e-4).fit(FRAME, 1 - LABEL),
            "gap": 0.5,
            "epsilon": 8,
            "kind": "odds",
            "aim": "accuracy",
            "weights": "groups",
            "prefit": False,
            "held_out": False,
            "holdout": 0.5,
            "unit": "replace one",
            "groups": [1, 0],
            "positive": 0,
            "as_printed": True,
            "public_rows": True,
            "confidence": 0.5,
            "rng": None,
            "rows_per_person": 2,
            "ledger": "ledger.db",
        },
    ),
    Case(
        "FairProjection",
        lambda: FairProjection(LogisticRegression(), tolerance=0.05),
        fit_with_groups,
        lambda model: model.predict_proba(FRAME, group=GROUP),
        {
            "estimator": LogisticRegression(C=1e-4),
            "kind": "odds",
            "divergence": "ce",
            "tolerance": 0.5,
            "prefit": True,
            "marginals": "calibrated",
            "as_printed": True,
            "public_rows": True,
        },
    ),
    Case(
        "PublicEncoder",
        lambda: PublicEncoder(SCHEMA),
        lambda model: model.fit(FRAME),
        lambda model: (
            model.transform(FRAME),
            model.features({name: FRAME[name].to_numpy() for name in FRAME}),
            list(model.get_feature_names_out()),
        ),
        {"schema": OTHER_SCHEMA, "columns": ["b"], "without": ["a"], "numbers": "linear"},
    ),
]
SPENDING = [case for case in CASES if case.name not in {"FairProjection", "PublicEncoder"}]
NOT_FITTED = {"ParityPostProcessor": {"key"}}
"""The key of a deployment is never stored with a model, and is set on it afterwards."""

parametrize = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
parametrize_spending = pytest.mark.parametrize("case", SPENDING, ids=lambda case: case.name)


def fitted(case):
    return case.fit(case.make())


def is_same(one, other):
    if isinstance(one, tuple):
        return all(is_same(*pair) for pair in zip(one, other, strict=True))
    return np.array_equal(np.asarray(one), np.asarray(other))


def _spent(model):
    return model.guarantee_.loss.amount if hasattr(model, "guarantee_") else None


def counted_by(case, model):
    """Return what the last act of the model counted for: epsilon of all tables, fits or collections."""
    return model.rates_guarantee_.epsilon if case.name == "ParityPostProcessor" else _spent(model)


def spend(case, model):
    """Fit again and, where fitting costs nothing, collect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        case.fit(model)
        if case.name == "LocalPrivatizer":
            model.transform(FRAME)
    return model
