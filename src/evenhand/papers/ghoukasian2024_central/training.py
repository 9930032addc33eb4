"""The runs behind tables 3.1 to 3.4 of ghoukasian2024: DP-SGD with Algorithm 2, and DP-FERMI.

A trial is one of the ten runs on one file: both epsilons of its two tables. The rows for training, for the
rates and for the test are the same in all of them, as in the published code, so that a spread over runs is
that of starts and noise alone.

DP-SGD is run from small random weights and from 0. At a learning rate of 0.01 training ends far from the
optimum, so that where it starts can be seen in the result. The thesis used a library whose layers start at
random; evenhand's classifier starts at 0.

Means and standard deviations of the scaling and the vocabularies of the one-hot columns are taken from all
rows, test rows included, without any noise: that is the method of the thesis, and no epsilon covers it.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from evenhand import datasets
from evenhand.errors import PrivacyWarning
from evenhand.learn.fermi.printed import PrintedSettings, published_noise, train_printed
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.learn.training import descent
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.papers.ghoukasian2024_central import accounting as printed
from evenhand.papers.ghoukasian2024_central.accounting import TABLES
from evenhand.papers.paper import read_entries
from evenhand.papers.trials import Trials
from evenhand.privacy.grid_noise import training_guarantee
from evenhand.privacy.randomness import SeededSource
from evenhand.table import Table as Encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.papers.ghoukasian2024_central.accounting import Table

    Numbers = NDArray[Any]

# --- rows -----------------------------------------------------------------------------------------


SPLIT = 100  # the random state of the split into training and test rows
# Which group has the code 0; that cannot be decided without the file, whose order of rows decides it
FIRST = ("men", "women")

_TRAINING = 0.75


# The files by name. Which Adult file the thesis had cannot be decided without it
FILES = read_entries(__package__, "files")

_SOURCES = {"adult": "adult", "credit": "credit_default"}


class Rows(NamedTuple):
    """Everybody in a file: features without the group, labels of 0 and 1, and the group, 1 for women."""

    features: Numbers
    labels: Numbers
    group: Numbers

    def codes(self, first: str) -> Numbers:
        """Return the group with men or women as 0 and the others as 1."""
        found: Numbers = self.group if first == FIRST[0] else 1 - self.group
        return found

    def aware(self, first: str) -> Numbers:
        """Return the features with the group's code as the last of them."""
        return np.column_stack((self.features, self.codes(first).astype(float)))


class Parts(NamedTuple):
    """Which rows are for what: the training part, of it those for DP-SGD and for the rates, and the test."""

    training: Numbers
    fitting: Numbers
    rates: Numbers
    test: Numbers


@lru_cache(maxsize=2)
def load_rows(name: str) -> Rows:
    """Return the rows of a file."""
    file = FILES[name]
    pieces = [datasets.load(_SOURCES[file.dataset], backend="pyarrow", **options) for options in file.pieces]
    schema = pieces[0].schema
    tables = [Encoded.encode(piece.frame, schema).codes for piece in pieces]
    codes = {column.name: np.concatenate([table[column.name] for table in tables]) for column in schema}
    target, sex = str(schema.target), str(schema.protected)
    columns = [
        _columns(codes[column.name], scaled=column.name in file.scaled)
        for column in schema
        if column.name not in {target, sex}
    ]
    return Rows(
        np.column_stack(columns),
        (codes[target] == schema[target].domain.code(schema.positive)).astype(np.int64),
        (codes[sex] != schema[sex].domain.code(schema.privileged)).astype(np.int64),
    )


def _columns(codes: Numbers, *, scaled: bool) -> Numbers:
    """Return the inputs of a column: one of mean 0 and standard deviation 1, or one for each value seen."""
    values = codes.astype(float)
    if scaled:
        return np.asarray((values - values.mean()) / values.std())
    return np.asarray(codes[:, None] == np.unique(codes), dtype=float)


