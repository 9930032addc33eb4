"""A ledger: what may be spent on some people's privacy, what was spent, and the refusal of more."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from evenhand._notebook import figures_html
from evenhand._validate import integer, kind_of, refuse
from evenhand.errors import GuaranteeError, LedgerError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.ledger.anchor import Anchor, prepare_anchor, refuse_existing
from evenhand.privacy.ledger.budget import Amount, Budget, checked_text
from evenhand.privacy.ledger.chain import FORMAT, OPEN, RETIRE, SPEND, Chain, Entry
from evenhand.privacy.ledger.clock import Clock
from evenhand.privacy.ledger.database import (
    ONE_THREAD,
    add_entry,
    copy_database,
    create_tables,
    fold_log,
    is_empty,
    open_database,
    read_chain,
    read_place,
    refuse_change,
    transaction,
)
from evenhand.privacy.ledger.totals import (
    Composition,
    Total,
    amount_words,
    amounts_by_purpose,
    tighter_totals,
    total_of,
)
from evenhand.privacy.randomness import SecureSource
from evenhand.privacy.rational import Number, as_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import Source

ANCHOR = "anchor"
"""Under which name a ledger keeps the place of its anchor, if that is not beside it."""

_INVARIANTS = (
    "empty: counts that are published as they are change what every other charge promises, and that is not "
    "accounted for yet"
)


class _MadeAlready(Exception):  # noqa: N818 - nobody sees it
    pass


@dataclass(frozen=True)
class Preview:
    """What a charge would cost, without spending it.

    Attributes
    ----------
    charge : Amount or None
        What it costs; None if it would be unbounded.
    remaining : Amount
        What is left before it.
    """

    charge: Amount | None
    remaining: Amount

    @property
    def fits(self) -> bool:
        """Whether it would be granted: an unbounded one is, and the total says so from then on."""
        return self.charge is None or self.charge.is_within(self.remaining)

    def __str__(self) -> str:
        answer = "would be granted" if self.fits else "would be refused"
        return f"Costs {amount_words(self.charge)}, and {answer}: {self.remaining} is left."


class Ledger:
    r"""One budget over time, in a file.

    Every charge is checked against what is left, committed to the disk and anchored before :meth:`spend`
    returns, and only then may anything be drawn. A crash can leave a charge without a release, never a
    release without its charge.

    The promise is the sum: of all epsilons and of all deltas, exactly. :meth:`tighter` gives what is
    known to be smaller, beside it.

    It protects an honest curator from mistakes. Whoever owns the machine can delete both files.

    Parameters
    ----------
    path : str or path
        The file. It is made if it is not there and `epsilon` is given. Not on a network drive.
    epsilon : number or str, optional
        The budget, above 0. Of a ledger that is there it may be left out; another one than it has is refused.
    delta : number or str, optional
        From 0 to below 0.01; 0 if left out.
    unit : Unit or str, optional
        The change that the budget is about, ``"replace one"`` if left out: every guarantee can be read for
        it. A charge for ``"add or remove one"`` then counts twice its epsilon.
    people : str, optional
        Whom the budget is about, in words.
    period : {"", "year", "month"}, optional
        Whether the budget is for all time, or begins anew in each year or month (UTC). A person who is in the
        data in several periods has spent the sum.
    anchor : str or path, optional
        Where the anchor stands: beside the ledger if left out, better on another disk. It is remembered.

    Raises
    ------
    LedgerError
        If the ledger was changed, is older than its anchor, cannot be read or written, or is none.
    InvalidParameterError
        If an amount is no number, negative or out of range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from evenhand.privacy import Guarantee
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp(), "ledger.db"), epsilon="1", delta="1e-6")
    >>> noisy_table = Guarantee.pure("1/10", unit="replace one", trust="central")
    >>> ledger.spend(noisy_table, purpose="county by race").number
    2
    >>> print(ledger.total())
    Spent: epsilon = 0.1, delta = 0, of epsilon = 1, delta = 1e-06.
    >>> print(ledger.preview(Guarantee.pure(1, unit="replace one", trust="central")))
    Costs epsilon = 1, and would be refused: epsilon = 0.9, delta = 1e-06 is left.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        unit: Unit | str | None = None,
        people: str | None = None,
        period: str | None = None,
        anchor: str | os.PathLike[str] | None = None,
    ) -> None:
        self._path = _checked_place("path", path)
        self._given_anchor = None if anchor is None else _checked_place("anchor", anchor)
        if self._given_anchor == self._path:
            refuse("anchor", "Ledger", "another file than the ledger", self.name)
        self._clock, self._chain = Clock(), Chain()
        self._folding: finalize[..., Ledger] | None = None
        given = {"epsilon": epsilon, "delta": delta, "unit": unit, "people": people, "period": period}
        given = {name: value for name, value in given.items() if value is not None}
        if not self._is_made():
            self._make(given)
        self._read()
        self._refuse_other_budget(given)

    # --- what it is ------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self._path.name

    @property
    def identity(self) -> str:
        """The random name that it was given when it was made; copies and exports have the same."""
        return str(self._chain.entries[0].terms["ledger"])

    @property
    def anchor(self) -> Path:
        """The file of the anchor."""
        return self._given_anchor or anchor_beside(self._path)

    @property
    def budget(self) -> Budget:
        """What may be spent, for which change, in which period."""
        return Budget.from_terms(self._chain.entries[0].terms)

    # --- spending --------------------------------------------------------------------------------

    def spend(
        self,
        guarantee: Guarantee,
        *,
        purpose: str,
        people: str | None = None,
        delta: Number | None = None,
        invariants: Sequence[str] = (),
        source: Source | None = None,
    ) -> Entry:
        """Charge a guarantee. Draw only after this returned, and exactly once.

        A mechanism without a meaningful guarantee is entered as unbounded, and the total says so until
        :meth:`retire`.

        Parameters
        ----------
        guarantee : Guarantee
            What the mechanism promises; it is read for the unit of the budget.
        purpose : str
            What it is for, such as the name of a table.
        people : str, optional
            Whom it covers, if not those of the ledger. Charges add up all the same.
        delta : number, optional
            The delta at which a zCDP guarantee is charged; a tenth of the budget's if left out.
        invariants : sequence of str
            Must be empty.
        source : Source, optional
            What will be drawn from. A seeded one is refused: what it draws is no release.

        Raises
        ------
        BudgetExceededError
            If less is left. It has both amounts.
        GuaranteeError
            If the guarantee cannot be read for the unit of the budget, or the draws are seeded.
        LedgerError
            If the charge cannot be stored.
        """
        owner = "Ledger.spend"
        if tuple(invariants):
            refuse("invariants", owner, _INVARIANTS, ", ".join(map(repr, invariants)))
        if source is not None and source.simulated:
            raise GuaranteeError(
                "Draws with a seed are not charged to a ledger: whoever has the seed can take the noise off. "
                "Hint: give no rng to release; leave the ledger out to simulate."
            )
        budget = self.budget
        charge = budget.charge_for(guarantee, delta=delta)
        terms: dict[str, Any] = {
            "kind": SPEND,
            "ledger": self.identity,
            "purpose": checked_text("purpose", purpose, owner=owner, needed=True),
            "people": budget.people if people is None else checked_text("people", people, owner=owner),
            "guarantee": guarantee.to_dict(),
            "epsilon": None if charge is None else as_text(charge.epsilon),
            "delta": None if charge is None else as_text(charge.delta),
            "invariants": [],
        }

        def build(chain: Chain, time: str) -> Mapping[str, Any]:
            if charge is not None:
                spent = total_of(chain.entries, budget, period=budget.period_of(time)).spent
                budget.refuse_excess(charge, spent, purpose=purpose, ledger=self.name)
            return terms

        return self._add(build)

    def preview(self, guarantee: Guarantee, *, delta: Number | None = None) -> Preview:
        """Return what a charge would cost and whether it would be granted, without spending it."""
        return Preview(self.budget.charge_for(guarantee, delta=delta), self.total().remaining)

    def retire(self, number: int, *, purpose: str) -> Entry:
        """Declare that the data of an unbounded entry is used no more, so that the total counts without it.

        Parameters
        ----------
        number : int
            Of the entry. Charges that have a bound cannot be retired: what is known stays known.
        purpose : str
            Why, such as when the data was deleted.
        """
        wanted = integer("number", number, owner="Ledger.retire", low=1)
        why = checked_text("purpose", purpose, owner="Ledger.retire", needed=True)

        def build(chain: Chain, time: str) -> Mapping[str, Any]:  # noqa: ARG001 - as for a charge
            if wanted not in total_of(chain.entries, self.budget, period="").unbounded:
                raise LedgerError(
                    f"Entry {wanted} of ledger '{self.name}' is not unbounded, so there is nothing to retire."
                )
            return {"kind": RETIRE, "ledger": self.identity, "entry": wanted, "purpose": why}

        return self._add(build)

    # --- reading ---------------------------------------------------------------------------------

    def history(self) -> tuple[Entry, ...]:
        """Return all entries in order; the first opens the ledger."""
        return self._read().entries

    def total(self, *, period: str | None = None) -> Total:
        """Return what was spent.

        Parameters
        ----------
        period : str, optional
            Such as ``"2026"``; the present one if left out, and ``""`` for all time. Only the present one is
            told by the clock, which must not be behind the last entry.
        """
        entries, budget = self.history(), self.budget
        if period is None:
            now = self._clock.stamp(entries[-1].time, name=self.name) if budget.period else ""
            period = budget.period_of(now)
        return total_of(entries, budget, period=period)

    def by_purpose(self, *, period: str = "") -> dict[str, Amount]:
        """Return what each purpose cost, the largest epsilon first, in a period or all time."""
        return amounts_by_purpose(self.history(), self.budget, period=period)

    def tighter(self, *, period: str = "") -> list[Composition]:
        """Return compositions that are smaller than the sum, by name, for a period or all time.

        They hold if no amount was chosen after seeing earlier results. PLD needs the package dp-accounting.
        """
        return tighter_totals(self.history(), self.budget, period=period)

    def verify(self) -> int:
        """Check every entry again, and the anchor; return how many entries there are.

        Raises
        ------
        LedgerError
            If anything was changed or is missing.
        """
        return len(self._read(again=True))

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the ledger to a new file.

        Once more was spent, the copy is older than the anchor: put back, it is refused.
        """
        target = Path(path).absolute()
        refuse_existing(target)
        self._read()
        with open_database(self._path, write=False) as connection:
            copy_database(connection, target)

    # --- the two files ---------------------------------------------------------------------------

    def _is_made(self) -> bool:
        """Whether there is a ledger; what was cut short while it was being made does not count."""
        anchor = Anchor.load(self.anchor)
        if anchor is not None and anchor.entries:
            return True
        if not os.path.lexists(self._path):
            return False
        with open_database(self._path, write=False, new=True) as connection:
            return not is_empty(connection)

    def _make(self, given: Mapping[str, Any]) -> None:
        if "epsilon" not in given:
            raise LedgerError(
                f"There is no ledger '{self.name}'. Hint: make one with Ledger(path, epsilon=...) or "
                "'evenhand ledger init'."
            )
        default: dict[str, Any] = {"delta": 0, "unit": Unit.REPLACE_ONE, "people": "", "period": ""}
        budget = Budget.checked(**(default | dict(given)))
        identity = SecureSource().words(2).tobytes().hex()
        terms = {"kind": OPEN, "ledger": identity, "format": FORMAT, **budget.to_terms()}
        places = {} if self._given_anchor is None else {ANCHOR: str(self._given_anchor)}

        def first_chain(connection: sqlite3.Connection) -> Chain:
            if not is_empty(connection):
                raise _MadeAlready  # another process was quicker
            being_made = Anchor(identity, 0, "")
            with prepare_anchor(self.anchor, being_made) as put:
                put(being_made)
            create_tables(connection, places)
            entry = Chain().next_entry({**terms, "time": self._clock.stamp("", name=self.name)})
            return Chain((entry,))

        with open_database(self._path, write=True, new=True) as connection, suppress(_MadeAlready):
            self._store(connection, first_chain)

    def _refuse_other_budget(self, given: Mapping[str, Any]) -> None:
        """Refuse a budget that is not the one in the file: it was promised and does not change."""
        budget = self.budget
        asked: dict[str, Any] = budget.to_terms() | dict(given)
        if Budget.checked(**asked) == budget:
            return
        raise LedgerError(
            f"Ledger '{self.name}' has another budget: {budget.amount}, unit '{budget.unit}'"
            f"{f', per {budget.period}' if budget.period else ''}. Hint: leave these parameters out to open "
            "it, or name another file."
        )

    def _read(self, *, again: bool = False) -> Chain:
        """Return the chain after checking what is new in it, or all of it `again`, and the anchor."""
        with ONE_THREAD:
            self._refuse_loss()
            with open_database(self._path, write=False) as connection:
                if again:
                    known = read_chain(connection, Chain(), name=self.name).entries[: len(self._chain)]
                    refuse_change(known, self._chain.entries, name=self.name)
                return self._read_in(connection)

    def _refuse_loss(self) -> None:
        """Refuse a ledger that is gone while its anchor tells of it."""
        if not os.path.lexists(self._path):
            raise LedgerError(
                f"Ledger '{self.name}' is gone, but its anchor '{self.anchor.name}' says that it was there. "
                "Nothing was spent. Hint: put back its newest copy."
            )

    def _read_in(self, connection: sqlite3.Connection) -> Chain:
        place = read_place(connection, ANCHOR)
        if self._given_anchor is None:
            self._given_anchor = None if place is None else Path(place)
        self._refuse_second_anchor(anchor_beside(self._path) if place is None else Path(place))
        anchor = Anchor.load(self.anchor)  # before the chain, which another process may lengthen meanwhile
        chain = read_chain(connection, self._chain, name=self.name)
        if anchor is None:
            raise LedgerError(
                f"The anchor '{self.anchor.name}' of ledger '{self.name}' is missing. Nothing was spent. "
                "Hint: put it back, or name its place with anchor=..."
            )
        if not chain.entries:
            raise LedgerError(f"Ledger '{self.name}' has no entries. Hint: put back the newest copy.")
        anchor.check(chain, name=self.name)
        self._chain = chain
        return chain

    def _refuse_second_anchor(self, remembered: Path) -> None:
        """Refuse another anchor while the one that the ledger remembers is there: it would become old.

        An older copy of the ledger would then be taken for the newest by whoever names no anchor.
        """
        if os.path.lexists(remembered) and os.path.realpath(remembered) != os.path.realpath(self.anchor):
            raise LedgerError(
                f"The anchor of ledger '{self.name}' is '{remembered.name}', and that file is there. "
                "Nothing was spent. Hint: leave anchor=... out."
            )

    def _add(self, build: Callable[[Chain, str], Mapping[str, Any]]) -> Entry:
        """Store one entry and anchor it; `build` gives its terms or refuses, under the lock for writing."""

        def longer_chain(connection: sqlite3.Connection) -> Chain:
            chain = self._read_in(connection)
            time = self._clock.stamp(chain.entries[-1].time, name=self.name)
            entry = chain.next_entry({**build(chain, time), "time": time})
            return Chain((*chain.entries, entry))

        with ONE_THREAD:
            self._refuse_loss()
            if self._folding is None:
                self._folding = finalize(self, fold_log, self._path)
            with open_database(self._path, write=True) as connection:
                return self._store(connection, longer_chain)

    def _store(self, connection: sqlite3.Connection, build: Callable[[sqlite3.Connection], Chain]) -> Entry:
        """Commit the last entry of the chain that `build` returns, then bring the anchor to the disk.

        The anchor is written to a hidden file before the commit, so that a full disk is found in time, and
        takes its place after it. The lock for writing is held then too, so that no anchor replaces a newer
        one.
        """
        with ExitStack() as prepared:
            with transaction(connection):
                chain = build(connection)
                add_entry(connection, chain.entries[-1])
                put = prepared.enter_context(prepare_anchor(self.anchor, Anchor.of(chain)))
            with transaction(connection):
                self._chain = read_chain(connection, chain, name=self.name)
                put(Anchor.of(self._chain))
        return chain.entries[-1]

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_again, (str(self._path), str(self.anchor))

    def __repr__(self) -> str:
        return f"<Ledger '{self.name}' of {self.budget.amount}, unit '{self.budget.unit}'>"

    def _repr_html_(self) -> str:
        total, budget = self.total(), self.budget
        figures = [("budget", str(budget.amount)), ("unit", str(budget.unit)), ("total", str(total))]
        return figures_html("Ledger", [*figures, ("left", str(total.remaining))])


def anchor_beside(path: Path) -> Path:
    """Return where the anchor of a ledger stands, unless another place is named."""
    return path.with_name(f"{path.name}.anchor")


def _checked_place(name: str, place: object) -> Path:
    """Return the place of a file, whatever folder the program goes to later."""
    if not isinstance(place, str | os.PathLike) or "\0" in str(place):
        refuse(name, "Ledger", "the path of a file", kind_of(place))
    return Path(place).absolute()


def _open_again(path: str, anchor: str) -> Ledger:
    return Ledger(path, anchor=anchor)
