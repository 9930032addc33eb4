"""What a paper is as data: sentences are filled, claims find their checks, files are whole."""

from types import SimpleNamespace

import pytest

from evenhand.papers import PAPERS, paper, paper_named
from evenhand.papers.claims import Checked, Evidence, agree_if, cannot_check
from evenhand.papers.paper import fill, list_entries, read_claims, read_toml

CHECKS = SimpleNamespace(
    larger=lambda _, least: agree_if(least < 3, found=[1.0, -2.0]),
    open=lambda _: cannot_check(case="lost", number=2),
    plain=lambda _: Checked("agrees", "Off by 0."),
    told=lambda _: {"share": 0.25},
    by=lambda _: agree_if(holds=True, number=3),
)
WHY = {
    "larger": "Above {least}: {found:.1f}.", "open.lost": "There are {number}.", "told": "It is {share:.0%}.",
    "by.agrees": "It is so, as {number} shows.",
}  # fmt: skip


def claim(**entry):
    return {"id": "a", "text": "It is so.", "where": "1", **entry}


@pytest.mark.parametrize(
    ("entry", "verdict", "why"),
    [
        ({"check": "larger", "with": {"least": 2}}, "agrees", "Above 2: 1.0, \N{MINUS SIGN}2.0."),
        ({"check": "larger", "with": {"least": 4}}, "contradicted", "Above 4: 1.0, \N{MINUS SIGN}2.0."),
        ({"check": "open"}, "cannot be checked", "There are 2."),
        ({"check": "plain"}, "agrees", "Off by 0."),
        ({"check": "plain", "why": "{why} Well."}, "agrees", "Off by 0. Well."),
        ({"check": "told", "verdict": "contradicted"}, "contradicted", "It is 25 %."),
        ({"verdict": "contradicted", "why": "It is argued."}, "contradicted", "It is argued."),
        (
            {"check": "larger", "with": {"least": 4}, "otherwise": "slip"},
            "slip",
            "Above 4: 1.0, \N{MINUS SIGN}2.0.",
        ),
        (
            {"check": "larger", "with": {"least": 2}, "otherwise": "slip"},
            "agrees",
            "Above 2: 1.0, \N{MINUS SIGN}2.0.",
        ),
        ({"check": "plain", "verdict": "method unknown"}, "method unknown", "Off by 0."),
        ({"check": "open", "verdict": "method unknown"}, "cannot be checked", "There are 2."),
        ({"check": "by"}, "agrees", "It is so, as 3 shows."),
    ],
)
def test_a_claim_has_the_verdict_of_its_check_and_the_sentence_of_its_file(monkeypatch, entry, verdict, why):
    """Its sentence stands beside its words, its numbers come from the check."""
    monkeypatch.setattr(paper, "read_toml", lambda *_: {"why": WHY, "claim": [claim(**entry)]})
    (found,) = read_claims("somewhere", CHECKS)
    row = found.judge(Evidence({}))

    assert (row.verdict, row.why) == (verdict, why)


def test_a_check_that_does_not_exist_is_refused_at_once(monkeypatch):
    """A slip of the pen must not wait until the claim is judged."""
    monkeypatch.setattr(paper, "read_toml", lambda *_: {"claim": [claim(check="nobody")]})

    with pytest.raises(KeyError, match="nobody"):
        read_claims("somewhere", CHECKS)


def test_lists_of_lists_have_semicolons():
    """Commas alone would hide where one list ends."""
    assert fill("{both:.1f}", both=[[1, 2], [3, 4]]) == "1.0, 2.0; 3.0, 4.0"
    assert fill("{sizes!s}", sizes=(1, 2)) == "(1, 2)"


@pytest.mark.parametrize("name", list(PAPERS))
def test_no_sentence_is_left_without_its_check(name):
    """A sentence that no claim can reach would be dead text."""
    package = f"evenhand.papers.{name.replace('-', '_')}"
    stored = read_toml(package, "claims.toml")
    entries = list_entries(stored)
    used = {entry.get("check", "") for entry in entries}

    assert {key.partition(".")[0] for key in stored.get("why", {})} <= used
    assert [entry["id"] for entry in entries] == [each.id for each in paper_named(name).claims]


@pytest.mark.parametrize("name", ["zhu2023", "fioretto2021"])
def test_no_reason_is_a_constant(name):
    """A sentence without a value would be told whatever was found; only what is absent may be told so."""
    stored = read_toml(f"evenhand.papers.{name}", "claims.toml")
    sentences = stored["why"] | {entry["id"]: entry["why"] for entry in stored["claim"] if "why" in entry}

    assert [key for key, text in sentences.items() if "{" not in text and not key.endswith(".absent")] == []
    assert all(entry["words"] for entry in list_entries(stored))
