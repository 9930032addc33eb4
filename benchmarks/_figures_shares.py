"""What each change from the thesis's configuration to ours is worth: one after the other, and one taken back.

The classifier alone is measured, before post-processing, since finishing would hide the gaps. Epsilon is 3.
"thesis" is the program of the thesis (one term of the penalty, noise by the published formula, the mean
gradient clipped, shuffled batches, step sizes .005 and .01, the last weights) at its largest strength, 2.5.
"""

import numpy as np
from _figures_data import measures

from evenhand.learn.fermi.printed import PrintedSettings, published_noise, train_printed
from evenhand.learn.fermi.steps import Clipped, sparse_rows, train
from evenhand.learn.fermi.training import budget_of
from evenhand.learn.training.descent import batches, plan
from evenhand.privacy.randomness import SeededSource

EPSILON, DELTA, GRID = 3, 1e-5, 1 << 14
THESIS = {
    "penalty": "thesis", "clipping": "mean", "noise": "published", "rates": "thesis", "average": False,
    "strength": 2.5,
}  # fmt: skip
OURS = {
    "penalty": "full", "clipping": "rows", "noise": "accounted", "rates": "ours", "average": True,
    "strength": None,
}  # fmt: skip
TOLD = {
    "penalty": "the whole penalty",
    "clipping": "every row clipped, random batches",
    "noise": "exact accounting",
    "rates": "step sizes",
    "average": "mean of the last half",
    "strength": "strength",
}


def configurations():
    """Yield a name and a configuration: the way from theirs to ours, then ours with one change taken back."""
    made = dict(THESIS)
    yield "thesis", made
    for part, told in TOLD.items():
        made = made | {part: OURS[part]}
        yield f"+ {told}", made
    for part, told in TOLD.items():
        if part != "clipping":  # without it the noise is not accounted for
            yield f"ours without: {told}", OURS | {part: THESIS[part]}
    yield (
        "ours without: every row clipped, exact accounting",
        OURS | {"clipping": "mean", "noise": "published"},
    )


def trained(made, data, rows, model, *, seed):
    """Return the weights that a configuration comes to; the last one is the constant."""
    features, y, group = data.at(rows)
    wide, codes = np.column_stack([features, np.ones(len(y))]), 1 - group  # men are coded first
    strength = model.strength if made["strength"] is None else made["strength"]
    ours = made["rates"] == "ours"
    rates = (4.0, 0.5 / strength) if ours else (0.005, 0.01)  # printed steps in W are times the strength
    smallest = (np.bincount(codes).min() - 1) / len(y)
    schedule = plan(len(y), batch=None, epochs=50, owner="figures")
    noise = published_noise(EPSILON, DELTA, rows=len(y), steps=schedule.steps, smallest=smallest)
    generator = np.random.default_rng(seed)
    if made["clipping"] == "mean" or made["penalty"] == "thesis":
        mode = "thesis" if made["penalty"] == "thesis" else "paper"
        if made["noise"] == "accounted":  # of the size that clipped rows would need; nothing is guaranteed
            noise = _accounted(model, schedule, wide.shape[1])
        settings = PrintedSettings(mode, rates=rates, average=made["average"])
        shares = np.bincount(codes) / len(y)
        return train_printed(
            wide, y, codes, shares, strengths=np.array([strength]), noise=noise, settings=settings,
            generator=generator,
        )[0][0]  # fmt: skip
    if made["noise"] == "accounted":
        noise = _accounted(model, schedule, wide.shape[1])
    clips = (1.0, 4.0)
    steps = Clipped(
        width=wide.shape[1], strength=strength, clips=clips, reaches=(GRID, GRID),
        rates=(rates[0], rates[1] * strength), batch=schedule.batch, average=made["average"],
    )  # fmt: skip
    scales = [noise[part] * schedule.batch * GRID / clips[part] for part in (0, 1)]
    draws = (
        (_whole(generator, scales[0], wide.shape[1]), _whole(generator, scales[1], (1, 4)))
        for _ in range(schedule.steps)
    )
    shares = np.bincount(codes)[None] / len(y)
    source = SeededSource(seed)
    return train(
        sparse_rows(wide, y, codes),
        shares,
        batches(schedule, len(y), source=source),
        draws,
        steps,
        schedule=schedule,
    )[0]


def _accounted(model, schedule, width):
    """Return the noise on the mean gradients that the accounting asks for."""
    first, second = budget_of(model, schedule, width=width, cells=2).steps.grids
    return float(first.noise * first.clip) / schedule.batch, float(
        second.noise * second.clip
    ) / schedule.batch


def _whole(generator, scale, shape):
    return np.rint(generator.normal(0, scale, shape)).astype(np.int64)


def judged(weights, data, rows):
    features, y, group = data.at(rows)
    return measures((features @ weights[:-1] + weights[-1] > 0).astype(int), y, group)
