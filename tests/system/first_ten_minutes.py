"""Type what a new user types in the first ten minutes, in a fresh folder, and print each answer.

    python tests/system/first_ten_minutes.py FOLDER

The file is scikit-learn's table of diabetes patients as a spreadsheet program of a colleague would save it:
semicolons, Windows-1252, decimal commas; and once as Excel. The studies are small, so that their numbers say
little. What is printed is meant to be read aloud. The exit code is 1 if a command ended in another way than
it should.
"""

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

WIDTH = 100
ROLES = "--target progression --positive '< 140' --protected sex --privileged 1 --sensitive sex,age"
SMALL = "--epsilon 1,4 --protocol grr,oue --model logistic --repeats 2 --yes"
LABELS = "--label sex=1:Women --label sex=2:Men"
TABLE = "--columns sex --mechanism laplace --epsilon 1 --out table.csv"
BY_AGE = "--outcome mild --score chance --threshold 0.5 --protected sex,age"
PREDICTED = "--outcome mild --prediction predicted"

FINE, FAILS, REFUSED = 0, 1, 2
STEPS = {
    "Look around": (
        ("--help", FINE),
        ("datasets", FINE),
        ("datasets causal", FINE),
        ("audit collect --help", FINE),
    ),
    "Say what the columns are": (
        ("schema patients.csv", FINE),
        ("schema patients.csv --check schema.toml", FINE),
        ("schema patients.xlsx --check schema.toml", FINE),
        ("schema predictions.csv --check schema.toml", FAILS),
        ("schema patients.csv", REFUSED),
    ),
    "Ask who pays": (
        ("audit", REFUSED),
        ("audit patients.cvs --guess", REFUSED),
        ("audit patients.csv", REFUSED),
        (f"audit patients.csv --guess {SMALL}", REFUSED),
        (f"audit patients.csv {ROLES} --label sex=1:Women,2:Men {SMALL}", REFUSED),
        (f"audit patients.csv {ROLES} {LABELS} {SMALL} --save-script study.py", FINE),
        (f"audit patients.xlsx {ROLES} {LABELS} {SMALL} --out from-excel", FINE),
        (f"audit patients.csv {ROLES} {LABELS} {SMALL}", FINE),
        (f"audit patients.csv {ROLES} {SMALL} --resume", REFUSED),
        ("audit --resume --out study --repeats 3", FINE),
        ("audit patients.csv --guess --epsillon 2", REFUSED),
        ("audit patients.csv --target progress --protected sex", REFUSED),
        (f"advise patients.csv {ROLES} --repeats 2 --yes", FINE),
    ),
    "Publish": (
        (f"release patients.csv {TABLE}", REFUSED),
        (f"release patients.csv {TABLE} --infer-schema", FINE),
        (f"release patients.csv {TABLE} --infer-schema", REFUSED),
        ("privatize patients.csv reports.csv --schema schema.toml --columns sex,age --epsilon 2", FINE),
        ("estimate reports.csv", FINE),
    ),
    "Judge predictions": (
        ("measure predictions.csv --protected sex", REFUSED),
        (f"measure predictions.csv {PREDICTED} --protected sex --rule 80%", FINE),
        (f"measure predictions.csv {PREDICTED} --protected sex", REFUSED),
        (f"measure predictions.csv {BY_AGE} --out by-age.html", FINE),
    ),
}


def write_files(folder):
    """Write the file of patients in two forms, and one of predictions for them."""
    patients = load_diabetes(as_frame=True, scaled=False).frame
    patients = patients.rename(columns={"bmi": "bmi kg/m²", "target": "progression"})
    whole = ["age", "sex", "progression"]
    patients[whole] = patients[whole].round().astype(int)
    patients.to_csv(folder / "patients.csv", sep=";", decimal=",", encoding="windows-1252", index=False)
    patients.to_excel(folder / "patients.xlsx", index=False)
    known, mild = patients.drop(columns="progression"), (patients["progression"] < 140).astype(int)
    model = LogisticRegression(max_iter=5000)
    chance = cross_val_predict(model, known, mild, method="predict_proba")[:, 1].round(3)
    rows = patients[["sex", "age"]].assign(mild=mild, chance=chance, predicted=(chance >= 0.5).astype(int))
    rows.to_csv(folder / "predictions.csv", sep=";", decimal=",", index=False)


def run(words, folder):
    """Run a command, print it with what it says and the time it took, and return its exit code."""
    print(f"\n$ {shlex.join([Path(words[0]).name, *words[1:]])}\n", flush=True)
    start = time.perf_counter()
    done = subprocess.run(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout.rstrip())
    print(f"({time.perf_counter() - start:.1f} s, exit code {done.returncode})")
    return done.returncode


def main():
    """Make the files, type the commands and return 1 if one ended in another way than it should."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="a folder that is not there yet")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True)
    write_files(folder)
    program, surprises = str(Path(sys.executable).with_name("evenhand")), []
    for title, commands in STEPS.items():
        print(f"\n{'=' * WIDTH}\n{title}\n{'=' * WIDTH}")
        for text, code in commands:
            if run([program, *shlex.split(text)], folder) != code:
                surprises.append(text)
    if run([sys.executable, "study.py"], folder) != FINE:
        surprises.append("study.py")
    print(f"\n{'=' * WIDTH}\nCommands that ended in another way than they should: {surprises}")
    return 1 if surprises else 0


if __name__ == "__main__":
    raise SystemExit(main())
