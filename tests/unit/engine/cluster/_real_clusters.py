"""What the tests of both clusters share: people, the law of their reports, and a worker that is killed."""

import os
import pathlib
import signal
import threading
import time

import numpy as np

from evenhand.collect.joint.build import strategy_for
from statistical._exact import ALPHA, binomial_pvalue
from unit.engine.cluster._toy_engine import SCHEMA, people

PROTOCOLS = {"sex": "grr", "job": "oue"}
ROWS = 40_000


def frame(rows=ROWS):
    """Return people as a pandas frame; the id tells the true values again."""
    table = people(rows)
    return table.append_column("place", [list(range(rows))]).to_pandas()


def true_codes(places):
    places = np.asarray(places)
    return places % 3 != 0, np.array([0, 1, 2, 1])[places % 4]


def check_law_of_grr_and_oue(table, record):
    """Compare reports with the exact probabilities of the protocols, and with others that must be refused."""
    sex, job = true_codes(table["place"].to_numpy())
    kept = np.count_nonzero(table["sex"].to_numpy() == sex)
    first = np.array([report[0] for report in table["job"].to_pylist()])  # one bit for each of three jobs
    bits = (first[:, None] >> np.arange(8)) & 1
    bits = bits if _fits(bits, job, record) else bits[:, ::-1]
    laws = record.strategy.protocols
    own = np.count_nonzero(bits[np.arange(len(job)), job])
    others = int(bits[:, :3].sum()) - own

    assert binomial_pvalue(kept, len(sex), laws["sex"].p) > ALPHA
    assert binomial_pvalue(own, len(job), laws["job"].p) > ALPHA
    assert binomial_pvalue(others, 2 * len(job), laws["job"].q) > ALPHA
    wrong = strategy_for({"sex": 2, "job": 3}, epsilon="2.3", protocol=PROTOCOLS).protocols  # 15 % more
    assert binomial_pvalue(kept, len(sex), wrong["sex"].p) < ALPHA
    assert binomial_pvalue(others, 2 * len(job), wrong["job"].q) < ALPHA


def _fits(bits, job, record):
    """Whether the lowest bit is that of the first value; the layout of the bytes is not what is tested."""
    return bits[:, 3:].sum() == 0


def check_law_of_combined(table, record):
    """Compare combined reports with the exact probability that the whole pair is true."""
    sex, job = true_codes(table["place"].to_numpy())
    whole = np.count_nonzero((table["sex"].to_numpy() == sex) & (table["job"].to_numpy() == job))
    law = record.strategy.product

    assert binomial_pvalue(whole, len(sex), law.p) > ALPHA
    assert binomial_pvalue(whole, len(sex), law.p * 1.15) < ALPHA


def kill_tree(pid):
    """End a process and all that it started, as a power cut would."""
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        kill_tree(int(child))
    os.kill(pid, signal.SIGKILL)


class KillWorker(threading.Thread):
    """Kills a worker of a cluster when the first partition of a run has been drawn."""

    def __init__(self, cluster, out):
        super().__init__(daemon=True)
        self.drawn = pathlib.Path(f"{out}.unfinished", "drawn")
        self.pid = int((cluster / "worker-2.pid").read_text())
        self.cluster = cluster
        self.killed_after = None

    def run(self):
        until = time.monotonic() + 120
        while time.monotonic() < until:
            done = list(self.drawn.glob("*.arrow")) if self.drawn.exists() else []
            if done:
                kill_tree(self.pid)
                (self.cluster / "worker-2.pid").unlink()
                self.killed_after = len(done)
                return
            time.sleep(0.02)


__all__ = ["PROTOCOLS", "SCHEMA", "KillWorker", "check_law_of_combined", "check_law_of_grr_and_oue", "frame"]
