"""Pack the folder of examples for the site, so that whoever has no clone can follow its pages."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["pack_examples", "setup"]

ROOT = Path(__file__).resolve().parents[2]
_KINDS = {".csv", ".ipynb", ".py", ".toml"}
_FIRST_DAY = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # the earliest that a zip file can hold: the same bytes from the same files


def pack_examples(packed: Path) -> None:
    """Write the example files, as they lie in a clone, to one zip file."""
    packed.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(packed, "w") as files:
        for path in sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in _KINDS):
            name = zipfile.ZipInfo(path.relative_to(ROOT).as_posix(), date_time=_FIRST_DAY)
            files.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)


def setup(app: Sphinx) -> dict[str, Any]:
    """Pack the examples before pages that offer them are read."""
    app.connect("builder-inited", lambda app: pack_examples(Path(app.srcdir, "_build", "examples.zip")))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
