"""A ledger that is exported and made again counts as much, and what nobody knows is unbounded."""

import json
from fractions import Fraction

import pytest

from evenhand.errors import LedgerError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger, export_ledger, import_ledger
from evenhand.privacy.ledger.anchor import Anchor, prepare_anchor
from evenhand.privacy.ledger.chain import Chain, entry_hash

TENTH = Guarantee.pure("1/10", unit="replace one", trust="central")


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    made.spend(TENTH, purpose="first")
    export_ledger(made, tmp_path / "ledger.json")
    return made


def test_an_export_as_new_as_the_anchor_gives_the_same_ledger(ledger, tmp_path):
    before = ledger.history()
    ledger.path.unlink()
    again = import_ledger(tmp_path / "ledger.json", ledger.path)

    assert again.history() == before
    assert again.total().unbounded == ()
    again.spend(TENTH, purpose="goes on")


def test_an_export_that_is_older_than_the_anchor_is_refused(ledger, tmp_path):
    ledger.spend(TENTH, purpose="after the export")
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="has 2 entries but its anchor says 3"):
        import_ledger(tmp_path / "ledger.json", ledger.path)

    assert not ledger.path.exists()


def test_without_the_anchor_what_was_spent_since_is_unbounded(ledger, tmp_path):
    again = import_ledger(tmp_path / "ledger.json", tmp_path / "new.db")

    assert again.total().unbounded == (3,)
    assert again.total().spent.epsilon == Fraction(1, 10)
    assert "what was spent after it is not known" in again.history()[-1].purpose
    again.retire(3, purpose="the minutes of the board list all releases")
    assert again.total().unbounded == ()


def test_the_anchor_of_an_imported_ledger_may_stand_elsewhere(ledger, tmp_path):
    again = import_ledger(tmp_path / "ledger.json", tmp_path / "new.db", anchor=tmp_path / "new.anchor")

    assert Ledger(again.path).anchor == tmp_path / "new.anchor"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda written: written["entries"][1].__setitem__(1, "{}"), "damaged at entry 2"),
        (lambda written: written["entries"].pop(0), "damaged at entry 1"),
        (lambda written: written["entries"].clear(), "has no entries"),
        (lambda written: written.update(format="evenhand ledger 2"), "install a newer evenhand"),
        (lambda written: written.pop("format"), "is no export of a ledger"),
        (lambda written: written.update(entries=3), "is no export of a ledger"),
    ],
)
def test_an_export_that_was_changed_is_refused(ledger, tmp_path, change, match):
    written = json.loads((tmp_path / "ledger.json").read_text())
    change(written)
    (tmp_path / "ledger.json").write_text(json.dumps(written))
    with pytest.raises(LedgerError, match=match):
        import_ledger(tmp_path / "ledger.json", tmp_path / "new.db")

    assert not (tmp_path / "new.db").exists()


def test_nothing_is_written_over(ledger, tmp_path):
    for act in (
        lambda: export_ledger(ledger, tmp_path / "ledger.json"),
        lambda: import_ledger(tmp_path / "ledger.json", ledger.path),
        lambda: ledger.backup(ledger.path),
    ):
        with pytest.raises(LedgerError, match="There is a file"):
            act()


def test_what_is_no_file_is_refused(ledger, tmp_path):
    (tmp_path / "text.json").write_text("county,count")
    for name in ("nowhere.json", "text.json", "."):
        with pytest.raises(LedgerError, match=r"no export of a ledger|is a folder"):
            import_ledger(tmp_path / name, tmp_path / "new.db")
    with pytest.raises(LedgerError, match="cannot be written"):
        export_ledger(ledger, tmp_path / "no" / "folder.json")


def test_an_anchor_that_cannot_be_written_leaves_no_file_that_stops_the_next_try(ledger, tmp_path):
    export_ledger(ledger, tmp_path / "export.json")
    again = tmp_path / "again.db"
    with pytest.raises(LedgerError, match=r"The anchor 'a\.anchor' cannot be written"):
        import_ledger(tmp_path / "export.json", again, anchor=tmp_path / "no folder" / "a.anchor")

    assert not again.exists()
    assert len(import_ledger(tmp_path / "export.json", again).history()) == len(ledger.history()) + 1


@pytest.mark.parametrize("kind", ["[]", "{}", "null", "[" * 100_000])
def test_an_entry_of_a_kind_that_is_no_word_is_refused(kind):
    """Whoever makes up an export has the hashes right."""
    text = f'{{"kind":{kind}}}'
    row = (1, text, entry_hash("0" * 64, 1, text))

    with pytest.raises(LedgerError, match="changed or is damaged at entry 1"):
        Chain().extended([row], name="export.json")


def test_where_files_are_closed_before_they_are_renamed_a_newer_anchor_is_put(tmp_path, monkeypatch):
    """On Windows the charge was stored and then ended with an error, if another process had charged too."""
    monkeypatch.setattr("evenhand._part_files.sys.platform", "win32")
    place = tmp_path / "ledger.db.anchor"
    with prepare_anchor(place, Anchor("a", 1, "x")) as put:
        put(Anchor("a", 2, "y"))

    assert Anchor.load(place) == Anchor("a", 2, "y")
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
