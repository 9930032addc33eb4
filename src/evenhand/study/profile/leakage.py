"""Tell how well some columns tell another one, measured on rows that were held out.

A small decision tree learns the column from the others on one half of the rows, and guesses it on the other
half. It is compared with the guess that needs no column, the most common value. Each
leaf holds several people and no row is guessed from itself, so a combination that one person alone has does
not count as leakage. What is found is a lower bound: another way to guess may do better.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.facts import Leak

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.study.tasks.base import Prepared

_MOST_ROWS, _MOST_NUMBERS, _FEWEST_ROWS = 20_000, 5_000_000, 100
_MOST_VALUES, _MOST_NAMED = 20, 5
_LEAVES, _LEAF = 64, 5
_FURTHER = 2.576  # standard errors, 99 %
_LEAST = 0.1  # of the errors of the most common value
_WEIGHT = 0.02  # of a column in the tree, below which it is not named


def target_leaks(prepared: Prepared) -> tuple[Leak, ...]:
    """Return the columns each of which alone tells nearly everybody's outcome, but for those with a role.

    A tree names the few columns to try one by one. What it finds is taken away and a tree is grown again,
    because of two columns that tell the same a tree uses one.
    """
    schema = prepared.facts.schema
    target, roles = str(schema.target), {*schema.protected_columns, *schema.sensitive}
    inputs = {name: codes for name, codes in prepared.codes.items() if name not in roles}
    telling: list[Leak] = []
    while len(telling) < _MOST_NAMED:
        together = leak_of(target, prepared.target, inputs)
        names = () if together is None else together.by
        alone = [leak_of(target, prepared.target, {name: inputs[name]}) for name in names]
        full = [leak for leak in alone if leak is not None and leak.is_full]
        if not full:
            break
        telling += full
        inputs = {name: codes for name, codes in inputs.items() if (name,) not in [leak.by for leak in full]}
    return tuple(telling)


def leak_of(column: str, codes: NDArray[Any], clear: Mapping[str, NDArray[Any]]) -> Leak | None:
    """Return the leak of one column; None if it is not guessed clearly better than by its most common value.

    Examples
    --------
    >>> secret = np.arange(400) % 3
    >>> found = leak_of("race", secret, {"black": secret == 1, "asian": secret == 2, "row": np.arange(400)})
    >>> sorted(found.by), found.guessed
    (['asian', 'black'], 1.0)
    >>> leak_of("race", secret, {"row": np.arange(400)}) is None
    True
    """
    rows = min(len(codes), _MOST_ROWS, _MOST_NUMBERS // max(len(clear), 1))
    if rows < _FEWEST_ROWS or not clear:
        return None
    chosen = np.linspace(0, len(codes) - 1, rows).astype(np.intp)
    values = _common(codes[chosen])
    features = np.stack([np.asarray(array[chosen], dtype=np.float32) for array in clear.values()], axis=1)
    held = (SeededSource(0).for_cell("leakage").words(rows) & np.uint64(1)).astype(bool)
    if held.all() or not held.any():
        return None
    names = _telling(features[~held], values[~held], list(clear))
    if not names:
        return None
    places = [list(clear).index(name) for name in names]
    guess = _tree(features[~held][:, places], values[~held]).predict(features[held][:, places])
    usual = np.bincount(values[~held]).argmax()
    right, plain = ((each == values[held]) & (values[held] < _MOST_VALUES) for each in (guess, usual))
    gain = float(right.mean() - plain.mean())
    error = math.sqrt(float((right != plain).mean())) / math.sqrt(held.sum())
    if gain - _FURTHER * error <= 0 or gain < _LEAST * (1 - float(plain.mean())):
        return None
    return Leak(column, names, float(right.mean()), float(plain.mean()))


def _common(codes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of values by how common they are; rare ones have one place, which is never right."""
    _, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(rank[places], _MOST_VALUES)


def _tree(features: NDArray[np.float32], values: NDArray[np.intp]) -> Any:
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - slow to import

    return DecisionTreeClassifier(max_leaf_nodes=_LEAVES, min_samples_leaf=_LEAF, random_state=0).fit(
        features, values
    )


def _telling(
    features: NDArray[np.float32], values: NDArray[np.intp], names: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns by which a tree tells the values apart, the most telling first."""
    weights = _tree(features, values).feature_importances_
    order = np.argsort(-weights, kind="stable")[:_MOST_NAMED]
    return tuple(names[place] for place in order if weights[place] >= _WEIGHT)
