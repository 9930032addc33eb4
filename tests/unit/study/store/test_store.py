"""The store keeps what it is given, and says so when it cannot."""

import sqlite3
from dataclasses import replace
from fractions import Fraction

import pytest

from attacks._study_cells import cheap, small_plan
from evenhand.errors import StudyStoreError
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.facts import versions
from evenhand.study.plan.source import DataSource
from evenhand.study.run.prepare import prepare
from evenhand.study.store import file as store_file
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.store.store import LOCK, Store
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.report_settings import report_setting
from evenhand.table import FileFormat

PLAN = small_plan()


@pytest.fixture(scope="module")
def prepared():
    return prepare(PLAN)


@pytest.fixture(scope="module")
def outcomes(prepared):
    return [cheap(cell, plan=PLAN, prepared=prepared) for cell in PLAN.cells()]


@pytest.fixture
def folder(tmp_path, prepared, outcomes):
    """Return a folder with a finished study."""
    _fill(tmp_path / "study", PLAN, prepared.facts, outcomes)
    return tmp_path / "study"


def _fill(folder, plan, facts, outcomes, *, resume=False):
    with Store.reserve(folder, resume=resume) as store:
        store.start(plan, facts)
        for outcome in outcomes:
            store.write(outcome)


def _refused(call, *words):
    with pytest.raises(StudyStoreError) as caught:
        call()
    message = str(caught.value)

    assert all(word in message for word in words), message
    assert "Hint: " in message
    assert "/" not in message.replace("and/or", "")
    return message


