"""Shares and outcome rates of groups, and where they come from: what an optimal channel is made from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.collect.estimates.group_rates import GroupRates
from evenhand.collect.protocols.channel import onto_simplex
from evenhand.collect.protocols.codes import check_codes
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.optimal_inputs import ORIGINS, as_weights
from evenhand.errors import InvalidParameterError
from evenhand.measure.columns import read_binary, read_column, same_length
from evenhand.measure.crossing import crossed_columns
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.ledger.charging import charge_draw
from evenhand.privacy.randomness import source_from
from evenhand.privacy.rational import Number, as_text, exact
from evenhand.privacy.sampling import discrete_laplace
from evenhand.privacy.scales import laplace_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.ledger import AnyLedger

    Counts = npt.NDArray[np.int64]
    Origin = Literal["public", "pilot", "noisy", "exact"]

_OWNER = "GroupOutcomes"
_MOST_GROUPS = 2**20
_PILOT_APART = "nobody of the pilot reports again"
_LEAST_BUDGET = Fraction(1, 10**9)  # noise for a smaller one cannot be drawn exactly
_SENSITIVITY = {Unit.REPLACE_ONE: 2, Unit.ADD_OR_REMOVE_ONE: 1}
_FIELDS = ("weights", "rates", "source")
_THREE_WAYS = (
    "there are three ways: GroupOutcomes.public(weights, rates, source=...) if they are published; "
    "GroupOutcomes.from_pilot(group_rates(...)) from reports of some of the people; "
    "GroupOutcomes.noisy(..., epsilon=...) with a budget for these rows."
)
_SEES_ROWS = "whoever computes the noisy table sees the rows"
_SEEDED = "nobody has the seed that the noise of the counts was drawn with: a simulation, not a release"
_ONLY_IF_PUBLIC = "it holds only if the exact shares and outcome rates of these rows are public"


@dataclass(frozen=True)
class GroupOutcomes:
    r"""How many people each group has and how often they have outcome 1, with where that is known from.

    :class:`evenhand.collect.Optimal` is made from these numbers, and its matrix tells something about them.
    So they must be public, or have been learnt under a guarantee that is counted.

    =============================  =====================================  ===================================
    made by                        the numbers are                        what they cost
    =============================  =====================================  ===================================
    :meth:`public`                 published by somebody, who is named    nothing
    :meth:`from_pilot`             estimated from reports of some people  those people's reports
    :meth:`noisy`                  counted in private rows, with noise    its epsilon, and trust in a curator
    :meth:`exact`                  counted in private rows                no guarantee, unless they are public
    =============================  =====================================  ===================================

    Parameters
    ----------
    weights : sequence of float
        The share of people in each group, or numbers in proportion to it; not negative, some above 0.
    rates : sequence of float
        The share of outcome 1 in each group, 0 to 1.
    origin : {"public", "pilot", "noisy", "exact"}
        Where they come from.
    guarantee : Guarantee, optional
        What learning them costs those they were learnt from; nothing if they are public.
    source : str
        Who published them.
    assumptions : sequence of str
        What must hold for them to be what they are called.

    Examples
    --------
    >>> census = GroupOutcomes.public([0.7, 0.3], [0.2, 0.6], source="census 2020, table 4")
    >>> census.k, census.origin, census.guarantee
    (2, 'public', None)
    """

    weights: tuple[float, ...]
    rates: tuple[float, ...]
    origin: Origin
    guarantee: Guarantee | None = None
    source: str = ""
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        weights, rates = _read_numbers("weights", self.weights), _read_numbers("rates", self.rates)
        if len(weights) < 2 or min(weights) < 0 or not any(weights):
            must_be = "numbers of at least 0 for two groups or more, one of them above 0"
            raise InvalidParameterError("weights", owner=_OWNER, must_be=must_be, got=_numbers_text(weights))
        if len(rates) != len(weights) or not all(0 <= rate <= 1 for rate in rates):
            must_be = f"{len(weights)} numbers from 0 to 1, one for each weight"
            raise InvalidParameterError("rates", owner=_OWNER, must_be=must_be, got=_numbers_text(rates))
        origin = one_of("origin", self.origin, tuple(ORIGINS), owner=_OWNER)
        object.__setattr__(self, "weights", as_weights(weights))
        object.__setattr__(self, "rates", tuple(rates))
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "assumptions", tuple(self.assumptions))

    # --- where they come from -----------------------------------------------------------------------

    @classmethod
    def public(cls, weights: Sequence[float], rates: Sequence[float], *, source: str) -> GroupOutcomes:
        """Return numbers that anybody can read, with who published them.

        Parameters
        ----------
        weights, rates : sequence of float
            One for each group, see the class.
        source : str
            Where they can be read, for the guarantee.
        """
        if not isinstance(source, str) or not source.strip():
            must_be, got = "who published the numbers, in words", f"a {type(source).__name__}"
            raise InvalidParameterError(
                "source",
                owner=f"{_OWNER}.public",
                must_be=must_be,
                got="an empty text" if source == "" else got,
            )
        origin = f"the shares and outcome rates were public before: {source.strip()}"
        return cls(
            _read_numbers("weights", weights),
            _read_numbers("rates", rates),
            "public",
            None,
            source.strip(),
            (origin,),
        )

    @classmethod
    def from_pilot(cls, pilot: GroupRates) -> GroupOutcomes:
        """Return the numbers that reports of some of the people estimate.

        Estimates may leave what is possible: shares are moved to the nearest ones that add up to one, with at
        least one person's share for each group, and rates are cut at 0 and 1. The rate of a group whose share
        is not separated from zero says nothing; it is replaced by the rate of all.

        Parameters
        ----------
        pilot : GroupRates
            What :func:`evenhand.collect.group_rates` found in the reports.

        Examples
        --------
        >>> from evenhand.collect import GRR, group_rates
        >>> group = np.repeat([0, 1], [7000, 3000])
        >>> outcome = np.r_[np.arange(7000) < 1400, np.arange(3000) < 1800]
        >>> reports = GRR(k=2, epsilon=1).privatize(group, rng=7)
        >>> found = GroupOutcomes.from_pilot(group_rates(outcome, reports))
        >>> [round(number, 1) for number in (*found.weights, *found.rates)]
        [0.7, 0.3, 0.2, 0.6]
        >>> found.assumptions[0]
        'the shares and outcome rates were estimated from 10,000 reports of a pilot'
        """
        given: object = pilot
        if not isinstance(given, GroupRates):
            got = f"a {type(pilot).__name__}"
            must_be = "what group_rates(outcome, reports) returns"
            raise InvalidParameterError("pilot", owner=f"{_OWNER}.from_pilot", must_be=must_be, got=got)
        if not pilot.n:
            must_be = "an estimate from one report or more"
            raise InvalidParameterError(
                "pilot", owner=f"{_OWNER}.from_pilot", must_be=must_be, got="one from no reports"
            )
        shares = onto_simplex([float(share) for share in pilot.shares.values()])
        overall, known = float(pilot.overall), pilot.separated
        rates = [
            min(1.0, max(0.0, float(rate))) if known[label] and math.isfinite(rate) else overall
            for label, rate in pilot.rates.items()
        ]
        origin = (
            f"the shares and outcome rates were estimated from {pilot.n:,} reports of a pilot",
            _PILOT_APART,
        )
        cost = None if pilot.protocol is None else pilot.protocol.guarantee
        weights = tuple(np.maximum(shares, 1 / pilot.n).tolist())
        return cls(weights, tuple(rates), "pilot", cost, assumptions=origin)

    @classmethod
    def noisy(
        cls,
        outcome: Any,
        group: Any,
        *,
        k: int | Mapping[str, int],
        epsilon: Number | None = None,
        unit: str = "replace one",
        protects: Sequence[str] = (),
        rng: Any = None,
        ledger: AnyLedger | None = None,
        purpose: str = "shares and outcome rates of groups",
    ) -> GroupOutcomes:
        r"""Count private rows by group and outcome, with discrete Laplace noise.

        **Guarantee.** Pure central differential privacy with ``epsilon``. Adding or removing a person changes
        one of the counts by one; replacing a person changes two. So the scale of the noise is
        :math:`1 / \varepsilon` or :math:`2 / \varepsilon`. Numerics: exact. Whoever computes it sees
        the rows.

        The rates have no interval. The rate of a group of about as many people as the scale of the noise is
        mostly noise, and that of a group of nobody is nothing else.

        Parameters
        ----------
        outcome : array
            0 or 1 for each person.
        group : array of int, or mapping of str to array of int
            Each person's group, 0 to ``k - 1``. Columns in a mapping are crossed: the groups are their
            combinations in row-major order, the values of the last column changing fastest.
        k : int, or mapping of str to int
            How many groups there are, declared; of crossed columns, how many values each has.
        epsilon : int, float, str, Fraction or Decimal
            What the table may cost, 1e-9 to 1e6; there is no default. Where the scale of the noise has more
            digits than can be drawn exactly, it is rounded up, and the guarantee says what it costs then.
        unit : {"replace one", "add or remove one"}
            Between which rows the guarantee holds.
        protects : sequence of str
            The columns of outcome and group, for the guarantee.
        rng : None, int, Generator or Source
            None for the operating system's secure source. Anything else makes a simulation.
        ledger : Ledger, str or path, optional
            The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
            ``EVENHAND_LEDGER`` names is charged, unless this is a simulation.
        purpose : str
            What the ledger is told.

        Examples
        --------
        >>> group = np.repeat([0, 1], [7000, 3000])
        >>> outcome = np.r_[np.arange(7000) < 1400, np.arange(3000) < 1800]
        >>> found = GroupOutcomes.noisy(outcome, group, k=2, epsilon="1/10", rng=7)
        >>> [round(number, 1) for number in (*found.weights, *found.rates)]
        [0.7, 0.3, 0.2, 0.6]
        >>> found.guarantee.epsilon, str(found.guarantee.trust)
        (Fraction(1, 10), 'central')
        """
        owner = f"{_OWNER}.noisy"
        if epsilon is None:
            must_be = "given: private rows are counted with noise only"
            raise InvalidParameterError("epsilon", owner=owner, must_be=must_be, got=None, hint=_THREE_WAYS)
        asked = checked_budget(epsilon, name="epsilon", owner=owner)
        kind = one_of("unit", unit, tuple(_SENSITIVITY), owner=owner)
        counts = _count_rows(outcome, group, k, owner=owner)
        scale, amount = laplace_noise(asked, sensitivity=_SENSITIVITY[kind])
        source = source_from(rng)
        cost = Guarantee(
            epsilon=amount,
            unit=kind,
            trust="central",
            protects=protects,
            tight=True,
            proof="discrete Laplace noise on the counts of groups by outcomes",
            assumptions=(_SEES_ROWS, _SEEDED) if source.simulated else (_SEES_ROWS,),
        )
        charge_draw(ledger, lambda: cost, source=source, purpose=purpose, owner=owner)
        noise = discrete_laplace(scale, size=counts.shape, source=source)
        weights, rates = _from_counts(np.maximum(counts + noise, 0), least=1)
        origin = "the shares and outcome rates were counted in private rows, with noise"
        return cls(weights, rates, "noisy", cost, assumptions=(origin, _SEES_ROWS))

    @classmethod
    def exact(cls, outcome: Any, group: Any, *, k: int | Mapping[str, int]) -> GroupOutcomes:
        """Count rows by group and outcome as they are: for rows that are public, or to reproduce a paper.

        A mechanism that is made from them promises nothing to the people in the rows unless the counts are
        public anyway, and its guarantee says so.

        Parameters
        ----------
        outcome, group, k
            As for :meth:`noisy`.
        """
        weights, rates = _from_counts(_count_rows(outcome, group, k, owner=f"{_OWNER}.exact"), least=0)
        return cls(weights, rates, "exact", None, assumptions=(_ONLY_IF_PUBLIC,))

    @classmethod
    def from_table(cls, table: Mapping[str, Any], *, source: str = "a table") -> GroupOutcomes:
        """Return the public numbers of a table with the fields ``weights`` and ``rates``.

        Parameters
        ----------
        table : mapping
            As a TOML or JSON file holds it; ``source`` may stand in it too.
        source : str
            Who published them, where the table does not say.

        Examples
        --------
        >>> GroupOutcomes.from_table({"weights": [7, 3], "rates": [0.2, 0.6]}).weights
        (0.7, 0.3)
        """
        owner = f"{_OWNER}.from_table"
        if not isinstance(table, Mapping) or not {"weights", "rates"} <= set(table) <= set(_FIELDS):
            must_be = f"a table with the fields 'weights' and 'rates', and none but {', '.join(_FIELDS)}"
            got = f"a {type(table).__name__}"
            if isinstance(table, Mapping):
                got = f"the fields {', '.join(sorted(map(str, table))[:10])}" if table else "no fields"
            raise InvalidParameterError("table", owner=owner, must_be=must_be, got=got)
        return cls.public(table["weights"], table["rates"], source=table.get("source", source))

    # --- what they are for --------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """How many groups there are."""
        return len(self.weights)

    @property
    def overall(self) -> float:
        """The share of outcome 1 among all."""
        return math.fsum(w * r for w, r in zip(self.weights, self.rates, strict=True))

    def optimal(self, epsilon: Number, **options: Any) -> Optimal:
        """Return the protocol whose reports tell least about the outcome.

        Parameters
        ----------
        epsilon : int, float, str, Fraction or Decimal
            Privacy parameter of one report, > 0.
        **options
            ``error``, ``kind`` and ``as_printed`` of :class:`evenhand.collect.Optimal`.

        Notes
        -----
        The guarantee of the protocol alone is about one report, given the matrix, and names where its numbers
        come from. What making the matrix cost is in :meth:`guarantee_with`.

        Examples
        --------
        >>> census = GroupOutcomes.public([0.7, 0.3], [0.2, 0.6], source="census 2020, table 4")
        >>> optimal = census.optimal(1)
        >>> f"{optimal.unfairness.before:.3f} {optimal.unfairness.after:.3f}"
        '0.875 0.298'
        """
        return Optimal(self.weights, self.rates, epsilon, origin=self.origin, **options)

    def guarantee_with(
        self,
        protocol: Protocol | Guarantee,
        *,
        same_people: bool | None = None,
        epsilon: Number | None = None,
        protects: Sequence[str] = (),
        in_clear: Sequence[str] = (),
    ) -> Guarantee:
        """Return what is promised to one person in all: by their report, and by how its matrix was made.

        Where both amounts add up, that of the report is the epsilon that was asked for: the matrix depends on
        the people's rows, and so does how much less than that it happens to spend.

        Parameters
        ----------
        protocol : Protocol or Guarantee
            What was made from these numbers, or what its report promises.
        same_people : bool, optional
            Whether those from whom the numbers were learnt report as well: then both amounts add up. By
            default they do after :meth:`noisy` and do not after :meth:`from_pilot`.
        epsilon : int, float, str, Fraction or Decimal, optional
            What was asked for before the matrix was made; by default the protocol's own, and needed where a
            guarantee is given that says less.
        protects, in_clear : sequence of str
            Columns for the guarantee, where a protocol is given.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> group = np.repeat([0, 1], [7000, 3000])
        >>> table = GroupOutcomes.noisy(group, group, k=2, epsilon="1/10", rng=7)
        >>> whole = table.guarantee_with(GRR(k=2, epsilon=1))  # any protocol made from the table
        >>> whole.epsilon, str(whole.unit), str(whole.trust)
        (Fraction(11, 10), 'replace one', 'central')
        """
        own, asked = protocol, epsilon
        if not isinstance(own, Guarantee):
            asked = own.epsilon if epsilon is None else epsilon
            own = own.guarantee_for(protects=protects, in_clear=in_clear)
        both = self.origin == "noisy" if same_people is None else same_people
        if both and asked is not None:
            own = _as_asked(own, exact(asked, name="epsilon", owner=f"{_OWNER}.guarantee_with", above=0))
        whole = own
        if self.guarantee is not None:
            whole = own + self.guarantee if both else Guarantee.parallel(own, self.guarantee)
        stated = [text for text in self.assumptions if not (both and text == _PILOT_APART)]
        assumptions = list(dict.fromkeys((*whole.assumptions, *stated)))
        return Guarantee.from_dict(whole.to_dict() | {"assumptions": assumptions})


def checked_budget(given: object, *, name: str, owner: str) -> Fraction:
    """Return the epsilon that counts of groups by outcomes may cost, from 1e-9 to 1e6.

    >>> checked_budget(0.1, name="epsilon", owner="here")
    Fraction(1, 10)
    """
    budget = exact(given, name=name, owner=owner, above=0, most=1_000_000)
    if budget < _LEAST_BUDGET:
        must_be = "a number of at least 1e-9"
        raise InvalidParameterError(name, owner=owner, must_be=must_be, got=str(given))
    return budget


def _as_asked(own: Guarantee, epsilon: Fraction) -> Guarantee:
    """Return the guarantee with the epsilon that was asked for, if what it says is less."""
    if own.epsilon is None or own.epsilon >= epsilon:
        return own
    return Guarantee.from_dict(own.to_dict() | {"epsilon": as_text(epsilon), "tight": False})


def _read_numbers(name: str, given: Any) -> tuple[float, ...]:
    """Return finite numbers, else refuse them by the name of their field."""
    listed = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(listed, list | tuple) and not any(isinstance(number, bool | str) for number in listed):
        try:
            numbers = tuple(float(number) for number in listed)
        except (TypeError, ValueError, OverflowError):
            numbers = (math.nan,)
        if all(map(math.isfinite, numbers)):
            return numbers
    got = f"a {type(given).__name__}" if not isinstance(listed, list | tuple) else "something else among them"
    raise InvalidParameterError(name, owner=_OWNER, must_be="a list of numbers", got=got)


def _numbers_text(numbers: Sequence[float]) -> str:
    shown = ", ".join(f"{number:.6g}" for number in numbers[:5])
    return f"{len(numbers)} numbers ({shown}{', ...' if len(numbers) > 5 else ''})"


def _count_rows(outcome: Any, group: Any, k: int | Mapping[str, int], *, owner: str) -> Counts:
    """Return how many people of each group (row) have each outcome (column)."""
    column = read_column(outcome, name="outcome", owner=owner)
    codes, groups = _read_groups(group, k, owner=owner)
    same_length([("outcome", column), ("group", codes)], owner=owner)
    binary = read_binary({"outcome": column}, positive=None, owner=owner)["outcome"]
    cells = 2 * codes.astype(np.int64) + np.asarray(binary, dtype=np.int64)
    return np.bincount(cells, minlength=2 * groups).reshape(groups, 2)


def _read_groups(group: Any, k: int | Mapping[str, int], *, owner: str) -> tuple[npt.NDArray[Any], int]:
    """Return the code of each person's group or combination of columns, and how many there are."""
    if not isinstance(k, Mapping):
        groups = integer("k", k, owner=owner, low=2, high=_MOST_GROUPS)
        return check_codes(group, groups, owner=owner), groups
    sizes = {str(name): integer("k", size, owner=owner, low=2, high=_MOST_GROUPS) for name, size in k.items()}
    groups = math.prod(sizes.values())
    if not sizes or groups > _MOST_GROUPS:
        must_be = f"the sizes of one column or more, of at most {_MOST_GROUPS:,} combinations"
        raise InvalidParameterError("k", owner=owner, must_be=must_be, got=f"{groups:,}" if sizes else "none")
    columns = crossed_columns(group)
    if columns is None or set(columns) != set(sizes):
        must_be = f"codes of each of the columns {', '.join(sizes)}, as in 'k'"
        raise InvalidParameterError("group", owner=owner, must_be=must_be, got="other columns")
    codes = [check_codes(columns[name], size, owner=owner) for name, size in sizes.items()]
    same_length([("group", part) for part in codes], owner=owner)
    shape = tuple(sizes.values())
    return np.ravel_multi_index([part.astype(np.intp) for part in codes], shape), groups


def _from_counts(counts: Counts, *, least: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return shares and rates; a group that nobody was counted in has the rate of all."""
    people, ones = counts.sum(axis=1), counts[:, 1]
    total = int(people.sum())
    overall = float(ones.sum() / total) if total else 0.5
    rates = np.where(people > 0, ones / np.maximum(people, 1), overall)
    weights = np.maximum(people, least) if total or least else np.ones_like(people)
    return tuple(weights.astype(float).tolist()), tuple(rates.tolist())
