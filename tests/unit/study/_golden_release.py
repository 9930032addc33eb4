"""Made-up studies of releases, one for each thing that a report can have to say."""

import math

from evenhand.study.page.page import answers
from unit.study._release_studies import by_name, made

EMPTY = {"suppression": {"delta": 1.0, "lost": (0.2, 0.0)}, "noisy-suppression": {"delta": 0.6}}
EXACT = {"error": 1.92, "error_exact": True}
NOISE = ["laplace", "thresholded-laplace"]
REGIONS = ("north", "south", "west", "islands")


def drawn(lost=(0.0, 0.0), table=None, **options):
    """Return a study of sampled errors in which so many people are lost under every mechanism."""
    given = by_name({**EMPTY, **(table or {})}, lost=lost, **options.pop("otherwise", {}))
    return made(given, **{"repeats": 10, "noise": 0.05, **options})


def formula(lost=(0.0, 0.0), table=None, **options):
    """Return a study without a model whose errors are exact, in which so many are expected to be lost."""
    return drawn(lost, table, otherwise=EXACT, noise=0.0, classify=False, **options)


def average(spread=0.02, **options):
    """Return a study of noise that errs by chance, and on average not at all."""
    given = by_name({**EMPTY, "laplace": {**EXACT, "lost": (-0.02, 0.01), "expected": 0.0, "spread": spread}})
    return made(given, noise=0.0, classify=False, repeats=10, **options)


def two(laplace, threshold, **options):
    """Return a study of noise with and without a threshold, with these numbers."""
    table = {"laplace": {**EXACT, **laplace}, "thresholded-laplace": {**EXACT, **threshold}}
    settings = {"grid": NOISE, "noise": 0.0, "classify": False, "repeats": 10, **options}
    return made(by_name(table), **settings)


def regions(lost, **options):
    """Return a study of four regions that are off by so much."""
    return made(
        by_name({}, lost=lost), groups=REGIONS, grid=["thresholded-laplace"], noise=0.1, repeats=10, **options
    )


def clipped(setting):
    """Return the numbers of noise whose negative counts are set to zero, or are not."""
    post = {"lost": (0.12, 0.01), "error": 1.3} if "post" in setting.options else {}
    return by_name({"laplace": {**EXACT, **post}})(setting)


def by_epsilon(setting):
    """Return the numbers of noise that hardly errs more with a smaller epsilon."""
    return by_name({"laplace": {**EXACT, "error": 2.0 if setting.epsilon >= 1 else 2.1}})(setting)


