"""Somebody tries to spend a budget twice, or to forget a charge, and does not succeed."""

import os
import pickle
import shutil
import signal
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from evenhand.collect import LocalPrivatizer
from evenhand.collect.privatizer import spent
from evenhand.engine import privatize_file
from evenhand.errors import BudgetExceededError, EvenhandError, GuaranteeError, LedgerError
from evenhand.learn import DPFermi, DPLogisticRegression, ParityPostProcessor
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.ledger.charging import BESIDE
from evenhand.schema import Column, Domain, Schema

TENTH = Guarantee.pure("1/10", unit="replace one", trust="central")
ROWS = 60
FRAME = pd.DataFrame({"a": np.arange(ROWS) % 2, "b": np.arange(ROWS) % 3})
LABEL = (np.arange(ROWS) % 5 > 1).astype(int)
GROUP = FRAME["a"].to_numpy()
PERSON = np.arange(ROWS) // 3
SCHEMA = Schema([Column("a", Domain.integers(0, 1)), Column("b", Domain.integers(0, 2))], sensitive="a")
TRAINING = {"epochs": 1, "batch": 30, "classes": [0, 1], "rows": ROWS}


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon=1, delta="1e-6")
    made.spend(TENTH, purpose="table")
    return made


# --- two names of one ledger ----------------------------------------------------------------------


def test_a_ledger_with_a_second_name_is_refused(ledger, tmp_path):
    """SQLite has a log for each name, so of two processes at once one would lose its charge."""
    os.link(ledger.path, tmp_path / "other.db")
    shutil.copy(ledger.anchor, tmp_path / "other.db.anchor")
    for path in (ledger.path, tmp_path / "other.db"):
        with pytest.raises(LedgerError, match="has a second name"):
            Ledger(path)
    with pytest.raises(LedgerError, match="has a second name"):
        ledger.spend(TENTH, purpose="again")
    (tmp_path / "other.db").unlink()

    assert ledger.total().charges == 1


