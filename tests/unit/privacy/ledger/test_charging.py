"""Everything that draws charges the ledger that is configured, before it draws and never for a simulation."""

import copy
import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from evenhand.collect import LocalPrivatizer
from evenhand.collect.privatizer import spent
from evenhand.engine import privatize_file
from evenhand.errors import (
    BudgetExceededError,
    EvenhandError,
    GuaranteeError,
    InvalidParameterError,
    LedgerError,
    OutsideDomainError,
    PrivacyWarning,
)
from evenhand.learn import DPFermi, DPLogisticRegression, ParityPostProcessor
from evenhand.privacy import randomness
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.ledger.charging import BESIDE, VARIABLE
from evenhand.release import Histogram, Laplace, Suppression
from evenhand.schema import Column, Domain, Schema

ROWS = 60
FRAME = pd.DataFrame({"a": np.arange(ROWS) % 2, "b": np.arange(ROWS) % 3})
GROUP = FRAME["a"].to_numpy()
LABEL = (np.arange(ROWS) % 5 > 1).astype(int)
SCHEMA = Schema([Column("a", Domain.integers(0, 1)), Column("b", Domain.integers(0, 2))], sensitive="a")
TRAINING = {"epochs": 1, "batch": 30, "classes": [0, 1], "rows": ROWS}
TRAINED = FrozenEstimator(LogisticRegression().fit(FRAME, LABEL))


def release_table(**given):
    table = Histogram.count(FRAME, SCHEMA)
    return Laplace(epsilon="1/2", unit="replace one").release(table, **given)


def collect(**given):
    return LocalPrivatizer("grr", epsilon="1/2", columns="a", schema=SCHEMA, **given).fit_transform(FRAME)


def train(**given):
    return DPLogisticRegression("1/2", "1e-7", unit="replace one", **TRAINING, **given).fit(FRAME, LABEL)


def train_fairly(**given):
    model = DPFermi("1/2", "1e-7", unit="replace one", groups=[0, 1], **TRAINING, **given)
    return model.fit(FRAME, LABEL, group=GROUP)


def post_process(**given):
    model = ParityPostProcessor(
        TRAINED, epsilon="1/2", unit="replace one", groups=[0, 1], held_out=True, **given
    )
    return model.fit(FRAME.copy() + 0.5, group=GROUP)


DRAWS = {
    "release": release_table, "LocalPrivatizer": collect, "DPLogisticRegression": train,
    "DPFermi": train_fairly, "ParityPostProcessor": post_process,
}  # fmt: skip
every_draw = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", epsilon="3/4", delta="1e-6")


@pytest.fixture(autouse=True)
def acts_have_plain_names(monkeypatch):
    """So that every word that is drawn is of noise."""
    numbers = itertools.count()
    monkeypatch.setattr(spent, "_random_name", lambda: next(numbers).to_bytes(16, "big"))


# --- by argument, by environment ------------------------------------------------------------------


@every_draw
@pytest.mark.parametrize("way", ["object", "path", "environment"])
def test_a_draw_is_charged_once(draw, way, ledger, monkeypatch):
    if way == "environment":
        monkeypatch.setenv(VARIABLE, str(ledger.path))
        draw()
    else:
        draw(ledger=ledger if way == "object" else str(ledger.path))
    spent = ledger.total().spent

    assert ledger.total().charges == 1
    assert Fraction(1, 2) - Fraction(1, 10**6) <= spent.epsilon <= Fraction(1, 2)
    assert ledger.history()[-1].guarantee.trust in {"local", "central"}


