"""Every mitigation that applies, beside the plain release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand._notebook import aligned, html_table
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.language.rule import Rule
from evenhand.decide.mitigate.mitigation import plain_release
from evenhand.decide.mitigate.registry import mitigation_kinds
from evenhand.decide.result.figures import BANNER
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.privacy.laws import DiscreteLaplace, Laplace
from evenhand.privacy.rational import text_above
from evenhand.release.postprocess.steps import Nonnegative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evenhand.decide.mitigate.mitigation import Mitigation
    from evenhand.privacy.guarantees.units import Unit
    from evenhand.table.frames import Backend

_ROUNDING = 1e-15  # part of a budget that is left of sums by rounding


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
        from evenhand.table.frames import make_frame  # noqa: PLC0415 - starts pyarrow

        promises = [way.guarantee for way in self.ways]
        epsilons = [None if promise.trust == "none" else promise.epsilon for promise in promises]
        columns: dict[str, list[Any]] = {
            "name": [way.name for way in self.ways],
            "epsilon": [None if epsilon is None else float(epsilon) for epsilon in epsilons],
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
            rows.append([way.name, _guarantee_text(way), f"{way.alpha:.3g}", *amounts, error])
        return rows

    def _amount(self, part: float) -> str:
        if abs(part) < _ROUNDING:
            part = 0.0
        return f"{part:.3g}" if self.budget is None else f"{part * self.budget:,.0f}"


def compare(
    problem: Any,
    data: Any,
    noise: Any,
    *,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
    **public: Any,
) -> Comparison:
    """Set every mitigation that applies beside the plain release.

    First the plain release and the clamp, then what :data:`~evenhand.decide.mitigate.registry.MITIGATIONS`
    lists for the problem, where the noise is one that it takes and what it needs is given. Shrinking has the
    data-free temperature and one chosen for the decision, and the piecewise proxy both of its models.

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
    draws, rng, progress
        For what has to be sampled.
    **public
        What mitigations need and is public: `least_total`, the least weighted total, for output
        perturbation; `total`, the total of the counts, for the sum constraint.

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
    kinds = mitigation_kinds("rule" if isinstance(problem, Rule) else "allotment")
    _check_public(public)
    options: dict[str, Any] = {"unit": unit, "draws": draws, "rng": rng, "progress": progress}
    clamp: dict[str, Any] = {
        "post": [Nonnegative()],
        "name": "clamp",
        "words": "Counts below 0 set to 0, and the decision made from them.",
    }
    ways = [
        plain_release(problem, data, noise, **options),
        plain_release(problem, data, noise, **clamp, **options),
    ]
    is_laplace = isinstance(getattr(noise, "law", noise), Laplace | DiscreteLaplace)
    enough = [kind for kind in kinds if len(ways[0].decided) >= kind.fewest_entities]
    for kind in enough:
        if kind.missing(public) is None and (is_laplace or not kind.needs_laplace):
            needed = [parameter.name for parameter in kind.parameters if parameter.is_needed]
            needed_values = {name: public[name] for name in needed if name in public}
            ways += [
                kind.decide(problem, data, noise, **needed_values, **variant, **options)
                for variant in kind.variants
            ]
    budget = problem.budget if isinstance(problem, Allotment) else None
    return Comparison(tuple(ways), None if budget is None else float(budget))


def _check_public(public: Mapping[str, Any]) -> None:
    """Refuse what no mitigation needs."""
    known = {
        parameter.name for kind in mitigation_kinds() for parameter in kind.parameters if parameter.is_needed
    }
    for name in public:
        if name not in known:
            must_be = f"one that a mitigation needs: {', '.join(sorted(known))}"
            raise InvalidParameterError("public", owner="compare", must_be=must_be, got=name)


def _guarantee_text(way: Mitigation) -> str:
    if way.guarantee.trust == "none":
        return "none"
    if way.guarantee.rho is not None:
        return f"rho {text_above(way.guarantee.rho, digits=3)}"
    return f"epsilon {text_above(way.guarantee.epsilon or Fraction(0), digits=3)}"
