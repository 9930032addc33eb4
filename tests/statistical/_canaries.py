"""Trainings with canaries that are as easy to see as can be, and the ways to break them.

Canary j is a row with a feature of its own, so long that its gradient is clipped, and with a step size so
small that its residual stays what it was: whenever it is in a batch, it moves coordinate j of that step's sum
by exactly the clip, the most that any row may. What is looked at are the noisy sums of every step, which is
all that the training releases and what its guarantee is about, not only the final weights.

Several trainings on rows of their own are one mechanism in which each canary is in one training: it keeps
what each of them keeps, and has as many canaries as all of them together.
"""

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple
from unittest import mock

import numpy as np

from evenhand.learn.audit.canaries import audit_canaries
from evenhand.learn.fermi import classifier as fermi
from evenhand.learn.fermi import training as fermi_training
from evenhand.learn.training import logistic
from evenhand.privacy.grid_noise import GridNoise
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.sampling import bernoulli

EPSILONS = ("1/2", "1", "2", "4", "8")
LENGTH = 1_000.0  # of a canary: its gradient is clipped as long as its residual is above a thousandth
STILL = 1e-8  # the step size
ORDINARY = 200  # rows that are there whatever the coins say


@dataclass(frozen=True)
class Setting:
    """One way of training that is audited.

    `see` is what is looked at: "sums" for the noisy sums of every step, "weights" for the trained model.
    One row in `part` is in a batch.
    """

    model: str
    unit: str = "add or remove one"
    classes: int = 2
    kind: str = "parity"
    part: int = 1
    epochs: int = 8
    see: str = "sums"
    canaries: int = 2_000
    trainings: int = 5
    delta: str = "1e-9"
    secure: bool = False

    @property
    def name(self):
        kind = (
            f"DPFermi, {self.kind}"
            if self.model == "fermi"
            else f"DPLogisticRegression, {self.classes} classes"
        )
        return f"{kind}, 1 in {self.part}, {self.unit}, {self.see}"


SETTINGS = (
    Setting("logistic"),
    Setting("logistic", unit="replace one"),
    Setting("logistic", part=4),
    Setting("logistic", part=4, see="weights"),
    Setting("logistic", classes=3),
    Setting("fermi"),
    Setting("fermi", unit="replace one"),
    Setting("fermi", kind="odds"),
    Setting("fermi", part=4),
    Setting("fermi", part=4, see="weights"),
)
CELLS = tuple((setting, epsilon) for setting in SETTINGS for epsilon in EPSILONS)


class Cell(NamedTuple):
    """A setting at one epsilon, audited."""

    setting: Setting
    found: object
    noise: float
    steps: int
    seconds: float


class Training(NamedTuple):
    """A model trained with canaries: the coins, and the sums of all steps with the grid that they lie on."""

    model: object
    coins: np.ndarray
    sums: np.ndarray
    grid: GridNoise


def audit_setting(setting, epsilon, *, seed, share=1, confidence=0.999, broken=None):
    """Train with canaries and guess which were in; `broken` names one of BROKEN."""
    begun = time.process_time()
    scores, coins = [], []
    for number in range(setting.trainings):
        training = trained(setting, epsilon, seed=(seed, number), broken=broken)
        coins.append(training.coins)
        looked = setting.see == "weights"
        scores.append(training.model.coef_[0, : setting.canaries] if looked else seen_in(training, setting))
    model = training.model
    found = audit_canaries(
        np.concatenate(scores),
        np.concatenate(coins),
        claimed=model.guarantee_.epsilon,
        delta=model.guarantee_.delta,
        confidence=confidence,
        share=share,
    )
    return Cell(setting, found, model.noise_, model.steps_, time.process_time() - begun)


def trained(setting, epsilon, *, seed, broken=None):
    """Toss the coins and train once."""
    source = SecureSource() if setting.secure else SeededSource(np.random.SeedSequence(seed))
    coins = bernoulli("1/2", size=setting.canaries, source=source)
    rows = made_rows(setting, coins)
    with BROKEN[broken](setting), watched() as (sums, grids):
        model = fitted(setting, epsilon, *rows, source)
    answers = setting.classes if setting.classes > 2 else 1
    steps = np.concatenate([each.reshape(len(each), answers, -1) for each in sums])
    return Training(model, coins, steps[:, :, : setting.canaries], grids[0])


def noise_alone(training):
    """Return the sums where only noise is: those of the features of canaries that were left out."""
    return training.sums[:, :, ~training.coins].reshape(-1)


