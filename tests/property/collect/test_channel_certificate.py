"""The certified bound holds for the real problem, in fractions, and not only for its rounded coefficients."""

from fractions import Fraction

import pytest

from evenhand.collect.fairest import search as channel_search
from evenhand.collect.fairest.optimum import clear_channels, error_range, fairest_channel
from evenhand.collect.fairest.program import ChannelProgram
from evenhand.collect.fairest.search import step_bound
from evenhand.privacy.rational import exp_bounds
from property._channel_instances import groups

AWKWARD = (1_000_915, 1_000_501)  # large epsilon, tiny weights, duals of millions


class Real:
    """One step in fractions: the variables are d_a and x_ij, each with the sum of its dual-weighed rows."""

    def __init__(self, people, budget, limit, scales, scale):
        self.k = people.k
        self.floor = exp_bounds(-Fraction(people.epsilon), digits=60)[0]
        self.width = 1 - self.floor
        total = sum(map(Fraction, people.weights))
        self.weights = [Fraction(each) / total for each in people.weights]
        rates = [Fraction(each) for each in people.rates]
        mean = sum(p * r for p, r in zip(self.weights, rates, strict=True))
        self.costs = [p * (r - mean) / Fraction(scale) for p, r in zip(self.weights, rates, strict=True)]
        self.budget, self.limit = Fraction(budget), Fraction(limit)
        self.scales = [Fraction(each) for each in scales]

    def rows(self):
        """Every row as (coefficients by variable, right-hand side), in the order of the program."""
        k, pairs = self.k, [(i, j) for i in range(self.k) for j in range(self.k) if i != j]
        for i in range(k):
            row = {(j, j): self.floor for j in range(k) if j != i}
            row |= {(i, j): self.width for j in range(k) if j != i} | {(i, i): Fraction(1)}
            yield row, Fraction(1)
        for i, j in pairs:
            yield {(i, j): Fraction(1), (j, j): Fraction(-1)}, Fraction(0)
        for i, j in pairs:
            yield {(i, j): self.width, (j, j): self.floor, (i, i): Fraction(-1)}, Fraction(0)
        yield {(i, i): self.weights[i] for i in range(k)}, 1 - self.budget
        for sign in (1, -1):
            for a in range(k):
                yield self._fairness(sign, a), Fraction(0)

    def _fairness(self, sign, a):
        own = self.weights[a] + self.floor * (1 - self.weights[a])
        made = {(j, a): own if j == a else self.width * self.weights[j] for j in range(self.k)}
        return {
            (j, a): (sign * self.costs[j] - self.limit * made[j, a]) / self.scales[a] for j in range(self.k)
        }

    def bound(self, duals):
        """The lower bound of the limit that the duals prove."""
        k, value = self.k, Fraction(0)
        reduced = {(i, j): Fraction(0) for i in range(k) for j in range(k)}
        shares = [max(Fraction(0), -Fraction(each)) for each in duals[-2 * k :]]
        for place, (row, right) in enumerate(self.rows()):
            dual = Fraction(duals[place])
            if place >= k and place != k + 2 * k * (k - 1):
                dual = min(dual, Fraction(0))
            elif place >= k:
                dual = max(dual, Fraction(0))
            value += dual * right
            for variable, coefficient in row.items():
                reduced[variable] -= dual * coefficient
        top = 1 - self.floor * (k - 1) / k
        for (i, j), cost in reduced.items():
            value += min(cost * (Fraction(1, k) if i == j else 0), cost * top)
        return self.limit + min(value, Fraction(0)) / sum(
            share * self._fewest(place % k) / self.scales[place % k] for place, share in enumerate(shares)
        )

    def _fewest(self, a):
        weight = self.weights[a]
        truth = max(Fraction(1, self.k), 1 - self.budget / weight) if weight else Fraction(1, self.k)
        return (weight + self.floor * (1 - weight)) * truth


def steps_of(case, monkeypatch):
    """Every step that was certified on the way to the fairest channel, with the bound in fractions."""
    made, steps = [], []
    ways = ChannelProgram.fairness

    def noted(program, budget, limit, scales, tilt=(1.0, 1.0)):
        made.append(Real(program.people, budget, limit, scales, program.scale))
        return ways(program, budget, limit, scales, tilt)

    def proved(step, duals, limit, least):
        found = step_bound(step, duals, limit, least)
        if (duals[-2 * len(least) :] < 0).any():
            steps.append((found, made[-1].bound(duals)))
        return found

    monkeypatch.setattr(ChannelProgram, "fairness", noted)
    monkeypatch.setattr(channel_search, "step_bound", proved)
    spread = error_range(case.weights, case.rates, case.epsilon)
    clear_channels()
    fairest_channel(
        case.weights,
        case.rates,
        case.epsilon,
        error=case.name or spread.least + case.share * (spread.fair - spread.least),
    )
    return steps


@pytest.mark.parametrize("seed", [*AWKWARD, *range(12)])
def test_what_is_certified_holds_in_fractions(seed, monkeypatch):
    """A bound above the real optimum would call a channel the best that is not."""
    for stated, real in steps_of(groups(seed), monkeypatch):
        assert Fraction(stated) <= real
        assert float(real - Fraction(stated)) < 1e-8


def test_a_certificate_that_promises_a_little_more_is_caught(monkeypatch):
    """Twin: the fractions see what is 1e-8 too much."""
    stated, real = steps_of(groups(AWKWARD[0]), monkeypatch)[-1]

    assert Fraction(stated) + Fraction("1e-8") > real
