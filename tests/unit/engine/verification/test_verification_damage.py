"""One changed byte is found, wherever it is: in the table, the note, the signature, the files beside it."""

import random

import pandas as pd
import pytest

from evenhand.engine import privatize_file, verify
from evenhand.errors import EvenhandError
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.signing import PublicKey, SigningKey
from evenhand.release import Histogram, KAnonymity, Laplace
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [Column("sex", Domain.categorical(["f", "m"])), Column("job", Domain.categorical(["a", "b", "c"]))],
    sensitive="sex",
    quasi_identifiers=["sex", "job"],
)
PEOPLE = pd.DataFrame({"sex": ["f", "m", "f", "m"] * 25, "job": ["a", "b", "c", "a"] * 25})
KEY = SigningKey.new()
LAPLACE = Laplace(epsilon="1/2", unit="replace one")
KINDS = ["table.csv", "table.parquet", "classes.csv", "reports.csv", "reports.csv.gz", "reports.parquet"]


def write(folder, name, *, sign, ledger=None):
    """Write something of each kind, and return where."""
    if name.startswith("reports"):
        PEOPLE.to_csv(folder / "people.csv", index=False)
        privatize_file(
            folder / "people.csv", folder / name, schema=SCHEMA, epsilon=1, sign=sign, ledger=ledger
        )
        (folder / "people.csv").unlink()
    else:
        mechanism = KAnonymity(k=2) if name.startswith("classes") else LAPLACE
        mechanism.release(Histogram.count(PEOPLE, SCHEMA), ledger=ledger).write(folder / name, sign=sign)
    return folder / name


def passes(path, **options):
    try:
        return verify(path, **options).passed
    except EvenhandError:
        return False


def undetected(path, *, places, key):
    """Return where a flipped byte of any file of a release goes unnoticed; `places` is the most per file."""
    draws, found = random.Random(5), []
    for file in sorted(path.parent.iterdir()):
        written = file.read_bytes()
        for position in draws.sample(range(len(written)), min(places, len(written))):
            changed = bytearray(written)
            changed[position] ^= draws.choice([1, 2, 4, 8, 16, 32, 64, 128])
            file.write_bytes(changed)
            if passes(path, key=key):
                found.append((file.name, position))
        file.write_bytes(written)
    return found


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("name", ["classes.csv", "reports.parquet"])
def test_a_flipped_byte_is_found(tmp_path, name, signed):
    path = write(tmp_path, name, sign=KEY if signed else None)
    key = KEY.public if signed else None

    assert passes(path, key=key)
    assert undetected(path, places=20, key=key) == []
    assert passes(path, key=key)


@pytest.mark.figures
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_every_flipped_byte_is_found(tmp_path, name, signed):
    path = write(tmp_path, name, sign=KEY if signed else None)

    assert undetected(path, places=500, key=KEY.public if signed else None) == []


@pytest.mark.figures
@pytest.mark.parametrize("name", ["table.csv", "reports.csv"])
def test_every_shorter_file_is_found(tmp_path, name):
    path = write(tmp_path, name, sign=KEY)
    for file in sorted(tmp_path.iterdir()):
        written = file.read_bytes()
        for length in range(0, len(written), max(1, len(written) // 200)):
            file.write_bytes(written[:length])
            assert not passes(path, key=KEY.public), (file.name, length)
        file.write_bytes(written)


@pytest.mark.figures
def test_every_flipped_byte_of_a_schema_that_is_named_is_found_or_means_the_same(tmp_path):
    """A blank between two words may go; a value may not."""
    path = write(tmp_path, "table.csv", sign=KEY)
    file = tmp_path / "schema.toml"
    SCHEMA.save(file)
    written = file.read_bytes()
    for position in range(len(written)):
        for bit in (1, 4, 32):
            changed = bytearray(written)
            changed[position] ^= bit
            file.write_bytes(changed)
            if passes(path, schema=file):
                same = Schema.load(file).select(SCHEMA.names)
                assert [same[name] for name in SCHEMA.names] == list(SCHEMA.columns), position


@pytest.mark.figures
def test_every_flipped_byte_of_a_public_key_is_found(tmp_path):
    path = write(tmp_path, "table.csv", sign=KEY)
    KEY.write(tmp_path / "office.key")
    file = tmp_path / "office.key.pub"
    written = file.read_bytes()
    for position in range(len(written)):
        for bit in range(8):
            changed = bytearray(written)
            changed[position] ^= 1 << bit
            file.write_bytes(changed)
            assert not passes(path, key=file), (position, bit)
    assert PublicKey(KEY.public.raw) == KEY.public


@pytest.mark.figures
def test_a_flipped_byte_of_the_ledger_is_found_or_harmless(tmp_path):
    """SQLite leaves space unused, so some bytes mean nothing; the entry must be the same then."""
    ledger = Ledger(tmp_path / "ledger.db", epsilon=10)
    (tmp_path / "out").mkdir()
    path = write(tmp_path / "out", "table.csv", sign=KEY, ledger=ledger)
    ledger.total()
    entry, draws = ledger.history()[1], random.Random(6)
    for file in (ledger.path, ledger.anchor):
        written = file.read_bytes()
        for position in draws.sample(range(len(written)), min(300, len(written))):
            changed = bytearray(written)
            changed[position] ^= draws.choice([1, 2, 4, 8, 16, 32, 64, 128])
            file.write_bytes(changed)
            if passes(path, ledger=ledger.path):
                assert Ledger(ledger.path).history()[1] == entry
            file.write_bytes(written)
