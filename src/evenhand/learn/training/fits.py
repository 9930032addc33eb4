"""What is remembered of the fits of a model: what they spend together, and which rows trained it.

Fitting again spends again. Rows that trained a classifier are not to be used again, as far as this process
knows them: a record is a digest and a weak reference. It lives as long as the classifier does, is never
stored with it, and holds no row.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evenhand.collect.privatizer.spent import Act, KeepsSpending
from evenhand.collect.reports.streams import stream_for
from evenhand.errors import PrivacyWarning
from evenhand.privacy.guarantees.units import Trust
from evenhand.privacy.rational import text_above

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import AnyLedger
    from evenhand.privacy.randomness import Source


class CountsFits(KeepsSpending):
    """A model that counts its fits and those of its copies, and states what they promise together."""

    ledger: AnyLedger | None

    def _next_stream(self, rng: Any) -> Source:
        """Return the source of the next fit: with a seed each fit of this object has its own."""
        return stream_for(rng, f"fit {len(self._spending.own)}")

    def _count_fit(self, guarantee: Guarantee, source: Source, *, simulated: bool = False) -> None:
        """Count a fit and charge it, before anything is drawn for it; the second one of the family warns."""
        owner: Any = type(self).__name__
        place = self._spending.charge(
            Act((guarantee,), simulated or source.simulated),
            ledger=self.ledger,
            source=source,
            purpose=f"{owner}.fit",
            owner=owner,
        )
        if place.warns:
            spent = text_above(self._spending.amount)
            consequence = f"has spent epsilon = {spent} by now, and each further fit adds to it"
            if any(fit.trust is Trust.NONE for fit in self._spending.guarantees()):
                consequence = "has no guarantee, since the published noise gives none"
            warnings.warn(
                "This model, or a copy or clone of it, is fitted a second time: a person whose row was in "
                f"both fits {consequence}; see guarantee_. Hint: make a new model for rows of other people, "
                "with type(model)(**model.get_params(deep=False)).",
                PrivacyWarning,
                stacklevel=3,
            )

    @property
    def guarantee_(self) -> Guarantee:
        """What all fits of this model, its copies and clones promise to a person who was in every one."""
        check_is_fitted(self)
        total: Guarantee = sum(self._spending.guarantees())  # type: ignore[assignment]
        return total

    @property
    def guarantee_per_fit_(self) -> Guarantee:
        """What the last fit of this model alone promises."""
        check_is_fitted(self)
        return list(self._spending.own.values())[-1].guarantees[0]

    @property
    def simulated_(self) -> bool:
        """Whether a seed was given in any of these fits, or noise was not exact: then nothing is released."""
        check_is_fitted(self)
        return self._spending.simulated


# --- the rows of a fit --------------------------------------------------------------------------------

_MOST_ROWS = 4_096  # of an array go into its digest, evenly spaced
_MOST_WORK = 100_000  # steps until the question whether memory is shared is left open


@dataclass(frozen=True, eq=False)
class _Mark:
    digest: bytes
    array: weakref.ref[Any] | None


_MARKS: weakref.WeakKeyDictionary[Any, _Mark] = weakref.WeakKeyDictionary()


def remember_rows(estimator: Any, X: Any) -> None:
    """Note that these rows trained the estimator; whatever cannot be noted is left out."""
    kept = weakref.ref(X) if isinstance(X, np.ndarray) else None
    with contextlib.suppress(TypeError, ValueError):  # no weak reference to it, no hash, or ragged rows
        _MARKS[estimator] = _Mark(_digest(X), kept)


def trained_on(estimator: Any, X: Any) -> bool:
    """Tell whether it is known that the estimator was trained on these rows, or in their memory.

    >>> class Model: pass
    >>> model, rows = Model(), np.arange(6.0).reshape(3, 2)
    >>> remember_rows(model, rows)
    >>> trained_on(model, rows.copy()), trained_on(model, rows + 1), trained_on(model, rows[1:])
    (True, False, True)
    """
    try:
        mark = _MARKS.get(estimator)
    except TypeError:  # no weak reference to it, or no hash of it
        return False
    if mark is None:
        return False
    before = None if mark.array is None else mark.array()
    try:
        return _share_memory(before, X) or mark.digest == _digest(X)
    except ValueError:  # ragged rows, which are not those that were noted
        return False


def _share_memory(one: Any, other: Any) -> bool:
    if one is None or not isinstance(other, np.ndarray):
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=_MOST_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False


def _digest(X: Any) -> bytes:
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    length = rows.shape[0] if rows.ndim else 0
    places = np.unique(np.linspace(0, max(length - 1, 0), _MOST_ROWS).astype(np.intp))[:length]
    some = rows[places].toarray() if hasattr(X, "tocsr") else rows[places] if length else rows
    text = repr(some.tolist()) if some.dtype.kind not in "biuf" else ""
    digest = hashlib.sha256(f"{rows.shape} {some.dtype} {text}".encode("utf-8", "surrogatepass"))
    if not text:
        digest.update(np.ascontiguousarray(some).tobytes())
    return digest.digest()
