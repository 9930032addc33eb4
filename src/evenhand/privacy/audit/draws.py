"""Drawing from a mechanism that is only known from outside, and reading what it puts out as columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.audit.events import OutputChunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

    Columns = dict[str, npt.NDArray[Any]]

_MOST_AT_ONCE = 1 << 16  # outputs
_MOST_BYTES_AT_ONCE = 1 << 23
_PROBE = 16


class MechanismDraws:
    """Outputs of a mechanism for either input of a pair.

    Parameters
    ----------
    mechanism, pair, features, progress
        As in :func:`~evenhand.privacy.audit.audit_epsilon`.
    source : Source
        Passed on to the mechanism.

    Attributes
    ----------
    rows : int
        How many outputs are asked for at a time, from the size of the first few.
    together : tuple of str
        Columns that belong together.
    planned : int
        Draws that will be made, for `progress`.
    """

    def __init__(
        self,
        mechanism: Any,
        pair: Any,
        source: Source,
        *,
        features: Callable[[Any], Any] | None,
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self._mechanism, self._source = mechanism, source
        self._features, self._progress = features, progress
        self._reports = hasattr(mechanism, "privatize")
        self.pair = _checked_pair(pair, codes=self._reports)
        if not self._reports and not callable(mechanism):
            raise InvalidParameterError(
                "mechanism",
                owner="audit_epsilon",
                must_be="a function of value, size and rng, or an object with 'privatize'",
                got=f"a value of type {type(mechanism).__name__}",
            )
        if features is not None and not callable(features):
            raise InvalidParameterError("features", owner="audit_epsilon", must_be="a function", got=features)
        self._done = self.planned = 0
        few = self._sample(0, _PROBE)
        columns = self._read(few)
        self.together = tuple(name for name in columns if name.startswith("support of "))
        self._kinds = {name: _kind(values) for name, values in columns.items()}
        size = max(_bytes_of(few), sum(values.nbytes for values in columns.values()))
        self.rows = max(_PROBE, min(_MOST_AT_ONCE, _MOST_BYTES_AT_ONCE * _PROBE // max(1, size)))

    def draw(self, which: int, size: int) -> Iterator[OutputChunk]:
        """Yield `size` outputs for an input of the pair, in chunks."""
        for start in range(0, size, self.rows):
            rows = min(self.rows, size - start)
            chunk = OutputChunk(self._alike(self._read(self._sample(which, rows))))
            self._done += rows
            if self._progress is not None:
                self._progress(self._done, self.planned)
            yield chunk

    def _sample(self, which: int, size: int) -> Any:
        value = self.pair[which]
        if not self._reports:
            outputs = self._mechanism(value, size, self._source)
        elif hasattr(value, "items"):
            people = {name: np.full(size, code) for name, code in value.items()}
            outputs = self._mechanism.privatize(people, rng=self._source)
        else:
            outputs = self._mechanism.privatize(np.full(size, value), rng=self._source)
        self._check_count("mechanism", outputs, size)
        return outputs

    def _read(self, outputs: Any) -> Columns:
        if self._features is not None:
            features = self._features(outputs)
            self._check_count("features", features, len(outputs))
            return output_columns(features)
        if not self._reports or not hasattr(self._mechanism, "indicators"):
            return output_columns(outputs)
        columns = support_columns(self._mechanism, outputs, self.pair)
        return columns if hasattr(self.pair[0], "items") else columns | output_columns(outputs)

    def _alike(self, columns: Columns) -> Columns:
        """Return the columns that the first outputs had, if they are there and of the same kind."""
        for name, kind in self._kinds.items():
            if name not in columns or {kind, _kind(columns[name])} == {"number", "text"}:
                raise InvalidParameterError(
                    "mechanism" if self._features is None else "features",
                    owner="audit_epsilon",
                    must_be="a function that returns the same kind of outputs in every call",
                    got="numbers, texts or rows that differ from the first ones",
                )
        return {name: columns[name] for name in self._kinds}

    def _check_count(self, name: str, outputs: Any, size: int) -> None:
        try:
            count = len(outputs)
        except TypeError:
            count = None
        if count != size:
            got = "a value without a length" if count is None else f"{count:,} outputs for {size:,} asked"
            must_be = "a function that returns as many outputs as it is asked for"
            raise InvalidParameterError(name, owner="audit_epsilon", must_be=must_be, got=got)


def _checked_pair(pair: Any, *, codes: bool) -> tuple[Any, Any]:
    two = isinstance(pair, list | tuple) and len(pair) == 2
    if two and codes:
        two = all(_is_code(value) for value in pair) or all(hasattr(value, "items") for value in pair)
        two = two and (_is_code(pair[0]) or list(pair[0]) == list(pair[1]))
    if not two or _same(pair[0], pair[1]):
        must_be = (
            "two different codes, or two mappings from the same names to codes"
            if codes
            else "two different inputs"
        )
        got = "two equal ones" if two else "something else"
        raise InvalidParameterError("pair", owner="audit_epsilon", must_be=must_be, got=got)
    return pair[0], pair[1]


def _is_code(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _same(first: Any, second: Any) -> bool:
    if hasattr(first, "equals"):
        return bool(first.equals(second))
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    try:
        return bool(first == second)
    except ValueError:  # arrays within them: nothing is lost by an audit of equal inputs
        return False


def _kind(values: np.ndarray[Any, Any]) -> str:
    return {"O": "any", "S": "text", "U": "text"}.get(values.dtype.kind, "number")


def _bytes_of(outputs: Any) -> int:
    """Return about how much memory outputs take, texts and other objects included."""
    size = int(getattr(outputs, "nbytes", 0))
    if isinstance(outputs, list | tuple) or getattr(outputs, "dtype", None) == np.dtype(object):
        size += sum(int(getattr(output, "nbytes", 0)) or sys.getsizeof(output) for output in outputs)
    return size


_BYTES_READ = 64  # of a text or of bytes, position by position
_EXACT = 1 << 53  # whole numbers up to here are floats too
_CELLS = 1 << 17  # of a block of indicators: small enough for the cache of a processor


def output_columns(outputs: Any) -> Columns:
    """Return the columns of an array of outputs, one entry per output in each.

    A scalar is one column, a row is one column per coordinate, a record one per field. Bytes and texts
    give the whole, its length, and its first 64 bytes.
    """
    listed = isinstance(outputs, list | tuple)
    if listed and outputs and all(isinstance(output, bytes | str) for output in outputs):
        return _text_columns(outputs)
    try:
        array = _as_they_are(outputs) if listed else np.asarray(outputs)
    except ValueError:  # rows of different lengths
        raise _refusal("rows of different lengths") from None
    if array.ndim == 1 and array.dtype.kind in "SU" and array.size:
        return _text_columns(array.tolist()) | {"the output": array}
    if array.dtype.names is not None:
        named = {f"field '{name}'": np.asarray(array[name]) for name in array.dtype.names}
    else:
        named = {"the output": array}
    columns: Columns = {}
    for name, values in named.items():
        columns |= _flat(name, values)
    if not columns:
        raise _refusal("rows without coordinates")
    return columns


def support_columns(mechanism: Any, reports: Any, pair: Sequence[Any]) -> Columns:
    """Return whether each report supports the first value and the second, for each attribute.

    The mechanism has ``indicators(reports)``, one column per value, or for several attributes a mapping
    from each name to such columns. They are asked for in blocks, so that no array of all reports by all
    values is made.
    """
    parts: dict[str, list[npt.NDArray[Any]]] = {}
    start, rows = 0, 64  # the first block tells how wide the others are
    while start < len(reports):
        indicators = mechanism.indicators(reports[start : start + rows])
        several = hasattr(indicators, "items")
        start, width = start + rows, 0
        for name, table in indicators.items() if several else [("", indicators)]:
            values = [value[name] if several else value for value in pair]
            width += table.shape[1]
            for value in dict.fromkeys(values):
                if not isinstance(value, int | np.integer) or not 0 <= value < table.shape[1]:
                    must_be = f"two codes from 0 to {table.shape[1] - 1}" + (
                        f" for '{name}'" if several else ""
                    )
                    raise InvalidParameterError(
                        "pair", owner="audit_epsilon", must_be=must_be, got="something else"
                    )
                where = f" in '{name}'" if several else ""
                parts.setdefault(f"support of {value}{where}", []).append(table[:, int(value)])
        rows = max(64, _CELLS // width)
    return {name: np.concatenate(blocks) for name, blocks in parts.items()}


def _as_they_are(outputs: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a list as an array in which no output looks different for the sake of its neighbours.

    By itself numpy turns all numbers into texts where there is one text among them, and large whole numbers
    into floats. Outputs of one call would then depend on one another, and the bounds of an audit not hold.
    """
    array = np.asarray(outputs)
    if array.dtype.kind not in "SUf":
        return array
    single = np.asarray(outputs, dtype=object)
    if array.dtype.kind == "f":
        changed = any(isinstance(value, int) and abs(value) > _EXACT for value in single.flat)
    else:
        text = str if array.dtype.kind == "U" else bytes
        changed = not all(isinstance(value, text) for value in single.flat)
    return single if changed else array


