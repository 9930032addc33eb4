"""Swapping as statistical offices do it: pairs of records exchange their quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from evenhand._validate import one_of
from evenhand.errors import LimitExceededError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import Number, exact
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism
from evenhand.release.mechanisms.quasi_cells import Tally, filled_cells, require_people, require_quasi

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram

    Numbers = npt.NDArray[np.int64]

__all__ = ["Pairing", "Swapped", "Swapping"]

Pairing = Literal["nearest", "discrepancy"]
"""How pairs are chosen."""

Swapped = Literal["people", "cells"]
"""What is a record: one person, or one cell with all its people."""


@dataclass(frozen=True, repr=False)
class Swapping(ReleaseMechanism):
    r"""Exchange the quasi-identifiers of pairs of records.

    With :math:`N` records, :math:`\lfloor f N / 2 \rfloor` pairs are chosen one after another among the
    records that are not yet swapped, and the two records of a pair exchange their quasi-identifiers; here
    :math:`f` is `fraction`.

    **Guarantee.** None. Nothing limits what can be learnt about one person: people who are not swapped are
    published as they are, as are all margins of either kind of columns. Unit: replace one. Numerics: pairs
    are drawn exactly as defined. May be used for release, which the guarantee's text then accompanies.

    Parameters
    ----------
    fraction : int, float, str, Fraction or Decimal
        The share of the records that take part, 0 to 1.
    pairing : {"nearest", "discrepancy"}
        ``"nearest"``: a random record, and a random one of those nearest to it by the distance of
        :class:`~evenhand.release.mechanisms.swap_pairs.SwapDistance` (Algorithm 3 of [1]_).
        ``"discrepancy"``: each pair with a probability proportional to that distance (section 3 of [1]_). The
        two differ: one prefers pairs that are alike, the other pairs that are not.
    records : {"people", "cells"}
        What a record is. ``"people"``: one person, so that the table of the quasi-identifiers and that of
        the other columns stay as they are. ``"cells"``: one cell of the table, empty or not, with all its
        people, as in Figure 1(d) of [1]_; the table of the quasi-identifiers then changes.

    Notes
    -----
    The distance runs over all columns, so the nearest record to a person is anybody with the same values in
    all of them, and such a swap changes nothing. Swapping people with the nearest therefore changes little
    where cells hold many people. The paper's parameter is :math:`\gamma = 1 - f`.

    There is no formula for the bias; it is sampled.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Section 3, appendix B.2, Algorithm 3.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> sex = Column("sex", Domain.categorical(["f", "m"]))
    >>> block = Column("block", Domain.categorical(["1", "2"]))
    >>> table = Histogram.of([[3, 0], [1, 4]], Schema([sex, block], quasi_identifiers="sex"))
    >>> release = Swapping(fraction=1, pairing="discrepancy").release(table, rng=7)
    >>> release.histogram.margin("sex").counts, release.histogram.margin("block").counts
    (array([3, 5]), array([4, 4]))
    >>> print(release.guarantee)
    This is no meaningful guarantee: nothing limits what can be learnt about one person (trust: none).
    In the clear, and so not protected: sex and block.
    """

    name: ClassVar[str] = "swapping"
    title: ClassVar[str] = "swapping"
    example_parameters: ClassVar[Mapping[str, Any]] = {"fraction": "1/2"}
    label: ClassVar[str] = "Swapping"
    defaults: ClassVar[Mapping[str, Any]] = {"fraction": 0.1}
    needs_quasi_identifiers: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    fraction: Fraction
    pairing: Pairing = "nearest"
    records: Swapped = "people"

    def __init__(
        self, fraction: Number, pairing: Pairing = "nearest", *, records: Swapped = "people"
    ) -> None:
        self._set(
            fraction=exact(fraction, name="fraction", owner="Swapping", least=0, most=1),
            pairing=one_of("pairing", pairing, get_args(Pairing), owner="Swapping"),
            records=one_of("records", records, get_args(Swapped), owner="Swapping"),
        )

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return the statement that nothing is guaranteed."""
        del epsilon, as_printed
        require_quasi(histogram, owner="Swapping")
        proof = "none: records that are not swapped are published as they are"
        return Guarantee.no_guarantee(unit="replace one", in_clear=histogram.columns, proof=proof)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        from evenhand.release.mechanisms.swap_pairs import MOST_RECORDS, pairs_to_swap  # noqa: PLC0415 - starts the compiler

        people = require_people(histogram, owner="Swapping")
        numbering = require_quasi(histogram, owner="Swapping")
        if self.records == "cells":
            counts = histogram.require_dense(owner="Swapping of cells").reshape(-1)
            cells, total = np.arange(histogram.size), histogram.size
            alike, carried = np.ones(histogram.size, np.int64), counts
        else:
            cells, alike = filled_cells(histogram)
            total, carried = people, np.ones(cells.size, np.int64)
        if total > MOST_RECORDS:
            raise LimitExceededError(
                f"Swapping takes {MOST_RECORDS:,} records at most. Hint: publish parts of the table.",
                limit="MOST_RECORDS",
            )
        tally, offset = Tally(histogram), numbering.offset(numbering.of(cells))
        rest = cells - offset
        wanted = int(self.fraction * total / 2)
        for pairs in pairs_to_swap(histogram, cells, alike, wanted, pairing=self.pairing, source=source):
            one, two = pairs[offset[pairs[:, 0]] != offset[pairs[:, 1]]].T
            tally.add(cells[one], -carried[one])
            tally.add(cells[two], -carried[two])
            tally.add(rest[one] + offset[two], carried[one])
            tally.add(rest[two] + offset[one], carried[two])
        return Published(tally.histogram())
