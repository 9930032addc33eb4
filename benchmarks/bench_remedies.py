"""How much longer an audit takes because it tries remedies and runs the best of them again.

Run ``python benchmarks/bench_remedies.py``; name kinds to choose (collect, learn, release, decide), and add
``--markdown`` for the table of the documentation. The data must be at hand (``EVENHAND_DATA`` names their
folder). Each study is run by the command line, with one worker, with remedies and with ``--no-remedies``;
the time is the CPU time of the whole command, its start, its page and everything that it starts included. A
study of one setting is the worst case: for its two settings, the unprotected one counted, up to two remedies
are tried, and three settings are run again.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from evenhand.study.results.results import Results

ONE = "--epsilon 1"
LSAC = "--columns race1,gender,fulltime,pass_bar"
RIGHT = "--rule '(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131'"
MONEY = "--count num_students --weight exp_index --budget 1e10 --name district"
STUDIES = {
    "collect, COMPAS": "audit compas",
    "collect, COMPAS, one setting": f"audit compas {ONE} --protocol grr",
    "collect, LSAC, two settings": "audit lsac --epsilon 1,4 --protocol grr",
    "collect, Adult, one setting": f"audit adult {ONE} --protocol grr",
    "collect, ACS, one setting": f"audit acs_coverage {ONE} --protocol grr",
    "learn, LSAC": "audit learn lsac",
    "learn, COMPAS, one setting": f"audit learn compas {ONE} --methods dp",
    "learn, Adult, one setting": f"audit learn adult {ONE} --methods dp",
    "release, LSAC": f"audit release lsac {LSAC}",
    "release, LSAC, one setting": f"audit release lsac {LSAC} {ONE} --mechanism laplace",
    "decide a right, counties": f"audit decide counties --name county {RIGHT}",
    "decide a right, one setting": f"audit decide counties --name county {RIGHT} {ONE}",
    "decide money, Title I": f"audit decide title1 {MONEY}",
    "decide money, one setting": f"audit decide title1 {MONEY} {ONE}",
}
MOST = 2.5
CODE = "from evenhand.cli import main; main()"


def run_study(words, folder):
    """Return the CPU seconds of a command and how many runs its folder has."""
    command = [sys.executable, "-c", CODE, *shlex.split(words), "--workers", "1", "--yes", "--out", folder]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{words}\n{said.read().decode()}")
    return used.ru_utime + used.ru_stime, len(Results.load(folder))


def main():
    """Measure and print; exit with 1 if a study takes too long with remedies."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help="kinds of study, or words in the name of one")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    head = ["study", "runs without", "with", "CPU s without", "with", "times as long"]
    rows, ratios = [], []
    for name, words in STUDIES.items():
        if options.kinds and not any(kind in name for kind in options.kinds):
            continue
        with tempfile.TemporaryDirectory() as place:
            without, few = run_study(f"{words} --no-remedies", str(Path(place, "without")))
            whole, all_runs = run_study(words, str(Path(place, "with")))
        ratios.append(whole / without)
        rows.append([name, f"{few}", f"{all_runs}", f"{without:.1f}", f"{whole:.1f}", f"{ratios[-1]:.2f}"])
        print("  ".join(rows[-1]), flush=True)
    if options.markdown:
        print(*(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)), sep="\n")
    return int(max(ratios) > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
