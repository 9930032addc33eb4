"""Run the tests with branch coverage and refuse less than the project promises.

`privacy` must be covered wholly, every other package to 95 %. The kernels are tested with the
compiler off as well, so their lines count like any others.
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
    """Run, add up by package, compare with the floors."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "coverage.json"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--cov=src/evenhand", "--cov-branch"]
        command += ["-m", "not engines and not slow and not system and not nightly"]
        command += ["--cov-report=term-missing:skip-covered", f"--cov-report=json:{report}", *sys.argv[1:]]
        done = subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603 - fixed words
        if done.returncode:
            sys.exit(done.returncode)
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    failed = False
    for package, (covered, total) in sorted(_by_package(files).items()):
        percent, floor = 100.0 * covered / total, FLOORS.get(package, OTHERS)
        failed |= percent < floor
        print(f"{package:12} {percent:6.2f} %  (floor {floor:g} %){'  TOO LOW' if percent < floor else ''}")
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


if __name__ == "__main__":
    main()
