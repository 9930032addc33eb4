"""Frames that come in: pandas, Polars or Arrow, with their data at hand."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from evenhand.errors import InvalidParameterError

__all__ = ["eager_frame"]


def eager_frame(frame: Any, *, owner: str, parameter: str) -> nw.DataFrame[Any]:
    """Return `frame` behind one interface; refuse lazy frames and what is no frame.

    Collecting a lazy frame may take long or more memory than there is, so that is left to the caller.
    """
    must_be, got = "a pandas, Polars or Arrow frame", f"a value of type {type(frame).__name__}"
    hint = "collect a lazy frame first, with .collect()." if hasattr(frame, "collect") else ""
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    try:
        eager: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
        names = eager.columns
    except TypeError:
        names = None
    except DuplicateError:
        names, must_be, got = None, "a frame whose columns have distinct names", "the same name twice"
    if names is None:
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=got, hint=hint) from None
    return eager
