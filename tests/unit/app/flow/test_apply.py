"""The apply page without a browser: what is spent, what is refused, and that nothing private is on it."""

from dataclasses import asdict

import pyarrow as pa
import pytest
from pyarrow import csv

from evenhand.app.flow.apply import apply, prepare_applying
from evenhand.app.flow.describe import guess_roles
from evenhand.privacy.ledger import Ledger
from unit.app.flow.conftest import FORMS, new_study, people

pytestmark = pytest.mark.figures  # real processes, which take a while

PUBLIC = {name: {"public": True} for name in ("sex", "race", "job", "hired")}
NEW = {"name": "people 2026", "limit": "3/2"}


@pytest.fixture
def finished(study):
    """Return a function that makes a study that ran, with declared domains unless it is said otherwise."""

    def make(kind="collect", **changes):
        made = study(kind, **{"columns": PUBLIC, **changes})
        made.run()
        return made

    return make


def test_a_file_is_privatised_by_exactly_the_shown_command_and_the_ledger_is_charged(finished, tmp_path):
    """If this is false, people spend something else than what they agreed to."""
    made = finished()
    view = prepare_applying(made.folder, made.record, ledger="new", options=NEW)

    assert view.error == ""
    assert view.command.startswith("evenhand privatize people.csv reports.csv --schema schema.toml ")
    assert view.button == "Privatise and spend ε = 1"
    assert (view.ledger.limit, view.ledger.spent, view.ledger.this, view.ledger.left) == (
        "1.5",
        "0",
        "1",
        "0.5",
    )
    assert all(tick.can_be_set for tick in view.ticks)
    assert "ε = 1" in view.ticks[0].text
    assert (view.in_clear, view.keepable, view.links) == ((), ("job", "hired"), "")
    assert "Nothing is declared to be in the clear" in view.promise
    assert not (tmp_path / "ledgers" / "people 2026.db").exists()

    done = apply(made.folder, made.record, ledger="new", options=NEW)

    assert done.ok, done.said
    assert "reports.csv" in done.files
    assert "factor of 2.72" in done.promise
    assert "'people 2026'" in done.charged
    reports = csv.read_csv(made.folder / "applied" / "reports.csv")
    assert reports.num_rows == 400
    assert set(reports.column_names) == {"sex", "race"}
    spent = Ledger(tmp_path / "ledgers" / "people 2026.db").total().spent
    assert str(spent.epsilon) == "1"

    view = prepare_applying(made.folder, made.record, ledger="people 2026")
    assert not view.ledger.fits
    assert "ε = 0.5" in view.error
    assert "ε = 1" in view.error
    again = apply(made.folder, made.record, ledger="people 2026")
    assert not again.ok
    assert str(Ledger(tmp_path / "ledgers" / "people 2026.db").total().spent.epsilon) == "1"


def test_columns_are_passed_on_only_by_name_with_how_many_rows_link_by_them(finished):
    """If this is false, a file whose rows link to people is called what you may give away."""
    made = finished()
    view = prepare_applying(made.folder, made.record, options={"keep": ("job",)})

    assert view.in_clear == ("job",)
    assert "--keep job" in view.command
    assert "--linkable" not in view.command
    assert view.links == "No row is unique on job, which is in the clear."
    assert "In the clear, and so not protected: job." in view.promise
    assert [tick.name for tick in view.ticks] == ["spends", "public"]

    done = apply(made.folder, made.record, options={"keep": ("job",)})

    assert done.ok, done.said
    assert (done.links, done.is_for_publication) == (view.links, True)
    assert csv.read_csv(made.folder / "applied" / "reports.csv").column_names.count("job") == 1


def test_a_file_whose_rows_link_needs_a_box_of_its_own_and_is_not_for_publication(tmp_path):
    """Whoever publishes it names every person to whoever knows a few columns of theirs."""
    rows = people()
    jobs = [f"job {place}" if place < 30 else "cook" for place in range(rows.num_rows)]
    rows = rows.set_column(2, "job", pa.array(jobs))
    made = new_study(tmp_path, rows, "people.csv", form={"collect": FORMS["collect"]}, described=True)
    made.change(**guess_roles(made.folder, made.record)).change(columns=PUBLIC).run()
    options = {"keep": ("job", "hired")}
    view = prepare_applying(made.folder, made.record, options=options)

    assert not view.is_for_publication
    assert view.links.startswith("Not for publication: 7.5 % of the rows are unique on job and hired")
    assert "--linkable" in view.command
    assert "linkable rows (" in view.promise
    tick = view.ticks[-1]
    assert (tick.name, tick.text.endswith("I will not publish the file.")) == ("linkable", True)
    refused = apply(made.folder, made.record, options=options)
    assert (refused.ok, refused.said) == (False, ("All boxes have to be ticked.",))
    assert not (made.folder / "applied").exists()

    done = apply(made.folder, made.record, options=options, ticks=("spends", "public", "linkable"))

    assert done.ok, done.said
    assert not done.is_for_publication
    note = (made.folder / "applied" / "reports.csv.guarantee.json").read_text()
    assert '"linkable": {' in note