def test_a_ledger_through_a_link_to_its_folder_is_the_same(ledger, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    Ledger(tmp_path / "link" / "ledger.db").spend(TENTH, purpose="by a link")

    assert ledger.total().charges == 2


def test_a_program_that_changes_its_folder_keeps_its_ledger(ledger, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = Ledger("ledger.db")
    (tmp_path / "elsewhere").mkdir()
    Ledger(tmp_path / "elsewhere" / "ledger.db", epsilon=1)
    monkeypatch.chdir(tmp_path / "elsewhere")
    opened.spend(TENTH, purpose="from elsewhere")

    assert ledger.total().charges == 2


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("which", ["ledger", "anchor"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders there")
def test_a_pipe_and_a_device_are_refused(tmp_path, kind, which):
    """A pipe would be waited for without end, and a device replaced by the anchor."""
    place = "/dev/null"
    if kind == "pipe":
        place = tmp_path / "pipe"
        os.mkfifo(place)
    given = {"ledger": (place, None), "anchor": (tmp_path / "ledger.db", place)}[which]
    with pytest.raises(LedgerError, match="is a device or a pipe"):
        Ledger(given[0], epsilon=1, anchor=given[1])

    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("path", [7, None, True, b"ledger.db", "led\0ger.db", ["ledger.db"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(EvenhandError, match="The 'path' parameter of Ledger must be the path of a file"):
        Ledger(path, epsilon=1)


# --- two anchors of one ledger --------------------------------------------------------------------


def test_the_ledger_is_not_its_own_anchor(tmp_path):
    """The anchor would replace the ledger."""
    with pytest.raises(EvenhandError, match="must be another file than the ledger"):
        Ledger(tmp_path / "ledger.db", epsilon=1, anchor=tmp_path / "ledger.db")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_beside", [True, False])
def test_a_second_anchor_beside_the_first_is_refused(tmp_path, is_beside):
    """Charges would be anchored at the second, and an older copy of the ledger would fit the first."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1, anchor=None if is_beside else tmp_path / "first")
    copied = shutil.copy(made.anchor, tmp_path / "second")
    with pytest.raises(LedgerError, match=f"The anchor of ledger 'ledger.db' is '{made.anchor.name}'"):
        Ledger(made.path, anchor=copied)
    Ledger(made.path, anchor=made.anchor).spend(TENTH, purpose="with the first")
    moved = made.anchor.rename(tmp_path / "third")

    assert Ledger(made.path, anchor=moved).total().charges == 1


# --- threads and forks ----------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked there")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_no_thread_has_a_ledger_open_while_the_process_is_forked(ledger):
    """SQLite forgets locks that a fork copies, so a charge of the child could be lost."""
    stop, granted = threading.Event(), []

    def charge():
        while not stop.is_set():
            guarantee = Guarantee.pure("1/10000", unit="replace one", trust="central")
            granted.append(ledger.spend(guarantee, purpose="of a thread").number)

    thread = threading.Thread(target=charge)
    thread.start()
    codes = []
    for _ in range(5):
        child = os.fork()
        if not child:
            signal.alarm(20)  # a child that waits for a lock of a thread that it does not have ends so
            try:
                ledger.spend(Guarantee.pure("1/1000", unit="replace one", trust="central"), purpose="child")
            except BaseException:  # noqa: BLE001 - the code of the child tells of it
                os._exit(1)
            os._exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    thread.join()

    assert codes == [0] * 5
    assert ledger.total().charges == 1 + 5 + len(granted)


# --- sums and amounts -----------------------------------------------------------------------------


def test_an_entry_cannot_be_changed_in_memory(ledger):
    """The next sum is made of the entries that were read before."""
    entry = ledger.history()[-1]
    with pytest.raises(TypeError):
        entry.terms["epsilon"] = "0"
    entry.to_dict()["guarantee"].clear()

    assert ledger.total().spent.epsilon == Fraction(1, 10)
    assert entry.guarantee == TENTH
    assert pickle.loads(pickle.dumps(entry)) == entry


@pytest.mark.parametrize(
    "amount", [True, float("nan"), float("inf"), "nan", "1/0", -1, Decimal("NaN"), "1e401", 1j]
)
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_what_is_no_amount_is_refused_and_spends_nothing(ledger, tmp_path, amount, name):
    with pytest.raises(EvenhandError):
        ledger.spend(
            Guarantee(**({"epsilon": 1, "delta": 0} | {name: amount}), unit="replace one", trust="central"),
            purpose="no amount",
        )
    with pytest.raises(EvenhandError):
        Ledger(tmp_path / "new.db", **({"epsilon": 1} | {name: amount}))
    zcdp = Guarantee.zcdp("1/1000", unit="replace one", trust="central")
    with pytest.raises(EvenhandError):
        ledger.spend(zcdp, purpose="no delta", delta=amount if name == "delta" else -1)

    assert not (tmp_path / "new.db").exists()
    assert ledger.total().charges == 1


def test_tiny_and_long_amounts_add_up_exactly(ledger):
    """A sum in floats would grant this charge twice."""
    parts = [Fraction(1, 10**400), Fraction(10**300, 10**301 + 1)]
    for number, part in enumerate(parts):
        guarantee = Guarantee.pure(part, unit="replace one", trust="central")
        ledger.spend(guarantee, purpose=f"part {number}")
    left = 1 - Fraction(1, 10) - sum(parts)
    with pytest.raises(BudgetExceededError):
        ledger.spend(
            Guarantee.pure(left + Fraction(1, 10**400), unit="replace one", trust="central"), purpose="above"
        )
    ledger.spend(Guarantee.pure(left, unit="replace one", trust="central"), purpose="the rest")

    assert Ledger(ledger.path).total().spent.epsilon == 1


# --- the ledger beside the data -------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").mkdir()
    FRAME.to_csv(tmp_path / "data" / "people.csv", index=False)
    (tmp_path / "link" / "people.csv").symlink_to(tmp_path / "data" / "people.csv")
    return tmp_path / "data" / "people.csv"


def privatize(path):
    privatize_file(path, path.with_name("reports.csv"), schema=SCHEMA, epsilon="1/2")


def test_data_that_is_named_by_a_link_is_charged_to_the_ledger_beside_it(data, tmp_path):
    ledger = Ledger(tmp_path / "data" / BESIDE, epsilon=1)
    privatize(tmp_path / "link" / "people.csv")

    assert ledger.total().spent.epsilon == Fraction(1, 2)


def test_two_ledgers_beside_the_data_and_a_link_to_it_are_refused(data, tmp_path):
    ledgers = [Ledger(tmp_path / folder / BESIDE, epsilon=1) for folder in ("data", "link")]
    with pytest.raises(LedgerError, match="beside the link to the data, and another beside the data itself"):
        privatize(tmp_path / "link" / "people.csv")

    assert [ledger.total().charges for ledger in ledgers] == [0, 0]
    assert not (tmp_path / "link" / "reports.csv").exists()


def test_a_ledger_beside_the_data_that_is_lost_is_not_forgotten(data, tmp_path):
    Ledger(tmp_path / "data" / BESIDE, epsilon=1).path.unlink()
    with pytest.raises(LedgerError, match="is gone, but its anchor"):
        privatize(data)

    assert not (tmp_path / "data" / "reports.csv").exists()


# --- estimators in several processes --------------------------------------------------------------


def make_model(name, **given):
    """Return an estimator of this name."""
    if name == "LocalPrivatizer":
        return LocalPrivatizer("grr", epsilon="1/4", columns="a", schema=SCHEMA, **given)
    if name == "ParityPostProcessor":
        inside = FrozenEstimator(DummyClassifier(strategy="uniform", random_state=1).fit(FRAME, LABEL))
        return ParityPostProcessor(inside, epsilon="1/4", groups=[0, 1], held_out=True, **given)
    if name == "DPFermi":
        return DPFermi("1/4", "1e-7", groups=[0, 1], **TRAINING, **given)
    return DPLogisticRegression("1/4", "1e-7", **TRAINING, **given)


def draw(model, **given):
    """Fit the estimator, and collect with it where that is what draws."""
    if isinstance(model, LocalPrivatizer):
        return model.fit_transform(FRAME)
    if isinstance(model, ParityPostProcessor):
        return model.fit(FRAME + 0.5, group=GROUP, **given)
    return model.fit(FRAME, LABEL, **given, **({"group": GROUP} if isinstance(model, DPFermi) else {}))


MODELS = ["LocalPrivatizer", "DPLogisticRegression", "DPFermi", "ParityPostProcessor"]


@pytest.mark.parametrize("name", MODELS)
def test_an_estimator_from_another_process_is_not_fitted_without_a_ledger(name, ledger, monkeypatch):
    """A search with n_jobs fits one clone in each process, and none knows of the others."""
    model = make_model(name)
    packed = [pickle.dumps(model), pickle.dumps(clone(model))]
    monkeypatch.setattr(spent, "_TALLIES", {})
    monkeypatch.setattr(spent, "_name_of_start", lambda: b"another process")
    for content in packed:
        with pytest.raises(GuaranteeError, match="was made in another process"):
            draw(pickle.loads(content))
    draw(pickle.loads(packed[0]).set_params(ledger=ledger))
    monkeypatch.setattr(spent, "_TALLIES", {})
    draw(pickle.loads(packed[1]).set_params(rng=7))

    assert ledger.total().charges == 2


def test_reports_may_be_collected_by_a_privatizer_that_was_fitted_elsewhere(monkeypatch):
    """Fitting says what is asked; it is made once and sent to where people are asked."""
    packed = pickle.dumps(make_model("LocalPrivatizer").fit(FRAME))
    monkeypatch.setattr(spent, "_TALLIES", {})
    monkeypatch.setattr(spent, "_name_of_start", lambda: b"another process")
    received = pickle.loads(packed)
    received.transform(FRAME)
    with pytest.raises(GuaranteeError, match="has drawn for a release before"):
        received.transform(FRAME)


@pytest.mark.parametrize("name", MODELS)
def test_a_forked_process_does_not_fit_an_estimator_of_its_parent(name, monkeypatch):
    """Each of them would fit it once, and none would know of the others."""
    model = make_model(name)
    with monkeypatch.context() as child:
        child.setattr(spent.os, "getpid", lambda: 1)
        with pytest.raises(GuaranteeError, match="was made in another process"):
            draw(model)
    draw(model)


@pytest.mark.figures
def test_a_search_in_several_processes_is_refused_without_a_ledger():
    """By default each process has one fit, which is its first."""
    search = GridSearchCV(
        make_model("DPLogisticRegression"), {"clip": [1.0]}, cv=2, n_jobs=2, error_score="raise", refit=False
    )
    with pytest.raises(GuaranteeError, match="a search or a cross-validation with n_jobs is that case"):
        search.fit(FRAME, LABEL)


# --- several rows of one person -------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS[1:])
def test_the_charge_is_what_people_with_several_rows_are_promised(name, ledger):
    """The ledger keeps the words of the promise too: how many rows of a person count."""
    model = make_model(name, rows_per_person=2, unit="replace one", ledger=ledger)
    draw(model, person=PERSON)
    charged = ledger.history()[-1]
    promised = model.rates_guarantee_ if name == "ParityPostProcessor" else model.guarantee_

    assert charged.guarantee == promised
    assert any("2 rows" in text and "'person'" in text for text in charged.guarantee.assumptions)
    assert charged.epsilon == promised.loss.amount
    assert charged.delta == promised.delta
