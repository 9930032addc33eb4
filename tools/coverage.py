"""Refuse less coverage than the project promises, in what the tests reached with COVERAGE=1.

`privacy` must be covered wholly, every other package to 95 %, lines and branches together. The kernels are
tested with the compiler off as well, so their lines count like any others; so do those that only processes
of the workbench and of studies run.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = {"privacy": 100.0}
OTHERS = 95.0


def main() -> None:
    """Combine, list what no test reached, add up by package, compare with the floors."""
    if list(ROOT.glob(".coverage.*")):
        _coverage("combine", "--quiet", "--append")
    _coverage("report", "--show-missing", "--skip-covered")
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "coverage.json"
        _coverage("json", "--quiet", "-o", str(report))
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    failed = False
    for package, (covered, total) in sorted(_by_package(files).items()):
        percent, floor = 100.0 * covered / total, FLOORS.get(package, OTHERS)
        failed |= percent < floor
        print(f"{package:12} {percent:6.2f} %  (floor {floor:g} %){'  TOO LOW' if percent < floor else ''}")
    sys.exit(failed)


def _coverage(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "coverage", *words], cwd=ROOT, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(done.returncode)


def _by_package(files: dict) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for path, found in files.items():
        package = pathlib.PurePath(path.split("evenhand/", 1)[1]).parts[0]
        parts = found["summary"]
        covered, total = sums.get(package, (0, 0))
        covered += parts["covered_lines"] + parts["covered_branches"]
        sums[package] = (covered, total + parts["num_statements"] + parts["num_branches"])
    return sums


if __name__ == "__main__":
    main()