def _spoil(folder, *statements):
    connection = sqlite3.connect(folder / "study.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


# --- what is kept ---------------------------------------------------------------------------------


def test_outcomes_come_back_as_they_were(folder, outcomes, prepared):
    with Store.open(folder) as store:
        back = store.outcomes()

    assert canonical_table(back) == canonical_table(outcomes)
    assert [each.cell for each in back] == list(PLAN.cells())
    assert back[0].seconds == outcomes[0].seconds
    assert store.plan == PLAN
    assert store.facts == prepared.facts


def test_every_cell_has_what_it_takes_to_compute_it_again(folder):
    with Store.open(folder) as store:
        records = store.records()

    assert {record.spec for record in records} == {store.spec.hash}
    assert {record.seed for record in records} == {7}
    assert {record.rng for record in records} == {"seeded"}
    assert all(record.versions == versions() for record in records)
    assert all(record.finished.endswith("+00:00") for record in records)


def test_the_file_itself_can_be_named(folder):
    with Store.open(folder / "study.db") as store:
        assert store.verify() == ()


def test_a_finished_study_is_one_plain_file(folder):
    """A folder that is copied or put on a read-only disk must still open."""
    assert sorted(path.name for path in folder.iterdir()) == ["study.db", LOCK]
    (folder / "study.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        with Store.open(folder) as store:
            assert len(store.outcomes()) == len(PLAN.cells())
    finally:
        folder.chmod(0o755)


def test_a_running_study_can_be_read(tmp_path, prepared, outcomes):
    """A notebook may look at a study that a terminal runs."""
    with Store.reserve(tmp_path) as writer:
        writer.start(PLAN, prepared.facts)
        writer.write(outcomes[0])
        with Store.open(tmp_path) as reader:
            first = len(reader.outcomes())
            writer.write(outcomes[1])

            assert first == 1
            assert len(reader.outcomes()) == 2


def test_a_cell_that_is_written_again_is_replaced(folder, outcomes, prepared):
    failed = Outcome(outcomes[0].cell, failure=Failure("ValueError", "Raised at a.py:1."))
    _fill(folder, PLAN, prepared.facts, [failed], resume=True)
    with Store.open(folder) as store:
        back = store.outcomes()

    assert back[0].failure == failed.failure
    assert len(back) == len(outcomes)


def test_cells_of_an_earlier_plan_stay_but_are_not_shown(folder, outcomes, prepared):
    """Who takes a value out of the grid and puts it back gets its cells back."""
    fewer = small_plan([1])
    _fill(folder, fewer, prepared.facts, [], resume=True)
    with Store.open(folder) as store:
        shown, kept = store.outcomes(), store.records()

    assert [each.cell for each in shown] == list(fewer.cells())
    assert len(kept) == len(outcomes)


def test_a_folder_whose_name_is_odd_works(tmp_path, prepared, outcomes):
    folder = tmp_path / "50 % off? #1 é"
    _fill(folder, PLAN, prepared.facts, outcomes[:1])
    with Store.open(folder) as store:
        assert len(store.outcomes()) == 1


def test_a_relative_path_of_data_is_taken_from_the_folder(tmp_path, prepared, outcomes):
    from evenhand.study.plan.source import DataSource

    plan = PLAN.with_(data=DataSource(path="../rows.csv"), schema=prepared.facts.schema)
    _fill(tmp_path / "study", plan, prepared.facts, outcomes[:1])
    with Store.open(tmp_path / "study") as store:
        assert store.plan.data.path == str(tmp_path / "study" / "../rows.csv")


# --- what is refused ------------------------------------------------------------------------------


def test_a_folder_without_a_study_is_refused(tmp_path):
    _refused(lambda: Store.open(tmp_path), "'study.db' is not there")
    _refused(lambda: Store.open(tmp_path / "nowhere"), "'study.db' is not there")


def test_a_store_without_a_beginning_is_refused_for_reading_and_filled(tmp_path, prepared, outcomes):
    """A run that is killed as it makes the file leaves an empty one."""
    (tmp_path / "study.db").touch()
    _refused(lambda: Store.open(tmp_path), "'study.db' is empty")
    _fill(tmp_path, PLAN, prepared.facts, outcomes[:1])
    with Store.open(tmp_path) as store:
        assert len(store.outcomes()) == 1


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\x00" * 5000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused(tmp_path, content):
    (tmp_path / "study.db").write_bytes(content)

    for call in (Store.open, Store.reserve):
        _refused(lambda call=call: call(tmp_path), "'study.db'")
    assert (tmp_path / "study.db").read_bytes() == content


def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path):
    _spoil(tmp_path, "CREATE TABLE t (a)")
    before = (tmp_path / "study.db").read_bytes()

    for call in (Store.open, lambda folder: Store.reserve(folder, resume=True)):
        _refused(lambda call=call: call(tmp_path), "'study.db' is a database, but not of a study")
    assert (tmp_path / "study.db").read_bytes() == before


@pytest.mark.parametrize(
    ("number", "hint"),
    [(3, "install a newer evenhand"), (0, "read it with the evenhand that wrote it")],
)
def test_another_format_is_refused(folder, number, hint):
    _spoil(folder, f"PRAGMA user_version = {number}")

    _refused(lambda: Store.open(folder), f"format {number}", "knows the format 2", hint)


def test_a_study_of_an_older_evenhand_must_be_run_again(folder):
    """Settings had other fields then, so that no cell of it could be found."""
    _spoil(folder, "PRAGMA user_version = 1")
    said = ("was written by an older evenhand", "run the study again in another folder")

    _refused(lambda: Store.open(folder), *said)
    _refused(lambda: Store.reserve(folder, resume=True), *said)


def test_finished_cells_are_not_run_over(folder):
    """A forgotten option must not cost a night of computing."""
    _refused(lambda: Store.reserve(folder), "finished runs in 'study.db'", "resume=True", "--resume")


def test_a_store_without_cells_may_be_begun_with_another_plan(tmp_path, prepared, outcomes):
    _fill(tmp_path, small_plan(seed=9), prepared.facts, [])
    _fill(tmp_path, PLAN, prepared.facts, outcomes[:1])
    with Store.open(tmp_path) as store:
        assert store.plan.seed == 7


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 8}, "differs in the seed."),
        ({"task": CollectTask("grr", splits="uniform")}, "differs in the task."),
        ({"seed": 8, "task": CollectTask("grr", splits="uniform")}, "differs in the seed and the task."),
    ],
)
def test_another_study_does_not_go_on_in_the_folder(folder, prepared, changes, told):
    """Cells of two studies in one table would be compared as if they were one."""
    before = Store.open(folder)
    with Store.reserve(folder, resume=True) as store:
        _refused(lambda: store.start(PLAN.with_(**changes), prepared.facts), told)
    with before, Store.open(folder) as after:
        assert after.plan == before.plan


