"""fioretto2021: what is argued and not measured is called so."""

from evenhand.papers.fioretto2021 import PAPER
from evenhand.papers.stored import read_toml


def test_verdicts_that_no_number_could_change_are_called_arguments():
    """A reader who sees 'fact' expects that other records would have given another verdict."""
    stored = read_toml("evenhand.papers.fioretto2021", "claims.toml")["claim"]
    fixed = {entry["id"] for entry in stored if "verdict" in entry}

    assert len(fixed) == 5
    assert {claim.id for claim in PAPER.claims if claim.rule == "argument"} == fixed
