"""Show that every core dependency has a wheel for every supported Python, at the locked versions."""

import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")


def main() -> None:
    """Download the wheels of the core for each Python, without building anything."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for python in PYTHONS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
            command += ["--only-binary=:all:", "--python-version", python, "--dest", folder]
            command += ["--constraint", "constraints.txt", *project["dependencies"]]
            done = subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603 - fixed words
            if done.returncode:
                sys.exit(f"Python {python}: a wheel is missing.")
            print(f"Python {python}: {len(list(pathlib.Path(folder).iterdir()))} wheels")


if __name__ == "__main__":
    main()
