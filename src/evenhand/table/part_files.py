"""Files that are being written, for whoever writes tables: see :mod:`evenhand._part_files`."""

from __future__ import annotations

from evenhand._part_files import Part, open_part, put_in_place, resolve_folder, sweep

__all__ = ["Part", "open_part", "put_in_place", "resolve_folder", "sweep"]
