"""Decisions on noisy counts: exact figures beside Monte Carlo with 10,000 repetitions, in one run.

Run ``python benchmarks/bench_decide.py``; ``--quick`` takes fewer counties. Times are CPU seconds of one
thread, the least of three rounds for what is exact; the repetitions run once. The counties are drawn near the
borders of the rule, where nothing is decided beforehand, so real tables are quicker.

* *joint*: (sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131, whose comparisons share counts.
* *ratio*: 20*sp - s > 0, one comparison in closed form.
* *error*: of Monte Carlo, its largest and root mean square difference from the exact probabilities.
* *precise*: the largest difference of the exact Laplace figures from mpmath with 30 digits, on 20 counties.
* *allotment*: shares of 16,641 districts (Title I where EVENHAND_DATA names it, otherwise drawn ones): the
  bias by the certified series, the variance, the bias after a clamp and after shrinking, and awards in whole
  cents. *worst* is the largest proved error over the entity's own figure. Of the repetitions 100 are drawn
  and scaled; *blind* is the median, over districts, of their standard error over the bias they look for.
"""

import argparse
import os
import time
from dataclasses import dataclass

import mpmath
import numpy as np

from evenhand.datasets import load
from evenhand.decide.allotment.allotment import Allotment, award_cents
from evenhand.decide.allotment.moments import allotment_bias, allotment_variance
from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess import Nonnegative, Shrink, optimal_temperature

JOINT = ((ratio("sp", "s") > 0.05) | (count("sp") > 10_000)) & (ratio("spe", "sp") > 0.0131)
RATIO = 20 * count("sp") - count("s") > 0
LAWS = (
    Laplace(10),
    Gaussian(200),
    DiscreteLaplace(10),
    DiscreteGaussian(200),
    Laplace(100),
    DiscreteLaplace(100),
)
REPETITIONS = 10_000
ROUNDS = 3
CHECKED = 20
DISTRICTS = 16_641
DRAWN = 100


@dataclass
class Row:
    """One rule under one law."""

    rule: str
    law: str
    exact: float
    sampled: float
    largest: float
    rms: float


def counties(n, seed=0):
    """Return counties within a factor of the borders of the rule."""
    rng = np.random.default_rng(seed)
    s = np.exp(rng.uniform(np.log(50), np.log(400_000), n)).astype(int)
    sp = (s * rng.uniform(0.03, 0.07, n)).astype(int)
    return {"s": s, "sp": sp, "spe": (sp * rng.uniform(0.005, 0.02, n)).astype(int)}


def sampled(rule, places, law):
    """Return the share of repetitions in which the rule holds."""
    source = SeededSource(1)
    held = np.zeros(places["s"].size)
    for _ in range(REPETITIONS):
        noisy = {name: places[name] + law.draw(size=places[name].size, source=source) for name in rule.inputs}
        held += rule.holds(noisy) if law.support == "integers" else by_floats(rule, noisy)
    return held / REPETITIONS


def by_floats(rule, noisy):
    """Decide on real counts by plain floating point, as a simulation would."""
    if rule is RATIO:
        return 20 * noisy["sp"] > noisy["s"]
    s, sp, spe = (noisy[name] for name in ("s", "sp", "spe"))
    many = ((sp > 0.05 * s) & (s > 0)) | (sp > 10_000)
    return many & (spe > 0.0131 * sp) & (sp > 0)


