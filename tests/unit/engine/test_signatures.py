"""Who signed a release and what paid for it is found out, and nothing is taken on trust."""

import json
import os

import pytest

from evenhand.engine import verify
from evenhand.errors import InvalidParameterError, LedgerError, UnreadableFileError
from evenhand.privacy.ledger import Ledger
from evenhand.release import Histogram, Laplace
from unit.engine._releases import (
    KEY,
    LAPLACE,
    OTHER,
    PEOPLE,
    SCHEMA,
    failures,
    forge,
    note_of,
    refuse_release,
    release,
    reports,
    signature_of,
)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", epsilon=10)


# --- signatures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [release, reports])
def test_a_signature_that_is_not_of_this_note_is_found(tmp_path, write):
    path = write(tmp_path)
    signature = signature_of(path)
    written = signature.read_bytes()
    others = [KEY.sign(b"text"), OTHER.sign(note_of(path).read_bytes()), written[:-1], b"", b"\0" * 64]
    for other in others:
        signature.write_bytes(other)
        refuse_release(path, "is not a signature of this note by the key that it names")
        refuse_release(path, "is not a signature of this note", key=None)
    signature.write_bytes(written + b"\n")
    refuse_release(path, "it is longer than 64 bytes")
    signature.unlink()
    refuse_release(path, "there is no such file")
    refuse_release(path, "there is no such file", key=None)


def test_a_signature_that_was_taken_away_with_its_mention_is_found_by_the_key(tmp_path):
    """Whoever changes a release can write an unsigned note; only the key that was named tells."""
    path = release(tmp_path)
    forge(path, key=None)

    refuse_release(path, "There is a signature table.csv.json.sig, but the note names no key.", key=None)
    signature_of(path).unlink()
    assert verify(path).passed
    refuse_release(path, "The note is not signed, and a key was named that should have signed it.")


def test_a_note_that_somebody_else_signed_is_found_by_the_key(tmp_path):
    path = release(tmp_path)
    forge(path, key=OTHER)

    assert verify(path).passed
    refuse_release(path, f"signed with another key, of the fingerprint {OTHER.public.fingerprint}")


def test_a_key_is_given_as_itself_or_by_its_file(tmp_path):
    path = release(tmp_path)
    KEY.write(tmp_path / "office.key")

    assert verify(path, key=tmp_path / "office.key.pub").passed
    with pytest.raises(UnreadableFileError, match="it holds a private key"):
        verify(path, key=tmp_path / "office.key")
    for name, odd in {"key": 3, "ledger": 3, "schema": 3, "path": 3}.items():
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of verify must be"):
            verify(**({"path": path} | {name: odd}))


def test_a_key_that_cannot_be_used_is_refused_before_anything_is_charged_drawn_or_written(tmp_path, ledger):
    broken = tmp_path / "broken.key"
    broken.write_bytes(b"text")
    broken.chmod(0o600)
    made = LAPLACE.release(Histogram.count(PEOPLE, SCHEMA))
    for key in (broken, tmp_path / "missing.key"):
        with pytest.raises(UnreadableFileError, match="cannot be used as a key"):
            reports(tmp_path, sign=key, ledger=ledger)
        with pytest.raises(UnreadableFileError, match="cannot be used as a key"):
            made.write(tmp_path / "table.csv", sign=key)

    assert len(ledger.history()) == 1
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith(("table", "reports"))]


def test_an_old_signature_does_not_stay_beside_a_new_release(tmp_path):
    path = release(tmp_path)
    release(tmp_path, sign=None)

    assert not os.path.lexists(f"{path}.json.sig")
    assert verify(path).passed


# --- the ledger -------------------------------------------------------------------------------------


def test_an_entry_that_does_not_stand_in_the_ledger_is_found(tmp_path, ledger):
    path = release(tmp_path, ledger=ledger)
    entry = json.loads(note_of(path).read_text())["ledger_entry"]
    LAPLACE.release(Histogram.count(PEOPLE, SCHEMA), ledger=ledger)
    others = {
        "has no entry of the number": {"number": 9},
        "Entry 2 of ledger.db is another": {"epsilon": "1/4"},
        "Entry 3 of ledger.db is another": {"number": 3},
        "is another ledger than the one that was charged": {"ledger": "0" * 32},
    }
    for fault, change in others.items():
        forge(path, ledger_entry=entry | change)
        refuse_release(path, fault, ledger=ledger.path)
    for number in (0, -1, "2", True, None):
        forge(path, ledger_entry=entry | {"number": number})
        refuse_release(path, "has no entry of the number", ledger=ledger.path)


def test_an_entry_of_another_amount_is_found(tmp_path, ledger):
    """A release at epsilon 4 must not stand on a charge of 1/2."""
    entry = json.loads(note_of(release(tmp_path, ledger=ledger)).read_text())["ledger_entry"]
    path = release(tmp_path, mechanism=Laplace(epsilon=4, unit="replace one"))
    forge(path, ledger_entry=entry)

    refuse_release(path, "was charged with another guarantee than the note's", ledger=ledger.path)


def test_a_release_that_was_not_charged_or_another_ledger_is_found(tmp_path, ledger):
    refuse_release(release(tmp_path), "names no entry of a ledger", ledger=ledger.path)
    path = release(tmp_path, ledger=ledger)
    other = Ledger(tmp_path / "other.db", epsilon=1)
    refuse_release(path, "other.db is another ledger", ledger=other.path)
    refuse_release(path, "There is no ledger 'none.db'", ledger=tmp_path / "none.db")
    refuse_release(path, "is a folder", ledger=tmp_path)
    ledger.path.write_bytes(ledger.path.read_bytes()[:-4096])
    assert failures(path, ledger=ledger.path)
    assert issubclass(LedgerError, RuntimeError)