def made_rows(setting, coins):
    """Return features, labels and groups of the rows that take part: canaries, and ordinary rows."""
    count = setting.canaries
    features = np.zeros((count + ORDINARY, count + 1))
    length = 4.0 if setting.see == "weights" else LENGTH
    features[np.arange(count), np.arange(count)] = length
    features[count:, count] = np.linspace(-1, 1, ORDINARY)
    labels = np.full(count + ORDINARY, 1)
    labels[count:] = np.arange(ORDINARY) % setting.classes
    present = np.ones(count + ORDINARY, dtype=bool)
    if setting.unit == "replace one":
        labels[:count][~coins] = 0
    else:
        present[:count] = coins
    groups = np.arange(len(labels)) % 2
    return features[present], labels[present], groups[present]


def fitted(setting, epsilon, features, labels, groups, source):
    """Fit the estimator itself, with public settings that make the canaries visible."""
    rows = setting.canaries + ORDINARY
    public = {
        "epsilon": epsilon,
        "delta": setting.delta,
        "unit": setting.unit,
        "rows": rows,
        "batch": rows // setting.part,
        "epochs": setting.epochs,
        "classes": list(range(setting.classes)),
        "rate": STILL if setting.see == "sums" else 1.0,
        "rng": source,
    }
    if setting.model == "logistic":
        return logistic.DPLogisticRegression(**public, fit_intercept=False).fit(features, labels)
    penalty = {"kind": setting.kind, "share": 0.99, "group_epsilon": "1/100", "matrix_rate": STILL}
    model = fermi.DPFermi(**public, **penalty, groups=[0, 1])
    return model.fit(features, labels, group=groups)


@contextmanager
def watched():
    """Keep the sums of every step: the gradients are added to the array that the noise was drawn into.

    Of DPFermi's two sums per step the one of the weights is kept, whose clip is 1.
    """
    kept, grids, right = [], [], GridNoise.draw

    def watching(grid, size, source):
        drawn = right(grid, size, source)
        if grid.clip == 1:
            kept.append(drawn)
            grids.append(grid)
        return drawn

    with mock.patch.object(GridNoise, "draw", watching):
        yield kept, grids


def seen_in(training, setting):
    """Return the logarithm of how much more likely the sums are with each canary than without it.

    Where the coin decides between two labels, that of the one over that of the other.
    """
    towards = -np.ones(1)
    if setting.classes > 2:
        towards = np.full(setting.classes, 1 / setting.classes)
        towards[1] -= 1
        towards /= np.linalg.norm(towards)
    moved = np.einsum("a,tac->tc", towards, training.sums) / training.grid.longest
    rate, variance = float(training.model.sampling_), float(training.grid.noise) ** 2
    ratios = [np.log1p(rate * np.expm1((2 * sign * moved - 1) / (2 * variance))) for sign in (1, -1)]
    return (ratios[0] - ratios[1] if setting.unit == "replace one" else ratios[0]).sum(axis=0)


# --- trainings that do not keep what they claim --------------------------------------------------


@contextmanager
def nothing(setting):
    """As it is."""
    yield


@contextmanager
def weak_noise(setting):
    """An eighth of the noise."""
    right = GridNoise.draw
    with mock.patch.object(GridNoise, "draw", lambda *given: right(*given) // 8):
        yield


@contextmanager
def half_noise(setting):
    """Half of the noise, as where replacing a row is counted like adding one."""
    right = GridNoise.draw
    with mock.patch.object(GridNoise, "draw", lambda *given: right(*given) // 2):
        yield


@contextmanager
def no_noise(setting):
    """Steps without any noise."""
    with mock.patch.object(GridNoise, "draw", lambda _, size, source: np.zeros(size, dtype=np.int64)):
        yield


@contextmanager
def no_clip(setting):
    """Gradients a hundred times longer than the noise was made for."""
    home, name = (logistic, "Steps") if setting.model == "logistic" else (fermi_training, "Clipped")
    right = getattr(home, name)

    def loose(*given, **named):
        made = right(*given, **named)
        if setting.model == "logistic":
            return replace(made, clip=100 * made.clip, reach=100 * made.reach)
        clips, reaches = (tuple(100 * each for each in pair) for pair in (made.clips, made.reaches))
        return replace(made, clips=clips, reaches=reaches)

    with mock.patch.object(home, name, loose):
        yield


@contextmanager
def everybody_joins(setting):
    """Every row in every batch, while the accounting counts on one in `part`."""
    home = logistic if setting.model == "logistic" else fermi_training

    def everybody(schedule, rows, **_):
        for _ in range(schedule.steps):
            yield np.arange(rows)

    with mock.patch.object(home, "batches", everybody):
        yield


BROKEN = {
    None: nothing,
    "no noise": no_noise,
    "no clip": no_clip,
    "an eighth of the noise": weak_noise,
    "everybody joins": everybody_joins,
    "half of the noise": half_noise,
}
"""All but the last are seen at a claimed epsilon of 1/2; half of the noise is too little to be seen there."""

BROKEN_CELLS = tuple(
    (Setting(model, part=8 if broken == "everybody joins" else 1), broken)
    for broken in BROKEN
    if broken is not None
    for model in ("logistic", "fermi")
)
