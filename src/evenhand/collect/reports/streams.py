"""A stream of randomness for each batch: a seed that is given again and again never repeats itself."""

from __future__ import annotations

from typing import Any

from evenhand.privacy.randomness import SecureSource, SeededSource, Source, source_from


def check_rng(rng: Any) -> None:
    """Refuse what is no source of randomness, without drawing anything."""
    if rng is not None and not isinstance(rng, Source) and not hasattr(rng, "bit_generator"):
        SeededSource(rng)


def stream_for(rng: Any, batch: str) -> Source:
    """Return the source that a batch draws from.

    A source and a generator move on as they are used, so they serve one batch after the other. A seed does
    not: the same number given twice would give two batches the same draws. Each batch has a stream of its
    own, known by the name of the batch.

    Parameters
    ----------
    rng : None, int, SeedSequence, Generator or Source
        None for the operating system's secure source.
    batch : str
        Name of the batch, such as ``"collection 0"``.

    Examples
    --------
    >>> stream_for(7, "collection 0"), stream_for(7, "collection 1")
    (SeededSource(7).for_cell('collection 0'), SeededSource(7).for_cell('collection 1'))
    >>> stream_for(None, "collection 0")
    SecureSource()
    """
    if rng is None:
        return SecureSource()
    if isinstance(rng, Source) or hasattr(rng, "bit_generator"):
        return source_from(rng)
    return SeededSource(rng).for_cell(batch)
