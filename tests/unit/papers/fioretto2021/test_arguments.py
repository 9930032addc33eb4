"""fioretto2021: what is argued and not measured is called so."""

import inspect

from evenhand.papers.fioretto2021 import PAPER


def test_verdicts_that_no_number_could_change_are_called_arguments():
    """A reader who sees 'fact' expects that other records would have given another verdict."""
    fixed = {
        claim.id
        for claim in PAPER.claims
        if inspect.isfunction(claim.check) and "verdict(agrees=" in inspect.getsource(claim.check)
    }

    assert len(fixed) == 5
    assert {claim.id for claim in PAPER.claims if claim.rule == "argument"} == fixed
