"""Releases and reports that are signed, changed and signed anew."""

import hashlib

import pandas as pd

from evenhand.engine import verify
from evenhand.privacy.signing import SigningKey
from evenhand.privacy.signing.notes import EVIDENCE, parse_note, render_note, seal_note
from evenhand.release import Histogram, Laplace
from evenhand.release.table import released
from evenhand.schema import Column, Domain, Schema
from unit.engine._keeping import privatize_all

SEX, JOB = Column("sex", Domain.categorical(["f", "m"])), Column("job", Domain.categorical(["a", "b", "c"]))
SCHEMA = Schema([SEX, JOB], sensitive="sex", quasi_identifiers=["sex", "job"])
PEOPLE = pd.DataFrame({"sex": ["f", "m", "f", "m"] * 5, "job": ["a", "b", "c", "a"] * 5})
LAPLACE = Laplace(epsilon="1/2", unit="replace one")
KEY = SigningKey.new()
OTHER = SigningKey.new()


def release(folder, name="table.csv", *, mechanism=LAPLACE, sign=KEY, **options):
    """Write a signed release, and return where."""
    mechanism.release(Histogram.count(PEOPLE, SCHEMA), **options).write(folder / name, sign=sign)
    return folder / name


def reports(folder, name="reports.csv", *, sign=KEY, **options):
    """Write signed reports, and return where."""
    PEOPLE.to_csv(folder / "people.csv", index=False)
    privatize_all(folder / "people.csv", folder / name, schema=SCHEMA, epsilon=1, sign=sign, **options)
    return folder / name


def note_of(path):
    beside = path.with_name(f"{path.name}.json")
    return beside if beside.exists() else path.with_name(f"{path.name}.guarantee.json")


def signature_of(path):
    return path.with_name(f"{note_of(path).name}.sig")


def failures(path, **options):
    return [check.text for check in verify(path, **options).checks if not check.passed]


def refuse_release(path, match, *, key=KEY.public, **options):
    """The release does not pass, and says why in one sentence without the folder."""
    faults = failures(path, key=key, **options)

    assert len(faults) == 1, faults
    assert match in faults[0]
    assert str(path.parent) not in faults[0]


def forge(path, *, key=KEY, **changes):
    """Write a note anew, as its owner could: sealed, and signed if a key is given."""
    fields = parse_note(note_of(path).read_bytes(), "note")
    files, entry = changes.pop("files", fields["files"]), changes.pop("ledger_entry", fields["ledger_entry"])
    terms = {name: value for name, value in (fields | changes).items() if name not in EVIDENCE}
    sealed = parse_note(seal_note(terms, files=files, plan=released.plan_of(terms), key=key), "x")
    sealed = {**sealed, "ledger_entry": entry}
    text = reseal(sealed)
    note_of(path).write_bytes(text)
    if key is not None:
        signature_of(path).write_bytes(key.sign(text))


def reseal(fields):
    """Return the bytes of a note whose last line fits the rest."""
    rest = {name: value for name, value in fields.items() if name != "note_sha256"}
    return render_note({**rest, "note_sha256": hashlib.sha256(render_note(rest)).hexdigest()})