def _flat(name: str, values: npt.NDArray[Any]) -> Columns:
    if values.dtype.kind not in "biufSUO":
        raise _refusal(f"an array of type {values.dtype}")
    if values.dtype.kind == "O":
        try:
            set(values.flat)
        except TypeError:
            raise _refusal("lists or other things that cannot be compared") from None
    if values.ndim == 1:
        return {name: values}
    rows = values.reshape(len(values), -1)
    where = "" if name == "the output" else f" of {name}"
    return {f"coordinate {j}{where}": rows[:, j] for j in range(rows.shape[1])}


def _text_columns(outputs: Sequence[bytes | str]) -> Columns:
    whole = np.empty(len(outputs), dtype=object)
    whole[:] = outputs
    encoded = [
        output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output for output in outputs
    ]
    padded = b"".join(output[:_BYTES_READ].ljust(_BYTES_READ, b"\0") for output in encoded)
    table = np.frombuffer(padded, dtype=np.uint8).reshape(-1, _BYTES_READ)
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    named = {"the output": whole, "the length": lengths}
    return named | {f"byte {j}": table[:, j] for j in range(_BYTES_READ)}


def _refusal(got: str) -> InvalidParameterError:
    return InvalidParameterError(
        "mechanism",
        owner="audit_epsilon",
        must_be="something that returns numbers, rows of numbers, records of numbers, texts or bytes",
        got=got,
        hint="give features=, a function that turns the outputs into small whole numbers.",
    )
