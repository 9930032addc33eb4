"""Write examples/people.csv: 3,000 made-up people, for the commands of the first pages.

    python tools/example_people.py [FILE]

Nobody is described: every value is drawn with a fixed seed. Women, and people who moved here, are hired less
often at the same test result, so that there is a gap to find; Dale is small, so that it has cells of a few
people.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

PLACE = Path(__file__).parents[1] / "examples" / "people.csv"
PEOPLE, SEED = 3_000, 2026
COUNTIES = {"Ash": 0.50, "Bay": 0.30, "Cole": 0.16, "Dale": 0.04}
ORIGINS = {"born here": 0.86, "moved here": 0.14}
JOBS = {"woman": (0.35, 0.35, 0.20, 0.10), "man": (0.25, 0.10, 0.25, 0.40)}
NAMES = ("clerk", "nurse", "cook", "driver")


def write_people(path: Path) -> None:
    """Write the file, the same to the byte each time."""
    draw = np.random.Generator(np.random.PCG64(SEED))
    lines = ["county,sex,origin,age,job,test,hired"]
    for _ in range(PEOPLE):
        county, origin = (_pick(draw, each) for each in (COUNTIES, ORIGINS))
        sex = "woman" if draw.random() < 0.5 else "man"
        job = _pick(draw, dict(zip(NAMES, JOBS[sex], strict=True)))
        age = 18 + int(52 * draw.random())
        test = min(10, int(11 * draw.random() ** 0.8))
        score = 0.55 * (test - 5) - 0.7 * (sex == "woman") - 0.9 * (origin == "moved here") + 0.3
        hired = "yes" if draw.random() < 1 / (1 + np.exp(-score)) else "no"
        lines.append(f"{county},{sex},{origin},{age},{job},{test},{hired}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _pick(draw: np.random.Generator, shares: dict[str, float]) -> str:
    """Return one of the names, drawn by its share."""
    place = int(np.searchsorted(np.cumsum(list(shares.values())), draw.random()))
    return list(shares)[min(place, len(shares) - 1)]


if __name__ == "__main__":
    write_people(Path(sys.argv[1]) if sys.argv[1:] else PLACE)
