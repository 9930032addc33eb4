"""Made-up studies of classifiers, one for each thing that a report can have to say."""

import math

from evenhand.study.page.page import answers
from unit.study._learn_studies import approvals, made, measures, of_group, usual

ALL = ("plain+parity", "dp", "dp+parity", "fermi", "fermi+parity", "dp+projection")
NOISE = (-1.0, 0.4, 0.9, -0.3, 0.2, -0.8, 1.0, -0.4, 0.5, -0.5)
BEFORE = {"women": (0.80, 0.30), "men": (0.82, 0.50)}
BOUNDS = {"dp+parity": 0.03, "fermi+parity": 0.03, "plain+parity": 0.02}


def study(table, *, before=BEFORE, noise=0.001, base=0.5, people=400.0, bounds=BOUNDS, **options):
    """Return a study with accuracy and selection of each group by method, or by method and epsilon.

    Methods that it does not name are as the plain classifier.
    """
    groups = tuple(before)

    def given(setting, repeat):
        key = (setting.mechanism, None if setting.epsilon is None else float(setting.epsilon))
        rates = before if not setting.is_protected else table.get(key, table.get(key[0], before))
        if rates is None:
            return None
        shift = 0 if not setting.is_protected else 3 + ALL.index(key[0]) if key[0] in ALL else 1
        numbers = {}
        for place, (group, (accuracy, share)) in enumerate(rates.items()):
            draw = noise * NOISE[(repeat * (1, 3, 7, 9)[place] + shift) % len(NOISE)]
            numbers[group] = of_group(
                min(max(share + draw, 0.0), 1.0) if 0 < share < 1 else share,
                people if isinstance(people, float) else people[group],
                accuracy=accuracy + draw,
                base_rate=base + 1e-5 * repeat,  # equal repeats have no interval
            )
        sizes = {group: row["people"] for group, row in numbers.items()}
        overall = sum(sizes[group] * row["accuracy"] for group, row in numbers.items()) / sum(sizes.values())
        shares = [row["selection"] for row in numbers.values()]
        private = (
            setting.is_protected and setting.epsilon is not None and setting.mechanism != "dp+projection"
        )
        found = measures(
            overall,
            max(shares) - min(shares),
            epsilon=float(setting.epsilon) if private else None,
            delta=0.0 if setting.mechanism == "local" else None,
            bound=bounds.get(setting.mechanism, math.nan),
        )
        return found | {"fair_gap": 0.02}, numbers

    return made(given, groups=groups, **{"methods": ["dp", "dp+parity"], "repeats": 10, **options})


def rates(women, men, selected=(0.30, 0.50)):
    """Return accuracy and selection of two groups."""
    return {"women": (women, selected[0]), "men": (men, selected[1])}


def only(women, men, selected=(0.30, 0.50), **options):
    """Return a study of private training alone."""
    return study({"dp": rates(women, men, selected)}, **{"methods": ["dp"], **options})


def regions(after, **options):
    """Return a study of four regions with private training alone."""
    before = {"north": (0.8, 0.3), "islands": (0.8, 0.1), "west": (0.8, 0.4), "south": (0.8, 0.5)}
    return study({"dp": dict(zip(before, after, strict=True))}, before=before, methods=["dp"], **options)


def constant(share):
    """Return a study in which parity gives everybody the same answer."""
    return study({"dp": rates(0.78, 0.80), "dp+parity": rates(0.5, 0.5, (share, share))}, noise=0.0005)


def failed_runs():
    """Return a study in which private training with parity did not run."""
    return study({"dp": rates(0.78, 0.80), "dp+parity": None})


def loose(bound, bound_95):
    """Return a study with these bounds."""

    def given(setting, repeat):
        numbers, people = usual(setting, repeat)
        return numbers | {"bound": bound, "bound_95": bound_95}, people

    return made(given, repeats=10)


