"""What was published: counts, what stands behind them, and the files they are written to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from evenhand.errors import GuaranteeError, InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import Source
    from evenhand.release.mechanisms.mechanism import ReleaseMechanism
    from evenhand.release.table.histogram import Histogram

__all__ = ["Release"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release:
    """A published table, with the guarantee it was published under.

    Attributes
    ----------
    histogram : Histogram
        The published counts. A suppressed cell has what was published in its place, or 0 where nothing was.
    guarantee : Guarantee
        What is promised to one person.
    mechanism : ReleaseMechanism
        What published it, with its public parameters.
    simulated : bool
        Whether it was drawn with a seed. No guarantee holds then, and :meth:`write` refuses it.
    suppressed : array of bool or None
        The suppressed cells. None where none can be; in a sparse table, the cells that are not listed are,
        unless the mechanism's ``unlisted`` is ``"zero"``.
    fill : number or None
        What was published in suppressed cells; None where nothing was.
    postprocessing : tuple of str
        What was done to the counts afterwards, in words.
    classes : optional
        The generalised table of a k-anonymous release.
    """

    histogram: Histogram
    guarantee: Guarantee
    mechanism: ReleaseMechanism
    simulated: bool
    suppressed: npt.NDArray[np.bool_] | None = None
    fill: float | None = None
    postprocessing: tuple[str, ...] = ()
    classes: Any = None

    def __post_init__(self) -> None:
        if self.suppressed is None:
            return
        marks = np.array(self.suppressed, dtype=np.bool_)
        if marks.shape != self.values.shape:
            must_be, got = "an array of the shape of the table", "another shape"
            raise InvalidParameterError("suppressed", owner="Release", must_be=must_be, got=got)
        marks.setflags(write=False)
        object.__setattr__(self, "suppressed", marks)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The published counts as an array: of every cell, or of those that a sparse table lists."""
        counts = self.histogram.filled if self.histogram.is_sparse else self.histogram.counts
        return cast("npt.NDArray[Any]", counts)

    @property
    def unpublished(self) -> npt.NDArray[np.bool_] | None:
        """The cells of which nothing was published; None if there can be none."""
        return self.suppressed if self.fill is None else None

    def processed(self, steps: Sequence[Any], *, source: Source) -> Release:
        """Return the release after further steps of post-processing; cells without a value are left out.

        A step has ``apply(values, source=source)``, which returns as many numbers, and its ``words``.
        """
        made = self
        for step in steps:
            made = made._after(step, source)
        return made

    def _after(self, step: Any, source: Source) -> Release:
        values, hidden = self.values, self.unpublished
        if hidden is None or not hidden.any():
            made = np.asarray(step.apply(values, source=source))
        else:
            seen = np.asarray(step.apply(values[~hidden], source=source))
            made = values.astype(np.result_type(values.dtype, seen.dtype))
            made[~hidden] = seen
        words = (*self.postprocessing, str(step.words))
        return replace(
            self,
            histogram=self.histogram.with_counts(made),
            postprocessing=words,
            simulated=self.simulated or source.simulated,
        )

    def to_frame(self, backend: Any = None) -> Any:
        """Return what is published as a frame: the labels of each cell, and its count.

        A suppressed cell without a fill has no count: it is null.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame, as in ``Histogram.to_frame``.
        """
        from evenhand.release.table.files import release_frame  # noqa: PLC0415 - imports pyarrow

        return release_frame(self, backend)

    def write(self, path: str | os.PathLike[str], *, warnings: Sequence[str] = ()) -> None:
        """Write the table to a CSV or Parquet file, and what it is to a file of the same name with ``.json``.

        The classes of a k-anonymous release go to a third file, such as ``table.classes.csv``.

        Parameters
        ----------
        path : str or path
            A name that ends with ``.csv`` or ``.parquet``. Old files stay until the new ones are complete;
            then those that stood beside an old table or reports of this name are replaced or removed.
        warnings : sequence of str
            What whoever reads the table should know besides, in sentences.

        Raises
        ------
        GuaranteeError
            If the release is simulated. Nothing is written then.
        InvalidParameterError
            If the name has another ending.
        UnwritableFileError
            If a file cannot be written, or one that would be replaced or removed with the table, such as
            ``table.classes.csv``, has a guarantee, a note or a schema of its own.
        """
        if self.simulated:
            raise GuaranteeError(
                "A simulated release was not written: it was drawn with a seed, and whoever has it can take "
                "the noise off, so no guarantee holds for it. Hint: give release() no rng to publish; "
                "to_frame() gives these numbers for a study."
            )
        from evenhand.release.table.files import write_release  # noqa: PLC0415 - imports pyarrow

        write_release(self, path, warnings=tuple(warnings))

    def __repr__(self) -> str:
        size = f"{self.histogram.size:,} cells"
        told = ", simulated" if self.simulated else ""
        after = f", then {', '.join(self.postprocessing)}" if self.postprocessing else ""
        return f"<Release of {size} by {self.mechanism!r}{after}{told}>"
