"""No verdict is fixed: with another statement of the paper, or with other numbers of ours, it is another."""

import pytest

from evenhand.papers import PAPERS, paper_named
from evenhand.papers.claims import UNCHECKED
from unit.papers._worlds import (
    CHANGES,
    DISTORTIONS,
    STATED,
    TWO_SIDED,
    WORLDS,
    change_constants,
    computed_names,
    constants_of,
    distort,
    entries_of,
    other_constants,
    scramble,
    state_the_opposite,
)

BROKEN = "broken"


def verdicts(claims, evidence):
    """Return the verdict of every claim by its id; numbers that make no sense may break a check."""
    found = {}
    for claim in claims:
        try:
            found[claim.id] = claim.judge(evidence).verdict
        except (ArithmeticError, AttributeError, ValueError, LookupError, TypeError):
            found[claim.id] = BROKEN
    return found


def free_claims(paper):
    """Return the claims that a check decides, with the verdicts of evidence as the paper tells it."""
    entries, evidence = entries_of(paper), WORLDS[paper]()
    claims = [claim for claim in paper_named(paper).claims if "verdict" not in entries[claim.id]]
    base = verdicts(claims, evidence)
    assert BROKEN not in base.values()
    return evidence, base, [claim for claim in claims if base[claim.id] != UNCHECKED]


@pytest.mark.figures
@pytest.mark.parametrize("paper", PAPERS)
def test_another_statement_of_the_paper_changes_the_verdict(paper, monkeypatch):
    """The opposite finding and another printed number must not get the verdict of this one."""
    evidence, base, claims = free_claims(paper)
    state_the_opposite(monkeypatch, paper)
    found = verdicts(claims, evidence)

    same = {name for name, verdict in found.items() if verdict == base[name]}
    assert same - TWO_SIDED.get(paper, set()) == set()


@pytest.mark.figures
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("paper", PAPERS)
def test_other_numbers_of_ours_change_the_verdict(paper, monkeypatch):
    """Some world of other records or of other formulas must get another verdict for every claim."""
    evidence, base, left = free_claims(paper)

    def still_the_same(found):
        return [claim for claim in left if found[claim.id] in (base[claim.id], BROKEN)]

    for change in CHANGES.values():
        left = still_the_same(verdicts(left, scramble(evidence, change)))
    if paper in STATED:
        left = still_the_same(verdicts(left, STATED[paper](evidence)))
    for change in DISTORTIONS.values():
        for module, name in computed_names(paper):
            if left:
                with monkeypatch.context() as patch:
                    patch.setattr(module, name, distort(getattr(module, name), change))
                    left = still_the_same(verdicts(left, evidence))
    worlds = [
        [(place, other) for place in places]
        for value, places in constants_of(paper)
        for other in other_constants(value)
    ]
    worlds += [change_constants(paper, change) for change in DISTORTIONS.values()]
    for world in worlds:
        if left:
            with monkeypatch.context() as patch:
                for (module, name), other in world:
                    patch.setattr(module, name, other)
                left = still_the_same(verdicts(left, evidence))

    assert [claim.id for claim in left] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_excused_exists(paper):
    """A name that no claim has would excuse nothing, and hide a slip of the pen."""
    assert TWO_SIDED.get(paper, set()) <= set(entries_of(paper))