def cases():
    """Return results by what is the case, and the setting that is asked for, if one is."""
    fair, dp = rates(0.76, 0.79, (0.395, 0.402)), rates(0.78, 0.805)
    every = {
        "dp": dp,
        "dp+parity": fair,
        "fermi": rates(0.77, 0.80, (0.35, 0.47)),
        "fermi+parity": rates(0.75, 0.77, (0.39, 0.41)),
        "dp+projection": rates(0.77, 0.80, (0.39, 0.40)),
        "plain+parity": rates(0.78, 0.80, (0.395, 0.40)),
    }
    all_methods = study(every, methods=ALL)
    six = {"north": 400.0, "south": 400.0, "west": 400.0, "islands": 6.0}
    small = regions(((0.8, 0.3), (0.4, 0.9), (0.8, 0.4), (0.8, 0.5)), people=six)
    return {
        "One group loses": (only(0.76, 0.82), None),
        "Both lose, one more": (only(0.74, 0.81), None),
        "Both lose as much": (only(0.77, 0.79), None),
        "One loses, the other gains": (only(0.76, 0.84), None),
        "Accuracy rises": (only(0.82, 0.84), None),
        "Nobody clearly loses": (only(0.80, 0.82, noise=0.002), None),
        "Nobody loses at all": (only(0.80, 0.82, noise=0), None),
        "All lose the same in every repeat": (only(0.79, 0.81, (0.31, 0.50), noise=0), None),
        "A loss cannot be ruled out": (only(0.798, 0.818, noise=0.03), None),
        "Five repeats": (only(0.74, 0.77, repeats=5), None),
        "One repeat": (only(0.74, 0.77, repeats=1), None),
        "Parity costs one group much and approves almost everyone": (
            approvals((0.671, 0.918), (0.976, 0.984)),
            "dp+parity 1",
        ),
        "Parity is a little better than approving everyone": (
            approvals((0.671, 0.933), (0.963, 0.976)),
            None,
        ),
        "No private method works": (approvals((0.671, 0.918), (0.976, 0.984), dp=(0.68, 0.9)), None),
        "It works from a larger epsilon on": (
            study(
                {
                    ("dp", 1.0): rates(0.5, 0.5),
                    ("dp+parity", 1.0): rates(0.49, 0.5, (0.4, 0.41)),
                    ("dp", 3.0): rates(0.77, 0.8),
                }
            ),
            None,
        ),
        "Worse than one answer for everyone": (only(0.55, 0.60, base=0.7), None),
        "No model even without privacy": (only(0.80, 0.82, base=0.1), None),
        "Too noisy to be better than one answer": (only(0.80, 0.82, base=0.75, noise=0.1, repeats=5), None),
        "Too noisy with ten repeats": (only(0.80, 0.82, base=0.775, noise=0.15), None),
        "Nobody is selected": (constant(0.0), "dp+parity 1"),
        "Everybody is selected": (constant(1.0), "dp+parity 1"),
        "Parity gives everybody the same answer, and DP works": (constant(1.0), None),
        "Parity closes the gap": (study({"dp": dp, "dp+parity": fair}), None),
        "Parity narrows the gap and leaves some": (
            study({"dp": dp, "dp+parity": rates(0.76, 0.79, (0.36, 0.42))}),
            None,
        ),
        "Privacy alone widens the gap": (only(0.78, 0.80, (0.26, 0.52)), None),
        "The gap turns round": (study({"dp+parity": rates(0.76, 0.79, (0.50, 0.40))}), "dp+parity 1"),
        "The gap stays": (only(0.78, 0.80), None),
        "The bound with 95% is the smaller one": (loose(0.107, 0.06), None),
        "No useful bound": (loose(1.0, 1.0), None),
        "Parity is best in everything": (
            study({"dp": rates(0.74, 0.75), "dp+parity": rates(0.78, 0.80, (0.39, 0.40))}),
            None,
        ),
        "Another method is better than the one asked for": (all_methods, "fermi+parity 1"),
        "Every method": (all_methods, None),
        "Methods are alike": (
            study({"dp": dp, "fermi": dp}, methods=["dp", "fermi"]),
            None,
        ),
        "A smaller epsilon costs no more": (study({"dp": dp}, methods=["dp"]), "dp 3"),
        "A smaller epsilon costs more": (
            study({("dp", 1.0): rates(0.70, 0.72), ("dp", 3.0): dp}, methods=["dp"]),
            "dp 3",
        ),
        "Projection is asked for, which is not private": (all_methods, "dp+projection 1"),
        "Parity without privacy": (study({"plain+parity": fair}, methods=["plain+parity"]), None),
        "The plain classifier alone": (study({}, methods=["plain"]), None),
        "Local reports beside central training": (
            study({"local": rates(0.77, 0.79), "dp": dp}, methods=["local", "dp"]),
            None,
        ),
        "Local reports alone": (study({"local": rates(0.77, 0.79)}, methods=["local"]), None),
        "Runs of the method asked for are missing": (failed_runs(), "dp+parity 1"),
        "Runs of another method are missing": (failed_runs(), None),
        "Four groups, the gap grows": (regions(((0.75, 0.3), (0.8, 0.05), (0.8, 0.4), (0.8, 0.6))), None),
        "Four groups, all lose": (regions(((0.75, 0.3), (0.74, 0.1), (0.77, 0.4), (0.76, 0.5))), None),
        "A group of six people": (small, None),
        "Every group is small": (only(0.76, 0.82, people=12.0), None),
    }


def situations():
    """Yield what is the case, and what is said of it."""
    for title, (results, chosen) in cases().items():
        yield title, answers(results, chosen=chosen)
