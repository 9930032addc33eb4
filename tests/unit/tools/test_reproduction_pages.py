"""Pages of a reproduction are written from whole seeds of a run, and never from fewer than they have."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from evenhand.papers import packed, reproduction
from evenhand.papers.claims import Checked, Claim
from evenhand.papers.paper import Paper, Study
from evenhand.papers.reproduction import cells_path, reproduce
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask

TOOL = Path(__file__).resolve().parents[3] / "tools" / "reproduction_pages.py"
PLAN = Plan(
    data=DataSource(dataset="causal", options={"n": 300}),
    task=CollectTask("grr", [1, 2], model="logistic"),
    repeats=3,
)
WHOLE = Study("whole", PLAN)
PARTS = Study("parts", PLAN, lambda: tuple(PLAN.with_(repeats=1, seed=seed) for seed in range(3)))
PAPER = Paper(
    name="made2026",
    title="Made up",
    citation="Nobody (2026)",
    studies=lambda *_, **__: (WHOLE, PARTS),
    claims=(Claim("acc", "It is so.", "5", lambda _: Checked("agrees", "It is."), "", ("whole",)),),
    tables=lambda evidence: {name: {"id": ["x"]} for name in evidence.studies},
    designs=dict.fromkeys(("quick", "reduced", "full"), "Some repeats."),
)


@pytest.fixture(scope="module")
def tool():
    """Return the tool as a module."""
    spec = importlib.util.spec_from_file_location("reproduction_pages", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _paper(monkeypatch, tool):
    monkeypatch.setattr(reproduction, "paper_named", lambda _: PAPER)
    monkeypatch.setattr(tool, "paper_named", lambda _: PAPER)
    monkeypatch.setattr(tool, "PAPERS", {"made2026": "Made up"})


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    """Return the folder of a run that was finished."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction, "paper_named", lambda _: PAPER)
        reproduce("made2026", out=folder, workers=1, progress=False)
    return folder


def leave(folder, study, number):
    """Leave so many cells of a study in its packed file, in the order in which they are run, and no store."""
    path = cells_path(folder, study.name)
    parts = packed.load_cells(path)
    order = [
        (0, cell.id) if study.parts is None else (cell.repeat, type(cell)(cell.setting, 0).id)
        for cell in study.plan.cells()
    ]
    for part, name in order[number:]:
        del parts[part].cells[name]
    packed.write_cells(path, parts)
    shutil.rmtree(folder / study.name)


@pytest.mark.parametrize("study", [WHOLE, PARTS], ids=lambda study: study.name)
def test_only_seeds_that_every_setting_has_are_taken_over(tool, finished_run, tmp_path, study):
    """Settings with other seeds would be compared on other splits."""
    run = shutil.copytree(finished_run, tmp_path / "run")
    settings = len(PLAN.settings())
    leave(run, study, 2 * settings + 1)

    assert tool.take_over(study, run, tmp_path / "pages") == "2 of 3 seeds"
    kept = packed.load_cells(cells_path(tmp_path / "pages", study.name))
    assert sum(len(part.cells) for part in kept.values()) == 2 * settings
    assert tool.whole_seeds(study, kept) == [0, 1]


def test_pages_with_more_seeds_than_a_run_keep_them(tool, finished_run, tmp_path):
    """A run that has just begun must not take verdicts away."""
    pages = tmp_path / "pages"
    tool.take_over(WHOLE, finished_run, pages)
    run = shutil.copytree(finished_run, tmp_path / "run")
    leave(run, WHOLE, len(PLAN.settings()))

    assert tool.take_over(WHOLE, run, pages) == "left out: 1 of 3 seeds are finished, and the pages have 3"
    assert tool.whole_seeds(WHOLE, packed.load_cells(cells_path(pages, "whole"))) == [0, 1, 2]


def test_a_single_seed_is_left_out(tool, finished_run, tmp_path):
    """It has no interval, so that nothing could be said of it."""
    run = shutil.copytree(finished_run, tmp_path / "run")
    leave(run, PARTS, 2 * len(PLAN.settings()) - 1)

    assert tool.take_over(PARTS, run, tmp_path / "pages").startswith("left out: 1 of 3 seeds")
    assert not cells_path(tmp_path / "pages", "parts").is_file()


def test_pages_tell_what_was_run_and_what_was_not(tool, finished_run, tmp_path, capsys):
    """A page that does not say so would be read as if it had the whole design."""
    run = shutil.copytree(finished_run, tmp_path / "run")
    leave(run, WHOLE, 2 * len(PLAN.settings()))
    cells_path(run, "parts").unlink()
    shutil.rmtree(run / "parts")
    own = tmp_path / "pages" / "made2026"
    own.mkdir(parents=True)
    (own / "parts.csv").write_text("of an earlier run")
    tool.main(["made2026", str(run), "--pages", str(tmp_path / "pages")])
    page = (own / "claims.md").read_text()

    assert "- whole: 6 cells, 3 not run: 2 repeats at epsilon 1, 2\n- parts: not run\n" in page
    assert sorted(path.name for path in own.iterdir()) == ["cells", "claims.csv", "claims.md", "whole.csv"]
    assert "parts: left out: 0 of 3 seeds are finished" in capsys.readouterr().out
