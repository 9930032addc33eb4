"""What an estimator and all its copies have spent together: the one place where that is counted.

An estimator holds a :class:`Spending`: the acts that it did itself, and the :class:`Tally` that it shares
with every copy, clone and pickle of it. A tally is a set of acts that only ever grows. Each act has a random
name of its own, so two tallies of one family that meet again, after one of them was in another process, are
joined without counting an act twice.

What a process has spent is not known in another one until a copy comes back from it.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from weakref import WeakKeyDictionary

from evenhand.collect.protocols.law import VALUES_PUBLIC
from evenhand.errors import GuaranteeError
from evenhand.privacy.guarantees.in_clear import state_inferred
from evenhand.privacy.guarantees.units import Trust
from evenhand.privacy.ledger.charging import find_ledger
from evenhand.privacy.randomness import SecureSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.randomness import Source

    Acts = dict[bytes, "Act | Collection"]


@dataclass(frozen=True)
class Act:
    """A collection, a fit or a table: what it promises by itself, and whether it was drawn with a seed.

    Attributes
    ----------
    guarantees : tuple of Guarantee
        For one circle of people or more, such as those in the training rows and those in a table.
    simulated : bool
        Whether the draws can be repeated.
    covers : frozenset of bytes
        The acts of other estimators whose price is part of the guarantees.
    """

    guarantees: tuple[Guarantee, ...]
    simulated: bool
    covers: frozenset[bytes] = frozenset()

    @property
    def is_secure(self) -> bool:
        """Whether it was drawn with the secure source and promises something."""
        return not self.simulated and self.guarantees[-1].trust is not Trust.NONE

    @property
    def amount(self) -> Fraction:
        """What the act costs: its epsilon."""
        return self.guarantees[0].loss.amount


@dataclass(frozen=True)
class Collection:
    """An act in which people sent reports; a strategy states its guarantee when it is asked for."""

    strategy: Strategy
    in_clear: tuple[str, ...]
    simulated: bool
    inferred: tuple[str, ...] = ()
    covers: frozenset[bytes] = frozenset()

    @property
    def is_secure(self) -> bool:
        """Whether it was drawn with the secure source."""
        return not self.simulated

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What one report promises."""
        once = self.strategy.guarantee_for(in_clear=self.in_clear)
        return (state_inferred(once, self.inferred, instead_of=VALUES_PUBLIC),)

    @property
    def amount(self) -> Fraction:
        """What the collection costs each person in it: its epsilon."""
        return self.strategy.epsilon


_SECOND = (
    "This estimator, or a copy or clone of it, has drawn for a release before. A person who is in both has "
    "spent twice, and without a ledger nothing limits what that comes to; a search over settings or a "
    "cross-validation is that case. Nothing was drawn. Hint: give ledger=..., or set EVENHAND_LEDGER; for "
    "rows of other people make a new one, with type(model)(**model.get_params(deep=False)); for a study give "
    "rng."
)

_ELSEWHERE = (
    "This estimator, or the one that it is a copy or clone of, was made in another process. What its other "
    "copies draw is not known here, so without a ledger nothing limits what that comes to; a search or a "
    "cross-validation with n_jobs is that case. Nothing was drawn. Hint: give ledger=..., or set "
    "EVENHAND_LEDGER; for rows of other people make a new one, with "
    "type(model)(**model.get_params(deep=False)); for a study give rng."
)


class Place(NamedTuple):
    """The number of an act among those of its estimator, from 0 on, and whether its family is to be warned.

    One act of a family is: the first that comes when another one is known already.
    """

    own: int
    warns: bool


class Tally:
    """The acts of a family of copies. It only ever grows."""

    def __init__(self, name: bytes, home: bytes | None = None) -> None:
        self.name = name
        self.home = name_of_process() if home is None else home
        self.acts: Acts = {}
        self.lock = Lock()
        self.has_warned = False
        self._merged_into: Tally | None = None

    @property
    def root(self) -> Tally:
        """The tally that counts now: another one, if two families became one."""
        tally = self
        while tally._merged_into is not None:
            tally = tally._merged_into
        return tally

    def join(self, acts: Acts) -> None:
        """Take in the acts that are not known here yet."""
        with self.lock:
            self.acts = {**acts, **self.acts}

    def merge_into(self, other: Tally) -> None:
        """Make one family of two: from now on the other tally counts for both."""
        if other is not self:
            other.join(self.acts)
            self._merged_into = other

    def keep(self) -> None:
        """Stay known by name as long as this process runs, so that no copy begins anew."""
        with _TALLIES_LOCK:
            _TALLIES.setdefault(self.name, self)

    def __copy__(self) -> Tally:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tally:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        self.keep()
        return _restore_tally, (self.name, dict(self.acts), self.home)


_MADE_IN: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()  # scikit-learn wants no attribute for it
_TALLIES: dict[bytes, Tally] = {}
_TALLIES_LOCK = Lock()


def _restore_tally(name: bytes, acts: Acts, home: bytes) -> Tally:
    """Return the tally of that name, which this process may have already, with these acts in it."""
    with _TALLIES_LOCK:
        tally = _TALLIES.setdefault(name, Tally(name, home)).root
    tally.join(acts)
    return tally


def name_of_process() -> bytes:
    """Return what tells this process from any other, from one that it was forked from too."""
    return _name_of_start() + os.getpid().to_bytes(8, "big")


@cache
def _name_of_start() -> bytes:
    return _random_name()


def _random_name() -> bytes:
    return SecureSource().words(2).tobytes()


