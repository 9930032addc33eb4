"""Parquet files: checked, read and cut into batches within limits."""
