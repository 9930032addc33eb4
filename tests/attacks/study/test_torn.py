"""Torn writes heal, and damage is reported, never skipped (E2)."""

import contextlib
import random
import shutil

import pytest

from attacks._study_cells import LightRunner, cheap, light_rows, small_plan
from evenhand.errors import StudyStoreError
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.store import Store

PLAN = small_plan(repeats=3)
CELLS = PLAN.cells()


@pytest.fixture(scope="module")
def torn(tmp_path_factory):
    """Return a folder as a killed study leaves it: every cell is in the journal, none in the main file."""
    folder = tmp_path_factory.mktemp("torn")
    rows = light_rows()
    with Store.reserve(folder / "live") as store:
        store.start(PLAN, rows.facts)
        sizes = []
        for cell in CELLS:
            store.write(cheap(cell, plan=PLAN, prepared=rows))
            sizes.append((folder / "live" / "study.db-wal").stat().st_size)
        (folder / "left").mkdir()
        for name in ("study.db", "study.db-wal"):
            shutil.copy(folder / "live" / name, folder / "left" / name)
    return folder / "left", sizes


@pytest.fixture(scope="module")
def whole():
    runner = LightRunner(PLAN, workers=1, execute=cheap)
    list(runner.events())
    return canonical_table(runner.outcomes.values())


def _cut(torn, place, length):
    """Copy the folder with its journal cut to a length."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(torn, place)
    with (place / "study.db-wal").open("r+b") as file:
        file.truncate(length)


def _healed(torn, place, sizes, length, whole):
    """Cut, look, resume and look again; return how many cells the cut left."""
    _cut(torn, place, length)
    complete = sum(size <= length for size in sizes)
    with Store.open(place) as store:
        found = store.outcomes()
    runner = LightRunner(PLAN, out=place, workers=1, execute=cheap, resume=True)
    events = list(runner.events())

    assert [outcome.cell for outcome in found] == list(CELLS[:complete])  # every cell but the torn one
    assert events[0].done == complete
    assert canonical_table(runner.outcomes.values()) == whole
    return complete


def test_a_write_that_was_cut_anywhere_costs_one_cell(torn, whole, tmp_path):
    left, sizes = torn
    cuts = range(sizes[-2], sizes[-1] + 1, 997)

    assert {_healed(left, tmp_path / "s", sizes, cut, whole) for cut in cuts} == {8}
    assert _healed(left, tmp_path / "s", sizes, sizes[-1], whole) == 9


@pytest.mark.nightly
def test_a_write_that_was_cut_at_each_of_4096_places_heals(torn, whole, tmp_path):
    left, sizes = torn
    found = [_healed(left, tmp_path / "s", sizes, sizes[-1] - cut, whole) for cut in range(1, 4097)]

    assert len(found) == 4096
    assert min(found) >= 7


@pytest.mark.nightly
def test_a_journal_of_garbage_at_its_end_heals(torn, whole, tmp_path):
    """A disk may write blocks in any order: the tail is there, but wrong."""
    left, sizes = torn
    rng = random.Random(5)
    for _ in range(300):
        place = tmp_path / "s"
        _cut(left, place, sizes[-1])
        start = rng.randrange(sizes[-2], sizes[-1])
        with (place / "study.db-wal").open("r+b") as file:
            file.seek(start)
            file.write(rng.randbytes(sizes[-1] - start))
        runner = LightRunner(PLAN, out=place, workers=1, execute=cheap, resume=True)
        events = list(runner.events())

        assert events[0].done >= 8
        assert canonical_table(runner.outcomes.values()) == whole


def _verdict(folder, whole):
    """Return what a reader learns from a main file that was damaged: the truth, or an error that names it."""
    try:
        with Store.open(folder) as store:
            table = canonical_table(store.outcomes())
    except StudyStoreError as error:
        return "reported" if "'study.db'" in str(error) else str(error)
    return "harmless" if table == whole else "wrong"


def _damaged(folder, rng, flips):
    content = bytearray((folder / "study.db").read_bytes())
    for _ in range(flips):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


@pytest.mark.parametrize("count", [40, pytest.param(3000, marks=pytest.mark.nightly)])
def test_a_damaged_main_file_is_reported_or_harmless(whole, tmp_path, count):
    """A wrong number must never be read, and a missing cell never pass for one that was not run."""
    list(LightRunner(PLAN, out=tmp_path / "s", workers=1, execute=cheap).events())
    rng = random.Random(count)
    sound = (tmp_path / "s" / "study.db").read_bytes()
    (tmp_path / "d").mkdir()
    verdicts = []
    for number in range(count):
        (tmp_path / "d" / "study.db").write_bytes(_damaged(tmp_path / "s", rng, 1 + number % 3))
        verdicts.append(_verdict(tmp_path / "d", whole))
        for name in ("study.db-wal", "study.db-shm", "study.db-journal"):
            with contextlib.suppress(FileNotFoundError):
                (tmp_path / "d" / name).unlink()

    assert set(verdicts) <= {"reported", "harmless"}
    assert verdicts.count("reported") > count / 10  # the check can see
    assert (tmp_path / "s" / "study.db").read_bytes() == sound


@pytest.mark.parametrize("keep", [0.9, 0.5, 0.1])
def test_a_main_file_that_was_cut_short_is_reported(tmp_path, keep):
    list(LightRunner(PLAN, out=tmp_path, workers=1, execute=cheap).events())
    content = (tmp_path / "study.db").read_bytes()
    (tmp_path / "study.db").write_bytes(content[: int(len(content) * keep)])

    for attempt in (Store.open, lambda folder: Store.reserve(folder, resume=True)):
        with pytest.raises(StudyStoreError, match=r"study\.db"):
            attempt(tmp_path)