def split_rows(name: str) -> Parts:
    """Return how a file is divided: the same in all ten runs, as in the published code.

    Three quarters are drawn with random state 100 for training; of them two thirds are for DP-SGD and one
    third for the rates. The thesis drew the thirds without a seed.
    """
    every = np.arange(len(load_rows(name).labels))
    test, training = train_test_split(every, test_size=round(_TRAINING * len(every)), random_state=SPLIT)
    fitting, rates = train_test_split(training, test_size=len(training) // 3, random_state=SPLIT)
    return Parts(training, fitting, rates, test)


# --- DP-SGD -----------------------------------------------------------------------------------------


def _noise(table: Table) -> Fraction:
    return Fraction(str(table.noise)) / Fraction(str(printed.CLIP))


def from_zero(inputs: Numbers, labels: Numbers, table: Table, source: SeededSource) -> Any:
    """Return evenhand's classifier, trained with the settings of a table."""
    model = DPLogisticRegression(
        noise=_noise(table), delta="1e-5", clip=printed.CLIP, rate=printed.RATE, batch=printed.BATCH,
        epochs=table.epochs, average=False, classes=(0, 1), rng=source,
    )  # fmt: skip
    return model.fit(inputs, labels)


def from_random(inputs: Numbers, labels: Numbers, table: Table, source: SeededSource) -> Any:
    r"""Return a classifier with the same steps from uniform weights within :math:`\pm 1 / \sqrt{d}`.

    That is how the library of the thesis starts a layer of :math:`d` inputs. It is a plain classifier with
    the weights of the last step: what its training costs is in the accounting.
    """
    width = inputs.shape[1]
    schedule = descent.plan(len(inputs), batch=printed.BATCH, epochs=table.epochs, owner="from_random")
    made = training_guarantee(
        noise=_noise(table), delta="1e-5", sampling=schedule.sampling, steps=schedule.steps,
        unit="add or remove one", dimensions=width + 1, clip=Fraction(str(printed.CLIP)),
    )  # fmt: skip
    limit = 1 / math.sqrt(width)
    weights = descent.descend(
        descent.TrainingRows.of(inputs, labels, constant=True),
        source.generator().uniform(-limit, limit, size=(1, width + 1)),
        descent.batches(schedule, len(inputs), source=source),
        descent.noises(lambda size: made.grid.draw(size, source), (1, width + 1), schedule.steps),
        descent.Steps(printed.CLIP, made.grid.longest, printed.RATE, average=False),
        schedule=schedule,
    )
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), width
    model.coef_, model.intercept_ = weights[:, :width], weights[:, width]
    return model


# --- trials ---------------------------------------------------------------------------------------


RANDOM, ZERO = "from random weights", "from 0"
# Where DP-SGD starts: as the library of the thesis does, and as evenhand's classifier does
STARTS: dict[str, Callable[..., Any]] = {RANDOM: from_random, ZERO: from_zero}

_SEED = 2024


def training_name(file: str) -> str:
    """Return the name of the trials of a file."""
    return f"runs-{file}"


def training_trials(runs: int, files: tuple[str, ...] = tuple(FILES)) -> tuple[Trials, ...]:
    """Return the trials of some files."""
    return tuple(Trials(training_name(name), runs, partial(run_trial, name)) for name in files)


def run_trial(name: str, number: int) -> dict[str, Any]:
    """Return one run on a file: both methods in each of its tables."""
    data, divided = load_rows(name), split_rows(name)
    found: dict[str, Any] = {}
    with threadpool_limits(1):
        for key, table in TABLES.items():
            if table.dataset == FILES[name].dataset:
                source = SeededSource(_SEED, cell=f"ghoukasian2024 {name} {key} {number}")
                found[key] = {first: _run_methods(data, divided, table, source, first) for first in FIRST}
    return {
        "inputs": data.features.shape[1],
        "rows": len(data.labels),
        "majority": float(1 - data.labels[divided.test].mean()),
        "test": np.bincount(data.group[divided.test], minlength=2).tolist(),
        "tables": found,
    }


def _run_methods(
    data: Rows, divided: Parts, table: Table, source: SeededSource, first: str
) -> dict[str, Any]:
    own = source.for_cell(first)
    starts = {start: run_parity(data, divided, table, own, first=first, start=start) for start in STARTS}
    return {**starts, "fermi": run_fermi(data, divided, table, own, first=first)}


def measure_predictions(predictions: Numbers, data: Rows, test: Numbers) -> dict[str, float]:
    """Return accuracy, gap and the rate of ones of each group on the test rows."""
    men, women = (float(predictions[data.group[test] == code].mean()) for code in (0, 1))
    accuracy = float((predictions == data.labels[test]).mean())
    return {"acc": accuracy, "gap": abs(men - women), "men": men, "women": women}


