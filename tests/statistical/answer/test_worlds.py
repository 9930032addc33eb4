"""Worlds with a known truth: who pays is found where it can be, nobody is accused by chance, remedies hold.

Each world has 2 to 20 groups of 30 to 20,000 people and a worst harm that is 1 to 4 times the second. It is
that of a classifier over repeats that are normal or skewed, with one effect or two; of people who were
sampled once; or exact, of released counts, of a right and of money.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from evenhand.answer import choice, harm
from evenhand.answer.choice import choose_remedy
from evenhand.answer.effects import EffectTable, Observation, Option
from evenhand.answer.harm import find_payers
from property.answer._tables import PAGE, PLAIN

SEED = 20_261_118
WORLDS, DRAWS = 200, 2
MATTERS = 10.0
EXACT = ("selected", "hidden", "refused", "short")


class World(NamedTuple):
    """Groups with their sizes and true harms in people per 1,000, or dollars per 1,000 that are due."""

    sizes: np.ndarray
    harms: np.ndarray
    basis: str
    repeats: int
    mechanism: float
    is_skewed: bool
    effects: tuple[str, ...] = ("selected",)

    @property
    def noise(self):
        """The standard deviation of one repeat of each group, or the standard error of sampled rows."""
        tested = self.sizes * (0.3 if self.basis == "repeats" else 1.0)
        spread = 1_000 * np.sqrt(0.2 * 0.8 / tested)
        return np.hypot(spread, self.mechanism) if self.basis == "repeats" else spread

    @property
    def error(self):
        return self.noise / np.sqrt(self.repeats) if self.basis == "repeats" else self.noise

    @property
    def payers(self):
        """The groups whose true harm is the largest."""
        return {f"group {place}" for place in np.flatnonzero(self.harms == self.harms.max())}

    @property
    def power(self):
        """A lower bound of the chance that a true payer has a clear harm."""
        if self.basis == "exact":
            return 1.0 if self.harms.max() >= MATTERS else 0.0
        tail = 1 - 0.05 / 2 / len(self.sizes) / len(self.effects)
        reach = 1.3 * student.ppf(tail, self.repeats - 1) if self.basis == "repeats" else norm.ppf(tail)
        worst = self.harms == self.harms.max()
        sure = norm.cdf(self.harms / self.error - reach) + norm.cdf((self.harms - MATTERS) / self.error) - 1
        return float(sure[worst].max())


def draw_world(rng):
    """Return a world of the declared grid."""
    n_groups = int(rng.integers(2, 21))
    worst, ratio = rng.choice([15.0, 50.0, 150.0]), rng.choice([1.0, 1.5, 2.0, 4.0])
    harms = rng.uniform(-0.5, 1.0, size=n_groups) * worst / ratio
    first, second = rng.permutation(n_groups)[:2]
    harms[first], harms[second] = worst, worst / ratio
    sizes = np.exp(rng.uniform(np.log(30), np.log(20_000), size=n_groups)).round()
    basis = str(rng.choice(["repeats", "repeats", "exact", "rows"]))
    skewed = bool(rng.integers(2))
    effects = (
        (str(rng.choice(EXACT)),)
        if basis == "exact"
        else ("selected", "wrongly_refused")[: rng.integers(1, 3)]
    )
    if effects == ("hidden",):  # of "1 person and 1 %" both must hold
        sizes = np.maximum(sizes, 100.0)
    repeats, mechanism = int(rng.choice([10, 20, 40])), float(rng.choice([2.0, 15.0]))
    return World(sizes, harms, basis, repeats, mechanism, skewed, effects)


def observe_world(world, rng, *, option=PAGE, harms=None):
    """Return what a study of the world would observe under an option; a second effect hurts half as much."""
    harms, seen = world.harms if harms is None else harms, []
    for place, people in enumerate(world.sizes):
        for factor, effect in zip((1.0, 0.5), world.effects, strict=False):
            lost = np.array([factor * harms[place]])
            if world.basis == "repeats":
                size = world.repeats
                draws = rng.exponential(size=size) - 1 if world.is_skewed else rng.normal(size=size)
                lost = lost + world.noise[place] * draws
            elif world.basis == "rows":
                lost = lost + rng.normal() * world.error[place]
            after, due = {
                "selected": (400 - lost, 400.0),
                "wrongly_refused": (100 + lost, 100.0),
                "hidden": (np.maximum(lost, 0) * people / 1_000, 0.0),
                "refused": (np.maximum(lost, 0), 0.0),
                "short": ((1_000 - lost) * people, 1_000 * people),
            }[effect]
            error = float(world.error[place]) if world.basis == "rows" else 0.0
            more = {"spread": "tailed", "error": error}
            due = np.full_like(after, due)
            seen.append(
                Observation(option, f"group {place}", effect, after, due, people, world.basis, **more)
            )
    return seen


def draw_table(world, rng):
    """Return the table of a study of the world."""
    options = Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0)
    return EffectTable(options, tuple(observe_world(world, rng)), PAGE)


def draw_large_payer(rng):
    """Return a world in which a large group truly pays most and small groups pay half as much."""
    sizes = np.array([20_000.0] + [300.0] * 12)
    harms = np.array([60.0] + [30.0] * 12)
    return World(sizes, harms, "repeats", int(rng.choice([10, 20])), 2.0, is_skewed=False)


class Shares(NamedTuple):
    """How often a true payer is named where that is likely, and how many groups are named then.

    `alone`: one group is named, another than pays most, and so is the first that is said to pay more perhaps.
    `misled`: of all that are named, or said to pay more perhaps, none pays most. `silent`: only others are
    named, and nobody is said to pay more perhaps.
    """

    named: float
    names: float
    alone: float
    misled: float
    silent: float


def judge_worlds(seed, draw=draw_world):
    """Return what the rule says of worlds, as shares of tables."""
    rng = np.random.default_rng(seed)
    named, names, faults = [], [], []
    for _ in range(WORLDS):
        world = draw(rng)
        for _ in range(DRAWS):
            verdict = find_payers(draw_table(world, rng))
            payers = {payer.row.group for payer in verdict.payers}
            perhaps = [row.group for row in verdict.maybe_worse]
            is_wrong = bool(payers) and not payers & world.payers
            faults.append(
                (
                    is_wrong and len(payers) == 1 and not world.payers & set(perhaps[:1]),
                    is_wrong and not world.payers & set(perhaps),
                    is_wrong and not perhaps,
                )
            )
            if world.power >= 0.9:
                named.append(bool(payers & world.payers))
                names.append(len(payers))
    return Shares(float(np.mean(named)), float(np.mean(names)), *np.mean(faults, axis=0).tolist())


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_payers_are_named_where_they_can_be(seed):
    """If not, the first sentence of every page would be a guess, or name everybody."""
    found = judge_worlds(seed)

    assert found.named >= 0.9
    assert found.names <= 3
    assert found.alone <= 0.05
    assert found.misled <= 0.015
    assert found.silent <= 0.005


@pytest.mark.statistical
def test_ranking_by_estimates_accuses_groups_wrongly(monkeypatch):
    """The twin: the largest estimate of a clear harm, alone, names a wrong group too often."""
    assert judge_worlds(SEED, draw_large_payer).alone <= 0.01

    def take_largest(table, payers, level):
        return sorted(payers, key=lambda payer: -payer.amount)[:1]

    monkeypatch.setattr(harm, "_name_equals", take_largest)

    assert judge_worlds(SEED, draw_large_payer).alone > 0.05


def judge_rare_worlds(seed, amount):
    """Return shares: the group that loses in all repeats is named though another loses more, and a caveat.

    The other group loses in a few of the repeats only, by the amount; on average 0 to 1.5 times as much. What
    no repeat shows is left out: the rule of three does not foresee people who change together.
    """
    rng = np.random.default_rng(seed)
    options = (Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0))
    wrong, careful, smaller = 0, 0, 0
    for _ in range(2 * WORLDS):
        repeats, times = int(rng.choice([10, 30])), rng.uniform(0.0, 1.5)
        often = 100 + 10 * rng.normal(size=repeats)
        rare = amount * (rng.uniform(size=repeats) < times * 100 / amount)
        if not rare.any():
            continue
        seen = [
            Observation(PAGE, group, "selected", 800 - lost, np.full(repeats, 800.0), 9_000.0)
            for group, lost in {"often": often, "rare": rare}.items()
        ]
        verdict = find_payers(EffectTable(options, tuple(seen), PAGE))
        is_alone = [payer.row.group for payer in verdict.payers] == ["often"]
        wrong += is_alone and not verdict.maybe_worse and times > 1
        smaller += times < 0.5
        careful += bool(verdict.maybe_worse) and times < 0.5
    return wrong / (2 * WORLDS), careful / smaller


@pytest.mark.statistical
@pytest.mark.parametrize(("amount", "most"), [(200.0, 0.8), (400.0, 0.9), (800.0, 1.0)])
def test_a_group_that_rarely_loses_much_is_not_passed_over(amount, most):
    """If it were, the page would name another group alone."""
    wrong, careful = judge_rare_worlds(SEED, amount)

    assert wrong <= 0.02
    assert careful <= most


# --- what is recommended ----------------------------------------------------------------------------


def replay_remedies(seed, *, n_remedies=8):
    """Return shares of recommendations: relief and what is left as stated, and nobody truly harmed more.

    Half of the worlds have remedies that are all alike, so that the best of them looks better than it is.
    """
    rng = np.random.default_rng(seed)
    options = [Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0)]
    options += [Option(f"r{place}", PAGE, epsilon=1.0, is_remedy=True) for place in range(n_remedies)]
    found = []
    for _ in range(WORLDS):
        world = draw_world(rng)
        n_groups, is_alike = len(world.sizes), bool(rng.integers(2))
        truth, cut = {PAGE: world.harms}, rng.choice([0.0, 0.2, 0.5, 0.8])
        for option in options[2:]:
            cut = cut if is_alike else rng.choice([0.0, 0.2, 0.5, 0.8])
            further = rng.choice([0, 0, 0, 5, 15, 30], size=n_groups) * bool(rng.integers(2))
            truth[option.name] = np.where(world.harms > 0, world.harms * (1 - cut), world.harms) + further
        seen = [
            each
            for name, harms in truth.items()
            for each in observe_world(world, rng, option=name, harms=harms)
        ]
        table = EffectTable(tuple(options), tuple(seen), PAGE)
        verdict = find_payers(table)
        for trial in choose_remedy(table, verdict).recommended[:1]:
            before, after = (np.maximum(truth[name], 0) for name in (PAGE, trial.option.name))
            payer = int(verdict.payers[0].row.group.removeprefix("group "))
            relief, slack = before[payer] - after[payer], 1e-9
            found.append(
                (
                    trial.relief.low - slack <= relief <= trial.relief.high + slack,
                    after.max() <= trial.left + slack,
                    (after - before).max() < MATTERS,
                )
            )
    return np.mean(found, axis=0)


@pytest.mark.statistical
def test_what_is_recommended_does_what_is_stated():
    """If not, the best of several remedies would be chosen for its luck."""
    relief, left, unharmed = replay_remedies(SEED)

    assert relief >= 0.93
    assert left >= 0.93
    assert unharmed >= 0.93


@pytest.mark.statistical
def test_limits_for_one_remedy_do_not_hold_for_the_best_of_many(monkeypatch):
    """The twin: limits at half the level, over no family, end before what a remedy truly does."""
    monkeypatch.setattr(choice, "family_level", lambda table, names: 0.5)

    assert replay_remedies(SEED)[0] < 0.93
