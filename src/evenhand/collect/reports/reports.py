"""Reports as they leave people's hands: compact arrays that know which protocol made them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._lazy import lazy
from evenhand._notebook import figures_html
from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SecureSource
from evenhand.privacy.sampling import permutation

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.protocols.law import ExactLaw
    from evenhand.table.limits import Limits
    from evenhand.table.source import ReadableBuffer

OWN_SEEDS = "draw all columns by one strategy, or each with rng=SeededSource(seed).for_cell(column)."
"""What to do about columns that share random numbers."""

files = lazy("evenhand.collect.reports.files")


class Reports:
    """One report per person.

    Reports behave like an array along their first axis: they have a length, can be compared, and can be
    taken apart with slices, masks and positions, which gives reports again. They cannot be changed.

    Parameters
    ----------
    values : array
        One row per report, in the protocol's layout.
    protocol : Protocol
        What made them.
    simulated : bool
        Whether they were drawn with a seed. Simulated reports are for studies and are not written as
        collected ones.

    Raises
    ------
    InvalidParameterError
        If the values cannot be reports of the protocol.

    Examples
    --------
    >>> from evenhand.collect import GRR
    >>> reports = GRR(k=5, epsilon=1).privatize([0, 1, 2, 3, 4, 4], rng=7)
    >>> reports
    <6 reports of GRR(k=5, epsilon=1), simulated>
    >>> reports[2:4]
    <2 reports of GRR(k=5, epsilon=1), simulated>
    """

    __evenhand_reports__ = True  # whoever asks for true values refuses these
    __slots__ = ("_protocol", "_simulated", "_streams", "_values")

    def __init__(self, values: npt.NDArray[Any], *, protocol: ExactLaw, simulated: bool) -> None:
        kept = _check_values(values, protocol)
        if kept is values or kept.base is not None:  # whoever has that array could change the reports
            kept = kept.copy()
        self._fill(kept, protocol, simulated=bool(simulated))

    def _fill(
        self,
        values: npt.NDArray[Any],
        protocol: ExactLaw,
        *,
        simulated: bool,
        streams: frozenset[Any] = frozenset(),
    ) -> None:
        self._values = values.view()  # the flag of a view: the array it looks at stays as it was
        self._values.flags.writeable = False
        self._protocol = protocol
        self._simulated, self._streams = simulated, streams

    @classmethod
    def _drawn(
        cls,
        values: npt.NDArray[Any],
        protocol: ExactLaw,
        *,
        simulated: bool,
        streams: frozenset[Any] = frozenset(),
    ) -> Reports:
        """Return reports of values that the protocol itself made, without looking at them again."""
        made = object.__new__(cls)
        made._fill(values, protocol, simulated=simulated, streams=streams)
        return made

    @classmethod
    def of(cls, reports: Any, protocol: ExactLaw) -> Reports:
        """Return `reports`, or the reports in a bare array, if they can be reports of `protocol`.

        A bare array counts as simulated: nobody knows where it came from. It is looked at, not copied.
        """
        if not isinstance(reports, Reports):
            return cls._drawn(_check_values(reports, protocol), protocol, simulated=True)
        if reports.protocol != protocol:
            raise InvalidParameterError(
                "reports",
                owner=type(protocol).__name__,
                must_be=f"reports of {protocol!r}",
                got=f"reports of {reports.protocol!r}",
                hint="use reports.protocol, the one that made them.",
            )
        return reports

    @classmethod
    def concat(cls, parts: Sequence[Reports]) -> Reports:
        """Return the reports of several batches of one protocol as one.

        They count as simulated if any of them does.
        """
        parts = () if isinstance(parts, Reports) else tuple(parts)
        if not parts or not all(isinstance(part, Reports) for part in parts):
            got = "something else" if parts else "no reports"
            must_be = "a list of Reports, and not empty"
            raise InvalidParameterError("parts", owner="Reports.concat", must_be=must_be, got=got)
        protocol = parts[0].protocol
        values = np.concatenate([cls.of(part, protocol).values for part in parts])
        streams = frozenset[Any]().union(*(part.streams for part in parts))
        return cls._drawn(values, protocol, simulated=any(part.simulated for part in parts), streams=streams)

    # --- an array that says where it comes from -------------------------------------------------

    @property
    def values(self) -> npt.NDArray[Any]:
        """One row per report, in the protocol's layout; cannot be written to."""
        return self._values

    @property
    def protocol(self) -> ExactLaw:
        """What made the reports."""
        return self._protocol

    @property
    def simulated(self) -> bool:
        """Whether the reports were drawn with a seed."""
        return self._simulated

    @property
    def streams(self) -> frozenset[Any]:
        """Where the seeded streams began that they were drawn from; empty where that is not known.

        Columns with one in common were drawn with one seed and share random numbers, person by person.
        """
        return self._streams

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the array."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, which: Any) -> Any:
        part = self.values[which]
        rows = isinstance(which, slice) or (not isinstance(which, tuple) and np.ndim(which) == 1)
        if rows and part.dtype == self.dtype:  # a list of names takes parts of every report
            return Reports._drawn(part, self.protocol, simulated=self.simulated, streams=self.streams)
        return part

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __eq__(self, other: object) -> Any:
        return self.values == (other.values if isinstance(other, Reports) else other)

    def __ne__(self, other: object) -> Any:
        return self.values != (other.values if isinstance(other, Reports) else other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (np.asarray(self.values), self.protocol, self.simulated, self.streams)

    def _repr_html_(self) -> str:
        figures = [("reports", f"{len(self):,}"), ("protocol", repr(self.protocol))]
        promise = "simulated, so no guarantee holds" if self.simulated else str(self.protocol.guarantee)
        return figures_html("Reports", [*figures, ("promise", promise)])

    def __repr__(self) -> str:
        kind = ", simulated" if self.simulated else ""
        return f"<{len(self):,} reports of {self.protocol!r}{kind}>"

    # --- on the wire ----------------------------------------------------------------------------

    def to_arrow(self) -> Any:
        """Return the reports as an Arrow array; it does not say which protocol made them.

        Examples
        --------
        >>> from evenhand.collect import OUE
        >>> OUE(k=12, epsilon=1).privatize([3, 7], rng=7).to_arrow().type
        FixedSizeBinaryType(fixed_size_binary[2])
        """
        return self.protocol.layout.to_arrow(self.values)

    @classmethod
    def from_arrow(cls, array: Any, protocol: ExactLaw, *, simulated: bool = True) -> Reports:
        """Return the reports of an Arrow array, chunked or not.

        Parameters
        ----------
        array : pyarrow.Array or pyarrow.ChunkedArray
            What :meth:`to_arrow` makes.
        protocol : Protocol
            What made them.
        simulated : bool
            Whether they count as simulated, which they do unless you say that people sent them.

        Raises
        ------
        InvalidParameterError
            If the array has another type, a null, or what no report of the protocol can be.
        """
        return cls._drawn(protocol.layout.from_arrow(array), protocol, simulated=bool(simulated))

    def write_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        simulated: Literal["refuse", "allow"] = "refuse",
        keep_order: bool = False,
    ) -> None:
        """Write the reports to a Parquet file that says which protocol made them and what it promises.

        They are written in a uniform order, drawn from the operating system's secure source; in memory they
        keep theirs. The file holds no time; see the page on reports for its form.

        Parameters
        ----------
        path : str or path
            Where to. An old file there stays until the new one is complete.
        simulated : {"refuse", "allow"}
            Whether reports drawn with a seed may be written. The file then says ``rng: seeded`` and
            states no guarantee.
        keep_order : bool, default False
            Whether to write them in the order that they have here. Their guarantee then lists
            ``"row order"`` as in the clear: if people stood sorted by the value, it tells nearly all of them.

        Raises
        ------
        GuaranteeError
            If the reports are simulated and that is not allowed.
        UnwritableFileError
            If the file cannot be written; nothing is left behind.
        """
        note = files.describe_reports(
            self, allowed=simulated, keep_order=keep_order, owner="Reports.write_parquet"
        )
        files.write_reports(self._in_written_order(keep_order=keep_order), self.protocol.layout, note, path)

    @classmethod
    def read_parquet(
        cls, path_or_buffer: str | os.PathLike[str] | ReadableBuffer, *, limits: Limits | None = None
    ) -> Reports:
        """Read a file that :meth:`write_parquet` wrote.

        Parameters
        ----------
        path_or_buffer : str, path or binary file
            What to read.
        limits : Limits, optional
            How large the file may be; by default as for :func:`evenhand.table.read_parquet`.

        Raises
        ------
        UnreadableFileError
            If the file is missing, damaged, or holds no reports.
        LimitExceededError
            If it passes a limit.
        """
        values, protocol, simulated = files.read_reports(path_or_buffer, limits=limits)
        return cls._drawn(values, protocol, simulated=simulated)

    def to_json(self, *, simulated: Literal["refuse", "allow"] = "refuse", keep_order: bool = False) -> str:
        """Return the reports as a JSON text that says what :meth:`write_parquet` would, in such an order.

        Examples
        --------
        >>> from evenhand.collect import GRR
        >>> text = GRR(k=5, epsilon=1).privatize([0, 1], rng=7).to_json(simulated="allow")
        >>> Reports.from_json(text)
        <2 reports of GRR(k=5, epsilon=1), simulated>
        """
        note = files.describe_reports(self, allowed=simulated, keep_order=keep_order, owner="Reports.to_json")
        written = self._in_written_order(keep_order=keep_order)
        return json.dumps(note | {"reports": self.protocol.layout.to_json(written)})

    @classmethod
    def from_json(cls, text: str | bytes, *, limits: Limits | None = None) -> Reports:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            The text, or its bytes in UTF-8.
        limits : Limits, optional
            How long it may be; by default 20,000,000 bytes. Parquet is the form for more.

        Raises
        ------
        UnreadableFileError
            If it is no JSON, or no reports.
        LimitExceededError
            If it passes the limit.
        """
        values, protocol, simulated = files.read_json_text(text, limits=limits)
        return cls._drawn(values, protocol, simulated=simulated)

    def _in_written_order(self, *, keep_order: bool) -> npt.NDArray[Any]:
        """Return the values as they are written: in a uniform order from the secure source, unless told."""
        if keep_order:
            return self.values
        return np.asarray(self.values[permutation(len(self), source=SecureSource())])


def share_streams(parts: Sequence[Reports]) -> bool:
    """Return whether reports of several columns share random numbers, because of one seed.

    >>> from evenhand.collect import GRR
    >>> coin = GRR(k=2, epsilon=1)
    >>> share_streams([coin.privatize([0, 1], rng=7), coin.privatize([1, 1], rng=7)])
    True
    """
    streams = [part.streams for part in parts]
    return len(frozenset[Any]().union(*streams)) < sum(map(len, streams))


def _check_values(values: Any, protocol: ExactLaw) -> npt.NDArray[Any]:
    """Return an array of what can be reports of `protocol`, in its type, or refuse it."""
    layout = protocol.layout
    try:
        array = np.asarray(None if isinstance(values, np.ma.MaskedArray) else values)
    except (TypeError, ValueError):  # rows of different lengths
        array = np.asarray(None)
    return layout.checked(array)


def _rebuild(
    values: npt.NDArray[Any],
    protocol: ExactLaw,
    simulated: bool,  # noqa: FBT001 - for copies
    streams: frozenset[Any] = frozenset(),
) -> Reports:
    return Reports._drawn(values, protocol, simulated=simulated, streams=streams)  # noqa: SLF001 - of the same module
