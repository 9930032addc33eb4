"""Measure branch coverage and refuse less than the project promises.

The tests run as usual, then those of `privacy` once more with the compiler off, so that the
kernels are seen line by line. `privacy` must reach 100 %, every other package 95 %.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = {"privacy": 100.0}
OTHERS = 95.0


def main() -> None:
    """Run, combine, compare with the floors."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COVERAGE_FILE": f"{folder}/data"}
        _coverage(environment, "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", *sys.argv[1:])
        interpreted = {**environment, "NUMBA_DISABLE_JIT": "1"}
        _coverage(interpreted, "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "kernel", "tests/unit/privacy")
        _coverage(environment, "combine", "--quiet", folder)
        _coverage(environment, "report")
        _coverage(environment, "json", "--quiet", "-o", f"{folder}/coverage.json")
        files = json.loads(pathlib.Path(f"{folder}/coverage.json").read_text(encoding="utf-8"))["files"]
    failed = False
    for package, (covered, total) in sorted(_by_package(files).items()):
        percent, floor = 100.0 * covered / max(total, 1), FLOORS.get(package, OTHERS)
        failed |= percent < floor
        print(f"{package:10} {percent:6.2f} %  (floor {floor:g} %){'  TOO LOW' if percent < floor else ''}")
    sys.exit(failed)


def _by_package(files: dict) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for path, found in files.items():
        package = pathlib.PurePath(path.split("evenhand/", 1)[1]).parts[0]
        parts = found["summary"]
        covered, total = sums.get(package, (0, 0))
        covered += parts["covered_lines"] + parts["covered_branches"]
        sums[package] = (covered, total + parts["num_statements"] + parts["num_branches"])
    return sums


def _coverage(environment: dict[str, str], *words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "coverage", *words], cwd=ROOT, env=environment, check=False)  # noqa: S603 - fixed words
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
