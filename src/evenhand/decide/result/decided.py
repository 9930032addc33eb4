"""A result: its figures broken down, and shown as text, HTML and a frame; the banner is always there."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import aligned, html_table
from evenhand.decide.result.breakdown import Breakdown, GroupShares, break_down, group_shares
from evenhand.decide.result.figures import Affected, EntityFigures
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.table.frames import Backend

_SHOWN = 10


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Decided(EntityFigures):
    r"""Hold what noise does to a rule or an allotment, one entry for each entity.

    :func:`~evenhand.decide.bias` makes it.

    Parameters
    ----------
    kind : {"rule", "allotment"}
        Whether the entities get a yes or no, or a share.
    problem, noise : str
        The formula and the noise, in words.
    names : sequence of str
        The entities.
    truth : array
        True decisions (bool) or shares (float).
    bias : array
        Expected decision or share minus the true one. For a rule it is minus the probability of a flip where
        the rule holds, and plus where it does not.
    variance : array, or a function without arguments that returns one
        The variance of the decision or share. A function is called when the variance is first asked for.
    method : str
        How the bias was found, in words.
    standard_error : array, optional
        That of the bias, where it was sampled.
    draws : int, optional
        How many releases were drawn, where it was sampled.
    error_bound : array, optional
        How far an exact bias may be from the truth: rounding and what a series leaves out. It is proved
        unless `method` says that it is estimated.
    counts : mapping of str to array
        The true counts the problem reads.
    populations : mapping of str to array
        How many people of each group live in each entity.
    budget : float, optional
        What is divided, for an allotment.
    approximate : bool
        Whether the bias is an approximation whose error is only estimated.
    coupled : bool
        Whether the entities share noise, so that what happens to one tells about another.
    notes : sequence of str
        What a reader must know, such as that an expectation does not exist.
    payments : Payments, optional
        The law of single releases of an allotment; None where it is not known.

    Attributes
    ----------
    banner : str
        That this is not for publication.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.decide.result.bias import bias
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> decided = bias(Allotment([1, 1, 1], budget=1_000_000), [40, 60, 900], DiscreteLaplace(10))
    >>> decided.misallocated().round(2)
    array([-176.28, -164.26,  340.54])
    >>> f"{decided.alpha:.2e} {decided.cost():.2f}"
    '5.17e-04 340.54'
    """

    def by(self, what: str | Sequence[Any], *, bins: int | Sequence[float] = 5) -> Breakdown | GroupShares:
        """Return the same figures for classes of entities, or for groups of people.

        Parameters
        ----------
        what : {"size", "group"}, name of a count, or one label for each entity
            ``"size"`` makes classes of the greatest count that the problem reads of each entity; the name of
            a count makes classes of that count; labels make a class each. ``"group"`` gives what each group
            of people gains and loses, see :func:`~evenhand.decide.result.breakdown.group_shares`.
        bins : int or sequence of number
            How many classes of about equally many entities, or where classes begin.
        """
        if isinstance(what, str) and what == "group" and what not in self.counts:
            return group_shares(self)
        return break_down(self, what, bins=bins)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each entity; the banner is a column.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default pandas where it is installed, else pyarrow.
        """
        from evenhand.table.frames import make_frame  # noqa: PLC0415 - starts pyarrow

        columns: dict[str, Any] = {
            "entity": list(self.names),
            "truth": self.truth,
            "expected": self.expected,
            "bias": self.bias,
            "variance": self.variance,
            "disparity": self.disparity,
        }
        if self.kind == "rule":
            columns["flip"] = self.flip
        if self.budget is not None and self.kind == "allotment":
            columns["money"] = self.misallocated()
        for name in ("standard_error", "error_bound"):
            values = getattr(self, name)
            if values is not None:
                columns[name] = values
        columns |= {name: [getattr(self, name)] * len(self) for name in ("method", "banner")}
        return make_frame(
            {name: np.array(column).tolist() for name, column in columns.items()}, backend=backend
        )

    def __repr__(self) -> str:
        return f"<Decided: {self.kind} of {len(self):,} entities, {self.method}. {self.banner}>"

    def __str__(self) -> str:
        lines = [self.banner, "", *_sentences(self), ""]
        if len(self):
            lines += [_heading(self), *aligned(_rows(self)), ""]
        return "\n".join([*lines, self.banner])

    def _repr_html_(self) -> str:
        banner = f'<p role="note"><strong>{escape(self.banner)}</strong></p>'
        sentences = "".join(f"<p>{escape(line)}</p>" for line in _sentences(self))
        table = f"<p>{escape(_heading(self))}</p>{html_table(_rows(self))}" if len(self) else ""
        return f"<div>{banner}{sentences}{table}</div>"


def _sentences(decided: Decided) -> list[str]:
    how = decided.method if decided.draws is None else f"{decided.method}, {decided.draws:,} draws"
    problem = "Rule" if decided.kind == "rule" else "Allotment"
    sentences = [
        f"{problem}: {visible_formula(decided.problem)}",
        f"Noise: {visible_formula(decided.noise)}. Found by: {how}.",
        f"Entities: {len(decided):,}. Alpha, the greatest difference between two: {decided.alpha:.4g}.",
    ]
    if decided.kind == "rule":
        holds = int(decided.truth.sum())
        refused, granted = decided.flip[decided.truth].sum(), decided.flip[~decided.truth].sum()
        sentences.append(
            f"The rule truly holds for {holds:,}. Expected to be wrongly refused: {refused:,.4g}; "
            f"wrongly granted: {granted:,.4g}."
        )
    elif decided.budget is not None:
        sentences.append(
            f"Of a budget of {decided.budget:,.0f}, {decided.moved():,.2f} ends up elsewhere on average; "
            f"making up for all losses costs {decided.cost():,.2f}."
        )
    if decided.draws is not None:
        sentences.append("From draws, alpha and sums of losses come out too large on average.")
    return sentences + list(decided.notes)


def visible_formula(text: str) -> str:
    """Return a text of one line in which everything can be seen, at full length."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _heading(decided: Decided) -> str:
    return f"The {min(_SHOWN, len(decided))} most affected of {len(decided):,}:"


def _rows(decided: Decided) -> list[list[str]]:
    money = decided.budget is not None and decided.kind == "allotment"
    heads = ["truth", "probability of a flip"] if decided.kind == "rule" else ["true share", "bias"]
    sampled = [] if decided.standard_error is None else ["standard error"]
    rows = [["entity", *heads, *(["money"] if money else []), *sampled]]
    return rows + [_row(decided, entity, money=money) for entity in decided.most_affected(_SHOWN)]


def _row(decided: Decided, entity: Affected, *, money: bool) -> list[str]:
    if decided.kind == "rule":
        cells = ["yes" if entity.truth else "no", f"{abs(entity.bias):.4f}"]
    else:
        cells = [f"{entity.truth:.6g}", f"{entity.bias:.4g}"]
    if money:
        cells.append(f"{entity.money:,.2f}")
    if entity.standard_error is not None:
        cells.append(f"{entity.standard_error:.2g}")
    return [visible(entity.name), *cells]
