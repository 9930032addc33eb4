"""Training DPFermi in its two ways: clipped, with a guarantee, or as published, without one.

No message about its groups and settings holds a label or a number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._validate import kind_of, one_of, refuse
from evenhand.errors import InvalidParameterError
from evenhand.learn.columns import (
    declare_groups,
    encode_row_groups,
    places_among_groups,
    require_length,
)
from evenhand.learn.fermi.printed import PrintedSettings, published_noise, train_printed
from evenhand.learn.fermi.steps import Clipped, sparse_rows, train
from evenhand.learn.training.descent import batches, noises, plan
from evenhand.learn.training.private_rows import assumptions_about, positive
from evenhand.measure.columns import encode_labels, read_column
from evenhand.privacy.accounting import LARGEST_EPSILON
from evenhand.privacy.grid_noise import Block, training_guarantee
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import exact
from evenhand.privacy.sampling import discrete_laplace
from evenhand.privacy.scales import laplace_noise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.random import Generator
    from numpy.typing import NDArray

    from evenhand.learn.training.descent import Schedule
    from evenhand.privacy.grid_noise import TrainingGuarantee
    from evenhand.privacy.randomness import Source

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

OWNER = "DPFermi"
PUBLISHED = "published formula, relies on an assumed Lipschitz bound"
"""What is said wherever the published epsilon stands; it is never a guarantee."""

_UNITS = (Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE)
_COLUMNS = ("features", "label", "group")
_USUAL: dict[str, Any] = {"clip": 1.0, "rate": 4.0, "matrix_rate": 0.5, "average": True}
_PRINTED: dict[str, Any] = {"clip": 5.0, "rate": 0.005, "matrix_rate": 0.01, "average": False}
_MOST_STRENGTH = 10**6


class Examples(NamedTuple):
    """The rows: inputs with a constant in the last column, labels 0 and 1, places of the groups."""

    inputs: Floats
    labels: Integers
    codes: Integers
    groups: int

    def where(self, kept: NDArray[np.intp] | slice) -> Examples:
        """Return some of the rows."""
        return self._replace(inputs=self.inputs[kept], labels=self.labels[kept], codes=self.codes[kept])


@dataclass(frozen=True, eq=False)
class Trained:
    """What training came to, and the public numbers it was done with."""

    weights: Floats
    matrix: Floats
    shares: Floats
    noise: float
    steps: int
    sampling: Fraction
    published: dict[str, Any] | None = None


@dataclass(frozen=True)
class Budget:
    """The scale of the noise on the group counts, the noise of the steps, and how they are made."""

    scale: Fraction
    steps: TrainingGuarantee
    settings: Clipped


def setting(model: Any, name: str) -> Any:
    """Return a parameter of the model, or what is usual in its place."""
    given = getattr(model, name)
    value = (_PRINTED if model.as_printed else _USUAL)[name] if given is None else given
    if name != "average":
        return _positive(name, value)
    if not isinstance(value, (bool, np.bool_)):
        refuse("average", OWNER, "True or False", value)
    return bool(value)


def _positive(name: str, value: Any) -> Fraction:
    return positive(name, value, owner=OWNER, least=1e-9, most=1e9)


def _strength(model: Any) -> float:
    return float(exact(model.strength, name="strength", owner=OWNER, least=0, most=_MOST_STRENGTH))


# --- with a guarantee ----------------------------------------------------------------------------------


def budget_of(model: Any, schedule: Schedule, *, width: int, cells: int) -> Budget:
    """Return the noise that keeps counts and steps together within epsilon and delta.

    Every public number is looked at here, so that nothing is spent on one that is refused.
    """
    unit = Unit(one_of("unit", model.unit, _UNITS, owner=OWNER))
    whole = exact(model.epsilon, name="epsilon", owner=OWNER, above=0, most=LARGEST_EPSILON)
    delta = exact(model.delta, name="delta", owner=OWNER, above=0, most=1)
    part = exact(model.group_epsilon, name="group_epsilon", owner=OWNER, above=0)
    share = exact(model.share, name="share", owner=OWNER, above=0)
    if part >= whole:
        refuse("group_epsilon", OWNER, "below 'epsilon', of which it is a part", model.group_epsilon)
    if share >= 1:
        refuse("share", OWNER, "between 0 and 1", model.share)
    counted = laplace_noise(part, sensitivity=_cells_moved(unit, model.rows_per_person))
    blocks = [
        Block(width, setting(model, "clip"), share),
        Block(2 * cells, _positive("matrix_clip", model.matrix_clip), 1 - share),
    ]
    steps = training_guarantee(
        whole - counted.epsilon,
        delta,
        sampling=schedule.sampling,
        steps=schedule.steps,
        unit=unit,
        rows_per_person=model.rows_per_person,
        blocks=blocks,
    )
    return Budget(counted.scale, steps, _settings(model, steps, schedule, width))


def _settings(model: Any, steps: TrainingGuarantee, schedule: Schedule, width: int) -> Clipped:
    first, second = steps.grids
    return Clipped(
        width=width,
        strength=_strength(model),
        clips=(float(first.clip), float(second.clip)),
        reaches=(first.longest, second.longest),
        rates=(float(setting(model, "rate")), float(setting(model, "matrix_rate"))),
        batch=schedule.batch,
        radius=float(_positive("radius", model.radius)),
        average=setting(model, "average"),
    )


def promise_of(model: Any, budget: Budget, schedule: Schedule) -> Guarantee:
    """Return what counts and steps promise together."""
    unit = budget.steps.unit
    counted = Guarantee.pure(
        _cells_moved(unit, budget.steps.rows_per_person) / budget.scale,
        unit=unit,
        trust="central",
        protects=_COLUMNS[2:],
        proof="discrete Laplace noise on the group counts",
    )
    assumed = assumptions_about(
        preprocessing=model.preprocessing, rows=model.rows, classes=model.classes, owner=OWNER
    )
    listed = ("which groups there are is public",) if model.groups is None else ()
    return counted + budget.steps.guarantee(
        protects=_COLUMNS,
        in_clear=("people scored later",),
        assumptions=(*assumed, *listed),
        people=schedule.rows if model.rows_per_person == 1 else None,
    )


def train_clipped(model: Any, rows: Examples, budget: Budget, schedule: Schedule, source: Source) -> Trained:
    """Train on clipped rows with exact noise."""
    odds, (first, second) = model.kind == "odds", budget.steps.grids
    kinds, width = 2 if odds else 1, rows.inputs.shape[1]
    stored = sparse_rows(rows.inputs, rows.labels, rows.codes, odds=odds)
    shares = noisy_shares(rows.codes, stored.kinds, (kinds, rows.groups), scale=budget.scale, source=source)
    shape, steps = (kinds, 2 * rows.groups), schedule.steps
    weights, matrix = train(
        stored,
        shares,
        batches(schedule, len(rows.inputs), source=source, progress=model.progress),
        zip(
            noises(lambda size: first.draw(size, source), (width,), steps),
            noises(lambda size: second.draw(size, source), shape, steps),
            strict=True,
        ),
        budget.settings,
        schedule=schedule,
    )
    return Trained(weights, matrix, shares, float(budget.steps.noise), steps, schedule.sampling)


def _cells_moved(unit: Unit, rows_per_person: int) -> int:
    """Return by how much one person moves the counts in all: each row is in one of them."""
    return (2 if unit is Unit.REPLACE_ONE else 1) * rows_per_person


# --- as published --------------------------------------------------------------------------------------


def train_published(model: Any, rows: Examples, source: Source) -> Trained:
    """Train with the published noise; see :mod:`~evenhand.learn.fermi.printed`."""
    n, counts = len(rows.inputs), np.bincount(rows.codes, minlength=rows.groups)
    if counts.min() < 2:
        refuse(
            "group",
            f"{OWNER}.fit",
            "such that every group has two rows at least, with 'as_printed'",
            "a group with fewer",
        )
    schedule = plan(n, batch=model.batch, epochs=model.epochs, owner=OWNER)
    settings = PrintedSettings(
        mode="thesis" if model.as_printed == "thesis" else "paper",
        epochs=model.epochs,
        batch=schedule.batch,
        rates=(float(setting(model, "rate")), float(setting(model, "matrix_rate"))),
        bound=float(setting(model, "clip")),
        radius=float(_positive("radius", model.radius)),
        average=setting(model, "average"),
    )
    epsilon = float(exact(model.epsilon, name="epsilon", owner=OWNER, above=0))
    delta = float(exact(model.delta, name="delta", owner=OWNER, above=0, most=1))
    noise = published_noise(
        epsilon,
        delta,
        rows=n,
        steps=settings.steps(n),
        smallest=(int(counts.min()) - 1) / n,
        bound=settings.bound,
        radius=settings.radius,
    )
    shares = counts / n
    weights, matrices = train_printed(
        *rows[:3],
        shares,
        strengths=np.array([_strength(model)]),
        noise=noise,
        settings=settings,
        generator=_generator(source),
        progress=model.progress,
    )
    published = {"formula": PUBLISHED, "epsilon": epsilon, "delta": delta, "unit": str(Unit.REPLACE_ONE)}
    published |= {"weights_noise": noise[0], "matrix_noise": noise[1]}
    return Trained(
        weights[0],
        matrices,
        shares[None],
        noise[0],
        settings.steps(n),
        schedule.sampling,
        published=published,
    )


def no_promise() -> Guarantee:
    """Return the statement that goes with the published noise; what it rests on is said in `published_`."""
    return Guarantee.no_guarantee(unit=Unit.REPLACE_ONE, in_clear=_COLUMNS)


def _generator(source: Source) -> Generator:
    """Return a numpy generator for what is a simulation whatever the source."""
    if isinstance(source, SeededSource):
        return source.generator()
    return SeededSource(int.from_bytes(source.words(4).tobytes(), "little")).generator()


# --- groups -------------------------------------------------------------------------------------------

MOST_GROUPS = 1_000


def public_groups(groups: Sequence[Any] | None, *, owner: str) -> list[Any] | None:
    """Return the declared groups in the order given, at least two; None if none are declared."""
    if groups is None:
        return None
    must_be = "a list of two groups or more, each once and all of one type"
    listed = declare_groups(groups)
    if isinstance(listed, list | tuple) and listed and all(isinstance(label, tuple) for label in listed):
        if not 2 <= len(set(listed)) == len(listed) <= MOST_GROUPS:
            refuse("groups", owner, must_be, "others")
        return list(listed)
    try:
        column = read_column(groups, name="groups", owner=owner)
        seen = encode_labels(column, name="groups", owner=owner)[1]
    except InvalidParameterError:
        refuse("groups", owner, must_be, kind_of(groups))
    if not 2 <= len(seen) <= MOST_GROUPS or len(seen) != len(column):
        refuse("groups", owner, must_be, "others")
    return list(column.tolist())


def read_groups(
    group: Any,
    rows: int,
    *,
    owner: str,
    groups: list[Any] | None,
    columns: tuple[str, ...] | None = None,
) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the place of each row's group among the groups, and the groups.

    Parameters
    ----------
    group : array, column, mapping or frame
        One label for each row, or the columns whose combinations are the groups.
    rows : int
        How many there must be.
    owner : str
        Who asks, for messages.
    groups : list, optional
        The public groups. Without them they are read from the rows, where two at least must occur.
    columns : tuple of str, optional
        The columns that the public groups are combinations of, where they are named.
    """
    if group is None:
        refuse("group", owner, "given: the group of each row", "nothing")
    if groups is not None:
        must_be = "labels that are among 'groups'"
        places = places_among_groups(group, groups, owner=owner, must_be=must_be, columns=columns, rows=rows)
        return places.astype(np.int64), groups
    codes, seen, _ = encode_row_groups(group, owner=owner)
    require_length("group", len(codes), rows, owner=owner)
    if not 2 <= len(seen) <= MOST_GROUPS:
        hint = "name the groups with groups=[...] if one of them may have no rows; cut numbers into classes."
        must_be = f"labels of at least two groups, and of at most {MOST_GROUPS:,}"
        refuse("group", owner, must_be, "one group" if len(seen) < 2 else "more groups", hint=hint)
    return codes.astype(np.int64), seen


def noisy_shares(
    groups: NDArray[np.int64],
    kinds: NDArray[np.int16],
    shape: tuple[int, int],
    *,
    scale: Fraction,
    source: Source,
) -> NDArray[np.float64]:
    """Return the share of each group, within each kind of row, from counts with discrete Laplace noise.

    A row is in one cell of the table, so adding or removing a row moves one count by 1. Counts below 1 are
    set to 1: no share is 0.
    """
    counts = np.bincount(kinds.astype(np.int64) * shape[1] + groups, minlength=shape[0] * shape[1]).reshape(
        shape
    )
    noisy = np.maximum(counts + discrete_laplace(scale, size=shape, source=source), 1)
    return np.asarray(noisy / noisy.sum(axis=1, keepdims=True))
