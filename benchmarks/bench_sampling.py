"""Rates of the random sources and the samplers, beside their floors and their peers, in one run.

Run ``python benchmarks/bench_sampling.py``; add ``--quick`` for a tenth of the draws. Every rate is
draws per CPU second on one thread, the median of repeated runs; compilation is not counted. The peers
are OpenDP's exact vector measurements, drawn once at the same size, and numpy's floats, which are no
basis for a release.
"""

import argparse
import platform
import statistics
import time

import numpy as np

from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.sampling import bernoulli, discrete_gaussian, discrete_laplace, subsets, uniform_below

DRAWS = 1_000_000
SCALE = 10


def rate(draw, size, repeats=7):
    """Return draws per CPU second, the median of `repeats` runs after one that is not counted."""
    draw(min(size, 1_000))
    times = []
    for _ in range(repeats):
        start = time.process_time()
        draw(size)
        times.append(time.process_time() - start)
    return size / statistics.median(times)


def floors(size):
    secure, seeded = SecureSource(), SeededSource(1)
    generator = seeded.generator()
    return {
        "secure words": rate(secure.words, size),
        "seeded words": rate(seeded.words, size),
        "numpy float Laplace": rate(lambda n: generator.laplace(0, SCALE, n), size),
        "numpy float normal": rate(lambda n: generator.normal(0, SCALE, n), size),
    }


def samplers():
    """Return every row: its name, how to draw, and how many draws a unit of size makes."""
    return [
        ("bernoulli 77/256", lambda n, s: bernoulli("77/256", size=n, source=s)),
        ("bernoulli, 53 bits", lambda n, s: bernoulli(f"{2**53 // 3}/{2**53}", size=n, source=s)),
        ("uniform_below 10", lambda n, s: uniform_below(10, size=n, source=s)),
        ("uniform_below 2**62 + 1", lambda n, s: uniform_below(2**62 + 1, size=n, source=s)),
        ("subsets 20 of 74, members", lambda n, s: subsets(74, 20, size=max(1, n // 20), source=s)),
        ("discrete_laplace 1", lambda n, s: discrete_laplace(1, size=n, source=s)),
        (f"discrete_laplace {SCALE}", lambda n, s: discrete_laplace(SCALE, size=n, source=s)),
        ("discrete_laplace 1000", lambda n, s: discrete_laplace(1000, size=n, source=s)),
        ("discrete_laplace 7/3", lambda n, s: discrete_laplace("7/3", size=n, source=s)),
        ("discrete_gaussian 1", lambda n, s: discrete_gaussian(1, size=n, source=s)),
        (f"discrete_gaussian {SCALE**2}", lambda n, s: discrete_gaussian(SCALE**2, size=n, source=s)),
        ("discrete_gaussian 10**6", lambda n, s: discrete_gaussian(10**6, size=n, source=s)),
        ("discrete_gaussian 25/7", lambda n, s: discrete_gaussian("25/7", size=n, source=s)),
    ]


def opendp_rates(size):
    """Return OpenDP's rates at scale 10 on a vector of integers, or nothing if it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {}
    dp.enable_features("contrib")
    whole = dp.vector_domain(dp.atom_domain(T=int))
    laplace = dp.m.make_laplace(whole, dp.l1_distance(T=int), scale=float(SCALE))
    gaussian = dp.m.make_gaussian(whole, dp.l2_distance(T=float), scale=float(SCALE))
    zeros = np.zeros(size, dtype=np.int64).tolist()
    return {
        f"discrete_laplace {SCALE}": rate(lambda n: laplace(zeros[:n]), size, repeats=1),
        f"discrete_gaussian {SCALE**2}": rate(lambda n: gaussian(zeros[:n]), size, repeats=1),
    }


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the draws")
    size = DRAWS // 10 if options.parse_args().quick else DRAWS
    base, peer = floors(size), opendp_rates(size)
    numpy_peer = {
        f"discrete_laplace {SCALE}": base["numpy float Laplace"],
        f"discrete_gaussian {SCALE**2}": base["numpy float normal"],
    }
    print(f"n = {size:,}; Python {platform.python_version()}, numpy {np.__version__}; draws per CPU second")
    for name, value in base.items():
        print(f"{name:28} {value:9.2e}")
    for name, value in peer.items():
        print(f"{'opendp ' + name:28} {value:9.2e}")
    print(f"\n{'sampler':28} {'secure':>9} {'seeded':>9} {'x opendp':>9} {'numpy /':>9}")
    for name, draw in samplers():
        secure = rate(lambda n, draw=draw: draw(n, SecureSource()), size)
        seeded = rate(lambda n, draw=draw: draw(n, SeededSource(1)), size)
        times = f"{secure / peer[name]:9.0f}" if name in peer else f"{'':9}"
        slower = f"{numpy_peer[name] / secure:9.1f}" if name in numpy_peer else ""
        print(f"{name:28} {secure:9.2e} {seeded:9.2e} {times} {slower}".rstrip())


if __name__ == "__main__":
    main()
