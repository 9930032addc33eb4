"""Every mitigation that applies, beside the plain release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.language.rule import Rule
from evenhand.decide.mitigate.linear import linear_proxy
from evenhand.decide.mitigate.output import output_perturbation
from evenhand.decide.mitigate.payment import fairness_payment
from evenhand.decide.mitigate.piecewise import piecewise_proxy
from evenhand.decide.mitigate.plain import plain_release
from evenhand.decide.mitigate.shrink import DECISION, shrink
from evenhand.decide.mitigate.sum_constraint import sum_constraint
from evenhand.decide.result.decided import BANNER
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.measure.text_tables import aligned, html_table
from evenhand.privacy.laws import DiscreteLaplace, Laplace
from evenhand.privacy.rational import text_above
from evenhand.release.postprocess.steps import Nonnegative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.decide.mitigate.mitigation import Mitigation
    from evenhand.privacy.guarantees.units import Unit
    from evenhand.table.frames import Backend

__all__ = ["Comparison", "compare"]

_NOTHING = 1e-15  # part of a budget that is left of sums by rounding


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Mitigations side by side, the plain release first.

    Parameters
    ----------
    ways : tuple of Mitigation
        What is compared.
    budget : float, optional
        What is shared out, to tell in money.
    banner : str
        That this is not for publication.
    """

    ways: tuple[Mitigation, ...]
    budget: float | None = None
    banner: str = BANNER

    def __iter__(self) -> Iterator[Mitigation]:
        return iter(self.ways)

    def __len__(self) -> int:
        return len(self.ways)

    def __getitem__(self, name: str) -> Mitigation:
        for way in self.ways:
            if way.name == name:
                return way
        raise UnknownNameError("Mitigation", name, [way.name for way in self.ways], place="compared")

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each way; the banner is a column."""
        from evenhand.table.frames import make_frame  # noqa: PLC0415 - only when asked for

        columns: dict[str, list[Any]] = {
            "name": [way.name for way in self.ways],
            "epsilon": [_epsilon(way) for way in self.ways],
            "alpha": [way.alpha for way in self.ways],
            "moved": [way.moved for way in self.ways],
            "overspent": [way.overspent for way in self.ways],
            "mean_absolute_error": [way.mean_absolute_error for way in self.ways],
            "standard_error": [way.standard_error for way in self.ways],
            "method": [way.decided.method for way in self.ways],
            "words": [way.words for way in self.ways],
        }
        return make_frame(columns | {"banner": [self.banner] * len(self)}, backend=backend)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self)} ways. {self.banner}>"

    def __str__(self) -> str:
        return "\n".join([self.banner, *aligned(self._rows())])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.banner)}</p>{html_table(self._rows())}"

    def _rows(self) -> list[list[str]]:
        moved = "moved" if self.budget is None else "moved (money)"
        if any(way.decided.kind == "rule" for way in self.ways):
            moved = "wrong decisions"
        beyond = [] if moved == "wrong decisions" else ["beyond the budget"]
        rows = [["way", "guarantee", "alpha", moved, *beyond, "mean absolute error"]]
        for way in self.ways:
            amounts = [self._amount(way.moved), *([self._amount(way.overspent)] if beyond else [])]
            error = f"{way.mean_absolute_error:.3g}"
            rows.append([way.name, _promised(way), f"{way.alpha:.3g}", *amounts, error])
        return rows

    def _amount(self, part: float) -> str:
        if abs(part) < _NOTHING:
            part = 0.0
        return f"{part:.3g}" if self.budget is None else f"{part * self.budget:,.0f}"


def compare(
    problem: Any,
    data: Any,
    noise: Any,
    *,
    unit: Unit | str | None = None,
    least_total: float | None = None,
    total: float | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Set every mitigation that applies beside the plain release.

    For an allotment: the plain release, the clamp, shrinking with the data-free temperature and with one
    chosen for the decision, the linear proxy, and the fairness payment; output perturbation if `least_total`
    is given and the noise is Laplace; the sum constraint if `total` is. For a rule: the plain release, the
    clamp, shrinking, both piecewise proxies, and the sum constraint if `total` is given.

    Parameters
    ----------
    problem : Allotment or Rule
        What is decided.
    data : Entities, mapping or array
        The true counts. The result is as private as they are.
    noise : Law or mechanism
        The noise on every count.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    least_total : float, optional
        The public least weighted total, for output perturbation.
    total : float, optional
        The public total of the counts, for the sum constraint.
    draws, rng, progress
        For what has to be sampled.

    Examples
    --------
    >>> shares = Allotment([1, 2, 1.5])
    >>> counts = {"x": [30, 50, 80]}
    >>> ways = compare(shares, counts, DiscreteLaplace(2), unit="add or remove one", least_total=200)
    >>> ways["output perturbation"].alpha, len(ways)
    (0.0, 7)
    """
    if not isinstance(problem, Allotment | Rule):
        got = f"a {type(problem).__name__}"
        raise InvalidParameterError("problem", owner="compare", must_be="an Allotment or a Rule", got=got)
    given: dict[str, Any] = {"unit": unit, "draws": draws, "rng": rng, "progress": progress}
    clamp: dict[str, Any] = {
        "post": [Nonnegative()],
        "name": "clamp",
        "words": "Counts below 0 set to 0, and the decision made from them.",
    }
    ways = [
        plain_release(problem, data, noise, **given),
        plain_release(problem, data, noise, **clamp, **given),
    ]
    ways += [shrink(problem, data, noise, temperature=each, **given) for each in (None, DECISION)]
    if total is not None:
        ways.append(sum_constraint(problem, data, noise, total=total, **given))
    if not isinstance(problem, Allotment):
        proxies = [piecewise_proxy(problem, data, noise, model=each, **given) for each in _MODELS]
        return Comparison((*ways, *proxies))
    ways.append(linear_proxy(problem, data, noise, **given))
    if least_total is not None and _laplace(noise):
        ways.append(output_perturbation(problem, data, noise, least_total=least_total, **given))
    ways.append(fairness_payment(problem, data, noise, **given))
    return Comparison(tuple(ways), None if problem.budget is None else float(problem.budget))


_MODELS: tuple[Literal["regression"], Literal["svm"]] = ("regression", "svm")


def _laplace(noise: Any) -> bool:
    return isinstance(getattr(noise, "law", noise), Laplace | DiscreteLaplace)


def _epsilon(way: Mitigation) -> float | None:
    nothing = way.guarantee.trust == "none" or way.guarantee.epsilon is None
    return None if nothing else float(way.guarantee.epsilon or 0)


def _promised(way: Mitigation) -> str:
    if way.guarantee.trust == "none":
        return "none"
    if way.guarantee.rho is not None:
        return f"rho {text_above(way.guarantee.rho, digits=3)}"
    return f"epsilon {text_above(way.guarantee.epsilon or Fraction(0), digits=3)}"
