"""Reproducing a paper: what is run, resumed, told, judged and written."""

import csv
from types import SimpleNamespace

import pytest

from evenhand import papers
from evenhand.errors import (
    DataSetNotFoundError,
    InvalidParameterError,
    StudyStoreError,
    UnknownNameError,
    UnwritableFileError,
)
from evenhand.papers import reproduction
from evenhand.papers.claims import Checked, Claim
from evenhand.papers.paper import PAPERS, Paper, Study, paper_named
from evenhand.papers.reproduction import examine, reproduce
from evenhand.papers.tables import means_table
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.estimates import estimate
from evenhand.study.run.events import Cancel, Cancelled, CellDone, Finished, Started
from evenhand.study.tasks.collect.task import CollectTask

PLAN = Plan(
    data=DataSource(dataset="causal", options={"n": 300}),
    task=CollectTask("grr", [1], model="logistic"),
    repeats=2,
)


def parts():
    """Return a plan for each of two repeats, with other seeds."""
    return tuple(PLAN.with_(repeats=1, seed=seed) for seed in (0, 1))


STUDIES = {
    "quick": (Study("whole", PLAN.with_(repeats=1)),),
    "reduced": (Study("whole", PLAN), Study("parts", PLAN, parts)),
    "full": (Study("whole", PLAN), Study("lost", PLAN.with_(data=DataSource(dataset="lsac")))),
}


def accuracy(evidence):
    """Check that there is an accuracy."""
    return Checked("agrees", "There is one.", estimate(evidence.studies["whole"], Setting(), "acc"), "0.7")


def studies(design, *, search=False):
    """Return the studies of a design; a search gives them other names."""
    return (
        tuple(Study(f"{each.name}-searched", each.plan) for each in STUDIES[design])
        if search
        else STUDIES[design]
    )


@pytest.fixture(autouse=True)
def _paper(monkeypatch):
    paper = Paper(
        name="made2026",
        title="Made up",
        citation="Nobody (2026)",
        studies=studies,
        claims=(
            Claim("acc", "It is 0.7.", "5", accuracy, "quoted", ("whole",)),
            Claim(
                "parts",
                "It is so.",
                "A",
                lambda _: Checked("contradicted", "It is not."),
                "mostly",
                ("parts",),
            ),
        ),
        tables=lambda evidence: {
            name: means_table(name, results, ("acc",)) for name, results in evidence.studies.items()
        },
        designs={"quick": "One repeat.", "reduced": "Two repeats.", "full": "All."},
    )
    monkeypatch.setattr(reproduction, "paper_named", lambda _: paper)


def test_the_quick_design_is_run_unless_another_is_asked_for():
    """A person who just tries it should not wait for a day."""
    found = reproduce("made2026", workers=1, progress=False)

    assert found.design == "quick"
    assert {name: len(results) for name, results in found.studies.items()} == {"whole": 2}
    assert {verdict: number for verdict, number in found.counts.items() if number} == {
        "agrees": 1,
        "cannot be checked": 1,
    }
    assert found.summary == "Of 2 statements 1 agrees, 1 cannot be checked."
    assert str(found) == f"made2026, quick design. {found.summary}"
    assert f"<!-- summary -->\n**{found.summary}**\n<!-- end of summary -->" in found.report()


def test_parts_become_the_repeats_of_one_study():
    """Claims compare repeats pair by pair; a part is a repeat like any other."""
    found = reproduce("made2026", design="reduced", workers=1, progress=False)
    whole, joined = found.studies["whole"], found.studies["parts"]

    assert [outcome.cell.repeat for outcome in joined.outcomes] == [0, 0, 1, 1]
    first, second = (joined.outcomes[place].measures for place in (0, 2))
    assert first == whole.outcomes[0].measures  # the same split and model: seed 0
    assert second == whole.outcomes[2].measures  # the split of seed 1
    assert found.claims[1].verdict == "contradicted"


def test_a_larger_design_goes_on_where_a_smaller_one_ended(tmp_path):
    """Cells are known by their names, so nothing is run twice."""
    told = []
    reproduce("made2026", out=tmp_path, workers=1, progress=False)
    found = reproduce("made2026", design="reduced", out=tmp_path, workers=1, progress=told.append)

    assert {each.name for each in tmp_path.iterdir()} == {"whole", "parts", "cells"}
    assert {each.name for each in (tmp_path / "parts").iterdir()} == {"00", "01"}
    assert told[0] == Started(done=2, failed=0, total=8)
    assert sum(isinstance(event, CellDone) for event in told) == 6
    assert len(found.studies["whole"]) == 4
    with pytest.raises(StudyStoreError, match="finished runs"):
        reproduce("made2026", out=tmp_path, workers=1, progress=False, resume=False)


def test_events_of_all_studies_are_told_as_those_of_one():
    """A bar that jumps back to zero with every study tells nobody how long it takes."""
    told = []
    reproduce("made2026", design="reduced", workers=1, progress=told.append)

    assert [event.done for event in told] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert {event.total for event in told} == {8}
    assert isinstance(told[0], Started)
    assert isinstance(told[-1], Finished)