class Spending:
    """What one estimator did, and the tally that it shares with all its copies.

    Two threads that add at the same time get different numbers.

    >>> from evenhand.privacy.guarantees.guarantee import Guarantee
    >>> once = Act((Guarantee.pure(1, unit="one report", trust="local"),), simulated=False)
    >>> first = Spending()
    >>> clone = first.for_clone()
    >>> first.add(once), clone.add(once)
    (Place(own=0, warns=False), Place(own=0, warns=True))
    >>> len(first), len(first.own), len(clone.own)
    (2, 1, 1)
    """

    def __init__(self, tally: Tally | None = None, own: Iterable[bytes] = ()) -> None:
        self._own_tally = Tally(_random_name()) if tally is None else tally
        self._own = list(own)

    @property
    def _tally(self) -> Tally:
        return self._own_tally.root

    def add(self, act: Act | Collection) -> Place:
        """Count an act, before anything is drawn for it, and return its number."""
        return self._add(act, has_ledger=True)

    def charge(
        self,
        act: Act | Collection,
        *,
        ledger: AnyLedger | None,
        source: Source,
        purpose: str,
        owner: str,
        fitted_here: bool = True,
    ) -> Place:
        """Charge an act to the ledger that is configured, and count it, before anything is drawn for it.

        Parameters
        ----------
        act, ledger, source, purpose, owner
            What is done, who pays, what is drawn from, and what the ledger and messages say.
        fitted_here : bool
            Whether this process fits the estimator, and does not only use one that was fitted elsewhere.

        Raises
        ------
        GuaranteeError
            If no ledger counts what the family comes to, and it has drawn with the secure source before or
            is fitted in another process than it was made in.
        """
        found = find_ledger(ledger, source=source, owner=owner)
        if found is not None:
            found.spend(act.guarantees[-1], purpose=purpose, source=source)
        elif act.is_secure and fitted_here and self._tally.home != name_of_process():
            raise GuaranteeError(_ELSEWHERE)
        return self._add(act, has_ledger=found is not None)

    def _add(self, act: Act | Collection, *, has_ledger: bool) -> Place:
        name, tally = _random_name(), self._tally
        tally.keep()
        with tally.lock:
            if not has_ledger and act.is_secure and any(old.is_secure for old in tally.acts.values()):
                raise GuaranteeError(_SECOND)
            place = Place(len(self._own), bool(tally.acts) and not tally.has_warned)
            tally.has_warned |= place.warns
            tally.acts[name] = act
            self._own.append(name)
        return place

    def continued_in(self, other: Spending) -> Spending:
        """Return the spending of an estimator that did what this one did; the two families become one."""
        self._tally.merge_into(other._tally)
        return Spending(other._tally, self._own)

    def for_clone(self) -> Spending:
        """Return the spending of an estimator of this family that has done nothing itself."""
        return Spending(self._tally)

    def for_copy(self) -> Spending:
        """Return the spending of an estimator that has done the same as this one so far."""
        return Spending(self._tally, self._own)

    @property
    def acts(self) -> Acts:
        """All acts of the family, by name."""
        return dict(self._tally.acts)

    @property
    def own(self) -> Acts:
        """The acts of this estimator, in order."""
        return {name: self._tally.acts[name] for name in list(self._own)}

    @property
    def simulated(self) -> bool:
        """Whether any act of the family was drawn with a seed."""
        return any(act.simulated for act in self.acts.values())

    def guarantees(self, circle: int = 0) -> list[Guarantee]:
        """Return what each act of the family promises to a circle of people."""
        return [act.guarantees[circle] for act in self.acts.values()]

    @property
    def amount(self) -> Fraction:
        """The sum of what all acts of the family cost: of their epsilons."""
        return sum((act.amount for act in self.acts.values()), Fraction(0))

    def __len__(self) -> int:
        return len(self._tally.acts)

    def __deepcopy__(self, memo: dict[int, Any]) -> Spending:
        return self.for_copy()


class KeepsSpending:
    """An estimator whose copies, clones and pickles go on counting where it is.

    Stands before scikit-learn's BaseEstimator. For people who were in nothing so far make a new estimator.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Remember the process: one that is forked later must not begin anew."""
        made = super().__new__(cls)
        _MADE_IN[made] = name_of_process()
        return made

    @property
    def _spending(self) -> Spending:
        kept: Spending | None = self.__dict__.get("_spent")
        if kept is None:
            kept = self.__dict__.setdefault("_spent", Spending(Tally(_random_name(), _MADE_IN[self])))
        return kept

    @_spending.setter
    def _spending(self, spending: Spending) -> None:
        self.__dict__["_spent"] = spending

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, "_spent": self._spending.for_copy()}

    def __sklearn_clone__(self) -> Any:
        made = super().__sklearn_clone__()  # type: ignore[misc]
        made._spending = self._spending.for_clone()  # noqa: SLF001 - it is of our own kind
        return made


def total_of_reports(spending: Spending, *, beside: Sequence[str] = ()) -> Guarantee:
    """Return what a person is promised who was in every collection; there must have been one.

    Parameters
    ----------
    spending : Spending
        Whose acts are collections.
    beside : sequence of str
        What is in the clear besides the columns.
    """
    collections = [act for act in spending.acts.values() if isinstance(act, Collection)]
    kinds = Counter((collection.strategy, collection.in_clear) for collection in collections)
    parts = [
        strategy.guarantee_for(in_clear=tuple(dict.fromkeys((*clear, *beside)))).as_unit(
            "one person", reports=count
        )
        for (strategy, clear), count in kinds.items()
    ]
    total: Guarantee = sum(parts)  # type: ignore[assignment]
    inferred = dict.fromkeys(name for collection in collections for name in collection.inferred)
    return state_inferred(total, tuple(inferred), instead_of=VALUES_PUBLIC)
