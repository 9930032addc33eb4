"""Run the default tests on every supported Python that is on this machine, each in an environment of its own.

    python tools/try_pythons.py [3.12 ...] [-- words for pytest]

An interpreter is looked for on the path and among those of pyenv. One that is not there is named and skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
ASK = "import sys; print('%d.%d %d.%d.%d' % (*sys.version_info[:2], *sys.version_info[:3]))"


def find_python(version: str) -> tuple[str, str] | None:
    """Return an interpreter of a version such as 3.12, and its whole version; None if there is none."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    places = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for place in filter(None, places):
        done = subprocess.run([place, "-c", ASK], capture_output=True, text=True, check=False)  # noqa: S603
        said = done.stdout.split()
        if done.returncode == 0 and said[0] == version:
            return place, said[1]
    return None


def try_python(version: str, words: list[str]) -> bool | None:
    """Return whether the tests pass on a version; None if there is no such interpreter."""
    found = find_python(version)
    if found is None:
        print(f"Python {version}: there is no interpreter on this machine, skipped.", flush=True)
        return None
    interpreter, whole = found
    folder = ROOT / f".venv-{version}"
    python = folder / "bin" / "python"
    began = time.monotonic()
    uv = shutil.which("uv")  # where it is on the path it installs, which is quicker
    if not python.exists():
        bare = ["--without-pip"] if uv else []
        subprocess.run([interpreter, "-m", "venv", *bare, str(folder)], check=True)  # noqa: S603 - found above
    install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if uv:
        install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    install += ["--constraint", "constraints.txt", "--editable", ".[test]"]
    subprocess.run(install, cwd=ROOT, check=True)  # noqa: S603 - fixed words
    installed = time.monotonic()
    command = [str(python), "-m", "pytest", "-q", "-n", "auto", *words]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    lines = done.stdout.strip().splitlines() or ["nothing was said"]
    if done.returncode:
        print("\n".join(line for line in lines if line.startswith(("FAILED", "ERROR"))))
    took = f"{installed - began:.0f} s to install, {time.monotonic() - installed:.0f} s for the tests"
    print(f"Python {whole}: {lines[-1].strip('= ')} ({took})", flush=True)
    return done.returncode == 0


def main() -> None:
    """Try the versions that are named, or all; the exit code is 1 if the tests fail on one."""
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    results = {version: try_python(version, given[end + 1 :]) for version in given[:end] or PYTHONS}
    sys.exit(any(passed is False for passed in results.values()))


if __name__ == "__main__":
    main()
