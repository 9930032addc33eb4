"""Kill processes that publish tables at random moments; print what is left of each.

Called with a folder, the number of kills and a seed. Each child draws and writes tables until it is killed.
"""

import json
import os
import pathlib
import signal
import sys
import time

import numpy as np
import pandas as pd

from evenhand.privacy.ledger import Ledger
from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))])
TABLE = Histogram.count(pd.DataFrame({"sex": ["f", "m", "f"]}), SCHEMA)
NOISE = Laplace(epsilon="1/100", unit="replace one")


def publish(folder, path, child):
    """Publish tables until somebody ends this process."""
    ledger = Ledger(path)
    for number in range(10_000):
        release = NOISE.release(TABLE, ledger=ledger, purpose=f"table {child}-{number}")
        release.write(folder / f"table-{child}-{number}.csv")


def count_after_kill(folder, path, seconds, child):
    """Start a child, kill it after some time, and return how many charges and tables there are then."""
    started = os.fork()
    if not started:
        try:
            publish(folder, path, child)
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(started, signal.SIGKILL)
    os.waitpid(started, 0)
    ledger = Ledger(path)
    hashes = {entry.hash for entry in ledger.history() if entry.kind == "spend"}
    notes = [json.loads(note.read_text()) for note in folder.glob("table-*.csv.json")]
    tables = len(list(folder.glob("table-*.csv")))
    uncharged = [note["file"] for note in notes if note["ledger_entry"]["sha256"] not in hashes]
    return {"charges": len(hashes), "tables": tables, "uncharged": uncharged}


def main(folder, kills, seed):
    """Print the counts after each kill, as JSON."""
    folder, draws = pathlib.Path(folder), np.random.default_rng(int(seed))
    path = folder / "ledger.db"
    Ledger(path, epsilon=1_000_000)
    NOISE.release(TABLE)  # what is compiled at the first draw is compiled now
    counts = [
        count_after_kill(folder, path, seconds, child)
        for child, seconds in enumerate(draws.uniform(0.0, 0.5, int(kills)))
    ]
    sys.stdout.write(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