def situations():
    """Yield what is the case, and what is said of it."""
    every = {"suppression": {"delta": 0.0}, "noisy-suppression": {"delta": 0.0}}
    swapping = ["laplace", "suppression", "swapping", "k-anonymity"]
    bad = {"swapping": {"delta": 1.0}, "k-anonymity": {"delta": 1.0}}
    none = {"laplace": {"delta": 0.2}}
    cases = {
        "Noise is the same everywhere": average(),
        "How far one release is off is not known": average(spread=math.nan),
        "Noise is the same everywhere, one repeat": made(
            by_name({**EMPTY, "laplace": EXACT}), noise=0.0, classify=False, repeats=1
        ),
        "Errors are sampled and alike": drawn(),
        "Small cells err less, but more for their size": drawn(otherwise={"growth": 0.001}),
        "Large cells err more, also for their size": drawn(otherwise={"growth": 1.0}),
        "Errors grow in step with the cell": drawn(otherwise={"growth": 0.0044}),
        "Exact errors that grow with the cell": formula(table={"laplace": {"growth": 0.001}}),
        "All cells are of one size": drawn(sizes=[3]),
        "The table is empty": drawn(sizes=[0]),
        "All runs failed": drawn(failures=range(99)),
        "Some runs failed": drawn(failures=(12, 13)),
        "Three repeats": drawn((-0.1, 0.0), repeats=3),
        "One repeat": drawn((-0.1, 0.0), repeats=1),
        "One repeat, two mechanisms": drawn(repeats=1, grid=NOISE),
        "Nobody is lost in any repeat": drawn(noise=0.0),
        "One group loses the same in every repeat": drawn((-0.041, 0.0), noise=0.0, exact=False),
        "No loss is clear": drawn(noise=1.0),
        "One group is undercounted": drawn((-0.041, 0.0)),
        "One group is undercounted, exact": formula((-0.041, 0.0)),
        "One group is overcounted": drawn((0.041, 0.0)),
        "One loses, the other gains": drawn((-0.041, 0.02)),
        "Both are undercounted": drawn((-0.041, -0.02)),
        "Both are overcounted": drawn((0.041, 0.02)),
        "The count is right within a percent": formula((0.008, -0.001)),
        "Four groups, two lose": regions((-0.05, -0.03, 0.0, 0.0)),
        "Four groups, two gain": regions((0.05, 0.03, 0.0, 0.0)),
        "Four groups, all lose": regions((-0.05, -0.03, -0.1, -0.02)),
        "Four groups, all gain": regions((0.05, 0.03, 0.1, 0.02)),
        "Four groups, some lose and some gain": regions((-0.05, 0.03, -0.1, 0.02)),
        "A group of six people": regions((0.0, -0.03, 0.0, 0.9), counted=(100.0, 900.0, 900.0, 6.0)),
        "Every group is small": drawn((0.5, -0.5), counted=(6.0, 12.0)),
        "Suppression alone, blanks read as half of the threshold": formula(
            (0.2, 0.03), {"suppression": {"delta": 1.0, "lost": (0.2, 0.03)}}, grid=["suppression"]
        ),
        "Suppression alone, blanks read as 0": formula(
            table={"suppression": {"delta": 1.0, "lost": (-0.2, -0.03)}},
            grid=[{"name": "suppression", "fill": "zero"}],
        ),
        "No mechanism gives a guarantee": drawn(table=none),
        "One mechanism gives a guarantee, three do not": drawn(table=bad, grid=swapping),
        "Suppression with two thresholds": drawn(
            grid=["laplace", *({"name": "suppression", "threshold": most} for most in (5, 10))]
        ),
        "One mechanism gives a guarantee, four do not": drawn(
            table={**bad, "random-swapping": {"delta": 1.0}}, grid=[*swapping, "random-swapping"]
        ),
        "Two give a guarantee, four do not": drawn(
            table=bad, grid=[*swapping, "thresholded-laplace", "noisy-suppression"]
        ),
        "Every mechanism gives a guarantee": drawn(table=every),
        "A weak guarantee": drawn(table={"laplace": {"delta": 0.002}}),
        "One mechanism was tested": drawn(grid=["laplace"]),
        "The first errs least": two({}, {"error": 4.0}),
        "The second errs less, and by enough": two({}, {"error": 1.2}),
        "The second errs less, but not by enough to matter": two({}, {"error": 1.8}),
        "The second errs less and miscounts a group": two({}, {"error": 1.2, "lost": (-0.1, 0.0)}),
        "The first miscounts a group and errs as much": two({"lost": (-0.1, 0.0)}, {"error": 1.8}),
        "Both miscount a group": two({"lost": (-0.1, 0.0)}, {"error": 1.2, "lost": (-0.2, 0.0)}),
        "Both miscount a group, and plain noise was not tested": two(
            {"lost": (-0.1, 0.0)}, {"error": 1.2, "lost": (-0.2, 0.0)}, post="nonnegative"
        ),
        "Negative counts set to zero": made(
            clipped, grid=["laplace"], noise=0.0, classify=False, compare_post=["nonnegative"]
        ),
        "A smaller epsilon errs hardly more": made(
            by_epsilon, grid=["laplace"], epsilons=("1/2", 1), noise=0.0, classify=False
        ),
        "A mechanism without epsilon that was asked for": "suppression",
    }
    for title, results in cases.items():
        asked = results if isinstance(results, str) else None
        yield title, answers(average() if asked else results, chosen=asked)
