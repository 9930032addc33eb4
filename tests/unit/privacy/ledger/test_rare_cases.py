"""What hardly ever happens to a ledger, and must not cost a charge when it does."""

import pytest

from evenhand.errors import LedgerError, MissingExtraError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Budget, Ledger, totals
from evenhand.privacy.ledger.anchor import Anchor, prepare_anchor
from evenhand.privacy.ledger.chain import Chain, entry_hash


def _quarter():
    return Guarantee.pure("1/4", unit="replace one", trust="central")


def _ledger(folder, **budget):
    ledger = Ledger(folder / "ledger.db", **({"epsilon": 10, "delta": "1e-6"} | budget))
    for _ in range(8):
        ledger.spend(_quarter(), purpose="table")
    return ledger


@pytest.mark.parametrize("damage", ["", "{", "[" * 4096, '{"format": 1}', '{"format": 1, "format": 1}'])
def test_a_damaged_anchor_is_refused_in_words(tmp_path, damage):
    (tmp_path / "anchor").write_text(damage)
    with pytest.raises(LedgerError, match="The anchor 'anchor' cannot be read or is damaged"):
        Anchor.load(tmp_path / "anchor")


def test_an_anchor_tells_the_newest_entry_where_another_process_was_quicker(tmp_path):
    """An anchor that tells an older one would let an older copy pass."""
    prepared, newest = Anchor("name", 1, "a" * 64), Anchor("name", 2, "b" * 64)
    with prepare_anchor(tmp_path / "anchor", prepared) as put:
        put(newest)

    assert Anchor.load(tmp_path / "anchor") == newest


def test_two_processes_that_make_one_ledger_make_it_once(tmp_path):
    ledger = _ledger(tmp_path)
    before = ledger.history()
    ledger._make({"epsilon": 20})

    assert ledger.history() == before
    assert ledger.budget.epsilon == 10


def test_an_entry_that_is_no_record_is_refused_though_its_hash_fits():
    """Whoever can compute a hash cannot put anything else in the chain."""
    with pytest.raises(LedgerError):
        Chain().extended([(1, "no record", entry_hash("0" * 64, 1, "no record"))], name="ledger.db")


def test_the_first_entry_is_told_by_its_kind(tmp_path):
    assert str(_ledger(tmp_path).history()[0]) == "entry 1, open"


def test_purposes_of_another_period_are_left_out(tmp_path):
    ledger = _ledger(tmp_path, period="year")

    assert ledger.by_purpose(period="1999") == {}
    assert list(ledger.by_purpose()) == ["table"]


def test_without_dp_accounting_the_other_total_stays(tmp_path, monkeypatch):
    def missing():
        raise MissingExtraError("dp-accounting", feature="it", extra="dp")

    ledger = _ledger(tmp_path, delta="9e-3")
    both = {total.name for total in ledger.tighter()}
    monkeypatch.setattr(totals, "load_dp_accounting", missing)

    assert {total.name for total in ledger.tighter()} == both - {"PLD"}
    assert "PLD" in both


def test_a_delta_below_what_rounding_hides_has_no_tighter_total_by_losses():
    budget = Budget.checked(epsilon=10, delta="1e-300", unit="replace one", people="", period="")
    chain = Chain((Chain().next_entry({"kind": "open", "time": "2026-01-01T00:00:00Z"}),))
    for _ in range(8):
        terms = {"kind": "spend", "guarantee": _quarter().to_dict(), "epsilon": "1/4", "delta": "0"}
        chain = Chain((*chain.entries, chain.next_entry({**terms, "time": "2026-01-01T00:00:00Z"})))

    assert "PLD" not in {total.name for total in totals.tighter_totals(chain.entries, budget, period="")}