def test_other_data_and_another_schema_are_named(folder, prepared):
    fewer = prepared.facts.schema.select([name for name in prepared.facts.schema.names if name != "M"])
    facts = replace(prepared.facts, fingerprint="0" * 64, schema=fewer)
    with Store.reserve(folder, resume=True) as store:
        _refused(lambda: store.start(PLAN, facts), "differs in the data or the schema.")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ({"decimal": ","}, "differs in the data (decimal)."),
        ({"delimiter": ";", "encoding": "latin-1"}, "differs in the data (delimiter, encoding)."),
        ({"sheet": "2"}, "differs in the data (sheet)."),
        ({"rows": 50}, "differs in the data (rows)."),
    ],
)
def test_another_reading_of_the_file_is_named(tmp_path, prepared, outcomes, read, told):
    """Whoever typed another option of the reading must hear which, for the data look the same."""
    plan = PLAN.with_(data=DataSource(path="p.csv"))
    _fill(tmp_path, plan, prepared.facts, outcomes[:1])
    written = {name: value for name, value in read.items() if name != "rows"}
    other = DataSource(path="p.csv", rows=read.get("rows"), file_format=FileFormat(**written))
    with Store.reserve(tmp_path, resume=True) as store:
        facts = replace(prepared.facts, fingerprint="0" * 64)
        _refused(lambda: store.start(plan.with_(data=other), facts), told)


def test_a_second_process_is_refused_and_a_reader_is_not(folder):
    with Store.reserve(folder, resume=True):
        _refused(lambda: Store.reserve(folder, resume=True), "Another process", "'study.lock'")
        with Store.open(folder) as reader:
            assert reader.verify() == ()
    with Store.reserve(folder, resume=True) as again:
        assert again.plan == PLAN


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()

    _refused(lambda: Store.reserve(tmp_path / "file"), "cannot be made")
    _refused(lambda: Store.reserve(tmp_path / "file" / "deeper"), "cannot be made")


def test_a_failed_reservation_gives_the_lock_back(folder):
    _spoil(folder, "PRAGMA user_version = 9")
    for _ in range(2):
        _refused(lambda: Store.reserve(folder, resume=True), "format 9")


# --- damage ---------------------------------------------------------------------------------------

DAMAGE = [
    "UPDATE cells SET result = replace(result, '0.', '1.')",
    "UPDATE cells SET seed = seed + 1",
    "UPDATE cells SET state = 'failed'",
    "UPDATE cells SET seconds = '{}'",
    "UPDATE cells SET finished = ''",
    "UPDATE cells SET result = CAST(x'fffe' AS TEXT)",
    "UPDATE cells SET checksum = ''",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_row_that_is_not_as_it_was_written_is_reported_by_its_cell(folder, statement):
    """A changed number that nobody notices is worse than a lost one."""
    cell = Cell(report_setting("grr", Fraction(2), "uniform", "independent"), 1)
    _spoil(folder, f"{statement} WHERE cell = '{cell.id}'")
    with Store.open(folder) as store:
        problems = store.verify()
        message = _refused(store.outcomes, "'study.db'", "'GRR, uniform split, ε = 2, repeat 1'")

    assert problems == (message,)


@pytest.mark.parametrize("name", ["nonsense", '{"epsilon":"1/0"}', "[]", '{"repeat":0}'])
def test_a_row_whose_cell_is_damaged_too_is_reported(folder, name):
    _spoil(folder, f"UPDATE cells SET cell = '{name}' WHERE cell = '{Cell(Setting(), 0).id}'")
    with Store.open(folder) as store:
        assert len(store.verify()) == 1
        with pytest.raises(StudyStoreError, match=r"study\.db.*damaged in the cell"):
            store.outcomes()


def test_a_row_whose_text_was_never_a_result_is_reported(folder):
    """The checksum is right, but the row was not written by a store."""
    from evenhand.study.store.file import checksum

    with Store.open(folder) as store:
        spec = store.spec.hash
    values = (spec, Cell(Setting(), 0).id, "done", "[]", "{}", 7, "seeded", "v", "t")
    connection = sqlite3.connect(folder / "study.db", isolation_level=None)
    marks = ", ".join("?" * 10)
    connection.execute(f"INSERT OR REPLACE INTO cells VALUES ({marks})", (*values, checksum(values)))
    connection.close()
    with Store.open(folder) as store:
        _refused(store.outcomes, "damaged in the cell 'unprotected, repeat 0'")


def test_damaged_versions_are_reported(folder):
    _spoil(folder, "UPDATE versions SET versions = '{}'")
    with Store.open(folder) as store:
        _refused(store.records, "'study.db' is damaged in its table of versions")
        assert len(store.verify()) == len(PLAN.cells())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = value || ' ' WHERE key = 'plan'",
        "DELETE FROM meta WHERE key = 'facts'",
        "DROP TABLE meta",
        "DROP TABLE cells",
    ],
)
def test_a_store_that_lost_its_plan_or_facts_is_refused(folder, statement):
    _spoil(folder, statement)

    def use():
        with Store.open(folder) as store:
            store.outcomes()

    _refused(use, "'study.db' is damaged")


