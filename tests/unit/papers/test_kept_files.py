"""Finished cells in small files: exact, judged without a store, gone on from; others are refused."""

import math
import shutil

import pytest

from evenhand.errors import StudyStoreError
from evenhand.papers import reproduction
from evenhand.papers.claims import Checked, Claim
from evenhand.papers.packed import load_cells, pack_cells
from evenhand.papers.paper import Paper, Study
from evenhand.papers.reproduction import cells_path, examine, reproduce
from evenhand.papers.trials import Trials, load_records, pack_records, records_path
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.events import CellDone, Started
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask

PLAN = Plan(
    data=DataSource(dataset="causal", options={"n": 300}),
    task=CollectTask("grr", [1], model="logistic"),
    repeats=2,
)
COMPUTED = []


def parts():
    """Return a plan for each of two repeats, with other seeds."""
    return tuple(PLAN.with_(repeats=1, seed=seed) for seed in (0, 1))


def compute(number):
    """Return a record, and note that it was computed."""
    COMPUTED.append(number)
    return {"square": number**2, "third": number / 3}


SEED = {"of": 0}


def studies(design, *, search=False):
    """Return one plan, with a second repeat in the larger design, and one of parts."""
    repeats = 1 if design == "quick" else 2
    return (
        Study("whole", PLAN.with_(repeats=repeats, seed=SEED["of"])),
        Study("parts", PLAN.with_(repeats=repeats), lambda: parts()[:repeats]),
    )


PAPER = Paper(
    name="made2026",
    title="Made up",
    citation="Nobody (2026)",
    studies=studies,
    trials=lambda design: (Trials("squares", 2 if design == "quick" else 3, compute),),
    claims=(Claim("acc", "It is so.", "5", lambda _: Checked("agrees", "It is."), "", ("whole",)),),
    tables=lambda _: {},
    designs=dict.fromkeys(("quick", "reduced", "full"), "Some repeats."),
)


@pytest.fixture(autouse=True)
def _paper(monkeypatch):
    monkeypatch.setattr(reproduction, "paper_named", lambda _: PAPER)
    monkeypatch.setitem(SEED, "of", 0)
    COMPUTED.clear()


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Return the folder of a small design, as it is kept: without the stores."""
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction, "paper_named", lambda _: PAPER)
        found = reproduce("made2026", out=folder, workers=1, progress=False)
    for name in ("whole", "parts", "squares"):
        shutil.rmtree(folder / name)
    return folder, found


@pytest.fixture
def folder(packed, tmp_path):
    """Return a copy of that folder."""
    shutil.copytree(packed[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_cells_are_judged_without_a_store_and_exact(packed, folder):
    """Verdicts can be made again on a machine that has neither the stores nor the data."""
    judged = examine("made2026", folder, design="quick")

    for name, results in packed[1].studies.items():
        assert canonical_table(judged.studies[name].outcomes) == canonical_table(results.outcomes)
        assert judged.studies[name].facts == results.facts
    assert judged.trials == {"squares": {0: {"square": 0, "third": 0.0}, 1: {"square": 1, "third": 1 / 3}}}


def test_a_run_goes_on_from_finished_cells(folder):
    """What is missing is run, and nothing else."""
    told = []
    found = reproduce("made2026", design="reduced", out=folder, workers=1, progress=told.append)

    assert told[0] == Started(done=2, failed=0, total=11)
    assert sum(isinstance(event, CellDone) for event in told) == 4
    assert COMPUTED == [2]
    fresh = reproduce("made2026", design="reduced", workers=1, progress=False)
    for name, results in found.studies.items():
        assert canonical_table(results.outcomes) == canonical_table(fresh.studies[name].outcomes)


def test_adopted_cells_keep_the_versions_they_were_computed_with(folder):
    """A store must not say that old cells were computed today."""
    path = cells_path(folder, "whole")
    part = load_cells(path)[0]
    assert all(versions["evenhand"] for _, versions in part.cells.values())
    reproduce("made2026", out=folder, workers=1, progress=False)
    with Store.open(folder / "whole") as store:
        stored = {record.outcome.cell.id: dict(record.versions) for record in store.records()}

    assert stored == {name: dict(versions) for name, (_, versions) in part.cells.items()}


def test_packing_again_gives_the_same_bytes(folder):
    """A file that changes without reason fills the history of a repository."""
    paths = [cells_path(folder, "whole"), cells_path(folder, "parts"), records_path(folder, "squares")]
    before = [path.read_bytes() for path in paths]
    reproduce("made2026", out=folder, workers=1, progress=False)

    assert [path.read_bytes() for path in paths] == before


@pytest.mark.figures
def test_a_smaller_design_loses_no_cell(folder):
    """Parts and trials that a design does not have stay in the files."""
    reproduce("made2026", design="reduced", out=folder, workers=1, progress=False)
    for name in ("whole", "parts", "squares"):
        shutil.rmtree(folder / name)
    reproduce("made2026", design="quick", out=folder, workers=1, progress=False)

    assert sum(len(part.cells) for part in load_cells(cells_path(folder, "parts")).values()) == 4
    assert sum(len(part.cells) for part in load_cells(cells_path(folder, "whole")).values()) == 4
    assert sorted(load_records(records_path(folder, "squares"), "squares")) == [0, 1, 2]


def test_cells_of_another_study_are_refused(folder, monkeypatch):
    """Another seed has other results."""
    monkeypatch.setitem(SEED, "of", 7)
    with pytest.raises(StudyStoreError, match="another study: seed differ"):
        reproduce("made2026", out=folder, workers=1, progress=False)


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"{}"])
def test_damaged_files_are_named(folder, damage):
    """Half a file must not pass for none."""
    cells_path(folder, "whole").write_bytes(damage)
    with pytest.raises(StudyStoreError, match=r"'whole\.parquet' are damaged"):
        examine("made2026", folder)
    records_path(folder, "squares").write_bytes(damage)
    with pytest.raises(StudyStoreError, match=r"'squares\.json\.gz' are damaged"):
        load_records(records_path(folder, "squares"), "squares")


def test_records_of_other_trials_are_refused(tmp_path):
    """A renamed file is not another one's."""
    path = records_path(tmp_path, "squares")
    pack_records(path, "squares", {1: {"square": 1}})
    with pytest.raises(StudyStoreError, match="of something else"):
        load_records(path, "cubes")


def test_where_nothing_is_finished_no_file_is_written(tmp_path):
    """An empty file would look like a result."""
    pack_cells(cells_path(tmp_path, "whole"), {0: tmp_path / "whole"})
    pack_records(records_path(tmp_path, "squares"), "squares", {})

    assert not list(tmp_path.iterdir())


def test_undefined_and_infinite_numbers_come_back(folder):
    """A reported disparity without protection is undefined, not missing."""
    (part,) = load_cells(cells_path(folder, "whole")).values()
    unprotected = [outcome for outcome in part.outcomes if not outcome.cell.setting.is_protected]

    assert all(math.isnan(outcome.data["reported"]) for outcome in unprotected)
