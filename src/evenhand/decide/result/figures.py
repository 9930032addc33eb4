r"""Tell what noise does to a decision, entity by entity: bias, variance, flips, money.

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
from evenhand.measure.intervals import check_level, clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.decide.result.payments import Payments

    Values = NDArray[np.float64]

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
class EntityFigures:
    """The figures of a result; :class:`~evenhand.decide.result.decided.Decided` says what each one is."""

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
    payments: Payments | None = None
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
            value = self.__dict__.get(name)
            if value is not None:
                dtype = np.bool_ if name == "truth" and self.kind == "rule" else np.float64
                object.__setattr__(self, name, _freeze_array(name, value, size, dtype))
        for name in ("counts", "populations"):
            kept = {key: _freeze_array(name, column, size) for key, column in getattr(self, name).items()}
            object.__setattr__(self, name, MappingProxyType(kept))
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "notes", tuple(self.notes))

    if not TYPE_CHECKING:  # so that a name that does not exist is still found out beforehand

        def __getattr__(self, name: str) -> Any:
            # Comes here only for what is not there: the variance, until it is computed.
            if name != "variance" or "_later" not in self.__dict__:
                message = f"'Decided' object has no attribute '{name}'"
                raise AttributeError(message, name=name, obj=self)
            variance = _freeze_array(name, self._later(), len(self.names), np.float64)
            object.__setattr__(self, name, variance)
            return variance

    # --- entity by entity -----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    @property
    def exact(self) -> bool:
        """Return whether the bias is a sum, an integral or a closed form: not drawn, and not approximate."""
        return self.standard_error is None and not self.approximate

    @property
    def expected(self) -> Values:
        """The expected share; for a rule, the probability that it holds."""
        return _make_read_only(self.truth + self.bias)

    @property
    def standard_deviation(self) -> Values:
        """Return how far one release typically is from the expectation: the square root of the variance."""
        return _make_read_only(np.sqrt(self.variance))

    @property
    def flip(self) -> Values:
        """The probability that noise turns the decision round; for rules only."""
        if self.kind != "rule":
            must_be = "a rule, since a share does not flip"
            raise InvalidParameterError("problem", owner="Decided.flip", must_be=must_be, got="an allotment")
        return _make_read_only(np.abs(self.bias))

    @property
    def typical_error(self) -> Values:
        """The root mean square error of each share; of a decision, the chance that it is wrong.

        A decision is 0 or 1, so that chance is its mean absolute error. Where the variance of a share is not
        known the error is NaN.
        """
        if self.kind == "rule":
            return self.flip
        return _make_read_only(np.sqrt(self.variance + self.bias**2))

    @property
    def sizes(self) -> NDArray[Any]:
        """Return how many people are counted in each entity: the largest count that the problem reads."""
        counts = list(self.counts.values()) or [np.zeros(len(self))]
        return _make_read_only(np.max(counts, axis=0))

    @property
    def disparity(self) -> Values:
        r"""Return how far each entity is from the one that is treated most differently from it.

        .. math:: \xi_i = \max_j |B_i - B_j|

        where :math:`B` is the bias of a share and the absolute bias of a decision, which is its probability
        of flipping (Definition 3 of fioretto2021).
        """
        errors = np.abs(self.bias) if self.kind == "rule" else self.bias
        if not errors.size:
            return _make_read_only(errors)
        return _make_read_only(np.maximum(errors - errors.min(), errors.max() - errors))

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
            What is divided; that of the allotment by default.
        """
        return _make_read_only(self.bias * self._money(budget, owner="Decided.misallocated"))

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
            What is divided; that of the allotment by default.
        """
        money = self._money(budget, owner="Decided.cost")
        return float(-self.bias[self.bias < 0].sum() * money)

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


def _freeze_array(name: str, values: Any, size: int, dtype: Any = None) -> NDArray[Any]:
    array = np.array(values, dtype=dtype)
    if array.shape != (size,):
        must_be = "one entry for each entity"
        raise InvalidParameterError(name, owner="Decided", must_be=must_be, got="another shape")
    return _make_read_only(array)


def _make_read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
