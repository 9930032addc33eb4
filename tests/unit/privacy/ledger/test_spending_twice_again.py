"""More ways to spend a budget twice, or to forget a charge: each is refused, or charged."""

import copy
import os
import shutil
import sqlite3
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from evenhand.collect import LocalPrivatizer
from evenhand.errors import BudgetExceededError, GuaranteeError, LedgerError
from evenhand.learn import DPLogisticRegression
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger, clock, export_ledger, find_ledger, import_ledger
from evenhand.privacy.ledger import ledger as module
from evenhand.privacy.ledger.charging import VARIABLE
from evenhand.schema import Column, Domain, Schema

ROWS = 60
TRAINING = {"epochs": 1, "batch": 30, "classes": [0, 1], "rows": ROWS}


def pure(epsilon):
    return Guarantee.pure(epsilon, unit="replace one", trust="central")


@pytest.fixture
def ledger(tmp_path):
    """A ledger of which six tenths are spent."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1, delta="1e-6")
    made.spend(pure("3/5"), purpose="table")
    return made


# --- the files ------------------------------------------------------------------------------------


def test_a_ledger_that_was_renamed_is_found_nowhere(ledger, tmp_path):
    """Neither under its new name, nor is there room for a new one under the old name."""
    ledger.total()
    ledger.path.rename(tmp_path / "other.db")
    for act in (
        lambda: ledger.spend(pure("3/5"), purpose="again"),
        lambda: Ledger(tmp_path / "other.db"),
        lambda: Ledger(ledger.path, epsilon=1, delta="1e-6"),
        lambda: import_ledger(_export(tmp_path), tmp_path / "other.db"),
    ):
        with pytest.raises(LedgerError):
            act()


def _export(folder):
    made = Ledger(folder / "third.db", epsilon=1)
    export_ledger(made, folder / "third.json")
    return folder / "third.json"


def test_two_ledgers_cannot_share_an_anchor(ledger, tmp_path):
    """The charges of one would make the other look old, or new."""
    with pytest.raises(LedgerError, match="is gone, but its anchor"):
        Ledger(tmp_path / "second.db", epsilon=1, anchor=ledger.anchor)

    assert not (tmp_path / "second.db").exists()
    assert ledger.total().charges == 1


def test_other_spellings_of_a_path_lead_to_the_same_ledger(ledger, tmp_path):
    (tmp_path / "folder").mkdir()
    spelled = Ledger(tmp_path / "folder" / ".." / "ledger.db")
    with pytest.raises(BudgetExceededError):
        spelled.spend(pure("3/5"), purpose="again")
    spelled.spend(pure("1/5"), purpose="rest")

    assert ledger.total().spent.epsilon == Fraction(4, 5)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files have no paths there")  # noqa: PTH112
def test_an_open_file_is_no_second_path(ledger):
    """Its anchor would stand in another folder."""
    with ledger.path.open("rb") as file, pytest.raises(LedgerError, match="is a symbolic link"):
        Ledger(f"/proc/self/fd/{file.fileno()}", anchor=ledger.anchor)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE number = NEW.number; END",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE entries SET text = '{}' WHERE number = 3; END",
        "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
    ],
)
def test_a_database_that_loses_what_is_stored_grants_nothing(ledger, statement):
    """What comes back from the disk is compared with what was written before a charge is granted."""
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(ledger.path).spend(pure("1/5"), purpose="lost")


def test_entries_that_are_a_view_are_refused(ledger):
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("ALTER TABLE entries RENAME TO kept")
        connection.execute("CREATE VIEW entries AS SELECT * FROM kept WHERE number < 3")
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(ledger.path).spend(pure("1/5"), purpose="lost")


def test_a_charge_that_is_interrupted_before_its_anchor_counts(ledger, monkeypatch):
    """Whoever stops the program there has not drawn, and has paid."""
    prepare_anchor = module.prepare_anchor

    @contextmanager
    def interrupted(path, anchor):
        def stop(_):
            raise KeyboardInterrupt

        with prepare_anchor(path, anchor):
            yield stop

    with monkeypatch.context() as patched:
        patched.setattr(module, "prepare_anchor", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.spend(pure("1/5"), purpose="interrupted")

    assert Ledger(ledger.path).total().spent.epsilon == Fraction(4, 5)
    assert ledger.total().spent.epsilon == Fraction(4, 5)
    ledger.spend(pure("1/5"), purpose="goes on")


# --- exports and retirements ----------------------------------------------------------------------


def test_an_old_export_gives_nothing_back_without_a_declaration_that_stays(tmp_path):
    """Who loses both files and knows from elsewhere what was spent says so, and everybody can read it."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    export_ledger(made, tmp_path / "old.json")
    made.spend(pure(1), purpose="all of it")
    with pytest.raises(LedgerError, match="its anchor says 2"):
        import_ledger(tmp_path / "old.json", tmp_path / "again.db", anchor=made.anchor)
    shutil.move(made.path, tmp_path / "lost")
    made.anchor.unlink()
    again = import_ledger(tmp_path / "old.json", made.path)
    again.spend(pure("1/2"), purpose="after the loss")

    assert again.total().unbounded == (2,)
    again.retire(2, purpose="the minutes of the board list all releases")
    assert [entry.kind for entry in again.history()] == ["open", "restore", "spend", "retire"]


