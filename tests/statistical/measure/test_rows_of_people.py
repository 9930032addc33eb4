"""Several rows of one person: how often a page on decisions accuses where all groups are treated alike.

Each of 400 people has eight decisions that agree mostly, so that rows say little more than people do. Every
clear difference between the two groups is then a wrong accusation, of which at most 1 in 20 pages has one.
"""

from functools import cache

import numpy as np
from scipy.stats import binom

from evenhand.answer.status import judge
from evenhand.study.predictions.audit import PredictionAudit
from evenhand.study.predictions.columns import read_predictions
from evenhand.study.predictions.effects import effects
from statistical._exact import ALPHA

STUDIES, PEOPLE, EACH, LEVEL = 150, 400, 8, 0.05


def accuses(rows):
    """Return whether a page says that a group clearly differs from others."""
    return any(row.status == "clear" and row.group for row in judge(effects(PredictionAudit(rows=rows))))


@cache
def count_accusations(*, by_person):
    """Return how many of the studies accuse."""
    total, whose = 0, np.repeat(np.arange(PEOPLE), EACH)
    for study in range(STUDIES):
        draws = np.random.default_rng(study)
        usual = draws.random(PEOPLE) < 0.5
        agrees = draws.random(len(whose)) < 0.9
        decided = np.where(agrees, usual[whose], draws.random(len(whose)) < 0.5).astype(int)
        columns = {"prediction": decided, **({"person": whose} if by_person else {})}
        names = {"prediction": "approved", "person": "id"}
        total += accuses(read_predictions(columns, {"sex": (whose % 2, ["f", "m"])}, names=names))
    return total


def test_pages_on_people_accuse_wrongly_as_seldom_as_they_say():
    """If not, a page would be surer the more often the same people were decided on."""
    assert binom.sf(count_accusations(by_person=True) - 1, STUDIES, LEVEL) > ALPHA


def test_pages_on_rows_of_the_same_people_accuse_far_too_often():
    """The twin: if this held, the test above could not tell people from rows."""
    assert binom.sf(count_accusations(by_person=False) - 1, STUDIES, LEVEL) < ALPHA
