"""The programs of a channel, against the plain matrix."""

import numpy as np
import pytest

from evenhand.collect.fairest.highs import Solver
from evenhand.collect.fairest.optimum import choose
from evenhand.collect.fairest.population import population
from evenhand.collect.fairest.program import ChannelProgram
from property._channel_instances import groups, random_channel, slow_error


def as_variables(program, matrix):
    people = program.people
    top = np.diagonal(matrix)
    inner = (matrix - people.floor * top[None, :]) / people.width
    return np.append(top, inner[program.row, program.column])


def dense(rows, size):
    table = np.zeros((len(rows.sizes), size))
    at = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
    np.add.at(table, (at, rows.columns), rows.values)
    return table


@pytest.mark.parametrize("seed", range(8))
def test_a_channel_is_feasible_and_comes_back_as_it_was(seed):
    """If the variables described other matrices, every optimum would be of another problem."""
    case = groups(seed)
    program = ChannelProgram(population(case.weights, case.rates, case.epsilon, owner="test"))
    matrix = random_channel(np.random.default_rng(seed), len(case.weights), case.epsilon)
    variables = as_variables(program, matrix)
    rows = program.truthful(program.budget_row(slow_error(matrix, case.weights))).rows
    table = dense(rows, program.size) @ variables

    assert program.matrix(variables) == pytest.approx(matrix, abs=1e-12)
    assert (table >= rows.least - 1e-9).all()
    assert (table <= rows.most + 1e-9).all()
    assert (program.values(matrix)[1] >= program.fewest_made(slow_error(matrix, case.weights)) - 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_limits_are_those_of_the_rates(seed):
    """A limit of t means that no report is further than t from the mean."""
    case = groups(seed + 50)
    program = ChannelProgram(population(case.weights, case.rates, case.epsilon, owner="test"))
    matrix = random_channel(np.random.default_rng(seed), len(case.weights), case.epsilon)
    variables = as_variables(program, matrix)
    apart, made = program.values(matrix)
    rows = program.limits((0.3, 0.7), made)
    expected = np.append(apart / made - 0.3, -apart / made - 0.7)

    assert dense(rows, program.size) @ variables == pytest.approx(expected, abs=1e-9)
    reported = (case.weights * (case.rates - case.weights @ case.rates)) @ matrix / (case.weights @ matrix)
    assert program.people.width * program.scale * apart / made == pytest.approx(reported, abs=1e-12)


def test_small_parts_can_be_ignored_without_losing_the_uniform_channel():
    """Parts of very different sizes are hard on a solver."""
    people = population([0.6, 0.4 - 1e-12, 1e-12], [0.2, 0.6, 0.9], 1, owner="test")
    program = ChannelProgram(people)
    rows = program.fair(ignoring=1e-8)
    uniform = np.append(np.full(3, 1 / 3), np.full(6, 1 / 3))

    assert dense(rows, 9) @ uniform == pytest.approx(0, abs=1e-15)
    assert not dense(rows, 9)[0, program._place[2, 0]]


def test_a_choice_that_fails_leaves_what_was_found():
    """The rule among equals is a nicety: without an answer the channel stays as it is."""

    class Failing(Solver):
        def __init__(self, after):
            super().__init__()
            self.after = after

        def attempt(self, program):
            self.after -= 1
            return super().attempt(program) if self.after >= 0 else None

    small = ChannelProgram(population([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1, owner="test"))
    large = ChannelProgram(population([1 / 21] * 21, [0.5] * 21, 1, owner="test"))
    found, many = np.full((3, 3), 1 / 3), np.full((21, 21), 1 / 21)

    assert choose(small, Failing(0), [], found) is found
    assert choose(large, Failing(0), [], many) is many
    assert np.diagonal(choose(small, Failing(1), [], found))[0] > 0.6