def measured(name, rule, places, law):
    """Time both ways and compare them."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        exact = rule_probability(rule, places, law)
        times.append(time.process_time() - started)
    started = time.process_time()
    drawn = sampled(rule, places, law)
    taken = time.process_time() - started
    apart = drawn - exact
    label = f"{type(law).__name__}({getattr(law, 'scale', None) or law.squared_scale})"
    return Row(name, label, min(times), taken, np.abs(apart).max(), np.sqrt((apart**2).mean()))


def precise(s, sp, spe, scale):
    """Return the probability of the joint rule under Laplace noise, with 30 digits."""
    with mpmath.workdps(30):
        b, first, third = mpmath.mpf(scale), mpmath.mpf("0.05"), mpmath.mpf("0.0131")

        def below(x):
            return mpmath.exp(x / b) / 2 if x < 0 else 1 - mpmath.exp(-x / b) / 2

        def integrand(v):
            enough = 1 if v > 10_000 else below(v / first - s) - below(-mpmath.mpf(s))
            return mpmath.exp(-abs(v - sp) / b) / (2 * b) * below(spe - third * v) * enough

        ends = (max(mpmath.mpf(0), sp - 60 * b), sp + 60 * b)
        kinks = [10_000, sp, first * s, spe / third]
        kinks += [first * s + sign * w * first * b for sign in (-1, 1) for w in (2, 12)]
        kinks += [sp + sign * w * b for sign in (-1, 1) for w in (2, 6, 15, 30)]
        cuts = sorted({*ends, *(k for k in kinks if ends[0] < k < ends[1])})
        return float(mpmath.quad(integrand, cuts, maxdegree=6))


def rules(n):
    """Print the part on rules."""
    places = counties(n)
    print(f"{n:,} counties, {REPETITIONS:,} repetitions")
    print(f"{'rule':6} {'law':22} {'exact s':>9} {'sampled s':>10} {'ratio':>7} {'largest':>9} {'rms':>8}")
    for name, rule in (("joint", JOINT), ("ratio", RATIO)):
        for law in LAWS:
            row = measured(name, rule, places, law)
            print(
                f"{row.rule:6} {row.law:22} {row.exact:9.4f} {row.sampled:10.2f} "
                f"{row.sampled / row.exact:7.0f} {row.largest:9.4f} {row.rms:8.4f}",
                flush=True,
            )
    few = counties(CHECKED, seed=5)
    for scale in (10, 100):
        exact = rule_probability(JOINT, few, Laplace(scale))
        truth = [precise(*(int(few[name][k]) for name in ("s", "sp", "spe")), scale) for k in range(CHECKED)]
        print(f"joint, Laplace({scale}): within {np.abs(exact - truth).max():.1e} of 30 digits", flush=True)


def districts():
    """Return weights and counts of as many districts as Title I has."""
    if os.environ.get("EVENHAND_DATA"):
        frame = load("title1").frame
        return np.asarray(frame["exp_index"]), np.asarray(frame["num_students"])
    rng = np.random.default_rng(0)
    return rng.integers(6_000, 20_000, DISTRICTS), np.exp(rng.normal(6.6, 1.7, DISTRICTS)).astype(int) + 1


def quickest(function):
    """Return the least CPU time of several rounds and the result."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        found = function()
        times.append(time.process_time() - started)
    return min(times), found


def blindness(problem, counts, law, bias):
    """Return how long all repetitions would take, and their standard error over the bias, in the middle."""
    source, truth = SeededSource(2), problem.shares(counts)
    started = time.process_time()
    squares = np.zeros(len(counts))
    for _ in range(DRAWN):
        squares += (problem.shares(counts + law.draw(size=len(counts), source=source)) - truth) ** 2
    taken = time.process_time() - started
    error = np.sqrt(squares / DRAWN / REPETITIONS)
    return taken * REPETITIONS / DRAWN, float(np.median(error / np.abs(bias)))


def allotments():
    """Print the part on allotments."""
    weights, counts = districts()
    problem = Allotment(weights)
    print(f"{len(counts):,} districts")
    for law in (DiscreteLaplace(10), DiscreteLaplace(200), Laplace(200), DiscreteGaussian(200**2)):
        label = f"{type(law).__name__}({getattr(law, 'scale', None) or law.squared_scale})"
        ways = {
            "bias": lambda law=law: allotment_bias(problem, counts, law),
            "variance": lambda law=law: allotment_variance(problem, counts, law),
            "clamped": lambda law=law: allotment_bias(problem, counts, law, post=[Nonnegative()]),
        }
        for name, way in ways.items():
            taken, found = quickest(way)
            worst = (found.error_bound / np.abs(found.values)).max()
            print(f"{label:24} {name:9} {1e3 * taken:8.1f} ms, worst {worst:.1e}: {found.method}", flush=True)
        sampled_s, blind = blindness(problem, counts, law, ways["bias"]().values)
        print(f"{label:24} sampled   {sampled_s:8.0f} s, blind {blind:.0f} times", flush=True)
    law = DiscreteLaplace(10)
    step = Shrink(optimal_temperature(law))
    taken, _ = quickest(lambda: allotment_bias(problem, counts, law, post=[step]))
    print(f"shrunk, DiscreteLaplace(10): {1e3 * taken:.0f} ms")
    claims = weights.astype(object) * counts.astype(object)
    taken, cents = quickest(lambda: award_cents(claims, 6_500_000_000))
    print(f"awards in whole cents: {1e3 * taken:.0f} ms, they add up to {int(cents.sum()):,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="300 counties in place of 3,000")
    parser.add_argument("--only", choices=("rules", "allotments"), help="one part alone")
    chosen = parser.parse_args()
    if chosen.only != "allotments":
        rules(300 if chosen.quick else 3_000)
    if chosen.only != "rules":
        allotments()


if __name__ == "__main__":
    main()
