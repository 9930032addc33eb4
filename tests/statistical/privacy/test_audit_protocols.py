"""No local protocol shows more than it claims, and an audit would see it if one did."""

import pytest

from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.privacy.audit.measured import audit_epsilon
from statistical._audit_grid import CELLS, audit_cell
from statistical._exact import ALPHA

pytestmark = pytest.mark.figures

SURE = 1 - ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("k", [2, 16])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_shows_what_it_claims_and_no_more(name, k):
    """Above the claim the guarantee is false; far below it the audit is blind."""
    cell = audit_cell(name, "2", k, seed=21, size=200_000, confidence=SURE)

    assert not cell.right.exceeds
    assert cell.share > 0.9
    assert cell.wrong.exceeds  # the twin: drawn at 1.1 epsilon


@pytest.mark.statistical
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_secure_source_keeps_the_claim_too(name):
    """This is the randomness that releases use."""
    protocol = PROTOCOLS[name].example(k=3, epsilon=2)
    found = audit_epsilon(protocol, (2, 0), size=100_000, confidence=SURE)

    assert not found.exceeds
    assert found.rng == "secure"


@pytest.fixture(scope="module")
def grid():
    return [audit_cell(*each, seed=2026, share=len(CELLS)) for each in CELLS]


@pytest.mark.nightly
@pytest.mark.statistical
def test_no_cell_of_the_grid_is_over_its_claim(grid):
    """At 99.9 % for all cells together."""
    over = [cell[:3] for cell in grid if cell.right.exceeds]

    assert len(grid) == 7 * 6 * 3 + 6 * 2
    assert over == []


@pytest.mark.nightly
@pytest.mark.statistical
def test_an_overrun_of_a_tenth_is_seen_in_99_cells_of_100(grid):
    seen = sum(cell.wrong.exceeds for cell in grid)

    assert seen >= 0.99 * len(grid)


@pytest.mark.nightly
@pytest.mark.statistical
def test_what_is_measured_comes_close_to_what_is_claimed(grid):
    short = [cell[:3] for cell in grid if cell.epsilon >= 0.5 and cell.share < 0.9]

    assert short == []