# --- Algorithm 2 ----------------------------------------------------------------------------------


def run_parity(
    data: Rows, divided: Parts, table: Table, source: SeededSource, *, first: str, start: str
) -> dict[str, Any]:
    """Return one run of DP-SGD, before and after Algorithm 2.

    The post-processing is that of the thesis with each group's own size; see the departures.
    """
    inputs = data.aware(first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of an epsilon above 10: that is a result here
        model = STARTS[start](
            inputs[divided.fitting], data.labels[divided.fitting], table, source.for_cell(f"DP-SGD, {start}")
        )
        fair = ParityPostProcessor(
            model, gap=0.0, epsilon=table.rate_epsilon, weights="groups", groups=(0, 1), as_printed=True,
            held_out=True, rng=source.for_cell(f"Algorithm 2, {start}"),
        )  # fmt: skip
        fair.fit(inputs[divided.rates], group=data.group[divided.rates])
    told = inputs[divided.test]
    return {
        "before": measure_predictions(model.predict(told), data, divided.test),
        "after": measure_predictions(fair.predict(told, group=data.group[divided.test]), data, divided.test),
    }


# --- DP-FERMI -------------------------------------------------------------------------------------


class _Trained(NamedTuple):
    """Models of several lambdas, with the rows they were trained on, their constant and the noise."""

    inputs: Numbers
    labels: Numbers
    first: Numbers
    share: float
    strengths: Numbers
    weights: Numbers
    single: Numbers
    noise: tuple[float, float]

    def lengths(self) -> Numbers:
        """Return the length of every row's gradient in the weights, rows x lambdas."""
        chances = expit(self.inputs @ self.weights.T)
        member = self.first[:, None] / math.sqrt(self.share)
        bracket = 2 * self.single * member - self.single**2
        slopes = chances - self.labels[:, None] + self.strengths * bracket * chances * (1 - chances)
        found: Numbers = np.abs(slopes) * np.sqrt((self.inputs**2).sum(axis=1))[:, None]
        return found


def run_fermi(
    data: Rows, divided: Parts, table: Table, source: SeededSource, *, first: str
) -> dict[str, Any]:
    """Return one run of DP-FERMI for every lambda of a table, in the mode of the thesis.

    Its batches and noise are those of the published formula, which assumes a bound on every row's gradient.
    How far the rows are beyond it at the end of training is recorded; the epsilon is no guarantee.
    """
    trained = _train_fermi(data, divided, table, source, first)
    chances = expit(_with_constant(data.features[divided.test]) @ trained.weights.T)
    found = {
        strength: {
            **measure_predictions(said, data, divided.test),
            "longest": float(lengths.max()),
            "beyond": float((lengths > printed.LIPSCHITZ).mean()),
        }
        for strength, said, lengths in zip(table.strengths, chances.T > 0.5, trained.lengths().T, strict=True)
    }
    return {"noise": list(trained.noise), "lambdas": found}


def _train_fermi(data: Rows, divided: Parts, table: Table, source: SeededSource, first: str) -> _Trained:
    codes, labels = data.codes(first)[divided.training], data.labels[divided.training]
    inputs = _with_constant(data.features[divided.training])
    settings = PrintedSettings(
        mode="thesis", epochs=table.epochs, batch=printed.BATCH,
        rates=(printed.FERMI_RATE, printed.MATRIX_RATE), bound=printed.LIPSCHITZ, radius=printed.RADIUS,
    )  # fmt: skip
    shares = np.bincount(codes, minlength=2) / len(codes)
    noise = published_noise(
        float(table.epsilon), printed.DELTA, rows=len(codes), steps=settings.steps(len(codes)),
        smallest=float(shares.min()) - 1 / len(codes), bound=printed.LIPSCHITZ, radius=printed.RADIUS,
    )  # fmt: skip
    strengths = np.array([float(each) for each in table.strengths])
    weights, matrices = train_printed(
        inputs, labels, codes, shares,
        strengths=strengths, noise=noise, settings=settings, generator=source.generator(),
    )  # fmt: skip
    share, single = float(shares[0]), matrices[:, 0, 0]
    return _Trained(inputs, labels, codes == 0, share, strengths, weights, single, noise)


def _with_constant(features: Numbers) -> Numbers:
    return np.column_stack((features, np.ones(len(features))))
