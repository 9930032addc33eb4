"""One linear program: quiet, with one thread, and again by other means where a method gives up."""

import dataclasses
import itertools

import numpy as np
import pytest

from evenhand.collect.fairest import highs as channel_highs
from evenhand.collect.fairest.highs import Solver
from evenhand.collect.fairest.optimum import fairest_channel
from evenhand.collect.fairest.population import population
from evenhand.collect.fairest.program import ChannelProgram, Program, Rows
from evenhand.errors import InvalidParameterError


def program():
    return ChannelProgram(population([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1, owner="test")).truthful()


def impossible():
    rows = Rows.table(np.array([[0]]), np.array([[1.0]]), least=-np.inf, most=-1.0)
    return Program(cost=np.array([1.0]), least=np.array([0.0]), most=np.array([1.0]), rows=rows)


def test_the_optimum_has_the_value_that_its_duals_certify():
    """The bound is what makes an answer trustworthy."""
    answer = Solver().solve(program())

    assert 1 + answer.objective == pytest.approx(0.420204182795, abs=1e-10)
    assert program().lower_bound(answer.duals) == pytest.approx(answer.objective, abs=1e-12)
    assert program().lower_bound(answer.duals) <= answer.objective


def test_nothing_is_printed(capfd):
    """HiGHS writes to the file descriptor, past Python."""
    Solver().solve(program())
    Solver().attempt(impossible())
    out, err = capfd.readouterr()

    assert (out, err) == ("", "")


def test_an_impossible_program_ends_with_words():
    """Every method is tried, and every status is told."""
    solver = Solver()
    with pytest.raises(
        InvalidParameterError, match=r"of test must be .* Got the statuses Infeasible, .* instead"
    ):
        solver.solve(impossible(), owner="test")

    assert solver.attempt(impossible()) is None
    assert solver.solves == 0


@pytest.mark.parametrize("failing", range(1, 6))
def test_a_method_that_gives_up_is_followed_by_another(monkeypatch, failing):
    """No status of the solver is left unhandled."""
    run, calls = channel_highs._run, []

    def sometimes(program, settings, basis):
        calls.append(settings)
        return ("Unknown", None) if len(calls) <= failing else run(program, settings, basis)

    monkeypatch.setattr(channel_highs, "_run", sometimes)
    answer = Solver().solve(program())

    assert 1 + answer.objective == pytest.approx(0.420204182795, abs=1e-7)
    assert len(calls) == failing + 1
    assert all(one != other for one, other in itertools.pairwise(calls))


@pytest.mark.parametrize(("violations", "taken"), [([1e-6, 0], 2), ([1e-6, 1e-5, 1e-7, 1e-8, 1e-4, 1e-3], 6)])
def test_an_optimum_that_breaks_a_limit_is_sought_again(monkeypatch, violations, taken):
    """Solvers call some answers optimal that break a limit; the least inaccurate one is the last resort."""
    run, calls = channel_highs._run, []

    def inaccurate(program, settings, basis):
        calls.append(settings)
        status, answer = run(program, settings, basis)
        return status, dataclasses.replace(answer, violation=violations[len(calls) - 1])

    monkeypatch.setattr(channel_highs, "_run", inaccurate)
    answer = Solver().solve(program())

    assert len(calls) == taken
    assert answer.violation == min(violations)


def test_no_method_goes_on_for_ever():
    """The interior point method once did, on a degenerate choice among equals."""
    weights = np.full(7, 1 / 7)
    rates = [1.74e-10, 1.04e-3, 6.13e-4, 2.12e-8, 0.4873, 8.42e-6, 2.88e-9]
    found = fairest_channel(weights, rates, 15.455669801639294, error=0.1098664501)

    assert {"ipm_iteration_limit", "simplex_iteration_limit", "time_limit"} <= set(channel_highs._COMMON)
    assert found.unfairness - found.bound <= 1e-8 * found.unfairness_before


def test_a_start_from_the_last_corner_gives_the_same():
    """Steps of one search begin where the last one ended."""
    solver = Solver()
    first = solver.solve(program())
    again = solver.solve(program(), basis=first.basis)

    assert again.objective == pytest.approx(first.objective, abs=1e-12)
    assert solver.solves == 2


def test_many_variables_go_to_the_interior_point_method():
    """The simplex method takes minutes there."""
    many = Program(cost=np.zeros(1000), least=np.zeros(1000), most=np.ones(1000), rows=impossible().rows)

    assert [method["solver"] for method in channel_highs._methods(many)] == ["ipx", "ipx"]
    assert channel_highs._methods(program())[0]["solver"] == "simplex"
