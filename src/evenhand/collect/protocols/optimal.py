"""The fairest way to say one's group: reports that tell least about the outcome, at a given error."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, Self

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.collect import kernels
from evenhand.collect.fairest.optimum import fairest_channel, frontier
from evenhand.collect.fairest.population import channel_unfairness, dyadic_channel, printed_channel
from evenhand.collect.protocols.channel import MatrixChannel
from evenhand.collect.protocols.codes import check_numbers
from evenhand.collect.protocols.describe import epsilon_literal
from evenhand.collect.protocols.grr import Naming, answer_room
from evenhand.collect.protocols.optimal_inputs import (
    ORIGINS,
    as_error,
    as_rates,
    as_weights,
    check_law,
    column_ratio,
)
from evenhand.collect.protocols.probabilities import GRID
from evenhand.errors import EvenhandError, EvenhandWarning, InvalidParameterError, LimitExceededError
from evenhand.privacy.feeding import feed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.estimates.frequencies import Frequencies
    from evenhand.collect.fairest.optimum import Budget, FairestChannel, Progress
    from evenhand.collect.protocols.optimal_inputs import Law
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.rational import Number

_CONDITION = 1e5  # from which on an estimate warns that it is not reliable
MOST_EPSILON = Fraction(20)
"""Beyond it, linear programs in floats cannot tell the entries of a column apart."""


class Unfairness(NamedTuple):
    """How unequal the outcome rates are, of the true groups and of the reported ones.

    Attributes
    ----------
    before : float
        Among the true groups.
    after : float
        Among the reported groups.
    """

    before: float
    after: float


@dataclass(frozen=True)
class Certificate:
    """How near the reports are to the best that is possible.

    Attributes
    ----------
    unfairness : float
        That of the reports, by the probabilities as drawn.
    bound : float
        A lower bound, proven by the last linear program: no matrix within the error budget is below it.
    solves : int
        How many linear programs were solved.
    """

    unfairness: float
    bound: float
    solves: int

    @property
    def gap(self) -> float:
        """How far the reports are from the best at most."""
        return max(0.0, self.unfairness - self.bound)


class _NoSuchProbabilityError(EvenhandError, AttributeError):
    """A matrix has no single p and no single q."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Optimal(Naming):
    r"""Report a group so that the reports tell least about an outcome, at a given error (optimal channel).

    .. math:: \min_Q \ \max_z \left| \frac{\Pr[Y = 1 \mid Z = z]}{\Pr[Y = 1]} - 1 \right|
              \quad \text{with} \quad \Pr[Z \neq A] \le \zeta, \quad
              Q_{az} \le e^\varepsilon Q_{bz}, \quad Q_{aa} \ge Q_{az}, Q_{za}

    where :math:`Q_{az}` is the probability that somebody of group :math:`a` reports :math:`z`, the groups
    have the shares `weights` and the rates of outcome 1 `rates`, :math:`\zeta` is the error budget and
    :math:`\varepsilon` is ``epsilon``. It is solved exactly, by a few linear programs, with a proven bound.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report. Assumes that the values
    are public, each report uses fresh randomness, and the weights and rates are public or have a guarantee
    of their own (`origin`). Numerics: exact. May be used for release.

    Parameters
    ----------
    weights : sequence of float
        The share of each group, or numbers in proportion to it. A group may have none.
    rates : sequence of float
        The share of outcome 1 in each group, 0 to 1.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of one report, > 0.
    error : {"grr", "minimum"} or float, optional
        How large the share of people may be whose report is not their group: as large as that of
        :class:`GRR` (the default), as small as can be, or a number.
    kind : {"ratio", "difference"}
        What is made least: the largest distance of a reported group's rate from the overall rate, as a share
        of it, or the largest difference between the rates of two reported groups.
    as_printed : bool
        Use the closed form of [1]_ for two groups instead: the larger group reports a fair coin. `error` is
        not used.
    origin : {"public", "pilot", "noisy", "exact"}
        Where weights and rates come from, for the guarantee.

    Notes
    -----
    Only the reports get fairer: the true groups and what they get are as they were. The estimate of the true
    shares inverts the matrix; the less the reports tell about the outcome, the larger its standard errors,
    and where they tell nothing at all there is none.

    Above epsilon of 20 the matrix is that of 20: the reports are then more private than asked, and
    `guarantee` says how much.

    References
    ----------
    .. [1] Ghoukasian (2024). Fairness, privacy and data. Thesis, section 5.

    Examples
    --------
    >>> optimal = Optimal(weights=[0.5, 0.3, 0.2], rates=[0.7, 0.4, 0.2], epsilon=1, error=0.5)
    >>> optimal.matrix().round(3)
    array([[0.578, 0.172, 0.25 ],
           [0.422, 0.422, 0.155],
           [0.422, 0.155, 0.422]])
    >>> f"{optimal.unfairness.before:.3f} {optimal.unfairness.after:.4f}"
    '0.608 0.0579'
    >>> optimal.privatize([0, 2, 1], rng=7)
    <3 reports of Optimal(weights=(0.5, 0.3, 0.2), rates=(0.7, 0.4, 0.2), epsilon=1, error=0.5), simulated>
    """

    name: ClassVar[str] = "optimal"
    title: ClassVar[str] = "fairness-optimal randomized response"
    most_values: ClassVar[int] = 256

    weights: tuple[float, ...]
    rates: tuple[float, ...]
    error: Budget = "grr"
    kind: Literal["ratio", "difference"] = "ratio"
    as_printed: bool = False
    origin: Literal["public", "pilot", "noisy", "exact"] = "public"
    law: Law | None = None
    """The matrix in units of 2**-53, where it was read from a record; else it is solved when it is needed."""

    def __init__(
        self,
        weights: Any,
        rates: Any,
        epsilon: Number,
        *,
        error: Any = None,
        kind: Literal["ratio", "difference"] = "ratio",
        as_printed: bool = False,
        origin: Literal["public", "pilot", "noisy", "exact"] = "public",
    ) -> None:
        shares = as_weights(weights)
        _check_size(len(shares))
        super().__init__(len(shares), epsilon)
        self._set(
            weights=shares,
            rates=as_rates(rates, self.k),
            error=as_error(error),
            kind=one_of("kind", kind, ("ratio", "difference"), owner="Optimal"),
            as_printed=bool(as_printed),
            origin=one_of("origin", origin, tuple(ORIGINS), owner="Optimal"),
            law=None,
        )
        if self.as_printed and self.k != 2:
            must_be, hint = (
                "of two groups with as_printed=True",
                "leave it out: any number of groups is solved.",
            )
            raise InvalidParameterError(
                "weights", owner="Optimal", must_be=must_be, got=f"{self.k} groups", hint=hint
            )
        if self.kind == "ratio" and not any(w * r for w, r in zip(self.weights, self.rates, strict=True)):
            must_be = "above 0 in a group that has people, for kind='ratio'"
            hint = "with kind='difference' the unfairness is defined for every rate."
            raise InvalidParameterError(
                "rates", owner="Optimal", must_be=must_be, got="only zeros", hint=hint
            )

    @classmethod
    def example(cls, k: int = 5, epsilon: Number = 1) -> Self:
        """Return a protocol for `k` invented groups: the first ones are larger and have higher rates."""
        size = integer("k", k, owner=cls.__name__, low=2)
        _check_size(size)
        places = np.arange(size) / (size - 1)
        weights = 3 - places
        return cls((weights / weights.sum()).tolist(), (0.6 - 0.3 * places).tolist(), epsilon)

    @classmethod
    def of_size(cls, k: int, epsilon: Number, **parameters: Any) -> NoReturn:  # noqa: ARG003 - as its base
        """Refuse: a number of values does not say how large the groups are and what they get."""
        raise InvalidParameterError(
            "protocol",
            owner="Optimal",
            must_be="made for the weights and rates of the groups",
            got="the name 'optimal' alone",
            hint="pass the protocol itself: Optimal(weights=[...], rates=[...], epsilon=...), with one "
            "weight and one rate for each value in the order of the domain.",
        )

    # --- the law --------------------------------------------------------------------------------

    def solve(self, progress: Progress | None = None) -> Self:
        """Solve for the matrix now, and return this protocol; else that is done when it is first needed.

        Parameters
        ----------
        progress : callable, optional
            Called after each linear program with how many were solved and about how many there will be. Not
            called where the matrix is known already.
        """
        if self.law is None and not self.as_printed and "_solved" not in self.__dict__:
            self.__dict__["_solved"] = self._solve(progress)  # where the cached property looks first
        return self

    def _solve(self, progress: Progress | None = None) -> FairestChannel:
        return fairest_channel(
            self.weights,
            self.rates,
            min(self.epsilon, MOST_EPSILON),
            error=self.error,
            kind=self.kind,
            progress=progress,
        )

    @cached_property
    def _solved(self) -> FairestChannel:
        return self._solve()

    @cached_property
    def _cells(self) -> Law:
        """The law in units of 2**-53, as given or as solved; checked exactly in either case."""
        if self.law is not None:
            return self.law
        epsilon = min(self.epsilon, MOST_EPSILON)
        matrix = printed_channel(self.weights, epsilon) if self.as_printed else self._solved.matrix
        return check_law(dyadic_channel(matrix, epsilon), self.k, self.epsilon)

    @cached_property
    def _matrix(self) -> npt.NDArray[np.float64]:
        matrix = np.array(self._cells, dtype=np.float64) / GRID  # exact: whole numbers below 2**53
        matrix.flags.writeable = False
        return matrix

    @cached_property
    def channel(self) -> MatrixChannel:
        """The whole matrix, which an estimate inverts."""
        return MatrixChannel(self._matrix)

    def _probabilities(self) -> NoReturn:
        raise _NoSuchProbabilityError(
            "Optimal has no single 'p' and no single 'q': its reports follow a whole matrix. "
            "Hint: matrix() has all probabilities, 'truthfulness' those of the true group, and 'channel' "
            "what an estimate needs."
        )

    def _worst_ratio(self) -> Fraction:
        return column_ratio(self._cells)

    def _assumptions(self) -> tuple[str, ...]:
        return (*super()._assumptions(), ORIGINS[self.origin])

    @property
    def truthfulness(self) -> npt.NDArray[np.float64]:
        """The probability that somebody of each group reports that group."""
        return np.diagonal(self._matrix).copy()

    @property
    def error_probability(self) -> float:
        """The share of people whose report is not their group, if the weights are right."""
        return float(np.dot(self.weights, 1 - np.diagonal(self._matrix)))

    @cached_property
    def unfairness(self) -> Unfairness:
        """How unequal the outcome rates are, of the true groups and of the reported ones."""
        before, after = (
            channel_unfairness(matrix, self.weights, self.rates, kind=self.kind)
            for matrix in (np.eye(self.k), self._matrix)
        )
        return Unfairness(before, after)

    @property
    def certificate(self) -> Certificate:
        """How near the reports are to the best that is possible within the error budget.

        Raises
        ------
        InvalidParameterError
            If the matrix is as printed: it solves another problem.
        """
        if self.as_printed:
            must_be = "False where a certificate is asked for"
            raise InvalidParameterError("as_printed", owner="Optimal", must_be=must_be, got=True)
        return Certificate(self.unfairness.after, float(self._solved.bound), self._solved.solves)

    def frontier(self, n: int = 20) -> Any:
        """Return how small the unfairness can be at `n` error budgets.

        They go from the least error that is possible to the least at which no unfairness is left.
        """
        points = integer("n", n, owner="Optimal.frontier", low=2)
        epsilon = min(self.epsilon, MOST_EPSILON)
        return frontier(self.weights, self.rates, epsilon, points=points, kind=self.kind)

    def variance(self, f: npt.ArrayLike | None = None, n: npt.ArrayLike = 1) -> Any:
        r"""Return the variance of the estimated share of each group.

        .. math:: \frac1n \left( \sum_a f_a \sum_z Q_{az} B_{vz}^2 - f_v \right), \qquad B = Q^{-\top}

        Parameters
        ----------
        f : array of float, optional
            The true share of every group among the people who report; by default `weights`. One share alone
            does not say enough.
        n : number or array
            How many people report, at least 1.

        Returns
        -------
        array
            One for each group; with an array of `n`, one row for each of them.
        """
        must_be = f"the shares of all {self.k} groups, which sum to 1"
        shares = check_numbers("f", self.weights if f is None else f, 0.0, 1.0, must_be)
        people = check_numbers("n", n, 1.0, np.inf, "a number of people, or an array of such, of at least 1")
        if shares.shape != (self.k,) or abs(shares.sum() - 1) > 1e-9:
            raise InvalidParameterError("f", owner="variance", must_be=must_be, got="something else")
        return self.channel.variance(shares, 1) / people[..., None]

    def _law(self) -> npt.NDArray[Any]:
        self._check_few(self.k)
        law = np.empty((self.k, self.k), dtype=object)
        law[:] = [[Fraction(cell, GRID) for cell in row] for row in self._cells]
        return law

    # --- people and server ----------------------------------------------------------------------

    def _privatize(self, codes: npt.NDArray[Any], source: Source) -> npt.NDArray[Any]:
        out, read_only = answer_room(codes, self.k)
        room = np.empty(kernels.channel.GROUP, dtype=np.uint32)
        parameters = (read_only, *self._tables, room)
        feed(kernels.channel.choose, out, parameters, source, units=np.uint32, words=0.5)
        return out

    @cached_property
    def _tables(self) -> tuple[npt.NDArray[Any], ...]:
        """What the kernel compares with: edges, their high parts, and the guide."""
        edges = np.array([list(accumulate(row)) for row in self._cells], dtype=np.uint64)
        highs = np.minimum(edges >> np.uint64(21), np.uint64(2**32 - 1)).astype(np.uint32)
        starts = np.arange(kernels.channel.GUIDES, dtype=np.uint64) << np.uint64(24)
        guide = np.array([np.searchsorted(row, starts, side="left") for row in highs], dtype=np.uint32)
        for table in (edges, highs, guide):
            table.flags.writeable = False
        return edges, highs, guide

    def estimate_from_counts(
        self, counts: npt.ArrayLike, n: int, *, labels: Sequence[Any] | None = None
    ) -> Frequencies:
        """Estimate what share of the people is in each group; `labels` say what the groups are called.

        Raises
        ------
        InvalidParameterError
            If the matrix makes groups alike, as it does where no unfairness is left.

        Warns
        -----
        EvenhandWarning
            If the matrix nearly does, so that the estimate is not reliable: a condition number above
            10**5, or a standard error above 1.
        """
        estimate = super().estimate_from_counts(counts, n, labels=labels)
        worst = float(estimate.standard_error.max()) if estimate.n else 0.0
        if self.channel.condition > _CONDITION or worst > 1:
            warnings.warn(
                f"The matrix of {self.name!r} nearly makes groups alike (condition number "
                f"{self.channel.condition:.2g}), so the largest standard error of a share is {worst:.2g}. "
                "Hint: collect more reports, or allow less error, which leaves the groups further apart.",
                EvenhandWarning,
                stacklevel=3,
            )
        return estimate

    # --- records --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file, with the matrix that an estimate inverts."""
        return super().to_dict() | {"law": [list(row) for row in self._cells]}

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        """Return the protocol of a record, with the law that is written there, if it keeps its epsilon."""
        given = dict(values)
        k, law = given.pop("k"), given.pop("law", None)
        protocol = cls(**given)
        if type(k) is not int or k != protocol.k:
            must_be = f"{protocol.k}, as many as there are weights"
            raise InvalidParameterError("k", owner="Optimal", must_be=must_be, got=k)
        protocol._set(law=check_law(law, protocol.k, protocol.epsilon))
        return protocol

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield what :meth:`describe` says of the law, each with its figure."""
        low, high = self.truthfulness.min(), self.truthfulness.max()
        yield "says the true group", f"{low:.4g} to {high:.4g}; wrong for {self.error_probability:.4g} of all"
        name = "ratio" if self.kind == "ratio" else "difference"
        before, after = self.unfairness
        yield "unfairness", f"{before:.4g} of the true groups, {after:.4g} of the reports ({name})"
        yield "guarantee", self._guarantee_text()
        yield "variance", self._variance_text()

    def _variance_text(self) -> str:
        try:
            spread = self.variance()
        except InvalidParameterError:
            return "none: the matrix makes groups alike"
        return f"{spread.min():.5g} / n to {spread.max():.5g} / n"

    def _settings(self) -> tuple[object, ...]:
        return tuple(getattr(self, field.name) for field in fields(self) if field.name != "law")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Optimal) or type(other) is not type(self):
            return NotImplemented
        if self._settings() != other._settings():
            return False
        return (self.law is None and other.law is None) or self._cells == other._cells

    def __hash__(self) -> int:
        return hash(self._settings())

    def __repr__(self) -> str:
        stated = [
            field
            for field in fields(self)
            if field.name not in {"k", "epsilon", "law"} and self._differs_from_default(field)
        ]
        shown = {field.name: repr(getattr(self, field.name)) for field in stated[:2]}
        shown |= {"epsilon": epsilon_literal(self.epsilon)}
        shown |= {field.name: repr(getattr(self, field.name)) for field in stated[2:]}
        return f"Optimal({', '.join(f'{name}={text}' for name, text in shown.items())})"


def _check_size(k: int) -> None:
    if k > Optimal.most_values:
        raise LimitExceededError(
            f"An optimal matrix of {k:,} groups has {k * k:,} unknowns; {Optimal.most_values} groups is the "
            "most. Hint: merge groups into fewer, or use GRR.",
            limit="groups",
        )
