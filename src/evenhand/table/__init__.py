"""Tables: data frames as integer codes over a schema, and files in and out within limits."""

from evenhand.table.csv.read import read_csv
from evenhand.table.encode import Table
from evenhand.table.file_format import FileFormat
from evenhand.table.frames import make_frame
from evenhand.table.limits import Limits
from evenhand.table.parquet.read import read_parquet
from evenhand.table.read import read
from evenhand.table.write import write_csv, write_parquet

__all__ = [
    "FileFormat",
    "Limits",
    "Table",
    "make_frame",
    "read",
    "read_csv",
    "read_parquet",
    "write_csv",
    "write_parquet",
]
