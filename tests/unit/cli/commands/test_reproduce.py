"""evenhand reproduce: claims with their verdicts, and where they are kept."""

import json
from types import SimpleNamespace

import pytest

from evenhand.cli.options import complete_name
from evenhand.papers import PAPERS, ClaimRow
from unit._study_results import failed
from unit.cli.conftest import finished


def row(verdict, **more):
    given = {
        "id": "rq1",
        "claim": "The gap narrows.",
        "where": "Table 2",
        "paper": "0.1",
        "ours": 0.1,
        "low": 0.0,
    }
    given |= {"high": 0.2, "runs": 3, "verdict": verdict, "why": "It is −0.1 at ε = 1.", "rule": "sign"}
    return ClaimRow(**(given | more))


@pytest.fixture
def paper(monkeypatch):
    """Put a reproduction in place of the real one; return what it was called with, and its results."""
    calls = SimpleNamespace(made=[], results=finished())

    def reproduce(name, **options):
        calls.made.append({"name": name, **options})
        rows = (row("agrees"), row("contradicted"), row("cannot be checked", ours=None, low=None, high=None))
        found = SimpleNamespace(
            design="quick",
            claims=rows,
            counts={"agrees": 1, "contradicted": 1, "cannot be checked": 1},
            summary="Of 3 statements 1 agrees.",
            missing={"acs": "Data set 'acs_coverage' was not found."},
            studies={"adult": calls.results},
            write=lambda folder: folder.mkdir(),
        )
        options["progress"](SimpleNamespace(done=1, failed=0, total=1))
        return found

    monkeypatch.setattr("evenhand.papers.reproduce", reproduce)
    return calls


def test_papers_are_listed(call):
    shown = call("reproduce").stdout.split("\n")
    told = json.loads(call("reproduce", "--json").stdout)

    assert shown[0] == f"arcolezi2023  {PAPERS['arcolezi2023']}"
    assert shown[1].startswith("  quick: ")
    assert told["papers"] == dict(PAPERS)
    assert all("core" in words for paper in told["designs"].values() for words in paper.values())


def test_claims_are_shown_with_their_verdicts(call, paper):
    done = call("reproduce", "arcolezi2023")

    assert done.exit_code == 0
    assert ["rq1", "Table", "2", "0.1", "0.100", "(0.000", "to", "0.200)", "agrees"] in [
        line.split() for line in done.stdout.splitlines()
    ]
    assert done.stdout.lstrip().startswith("Of 3 statements 1 agrees.\n")
    assert "quick. LSAC" in done.stderr
    assert "Claims   arcolezi2023/claims.md" in done.stdout
    assert "acs was not run. Data set" in done.stderr
    assert str(paper.made[0]["out"]) == "arcolezi2023"


def test_options_go_to_the_reproduction(call, paper):
    call("reproduce", "makhlouf2024", "--full", "--only", "adult,compas", "--workers", 2, "--out", "x")
    call("reproduce", "makhlouf2024", "--design", "reduced")

    assert paper.made[0] | {"progress": None} == {
        "name": "makhlouf2024", "full": True, "design": None, "only": ("adult", "compas"), "workers": 2,
        "out": paper.made[0]["out"], "progress": None,
    }  # fmt: skip
    assert (paper.made[1]["design"], paper.made[1]["only"]) == ("reduced", None)


def test_claims_for_machines(call, paper):
    told = json.loads(call("reproduce", "arcolezi2023", "--json").stdout)

    assert told["claims"][0]["verdict"] == "agrees"
    assert told["claims"][2]["ours"] is None
    assert told["counts"]["contradicted"] == 1
    assert told["files"]["claims"].endswith("arcolezi2023/claims.md")


def test_failed_cells_are_exit_code_1(call, paper):
    paper.results = finished(failures=[(1, failed)])
    done = call("reproduce", "arcolezi2023")

    assert done.exit_code == 1
    assert "1 run failed" in done.stderr


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ([], "evenhand reproduce arcolezi2023 --out arcolezi2023"),
        (["--full", "--out", "a b"], "evenhand reproduce arcolezi2023 --full --out 'a b'"),
        (["--design", "reduced"], "evenhand reproduce arcolezi2023 --design reduced --out arcolezi2023"),
        (
            ["--only", "adult", "--only", "compas"],
            "evenhand reproduce arcolezi2023 --only adult,compas --out arcolezi2023",
        ),
    ],
)
def test_ctrl_c_says_how_to_go_on(call, monkeypatch, typed, again):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.papers.reproduce", stopped)
    done = call("reproduce", "arcolezi2023", *typed)

    assert done.exit_code == 130
    assert again in " ".join(done.stderr.split())


def test_an_unknown_paper_is_refused(call):
    done = call("reproduce", "arcolezi")

    assert done.exit_code == 2
    assert "did you mean 'arcolezi2023'" in done.stderr


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["--design", "quik"], "--design must be one of 'quick', 'reduced', 'full'. Got 'quik' instead."),
        (["--full", "--design", "quick"], "--full and --design quick contradict each other."),
    ],
)
def test_a_design_that_cannot_be_run_is_refused_before_anything_is_said(call, typed, told):
    done = call("reproduce", "arcolezi2023", *typed)

    assert done.exit_code == 2
    assert " ".join(done.stderr.split()).startswith(f"Error {told}")


def test_names_of_papers_are_completed():
    assert complete_name("papers")("m") == ["makhlouf2024"]
