"""What every way of publishing a table has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.errors import GuaranteeError, InvalidParameterError, LimitExceededError
from evenhand.privacy.contributions import promise_to_people, promise_to_rows
from evenhand.privacy.guarantees.in_clear import state_inferred
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.ledger.charging import charge_draw, fit_purpose
from evenhand.privacy.randomness import SeededSource, Source, source_from
from evenhand.privacy.rational import as_text
from evenhand.release.mechanisms.bias import Bias, Variance
from evenhand.release.table.counting import MOST_CELLS
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import Release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.laws import Law
    from evenhand.privacy.ledger import AnyLedger

    Values = npt.NDArray[np.float64]

DRAWS = 1_000
"""How many releases are drawn where a bias has no formula, unless told."""

_UNITS = (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE)
_MOST_DRAWS = 10**9


@dataclass(frozen=True, eq=False)
class Published:
    """What a mechanism lets out of one table, before any post-processing.

    Everything here is published: a mark of suppression tells as much as a count does, so a mechanism sets it
    only where its guarantee covers it.

    Parameters
    ----------
    histogram : Histogram
        The published counts. Where a cell is suppressed and nothing stands in for it, 0.
    suppressed : array of bool, optional
        The cells that are suppressed. None where none can be; in a sparse table, the cells that are not
        listed are, unless the mechanism's ``unlisted`` is ``"zero"``.
    fill : number, optional
        What is published in suppressed cells; None where nothing is.
    classes : optional
        The generalised table of a k-anonymous release.
    """

    histogram: Histogram
    suppressed: npt.NDArray[np.bool_] | None = None
    fill: float | None = None
    classes: Any = None


@dataclass(frozen=True, repr=False)
class ReleaseMechanism(ABC):
    """A way to publish a table of counts.

    A mechanism holds public parameters only. It cannot be changed, and two are equal if they are of one class
    with equal parameters.

    A subclass is a frozen dataclass with ``repr=False``. It says what it promises in :meth:`guarantee_for`,
    publishes in ``_publish``, and gives what is known of its errors in ``_bias`` and ``_variance``.
    """

    name: ClassVar[str]
    """The mechanism's name in plans and files."""
    title: ClassVar[str]
    """The mechanism's name in words."""
    label: ClassVar[str]
    """The mechanism's name in tables and sentences of a report, which are short of room."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Parameters besides epsilon and unit that a plan may leave out, with what they are then."""
    example_parameters: ClassVar[Mapping[str, Any]] = {}
    """Parameters with which a small table can be published."""
    in_place_of_epsilon: ClassVar[tuple[str, ...]] = ()
    """Parameters that take the place of epsilon."""
    needs_quasi_identifiers: ClassVar[bool] = False
    """Whether it treats quasi-identifiers apart from other columns, so that a schema must name them."""
    may_be_negative: ClassVar[bool] = False
    """Whether it publishes counts below 0. Where it does not, to set such counts to 0 changes none."""
    suppresses: ClassVar[bool] = False
    """Whether it suppresses single cells, which then have no count unless it fills them."""
    takes_sparse: ClassVar[bool] = False
    """Whether it can publish a table that is too large to be held cell by cell."""
    unlisted: ClassVar[str] = "suppressed"
    """What a cell is that such a table does not list: "suppressed", or "zero"."""

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def example(cls) -> Self:
        """Return a mechanism of this class, with parameters that a small table can be published with."""
        return cls(**cls.example_parameters)

    @classmethod
    def takes_epsilon(cls, parameters: Mapping[str, Any]) -> bool:
        """Return whether a mechanism with these parameters has an epsilon besides."""
        return "epsilon" in cls.parameter_names() and not any(
            name in parameters for name in cls.in_place_of_epsilon
        )

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters, epsilon and unit included where it has them."""
        return tuple(field.name for field in fields(cls) if field.init)

    # --- what it promises -----------------------------------------------------------------------

    @abstractmethod
    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return what a release of this table promises to one person.

        Only what is public about the table is used: its columns and its declared bound, never a count.

        Parameters
        ----------
        histogram : Histogram
            The table.
        epsilon : number, optional
            The epsilon at which delta is stated, where a mechanism has a delta for every epsilon.
        as_printed : bool
            Return what the literature prints, where that differs; the proof says so.
        """

    @property
    def law(self) -> Law | None:
        """The law of the noise on one count, where there is one."""
        return None

    def for_table(self, histogram: Histogram) -> Self:
        """Return the mechanism as it publishes this table: with noise for all rows that one person may have.

        Raises
        ------
        InvalidParameterError
            If a person may have several rows in the table, and what the mechanism does to several is unknown.
        """
        if (histogram.schema.rows_per_person or 1) > 1:
            raise InvalidParameterError(
                "rows_per_person",
                owner=type(self).__name__,
                must_be="1, for it takes every row for another person",
                got=histogram.schema.rows_per_person,
                hint="count one row of each person, or add noise: laplace, thresholded-laplace and "
                "discrete-gaussian take several.",
            )
        return self

    # --- publishing -----------------------------------------------------------------------------

    def release(
        self,
        histogram: Histogram,
        *,
        rng: Any = None,
        post: Sequence[Any] = (),
        ledger: AnyLedger | None = None,
        purpose: str | None = None,
    ) -> Release:
        """Publish a table.

        Parameters
        ----------
        histogram : Histogram
            The true table.
        rng : None, int, Generator or Source
            None for the operating system's secure source. Anything else makes a simulation, which is
            marked and cannot be written as a release.
        post : sequence of steps
            Post-processing, in order; see :mod:`evenhand.release.postprocess`.
        ledger : Ledger, str or path, optional
            The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
            ``EVENHAND_LEDGER`` names is charged, unless this is a simulation.
        purpose : str, optional
            What the ledger is told; the mechanism and the columns if left out.

        Raises
        ------
        BudgetExceededError
            If the ledger has less left. Nothing is drawn then.
        GuaranteeError
            If a seed decided which rows of each person the table counts, and this is no simulation.
        """
        self._check(histogram)
        mechanism = self.for_table(histogram)
        if mechanism is not self:
            return mechanism.release(histogram, rng=rng, post=post, ledger=ledger, purpose=purpose)
        steps = _checked_steps(post, histogram, owner=f"{type(self).__name__}.release")
        guarantee = self.promise_of(histogram)  # whatever can be refused is refused before the first draw
        table, source = self._published_table(histogram), source_from(rng)
        self._check_source(source)
        if histogram.simulated and not source.simulated:
            raise GuaranteeError(
                "Which rows of each person count in this table was decided by a seed: it is not published. "
                "Hint: count it with no rng, or give release() a seed too, to simulate."
            )
        told = fit_purpose(f"{self.label}: {', '.join(histogram.columns)}") if purpose is None else purpose
        owner = f"{type(self).__name__}.release"
        charge = charge_draw(ledger, lambda: guarantee, source=source, purpose=told, owner=owner)
        return replace(self._draw_release(table, steps, guarantee, source), charge=charge)

    def promise_of(self, histogram: Histogram) -> Guarantee:
        """Return the guarantee that a release of this table states, and that a ledger is charged with."""
        mechanism, schema = self.for_table(histogram), histogram.schema
        guarantee = state_inferred(mechanism.guarantee_for(histogram), schema.inferred)
        if histogram.repeats is not None:
            return promise_to_rows(guarantee)
        return promise_to_people(guarantee, schema.person, schema.rows_per_person)

    def _draw_release(
        self, histogram: Histogram, steps: Sequence[Any], guarantee: Guarantee, source: Source
    ) -> Release:
        published = vars(self._publish(histogram, source))
        release = Release(**published, guarantee=guarantee, mechanism=self, simulated=source.simulated)
        return release.processed(steps, source=source)

    # --- its errors -----------------------------------------------------------------------------

    def bias(
        self, histogram: Histogram, *, post: Sequence[Any] = (), draws: int | None = None, rng: Any = None
    ) -> Bias:
        """Return expected published minus true, cell by cell; a suppressed cell without a fill counts as 0.

        It is exact where a formula is known, else the average over `draws` seeded releases, with standard
        errors. It is computed from the true counts and is as private as they are.

        Parameters
        ----------
        histogram : Histogram
            The true table, which must not be sparse.
        post : sequence of steps
            Post-processing, as in :meth:`release`.
        draws : int, optional
            How many releases are averaged where there is no formula; 1,000 unless told.
        rng : int, Generator or SeededSource, optional
            What the draws come from; seed 0 unless told. Never a release.
        """
        owner = f"{type(self).__name__}.bias"
        mechanism = self.for_table(histogram)
        if mechanism is not self:
            return mechanism.bias(histogram, post=post, draws=draws, rng=rng)
        table = self._published_table(histogram)
        self._check(table, dense=True)
        steps = _checked_steps(post, table, owner=owner)
        exact_bias = self._bias(table, steps)
        if exact_bias is not None:
            return Bias(exact_bias, method="formula")
        runs, total, squares, sizes = self._errors(table, steps, draws=draws, rng=rng, owner=owner)
        found = Bias.sampled(total, squares, draws=runs, method="sampled")
        return replace(found, absolute_error=sizes / runs)

    def variance(self, histogram: Histogram, *, draws: int | None = None, rng: Any = None) -> Variance:
        """Return the variance of each published count, as :meth:`bias` returns the bias.

        The standard error of a sampled one is that of a normal count.
        """
        owner = f"{type(self).__name__}.variance"
        mechanism = self.for_table(histogram)
        if mechanism is not self:
            return mechanism.variance(histogram, draws=draws, rng=rng)
        table = self._published_table(histogram)
        self._check(table, dense=True)
        exact_variance = self._variance(table)
        if exact_variance is not None:
            return Variance(exact_variance, method="formula")
        runs, total, squares, _ = self._errors(table, (), draws=draws, rng=rng, owner=owner)
        spread = np.maximum(squares / runs - (total / runs) ** 2, 0.0) * runs / (runs - 1)
        error = spread * np.sqrt(2 / (runs - 1))
        return Variance(spread, error, exact=False, method="sampled", draws=runs)

    def exact_absolute_error(self, histogram: Histogram, *, post: Sequence[Any] = ()) -> Values | None:
        """Return the exact expected absolute error of each cell; None where no formula is known.

        A suppressed cell without a fill counts as 0. It is computed from the true counts and is as private as
        they are. The root of the expected square is that of ``variance`` plus the square of ``bias``.

        Parameters
        ----------
        histogram, post
            As for :meth:`bias`.
        """
        self._check(histogram, dense=True)
        steps = _checked_steps(post, histogram, owner=f"{type(self).__name__}.exact_absolute_error")
        mechanism = self.for_table(histogram)
        if mechanism is not self:
            return mechanism.exact_absolute_error(histogram, post=post)
        return self._absolute_error(histogram, steps)

    def blank_chances(self, histogram: Histogram) -> Values | None:
        """Return the chance of each cell to be suppressed; None where no formula is known.

        It is computed from the true counts and is as private as they are.
        """
        self._check(histogram, dense=True)
        mechanism = self.for_table(histogram)
        return self._blank_chances(histogram) if mechanism is self else mechanism.blank_chances(histogram)

    def alpha(
        self, histogram: Histogram, post: Sequence[Any] = (), *, draws: int | None = None, rng: Any = None
    ) -> float:
        """Return the largest bias of a cell minus the smallest; 0 means that all are off by the same."""
        return self.bias(histogram, post=post, draws=draws, rng=rng).alpha

    def _errors(
        self, histogram: Histogram, steps: Sequence[Any], *, draws: int | None, rng: Any, owner: str
    ) -> tuple[int, Values, Values, Values]:
        """Return how many releases were drawn, and the sums of their errors, of the squares and the sizes."""
        runs = DRAWS if draws is None else integer("draws", draws, owner=owner, low=2, high=_MOST_DRAWS)
        source = SeededSource(0) if rng is None else source_from(rng)
        if not isinstance(source, SeededSource):
            must_be = (
                "a seed or a seeded source, because a release is drawn once and not in order to measure it"
            )
            raise InvalidParameterError("rng", owner=owner, must_be=must_be, got=source)
        true, guarantee = histogram.counts, self.guarantee_for(histogram)
        own = self._bias(histogram, ()) if any(getattr(step, "keeps_sums", False) for step in steps) else None
        is_fair = own is not None and not own.any()
        total, squares, sizes = (np.zeros(histogram.shape) for _ in range(3))
        for _ in range(runs):
            noisy = self._draw_release(histogram, (), guarantee, source)
            made = noisy.processed(steps, source=source).values
            error = made - (noisy.values if is_fair else true)  # noise that is right on average cancels
            total += error
            squares += error.astype(np.float64) ** 2
            sizes += np.abs(made - true)
        return runs, total, squares, sizes

    # --- what a mechanism defines ---------------------------------------------------------------

    def _published_table(self, histogram: Histogram) -> Histogram:
        """Return the true table in the cells that are published, which the methods below are given."""
        return histogram

    def _check_source(self, source: Source) -> None:  # noqa: B027 - most draw from any
        """Refuse a source that it cannot draw from; it is asked before a ledger is charged."""

    @abstractmethod
    def _publish(self, histogram: Histogram, source: Source) -> Published:
        """Draw what is published."""

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:  # noqa: ARG002 - for subclasses
        """Return the exact bias after these steps, or None where there is no formula."""
        return None

    def _variance(self, histogram: Histogram) -> Values | None:  # noqa: ARG002 - for subclasses
        """Return the exact variance, or None where there is no formula."""
        return None

    def _absolute_error(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:  # noqa: ARG002 - as above
        """Return the exact expected absolute error after these steps, or None where there is no formula."""
        return None

    def _blank_chances(self, histogram: Histogram) -> Values | None:
        """Return the exact chance of each cell to be suppressed, or None where there is no formula."""
        return None if self.suppresses else np.zeros(histogram.shape)

    def _check(self, histogram: object, *, dense: bool = False) -> None:
        owner = type(self).__name__
        if not isinstance(histogram, Histogram):
            got = f"a value of type {type(histogram).__name__}"
            raise InvalidParameterError("histogram", owner=owner, must_be="a Histogram", got=got)
        if histogram.stored.dtype.kind != "i":
            must_be, got, hint = "a table of whole counts", "a table of fractions", ""
            if histogram.schema.weight is not None:
                got, hint = (
                    "a table of weighted ones",
                    "a weight would let one person move a count by more than 1.",
                )
            raise InvalidParameterError("histogram", owner=owner, must_be=must_be, got=got, hint=hint)
        if histogram.is_sparse and (dense or not self.takes_sparse):
            raise LimitExceededError(
                f"{owner} needs one number for each of {histogram.size:,} cells, more than {MOST_CELLS:,}. "
                "Hint: publish fewer columns or coarser ones; ThresholdedLaplace can publish a table of any "
                "size.",
                limit="cells",
            )

    # --- records --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file; :func:`evenhand.release.mechanism_from` reads them back."""
        values = {name: _plain_value(getattr(self, name)) for name in self.parameter_names()}
        if values.get("rows_per_person") == 1:  # as every mechanism takes it
            del values["rows_per_person"]
        return {"mechanism": self.name} | values

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        """Return the mechanism of a record whose names are checked; for :func:`mechanism_from`."""
        return cls(**values)

    def __repr__(self) -> str:
        values = {field: getattr(self, field.name) for field in fields(self) if field.init}
        shown = [
            f"{field.name}={_show_value(value)}"
            for field, value in values.items()
            if field.default is MISSING or value != field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def checked_unit(unit: object, *, owner: str) -> Unit:
    """Return the unit of a table: one person is replaced, or added or removed."""
    return one_of("unit", unit, _UNITS, owner=owner)


def bound_assumed(histogram: Histogram) -> tuple[str, ...]:
    """Return what a guarantee that relies on the table's bound assumes; empty where there is no bound.

    A count above the bound is lowered to it, so whoever leaves such a cell for another one changes the number
    of people of the table.
    """
    return () if histogram.bound is None else (f"no count is above {histogram.bound:,}, which is public",)


def _show_value(value: object) -> str:
    """Write a parameter as Python would take it, a rational as 1, 0.5 or '1/3'."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        decimal = repr(float(value))
        return decimal if Fraction(decimal) == value else repr(str(value))
    return repr(str(value)) if isinstance(value, str) else repr(value)


def _plain_value(value: object) -> Any:
    """Return a parameter as JSON has it: rationals as text, tuples as lists."""
    if isinstance(value, Fraction):
        return as_text(value)
    if isinstance(value, str):
        return str(value)
    return list(map(_plain_value, value)) if isinstance(value, tuple) else value


def _checked_steps(post: Sequence[Any], histogram: Histogram, *, owner: str) -> tuple[Any, ...]:
    must_be = "a list of post-processing steps, such as [Nonnegative(), SumTo(100)]"
    steps = tuple(post) if isinstance(post, list | tuple) else (post,)
    if not all(callable(getattr(step, "apply", None)) and hasattr(step, "words") for step in steps):
        raise InvalidParameterError("post", owner=owner, must_be=must_be, got="something else")
    if steps and histogram.is_sparse:
        must_be = "empty for a table that is not held cell by cell"
        raise InvalidParameterError("post", owner=owner, must_be=must_be, got=f"{len(steps)} steps")
    return steps
