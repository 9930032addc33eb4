"""What is no ledger or no amount is refused in one sentence: nothing is drawn, and nothing is spent."""

import math
import os
import shutil
import sqlite3

import numpy as np
import pandas as pd
import pytest

from evenhand.errors import EvenhandError
from evenhand.learn import DPLogisticRegression
from evenhand.privacy import Guarantee, randomness
from evenhand.privacy.ledger import Ledger, database
from evenhand.privacy.ledger import ledger as module
from evenhand.schema import Column, Domain, Schema

TENTH = Guarantee.pure("1/10", unit="replace one", trust="central")
SEX = Schema([Column("sex", Domain.categorical(["female", "male"]))], sensitive="sex")
ROWS = 60
TRAINING = {"epochs": 1, "batch": 30, "classes": [0, 1], "rows": ROWS}


@pytest.fixture
def whole(tmp_path):
    """A ledger with one charge, which must have one charge afterwards too."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1, delta="1e-6")
    made.spend(TENTH, purpose="table")
    made.total()  # which copies the log into the file
    return made


# --- the ways to a ledger -------------------------------------------------------------------------


def from_python(path, call, file):
    Ledger(path).spend(TENTH, purpose="again")


def from_fit(path, call, file):
    frame = pd.DataFrame({"a": np.arange(ROWS) % 2, "b": np.arange(ROWS) % 3})
    DPLogisticRegression("1/10", "1e-7", ledger=path, **TRAINING).fit(frame, np.arange(ROWS) % 2)


def typed(*words):
    """Return a way that types a command and raises what it says on standard error."""

    def run(path, call, file):
        SEX.save("schema.toml")
        done = call(*[{"LEDGER": path, "IN": file}.get(word, word) for word in words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code:
            assert done.exit_code == 2, done.output
            assert done.stdout == ""
            raise EvenhandError(" ".join(done.stderr.split()))

    return run


RELEASE = ["release", "IN", "--schema", "schema.toml", "--columns", "sex", "--mechanism", "laplace"]
PRIVATIZE = ["privatize", "IN", "out.csv", "--schema", "schema.toml", "--only-reports"]
SPENDING = {
    "python": from_python,
    "fit": from_fit,
    "release": typed(*RELEASE, "--epsilon", "0.1", "--out", "out.csv", "--ledger", "LEDGER"),
    "privatize": typed(*PRIVATIZE, "--epsilon", "0.1", "--ledger", "LEDGER"),
}
READING = {
    name: typed("ledger", name, "LEDGER", *more)
    for name, more in {"show": [], "preview": ["--epsilon", "1"], "history": [], "verify": []}.items()
}
READING |= {"export": typed("ledger", "export", "LEDGER", "--out", "out.csv")}


# --- ledgers that are none ------------------------------------------------------------------------


def folder(place, whole):
    place.mkdir()


def link(place, whole):
    place.symlink_to(whole.path)


def dangling(place, whole):
    place.symlink_to(place.with_name("nowhere.db"))


def pipe(place, whole):
    os.mkfifo(place)


def empty(place, whole):
    place.write_bytes(b"")


def text(place, whole):
    place.write_text("county,count\n" * 500)


def foreign(place, whole):
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, text TEXT, hash TEXT)")
    connection.close()


def cut(place, whole):
    place.write_bytes(whole.path.read_bytes()[:5000])
    shutil.copy(whole.anchor, f"{place}.anchor")


def missing(place, whole):
    pass


BAD = {
    folder: "is a folder", link: "is a symbolic link", dangling: "is a symbolic link",
    pipe: "is a device or a pipe", empty: "There is no ledger", text: "is not a ledger",
    foreign: "is a database, but no ledger", cut: "is damaged", missing: "There is no ledger",
}  # fmt: skip


def contents(tmp_path):
    return {
        path.name: path.read_bytes() if path.is_file() else path.is_symlink() or path.is_fifo()
        for path in tmp_path.iterdir()
        if path.name not in {"schema.toml", "people.csv"}
    }


def refuse(way, path, call, file, monkeypatch):
    """Return the sentence with which a way is refused; no word may be drawn for noise on it."""
    with monkeypatch.context() as patched:
        patched.setattr(randomness, "_stream", _no_words)
        patched.setattr("evenhand.collect.privatizer.spent._random_name", lambda: b"0" * 16)
        with pytest.raises(EvenhandError) as refused:
            way(path, call, file)
    return str(refused.value)


def _no_words(*args):
    raise AssertionError("words were drawn")


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", [*SPENDING, "show", "verify"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders there")
def test_what_is_no_ledger_is_refused_by_every_way(name, make, whole, call, file, tmp_path, monkeypatch):
    place = tmp_path / "bad.db"
    make(place, whole)
    before = contents(tmp_path)
    told = refuse((SPENDING | READING)[name], place, call, file, monkeypatch)

    assert BAD[make] in told
    assert str(tmp_path) not in told
    assert contents(tmp_path) == before
    assert whole.total().charges == 1


@pytest.mark.parametrize("name", [*SPENDING, *READING])
def test_a_ledger_that_another_program_holds_is_refused_by_every_way(
    name, whole, call, file, tmp_path, monkeypatch
):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.05)
    other = sqlite3.connect(whole.path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    told = refuse((SPENDING | READING)[name], whole.path, call, file, monkeypatch)
    other.close()

    assert "Ledger 'ledger.db' is locked by another program. Nothing may be drawn. Hint: wait" in told
    assert not (tmp_path / "out.csv").exists()
    assert whole.total().charges == 1


@pytest.mark.parametrize("name", SPENDING)
def test_a_full_disk_is_refused_by_every_way(name, whole, call, file, tmp_path, monkeypatch):
    def fail(*args):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(module, "add_entry", fail)
    told = refuse(SPENDING[name], whole.path, call, file, monkeypatch)

    assert "Ledger 'ledger.db' cannot grow, the disk is full. Nothing may be drawn. Hint: make room" in told
    assert not (tmp_path / "out.csv").exists()
    assert whole.total().charges == 1


# --- amounts that are none ------------------------------------------------------------------------

USUAL, RARE = ["much", "-1", "nan"], ["", "inf", "1/0", "1e401", "0x10", "1_0", "½", "--1", "1;2"]
AMOUNTS = [*USUAL, *(pytest.param(amount, marks=pytest.mark.figures) for amount in RARE)]


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("name", ["init", "preview", "release", "privatize", "fit", "python"])
def test_an_epsilon_that_is_none_is_refused_by_every_way(
    name, amount, whole, call, file, tmp_path, monkeypatch
):
    ways = {
        "init": typed("ledger", "init", "new.db", f"--epsilon={amount}"),
        "preview": typed("ledger", "preview", "LEDGER", f"--epsilon={amount}"),
        "release": typed(*RELEASE, f"--epsilon={amount}", "--out", "out.csv", "--ledger", "LEDGER"),
        "privatize": typed(*PRIVATIZE, f"--epsilon={amount}", "--ledger", "LEDGER"),
        "fit": lambda path, *_: DPLogisticRegression(amount, "1e-7", ledger=path, **TRAINING).fit(
            np.ones((ROWS, 1)), np.arange(ROWS) % 2
        ),
        "python": lambda path, *_: Ledger(path).spend(
            Guarantee.pure(amount, unit="replace one", trust="central"), purpose="x"
        ),
    }
    told = refuse(ways[name], whole.path, call, file, monkeypatch)

    assert "psilon" in told
    assert not {"new.db", "out.csv"} & {path.name for path in tmp_path.iterdir()}
    assert whole.total().charges == 1


@pytest.mark.parametrize("delta", ["1", "0.01", "2", "-1e-9", "nan", "much"])
@pytest.mark.parametrize("name", ["init", "python"])
def test_a_delta_of_one_or_none_is_refused_as_a_budget(name, delta, whole, call, file, tmp_path, monkeypatch):
    ways = {
        "init": typed("ledger", "init", "new.db", "--epsilon", "1", f"--delta={delta}"),
        "python": lambda *_: Ledger(tmp_path / "new.db", epsilon=1, delta=delta),
    }
    assert "elta" in refuse(ways[name], whole.path, call, file, monkeypatch)
    assert not (tmp_path / "new.db").exists()


OTHER_KINDS = [math.nan, math.inf, -math.inf, -1, True, 1j, b"1", [1], {}, "1e999999999"]


@pytest.mark.parametrize("amount", OTHER_KINDS, ids=repr)
def test_amounts_of_other_kinds_spend_nothing(whole, amount):
    """The last is a text that would fill the memory if it were written out."""
    with pytest.raises(EvenhandError):
        whole.spend(Guarantee.pure(amount, unit="replace one", trust="central"), purpose="x")
    zcdp = Guarantee.zcdp("1/1000", unit="replace one", trust="central")
    with pytest.raises(EvenhandError):
        whole.spend(zcdp, purpose="x", delta=amount)

    assert whole.total().charges == 1


def test_an_epsilon_of_zero_costs_nothing_and_is_entered(whole):
    """It tells nothing about anybody, so there is nothing to refuse."""
    whole.spend(Guarantee.pure(0, unit="replace one", trust="central"), purpose="x")

    assert whole.total().charges == 2
    assert whole.total().spent.epsilon == TENTH.epsilon


def test_a_charge_with_a_delta_of_one_is_unbounded_and_says_so(whole):
    """It promises nothing, and is neither granted as a small charge nor lost."""
    whole.spend(Guarantee(epsilon="1/10", delta=1, unit="replace one", trust="central"), purpose="x")

    assert whole.total().unbounded == (3,)
    assert whole.total().spent.epsilon == TENTH.epsilon
