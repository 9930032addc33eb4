"""Permanent answers for questions that are asked again: one draw per person and value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._validate import integer, require_true_values
from evenhand.collect.protocols.base import Protocol, draw_reports
from evenhand.collect.protocols.codes import check_codes
from evenhand.collect.protocols.law import FRESH, TAKES_PART
from evenhand.collect.reports.reports import Reports
from evenhand.collect.reports.streams import stream_for
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.ledger.charging import find_ledger, fit_purpose
from evenhand.privacy.randomness import SecureSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.randomness import Source

_OWNER = "Memo.answer"
_COPIED = (
    "A Memo is not copied or sent to another process: a copy would draw a second answer for people "
    "it meets first, and two answers cost twice. Hint: make one Memo and ask it in every round."
)


class Memo:
    r"""One permanent answer per person and value, for a question that is asked again and again.

    The first time a person is seen with a value, a report is drawn and kept. From then on the same report is
    given for this person and value, whatever the number of rounds. Drawing afresh in each of :math:`T` rounds
    would cost :math:`T\varepsilon`: the mean of many answers tells the truth.

    **Guarantee.** For a person who holds one value throughout, the answers of all rounds together are as
    private as one report: pure, ``protocol.epsilon``, unit one person. With :math:`m` different values it is
    :math:`m\varepsilon`, between histories that *change in the same rounds* only. When a value changes is not
    hidden: an answer that differs from the last one shows it, and no epsilon bounds that. Whether and when a
    person answers must not depend on the value. Numerics: those of the protocol.

    Parameters
    ----------
    protocol : Protocol
        What draws the answers.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names is charged, unless an `rng` is given. It is charged once for all people who
        hold one value throughout, and again when somebody holds one value more than anybody before.

    Notes
    -----
    The store holds who has which value. It is as private as the data itself: it stays in the memory of this
    process, no method writes it to a file, and it cannot be copied, sent to another process or used in one
    that was forked off, where a second answer would be drawn for people met there first. In earnest each
    person's own device holds their part.

    References
    ----------
    .. [1] Erlingsson, Pihur, Korolova (2014). RAPPOR: randomized aggregatable privacy-preserving ordinal
           response. CCS. Permanent randomized response.
    .. [2] Ding, Kulkarni, Yekhanin (2017). Collecting telemetry data privately. NeurIPS. What memoisation
           shows when a value changes.

    Examples
    --------
    >>> from evenhand.collect.protocols.grr import GRR
    >>> memo = Memo(GRR(k=4, epsilon=1))
    >>> people = ["ada", "ben", "cem"]
    >>> first = memo.answer(people, [0, 3, 3], rng=7)
    >>> again = memo.answer(people, [0, 3, 3], rng=8)
    >>> bool((first == again).all())
    True
    >>> memo.guarantee.epsilon, str(memo.guarantee.unit)
    (Fraction(1, 1), 'one person')
    """

    def __init__(self, protocol: Protocol, *, ledger: AnyLedger | None = None) -> None:
        given: object = protocol
        if not isinstance(given, Protocol):
            raise InvalidParameterError(
                "protocol",
                owner="Memo",
                must_be="a protocol, such as GRR(k=4, epsilon=1)",
                got=f"a value of type {type(given).__name__}",
            )
        self._protocol, self._process = protocol, os.getpid()
        self._people = Numbering()
        self._pairs = Numbering()
        self._values = draw_reports(protocol, np.empty(0, dtype=np.int64), SecureSource()).values
        self._simulated, self._streams = np.empty(0, dtype=np.bool_), frozenset[Any]()
        self._batches = 0
        self._ledger, self._charged = ledger, dict[Path, int]()
        self._lock = Lock()

    @property
    def protocol(self) -> Protocol:
        """What draws the answers; another one needs a memo of its own."""
        return self._protocol

    def answer(self, people: Any, codes: Any, *, rng: Any = None) -> Reports:
        """Return each person's permanent answer, drawn now for those who have none for their value yet.

        Parameters
        ----------
        people : array of int or str
            Who answers: ids that mean the same person in every round. Text is compared as it stands.
        codes : array of int
            Each person's value now, 0 to ``k - 1``.
        rng : None, int, Generator or Source
            Where new answers come from. None for the operating system's secure source. Anything else makes
            a simulation; a seed that is given in several rounds has a new stream in each.

        Returns
        -------
        Reports
            In the order of `people`, whom the caller has; :meth:`Reports.write_parquet` shuffles. Simulated
            if any of them was drawn in a simulation.

        Raises
        ------
        InvalidParameterError
            If ids are missing or are not of one type, in all rounds; or if the codes are not whole numbers of
            the domain. Nothing is drawn then, and nothing is kept.
        GuaranteeError
            In a process that was forked off the one that made the memo.
        """
        if os.getpid() != self._process:
            raise GuaranteeError(_COPIED)
        values = check_codes(codes, self.protocol.k, owner=_OWNER)
        with self._lock:  # two threads must not draw two answers for one person
            ids = check_people(people, kind=self._people.kind, owner=_OWNER)
            if len(ids) != len(values):
                raise InvalidParameterError(
                    "people", owner=_OWNER, must_be="as many as there are codes", got="another number of them"
                )
            return self._find_answers(ids, values, rng)

    def _find_answers(self, ids: pa.Array, values: npt.NDArray[Any], rng: Any) -> Reports:
        persons, newcomers = self._people.find(ids)
        places, unseen = self._pairs.find(pa.array(persons * self.protocol.k + values.astype(np.int64)))
        source = stream_for(rng, f"batch {self._batches}")
        if len(unseen):
            self._charge(unseen, source)
            drawn = draw_reports(self.protocol, unseen.to_numpy() % self.protocol.k, source)
            self._keep(newcomers, unseen, drawn)
        simulated = bool(self._simulated[places].any())
        return Reports._drawn(  # noqa: SLF001 - of this package; what is taken by places is a copy
            self._values[places], self.protocol, simulated=simulated, streams=self._streams
        )

    def _charge(self, unseen: pa.Array, source: Source) -> None:
        """Charge what a person who held most values costs, as far as that was not charged before."""
        found = find_ledger(self._ledger, source=source, owner="Memo")
        if found is None:
            return
        held, charged = self._pairs.most_together(unseen, self.protocol.k), self._charged.get(found.path, 0)
        if held > charged:
            more = self.guarantee_for(values_held=held - charged)
            found.spend(more, purpose=fit_purpose(f"permanent answers of {self.protocol!r}"), source=source)
            self._charged[found.path] = held

    def _keep(self, newcomers: pa.Array, unseen: pa.Array, drawn: Reports) -> None:
        self._people.add(newcomers)
        self._pairs.add(unseen)
        self._values = np.concatenate((self._values, drawn.values))
        self._simulated = np.concatenate((self._simulated, np.full(len(drawn), drawn.simulated)))
        self._streams |= drawn.streams
        self._batches += 1

    @property
    def guarantee(self) -> Guarantee:
        """What all answers of a person together promise, if the person holds one value throughout."""
        return self.guarantee_for()

    def guarantee_for(
        self, *, values_held: int = 1, protects: Sequence[str] = (), in_clear: Sequence[str] = ()
    ) -> Guarantee:
        """Return what all answers of a person together promise.

        Parameters
        ----------
        values_held : int
            How many different values a person holds at most, over all rounds; 1 to ``k``.
        protects, in_clear : sequence of str
            The columns that the guarantee is about, and those beside them that anybody sees.

        Examples
        --------
        >>> from evenhand.collect.protocols.grr import GRR
        >>> changing = Memo(GRR(k=4, epsilon="1/2")).guarantee_for(values_held=3)
        >>> changing.epsilon
        Fraction(3, 2)
        >>> print(changing.assumptions[-1])
        in which rounds a person has the same value as in which others is public, since the answers show it
        """
        owner = "Memo.guarantee_for"
        most_values = integer("values_held", values_held, owner=owner, low=1, high=self.protocol.k)
        once = self.protocol.guarantee_for(protects=protects, in_clear=in_clear)
        return Guarantee(
            epsilon=most_values * once.loss.amount,
            unit="one person",
            trust="local",
            protects=protects,
            in_clear=in_clear,
            tight=once.tight and most_values == 1,
            proof=f"memoised {once.proof}",
            assumptions=(
                *(assumption for assumption in once.assumptions if assumption not in {FRESH, TAKES_PART}),
                "one answer per person and value is drawn, once, with fresh randomness",
                "whether a person answers in a round does not depend on the value",
                *_held_values(most_values),
            ),
        )

    def __reduce__(self) -> NoReturn:
        raise GuaranteeError(_COPIED)

    def __repr__(self) -> str:
        return f"Memo({self.protocol!r})"


def _held_values(values_held: int) -> tuple[str, ...]:
    if values_held == 1:
        return ("each person holds one value throughout: a change of value shows when it happens",)
    return (
        f"each person holds at most {values_held} different values",
        "in which rounds a person has the same value as in which others is public, since the answers show it",
    )


class Numbering:
    """Whole numbers or texts, each with the number of its first appearance.

    Looking up costs time in proportion to what is looked up and what is known; nothing is a Python loop.
    """

    def __init__(self) -> None:
        self._known: pa.Array | None = None

    @property
    def kind(self) -> Literal["integers", "text"] | None:
        """What is numbered; None as long as there is no number."""
        if self._known is None:
            return None
        return "integers" if pa.types.is_integer(self._known.type) else "text"

    def find(self, things: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
        """Return the number of each, and the unknown ones, each once; those are numbered after the known."""
        if self._known is None:
            return _encode_distinct(things)
        numbers = _to_integers(pc.index_in(things, value_set=self._known).fill_null(-1))
        unknown = numbers < 0
        if not unknown.any():
            return numbers, things[:0]
        later, fresh = _encode_distinct(things.filter(pa.array(unknown)))
        numbers[unknown] = later + len(self._known)
        return numbers, fresh

    def most_together(self, fresh: pa.Array, k: int) -> int:
        """Return how many of these numbers and the known ones have the same quotient by `k`, at most."""
        known = [] if self._known is None else [self._known]
        numbers = _to_integers(pa.concat_arrays([*known, fresh]))
        return int(np.bincount(numbers // k).max())

    def add(self, fresh: pa.Array) -> None:
        """Give numbers to the things that :meth:`find` found unknown."""
        if len(fresh):
            self._known = fresh if self._known is None else pa.concat_arrays([self._known, fresh])


def _encode_distinct(things: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    encoded = things.dictionary_encode()
    return _to_integers(encoded.indices), encoded.dictionary


def _to_integers(array: pa.Array) -> npt.NDArray[np.int64]:
    return np.array(array.to_numpy(zero_copy_only=False), dtype=np.int64)


def check_people(people: Any, *, kind: str | None, owner: str) -> pa.Array:
    """Return ids as an Arrow array of ``int64`` or ``large_string``, or refuse them without telling any.

    Parameters
    ----------
    people : array, list or series
        One id for each person.
    kind : {"integers", "text"}, optional
        What ids were before; they must stay so.
    owner : str
        Who asks, for messages.
    """
    require_true_values(people, name="people", owner=owner)
    try:
        array = _arrow_ids(people)
        wanted = pa.int64() if pa.types.is_integer(array.type) else pa.large_string()
        texts = {pa.string(), pa.large_string(), pa.string_view()}
        ids = array.cast(wanted) if pa.types.is_integer(array.type) or array.type in texts else None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        ids = None
    if hasattr(people, "__len__") and len(people) == 0:  # of any type: an empty list has none
        return pa.array([], type=pa.int64() if kind == "integers" else pa.large_string())
    if ids is None:
        raise _people_error(owner, "something else")
    if ids.null_count:
        raise _people_error(owner, "a missing id")
    given = "integers" if pa.types.is_integer(ids.type) else "text"
    if kind is not None and kind != given:
        words = {"integers": "whole numbers", "text": "text"}
        must_be = f"{words[kind]}, as in the rounds before"
        raise InvalidParameterError("people", owner=owner, must_be=must_be, got=words[given])
    return ids


def _arrow_ids(people: Any) -> pa.Array:
    unordered = isinstance(people, str | bytes | AbstractSet | Mapping)  # one text is no list of ids
    if unordered or nw.dependencies.is_into_dataframe(people):
        raise TypeError
    series = nw.from_native(people, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        people = series.to_arrow()
    if isinstance(people, np.ndarray) and people.ndim != 1:
        raise ValueError  # a table of ids has no one id for each person
    made = people if isinstance(people, pa.Array | pa.ChunkedArray) else pa.array(people)
    flat = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
    return flat.dictionary_decode() if pa.types.is_dictionary(flat.type) else flat


def _people_error(owner: str, got: str) -> InvalidParameterError:
    return InvalidParameterError(
        "people",
        owner=owner,
        must_be="one id for each person, all whole numbers of 64 bits or all text",
        got=got,
    )
