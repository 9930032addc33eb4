r"""Whether a column in the clear follows the order of the input, and whether sorting by it gives that back.

Shuffled reports do not show who stood where. A number, a time or a list of places beside them may. This is
measured while a file is read, from the columns in the clear and their order; what is reported is not looked
at. What is published of it is one of a few words for each of these columns, and no figure.

A column follows the order if one of these holds. What is missing comes before everything else.

* It never falls, or never rises, and is not the same throughout.
* Of the pairs of rows that differ, those that rise are not about as many as those that fall. Neighbours are
  compared, and rows half a batch apart, which shows an order that is blurred from one row to the next.
* Neighbours are alike more often than in a random order, as where a column comes in blocks, or less often, as
  where its values take turns. Neighbours are alike if they are equal, which is looked at for columns of few
  values, or if they are in the same quarter of values, as the first rows with any value divide them.
* Too few rows, or too many, are turning points: higher than both neighbours, or lower than both. Of three
  different values the middle one is the first, second or last with the same probability, so that :math:`2/3`
  of the rows turn in a random order. The variance among :math:`n` different values is
  :math:`(16 n - 29) / 90`; where some are equal, :math:`2/3` for each three different ones is above it.

Of long batches, turning points and quarters are counted in parts all through them. A random order passes for
one of the last three with a probability below :math:`10^{-8}`.

A column that follows the order *gives it back* if Spearman's rank correlation with the places of the rows is
at least 0.99 or at most -0.99: equal blocks, sorted, reach that with eight values. Any other is *associated*
with the order. The correlation is that of at most 1,000 rows, which a hash of their places chooses; text that
is all numbers is also compared as numbers, and where half of the rows or more have a value, also without the
missing ones: the strongest counts.
"""

from __future__ import annotations

import hashlib
import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.collect.privatizer.bare_columns import bare_array, write_out_views
from evenhand.engine.writers import has_length, plain_values
from evenhand.privacy.guarantees.units import ROW_ORDER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

_DEVIATIONS = 6.0
_LEAST_SHARE = 0.1
_LEAST_PAIRS = 16  # of which at most a tenth in one direction: a random order has that below 1e-8
_SAMPLED_ROWS = 1_000
_PARTS, _PART_ROWS = 16, 1 << 9  # of a long batch, in which turning points and quarters are counted
_WRITTEN_OUT = 32 << 20
_QUARTERS = 4
_LONG_TEXT = 32
_SAMPLED_BYTES = 4 << 20  # of a column whose texts are longer no rows are sampled
_GIVING = 0.99
MOST_VALUES = 4096
"""Different values of a column that are counted; in one with more, quarters of the values are."""

GIVES_BACK, ASSOCIATED = "gives it back", "is associated with it"
NOT_COMPARED = "was not compared with it"
RELATIONS = (GIVES_BACK, NOT_COMPARED, ASSOCIATED)
"""What is said of a column and the order of the rows, the strongest first."""


class RowOrder:
    """Which columns follow the order of the rows.

    Parameters
    ----------
    columns : sequence of str
        The columns in the clear.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = {name: _ColumnOrder() for name in columns}
        self._places, self._rows = np.arange(0), 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the next rows."""
        kept, new = self._choose_rows(batch.num_rows) if self._columns else ([], [])
        for name, column in self._columns.items():
            column.add(batch.column(name))
            column.sample(batch.column(name), kept, new)

    def _choose_rows(self, rows: int) -> tuple[Any, Any]:
        """Return which rows of the sample stay in it, and which of the next rows come into it."""
        before = len(self._places)
        places = np.concatenate([self._places, np.arange(self._rows, self._rows + rows)])
        chosen = np.arange(len(places))
        if len(places) > _SAMPLED_ROWS:
            chosen = np.sort(np.argpartition(_hash_places(places), _SAMPLED_ROWS)[:_SAMPLED_ROWS])
        self._places, self._rows = places[chosen], self._rows + rows
        return chosen[chosen < before], chosen[chosen >= before] - before

    @property
    def following(self) -> tuple[str, ...]:
        """The columns that follow the order of the rows seen so far."""
        return tuple(self.relations)

    @property
    def relations(self) -> dict[str, str]:
        """What is said of each of them and the order, one of :data:`RELATIONS`."""
        return {name: column.relation for name, column in self._columns.items() if column.follows}

    @property
    def correlations(self) -> dict[str, float]:
        """The rank correlation with the order, for whoever has the rows, where there is one."""
        found = {name: self._columns[name].correlation for name in self.following}
        return {name: value for name, value in found.items() if value is not None}


