"""DP-SGD with the settings of ghoukasian2024, from small random weights and from 0.

At a learning rate of 0.01 training ends far from the optimum, so that where it starts can be seen in the
result. The thesis used a library whose layers start at random; evenhand's classifier starts at 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from evenhand.learn.training.descent import Rows, Steps, batches, descend, noises, plan
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.papers.ghoukasian2024_central import printed
from evenhand.privacy.grid_noise import training_guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.ghoukasian2024_central.printed import Table
    from evenhand.privacy.randomness import SeededSource

    Numbers = NDArray[Any]

__all__ = ["from_random", "from_zero"]


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
    schedule = plan(len(inputs), batch=printed.BATCH, epochs=table.epochs, owner="from_random")
    made = training_guarantee(
        noise=_noise(table), delta="1e-5", sampling=schedule.sampling, steps=schedule.steps,
        unit="add or remove one", dimensions=width + 1, clip=Fraction(str(printed.CLIP)),
    )  # fmt: skip
    limit = 1 / math.sqrt(width)
    weights = descend(
        Rows.of(inputs, labels, constant=True),
        source.generator().uniform(-limit, limit, size=(1, width + 1)),
        batches(schedule, len(inputs), source=source),
        noises(lambda size: made.grid.draw(size, source), (1, width + 1), schedule.steps),
        Steps(printed.CLIP, made.grid.longest, printed.RATE, average=False),
        schedule=schedule,
    )
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), width
    model.coef_, model.intercept_ = weights[:, :width], weights[:, width]
    return model