@every_draw
def test_nothing_is_drawn_when_too_little_is_left(draw, tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.db", epsilon="1/10", delta="1e-6")
    monkeypatch.setattr(randomness, "_stream", _no_words)
    with pytest.raises(BudgetExceededError, match=r"has 0\.1 left of 0\.1"):
        draw(ledger=ledger)

    assert len(ledger.history()) == 1


def _no_words(*args):
    raise AssertionError("words were drawn")


@every_draw
def test_the_charge_is_on_the_disk_when_the_first_word_is_drawn(draw, ledger, monkeypatch):
    """Otherwise a crash at that moment hides a release."""
    seen = []
    stream = randomness._stream

    def watch(room):
        seen.append(Ledger(ledger.path).total().charges)
        return stream(room)

    with monkeypatch.context() as patched:
        patched.setattr(randomness, "_stream", watch)
        draw(ledger=ledger)

    assert seen
    assert set(seen) == {1}


@every_draw
def test_a_seeded_draw_is_refused_by_a_ledger_that_is_given(draw, ledger):
    with pytest.raises(GuaranteeError, match="Draws with a seed are not charged to a ledger"):
        draw(ledger=ledger, rng=7)

    assert len(ledger.history()) == 1


@every_draw
def test_a_seeded_draw_is_not_charged_to_the_ledger_of_everything(draw, ledger, monkeypatch):
    """A study draws thousands of times, and nothing of it is a release."""
    monkeypatch.setenv(VARIABLE, str(ledger.path))
    draw(rng=7)

    assert len(ledger.history()) == 1


@every_draw
@pytest.mark.parametrize("ledger", [7, True, ["ledger.db"]])
def test_what_is_no_ledger_is_refused(draw, ledger):
    with pytest.raises(InvalidParameterError, match="must be a Ledger, the path of one, or None"):
        draw(ledger=ledger)


@every_draw
def test_a_ledger_that_is_configured_and_missing_is_refused(draw, tmp_path, monkeypatch):
    """Once configured it cannot be forgotten."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "ledger.db"))
    with pytest.raises(LedgerError, match=r"There is no ledger 'ledger.db'"):
        draw()


def test_a_release_tells_which_entry_paid_for_it(ledger, tmp_path):
    release = release_table(ledger=ledger, purpose="a by b")
    release.write(tmp_path / "table.csv")
    note = json.loads((tmp_path / "table.csv.json").read_text())

    assert release.charge == ledger.history()[-1]
    assert note["ledger_entry"] == {
        "number": 2,
        "sha256": release.charge.hash,
        "ledger": ledger.identity,
        "epsilon": str(release.charge.epsilon),
        "delta": "0",
    }  # and no purpose, which may name the file of the rows


def test_a_release_without_a_guarantee_is_entered_as_unbounded(ledger):
    Suppression(threshold=3).release(Histogram.count(FRAME, SCHEMA), ledger=ledger)

    assert ledger.total().unbounded == (2,)


def test_bad_input_of_a_release_is_refused_before_the_charge(ledger):
    with pytest.raises(EvenhandError):
        Laplace(epsilon="1/2", unit="replace one").release("no table", ledger=ledger)
    with pytest.raises(EvenhandError):
        release_table(ledger=ledger, post=["no step"])
    with pytest.raises(EvenhandError):
        DPLogisticRegression("1/2", "1e-7", **TRAINING, ledger=ledger).fit(FRAME, LABEL[:-1])

    assert len(ledger.history()) == 1


# --- a second secure act --------------------------------------------------------------------------


def make_again(name):
    """Return an estimator that drew once, and how it draws again."""
    if name == "LocalPrivatizer":
        made = LocalPrivatizer("grr", epsilon="1/4", columns="a", schema=SCHEMA).fit(FRAME)
        return made, lambda model: model.fit_transform(FRAME)
    if name == "DPLogisticRegression":
        return DPLogisticRegression("1/4", "1e-7", **TRAINING), lambda model: model.fit(FRAME, LABEL)
    if name == "DPFermi":
        made = DPFermi("1/4", "1e-7", groups=[0, 1], **TRAINING)
        return made, lambda model: model.fit(FRAME, LABEL, group=GROUP)
    made = ParityPostProcessor(TRAINED, epsilon="1/4", groups=[0, 1], held_out=True)
    return made, lambda model: model.fit(FRAME + 0.5, group=GROUP)


@pytest.mark.parametrize("name", [name for name in DRAWS if name != "release"])
@pytest.mark.parametrize(
    "another", [lambda model: model, clone, copy.deepcopy], ids=["same", "clone", "copy"]
)
def test_a_second_secure_fit_without_a_ledger_is_refused(name, another):
    """Nothing would limit what a person in both has spent."""
    model, draw = make_again(name)
    draw(model)
    with pytest.raises(GuaranteeError, match="without a ledger nothing limits what that comes to"):
        draw(another(model))


@pytest.mark.parametrize("name", [name for name in DRAWS if name != "release"])
def test_a_second_secure_fit_with_a_ledger_is_charged(name, tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon="3/2", delta="1e-6")
    model, draw = make_again(name)
    model.set_params(ledger=ledger)
    draw(model)
    if name == "ParityPostProcessor":
        draw(clone(model))
    else:
        with pytest.warns(PrivacyWarning, match="a second time"):
            draw(clone(model))

    assert ledger.total().charges == 2


def test_a_classifier_that_is_trained_inside_charges_the_same_ledger(tmp_path):
    """Whoever gives the post-processing a ledger means all of it."""
    ledger = Ledger(tmp_path / "ledger.db", epsilon=2, delta="1e-6")
    inside = DPLogisticRegression("1/2", "1e-7", unit="replace one", **TRAINING)
    model = ParityPostProcessor(
        inside, epsilon="1/2", unit="replace one", prefit=False, groups=[0, 1], ledger=ledger
    )
    model.fit(FRAME, LABEL, group=GROUP)

    purposes = [entry.purpose for entry in ledger.history()[1:]]
    assert purposes == ["DPLogisticRegression.fit", "ParityPostProcessor.fit"]


def test_a_search_around_a_private_estimator_is_refused_without_a_ledger():
    model = DPLogisticRegression("1/4", "1e-7", **TRAINING)
    with pytest.raises(GuaranteeError, match="a search over settings or a cross-validation is that case"):
        GridSearchCV(model, {"clip": [1.0, 2.0]}, cv=2, error_score="raise").fit(FRAME, LABEL)


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path):
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_a_file_of_reports_is_charged_to_the_ledger_beside_the_data(people, tmp_path):
    ledger = Ledger(tmp_path / BESIDE, epsilon=1)
    written = privatize_file(people, tmp_path / "reports.csv", schema=SCHEMA, epsilon="1/2")

    assert ledger.total().spent.epsilon == Fraction(1, 2)
    assert written.charge.purpose == "reports: a of people.csv"


def test_bad_rows_of_a_file_are_refused_before_the_charge(tmp_path):
    """The last row of many is read after the reports of the first were drawn."""
    frame = pd.concat([FRAME, pd.DataFrame({"a": [9], "b": [0]})])
    frame.to_csv(tmp_path / "people.csv", index=False)
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1)
    with pytest.raises(OutsideDomainError):
        privatize_file(
            tmp_path / "people.csv", tmp_path / "reports.csv", schema=SCHEMA, epsilon=1, ledger=ledger
        )

    assert len(ledger.history()) == 1
    assert not (tmp_path / "reports.csv").exists()


def test_a_file_is_not_written_when_too_little_is_left(people, tmp_path):
    Ledger(tmp_path / BESIDE, epsilon="1/10")
    with pytest.raises(BudgetExceededError):
        privatize_file(people, tmp_path / "reports.csv", schema=SCHEMA, epsilon="1/2")

    assert not (tmp_path / "reports.csv").exists()


def test_simulated_reports_are_not_charged(people, tmp_path):
    ledger = Ledger(tmp_path / BESIDE, epsilon=1)
    privatize_file(people, tmp_path / "reports.csv", schema=SCHEMA, epsilon="1/2", simulate=7)
    with pytest.raises(GuaranteeError, match="Draws with a seed"):
        privatize_file(
            people, tmp_path / "other.csv", schema=SCHEMA, epsilon="1/2", simulate=7, ledger=ledger
        )

    assert len(ledger.history()) == 1
