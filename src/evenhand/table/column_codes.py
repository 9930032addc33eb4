"""Codes of one column, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.table.match import FALSE_WORDS, TRUE_WORDS, find_code, is_missing
from evenhand.table.numeric import float_codes, integer_codes
from evenhand.table.pieces import Labelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.schema import Domain

    Mask = NDArray[np.bool_] | None

__all__ = ["ColumnCodes", "Misfits"]

_BLOCK_ROWS = 1 << 14  # temporary arrays this small stay in the cache and in the allocator
_NUMBER_TYPES = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class Misfits(NamedTuple):
    """Which values of a piece are outside the domain and which are missing; None where none is.

    `wrong_type` says that the piece has a type of which the domain holds no value.
    """

    outside: Mask = None
    missing: Mask = None
    wrong_type: bool = False


class ColumnCodes:
    """Turns pieces of a column into codes of a domain, see ``match`` for what matches what."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        words: dict[str, int | None] = {}
        if domain.value_type is bool:
            words = {word: domain.find(word in TRUE_WORDS) for word in TRUE_WORDS + FALSE_WORDS}
        elif domain.kind == "categorical" and domain.value_type is str:
            words = {str(value): code for code, value in enumerate(domain.values)}
        known = {word: code for word, code in words.items() if code is not None}
        self._words = pa.array(known, pa.large_string())
        self._word_codes = np.array(list(known.values()), np.uint32)
        self._words_in_order = bool(known) and domain.value_type is str

    def encode(self, piece: Any, out: NDArray[Any]) -> Misfits:  # noqa: PLR0911 - one for each kind of piece
        """Write the codes of `piece` into `out`, any code where a value does not fit; tell which do not."""
        if isinstance(piece, Labelled):
            return self._labelled(piece.places, piece.categories, out)
        if isinstance(piece, np.ndarray):
            return self._one_by_one(piece, out)
        if pa.types.is_dictionary(piece.type):
            return self._labelled(piece.indices, piece.dictionary, out)
        if pa.types.is_run_end_encoded(piece.type):
            piece = pc.run_end_decode(piece)
        missing = _missing(piece)
        if any(is_one(piece.type) for is_one in _TEXT_TYPES) and len(self._words):
            return self._text(piece, missing, out)
        if pa.types.is_boolean(piece.type) and self.domain.value_type is bool:
            return self._labelled(piece.cast(pa.uint8()), pa.array(FALSE_WORDS[:1] + TRUE_WORDS[:1]), out)
        if self.domain.value_type in (int, float) and any(is_one(piece.type) for is_one in _NUMBER_TYPES):
            return self._numbers(piece, missing, out)
        out[:] = 0
        outside = np.ones(len(piece), np.bool_) if missing is None else ~missing
        return _misfits(outside, missing, wrong_type=True)

    def _text(self, piece: Any, missing: Mask, out: NDArray[Any]) -> Misfits:
        if pa.types.is_string_view(piece.type):
            piece = piece.cast(pa.large_string())
        places = pc.index_in(piece, value_set=self._words.cast(piece.type))
        outside = None
        if places.null_count:
            outside = _mask(places.is_null())
            places = places.fill_null(0)
        out[:] = places if self._words_in_order else self._word_codes.take(places)
        return _misfits(outside, missing)

    def _numbers(self, piece: Any, missing: Mask, out: NDArray[Any]) -> Misfits:
        outside: Mask = None
        for start in range(0, len(piece), _BLOCK_ROWS):
            block = piece.slice(start, _BLOCK_ROWS)
            here = slice(start, start + len(block))
            out[here], wrong = self._number_block(block)
            if wrong.any():
                outside = np.zeros(len(piece), np.bool_) if outside is None else outside
                outside[here] = wrong
        return _misfits(outside, missing)

    def _number_block(self, block: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Encode numbers by arithmetic where that is exact, else by their distinct values."""
        if not pa.types.is_decimal(block.type):
            values = (block.fill_null(0) if block.null_count else block).to_numpy(zero_copy_only=False)
            if pa.types.is_floating(block.type):
                return float_codes(values, self.domain)
            found = integer_codes(values, self.domain)
            if found is not None:
                return found
        encoded = (_wide(block) if pa.types.is_decimal(block.type) else block).dictionary_encode()
        distinct = np.array(encoded.dictionary.to_pylist(), dtype=object)
        codes = np.zeros(len(block), np.uint64)
        misfits = self._labelled(encoded.indices, distinct, codes)
        return codes, np.zeros(len(block), np.bool_) if misfits.outside is None else misfits.outside

    def _labelled(self, places: Any, categories: Any, out: NDArray[Any]) -> Misfits:
        """Encode the categories once, then look every place up."""
        table = np.zeros(len(categories) + 1, out.dtype)  # one more, so that an empty list can be looked up
        misfits = self.encode(categories, table[:-1])
        if isinstance(places, np.ndarray):
            missing = places < 0
        else:
            missing = _mask(places.is_null())
            places = places.fill_null(0).cast(pa.int64()).to_numpy()
        out[:] = table.take(places, mode="clip")
        outside = None
        if misfits.outside is not None:
            outside = misfits.outside.take(places, mode="clip")
        if misfits.missing is not None:
            missing |= misfits.missing.take(places, mode="clip")
        return _misfits(outside, missing, wrong_type=misfits.wrong_type)

    def _one_by_one(self, values: Iterable[object], out: NDArray[Any]) -> Misfits:
        seen: dict[object, int | None] = {}
        outside, missing = np.zeros(len(out), np.bool_), np.zeros(len(out), np.bool_)
        for place, value in enumerate(values):
            out[place] = 0
            if is_missing(value):
                missing[place] = True
                continue
            try:
                key = (type(value), value)
                if key not in seen:
                    seen[key] = find_code(value, self.domain)
                code = seen[key]
            except TypeError:  # a list or another thing without a hash
                code = None
            if code is None:
                outside[place] = True
            else:
                out[place] = code
        return _misfits(outside, missing)


def _misfits(outside: Mask, missing: Mask, *, wrong_type: bool = False) -> Misfits:
    """Make a mask None if it is empty; a missing value is not outside as well."""
    missing = missing if missing is not None and missing.any() else None
    if outside is not None and missing is not None:
        outside = outside & ~missing
    outside = outside if outside is not None and outside.any() else None
    return Misfits(outside, missing, wrong_type=wrong_type and outside is not None)


def _missing(piece: Any) -> Mask:
    """Find what is null or NaN, in an array of any type."""
    if pa.types.is_floating(piece.type):
        values = (piece.fill_null(np.nan) if piece.null_count else piece).to_numpy()
        return np.asarray(np.isnan(values))
    return _mask(piece.is_null()) if piece.null_count else None


def _mask(flags: Any) -> NDArray[np.bool_]:
    return np.asarray(flags.to_numpy(zero_copy_only=False))


def _wide(decimals: Any) -> Any:
    """Bring decimals of 32 and 64 bits to 128, which Arrow can sort out."""
    small = decimals.type.bit_width < 128
    return decimals.cast(pa.decimal128(38, decimals.type.scale)) if small else decimals
