"""A package with entry points, as an installer would leave it behind: a folder on the path."""

import importlib
import sys
import tomllib
from pathlib import Path

from evenhand._registry import installed_plugins

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "plugin"


def write_package(folder, entries, *, name="evenhand-broken", version="2.5", modules=None):
    """Write modules and a dist-info folder with entry points, as ``{group: {name: place}}``."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    lines = [
        line
        for group, named in entries.items()
        for line in (f"[{group}]", *(f"{key} = {place}" for key, place in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    for module, text in (modules or {}).items():
        (folder / f"{module}.py").write_text(text, "utf-8")
    return folder


def write_example(folder):
    """Write the dist-info folder of the example package, with the entry points of its pyproject."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    return write_package(folder, project["entry-points"], name=project["name"], version=project["version"])


def put_on_path(monkeypatch, *folders):
    """Put folders on the path until the test ends, and forget what was read before and is read now."""
    for folder in folders:
        monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    installed_plugins.cache_clear()


def forget_plugins():
    """Forget the packages of a test, whose folders are on the path no longer."""
    installed_plugins.cache_clear()
    for module in [name for name in sys.modules if name.partition(".")[0] == "evenhand_example"]:
        del sys.modules[module]
