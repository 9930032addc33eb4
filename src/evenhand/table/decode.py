"""From codes back to values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.schema import Column

__all__ = ["decoded"]

_ARROW_TYPES = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def decoded(codes: NDArray[np.unsignedinteger], column: Column) -> Any:
    """Return the values that `codes` stand for as an Arrow array; "other" is null, bins are their labels."""
    domain = column.domain
    if domain.kind == "integers":
        other = None if column.other_code is None else codes == column.other_code
        return pa.array(codes.astype(np.int64) + domain.low, mask=other)
    if domain.kind == "binned":
        values = pa.array(domain.labels, pa.string())
    else:
        values = pa.array(domain.values, _ARROW_TYPES[domain.value_type])
    with_other = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return with_other.take(pa.array(codes))
