"""The log of a ledger: the newest charges are in it while a program charges, and none is lost with it."""

import pytest

from evenhand.errors import LedgerError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger

TENTH = Guarantee.pure("1/10", unit="replace one", trust="central")


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("act", [Ledger.total, None], ids=["read", "given back"])
def test_a_ledger_that_nobody_charges_is_one_file_and_its_anchor(tmp_path, act):
    """So a copy is a whole ledger, and no log of an old one is read into a new one."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    made.spend(TENTH, purpose="table")
    if act is None:
        del made
    else:
        act(made)

    assert sorted(files_of(tmp_path)) == ["ledger.db", "ledger.db.anchor"]
    assert Ledger(tmp_path / "ledger.db").total().charges == 1


def test_a_charge_brings_to_the_disk_no_more_than_it_needs(ledger, tmp_path):
    """What was in the file stays as it is: the charge is in the log, and in the anchor."""
    before = files_of(tmp_path)
    ledger.spend(TENTH, purpose="one")
    after = files_of(tmp_path)

    assert after["ledger.db"] == before["ledger.db"]
    assert len(after["ledger.db-wal"]) > 0
    assert after["ledger.db.anchor"] != before["ledger.db.anchor"]


def test_a_log_does_not_grow_without_end(ledger, tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.privacy.ledger.database._LONGEST_LOG", 10_000)
    sizes = []
    for number in range(4):
        ledger.spend(Guarantee.pure("1/100", unit="replace one", trust="central"), purpose=f"{number}")
        log = tmp_path / "ledger.db-wal"
        sizes.append(log.stat().st_size if log.exists() else 0)

    assert max(sizes) < 10_000
    assert 0 in sizes
    assert ledger.total().charges == 7


@pytest.mark.parametrize("lost", ["ledger.db-wal", "ledger.db"])
def test_a_log_that_is_lost_or_stands_beside_an_older_copy_hides_no_charge(ledger, tmp_path, lost):
    """The newest charges are in the log while a program charges."""
    before = files_of(tmp_path)
    ledger.spend(TENTH, purpose="in the log")
    if lost == "ledger.db-wal":
        (tmp_path / lost).unlink()
        with pytest.raises(LedgerError, match="has 4 entries but its anchor says 5"):
            Ledger(ledger.path)
    else:
        ledger.path.write_bytes(before[lost])
        assert Ledger(ledger.path).total().charges == 4  # the log has it
