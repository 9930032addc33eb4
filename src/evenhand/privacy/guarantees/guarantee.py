"""What a mechanism promises: how much, for which change, trusting whom, about which columns."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand._notebook import figures_html
from evenhand._validate import integer, one_of
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.guarantees.compose import (
    MOST_PEOPLE,
    NO_GUARANTEE,
    Composed,
    check_same_group,
    common_unit,
    convert,
    derived_terms,
    parallel_loss,
    people_in,
    proof_names,
    sum_loss,
)
from evenhand.privacy.guarantees.loss import Statement
from evenhand.privacy.guarantees.terms import checked_terms, read_terms, shown_terms, written_terms
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.guarantees.wording import cautions_of, sentence_of, warn_of_new_trouble
from evenhand.privacy.rational import Number, decimal_text, exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Guarantee(Statement):
    r"""What is promised to one person, in exact numbers.

    With :math:`M` the mechanism and :math:`x, x'` any two inputs that differ by one `unit`, for every event
    :math:`S`

    .. math:: \Pr[M(x) \in S] \le e^\varepsilon \Pr[M(x') \in S] + \delta

    where :math:`\varepsilon` is ``epsilon`` and :math:`\delta` is ``delta``; or, when ``rho`` is given
    instead, every Rényi divergence of order :math:`\alpha > 1` between :math:`M(x)` and :math:`M(x')` is at
    most :math:`\alpha\rho` with :math:`\rho` = ``rho`` (zCDP).

    Two guarantees are equal when they say the same thing; the order of columns, proofs and assumptions is no
    part of that.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal, optional
        At least 0; kept as a rational, exact up to 1,000 digits and rounded up beyond. A float means the
        decimal it prints: ``0.1`` is ``"1/10"``. Left out when `rho` is given.
    delta : int, float, str, Fraction or Decimal
        From 0 to 1.
    rho : int, float, str, Fraction or Decimal, optional
        At least 0. Makes this a zCDP guarantee.
    unit : Unit or str
        ``"one report"``, ``"one person"``, ``"replace one"`` or ``"add or remove one"``.
    trust : Trust or str
        ``"local"``, ``"central"`` or ``"none"``. With ``"none"`` no guarantee is made, whatever is said
        besides: epsilon is 0, delta is 1, and every column is in the clear.
    protects, in_clear : sequence of str
        Columns that the guarantee covers, and those that anybody sees as they are: the label and data used at
        decision time too. A name cannot be in both.
    tight : bool
        Whether the amount is attained (True) or a bound (False).
    proof : str
        Name of the proof, such as ``"randomized response"``.
    assumptions : sequence of str
        What must hold for the guarantee to hold.
    people : int, optional
        The public number of people, for the warning at delta >= 1/people.
    group_size : int
        How many people may change at once. Usually 1; :meth:`group` sets it.

    Attributes
    ----------
    blocks : tuple of Loss
        The two heaviest parts of a parallel composition in which a person may change parts, kept so that
        ``a | b | c`` counts two parts and not three. Empty otherwise.

    Raises
    ------
    InvalidParameterError
        When an amount is out of range or not a number, or a word is not one of those listed.

    Warns
    -----
    PrivacyWarning
        When epsilon > 10, or delta >= 1/people. :attr:`cautions` holds the sentences.

    Notes
    -----
    ``a + b`` is for two mechanisms applied to the same people, ``a | b`` for mechanisms applied to disjoint
    people. Every conversion rounds towards more claimed loss.

    Examples
    --------
    >>> local = Guarantee(
    ...     epsilon=0.5, unit="one report", trust="local", protects=["race"], in_clear=["income"]
    ... )
    >>> local.epsilon, str(local.measure)
    (Fraction(1, 2), 'pure')
    >>> total = local + Guarantee(epsilon="1/10", unit="one report", trust="local", protects=["age"])
    >>> total.epsilon, total.protects, total.in_clear
    (Fraction(3, 5), ('race', 'age'), ('income',))
    >>> print(local)
    Seeing one report can change the odds between any two values of race by at most a factor of 1.65
    (epsilon = 0.5, pure, unit: one report, trust: local; bound).
    In the clear, and so not protected: income.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each term of the statement
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        unit: Unit | str,
        trust: Trust | str,
        protects: Sequence[str] = (),
        in_clear: Sequence[str] = (),
        tight: bool = False,
        proof: str = "",
        assumptions: Sequence[str] = (),
        people: int | None = None,
        group_size: int = 1,
    ) -> None:
        terms = checked_terms(
            {
                "epsilon": epsilon,
                "delta": delta,
                "rho": rho,
                "unit": unit,
                "trust": trust,
                "protects": protects,
                "in_clear": in_clear,
                "tight": tight,
                "proof": proof,
                "assumptions": assumptions,
                "people": people,
                "group_size": group_size,
            }
        )
        _fill(self, terms)
        warn_of_new_trouble(self, people=self.people)

    @classmethod
    def pure(cls, epsilon: Number, *, unit: Unit | str, trust: Trust | str, **details: Any) -> Guarantee:
        """Return a pure guarantee; `details` are the other parameters of the class.

        >>> Guarantee.pure("1/10", unit="replace one", trust="central").epsilon
        Fraction(1, 10)
        """
        return cls(epsilon=epsilon, delta=0, rho=None, unit=unit, trust=trust, **details)

    @classmethod
    def approximate(
        cls, epsilon: Number, delta: Number, *, unit: Unit | str, trust: Trust | str, **details: Any
    ) -> Guarantee:
        """Return an (epsilon, delta) guarantee; `details` are the other parameters of the class.

        >>> Guarantee.approximate(1, "1e-6", unit="replace one", trust="central").delta
        Fraction(1, 1000000)
        """
        return cls(epsilon=epsilon, delta=delta, rho=None, unit=unit, trust=trust, **details)

    @classmethod
    def zcdp(cls, rho: Number, *, unit: Unit | str, trust: Trust | str, **details: Any) -> Guarantee:
        """Return a zero-concentrated guarantee; `details` are the other parameters of the class.

        >>> Guarantee.zcdp("1/10", unit="replace one", trust="central").rho
        Fraction(1, 10)
        """
        return cls(epsilon=None, delta=0, rho=rho, unit=unit, trust=trust, **details)

    @classmethod
    def no_guarantee(cls, *, unit: Unit | str, **details: Any) -> Guarantee:
        """Return the statement that no guarantee is made: epsilon 0, delta 1, trust none.

        >>> print(Guarantee.no_guarantee(unit="replace one", in_clear=["race"]))
        This is no meaningful guarantee: nothing limits what can be learnt about one person (trust: none).
        In the clear, and so not protected: race.
        """
        return cls(unit=unit, trust=Trust.NONE, **details)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader would misjudge, as sentences to show beside the guarantee."""
        return tuple(cautions_of(self).values())

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        parts = (self, other)
        unit = common_unit(self.unit, other.unit)
        people = max((part.people for part in parts if part.people is not None), default=None)
        if Trust.NONE in {self.trust, other.trust}:
            return _derive(parts, Composed(NO_GUARANTEE), unit=unit, people=people)
        check_same_group(parts)
        same = [_read_for(part, unit) for part in parts]
        total = sum_loss(*same)
        composed = _derive(same, total, tight=_is_tight(total, same), people=people)
        return warn_of_new_trouble(composed, parts, people=people)

    def __radd__(self, other: object) -> Guarantee:  # so that sum() can start at 0
        return self if type(other) is int and other == 0 else NotImplemented

    def __or__(self, other: Guarantee) -> Guarantee:
        return Guarantee.parallel(self, other) if isinstance(other, Guarantee) else NotImplemented

    @staticmethod
    def parallel(*parts: Guarantee, membership: Literal["private", "public"] | None = None) -> Guarantee:
        """Compose mechanisms that each see a part of the people, every person in one part.

        Adding or removing a person touches one part, so the largest amount counts. Changing or replacing a
        person's record may take it out of one part and put it into a second part, so the two largest amounts
        add; this assumes that each part's guarantee also holds when the number of people in the part changes
        by one, which a proof for 'replace one' alone does not give. One report, or one person, with local
        trust comes out of the one part in which the person answers: the largest amount counts, and that the
        part is fixed becomes an assumption.

        Parameters
        ----------
        *parts : Guarantee
            One or more.
        membership : {"private", "public"}, optional
            ``"public"``: it is known and fixed who is in which part, so only a change inside a part counts,
            and the largest amount is enough. ``"private"``: with local trust too, the two largest add.

        Examples
        --------
        >>> counties = [Guarantee.pure(e, unit="replace one", trust="central") for e in ("1/2", "1/4", "1/8")]
        >>> Guarantee.parallel(*counties).epsilon, Guarantee.parallel(*counties, membership="public").epsilon
        (Fraction(3, 4), Fraction(1, 2))
        """
        owner = "Guarantee.parallel"
        if membership is not None:
            one_of("membership", membership, ("private", "public"), owner=owner)
        if not parts or not all(isinstance(part, Guarantee) for part in parts):
            raise InvalidParameterError("parts", owner=owner, must_be="one or more guarantees", got=parts)
        if len(parts) == 1:
            return parts[0]
        unit = functools.reduce(common_unit, (part.unit for part in parts))
        people, at_least = people_in(parts)
        if any(part.trust is Trust.NONE for part in parts):
            return _derive(parts, Composed(NO_GUARANTEE), unit=unit, people=people)
        check_same_group(parts, alone=True)
        same = [_read_for(part, unit) for part in parts]
        total = parallel_loss(same, membership=membership)
        composed = _derive(same, total, tight=_is_tight(total, same), people=people)
        return warn_of_new_trouble(composed, parts, people=at_least)

    def as_unit(self, unit: Unit | str, *, reports: int | None = None) -> Guarantee:
        """Read the guarantee for another unit, where that is valid.

        ==================  ==================  ==========================================================
        from                to                  price
        ==================  ==================  ==========================================================
        one report          one person          times `reports` (local); a group of `reports` (central)
        one person          replace one         none
        add or remove one   replace one         epsilon doubles, delta times 1 + e**epsilon, rho times 4
        ==================  ==================  ==========================================================

        Local parts composed by ``|`` count by the largest alone; read for 'replace one', the two largest add.

        Parameters
        ----------
        unit : Unit or str
            The unit to read it for.
        reports : int, optional
            How many reports one person sends at most, when one report is converted. Left out with local
            trust it is 1, and that becomes an assumption of the result.

        Raises
        ------
        GuaranteeError
            When the conversion is not valid; the message says why.

        Examples
        --------
        >>> Guarantee.pure(1, unit="add or remove one", trust="central").as_unit("replace one").epsilon
        Fraction(2, 1)
        >>> Guarantee.pure(1, unit="one person", trust="local").as_unit("replace one").epsilon
        Fraction(1, 1)
        """
        owner = "Guarantee.as_unit"
        target = one_of("unit", unit, tuple(Unit), owner=owner)
        if reports is not None:
            reports = integer("reports", reports, owner=owner, low=1, high=MOST_PEOPLE)
            if self.unit is not Unit.ONE_REPORT or target is self.unit:
                must_be = f"left out unless '{Unit.ONE_REPORT}' is read for another unit"
                raise InvalidParameterError("reports", owner=owner, must_be=must_be, got=reports)
        return warn_of_new_trouble(_read_for(self, target, reports), (self,), people=self.people)

    def to_approximate(self, *, epsilon: Number | None = None, delta: Number | None = None) -> Guarantee:
        """Turn zCDP into an (epsilon, delta) guarantee for the epsilon, or the delta, that is given.

        The best order is used and everything is rounded up; see :mod:`evenhand.privacy.zcdp`. A guarantee
        that is not zCDP is returned as it is if it is within what is given.

        Raises
        ------
        GuaranteeError
            When a guarantee that is not zCDP has more than the epsilon or delta given.

        Examples
        --------
        >>> gaussian = Guarantee.zcdp("1/10", unit="replace one", trust="central")
        >>> f"{float(gaussian.to_approximate(epsilon=1).delta):.12f}"
        '0.008933245772'
        """
        owner = "Guarantee.to_approximate"
        if (epsilon is None) == (delta is None):
            raise InvalidParameterError(
                "epsilon", owner=owner, must_be="given, or delta, but not both", got=epsilon
            )
        if epsilon is not None:
            loss = self.loss.at_epsilon(exact(epsilon, name="epsilon", owner=owner, least=0))
        else:
            loss = self.loss.at_delta(exact(delta, name="delta", owner=owner, least=0, most=1))
        if loss == self.loss:
            return self
        converted = _derive((self,), Composed(loss, proof="conversion from zCDP"), people=self.people)
        return warn_of_new_trouble(converted, (self,), people=self.people)

    def group(self, size: int) -> Guarantee:
        r"""Extend the guarantee to `size` people who change at once.

        Epsilon is multiplied by :math:`m` = `size`, delta by :math:`\sum_{i<m} e^{i\varepsilon}`, rho by
        :math:`m^2`.

        >>> household = Guarantee.pure("1/4", unit="add or remove one", trust="central").group(4)
        >>> household.epsilon, household.group_size
        (Fraction(1, 1), 4)
        """
        most = MOST_PEOPLE // self.group_size
        size = integer("size", size, owner="Guarantee.group", low=1, high=most)
        if size == 1 or self.trust is Trust.NONE:
            return self
        total = Composed(self.loss.for_group(size), proof="group privacy")
        extended = _derive((self,), total, people=self.people, group_size=size * self.group_size)
        return warn_of_new_trouble(extended, (self,), people=self.people)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file, amounts as text such as ``"1/10"``.

        >>> Guarantee.pure(0.1, unit="replace one", trust="central").to_dict()["epsilon"]
        '1/10'
        """
        return written_terms(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Guarantee:
        """Read back what :meth:`to_dict` wrote. No warning is given; :attr:`cautions` has it.

        >>> written = Guarantee.pure(0.1, unit="replace one", trust="central").to_dict()
        >>> Guarantee.from_dict(written) == Guarantee.pure("1/10", unit="replace one", trust="central")
        True
        """
        return _fill(object.__new__(cls), read_terms(record))

    def __str__(self) -> str:
        return sentence_of(self)

    def _repr_html_(self) -> str:
        amounts = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        figures = [(name, decimal_text(value)) for name, value in amounts.items() if value is not None]
        figures += [("unit", str(self.unit)), ("trust", str(self.trust))]
        figures += [("protects", ", ".join(self.protects) or "all that it is given")]
        figures += [("in the clear", ", ".join(self.in_clear))] if self.in_clear else []
        return figures_html("Guarantee", [*figures, ("in words", str(self))])

    def __repr__(self) -> str:
        return f"Guarantee({shown_terms(self)})"

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Guarantee) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        sets = map(frozenset, (self.protects, self.in_clear, proof_names(self.proof), self.assumptions))
        return (
            self.loss,
            self.unit,
            self.trust,
            self.tight,
            self.people,
            self.group_size,
            self.blocks,
            *sets,
        )


def _is_tight(total: Composed, parts: Sequence[Guarantee]) -> bool:
    """Whether a tight part makes the amount alone; cautious, since some sums of tight parts are tight too."""
    return any(part.tight and part.loss == total.loss for part in parts)


def _read_for(guarantee: Guarantee, target: Unit, reports: int | None = None) -> Guarantee:
    """Return the guarantee for the target unit, without a warning."""
    if target is guarantee.unit:
        return guarantee
    if guarantee.trust is Trust.NONE:
        return _derive((guarantee,), Composed(NO_GUARANTEE), unit=target, people=guarantee.people)
    if guarantee.group_size > 1:
        raise GuaranteeError(
            "A guarantee for a group of people is not read for another unit. "
            "Hint: call .as_unit(...) first and .group(...) on its result."
        )
    total = convert(guarantee, target, reports=reports)
    tight = guarantee.tight and not total.proof and total.loss == guarantee.loss
    return _derive((guarantee,), total, unit=target, tight=tight, people=guarantee.people)


def _derive(
    parts: Sequence[Guarantee],
    total: Composed,
    *,
    unit: Unit | None = None,
    tight: bool = False,
    people: int | None,
    group_size: int | None = None,
) -> Guarantee:
    """Return the guarantee that follows from the parts."""
    terms = derived_terms(parts, total, unit=unit, group_size=group_size)
    return _fill(object.__new__(Guarantee), terms | {"tight": tight, "people": people})


def _fill(guarantee: Guarantee, terms: dict[str, Any]) -> Guarantee:
    for name, value in terms.items():
        object.__setattr__(guarantee, name, value)
    return guarantee