def test_a_plan_that_was_never_one_is_refused(folder):
    from evenhand.study.store.file import checksum

    _spoil(folder, f"UPDATE meta SET value = 'x', checksum = '{checksum(['plan', 'x'])}' WHERE key = 'plan'")

    _refused(lambda: Store.open(folder), "'study.db' is damaged")


def test_a_torn_page_is_reported(folder):
    """Damage of the structure is seen before a cell is read or written."""
    path = folder / "study.db"
    content = bytearray(path.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 64] = b"\xaa" * 64
    path.write_bytes(content)

    _refused(lambda: Store.open(folder), "'study.db'")
    _refused(lambda: Store.reserve(folder, resume=True), "'study.db'")


def test_damage_that_sqlite_cannot_even_tell_is_reported(folder):
    """Its message quotes the damaged name, which is no text."""
    path = folder / "study.db"
    damaged = path.read_bytes().replace(b"tablecellscells", b"tablec\xf4llscells")
    path.write_bytes(damaged.replace(b"CREATE TABLE cells", b"CREATE TABLF cells"))
    with pytest.raises(UnicodeDecodeError):
        store_file.connect_store(path, write=False)

    _refused(lambda: Store.open(folder), "'study.db' is damaged")
    _refused(lambda: Store.reserve(folder, resume=True), "'study.db' is damaged")


def test_verify_tells_what_sqlite_finds(folder, monkeypatch):
    with Store.open(folder, check=False) as store:
        monkeypatch.setattr(store, "_faults", lambda: ["row 3 missing from index"])

        assert store.verify() == ("The file 'study.db': row 3 missing from index",)


def test_verify_goes_on_where_it_can(folder):
    with Store.open(folder) as store:
        _spoil(folder, "DROP TABLE cells")

        assert "is damaged" in store.verify()[0]


# --- the disk -------------------------------------------------------------------------------------


def test_a_full_disk_is_told_and_loses_nothing(tmp_path, prepared, outcomes):
    with Store.reserve(tmp_path) as store:
        store.start(PLAN, prepared.facts)
        store.write(outcomes[0])
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        big = Outcome(outcomes[1].cell, {f"m{number}": 0.1 for number in range(3000)})
        _refused(lambda: store.write(big), "'study.db'", "disk is full", "resume")
        store._connection.execute("PRAGMA max_page_count = 100000")
        store.write(outcomes[1])
    with Store.open(tmp_path) as store:
        assert len(store.outcomes()) == 2


def test_a_file_that_may_not_be_written_is_told():
    """As root every file may be written, so the error itself is played."""
    for code, words in [
        (sqlite3.SQLITE_READONLY, "may not be written"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_BUSY | 2 << 8, "locked by another process"),
        (sqlite3.SQLITE_IOERR | 4 << 8, "the disk reports an error"),
        (sqlite3.SQLITE_CORRUPT, "is damaged"),
    ]:
        error = sqlite3.OperationalError("a folder /home/x")
        error.sqlite_errorcode = code

        def fail(error=error):
            with store_file.explain_errors(store_file.path_of("x")):
                raise error

        _refused(fail, "'study.db'", words)


def test_every_cell_is_a_transaction_that_reaches_the_disk(tmp_path, prepared):
    """With less, a power cut would lose finished cells."""
    with Store.reserve(tmp_path) as store:
        store.start(PLAN, prepared.facts)

        assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_write_that_is_interrupted_leaves_no_half(tmp_path, prepared, outcomes):
    def interrupted(store):
        with store_file.transaction(store._connection):
            store._connection.execute("DELETE FROM meta")
            raise KeyboardInterrupt

    with Store.reserve(tmp_path) as store:
        store.start(PLAN, prepared.facts)
        with pytest.raises(KeyboardInterrupt):
            interrupted(store)
        store.write(outcomes[0])
    with Store.open(tmp_path) as store:
        assert len(store.outcomes()) == 1


@pytest.mark.parametrize("name", ["study.db", "study.lock"])
def test_a_link_that_leads_nowhere_is_refused(tmp_path, name):
    """SQLite would make the file that it names, in a folder that nobody named."""
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StudyStoreError, match=f"'{name}' is a link that leads nowhere. Hint: remove it"):
        Store.reserve(tmp_path)
    assert not (tmp_path / "elsewhere").exists()
