"""Hostile rows, labels, identifiers and classifiers: clear refusals, no leaks, nothing taken for markup."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from attacks._report_payloads import PAYLOADS
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.learn.parity.key import PersonKey
from evenhand.learn.parity.post_processor import ParityPostProcessor
from unit.learn._parity_cases import GROUP, TRAINED, Column, X, Y, fitted
from unit.report._parsing import Parsed


def test_names_of_groups_are_text_and_nothing_else():
    """A label comes from a file; in a notebook it must not run."""
    names = np.array(sorted({each for each in PAYLOADS if each.isprintable()}), dtype=object)[:40]
    group = names[np.arange(len(X)) % len(names)]
    model = fitted(groups=names.tolist(), data=(X, Y, group), epsilon=1)
    plain = fitted(groups=list(range(len(names))), data=(X, Y, np.arange(len(X)) % len(names)), epsilon=1)

    for shown, usual in ((model.changes_, plain.changes_), (model.bounds_, plain.bounds_)):
        page, expected = Parsed(shown._repr_html_()), Parsed(usual._repr_html_())
        assert page.elements == expected.elements
        assert page.faults == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_features_that_are_no_numbers_are_refused_before_anything_is_drawn(bad):
    """The classifier says so; what matters is that no half-made model is left behind."""
    rows = np.random.default_rng(1).normal(size=(200, 2))
    label, group = (rows[:, 0] > 0).astype(int), (rows[:, 1] > 0).astype(int)
    trained = LogisticRegression().fit(rows, label)
    spoilt = rows.copy()
    spoilt[3, 0] = bad
    model = ParityPostProcessor(trained, epsilon=1, groups=[0, 1], held_out=True, rng=1)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.fit(spoilt, group=group)

    assert not hasattr(model, "table_")
    assert not hasattr(model, "rates_")


@pytest.mark.parametrize(
    "group",
    [
        [None] * len(X), np.full(len(X), np.nan), np.where(GROUP == 0, np.nan, GROUP), [object()] * len(X),
        ["a", 1] * (len(X) // 2), np.stack([GROUP, GROUP], axis=1), "abc", 3, {},
    ],
)  # fmt: skip
def test_groups_that_are_none_are_refused_by_name(group):
    with pytest.raises(InvalidParameterError, match="'group' parameter of ParityPostProcessor"):
        fitted(data=(X, Y, group), epsilon=1)


def test_no_message_holds_a_label_a_row_or_a_number_of_rows():
    """Messages end up in logs, and logs are read by others."""
    secret = np.where(GROUP == 1, "secretgroup", "other")
    wrong = [
        {"groups": ["other", "third"], "data": (X, Y, secret)},
        {"groups": ["other", "secret"], "data": (X, Y, secret), "epsilon": 1},
        {"kind": "odds", "data": (X, np.where(Y, "secretlabel", "x"), GROUP)},
        {"data": (X, Y[:417], GROUP)},
        {"data": (X, Y, GROUP[:417])},
        {"prefit": False, "data": (X, np.zeros_like(Y), GROUP)},
        {"prefit": False, "data": (X, np.array([417, None] * 300, dtype=object), GROUP)},
        {"prefit": False, "data": (X, np.array(["secretlabel", 417] * 300, dtype=object), GROUP)},
        {"prefit": False, "data": (X, (417 + Y).astype(object), GROUP)},
        {"prefit": False, "data": (X, 417j * Y, GROUP)},
    ]
    for given in wrong:
        with pytest.raises(EvenhandError) as caught:
            fitted(**given)
        assert not any(each in str(caught.value) for each in ("secretgroup", "secretlabel", "417", "600"))


def test_a_classifier_that_lies_about_its_guarantee_promises_nothing():
    """Only a Guarantee is one."""
    liar = Column().fit(X, Y)
    liar.guarantee_ = "epsilon = 0"

    assert str(fitted(epsilon=1, estimator=liar).guarantee_.trust) == "none"


def test_predictions_outside_the_classes_count_as_negative():
    """A stray label is nobody's positive answer."""

    class Stray(Column):
        def predict(self, X):  # noqa: N803 - scikit-learn's name
            return np.full(len(X), 9)

    model = fitted(estimator=Stray().fit(X, Y))

    assert model.table_.counts[:, 1].tolist() == [0, 0, 0]
    assert set(model.predict(X, group=GROUP)) == {0}


def test_no_identifier_gets_another_law_however_it_was_chosen():
    """Without the key, a thousand spellings of one name are a thousand draws, not a choice."""
    key = PersonKey(b"k" * 32)
    spellings = [f"ada{' ' * i}" for i in range(2_000)]
    passed = (key.numbers(spellings) < 2**52).mean()

    assert 0.4 < passed < 0.6
    assert len(set(key.numbers(spellings).tolist())) == 2_000


@pytest.mark.parametrize("person", ["a" * 100_000, "\ud800", "\0", 10**300, -(2**70)])
def test_odd_identifiers_are_identifiers(person):
    key = PersonKey(b"k" * 32)

    assert key.numbers([person]) == key.numbers([person])


def test_the_key_is_in_no_state_of_the_model():
    """Whatever a serializer looks at, the secret is not there."""
    secret = bytes(range(100, 132))
    model = fitted(key=PersonKey(secret))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        stored = pickle.dumps(model, protocol)
        assert secret not in stored
        assert secret.hex().encode() not in stored
    assert secret.hex() not in repr(model.get_params())
    assert secret.hex() not in repr(model.__getstate__())


def test_extreme_amounts_draw_and_bound():
    """A tiny epsilon drowns everything in noise; the bound says 1 and nothing breaks."""
    for epsilon in ("1e-6", 0.001, 9):
        model = fitted(epsilon=epsilon, kind="odds")
        assert 0 <= model.bounds_.likely <= 1
        assert np.isfinite(model.changes_.overall)
    assert fitted(epsilon="1e-6").bounds_.expected == 1
    with pytest.raises(InvalidParameterError):
        fitted(epsilon="1e-12")


def test_a_trained_classifier_is_left_as_it_was():
    before = pickle.dumps(TRAINED)
    fitted(epsilon=1)

    assert pickle.dumps(TRAINED) == before
