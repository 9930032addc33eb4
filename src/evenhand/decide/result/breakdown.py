"""A result for classes of entities: small and large ones, or those that share a label."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.decide.result.decided import BANNER
from evenhand.errors import InvalidParameterError
from evenhand.measure.text_tables import aligned, html_table
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.decide.result.decided import Decided
    from evenhand.table.frames import Backend

__all__ = ["Breakdown", "EntityClass", "break_down"]

_MOST_BINS = 1_000


@dataclass(frozen=True)
class EntityClass:
    """Some entities and what noise does to them on average.

    Parameters
    ----------
    label : str
        Which entities.
    entities : int
        How many.
    mean_truth : float
        Their average true share, or the part of them for which the rule holds.
    mean_bias : float
        Their average bias.
    mean_error : float
        Their average absolute bias; for a rule, their average probability of flipping.
    greatest_error : float
        The greatest absolute bias among them.
    total_bias : float
        The sum of their biases: for shares, the part of the budget that moves to them.
    money : float or None
        `total_bias` in money; None without a budget.
    standard_error : float or None
        That of `mean_bias`; an upper limit where the entities share noise. None where exact.
    """

    label: str
    entities: int
    mean_truth: float
    mean_bias: float
    mean_error: float
    greatest_error: float
    total_bias: float
    money: float | None
    standard_error: float | None


@dataclass(frozen=True)
class Breakdown:
    """The classes of a result, see :meth:`~evenhand.decide.result.decided.Decided.by`.

    Parameters
    ----------
    what : str
        What the classes are made of.
    kind : {"rule", "allotment"}
        What was decided.
    classes : tuple of EntityClass
        The classes that hold entities, in order.
    """

    what: str
    kind: Literal["rule", "allotment"]
    classes: tuple[EntityClass, ...]
    banner: str = BANNER

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each class; the banner is a column."""
        from evenhand.table.frames import make_frame  # noqa: PLC0415 - only when asked for

        names = list(EntityClass.__dataclass_fields__)
        columns = {name: [getattr(each, name) for each in self.classes] for name in names}
        kept = {name: values for name, values in columns.items() if values and values[0] is not None}
        return make_frame(kept | {"banner": [self.banner] * len(self.classes)}, backend=backend)

    def __len__(self) -> int:
        return len(self.classes)

    def __str__(self) -> str:
        return "\n".join([self.banner, "", *aligned(self._rows())])

    def _repr_html_(self) -> str:
        banner = f'<p role="note"><strong>{escape(self.banner)}</strong></p>'
        return f"<div>{banner}{html_table(self._rows())}</div>"

    def _rows(self) -> list[list[str]]:
        flips = self.kind == "rule"
        heads = (
            ["true yes", "mean flip", "greatest flip"] if flips else ["mean share", "mean bias", "greatest"]
        )
        money = [] if flips or not self.classes or self.classes[0].money is None else ["money"]
        rows = [[self.what, "entities", *heads, *money]]
        for each in self.classes:
            middle = each.mean_error if flips else each.mean_bias
            numbers = [f"{value:.4g}" for value in (each.mean_truth, middle, each.greatest_error)]
            rows.append(
                [each.label, f"{each.entities:,}", *numbers, *([f"{each.money:,.0f}"] if money else [])]
            )
        return rows


def break_down(decided: Decided, what: str | Sequence[Any], *, bins: int | Sequence[float] = 5) -> Breakdown:
    """Return the classes of a result; see :meth:`~evenhand.decide.result.decided.Decided.by`."""
    if isinstance(what, str):
        labels, places = _binned(_counts(decided, what), bins)
        named = what
    else:
        labels, places = _labelled(what, len(decided))
        named = "label"
    inside = [(label, places == number) for number, label in enumerate(labels)]
    made = tuple(_summed(decided, label, which) for label, which in inside if which.any())
    return Breakdown(visible(named), decided.kind, made)


def _counts(decided: Decided, what: str) -> NDArray[Any]:
    if what in decided.counts:
        return decided.counts[what]
    if what == "size" and decided.counts:
        sizes: NDArray[Any] = np.max(np.stack(list(decided.counts.values())), axis=0)
        return sizes
    listed = ", ".join(f"'{name}'" for name in ("size", "group", *decided.counts))
    must_be = f"one of {listed}, or one label for each entity"
    raise InvalidParameterError("what", owner="Decided.by", must_be=must_be, got=what)


def _binned(sizes: NDArray[Any], bins: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels of the classes and the class of each entity."""
    number = int(bins) if isinstance(bins, int | np.integer) and not isinstance(bins, bool) else 0
    if 1 <= number <= _MOST_BINS:
        ranks = (np.arange(1, number) * len(sizes)) // number
        starts = np.unique(np.sort(sizes)[ranks]) if len(sizes) else np.zeros(0)
    else:
        starts = _starts(bins)
    places = np.searchsorted(starts, sizes, side="right").astype(np.int64)
    labels = []
    for place in range(len(starts) + 1):
        inside = sizes[places == place]
        labels.append(_range(inside.min(), inside.max()) if inside.size else "")
    return labels, places


def _range(low: Any, high: Any) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _starts(bins: Any) -> NDArray[np.float64]:
    array = np.asarray(bins if isinstance(bins, list | tuple | np.ndarray) else [])
    good = array.ndim == 1 and array.size and array.dtype.kind in "fiu" and bool((np.diff(array) > 0).all())
    if not good or not np.isfinite(array).all():
        must_be = f"a whole number from 1 to {_MOST_BINS}, or rising numbers at which classes begin"
        raise InvalidParameterError("bins", owner="Decided.by", must_be=must_be, got="something else")
    return array.astype(np.float64)


def _labelled(what: Sequence[Any], size: int) -> tuple[list[str], NDArray[np.int64]]:
    texts = [str(each) for each in what]
    if len(texts) != size:
        must_be = "one label for each entity"
        raise InvalidParameterError("what", owner="Decided.by", must_be=must_be, got="another number of them")
    order = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [visible(each) for each in order], np.array([order[text] for text in texts], dtype=np.int64)


def _summed(decided: Decided, label: str, inside: NDArray[np.bool_]) -> EntityClass:
    number = int(inside.sum())
    bias, errors = decided.bias[inside], decided.standard_error
    total = float(bias.sum())
    if errors is None:
        spread = None
    elif decided.coupled:
        spread = float(errors[inside].sum()) / number
    else:
        spread = float(np.sqrt((errors[inside] ** 2).sum())) / number
    return EntityClass(
        label=label,
        entities=number,
        mean_truth=float(decided.truth[inside].mean()),
        mean_bias=total / number,
        mean_error=float(np.abs(bias).mean()),
        greatest_error=float(np.abs(bias).max()),
        total_bias=total,
        money=None if decided.budget is None else total * decided.budget,
        standard_error=spread,
    )
