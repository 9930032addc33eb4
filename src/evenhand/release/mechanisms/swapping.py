"""Swapping as statistical offices do it: pairs of records exchange their quasi-identifiers.

Pairs are a random person and the nearest one left, or are drawn by how far they are apart. Both ways work on
distinct tuples with the number of people who have them. Memory grows with the number of tuples and not with
that of pairs; pairs come in chunks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import one_of
from evenhand.errors import LimitExceededError
from evenhand.privacy.feeding import feed
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import Number, exact
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism
from evenhand.release.mechanisms.quasi_response import Tally, require_people, require_quasi
from evenhand.release.table.counting import cell_numbers
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.schema import Schema

    Numbers = npt.NDArray[np.int64]

kernels = lazy("evenhand.release.mechanisms.swap_kernels")  # importing it starts the compiler

Pairing = Literal["nearest", "discrepancy"]
"""How pairs are chosen."""

Swapped = Literal["people", "cells"]
"""What is a record: one person, or one cell with all its people."""

MOST_RECORDS = 2**31 - 1
"""How many records can be swapped; a larger table is refused."""

_FARTHEST = 1 << 62
_FEWEST = 1 << 12
_MOST = 1 << 20  # pairs drawn at a time


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
        :func:`~evenhand.release.mechanisms.swapping.swap_costs` (Algorithm 3 of [1]_).
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
    unlisted: ClassVar[str] = "zero"

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

    def _check(self, histogram: object, *, dense: bool = False) -> None:
        super()._check(histogram, dense=dense)
        if isinstance(histogram, Histogram):
            swap_costs(histogram.schema)  # refuses columns that cannot be compared
            if self.records == "cells":
                histogram.require_dense(owner="Swapping of cells")

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        people = require_people(histogram, owner="Swapping")
        numbering = require_quasi(histogram, owner="Swapping")
        if self.records == "cells":
            counts = histogram.require_dense(owner="Swapping of cells").reshape(-1)
            cells, total = np.arange(histogram.size), histogram.size
            alike, carried = np.ones(histogram.size, np.int64), counts
        else:
            cells, alike = histogram.filled_cells()
            total, carried = people, np.ones(cells.size, np.int64)
        if total > MOST_RECORDS:
            raise LimitExceededError(
                f"Swapping takes {MOST_RECORDS:,} records at most. Hint: publish parts of the table.",
                limit="MOST_RECORDS",
            )
        tally, offset = Tally(histogram), numbering.offset(numbering.of(cells))
        rest = cells - offset
        wanted = int(self.fraction * total / 2)
        for pairs in self._pairs(histogram, cells, alike, wanted, source):
            one, two = pairs[offset[pairs[:, 0]] != offset[pairs[:, 1]]].T
            tally.add(cells[one], -carried[one])
            tally.add(cells[two], -carried[two])
            tally.add(rest[one] + offset[two], carried[one])
            tally.add(rest[two] + offset[one], carried[two])
        return Published(tally.histogram())

    def _pairs(
        self, histogram: Histogram, cells: Numbers, alike: Numbers, pairs: int, source: Source
    ) -> Iterator[Numbers]:
        """Yield pairs of records as rows of two places in `cells`, which hold `alike` records each."""
        costs = swap_costs(histogram.schema)
        codes = np.column_stack(np.unravel_index(cells, histogram.shape)).astype(np.int64)
        if self.pairing == "nearest":
            return nearest_pairs(codes, alike, histogram.shape, costs, pairs=pairs, source=source)
        return discrepancy_pairs(codes, alike, costs, pairs=pairs, source=source)


def swap_costs(schema: Schema) -> Numbers:
    r"""Return what the distance of zhu2023 between two records of a schema costs, in whole numbers.

    .. math:: d(a, b) = \sum_{\text{categorical}} 1[a_\lambda \ne b_\lambda]
              + \sum_{\text{numerical}} \frac{|a_\lambda - b_\lambda|}{\text{range}_\lambda}

    where :math:`\lambda` runs over all columns, quasi-identifiers or not. Ranges of whole numbers are
    numerical; so are bins, by their place. "Other" is 1 away from everything else. All distances are
    multiplied by `whole`, the least common multiple of the ranges, so that equal distances are equal numbers.

    Returns
    -------
    array
        For each column the cost of one step, 0 if its values have no order; the code of "other", or -1; and
        `whole`.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain, Schema
    >>> sex = Column("sex", Domain.categorical(["f", "m"]))
    >>> swap_costs(Schema([sex, Column("age", Domain.integers(17, 90))]))
    array([[ 0, -1, 73],
           [ 1, -1, 73]])
    """
    reaches = [0 if column.domain.kind == "categorical" else column.domain.size - 1 for column in schema]
    whole = math.lcm(*(reach for reach in reaches if reach))
    if whole * len(reaches) >= _FARTHEST:
        raise LimitExceededError(
            "Swapping compares records in whole numbers of 62 bits, and the ranges of the columns "
            "have no common multiple that fits. Hint: take coarser ranges, or fewer columns.",
            limit="columns",
        )
    others = [-1 if column.other_code is None else column.other_code for column in schema]
    rows = [
        (whole // reach if reach else 0, other, whole) for reach, other in zip(reaches, others, strict=True)
    ]
    return np.array(rows, dtype=np.int64)


class _Tree(NamedTuple):
    """Tuples as leaves under their columns, children in order of their codes; see the kernels."""

    first: Numbers
    nodes: Numbers
    """The code, the parent, the people left, the first tuple and the number of tuples of each node."""

    @classmethod
    def of(cls, numbers: Numbers, shape: tuple[int, ...], people: Numbers) -> _Tree:
        """Return the tree of tuples given by their numbers in row-major order of `shape`, increasing."""
        zero = np.zeros(1, np.int64)
        first, code, parent, starts = [], [zero], [zero], [zero]
        above, base = np.zeros(numbers.size, np.int64), 0  # the node of each tuple, one level up
        for depth, size in enumerate(shape):
            prefix = numbers // math.prod(shape[depth + 1 :])
            change = np.diff(prefix, prepend=prefix[:1] - 1) != 0
            base += starts[-1].size
            node = base + np.cumsum(change) - 1
            first.append(node[starts[-1]])
            starts.append(np.flatnonzero(change))
            code.append(prefix[starts[-1]] % size)
            parent.append(above[starts[-1]])
            above = node
        first.append(np.array([base + starts[-1].size]))
        live = [np.add.reduceat(people, level_starts) for level_starts in starts]
        many = [np.diff(level_starts, append=numbers.size) for level_starts in starts]
        joined = [np.concatenate(parts) for parts in (code, parent, live, starts, many)]
        return cls(np.concatenate(first), np.stack(joined))


def nearest_pairs(
    codes: Numbers,
    people: Numbers,
    shape: tuple[int, ...],
    costs: Numbers,
    *,
    pairs: int,
    source: Source,
) -> Iterator[Numbers]:
    """Yield pairs of tuples, as rows of two: a random person left, and a random one of those nearest to them.

    The tree of the people left is made anew whenever their number has halved, so that no search goes past
    many branches without people.

    Parameters
    ----------
    codes : array
        One row for each tuple, one column for each column of the table; no two rows are equal.
    people : array
        How many people have each tuple, at least 1; fewer than 2**31 in all.
    shape : tuple of int
        How many values each column has.
    costs : array
        How far records are apart; see :func:`swap_costs`.
    pairs : int
        How many pairs; at most half of the people.
    source : Source
        Where the randomness comes from.
    """
    order = np.argsort(shape, kind="stable")  # few branches first: a search goes through fewer of them
    sizes = tuple(int(shape[axis]) for axis in order)
    numbers = cell_numbers([codes[:, axis] for axis in order], sizes)
    tuples = np.argsort(numbers)
    live = people[tuples].astype(np.int64)
    costs = np.ascontiguousarray(costs[order])
    while pairs > 0:
        kept = live > 0
        tuples, live = tuples[kept], live[kept]
        tree = _Tree.of(numbers[tuples], sizes, live)
        out = np.empty((_chunk(pairs, int(tree.nodes[2, 0])), 2), np.int64)
        levels, ties = np.empty((len(sizes), 4), np.int64), np.empty(live.size, np.int64)
        here = np.ascontiguousarray(codes[tuples][:, order])
        parameters = (tree.first, tree.nodes, here, _ranks(live), costs, levels, ties)
        feed(kernels.nearest, out, parameters, source, units=np.uint64, words=2.5)
        live = tree.nodes[2, -live.size :]
        pairs -= len(out)
        yield tuples[out]


def discrepancy_pairs(
    codes: Numbers, people: Numbers, costs: Numbers, *, pairs: int, source: Source
) -> Iterator[Numbers]:
    """Yield pairs of tuples, as rows of two, each pair of people left as likely as they are far apart.

    Parameters are as in :func:`nearest_pairs`. There are fewer pairs if all the people left are alike.
    """
    tuples, live = np.arange(people.size), people.astype(np.int64)
    while pairs > 0:
        kept = live > 0
        tuples, live = tuples[kept], live[kept]
        here = np.ascontiguousarray(codes[tuples])
        total, squares = int(live.sum()), int((live**2).sum())
        totals = np.array([total, squares, max(1, _farthest(here, costs))])
        out = np.empty((_chunk(pairs, total), 2), np.int64)
        parameters: tuple[Any, ...] = (here, live, _ranks(live), _ranks(live**2), costs, totals)
        feed(kernels.apart, out, parameters, source, units=np.uint64, words=10)
        pairs -= len(out)
        if out[-1, 0] < 0:
            out, pairs = out[out[:, 0] >= 0], 0
        yield tuples[out]


def _chunk(pairs: int, people: int) -> int:
    return min(pairs, max(_FEWEST, min(_MOST, people // 4)))


def _ranks(values: Numbers) -> Numbers:
    """Return the Fenwick tree of the values: entry i has the sum of the last (i & -i) of the first i."""
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(values)))
    places = np.arange(sums.size)
    return sums - sums[places - (places & -places)]


def _farthest(codes: Numbers, costs: Numbers) -> int:
    """Return a bound of the distance between two of the tuples."""
    total = 0
    for column, (step, other, whole) in enumerate(costs.tolist()):
        values = codes[:, column]
        plain = values[values != other] if step else values
        reach = int(plain.max()) - int(plain.min()) if plain.size else 0
        mixed = plain.size < values.size and plain.size > 0
        total += whole if mixed or (reach and not step) else reach * step
    return total
