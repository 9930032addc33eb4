"""Read a file by what its name says it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.table.csv.read import read_csv
from evenhand.table.limits import DEFAULT_LIMITS, Limits
from evenhand.table.parquet.read import read_parquet
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from evenhand.schema import Schema

__all__ = ["read"]

_READERS = {".csv": read_csv, ".csv.gz": read_csv, ".parquet": read_parquet, ".pq": read_parquet}


def read(
    path: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> pa.Table:
    """Read a CSV or Parquet file into an Arrow table.

    The name of the file says which it is: ``.csv``, ``.csv.gz``, ``.parquet`` or ``.pq``.

    Parameters
    ----------
    path : str or path
        The file.
    schema, columns, limits
        As for :func:`read_csv` and :func:`read_parquet`.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InvalidParameterError
        If the name has another ending.
    UnreadableFileError, LimitExceededError
        As for the two readers.
    """
    name = own_name(path) if isinstance(path, str | os.PathLike) else ""
    for suffix, reader in _READERS.items():
        if name.lower().endswith(suffix):
            return reader(path, schema=schema, columns=columns, limits=limits)
    must_be = f"a path that ends with {', '.join(_READERS)}"
    hint = "use read_csv or read_parquet for a file of another name, or for an open file."
    got = name or f"a value of type {type(path).__name__}"
    raise InvalidParameterError("path", owner="read", must_be=must_be, got=got, hint=hint)
