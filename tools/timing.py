"""Show how often the time that a study says before lies around the truth.

    python tools/timing.py [--only WORDS]

Ten studies of all kinds and of several sizes run one after the other, each by a command of its own, on people
that are made up. The truth is the time of the whole command, from its start to its exit, by a clock outside
it. What is said must hold the truth in nine of ten, and its upper end is at most twice the lower one. It is
meant for a machine at rest: the load before each study is shown. All ten take about six minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROLES = "--target hired --positive yes --protected sex --privileged male --sensitive sex,region"
STUDIES = {
    "collect, few rows": f"audit people-2000.csv {ROLES} --repeats 20 --model logistic",
    "collect, trees": f"audit people-10000.csv {ROLES} --repeats 15",
    "collect, many rows": f"audit people-60000.csv {ROLES} --repeats 8 --epsilon 1,4 --yes",
    "collect, five protocols": f"audit people-10000.csv {ROLES} --protocol grr,oue,ss,olh,rappor --repeats 6",
    "collect, one worker": f"audit people-10000.csv {ROLES} --repeats 12 --epsilon 1,4 --workers 1",
    "the demo": "demo --no-open",
    "learn": "audit learn people-10000.csv --target hired --positive yes --protected sex --privileged male "
    "--repeats 40",
    "learn, many rows": "audit learn people-60000.csv --target hired --positive yes --protected sex "
    "--privileged male --repeats 20 --yes",
    "release and learn from it": "audit release people-10000.csv --columns sex,region,job,hired "
    "--target hired --positive yes --protected sex --privileged male --repeats 10",
    "advise": f"advise people-10000.csv {ROLES} --max-gap 0.1 --repeats 15",
}
SAID = re.compile(r"Time\s+about ([0-9.]+) to ([0-9.]+) (s|min|h)\b")
UNITS = {"s": 1, "min": 60, "h": 3600}
WANTED = 0.9


@dataclass(frozen=True)
class Trial:
    """What a study said and how long it took, in seconds."""

    low: float | None
    high: float | None
    said_at: float
    truth: float

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies between both ends, and these are not too far apart."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.truth <= self.high <= 2 * self.low


def write_people(path: Path, rows: int) -> None:
    """Write people of whom one group is hired more often."""
    draw = np.random.default_rng(7)
    sex = draw.choice(["female", "male"], rows)
    job = draw.choice(["clerk", "cook", "driver", "nurse", "smith"], rows)
    region = draw.choice(["east", "north", "south", "west"], rows)
    age = draw.integers(18, 65, rows)
    hired = draw.random(rows) < 0.2 + 0.2 * (sex == "male") + 0.004 * (age - 18)
    lines = zip(sex, region, job, age, np.where(hired, "yes", "no"), strict=True)
    path.write_text("sex,region,job,age,hired\n" + "".join(f"{','.join(map(str, row))}\n" for row in lines))


def run_study(arguments: str, folder: Path, out: str) -> Trial:
    """Run one command in a folder and return what it said and how long it took."""
    code = "from evenhand.cli import main; main()"
    command = [sys.executable, "-c", code, *arguments.split(), "--out", out]
    environment = os.environ | {"COLUMNS": "200"}
    start = time.monotonic()
    said, at, lines = None, 0.0, []
    with subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        for line in process.stderr or ():
            lines.append(line)
            if found := SAID.match(line):
                said, at = found, time.monotonic() - start
    truth = time.monotonic() - start
    if process.returncode:
        sys.exit(f"{arguments}\n{''.join(lines)}")
    if said is None:
        return Trial(None, None, at, truth)
    low, high = (float(end) * UNITS[said[3]] for end in said.groups()[:2])
    return Trial(low, high, at, truth)


def main() -> None:
    """Run the studies, show a line for each, and fail if fewer than nine of ten are inside."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="run the studies whose names hold these words, such as 'learn'")
    asked = parser.parse_args().only
    chosen = {name: words for name, words in STUDIES.items() if not asked or asked in name}
    if not chosen:
        parser.error(f"no study has these words in its name; there are: {'; '.join(STUDIES)}")
    trials = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for rows in (2_000, 10_000, 60_000):
            write_people(folder / f"people-{rows}.csv", rows)
        print(f"{'study':<28}{'load':>6}{'said':>16}{'at':>7}{'truth':>8}  inside")
        for number, (name, words) in enumerate(chosen.items()):
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
            trial = run_study(words, folder, f"out-{number}")
            said = "nothing" if trial.low is None else f"{trial.low:g} to {trial.high:g} s"
            inside = "yes" if trial.is_inside else "NO"
            print(
                f"{name:<28}{load:>6.2f}{said:>16}{trial.said_at:>6.0f}s{trial.truth:>7.1f}s  {inside}",
                flush=True,
            )
            trials.append(trial)
    share = sum(trial.is_inside for trial in trials) / len(trials)
    print(f"\nInside: {share:.0%} of {len(trials)}; wanted: {WANTED:.0%}")
    sys.exit(share < WANTED)


if __name__ == "__main__":
    main()
