"""Tables of results in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from evenhand._validate import one_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from evenhand.study.results.results import Results

__all__ = ["TableName", "to_csv", "to_parquet"]

TableName = Literal["cells", "groups", "data", "summary", "frontier"]


def to_csv(results: Results, path: str | PathLike[str], *, table: TableName = "cells") -> None:
    """Write one table to a CSV file in which no text is a formula; undefined values are empty."""
    from evenhand.table.write import write_csv  # noqa: PLC0415 - starts pyarrow

    write_csv(_table(results, table, owner="to_csv"), path)


def to_parquet(results: Results, path: str | PathLike[str], *, table: TableName = "cells") -> None:
    """Write one table to a Parquet file."""
    from evenhand.table.write import write_parquet  # noqa: PLC0415 - starts pyarrow

    write_parquet(_table(results, table, owner="to_parquet"), path)


def _table(results: Results, table: TableName, *, owner: str) -> Any:
    name = one_of("table", table, get_args(TableName), owner=owner)
    makers: dict[str, Callable[..., Any]] = {
        "cells": results.frame,
        "groups": results.groups,
        "data": results.data,
        "summary": results.summary,
        "frontier": results.frontier,
    }
    return makers[name](backend="pyarrow")
