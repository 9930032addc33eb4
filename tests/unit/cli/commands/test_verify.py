"""evenhand keys and evenhand verify: what is typed reaches them, and the exit code says what came of it."""

import json
from pathlib import Path

import pytest
import typer

from evenhand.cli import passphrases
from evenhand.cli.terminal.console import Terminal
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.signing import PublicKey, SigningKey
from evenhand.privacy.signing.keys import VARIABLE
from evenhand.schema import Column, Domain, Schema

LAPLACE = ["--columns", "sex", "--mechanism", "laplace", "--epsilon", "1/2"]


@pytest.fixture(autouse=True)
def _no_passphrase(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def schema(tmp_path):
    sex = Column("sex", Domain.categorical(["female", "male"]))
    Schema([sex, Column("job", Domain.categorical(["clerk", "cook", "nurse"]))], sensitive="sex").save(
        tmp_path / "schema.toml"
    )
    return "schema.toml"


@pytest.fixture
def key(tmp_path):
    SigningKey.new().write(tmp_path / "office.key")
    return "office.key"


@pytest.fixture
def signed(call, file, schema, key):
    Ledger("ledger.db", epsilon=2)
    words = ["--schema", schema, "--sign", key, "--ledger", "ledger.db"]
    done = call("release", file, *LAPLACE, *words, "--out", "table.csv")
    assert done.exit_code == 0, done.output
    assert "Signed   table.csv.json.sig" in done.stdout
    return "table.csv"


# --- keys -------------------------------------------------------------------------------------------


def test_a_key_pair_is_made_and_shown(call):
    done = call("keys", "new", "office.key")
    told = json.loads(call("keys", "show", "office.key.pub", "--json").stdout)
    fingerprint = PublicKey.load("office.key.pub").fingerprint

    assert done.exit_code == 0, done.output
    assert f"Key      {fingerprint}" in done.stdout
    assert "not encrypted: whoever copies the file can sign in your name" in " ".join(done.stderr.split())
    assert told == {"command": "keys", "fingerprint": fingerprint, "exit": 0}
    assert call("keys", "show", "office.key").stdout.strip() == fingerprint


def test_a_key_has_a_name_by_default_and_is_not_replaced(call):
    first, second = call("keys", "new"), call("keys", "new")

    assert (first.exit_code, second.exit_code) == (0, 2)
    assert Path("evenhand.key.pub").exists()
    assert "evenhand.key was not written: there is a file of that name" in " ".join(second.stderr.split())


def test_the_environment_gives_the_passphrase(call, monkeypatch):
    monkeypatch.setenv(VARIABLE, "correct horse")
    told = json.loads(call("keys", "new", "office.key", "--json").stdout)

    assert told["encrypted"] is True
    assert SigningKey.is_encrypted("office.key")
    assert call("keys", "show", "office.key").stdout.strip() == told["fingerprint"]
    monkeypatch.delenv(VARIABLE)
    assert call("keys", "show", "office.key").exit_code == 2


def test_a_passphrase_is_asked_for_on_a_terminal_alone(call, monkeypatch):
    refused = call("keys", "new", "office.key", "--passphrase")

    assert refused.exit_code == 2
    assert "Hint: set EVENHAND_KEY_PASSPHRASE" in " ".join(refused.stderr.split())
    asked = []

    def prompt(text, **options):
        asked.append((text, options["hide_input"], options.get("confirmation_prompt", False)))
        return "correct horse"

    monkeypatch.setattr(Terminal, "is_interactive", True)
    monkeypatch.setattr(typer, "prompt", prompt)
    done = call("keys", "new", "office.key", "--passphrase")
    shown = call("keys", "show", "office.key")

    assert (done.exit_code, shown.exit_code) == (0, 0), done.output + shown.output
    assert asked == [("Passphrase", True, True), ("Passphrase of office.key", True, False)]
    assert passphrases.load_key(Terminal(), None) is None


@pytest.mark.parametrize("name", ["none.key", ".", "schema.toml"])
def test_what_is_no_key_is_not_shown(call, schema, name):
    Path(schema).chmod(0o600)
    done = call("keys", "show", name)

    assert done.exit_code == 2
    assert "cannot be used as a key" in " ".join(done.stderr.split())


# --- verify -----------------------------------------------------------------------------------------


def test_a_signed_release_is_verified(call, signed, schema):
    done = call("verify", signed, "--key", "office.key.pub", "--ledger", "ledger.db", "--schema", schema)
    told = json.loads(call("verify", signed, "--json").stdout)

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Passed      table.csv is what was written, as far as it was checked.")
    assert done.stdout.count("Passed ") == 8
    assert "Not checked Whether another release names the same entry" in done.stdout
    assert (told["passed"], told["exit"], told["fingerprint"]) == (
        True,
        0,
        PublicKey.load("office.key.pub").fingerprint,
    )
    assert any(text.startswith("Who signed it: whoever has the key did.") for text in told["not_checked"])


def test_privatised_files_are_verified(call, file, schema, key):
    done = call(
        "privatize", file, "r.csv", "--schema", schema, "--epsilon", 1, "--sign", key, "--only-reports"
    )
    told = json.loads(call("verify", "r.csv", "--key", "office.key.pub", "--json").stdout)

    assert done.exit_code == 0, done.output
    assert "Signed   r.csv.guarantee.json.sig" in done.stdout
    assert told["passed"]


def test_a_change_ends_with_1_and_a_sentence(call, signed):
    Path(signed).write_text(Path(signed).read_text().replace("male", "mole", 1))
    done, told = call("verify", signed), json.loads(call("verify", signed, "--json").stdout)

    assert (done.exit_code, told["exit"], told["passed"]) == (1, 1, False)
    assert done.stdout.startswith("Failed      Do not trust table.csv: 1 of ")
    assert "Failed      table.csv was changed: its SHA-256 is not the one in the note." in done.stdout


def test_what_cannot_be_compared_with_ends_with_2(call, signed, schema):
    for words in (["--key", "none.pub"], ["--key", schema], ["--schema", "none.toml"]):
        assert call("verify", signed, *words).exit_code == 2
    assert call("verify", "none.csv").exit_code == 1


# --- a key that cannot be used ----------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["missing", "readable", "encrypted", "text", "public"])
@pytest.mark.parametrize("command", ["release", "privatize"])
def test_a_bad_key_is_refused_before_anything_is_charged_or_drawn(call, file, schema, key, command, fault):
    ledger = Ledger("ledger.db", epsilon=2)
    if fault == "missing":
        Path(key).unlink()
    elif fault == "readable":
        Path(key).chmod(0o644)
    elif fault == "encrypted":
        Path(key).unlink()
        Path(f"{key}.pub").unlink()
        SigningKey.new().write(key, passphrase="correct horse")
    else:
        Path(key).write_bytes(b"text" if fault == "text" else Path(f"{key}.pub").read_bytes())
    words = {
        "release": ["release", file, *LAPLACE, "--out", "out.csv"],
        "privatize": ["privatize", file, "out.csv", "--epsilon", 1],
    }[command]
    done = call(*words, "--schema", schema, "--ledger", "ledger.db", "--sign", key)

    assert done.exit_code == 2
    assert "office.key cannot be used as a key" in " ".join(done.stderr.split())
    assert len(ledger.history()) == 1
    assert not list(Path().glob("out.csv*"))


@pytest.mark.parametrize("command", ["release", "privatize"])
def test_a_key_is_not_written_over(call, file, schema, key, command):
    """The signature of the second run would be of a key that is gone."""
    Path(key).rename("out.csv")
    words = {
        "release": ["release", file, *LAPLACE, "--out", "out.csv"],
        "privatize": ["privatize", file, "out.csv", "--epsilon", 1],
    }[command]
    done = call(*words, "--schema", schema, "--sign", "out.csv", "--overwrite")

    assert done.exit_code == 2
    assert "--sign is out.csv, which would be written over" in " ".join(done.stderr.split())
    assert SigningKey.load("out.csv")
