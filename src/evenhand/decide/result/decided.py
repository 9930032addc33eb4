r"""What noise does to a decision, entity by entity: bias, variance, flips, money.

Everything here is computed from the true counts. It is for whoever sets or audits a formula, and as private
as the counts are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.decide.result.breakdown import Breakdown
    from evenhand.decide.result.group_shares import GroupShares
    from evenhand.table.frames import Backend

    Values = NDArray[np.float64]

__all__ = ["BANNER", "Affected", "Decided", "money_of"]

BANNER = "Computed from the true data: not for publication."
"""What stands above everything that is shown of a result."""


class Affected(NamedTuple):
    """One entity and what noise does to it on average."""

    name: str
    """Which entity."""
    truth: float
    """Its true share, or 1 or 0 for a rule that holds or not."""
    bias: float
    """Expected minus true."""
    standard_error: float | None
    """That of the bias; None where it is exact."""
    money: float | None
    """The bias in money; None without a budget."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Decided:
    r"""What noise does to a rule or an allotment, one entry for each entity.

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

    kind: Literal["rule", "allotment"]
    problem: str
    noise: str
    names: Sequence[str]
    truth: NDArray[Any]
    bias: Values
    variance: Values  # or a function that returns them, until it is asked for
    method: str
    standard_error: Values | None = None
    draws: int | None = None
    error_bound: Values | None = None
    counts: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    populations: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    budget: float | None = None
    approximate: bool = False
    coupled: bool = False
    notes: Sequence[str] = ()
    banner: str = BANNER

    def __post_init__(self) -> None:
        size = len(self.names)
        if callable(self.variance):
            object.__setattr__(self, "_later", self.variance)
            object.__delattr__(self, "variance")
        if (self.standard_error is None) != (self.draws is None):
            must_be = "given with 'standard_error', and left out without"
            raise InvalidParameterError("draws", owner="Decided", must_be=must_be, got=self.draws)
        for name in ("truth", "bias", "variance", "standard_error", "error_bound"):
            given = self.__dict__.get(name)
            if given is not None:
                dtype = np.bool_ if name == "truth" and self.kind == "rule" else np.float64
                object.__setattr__(self, name, _frozen(name, given, size, dtype))
        for name in ("counts", "populations"):
            kept = {key: _frozen(name, each, size) for key, each in getattr(self, name).items()}
            object.__setattr__(self, name, MappingProxyType(kept))
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "notes", tuple(self.notes))

    if not TYPE_CHECKING:  # so that a name that does not exist is still found out beforehand

        def __getattr__(self, name: str) -> Any:
            # Comes here only for what is not there: the variance, until it is computed.
            if name != "variance" or "_later" not in self.__dict__:
                message = f"'Decided' object has no attribute '{name}'"
                raise AttributeError(message, name=name, obj=self)
            found = _frozen(name, self._later(), len(self.names), np.float64)
            object.__setattr__(self, name, found)
            return found

    # --- entity by entity -----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    @property
    def exact(self) -> bool:
        """Whether the bias is a sum, an integral or a closed form: not from draws, and not approximate."""
        return self.standard_error is None and not self.approximate

    @property
    def expected(self) -> Values:
        """The expected share; for a rule, the probability that it holds."""
        return _read_only(self.truth + self.bias)

    @property
    def standard_deviation(self) -> Values:
        """How far one release typically is from the expectation: the square root of the variance."""
        return _read_only(np.sqrt(self.variance))

    @property
    def flip(self) -> Values:
        """The probability that noise turns the decision round; for rules only."""
        if self.kind != "rule":
            must_be = "a rule, since a share does not flip"
            raise InvalidParameterError("problem", owner="Decided.flip", must_be=must_be, got="an allotment")
        return _read_only(np.abs(self.bias))

    @property
    def disparity(self) -> Values:
        r"""How far each entity is from the one that is treated most differently from it.

        .. math:: \xi_i = \max_j |B_i - B_j|

        where :math:`B` is the bias of a share and the absolute bias of a decision, which is its probability
        of flipping (Definition 3 of fioretto2021).
        """
        errors = self._errors
        if not errors.size:
            return _read_only(errors)
        return _read_only(np.maximum(errors - errors.min(), errors.max() - errors))

    @property
    def alpha(self) -> float:
        """The greatest disparity: 0 means that noise treats all entities alike.

        From draws it comes out too large on average, the more so the fewer there are.
        """
        return float(self.disparity.max(initial=0.0))

    def interval(self, level: float = 0.95) -> tuple[Values, Values]:
        """Return the low and the high end of an interval for each bias.

        Where the bias is exact, the ends are its error bound away. Where it was sampled they come from the
        counted flips of a rule (Clopper and Pearson, exact), or from Student's law for a share, whose draws
        come in pairs, which is an approximation. Each interval is for its entity alone.

        Parameters
        ----------
        level : float
            Above 0 and below 1, for sampled ones.
        """
        from evenhand.measure.intervals import check_level, clopper_pearson  # noqa: PLC0415 - only when asked for

        level = check_level(level, owner="Decided.interval")
        if self.standard_error is None or self.draws is None:
            reach = np.zeros(len(self)) if self.error_bound is None else self.error_bound
        elif self.kind == "rule":
            flips = np.rint(np.abs(self.bias) * self.draws)
            low, high = clopper_pearson(flips, np.full(len(self), self.draws), level)
            truth = np.asarray(self.truth)
            return np.where(truth, -high, low), np.where(truth, -low, high)
        else:
            from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

            reach = stdtrit(max(1, self.draws // 2 - 1), 0.5 + level / 2) * self.standard_error
        return self.bias - reach, self.bias + reach

    def most_affected(self, n: int = 10) -> tuple[Affected, ...]:
        """Return the entities with the greatest bias, gains and losses alike, the greatest first.

        Parameters
        ----------
        n : int
            How many at most.
        """
        n = integer("n", n, owner="Decided.most_affected", low=0)
        order = np.argsort(-np.abs(self.bias), kind="stable")[:n].tolist()
        money = None if self.budget is None else self.bias * self.budget
        errors = self.standard_error
        return tuple(
            Affected(
                self.names[place],
                float(self.truth[place]),
                float(self.bias[place]),
                None if errors is None else float(errors[place]),
                None if money is None else float(money[place]),
            )
            for place in order
        )

    # --- money ----------------------------------------------------------------------------------

    def misallocated(self, budget: float | None = None) -> Values:
        """Return what each entity gains (above 0) or loses on average, in money.

        Parameters
        ----------
        budget : float, optional
            What is divided; that of the allotment unless told.
        """
        return _read_only(self.bias * self._money(budget, owner="Decided.misallocated"))

    def moved(self, budget: float | None = None) -> float:
        """Return how much money ends up elsewhere on average: half the sum of all gains and losses.

        Where shares add up to 1 in every release, gains and losses are equal and each is this much. Shares
        that need not, as those of some mitigations, may pay more than the budget or less, and half of that is
        in it too.
        """
        return float(np.abs(self.misallocated(budget)).sum() / 2)

    def cost(self, budget: float | None = None) -> float:
        r"""Return the cost of privacy: what it takes to make up for all average losses.

        .. math:: B^+ = B \sum_{i: B_i < 0} |B_i|

        From draws it comes out too large on average, since errors of the draws count as losses.

        Parameters
        ----------
        budget : float, optional
            What is divided; that of the allotment unless told.
        """
        money = self._money(budget, owner="Decided.cost")
        return float(-self.bias[self.bias < 0].sum() * money)

    # --- together -------------------------------------------------------------------------------

    def by(self, what: str | Sequence[Any], *, bins: int | Sequence[float] = 5) -> Breakdown | GroupShares:
        """Return the same figures for classes of entities, or for groups of people.

        Parameters
        ----------
        what : {"size", "group"}, name of a count, or one label for each entity
            ``"size"`` makes classes of the greatest count that the problem reads of each entity; the name of
            a count makes classes of that count; labels make a class each. ``"group"`` gives what each group
            of people gains and loses, see :func:`~evenhand.decide.result.group_shares.group_shares`.
        bins : int or sequence of number
            How many classes of about equally many entities, or where classes begin.
        """
        from evenhand.decide.result.breakdown import break_down  # noqa: PLC0415 - knows this class
        from evenhand.decide.result.group_shares import group_shares  # noqa: PLC0415 - knows this class

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
        from evenhand.decide.result.decided_view import as_frame  # noqa: PLC0415 - only when asked for

        return as_frame(self, backend)

    def __repr__(self) -> str:
        return f"<Decided: {self.kind} of {len(self):,} entities, {self.method}. {self.banner}>"

    def __str__(self) -> str:
        from evenhand.decide.result.decided_view import as_text  # noqa: PLC0415 - only when asked for

        return as_text(self)

    def _repr_html_(self) -> str:
        from evenhand.decide.result.decided_view import as_html  # noqa: PLC0415 - only when asked for

        return as_html(self)

    @property
    def _errors(self) -> Values:
        return np.abs(self.bias) if self.kind == "rule" else self.bias

    def _money(self, budget: object, *, owner: str) -> float:
        if self.kind == "rule":
            must_be = "asked of an allotment, since a rule divides no money"
            raise InvalidParameterError("budget", owner=owner, must_be=must_be, got="a rule")
        return money_of(self.budget if budget is None else budget, owner=owner)


def money_of(budget: object, *, owner: str) -> float:
    """Return a budget as a number, if it is one of at least 0."""
    try:
        amount = math.nan if isinstance(budget, bool | str) else float(budget)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        amount = math.nan
    if not math.isfinite(amount) or amount < 0:
        must_be = "a number of at least 0, here or in the allotment"
        raise InvalidParameterError("budget", owner=owner, must_be=must_be, got=budget)
    return amount


def _frozen(name: str, given: Any, size: int, dtype: Any = None) -> NDArray[Any]:
    array = np.array(given, dtype=dtype)
    if array.shape != (size,):
        must_be = "one entry for each entity"
        raise InvalidParameterError(name, owner="Decided", must_be=must_be, got="another shape")
    return _read_only(array)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
