"""Data, splits and measures of figures_learn.py; everything that is not a method."""

from dataclasses import dataclass

import numpy as np

import evenhand as eh
from evenhand.learn.encoding.encoder import PublicEncoder

DATA = {"adult": {"version": "uci"}, "credit_default": {}}
CHOOSING = 0.5  # share of the rows that settings are chosen in; test rows of 'separate' splits are others
TEST = 0.25


@dataclass(frozen=True)
class People:
    """Encoded rows; `group` is 1 for the privileged group (men in both data sets)."""

    name: str
    X: np.ndarray
    y: np.ndarray
    group: np.ndarray
    assumptions: tuple

    def at(self, places):
        return self.X[places], self.y[places], self.group[places]

    def __len__(self):
        return len(self.y)


def people(name, numbers):
    data = eh.datasets.load(name, backend="pandas", **DATA[name])
    schema, frame = data.schema, data.frame
    encoder = PublicEncoder(schema, without=[schema.protected], numbers=numbers)
    return People(
        name,
        np.asarray(encoder.fit_transform(frame), dtype=np.float64),
        (frame[schema.target].to_numpy() == schema.positive).astype(int),
        (frame[schema.protected].to_numpy() == schema.privileged).astype(int),
        tuple(encoder.assumptions),
    )


def choosing_rows(n):
    """Return the rows in which settings are chosen: the same half of the file for every split."""
    return np.sort(np.random.default_rng(2024).permutation(n)[: round(CHOOSING * n)])


def split(n, seed, *, kind):
    """Return training and test rows, 75 % and 25 % of all.

    ``"separate"``: the test rows are drawn among those that ``--choose`` does not use, so that settings were
    selected inside the training part of every split. ``"plain"``: the test rows are drawn among all.
    """
    pool = np.arange(n)
    if kind == "separate":
        pool = np.setdiff1d(pool, choosing_rows(n))
    test = np.sort(np.random.default_rng(1_000 + seed).permutation(pool)[: round(TEST * n)])
    return np.setdiff1d(np.arange(n), test), test


def cut(rows, seed):
    """Return training and validation rows, 75 % and 25 % of some rows."""
    inside = np.random.default_rng(5_000 + seed).permutation(rows)
    place = round(TEST * len(inside))
    return np.sort(inside[place:]), np.sort(inside[:place])


def measures(answers, y, group):
    """Return accuracy, gap and the positive rates of women and men."""
    women, men = (float(answers[group == each].mean()) for each in (0, 1))
    return {
        "acc": float((answers == y).mean()),
        "sp_gap": abs(women - men),
        "rate_women": women,
        "rate_men": men,
    }


def fair_gap(rate, sizes, draws=200_000):
    """Return the mean gap of a classifier that accepts everybody with the same chance."""
    rng = np.random.default_rng(7)
    rates = [rng.binomial(size, rate, draws) / size for size in sizes]
    return float(np.abs(rates[0] - rates[1]).mean())
