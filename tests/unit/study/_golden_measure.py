"""Situations of an audit of somebody's own predictions: clear and unclear gaps, rules, scores, few people."""

import numpy as np

from evenhand.measure.disparities import COMPARED_RATES
from evenhand.study.predictions.answers import answers
from unit.study.predictions._cases import HIDDEN, SHOWN, audit, crossed_people, people

COMMAND = "evenhand audit learn people.csv --target hired"
ALIKE = {"men": (60, 40, 30, 70), "women": (62, 38, 28, 72)}
SAME = {"men": (60, 40, 30, 70), "women": (60, 40, 30, 70)}
FEW = {"women": (5, 4, 3, 8)}
NOBODY = {"men": (0, 100, 0, 100), "women": (0, 100, 0, 100)}
EVERYBODY = {"men": (90, 0, 10, 0), "women": (60, 0, 40, 0)}
ALMOST_NOBODY = {"men": (3, 27, 1, 969), "women": (2, 28, 1, 969)}
CHANCE = {"men": (60, 40, 59, 41), "women": (30, 70, 31, 69)}
ALARMS = {"men": (18, 2, 80, 900), "women": (16, 4, 200, 780)}
BORDER = {"men": (60, 40, 40, 60), "women": (49, 51, 30, 70)}


def with_third(count):
    """Return people with a third group of so many."""
    truth, predicted, group = people()
    more = np.arange(count) % 2
    return np.append(truth, more), np.append(predicted, more), [*group, *(["others"] * count)]


def with_scores():
    truth, predicted, group = people()
    return (truth, predicted, group), np.round(
        0.2 + 0.3 * truth + 0.3 * predicted + np.arange(800) / 10_000, 4
    )


def situations():
    """Yield a title and three answers for each."""
    for title, options in _situations():
        rows = options.pop("rows", None) or people(**options.pop("counts", {}))
        if options.pop("unlabelled", False):
            rows = (None, *rows[1:])
        command = options.pop("command", COMMAND)
        yield title, answers(audit(*rows, **options), command=command)


def _situations():
    for rate in COMPARED_RATES:
        yield f"a clear gap in {rate}", {"headline": f"{rate}_gap"}
        yield f"a clear ratio of {rate}", {"headline": f"{rate}_ratio"}
        yield f"groups that are about alike, by {rate}", {"headline": f"{rate}_gap", "counts": ALIKE}
    yield "equalized odds", {"headline": "odds_gap"}
    yield "equalized odds, as a ratio", {"headline": "odds_ratio"}
    yield "groups that are the same", {"counts": SAME}
    yield "an unwanted prediction", {"unwanted": True}
    yield "without outcomes", {"unlabelled": True}
    yield "without outcomes, asked for more", {"unlabelled": True, "headline": "tpr_gap"}
    yield "nobody is selected", {"counts": NOBODY}
    yield "nobody is selected, as a ratio", {"counts": NOBODY, "headline": "selection_ratio"}
    yield "everybody is selected", {"counts": EVERYBODY}
    yield "everybody is selected, by accuracy", {"counts": EVERYBODY, "headline": "accuracy_gap"}
    yield "everybody is selected, of a small group too", {"counts": EVERYBODY | {"women": (10, 0, 2, 0)}}
    yield "nobody is selected, without outcomes", {"rows": (None, *people(**NOBODY)[1:]), "positive": 1}
    yield "almost nobody is selected", {"counts": ALMOST_NOBODY}
    yield "predictions that do not depend on the outcome", {"counts": CHANCE}
    yield "alarms that are right less often than none", {"counts": ALARMS, "unwanted": True}
    yield "equalized odds, alike", {"counts": ALIKE, "headline": "odds_gap"}
    yield "a ratio of rates that are alike", {"counts": ALIKE, "headline": "tpr_ratio"}
    yield "one group is too small", {"counts": FEW}
    yield "a third group is too small", {"rows": with_third(20)}
    yield "a third group is large enough", {"rows": with_third(40)}
    yield "the 80% rule is broken", {"rules": ["80%"]}
    yield (
        "the 80% rule is kept",
        {"rules": ["80%"], "counts": {name: tuple(20 * n for n in counts) for name, counts in SAME.items()}},
    )
    yield "the 80% rule cannot be judged", {"rules": ["80%"], "counts": BORDER}
    yield "two rules are broken", {"rules": ["80%", "odds_gap <= 0.1"]}
    yield "two rules are kept", {"rules": ["selection_gap <= 0.5", "odds_gap <= 0.6"]}
    yield "two rules cannot be judged", {"rules": ["80%", "selection_gap <= 0.1"], "counts": BORDER}
    yield "a rule without people", {"rules": ["80%"], "counts": FEW}
    yield "scores", {"rows": with_scores()[0], "scores": with_scores()[1]}
    yield "scores and a small group", {"rows": people(**FEW), "scores": np.linspace(0, 1, 420)}
    yield "from Python, where no command is at hand", {"command": ""}
    yield "columns hide the gap where they cross", {"rows": crossed_people(HIDDEN)}
    yield "a column shows the gap of crossed groups", {"rows": crossed_people(SHOWN)}
    yield "crossed groups, as a ratio", {"rows": crossed_people(HIDDEN), "headline": "selection_ratio"}
    yield "crossed groups of few people", {"rows": crossed_people(HIDDEN, 20)}
