"""The search for the least limit, and what happens where a program is hard."""

import dataclasses

import numpy as np
import pytest

from evenhand.collect.fairest import search as channel_search
from evenhand.collect.fairest.highs import Solver
from evenhand.collect.fairest.population import population
from evenhand.collect.fairest.program import ChannelProgram
from evenhand.collect.fairest.search import (
    _find_weakest,
    extremes,
    largest_deviations,
    least_difference,
    least_limit,
    mix_extremes,
    step_bound,
    weighted_limit,
)

OWNER = {"owner": "test"}


def three():
    return ChannelProgram(population([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1, owner="test"))


def test_any_start_leads_to_the_same_limit():
    """Quasi-convex: there is no wrong valley."""
    program, solver = three(), Solver()
    ends = extremes(program, solver, **OWNER)
    found = [
        least_limit(program, solver, first, 0.5, **OWNER).limit
        for first in (mix_extremes(ends, 0.5), mix_extremes(ends, 0.45), ends.truthful)
    ]

    assert np.ptp(found) < 1e-9


def test_the_tilt_weighs_both_sides():
    """The difference is found along the line of all tilts."""
    program, solver = three(), Solver()
    ends = extremes(program, solver, **OWNER)
    found = least_limit(program, solver, mix_extremes(ends, 0.5), 0.5, tilt=(0.9, 0.1), **OWNER)
    above, below = largest_deviations(program, found.matrix)

    assert found.limit == pytest.approx(max(above / 0.9, below / 0.1))
    assert weighted_limit((above, below), (0.9, 0.1)) == found.limit
    assert found.limit - found.bound < 1e-8


def test_the_difference_is_the_least_along_the_whole_line():
    """A grid of tilts is the slow and obvious way."""
    program, solver = three(), Solver()
    ends = extremes(program, solver, **OWNER)
    first = mix_extremes(ends, 0.45)
    found = least_difference(program, solver, first, 0.45, **OWNER)
    grid = [
        sum(
            largest_deviations(
                program, least_limit(program, solver, first, 0.45, tilt=(1 - at, at), **OWNER).matrix
            )
        )
        for at in np.linspace(0.05, 0.95, 19)
    ]

    assert found.limit <= min(grid) + 1e-9
    assert min(grid) < found.limit * 1.05
    assert found.bound <= found.limit
    assert least_difference(program, solver, first, 0.45, looks=1, **OWNER).bound <= found.limit


def test_a_search_that_is_cut_short_says_how_far_it_may_be(monkeypatch):
    """The bound is honest after any number of steps."""
    program, solver = three(), Solver()
    first = mix_extremes(extremes(program, solver, **OWNER), 0.5)
    best = least_limit(program, solver, first, 0.5, **OWNER)
    monkeypatch.setattr(channel_search, "_STEPS", 1)
    short = least_limit(program, solver, first, 0.5, **OWNER)

    assert short.bound <= best.limit + 1e-12 <= short.limit + 1e-9
    assert short.bound < best.bound


def test_a_proof_that_is_too_coarse_is_made_again_at_a_corner(monkeypatch):
    """Where the feasible set is thin, an interior point method proves little."""
    program, asked = three(), []

    class Coarse(Solver):
        def solve(self, linear, **options):
            asked.append(options["corner"])
            answer = super().solve(linear, **options)
            return answer if options["corner"] else dataclasses.replace(answer, duals=0.9999 * answer.duals)

    first = mix_extremes(extremes(program, Solver(), **OWNER), 0.5)
    monkeypatch.setattr(channel_search, "_BY_POINTS", 2)
    monkeypatch.setattr(channel_search, "step_bound", lambda *a: step_bound(*a) - (not asked[-1]) * 1e-3)
    found = least_limit(program, Coarse(), first, 0.5, **OWNER)

    assert asked[-1]
    assert not asked[0]
    assert found.limit - found.bound < 1e-9


def test_duals_without_fairness_certify_nothing():
    """Zero is always a lower bound."""
    program = three()
    step = program.fairness(0.5, 0.3, np.ones(3))

    assert step_bound(step, np.zeros(len(step.rows.sizes)), 0.3, np.ones(3)) == 0


def test_a_fair_end_that_cannot_be_found_is_sought_again_without_the_smallest_groups(monkeypatch):
    """Weights of very different sizes make the equations ill-conditioned."""
    program, calls = three(), []
    attempt = Solver.attempt

    def failing(self, linear):
        calls.append(linear)
        return None if len(calls) == 1 else attempt(self, linear)

    monkeypatch.setattr(Solver, "attempt", failing)
    ends = extremes(program, Solver(), **OWNER)

    assert ends.fair_error == pytest.approx(0.577681201748, abs=1e-9)
    assert len(calls) == 1


# --- The search for the least difference looks where its bound is weakest ---


def test_between_two_looks_that_bound_nothing_the_next_is_halfway():
    seen = [(0.1, 1.0), (0.25, 0.0), (0.75, 0.0), (0.9, 1.0)]

    assert _find_weakest(seen) == (0.0, 0.5)


def test_the_next_look_is_where_the_bound_is_weakest():
    """The bound of a look falls toward both ends of the line, so it may be weakest beyond the last look."""
    bound, share = _find_weakest([(0.25, 6.0), (0.75, 2.0)])

    assert (bound, share) == (min(6 * 0.75, 2 * 0.75, 6 * 0.25 + 2 * 0.25), 1 - 0.25 / 3)
