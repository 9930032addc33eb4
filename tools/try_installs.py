"""Install the wheel alone and with each extra, each into a clean environment, and use what the extra is for.

    python tools/try_installs.py WHEEL [extra ...]

First the wheel without extras: the core works, and whatever needs an extra answers with the command that
installs it. Then each extra by itself: its feature works. Nothing of this machine's other environments is
seen. Versions are those of constraints.txt. Where ``uv`` is on the path it installs, which is quicker.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = ["causal", "--rows", "2000", "--repeats", "2", "--epsilon", "1", "--workers", "1", "--yes"]
SCHEMA = "Schema([Column('sex', Domain.categorical(['f', 'm']))], sensitive='sex')"
ROWS = "{'sex': ['f', 'm'] * 50}"
IMPORTS = "import evenhand as eh; from evenhand.schema import Column, Domain, Schema;"
SERVE = """\
import subprocess, sys, urllib.request
from pathlib import Path
program = str(Path(sys.executable).with_name("evenhand"))
server = subprocess.Popen([program, "serve", "--no-browser", "--folder", "bench"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
said = ""
for line in server.stdout:
    said += line
    if "http://" in line:
        break
words = [word for word in said.split() if word.startswith("http://")]
if words:
    visit = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())  # its address opens once
    print("answers", visit.open(words[0]).status)
else:
    print(said)
server.terminate()
server.wait()
sys.exit(0 if words else 1)
"""


class Trial(NamedTuple):
    """What an extra is for: the words to run, and what must be seen."""

    words: list[str]
    seen: str
    is_refused: bool = True  # without the extra


def python_words(text: str) -> list[str]:
    """Return the words that run a text of Python."""
    return ["python", "-c", text]


TRIALS = {
    "": Trial(["evenhand", "audit", *SMALL, "--out", "core"], "gap", is_refused=False),
    "report": Trial(["evenhand", "demo", "--no-open", "--out", "demo"], "report.html", is_refused=False),
    "app": Trial(python_words(SERVE), "answers 200"),
    "dp": Trial(
        ["evenhand", "audit", "learn", *SMALL, "--methods", "plain,dp", "--out", "dp"], "Promise"
    ),
    "learn": Trial(["evenhand", "audit", *SMALL, "--model", "lightgbm", "--out", "learn"], "gap"),
    "fair": Trial(python_words("import evenhand, fairlearn; print('fairlearn', fairlearn.__version__)"),
                  "fairlearn 0."),
    "excel": Trial(["evenhand", "schema", "people.xlsx", "--out", "people.toml"], "sex"),
    "dask": Trial(
        python_words(
            f"{IMPORTS} import sys\ntry:\n import pandas, dask.dataframe as dd\n"
            f" people = dd.from_pandas(pandas.DataFrame({ROWS}), npartitions=2)\n"
            f"except ImportError: people = None\n"
            f"print(eh.engine.dask.privatize(people, out='d.parquet', schema={SCHEMA}, epsilon=1).guarantee)"
        ),
        "epsilon = 1",
    ),
    "spark": Trial(
        python_words(f"{IMPORTS} eh.engine.spark.privatize(None, out='s', schema={SCHEMA}, epsilon=1)"),
        "must be a pyspark",
    ),
}  # fmt: skip


def write_workbook(path: pathlib.Path) -> None:
    """Write an Excel file by hand, since the package that reads one is what is tried."""
    rows = [["sex", "age"], *([["f", "m"][place % 2], str(20 + place % 5)] for place in range(40))]
    cells = "".join(
        f'<row r="{at}">' + "".join(
            f'<c r="{"AB"[column]}{at}" t="inlineStr"><is><t>{text}</t></is></c>'
            for column, text in enumerate(row)
        ) + "</row>"
        for at, row in enumerate(rows, start=1)
    )  # fmt: skip
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relation = '<Relationship Id="rId1" Type="{type}" Target="{target}"/>'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        + relation.format(type=f"{office}/officeDocument", target="xl/workbook.xml") + "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="people" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        + relation.format(type=f"{office}/worksheet", target="worksheets/sheet1.xml") + "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }  # fmt: skip
    with zipfile.ZipFile(path, "w") as book:
        for name, text in files.items():
            book.writestr(name, head + text)


def install(folder: pathlib.Path, wheel: pathlib.Path, extra: str) -> pathlib.Path:
    """Return the folder of programs of a new environment with the wheel in it."""
    programs, uv = folder / "bin", shutil.which("uv")
    subprocess.run(  # noqa: S603 - fixed words
        [sys.executable, "-m", "venv", *(["--without-pip"] if uv else []), str(folder)], check=True
    )
    command = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if uv:
        command = [uv, "pip", "install", "--quiet", "--python", str(programs / "python")]
    command += ["--constraint", str(ROOT / "constraints.txt"), f"{wheel}[{extra}]" if extra else str(wheel)]
    subprocess.run(command, check=True)  # noqa: S603 - the words of this script
    return programs


def run_trial(trial: Trial, programs: pathlib.Path, folder: pathlib.Path) -> tuple[int, str]:
    """Return the exit code of a trial and what it said, in a folder and with caches of its own."""
    kept = {name: value for name, value in os.environ.items() if name in {"LANG", "JAVA_HOME"}}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {**kept, "HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin"}
    words = [str(programs / trial.words[0]), *trial.words[1:]]
    done = subprocess.run(  # noqa: S603 - the words of this script
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def try_extra(extra: str, wheel: pathlib.Path) -> list[str]:
    """Install one extra, or none, and return what is wrong."""
    faults, began = [], time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = pathlib.Path(scratch)
        write_workbook(folder / "people.xlsx")
        programs = install(folder / "venv", wheel, extra)
        installed = time.monotonic()
        code, said = run_trial(TRIALS[extra], programs, folder)
        refused = extra == "spark" and code == 1  # asked without a frame, so that it needs no Java
        if TRIALS[extra].seen not in said or (code and not refused):
            faults.append(f"[{extra}] ended with {code}: {said[-600:]}")
        for other, trial in TRIALS.items() if not extra else ():
            code, said = run_trial(trial, programs, folder) if other not in {"", "fair"} else (1, "")
            if said and (f"pip install 'evenhand[{other}]'" not in said or trial.is_refused != bool(code)):
                faults.append(f"without [{other}] it ended with {code}: {said[-600:]}")
    took = f"{installed - began:.0f} s to install, {time.monotonic() - installed:.0f} s to try"
    print(f"{extra or 'no extra'}: {'; '.join(faults) or 'works'} ({took})", flush=True)
    return faults


def main() -> None:
    """Try the extras that are named, or none and then all; the exit code is 1 if one does not work."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    wheel = pathlib.Path(sys.argv[1]).resolve()
    faults = [fault for extra in sys.argv[2:] or TRIALS for fault in try_extra(extra, wheel)]
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