def test_a_table_is_released_by_the_shown_command(finished):
    made = finished("release")
    view = prepare_applying(made.folder, made.record)

    assert view.command.startswith(
        "evenhand release people.csv --schema schema.toml --columns sex,race,hired "
    )
    assert view.button == "Publish and spend ε = 1"

    done = apply(made.folder, made.record)

    assert done.ok, done.said
    assert "table.csv" in done.files
    assert (made.folder / "applied" / "table.csv").read_text().count("\n") == 13


@pytest.mark.parametrize(
    ("kind", "label", "written"),
    [("collect", "reports.csv", "private-reports.csv"), ("release", "table.csv", "published-table.csv")],
)
def test_a_file_that_is_called_like_what_is_written_is_left_alone(
    tmp_path, monkeypatch, kind, label, written
):
    """The command would be refused, since it writes over its own input."""
    monkeypatch.delenv("EVENHAND_LEDGER", raising=False)
    made = new_study(tmp_path, people(), label, kind, form={kind: FORMS[kind]}, described=True)
    made.change(**guess_roles(made.folder, made.record)).change(columns=PUBLIC).run()
    done = apply(made.folder, made.record)

    assert done.ok, done.said
    assert written in done.files
    assert label not in done.files


@pytest.mark.parametrize("kind", ["learn", "decide"])
def test_where_nothing_is_published_from_here_there_is_a_script_and_no_button(finished, kind):
    made = finished(kind, **({"columns": {}} if kind == "decide" else {}))
    view = prepare_applying(made.folder, made.record)

    assert view.button == ""
    assert view.command == ""
    assert view.sentences
    assert view.promise
    compile(view.script, "script.py", "exec")
    assert not apply(made.folder, made.record).ok


def test_domains_that_were_read_from_the_rows_cannot_be_called_public(finished):
    """If this is false, people declare as public what they learnt from private rows."""
    made = finished(columns={"race": {"public": True}})
    view = prepare_applying(made.folder, made.record)
    public = next(tick for tick in view.ticks if tick.name == "public")

    assert not public.can_be_set
    assert "'sex'" in public.why_not
    assert "'race'" not in public.why_not
    assert "page of the schema" in public.why_not
    assert not apply(made.folder, made.record).ok
    assert not (made.folder / "applied").exists()


def test_nothing_happens_unless_both_boxes_are_ticked(finished):
    made = finished()

    for ticks in ((), ("spends",), ("public",)):
        assert not apply(made.folder, made.record, ticks=ticks).ok
    assert not (made.folder / "applied").exists()


@pytest.mark.parametrize("name", ["../evil", "a/b", "", "x" * 80, "a\\b", ".hidden/.."])
def test_the_name_of_a_ledger_is_never_a_path(finished, tmp_path, name):
    made = finished()
    before = sorted(tmp_path.rglob("*.db"))
    view = prepare_applying(made.folder, made.record, ledger="new", options={"name": name, "limit": "1"})

    assert view.error or view.ledger is None
    assert sorted(tmp_path.rglob("*.db")) == before


def test_the_page_holds_no_number_and_no_value_of_the_rows(study_of):
    """If this is false, a page that people show to others tells what is private (G8)."""
    count = 487
    lines = ["sex,race,job,hired"]
    for each in range(count):
        race = "sentinelrare" if each == 3 else "ab"[each % 2]
        lines.append(
            f"{'fm'[each % 2]},{race},{'cook' if each % 3 else 'clerk'},{'yes' if each % 5 < 3 else 'no'}"
        )
    declared = {
        "sex": {"values": ["f", "m"]}, "race": {"values": ["a", "b"], "unknown": "other"},
        "job": {"values": ["cook", "clerk"]}, "hired": {"values": ["yes", "no"]},
    }  # fmt: skip
    form = {"collect": {"protocols": ["grr"], "epsilons": "1", "model": "logistic", "repeats": "2"}}
    made = study_of("\n".join(lines).encode(), "people.csv", form=form)
    made.change(**guess_roles(made.folder, made.record)).change(columns=declared).run()
    private = {str(count), f"{count:,}", "sentinelrare"}
    table = csv.read_csv(made.folder / "data" / made.record.data.file)
    for name in table.column_names:
        private |= {
            str(each["counts"]) for each in table[name].value_counts().to_pylist() if each["counts"] > 20
        }
    shown = str(asdict(prepare_applying(made.folder, made.record, ledger="new", options=NEW)))
    applied = apply(made.folder, made.record, ledger="new", options=NEW)
    done = str(asdict(applied))

    assert applied.ok, applied.said
    for sentinel in private:
        assert sentinel not in shown
        assert sentinel not in done
    assert str(made.folder) not in shown + done
    assert made.record.data.file not in shown + done