def describe_row_order(relations: Mapping[str, str], *, is_kept: bool) -> tuple[str, ...]:
    """Return what a guarantee says of the order of the rows among what is in the clear.

    No figure is among it: the guarantee travels, and how a column goes with the order may tell something of
    what the input was sorted by.

    >>> describe_row_order({}, is_kept=False), describe_row_order({}, is_kept=True)
    ((), ('row order',))
    >>> describe_row_order({"id": GIVES_BACK, "rate": ASSOCIATED}, is_kept=False)
    ('row order (id gives it back)', 'row order (rate is associated with it)')
    """
    if is_kept:
        return (ROW_ORDER,)
    return tuple(f"{ROW_ORDER} ({name} {relation})" for name, relation in relations.items())


def read_relations(columns: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    """Return what the words of a guarantee say of columns in the clear and the order of the rows.

    >>> read_relations(["id", "sex"], ["id", "sex", "row order (id gives it back)"])
    {'id': 'gives it back'}
    """
    pairs = [(name, relation) for name in columns for relation in RELATIONS]
    return {
        name: relation
        for name, relation in pairs
        if describe_row_order({name: relation}, is_kept=False)[0] in words
    }


def join_relations(columns: Sequence[str], parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the strongest that is said of each column in any of several files.

    >>> join_relations(["id", "sex"], [{"id": ASSOCIATED}, {"id": GIVES_BACK}])
    {'id': 'gives it back'}
    """
    said = {name: {part[name] for part in parts if name in part} for name in columns}
    return {name: min(said[name], key=RELATIONS.index) for name in columns if said[name]}


class _ColumnOrder:
    """Counts of rows and pairs of rows in which a column rises, falls, turns or stays alike."""

    def __init__(self) -> None:
        self._near, self._far, self._turns = _Pairs(), _Pairs(), _Turns()
        self._equal, self._quarters = _Alike(), _Alike()
        self._edges: Any = None  # between quarters, once there are any
        self._last: Any = None  # the last two rows
        self._is_counted = self._is_comparable = True
        self._is_sampled = True
        self._sampled: Any = None  # the values of some rows

    def add(self, column: Any) -> None:
        if not self._is_comparable or not len(column):
            return
        try:
            self._compare(write_out_views(column))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
            self._is_comparable = False

    def _compare(self, column: Any) -> None:
        if pa.types.is_dictionary(column.type):
            if _is_short(column):
                column = plain_values(column)
            elif len(column.dictionary) > len(column):
                column = bare_array(column)  # a long list is not sorted for a few rows
        keys = self._keys_of(column)
        if self._edges is None:
            self._edges = _find_edges(column, keys[len(keys) - len(column) :])
            keys = self._keys_of(column)
        edges = 0 if self._edges is None else len(self._edges)
        rows = keys[edges:]
        before = len(rows) - len(column)
        new = max(before - 1, 0)  # the pair of the last two rows was counted with them
        self._near.add(rows[new:-1], rows[new + 1 :])
        half = len(column) // 2
        self._far.add(rows[before : before + half], rows[len(rows) - half :])
        for part, old in _choose_parts(rows, before):
            self._turns.add(part)
            quarters = _number_quarters(part, keys[:edges])
            followed = quarters[max(old - 1, 0) :]
            self._quarters.changes += int(np.count_nonzero(followed[1:] != followed[:-1]))
            self._quarters.pairs += len(followed) - 1
            for quarter, count in enumerate(np.bincount(quarters[old:]).tolist()):
                self._quarters.add(quarter, count)
        self._equal.pairs += len(rows) - new - 1
        self._equal.changes = self._near.ups + self._near.downs
        self._count_equal(column)
        ends = _take_values(column, range(max(len(column) - 2, 0), len(column)))
        self._last = ends if self._last is None else pa.concat_arrays([self._last, ends])[-2:]

    def _keys_of(self, column: Any) -> Any:
        return _keys_of(column, [part for part in (self._edges, self._last) if part is not None])

    def _count_equal(self, column: Any) -> None:
        if not self._is_counted:
            return
        is_listed = pa.types.is_dictionary(column.type)
        counted = pc.value_counts(column.indices if is_listed else _comparable(column))
        if len(counted) <= MOST_VALUES:
            places, counts = counted.field(0), counted.field(1)
            values = _comparable(column.dictionary).take(places) if is_listed else places
            for value, count in zip(values, counts, strict=True):
                self._equal.add(_short(value.as_py()), count.as_py())
        self._is_counted = len(counted) <= MOST_VALUES and len(self._equal.counts) <= MOST_VALUES

    @property
    def follows(self) -> bool:
        if not self._is_comparable:  # what cannot be measured is said
            return True
        if self._near.is_one_way or self._near.is_uneven or self._far.is_uneven or self._turns.are_odd:
            return True
        return self._quarters.is_patterned or (self._is_counted and self._equal.is_patterned)

    def sample(self, column: Any, kept: Any, new: Any) -> None:
        """Keep the values of some rows of those before, and take those of some of the next."""
        values = column.dictionary if pa.types.is_dictionary(column.type) else column
        if not self._is_comparable or _find_longest(values) * _SAMPLED_ROWS > _SAMPLED_BYTES:
            self._is_sampled = False
        if not self._is_sampled:
            self._sampled = None
            return
        old = [] if self._sampled is None else [self._sampled.take(pa.array(kept))]
        self._sampled = pa.concat_arrays([*old, _take_values(write_out_views(column), new)])

    @property
    def relation(self) -> str:
        if not self._is_comparable:
            return NOT_COMPARED
        return GIVES_BACK if abs(self.correlation or 0.0) >= _GIVING else ASSOCIATED

    @property
    def correlation(self) -> float | None:
        """The strongest rank correlation of the sampled rows; None where nothing differs."""
        if self._sampled is None:
            return None
        forms = [self._sampled]
        if pa.types.is_string(self._sampled.type) or pa.types.is_large_string(self._sampled.type):
            with suppress(pa.ArrowInvalid):
                forms.append(self._sampled.cast(pa.float64()))
        there = np.flatnonzero(_as_mask(self._sampled.is_valid()))
        if 2 * len(there) >= len(self._sampled):
            forms += [form.take(pa.array(there)) for form in forms]
        found = [value for value in map(_correlate_with_places, forms) if value is not None]
        return max(found, key=abs, default=None)


def _hash_places(places: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return numbers that look random, one for each place: the rows with the lowest are no cycle of rows."""
    words = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def _correlate_with_places(values: Any) -> float | None:
    """Return Spearman's rank correlation of values and their places; what is missing comes first."""
    codes = pc.rank(values, tiebreaker="dense").to_numpy().astype(np.int64)
    codes[_as_mask(values.is_null())] = 0
    counts = np.bincount(codes)
    if np.count_nonzero(counts) < 2:
        return None
    ranks = (np.cumsum(counts) - counts / 2)[codes]
    return float(np.corrcoef(ranks, np.arange(len(codes)))[0, 1])


class _Pairs:
    """How many pairs rise and how many fall."""

    def __init__(self) -> None:
        self.ups = self.downs = 0

    def add(self, before: Any, after: Any) -> None:
        self.ups += int(pc.sum(_rises(before, after)).as_py() or 0)
        self.downs += int(pc.sum(_rises(after, before)).as_py() or 0)

    @property
    def is_one_way(self) -> bool:
        """Whether none falls or none rises or, of enough, hardly any."""
        both, fewer = self.ups + self.downs, min(self.ups, self.downs)
        return both > 0 and (fewer == 0 or (both >= _LEAST_PAIRS and fewer <= _LEAST_SHARE * both))

    @property
    def is_uneven(self) -> bool:
        both = self.ups + self.downs
        return _is_beyond(abs(self.ups - self.downs), both, variance=both)


class _Alike:
    """How often neighbours differ in a kind, and how many rows there are of each kind."""

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}
        self.changes = self.pairs = 0

    def add(self, kind: Any, rows: int) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + rows

    @property
    def is_patterned(self) -> bool:
        """Whether neighbours differ less or more often than they would in a random order."""
        rows = sum(self.counts.values())
        if rows < 2:
            return False
        alike = sum(count * (count - 1) for count in self.counts.values())
        expected = self.pairs * (1 - alike / (rows * (rows - 1)))
        return _is_beyond(abs(self.changes - expected), expected, variance=expected)


class _Turns:
    """Of three rows in a row with different values, how often the middle one is the highest or lowest."""

    def __init__(self) -> None:
        self._triples = self._different = self._turning = 0

    def add(self, rows: Any) -> None:
        """Count those of neighbouring rows."""
        if len(rows) < 3:
            return
        rises, falls = (_as_mask(_rises(*pair)) for pair in ((rows[:-1], rows[1:]), (rows[1:], rows[:-1])))
        ends_differ = _differ(rows[:-2], rows[2:])
        turning = (rises[:-1] & falls[1:]) | (falls[:-1] & rises[1:])
        passing = (rises[:-1] & rises[1:]) | (falls[:-1] & falls[1:])
        turns = int(np.count_nonzero(turning & ends_differ))
        self._triples += len(ends_differ)
        self._turning += turns
        self._different += turns + int(np.count_nonzero(passing))

    @property
    def are_odd(self) -> bool:
        expected = 2 / 3 * self._different
        all_differ = self._different == self._triples
        variance = (16 * self._different + 3) / 90 if all_differ else expected
        return _is_beyond(abs(self._turning - expected), expected, variance=variance)


def _is_beyond(difference: float, expected: float, *, variance: float) -> bool:
    return difference > max(_LEAST_SHARE * expected, _DEVIATIONS * math.sqrt(variance))


def _choose_parts(rows: Any, before: int) -> list[tuple[Any, int]]:
    """Return parts of the rows, each with how many of its first rows were counted before."""
    if len(rows) <= _PARTS * _PART_ROWS:
        return [(rows, before)]
    starts = np.linspace(before, len(rows) - _PART_ROWS, _PARTS).astype(int).tolist()
    return [(rows[start : start + _PART_ROWS], 0) for start in starts]


def _is_short(column: Any) -> bool:
    """Whether places in a list of values, written out, take little memory."""
    return _find_longest(column.dictionary) * len(column) <= _WRITTEN_OUT


def _find_longest(values: Any) -> int:
    """Return how many bytes the longest text has; 0 of values that are no texts."""
    plain = write_out_views(values)
    return (pc.max(pc.binary_length(plain)).as_py() or 0) if has_length(plain.type) else 0


def _keys_of(column: Any, beside: Sequence[Any]) -> Any:
    """Return an array whose values compare as those of `beside`, and then of the column, do.

    Of places in a list of values only the list is sorted: written out, the rows may be too many for memory.
    """
    if not pa.types.is_dictionary(column.type):
        values = _comparable(column)
        return pa.concat_arrays([*beside, values]) if beside else values
    values = pa.concat_arrays([*beside, _comparable(column.dictionary)])
    ranks = pc.if_else(values.is_valid(), pc.rank(values, tiebreaker="dense"), None)
    start = len(values) - len(column.dictionary)
    places = pc.add(column.indices.cast(pa.int64()), start)
    return ranks.take(pa.concat_arrays([pa.array(range(start), pa.int64()), places]))


def _take_values(column: Any, rows: Sequence[int]) -> Any:
    """Return some rows as comparable values in memory of their own."""
    places = pa.array(rows, pa.int64())
    if pa.types.is_dictionary(column.type):
        return _comparable(column.dictionary).take(column.indices.take(places))
    return _comparable(column.take(places))


def _find_edges(column: Any, keys: Any) -> Any:
    """Return values that divide some of the rows into quarters, or None if all are missing."""
    rows = np.flatnonzero(_as_mask(keys.is_valid()))
    rows = rows[:: max(len(rows) // _SAMPLED_ROWS, 1)]
    if not len(rows):
        return None
    by_value = rows[pc.sort_indices(keys.take(pa.array(rows))).to_numpy()]
    return _take_values(
        column, [int(by_value[len(rows) * part // _QUARTERS]) for part in range(1, _QUARTERS)]
    )


def _number_quarters(keys: Any, edges: Any) -> npt.NDArray[np.uint8]:
    """Return in which quarter each row is; what is missing is in one of its own."""
    quarters = np.zeros(len(keys), np.uint8)
    for edge in edges:
        quarters += _as_mask(pc.greater_equal(keys, edge))
    quarters[_as_mask(keys.is_null())] = _QUARTERS
    return quarters


def _rises(before: Any, after: Any) -> Any:
    rises = pc.less(before, after)
    if rises.null_count:
        from_missing = pc.and_(before.is_null(), after.is_valid())
        rises = pc.or_(from_missing, rises.fill_null(False))  # noqa: FBT003 - what to fill in
    return rises


def _differ(before: Any, after: Any) -> npt.NDArray[np.bool_]:
    differ = pc.not_equal(before, after)
    if differ.null_count:
        differ = pc.coalesce(differ, pc.xor(before.is_null(), after.is_null()))
    return _as_mask(differ)


def _as_mask(truths: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(truths.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)  # noqa: FBT003


def _comparable(values: Any) -> Any:
    """Return values of a type that Arrow can compare: times as integers, NaN as missing.

    Python has no words for many times that a file can hold.
    """
    kind = values.type
    if pa.types.is_temporal(kind):
        return values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return values.cast(pa.int8())
    if pa.types.is_floating(kind):
        wide = values.cast(pa.float32()) if pa.types.is_float16(kind) else values
        return pc.if_else(pc.is_nan(wide), None, wide)
    return write_out_views(values)


def _short(value: Any) -> Any:
    """Return the value, or a digest of a long text: only whether it was seen before is asked."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes) and len(value) > _LONG_TEXT:
        return hashlib.blake2b(value, digest_size=_LONG_TEXT).digest()
    return value