def test_a_cancelled_reproduction_judges_what_there_is():
    """What is finished is not thrown away."""
    cancel = Cancel()
    told = []

    def stop(event):
        told.append(event)
        if event.done == 5:
            cancel.request()

    found = reproduce("made2026", design="reduced", workers=1, progress=stop, cancel=cancel)

    assert isinstance(told[-1], Cancelled)
    assert {name: len(results) for name, results in found.studies.items()} == {"whole": 4, "parts": 1}
    assert "3 not run" in found.report()


def test_a_cancelled_study_keeps_the_others_from_starting():
    """Ctrl-C in the first must not start the second."""
    cancel = Cancel()
    cancel.request()
    found = reproduce("made2026", design="reduced", workers=1, progress=False, cancel=cancel)

    assert found.studies == {}
    assert found.counts["cannot be checked"] == 2


def test_data_that_are_not_to_be_had_leave_the_other_studies(monkeypatch):
    """One missing file should not cost the whole table of claims."""

    def lost(*_, **__):
        raise DataSetNotFoundError("Data set 'lsac' is not on this machine.")

    real = papers.reproduction._run_study
    monkeypatch.setattr(
        reproduction,
        "_run_study",
        lambda study, *rest, **more: (lost if study.name == "lost" else real)(study, *rest, **more),
    )
    found = reproduce("made2026", full=True, workers=1, progress=False)

    assert found.missing == {"lost": "Data set 'lsac' is not on this machine."}
    assert set(found.studies) == {"whole"}
    assert "- lost: not run. Data set 'lsac' is not on this machine." in found.report()


def test_a_study_without_parts_is_refused():
    """Nothing can be said about nothing."""
    study = SimpleNamespace(name="none", plan=PLAN, parts=tuple)
    with pytest.raises(InvalidParameterError, match="at least one plan"):
        reproduction._run_study(
            study, None, 1, reproduction._Together(print, 0), resume=False, cancel=Cancel()
        )


def test_some_studies_of_a_design_can_be_run_alone():
    """The whole takes hours; people run it in pieces."""
    found = reproduce("made2026", design="reduced", only="parts", workers=1, progress=False)

    assert set(found.studies) == {"parts"}
    with pytest.raises(InvalidParameterError, match="'only' parameter of reproduce"):
        reproduce("made2026", only=["elsewhere"], progress=False)


def test_a_search_is_handed_on():
    """Searched hyper-parameters are another study, in another folder."""
    found = reproduce("made2026", search=5, workers=1, progress=False)

    assert set(found.studies) == {"whole-searched"}


def test_designs_are_checked():
    """A typing error must not run the quick design in silence."""
    with pytest.raises(InvalidParameterError, match="'design' parameter of reproduce"):
        reproduce("made2026", design="medium")
    with pytest.raises(InvalidParameterError, match="with full=True"):
        reproduce("made2026", design="quick", full=True)


def test_everything_is_written(tmp_path):
    """Claims and tables are what the documentation shows."""
    found = reproduce("made2026", workers=1, progress=False)
    folder = tmp_path / "deep" / "made2026"
    found.write(folder)
    with (folder / "claims.csv").open(newline="") as file:
        claims = list(csv.DictReader(file))

    assert {each.name for each in folder.iterdir()} == {"claims.csv", "claims.md", "whole.csv"}
    assert [row["verdict"] for row in claims] == ["agrees", "cannot be checked"]
    assert (folder / "claims.md").read_text(encoding="utf-8") == found.report()
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFileError, match="made2026 was not made"):
        found.write(tmp_path / "file" / "made2026")


def test_a_folder_is_judged_without_running_anything(tmp_path):
    """Whoever waits for a long design wants to see what there is."""
    before = examine("made2026", tmp_path)
    run = reproduce("made2026", design="reduced", out=tmp_path, workers=1, progress=False)
    after = examine("made2026", tmp_path)
    less = examine("made2026", tmp_path, design="quick")

    assert before.studies == {}
    assert "- nothing" in before.report()
    assert after.report() == run.report()
    for name, results in run.studies.items():
        assert after.studies[name].digest == results.digest
    assert {name: len(results) for name, results in less.studies.items()} == {"whole": 2}


def test_figures_are_written_as_pictures(tmp_path, monkeypatch):
    """The documentation includes them by name."""
    monkeypatch.setattr("evenhand.papers.reproduction.svg_file", lambda chart: f"<svg>{chart.name}</svg>")
    found = reproduce("made2026", workers=1, progress=False)
    chart = SimpleNamespace(name="fig2", alt="DI rises", caption="As figure 2.")
    drawn = reproduction.Reproduction(
        found.paper, found.design, found.studies, found.claims, found.tables, [chart]
    )
    drawn.write(tmp_path)

    assert (tmp_path / "fig2.svg").read_text(encoding="utf-8") == "<svg>fig2</svg>"
    gallery = (tmp_path / "figures.md").read_text(encoding="utf-8")
    assert gallery == "# made2026: figures\n\n![DI rises](fig2.svg)\n\nAs figure 2.\n"


def test_papers_are_found_by_their_key():
    """The command line lists them and runs them by these names."""
    assert list(PAPERS) == [
        "arcolezi2023",
        "makhlouf2024",
        "ghoukasian2024-central",
        "ghoukasian2024-local",
        "zhu2023",
        "fioretto2021",
    ]
    assert all(paper_named(name).title == PAPERS[name] for name in PAPERS)
    assert all(paper_named(name).name == name for name in PAPERS)
    with pytest.raises(UnknownNameError, match="arcolezi2023"):
        paper_named("arcolezi")
