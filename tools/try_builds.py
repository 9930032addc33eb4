"""Build the wheel and the source distribution twice, in two folders, and compare them byte by byte.

    python tools/try_builds.py [FOLDER]

Everything that git has is copied to two folders of different names and built there, at the time of the last
commit. The files are left in FOLDER, by default ``dist``.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def ask_git(*words: str) -> str:
    """Return what git says of the project."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603, S607
    return done.stdout


def copy_project(folder: pathlib.Path) -> pathlib.Path:
    """Copy every file that git has, as it is now, to a folder."""
    for name in filter(None, ask_git("ls-files", "-z").split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def build(folder: pathlib.Path) -> dict[str, bytes]:
    """Return the distributions that a folder gives, by their names."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": ask_git("log", "-1", "--format=%ct").strip()}
    command = [sys.executable, "-m", "hatchling", "build"]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)  # noqa: S603
    return {path.name: path.read_bytes() for path in sorted((folder / "dist").iterdir())}


def main() -> None:
    """Build twice and compare; the exit code is 1 if a byte differs."""
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")
    with tempfile.TemporaryDirectory() as scratch:
        places = [pathlib.Path(scratch, "first"), pathlib.Path(scratch, "the-second-folder", "deeper")]
        first, second = (build(copy_project(place)) for place in places)
    out.mkdir(parents=True, exist_ok=True)
    same = first == second and len(first) == 2
    for name, content in first.items():
        (out / name).write_bytes(content)
        verdict = "the same twice" if second.get(name) == content else "NOT the same twice"
        print(f"{name}: {len(content):,} bytes, {verdict}, sha256 {hashlib.sha256(content).hexdigest()}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
