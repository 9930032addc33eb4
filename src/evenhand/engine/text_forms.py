"""Reports as text, for CSV files: one cell for each report, in a form that any language can read.

A report that says one value is the value's label. A report of bits is a text of zeros and ones, one for
each value in the order of the domain. A set is the codes of its values with blanks between them. A hashed
report is multiplier, offset and value with colons between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.collect.reports.layouts import BitsLayout, HashedLayout, IntegerLayout, SetLayout
from evenhand.errors import InvalidParameterError
from evenhand.table.csv.cells import converter, no_whole_number
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.reports.layouts import Layout
    from evenhand.schema import Column

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_FORMULA = r"^[=+\-@\t\r\x00]"


def may_be_formula(cells: Any) -> Any:
    """Tell which texts a spreadsheet could take for a formula; a number is none, even below zero."""
    starts = pc.match_substring_regex(cells, _FORMULA)
    return pc.and_(starts, pc.invert(pc.match_substring_regex(cells, _NUMBER)))


def escape_formula(label: str) -> str:
    """Return a label as it stands in a CSV file: with an apostrophe where it could be a formula.

    >>> escape_formula("-5"), escape_formula("-5 to 0")
    ('-5', "'-5 to 0")
    """
    return inert_text(label) if may_be_formula(pa.scalar(label, pa.string())).as_py() else label


class TextForm:
    """How the reports of one column are written as text and read again.

    Parameters
    ----------
    column : Column
        The column, whose labels are written.
    layout : Layout
        How its reports look in memory.

    Attributes
    ----------
    bytes_per_report : int
        About how many bytes of memory a report takes on its way into text.
    longest : int
        Most bytes of a report as text, but for a label.
    """

    def __init__(self, column: Column, layout: Layout) -> None:
        self._column, self._layout = column, layout
        self.bytes_per_report, self.longest, self._must_be = _describe_layout(layout)
        self._labels: Any = None
        if isinstance(layout, IntegerLayout) and column.domain.kind != "integers":
            written = [escape_formula(label) for label in column.labels]
            if len(set(written)) < len(written):
                raise InvalidParameterError(
                    "columns",
                    owner="a CSV file",
                    must_be="columns whose labels differ once those like formulas have an apostrophe",
                    got=f"column '{column.name}'",
                    hint="write a Parquet file, which holds codes.",
                )
            self._labels = pa.array(written, pa.string())

    # --- to text ----------------------------------------------------------------------------------

    def write(self, values: npt.NDArray[Any]) -> Any:
        """Return one text for each report."""
        layout = self._layout
        if isinstance(layout, BitsLayout):
            bits = np.unpackbits(np.ascontiguousarray(values), axis=1, count=layout.k, bitorder="little")
            return _text_array(np.ascontiguousarray(bits + np.uint8(ord("0"))))
        if isinstance(layout, SetLayout):
            words = pa.array(np.ascontiguousarray(values).ravel()).cast(pa.string())
            starts = pa.array(np.arange(0, len(words) + 1, layout.size, dtype=np.int32))
            return pc.binary_join(pa.ListArray.from_arrays(starts, words), " ")
        if isinstance(layout, HashedLayout):
            parts = [array.cast(pa.string()) for array in layout.to_columns(values).values()]
            return pc.binary_join_element_wise(*parts, ":")
        return self._labels_of(values)

    def _labels_of(self, codes: npt.NDArray[Any]) -> Any:
        if self._labels is not None:
            return self._labels.take(pa.array(codes))
        numbers = pa.array(codes.astype(np.int64) + self._column.domain.low).cast(pa.string())
        if self._column.other_code is None:
            return numbers
        return pc.if_else(pa.array(codes == self._column.other_code), self._column.labels[-1], numbers)

    # --- from text --------------------------------------------------------------------------------

    def read(self, text: Any) -> npt.NDArray[Any]:
        """Return the reports of an array of text, or refuse them as the layout does.

        Raises
        ------
        InvalidParameterError
            If a text is missing or is no report. No text is told.
        """
        if text.null_count:
            raise self._refusal()
        layout = self._layout
        if isinstance(layout, BitsLayout):
            return layout.checked(self._bits(text))
        if isinstance(layout, SetLayout):
            words = pc.split_pattern(text, " ")
            if pc.any(pc.not_equal(pc.list_value_length(words), layout.size)).as_py():
                raise self._refusal()
            numbers = self._numbers(words.flatten(), layout.k)
            return layout.checked(numbers.astype(layout.dtype).reshape(-1, layout.size))
        if isinstance(layout, HashedLayout):
            return layout.checked(self._hashed(text, layout))
        return layout.checked(self._codes(text))

    def _bits(self, text: Any) -> npt.NDArray[np.uint8]:
        k = self._column.size
        if pc.any(pc.not_equal(pc.binary_length(text), k)).as_py():
            raise self._refusal()
        letters = np.frombuffer(join_bytes(text), np.uint8).reshape(-1, k)
        bits = letters - np.uint8(ord("0"))
        if bits.size and int(bits.max()) > 1:
            raise self._refusal()
        return np.packbits(bits, axis=1, bitorder="little")

    def _hashed(self, text: Any, layout: HashedLayout) -> npt.NDArray[Any]:
        words = pc.split_pattern(text, ":")
        names = layout.dtype.names or ()
        if pc.any(pc.not_equal(pc.list_value_length(words), len(names))).as_py():
            raise self._refusal()
        parts = words.flatten()
        out = np.empty(len(text), layout.dtype)
        for place, name in enumerate(names):
            mine = parts.take(pa.array(np.arange(place, len(parts), len(names))))
            most = layout.g if name == "value" else 1 << layout.width
            out[name] = self._numbers(mine, most)
        return out

    def _numbers(self, words: Any, most: int) -> npt.NDArray[np.uint64]:
        """Return whole numbers below `most`, written in decimal digits."""
        right = pc.match_substring_regex(words, r"^(0|[1-9][0-9]{0,19})$")
        if len(words) and not pc.all(right).as_py():
            raise self._refusal()
        try:
            numbers = words.cast(pa.uint64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            raise self._refusal() from None
        if len(numbers) and int(numbers.max()) >= most:
            raise self._refusal()
        return np.asarray(numbers, np.uint64)

    def _codes(self, text: Any) -> npt.NDArray[np.int64]:
        if self._labels is not None:
            places = pc.index_in(text, value_set=self._labels)
            if places.null_count:
                raise self._refusal()
            return np.asarray(places.to_numpy(), np.int64)
        domain, other = self._column.domain, self._column.other_code
        is_other = np.zeros(len(text), np.bool_)
        if other is not None:
            is_other = pc.equal(text, self._column.labels[-1]).to_numpy(zero_copy_only=False)
        numbers = converter(domain)(pc.if_else(pa.array(is_other), str(domain.low), text))
        if numbers.null_count or pc.any(pc.equal(numbers, no_whole_number(domain))).as_py():
            raise self._refusal()
        values = numbers.to_numpy()
        if len(values) and not domain.low <= int(values.min()) <= int(values.max()) <= domain.high:
            raise self._refusal()
        codes = np.asarray(values - domain.low, np.int64)
        codes[is_other] = 0 if other is None else other
        return codes

    def _refusal(self) -> InvalidParameterError:
        return InvalidParameterError(
            "reports", owner="the protocol", must_be=self._must_be, got="something else"
        )


def _describe_layout(layout: Layout) -> tuple[int, int, str]:
    """Return the bytes of a report on its way into text, most bytes as text, and what the texts are."""
    if isinstance(layout, BitsLayout):
        return 3 * layout.k, layout.k, f"texts of {layout.k:,} zeros and ones"
    if isinstance(layout, SetLayout):
        longest = layout.size * (len(str(layout.k - 1)) + 1)
        return 24 * layout.size, longest, "codes with blanks between them, as many as the protocol says"
    if isinstance(layout, HashedLayout):
        return 128, 0, "three whole numbers with colons between them"
    return 128, 0, "labels of the schema"


def _text_array(letters: npt.NDArray[np.uint8]) -> Any:
    """Return rows of ASCII letters as an array of text."""
    rows, width = letters.shape
    offsets = np.arange(0, (rows + 1) * width, width, dtype=np.int64)
    return pa.Array.from_buffers(
        pa.large_string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    )


def join_bytes(text: Any) -> memoryview:
    """Return the bytes of all texts, one after the other."""
    whole = text.cast(pa.large_binary())
    offsets = np.frombuffer(whole.buffers()[1] or bytes(8), np.int64)[whole.offset :]
    return memoryview(whole.buffers()[2] or b"")[int(offsets[0]) : int(offsets[len(whole)])]
