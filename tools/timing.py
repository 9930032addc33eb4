"""Show how often the time that a study says before lies around the truth.

    python tools/timing.py [--only WORDS]

Studies of all kinds and of several sizes run one after the other, each by a command of its own, on people and
places that are made up. The truth is the time of the whole command, from its start to its exit, by a clock
outside it. What is said must hold the truth in nine of ten, and its upper end is at most twice the lower one.
*factor* is the truth over the middle of what is said, the geometric mean of its ends, and *CPU* what the
command used. It is meant for a machine at rest: the load before each study is shown.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS = (2_000, 10_000, 60_000)
PEOPLE = "people-10000.csv"
LEARNT = "--target hired --positive yes --protected sex --privileged male"
MONEY = "--count num_students --weight exp_index --budget 1e10 --name district"
RIGHT = "--name county --rule '(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131'"
ROLES = "--target hired --positive yes --protected sex --privileged male --sensitive sex,region"
STUDIES = {
    "collect, few rows": f"audit people-2000.csv {ROLES} --repeats 20 --model logistic",
    "collect, trees": f"audit {PEOPLE} {ROLES} --repeats 15",
    "collect, one setting": f"audit {PEOPLE} {ROLES} --epsilon 1 --protocol grr --repeats 30",
    "collect, many rows": f"audit people-60000.csv {ROLES} --repeats 8 --epsilon 1,4 --yes",
    "collect, five protocols": f"audit {PEOPLE} {ROLES} --protocol grr,oue,ss,olh,rappor --repeats 6",
    "collect, one worker": f"audit {PEOPLE} {ROLES} --repeats 12 --epsilon 1,4 --workers 1",
    "collect, quick": f"audit people-60000.csv {ROLES} --quick --yes",
    "the demo": "demo --no-open",
    "learn": f"audit learn {PEOPLE} {LEARNT} --repeats 40",
    "learn, many rows": f"audit learn people-60000.csv {LEARNT} --repeats 20 --yes",
    "release and learn from it": f"audit release {PEOPLE} --columns sex,region,job,hired {LEARNT}",
    "decide a right": f"audit decide counties {RIGHT} --yes",
    "decide money": f"audit decide school_districts {MONEY} --yes",
    "advise": f"advise {PEOPLE} {ROLES} --max-gap 0.1 --repeats 15",
}
SAID = re.compile(r"Time\s+about ([0-9.]+) to ([0-9.]+) (s|min|h)\b")
UNITS = {"s": 1, "min": 60, "h": 3600}
WANTED, FACTOR = 0.9, 1.5


@dataclass(frozen=True)
class Trial:
    """What a study said and how long it took, in seconds."""

    low: float | None
    high: float | None
    said_at: float
    truth: float
    cpu: float

    @property
    def factor(self) -> float:
        """The truth over the middle of what was said; NaN where nothing was."""
        return (
            math.nan
            if self.low is None or self.high is None
            else self.truth / math.sqrt(self.low * self.high)
        )

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
    command = [sys.executable, "-c", code, *shlex.split(arguments), "--out", out]
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
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    truth, cpu = time.monotonic() - start, used.ru_utime + used.ru_stime
    if process.returncode:
        sys.exit(f"{arguments}\n{''.join(lines)}")
    if said is None:
        return Trial(None, None, at, truth, cpu)
    low, high = (float(end) * UNITS[said[3]] for end in said.groups()[:2])
    return Trial(low, high, at, truth, cpu)


def main() -> None:
    """Run the studies, show a line for each, and fail if what is said holds the truth in too few."""
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
        for rows in ROWS:
            write_people(folder / f"people-{rows}.csv", rows)
        print(f"{'study':<28}{'load':>6}{'said':>16}{'at':>7}{'truth':>8}{'CPU':>8}{'factor':>8}  inside")
        for number, (name, words) in enumerate(chosen.items()):
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
            trial = run_study(words, folder, f"out-{number}")
            said = "nothing" if trial.low is None else f"{trial.low:g} to {trial.high:g} s"
            inside = "yes" if trial.is_inside else "NO"
            print(
                f"{name:<28}{load:>6.2f}{said:>16}{trial.said_at:>6.0f}s{trial.truth:>7.1f}s{trial.cpu:>7.1f}s"
                f"{trial.factor:>8.2f}  {inside}",
                flush=True,
            )
            trials.append(trial)
    share = sum(trial.is_inside for trial in trials) / len(trials)
    near = sum(1 / FACTOR <= trial.factor <= FACTOR for trial in trials) / len(trials)
    print(f"\nWithin a factor of {FACTOR}: {near:.0%} of {len(trials)}; wanted: {WANTED:.0%}")
    print(f"Inside: {share:.0%} of {len(trials)}; wanted: {WANTED:.0%}")
    sys.exit(share < WANTED)


if __name__ == "__main__":
    main()
