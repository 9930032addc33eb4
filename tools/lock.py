"""Write constraints.txt: one version for every package of every extra, for Python 3.11 to 3.13.

The file holds names, versions and markers only. An index address would tie the project to one
place, and a hash to one build, so neither is written.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "# Written by `make lock`: the versions evenhand is tested with. Python 3.11 to 3.13.\n"


def main() -> None:
    """Resolve all extras together and keep the pins."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--all-extras", "--upgrade"]
    command += [
        "--universal",
        "--python-version",
        "3.11",
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    if done.returncode:
        sys.exit(done.stderr)
    pins = [line for line in done.stdout.splitlines() if line and not line.startswith(("-", "#"))]
    addressed = [line for line in pins if "://" in line or " @ " in line]
    if addressed:
        sys.exit(f"constraints.txt would hold an address: {addressed[0]}")
    (ROOT / "constraints.txt").write_text(HEAD + "\n".join(pins) + "\n", encoding="utf-8")
    print(f"constraints.txt: {len(pins)} packages")


if __name__ == "__main__":
    main()