def test_a_zcdp_guarantee_cannot_be_charged_at_a_delta_that_makes_it_free(ledger):
    cheap = Guarantee.zcdp(1, unit="replace one", trust="central")
    with pytest.raises(BudgetExceededError):
        ledger.spend(cheap, purpose="at a large delta", delta="9e-3")
    ledger.spend(cheap, purpose="at a delta that promises nothing", delta="1/2")

    assert ledger.total().unbounded == (3,)


# --- forgetting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", "  "])
def test_a_variable_that_is_set_and_empty_is_a_mistake_and_no_choice(monkeypatch, value):
    """A script that sets it from a name that is not there would forget its ledger."""
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(LedgerError, match="EVENHAND_LEDGER is set and names no ledger"):
        find_ledger(None)


def test_copies_of_a_ledger_object_spend_one_budget(ledger):
    for other in (copy.copy(ledger), copy.deepcopy(ledger)):
        other.spend(pure("1/5"), purpose="of a copy")
    with pytest.raises(BudgetExceededError):
        ledger.spend(pure("1/5"), purpose="again")


def test_a_ledger_that_is_taken_away_after_the_first_fit_is_missed(ledger):
    """The first fit was paid; the second, of a clone without a ledger, would not be."""
    model = DPLogisticRegression("1/10", "1e-7", unit="replace one", ledger=ledger, **TRAINING)
    features, label = np.arange(ROWS).reshape(-1, 1) % 7, np.arange(ROWS) % 2
    model.fit(features, label)
    for other in (model, clone(model)):
        with pytest.raises(GuaranteeError, match="without a ledger nothing limits"):
            other.set_params(ledger=None).fit(features, label)

    assert ledger.total().charges == 2


def test_the_strategy_of_a_fitted_transformer_does_not_draw_past_the_ledger(ledger, monkeypatch):
    schema = Schema([Column("a", Domain.integers(0, 1))], sensitive="a")
    frame = pd.DataFrame({"a": np.arange(ROWS) % 2})
    monkeypatch.setenv(VARIABLE, str(ledger.path))
    model = LocalPrivatizer("grr", epsilon="1/4", columns="a", schema=schema).fit(frame)
    model.transform(frame)
    with pytest.raises(BudgetExceededError):
        model.strategy_.privatize({"a": frame["a"].to_numpy()})

    assert ledger.total().charges == 2


@pytest.mark.parametrize("seconds", [1e12, -1e12, float("inf")])
def test_a_clock_that_says_no_date_is_refused(ledger, monkeypatch, seconds):
    with monkeypatch.context() as patched:
        patched.setattr(clock, "_wall_seconds", lambda: seconds)
        patched.setattr(clock, "_running_seconds", lambda: 0.0)
        again = Ledger(ledger.path)
        with pytest.raises(LedgerError, match="clock of this machine"):
            again.spend(pure("1/10"), purpose="when")

    assert ledger.total().charges == 1
